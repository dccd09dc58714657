//! The commands: from arguments to an answer on standard output.

use crate::affected;
use crate::answer::Answer;
use crate::args::{Args, CheckArgs, Command, Common, Format};
use crate::bench_fs;
use crate::build_tool;
use crate::cmake;
use crate::contents;
use crate::doctor;
use crate::exit::{Exit, Status};
use crate::follow;
use crate::image_folder;
use crate::json;
use crate::ninja;
use crate::progress::Progress;
use crate::project;
use crate::record;
use crate::remote;
use crate::repair;
use crate::text;
use crate::verify_globs;
use crate::watch;
use crate::why;
use crate::words;
use anstream::AutoStream;
use clap::ColorChoice;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use upcheck::collect::{Disk, os_disk_knowing};
use upcheck::project::{DescribeError, ProjectError};
use upcheck_ninja::Error;

/// Why there is no answer. The text for people.
pub(crate) struct Trouble(pub(crate) String);

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}

impl From<upcheck_cmake::Error> for Trouble {
    fn from(error: upcheck_cmake::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<DescribeError> for Trouble {
    fn from(error: DescribeError) -> Self {
        Self(error.to_string())
    }
}

impl From<ProjectError> for Trouble {
    fn from(error: ProjectError) -> Self {
        Self(error.to_string())
    }
}

impl From<upcheck_graph::Error> for Trouble {
    fn from(error: upcheck_graph::Error) -> Self {
        match error {
            upcheck_graph::Error::Read { name, cause } => project::trouble("reading", name.as_ref(), &cause),
            error => Self(error.to_string()),
        }
    }
}

/// Runs the command that was asked for.
pub(crate) fn run(args: &mut Args) -> Result<Status, Trouble> {
    let is_run = matches!(args.command, Some(Command::Run(_)));
    if let Some(Command::Snapshot(asked)) = &mut args.command {
        asked.settle();
    }
    let asked = if let Some(Command::Check(asked)) = &args.command { asked } else { &args.check };
    // What was kept may spare the very looking that is to be explained.
    args.common.no_image |= asked.explain_plan.is_some();
    let common = &args.common;
    if args.command.is_some() && !args.check.is_empty() {
        return Err(Trouble("options of check and targets go after the command's name".into()));
    }
    let command = match &args.command {
        None => &args.check.command,
        Some(Command::Check(args)) => &args.command,
        Some(Command::Why(args)) => &args.command,
        Some(Command::Record(args)) => &args.command,
        Some(
            Command::Affected(_)
            | Command::Run(_)
            | Command::Doctor(_)
            | Command::BenchFs(_)
            | Command::Repair(_)
            | Command::Publish(_)
            | Command::Restore(_)
            | Command::Snapshot(_)
            | Command::Remote(_)
            | Command::VerifyGlobs(_)
            | Command::Watch(_),
        ) => &Vec::new(),
    };
    let refused = |common: &Common, why: &str| {
        let trouble = Trouble(why.into());
        if is_run { Ok(record::trouble_of_run(common, &trouble)) } else { Err(trouble) }
    };
    if let Some(contradiction) = common.contradiction(command) {
        return refused(common, contradiction);
    }
    if let Some(Command::Remote(asked)) = &args.command {
        // It is about no build.
        return remote::examine(common, asked).map(Status::from);
    }
    if let Some(Command::Watch(asked)) = &args.command {
        return watch::watch(common, asked);
    }
    if common.named.write_query {
        return cmake::write_query(common).map(Status::from);
    }
    // These ask nothing of CMake.
    let is_apart =
        matches!(args.command, Some(Command::Doctor(_) | Command::BenchFs(_) | Command::VerifyGlobs(_)));
    let cmake = if is_apart { Ok(None) } else { cmake::read(common) };
    match cmake {
        Ok(cmake) => args.common.cmake = cmake,
        Err(trouble) if is_run => return Ok(record::trouble_of_run(common, &trouble)),
        Err(trouble) => return Err(trouble),
    }
    args.common.on_stderr = is_run;
    let common = &args.common;
    // Not before it is known whose rules they are: Makefiles are found without an option that says so.
    if common.policy.is_some() && !common.is_project() {
        return refused(common, "--policy is not for ninja, which has its own rules");
    }
    let has_names = match &args.command {
        Some(Command::Publish(_) | Command::Restore(_)) => false,
        Some(Command::Snapshot(asked)) => asked.has_names(),
        Some(Command::Why(_) | Command::Repair(_) | Command::Doctor(_) | Command::BenchFs(_)) => false,
        _ => true,
    };
    if !has_names && common.format == Format::Names {
        return Err(Trouble("--format names is for check and affected".into()));
    }
    let exit = match &args.command {
        None if args.check.follow => return follow::follow(common, &args.check),
        Some(Command::Check(args)) if args.follow => return follow::follow(common, args),
        None => check(common, &args.check),
        Some(Command::Check(args)) => check(common, args),
        Some(Command::Why(args)) if common.is_project() && args.content => Err(Trouble(NO_CONTENT.into())),
        Some(Command::Why(args)) if common.is_project() => project::explain(common, args),
        Some(Command::Why(args)) if args.content => contents::explain(common, args),
        Some(Command::Why(args)) => ninja::explain(common, args),
        Some(Command::Affected(args)) => affected::affected(common, args),
        Some(Command::Record(args)) if common.is_project() => record::record(common, args),
        Some(Command::Record(args)) => contents::record(common, args),
        Some(Command::Repair(args)) => repair::repair(common, args),
        Some(Command::Publish(_) | Command::Restore(_) | Command::Snapshot(_)) if common.is_project() => {
            Err(Trouble("publish and restore are for ninja builds".into()))
        }
        Some(Command::Publish(args)) => remote::publish(common, args),
        Some(Command::Restore(args)) => remote::restore(common, args),
        Some(Command::Snapshot(asked)) => remote::snapshot(common, asked),
        Some(Command::Doctor(args)) => doctor::doctor(common, args),
        Some(Command::BenchFs(args)) => bench_fs::bench_fs(common, args),
        Some(Command::VerifyGlobs(args)) => verify_globs::verify_globs(common, args),
        Some(Command::Remote(_)) => return Err(Trouble("it is about no build".into())),
        Some(Command::Watch(_)) => return Err(Trouble("it is about no single build".into())),
        Some(Command::Run(args)) => {
            // Exit statuses from 125 on are its own; all others are those of the command that it runs.
            let run = if build_tool::is_meant(common) { build_tool::run } else { record::run };
            return Ok(run(common, args).unwrap_or_else(|trouble| record::trouble_of_run(common, &trouble)));
        }
    };
    exit.map(Status::from)
}

const NO_CONTENT: &str = "--content is about ninja; elsewhere --policy says when a file counts as changed";

pub(crate) fn check(common: &Common, args: &CheckArgs) -> Result<Exit, Trouble> {
    if common.is_project() {
        remote::refuse_project(args)?;
    }
    if args.verify_watch && (common.is_project() || args.content) {
        watch::say_not_for_it(common, args);
    }
    match (common.is_project(), args.content) {
        (true, true) => Err(Trouble(NO_CONTENT.into())),
        (true, false) => project::check(common, args),
        (false, true) => contents::check(common, args),
        (false, false) if args.verify_watch => watch::verify(common, args),
        (false, false) => ninja::check(common, args),
    }
}

/// Says on standard error why there is no answer, and on standard output too if a program is to read it there.
pub(crate) fn report_trouble(args: &Args, trouble: &Trouble) {
    let (schema, quiet) = match &args.command {
        None => (json::SCHEMA, args.check.quiet),
        Some(Command::Check(check_args)) => (json::SCHEMA, check_args.quiet),
        Some(Command::Why(_)) => (why::SCHEMA, false),
        Some(Command::Affected(affected_args)) => (affected::SCHEMA, affected_args.quiet),
        Some(Command::Run(_) | Command::Record(_) | Command::VerifyGlobs(_)) => (json::SCHEMA, true),
        Some(Command::Repair(_)) => (repair::SCHEMA, false),
        Some(Command::Publish(_)) => (remote::PUBLISH_SCHEMA, false),
        Some(Command::Restore(_)) => (remote::RESTORE_SCHEMA, false),
        Some(Command::Snapshot(asked)) => asked.schema(),
        Some(Command::Doctor(_)) => (doctor::SCHEMA, false),
        Some(Command::BenchFs(_)) => (bench_fs::SCHEMA, false),
        Some(Command::Remote(asked)) => asked.schema(),
        Some(Command::Watch(_)) => (watch::SCHEMA, false),
    };
    if matches!(args.common.format, Format::Json | Format::Jsonl) && !quiet {
        // Fails where the trouble is standard output itself.
        // A file system is the same, whatever describes a build.
        let is_about_a_build =
            !matches!(args.command, Some(Command::BenchFs(_) | Command::Remote(_) | Command::Watch(_)));
        let from = is_about_a_build.then(|| args.common.origin());
        let _ = print(&args.common, |out| json::print_trouble(out, from, schema, &trouble.0));
    }
    print_error(&args.common, trouble);
}

/// Says on standard error what went wrong.
pub(crate) fn print_error(common: &Common, trouble: &Trouble) {
    let error = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Red.into()));
    let print = |stream: &mut dyn Write| {
        // Nothing is left to be done when even that fails.
        let _ = writeln!(stream, "{error}upcheck: error:{error:#} {}", words::visible(&trouble.0, "\n\t"));
    };
    match &common.captured {
        Some(captured) => captured.add_to_stderr(print),
        None => print(&mut stderr(common)),
    }
}

