//! Ninja builds and what their files hold: `record`, `check --content` and `why --content`.

use crate::answer::Ninja;
use crate::args::{CheckArgs, Common, RecordArgs, WhyArgs};
use crate::exit::Exit;
use crate::image_folder::digests;
use crate::ninja::{answer, collect, load, print_why, requests, targets};
use crate::plan;
use crate::project::trouble;
use crate::run::{Trouble, open, print_answer, warn};
use crate::text::plural;
use crate::words;
use std::ffi::OsString;
use std::path::PathBuf;
use upcheck::collect::Disk;
use upcheck::{FileId, Snapshot};
use upcheck_ninja::contents::{ContentCounts, Contents, Doubt, Unrecorded};
use upcheck_ninja::{Build, Opened};

/// How many targets are named that are not recorded.
const MOST_WARNINGS: usize = 5;

/// Puts on record what the files of fresh targets hold.
pub(crate) fn record(common: &Common, args: &RecordArgs) -> Result<Exit, Trouble> {
    if args.begin || args.trust || !args.command.is_empty() {
        return Err(Trouble(
            "--begin, --trust and a command are not for ninja, which has records of its own".into(),
        ));
    }
    let disk = open(common)?;
    let targets = targets(common, &args.targets);
    let mut build = build(load(common, &disk, None, &targets, true)?);
    let requests = requests(common, &build, &args.targets)?;
    build.describe(&disk, &requests)?;
    let before = read(common)?;
    // What was on record still proves that a target with another time is what it was.
    if let Some(before) = &before {
        build.judge_by_content(&disk, before)?;
    }
    let mut snapshot = collect(common, &mut build, &disk, false);
    let mut cache = digests(common);
    if let Some(before) = &before {
        build.look_at_contents(&disk, before, &mut snapshot, cache.as_mut());
    }
    let decision = build.decide(&snapshot, &requests)?;
    let before = before.unwrap_or_default();
    let found = build.record_contents(&disk, &decision, &snapshot, &before);
    let folder = folder(common);
    // What says the same is not written again.
    if found.contents != before {
        found.contents.write(&folder).map_err(|error| trouble("recording contents in", &folder, &error))?;
    }
    if let Some(cache) = cache {
        cache.save();
    }
    warn(common, build.warnings());
    warn(common, &objections(&build, &found.unrecorded));
    Ok(if found.unrecorded.is_empty() { Exit::Fresh } else { Exit::Stale })
}

/// Answers `check --content`.
pub(crate) fn check(common: &Common, args: &CheckArgs) -> Result<Exit, Trouble> {
    if args.exact {
        return Err(Trouble("--exact answers as ninja does, which does not know --content".into()));
    }
    let disk = open(common)?;
    let Compared { mut build, requests, snapshot, counts } = look(common, &disk, &args.targets)?;
    let decision = build.decide(&snapshot, &requests)?;
    let report = build.report(&decision);
    drop(decision);
    let exit = if report.is_fresh() { Exit::Fresh } else { Exit::Stale };
    if args.quiet {
        return Ok(exit);
    }
    if args.commands {
        build.load_rules(&disk)?;
    }
    warn(common, build.warnings());
    if let Some(platform) = args.explain_plan {
        plan::explain(common, platform, &build.graph().files, &snapshot)?;
        return Ok(exit);
    }
    let remote = crate::remote::ask(common, args, &mut build, &disk, &report)?;
    let summary = build.summary(&snapshot, &report);
    let rules = Ninja { contents: Some(counts), remote, ..Ninja::of(&build) };
    print_answer(common, &answer(common, args, &build, (report, &summary), rules))?;
    Ok(exit)
}

/// Answers `why --content`.
pub(crate) fn explain(common: &Common, args: &WhyArgs) -> Result<Exit, Trouble> {
    let disk = open(common)?;
    let Compared { build, requests, snapshot, .. } = look(common, &disk, &args.targets)?;
    let decision = build.decide(&snapshot, &requests)?;
    print_why(common, args, &build, &decision, &requests)
}

/// A build whose targets are to be judged by contents, and what was found of its files.
struct Compared {
    build: Build,
    requests: Vec<FileId>,
    snapshot: Snapshot,
    counts: ContentCounts,
}

fn look(common: &Common, disk: &dyn Disk, asked: &[OsString]) -> Result<Compared, Trouble> {
    let Some(contents) = read(common)? else {
        let folder = words::bytes(folder(common).as_os_str().as_encoded_bytes());
        return Err(Trouble(format!(
            "nothing is on record in '{folder}': `upcheck record` after a build puts there what files hold"
        )));
    };
    let targets = targets(common, asked);
    let mut build = build(load(common, disk, None, &targets, true)?);
    let requests = requests(common, &build, asked)?;
    build.describe(disk, &requests)?;
    let targets = build.judge_by_content(disk, &contents)?;
    let mut snapshot = collect(common, &mut build, disk, false);
    let mut cache = digests(common);
    let counts = build.look_at_contents(disk, &contents, &mut snapshot, cache.as_mut());
    if let Some(cache) = cache {
        cache.save();
    }
    Ok(Compared { build, requests, snapshot, counts: ContentCounts { targets, ..counts } })
}

fn build(opened: Opened) -> Build {
    match opened {
        Opened::Build(build) => *build,
        Opened::Fresh(_) => unreachable!("a build was wanted"),
    }
}

fn folder(common: &Common) -> PathBuf {
    common.directory.join(&common.records)
}

fn read(common: &Common) -> Result<Option<Contents>, Trouble> {
    let folder = folder(common);
    Contents::read(&folder).map_err(|error| trouble("reading", &folder.join(Contents::NAME), &error))
}

/// Why targets are not on record.
fn objections(build: &Build, unrecorded: &[Unrecorded]) -> Vec<String> {
    let graph = build.graph();
    let mut warnings: Vec<String> = unrecorded
        .iter()
        .take(MOST_WARNINGS)
        .map(|unrecorded| {
            let name = words::bytes(graph.name(unrecorded.target));
            match unrecorded.doubt {
                Doubt::Stale => format!("{name} is not recorded: it is stale"),
                Doubt::File(file) => {
                    let file = words::path(graph, file);
                    format!("{name} is not recorded: {file} cannot be read, or is being changed")
                }
            }
        })
        .collect();
    if unrecorded.len() > MOST_WARNINGS {
        let n_more = plural(unrecorded.len() - MOST_WARNINGS, "more target");
        warnings.push(format!("... and {n_more}: not recorded"));
    }
    warnings
}
