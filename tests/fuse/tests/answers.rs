//! What is listed first is answered as it would be one by one, whatever the habits of who serves it.
#![cfg(target_os = "linux")]

mod look;

use look::{agree, difference, look, table, unix};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::time::Duration;
use upcheck::{Meta, Snapshot, Stat};
use upcheck_fuse::{Asked, Habits, Mount, Names, Plus, Tree};

/// Long enough to be taken for a request, and no longer than tests have to wait for it.
const LATE: Duration = Duration::from_micros(100);

fn late() -> Habits {
    Habits { latency: LATE, ..Habits::default() }
}

/// Looks as a disk does whose listings are believed, or not, with one thread.
fn look_at(mount: &Mount, paths: &[&str], believes: bool) -> Snapshot {
    let files = table(&bytes(paths));
    let disk = unix(mount.path());
    let disk = if believes { disk.believing() } else { disk };
    let found = look(&disk, &files, 1);
    drop(disk);
    agree(mount, &files, &found);
    found
}

fn bytes(paths: &[&str]) -> Vec<Vec<u8>> {
    paths.iter().map(|path| path.as_bytes().to_vec()).collect()
}

fn stats(snapshot: &Snapshot, paths: &[&str]) -> Vec<Stat> {
    let files = table(&bytes(paths));
    files.ids().map(|file| snapshot.stat(file)).collect()
}

fn is_present(stat: &Stat) -> bool {
    matches!(stat, Stat::Present(_))
}

/// A directory that has these names, and eight more that are wanted before any other.
fn tree(names: &[&str]) -> Tree {
    let mut tree = Tree::new();
    for (name, n) in
        (0..8).map(|n| format!("d/ a{n}")).chain(names.iter().map(|name| format!("d/{name}"))).zip(1..)
    {
        tree.write(name, b"", n);
    }
    tree
}

/// The names in the directory of [`tree`], after those that it has anyway.
fn wanted<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let first = ["d/ a0", "d/ a1", "d/ a2", "d/ a3", "d/ a4", "d/ a5", "d/ a6", "d/ a7"];
    first.into_iter().chain(names.iter().copied()).collect()
}

#[test]
fn a_name_that_is_spelled_otherwise_is_found_where_case_does_not_matter() {
    for believes in [false, true] {
        let habits = Habits { names: Names::FoldCase, ..late() };
        let Some(mount) = Mount::new(tree(&["Main.c", "util.h", "README"]), habits) else { return };
        let paths = wanted(&["d/main.c", "d/UTIL.h", "d/README", "d/ReadMe", "d/other.c"]);
        let found = stats(&look_at(&mount, &paths, believes), &paths);
        assert!(found[8..12].iter().all(is_present), "{found:?}");
        assert_eq!(found[12], Stat::Missing);
    }
}

#[test]
fn a_name_is_found_by_what_windows_takes_for_the_same() {
    for believes in [false, true] {
        let habits = Habits { names: Names::AsWindows, ..late() };
        let Some(mount) = Mount::new(tree(&["Some Long Name.h", "end"]), habits) else { return };
        let paths = wanted(&["d/SOME L~1", "d/end.", "d/end ", "d/END. .", "d/none~1.h", "d/other."]);
        let found = stats(&look_at(&mount, &paths, believes), &paths);
        assert!(found[8..12].iter().all(is_present), "{found:?}");
        assert_eq!(found[12..], [Stat::Missing; 2]);
    }
}

#[test]
fn where_a_name_beyond_ascii_is_listed_what_is_not_listed_is_asked_for() {
    // A Kelvin sign folds to k; so does a server that knows Unicode.
    for (listed, asked_for) in [("plain", 0), ("\u{212a}", 1)] {
        let Some(mount) = Mount::new(tree(&[listed]), late()) else { return };
        mount.take_counts();
        let paths = wanted(&["d/k", "d/plain"]);
        let files = table(&bytes(&paths));
        let disk = unix(mount.path()).believing();
        let found = look(&disk, &files, 1);
        drop(disk);
        let counts = mount.take_counts();
        let singly = if listed == "plain" { 0 } else { 1 };
        assert_eq!(counts.of(Asked::Lookup), 2 + asked_for + singly, "{counts:?}");
        agree(&mount, &files, &found);
    }
}

