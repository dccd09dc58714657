//! How much a file system far away is asked, and how much of that at once.
#![cfg(target_os = "linux")]

mod look;

use look::{agree, ask, look, table, unix};
use std::time::Duration;
use upcheck::{FileTable, Stat};
use upcheck_fuse::{Asked, Habits, Mount, Plus, Tree};
use upcheck_tests::space::Space;

/// So many directories with so many files each, all of them wanted.
fn tree(directories: usize, files: usize) -> (Tree, FileTable) {
    let mut tree = Tree::new();
    let paths: Vec<_> = (0..directories * files)
        .map(|n| format!("src/d{}/file{}.c", n / files, n % files).into_bytes())
        .collect();
    for (path, n) in paths.iter().zip(0..) {
        tree.write(path, b"text", 1_000_000_000 * n);
    }
    (tree, table(&paths))
}

/// As many threads may wait at once; there is one for each core in any case.
fn most() -> u64 {
    std::thread::available_parallelism().map_or(32, |cores| cores.get().max(32) as u64)
}

#[test]
fn of_many_files_in_a_directory_none_is_asked_for_alone() {
    for threads in [0, 1] {
        let (tree, files) = tree(200, 100);
        let Some(mount) = Mount::new(tree, Habits::default()) else { return };
        let (found, counts) = ask(&mount, &files, threads);
        assert!(files.ids().all(|file| matches!(found.stat(file), Stat::Present(_))));
        // The directory, its first file, and four to list it; and a few for what lies above, and what the disk is.
        assert!(counts.all() <= 200 * 6 + 8, "{counts:?}");
        assert!(counts.of(Asked::Lookup) <= 200 * 2 + 4, "{counts:?}");
        assert_eq!(counts.of(Asked::Attributes), 0, "{counts:?}");
        assert_eq!((found.counts().listings, found.counts().stats), (200, 20_000));
        agree(&mount, &files, &found);
    }
}

#[test]
fn more_than_thirty_requests_are_under_way_at_once() {
    for plus in [Plus::Never, Plus::Sometimes, Plus::Always] {
        let (tree, files) = tree(64, 100);
        let Some(mount) = Mount::new(tree, Habits { plus, ..Habits::default() }) else { return };
        let disk = unix(mount.path());
        mount.take_counts();
        // The ways to the first files, and what they lie on.
        mount.hold(20, 32);
        let found = look(&disk, &files, 0);
        drop(disk);
        let counts = mount.take_counts();
        assert!((32..=most()).contains(&counts.at_once), "{plus:?}: {counts:?}");
        agree(&mount, &files, &found);
    }
}

#[test]
fn one_large_directory_is_asked_for_by_many_threads_too() {
    // Its names come alone; or none of them is there, which a listing of FUSE does not tell.
    for is_there in [true, false] {
        let (mut tree, files) = tree(1, 2_000);
        let plus = if is_there { Plus::Never } else { Plus::Sometimes };
        if !is_there {
            tree = Tree::new();
            tree.write("src/d0/other.c", b"", 0);
        }
        let Some(mount) = Mount::new(tree, Habits { plus, ..Habits::default() }) else { return };
        let others = table(&[b"src/d0/other.c".to_vec()]);
        look(&unix(mount.path()), &others, 1);
        let disk = unix(mount.path());
        mount.take_counts();
        // A thread that found nothing to take may not have ended yet, and has its share.
        mount.hold(40, 16);
        let found = look(&disk, &files, 0);
        drop(disk);
        let counts = mount.take_counts();
        assert!((16..=most()).contains(&counts.at_once), "{is_there}: {counts:?}");
        assert_eq!(found.counts().stats, 2_000);
        agree(&mount, &files, &found);
    }
}

#[test]
fn large_directories_share_what_may_wait() {
    let (tree, files) = tree(3, 1_000);
    let Some(mount) = Mount::new(tree, Habits { plus: Plus::Never, ..Habits::default() }) else { return };
    // On a busy machine the first answers might come before the last threads have begun.
    mount.hold(100, 8);
    let (found, counts) = ask(&mount, &files, 0);
    assert!((8..=most()).contains(&counts.at_once), "{counts:?}");
    agree(&mount, &files, &found);
    let (again, counts) = ask(&mount, &files, 0);
    assert!(files.ids().all(|file| again.stat(file) == found.stat(file)), "{counts:?}");
}

#[test]
fn as_many_threads_as_were_asked_for_and_no_more_wait() {
    for (threads, directories) in [(1, 8), (3, 12), (4, 1)] {
        let (tree, files) = tree(directories, 100);
        let Some(mount) = Mount::new(tree, Habits { plus: Plus::Never, ..Habits::default() }) else { return };
        let (found, counts) = ask(&mount, &files, threads);
        assert!(counts.at_once <= threads as u64, "{threads} threads: {counts:?}");
        agree(&mount, &files, &found);
    }
}

#[test]
fn what_is_far_away_may_be_anywhere() {
    let (tree, files) = tree(64, 100);
    let Some(mount) = Mount::new(tree, Habits::default()) else { return };
    // The base is near, and so are most files.
    let space = Space::new();
    let mut paths: Vec<_> = (0..2_000).map(|n| format!("d{}/f{n}", n / 100).into_bytes()).collect();
    for path in &paths {
        space.write(std::str::from_utf8(path).expect("text"), "");
    }
    let base = mount.path().to_str().expect("text").to_owned();
    let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    paths.extend(files.ids().map(|file| format!("{base}/{}", text(files.path(file))).into_bytes()));
    let files = table(&paths);
    mount.take_counts();
    mount.hold(30, 24);
    let found = look(&unix(space.path()), &files, 0);
    let counts = mount.take_counts();
    assert!(counts.at_once >= 24, "{counts:?}");
    assert!(counts.all() <= 64 * 6 + 16, "{counts:?}");
    assert!(files.ids().all(|file| matches!(found.stat(file), Stat::Present(_))));
    assert_eq!(found.counts().listings, 64);
}

