//! `check` and `why` on a ninja build directory.

use crate::answer::{Answer, Looked, Ninja, Rules};
use crate::args::{CheckArgs, Common, Format, WhyArgs};
use crate::cmake::{Cmake, Request};
use crate::exit::Exit;
use crate::image_folder::images;
use crate::plan;
use crate::run::{Trouble, bytes_of, open, print, print_answer, warn};
use crate::why;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use upcheck::collect::Disk;
use upcheck::{Decision, FileId, Graph, Report, Settled, Snapshot};
use upcheck_ninja::{
    Build, Draft, DryRun, Error, Images, LastCheck, Opened, Options, Saved, Summary, dry_run,
};

/// Answers `check`.
pub(crate) fn check(common: &Common, args: &CheckArgs) -> Result<Exit, Trouble> {
    check_and(common, args, |_, _| true)
}

/// The same. Before the answer is printed, somebody looks at it and at what it was made of, may add to it, and says whether it
/// is to be printed.
pub(crate) fn check_and(
    common: &Common,
    args: &CheckArgs,
    look: impl FnOnce(&mut Answer<'_>, &Snapshot) -> bool,
) -> Result<Exit, Trouble> {
    let disk = open(common)?;
    let images = images(common);
    let targets = targets(common, &args.targets);
    let mut build = match load(common, &disk, images.as_ref(), &targets, args.exact)? {
        Opened::Build(build) => build,
        Opened::Fresh(summary) => return fresh(common, args, *summary),
    };
    let requests = requests(common, &build, &args.targets);
    let requests = match (requests, args.exact) {
        (Err(error), false) => return Err(error.into()),
        (requests, _) => requests,
    };
    build.describe(&disk, requests.as_deref().unwrap_or_default())?;
    let snapshot = collect(common, &mut build, &disk, args.exact);
    if args.exact || args.commands {
        build.load_rules(&disk)?;
    }
    let is_default = targets.is_empty() && !args.exact;
    let draft =
        images.as_ref().and_then(|images| Some((build.draft_image(&disk, images, is_default)?, images)));
    let (judged, draft) = std::thread::scope(|scope| {
        if common.threads == 1 {
            let judged = judge(&build, &disk, &snapshot, requests, args, targets.is_empty());
            return (judged, draft.map(|(draft, _)| draft));
        }
        // Most of writing is waiting for memory that the kernel clears.
        let (build, disk) = (&build, &disk);
        let writer = draft.map(|(draft, images)| scope.spawn(move || draft.write(build, images)));
        let judged = judge(build, disk, &snapshot, requests, args, targets.is_empty());
        (judged, writer.map(|writer| writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))))
    });
    let Judged { report, stopped_at_manifest, settled } = match judged {
        Ok(judged) => judged,
        Err(trouble) => {
            // There will be the same trouble next time, but not the same reading.
            if draft.is_some() {
                save(common, images.as_ref(), &disk, &mut build, &snapshot, None, draft);
            }
            return Err(trouble);
        }
    };
    let exit = if report.is_fresh() { Exit::Fresh } else { Exit::Stale };
    let last = settled.as_ref().map(|settled| LastCheck { settled, report: &report });
    let image = save(common, images.as_ref(), &disk, &mut build, &snapshot, last, draft);
    if args.quiet {
        return Ok(exit);
    }
    warn(common, build.warnings());
    if let Some(platform) = args.explain_plan {
        plan::explain(common, platform, &build.graph().files, &snapshot)?;
        return Ok(exit);
    }
    let remote = crate::remote::ask(common, args, &mut build, &disk, &report)?;
    let summary = build.summary(&snapshot, &report);
    let rules = Ninja { image, exact: args.exact, stopped_at_manifest, remote, ..Ninja::of(&build) };
    let mut answer = answer(common, args, &build, (report, &summary), rules);
    if look(&mut answer, &snapshot) {
        print_answer(common, &answer)?;
    }
    Ok(exit)
}

/// The answer about a build, on its way to whoever prints it.
pub(crate) fn answer<'a>(
    common: &'a Common,
    args: &CheckArgs,
    build: &'a Build,
    (report, summary): (Report, &Summary),
    rules: Ninja<'a>,
) -> Answer<'a> {
    Answer {
        from: common.origin(),
        cmake: common.cmake.as_ref().map(Cmake::owners),
        graph: build.graph(),
        report,
        looked: looked(summary),
        rules: Rules::Ninja(rules),
        explain: args.explain,
        commands: args.commands,
        watched: None,
        verified: None,
    }
}

