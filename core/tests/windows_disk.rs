//! The collector for Windows, against the portable one, on directories of all kinds.
#![cfg(windows)]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use upcheck::collect::{Confirm, Disk, Kind, Listing, OneName, PortableDisk, WindowsDisk, collect};
use upcheck::{Costs, FileTable, IoCounts, Meta, Plan, Snapshot, Stat};

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % below
    }
}

fn write(base: &Path, path: &str, time: u64) {
    let path = base.join(path);
    fs::create_dir_all(path.parent().expect("it is beneath the base")).expect("directories can be made");
    let file = File::create(&path).expect("files can be made");
    let ticks = Duration::from_nanos(1_500_000_000_000_000_000 + time * 1_000_000_700);
    file.set_modified(SystemTime::UNIX_EPOCH + ticks).expect("times can be set");
}

fn table_of(paths: &[String]) -> FileTable {
    let mut table = FileTable::default();
    for path in paths {
        table.intern(path.as_bytes());
    }
    table
}

fn ask(disk: &dyn Disk, table: &FileTable, costs: &Costs) -> Snapshot {
    collect(disk, &Plan::with_costs(table, table.ids(), costs), 2)
}

/// What both collectors know.
fn bare(stat: Stat) -> Stat {
    match stat {
        Stat::Present(Meta { mtime, size, .. }) => Stat::Present(Meta { mtime, size, ..Meta::default() }),
        other => other,
    }
}

/// Asks in all ways, compares, and says how often listings ask that are believed.
fn compare(base: &Path, paths: &[String]) -> IoCounts {
    let disk = WindowsDisk::new(base).expect("the base is there");
    let believing = WindowsDisk::new(base).expect("the base is there").confirming(Confirm::Nothing);
    let portable = PortableDisk::new(base).expect("the base is there");
    let table = table_of(paths);
    let expected = ask(&portable, &table, &Costs::LINUX);
    let by_path = ask(&disk, &table, &BY_PATH);
    let opened = ask(&disk, &table, &OPENED);
    let confirmed = ask(&disk, &table, &LISTED);
    let listed = ask(&believing, &table, &LISTED);
    for file in table.ids() {
        let path = table.path(file).escape_ascii();
        assert_eq!(bare(by_path.stat(file)), bare(expected.stat(file)), "{path}, by path");
        assert_eq!(opened.stat(file), by_path.stat(file), "{path}, opened");
        assert_eq!(confirmed.stat(file), by_path.stat(file), "{path}, listed and confirmed");
        assert_eq!(listed.stat(file), by_path.stat(file), "{path}, listed");
    }
    listed.counts()
}

/// Nothing is opened but files.
const BY_PATH: Costs = Costs { listing: None, ..Costs::WINDOWS };
/// All directories are opened.
const OPENED: Costs = Costs { open: 0, step: 1, ..BY_PATH };
/// All directories are listed, however many entries they have.
const LISTED: Costs = Costs { stat: 1_000_000_000, ..Costs::WINDOWS };

#[test]
fn all_ways_of_asking_say_the_same_of_random_trees() {
    for seed in 0..20 {
        let mut dice = Dice(seed);
        let temporary = tempfile::tempdir().expect("there is room");
        let base = temporary.path();
        let mut paths = BTreeSet::new();
        for n in 0..120 {
            let mut path = String::new();
            for _ in 0..dice.roll(4) {
                path += ["a/", "b b/", "größe/", "D.d/", "$x;#/"][dice.roll(5)];
            }
            path += &format!("{}{}", ["f", "F", ".f", "日本 ", "é"][dice.roll(5)], dice.roll(30));
            if dice.roll(3) > 0 && !base.join(&path).exists() && !paths.contains(&path.to_lowercase()) {
                write(base, &path, n * 1_000_003 + seed);
            }
            if dice.roll(4) == 0 {
                // Another spelling of what may be there.
                paths.insert(path.to_uppercase().replace("GRÖSSE", "GRÖßE"));
            }
            paths.insert(path);
        }
        let paths: Vec<String> = paths.into_iter().collect();
        compare(base, &paths);
    }
}

