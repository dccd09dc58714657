//! What happens to files by their names: made, removed, renamed, replaced, written to, touched.

use crate::World;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;
use upcheck::collect::{Disk, UnixDisk, collect};
use upcheck::{IoCounts, Meta, Plan, Stat, Visit};
use upcheck_watch::WatchedDisk;

fn world() -> World {
    let world = World::new(&["a", "b", "d/a", "d/b", "d/e/a", "missing", "d/missing", "nowhere/a"]);
    for path in ["a", "b", "d/a", "d/b", "d/e/a"] {
        world.space.write(path, "0");
    }
    assert_eq!(world.settle(), 0, "all is remembered");
    world
}

#[test]
fn without_a_change_nothing_is_asked() {
    let world = world();
    let asked = world.look();
    assert_eq!((asked.of_disk, asked.remembered), (0, 8));
}

#[test]
fn only_what_changed_is_asked() {
    let world = world();
    world.space.write("d/a", "1");
    assert_eq!(world.asked(), 1);
    assert_eq!(world.asked(), 0);
}

#[test]
fn an_unwanted_file_beside_those_that_are_wanted_costs_nothing() {
    let world = world();
    world.space.write("d/other", "1");
    world.space.remove("d/other");
    world.space.write("d/e/other", "1");
    assert_eq!(world.asked(), 0);
}

#[test]
fn each_change_of_a_file_is_seen() {
    type Change = fn(&World);
    let changes: [(&str, Change); 12] = [
        ("written to", |w| w.space.write("a", "longer")),
        ("appended to", |w| {
            use std::io::Write;
            let mut file = fs::OpenOptions::new().append(true).open(w.full("a")).expect("a file");
            file.write_all(b"x").expect("a write");
        }),
        ("truncated", |w| {
            fs::OpenOptions::new().write(true).open(w.full("a")).and_then(|f| f.set_len(9)).expect("a size");
        }),
        ("touched back in time", |w| w.space.set_mtime("a", 5)),
        ("touched before 1970", |w| w.space.set_mtime("a", -5)),
        ("given other permissions", |w| {
            fs::set_permissions(w.full("a"), fs::Permissions::from_mode(0o600)).expect("permissions");
        }),
        ("removed", |w| fs::remove_file(w.full("a")).expect("a removal")),
        ("removed and made again", |w| {
            fs::remove_file(w.full("a")).expect("a removal");
            w.space.write("a", "0");
        }),
        ("renamed over", |w| fs::rename(w.full("b"), w.full("a")).expect("a renaming")),
        ("renamed", |w| fs::rename(w.full("a"), w.full("d/missing")).expect("a renaming")),
        ("replaced by a directory", |w| {
            fs::remove_file(w.full("a")).expect("a removal");
            fs::create_dir(w.full("a")).expect("a directory");
        }),
        ("replaced by a link", |w| {
            fs::remove_file(w.full("a")).expect("a removal");
            crate::link("b", &w.full("a"));
        }),
    ];
    for (what, change) in changes {
        let world = world();
        let before = world.stat("a");
        change(&world);
        assert_ne!(world.stat("a"), before, "{what}");
        assert!(world.asked() >= 1, "{what}");
    }
}

#[test]
fn what_was_missing_is_seen_when_it_appears() {
    let world = world();
    world.space.write("d/missing", "1");
    assert_eq!(world.asked(), 1);
    world.space.write("missing", "1");
    assert_eq!(world.asked(), 1);
    world.space.write("nowhere/a", "1");
    assert_eq!(world.asked(), 1);
    assert_eq!(world.settle(), 0);
}

#[test]
fn a_file_that_appears_after_its_directory_did_is_seen() {
    let world = world();
    fs::create_dir(world.full("nowhere")).expect("a directory");
    world.asked();
    world.space.write("nowhere/a", "1");
    assert_eq!(world.asked(), 1);
}

#[test]
fn a_file_with_a_name_elsewhere_is_seen_to_change_by_that_name() {
    let world = world();
    let other = upcheck_tests::space::Space::new();
    let name = other.path().join("name");
    // First the file has another name, which changes its status; then it is written to by that name; then it has one again.
    fs::hard_link(world.full("d/a"), &name).expect("a hard link");
    assert_eq!(world.asked(), 1);
    assert_eq!(world.asked(), 0);
    fs::write(&name, "by the other name").expect("a write");
    assert_eq!(world.asked(), 1);
    fs::remove_file(&name).expect("a removal");
    assert_eq!(world.asked(), 1);
    assert_eq!(world.asked(), 0);
}

