//! What builds are known to stumble over, a test for each that concerns records.
//!
//! | what | test |
//! |---|---|
//! | an edit within the tick of the record; ticks of 1 ns to 2 s | [`an_edit_within_a_tick_of_whatever_length_is_seen`], `disks` |
//! | files from the future | [`a_source_from_the_future_is_stale_once`] |
//! | mtime goes back: tar, cp -p, git stash, a stamp restored by a tool | `policies::an_input_that_is_replaced_by_an_older_file_has_changed` |
//! | mtime goes forward, content stays | `policies::a_touched_input_makes_its_users_stale_where_times_alone_count` |
//! | stamps cut off or rounded by an archive, FAT, shifted by an hour | [`stamps_that_an_archive_changed_leave_it_to_the_content`], `disks` |
//! | generated headers, unknown the first time | [`a_generated_header_counts_from_its_first_discovery`] |
//! | a depfile that is missing, torn or empty | [`a_build_that_left_no_whole_depfile_is_not_recorded`] |
//! | a depfile that names what was deleted since | `policies::discovered_inputs_are_compared_like_others` |
//! | a depfile that names what never was there | [`a_discovered_file_that_was_never_there_is_told_of`] |
//! | directories as inputs | [`a_directory_is_the_names_in_it`] |
//! | links | [`a_link_that_leads_elsewhere_now_is_a_change`] |
//! | files that a pattern matches come and go | `policies::a_file_that_appears_or_disappears_under_a_pattern_is_a_difference` |
//! | command, environment, version of a tool | `policies::another_command_...`, `policies::another_value_...`, [`each_of_two_values_of_one_name_counts`] |
//! | an interrupted build leaves a part of an output | `policies::a_build_that_did_not_succeed_is_interrupted`, `kills` |
//! | inputs change during the build | `during` |
//! | outputs touched or replaced by hand | `policies::an_output_with_other_content_makes_its_target_stale` |
//! | copies that keep the mtime | [`a_copy_with_the_time_of_its_input_is_fresh`] |
//! | hard links | [`an_output_that_is_a_link_to_its_input_changes_with_it`], `during::an_input_that_is_linked_...` |
//! | layers, network clocks | `disks::dangers_on_layers`, `clocks` |
//! | mtime 0, or before 1970 | [`times_of_zero_and_before_1970_are_times`] |
//! | one path, spelt in two ways | [`a_path_that_is_spelt_otherwise_is_the_same_input`] |
//! | the disk would not say | [`an_input_that_cannot_be_looked_at_is_stale_and_no_error`] |
//! | a check that writes | [`a_check_leaves_the_store_as_it_is`] |
//! | an output that its tool need not write again | [`an_output_that_is_not_written_again_is_fresh`] |
//! | a change between looking at a file and reading it | [`an_input_that_is_changed_while_it_is_read_is_stale`] |
//!
//! Not here: letter case and normal forms (records hold the bytes of names); directory entries of NTFS, and what maps of
//! files do on Windows (the collector's); lost and late events (nothing listens to any). What cannot be seen: a
//! writer through a map of the file whose stamp the system has not brought up to date; an old depfile that a command
//! left as it was; a directory that is exchanged during a build for one whose files are older, as far as headers are
//! concerned that were not known before.

use crate::describe::{Desc, Process, lines};
use crate::{Bench, S, with_input};
use std::collections::BTreeMap;
use std::fs;
use upcheck::Policy;
use upcheck::collect::os_disk;
use upcheck_tests::space::Space;

const EIO: i32 = 5;
const MS: i64 = 1_000_000;

const RECORDED: [Policy; 5] = [
    Policy::Mtime,
    Policy::Digest,
    Policy::MtimeAndDigest,
    Policy::MtimeAndDigestInput,
    Policy::MtimeOrDigest,
];