#[test]
fn a_file_that_is_in_no_listing_is_found() {
    let mut tree = tree(&["hidden", "seen"]);
    tree.hide("d/hidden");
    let Some(mount) = Mount::new(tree, late()) else { return };
    let paths = wanted(&["d/hidden", "d/seen", "d/none"]);
    let found = stats(&look_at(&mount, &paths, false), &paths);
    assert!(is_present(&found[8]) && is_present(&found[9]), "{found:?}");
    assert_eq!(found[10], Stat::Missing);
}

#[test]
fn what_a_server_keeps_behind_a_dot_is_found_although_it_never_lists_it() {
    let mut tree = tree(&["seen", ".snapshot/file"]);
    tree.hide("d/.snapshot");
    let Some(mount) = Mount::new(tree, late()) else { return };
    let paths = wanted(&["d/.snapshot", "d/seen", "d/.none"]);
    let found = stats(&look_at(&mount, &paths, true), &paths);
    assert!(is_present(&found[8]) && is_present(&found[9]), "{found:?}");
    assert_eq!(found[10], Stat::Missing);
}

#[test]
fn where_a_directory_cannot_be_listed_each_name_is_asked_for() {
    for believes in [false, true] {
        // EACCES at once; EIO at once, and after some names.
        for (names, errno) in [(0, 13), (0, 5), (1, 5), (6, 5), (11, 5)] {
            let mut tree = tree(&["x", "y", "z"]);
            tree.fail_listing("d", names, errno);
            let Some(mount) = Mount::new(tree, late()) else { return };
            let paths = wanted(&["d/x", "d/none", "d/y", "d/z"]);
            let found = stats(&look_at(&mount, &paths, believes), &paths);
            assert!([8, 10, 11].iter().all(|&at| is_present(&found[at])), "{names} {errno}: {found:?}");
            assert_eq!(found[9], Stat::Missing);
        }
    }
}

#[test]
fn a_listing_that_never_ends_is_left_off() {
    for believes in [false, true] {
        let mut tree = tree(&["x"]);
        tree.make_endless("d");
        let Some(mount) = Mount::new(tree, late()) else { return };
        let paths = wanted(&["d/x", "d/none"]);
        let found = stats(&look_at(&mount, &paths, believes), &paths);
        assert!(found[..9].iter().all(is_present), "{found:?}");
        assert_eq!(found[9], Stat::Missing);
    }
}

#[test]
fn a_directory_that_may_be_searched_but_not_read_is_asked_name_by_name() {
    let mut tree = tree(&["x"]);
    tree.set_mode("d", 0o711);
    tree.set_mode("d/x", 0);
    let Some(mount) = Mount::new(tree, Habits { asks_kernel: true, ..late() }) else { return };
    let paths = wanted(&["d/x", "d/none"]);
    assert!(is_present(&stats(&look_at(&mount, &paths, true), &paths)[8]));
}

