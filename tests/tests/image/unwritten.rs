//! Where nothing has changed, nothing is written; and below the build directory nothing ever is.

use crate::command::spaces::{Kind, every_kind};
use crate::folder::{asked, command, entries};
use std::time::{Duration, SystemTime};
use upcheck_tests::space::Space;
#[cfg(unix)]
use {
    upcheck_tests::aloud::not_tested,
    upcheck_tests::tools::{run_tool, upcheck},
};

/// Asks until the image is at rest: what is young when it is looked at proves nothing, until it is old enough.
#[track_caller]
fn settle(space: &Space, name: &str) {
    let made = SystemTime::now();
    let is_old = || made.elapsed().is_ok_and(|age| age > OLD_ENOUGH);
    for _ in 0..10_000 {
        let (before, was_old) = (entries(&space.images()), is_old());
        let _ = asked(space, "");
        if was_old && entries(&space.images()) == before {
            return;
        }
    }
    panic!("{name} is never at rest");
}

/// From this age on a stamp is not taken for young.
const OLD_ENOUGH: Duration = Duration::from_millis(150);

#[test]
fn repeated_questions_write_nothing_about_any_kind_of_build_directory() {
    let mut n_kept = 0;
    for Kind { name, space, status } in every_kind() {
        let tree = space.entries();
        settle(&space, name);
        let before = entries(&space.images());
        n_kept += usize::from(!before.is_empty());
        for question in ["", "", "--exact", "a", "all", "why a", "build.ninja^", "a.c^", ""] {
            let (found, _) = match question {
                "why a" => (crate::folder::ran(command(&space, question)).status, String::new()),
                _ => asked(&space, question),
            };
            if question.is_empty() {
                assert_eq!(found, status, "{name}");
            }
            assert_eq!(entries(&space.images()), before, "upcheck {question} wrote about {name}");
        }
        assert!(space.entries() == tree, "{name} was touched");
    }
    assert!(n_kept > 20, "{n_kept} images");
}

#[cfg(unix)]
/// The system calls of `upcheck` in a build directory with an image, one per line.
fn system_calls(space: &Space, args: &str) -> Option<String> {
    let log = Space::new();
    let mut strace = std::process::Command::new(run_tool("get-strace", ""));
    strace.args(["-f", "-qq", "-s", "0", "-o"]).arg(log.path().join("log")).arg(upcheck());
    let strace = strace.args(args.split_whitespace()).env("UPCHECK_CACHE_DIR", space.images());
    let output = strace.current_dir(space.path()).output().ok()?;
    let calls = String::from_utf8_lossy(&log.read("log")).into_owned();
    // Without permission to trace, strace says so and starts nothing.
    let is_traced = calls.contains("execve(");
    assert!(is_traced || !output.status.success(), "strace saw nothing");
    is_traced.then_some(calls)
}

#[cfg(unix)]
fn is_writing(call: &str) -> bool {
    let call = call.split_once(' ').map_or(call, |(_, call)| call.trim_start());
    let name = call.split('(').next().unwrap_or_default();
    let changes = [
        "mkdir",
        "rename",
        "unlink",
        "link",
        "symlink",
        "rmdir",
        "truncate",
        "ftruncate",
        "chmod",
        "fchmod",
        "utime",
        "chown",
        "mknod",
    ];
    let opens = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE"];
    changes.iter().any(|change| name.starts_with(change))
        || (name.starts_with("open") && opens.iter().any(|flag| call.contains(flag)))
}

#[test]
#[cfg(unix)]
fn a_second_check_makes_no_system_call_that_writes() {
    let mut n_seen = 0;
    for Kind { name, space, status } in every_kind() {
        let Some(first) = system_calls(&space, "") else {
            not_tested("system calls of a check with an image; this needs strace, and permission to trace");
            return;
        };
        if status < 2 {
            // That what is looked for below is seen at all.
            assert!(first.lines().any(is_writing), "no image of {name} is written");
            n_seen += 1;
        }
        settle(&space, name);
        for question in ["", "-q", "--format json", "--exact", "why a"] {
            let calls = system_calls(&space, question).expect("traced before");
            let writing: Vec<_> = calls.lines().filter(|call| is_writing(call)).collect();
            assert_eq!(writing, [""; 0], "upcheck {question} in {name}");
        }
    }
    assert!(n_seen > 20, "{n_seen} build directories");
}