#[test]
fn an_edit_within_a_tick_of_whatever_length_is_seen() {
    for policy in RECORDED {
        for granularity in [1, 4 * MS, S, 2 * S] {
            // Written, built and edited at one and the same time, in place and with the same size.
            let mut bench = with_input(policy);
            bench.disk.set_granularity(granularity);
            bench.disk.overwrite("in", b"one");
            let running = bench.begin("out");
            bench.disk.write("out", b"111");
            running.commit(&bench.disk);
            assert_eq!(bench.stale(), [""; 0], "{policy:?} {granularity}");
            bench.disk.overwrite("in", b"two");
            assert_eq!(bench.stale(), ["out: input-changed in"], "{policy:?} {granularity}");
            bench.disk.overwrite("in", b"one");
            bench.disk.overwrite("out", b"222");
            assert_eq!(bench.stale(), ["out: output-changed out"], "{policy:?} {granularity}");
        }
    }
}

#[test]
fn a_source_from_the_future_is_stale_once() {
    for policy in RECORDED {
        let mut bench = with_input(policy);
        bench.disk.touch("in", 9000 * S);
        bench.build("out", "1");
        assert_eq!(bench.stale(), [""; 0], "{policy:?}");
        // Its status can only be from the future if a clock was ahead.
        bench.disk.set_clock(9500 * S);
        bench.disk.overwrite("in", b"two");
        bench.disk.set_clock(2000 * S);
        assert_eq!(bench.stale(), ["out: input-changed in"], "{policy:?}");
        bench.build("out", "2");
        assert_eq!(bench.stale(), [""; 0], "{policy:?}");
        bench.disk.overwrite_keeping_mtime("in", b"six");
        let expected: &[&str] = &["out: input-changed in"];
        assert_eq!(bench.stale(), expected, "{policy:?}");
    }
}

#[test]
fn stamps_that_an_archive_changed_leave_it_to_the_content() {
    let cut_off = |mtime: i64| mtime - mtime.rem_euclid(S);
    let even = |mtime: i64| mtime - mtime.rem_euclid(2 * S);
    let summer = |mtime: i64| mtime + 3600 * S;
    for change in [cut_off, even, summer] {
        for policy in [Policy::Digest, Policy::MtimeAndDigest] {
            let mut bench = with_input(policy);
            bench.disk.set_clock(1001 * S + 5);
            bench.disk.write("in", b"one");
            bench.build("out", "one");
            for file in ["in", "out"] {
                let mtime = crate::naive::meta(&bench.disk, file).expect("there").mtime;
                bench.disk.write(file, b"one");
                bench.disk.touch(file, change(mtime));
            }
            assert_eq!(bench.stale(), [""; 0], "{policy:?}");
            bench.disk.overwrite_keeping_mtime("in", b"two");
            assert_eq!(bench.stale(), ["out: input-changed in"], "{policy:?}");
        }
    }
}

fn with_depfile() -> Bench {
    let desc = Desc { depfile: "out.d".to_owned(), ..Desc::new("out", &["in"]) };
    let mut bench = Bench::new(&[desc]);
    bench.disk.write("in", b"one");
    bench
}

#[test]
fn a_generated_header_counts_from_its_first_discovery() {
    let mut bench = with_depfile();
    bench.targets[0].order_only = vec!["gen.h".to_owned()];
    bench.targets.push(Desc::new("gen.h", &["gen"]));
    bench.disk.write("gen", b"1");
    assert!(bench.build("gen.h", "h1"));
    bench.disk.write("out.d", b"out: in gen.h\n");
    assert!(bench.build("out", "1"));
    assert_eq!(bench.stale(), [""; 0]);
    bench.disk.write("gen", b"2");
    assert_eq!(bench.stale(), ["gen.h: input-changed gen", "out: (pending) upstream-stale gen.h"]);
    assert!(bench.build("gen.h", "h2"));
    assert_eq!(bench.stale(), ["out: input-changed gen.h"]);
    assert!(bench.build("out", "2"));
    assert_eq!(bench.stale(), [""; 0]);
}

#[test]
fn a_build_that_left_no_whole_depfile_is_not_recorded() {
    for depfile in [None, Some(""), Some("out"), Some("out: in x\nx: y")] {
        let mut bench = with_depfile();
        bench.disk.write("h", b"1");
        bench.disk.tick();
        let running = bench.begin("out");
        bench.disk.write("out", b"1");
        if let Some(text) = depfile {
            bench.disk.write("out.d", text.as_bytes());
        }
        bench.disk.tick();
        let committed = running.try_commit(&bench.disk).map(|_| ());
        assert!(committed.is_err(), "{depfile:?}");
        assert_eq!(bench.stale(), ["out: interrupted out"], "{depfile:?}");
    }
}

