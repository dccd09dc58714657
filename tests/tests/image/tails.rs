//! Logs that grow: what a build appended is read, and the image stays.

use crate::asking::Image::{AtOnce, Made, Updated, Used};
use crate::asking::{OLD, ask_later, ask_on, fresh, space, stale};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;
use upcheck::collect::{Disk, os_disk};
use upcheck::{IoCounts, Meta, Stat, Visit};
use upcheck_tests::answer::{Later, Question, build, run_ninja};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// Two objects whose headers are said by `a.d` and `b.d`, and a program. The deps log knows the headers.
const LOGGED: &str = "rule cc\n  command = cp $in.d $out.d; cat $in > $out\n  depfile = $out.d\n  deps = gcc\n\
                      rule link\n  command = cat $in > $out\n\
                      build a.o: cc a\nbuild b.o: cc b\nbuild prog: link a.o b.o\n";

/// The same with depfiles that stay.
fn listed() -> String {
    LOGGED.replace("  deps = gcc\n", "")
}

fn program(manifest: &str) -> Space {
    space(&[
        ("build.ninja", manifest),
        ("a", ""),
        ("b", ""),
        ("a.d", "a.o: h1\n"),
        ("b.d", "b.o: h1\n"),
        ("h1", ""),
        ("h2", ""),
    ])
}

/// Built, with an image that is trusted.
fn built(manifest: &str, version: Ninja) -> Space {
    let space = program(manifest);
    build(&space, version, &Question::default());
    assert_eq!(ask_later(&space, version), fresh(Made));
    assert_eq!(ask_later(&space, version), fresh(AtOnce));
    space
}

/// Something changed so that a target has to run, which discovers other headers then.
fn discover(space: &Space, target: &str, headers: &str) {
    space.write(&format!("{target}.d"), format!("{target}.o: {headers}\n"));
    space.write(target, "changed");
}

#[test]
fn a_header_that_only_the_last_build_discovered_is_looked_at() {
    for manifest in [LOGGED, &listed()] {
        for &version in Ninja::USUAL {
            let space = built(manifest, version);
            discover(&space, "a", "h1 h2");
            assert_eq!(ask_later(&space, version), stale(Updated));
            build(&space, version, &Question::default());
            assert_eq!(ask_later(&space, version), fresh(Updated));
            space.write("h2", "changed");
            assert_eq!(ask_later(&space, version), stale(Updated));
            space.remove("h2");
            assert_eq!(ask_later(&space, version), stale(Updated));
        }
    }
}

#[test]
fn nothing_is_written_again_after_a_build_discovered_new_headers() {
    for manifest in [LOGGED, &listed()] {
        for &version in Ninja::USUAL {
            let space = built(manifest, version);
            discover(&space, "a", "h1 h2");
            build(&space, version, &Question::default());
            assert_eq!(ask_later(&space, version), fresh(Updated));
            assert_eq!(ask_later(&space, version), fresh(AtOnce));
            space.write("b", "changed");
            assert_eq!(ask_later(&space, version), stale(Updated));
            assert_eq!(ask_later(&space, version), stale(Used));
            space.set_mtime("b", OLD);
            assert_eq!(ask_later(&space, version), fresh(Updated));
            assert_eq!(ask_later(&space, version), fresh(AtOnce));
        }
    }
}

#[test]
fn logs_put_back_as_they_were_for_the_image_are_noticed() {
    for &version in Ninja::USUAL {
        for in_place in [true, false] {
            let space = built(LOGGED, version);
            let logs = [".ninja_log", ".ninja_deps"].map(|log| (log, space.read(log)));
            space.write("h1", "changed");
            build(&space, version, &Question::default());
            assert_eq!(ask_later(&space, version), fresh(Updated));
            for (log, content) in &logs {
                if !in_place {
                    space.remove(log);
                }
                space.write(log, content);
            }
            assert_eq!(ask_later(&space, version), stale(Updated));
            assert_eq!(ask_later(&space, version), stale(Used));
        }
    }
}