#[test]
fn names_that_windows_has_rules_for_are_asked_alone() {
    let temporary = tempfile::tempdir().expect("there is room");
    let base = temporary.path();
    for (n, name) in ["a.h", "sub/b.h", "with space.h", "UPPER.H", "x~y.h"].into_iter().enumerate() {
        write(base, name, n as u64);
    }
    fs::create_dir(base.join("directory")).expect("directories can be made");
    let disk = WindowsDisk::new(base).expect("the base is there");
    let whole = base.to_str().expect("it is").replace('\\', "/");
    let same = [
        ("a.h", "a.h."),
        ("a.h", "a.h "),
        ("a.h", "A.H"),
        ("a.h", "sub/../a.h"),
        ("a.h", "./a.h"),
        ("sub/b.h", "sub./b.h"),
        ("sub/b.h", "sub/b.h..."),
        ("upper.h", "UPPER.H"),
        ("x~y.h", "X~Y.H"),
        ("directory", "directory/."),
    ];
    for (name, other) in same {
        let found = disk.stat(name.as_bytes());
        assert!(matches!(found, Stat::Present(_)), "{name}: {found:?}");
        assert_eq!(disk.stat(other.as_bytes()), found, "{other}");
        let absolute = format!("{whole}/{name}");
        assert_eq!(disk.stat(absolute.as_bytes()), found, "{absolute}");
        let absolute = format!("../{}/{name}", base.file_name().expect("it has one").to_string_lossy());
        assert_eq!(disk.stat(absolute.as_bytes()), found, "{absolute}");
        let paths: Vec<String> =
            (0..30).map(|n| format!("f{n}")).chain([name.into(), other.into()]).collect();
        let table = table_of(&paths);
        let listed = ask(&disk, &table, &LISTED);
        assert_eq!(listed.stat(upcheck::FileId::new(30)), found, "{name}, listed");
        assert_eq!(listed.stat(upcheck::FileId::new(31)), found, "{other}, listed");
    }
    for name in
        ["none", "sub/none", "none/a.h", "a.h/x", "a.h/x/y", "", "sub/../none", "Q:/none", "Q:/none/x"]
    {
        let stat = disk.stat(name.as_bytes());
        assert!(name.is_empty() || stat == Stat::Missing, "{name}: {stat:?}");
    }
    // Whatever these are, they are no files, and nobody panics or waits.
    for name in ["nul", "con", "sub/aux.h", "com1", "a?b", "a*", "a<b", "a:b", "a\tb", "a.h:stream"] {
        let stat = disk.stat(name.as_bytes());
        assert!(!matches!(stat, Stat::Unknown), "{name}");
        assert!(name.contains(':') || !matches!(stat, Stat::Present(_)), "{name}: {stat:?}");
        let table = table_of(&[name.to_owned()]);
        let listed = ask(&disk, &table, &LISTED);
        assert_eq!(listed.stat(upcheck::FileId::new(0)), stat, "{name}, listed");
    }
}

#[test]
fn a_path_longer_than_260_characters_is_found() {
    let temporary = tempfile::tempdir().expect("there is room");
    let mut path = String::new();
    for n in 0..12 {
        path += &format!("{n:-<40}/");
    }
    write(&fs::canonicalize(temporary.path()).expect("it is there"), &format!("{path}f0"), 7);
    let paths: Vec<String> = (0..20).map(|n| format!("{path}f{n}")).collect();
    let counts = compare(temporary.path(), &paths);
    assert_eq!(counts.stats, 0);
    let disk = WindowsDisk::new(temporary.path()).expect("the base is there");
    assert!(matches!(disk.stat(paths[0].as_bytes()), Stat::Present(_)));
    assert_eq!(disk.stat(paths[1].as_bytes()), Stat::Missing);
}

#[test]
fn a_directory_costs_a_call_for_each_64_kib_of_entries_and_none_for_a_name() {
    let temporary = tempfile::tempdir().expect("there is room");
    let base = temporary.path();
    for n in 0..2_000 {
        File::create(base.join(format!("file{n:04}.h"))).expect("files can be made");
    }
    let paths: Vec<String> = (1_000..3_000).map(|n| format!("file{n:04}.h")).collect();
    let counts = compare(base, &paths);
    // An entry is 104 bytes and a name of 26, so that 64 KiB hold 481 with what fills them up to 8 bytes; four calls
    // get all, and the fifth learns that there is no more. Wine leaves more room, and needs one or two more.
    assert!((5..=7).contains(&counts.buffers), "{counts:?}");
    let expected = IoCounts {
        directories: 1,
        opens: 1,
        listings: 1,
        entries: 2_000,
        buffers: counts.buffers,
        ..IoCounts::default()
    };
    assert_eq!(counts, expected);
}

#[test]
fn a_missing_directory_is_missing_with_all_that_is_beneath_it() {
    let temporary = tempfile::tempdir().expect("there is room");
    let base = temporary.path();
    write(base, "file", 1);
    let names = |directory: &str| (0..20).map(move |n| format!("{directory}/f{n}")).collect::<Vec<_>>();
    let paths = [names("none"), names("none/beneath"), names("file")].concat();
    let counts = compare(base, &paths);
    assert_eq!(counts, IoCounts { directories: 2, opens: 2, ..IoCounts::default() });
}

