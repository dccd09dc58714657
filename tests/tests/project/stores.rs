//! Stores of records that are damaged, gone, or of another version.

use crate::{MAKE, ask, fresh, made, run, sources, stale};
use std::fs;
use upcheck_tests::space::Space;

const TARGET: &str = "-i src/*.ts -o out";

/// The folder of records, as it is told.
const STORE: &str = if cfg!(windows) { r".\.upcheck" } else { "./.upcheck" };

fn built() -> Space {
    let space = sources();
    run(&space, TARGET, crate::CAT).well();
    space
}

/// The first 24 bytes of a store of version 2, on a machine with little endian numbers: the checksum is right.
fn of_version_2() -> Vec<u8> {
    let mut header = b"uprecord\x04\x03\x02\x01\x02\0\0\0".to_vec();
    header.extend(0xfd62_17be_f8c1_ee98_u64.to_le_bytes());
    header.extend([7; 100]);
    header
}

#[test]
#[cfg(target_endian = "little")]
fn a_store_of_another_version_is_trouble_and_stays_as_it_is() {
    let space = built();
    space.write(".upcheck/records", of_version_2());
    let trouble = ask(&space, TARGET).trouble();
    assert!(trouble.starts_with(&format!("upcheck: error: reading the records in '{STORE}': ")), "{trouble}");
    assert!(trouble.contains("version 2"), "{trouble}");
    for args in ["why out", "record", "record --begin", "affected x"] {
        assert!(ask(&space, &format!("{args} {TARGET}")).trouble().contains("version 2"));
    }
    assert!(run(&space, TARGET, "touch was-run").trouble().contains("version 2"));
    assert!(!space.path().join("was-run").exists());
    assert_eq!(space.read(".upcheck/records"), of_version_2());
}

#[test]
fn a_damaged_store_is_warned_of_and_its_targets_are_stale() {
    let space = made();
    let whole = space.read(".upcheck/records");
    let warning = &format!("upcheck: warning: the records in '{STORE}' are damaged from byte ");
    let mut n_warned = 0;
    for at in (0..whole.len()).step_by(97) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        space.write(".upcheck/records", damaged);
        let ran = ask(&space, "--from graph");
        if at < 24 && ran.status == 2 {
            // Taken for another version, or another machine's.
            continue;
        }
        // A length that leads behind the end may be that of an entry which is just being written.
        let is_warned = ran.stderr.starts_with(warning) && ran.stderr.lines().count() == 1;
        assert!(is_warned || ran.stderr.is_empty(), "{at}: {}", ran.stderr);
        n_warned += usize::from(is_warned);
        assert_eq!(ran.status, 1, "{at}");
        assert!(ask(&space, "-q --from graph").stdout.is_empty());
    }
    assert!(n_warned > 10, "{n_warned}");
    // Whoever runs is told too, and then it is whole.
    let mut damaged = whole;
    damaged[30] ^= 1;
    space.write(".upcheck/records", damaged);
    let ended = run(&space, "--from graph", MAKE);
    assert!(ended.status == 0 && ended.stderr.starts_with(warning), "{ended:?}");
    run(&space, "--from graph", MAKE).well();
    fresh(&space, "--from graph");
}

#[test]
fn a_store_that_ends_too_early_is_believed_up_to_there() {
    let space = made();
    let whole = space.read(".upcheck/records");
    for cut in [1, 8, 64, whole.len() / 2, whole.len() - 30, whole.len() - 1] {
        space.write(".upcheck/records", &whole[..whole.len() - cut]);
        let ran = ask(&space, "--from graph");
        assert_eq!(ran.status, 1, "{cut}");
        // The last entry may be one that is just being written.
        assert!(ran.stderr.is_empty() || ran.stderr.contains("are damaged from byte"), "{}", ran.stderr);
    }
    space.write(".upcheck/records", "");
    assert_eq!(ask(&space, "-q --from graph").status, 1);
    space.write(".upcheck/records", &whole);
    fresh(&space, "--from graph");
}

#[test]
fn a_store_that_is_gone_is_makes_rule_again() {
    let space = made();
    fs::remove_dir_all(space.path().join(".upcheck")).expect("it was made");
    // The check has no file that could be newer.
    assert_eq!(stale(&space, "--from graph"), "tests: never-built tests");
    fresh(&space, "--from graph app");
}

#[test]
fn two_builds_may_share_a_store() {
    let space = made();
    run(&space, TARGET, "mkdir -p src; touch out").well();
    fresh(&space, "--from graph");
    fresh(&space, TARGET);
    run(&space, "--name lint -i a.c", "true").well();
    for args in ["--from graph", TARGET, "--name lint -i a.c"] {
        fresh(&space, args);
    }
}
