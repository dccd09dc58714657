//! Manifests, dyndep files and the folder of the logs: touched, changed, deleted, and there again.

use crate::asking::Image::{AtOnce, Made, Updated};
use crate::asking::{Found, OLD, ask_later, fresh, space};
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use upcheck::collect::os_disk;
use upcheck_tests::answer::{Later, Question, ask, build, compare, images, look_past};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

const MANIFEST: &str = "include rules.ninja\nbuild a.o: cat a\nbuild b.o: cat b || dd\n  dyndep = dd\n\
                        subninja sub.ninja\nbuild prog: cat a.o b.o c.o\n";
const DYNDEP: &str = "ninja_dyndep_version = 1\nbuild b.o: dyndep | h1\n";

fn built(version: Ninja) -> Space {
    let mut files = vec![("build.ninja", MANIFEST), ("dd", DYNDEP)];
    files.push(("rules.ninja", "rule cat\n  command = cat $in > $out\n"));
    files.push(("sub.ninja", "build c.o: cat c\n"));
    files.extend([("a", ""), ("b", ""), ("c", ""), ("h1", ""), ("h2", "")]);
    let space = space(&files);
    build(&space, version, &Question::default());
    assert_eq!(ask_later(&space, version), fresh(Made));
    assert_eq!(ask_later(&space, version), fresh(AtOnce));
    space
}

fn each(edit: impl Fn(&Space, Ninja)) {
    for &version in Ninja::USUAL {
        edit(&built(version), version);
    }
}

/// Where there may be no answer at all: the same trouble with images as without, and what ninja says. Whether there was
/// an answer, and it was that everything is fresh.
fn ask_anyhow(space: &Space, version: Ninja) -> bool {
    let question = Question::default();
    let _ = look_past(space, version, &question);
    compare(space, version, &question);
    let disk = Later(os_disk(space.path()).expect("a directory"));
    let asked = ask(&disk, version, &question, false, Some(&images(space)));
    asked.is_ok_and(|asked| asked.details.is_fresh())
}

const ALL: [&str; 4] = ["build.ninja", "rules.ninja", "sub.ninja", "dd"];

#[test]
fn touched_or_copied_they_say_the_same() {
    each(|space, version| {
        for path in ALL {
            space.set_mtime(path, OLD - 1);
            assert_eq!(ask_later(space, version), fresh(Updated), "{path}");
            assert_eq!(ask_later(space, version), fresh(AtOnce), "{path}");
            let content = space.read(path);
            space.remove(path);
            space.write_at(path, content, OLD);
            assert_eq!(ask_later(space, version), fresh(Updated), "{path}");
            assert_eq!(ask_later(space, version), fresh(AtOnce), "{path}");
            // By way of a link, too.
            #[cfg(unix)]
            {
                fs::rename(space.path().join(path), space.path().join("real")).expect("renamed");
                symlink("real", space.path().join(path)).expect("a link");
                assert_eq!(ask_later(space, version), fresh(Updated), "{path}");
                fs::remove_file(space.path().join(path)).expect("no link");
                fs::rename(space.path().join("real"), space.path().join(path)).expect("renamed");
                assert_eq!(ask_later(space, version), fresh(Updated), "{path}");
            }
        }
    });
}

#[test]
fn changed_and_changed_back() {
    each(|space, version| {
        for (path, from, to) in [
            ("build.ninja", "cat a\n", "cat a h2\n"),
            ("rules.ninja", "cat $in", "cat  $in"),
            ("sub.ninja", "cat c", "cat c | gone"),
            ("dd", "h1", "gone"),
        ] {
            let good = space.read(path);
            let text = String::from_utf8(good.clone()).expect("text");
            for _ in 0..2 {
                space.write(path, text.replace(from, to));
                let found: Found = ask_later(space, version);
                assert!(!found.is_fresh && found.image == Made, "{path}: {found:?}");
                space.write(path, &good);
                assert_eq!(ask_later(space, version), fresh(Made), "{path}");
            }
        }
    });
}

#[test]
fn deleted_broken_and_there_again() {
    each(|space, version| {
        for path in ALL {
            let good = space.read(path);
            for _ in 0..2 {
                space.remove(path);
                assert!(!ask_anyhow(space, version), "{path}");
                space.write(path, &good);
                assert!(ask_anyhow(space, version), "{path}");
                for broken in [&b"broken"[..], b""] {
                    space.write(path, broken);
                    let is_fresh = ask_anyhow(space, version);
                    // Without its target a manifest leaves nothing to do.
                    let may_be = broken.is_empty() && (path == "build.ninja" || path == "sub.ninja");
                    assert!(!is_fresh || may_be, "{path}");
                }
                space.write(path, &good);
                assert!(ask_anyhow(space, version), "{path}");
                space.remove(path);
                fs::create_dir(space.path().join(path)).expect("a directory");
                assert!(!ask_anyhow(space, version), "{path}");
                fs::remove_dir(space.path().join(path)).expect("no directory");
                // From what could not be read to nothing, and to what it was.
                space.write(path, "");
                let _ = ask_anyhow(space, version);
                space.write(path, &good);
                assert!(ask_anyhow(space, version), "{path}");
            }
        }
    });
}