#[test]
fn what_is_open_and_what_is_read_has_the_stamp_of_the_listing() {
    let temporary = tempfile::tempdir().expect("there is room");
    let base = temporary.path();
    write(base, "d/a.h", 5);
    fs::write(base.join("d/b.h"), b"0123456789").expect("files can be written");
    fs::create_dir(base.join("d/e")).expect("directories can be made");
    let disk = WindowsDisk::new(base).expect("the base is there");
    let table = table_of(&["d/a.h".to_owned(), "d/b.h".to_owned()]);
    let listed = ask(&disk, &table, &LISTED);
    for file in table.ids() {
        let Stat::Present(meta) = listed.stat(file) else { panic!("it is there") };
        assert!(meta.inode != 0 && meta.ctime > 0, "{meta:?}");
        let path = table.path(file);
        assert_eq!(disk.read_stamped(path).expect("it can be read").1, meta);
        assert_eq!(disk.open(path).expect("it can be opened").look().expect("it says").1, meta);
        assert_eq!(disk.scan(path, &mut |_| {}).expect("it can be read"), meta);
    }
    assert_eq!(disk.read(b"d/b.h").expect("it can be read"), b"0123456789");
    assert_eq!(disk.read_tail(b"d/b.h", 7).expect("it can be read").0, b"789");
    let mut buffer = [0; 4];
    assert_eq!(
        disk.open(b"d/b.h").expect("it can be opened").read_at(8, &mut buffer).expect("it can be read"),
        2
    );
    assert!(disk.read(b"d").is_err(), "a directory has no content");
    assert!(disk.read(b"d/none").is_err());
    assert_eq!(disk.kind(b"d/a.h").expect("it is there"), Kind::File);
    assert_eq!(disk.kind(b"d").expect("it is there"), Kind::Directory);
    assert_eq!(disk.kind(b"").expect("it is there"), Kind::Directory);
    let mut listing = Listing::default();
    let expected: Vec<(&[u8], Kind)> =
        vec![(b"a.h", Kind::File), (b"b.h", Kind::File), (b"e", Kind::Directory)];
    disk.list(b"d", &mut listing).expect("it can be listed");
    listing.sort();
    assert_eq!(listing.entries().collect::<Vec<_>>(), expected);
    let open = disk.open(b"d").expect("it can be opened");
    for _ in 0..2 {
        open.list(&mut listing).expect("it can be listed");
        listing.sort();
        assert_eq!(listing.entries().collect::<Vec<_>>(), expected);
    }
    disk.list(b"", &mut listing).expect("it can be listed");
    assert_eq!(listing.entries().collect::<Vec<_>>(), [(&b"d"[..], Kind::Directory)]);
    assert!(disk.list(b"d/a.h", &mut listing).is_err());
}

#[test]
fn files_with_two_names_have_one_file_id() {
    let temporary = tempfile::tempdir().expect("there is room");
    let base = temporary.path();
    write(base, "a.h", 5);
    fs::hard_link(base.join("a.h"), base.join("b.h")).expect("a file can have two names");
    compare(base, &["a.h".to_owned(), "b.h".to_owned()]);
    let disk = WindowsDisk::new(base).expect("the base is there");
    assert_eq!(disk.stat(b"a.h"), disk.stat(b"b.h"));
}

#[test]
fn files_are_asked_themselves_until_they_are_known_to_have_one_name() {
    // Files that nobody has changed for a while.
    let base = Path::new(&std::env::var_os("SystemRoot").expect("Windows says where it is")).join("system32");
    let mut paths: Vec<String> = Vec::new();
    for entry in fs::read_dir(&base).expect("it can be listed") {
        let entry = entry.expect("it can be listed");
        if entry.file_type().expect("it says").is_file() {
            paths.extend(entry.file_name().into_string().ok());
        }
    }
    let table = table_of(&paths);
    let one_name = Arc::<OneName>::default();
    let asked = || {
        let disk = WindowsDisk::new(&base).expect("the base is there").knowing(one_name.clone());
        ask(&disk, &table, &LISTED).counts().confirmed
    };
    let n_files = paths.len() as u64;
    // Those whose names cannot be listed are asked alone from the start.
    let first = asked();
    assert!(first > n_files / 2, "{first} of {n_files}");
    let second = asked();
    // On Windows most of these have a second name elsewhere.
    assert!(second < first, "{second} of {n_files}");
}

#[test]
fn files_that_have_just_been_changed_are_asked_themselves_each_time() {
    let temporary = tempfile::tempdir().expect("there is room");
    let base = temporary.path();
    let paths: Vec<String> = (0..20).map(|n| format!("{n}.h")).collect();
    for path in &paths {
        write(base, path, 5);
    }
    let one_name = Arc::<OneName>::default();
    for _ in 0..2 {
        let disk = WindowsDisk::new(base).expect("the base is there").knowing(one_name.clone());
        assert_eq!(ask(&disk, &table_of(&paths), &LISTED).counts().confirmed, 20);
    }
}

#[test]
fn a_base_that_is_no_directory_is_refused() {
    let temporary = tempfile::tempdir().expect("there is room");
    write(temporary.path(), "file", 5);
    for base in [temporary.path().join("none"), temporary.path().join("file"), "".into()] {
        assert!(WindowsDisk::new(&base).is_err(), "{}", base.display());
    }
}