/// What a check comes to.
struct Judged {
    report: Report,
    stopped_at_manifest: bool,
    /// What the next check can go on from.
    settled: Option<Settled>,
}

fn judge(
    build: &Build,
    disk: &dyn Disk,
    snapshot: &Snapshot,
    requests: Result<Vec<FileId>, Error>,
    args: &CheckArgs,
    is_default: bool,
) -> Result<Judged, Trouble> {
    if args.exact {
        let run = dry_run(build, disk, snapshot, requests, is_default)?;
        let DryRun { report, stopped_at_manifest } = run;
        return Ok(Judged { report, stopped_at_manifest, settled: None });
    }
    let decision = build.decide(snapshot, &requests?)?;
    let report = if args.quiet && !Report::is_all_fresh(&decision, build.graph()) {
        // One stale target is all that has to be known.
        Report { n_targets: 1, n_stale: 1, ..Report::default() }
    } else {
        build.report(&decision)
    };
    let settled = is_default.then(|| Settled::new(&decision));
    Ok(Judged { report, stopped_at_manifest: false, settled })
}

/// Nothing differs from the last check, and everything was fresh then.
fn fresh(common: &Common, args: &CheckArgs, summary: Summary) -> Result<Exit, Trouble> {
    if args.quiet {
        return Ok(Exit::Fresh);
    }
    warn(common, &summary.warnings);
    let answer = Answer {
        from: common.origin(),
        cmake: common.cmake.as_ref().map(Cmake::owners),
        graph: &Graph::default(),
        report: Report { n_targets: summary.n_targets, ..Report::default() },
        looked: looked(&summary),
        rules: Rules::Ninja(Ninja {
            build: None,
            manifest_path: Vec::new(),
            version: summary.version,
            log_version: summary.log_version,
            image: "used",
            exact: false,
            stopped_at_manifest: false,
            contents: None,
            remote: None,
        }),
        explain: args.explain,
        commands: args.commands,
        watched: None,
        verified: None,
    };
    print_answer(common, &answer)?;
    Ok(Exit::Fresh)
}

/// A build with all its targets described, for questions about all of them.
pub(crate) fn describe_all(common: &Common, disk: &dyn Disk) -> Result<Build, Trouble> {
    let images = images(common);
    let mut build = match load(common, disk, images.as_ref(), &[], true)? {
        Opened::Build(build) => build,
        Opened::Fresh(_) => unreachable!("a build was wanted"),
    };
    let graph = build.graph();
    let all: Vec<_> = graph.targets().filter_map(|target| graph.outputs(target).first().copied()).collect();
    build.describe(disk, &all)?;
    warn(common, build.warnings());
    Ok(*build)
}

fn looked(summary: &Summary) -> Looked {
    Looked { n_files: summary.n_files, counts: summary.counts, snapshot: summary.snapshot }
}

/// What became of the image where there is a new one.
pub(crate) const MADE: &str = "made";
/// The same where it could not be kept.
pub(crate) const FAILED: &str = "failed";

/// Keeps what was found out for the next check. What became of the image, in a word.
pub(crate) fn save(
    common: &Common,
    images: Option<&Images>,
    disk: &dyn Disk,
    build: &mut Build,
    snapshot: &Snapshot,
    last: Option<LastCheck<'_>>,
    draft: Option<Draft>,
) -> &'static str {
    let Some(images) = images else { return "none" };
    match build.save(disk, images, snapshot, last, draft) {
        Ok(Saved::Nothing) if build.is_from_image() => "used",
        Ok(Saved::Nothing) => "none",
        Ok(Saved::State) => "updated",
        Ok(Saved::Image) => MADE,
        Err(error) => {
            // Somebody who names a folder wants to know. A home that cannot be written to is no news.
            if let Some(folder) = common.image_dir.as_ref().filter(|_| is_folder_named(common)) {
                let cause = upcheck::os_message(&error);
                warn(common, &[format!("keeping an image in '{}': {cause}", folder.display())]);
            }
            FAILED
        }
    }
}

/// Whether somebody has said where images are to be kept.
pub(crate) fn is_folder_named(common: &Common) -> bool {
    common.image_dir.as_ref().is_some_and(|folder| !folder.as_os_str().is_empty())
}

