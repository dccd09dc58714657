//! All collectors tell the same of any tree: the fast one equals the portable one, with any number of threads.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File, FileTimes};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use upcheck::collect::{Disk, MemoryDisk, PortableDisk, UnixDisk, collect};
use upcheck::{FileTable, How, Meta, Mtime, Plan, Snapshot, Stat, path};
use upcheck_tests::space::Space;

/// From this length on the system refuses a path.
const PATH_MAX: usize = 4096;

fn table(paths: &[Vec<u8>]) -> FileTable {
    let mut files = FileTable::default();
    for given in paths {
        let mut canonical = given.clone();
        path::canonicalize(&mut canonical);
        files.intern(&canonical);
    }
    files
}

fn look(disk: &dyn Disk, files: &FileTable, threads: usize) -> Snapshot {
    collect(disk, &Plan::new(files, files.ids()), threads)
}

fn unix(base: &Path) -> UnixDisk {
    UnixDisk::new(base).expect("a directory")
}

fn portable(base: &Path) -> PortableDisk {
    PortableDisk::new(base).expect("a directory")
}

/// The first path about which the collectors differ, with both answers.
fn difference(files: &FileTable, ours: &Snapshot, theirs: &Snapshot) -> Option<String> {
    let file = files.ids().find(|&file| ours.stat(file) != theirs.stat(file))?;
    let shown: String = files.path(file).escape_ascii().map(char::from).take(300).collect();
    Some(format!("{shown}: {:?}, but portable {:?}", ours.stat(file), theirs.stat(file)))
}

/// What every collector says of each path, whether its directory is opened or not.
fn agreed(base: &Path, paths: &[Vec<u8>]) -> Vec<Stat> {
    let n_files = table(paths).len();
    let answers = [paths.to_vec(), crowded(paths)].map(|paths| {
        let files = table(&paths);
        let (ours, theirs) = (look(&unix(base), &files, 1), look(&portable(base), &files, 1));
        assert_eq!(difference(&files, &ours, &theirs), None);
        files.ids().take(n_files).map(|file| ours.stat(file)).collect::<Vec<_>>()
    });
    assert_eq!(answers[0], answers[1]);
    let [alone, _] = answers;
    alone
}

/// With so many more names in each directory that it pays to open it.
fn crowded(paths: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let directories: BTreeSet<&[u8]> = paths.iter().map(|path| path::split(path).0).collect();
    let more = directories
        .into_iter()
        .filter(|directory| !directory.is_empty())
        .flat_map(|directory| (0..20).map(move |n| [directory, format!("/more{n}").as_bytes()].concat()));
    paths.iter().cloned().chain(more).collect()
}

fn mtime(stat: Stat) -> Option<Mtime> {
    match stat {
        Stat::Present(meta) => Some(meta.mtime),
        _ => None,
    }
}

fn os(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

// ---- random trees ---------------------------------------------------------------------------------------

/// What stands at a path.
#[derive(Clone, Debug)]
enum Node {
    File,
    Directory,
    /// A link to there: maybe to a directory, maybe to nowhere, maybe to itself.
    Link(Vec<u8>),
}

#[derive(Clone)]
struct Tree {
    nodes: Vec<(Vec<u8>, Node, SystemTime)>,
    wanted: Vec<Vec<u8>>,
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, node, _) in &self.nodes {
            match node {
                Node::File => writeln!(f, "{}", path.escape_ascii())?,
                Node::Directory => writeln!(f, "{}/", path.escape_ascii())?,
                Node::Link(to) => writeln!(f, "{} -> {}", path.escape_ascii(), to.escape_ascii())?,
            }
        }
        write!(f, "wanted:")?;
        self.wanted.iter().try_for_each(|path| write!(f, " {}", path.escape_ascii()))
    }
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => prop::sample::select(vec!["a", "b", "c", "dir", "sub"]).prop_map(|name| name.into()),
        1 => prop::sample::select(vec!["a b", "a-b", "line\nend", "\\", "...", "~", "-r"])
            .prop_map(|name| name.into()),
        1 => prop::sample::select(vec![vec![0xff], vec![b'a', 0xc3], vec![0x80, b'.', b'h']]),
        1 => prop::sample::select(vec![200, 255, 256, 1000]).prop_map(|length| vec![b'n'; length]),
    ]
}

