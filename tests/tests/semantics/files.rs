//! What is there and what is not, and what counts as a file.

use crate::{PHONY, PLAIN, S, World, one_target, two_targets};
use upcheck::collect::os_disk;
use upcheck_tests::space::Space;

#[test]
fn a_target_with_everything_in_place_is_fresh() {
    assert_eq!(one_target(PLAIN).answer("out"), "fresh");
    assert_eq!(two_targets(PLAIN, PLAIN).answer("out"), "fresh");
}

#[test]
fn a_missing_output_makes_its_target_stale() {
    let mut world = one_target(PLAIN);
    world.disk.remove("out");
    assert_eq!(world.answer("out"), "stale: output-missing out");
}

#[test]
fn each_missing_output_is_named() {
    let mut world = World::new();
    world.target(PLAIN, "a b c: in");
    world.file("in", S);
    world.built("a", 2 * S);
    world.record("b", 2 * S);
    world.record("c", 2 * S);
    assert_eq!(world.answer("a"), "stale: output-missing b, output-missing c");
    assert_eq!(world.answer("c"), "stale: output-missing b, output-missing c");
}

#[test]
fn a_missing_source_makes_its_users_stale_and_nobody_else() {
    let mut world = one_target(PLAIN);
    world.target(PLAIN, "other: there");
    world.target(PHONY, "all: out other");
    world.file("there", S);
    world.built("other", 2 * S);
    world.disk.remove("in");
    assert_eq!(world.answer_for("all", "out"), "stale: input-missing in");
    assert_eq!(world.answer_for("all", "other"), "fresh");
}

#[test]
fn a_missing_discovered_source_makes_its_target_stale() {
    let mut world = World::new();
    let target = world.target(PLAIN, "out: in");
    world.file("in", S);
    world.built("out", 2 * S);
    world.discovered(target, &["gone.h"], None);
    assert_eq!(world.answer("out"), "stale: input-missing gone.h");
    assert_eq!(world.exact_answer("out"), Ok("stale: input-missing gone.h".into()));
}

#[test]
fn a_missing_order_only_source_does_not_count() {
    let mut world = World::new();
    world.target(PLAIN, "out: in || gone");
    world.file("in", S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn a_file_that_nobody_asked_about_never_passes_for_one_that_is_there() {
    let mut world = one_target(PLAIN);
    let input = world.id("in");
    world.not_asked.insert(input);
    assert_eq!(world.answer("out"), "stale: input-missing in");
    let mut world = one_target(PLAIN);
    let output = world.id("out");
    world.not_asked.insert(output);
    assert_eq!(world.answer("out"), "stale: output-missing out");
    let snapshot = world.snapshot(&world.disk);
    assert_eq!(snapshot.stat(output), upcheck::Stat::Unknown, "the snapshot keeps the difference");
}

#[test]
fn a_directory_counts_as_a_file_with_its_own_time() {
    let space = Space::new();
    space.write_at("dir/inside", "", 9 * S);
    space.set_mtime("dir", S);
    space.write_at("out", "", 2 * S);
    let mut world = World::new();
    world.target(PLAIN, "out: dir");
    world.record("out", 2 * S);
    let answer = |world: &World| world.answer_from(&os_disk(space.path()).expect("a disk"), "out", "out");
    assert_eq!(answer(&world), "fresh", "what is in it does not count");
    space.set_mtime("dir", 3 * S);
    assert_eq!(answer(&world), "stale: input-newer dir at 3s > out at 2s");
}

#[test]
fn links_are_followed_and_one_that_leads_nowhere_is_missing() {
    use std::os::unix::fs::symlink;
    let space = Space::new();
    space.write_at("real", "", 3 * S);
    space.write_at("out", "", 2 * S);
    for (to, link) in [("real", "link"), ("nowhere", "dangling"), ("loop", "loop")] {
        symlink(to, space.path().join(link)).expect("a link");
    }
    for (input, expected) in [
        ("link", "stale: input-newer link at 3s > out at 2s"),
        ("dangling", "stale: input-missing dangling"),
        ("loop", "stale: unreadable loop error 40"),
        ("real/beneath", "stale: input-missing real/beneath"),
    ] {
        let mut world = World::new();
        world.target(PLAIN, &format!("out: {input}"));
        world.record("out", 2 * S);
        let disk = os_disk(space.path()).expect("a disk");
        assert_eq!(world.answer_from(&disk, "out", "out"), expected);
    }
}
