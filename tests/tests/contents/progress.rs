//! Who waits for much to be read sees how far it is, on a terminal and nowhere else.

use super::{Ninja, OLD, Space};
use crate::command::upcheck_in;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

/// A build of one file of so many bytes, none of which takes room.
fn built(n_bytes: u64) -> Space {
    let space = Space::new();
    space.write_at("build.ninja", "rule make\n  command = touch $out\nbuild out: make large\n", OLD);
    space.write_at("large", "", OLD);
    let large = File::options().write(true).open(space.path().join("large")).expect("a file");
    large.set_len(n_bytes).expect("a sparse file");
    let status = Command::new(Ninja::V1_13.path()).current_dir(space.path()).arg("--quiet").status();
    assert!(status.expect("ninja starts").success());
    space
}

/// What `record` writes to a terminal of this kind that is its standard error.
fn on_terminal(space: &Space, kind: &str) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).expect("a terminal");
    unlockpt(&ours).expect("a terminal");
    let name = ptsname(&ours, Vec::new()).expect("its name");
    let theirs = File::options().read(true).write(true).open(OsStr::from_bytes(name.to_bytes()));
    let mut command = upcheck_in(space.path());
    command.arg("record").env("TERM", kind);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(theirs.expect("the other end"));
    let mut child = command.spawn().expect("it starts");
    drop(command);
    let mut shown = Vec::new();
    // Linux ends a terminal that nobody has open at its other end with an error.
    let _ = File::from(ours).read_to_end(&mut shown);
    assert!(child.wait().expect("it ends").success());
    String::from_utf8(shown).expect("text")
}

/// So much that reading it takes longer than what nobody has to be told of.
const LARGE: u64 = 1 << 30;

#[test]
fn reading_much_shows_a_bar_on_a_terminal_and_takes_it_away() {
    let shown = on_terminal(&built(LARGE), "xterm");
    assert!(shown.contains("reading files [=") && shown.contains("of 1.00 GiB"), "{shown:?}");
    let last = shown.rsplit("GiB").next().expect("what follows");
    assert!(last.trim_end().ends_with("\u{1b}[2K"), "the line is not cleared at the end: {last:?}");
}

#[test]
fn reading_little_shows_nothing() {
    assert_eq!(on_terminal(&built(1 << 10), "xterm"), "");
}

#[test]
fn where_there_is_no_terminal_nothing_is_shown() {
    let space = built(LARGE);
    let output = upcheck_in(space.path()).arg("record").output().expect("it starts");
    assert!(output.status.success() && output.stderr.is_empty() && output.stdout.is_empty(), "{output:?}");
}
