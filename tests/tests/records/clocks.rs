//! Clocks that go back, or that are apart.

use crate::describe::{Desc, lines};
use crate::{Bench, S, with_input};
use upcheck::Policy;

#[test]
fn with_a_clock_that_went_back_a_new_discovered_input_may_be_younger_than_it_looks() {
    let mut desc = Desc::new("out", &["in"]);
    desc.depfile = "out.d".to_owned();
    let mut bench = Bench::new(&[desc]);
    bench.disk.write("in", b"one");
    bench.disk.write("h", b"one");
    bench.disk.tick();
    let running = bench.begin("out");
    bench.disk.write("out", b"made from one");
    bench.disk.write("out.d", b"out: in h\n");
    bench.disk.set_clock(500 * S);
    bench.disk.write("h", b"two");
    bench.disk.tick();
    assert!(!running.commit(&bench.disk));
    assert_eq!(bench.stale(), ["out: input-changed h"]);
}

#[test]
fn content_that_was_read_within_a_tick_is_read_again_where_the_clock_of_stamps_is_behind() {
    // As on a file server whose clock is an hour late.
    let mut bench = with_input(Policy::default());
    bench.disk.set_skew(-900 * S);
    bench.disk.set_granularity(S);
    assert!(bench.build("out", "1"));
    let mut process = bench.process();
    let store = bench.store();
    bench.disk.overwrite("in", b"one");
    assert_eq!(lines(&process.check(&bench.disk, &store)), [""; 0], "the content is the same");
    bench.disk.overwrite("in", b"two");
    assert_eq!(lines(&process.check(&bench.disk, &store)), ["out: input-changed in"]);
}
