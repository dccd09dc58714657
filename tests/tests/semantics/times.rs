//! What is newer than what, with restat and without.

use crate::{GENERATOR, PLAIN, RESTAT, S, World, one_target};
use upcheck::Flags;

#[test]
fn a_newer_input_makes_its_target_stale() {
    let mut world = one_target(PLAIN);
    world.file("in", 3 * S);
    let newer = "input-newer in at 3s > out at 2s";
    assert_eq!(world.answer("out"), format!("stale: {newer}"));
}

#[test]
fn one_nanosecond_is_newer() {
    let mut world = one_target(PLAIN);
    world.file("in", 2 * S + 1);
    assert_eq!(world.answer("out"), "stale: input-newer in at 2000000001ns > out at 2s");
}

#[test]
fn equal_times_are_fresh() {
    let mut world = one_target(PLAIN);
    world.file("in", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn all_newer_inputs_are_named_the_newest_first() {
    let mut world = World::new();
    world.target(PLAIN, "out: a b c");
    world.built("out", 2 * S);
    for (input, seconds) in [("a", 3), ("b", 4), ("c", 1)] {
        world.file(input, seconds * S);
    }
    let expected = "stale: input-newer b at 4s > out at 2s, input-newer a at 3s > out at 2s";
    assert_eq!(world.answer("out"), expected);
}

#[test]
fn an_implicit_input_counts_like_an_explicit_one() {
    let mut world = World::new();
    world.target(PLAIN, "out: in | tool");
    world.file("in", S);
    world.file("tool", 3 * S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "stale: input-newer tool at 3s > out at 2s");
}

#[test]
fn the_time_of_an_order_only_input_does_not_count() {
    let mut world = World::new();
    world.target(PLAIN, "out: in || stamp");
    world.file("in", S);
    world.file("stamp", 9 * S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn a_stale_order_only_input_is_judged_and_leaves_its_user_fresh() {
    let mut world = World::new();
    world.target(PLAIN, "stamp:");
    world.target(PLAIN, "out: in || stamp");
    world.file("in", S);
    world.built("out", 2 * S);
    world.record("stamp", 2 * S);
    assert_eq!(world.answer_for("out", "stamp"), "stale: output-missing stamp");
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn each_output_is_compared_with_the_newest_input() {
    let mut world = World::new();
    world.target(PLAIN, "a b: in");
    world.file("in", 3 * S);
    world.built("a", 4 * S);
    world.built("b", 2 * S);
    assert_eq!(world.answer("a"), "stale: input-newer in at 3s > b at 2s");
}

#[test]
fn an_input_newer_than_the_time_on_record_makes_its_target_stale() {
    let mut world = one_target(PLAIN);
    world.file("in", 3 * S);
    world.file("out", 4 * S);
    assert_eq!(world.answer("out"), "stale: input-newer in at 3s > out at 2s on record");
}

#[test]
fn an_output_changed_by_hand_is_not_noticed() {
    let mut world = one_target(PLAIN);
    world.disk.set_clock(9 * S);
    world.disk.write("out", b"edited");
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn an_input_replaced_by_an_older_one_is_not_noticed() {
    let mut world = one_target(PLAIN);
    world.disk.set_clock(S / 2 + S);
    world.disk.write("in", b"restored from a backup");
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn with_restat_and_a_record_the_time_of_the_output_does_not_count() {
    let mut world = one_target(RESTAT);
    world.file("in", 3 * S);
    world.record("out", 3 * S);
    assert_eq!(world.answer("out"), "fresh", "the file is older than its input, the record is not");
    world.file("in", 4 * S);
    assert_eq!(world.answer("out"), "stale: input-newer in at 4s > out at 3s on record");
}

#[test]
fn with_restat_and_no_record_the_time_of_the_output_counts() {
    let mut world = World::new();
    world.target(Flags { restat: true, ..GENERATOR }, "out: in");
    world.file("in", 3 * S);
    world.file("out", 2 * S);
    assert_eq!(world.answer("out"), "stale: input-newer in at 3s > out at 2s");
    world.file("out", 3 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn restat_does_not_excuse_a_missing_output() {
    let mut world = one_target(RESTAT);
    world.disk.remove("out");
    assert_eq!(world.answer("out"), "stale: output-missing out");
}
