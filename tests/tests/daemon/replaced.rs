//! A daemon whose program was replaced does not answer for the new one.

use crate::User;
use crate::command::spaces::{SECOND, T, program};
use crate::command::{Ran, upcheck_in};
use crate::followed::{Followed, checked};
use std::path::Path;
use std::process::Command;
use upcheck_tests::space::Space;
use upcheck_tests::tools;

fn run(user: &User, upcheck: &Path, space: &Space, args: &str) -> Ran {
    Ran::new(command(user, upcheck, space, args).output().expect("upcheck starts"))
}

fn command(user: &User, upcheck: &Path, space: &Space, args: &str) -> Command {
    let template = upcheck_in(space.path());
    let mut command = Command::new(upcheck);
    command.current_dir(space.path()).args(args.split_whitespace());
    for (name, value) in template.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    user.be(&mut command);
    command
}

/// Puts a copy of the program there. Another process makes it: what this one has open to write to it, a child of another test
/// may have as well for a moment, and what is open so cannot be run.
fn put(upcheck: &Path) {
    let beside = upcheck.with_extension("new");
    let status = Command::new("cp").arg(tools::upcheck()).arg(&beside).status();
    assert!(status.expect("cp starts").success());
    std::fs::rename(&beside, upcheck).expect("a new program");
}

#[test]
fn it_begins_anew_when_another_program_is_at_its_place() {
    let (user, space, place) = (User::new(), program(), Space::new());
    let upcheck = place.path().join("upcheck");
    put(&upcheck);
    run(&user, &upcheck, &space, "watch start").answer(0);
    let pid = user.pid();
    let plain = run(&user, &upcheck, &space, "").answer(0);
    assert!(run(&user, &upcheck, &space, "").answer(0).contains(" (watched)"));
    put(&upcheck);
    let asked = run(&user, &upcheck, &space, "--watch");
    assert_eq!((asked.status, asked.stdout), (0, plain));
    assert!(asked.stderr.contains("its program was replaced, it begins anew"), "{}", asked.stderr);
    // It has kept its process, and forgotten everything.
    while !run(&user, &upcheck, &space, "").answer(0).contains(" (watched)") {
        std::thread::yield_now();
    }
    assert_eq!(user.pid(), pid);
}

#[test]
fn whoever_tells_it_to_end_has_no_other_one_when_another_program_is_at_its_place() {
    let (user, space, place) = (User::new(), program(), Space::new());
    let upcheck = place.path().join("upcheck");
    put(&upcheck);
    run(&user, &upcheck, &space, "watch start").answer(0);
    let pid = user.pid();
    put(&upcheck);
    run(&user, &upcheck, &space, "watch stop").answer(0);
    // It has ended: it is not the process that begins anew.
    while !matches!(crate::state(pid), None | Some('Z')) {
        std::thread::yield_now();
    }
    assert!(user.status().is_none());
}

#[test]
fn whoever_follows_goes_on_without_it_when_another_program_is_at_its_place() {
    let (user, space, place) = (User::new(), program(), Space::new());
    let upcheck = place.path().join("upcheck");
    put(&upcheck);
    run(&user, &upcheck, &space, "watch start").answer(0);
    let mut followed =
        Followed::spawn(&mut command(&user, &upcheck, &space, "check --follow --format jsonl"));
    followed.settles_at(&checked(&user, &space, ""));
    while user.status().expect("it runs")["waiting"] != 1 {
        std::thread::yield_now();
    }
    put(&upcheck);
    // It finds out at once when somebody asks.
    let asked = run(&user, &upcheck, &space, "--watch");
    assert!(asked.stderr.contains("its program was replaced, it begins anew"), "{}", asked.stderr);
    // The one that began anew is of the new program, and whoever follows is of the old one.
    followed.says("it runs another upcheck");
    for time in [T + 9 * SECOND, T] {
        space.write_at("a.c", "", time);
        followed.settles_at(&checked(&user, &space, ""));
    }
}

#[test]
fn one_that_runs_another_program_says_no_and_is_stopped_by_any() {
    let (user, space, place) = (User::new(), program(), Space::new());
    let upcheck = place.path().join("upcheck");
    put(&upcheck);
    user.run(&space, "watch start").answer(0);
    let asked = run(&user, &upcheck, &space, "--watch");
    assert_eq!(asked.status, 0);
    assert!(asked.stderr.contains("it runs another upcheck"), "{}", asked.stderr);
    run(&user, &upcheck, &space, "watch stop").answer(0);
    assert!(user.status().is_none());
}
