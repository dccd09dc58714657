//! Phony targets.

use crate::{PHONY, PLAIN, S, World, one_target, two_targets};
use upcheck::Report;

#[test]
fn a_phony_without_inputs_and_without_a_file_makes_its_users_stale_always() {
    let mut world = World::new();
    world.target(PHONY, "always:");
    world.target(PLAIN, "out: always");
    world.built("out", 9 * S);
    assert_eq!(world.answer_for("out", "always"), "stale: phony-missing always");
    assert_eq!(world.answer("out"), "stale: phony-missing always");
}

#[test]
fn a_phony_without_inputs_but_with_a_file_counts_as_that_file() {
    let mut world = World::new();
    world.target(PHONY, "header:");
    world.target(PLAIN, "out: header");
    world.file("header", S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
    world.file("header", 3 * S);
    assert_eq!(world.answer("out"), "stale: input-newer header at 3s > out at 2s");
}

#[test]
fn a_phony_without_a_file_lends_its_users_the_time_of_its_newest_input() {
    let mut world = World::new();
    world.target(PHONY, "group: a b");
    world.target(PLAIN, "out: group");
    world.file("a", S);
    world.file("b", 2 * S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
    world.file("b", 3 * S);
    assert_eq!(world.answer("out"), "stale: input-newer group at 3s > out at 2s");
}

#[test]
fn a_chain_of_phonies_lends_the_newest_time_of_all() {
    let mut world = World::new();
    world.target(PHONY, "first: deep");
    world.target(PHONY, "second: first shallow");
    world.target(PHONY, "third: second");
    world.target(PLAIN, "out: third");
    world.file("deep", 3 * S);
    world.file("shallow", S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "stale: input-newer third at 3s > out at 2s");
    world.file("deep", S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn a_phony_with_a_file_hides_the_times_of_its_inputs() {
    let mut world = World::new();
    world.target(PHONY, "group: a");
    world.target(PLAIN, "out: group");
    world.file("group", S);
    world.file("a", 9 * S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn a_phony_lends_nothing_of_its_order_only_inputs() {
    let mut world = World::new();
    world.target(PHONY, "group: || a");
    world.target(PLAIN, "out: group");
    world.file("a", 9 * S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn a_phony_is_stale_when_an_input_is_and_passes_that_on() {
    let mut world = two_targets(PHONY, PLAIN);
    world.disk.remove("in");
    assert_eq!(world.answer_for("out", "mid"), "stale: input-missing in");
    assert_eq!(world.answer("out"), "stale: upstream-stale mid made by mid");
}

#[test]
fn a_missing_phony_with_inputs_is_fresh() {
    let world = two_targets(PLAIN, PHONY);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn a_phony_with_nothing_but_validations_counts_as_one_without_inputs() {
    let mut world = one_target(PLAIN);
    world.target(PHONY, "group: |@ out");
    world.target(PLAIN, "user: group");
    world.built("user", 2 * S);
    assert_eq!(world.answer("user"), "stale: phony-missing group");
}

#[test]
fn a_phony_that_nothing_uses_is_no_work_even_if_it_is_stale_always() {
    let mut world = World::new();
    world.target(PHONY, "all:");
    assert_eq!(world.answer("all"), "stale: phony-missing all");
    assert!(world.report("all").is_fresh());
}

#[test]
fn a_phony_that_nothing_uses_does_not_hide_a_missing_source() {
    let mut world = World::new();
    world.target(PHONY, "all: gone");
    assert_eq!(world.answer("all"), "stale: input-missing gone");
    let report = world.report("all");
    assert_eq!(listed_names(&world, &report), ["all"], "ninja has an error here");
    assert!(!report.is_fresh());
}

#[test]
fn a_phony_of_which_another_output_is_missing_is_blamed_for_that_one() {
    let mut world = World::new();
    world.target(PHONY, "here gone:");
    world.target(PLAIN, "out: here");
    world.file("here", S);
    world.built("out", 2 * S);
    assert_eq!(world.answer_for("out", "here"), "stale: phony-missing gone");
    assert_eq!(world.answer("out"), "stale: upstream-stale here made by here");
}

#[test]
fn a_phony_is_not_listed_for_what_a_target_before_it_is_listed_for() {
    let mut world = two_targets(PLAIN, PHONY);
    world.file("in", 3 * S);
    let report = world.report("out");
    assert_eq!(listed_names(&world, &report), ["mid"]);
    assert_eq!((report.n_targets, report.n_stale, report.n_pending), (1, 1, 0));
}

#[test]
fn a_phony_is_listed_for_what_only_it_is_kept_from_by() {
    let mut world = two_targets(PHONY, PLAIN);
    world.disk.remove("in");
    let report = world.report("out");
    assert_eq!(listed_names(&world, &report), ["mid", "out"]);
    assert_eq!((report.n_targets, report.n_stale, report.n_root_causes), (2, 2, 1));
}

fn listed_names(world: &World, report: &Report) -> Vec<String> {
    let name = |target| String::from_utf8_lossy(world.graph.name(target)).into_owned();
    report.stale.iter().map(|stale| name(stale.target)).collect()
}
