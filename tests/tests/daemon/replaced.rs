//! A daemon whose program was replaced does not answer for the new one.

use crate::User;
use crate::command::spaces::program;
use crate::command::{Ran, upcheck_in};
use std::path::Path;
use std::process::Command;
use upcheck_tests::space::Space;
use upcheck_tests::tools;

fn run(user: &User, upcheck: &Path, space: &Space, args: &str) -> Ran {
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
    Ran::new(command.output().expect("upcheck starts"))
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
