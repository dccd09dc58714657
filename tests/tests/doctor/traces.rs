//! The doctor leaves no trace, removes what a killed one has left, and nothing else.

use crate::command::spaces::{T, changed_header};
use crate::command::upcheck_in;
use crate::examine_it;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::{Space, set_mtime};
use upcheck_tests::tools;

fn names(space: &Space) -> Vec<String> {
    let entries = fs::read_dir(space.path()).expect("a directory");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

#[test]
fn the_tree_is_the_same_afterwards_the_time_of_the_directory_included() {
    let space = changed_header();
    space.write(".upcheck-doctor-mine", "a name that only begins like one of the doctor's");
    space.write(".upcheck-doctor-1-2", "a file, not a folder");
    space.write(".upcheck-doctor-3-4/data", "a folder without a lock, and not empty");
    set_mtime(space.path(), T);
    let before = space.entries();
    assert_eq!(examine_it(space.path()).remarks(), ["build"]);
    assert!(space.entries() == before, "touched: {:?}", names(&space));
}

#[test]
fn leftovers_are_removed_and_mentioned_once() {
    let space = Space::new();
    space.write(".upcheck-doctor-12-1700000000000000000/lock", "");
    space.write(".upcheck-doctor-12-1700000000000000000/tick/1", "1");
    fs::create_dir(space.path().join(".upcheck-doctor-13-1700000000000000000")).expect("a folder");
    set_mtime(space.path(), T);
    let diagnosis = examine_it(space.path());
    assert_eq!(diagnosis.status, 0);
    assert_eq!(diagnosis.evidence("leftovers", "removed"), 2);
    assert_eq!(names(&space), [""; 0]);
    assert_eq!(space.mtime("."), Some(T));
    assert_eq!(examine_it(space.path()).remarks(), ["no-build"]);
}

#[test]
fn a_folder_in_use_by_another_run_is_left_alone() {
    let space = Space::new();
    space.write(".upcheck-doctor-12-1700000000000000000/lock", "");
    let lock = File::open(space.path().join(".upcheck-doctor-12-1700000000000000000/lock")).expect("a lock");
    lock.try_lock().expect("nobody has it");
    assert_eq!(examine_it(space.path()).remarks(), ["no-build"]);
    assert_eq!(names(&space).len(), 1);
    drop(lock);
    assert_eq!(examine_it(space.path()).remarks(), ["leftovers", "no-build"]);
    assert_eq!(names(&space).len(), 0);
}

#[test]
fn what_a_killed_run_leaves_is_recognized() {
    let space = Space::new();
    // The first byte that it writes into a file kills it.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -c 0; ulimit -f 0; exec \"$0\" doctor"]).arg(tools::upcheck());
    let killed = command.current_dir(space.path()).output().expect("sh starts");
    if killed.status.signal().is_none() {
        not_tested(&format!("a killed doctor: it ended with {}", killed.status));
        return;
    }
    assert_eq!(names(&space).len(), 1, "{:?}", names(&space));
    assert_eq!(examine_it(space.path()).evidence("leftovers", "removed"), 1);
    assert_eq!(names(&space), [""; 0]);
}

#[test]
fn no_cache_is_written() {
    let space = changed_header();
    let mut command = upcheck_in(space.path());
    let output = command.arg("doctor").env("UPCHECK_CACHE_DIR", space.images()).output();
    assert_eq!(output.expect("upcheck starts").status.code(), Some(0));
    assert!(!space.images().exists());
}
