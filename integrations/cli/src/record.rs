//! `run` and `record`: the commands that write records of success.

use crate::args::{Common, RecordArgs, RunArgs};
use crate::exit::{Exit, Status};
use crate::keep_times;
use crate::libraries::with_libraries;
use crate::project::{Described, ask, describe, keep_digests, made, open_records, options, trouble};
use crate::run::{Trouble, open, stderr, warn};
use crate::words;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::Command;
use upcheck::collect::Disk;
use upcheck::project::{Checked, Committed};
use upcheck::records::{Records, TargetLock, lock_target, target_holder};
use upcheck::{FileId, Graph, Reason, StaleTarget, Stat, TargetId, Verdict};

/// How many targets are named that are not recorded.
const MOST_WARNINGS: usize = 5;
/// Something went wrong before the command was run, or after it.
pub(crate) const TROUBLE: u8 = 125;
const CANNOT_RUN: u8 = 126;
const NO_SUCH_COMMAND: u8 = 127;

/// Runs the command if a target is stale, and records its success. The exit status is that of the command.
pub(crate) fn run(common: &Common, args: &RunArgs) -> Result<Status, Trouble> {
    if !common.one.is_given() {
        args.without_those_of_one_target()?;
    }
    let disk = open(common)?;
    let commands = commands(args);
    let with_libraries = args.libraries.then(|| with_libraries(common, args, &commands));
    let common = with_libraries.as_ref().unwrap_or(common);
    let mut described = describe(common, &disk, &args.targets, &identity(args))?;
    let made = made(&described, args.targets.is_empty())?;
    // What another run has recorded counts, so the records are read when it has ended.
    let _locks = lock(common, args, &described, &made)?;
    let mut records = open_records(common, &described.store)?;
    let checked = ask(common, &disk, &mut described, Some(&records))?;
    if checked.is_fresh() && !args.always {
        if args.explain {
            say(common, "fresh: the command need not run");
        }
        keep_digests(&mut described.project);
        return Ok(args.fresh_status);
    }
    if args.explain {
        explain(common, &described, &checked);
    }
    let place = args.place(common);
    let begun = described.project.begin(&disk, &mut records, &made, options(common))?;
    let before = if args.keep_times { keep_times::look(common) } else { Vec::new() };
    for command in commands {
        if let Err(status) = execute(common, command, &place) {
            return Ok(ended(args, status));
        }
    }
    // Before they are looked at, so that they go on record with these times.
    keep_times::restore(&before);
    match described.project.commit(&disk, &mut records, begun, options(common)) {
        Ok(committed) => warn_of_doubt(common, &described, &committed),
        Err(error) => {
            let trouble = Trouble(format!("the command succeeded, but is not recorded: {error}"));
            return Ok(fail(common, &trouble, TROUBLE));
        }
    }
    keep_digests(&mut described.project);
    Ok(ended(args, Exit::Fresh.into()))
}

/// The commands to run, one after the other. One whose program has an empty name is none: that is what is left of
/// commands that a build generator makes for some configurations only.
fn commands(args: &RunArgs) -> Vec<&[OsString]> {
    let Some(separator) = &args.separator else { return vec![&args.command] };
    let parts = args.command.split(|word| word == separator);
    parts.filter(|part| part.first().is_some_and(|program| !program.is_empty())).collect()
}

/// What is recorded as the command: in another place the same words mean something else.
fn identity(args: &RunArgs) -> Vec<OsString> {
    let place = args.chdir.iter().flat_map(|place| [OsString::new(), place.into()]);
    place.chain(args.command.iter().cloned()).collect()
}

/// The exit status for one of the command.
pub(crate) fn ended(args: &RunArgs, status: Status) -> Status {
    let to = args.map_status.iter().find(|(from, _)| *from == status).map(|(_, to)| *to);
    to.unwrap_or(status)
}

