//! A process apart from whoever starts it, on Unix.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use upcheck_daemon::{Place, Program};

/// Starts a program without the files that whoever starts it has from a script: a lock among them would be held for as long as it
/// runs. `start` adds what else there is to say.
pub(super) fn start<T>(program: &Program, start: impl Fn(Command) -> io::Result<T>) -> io::Result<T> {
    // These are the numbers that a script can use.
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "exec \"$0\" \"$@\" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-"]).arg(program.path());
    // Where there is no shell, it keeps what it inherits.
    start(shell).or_else(|_| start(Command::new(program.path())))
}

/// Where it is while it runs.
pub(super) fn directory(_: &Place) -> &Path {
    Path::new("/")
}

/// Leaves the terminal, so that it does not end with that. It may lead a group already.
pub(super) fn leave() {
    let _ = rustix::process::setsid();
}

/// Becomes another program.
pub(super) fn become_another(program: &Program, with: impl Fn(Command) -> Command) -> io::Result<()> {
    let nowhere = File::options().write(true).open("/dev/null")?;
    Err(with(Command::new(program.path())).stdout(nowhere).exec())
}