#[test]
fn what_a_dyndep_file_names_counts_and_what_it_named_does_not() {
    each(|space, version| {
        space.write("dd", DYNDEP.replace("h1", "h2"));
        assert!(ask_later(space, version).is_fresh);
        space.write("h2", "changed");
        assert!(!ask_later(space, version).is_fresh);
        space.write("dd", DYNDEP);
        assert!(ask_later(space, version).is_fresh);
        space.write("h1", "changed");
        assert!(!ask_later(space, version).is_fresh);
        build(space, version, &Question::default());
        assert!(ask_later(space, version).is_fresh);
        // An output more.
        space.write("dd", DYNDEP.replace("b.o:", "b.o | x:"));
        assert!(!ask_later(space, version).is_fresh);
        space.write("x", "");
        let _ = ask_later(space, version);
        space.write("dd", DYNDEP);
        assert!(ask_later(space, version).is_fresh);
    });
}

#[test]
fn a_dyndep_file_that_is_made() {
    let manifest = "rule cat\n  command = cat $in > $out\nbuild dd: cat dd.in\n\
                    build b.o: cat b || dd\n  dyndep = dd\nbuild prog: cat b.o\n";
    for &version in Ninja::USUAL {
        let space = space(&[("build.ninja", manifest), ("dd.in", DYNDEP), ("b", ""), ("h1", ""), ("h2", "")]);
        assert!(!ask_later(&space, version).is_fresh);
        for headers in ["h1", "h2", "h1 h2", "h1"] {
            space.write("dd.in", DYNDEP.replace("h1", headers));
            assert!(!ask_later(&space, version).is_fresh);
            build(&space, version, &Question::default());
            assert_eq!(ask_later(&space, version), fresh(Made));
            assert_eq!(ask_later(&space, version), fresh(AtOnce));
            space.write("h1", headers);
            assert_eq!(ask_later(&space, version).is_fresh, !headers.contains("h1"));
            build(&space, version, &Question::default());
            assert!(ask_later(&space, version).is_fresh);
            space.remove("dd");
            assert!(!ask_later(&space, version).is_fresh);
            build(&space, version, &Question::default());
            assert!(ask_later(&space, version).is_fresh);
        }
    }
}

#[test]
fn logs_in_a_directory_that_changes() {
    each(|space, version| {
        space.write("build.ninja", format!("builddir = logs\n{MANIFEST}"));
        // No logs are there, so everything is to be made.
        assert!(!ask_later(space, version).is_fresh);
        for log in [".ninja_log", ".ninja_deps"] {
            space.write(&format!("logs/{log}"), space.read(log));
        }
        assert!(ask_later(space, version).is_fresh);
        fs::rename(space.path().join("logs"), space.path().join("away")).expect("renamed");
        assert!(!ask_later(space, version).is_fresh);
        #[cfg(unix)]
        symlink("away", space.path().join("logs")).expect("a link");
        #[cfg(windows)]
        fs::rename(space.path().join("away"), space.path().join("logs")).expect("renamed");
        assert!(ask_later(space, version).is_fresh);
        space.write("build.ninja", MANIFEST);
        assert!(ask_later(space, version).is_fresh);
        space.remove(".ninja_log");
        assert!(!ask_later(space, version).is_fresh);
    });
}

#[test]
fn a_manifest_that_makes_itself() {
    let manifest = |flags: &str| {
        format!(
            "rule regen\n  command = cp build.in build.ninja\n  generator = 1\nbuild build.ninja: regen build.in\n\
             rule cat\n  command = cat $in > $out; true {flags}\nbuild a.o: cat a\n"
        )
    };
    for &version in Ninja::USUAL {
        let space = space(&[("build.ninja", &manifest("1")), ("build.in", &manifest("1")), ("a", "")]);
        build(&space, version, &Question::default());
        assert!(ask_later(&space, version).is_fresh);
        for flags in ["2", "3"] {
            space.write("build.in", manifest(flags));
            assert!(!ask_later(&space, version).is_fresh);
            build(&space, version, &Question::about(&["build.ninja"]));
            assert!(!ask_later(&space, version).is_fresh);
            build(&space, version, &Question::default());
            assert!(ask_later(&space, version).is_fresh);
            assert_eq!(ask_later(&space, version), fresh(AtOnce));
        }
    }
}