#[test]
fn links_are_followed_and_may_lead_anywhere() {
    for believes in [false, true] {
        let mut tree = tree(&["file"]);
        tree.link("d/link", "file");
        tree.link("d/up", "../other/file");
        tree.link("d/dangling", "nowhere");
        tree.link("d/loop", "loop");
        tree.link("d/out", "/proc/self/stat");
        tree.link("e", "d");
        tree.write("other/file", b"12", 77);
        let Some(mount) = Mount::new(tree, late()) else { return };
        let names = ["link", "up", "dangling", "loop", "out", "dangling/x", "link/x"];
        let paths: Vec<_> = ["d", "e"].iter().flat_map(|d| names.map(|name| format!("{d}/{name}"))).collect();
        let mut all: Vec<&str> = paths.iter().map(String::as_str).collect();
        let more: Vec<_> = (0..8).map(|n| format!("e/ a{n}")).collect();
        all.extend(more.iter().map(String::as_str));
        all.extend(wanted(&[]));
        // What /proc tells of itself changes; its device is what counts here.
        let files = table(&bytes(&all));
        let disk = unix(mount.path());
        let found = look(&if believes { disk.believing() } else { disk }, &files, 1);
        let found: Vec<_> = files.ids().map(|file| found.stat(file)).collect();
        for at in [0, 7] {
            assert!(is_present(&found[at]) && is_present(&found[at + 4]), "{found:?}");
            assert!(matches!(found[at + 1], Stat::Present(Meta { mtime: 77, size: 2, .. })), "{found:?}");
            assert_eq!(found[at + 2], Stat::Missing);
            assert!(matches!(found[at + 3], Stat::Unreadable(_)), "{found:?}");
            assert_eq!(found[at + 5..at + 7], [Stat::Missing; 2]);
        }
        assert!(found[14..].iter().all(is_present), "{found:?}");
    }
}

#[test]
fn a_file_that_is_made_or_removed_between_the_listing_and_the_questions_is_as_it_was_or_as_it_is() {
    for believes in [false, true] {
        for removes in [false, true] {
            let Some(mount) = Mount::new(tree(&["goes", "stays"]), late()) else { return };
            // After the last buffer, and before any name that was not in it is asked for.
            mount.change_after(Asked::NamesAndAttributes, 2, move |tree| match removes {
                true => tree.remove("d/goes"),
                false => tree.write("d/comes", b"", 99),
            });
            let paths = wanted(&["d/comes", "d/goes", "d/stays", "d/none"]);
            let files = table(&bytes(&paths));
            let disk = unix(mount.path());
            let found = look(&if believes { disk.believing() } else { disk }, &files, 1);
            let found: Vec<_> = files.ids().map(|file| found.stat(file)).collect();
            // The system believes for a while that what it was told is so, and so does everybody who asks it.
            let comes = if removes || believes { Stat::Missing } else { found[8] };
            assert_eq!(found[8], comes);
            assert_eq!(is_present(&found[8]), !removes && !believes, "{found:?}");
            assert!(is_present(&found[9]) && is_present(&found[10]), "{found:?}");
            assert_eq!(found[11], Stat::Missing);
        }
    }
}

#[test]
fn a_name_that_was_passed_over_because_the_directory_changed_is_asked_for() {
    // More names than come with one answer. While they are told, one is made that would have been among the first.
    let mut tree = Tree::new();
    let mut paths: Vec<_> = (0..3_000).map(|n| format!("d/f{n}")).collect();
    paths.iter().zip(0..).for_each(|(path, n)| tree.write(path, b"", n));
    paths.extend(["d/a".to_owned(), "d/none".to_owned()]);
    let Some(mount) = Mount::new(tree, Habits { kept: Duration::ZERO, ..late() }) else { return };
    mount.change_after(Asked::NamesAndAttributes, 1, |tree| {
        tree.write("d/a", b"", 5);
        tree.set_mtime("d", 5);
    });
    let files = table(&paths.into_iter().map(String::into_bytes).collect::<Vec<_>>());
    let found = look(&unix(mount.path()).believing(), &files, 1);
    assert!(files.ids().take(3_001).all(|file| is_present(&found.stat(file))));
    assert_eq!(found.counts().listings, 1);
    agree(&mount, &files, &found);
}

// ---- random trees ---------------------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Node {
    File(i64),
    Directory,
    Link(String),
}

#[derive(Clone, Debug)]
struct Case {
    nodes: Vec<(String, Node)>,
    wanted: Vec<String>,
    habits: Habits,
    believes: bool,
    fails: Option<(String, usize)>,
    threads: usize,
}