fn any_path() -> impl Strategy<Value = Vec<u8>> {
    let below = prop::collection::vec(name(), 1..5).prop_map(|names| names.join(&b'/'));
    let odd = vec![".", "..", "../a", "../..", "/nowhere", "/nowhere/at/all"];
    prop_oneof![20 => below, 1 => prop::sample::select(odd).prop_map(|path| path.into())]
}

fn any_node() -> impl Strategy<Value = Node> {
    let link = prop_oneof![
        3 => any_path(),
        1 => prop::sample::select(vec!["..", "../..", "./a", "../dir", "a/../b"]).prop_map(|to| to.into()),
    ];
    prop_oneof![3 => Just(Node::File), 3 => Just(Node::Directory), 2 => link.prop_map(Node::Link)]
}

fn any_time() -> impl Strategy<Value = SystemTime> {
    let before = |ns| SystemTime::UNIX_EPOCH - Duration::from_nanos(ns);
    let after = |ns| SystemTime::UNIX_EPOCH + Duration::from_nanos(ns);
    let late = SystemTime::UNIX_EPOCH + Duration::new(10_000_000_000, 7);
    let odd = vec![before(1), before(1_000_000_001), before(86_400_000_000_000), after(0), after(1), late];
    prop_oneof![
        3 => (0..4_000_000_000_000_000_000u64).prop_map(after),
        1 => prop::sample::select(odd),
    ]
}

fn any_tree() -> impl Strategy<Value = Tree> {
    let nodes = prop::collection::vec((any_path(), any_node(), any_time()), 0..40);
    let wanted = prop::collection::vec(any_path(), 0..60);
    (nodes, wanted).prop_map(|(nodes, wanted)| Tree { nodes, wanted })
}

/// Makes as much of a tree as is possible, inside `base` only. Deeper entries get their times first.
fn plant(base: &Path, tree: &Tree) {
    let mut planted: Vec<(PathBuf, SystemTime)> = Vec::new();
    for (path, node, time) in &tree.nodes {
        if path.starts_with(b".") || path.starts_with(b"/") {
            continue;
        }
        let full = base.join(os(path));
        // Where a part of it is a file or a link, or a name is too long, there is nothing to plant.
        let parent = full.parent().expect("it is below the base");
        let through_link = parent.ancestors().take_while(|above| *above != base).any(Path::is_symlink);
        if through_link || fs::create_dir_all(parent).is_err() {
            continue;
        }
        let done = match node {
            Node::File => !full.exists() && !full.is_symlink() && fs::write(&full, path).is_ok(),
            Node::Directory => fs::create_dir(&full).is_ok(),
            Node::Link(to) => {
                // Its own time does not count. Where something stands already, there is no link.
                let _ = symlink(os(to), &full);
                false
            }
        };
        if done {
            planted.push((full, *time));
        }
    }
    for (full, time) in planted.iter().rev() {
        let file = File::open(full).expect("it was planted");
        file.set_times(FileTimes::new().set_modified(*time)).expect("a time that can be set");
    }
}

/// Everything that may be there, what was planted included.
fn wanted(tree: &Tree) -> Vec<Vec<u8>> {
    let planted = tree.nodes.iter().map(|(path, ..)| path);
    let inside = planted.clone().map(|path| [path, &b"/a"[..]].concat());
    let mut wanted: Vec<_> = tree.wanted.iter().chain(planted).cloned().collect();
    wanted.extend(inside);
    wanted
}

/// Tries a check, which gets the base of what was planted and the tree, on one tree for each `share` of cases.
fn for_trees(share: u32, check: impl Fn(&Path, &Tree) -> Result<(), TestCaseError>) {
    let cases: u32 = match std::env::var("UPCHECK_CASES") {
        Ok(text) => text.parse().expect("UPCHECK_CASES is a number"),
        Err(_) => 150,
    };
    let cases = cases.div_ceil(share);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    if let Err(error) = TestRunner::new(config).run(&any_tree(), |tree| {
        let space = Space::new();
        // Deep enough for nobody else to touch what `..` names.
        let base = space.path().join("above/base");
        fs::create_dir_all(&base).expect("directories");
        plant(&base, &tree);
        check(&base, &tree)
    }) {
        panic!("{error}");
    }
}

