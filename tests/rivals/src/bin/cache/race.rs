//! The race: who takes part, what has to come out of each run, and in which order they run.

use crate::build::{Checkout, Copies};
use crate::table::{Table, Taken};
use clap::Parser;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use upcheck_reapi::{Client, Digest, Options};
use upcheck_remote::{Settings, Snapshot};
use upcheck_tests::bazel_remote::{BazelRemote, Setup};

/// What a shared cache costs
#[derive(Parser)]
struct Args {
    /// How many targets the build has that is published and restored in each round
    #[arg(long, default_value_t = 10_000)]
    few: usize,
    /// How many targets the build has that is only asked for; 0: it is left out
    #[arg(long, default_value_t = 100_000)]
    many: usize,
    /// How many bytes each source and each output has
    #[arg(long, default_value_t = 1024)]
    size: usize,
    /// How often each runs
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Where builds are made, for as long as it takes [default: the folder for temporary files]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Take the upcheck that is beside this program as it is, instead of building it
    #[arg(long)]
    as_built: bool,
    /// Let the server listen at sockets in the file system instead of ports
    #[arg(long)]
    sockets: bool,
    /// Another upcheck that takes part in all rounds
    #[arg(long, value_name = "NAME=PROGRAM")]
    rival: Vec<String>,
}

/// So many questions are asked one after another for the time of one.
const ROUND_TRIPS: u32 = 100;

/// Seconds until a server counts as gone: it is there, however busy the machine is.
const PATIENCE: &str = "60";

struct Race {
    place: TempDir,
    /// Whether servers listen at ports.
    ports: bool,
    upchecks: Vec<Upcheck>,
    /// Has both builds.
    server: BazelRemote,
    client: Client,
    few: Pair,
    many: Option<Pair>,
    /// Of blobs that the server has, and of others that it has not.
    digests: [Vec<Digest>; 2],
    table: Table,
}

/// A program that takes part, and what its rows are called after.
struct Upcheck {
    suffix: String,
    program: PathBuf,
}

/// A checkout that was built, and another one that was not.
struct Pair {
    built: Checkout,
    bare: Checkout,
    /// What its snapshot is called.
    tag: &'static str,
}

/// What a command has to come to: its exit status, and what has to be in its answer.
type Wanted<'a> = (i32, &'a str);

