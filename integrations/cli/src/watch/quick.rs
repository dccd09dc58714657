//! The way of a check to the daemon: short, since it is all that a check takes where the daemon answers.
//!
//! Arguments are only looked at to see whether they may be a check; the daemon reads them as this program does, and says no
//! to what they are not.

use super::{Quick, life};
use crate::exit::{Exit, Status};
use anstream::{AutoStream, ColorChoice};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use upcheck::os_path::bytes;
use upcheck_daemon::{Ask, NoAnswer, Patience, Place, Program, Reply, Request, Surroundings, ask, identity};

/// Why it is not asked where the environment names a cache.
pub(super) const REMOTE: &str = "a cache on another machine is asked for";

/// Names that are commands where a target could stand.
const COMMANDS: [&str; 14] = [
    "affected",
    "bench-fs",
    "doctor",
    "help",
    "publish",
    "record",
    "remote",
    "repair",
    "restore",
    "run",
    "snapshot",
    "verify-globs",
    "watch",
    "why",
];
/// Options with a value that may stand in the next argument.
const WITH_VALUE: [&str; 8] =
    ["-C", "--format", "--color", "--ninja-version", "--threads", "-f", "--file", "--image-dir"];
const WITHOUT_VALUE: [&str; 8] =
    ["-q", "--quiet", "--explain", "--commands", "-0", "--null", "--watch", "--headers-unknown-is-fine"];

/// Asks the daemon whatever this process was asked.
pub(super) fn quick() -> Quick {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Some(is_wanted) = may_be_check(&arguments) else { return Quick::Unanswered(None) };
    match answer(arguments, is_wanted) {
        Ok((status, stdout, stderr)) => Quick::Answered(print(status, &stdout, &stderr)),
        Err(why) => Quick::Unanswered(Some(why)),
    }
}

/// An exit status, and what is for standard output and standard error.
type Answer = (u8, Vec<u8>, Vec<u8>);

/// What the daemon answers to these arguments; why it does not, otherwise. It is started if it is wanted and does not run.
pub(super) fn answer(arguments: Vec<OsString>, is_wanted: bool) -> Result<Answer, String> {
    if std::env::var_os("UPCHECK_REMOTE").is_some_and(|url| !url.is_empty()) {
        return Err(REMOTE.into());
    }
    let place = place()?;
    if place.is_none() && !is_wanted {
        return Err(NoAnswer::NotRunning.to_string());
    }
    let may_colors = [
        AutoStream::choice(&io::stdout()) != ColorChoice::Never,
        AutoStream::choice(&io::stderr()) != ColorChoice::Never,
    ];
    let [directory, manifest] = named(&arguments);
    let about = identity(directory.as_deref().unwrap_or(Path::new(".")), manifest_of(manifest.as_deref()));
    let request = request(Ask::Check, (arguments, about), may_colors)?;
    let asked = match &place {
        Some(place) => ask(place, &request, Patience::default()),
        None => Err(NoAnswer::NotRunning),
    };
    let asked = match asked {
        Err(NoAnswer::NotRunning) if is_wanted => {
            // Somebody else may be faster.
            let started = life::start(super::StartArgs::USUAL);
            let place = self::place()?.ok_or("it has gone again")?;
            match (ask(&place, &request, Patience::default()), started) {
                (Err(NoAnswer::NotRunning), Err(why)) => return Err(why),
                (asked, _) => asked,
            }
        }
        asked => asked,
    };
    match asked {
        Ok(Reply::Done { status, stdout, stderr, .. }) => Ok((status, stdout, stderr)),
        Ok(_) => Err("it answers something else".into()),
        Err(why) => Err(why.to_string()),
    }
}

/// The place of this user's daemon, if there is one.
pub(super) fn place() -> Result<Option<Place>, String> {
    let path = Place::usual().ok_or("there is no folder to find it in")?;
    let shown = path.display().to_string();
    Place::open(path).map_err(|error| format!("opening '{shown}': {}", upcheck::os_message(&error)))
}

/// The manifest that is meant where this one is named.
pub(super) fn manifest_of(named: Option<&Path>) -> &Path {
    named.unwrap_or(Path::new("build.ninja"))
}

/// A question of this process: the arguments, and which files they are about.
pub(super) fn request(
    ask: Ask,
    (arguments, identity): (Vec<OsString>, String),
    colors: [bool; 2],
) -> Result<Request, String> {
    let why = |error: io::Error| format!("looking where this is: {}", upcheck::os_message(&error));
    let program = Program::of_this_process(env!("CARGO_PKG_VERSION")).map_err(why)?;
    let surroundings = Surroundings::of_this_process().ok_or("the system does not say where this is")?;
    Ok(Request {
        ask,
        program: program.id().to_owned(),
        surroundings: surroundings.as_map().clone(),
        colors,
        identity,
        directory: bytes(&std::env::current_dir().map_err(why)?).to_vec(),
        arguments: arguments.iter().map(|argument| bytes(argument).to_vec()).collect(),
        mark: None,
    })
}

