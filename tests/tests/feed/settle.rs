//! What a question leaves to be done later, and what it can know when that is done.

use crate::World;
use std::fs;
use upcheck::Plan;
use upcheck::collect::{UnixDisk, collect};
use upcheck_watch::{Changes, WatchedDisk};

fn names(n: usize) -> Vec<String> {
    (0..n).map(|n| format!("d{}/f{n}", n % 7)).collect()
}

fn world(names: &[String]) -> (World, UnixDisk) {
    let world = World::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    names.iter().for_each(|name| world.space.write(name, "1"));
    let disk = UnixDisk::new(&world.base).expect("the base");
    (world, disk)
}

/// Looks without remembering anything. For how many names the answers were remembered; `None` if any was asked for.
fn only_ask(world: &World, disk: &UnixDisk) -> Option<u64> {
    let plan = Plan::new(&world.files, world.files.ids());
    let watched = WatchedDisk::only_asking(disk, &world.memory);
    let (seen, plain) = (collect(&watched, &plan, 1), collect(disk, &plan, 1));
    for file in world.files.ids() {
        assert_eq!(seen.stat(file), plain.stat(file));
    }
    watched.remembered()
}

#[test]
fn who_only_asks_watches_nothing_and_remembers_nothing() {
    let (world, disk) = world(&names(50));
    for _ in 0..3 {
        assert_eq!(only_ask(&world, &disk), None);
    }
    assert_eq!(world.feed.counters().files, 0);
    assert_eq!(world.memory.n_unsettled(), 0);
    assert_eq!(world.settle(), 0);
    assert_eq!(only_ask(&world, &disk), Some(50));
    world.space.write("d0/f0", "22");
    for _ in 0..3 {
        assert_eq!(only_ask(&world, &disk), None);
    }
    assert_eq!(world.settle(), 0);
    assert_eq!(only_ask(&world, &disk), Some(50));
}

#[test]
fn a_question_proves_some_files_closed_and_the_rest_is_settled_step_by_step() {
    let (world, disk) = world(&names(2_500));
    world.look();
    assert_eq!(world.memory.n_unsettled(), 1_500);
    let mut left = 1_500;
    while left > 0 {
        let n = WatchedDisk::new(&disk, &world.memory).settle(400);
        assert!(n <= 400);
        // A child that another test has just begun may have one open for a moment.
        left -= n;
        assert_eq!(world.memory.n_unsettled(), left);
    }
    assert_eq!(WatchedDisk::new(&disk, &world.memory).settle(400), 0);
    assert_eq!(only_ask(&world, &disk), Some(2_500));
}

#[test]
fn paths_are_told_that_were_asked_for_and_no_others() {
    let (world, disk) = world(&names(20));
    assert_eq!(world.settle(), 0);
    let (_, token) = world.feed.since(None);
    world.space.write("d3/f3", "22");
    world.space.write("d3/unwanted", "22");
    world.space.remove("d5/f12");
    let Changes::Only(changed) = world.feed.since(Some(token)).0 else { panic!("no names") };
    let told = world.memory.paths_of(&changed, 10).expect("names");
    assert_eq!(told, [&b"d3/f3"[..], b"d5/f12"]);
    assert_eq!(world.memory.paths_of(&changed, 1), None, "too many");
    world.memory.refresh();
    assert!(!world.memory.is_known(b"d3/f3") && world.memory.is_known(b"d3/f10"));
    while WatchedDisk::new(&disk, &world.memory).settle(9) > 0 {}
    assert_eq!(only_ask(&world, &disk), Some(20));
    assert!(world.memory.is_known(b"d3/f3") && world.memory.is_known(b"d5/f12"));
}

#[test]
fn a_directory_that_was_replaced_may_have_changed_in_all_its_names() {
    let (world, _) = world(&names(20));
    assert_eq!(world.settle(), 0);
    let (_, token) = world.feed.since(None);
    fs::rename(world.full("d3"), world.full("old")).expect("a renaming");
    let Changes::Only(changed) = world.feed.since(Some(token)).0 else { panic!("no names") };
    assert_eq!(world.memory.paths_of(&changed, 1_000), None);
    world.memory.refresh();
    assert!(!world.memory.is_known(b"d3/f3") && !world.memory.is_known(b"d3/f10"));
}

#[test]
fn what_somebody_has_open_is_not_known() {
    let (world, disk) = world(&names(20));
    assert_eq!(world.settle(), 0);
    let open = fs::OpenOptions::new().append(true).open(world.full("d3/f3")).expect("a file");
    for _ in 0..3 {
        WatchedDisk::new(&disk, &world.memory).settle(100);
        assert!(!world.memory.is_known(b"d3/f3"));
        assert_eq!(only_ask(&world, &disk), None);
    }
    drop(open);
    assert_eq!(world.settle(), 0);
    assert!(world.memory.is_known(b"d3/f3"));
}

#[test]
fn when_answers_make_room_for_others_that_is_counted() {
    let (world, disk) = world(&names(40));
    assert_eq!(world.settle(), 0);
    assert_eq!(world.memory.n_dropped(), 0);
    // Ever other questions about the same directory; more than are remembered.
    for n in 0..80 {
        let name = |of: usize| format!("d0/f{}", of * 7);
        let files = crate::table(&[&name(0), &name(1 + n % 5), &name(n / 5 % 5)]);
        let only = format!("d0/other{n}");
        let files = if n % 2 == 0 { files } else { crate::table(&[&only, &name(0)]) };
        let plan = Plan::new(&files, files.ids());
        let _ = collect(&WatchedDisk::new(&disk, &world.memory), &plan, 1);
    }
    assert!(world.memory.n_dropped() > 0);
}