#[test]
fn the_fast_collector_equals_the_portable_one_on_random_trees() {
    // Present, missing and unreadable ones; and directories by path, and by descriptor.
    let seen = std::cell::RefCell::new(([0; 3], [0; 2]));
    for_trees(1, |base, tree| {
        let wanted = wanted(tree);
        let n_files = table(&wanted).len();
        for wanted in [crowded(&wanted), wanted] {
            let files = table(&wanted);
            let ours = look(&unix(base), &files, 1);
            let theirs = look(&portable(base), &files, 1);
            prop_assert_eq!(difference(&files, &ours, &theirs), None);
            let (kinds, ways) = &mut *seen.borrow_mut();
            for visit in Plan::new(&files, files.ids()).visits() {
                ways[usize::from(visit.how() == How::Descriptor)] += 1;
            }
            for file in files.ids().take(n_files) {
                match ours.stat(file) {
                    Stat::Present(_) => kinds[0] += 1,
                    Stat::Missing => kinds[1] += 1,
                    Stat::Unreadable(_) => kinds[2] += 1,
                    Stat::Unknown => panic!("{} was not asked for", files.path(file).escape_ascii()),
                }
            }
        }
        Ok(())
    });
    let (kinds, ways) = seen.into_inner();
    assert!(kinds.iter().chain(&ways).all(|&n| n > 100), "{kinds:?} {ways:?}");
}

#[test]
fn any_number_of_threads_finds_the_same() {
    // Enough names for eight threads, in directories that are there, are not, and are files or links.
    let filler = |n: usize| format!("{}/f{}", ["a", "b", "dir", "sub/a", "none"][n % 5], n / 5).into_bytes();
    for_trees(25, |base, tree| {
        let files = table(&[wanted(tree), (0..16_000).map(filler).collect()].concat());
        let theirs = look(&portable(base), &files, 1);
        for threads in 1..=8 {
            let ours = look(&unix(base), &files, threads);
            prop_assert_eq!(difference(&files, &ours, &theirs), None, "{} threads", threads);
        }
        let theirs_too = look(&portable(base), &files, 8);
        prop_assert_eq!(difference(&files, &theirs_too, &theirs), None);
        Ok(())
    });
}

// ---- named cases ----------------------------------------------------------------------------------------

