//! Inputs that a depfile or the deps log names.

use crate::{PLAIN, S, World, discovering, one_target};
use upcheck::{Discovered, Stop, Unknown};

fn unknown(why: Unknown) -> World {
    let mut world = one_target(PLAIN);
    let target = world.graph.producer(world.lookup("out")).expect("there is one");
    world.history.set_discovered_unknown(target, why);
    world
}

#[test]
fn a_discovered_input_counts_like_any_other() {
    let mut world = discovering(&["a.h"], Some(2 * S));
    world.file("a.h", S);
    assert_eq!(world.answer("out"), "fresh");
    world.file("a.h", 3 * S);
    assert_eq!(world.answer("out"), "stale: input-newer a.h at 3s > out at 2s");
}

#[test]
fn a_discovered_input_can_be_made_by_a_target() {
    let mut world = discovering(&["a.h"], Some(2 * S));
    world.target(PLAIN, "a.h: gen");
    world.file("gen", 3 * S);
    world.built("a.h", S);
    assert_eq!(world.answer("out"), "stale: upstream-stale a.h made by a.h");
    assert_eq!(world.answer_for("out", "a.h"), "stale: input-newer gen at 3s > a.h at 1s");
}

#[test]
fn discovered_inputs_that_are_not_recorded_make_the_target_stale() {
    let world = unknown(Unknown::NotRecorded);
    assert_eq!(world.answer("out"), "stale: deps-unknown out not recorded");
}

#[test]
fn a_missing_depfile_makes_the_target_stale() {
    let world = unknown(Unknown::NoDepfile { depfile: (*b"out.d").into() });
    assert_eq!(world.answer("out"), "stale: deps-unknown out without out.d");
}

#[test]
fn a_depfile_about_another_output_makes_the_target_stale() {
    let world = unknown(Unknown::OtherOutput { depfile: (*b"out.d").into(), names: (*b"old").into() });
    assert_eq!(world.answer("out"), "stale: deps-unknown out but out.d names old");
}

#[test]
fn a_broken_depfile_makes_the_target_stale_and_is_an_error_in_exact_mode() {
    let world = unknown(Unknown::Broken { message: "out.d: expected ':'".into() });
    assert_eq!(world.answer("out"), "stale: deps-unknown out broken: out.d: expected ':'");
    assert_eq!(world.exact_answer("out"), Err(Stop::Broken("out.d: expected ':'".into())));
}

#[test]
fn an_output_newer_than_its_recorded_inputs_makes_them_outdated() {
    let mut world = discovering(&["a.h"], Some(2 * S));
    world.file("a.h", S);
    world.file("out", 3 * S);
    assert_eq!(world.answer("out"), "stale: deps-outdated out at 3s > 2s on record");
}

#[test]
fn an_output_as_old_as_its_recorded_inputs_or_older_leaves_them_believed() {
    let mut world = discovering(&["a.h"], Some(3 * S));
    world.file("a.h", S);
    assert_eq!(world.answer("out"), "fresh");
    world.file("out", 3 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn only_the_first_output_is_compared_with_the_time_of_the_recorded_inputs() {
    let mut world = World::new();
    let target = world.target(PLAIN, "a b: in");
    world.file("in", S);
    world.built("a", 2 * S);
    world.built("b", 9 * S);
    world.discovered(target, &[], Some(2 * S));
    assert_eq!(world.answer("b"), "fresh");
}

#[test]
fn a_missing_output_does_not_make_its_recorded_inputs_outdated() {
    let mut world = discovering(&["a.h"], Some(2 * S));
    world.file("a.h", 3 * S);
    world.disk.remove("out");
    assert_eq!(world.answer("out"), "stale: output-missing out", "they are believed, and older than nothing");
}

#[test]
fn inputs_from_a_depfile_have_no_time_of_their_own() {
    let mut world = discovering(&["a.h"], None);
    world.file("a.h", S);
    world.file("out", 9 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn discovered_inputs_that_are_not_believed_are_not_followed() {
    let mut world = discovering(&["a.h"], Some(2 * S));
    world.target(PLAIN, "a.h: gen");
    world.file("gen", 3 * S);
    world.built("a.h", S);
    world.file("out", 3 * S);
    assert_eq!(world.answer("out"), "stale: deps-outdated out at 3s > 2s on record");
    assert_eq!(world.answer_for("out", "a.h"), "not judged");
}

#[test]
fn a_target_without_discovered_inputs_is_not_asked_for_any() {
    let world = one_target(PLAIN);
    let target = world.graph.producer(world.lookup("out")).expect("there is one");
    assert_eq!(world.history.discovered(target), Discovered::Untracked);
    assert_eq!(world.answer("out"), "fresh");
}