/// Answers `why`.
pub(crate) fn explain(common: &Common, args: &WhyArgs) -> Result<Exit, Trouble> {
    let disk = open(common)?;
    let images = images(common);
    let targets = targets(common, &args.targets);
    let mut build = match load(common, &disk, images.as_ref(), &targets, true)? {
        Opened::Build(build) => build,
        Opened::Fresh(_) => unreachable!("a build was wanted"),
    };
    let requests = requests(common, &build, &args.targets)?;
    build.describe(&disk, &requests)?;
    let snapshot = collect(common, &mut build, &disk, false);
    let decision = build.decide(&snapshot, &requests)?;
    let exit = print_why(common, args, &build, &decision, &requests)?;
    save(common, images.as_ref(), &disk, &mut build, &snapshot, None, None);
    Ok(exit)
}

pub(crate) fn print_why(
    common: &Common,
    args: &WhyArgs,
    build: &Build,
    decision: &Decision<'_>,
    requests: &[FileId],
) -> Result<Exit, Trouble> {
    warn(common, build.warnings());
    let why = why::Why { from: common.origin(), graph: build.graph(), decision, all: args.all };
    print(common, |out| match common.format {
        Format::Text | Format::Names => why.print(out, requests),
        Format::Json => why.print_json(out, requests),
        Format::Jsonl => why.print_lines(out, requests),
    })?;
    Ok(if why.is_fresh(requests) { Exit::Fresh } else { Exit::Stale })
}

pub(crate) fn load(
    common: &Common,
    disk: &dyn Disk,
    images: Option<&Images>,
    targets: &[OsString],
    has_to_build: bool,
) -> Result<Opened, Trouble> {
    let options = Options {
        manifest: bytes_of(common.manifest().into_os_string()),
        version: common.ninja_version,
        threads: common.threads,
    };
    let targets: Vec<_> = targets.iter().cloned().map(bytes_of).collect();
    // That nothing differs from the last check says nothing of files that a glob would find.
    let has_given = common.cmake.as_ref().is_some_and(Cmake::has_given);
    upcheck_ninja::open(disk, &options, images, &targets, has_to_build || has_given).map_err(|error| {
        let mut message = error.to_string();
        if let Error::Read { cause, .. } = &error
            && cause.kind() == io::ErrorKind::NotFound
        {
            if common.directory != Path::new(".") {
                message = format!("in '{}': {message}", common.directory.display());
            }
            let below = common.directory.join("build");
            if below.join(common.manifest()).is_file() {
                message.push_str(&format!("\nhint: there is one in '{0}': try -C {0}", below.display()));
            }
        }
        Trouble(message)
    })
}

/// The names of what is asked about.
pub(crate) fn targets(common: &Common, arguments: &[OsString]) -> Vec<OsString> {
    common.named.targets.iter().chain(arguments).cloned().collect()
}

/// Looks at the files. What ninja would run CMake to find out is found out here, unless what ninja does is the question.
pub(crate) fn collect(common: &Common, build: &mut Build, disk: &dyn Disk, exact: bool) -> Snapshot {
    let snapshot = build.collect(disk);
    if let Some(cmake) = common.cmake.as_ref().filter(|_| !exact) {
        cmake.give(build);
    }
    snapshot
}

/// What is asked about. Of the names that a target of CMake may have in the manifest, it is the first that is there.
pub(crate) fn requests(common: &Common, build: &Build, arguments: &[OsString]) -> Result<Vec<FileId>, Error> {
    let Some(cmake) = &common.cmake else {
        return match arguments {
            [] => build.default_requests(),
            names => names.iter().map(|name| build.resolve(&bytes_of(name.clone()))).collect(),
        };
    };
    let requests = cmake.requests(common, arguments).map_err(|Trouble(text)| Error::Refused(text))?;
    let resolve = |Request { known_as, unknown }: Request| {
        let mut resolved = known_as.iter().map(|name| build.resolve(name));
        let known = resolved.by_ref().find_map(Result::ok);
        known.map_or_else(
            || match unknown {
                Some(unknown) => Err(Error::Refused(unknown)),
                None => build.resolve(known_as.first().map_or(&b""[..], |name| name)),
            },
            Ok,
        )
    };
    match requests.is_empty() {
        true => build.default_requests(),
        false => requests.into_iter().map(resolve).collect(),
    }
}
