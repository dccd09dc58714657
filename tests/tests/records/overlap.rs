//! Builds of one target that overlap, are interrupted, or lose their store.

use crate::with_input;
use upcheck::Policy;

/// Two builds of one target, whose commands end in the other order than they began: the output is the first one's, which
/// has read the input before it was edited.
fn overlapping(commit_the_first_one_first: bool) -> Vec<String> {
    let mut bench = with_input(Policy::default());
    let first = bench.begin("out");
    bench.disk.tick();
    bench.disk.write("in", b"two");
    bench.disk.tick();
    let second = bench.begin("out");
    bench.disk.tick();
    bench.disk.write("out", b"made from two");
    bench.disk.tick();
    bench.disk.write("out", b"made from one");
    bench.disk.tick();
    let (one, other) = if commit_the_first_one_first { (first, second) } else { (second, first) };
    let are_sure = [one.commit(&bench.disk), other.commit(&bench.disk)];
    assert!(are_sure.contains(&false));
    bench.stale()
}

#[test]
fn of_two_builds_of_a_target_at_once_nobody_knows_whose_output_it_is() {
    assert_eq!(overlapping(true), ["out: interrupted out"]);
    assert_eq!(overlapping(false), ["out: interrupted out"]);
}

#[test]
fn a_build_that_was_interrupted_does_not_stand_in_the_way_of_the_next_one() {
    let mut bench = with_input(Policy::default());
    drop(bench.begin("out"));
    assert_eq!(bench.stale(), ["out: interrupted out"]);
    assert!(bench.build("out", "1"));
    assert_eq!(bench.stale(), [""; 0]);
}

#[test]
fn a_build_whose_beginning_was_lost_with_the_store_does_not_count() {
    let mut bench = with_input(Policy::default());
    let running = bench.begin("out");
    bench.disk.write("out", b"1");
    std::fs::remove_dir_all(bench.store()).expect("removed");
    std::fs::create_dir(bench.store()).expect("made");
    bench.disk.tick();
    assert!(!running.commit(&bench.disk));
    assert_eq!(bench.stale(), ["out: interrupted out"]);
}
