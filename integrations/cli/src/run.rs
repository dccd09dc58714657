//! The commands: from arguments to an answer on standard output.

use crate::answer::Answer;
use crate::args::{Args, Command, Common, Format};
use crate::exit::Exit;
use crate::json;
use crate::ninja;
use crate::text;
use crate::why;
use crate::words;
use anstream::AutoStream;
use clap::ColorChoice;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use upcheck::collect::{Disk, os_disk};
use upcheck_ninja::Error;

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
        None => ninja::check(&args.common, &args.check),
        Some(_) if !args.check.is_empty() => {
            Err(Trouble("options of check and targets go after the command's name".into()))
        }
        Some(Command::Check(check_args)) => ninja::check(&args.common, check_args),
        Some(Command::Why(why_args)) => ninja::explain(&args.common, why_args),
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

/// Prints an answer to `check`.
pub(crate) fn print_answer(common: &Common, answer: &Answer<'_>) -> Result<(), Trouble> {
    print(common, |out| match common.format {
        Format::Text => text::print(out, answer),
        Format::Json => json::print(out, answer),
        Format::Jsonl => json::print_lines(out, answer),
    })
}

/// Opens the directory that paths start from.
pub(crate) fn open(common: &Common) -> Result<impl Disk + use<>, Trouble> {
    os_disk(&common.directory).map_err(|cause| {
        let cause = upcheck_ninja::os_message(&cause);
        Trouble(format!("opening '{}': {cause}", common.directory.display()))
    })
}

/// Prints warnings on standard error.
pub(crate) fn warn(common: &Common, warnings: &[String]) {
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
