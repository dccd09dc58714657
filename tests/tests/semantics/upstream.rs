//! What comes before: staleness and pending passed on, and validations.

use crate::{PHONY, PLAIN, RESTAT, S, World, two_targets};
use upcheck::Verdict;

#[test]
fn what_is_made_from_a_stale_target_is_stale() {
    let mut world = two_targets(PLAIN, PLAIN);
    world.file("in", 3 * S);
    assert_eq!(world.answer_for("out", "mid"), "stale: input-newer in at 3s > mid at 2s");
    assert_eq!(world.answer("out"), "stale: upstream-stale mid made by mid");
}

#[test]
fn what_is_made_from_a_stale_target_with_restat_is_pending() {
    let mut world = two_targets(RESTAT, PLAIN);
    world.file("in", 3 * S);
    assert_eq!(world.answer_for("out", "mid"), "stale: input-newer in at 3s > mid at 2s on record");
    assert_eq!(world.answer("out"), "pending: upstream-stale mid made by mid");
}

#[test]
fn pending_is_passed_on_through_phonies_and_commands() {
    let mut world = two_targets(RESTAT, PHONY);
    world.target(PLAIN, "far: out");
    world.target(PLAIN, "further: far");
    world.built("far", 2 * S);
    world.built("further", 2 * S);
    world.file("in", 3 * S);
    assert_eq!(world.answer_for("further", "out"), "pending: upstream-stale mid made by mid");
    assert_eq!(world.answer_for("further", "far"), "pending: upstream-stale out made by out");
    assert_eq!(world.answer("further"), "pending: upstream-stale far made by far");
}

#[test]
fn a_reason_of_its_own_makes_a_pending_target_stale() {
    let mut world = two_targets(RESTAT, PLAIN);
    world.file("in", 3 * S);
    world.disk.remove("out");
    assert_eq!(world.answer("out"), "stale: upstream-stale mid made by mid, output-missing out");
}

#[test]
fn one_certain_input_makes_a_pending_target_stale() {
    let mut world = two_targets(RESTAT, PLAIN);
    world.target(PLAIN, "sure: in");
    world.target(PLAIN, "both: mid sure");
    world.built("sure", 2 * S);
    world.built("both", 2 * S);
    world.file("in", 3 * S);
    let expected = "stale: upstream-stale mid made by mid, upstream-stale sure made by sure";
    assert_eq!(world.answer("both"), expected);
}

#[test]
fn pending_folds_to_stale_for_whoever_wants_two_values() {
    let mut world = two_targets(RESTAT, PLAIN);
    world.file("in", 3 * S);
    let report = world.report("out");
    assert_eq!((report.n_stale, report.n_pending, report.n_fresh()), (1, 1, 0));
    assert!(!report.is_fresh());
    assert!(Verdict::Fresh < Verdict::Pending && Verdict::Pending < Verdict::Stale);
}

#[test]
fn a_stale_input_hides_its_own_time() {
    let mut world = two_targets(PLAIN, PLAIN);
    world.file("in", 9 * S);
    world.file("mid", 5 * S);
    assert_eq!(world.answer("out"), "stale: upstream-stale mid made by mid");
}

#[test]
fn validations_are_judged_along_and_do_not_count() {
    let mut world = World::new();
    world.target(PLAIN, "out: in |@ lint");
    world.target(PLAIN, "lint: rules");
    world.file("in", S);
    world.file("rules", 3 * S);
    world.built("out", 2 * S);
    world.built("lint", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
    assert_eq!(world.answer_for("out", "lint"), "stale: input-newer rules at 3s > lint at 2s");
}

#[test]
fn validations_of_inputs_and_of_validations_are_judged_too() {
    let mut world = World::new();
    world.target(PLAIN, "mid: in |@ lint");
    world.target(PLAIN, "out: mid");
    world.target(PLAIN, "lint: in |@ meta");
    world.target(PLAIN, "meta: in");
    world.file("in", S);
    for output in ["mid", "out", "lint"] {
        world.built(output, 2 * S);
    }
    assert_eq!(world.answer_for("out", "lint"), "fresh");
    assert_eq!(world.answer_for("out", "meta"), "stale: output-missing meta");
}

#[test]
fn a_validation_may_use_what_it_validates() {
    let mut world = World::new();
    world.target(PLAIN, "out: in |@ lint");
    world.target(PLAIN, "lint: out");
    world.file("in", S);
    world.built("out", 2 * S);
    world.built("lint", 2 * S);
    assert_eq!(world.answer_for("out", "lint"), "fresh");
}
