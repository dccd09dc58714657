//! What there may be too much or too little of: room on a disk, events, time, daemons. Each answer is right all the same.

use crate::command::spaces::{SECOND, T, program};
use crate::{User, kill, without_watched};
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use upcheck_tests::aloud::not_tested;

#[test]
fn a_full_disk_keeps_nobody_from_his_answer() {
    let folder = tempfile::tempdir().expect("a directory");
    let script = "mount -t tmpfs -o size=1m,nr_inodes=300 none \"$1\" || exit 90; export TMPDIR=\"$1\"; \
                  exec \"$2\" --exact full::inside_a_small_disk --ignored";
    let own = std::env::current_exe().expect("this program");
    let mut unshare = Command::new("unshare");
    unshare.args(["-Urm", "sh", "-c", script, "sh"]).arg(folder.path()).arg(own);
    let output = match unshare.output() {
        Ok(output) => output,
        Err(error) => return not_tested(&format!("a full disk; starting unshare: {error}")),
    };
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.code() == Some(90) || said.starts_with("unshare: ") {
        return not_tested(&format!("a full disk; {}", said.trim()));
    }
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Leaves nothing free, neither for what is in files nor for more of them.
fn fill(folder: &Path) {
    let mut ballast = File::create(folder.join("ballast")).expect("a file");
    while ballast.write_all(&[7; 4096]).is_ok() {}
    while ballast.write_all(&[7]).is_ok() {}
    let _ = std::fs::create_dir(folder.join("more"));
    for n in 0.. {
        if File::create(folder.join(format!("more/{n}"))).is_err() {
            return;
        }
    }
}

fn clear(folder: &Path) {
    std::fs::remove_file(folder.join("ballast")).expect("the ballast");
    let _ = std::fs::remove_dir_all(folder.join("more"));
}

#[test]
#[ignore = "run by the one above, where temporary files are on a disk of one megabyte"]
fn inside_a_small_disk() {
    let disk = std::env::temp_dir();
    let (user, space) = (User::new(), program());
    let plain = user.run(&space, "check --no-watch --no-image").answer(0);
    fill(&disk);
    // There is no room for the daemon's folder.
    let without = user.run(&space, "check --watch");
    assert_eq!((without.status, &without.stdout), (0, &plain), "{}", without.stderr);
    assert!(without.stderr.contains("No space left on device"), "{}", without.stderr);
    assert!(user.run(&space, "watch start").trouble().contains("No space left on device"));
    clear(&disk);
    user.run(&space, "watch start").answer(0);
    user.run(&space, "check").answer(0);
    fill(&disk);
    // There is none for its log either.
    let log = user.folder().join("log");
    let length = || std::fs::metadata(&log).expect("a log").len();
    let before = length();
    for (mtime, status) in [(T + 90 * SECOND, 1), (T, 0), (T, 0)] {
        space.set_mtime("config.h", mtime);
        let plain = user.run(&space, "check --no-watch --no-image").answer(status);
        assert_eq!(without_watched(&user.run(&space, "check").answer(status)), (plain, true));
        user.run(&space, "check --verify-watch").answer(status);
    }
    user.run(&space, "watch stop").answer(0);
    assert_eq!(length(), before, "it could say nothing");
    // Its folder is there, and its socket takes the place of the last one.
    let started = user.run(&space, "watch start");
    assert!(started.status == 0 || started.stderr.contains("No space left on device"), "{}", started.stderr);
    // It may say that there is no room for an image.
    let ran = user.run(&space, "check");
    assert_eq!((ran.status, without_watched(&ran.stdout).0), (0, plain));
    clear(&disk);
}

#[test]
fn more_events_than_the_system_keeps_change_no_answer() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start").answer(0);
    for _ in 0..2 {
        user.run(&space, "check --verify-watch").answer(0);
    }
    let most = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").expect("a limit");
    let most: u32 = most.trim().parse().expect("a number");
    let pid = user.pid();
    // So that nobody takes in what there is to tell.
    user.signal("STOP");
    for n in 0..most + 100 {
        // Each has a name of its own: what is the same may be told of once.
        File::create(space.path().join(format!("more-{n}"))).expect("a file");
    }
    space.set_mtime("config.h", T + 90 * SECOND);
    kill("CONT", pid);
    user.run(&space, "check --verify-watch").answer(1);
    let status = user.status().expect("it runs");
    assert_eq!([&status["watched"]["overflows"], &status["wrong"]], [1, 0], "{status}");
    space.set_mtime("config.h", T);
    for _ in 0..2 {
        user.run(&space, "check --verify-watch").answer(0);
    }
}

#[test]
fn files_of_the_future_and_of_long_ago_are_remembered_as_they_are() {
    let (user, space) = (User::new(), program());
    let from = |status: i32| {
        let report = user.run(&space, "check --verify-watch --format json").answer(status);
        let report: Value = serde_json::from_str(&report).expect("JSON");
        report["summary"]["watched"].as_str().expect("a word").to_owned()
    };
    from(0);
    let century = 3_155_760_000 * SECOND;
    for mtime in [T + century, -century, 0, 1, T - 1, T + 2 * century, -1] {
        space.set_mtime("config.h", mtime);
        let status = user.run(&space, "check --no-watch").status;
        assert_eq!([from(status), from(status)], ["changes", "memory"], "{mtime}");
        // An output that is older or younger than everything.
        space.set_mtime("a.o", mtime);
        from(user.run(&space, "check --no-watch").status);
        space.set_mtime("a.o", T + SECOND);
        space.set_mtime("config.h", T);
        assert_eq!([from(0), from(0)][1], "memory");
    }
}

#[test]
fn two_daemons_may_remember_one_tree() {
    let (one, other, space) = (User::new(), User::new(), program());
    for round in 0..10 {
        let (mtime, status) = if round % 2 == 0 { (T, 0) } else { (T + 90 * SECOND, 1) };
        space.set_mtime("config.h", mtime);
        for user in [&one, &other, &one] {
            user.run(&space, "check --verify-watch").answer(status);
        }
    }
    assert_ne!(one.pid(), other.pid());
    for user in [&one, &other] {
        assert_eq!(user.status().expect("it runs")["wrong"], 0);
    }
}
