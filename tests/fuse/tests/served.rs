//! The file system itself: that it is what tests take it for.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::MetadataExt;
use upcheck_fuse::{Asked, Habits, Mount, Names, Plus, Tree};

fn tree() -> Tree {
    let mut tree = Tree::new();
    for n in 0..100 {
        tree.write(format!("dir/f{n}"), b"text", 1_000_000_000 + n);
    }
    tree.link("link", "dir/f7");
    tree
}

#[test]
fn names_of_a_directory_come_with_attributes_if_it_is_read_first() {
    let Some(mount) = Mount::new(tree(), Habits::default()) else { return };
    let names: Vec<_> = fs::read_dir(mount.path().join("dir"))
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert_eq!(names.len(), 100);
    let listed = mount.take_counts();
    for name in &names {
        assert_eq!(fs::metadata(name).expect("a file").size(), 4);
    }
    assert_eq!(fs::metadata(&names[3]).expect("a file").mtime(), 1);
    let counts = mount.take_counts();
    assert_eq!(counts.of(Asked::Lookup) + counts.of(Asked::Attributes), 0, "{listed:?} {counts:?}");
    assert_eq!(fs::read(mount.path().join("link")).expect("a file"), b"text");
}

#[test]
fn without_attributes_each_file_is_asked_for() {
    let habits = Habits { plus: Plus::Never, ..Habits::default() };
    let Some(mount) = Mount::new(tree(), habits) else { return };
    for entry in fs::read_dir(mount.path().join("dir")).expect("a directory") {
        entry.expect("an entry").metadata().expect("a file");
    }
    let counts = mount.take_counts();
    assert_eq!(counts.of(Asked::Lookup), 101, "{counts:?}");
    assert_eq!(counts.of(Asked::NamesAndAttributes), 0, "{counts:?}");
}

#[test]
fn names_may_be_spelled_otherwise() {
    let habits = Habits { names: Names::AsWindows, ..Habits::default() };
    let mut tree = Tree::new();
    tree.write("Some Long Name.h", b"", 0);
    let Some(mount) = Mount::new(tree, habits) else { return };
    for name in ["Some Long Name.h", "some long name.H", "Some Long Name.h. .", "SOME L~1"] {
        assert!(mount.path().join(name).exists(), "{name}");
    }
    assert!(!mount.path().join("Some Other Name.h").exists());
}

#[test]
fn a_listing_may_fail_and_a_file_may_be_hidden() {
    let mut tree = tree();
    tree.hide("dir/f3");
    tree.fail_listing("dir", 50, 5);
    tree.fail_listing("", 0, 13);
    let Some(mount) = Mount::new(tree, Habits::default()) else { return };
    let denied = fs::read_dir(mount.path()).expect_err("no listing");
    assert_eq!(denied.raw_os_error(), Some(13));
    let entries: Vec<_> = fs::read_dir(mount.path().join("dir")).expect("a directory").collect();
    let failed = entries.last().expect("entries").as_ref().expect_err("it is cut short");
    assert_eq!(failed.raw_os_error(), Some(5));
    assert_eq!(entries.len(), 49);
    assert!(mount.path().join("dir/f3").exists());
}

#[test]
fn something_can_happen_between_two_requests() {
    let Some(mount) = Mount::new(tree(), Habits::default()) else { return };
    mount.change_after(Asked::Lookup, 2, |tree| tree.remove("dir/f1"));
    assert!(mount.path().join("dir/f0").exists());
    assert!(!mount.path().join("dir/f1").exists());
}
