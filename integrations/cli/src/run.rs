//! The commands: from arguments to an answer on standard output.

use crate::answer::Answer;
use crate::args::{Args, CheckArgs, Command, Common, Format, WhyArgs};
use crate::doctor;
use crate::exit::Exit;
use crate::image_folder::images;
use crate::json;
use crate::text;
use crate::why;
use crate::words;
use anstream::AutoStream;
use clap::ColorChoice;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use upcheck::collect::{Disk, os_disk};
use upcheck::{FileId, Graph, Report, Settled, Snapshot};
use upcheck_ninja::{
    Build, Draft, DryRun, Error, Images, LastCheck, Opened, Options, Saved, Summary, dry_run,
};

/// Why there is no answer. The text for people.
pub(crate) struct Trouble(pub(crate) String);

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}

/// Runs the command that was asked for.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    match &args.command {
        None => check(&args.common, &args.check),
        Some(_) if !args.check.is_empty() => {
            Err(Trouble("options of check and targets go after the command's name".into()))
        }
        Some(Command::Check(check_args)) => check(&args.common, check_args),
        Some(Command::Why(why_args)) => explain(&args.common, why_args),
        Some(Command::Doctor(doctor_args)) => doctor::doctor(&args.common, doctor_args),
    }
}

/// Says on standard error why there is no answer, and on standard output too if a program is to read it there.
pub(crate) fn report_trouble(args: &Args, trouble: &Trouble) {
    let (schema, quiet) = match &args.command {
        None => (json::SCHEMA, args.check.quiet),
        Some(Command::Check(check_args)) => (json::SCHEMA, check_args.quiet),
        Some(Command::Why(_)) => (why::SCHEMA, false),
        Some(Command::Doctor(_)) => (doctor::SCHEMA, false),
    };
    if args.common.format != Format::Text && !quiet {
        // Fails where the trouble is standard output itself.
        let _ = print(&args.common, |out| json::print_trouble(out, schema, &trouble.0));
    }
    let error = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Red.into()));
    let mut stderr = stderr(&args.common);
    // Nothing is left to be done when even that fails.
    let _ = writeln!(stderr, "{error}upcheck: error:{error:#} {}", words::visible(&trouble.0, "\n\t"));
}