#[test]
fn ordinary_builds_leave_the_image_and_cost_a_state() {
    for manifest in [LOGGED, &listed()] {
        for &version in Ninja::USUAL {
            let space = built(manifest, version);
            for round in 0..5 {
                for file in ["a", "h1", "b.o", "prog"] {
                    if file == "prog" {
                        space.remove(file);
                    } else {
                        space.write(file, format!("round {round}"));
                    }
                    assert_eq!(ask_later(&space, version), stale(Updated), "{file}");
                    assert_eq!(ask_later(&space, version), stale(Used), "{file}");
                    let _ = run_ninja(&space, version, &Question::default(), &[]);
                    assert_eq!(ask_later(&space, version), fresh(Updated), "{file}");
                    assert_eq!(ask_later(&space, version), fresh(AtOnce), "{file}");
                }
            }
        }
    }
}

#[test]
fn recompacted_and_restatted_logs_are_noticed() {
    for &version in Ninja::USUAL {
        for tool in ["recompact", "restat"] {
            let space = built(LOGGED, version);
            for _ in 0..3 {
                space.write("h1", "changed");
                build(&space, version, &Question::default());
                let _ = ask_later(&space, version);
            }
            space.set_mtime("a.o", space.mtime("a.o").expect("built") - 1_000_000_000_000);
            assert!(!ask_later(&space, version).is_fresh);
            let (status, ..) = run_ninja(&space, version, &Question::default(), &["-t", tool]);
            assert_eq!(status, Some(0), "{tool}");
            let _ = ask_later(&space, version);
            build(&space, version, &Question::default());
            assert!(ask_later(&space, version).is_fresh);
            assert_eq!(ask_later(&space, version), fresh(AtOnce));
        }
    }
}

/// Writes over a log in place, like `cp`.
fn write_over(space: &Space, log: &str, content: &[u8]) {
    space.write(log, content);
}

#[test]
fn another_log_of_the_same_file_that_is_larger() {
    for &version in Ninja::USUAL {
        let (space, other) = (built(LOGGED, version), program(LOGGED));
        // The other one has seen a build with another command, and one with this.
        other.write("build.ninja", LOGGED.replace("cat $in >", "cat  $in >"));
        for content in ["1", "2", "3"] {
            other.write("h1", content);
            build(&other, version, &Question::default());
        }
        for log in [".ninja_log", ".ninja_deps"] {
            assert!(other.read(log).len() > space.read(log).len(), "{log}");
            let before = space.read(log);
            write_over(&space, log, &other.read(log));
            let found = ask_later(&space, version);
            assert!(!found.is_fresh || log == ".ninja_deps", "{log}");
            write_over(&space, log, &before);
            assert!(ask_later(&space, version).is_fresh, "{log}");
        }
    }
}

#[test]
fn a_log_that_is_cut_off_anywhere_and_grows_again() {
    let version = Ninja::V1_13;
    for log in [".ninja_log", ".ninja_deps"] {
        let space = built(LOGGED, version);
        space.write("h1", "changed");
        build(&space, version, &Question::default());
        let whole = space.read(log);
        let _ = ask_later(&space, version);
        for length in (0..whole.len()).step_by(3) {
            write_over(&space, log, &whole[..length]);
            let _ = ask_later(&space, version);
            // ... while nobody looked, and grown by something else.
            write_over(&space, log, &[&whole[..length], b"3\t4\t5\ta.o\tff\n"].concat());
            let _ = ask_later(&space, version);
            write_over(&space, log, &whole);
            assert!(ask_later(&space, version).is_fresh, "{log} {length}");
        }
    }
}

