//! The commands: from arguments to an answer on standard output.

use crate::answer::Answer;
use crate::args::{Args, CheckArgs, Command, Common, Format, WhyArgs};
use crate::exit::Exit;
use crate::json;
use crate::text;
use crate::why;
use crate::words;
use anstream::AutoStream;
use clap::ColorChoice;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use upcheck::FileId;
use upcheck::collect::{Disk, os_disk};
use upcheck_ninja::{Build, Error, Options, dry_run};

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
    }
}

/// Says on standard error why there is no answer, and on standard output too if a program is to read it there.
pub(crate) fn report_trouble(args: &Args, trouble: &Trouble) {
    let (schema, quiet) = match &args.command {
        None => (json::SCHEMA, args.check.quiet),
        Some(Command::Check(check_args)) => (json::SCHEMA, check_args.quiet),
        Some(Command::Why(_)) => (why::SCHEMA, false),
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
    let mut build = load(common, &disk)?;
    let requests = requests(&build, &args.targets);
    let requests = match (requests, args.exact) {
        (Err(error), false) => return Err(error.into()),
        (requests, _) => requests,
    };
    build.describe(&disk, requests.as_deref().unwrap_or_default())?;
    let snapshot = build.collect(&disk);
    let (report, stopped_at_manifest) = if args.exact {
        let run = dry_run(&build, &disk, &snapshot, requests, args.targets.is_empty())?;
        (run.report, run.stopped_at_manifest)
    } else {
        let requests = requests?;
        let decision = build.decide(&snapshot, &requests)?;
        (build.report(&decision), false)
    };
    let exit = if report.is_fresh() { Exit::Fresh } else { Exit::Stale };
    if args.quiet {
        return Ok(exit);
    }
    warn(common, build.warnings());
    let answer = Answer {
        build: &build,
        snapshot: &snapshot,
        report,
        exact: args.exact,
        stopped_at_manifest,
        explain: args.explain,
        commands: args.commands,
    };
    print(common, |out| match common.format {
        Format::Text => text::print(out, &answer),
        Format::Json => json::print(out, &answer),
        Format::Jsonl => json::print_lines(out, &answer),
    })?;
    Ok(exit)
}

fn explain(common: &Common, args: &WhyArgs) -> Result<Exit, Trouble> {
    let disk = open(common)?;
    let mut build = load(common, &disk)?;
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
    Ok(if why.is_fresh(&requests) { Exit::Fresh } else { Exit::Stale })
}

fn open(common: &Common) -> Result<impl Disk + use<>, Trouble> {
    os_disk(&common.directory).map_err(|cause| {
        let cause = upcheck_ninja::os_message(&cause);
        Trouble(format!("opening '{}': {cause}", common.directory.display()))
    })
}

fn load(common: &Common, disk: &dyn Disk) -> Result<Build, Trouble> {
    let options = Options {
        manifest: bytes_of(common.file.as_os_str().to_owned()),
        version: common.ninja_version,
        threads: common.threads,
    };
    Build::load(disk, &options).map_err(|error| {
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
fn print(common: &Common, answer: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Trouble> {
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
fn bytes_of(text: OsString) -> Vec<u8> {
    std::os::unix::ffi::OsStringExt::into_vec(text)
}

#[cfg(not(unix))]
fn bytes_of(text: OsString) -> Vec<u8> {
    text.to_string_lossy().into_owned().into_bytes()
}
