//! Grounds that are odd: each oddity is played by a library that answers in the place of the kernel.

use crate::command::upcheck_in;
use crate::{Diagnosis, number, text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use upcheck_tests::space::Space;
use upcheck_tests::tools::root;

/// `odd_ground.c`, compiled by the compiler that every test needs to be linked.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = LIBRARY.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("odd_ground.so");
        let source = root().join("tests/tests/doctor/odd_ground.c");
        // The header says that statx gets a path; Rust asks without one whether there is a statx.
        let unchecked = ["-fno-delete-null-pointer-checks", "-Wno-nonnull-compare"];
        let mut command = Command::new("cc");
        command.args(unchecked).args(["-shared", "-fPIC", "-o"]).arg(&path).arg(source);
        let status = command.status();
        assert!(status.expect("cc starts").success(), "the library does not compile");
        (folder, path)
    });
    path
}

/// Examines a directory as it looks with the oddities that the environment names.
#[track_caller]
pub(crate) fn odd(space: &Space, environment: &[(&str, &str)]) -> Diagnosis {
    let mut command = upcheck_in(space.path());
    command.args(["doctor", "--format", "json"]).env("LD_PRELOAD", library());
    Diagnosis::of(command.envs(environment.iter().copied()))
}

#[test]
fn without_an_oddity_all_is_good() {
    let diagnosis = odd(&Space::new(), &[]);
    assert_eq!(diagnosis.warnings(), [""; 0], "{:#}", diagnosis.document);
}

#[test]
fn stamps_are_as_fine_as_set_times_are_kept() {
    for (grain, words) in [("1", "nanoseconds"), ("100", "steps of 100 ns"), ("1000000", "steps of 1.0 ms")] {
        let diagnosis = odd(&Space::new(), &[("ODD_GRAIN", grain)]);
        assert_eq!(diagnosis.evidence("stamps", "kept_ns").to_string(), grain);
        assert!(
            text(&diagnosis.finding("stamps")["message"]).starts_with(&format!("set times keep {words}; "))
        );
        assert_eq!(diagnosis.status, 0, "{grain}");
    }
    for (grain, words) in [("1000000000", "1.000 s"), ("2000000000", "2.000 s")] {
        let diagnosis = odd(&Space::new(), &[("ODD_GRAIN", grain)]);
        assert_eq!(diagnosis.evidence("coarse-stamps", "kept_ns").to_string(), grain);
        assert_eq!(diagnosis.warnings(), ["coarse-stamps"], "{:#}", diagnosis.document);
        assert!(number(diagnosis.evidence("stamps", "tie_ns")) > 0);
        assert_eq!(diagnosis.finding("coarse-stamps")["message"], format!("stamps are {words} apart"));
    }
}

#[test]
fn a_tick_is_never_finer_than_the_stamps() {
    let diagnosis = odd(&Space::new(), &[("ODD_GRAIN", "1000000")]);
    let tick = diagnosis.evidence("stamps", "tick_ns").as_i64();
    assert!(tick.is_none_or(|tick| tick % 1_000_000 == 0), "{tick:?}");
}

#[test]
fn a_clock_that_is_off_is_found_out_with_its_side() {
    for (shift, side) in [(-60, "ahead of"), (60, "behind")] {
        let diagnosis = odd(&Space::new(), &[("ODD_CLOCK", &shift.to_string())]);
        assert_eq!(diagnosis.warnings(), ["clock-offset"]);
        assert!(text(&diagnosis.finding("clock-offset")["message"]).contains(side));
        for key in ["offset_least_ns", "offset_most_ns"] {
            let error = number(diagnosis.evidence("clock-offset", key)) + shift * 1_000_000_000;
            assert!(error.abs() < 1_500_000_000, "{key}: {error}");
        }
    }
}

