//! `check --follow`: the answer, and then the new one whenever it is another one.
//!
//! ```text
//!   follower   the next answer: from the daemon, which waits for it, or by looking at everything again and again
//!   ends       what else there is to wait for: signals, and that nobody reads any more
//!   mark       what tells two answers apart
//!   causes     what tells why a command is to be run, for `upcheck watch -- COMMAND`
//! ```

mod causes;
#[cfg(unix)]
mod ends;
#[cfg(not(unix))]
#[path = "ends_elsewhere.rs"]
mod ends;
mod follower;
mod mark;

pub(crate) use causes::{Causes, print as print_causes};
pub(crate) use ends::{Ended, Ends};
pub(crate) use follower::{Follower, Given};
pub(crate) use mark::of as mark;

use crate::args::{CheckArgs, Common, Format};
use crate::exit::{Exit, Status};
use crate::run::{Trouble, print};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::SystemTime;
use upcheck_words::Zone;

/// Follows a check until somebody ends it. The status is that of the last answer.
pub(crate) fn follow(common: &Common, check: &CheckArgs) -> Result<Status, Trouble> {
    let is_stdin = |path: &Path| path == Path::new("-");
    if common.file.as_deref().is_some_and(is_stdin) || common.one.inputs_from.as_deref().is_some_and(is_stdin)
    {
        return Err(Trouble(
            "--follow looks again and again, and standard input can be read only once".into(),
        ));
    }
    let ends = Ends::of_following()
        .map_err(|error| Trouble(format!("catching signals: {}", upcheck::os_message(&error))))?;
    let mut common = common.clone();
    settle(&mut common, check);
    let mut follower = Follower::of_this_process(&common, check);
    let mut last = None;
    loop {
        let given = match follower.next(&ends) {
            Ok(given) => given,
            Err(ended) => return Ok(last.unwrap_or_else(|| ended.status())),
        };
        let is_first = last.is_none();
        last = Some(Status::from(given.status));
        // Nothing is left to be done when that fails.
        let _ = io::stderr().write_all(&given.stderr);
        let is_trouble = given.status == Exit::Trouble as u8;
        match print_given(&common, &given, is_first) {
            Ok(()) if is_first && is_trouble => return Ok(Exit::Trouble.into()),
            Ok(()) => {}
            // Whoever stops reading has read enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(given.status.into()),
            Err(error) => {
                return Err(Trouble(format!("writing to standard output: {}", upcheck::os_message(&error))));
            }
        }
    }
}

/// Makes of options what they mean for a check that is followed: each answer is one line, however JSON was asked for.
pub(crate) fn settle(common: &mut Common, check: &CheckArgs) {
    if check.follow && common.format == Format::Jsonl {
        common.format = Format::Json;
    }
}

/// Prints an answer, apart from the one before it.
fn print_given(common: &Common, given: &Given, is_first: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let is_trouble = given.status == Exit::Trouble as u8;
    match common.format {
        // Trouble has been told elsewhere.
        Format::Text if !is_first && !is_trouble => {
            let now = upcheck::Meta::mtime_at(SystemTime::now());
            writeln!(out, "\n-- {}", upcheck_words::moment(now, Zone::Local))?;
        }
        _ => {}
    }
    out.write_all(&given.stdout)?;
    match common.format {
        Format::Names if !is_trouble => out.write_all(if common.one.null { b"\0" } else { b"\n" })?,
        _ => {}
    }
    out.flush()
}

/// Says something beside the answers.
pub(crate) fn say(common: &Common, text: &str) {
    // Nothing is left to be done when that fails.
    let _ = writeln!(crate::run::stderr(common), "upcheck: {}", crate::words::visible(text, ""));
}

/// Prints what was given as it is.
pub(crate) fn pass_on(common: &Common, given: &Given) -> Result<(), Trouble> {
    let _ = io::stderr().write_all(&given.stderr);
    print(common, |out| out.write_all(&given.stdout))
}