pub(crate) fn main() -> Result<(), String> {
    let args = Args::parse();
    let mut race = Race::prepare(&args)?;
    tell("both builds are published; the rounds begin");
    for round in 0..=args.rounds {
        race.round()?;
        if round == 0 {
            // It has warmed up everything, and shown that all answers are right.
            race.table = Table::default();
        }
    }
    let sizes: Vec<_> =
        race.pairs().map(|pair| format!("{} targets", grouped(pair.built.copies.n_targets))).collect();
    report(&format!(
        "{} that copy a file of {} bytes each, {} rounds in turn:\n\n{}",
        sizes.join(" and "),
        args.size,
        args.rounds,
        race.table.text()
    ));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the result of this program")]
fn report(text: &str) {
    print!("{text}");
}

#[expect(clippy::print_stderr, reason = "what is not a part of the result")]
fn tell(text: &str) {
    eprintln!("cache: {text}");
}

impl Race {
    /// Makes the builds, and publishes both.
    fn prepare(args: &Args) -> Result<Self, String> {
        let mut upchecks = vec![Upcheck { suffix: String::new(), program: upcheck(args.as_built)? }];
        for rival in &args.rival {
            let (name, program) = rival.split_once('=').ok_or("a rival is NAME=PROGRAM")?;
            upchecks.push(Upcheck { suffix: format!(", {name}"), program: program.into() });
        }
        if let Some(dir) = &args.dir {
            std::fs::create_dir_all(dir).map_err(said("making a folder"))?;
        }
        let mut folder = tempfile::Builder::new();
        let folder = folder.prefix("upcheck-cache-");
        let place = args.dir.as_ref().map_or_else(|| folder.tempdir(), |dir| folder.tempdir_in(dir));
        let place = place.map_err(said("making a folder"))?;
        let few = Pair::write(&place, "few", Copies { n_targets: args.few, size: args.size })?;
        let many = Copies { n_targets: args.many, size: args.size };
        let many = (args.many > 0).then(|| Pair::write(&place, "many", many)).transpose()?;
        let copies = many.as_ref().unwrap_or(&few).built.copies;
        let there = (0..copies.n_targets).map(|n| Digest::of(&copies.content(n)));
        let others = (0..copies.n_targets).map(|n| Digest::of(&n.to_be_bytes()));
        let digests = [there.collect(), others.collect()];
        let server = start(args.few + args.many, args.size, !args.sockets)?;
        let client = client(&server)?;
        let race = Self {
            ports: !args.sockets,
            place,
            upchecks,
            server,
            client,
            few,
            many,
            digests,
            table: Table::default(),
        };
        for pair in race.pairs() {
            let directory = pair.built.build_directory();
            let mut push = race.upcheck(&race.upchecks[0], "snapshot push", &directory, &race.server);
            timed(push.args(["--tag", pair.tag]), (0, &format!("snapshot  {}: ", pair.tag)))?;
        }
        Ok(race)
    }

    fn pairs(&self) -> impl Iterator<Item = &Pair> {
        [&self.few].into_iter().chain(&self.many)
    }

    /// Everything once, in turn.
    fn round(&mut self) -> Result<(), String> {
        let mut table = std::mem::take(&mut self.table);
        self.ask(&mut table)?;
        for pair in self.pairs() {
            self.check(&mut table, pair)?;
        }
        for upcheck in &self.upchecks {
            self.there_and_back(&mut table, upcheck)?;
        }
        self.table = table;
        Ok(())
    }

    /// The floors, and what the client alone takes.
    fn ask(&self, table: &mut Table) -> Result<(), String> {
        table.add("a process that does nothing", 0, timed(&mut Command::new("true"), (0, ""))?);
        let asking = |error: upcheck_reapi::Error| error.to_string();
        let begun = Instant::now();
        for _ in 0..ROUND_TRIPS {
            self.client.capabilities().map_err(asking)?;
        }
        table.add("a question and its answer", 0, Taken::wall(begun.elapsed() / ROUND_TRIPS));
        for (digests, word) in self.digests.iter().zip(["all", "none"]) {
            let begun = Instant::now();
            let missing = self.client.find_missing(digests).map_err(asking)?;
            let taken = Taken::wall(begun.elapsed());
            let wanted = if word == "all" { 0 } else { digests.len() };
            if missing.len() != wanted {
                return Err(format!("{} blobs are missing, not {wanted}", missing.len()));
            }
            let name = format!("presence of {} blobs, {word} there", grouped(digests.len()));
            table.add(&name, digests.len(), taken);
        }
        self.look_through_snapshot(table)
    }

    /// What is left of `snapshot pull` when all keys are made: the snapshot is read, and the cache is asked for all outputs.
    fn look_through_snapshot(&self, table: &mut Table) -> Result<(), String> {
        let pair = self.many.as_ref().unwrap_or(&self.few);
        let n_targets = pair.built.copies.n_targets;
        let begun = Instant::now();
        let snapshot = Snapshot::pull(pair.tag, &Settings::default(), &self.client);
        let snapshot = snapshot.map_err(|error| error.to_string())?.ok_or("the snapshot is gone")?;
        let missing = self.client.find_missing(&self.digests[0]).map_err(|error| error.to_string())?;
        let taken = Taken::wall(begun.elapsed());
        if snapshot.n_keys() < n_targets || !missing.is_empty() {
            return Err(format!(
                "{} keys are in the snapshot, {} blobs missing",
                snapshot.n_keys(),
                missing.len()
            ));
        }
        table.add(&format!("a snapshot of {} targets, after the keys", grouped(n_targets)), n_targets, taken);
        Ok(())
    }

    /// Checks in a checkout in which all targets are stale and cached.
    fn check(&self, table: &mut Table, pair: &Pair) -> Result<(), String> {
        let n_targets = pair.bare.copies.n_targets;
        let stale = format!("{0} of {0} targets are stale", grouped(n_targets));
        let cached = format!("In the cache: {} cached", grouped(n_targets));
        for (command, wanted) in [("check", &stale), ("check --remote", &cached), ("snapshot pull", &cached)]
        {
            for upcheck in &self.upchecks {
                let name = format!("{command}, {} targets{}", grouped(n_targets), upcheck.suffix);
                let has_tag = command.starts_with("snapshot");
                let mut command = self.upcheck(upcheck, command, &pair.bare.build_directory(), &self.server);
                command.args(has_tag.then_some(["--tag", pair.tag]).into_iter().flatten());
                table.add(&name, n_targets, timed(&mut command, (1, wanted))?);
            }
        }
        Ok(())
    }

    /// Publishes to a server that has nothing, twice, and restores what is there; beside that a copy of the outputs.
    fn there_and_back(&self, table: &mut Table, upcheck: &Upcheck) -> Result<(), String> {
        let Pair { built, bare, .. } = &self.few;
        let n_targets = built.copies.n_targets;
        let server = start(n_targets, built.copies.size, self.ports)?;
        let n = grouped(n_targets);
        let mut add = |what: &str, taken| table.add(&format!("{what}, {n} targets"), n_targets, taken);
        let suffix = &upcheck.suffix;
        for (what, wanted) in
            [("", format!("{n} targets uploaded")), (" again", format!("{n} already there"))]
        {
            let mut publish = self.upcheck(upcheck, "publish", &built.build_directory(), &server);
            add(&format!("publish{what}{suffix}"), timed(&mut publish, (0, &wanted))?);
        }
        let forgetting = said("removing what was restored");
        bare.forget().map_err(&forgetting)?;
        let mut restore = self.upcheck(upcheck, "restore", &bare.build_directory(), &server);
        add(&format!("restore{suffix}"), timed(&mut restore, (0, &format!("{n} targets restored")))?);
        let mut check = self.upcheck(upcheck, "check", &bare.build_directory(), &server);
        timed(&mut check, (0, "fresh: nothing to do"))?;
        bare.forget().map_err(&forgetting)?;
        let copied = self.place.path().join("copied");
        add(
            "cp -a of the outputs",
            timed(Command::new("cp").arg("-a").arg(built.outputs()).arg(&copied), (0, ""))?,
        );
        fs::remove_dir_all(&copied).map_err(said("removing a copy"))
    }

    /// A command of upcheck, `snapshot push` for instance, in a build directory.
    fn upcheck(&self, upcheck: &Upcheck, words: &str, directory: &Path, server: &BazelRemote) -> Command {
        let mut command = Command::new(&upcheck.program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("UPCHECK_") {
                command.env_remove(name);
            }
        }
        command.env("UPCHECK_CACHE_DIR", self.place.path().join("images"));
        command.args(words.split(' ').filter(|word| *word != "--remote")).arg("-C").arg(directory);
        if words != "check" {
            command.arg("--remote").arg(server.address()).args(["--remote-timeout", PATIENCE]);
        }
        command
    }
}

impl Pair {
    fn write(place: &TempDir, tag: &'static str, copies: Copies) -> Result<Self, String> {
        let write = |kind: &str, is_built| {
            let place = place.path().join(tag).join(kind);
            copies.write(&place, is_built).map_err(|error| format!("{}: {error}", place.display()))
        };
        Ok(Self { built: write("built", true)?, bare: write("bare", false)?, tag })
    }
}

/// Runs a command, and looks at how it ends and what it prints.
fn timed(command: &mut Command, (status, text): Wanted<'_>) -> Result<Taken, String> {
    let name = format!("{command:?}");
    let failed = |error: io::Error| format!("{name}: {error}");
    let printed = tempfile::NamedTempFile::new().map_err(failed)?;
    let complained = tempfile::NamedTempFile::new().map_err(failed)?;
    let open = |file: &tempfile::NamedTempFile| File::create(file.path()).map_err(failed);
    command.stdin(Stdio::null()).stdout(open(&printed)?).stderr(open(&complained)?);
    let (before, begun) = (cpu_of_children()?, Instant::now());
    let ended = command.status().map_err(failed)?;
    let wall = begun.elapsed();
    let cpu = cpu_of_children()?.saturating_sub(before);
    let read = |file: &tempfile::NamedTempFile| fs::read_to_string(file.path()).map_err(failed);
    let (printed, complaint) = (read(&printed)?, read(&complained)?);
    let is_right = ended.code() == Some(status) && printed.contains(text) && complaint.is_empty();
    let shown: Vec<_> = printed.lines().take(5).collect();
    is_right.then_some(Taken { wall, cpu: Some(cpu) }).ok_or_else(|| {
        format!(
            "{name}: {ended}, where {status} and \"{text}\" were expected:\n{}\n{complaint}",
            shown.join("\n")
        )
    })
}

/// The processor time of all processes that have ended and were waited for.
fn cpu_of_children() -> Result<Duration, String> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| error.to_string())?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(u64::try_from(micros).unwrap_or_default()))
}