/// Runs a command to its end. `Err`: what to end with, where it was not run or did not succeed.
pub(crate) fn execute(common: &Common, command: &[OsString], directory: &Path) -> Result<(), Status> {
    let status = Command::new(&command[0]).args(&command[1..]).current_dir(directory).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            let status = Status::of(status);
            // Who died so has said nothing, and no shell of Windows says it.
            if let Some(shown) = status.as_nt_status().filter(|_| cfg!(windows)) {
                let program = words::visible(&Path::new(&command[0]).display().to_string(), "");
                let trouble = Trouble(format!("running '{program}': it ended with status {shown}"));
                crate::run::print_error(common, &trouble);
            }
            Err(status)
        }
        Err(error) => Err(cannot_run(common, &command[0], &error)),
    }
}

/// Says on standard error why a program could not be run. What to end with.
pub(crate) fn cannot_run(common: &Common, program: &OsStr, error: &io::Error) -> Status {
    crate::run::print_error(common, &trouble("running", Path::new(program), error));
    let is_missing = error.kind() == ErrorKind::NotFound;
    if is_missing { NO_SUCH_COMMAND } else { CANNOT_RUN }.into()
}

/// Says on standard error what stood in the way of running a command.
pub(crate) fn trouble_of_run(common: &Common, trouble: &Trouble) -> Status {
    fail(common, trouble, TROUBLE)
}

/// Records that targets are up to date, or that their build begins.
pub(crate) fn record(common: &Common, args: &RecordArgs) -> Result<Exit, Trouble> {
    let disk = open(common)?;
    let mut described = describe(common, &disk, &args.targets, &args.command)?;
    let made = made(&described, args.targets.is_empty())?;
    let mut records = open_records(common, &described.store)?;
    let (free, held) = free(&described, &records, made)?;
    let mut doubtful: Vec<(TargetId, String)> = Vec::new();
    for target in held {
        let name = words::bytes(described.project.graph().name(target));
        doubtful.push((target, format!("{name} is not recorded: a run of it is under way")));
    }
    if args.begin {
        described.project.begin_for_another(&disk, &mut records, &free, options(common))?;
    } else {
        let by_times = by_times(common, &disk, &mut described, &free)?;
        let stale: HashMap<_, _> = by_times.report.stale.iter().map(|stale| (stale.target, stale)).collect();
        let mut right = Vec::new();
        let mut ended = Vec::new();
        let begun: HashSet<_> = described.project.take_up(&records, &free).targets().collect();
        for target in free {
            // Who began a build has put on record how its inputs were then.
            let trusts = args.trust || begun.contains(&target);
            let stale = stale.get(&target);
            match stale.and_then(|stale| objection(described.project.graph(), &by_times, stale, trusts)) {
                Some(why) => doubtful.push((target, why)),
                None if begun.contains(&target) => ended.push(target),
                None => right.push(target),
            }
        }
        let begun = described.project.take_up(&records, &ended);
        let committed = described.project.commit(&disk, &mut records, begun, options(common))?;
        warn_of_doubt(common, &described, &committed);
        let begun = described.project.begin(&disk, &mut records, &right, options(common))?;
        let committed = described.project.commit(&disk, &mut records, begun, options(common))?;
        warn_of_doubt(common, &described, &committed);
        keep_digests(&mut described.project);
    }
    doubtful.sort_unstable();
    let exit = if doubtful.is_empty() { Exit::Fresh } else { Exit::Stale };
    let mut warnings: Vec<_> = doubtful.into_iter().map(|(_, why)| why).collect();
    if warnings.len() > MOST_WARNINGS {
        let n_more = warnings.len() - (MOST_WARNINGS - 1);
        warnings.truncate(MOST_WARNINGS - 1);
        warnings.push(format!("... and {n_more} more targets are not recorded"));
    }
    warn(common, &warnings);
    Ok(exit)
}