fn any_path() -> impl Strategy<Value = String> {
    let names = vec!["a", "b", "B", "c", "C.h", "d e", "f.", "g~1", "\u{e4}", "..", "a:b", "x\\y"];
    prop::collection::vec(prop::sample::select(names), 1..4).prop_map(|names| names.join("/"))
}

fn any_case() -> impl Strategy<Value = Case> {
    let node = prop_oneof![
        4 => (0..1_000_000_000_000_i64).prop_map(Node::File),
        2 => Just(Node::Directory),
        2 => any_path().prop_map(Node::Link),
    ];
    let habits = (
        prop::sample::select(vec![Plus::Never, Plus::Sometimes, Plus::Always]),
        prop::sample::select(vec![Names::Exact, Names::FoldCase, Names::AsWindows]),
        prop::sample::select(vec![0, 3600]),
        any::<bool>(),
        any::<bool>(),
    );
    let habits = habits.prop_map(|(plus, names, kept, keeps_missing, asks_at_once)| Habits {
        plus,
        names,
        kept: Duration::from_secs(kept),
        keeps_missing,
        asks_at_once,
        latency: Duration::from_micros(40),
        ..Habits::default()
    });
    let nodes = prop::collection::vec((any_path(), node), 0..40);
    let wanted = prop::collection::vec(any_path(), 0..60);
    let fails = prop::option::weighted(0.2, (any_path(), 0..6_usize));
    (nodes, wanted, habits, any::<bool>(), fails, 0..4_usize).prop_map(
        |(nodes, wanted, habits, believes, fails, threads)| Case {
            nodes,
            wanted,
            habits,
            believes,
            fails,
            threads,
        },
    )
}

/// Deep enough for nobody else to touch what `..` names.
const BASE: &str = "one/two/three/base";

fn plant(case: &Case) -> Tree {
    let mut tree = Tree::new();
    tree.directory(BASE);
    for (path, node) in &case.nodes {
        if path.split('/').any(|part| part == "..") {
            continue;
        }
        let path = format!("{BASE}/{path}");
        match node {
            Node::File(mtime) => tree.write(&path, path.as_bytes(), *mtime),
            Node::Directory => tree.directory(path),
            Node::Link(to) => tree.link(path, to),
        }
    }
    if let Some((path, names)) = &case.fails {
        tree.fail_listing(format!("{BASE}/{path}"), *names, 5);
    }
    tree
}

#[test]
fn random_trees_with_random_habits_are_answered_as_one_by_one() {
    let cases: u32 = match std::env::var("UPCHECK_CASES") {
        Ok(text) => text.parse().expect("UPCHECK_CASES is a number"),
        Err(_) => 40,
    };
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 500, ..Config::default() };
    let listings = std::cell::Cell::new(0);
    let result = TestRunner::new(config).run(&any_case(), |case| {
        let Some(mount) = Mount::new(plant(&case), case.habits) else { return Ok(()) };
        let mut wanted: Vec<_> =
            case.wanted.iter().chain(case.nodes.iter().map(|(path, _)| path)).cloned().collect();
        // Enough names in each directory for it to be listed.
        for path in wanted.clone() {
            wanted.extend((0..10).map(|n| format!("{path}/f{n}")));
        }
        let files = table(&wanted.into_iter().map(String::into_bytes).collect::<Vec<_>>());
        let base = mount.path().join(BASE);
        let disk = unix(&base);
        let disk = if case.believes { disk.believing() } else { disk };
        let found = look(&disk, &files, case.threads);
        drop(disk);
        listings.set(listings.get() + found.counts().listings);
        prop_assert_eq!(difference(&base, &files, &found), None);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    // Where nothing can be mounted, nothing was listed.
    let can_mount = Mount::new(Tree::new(), Habits::default()).is_some();
    assert!(!can_mount || listings.get() > u64::from(cases), "{}", listings.get());
}
