//! Dyndep files.

use crate::{PLAIN, S, World};
use upcheck::{Dyndep, DyndepEntry, Stop};

/// `out` made from `in`, up to date, waiting for the dyndep file `dd` that `scan` goes into.
fn with_dyndep(restat: bool, inputs: &[&str], outputs: &[&str]) -> World {
    let mut world = World::new();
    world.target(PLAIN, "dd: scan");
    let target = world.dyndep_target(PLAIN, "out: in || dd", Some("dd"));
    world.file("scan", S);
    world.file("in", S);
    world.built("dd", 2 * S);
    world.built("out", 2 * S);
    let [inputs, outputs] = [inputs, outputs].map(|paths| paths.iter().map(|path| world.id(path)).collect());
    let dyndep = world.id("dd");
    let entry = DyndepEntry { target, inputs, outputs, restat };
    world.history.set_dyndep(dyndep, Dyndep::Loaded(vec![entry]));
    world
}

#[test]
fn inputs_from_a_dyndep_file_count() {
    let mut world = with_dyndep(false, &["more"], &[]);
    world.file("more", S);
    assert_eq!(world.answer("out"), "fresh");
    assert_eq!(world.exact_answer("out"), Ok("fresh".into()));
    world.file("more", 3 * S);
    assert_eq!(world.answer("out"), "stale: input-newer more at 3s > out at 2s");
    let exact = world.exact_answer("out");
    assert_eq!(exact, Ok("stale: input-newer more at 3s > out at 2s".into()));
}

#[test]
fn outputs_from_a_dyndep_file_count() {
    let mut world = with_dyndep(false, &[], &["also"]);
    world.target(PLAIN, "user: also");
    world.built("also", 2 * S);
    world.built("user", 2 * S);
    assert_eq!(world.answer("user"), "fresh");
    world.disk.remove("also");
    assert_eq!(world.answer_for("user", "out"), "stale: output-missing also");
    assert_eq!(world.answer("user"), "stale: upstream-stale also made by out");
}

#[test]
fn restat_from_a_dyndep_file_counts() {
    for (restat, verdict) in [(false, "stale"), (true, "pending")] {
        let mut world = with_dyndep(restat, &[], &[]);
        world.target(PLAIN, "user: out");
        world.built("user", 2 * S);
        world.file("in", 3 * S);
        assert_eq!(world.answer("user"), format!("{verdict}: upstream-stale out made by out"));
    }
}

#[test]
fn a_missing_extra_output_of_a_target_with_restat_leaves_its_users_pending() {
    let mut world = with_dyndep(true, &[], &["also"]);
    world.target(PLAIN, "user: also");
    world.built("user", 2 * S);
    world.record("also", 2 * S);
    assert_eq!(world.answer_for("user", "out"), "stale: output-missing also");
    assert_eq!(world.answer("user"), "pending: upstream-stale also made by out");
}

#[test]
fn a_stale_dyndep_file_leaves_its_targets_pending() {
    let mut world = with_dyndep(false, &["more"], &[]);
    world.file("more", S);
    world.file("scan", 3 * S);
    assert_eq!(world.answer("out"), "pending: deps-unknown dd to be made by dd");
    assert_eq!(world.answer_for("out", "dd"), "stale: input-newer scan at 3s > dd at 2s");
}

#[test]
fn what_a_stale_dyndep_file_says_counts_in_the_usual_mode_only() {
    let mut world = with_dyndep(false, &["more"], &[]);
    world.file("more", 4 * S);
    world.file("scan", 3 * S);
    let expected = "stale: input-newer more at 4s > out at 2s, deps-unknown dd to be made by dd";
    assert_eq!(world.answer("out"), expected);
    assert_eq!(world.exact_answer("out"), Ok("fresh".into()), "ninja learns of it once dd is made");
}

#[test]
fn a_broken_dyndep_file_makes_its_targets_stale_and_is_an_error_in_exact_mode() {
    let mut world = with_dyndep(false, &[], &[]);
    let dyndep = world.id("dd");
    world.history.set_dyndep(dyndep, Dyndep::Broken("dd:1: no".into()));
    assert_eq!(world.answer("out"), "stale: deps-unknown dd broken: dd:1: no");
    assert_eq!(world.exact_answer("out"), Err(Stop::Broken("dd:1: no".into())));
}

#[test]
fn a_dyndep_file_that_claims_anothers_output_is_broken() {
    let world = with_dyndep(false, &[], &["dd"]);
    assert_eq!(world.answer("out"), "stale: deps-unknown dd broken: multiple rules generate dd");
    assert_eq!(world.exact_answer("out"), Err(Stop::Broken("multiple rules generate dd".into())));
}

#[test]
fn of_a_dyndep_file_that_is_broken_somewhere_nothing_counts() {
    let mut world = World::new();
    let first = world.dyndep_target(PLAIN, "a: dd", Some("dd"));
    let second = world.dyndep_target(PLAIN, "b: dd", Some("dd"));
    for (path, seconds) in [("dd", 1), ("new", 9)] {
        world.file(path, seconds * S);
    }
    world.built("a", 2 * S);
    world.built("b", 2 * S);
    let [dyndep, new, taken] = ["dd", "new", "a"].map(|path| world.id(path));
    let entry = |target, inputs, outputs| DyndepEntry { target, inputs, outputs, restat: false };
    let entries = vec![entry(first, vec![new], vec![]), entry(second, vec![], vec![taken])];
    world.history.set_dyndep(dyndep, Dyndep::Loaded(entries));
    assert_eq!(world.answer("a"), "stale: deps-unknown dd broken: multiple rules generate a");
}