#[test]
fn what_the_system_knows_already_is_asked_for_neither_alone_nor_by_a_listing() {
    let (tree, files) = tree(20, 100);
    let Some(mount) = Mount::new(tree, Habits::default()) else { return };
    let (first, _) = ask(&mount, &files, 1);
    let listings = (0..10).map(|_| {
        let (again, counts) = ask(&mount, &files, 1);
        assert!(files.ids().all(|file| first.stat(file) == again.stat(file)));
        assert_eq!(counts.of(Asked::Lookup) + counts.of(Asked::Attributes), 0, "{counts:?}");
        again.counts().listings
    });
    // A question that was interrupted looks like a request: on a busy machine some are, but not each time.
    let least = listings.min();
    assert!(least <= Some(2), "{least:?}");
}

#[test]
fn a_listing_that_makes_nothing_faster_is_not_made_again() {
    for habits in [
        Habits { plus: Plus::Never, ..Habits::default() },
        Habits { kept: Duration::ZERO, ..Habits::default() },
    ] {
        let (tree, files) = tree(10, 100);
        let Some(mount) = Mount::new(tree, habits) else { return };
        let (found, counts) = ask(&mount, &files, 1);
        assert_eq!(found.counts().listings, 1, "{counts:?}");
        assert_eq!(counts.of(Asked::OpenDirectory), 1, "{counts:?}");
        agree(&mount, &files, &found);
    }
}

#[test]
fn few_names_in_a_large_directory_are_asked_for_alone() {
    let mut tree = Tree::new();
    for n in 0..60_000 {
        tree.write(format!("large/file{n}"), b"", n);
    }
    for (wanted, most) in [(3, 0), (6, 0), (12, 12)] {
        let Some(mount) = Mount::new(tree.clone(), Habits::default()) else { return };
        let paths: Vec<_> = (0..wanted).map(|n| format!("large/file{}", n * 5000).into_bytes()).collect();
        let files = table(&paths);
        let (found, counts) = ask(&mount, &files, 1);
        // All of it would be some 75.
        let listed = counts.of(Asked::Names) + counts.of(Asked::NamesAndAttributes);
        assert!(listed <= most, "{wanted} wanted: {counts:?}");
        assert!(counts.of(Asked::Lookup) <= wanted + 1, "{counts:?}");
        agree(&mount, &files, &found);
    }
}

#[test]
fn a_listing_that_takes_longer_than_it_may_is_left_off() {
    let (tree, files) = tree(1, 2_000);
    for plus in [Plus::Never, Plus::Always] {
        let Some(mount) = Mount::new(tree.clone(), Habits { plus, ..Habits::default() }) else { return };
        let disk = unix(mount.path()).with_patience(0);
        mount.take_counts();
        let found = look(&disk, &files, 1);
        drop(disk);
        let counts = mount.take_counts();
        assert_eq!(counts.of(Asked::Names) + counts.of(Asked::NamesAndAttributes), 1, "{plus:?}: {counts:?}");
        assert_eq!(found.counts().stats, 2_000);
        agree(&mount, &files, &found);
    }
}

#[test]
fn a_large_directory_of_which_all_is_wanted_is_listed_with_attributes_to_its_end() {
    for plus in [Plus::Sometimes, Plus::Always] {
        let (tree, files) = tree(1, 5_000);
        let Some(mount) = Mount::new(tree, Habits { plus, ..Habits::default() }) else { return };
        let (found, counts) = ask(&mount, &files, 1);
        assert!(counts.all() <= 60, "{plus:?}: {counts:?}");
        agree(&mount, &files, &found);
    }
}

#[test]
fn what_is_missing_is_asked_for_alone_unless_listings_are_believed() {
    let (tree, files) = tree(4, 100);
    let mut paths: Vec<_> = files.ids().map(|file| files.path(file).to_vec()).collect();
    paths.extend((0..400).map(|n| format!("src/d{}/other{n}.c", n / 100).into_bytes()));
    let files = table(&paths);
    for (believes, asked) in [(false, 400 + 9), (true, 9)] {
        let Some(mount) = Mount::new(tree.clone(), Habits::default()) else { return };
        let disk = unix(mount.path());
        let disk = if believes { disk.believing() } else { disk };
        mount.take_counts();
        let found = look(&disk, &files, 1);
        drop(disk);
        let counts = mount.take_counts();
        assert_eq!(counts.of(Asked::Lookup), asked, "{counts:?}");
        agree(&mount, &files, &found);
    }
}

#[test]
fn directories_in_which_all_is_missing_are_found_to_be_far_away() {
    let mut tree = Tree::new();
    tree.directory("a");
    tree.directory("b");
    let paths: Vec<_> = (0..80).map(|n| format!("{}/f{n}", ["a", "b"][n / 40]).into_bytes()).collect();
    let files = table(&paths);
    let Some(mount) = Mount::new(tree, Habits::default()) else { return };
    let disk = unix(mount.path()).believing();
    mount.take_counts();
    let found = look(&disk, &files, 1);
    drop(disk);
    let counts = mount.take_counts();
    // Two names of each, before there is anything to go by.
    assert_eq!(counts.of(Asked::Lookup), 2 + 2 * 2, "{counts:?}");
    assert!(files.ids().all(|file| found.stat(file) == Stat::Missing));
}
