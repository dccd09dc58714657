//! A process apart from whoever starts it, on Unix.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use upcheck_daemon::{Place, Program, close_inherited};

/// Starts a program. `start` adds what else there is to say.
pub(super) fn start<T>(program: &Program, start: impl Fn(Command) -> io::Result<T>) -> io::Result<T> {
    start(Command::new(program.path()))
}

/// Where it is while it runs.
pub(super) fn directory(_: &Place) -> &Path {
    Path::new("/")
}

/// Leaves the terminal, so that it does not end with that; it may lead a group already. And leaves what whoever started it had open:
/// a script's lock among that would be held for as long as it runs.
pub(super) fn leave() {
    let _ = rustix::process::setsid();
    close_inherited();
}

/// Becomes another program.
pub(super) fn become_another(program: &Program, with: impl Fn(Command) -> Command) -> io::Result<()> {
    let nowhere = File::options().write(true).open("/dev/null")?;
    Err(with(Command::new(program.path())).stdout(nowhere).exec())
}