#[test]
fn the_future_begins_by_the_clock_of_the_file_system() {
    let space = Space::new();
    space.write("build.ninja", "rule t\n  command = t\nbuild a: t b\n");
    space.write("b", "");
    // The local clock is behind: what was just written is no file from the future for that.
    let diagnosis = odd(&space, &[("ODD_CLOCK", "-3600")]);
    assert_eq!(diagnosis.warnings(), ["clock-offset"], "{:#}", diagnosis.document);
}

#[test]
fn directories_whose_stamps_are_of_no_use_are_found_out() {
    let still = odd(&Space::new(), &[("ODD", "folders-still")]);
    assert_eq!(still.warnings(), ["directory-stamps-unreliable"]);
    for key in ["create_moves", "remove_moves", "rename_moves", "edit_moves"] {
        assert_eq!(still.evidence("directory-stamps-unreliable", key), false);
    }
    let restless = odd(&Space::new(), &[("ODD", "folders-restless")]);
    assert_eq!(restless.evidence("directory-stamps-unreliable", "edit_moves"), true);
}

#[test]
fn inode_numbers_that_change_are_found_out() {
    let diagnosis = odd(&Space::new(), &[("ODD", "new-inodes")]);
    assert_eq!(diagnosis.warnings(), ["inodes-unstable"]);
    assert_eq!(diagnosis.evidence("inodes-unstable", "stable"), false);
}

#[test]
fn names_that_are_folded_are_told() {
    let diagnosis = odd(&Space::new(), &[("ODD", "fold")]);
    assert_eq!(
        (diagnosis.status, diagnosis.evidence("names-folded", "case_sensitive")),
        (0, &Value::from(false))
    );
}

#[test]
fn a_ctime_that_is_none_is_told() {
    let diagnosis = odd(&Space::new(), &[("ODD", "ctime-copies")]);
    assert_eq!(
        (diagnosis.status, diagnosis.evidence("ctime-unreliable", "ctime")),
        (0, &"copies-mtime".into())
    );
}

#[test]
fn times_that_do_not_stay_and_stamps_that_do_are_found_out() {
    let unset = odd(&Space::new(), &[("ODD", "unset")]);
    assert_eq!(unset.warnings(), ["times-not-kept"], "{:#}", unset.document);
    assert!(unset.evidence("stamps", "kept_ns").is_null());
    let stuck = odd(&Space::new(), &[("ODD", "stuck")]);
    assert!(stuck.warnings().contains(&"stamps-stay"), "{:#}", stuck.document);
    assert_eq!(stuck.evidence("stamps", "rewriting_moves"), false);
}

#[test]
fn where_nothing_can_be_written_nothing_is_measured() {
    let space = Space::new();
    let diagnosis = odd(&space, &[("ODD", "no-mkdir")]);
    assert_eq!(diagnosis.warnings(), ["not-measured"]);
    let message = text(&diagnosis.finding("not-measured")["message"]);
    assert!(message.starts_with("nothing could be measured: creating '"), "{message}");
    assert!(message.ends_with("': Read-only file system"), "{message}");
    // Enough for the build to be examined.
    space.write("build.ninja", "rule t\n  command = t\nbuild a: t b\n");
    space.write_at("b", "", i64::MAX / 4 * 3);
    assert_eq!(odd(&space, &[("ODD", "no-mkdir")]).warnings(), ["not-measured", "future-stamps"]);
}

#[test]
fn too_few_watches_are_found_out() {
    let space = Space::new();
    space.write("a/b/c", "");
    space.write("limit", "2\n");
    let limit = space.path().join("limit");
    let watches = [("ODD_WATCHES", limit.to_str().expect("text"))];
    let diagnosis = odd(&space, &watches);
    assert_eq!(diagnosis.warnings(), ["watch-limit"]);
    assert_eq!(diagnosis.evidence("watch-limit", "directories_below"), 3);
    assert_eq!(diagnosis.finding("watch-limit")["advice"], "sysctl fs.inotify.max_user_watches=8");
    space.write("limit", "3\n");
    assert_eq!(odd(&space, &watches).status, 0);
}