#[test]
fn a_discovered_file_that_was_never_there_is_told_of() {
    let mut bench = with_depfile();
    bench.disk.write("out.d", b"out: in phantom.h\n");
    assert!(!bench.build("out", "1"), "there is doubt");
    for _ in 0..2 {
        bench.build("out", "1");
        assert_eq!(bench.stale(), ["out: input-missing phantom.h"]);
    }
}

#[test]
fn a_directory_is_the_names_in_it() {
    for policy in RECORDED {
        let mut bench = Bench::new(&[Desc::new("out", &["dir"]).policy(policy)]);
        bench.disk.make_directory("dir");
        bench.disk.write("dir/a", b"1");
        bench.disk.tick();
        bench.build("out", "1");
        assert_eq!(bench.stale(), [""; 0], "{policy:?}");
        bench.disk.overwrite("dir/a", b"2");
        assert_eq!(bench.stale(), [""; 0], "{policy:?}: what is in a file of it is not its own");
        bench.disk.write("dir/b", b"");
        assert_eq!(bench.stale(), ["out: input-changed dir"], "{policy:?}");
        // As an editor does that saves by way of another file.
        bench.disk.remove("dir/b");
        let expected: &[&str] = if policy.of_inputs().forgives() { &[] } else { &["out: input-changed dir"] };
        assert_eq!(bench.stale(), expected, "{policy:?}");
    }
}

#[test]
fn a_link_that_leads_elsewhere_now_is_a_change() {
    for policy in RECORDED {
        let mut bench = Bench::new(&[Desc::new("out", &["link"]).policy(policy)]);
        for (file, content) in [("one", b"1"), ("two", b"2")] {
            bench.disk.write(file, content);
            bench.disk.touch(file, 500 * S);
        }
        bench.disk.link("link", "one");
        bench.disk.tick();
        bench.build("out", "1");
        assert_eq!(bench.stale(), [""; 0], "{policy:?}");
        bench.disk.link("link", "two");
        assert_eq!(bench.stale(), ["out: input-changed link"], "{policy:?}");
        bench.disk.link("link", "nowhere");
        assert_eq!(bench.stale(), ["out: input-missing link"], "{policy:?}");
    }
}

#[test]
fn each_of_two_values_of_one_name_counts() {
    let with = |values: [&str; 2]| {
        let values = values.map(|value| ("FLAG".to_owned(), value.to_owned()));
        Desc { values: values.to_vec(), ..Desc::new("out", &["in"]) }
    };
    let mut bench = Bench::new(&[with(["a", "x"])]);
    bench.disk.write("in", b"one");
    bench.build("out", "1");
    assert_eq!(bench.stale(), [""; 0]);
    bench.targets = vec![with(["b", "x"])];
    assert_eq!(bench.stale(), ["out: value-changed out"]);
    // Their order is nothing that a description says.
    bench.targets = vec![with(["x", "a"])];
    assert_eq!(bench.stale(), [""; 0]);
}

#[test]
fn a_copy_with_the_time_of_its_input_is_fresh() {
    for policy in Policy::ALL {
        let mut bench = with_input(policy);
        let running = bench.begin("out");
        bench.disk.copy_with_mtime("in", "out");
        bench.disk.tick();
        assert!(running.commit(&bench.disk));
        assert_eq!(bench.stale(), [""; 0], "{policy:?}");
    }
}

#[test]
fn an_output_that_is_a_link_to_its_input_changes_with_it() {
    for policy in RECORDED {
        let space = Space::new();
        let (disk, store) = (os_disk(space.path()).expect("a disk"), space.path().join("store"));
        let targets = [Desc::new("out", &["in"]).policy(policy)];
        space.write("in", "one");
        for _ in 0..2 {
            let running = Process::new(&targets).begin(&disk, &store, &["out"]);
            space.remove("out");
            fs::hard_link(space.path().join("in"), space.path().join("out")).expect("a link");
            assert!(running.commit(&disk), "{policy:?}: a link more is no edit");
            assert_eq!(lines(&Process::new(&targets).check(&disk, &store)), [""; 0], "{policy:?}");
        }
        space.write("in", "two");
        let stale = lines(&Process::new(&targets).check(&disk, &store));
        assert_eq!(stale, ["out: input-changed in, output-changed out"], "{policy:?}");
    }
}