/// Prints an answer to `check`.
pub(crate) fn print_answer(common: &Common, answer: &Answer<'_>) -> Result<(), Trouble> {
    if let Some(captured) = common.captured.as_ref().filter(|captured| captured.is_marked) {
        let said = follow::mark(common, answer);
        let failed = |error: io::Error| Trouble(format!("printing: {}", upcheck::os_message(&error)));
        captured.mark_answer(said.map_err(failed)?);
    }
    print(common, |out| match common.format {
        _ if common.causes => follow::print_causes(out, answer),
        Format::Text => text::print(out, answer),
        Format::Json => json::print(out, answer),
        Format::Jsonl => json::print_lines(out, answer),
        Format::Names => print_names(out, common, answer.names()),
    })
}

/// Prints names as they are, for scripts.
pub(crate) fn print_names(
    out: &mut dyn Write,
    common: &Common,
    names: impl IntoIterator<Item = impl AsRef<[u8]>>,
) -> io::Result<()> {
    let end = if common.one.null { b"\0" } else { b"\n" };
    names.into_iter().try_for_each(|name| out.write_all(name.as_ref()).and_then(|()| out.write_all(end)))
}

/// Opens the directory that paths start from.
pub(crate) fn open(common: &Common) -> Result<impl Disk + use<>, Trouble> {
    // Only there a listing may be behind.
    let one_name = if cfg!(windows) { image_folder::one_name(common) } else { None };
    let disk = os_disk_knowing(&common.directory, one_name.unwrap_or_default().into()).map_err(|cause| {
        let cause = upcheck::os_message(&cause);
        Trouble(format!("opening '{}': {cause}", common.directory.display()))
    })?;
    #[cfg(any(unix, windows))]
    let disk = {
        let progress = Progress::new("reading files");
        if progress.is_seen() { disk.watched_by(Arc::new(progress)) } else { disk }
    };
    #[cfg(windows)]
    let disk = if common.confirm_all { disk.confirming(upcheck::collect::Confirm::All) } else { disk };
    let _ = common.confirm_all;
    Ok(disk)
}

