//! What would make repair lie, one attempt each: what changed is run, whatever times, logs and links say.

use super::command::run;
use super::{Builds, MANIFEST, OLD, SECOND};
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use upcheck_tests::tools::Ninja;

/// Builds and records, with each ninja.
fn each(test: impl Fn(&Builds)) {
    for &ninja in Ninja::USUAL {
        let builds = Builds::new(ninja);
        assert_eq!(run(&builds.space, "record").answer(0), "");
        test(&builds);
    }
}

/// What a repair says, asked for with these options. It may warn of logs.
fn repair(builds: &Builds, options: &str) -> String {
    let ran = run(&builds.space, &format!("repair --ninja-version {} {options}", builds.ninja.number()));
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.stdout
}

/// Gives all sources a new time.
fn check_out(builds: &Builds) {
    for path in ["a.c", "b.c", "h/all.h", "words.txt"] {
        builds.space.write(path, builds.space.read(path));
    }
}

#[test]
fn an_edit_that_keeps_its_time_is_run() {
    each(|builds| {
        builds.space.write_at("b.c", "B\n", OLD);
        builds.is_fresh();
        assert!(repair(builds, "").contains("not proved: b.o: input b.c changed\n"));
        assert_eq!(builds.listed(), ["b", "b.o"]);
    });
}

#[test]
fn two_headers_that_change_places_with_their_times_are_run() {
    each(|builds| {
        builds.space.write_at("a.c", "b\n", OLD);
        builds.space.write_at("b.c", "a\n", OLD);
        repair(builds, "");
        assert_eq!(builds.listed(), ["a", "a.o", "b", "b.o", "copy"]);
    });
}

#[test]
fn an_output_that_is_not_what_was_made_is_made_again() {
    each(|builds| {
        let time = builds.space.mtime("a").expect("it was made");
        builds.space.write_at("a", "somebody else's\n", time);
        builds.is_fresh();
        assert!(repair(builds, "").contains("not proved: a: output a is not what was made\n"));
        assert_eq!(builds.listed(), ["a", "copy"]);
    });
}

#[test]
fn an_input_that_was_made_of_something_else_meanwhile_hides_nothing() {
    each(|builds| {
        // Made of other words, which nobody recorded, and then the words are what they were.
        builds.space.write("words.txt", "W\n");
        builds.space.write("b.c", "B\n");
        builds.build();
        builds.space.write_at("b.c", "b\n", OLD);
        builds.space.write_at("words.txt", "w\n", OLD);
        builds.is_fresh();
        repair(builds, "");
        assert_eq!(builds.listed(), ["b", "b.o"]);
    });
}

#[test]
fn a_header_that_came_before_another_is_not_forgotten() {
    each(|builds| {
        // The same output, of the same sources, but found elsewhere: the record knows the old header only.
        let other = MANIFEST.replace("$in h/all.h", "$in g/all.h");
        builds.space.write("g/all.h", "h\n");
        builds.space.write("build.ninja", other);
        builds.build();
        builds.space.write_at("build.ninja", MANIFEST, OLD);
        // The command is the recorded one again, and so is everything that it made.
        for lost in [&[][..], &[".ninja_deps"]] {
            lost.iter().for_each(|log| builds.space.remove(log));
            for _ in 0..2 {
                assert!(
                    repair(builds, "").contains("not proved: a.o: it was made again after it was recorded\n")
                        || builds.listed().contains(&"a.o".to_owned())
                );
                assert!(builds.listed().contains(&"a.o".to_owned()), "a doubt is not forgotten");
            }
        }
    });
}

#[test]
fn what_is_not_on_record_is_run() {
    each(|builds| {
        builds.space.write("a.c", "A\n");
        builds.build();
        builds.is_fresh();
        repair(builds, "");
        assert_eq!(builds.listed(), ["a", "a.o", "copy"]);
        builds.build();
        assert_eq!(run(&builds.space, "record").answer(0), "");
        check_out(builds);
        repair(builds, "");
        builds.is_fresh();
    });
}

#[test]
fn lost_and_broken_logs_are_mended_and_know_headers() {
    for lost in [&[".ninja_log"][..], &[".ninja_deps"], &[".ninja_log", ".ninja_deps"]] {
        each(|builds| {
            lost.iter().for_each(|log| builds.space.remove(log));
            check_out(builds);
            repair(builds, "");
            builds.is_fresh();
            builds.space.write_at("h/all.h", "H\n", builds.later());
            assert_eq!(builds.listed(), ["a", "a.o", "b", "b.o", "copy"]);
            builds.build();
            builds.is_fresh();
        });
    }
}

#[test]
fn sources_that_others_use_stay_as_they_are() {
    each(|builds| {
        check_out(builds);
        let before: Vec<_> =
            ["a.c", "b.c", "h/all.h", "words.txt"].map(|path| builds.space.mtime(path)).into();
        repair(builds, "--keep-sources");
        builds.is_fresh();
        let after: Vec<_> =
            ["a.c", "b.c", "h/all.h", "words.txt"].map(|path| builds.space.mtime(path)).into();
        assert_eq!(after, before);
        assert_eq!(run(&builds.space, "--content -q").answer(0), "");
        assert!(repair(builds, "--keep-sources").starts_with("nothing to repair: "));
        builds.space.write_at("b.c", "B\n", builds.later());
        assert_eq!(builds.listed(), ["b", "b.o"]);
        // And the other way round.
        builds.space.write_at("b.c", "b\n", builds.later());
        repair(builds, "");
        builds.is_fresh();
        assert_eq!(builds.space.mtime("a.c"), Some(OLD));
    });
}