fn paths(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

#[test]
fn links_are_followed_to_whatever_they_lead_to() {
    let space = Space::new();
    space.write_at("real/file", "12345", 7_000_000_001);
    for (to, link) in
        [("real/file", "link"), ("real", "dir"), ("nowhere", "dangling"), ("loop", "loop"), ("two", "one")]
    {
        symlink(to, space.path().join(link)).expect("a link");
    }
    symlink("one", space.path().join("two")).expect("a link");
    let stats = agreed(
        space.path(),
        &paths(&["link", "dir/file", "dir/other", "dangling", "dangling/a", "dangling/b", "real/file"]),
    );
    assert_eq!(stats[0], stats[6]);
    assert_eq!(stats[1], stats[6]);
    assert!(matches!(stats[0], Stat::Present(Meta { mtime: 7_000_000_001, size: 5, .. })));
    assert!(stats[2..6].iter().all(|stat| *stat == Stat::Missing));
    let loops = agreed(space.path(), &paths(&["loop", "one", "loop/a", "loop/b", "two/a"]));
    assert!(loops.iter().all(|stat| matches!(stat, Stat::Unreadable(_))), "{loops:?}");
}

#[test]
fn what_is_beneath_a_file_is_missing() {
    let space = Space::new();
    space.write("file", "");
    let stats = agreed(space.path(), &paths(&["file/a", "file/b", "file/a/b", "file/a/c"]));
    assert_eq!(stats, [Stat::Missing; 4]);
}

#[test]
fn directories_are_files_too() {
    let space = Space::new();
    space.write("dir/sub/file", "");
    space.set_mtime("dir/sub", 5);
    let base = space.path().join("dir/sub");
    let stats = agreed(&base, &paths(&["../sub", ".", "..", "../..", "../../dir"]));
    assert_eq!(mtime(stats[0]), Some(5));
    assert!(stats.iter().all(|stat| mtime(*stat).is_some()), "{stats:?}");
}

#[test]
fn the_root_is_found_among_other_names_in_it() {
    let space = Space::new();
    let stats = agreed(space.path(), &paths(&["/", "/nowhere"]));
    assert!(mtime(stats[0]).is_some(), "{stats:?}");
}

#[test]
fn a_path_that_is_too_long_is_no_less_so_beneath_a_missing_directory() {
    let space = Space::new();
    let long = format!("gone/{}x", "a/".repeat(3000));
    let stats = agreed(space.path(), &paths(&["gone/a", "gone/b", &long]));
    assert_eq!(stats[..2], [Stat::Missing; 2]);
    assert!(matches!(stats[2], Stat::Unreadable(_)), "{:?}", stats[2]);
}

#[test]
fn names_are_bytes() {
    let space = Space::new();
    let names: [&[u8]; 5] = [b"\xff\xfe", b"caf\xc3\xa9", b"cafe\xcc\x81", b"line\nend", b"a b"];
    for name in names {
        fs::write(space.path().join(os(name)), name).expect("a file");
    }
    let stats = agreed(space.path(), &names.map(<[u8]>::to_vec));
    for (name, stat) in names.iter().zip(stats) {
        assert!(matches!(stat, Stat::Present(meta) if meta.size == name.len() as u64), "{stat:?}");
    }
    assert_eq!(agreed(space.path(), &[b"\xff".to_vec()]), [Stat::Missing]);
}

#[test]
fn a_nul_ends_a_path() {
    let space = Space::new();
    space.write("file", "");
    space.write("dir/file", "");
    let stats =
        agreed(space.path(), &[b"file\0more".to_vec(), b"dir/file\0more".to_vec(), b"no\0more".to_vec()]);
    assert!(stats[..2].iter().all(|stat| mtime(*stat).is_some()), "{stats:?}");
    assert_eq!(stats[2], Stat::Missing);
}

#[test]
fn a_nul_in_the_name_of_a_directory_ends_the_whole_path() {
    let space = Space::new();
    space.write("file", "");
    let stats = agreed(space.path(), &[b"file\0more/a".to_vec(), b"file\0more/b".to_vec()]);
    assert!(stats.iter().all(|stat| mtime(*stat).is_some()), "{stats:?}");
}

#[test]
fn times_are_told_to_the_nanosecond() {
    let space = Space::new();
    let times = [
        0,
        1,
        999_999_999,
        1_000_000_000,
        1_700_000_000_123_456_789,
        -1,
        -1_000_000_000,
        -86_400_000_000_001,
    ];
    let names: Vec<_> = (0..times.len()).map(|n| format!("f{n}").into_bytes()).collect();
    for (name, time) in names.iter().zip(times) {
        space.set_mtime(&String::from_utf8_lossy(name), time);
    }
    let found: Vec<_> = agreed(space.path(), &names).into_iter().map(mtime).collect();
    assert_eq!(found, times.map(Some));
}

#[test]
fn times_past_the_range_are_held_at_its_end() {
    let space = Space::new();
    space.write("late", "");
    let late = SystemTime::UNIX_EPOCH + Duration::from_secs(10_000_000_000);
    let file = File::open(space.path().join("late")).expect("it was written");
    file.set_times(FileTimes::new().set_modified(late)).expect("a time that can be set");
    assert_eq!(mtime(agreed(space.path(), &paths(&["late"]))[0]), Some(Mtime::MAX));
}

#[test]
fn times_before_the_range_are_held_at_its_beginning() {
    assert_eq!(Meta::mtime_from(-9_223_372_036, 145_224_193), Mtime::MIN + 1_000_000_001);
    for seconds in [-9_223_372_038, -20_000_000_000, i64::MIN] {
        assert_eq!(Meta::mtime_from(seconds, 999_999_999), Mtime::MIN, "{seconds}");
    }
    assert_eq!(Meta::mtime_from(i64::MAX, 0), Mtime::MAX);
}

#[test]
fn names_and_paths_that_are_too_long_cannot_be_looked_at() {
    let space = Space::new();
    space.write("dir/file", "");
    let name = |length: usize| "n".repeat(length);
    let given: Vec<_> = [255, 256, 5000]
        .into_iter()
        .flat_map(|length| [name(length), format!("dir/{}", name(length)), format!("{}/a", name(length))])
        .map(String::into_bytes)
        .collect();
    let stats = agreed(space.path(), &given);
    assert_eq!(stats[..3], [Stat::Missing; 3]);
    assert!(stats[3..].iter().all(|stat| matches!(stat, Stat::Unreadable(_))), "{stats:?}");
}

/// A directory so deep that `room` bytes are left for a slash and a name below it.
fn deep(base: &Path, room: usize) -> String {
    let mut path = base.to_str().expect("a temporary directory in UTF-8").to_owned();
    while path.len() + room + 202 < PATH_MAX {
        path += "/";
        path += &"d".repeat(100);
    }
    path += "/";
    path += &"e".repeat(PATH_MAX - room - path.len());
    path
}

#[test]
fn absolute_paths_are_found_up_to_the_longest_the_system_takes() {
    let space = Space::new();
    let directory = deep(space.path(), 30);
    assert_eq!(directory.len(), PATH_MAX - 30);
    fs::create_dir_all(&directory).expect("a deep directory");
    let path = |length: usize| format!("{directory}/{}", "n".repeat(length));
    for length in [1, 27, 28] {
        fs::write(path(length), "").expect("a file");
    }
    // Alone a name is looked up by its path; together names share an open directory while that makes no difference.
    let lengths = [1, 27, 28, 29, 30];
    let alone = lengths.map(|length| agreed(space.path(), &[path(length).into_bytes()])[0]);
    let together = agreed(space.path(), &lengths.map(|length| path(length).into_bytes()));
    assert_eq!(together, alone);
    for (length, alone) in lengths.into_iter().zip(alone).skip(1) {
        let pair = agreed(space.path(), &[path(1).into_bytes(), path(length).into_bytes()]);
        assert_eq!(pair[1], alone, "with a name of {length} bytes");
    }
    assert!(together[..3].iter().all(|stat| mtime(*stat).is_some()), "{together:?}");
    assert!(together[3..].iter().all(|stat| matches!(stat, Stat::Unreadable(_))), "{together:?}");
}

#[test]
fn relative_paths_are_as_long_as_in_a_process_that_stands_in_the_base() {
    let space = Space::new();
    let directory = format!("{}{}", "d".repeat(100) + "/", (["d"; 100].concat() + "/").repeat(39));
    let directory = format!("{directory}{}", "e".repeat(PATH_MAX - 30 - directory.len()));
    let path = |length: usize| format!("{directory}/{}", "n".repeat(length));
    for (tool, arguments) in
        [("mkdir", vec!["-p".into(), directory.clone()]), ("touch", vec![path(1), path(27), path(28)])]
    {
        let status = Command::new(tool).args(arguments).current_dir(space.path()).status();
        assert!(status.expect("it runs").success(), "{tool}");
    }
    let files = table(&[1, 27, 28, 29, 30].map(|length| path(length).into_bytes()));
    let found = look(&unix(space.path()), &files, 1);
    let stats: Vec<_> = files.ids().map(|file| found.stat(file)).collect();
    assert!(stats[..3].iter().all(|stat| mtime(*stat).is_some()), "{stats:?}");
    assert!(stats[3..].iter().all(|stat| matches!(stat, Stat::Unreadable(_))), "{stats:?}");
}

#[test]
fn the_base_may_be_a_link_and_is_not_looked_up_again() {
    let space = Space::new();
    space.write_at("first/file", "", 1_000_000_000);
    space.write_at("second/file", "", 2_000_000_000);
    let base = space.path().join("base");
    symlink("first", &base).expect("a link");
    let files = table(&paths(&["file"]));
    let file = files.lookup(b"file").expect("it was added");
    let (ours, theirs) = (unix(&base), portable(&base));
    fs::remove_file(&base).expect("the link is there");
    symlink("second", &base).expect("a link");
    for disk in [&ours as &dyn Disk, &theirs] {
        assert_eq!(mtime(look(disk, &files, 1).stat(file)), Some(1_000_000_000));
    }
    assert!(UnixDisk::new(&space.path().join("first/file")).is_err());
    assert!(PortableDisk::new(&space.path().join("first/file")).is_err());
    assert!(UnixDisk::new(&space.path().join("nowhere")).is_err());
    assert!(PortableDisk::new(&space.path().join("nowhere")).is_err());
}

#[test]
fn reading_follows_the_same_paths() {
    let space = Space::new();
    space.write("dir/file", "content");
    symlink("dir", space.path().join("link")).expect("a link");
    for disk in [&unix(space.path()) as &dyn Disk, &portable(space.path())] {
        assert_eq!(disk.read(b"link/file").expect("it is there"), b"content");
        let missing = disk.read(b"link/other").expect_err("it is not there");
        assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
        assert!(disk.read(b"dir").is_err());
        assert!(disk.scan(b"dir", &mut |_| ()).is_err());
    }
}

#[test]
fn a_file_is_stamped_with_what_a_stat_tells_of_it() {
    let space = Space::new();
    space.write_at("dir/file", "content", 7_000_000_001);
    symlink("dir/file", space.path().join("link")).expect("a link");
    let mut memory = MemoryDisk::new();
    memory.write("link", b"content");
    for disk in [&unix(space.path()) as &dyn Disk, &portable(space.path()), &memory] {
        let stamp = disk.read_stamped(b"link").expect("it is there").1;
        assert_eq!(disk.stat(b"link"), Stat::Present(stamp));
        assert_eq!(disk.scan(b"link", &mut |_| ()).expect("it is there"), stamp);
        assert_eq!(stamp.size, 7);
        assert!(stamp.ctime > 0 && stamp.inode > 0 && stamp.device > 0, "{stamp:?}");
        assert_eq!(disk.stat(b"dir/other"), Stat::Missing);
    }
    for disk in [&unix(space.path()) as &dyn Disk, &portable(space.path())] {
        for path in ["/", ".", "..", "dir", "dir/file"].map(str::as_bytes) {
            assert!(mtime(disk.stat(path)).is_some(), "{}", path.escape_ascii());
        }
    }
}

#[test]
fn every_change_of_a_file_changes_its_status_time() {
    let mut memory = MemoryDisk::new();
    let mut seen = std::collections::HashSet::new();
    memory.touch("a", 5);
    let mut see = |memory: &MemoryDisk| match memory.stat(b"a") {
        Stat::Present(meta) => assert!(seen.insert(meta.ctime), "{meta:?}"),
        other => panic!("{other:?}"),
    };
    see(&memory);
    memory.touch("a", 5);
    see(&memory);
    memory.write("a", b"");
    see(&memory);
    memory.remove("a");
    memory.write("a", b"");
    see(&memory);
}

#[test]
fn a_large_file_is_scanned_in_pieces_that_make_up_the_whole() {
    let space = Space::new();
    let content: Vec<u8> = (0..1_000_003u32).map(|n| (n % 251) as u8).collect();
    fs::write(space.path().join("large"), &content).expect("a file");
    fs::write(space.path().join("empty"), "").expect("a file");
    for disk in [&unix(space.path()) as &dyn Disk, &portable(space.path())] {
        let mut scanned = Vec::new();
        let mut longest = 0;
        disk.scan(b"large", &mut |piece| {
            longest = longest.max(piece.len());
            scanned.extend_from_slice(piece);
        })
        .expect("it is there");
        assert!(scanned == content);
        assert!(longest <= 256 * 1024, "{longest}");
        disk.scan(b"empty", &mut |piece| panic!("{piece:?}")).expect("it is there");
    }
}
