//! What the border to C costs: the same graph loaded, checked and read by Rust, C and Python, in turn.
//!
//! ```text
//! cargo run --release --package upcheck-rivals --bin border
//! cargo run --release --package upcheck-rivals --bin border -- --files 100000 --rounds 15
//! ```
//!
//! The files are not there, in an empty directory: looking for them costs next to nothing, and every input is a finding,
//! so that reading the results is measured, too.

#![expect(clippy::print_stdout, reason = "a program that prints figures")]

use clap::{Parser, Subcommand};
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use upcheck::Project;
use upcheck::collect::os_disk;
use upcheck::project::{Description, Options};

/// What the border to C costs
#[derive(Parser)]
struct Args {
    /// How many inputs there are
    #[arg(long, default_value_t = 1_000_000)]
    files: usize,
    /// How many inputs a target has
    #[arg(long, default_value_t = 100)]
    per_target: usize,
    /// How often each runs
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    #[command(subcommand)]
    child: Option<Child>,
}

#[derive(Subcommand)]
enum Child {
    /// Runs the Rust side once, in the working directory
    #[command(hide = true)]
    Rust { mode: String, files: usize, per_target: usize },
}

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let args = Args::parse();
    match args.child {
        Some(Child::Rust { mode, files, per_target }) => rust(&mode, files, per_target),
        None => race(&args),
    }
}

/// One way to do it, and what it took: load, check and read, in microseconds.
struct Contender {
    name: String,
    command: Vec<String>,
    times: Vec<[u64; 3]>,
}

fn race(args: &Args) -> Outcome<()> {
    let dir = tempfile::tempdir()?;
    let (library, c) = compile(dir.path())?;
    let empty = dir.path().join("empty");
    std::fs::create_dir(&empty)?;
    let me = std::env::current_exe()?.to_string_lossy().into_owned();
    let python = upcheck_tests::tools::root().join("tests/rivals/src/border/border.py");
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut contenders = Vec::new();
    let mut add = |language: &str, mode: &str| {
        let sizes = [mode.to_owned(), args.files.to_string(), args.per_target.to_string()];
        let command = match language {
            "Rust" => [vec![me.clone(), "rust".into()], sizes.to_vec()].concat(),
            "C" => [vec![text(&c)], sizes.to_vec()].concat(),
            _ => [vec!["python3".into(), text(&python)], sizes.to_vec(), vec![text(&library)]].concat(),
        };
        contenders.push(Contender { name: format!("{language}, {mode}"), command, times: Vec::new() });
    };
    for mode in ["intern", "distinct"] {
        add("Rust", mode);
    }
    for language in ["C", "Python"] {
        ["intern", "distinct", "borrow", "one-by-one"].iter().for_each(|mode| add(language, mode));
    }
    let mut answers = Vec::new();
    for round in 0..=args.rounds {
        for contender in &mut contenders {
            let output = Command::new(&contender.command[0])
                .args(&contender.command[1..])
                .current_dir(&empty)
                .output()?;
            let said = String::from_utf8(output.stdout)?;
            let numbers: Vec<u64> = said.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
            let &[load, check, read, n, sum] = &numbers[..] else {
                return Err(format!("{}: {}", contender.name, String::from_utf8_lossy(&output.stderr)).into());
            };
            answers.push((n, sum));
            // The first round warms up.
            if round > 0 {
                contender.times.push([load, check, read]);
            }
        }
    }
    if answers.iter().any(|answer| *answer != answers[0]) {
        return Err(format!("not all found the same: {answers:?}").into());
    }
    print!("{}", table(args, &contenders, answers[0].0)?);
    Ok(())
}

/// The library, and the C side.
fn compile(dir: &Path) -> Outcome<(PathBuf, PathBuf)> {
    let root = upcheck_tests::tools::root();
    let built = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["build", "--quiet", "--release", "--package", "upcheck-c"])
        .status()?;
    let folder = std::env::current_exe()?.parent().ok_or("a program lies in a folder")?.to_owned();
    let (library, program) = (folder.join("libupcheck.so"), dir.join("border"));
    let compiled = Command::new("cc")
        .args(["-O2", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-I"])
        .arg(root.join("ffi/c/include"))
        .arg(root.join("tests/rivals/src/border/border.c"))
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .arg("-o")
        .arg(&program)
        .status()?;
    match built.success() && compiled.success() {
        true => Ok((library, program)),
        false => Err("the C side does not build".into()),
    }
}

fn table(args: &Args, contenders: &[Contender], n_findings: u64) -> Outcome<String> {
    let mut text = String::new();
    writeln!(
        text,
        "{} inputs, {} rounds in turn, {n_findings} findings; ms, minimum (median)",
        args.files, args.rounds
    )?;
    writeln!(text, "{:20} {:>16} {:>16} {:>16}", "", "load", "check", "read results")?;
    for contender in contenders {
        write!(text, "{:20}", contender.name)?;
        for phase in 0..3 {
            let mut times: Vec<u64> = contender.times.iter().map(|times| times[phase]).collect();
            times.sort_unstable();
            let ms = |micros: u64| format!("{}.{}", micros / 1000, micros % 1000 / 100);
            let column = format!("{} ({})", ms(times[0]), ms(times[times.len() / 2]));
            write!(text, " {column:>16}")?;
        }
        writeln!(text)?;
    }
    Ok(text)
}

/// The Rust side: what border.c does, without a border.
fn rust(mode: &str, n_files: usize, per_target: usize) -> Outcome<()> {
    let n_targets = n_files.div_ceil(per_target);
    let (mut arena, mut nuls, mut ends) = (String::new(), String::new(), Vec::new());
    for file in 0..n_files + n_targets {
        let path = match file.checked_sub(n_files) {
            None => format!("src/module-{:05}/some_source_file_{file:07}.c", file / 100),
            Some(target) => format!("out/target-{target:07}"),
        };
        arena.push_str(&path);
        nuls.push_str(&path);
        nuls.push('\0');
        ends.push(arena.len() as u64);
    }
    let start = Instant::now();
    let mut project = Project::new();
    let base = std::fs::canonicalize(".")?;
    project.set_base(base.as_os_str().as_encoded_bytes());
    let mut files = Vec::with_capacity(n_files + n_targets);
    if mode == "distinct" {
        let first = project.add_distinct(arena.as_bytes(), &ends)?;
        files.extend((0..n_files + n_targets).map(|at| upcheck::FileId::new(first.index() + at)));
    } else {
        project.files(nuls.as_bytes(), 0, &mut files)?;
    }
    for target in 0..n_targets {
        let first = target * per_target;
        project.add(&Description {
            outputs: &files[n_files + target..=n_files + target],
            explicit: &files[first..(first + per_target).min(n_files)],
            ..Description::default()
        })?;
    }
    let loaded = start.elapsed();
    let disk = os_disk(Path::new("."))?;
    let requests = project.default_requests();
    let checked = project.check(&disk, None, &requests, Options::default())?;
    let judged = start.elapsed();
    let reasons = checked.report.stale.iter().flat_map(|stale| &stale.reasons);
    let (mut n, mut sum) = (0, 0);
    for reason in reasons {
        n += 1;
        sum += reason.path().index();
    }
    let read = start.elapsed();
    let spans = [loaded, judged - loaded, read - judged].map(|span| span.as_micros());
    println!("{} {} {} {n} {sum}", spans[0], spans[1], spans[2]);
    Ok(())
}
