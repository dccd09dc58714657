//! Depfiles that stay on the disk: whatever becomes of them between checks.

use crate::asking::Image::{AtOnce, Used};
use crate::asking::{Found, OLD, ask_later, fresh, space, stale};
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use upcheck_tests::answer::{Question, build};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// Objects whose depfiles are what `a.d` and `b.d` say, beside where they are named in an odd way, and a program.
const MANIFEST: &str = "rule cc\n  command = mkdir -p deps; cp $in.d $out.d; cat $in > $out\n  depfile = $out.d\n\
                        rule odd\n  command = mkdir -p deps; cp $in.d deps/c.d; cat $in > $out\n\
                        \x20 depfile = ./deps//../deps/./c.d\n\
                        rule cat\n  command = cat $in > $out\n\
                        build gen.h: cc gen\nbuild a.o: cc a\nbuild b.o: cc b\nbuild c.o: odd c\n\
                        build prog: cat a.o b.o c.o\ndefault prog\n";

/// Built, with an image that is trusted.
fn built(version: Ninja) -> Space {
    let mut files = vec![("build.ninja", MANIFEST), ("a", ""), ("b", ""), ("c", ""), ("gen", "")];
    files.extend([("h1", ""), ("h2", ""), ("h3", "")]);
    files.extend([
        ("a.d", "a.o: h1\n"),
        ("b.d", "b.o: h1\n"),
        ("c.d", "c.o: h1\n"),
        ("gen.d", "gen.h: h3\n"),
    ]);
    let space = space(&files);
    build(&space, version, &Question::default());
    assert!(ask_later(&space, version).is_fresh);
    assert_eq!(ask_later(&space, version), fresh(AtOnce));
    space
}

/// Asks until there is nothing to write, which must be at once.
#[track_caller]
fn ask_twice(space: &Space, version: Ninja) -> Found {
    let found = ask_later(space, version);
    let again = ask_later(space, version);
    let expected = if found.is_fresh { fresh(AtOnce) } else { stale(Used) };
    assert_eq!(again, expected, "after {found:?}");
    found
}

fn each(edit: impl Fn(&Space, Ninja)) {
    for &version in Ninja::USUAL {
        edit(&built(version), version);
    }
}

const ALL: [(&str, &str); 3] = [("a.o", "a.o.d"), ("b.o", "b.o.d"), ("c.o", "deps/c.d")];

#[test]
fn deleted_and_back_again() {
    each(|space, version| {
        for (_, depfile) in ALL {
            let content = space.read(depfile);
            space.remove(depfile);
            assert!(!ask_twice(space, version).is_fresh, "{depfile}");
            space.write(depfile, content);
            assert!(ask_twice(space, version).is_fresh, "{depfile}");
        }
    });
}

#[test]
fn a_header_that_only_a_changed_depfile_names() {
    each(|space, version| {
        for (output, depfile) in ALL {
            space.write(depfile, format!("{output}: h1 h2\n"));
            assert!(ask_twice(space, version).is_fresh, "{depfile}");
            let before = space.mtime("h2").expect("a header");
            space.set_mtime("h2", space.mtime("prog").expect("built") + 1);
            assert!(!ask_twice(space, version).is_fresh, "{depfile}");
            space.set_mtime("h2", before);
            assert!(ask_twice(space, version).is_fresh, "{depfile}");
            // In a directory of its own, which comes and goes.
            space.write(depfile, format!("{output}: h1 far/away/h\n"));
            assert!(!ask_twice(space, version).is_fresh, "{depfile}");
            space.write_at("far/away/h", "", OLD);
            assert!(ask_twice(space, version).is_fresh, "{depfile}");
            fs::remove_dir_all(space.path().join("far")).expect("removed");
            assert!(!ask_twice(space, version).is_fresh, "{depfile}");
            space.write(depfile, format!("{output}: h1\n"));
            assert!(ask_twice(space, version).is_fresh, "{depfile}");
        }
    });
}

#[test]
fn replaced_changed_and_changed_back() {
    each(|space, version| {
        for (output, depfile) in ALL {
            let good = space.read(depfile);
            let put = |content: &[u8], by_rename: bool| {
                if by_rename {
                    space.write("new.d", content);
                    fs::rename(space.path().join("new.d"), space.path().join(depfile)).expect("renamed");
                } else {
                    space.write(depfile, content);
                }
            };
            let missing = format!("{output}: gone\n");
            let long = format!("{output}: h1 h2 h3 gone\n");
            for by_rename in [true, false] {
                for (content, is_fresh) in [
                    (missing.as_bytes(), false),
                    (b"", false),
                    (&good, true),
                    (b"other.o: h1\n", false),
                    (long.as_bytes(), false),
                    (&good, true),
                ] {
                    put(content, by_rename);
                    assert_eq!(ask_twice(space, version).is_fresh, is_fresh, "{depfile}");
                }
            }
            // Away, and back as it was.
            let (here, away) = (space.path().join(depfile), space.path().join("away"));
            fs::rename(&here, &away).expect("moved");
            assert!(!ask_twice(space, version).is_fresh);
            fs::rename(&away, &here).expect("moved back");
            assert!(ask_twice(space, version).is_fresh);
        }
    });
}