/// A server that has room for so many targets.
fn start(n_targets: usize, size: usize, ports: bool) -> Result<BazelRemote, String> {
    // Of each target it keeps some seven files, most of which take up a page.
    let gigabytes = 2 + n_targets * (size + (28 << 10)) / (1 << 30);
    let more = ["--max_size".into(), gigabytes.to_string().into()];
    let setup = Setup { ports, more: more.into(), ..Setup::default() };
    BazelRemote::start(setup).ok_or_else(|| "there is no bazel-remote here".into())
}

fn client(server: &BazelRemote) -> Result<Client, String> {
    let address = server.address().parse().map_err(|error| format!("{}: {error}", server.address()))?;
    let options = Options { connect_timeout: Duration::from_secs(60), ..Options::default() };
    Client::open(&address, options).map_err(|error| error.to_string())
}

/// Builds upcheck, as optimised as this program is, unless it is there already, and says where it is.
fn upcheck(as_built: bool) -> Result<PathBuf, String> {
    let programs = std::env::current_exe().map_err(said("finding this program"))?;
    let programs = programs.parent().ok_or("this program is in no folder")?;
    if as_built {
        return Ok(programs.join("upcheck"));
    }
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    build.current_dir(upcheck_tests::tools::root()).args(["build", "--quiet", "--package", "upcheck-cli"]);
    build.args(programs.ends_with("release").then_some("--release"));
    let status = build.status().map_err(said("running cargo"))?;
    if status.success() { Ok(programs.join("upcheck")) } else { Err("cargo build failed".into()) }
}

fn said(operation: &str) -> impl Fn(io::Error) -> String {
    let operation = operation.to_owned();
    move |error| format!("{operation}: {error}")
}

/// A number as upcheck prints it.
fn grouped(number: usize) -> String {
    upcheck_words::count(number)
}
