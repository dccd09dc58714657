//! Commands and records.

use crate::{GENERATOR, PLAIN, S, World, one_target};
use upcheck::{Record, Unknown};

#[test]
fn a_changed_command_makes_its_target_stale() {
    let mut world = one_target(PLAIN);
    let output = world.id("out");
    world.history.set_record(output, Record { command_hash: 5, mtime: 2 * S });
    assert_eq!(world.answer("out"), "stale: command-changed out from 5 to 7");
}

#[test]
fn the_record_of_each_output_must_have_the_command() {
    let mut world = World::new();
    world.target(PLAIN, "a b: in");
    world.file("in", S);
    world.built("a", 2 * S);
    world.built("b", 2 * S);
    let second = world.id("b");
    world.history.set_record(second, Record { command_hash: 5, mtime: 2 * S });
    assert_eq!(world.answer("a"), "stale: command-changed b from 5 to 7");
}

#[test]
fn a_target_without_a_record_was_never_built() {
    let mut world = World::new();
    world.target(PLAIN, "out: in");
    world.file("in", S);
    world.file("out", 2 * S);
    assert_eq!(world.answer("out"), "stale: never-built out");
}

#[test]
fn a_generator_needs_no_record_and_may_change_its_command() {
    let mut world = World::new();
    world.target(GENERATOR, "out: in");
    world.file("in", S);
    world.file("out", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
    let output = world.id("out");
    world.history.set_record(output, Record { command_hash: 5, mtime: 2 * S });
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn a_generator_with_a_record_is_held_to_its_time() {
    let mut world = one_target(GENERATOR);
    world.file("in", 3 * S);
    world.file("out", 4 * S);
    assert_eq!(world.answer("out"), "stale: input-newer in at 3s > out at 2s on record");
}

#[test]
fn several_reasons_are_all_given() {
    let mut world = World::new();
    let target = world.target(PLAIN, "a b: gone in");
    world.history.set_discovered_unknown(target, Unknown::NotRecorded);
    world.file("in", 3 * S);
    world.file("a", 2 * S);
    let expected = "stale: deps-unknown a not recorded, input-missing gone, \
                    input-newer in at 3s > a at 2s, never-built a, output-missing b";
    assert_eq!(world.answer("a"), expected);
}
