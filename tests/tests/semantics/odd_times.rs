//! Times around 1970, and stamps that mislead.

use crate::{PHONY, PLAIN, S, World, discovering, one_target};
use upcheck::Stop;

#[test]
fn a_time_of_zero_is_a_time_and_no_absence() {
    let mut world = one_target(PLAIN);
    world.file("in", 0);
    assert_eq!(world.answer("out"), "fresh");
    world.file("out", 0);
    world.file("in", S);
    assert_eq!(world.answer("out"), "stale: input-newer in at 1s > out at 1ns");
}

#[test]
fn the_first_second_of_1970_counts_as_one_moment() {
    for (input, output) in [(0, S - 1), (S - 1, 0), (5, 4)] {
        let mut world = one_target(PLAIN);
        world.file("in", input);
        world.file("out", output);
        world.record("out", 1);
        assert_eq!(world.answer("out"), "fresh", "{input} {output}");
    }
}

#[test]
fn times_before_1970_are_compared_like_others() {
    let mut world = one_target(PLAIN);
    world.file("in", -3 * S);
    world.built("out", -2 * S);
    assert_eq!(world.answer("out"), "fresh");
    world.file("in", -S);
    assert_eq!(world.answer("out"), "stale: input-newer in at -1s > out at -2s");
}

#[test]
fn a_time_one_nanosecond_before_1970_makes_ninja_give_up_silently() {
    let mut world = one_target(PLAIN);
    world.file("in", -1);
    assert_eq!(world.answer("out"), "fresh");
    assert_eq!(world.exact_answer("out"), Err(Stop::Silent));
    let mut world = one_target(PLAIN);
    world.file("out", -1);
    assert_eq!(world.answer("out"), "stale: input-newer in at 1s > out at -1ns");
    assert_eq!(world.exact_answer("out"), Err(Stop::Silent));
}

#[test]
fn a_missing_phony_without_a_time_to_lend_counts_as_made_in_1970() {
    let mut world = World::new();
    world.target(PHONY, "group: || in");
    world.target(PLAIN, "out: group");
    world.file("in", S);
    world.built("out", -2 * S);
    assert_eq!(world.answer("out"), "stale: input-newer group at 0s > out at -2s");
}

#[test]
fn an_edit_within_the_tick_of_a_coarse_stamp_is_not_noticed() {
    let mut world = one_target(PLAIN);
    world.disk.set_clock(2 * S);
    world.disk.write("in", b"edited right after the build, on a disk that keeps whole seconds");
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn an_input_from_the_future_stays_newer_until_then() {
    let mut world = one_target(PLAIN);
    world.file("in", 100 * S);
    for built_at in [3 * S, 4 * S] {
        world.built("out", built_at);
        let expected = format!("stale: input-newer in at 100s > out at {}s", built_at / S);
        assert_eq!(world.answer("out"), expected);
    }
    world.built("out", 100 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn an_output_from_the_future_hides_nothing_from_the_record() {
    let mut world = one_target(PLAIN);
    world.file("out", 100 * S);
    world.file("in", 3 * S);
    assert_eq!(world.answer("out"), "stale: input-newer in at 3s > out at 2s on record");
}

#[test]
fn an_output_and_a_record_from_the_future_hide_later_edits() {
    let mut world = one_target(PLAIN);
    world.built("out", 100 * S);
    world.file("in", 3 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn outputs_truncated_by_an_archive_look_older_than_their_inputs() {
    let mut world = one_target(PLAIN);
    world.file("in", 2 * S + 300);
    world.built("out", 2 * S + 500);
    assert_eq!(world.answer("out"), "fresh");
    world.file("out", 2 * S);
    assert_eq!(world.answer("out"), "stale: input-newer in at 2000000300ns > out at 2s");
}

#[test]
fn outputs_rounded_up_by_an_archive_make_their_discovered_inputs_outdated() {
    let mut world = discovering(&[], Some(2 * S));
    world.file("out", 4 * S);
    assert_eq!(world.answer("out"), "stale: deps-outdated out at 4s > 2s on record");
}

#[test]
fn sources_checked_out_afresh_are_newer_than_restored_outputs() {
    let mut world = World::new();
    world.target(PLAIN, "out: a b");
    world.built("out", 2 * S);
    world.file("a", 50 * S);
    world.file("b", 50 * S);
    let expected = "stale: input-newer a at 50s > out at 2s, input-newer b at 50s > out at 2s";
    assert_eq!(world.answer("out"), expected);
}
