//! A repair that is killed, at ever other moments: what changed is run all the same, and the next repair does the rest.
//!
//! `UPCHECK_KILLS` sets how many are killed (default 40).

use super::command::{run, upcheck_in};
use super::{Builds, OLD};
use std::process::Stdio;
use upcheck_tests::aloud::progress;
use upcheck_tests::moment::spend;
use upcheck_tests::tools::Ninja;

#[test]
fn whenever_a_repair_is_killed_what_changed_is_run() {
    let n_kills: u64 = std::env::var("UPCHECK_KILLS").map_or(40, |n| n.parse().expect("a number"));
    let (mut n_before, mut n_between, mut n_after) = (0, 0, 0);
    for kill in 0..n_kills {
        let builds = Builds::new(Ninja::V1_13);
        assert_eq!(run(&builds.space, "record").answer(0), "");
        for path in ["a.c", "h/all.h", "words.txt"] {
            builds.space.write(path, builds.space.read(path));
        }
        // Ninja does not see that it changed.
        builds.space.write_at("b.c", "B\n", OLD);
        if kill % 2 == 0 {
            builds.space.remove(".ninja_deps");
        }
        let before = builds.space.entries();
        let planned = run(&builds.space, "repair -n --format json").answer(0);
        let mut command = upcheck_in(builds.space.path());
        command.arg("repair").env("UPCHECK_CACHE_DIR", builds.space.images()).stdout(Stdio::null());
        let mut repair = command.spawn().expect("it starts");
        spend(kill * 7919 % 900 * 40);
        repair.kill().expect("it is ours");
        repair.wait().expect("it ends");
        let changed = builds.space.entries() != before;
        let listed = builds.listed();
        assert!(
            listed.contains(&"b.o".to_owned()) && listed.contains(&"b".to_owned()),
            "kill {kill}: {listed:?}"
        );
        let text = run(&builds.space, "repair").answer(0);
        assert_eq!(builds.listed(), ["b", "b.o"], "kill {kill}: {planned}");
        match (changed, text.starts_with("nothing to repair")) {
            (false, _) => n_before += 1,
            (true, false) => n_between += 1,
            (true, true) => n_after += 1,
        }
    }
    progress(&format!("{n_kills} killed: {n_before} before they wrote, {n_between} while, {n_after} after"));
}