#[test]
fn a_last_record_that_is_completed_later() {
    for &version in Ninja::USUAL {
        for log in [".ninja_log", ".ninja_deps"] {
            let space = built(LOGGED, version);
            let before = space.read(log).len();
            space.write("h1", "changed");
            build(&space, version, &Question::default());
            let whole = space.read(log);
            for length in before..=whole.len() {
                write_over(&space, log, &whole[..length]);
                let _ = ask_later(&space, version);
            }
            assert_eq!(ask_later(&space, version), fresh(AtOnce), "{log}");
            // And one that the image was made with.
            let half = before + (whole.len() - before) / 2;
            fs::remove_dir_all(space.images()).expect("images");
            write_over(&space, log, &whole[..half]);
            assert_eq!(ask_later(&space, version), stale(Made), "{log}");
            write_over(&space, log, &whole);
            assert_eq!(ask_later(&space, version), fresh(Updated), "{log}");
        }
    }
}

#[test]
fn damage_that_ninja_cuts_off_before_it_goes_on() {
    for &version in Ninja::USUAL {
        for had_image in [true, false] {
            let space = built(LOGGED, version);
            if !had_image {
                fs::remove_dir_all(space.images()).expect("images");
            }
            let deps = [&space.read(".ninja_deps")[..], b"\x08\0\0\0oddly\0\0\0\0"].concat();
            write_over(&space, ".ninja_deps", &deps);
            assert!(ask_later(&space, version).is_fresh);
            for content in ["changed", "changed again"] {
                space.write("h1", content);
                build(&space, version, &Question::default());
                // Ninja loses records of the first build after the damage.
                let is_fresh = ask_later(&space, version).is_fresh;
                assert_eq!(ask_later(&space, version), if is_fresh { fresh(AtOnce) } else { stale(Used) });
            }
        }
    }
}

#[test]
fn logs_that_go_and_come() {
    for &version in Ninja::USUAL {
        for log in [".ninja_log", ".ninja_deps"] {
            let space = built(LOGGED, version);
            let content = space.read(log);
            space.remove(log);
            assert_eq!(ask_later(&space, version), stale(Made), "{log}");
            assert_eq!(ask_later(&space, version), stale(Used), "{log}");
            space.write(log, &content);
            assert_eq!(ask_later(&space, version), fresh(Made), "{log}");
            space.write(log, "");
            assert_eq!(ask_later(&space, version), stale(Made), "{log}");
            build(&space, version, &Question::default());
            assert_eq!(ask_later(&space, version), fresh(Made), "{log}");
        }
    }
}

#[test]
fn the_beginning_of_a_header_that_becomes_another_one() {
    let space = built(LOGGED, Ninja::V1_13);
    let log = String::from_utf8(space.read(".ninja_log")).expect("text");
    space.write(".ninja_log", "# ninja log v7");
    assert!(!ask_later(&space, Ninja::V1_13).is_fresh);
    // Ninja 1.13 believes no other version.
    space.write(".ninja_log", log.replace("log v7", "log v6"));
    assert!(!ask_later(&space, Ninja::V1_13).is_fresh);
}

#[test]
fn after_very_much_was_appended_the_image_is_made_again() {
    let version = Ninja::V1_13;
    let dyndep = "build x.o: link a || dd\n  dyndep = dd\n";
    let space = program(
        &format!("{LOGGED}{dyndep}")
            .replace("cat $in > $out\nbuild a.o", "cat $in > $out; touch x\nbuild a.o"),
    );
    space.write_at("dd", "ninja_dyndep_version = 1\nbuild x.o | x: dyndep\n", OLD);
    build(&space, version, &Question::default());
    assert_eq!(ask_later(&space, version), fresh(Made));
    // What a dyndep file adds is known by a record that nothing else in the manifest has a name for.
    space.write("a", "changed");
    build(&space, version, &Question::default());
    assert_eq!(ask_later(&space, version), fresh(Updated));
    let log = String::from_utf8(space.read(".ninja_log")).expect("text");
    let last: Vec<_> = log.lines().skip(1).map(|line| format!("{line}\n")).collect();
    let last = last[last.len() - 5..].concat();
    let mut file =
        fs::OpenOptions::new().append(true).open(space.path().join(".ninja_log")).expect("the log");
    let mut appended = 0;
    while appended < (1 << 20) + 1000 {
        assert_ne!(ask_if(appended % 50_000 < last.len(), &space), Some(Made), "after {appended} bytes");
        file.write_all(last.as_bytes()).expect("appended");
        appended += last.len();
    }
    assert_eq!(ask_later(&space, version), fresh(Made));
    assert_eq!(ask_later(&space, version), fresh(AtOnce));
    space.write("b", "changed");
    assert_eq!(ask_later(&space, version), stale(Updated));
    // Ninja has recompacted its log by now.
    build(&space, version, &Question::default());
    assert_eq!(ask_later(&space, version), fresh(Made));
}