#[test]
fn times_of_zero_and_before_1970_are_times() {
    for policy in RECORDED {
        for mtime in [0, 1, -1, -5 * S] {
            let mut bench = with_input(policy);
            bench.disk.touch("in", mtime);
            bench.build("out", "1");
            bench.disk.touch("out", mtime);
            let running = bench.begin("out");
            bench.disk.touch("out", mtime);
            bench.disk.tick();
            assert!(running.commit(&bench.disk), "{policy:?} {mtime}");
            assert_eq!(bench.stale(), [""; 0], "{policy:?} {mtime}");
            bench.disk.remove("in");
            assert_eq!(bench.stale(), ["out: input-missing in"], "{policy:?} {mtime}");
        }
    }
}

#[test]
fn a_path_that_is_spelt_otherwise_is_the_same_input() {
    let mut bench = with_input(Policy::default());
    bench.build("out", "1");
    bench.targets = vec![Desc::new("./out", &["a/../in"])];
    assert_eq!(lines(&Process::new(&bench.targets).check(&bench.disk, &bench.store())), [""; 0]);
}

#[test]
fn an_input_that_cannot_be_looked_at_is_stale_and_no_error() {
    for policy in RECORDED {
        let mut bench = with_input(policy);
        bench.build("out", "1");
        bench.disk.fail("in", EIO);
        assert_eq!(bench.stale(), ["out: unreadable in"], "{policy:?}");
        assert!(!bench.build("out", "1"), "{policy:?}: there is doubt");
        assert_eq!(bench.stale(), ["out: unreadable in"], "{policy:?}");
    }
}

#[test]
fn a_check_leaves_the_store_as_it_is() {
    let mut bench = with_input(Policy::default());
    bench.build("out", "1");
    let store = bench.store();
    let look = || -> BTreeMap<_, _> {
        let entries = fs::read_dir(&store).expect("a store").map(|entry| entry.expect("an entry").path());
        let look = |path: std::path::PathBuf| {
            let time = fs::metadata(&path).expect("there").modified().expect("a time");
            let content = if path.is_file() { fs::read(&path).expect("read") } else { Vec::new() };
            (path, (content, time))
        };
        entries.map(look).collect()
    };
    let before = look();
    for content in [b"one", b"two"] {
        bench.disk.write("in", content);
        bench.stale();
        assert_eq!(look(), before);
    }
}

#[test]
fn an_output_that_is_not_written_again_is_fresh() {
    for policy in RECORDED {
        let mut bench = with_input(policy);
        bench.build("out", "1");
        bench.disk.write("in", b"two");
        assert_eq!(bench.stale(), ["out: input-changed in"], "{policy:?}");
        bench.disk.tick();
        assert!(bench.begin("out").commit(&bench.disk), "its command found that it is as it has to be");
        assert_eq!(bench.stale(), [""; 0], "{policy:?}");
    }
}

#[test]
fn an_input_that_is_changed_while_it_is_read_is_stale() {
    for policy in [Policy::Digest, Policy::MtimeAndDigest, Policy::MtimeAndDigestInput] {
        // While its content is taken for the record.
        let mut bench = with_input(policy);
        bench.disk.on_read("in", |disk| {
            disk.tick();
            disk.overwrite("in", b"two");
        });
        let running = bench.begin("out");
        bench.disk.tick();
        bench.disk.write("out", b"1");
        bench.disk.tick();
        assert!(!running.commit(&bench.disk), "{policy:?}");
        assert_eq!(bench.stale(), ["out: input-changed in"], "{policy:?}");
        // While it is compared with the record.
        let mut bench = with_input(policy);
        bench.build("out", "1");
        bench.disk.write("in", b"one");
        bench.disk.on_read("in", |disk| {
            disk.tick();
            disk.overwrite("in", b"two");
        });
        assert_eq!(bench.stale(), ["out: input-changed in"], "{policy:?}");
    }
}
