//! Files that somebody has open and writes to in ways that nobody is told of.

use crate::command::spaces::{T, program};
use crate::{User, without_watched};
use upcheck_tests::writer::Writer;

#[test]
fn what_is_written_through_a_mapping_is_seen_however_long_the_file_was_open() {
    let (user, space) = (User::new(), program());
    space.write_at("a.c", [b'0'; 8192], T);
    let mut writer = Writer::new();
    let source = space.path().join("a.c");
    for order in [&format!("open {}", source.display()), "map", "close"] {
        writer.to(order);
    }
    user.run(&space, "watch start").answer(0);
    // What is open is asked for each time, and the rest is not.
    for _ in 0..3 {
        let (answer, _) = without_watched(&user.run(&space, "").answer(0));
        assert_eq!(answer, user.run(&space, "--no-watch").answer(0));
    }
    writer.to("store");
    let plain = user.run(&space, "--no-watch").answer(1);
    assert_eq!(without_watched(&user.run(&space, "").answer(1)).0, plain);
    writer.to("unmap");
    assert_eq!(without_watched(&user.run(&space, "").answer(1)).0, plain);
}
