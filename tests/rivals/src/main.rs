//! Times `upcheck check` and `ninja -n`, in turn, on a large generated build in which all is up to date.
//!
//! ```text
//! cargo run --release --package upcheck-rivals
//! cargo run --release --package upcheck-rivals -- --rival 'samurai=samu -n' --rounds 15
//! ```
//!
//! The first run makes the build, 50,000 targets in 116,000 files, which takes some ten seconds; later runs use
//! it again. Nothing in it was ever compiled: files, times and both of ninja's logs are fabricated, and before
//! anything is timed the real ninja has to say that there is no work to do. The caches are warm.

mod graph;
mod logs;
mod timing;

use clap::Parser;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use timing::{Contender, Times};
use upcheck_tests::tools::Ninja;

/// Time upcheck and its rivals on a large generated build
#[derive(Parser)]
struct Args {
    /// Where the generated build is, or is to be made [default: beside the compiled program]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// How many targets it has, roughly
    #[arg(long, default_value_t = 50_000)]
    targets: usize,
    /// How often each contender runs
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// One more contender: a shell command, run in the build directory, that has to succeed
    #[arg(long, value_name = "NAME=COMMAND")]
    rival: Vec<String>,
}

#[expect(clippy::print_stderr, reason = "where errors of programs go")]
fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("rivals: error: {message}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "the result of this program")]
fn report(line: &str) {
    println!("{line}");
}

fn run(args: &Args) -> Result<(), String> {
    let programs = std::env::current_exe().map_err(|error| error.to_string())?;
    let programs = programs.parent().ok_or("this program is in no folder")?;
    let dir = args.dir.clone().unwrap_or_else(|| programs.join(format!("rivals-{}", args.targets)));
    let n_files = generate(&dir, args.targets).map_err(|error| format!("{}: {error}", dir.display()))?;

    let ninja = Ninja::V1_13;
    let mut contenders = vec![
        Contender::new("upcheck check", build_upcheck(programs)?, &["check"])
            .expecting("fresh: nothing to do"),
        Contender::new(&format!("ninja {} -n", ninja.number()), ninja.path().to_owned(), &["-n"])
            .expecting("ninja: no work to do."),
    ];
    for rival in &args.rival {
        let (name, command) = rival.split_once('=').ok_or("a rival is NAME=COMMAND")?;
        contenders.push(Contender::new(name, "sh".into(), &["-c", &format!("exec {command}")]));
    }

    // Also warms the caches.
    for contender in &contenders {
        contender.check(&dir)?;
    }
    let mut times = vec![Times::default(); contenders.len()];
    for _ in 0..args.rounds {
        for (contender, times) in contenders.iter().zip(&mut times) {
            times.add(contender.time(&dir)?);
        }
    }

    report(&format!(
        "{} targets, {n_files} files, {} rounds in turn, milliseconds",
        args.targets, args.rounds
    ));
    if !programs.ends_with("release") {
        report("upcheck is not optimised here: these figures mean nothing");
    }
    report(&format!("{:20} {:>10} {:>10} {:>10} {:>10}", "", "wall min", "median", "CPU min", "median"));
    let [ours, ..] = &times[..] else { return Ok(()) };
    for (contender, times) in contenders.iter().zip(&times) {
        let name = &contender.name;
        let [wall_min, wall, cpu_min, cpu] = times.figures();
        report(&format!("{name:20} {wall_min:10.1} {wall:10.1} {cpu_min:10.1} {cpu:10.1}"));
    }
    for (contender, times) in contenders.iter().zip(&times).skip(1) {
        let name = format!("{} / ours", contender.name);
        let ratios = times.figures().into_iter().zip(ours.figures()).map(|(theirs, ours)| theirs / ours);
        let ratios: String = ratios.map(|ratio| format!(" {ratio:10.2}")).collect();
        report(&format!("{name:20}{ratios}"));
    }
    Ok(())
}

/// Makes the build, unless it is there. The number of its files.
fn generate(dir: &Path, targets: usize) -> std::io::Result<usize> {
    // Says that everything in the folder is generated, and how.
    let stamp = dir.join("generated-by-upcheck-rivals");
    let wanted = format!("version {}\ntargets {targets}\n", graph::VERSION);
    let found = fs::read_to_string(&stamp).ok();
    if let Some(n_files) = found.as_deref().and_then(|found| found.strip_prefix(&wanted)?.trim().parse().ok())
    {
        return Ok(n_files);
    }
    if found.is_some() {
        fs::remove_dir_all(dir)?;
    } else if dir.exists() && fs::read_dir(dir)?.next().is_some() {
        return Err(std::io::Error::other("is neither empty nor made by this program"));
    }
    fs::create_dir_all(dir)?;
    fs::write(&stamp, "incomplete\n")?;
    let n_files = graph::generate(dir, targets)?;
    fs::write(&stamp, format!("{wanted}{n_files}\n"))?;
    Ok(n_files)
}

/// Builds the `upcheck` command into the folder that this program is in, as optimised as this program.
fn build_upcheck(programs: &Path) -> Result<PathBuf, String> {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    build.current_dir(upcheck_tests::tools::root()).args(["build", "--quiet", "--package", "upcheck-cli"]);
    if programs.ends_with("release") {
        build.arg("--release");
    }
    let status = build.status().map_err(|error| format!("running cargo: {error}"))?;
    if status.success() { Ok(programs.join("upcheck")) } else { Err("upcheck does not build".into()) }
}