#[test]
fn broken_and_mended() {
    each(|space, version| {
        for (output, depfile) in ALL {
            let good = space.read(depfile);
            for broken in ["no colon\n".to_owned(), format!("{output} other: h1\n"), ": h1\n".to_owned()] {
                space.write(depfile, broken);
                assert!(!ask_twice(space, version).is_fresh, "{depfile}");
                space.write(depfile, &good);
                assert!(ask_twice(space, version).is_fresh, "{depfile}");
            }
            // A directory cannot be read, now and the next time: that is looked at each time.
            space.remove(depfile);
            fs::create_dir(space.path().join(depfile)).expect("a directory");
            assert!(!ask_later(space, version).is_fresh, "{depfile}");
            assert!(!ask_later(space, version).is_fresh, "{depfile}");
            fs::remove_dir(space.path().join(depfile)).expect("removed");
            space.write(depfile, &good);
            assert!(ask_twice(space, version).is_fresh, "{depfile}");
        }
    });
}

/// A depfile that is not there is missing; one in a folder that is a file cannot be read. So the folder's being a file has to be
/// noticed even where nothing is different for the depfile itself: it is not there.
#[cfg(unix)] // Links.
#[test]
fn a_file_where_the_folder_of_a_missing_depfile_was() {
    // One by one, and so many that the folder is listed.
    for (&version, n_targets) in Ninja::USUAL.iter().flat_map(|version| [(version, 1), (version, 40)]) {
        let rule = "rule cc\n  command = cp a.d deps/$out.d; cat $in > $out\n  depfile = deps/$out.d\n";
        let targets: String = (0..n_targets).map(|n| format!("build {n}.o: cc a\n")).collect();
        let space = space(&[("build.ninja", &format!("{rule}{targets}")), ("a", "")]);
        ask_later(&space, version);
        assert_eq!(ask_later(&space, version), stale(Used));
        for what in ["a file", "a link to a file", "a link to nowhere", "a folder"] {
            let folder = space.path().join("deps");
            match what {
                "a file" => fs::write(&folder, "").expect("a file"),
                "a folder" => fs::create_dir(&folder).expect("a folder"),
                "a link to a file" => symlink("a", &folder).expect("a link"),
                _ => symlink("nowhere", &folder).expect("a link"),
            }
            ask_later(&space, version);
            ask_later(&space, version);
            if what == "a folder" {
                // The way may lead on behind a link.
                let last = format!("deps/{}.o.d", n_targets - 1);
                symlink("../a/b", space.path().join(&last)).expect("a link");
                ask_later(&space, version);
                space.remove(&last);
                ask_later(&space, version);
            }
            match what {
                "a folder" => fs::remove_dir(&folder).expect("removed"),
                _ => fs::remove_file(&folder).expect("removed"),
            }
            ask_later(&space, version);
        }
    }
}

#[test]
fn a_generated_header_that_comes_into_play_and_leaves() {
    each(|space, version| {
        space.write("a.o.d", "a.o: h1 gen.h\n");
        // It was not made yet, and has a depfile of its own.
        assert!(!ask_twice(space, version).is_fresh);
        build(space, version, &Question::about(&["gen.h"]));
        space.set_mtime("gen.h", OLD);
        build(space, version, &Question::default());
        space.write("a.o.d", "a.o: h1 gen.h\n");
        let _ = ask_twice(space, version);
        build(space, version, &Question::default());
        space.write("a.o.d", "a.o: h1 gen.h\n");
        let _ = ask_twice(space, version);
        // What that one names counts now.
        space.write("h3", "changed");
        assert!(!ask_twice(space, version).is_fresh);
        build(space, version, &Question::about(&["gen.h"]));
        let _ = ask_twice(space, version);
        space.remove("gen.h.d");
        assert!(!ask_twice(space, version).is_fresh);
        space.write("gen.h.d", "gen.h: h2\n");
        let _ = ask_twice(space, version);
        space.write("h2", "changed");
        assert!(!ask_twice(space, version).is_fresh);
        // And not any more.
        space.write("a.o.d", "a.o: h1\n");
        let _ = ask_twice(space, version);
        space.remove("gen.h.d");
        space.remove("gen.h");
        let _ = ask_twice(space, version);
    });
}

#[test]
fn many_updates_of_the_state_one_after_the_other() {
    each(|space, version| {
        for round in 0..12usize {
            let (output, depfile) = ALL[round % 3];
            let headers = ["h1", "h2", "h3", "h1 h2", "h2 h3", "", "h1 x"][round % 7];
            space.write(depfile, format!("{output}: {headers} {}\n", " ".repeat(round)));
            let _ = ask_twice(space, version);
            if round % 5 == 4 {
                space.write("h2", "changed");
                assert!(!ask_twice(space, version).is_fresh || !headers.contains("h2"));
                build(space, version, &Question::default());
                assert!(ask_twice(space, version).is_fresh);
            }
        }
    });
}

#[test]
fn so_many_changed_depfiles_that_the_image_is_made_again() {
    let mut manifest =
        "rule cc\n  command = echo $out: h > $out.d; touch $out\n  depfile = $out.d\n".to_owned();
    for n in 0..1100 {
        manifest.push_str(&format!("build o{n}: cc\n"));
    }
    let space = space(&[("build.ninja", &manifest), ("h", ""), ("h2", "")]);
    let version = Ninja::V1_13;
    build(&space, version, &Question::default());
    assert!(ask_later(&space, version).is_fresh);
    for n in 0..1050 {
        space.write(&format!("o{n}.d"), format!("o{n}: h h2\n"));
    }
    assert_eq!(ask_later(&space, version), fresh(crate::asking::Image::Made));
    assert_eq!(ask_later(&space, version), fresh(AtOnce));
    space.remove("h2");
    assert!(!ask_twice(&space, version).is_fresh);
    space.write_at("h2", "", OLD);
    assert!(ask_twice(&space, version).is_fresh);
    space.write("o7.d", "o7: gone\n");
    assert!(!ask_twice(&space, version).is_fresh);
}
