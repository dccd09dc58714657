//! Files that are changed, and bear the stamp that they had before, or nearly.

use crate::asking::Image::{self, AtOnce, Made};
use crate::asking::{Found, Times, ask_later, ask_on, fresh, space};
use std::fs;
use std::io::Write;
use upcheck::collect::os_disk;
use upcheck_tests::answer::{Question, ask, build, images};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3600 * SECOND;
const MILLISECOND: i64 = 1_000_000;

/// Every kind of file that a description is read from, and what another content of the same size is: it makes
/// something stale.
const SOURCES: [(&str, &[u8], &[u8]); 6] = [
    ("build.ninja", b"flags = 1", b"flags = 2"),
    ("rules.ninja", b"true 3", b"true 4"),
    ("dd", b"| old", b"| new"),
    (".ninja_log", b"\ta.o\t", b"\ta.x\t"),
    (".ninja_deps", b"old\0", b"new\0"),
    ("b.o.d", b"old", b"new"),
];

const MANIFEST: &str = "flags = 1\ninclude rules.ninja\nbuild a.o: logged a\nbuild b.o: listed b\n\
                        build c.o: plain c || dd\n  dyndep = dd\nbuild other.o: listed b\ndefault a.o b.o c.o\n";
const RULES: &str = "rule logged\n  command = echo $out: old > $out.d; true $flags; cat $in > $out; true 3\n\
                     \x20 depfile = $out.d\n  deps = gcc\n\
                     rule listed\n  command = echo $out: old > $out.d; cat $in > $out\n  depfile = $out.d\n\
                     rule plain\n  command = cat $in > $out\n";

/// Built; `old` is older than what was made, and `new` is newer.
fn built() -> Space {
    let dd = "ninja_dyndep_version = 1\nbuild c.o: dyndep | old\n";
    let files = [
        ("build.ninja", MANIFEST),
        ("rules.ninja", RULES),
        ("dd", dd),
        ("a", ""),
        ("b", ""),
        ("c", ""),
        ("old", ""),
    ];
    let space = space(&files);
    build(&space, Ninja::V1_13, &Question::default());
    build(&space, Ninja::V1_13, &Question::about(&["other.o"]));
    space.write_at("new", "", space.mtime("b.o").expect("built") + HOUR);
    space
}

/// Changes a file in place, to the same size, and sets its time back.
fn change_in_place(space: &Space, path: &str, from: &[u8], to: &[u8]) {
    let before = fs::metadata(space.path().join(path)).expect("a file");
    let mtime = space.mtime(path).expect("a file");
    let mut content = space.read(path);
    let at = content.windows(from.len()).position(|window| window == from).expect("what is to be changed");
    content[at..at + to.len()].copy_from_slice(to);
    let mut file = fs::OpenOptions::new().write(true).open(space.path().join(path)).expect("a file");
    file.write_all(&content).expect("written");
    space.set_mtime(path, mtime);
    let after = fs::metadata(space.path().join(path)).expect("a file");
    let seen = |meta: &fs::Metadata| (meta.len(), meta.modified().expect("a time"));
    assert_eq!(seen(&after), seen(&before), "only the time of the status tells");
}

#[test]
fn content_of_the_same_size_with_its_time_set_back() {
    for (path, from, to) in SOURCES {
        let space = built();
        assert_eq!(ask_later(&space, Ninja::V1_13), fresh(Made));
        assert_eq!(ask_later(&space, Ninja::V1_13), fresh(AtOnce));
        change_in_place(&space, path, from, to);
        assert!(!ask_later(&space, Ninja::V1_13).is_fresh, "{path}");
        change_in_place(&space, path, to, from);
        assert!(ask_later(&space, Ninja::V1_13).is_fresh, "{path}");
    }
}

/// Asks at some time after the time at which the files' stamps stand still.
fn ask_at(space: &Space, frozen: &[&str], now: i64) -> Found {
    let disk = os_disk(space.path()).expect("a directory");
    let stamp = 1_700_000_000 * SECOND + 123;
    let now = Some(stamp + now);
    ask_on(&Times { disk, tick: 1, has_ctime: true, frozen: (frozen, stamp), now }, space, Ninja::V1_13)
}

