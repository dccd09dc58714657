//! How much a file system far away is asked, and how much of that at once.
#![cfg(target_os = "linux")]

use upcheck::collect::{Disk, PortableDisk, UnixDisk, collect};
use upcheck::{FileTable, Plan, Snapshot, Stat};
use upcheck_fuse::{Asked, Counts, Habits, Mount, Plus, Tree};

/// So many directories with so many files each, all of them wanted.
fn tree(directories: usize, files: usize) -> (Tree, FileTable) {
    let (mut tree, mut table) = (Tree::new(), FileTable::default());
    for n in 0..directories * files {
        let path = format!("src/d{}/file{}.c", n / files, n % files);
        tree.write(&path, b"text", 1_000_000_000 * n as i64);
        table.intern(path.as_bytes());
    }
    (tree, table)
}

fn look(disk: &dyn Disk, files: &FileTable, threads: usize) -> Snapshot {
    collect(disk, &Plan::new(files, files.ids()), threads)
}

fn unix(mount: &Mount) -> UnixDisk {
    UnixDisk::new(mount.path()).expect("a directory")
}

/// What was found, and how much was asked for that.
fn ask(mount: &Mount, files: &FileTable, threads: usize) -> (Snapshot, Counts) {
    mount.take_counts();
    let found = look(&unix(mount), files, threads);
    (found, mount.take_counts())
}

/// The portable collector, which asks for one file after another, says the same.
fn agree(mount: &Mount, files: &FileTable, found: &Snapshot) {
    let portable = look(&PortableDisk::new(mount.path()).expect("a directory"), files, 1);
    for file in files.ids() {
        assert_eq!(found.stat(file), portable.stat(file), "{}", files.path(file).escape_ascii());
    }
}

#[test]
fn of_many_files_in_a_directory_none_is_asked_for_alone() {
    let (tree, files) = tree(200, 100);
    let Some(mount) = Mount::new(tree, Habits::default()) else { return };
    let (found, counts) = ask(&mount, &files, 0);
    assert!(files.ids().all(|file| matches!(found.stat(file), Stat::Present(_))));
    assert!(counts.all() <= 200 * 6 + 4, "{counts:?}");
    agree(&mount, &files, &found);
}

#[test]
fn where_names_come_without_attributes_many_are_asked_for_at_once() {
    let (tree, files) = tree(200, 20);
    let habits = Habits { plus: Plus::Never, ..Habits::default() };
    let Some(mount) = Mount::new(tree, habits) else { return };
    let (found, counts) = ask(&mount, &files, 0);
    assert!(counts.of(Asked::Lookup) >= 4_000, "{counts:?}");
    assert!(counts.at_once >= 16, "{counts:?}");
    agree(&mount, &files, &found);
}