#[test]
fn of_two_wanted_names_of_one_file_both_are_seen_to_change() {
    let world = world();
    fs::remove_file(world.full("b")).expect("a removal");
    fs::hard_link(world.full("a"), world.full("b")).expect("a hard link");
    world.settle();
    world.space.write("a", "1");
    assert!(world.asked() >= 2);
    world.space.write("b", "2");
    assert!(world.asked() >= 2);
    fs::remove_file(world.full("a")).expect("a removal");
    world.asked();
    world.space.write("b", "3");
    assert!(world.asked() >= 1);
}

#[test]
fn two_sets_of_names_in_one_directory_are_both_remembered() {
    let world = world();
    let mut other = crate::table(&["a", "missing"]);
    let mut world = world;
    for _ in 0..2 {
        std::mem::swap(&mut world.files, &mut other);
        world.settle();
    }
    for _ in 0..4 {
        std::mem::swap(&mut world.files, &mut other);
        assert_eq!(world.asked(), 0);
    }
    world.space.write("a", "1");
    for _ in 0..2 {
        std::mem::swap(&mut world.files, &mut other);
        assert_eq!(world.asked(), 1);
    }
}

#[test]
fn what_is_no_plain_file_is_asked_each_time() {
    let world = World::new(&["link", "nowhere", "directory", "pipe", "file"]);
    world.space.write("elsewhere/target", "1");
    world.space.write("file", "1");
    fs::create_dir(world.full("directory")).expect("a directory");
    crate::link("elsewhere/target", &world.full("link"));
    crate::link("elsewhere/none", &world.full("nowhere"));
    let pipe = std::process::Command::new("mkfifo").arg(world.full("pipe")).status();
    assert!(pipe.expect("mkfifo").success());
    assert_eq!(world.settle(), 4);
    world.space.write("elsewhere/target", "22");
    world.space.write("elsewhere/none", "22");
    world.space.write("directory/new", "22");
    assert_eq!(world.asked(), 4);
}

#[test]
fn each_collection_begins_anew_even_with_one_disk() {
    let world = world();
    let disk = UnixDisk::new(&world.base).expect("the base");
    let watched = WatchedDisk::new(&disk, &world.memory);
    let plan = Plan::new(&world.files, world.files.ids());
    for text in ["1", "22", "333"] {
        world.space.write("d/a", text);
        let (ours, theirs) = (collect(&watched, &plan, 1), collect(&disk, &plan, 1));
        for file in world.files.ids() {
            assert_eq!(ours.stat(file), theirs.stat(file), "{}", world.files.path(file).escape_ascii());
        }
    }
}

/// A disk that does something once, when it is asked for `b`.
struct Meddled<'a> {
    disk: UnixDisk,
    then: Mutex<Option<Box<dyn FnOnce() + Send + 'a>>>,
}

impl Disk for Meddled<'_> {
    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        self.disk.visit(visit, stats, counts)
    }

    fn stat(&self, path: &[u8]) -> Stat {
        let then = if path == b"b" { self.then.lock().expect("no panic").take() } else { None };
        if let Some(then) = then {
            then();
        }
        self.disk.stat(path)
    }

    fn read_stamped(&self, path: &[u8]) -> std::io::Result<(Vec<u8>, Meta)> {
        self.disk.read_stamped(path)
    }
}

#[test]
fn what_a_question_remembers_late_is_not_what_another_one_was_told_had_changed() {
    let world = World::new(&["a", "b"]);
    let write = |text: &str| ["a", "b"].iter().for_each(|name| world.space.write(name, text));
    write("1");
    assert_eq!(world.settle(), 0);
    write("22");
    // The first question has asked for one of two files, and has put nothing back yet. Then this file changes, and a second
    // question is told of that, asks, and remembers. Then the first one remembers as well.
    let second = || {
        world.space.write("a", "333");
        world.look();
    };
    let disk = UnixDisk::new(&world.base).expect("the base");
    let disk = Meddled { disk, then: Mutex::new(Some(Box::new(second))) };
    let plan = Plan::new(&world.files, world.files.ids());
    let _ = collect(&WatchedDisk::new(&disk, &world.memory), &plan, 1);
    assert!(disk.then.lock().expect("no panic").is_none(), "it happened");
    world.look();
    assert_eq!(world.settle(), 0);
}