#[test]
fn changes_within_the_tick_in_which_a_file_was_read() {
    for (path, from, to) in SOURCES {
        // When it is asked before the change, after the file's stamp, and after it. While the clock is behind, too.
        for (before, after) in [
            (vec![0], HOUR),
            (vec![50], HOUR),
            (vec![99], HOUR),
            (vec![50, 60], 70),
            (vec![50, 60], HOUR),
            (vec![10, 50, 99, 99], HOUR),
            (vec![-3_600_000], 50),
            (vec![-3_600_000, -3_600_000], HOUR),
            (vec![-3_600_000, 0, 50, 50], HOUR),
        ] {
            let space = built();
            for &now in &before {
                assert!(ask_at(&space, &[path], now * MILLISECOND).is_fresh);
            }
            change_in_place(&space, path, from, to);
            assert!(!ask_at(&space, &[path], after).is_fresh, "{path}, {before:?}");
            assert!(!ask_at(&space, &[path], after + 1).is_fresh, "{path}, {before:?}");
        }
    }
}

#[test]
fn a_stamp_that_is_young_for_ever_costs_no_write() {
    let frozen = ["build.ninja", "rules.ninja", "dd", ".ninja_log", ".ninja_deps"];
    let space = built();
    // A depfile on disk is read again while it is young, which is written down.
    space.write("build.ninja", MANIFEST.replace("default a.o b.o", "default a.o"));
    assert_eq!(ask_at(&space, &frozen, -HOUR), fresh(Made));
    for now in 0..3 {
        assert_eq!(ask_at(&space, &frozen, -HOUR + now), fresh(AtOnce));
    }
    // Once it is old, that is news.
    assert_eq!(ask_at(&space, &frozen, HOUR), fresh(Image::Updated));
    assert_eq!(ask_at(&space, &frozen, HOUR), fresh(AtOnce));
}

#[test]
fn stamps_of_whole_seconds() {
    for tick in [SECOND, 2 * SECOND] {
        for has_ctime in [true, false] {
            for (path, from, to) in SOURCES {
                let space = built();
                let disk = os_disk(space.path()).expect("a directory");
                // As a build leaves it, not as this test does.
                for source in ["build.ninja", "rules.ninja", "dd"] {
                    space.write(source, space.read(source));
                }
                // All of this happens at once, however long a busy machine takes for it.
                let now = space.mtime(path);
                let disk = Times { disk, tick, has_ctime, frozen: (&[], 0), now };
                let what = format!("{path}, {tick} ns, status: {has_ctime}");
                let before = ask_on(&disk, &space, Ninja::V1_13);
                let again = ask_on(&disk, &space, Ninja::V1_13);
                assert_eq!((before.is_fresh, again.is_fresh), (true, true), "{what}");
                change_in_place(&space, path, from, to);
                assert!(!ask_on(&disk, &space, Ninja::V1_13).is_fresh, "{what}");
                change_in_place(&space, path, to, from);
                assert!(ask_on(&disk, &space, Ninja::V1_13).is_fresh, "{what}");
            }
        }
    }
}

/// That nobody asks about it keeps it from being looked at, and its stamp from being proven.
#[test]
fn a_young_depfile_of_no_default_target_when_the_image_is_made_again() {
    let space = built();
    let frozen = ["other.o.d"];
    assert_eq!(ask_at(&space, &frozen, 50 * MILLISECOND), fresh(Made));
    let mut log = space.read(".ninja_log");
    while log.len() < (1 << 20) + (1 << 12) {
        log.extend_from_slice(b"1\t2\t3\tno/such/file/at/all/in/this/build/directory\t0123456789abcdef\n");
    }
    space.write(".ninja_log", log);
    assert_eq!(ask_at(&space, &frozen, HOUR), fresh(Made));
    change_in_place(&space, "other.o.d", b"old", b"new");
    let disk = os_disk(space.path()).expect("a directory");
    let stamp = 1_700_000_000 * SECOND + 123;
    let disk = Times { disk, tick: 1, has_ctime: true, frozen: (&frozen, stamp), now: Some(stamp + HOUR) };
    let question = Question::about(&["other.o"]);
    let asked = ask(&disk, Ninja::V1_13, &question, false, Some(&images(&space))).expect("an answer");
    assert!(asked.is_from_image && !asked.details.is_fresh(), "{asked:?}");
}
