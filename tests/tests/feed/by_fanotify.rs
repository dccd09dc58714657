//! The limit of fanotify, which needs the right to administer the system. All else of this suite is run by it in `fanotify.rs`.

use crate::World;
use std::fs::File;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;
use upcheck_watch::{Feed, Linux, Why};

#[test]
fn when_fanotify_could_not_keep_all_it_had_to_tell_everything_is_asked() {
    let Ok(fanotify) = Linux::fanotify() else {
        not_tested("fanotify: it is not permitted");
        return;
    };
    let world = World::by(Feed::new(fanotify), Space::new(), &["a", "d/a", "d/b"]);
    for path in ["a", "d/a", "d/b"] {
        world.space.write(path, "1");
    }
    assert_eq!(world.settle(), 0);
    let most = std::fs::read_to_string("/proc/sys/fs/fanotify/max_queued_events").expect("a limit");
    let most: u32 = most.trim().parse().expect("a number");
    // What happens to one name is told of once.
    for n in 0..most + 100 {
        File::create(world.full(&format!("d/unwanted-{n}"))).expect("a file");
    }
    world.space.write("d/a", "after the queue was full");
    let asked = world.look();
    assert_eq!((asked.of_disk, asked.forgotten), (3, 1));
    assert_eq!(world.memory.why(), Some(Why::Overflow));
    let counters = world.feed.counters();
    assert_eq!((counters.by, counters.overflows), ("fanotify", 1));
    assert_eq!(world.settle(), 0);
    world.space.write("d/a", "22");
    assert_eq!(world.asked(), 1);
}
