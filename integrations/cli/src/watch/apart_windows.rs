//! A process apart from whoever starts it, on Windows.

use std::io;
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use upcheck_daemon::{Place, Program, keep_own_streams};

/// It has no console, so it ends with none.
const DETACHED_PROCESS: u32 = 0x8;
/// What is typed at a console is not for it.
const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;

/// Starts a program without the streams of whoever starts it. `start` adds what else there is to say.
pub(super) fn start<T>(program: &Program, start: impl Fn(Command) -> io::Result<T>) -> io::Result<T> {
    keep_own_streams();
    start(apart(program))
}

fn apart(program: &Program) -> Command {
    let mut command = Command::new(program.path());
    command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
    command
}

/// Where it is while it runs: a directory in which a process is cannot be removed or renamed, nor can those above it. So it is
/// in the root of the drive with its own folder.
pub(super) fn directory(place: &Place) -> &Path {
    place.path().ancestors().last().unwrap_or(place.path())
}

/// It was started apart.
pub(super) fn leave() {}

/// Starts another program in its place. One that runs cannot become another one here.
pub(super) fn become_another(program: &Program, with: impl Fn(Command) -> Command) -> io::Result<()> {
    keep_own_streams();
    with(apart(program)).stdin(Stdio::null()).stdout(Stdio::null()).spawn().map(drop)
}