fn ask_if(now: bool, space: &Space) -> Option<crate::asking::Image> {
    let disk = Later(os_disk(space.path()).expect("a directory"));
    now.then(|| ask_on(&disk, space, Ninja::V1_13).image)
}

/// A disk on which somebody else begins the build log anew while it is scanned.
struct Meddled<'a, D> {
    disk: D,
    log: &'a Path,
    is_armed: AtomicBool,
}

impl<D: Disk> Disk for Meddled<'_, D> {
    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        self.disk.visit(visit, stats, counts)
    }
    fn read_stamped(&self, path: &[u8]) -> std::io::Result<(Vec<u8>, Meta)> {
        self.disk.read_stamped(path)
    }
    fn read_tail(&self, path: &[u8], offset: u64) -> std::io::Result<(Vec<u8>, Meta)> {
        let read = self.disk.read_tail(path, offset);
        if path == b".ninja_log" && self.is_armed.swap(false, Ordering::Relaxed) {
            let log = fs::read_to_string(self.log).expect("the log");
            fs::write(self.log, log.replace("\ta.o\t", "\ta.x\t")).expect("the log");
        }
        read
    }
    fn now(&self) -> SystemTime {
        self.disk.now()
    }
}

#[test]
fn a_log_that_is_written_to_while_the_image_is_made_again() {
    let version = Ninja::V1_13;
    let space = built(LOGGED, version);
    let mut log = space.read(".ninja_log");
    log.extend(b"1\t2\t3\tno/such/file\t0123456789abcdef\n".repeat(30_000));
    space.write(".ninja_log", log);
    let disk = Later(os_disk(space.path()).expect("a directory"));
    let log = space.path().join(".ninja_log");
    let disk = Meddled { disk, log: &log, is_armed: AtomicBool::new(true) };
    // Was it asked before the log changed, or after? The next one knows.
    let images = upcheck_tests::answer::images(&space);
    let _ = upcheck_tests::answer::ask(&disk, version, &Question::default(), false, Some(&images));
    assert!(!ask_later(&space, version).is_fresh);
}

#[test]
fn an_image_that_another_question_has_made() {
    for manifest in [LOGGED, &listed()] {
        for &version in Ninja::USUAL {
            for change in [false, true] {
                let space = program(manifest);
                build(&space, version, &Question::default());
                let disk = Later(os_disk(space.path()).expect("a directory"));
                let images = upcheck_tests::answer::images(&space);
                for (question, exact) in [(Question::about(&["a.o"]), false), (Question::default(), true)] {
                    let asked = upcheck_tests::answer::ask(&disk, version, &question, exact, Some(&images));
                    assert!(asked.expect("an answer").details.is_fresh());
                }
                if change {
                    discover(&space, "a", "h2");
                    build(&space, version, &Question::default());
                    space.write("h2", "changed");
                }
                assert_eq!(ask_later(&space, version), if change { stale(Updated) } else { fresh(Updated) });
                assert_eq!(ask_later(&space, version), if change { stale(Used) } else { fresh(AtOnce) });
            }
        }
    }
}