/// Prints what the daemon answered, and says how this process is to end.
pub(super) fn print(status: u8, stdout: &[u8], stderr: &[u8]) -> Status {
    // Nothing is left to be done when that fails.
    let _ = io::stderr().write_all(stderr);
    let mut out = io::stdout().lock();
    match out.write_all(stdout).and_then(|()| out.flush()) {
        // Whoever stops reading has read enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let cause = upcheck::os_message(&error);
            let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Red.into()));
            let mut stderr = AutoStream::auto(io::stderr());
            let _ = writeln!(stderr, "{style}upcheck: error:{style:#} writing to standard output: {cause}");
            Exit::Trouble.into()
        }
        _ => status.into(),
    }
}

/// Whether this may be a check that the daemon answers, and if so, whether the daemon is asked for.
fn may_be_check(arguments: &[OsString]) -> Option<bool> {
    let mut is_wanted = false;
    let mut is_named = false;
    let mut arguments = arguments.iter().map(OsString::as_os_str);
    while let Some(argument) = arguments.next() {
        is_wanted |= argument == "--watch";
        let is = |known: &[&str]| known.iter().any(|known| argument == OsStr::new(known));
        if is(&WITH_VALUE) {
            arguments.next()?;
        } else if is(&WITHOUT_VALUE) || has_its_value(bytes(argument)) {
        } else if bytes(argument).first() == Some(&b'-') || argument.is_empty() {
            return None;
        } else if !is_named && argument == "check" {
            is_named = true;
        } else if !is_named && is(&COMMANDS) {
            return None;
        }
    }
    Some(is_wanted)
}

/// The values of `-C` and of `-f`, as they were given last. Where one is missed, the daemon says no.
fn named(arguments: &[OsString]) -> [Option<PathBuf>; 2] {
    let names: [&[&str]; 2] = [&["-C"], &["-f", "--file"]];
    let mut values = [None, None];
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let is_value_next = WITH_VALUE.iter().any(|known| argument == known);
        let next = if is_value_next { arguments.next() } else { None };
        for (value, names) in values.iter_mut().zip(names) {
            for name in names {
                let Some(behind) = bytes(argument).strip_prefix(name.as_bytes()) else { continue };
                let its = match next {
                    Some(next) if behind.is_empty() => bytes(next),
                    _ => behind.strip_prefix(b"=").unwrap_or(behind),
                };
                *value = upcheck::os_path::path(its).ok().map(Cow::into_owned);
            }
        }
    }
    values
}

/// Whether it is an option with its value.
fn has_its_value(argument: &[u8]) -> bool {
    WITH_VALUE.iter().any(|known| {
        let behind = argument.strip_prefix(known.as_bytes());
        behind.is_some_and(|value| !value.is_empty() && (known.len() == 2 || value[0] == b'='))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::CommandFactory;

    fn may_be(words: &str) -> Option<bool> {
        may_be_check(
            &words.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn what_may_be_a_check_is_asked_for_and_nothing_else() {
        for (words, expected) in [
            ("", Some(false)),
            ("-C out", Some(false)),
            ("-Cout check --format=json a b", Some(false)),
            ("check --watch why", Some(true)),
            ("--watch -C why", Some(true)),
            ("all -q", Some(false)),
            ("why a", None),
            ("-C out run -- make", None),
            ("check --content", None),
            ("check --no-watch", None),
            ("check --verify-watch", None),
            ("check --follow --watch", None),
            ("--help", None),
            ("-C", None),
            ("watch start", None),
        ] {
            assert_eq!(may_be(words), expected, "{words}");
        }
    }

    #[test]
    fn the_directory_and_the_manifest_are_found_among_the_arguments() {
        for (words, expected) in [
            ("", [None, None]),
            ("-C a", [Some("a"), None]),
            ("check -Ca -f b", [Some("a"), Some("b")]),
            ("-C=a -fb --file c", [Some("a"), Some("c")]),
            ("--file=c -C -f", [Some("-f"), Some("c")]),
            ("--format -C -f -C x", [None, Some("-C")]),
        ] {
            let arguments: Vec<_> =
                words.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect();
            assert_eq!(named(&arguments), expected.map(|path| path.map(PathBuf::from)), "{words}");
        }
    }

    #[test]
    fn every_command_but_check_is_known_not_to_be_one() {
        for command in Args::command().get_subcommands() {
            let name = command.get_name();
            assert!(name == "check" || may_be(name).is_none(), "{name}");
        }
    }
}
