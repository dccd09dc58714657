//! What cannot be answered: unreadable paths and cycles.

use crate::{ELOOP, PHONY, PLAIN, S, World, one_target, two_targets};
use upcheck::Stop;

#[test]
fn an_unreadable_input_makes_its_users_stale_and_nobody_else() {
    let mut world = one_target(PLAIN);
    world.target(PLAIN, "other: there");
    world.target(PHONY, "all: out other");
    world.file("there", S);
    world.built("other", 2 * S);
    world.disk.fail("in", ELOOP);
    assert_eq!(world.answer_for("all", "out"), "stale: unreadable in error 40");
    assert_eq!(world.answer_for("all", "other"), "fresh");
}

#[test]
fn an_unreadable_output_makes_its_target_stale() {
    let mut world = one_target(PLAIN);
    world.disk.fail("out", ELOOP);
    assert_eq!(world.answer("out"), "stale: unreadable out error 40");
}

#[test]
fn an_unreadable_order_only_source_does_not_count() {
    let mut world = World::new();
    world.target(PLAIN, "out: in || odd");
    world.file("in", S);
    world.built("out", 2 * S);
    world.disk.fail("odd", ELOOP);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn an_unreadable_phony_name_makes_the_phony_stale() {
    let mut world = two_targets(PHONY, PLAIN);
    world.file("in", 9 * S);
    world.disk.fail("mid", ELOOP);
    assert_eq!(world.answer_for("out", "mid"), "stale: unreadable mid error 40");
    assert_eq!(world.answer("out"), "stale: upstream-stale mid made by mid");
}

#[test]
fn in_exact_mode_an_unreadable_path_is_an_error() {
    for (statement, odd) in [("out: odd", "odd"), ("out: || odd", "odd"), ("out: in", "out")] {
        let mut world = World::new();
        world.target(PLAIN, statement);
        world.file("in", S);
        world.built("out", 2 * S);
        let path = world.id(odd);
        world.disk.fail(odd, ELOOP);
        assert_eq!(world.exact_answer("out"), Err(Stop::Unreadable { path, errno: ELOOP }), "{statement}");
    }
}

#[test]
fn a_cycle_is_an_error_in_both_modes() {
    let mut world = World::new();
    world.target(PLAIN, "a: b");
    world.target(PLAIN, "b: c");
    world.target(PLAIN, "c: a");
    let path = ["a", "b", "c", "a"].map(|name| world.id(name)).to_vec();
    assert_eq!(world.answer("a"), format!("{:?}", Stop::Cycle(path.clone())));
    assert_eq!(world.exact_answer("a"), Err(Stop::Cycle(path)));
}

#[test]
fn a_cycle_begins_and_ends_with_the_output_through_which_it_closes() {
    let mut world = World::new();
    world.target(PLAIN, "a b: c");
    world.target(PLAIN, "c: b");
    let path = ["b", "c", "b"].map(|name| world.id(name)).to_vec();
    assert_eq!(world.exact_answer("a"), Err(Stop::Cycle(path)));
}

#[test]
fn a_cycle_through_order_only_or_discovered_inputs_is_one_too() {
    let mut world = World::new();
    world.target(PLAIN, "a: || b");
    world.target(PLAIN, "b: a");
    let path = ["b", "a", "b"].map(|name| world.id(name)).to_vec();
    assert_eq!(world.exact_answer("b"), Err(Stop::Cycle(path)));

    let mut world = World::new();
    let target = world.target(PLAIN, "out: in");
    world.discovered(target, &["out"], None);
    world.built("out", 2 * S);
    let path = ["out", "out"].map(|name| world.id(name)).to_vec();
    assert_eq!(world.exact_answer("out"), Err(Stop::Cycle(path)));
}