fn check(common: &Common, args: &CheckArgs) -> Result<Exit, Trouble> {
    let disk = open(common)?;
    let images = images(common);
    let mut build = match load(common, &disk, images.as_ref(), &args.targets, args.exact)? {
        Opened::Build(build) => build,
        Opened::Fresh(summary) => return fresh(common, args, *summary),
    };
    let requests = requests(&build, &args.targets);
    let requests = match (requests, args.exact) {
        (Err(error), false) => return Err(error.into()),
        (requests, _) => requests,
    };
    build.describe(&disk, requests.as_deref().unwrap_or_default())?;
    let snapshot = build.collect(&disk);
    if args.exact || args.commands {
        build.load_rules(&disk)?;
    }
    let is_default = args.targets.is_empty() && !args.exact;
    let draft =
        images.as_ref().and_then(|images| Some((build.draft_image(&disk, images, is_default)?, images)));
    let (judged, draft) = std::thread::scope(|scope| {
        if common.threads == 1 {
            return (judge(&build, &disk, &snapshot, requests, args), draft.map(|(draft, _)| draft));
        }
        // Most of writing is waiting for memory that the kernel clears.
        let (build, disk) = (&build, &disk);
        let writer = draft.map(|(draft, images)| scope.spawn(move || draft.write(build, images)));
        let judged = judge(build, disk, &snapshot, requests, args);
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
    let answer = Answer {
        graph: build.graph(),
        build: Some(&build),
        summary: build.summary(&snapshot, &report),
        report,
        manifest_path: build.manifest_path(),
        image,
        exact: args.exact,
        stopped_at_manifest,
        explain: args.explain,
        commands: args.commands,
    };
    print_answer(common, &answer)?;
    Ok(exit)
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
) -> Result<Judged, Trouble> {
    if args.exact {
        let run = dry_run(build, disk, snapshot, requests, args.targets.is_empty())?;
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
    let settled = args.targets.is_empty().then(|| Settled::new(&decision));
    Ok(Judged { report, stopped_at_manifest: false, settled })
}

/// Nothing differs from the last check, and everything was fresh then.
fn fresh(common: &Common, args: &CheckArgs, summary: Summary) -> Result<Exit, Trouble> {
    if args.quiet {
        return Ok(Exit::Fresh);
    }
    warn(common, &summary.warnings);
    let answer = Answer {
        graph: &Graph::default(),
        build: None,
        report: Report { n_targets: summary.n_targets, ..Report::default() },
        summary,
        manifest_path: Vec::new(),
        image: "used",
        exact: false,
        stopped_at_manifest: false,
        explain: args.explain,
        commands: args.commands,
    };
    print_answer(common, &answer)?;
    Ok(Exit::Fresh)
}

fn print_answer(common: &Common, answer: &Answer<'_>) -> Result<(), Trouble> {
    print(common, |out| match common.format {
        Format::Text => text::print(out, answer),
        Format::Json => json::print(out, answer),
        Format::Jsonl => json::print_lines(out, answer),
    })
}

/// Keeps what was found out for the next check. What became of the image, in a word.
fn save(
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
        Ok(Saved::Image) => "made",
        Err(error) => {
            // Somebody who names a folder wants to know. A home that cannot be written to is no news.
            if let Some(folder) = common.image_dir.as_ref().filter(|folder| !folder.as_os_str().is_empty()) {
                let cause = upcheck_ninja::os_message(&error);
                warn(common, &[format!("keeping an image in '{}': {cause}", folder.display())]);
            }
            "failed"
        }
    }
}

fn explain(common: &Common, args: &WhyArgs) -> Result<Exit, Trouble> {
    let disk = open(common)?;
    let images = images(common);
    let mut build = match load(common, &disk, images.as_ref(), &args.targets, true)? {
        Opened::Build(build) => build,
        Opened::Fresh(_) => unreachable!("a build was wanted"),
    };
    let requests = requests(&build, &args.targets)?;
    build.describe(&disk, &requests)?;
    let snapshot = build.collect(&disk);
    let decision = build.decide(&snapshot, &requests)?;
    warn(common, build.warnings());
    let why = why::Why { build: &build, decision: &decision, all: args.all };
    print(common, |out| match common.format {
        Format::Text => why.print(out, &requests),
        Format::Json => why.print_json(out, &requests),
        Format::Jsonl => why.print_lines(out, &requests),
    })?;
    let exit = if why.is_fresh(&requests) { Exit::Fresh } else { Exit::Stale };
    save(common, images.as_ref(), &disk, &mut build, &snapshot, None, None);
    Ok(exit)
}

fn open(common: &Common) -> Result<impl Disk + use<>, Trouble> {
    os_disk(&common.directory).map_err(|cause| {
        let cause = upcheck_ninja::os_message(&cause);
        Trouble(format!("opening '{}': {cause}", common.directory.display()))
    })
}

fn load(
    common: &Common,
    disk: &dyn Disk,
    images: Option<&Images>,
    targets: &[OsString],
    has_to_build: bool,
) -> Result<Opened, Trouble> {
    let options = Options {
        manifest: bytes_of(common.file.as_os_str().to_owned()),
        version: common.ninja_version,
        threads: common.threads,
    };
    let targets: Vec<_> = targets.iter().cloned().map(bytes_of).collect();
    upcheck_ninja::open(disk, &options, images, &targets, has_to_build).map_err(|error| {
        let mut message = error.to_string();
        if let Error::Read { cause, .. } = &error
            && cause.kind() == io::ErrorKind::NotFound
        {
            if common.directory != Path::new(".") {
                message = format!("in '{}': {message}", common.directory.display());
            }
            let below = common.directory.join("build");
            if below.join(&common.file).is_file() {
                message.push_str(&format!("\nhint: there is one in '{0}': try -C {0}", below.display()));
            }
        }
        Trouble(message)
    })
}

fn requests(build: &Build, targets: &[OsString]) -> Result<Vec<FileId>, Error> {
    if targets.is_empty() {
        return build.default_requests();
    }
    targets.iter().map(|target| build.resolve(&bytes_of(target.clone()))).collect()
}

fn warn(common: &Common, warnings: &[String]) {
    let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Yellow.into()));
    let mut stderr = stderr(common);
    for warning in warnings {
        let _ = writeln!(stderr, "{style}upcheck: warning:{style:#} {}", words::visible(warning, "\n\t"));
    }
}

fn stderr(common: &Common) -> AutoStream<io::Stderr> {
    AutoStream::new(io::stderr(), choice(common.color))
}

fn choice(color: ColorChoice) -> anstream::ColorChoice {
    match color {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    }
}

/// Prints an answer. Whoever stops reading has read enough.
pub(crate) fn print(
    common: &Common,
    answer: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Trouble> {
    let stream = match common.format {
        Format::Text => AutoStream::new(io::stdout().lock(), choice(common.color)),
        Format::Json | Format::Jsonl => AutoStream::always_ansi(io::stdout().lock()),
    };
    let mut out = BufWriter::with_capacity(1 << 16, stream);
    match answer(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Trouble(format!("writing to standard output: {}", upcheck_ninja::os_message(&error))))
        }
        _ => Ok(()),
    }
}

#[cfg(unix)]
pub(crate) fn bytes_of(text: OsString) -> Vec<u8> {
    std::os::unix::ffi::OsStringExt::into_vec(text)
}

#[cfg(not(unix))]
pub(crate) fn bytes_of(text: OsString) -> Vec<u8> {
    text.to_string_lossy().into_owned().into_bytes()
}
