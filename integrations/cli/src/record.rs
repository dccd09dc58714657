//! `run` and `record`: the commands that write records of success.

use crate::args::{Common, RecordArgs, RunArgs};
use crate::exit::Exit;
use crate::project::{Described, ask, describe, keep_digests, options, targets, trouble};
use crate::run::{Trouble, open, stderr, warn};
use crate::words;
use std::io::{ErrorKind, Write};
use std::process::{Command, ExitCode, ExitStatus};
use upcheck::TargetId;
use upcheck::collect::Disk;
use upcheck::project::{Checked, Committed};
use upcheck::records::{Records, TargetLock, lock_target, target_holder};

/// Something went wrong before the command was run, or after it.
const TROUBLE: u8 = 125;
const CANNOT_RUN: u8 = 126;
const NO_SUCH_COMMAND: u8 = 127;

/// Runs the command if a target is stale, and records its success. The exit status is that of the command.
pub(crate) fn run(common: &Common, args: &RunArgs) -> Result<ExitCode, Trouble> {
    let disk = open(common)?;
    let mut described = describe(common, &disk, &args.targets, &args.command)?;
    let made = targets(&described);
    // What another run has recorded counts, so the records are read when it has ended.
    let _locks = lock(common, args, &described, &made)?;
    let mut records = open_records(&described)?;
    let checked = ask(common, &disk, &mut described, Some(&records))?;
    if checked.is_fresh() && !args.always {
        if args.explain {
            say(common, "fresh: the command need not run");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if args.explain {
        explain(common, &described, &checked);
    }
    let begun = described.project.begin(&disk, &mut records, &made, options(common))?;
    let status = match Command::new(&args.command[0]).args(&args.command[1..]).status() {
        Ok(status) => status,
        Err(error) => {
            let command = std::path::Path::new(&args.command[0]);
            let code = if error.kind() == ErrorKind::NotFound { NO_SUCH_COMMAND } else { CANNOT_RUN };
            let trouble = trouble("running", command, &error);
            return Ok(fail(common, &trouble, code));
        }
    };
    if !status.success() {
        return Ok(ExitCode::from(code(status)));
    }
    match described.project.commit(&disk, &mut records, begun, options(common)) {
        Ok(committed) => warn_of_doubt(common, &described, &committed),
        Err(error) => return Ok(fail(common, &Trouble(format!("recording: {error}")), TROUBLE)),
    }
    keep_digests(&mut described.project);
    Ok(ExitCode::SUCCESS)
}

/// Says on standard error what stood in the way of running a command.
pub(crate) fn trouble_of_run(common: &Common, trouble: &Trouble) -> ExitCode {
    fail(common, trouble, TROUBLE)
}

/// Records that targets are up to date, or that their build begins.
pub(crate) fn record(common: &Common, args: &RecordArgs) -> Result<Exit, Trouble> {
    let disk = open(common)?;
    let mut described = describe(common, &disk, &args.targets, &args.command)?;
    let made = targets(&described);
    let mut records = open_records(&described)?;
    if args.begin {
        described.project.begin_for_another(&disk, &mut records, &made, options(common))?;
        return Ok(Exit::Fresh);
    }
    let begun = described.project.take_up(&records, &made);
    let left: Vec<_> = made.iter().copied().filter(|target| !begun.targets().any(|t| t == *target)).collect();
    let mut all = Exit::Fresh;
    let committed = described.project.commit(&disk, &mut records, begun, options(common))?;
    warn_of_doubt(common, &described, &committed);
    let (right, doubtful): (Vec<_>, Vec<_>) = match args.trust {
        true => (left, Vec::new()),
        false => {
            left.into_iter().partition(|&target| newer_input(common, &disk, &mut described, target).is_none())
        }
    };
    for target in doubtful {
        all = Exit::Stale;
        let input = newer_input(common, &disk, &mut described, target).unwrap_or_default();
        let name = words::bytes(described.project.graph().name(target));
        let text = format!(
            "{name} is not recorded: {input}. Begin its build with `upcheck record --begin`, or use --trust"
        );
        warn(common, &[text]);
    }
    let begun = described.project.begin(&disk, &mut records, &right, options(common))?;
    let committed = described.project.commit(&disk, &mut records, begun, options(common))?;
    warn_of_doubt(common, &described, &committed);
    keep_digests(&mut described.project);
    Ok(all)
}

/// Why nobody can say that the outputs were made from the inputs as they are: one of these is newer.
fn newer_input(
    common: &Common,
    disk: &dyn Disk,
    described: &mut Described,
    target: TargetId,
) -> Option<String> {
    let output = described.project.graph().outputs(target).first().copied()?;
    let by_times = described.project.check_by_times(disk, &[output], options(common)).ok()?;
    let stale = by_times.report.stale.iter().find(|stale| stale.target == target)?;
    let reason = stale.reasons.iter().find(|reason| reason.upstream().is_none())?;
    Some(words::sentence(described.project.graph(), reason))
}

fn open_records(described: &Described) -> Result<Records, Trouble> {
    Records::open(&described.store)
        .map_err(|error| trouble("opening the records in", &described.store, &error))
}

/// Keeps others from running the same targets, waiting for them if need be.
fn lock(
    common: &Common,
    args: &RunArgs,
    described: &Described,
    made: &[TargetId],
) -> Result<Vec<TargetLock>, Trouble> {
    let graph = described.project.graph();
    // Sorted by name, so that two runs never wait for each other.
    let mut names: Vec<&[u8]> = made.iter().map(|&target| graph.name(target)).collect();
    names.sort_unstable();
    let store = &described.store;
    let failed = |error: &std::io::Error| trouble("locking a target in", store, error);
    let mut locks = Vec::with_capacity(names.len());
    for name in names {
        if let Some(lock) = lock_target(store, name, false).map_err(|error| failed(&error))? {
            locks.push(lock);
            continue;
        }
        let holder = match target_holder(store, name) {
            Some(pid) => format!(" (process {pid})"),
            None => String::new(),
        };
        let text = format!("another run of {}{holder} is under way", words::bytes(name));
        if args.no_wait {
            return Err(Trouble(text));
        }
        say(common, &format!("{text}: waiting for it"));
        locks.extend(lock_target(store, name, true).map_err(|error| failed(&error))?);
    }
    Ok(locks)
}

fn explain(common: &Common, described: &Described, checked: &Checked) {
    for stale in &checked.report.stale {
        let graph = described.project.graph();
        say(common, &format!("stale: {}", words::bytes(graph.name(stale.target))));
        for reason in &stale.reasons {
            say(common, &format!("       {}", words::sentence(graph, reason)));
        }
    }
}

fn warn_of_doubt(common: &Common, described: &Described, committed: &Committed) {
    let graph = described.project.graph();
    let warnings: Vec<_> = committed
        .doubtful
        .iter()
        .map(|(target, file)| {
            let (name, file) = (words::bytes(graph.name(*target)), words::path(graph, *file));
            format!("{name} will be stale again: {file} may have changed while it was built")
        })
        .collect();
    warn(common, &warnings);
}

fn say(common: &Common, text: &str) {
    // Nothing is left to be done when that fails.
    let _ = writeln!(stderr(common), "upcheck: {text}");
}

fn fail(common: &Common, trouble: &Trouble, code: u8) -> ExitCode {
    crate::run::print_error(common, trouble);
    ExitCode::from(code)
}

#[cfg(unix)]
fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}

#[cfg(not(unix))]
fn code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
