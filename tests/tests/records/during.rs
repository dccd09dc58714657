//! What happens to inputs between the beginning of a build and its end.

use crate::describe::Desc;
use crate::{Bench, S, with_input};
use upcheck::Policy;

/// Those that look at the content of inputs.
const BY_CONTENT: [Policy; 4] =
    [Policy::Digest, Policy::MtimeAndDigest, Policy::MtimeAndDigestInput, Policy::MtimeOrDigest];

#[test]
fn a_build_without_disturbances_is_fresh() {
    for policy in Policy::ALL {
        let mut bench = with_input(policy);
        assert!(bench.build("out", "1"), "{policy:?}");
        assert_eq!(bench.stale(), [""; 0], "{policy:?}");
    }
}

#[test]
fn an_input_that_is_edited_and_put_back_during_a_build_may_have_been_read_in_between() {
    for policy in BY_CONTENT {
        // As a branch that is switched to and back.
        let mut bench = with_input(policy);
        let running = bench.begin("out");
        bench.disk.tick();
        bench.disk.write("in", b"two");
        bench.disk.write("out", b"made from two");
        bench.disk.tick();
        bench.disk.write("in", b"one");
        bench.disk.tick();
        assert!(!running.commit(&bench.disk), "{policy:?}");
        assert_eq!(bench.stale(), ["out: input-changed in"], "{policy:?}");
    }
}

#[test]
fn an_input_that_is_edited_during_a_build_and_put_back_after_it_may_have_been_read_in_between() {
    for policy in BY_CONTENT {
        for granularity in [1, S] {
            let mut bench = with_input(policy);
            bench.disk.set_granularity(granularity);
            bench.disk.tick();
            // With the coarser stamps the edit is in the tick of the beginning, and cannot be seen by times.
            bench.disk.overwrite("in", b"one");
            let running = bench.begin("out");
            bench.disk.overwrite("in", b"two");
            bench.disk.write("out", b"made from two");
            bench.disk.tick();
            running.commit(&bench.disk);
            bench.disk.tick();
            bench.disk.write("in", b"one");
            bench.disk.tick();
            assert_eq!(bench.stale(), ["out: input-changed in"], "{policy:?} {granularity}");
        }
    }
}

#[test]
fn an_input_that_is_linked_or_gets_other_permissions_during_a_build_has_not_changed() {
    for policy in Policy::ALL {
        let mut bench = with_input(policy);
        let running = bench.begin("out");
        bench.disk.tick();
        bench.disk.overwrite_keeping_mtime("in", b"one");
        bench.disk.write("out", b"1");
        bench.disk.tick();
        assert!(running.commit(&bench.disk), "{policy:?}");
        assert_eq!(bench.stale(), [""; 0], "{policy:?}");
        // And it is not doubted that it was the same when it ended.
        bench.disk.overwrite_keeping_mtime("in", b"two");
        let expected: &[&str] = match policy {
            Policy::Mtime | Policy::Newer => &[],
            _ => &["out: input-changed in"],
        };
        assert_eq!(bench.stale(), expected, "{policy:?}");
    }
}

#[test]
fn an_input_that_is_changed_in_place_with_its_time_kept_during_a_build_is_doubted() {
    for policy in BY_CONTENT {
        let mut bench = with_input(policy);
        let running = bench.begin("out");
        bench.disk.tick();
        bench.disk.overwrite_keeping_mtime("in", b"two");
        bench.disk.write("out", b"made from two");
        bench.disk.tick();
        assert!(!running.commit(&bench.disk));
        bench.disk.tick();
        bench.disk.overwrite_keeping_mtime("in", b"one");
        assert_eq!(bench.stale(), ["out: input-changed in"], "{policy:?}");
    }
}

#[test]
fn a_discovered_input_of_an_earlier_build_is_held_to_its_beginning_too() {
    let mut desc = Desc::new("out", &["in"]);
    desc.depfile = "out.d".to_owned();
    let mut bench = Bench::new(&[desc]);
    bench.disk.write("in", b"one");
    bench.disk.write("h", b"one");
    bench.disk.write("out.d", b"out: in h\n");
    assert!(bench.build("out", "1"));
    assert_eq!(bench.stale(), [""; 0]);
    let running = bench.begin("out");
    bench.disk.tick();
    bench.disk.write("h", b"two");
    bench.disk.write("out", b"made from two");
    bench.disk.tick();
    bench.disk.write("h", b"one");
    bench.disk.tick();
    assert!(!running.commit(&bench.disk));
    assert_eq!(bench.stale(), ["out: input-changed h"]);
}

#[test]
fn a_check_that_is_made_again_during_a_build_may_have_ended_after_its_user_began() {
    let check = Desc { name: "lint".to_owned(), explicit: vec!["in".to_owned()], ..Desc::default() };
    let mut bench = Bench::new(&[check, Desc::new("out", &["lint"])]);
    bench.disk.write("in", b"one");
    bench.build("lint", "");
    let running = bench.begin("out");
    bench.disk.write("out", b"1");
    bench.build("lint", "");
    assert!(!running.commit(&bench.disk));
    assert_eq!(bench.stale(), ["out: input-changed lint"]);
}

#[test]
fn a_file_that_matches_a_pattern_for_a_moment_may_have_been_an_input() {
    let globs = vec!["src/*.c".to_owned()];
    let mut bench = Bench::new(&[Desc { globs, ..Desc::new("out", &[]) }]);
    bench.disk.write("src/a.c", b"a");
    bench.disk.tick();
    let running = bench.begin("out");
    bench.disk.write("src/b.c", b"b");
    bench.disk.write("out", b"made from a and b");
    bench.disk.tick();
    assert!(!running.commit(&bench.disk));
    bench.disk.remove("src/b.c");
    assert_eq!(bench.stale(), ["out: inputs-differ out"]);
    assert!(bench.build("out", "made from a"));
    assert_eq!(bench.stale(), [""; 0]);
}
