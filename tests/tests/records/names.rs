//! Targets without files: what stands for them is which of their successes there was.

use crate::describe::Desc;
use crate::{Bench, S};
use upcheck::Policy;

#[test]
fn a_check_that_succeeds_twice_within_a_tick_has_succeeded_twice() {
    let check = Desc { name: "lint".to_owned(), explicit: vec!["in".to_owned()], ..Desc::default() };
    let mut bench = Bench::new(&[check, Desc::new("out", &["lint"])]);
    bench.disk.set_granularity(S);
    bench.disk.write("in", b"one");
    bench.disk.tick();
    assert!(bench.begin("lint").commit(&bench.disk));
    let running = bench.begin("out");
    bench.disk.write("out", b"1");
    assert!(running.commit(&bench.disk));
    assert_eq!(bench.stale(), [""; 0]);
    bench.disk.overwrite("in", b"two");
    assert!(bench.begin("lint").commit(&bench.disk));
    assert_eq!(bench.stale(), ["out: input-changed lint"]);
}

#[test]
fn a_target_that_uses_a_check_is_fresh_by_any_policy() {
    for policy in Policy::ALL {
        let check = Desc { name: "lint".to_owned(), explicit: vec!["in".to_owned()], ..Desc::default() };
        let mut bench = Bench::new(&[check, Desc::new("out", &["lint"]).policy(policy)]);
        bench.disk.write("in", b"one");
        bench.build("lint", "");
        bench.build("out", "1");
        assert_eq!(bench.stale(), [""; 0], "{policy:?}");
        bench.build("lint", "");
        let expected =
            if policy == Policy::Newer { "out: input-newer lint" } else { "out: input-changed lint" };
        assert_eq!(bench.stale(), [expected], "{policy:?}");
    }
}