/// Which targets nobody is running, and which somebody is.
fn free(
    described: &Described,
    records: &Records,
    targets: Vec<TargetId>,
) -> Result<(Vec<TargetId>, Vec<TargetId>), Trouble> {
    let (mut free, mut held) = (Vec::new(), Vec::new());
    for target in targets {
        let name = described.project.graph().name(target);
        // A run begins with putting on record that it does.
        let is_begun = records.entry(name).is_some_and(|entry| entry.ended.is_none());
        let store = &described.store;
        let is_held = is_begun
            && lock_target(store, name, false)
                .map_err(|error| trouble("locking a target in", store, &error))?
                .is_none();
        if is_held { held.push(target) } else { free.push(target) }
    }
    Ok((free, held))
}

/// How targets look to somebody who knows nothing but times.
fn by_times(
    common: &Common,
    disk: &dyn Disk,
    described: &mut Described,
    targets: &[TargetId],
) -> Result<Checked, Trouble> {
    let graph = described.project.graph();
    let outputs: Vec<_> =
        targets.iter().filter_map(|&target| graph.outputs(target).first().copied()).collect();
    Ok(described.project.check_by_times(disk, &outputs, options(common))?)
}

/// Why nobody can say that the outputs were made from the inputs as they are. Who `trusts` only wants to have something
/// that can be recorded.
fn objection(graph: &Graph, by_times: &Checked, stale: &StaleTarget, trusts: bool) -> Option<String> {
    let is_in_the_way = |reason: &&Reason| match reason {
        Reason::OutputMissing { .. } | Reason::DepsUnknown { .. } => true,
        Reason::Unreadable { path, .. } => !trusts || graph.outputs(stale.target).contains(path),
        reason => !trusts && reason.upstream().is_none(),
    };
    let name = words::bytes(graph.name(stale.target));
    let hint = ". Begin its build with `upcheck record --begin`, or use --trust";
    if let Some(reason) = stale.reasons.iter().find(is_in_the_way) {
        let cannot = matches!(reason, Reason::OutputMissing { .. } | Reason::DepsUnknown { .. }) || trusts;
        let hint = if cannot { "" } else { hint };
        return Some(format!("{name} is not recorded: {}{hint}", words::sentence(graph, reason)));
    }
    if trusts {
        return None;
    }
    // What is stale itself hides whether it is newer, too.
    let newer = newer_input(graph, by_times, stale.target)?;
    Some(format!("{name} is not recorded: {}{hint}", words::sentence(graph, &newer)))
}

/// An input of a target that another target makes, and that is newer than an output.
fn newer_input(graph: &Graph, by_times: &Checked, target: TargetId) -> Option<Reason> {
    let mtime = |file: FileId| match by_times.snapshot.stat(file) {
        Stat::Present(meta) => Some(meta.mtime),
        _ => None,
    };
    let outputs = graph.outputs(target).iter().filter_map(|&file| Some((mtime(file)?, file)));
    let (output_mtime, output) = outputs.min()?;
    let discovered = by_times.history().discovered_inputs(target);
    let mut left: Vec<FileId> = graph.dirtying_inputs(target).iter().chain(discovered).copied().collect();
    let mut seen = HashSet::new();
    while let Some(input) = left.pop() {
        if let Some(input_mtime) = mtime(input).filter(|&time| time > output_mtime) {
            return Some(Reason::InputNewer { input, input_mtime, output, output_mtime, recorded: false });
        }
        let phony = graph.producer(input).filter(|&target| graph.flags(target).phony);
        left.extend(phony.into_iter().filter(|&it| seen.insert(it)).flat_map(|it| graph.dirtying_inputs(it)));
    }
    None
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
        let verdict = if stale.verdict == Verdict::Pending { "pending" } else { "stale" };
        say(common, &format!("{verdict}: {}", words::bytes(graph.name(stale.target))));
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

fn fail(common: &Common, trouble: &Trouble, code: u8) -> Status {
    crate::run::print_error(common, trouble);
    code.into()
}