/// Prints warnings on standard error.
pub(crate) fn warn(common: &Common, warnings: &[String]) {
    let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Yellow.into()));
    let print = |stream: &mut dyn Write| {
        for warning in warnings {
            let _ = writeln!(stream, "{style}upcheck: warning:{style:#} {}", words::visible(warning, "\n\t"));
        }
    };
    match &common.captured {
        Some(captured) => captured.add_to_stderr(print),
        None => print(&mut stderr(common)),
    }
}

pub(crate) fn stderr(common: &Common) -> AutoStream<io::Stderr> {
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
    if let Some(captured) = &common.captured {
        let added = captured.add_to_stdout(common.format == Format::Text, answer);
        return added.map_err(|error| Trouble(format!("printing: {}", upcheck::os_message(&error))));
    }
    let stream: Box<dyn Write> = match (common.on_stderr, common.format) {
        (true, _) => Box::new(stderr(common)),
        (_, Format::Text) => Box::new(AutoStream::new(io::stdout().lock(), choice(common.color))),
        (_, Format::Json | Format::Jsonl | Format::Names) => Box::new(io::stdout().lock()),
    };
    let mut out = BufWriter::with_capacity(1 << 16, stream);
    match answer(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Trouble(format!("writing to standard output: {}", upcheck::os_message(&error))))
        }
        _ => Ok(()),
    }
}

/// An argument as bytes: see [`upcheck::os_path`].
pub(crate) fn bytes_of(text: OsString) -> Vec<u8> {
    text.into_encoded_bytes()
}