#[test]
fn a_file_with_a_name_that_nobody_knows_keeps_its_time() {
    each(|builds| {
        let elsewhere = builds.space.path().join("elsewhere");
        fs::hard_link(builds.space.path().join("a.c"), &elsewhere).expect("a second name");
        let later = builds.later();
        builds.space.set_mtime("elsewhere", later);
        repair(builds, "");
        assert_eq!(builds.space.mtime("a.c"), Some(later));
        // What is made of it is newer instead.
        builds.is_fresh();
        builds.space.write_at("a.c", "A\n", builds.later());
        assert_eq!(builds.listed(), ["a", "a.o", "copy"]);
    });
}

#[test]
fn links_are_followed_as_ninja_follows_them() {
    each(|builds| {
        let of = |name: &str| builds.space.path().join(name);
        fs::rename(of("a.c"), of("real.c")).expect("it is there");
        symlink("real.c", of("a.c")).expect("a link");
        builds.space.set_mtime("real.c", builds.later());
        let link = || fs::symlink_metadata(of("a.c")).expect("a link").mtime_nsec();
        let before = link();
        repair(builds, "");
        builds.is_fresh();
        assert_eq!((builds.space.mtime("real.c"), link()), (Some(OLD), before));
        // It leads to something else now, which is as old.
        builds.space.write_at("other.c", "A\n", OLD);
        fs::remove_file(of("a.c")).expect("a link");
        symlink("other.c", of("a.c")).expect("a link");
        builds.is_fresh();
        repair(builds, "");
        assert_eq!(builds.listed(), ["a", "a.o", "copy"]);
    });
}

#[test]
fn times_that_were_rounded_up_or_set_at_random_are_put_right() {
    each(|builds| {
        for (n, path) in ["a.o", "b.o", "a", "b", "copy", "a.c", "h/all.h"].into_iter().enumerate() {
            let shift = [3600, -3600, 2, -1, 7][n % 5] * SECOND;
            let time = builds.space.mtime(path).expect("it is there");
            builds.space.set_mtime(path, time + shift);
        }
        repair(builds, "");
        builds.is_fresh();
    });
}

#[test]
fn entries_of_what_the_manifest_no_longer_names_are_dropped() {
    each(|builds| {
        let without =
            MANIFEST.replace("build b: cat b.o | words\n", "").replace("default a b copy", "default a copy");
        builds.space.write_at("build.ninja", without, OLD);
        assert!(repair(builds, "").contains("log entry dropped: b\n"));
        builds.space.write_at("b.o", "other\n", OLD);
        builds.space.write_at("build.ninja", MANIFEST, OLD);
        assert!(builds.listed().contains(&"b".to_owned()));
    });
}

#[test]
fn a_target_that_began_to_discover_inputs_is_not_taken_for_one_without() {
    each(|builds| {
        // The binding is no part of the command, so that nothing else tells.
        let plain = MANIFEST.replace("  deps = gcc\n  depfile = $out.d\n", "");
        builds.space.write_at("build.ninja", &plain, OLD);
        builds.space.remove(".ninja_log");
        builds.build();
        assert_eq!(run(&builds.space, "record").answer(0), "");
        builds.space.remove(".ninja_deps");
        builds.space.write_at("build.ninja", MANIFEST, OLD);
        repair(builds, "");
        assert_eq!(builds.listed(), ["a", "a.o", "b", "b.o", "copy"]);
    });
}

#[test]
fn times_that_lie_ahead_hide_no_later_edit() {
    let ahead = 4_000_000_000 * SECOND;
    each(|builds| {
        builds.space.set_mtime("copy", ahead);
        builds.is_fresh();
        assert_eq!(run(&builds.space, "record").answer(0), "");
        assert!(repair(builds, "").contains("not proved: copy: its times lie ahead\n"));
        assert_eq!(builds.listed(), ["copy"]);
    });
    each(|builds| {
        builds.space.set_mtime("b.c", ahead);
        repair(builds, "--keep-sources");
        assert_eq!(builds.listed(), ["b", "b.o"]);
        // With its old time nothing lies ahead.
        repair(builds, "");
        builds.is_fresh();
    });
    each(|builds| {
        builds.space.set_mtime("b.c", ahead);
        repair(builds, "");
        builds.is_fresh();
    });
}

#[test]
fn logs_lie_where_the_manifest_says() {
    each(|builds| {
        let out = builds.space.path().join("out");
        fs::create_dir(&out).expect("a folder");
        for log in [".ninja_log", ".ninja_deps"] {
            fs::rename(builds.space.path().join(log), out.join(log)).expect("it is there");
        }
        builds.space.write_at("build.ninja", format!("builddir = out\n{MANIFEST}"), OLD);
        builds.is_fresh();
        assert_eq!(run(&builds.space, "record").answer(0), "");
        builds.space.remove("out/.ninja_deps");
        check_out(builds);
        repair(builds, "");
        builds.is_fresh();
        assert!(!builds.space.path().join(".ninja_log").exists());
        builds.space.write_at("b.c", "B\n", OLD);
        repair(builds, "");
        assert_eq!(builds.listed(), ["b", "b.o"]);
    });
}

#[test]
fn a_deps_log_that_was_cut_off_is_one_that_ninja_can_go_on_with() {
    // Ninja 1.13 appends behind the beginning of a record's length, and does not find again what it has appended.
    each(|builds| {
        let whole = builds.space.read(".ninja_deps");
        for length in 17..20 {
            builds.space.write(".ninja_deps", &whole[..length]);
            builds.space.write("h/all.h", format!("{length}\n"));
            repair(builds, "");
            assert_eq!(builds.listed(), ["a", "a.o", "b", "b.o", "copy"]);
            builds.build();
            builds.is_fresh();
        }
    });
}
