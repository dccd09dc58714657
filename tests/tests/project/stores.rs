//! Stores of records that cannot be read or written, are damaged, or are of another version.

use crate::{Ended, fresh};
use crate::{MAKE, ask, made, run, sources, stale, upcheck};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;
use upcheck_tests::tools;

const TARGET: &str = "-i src/*.ts -o out";

fn built() -> Space {
    let space = sources();
    run(&space, TARGET, crate::CAT).well();
    fs::set_permissions(space.path(), Permissions::from_mode(0o755)).expect("permissions");
    space
}

/// Runs upcheck as somebody whom permissions concern; `None` where nobody can be had.
fn somebody() -> Option<impl Fn(&Space, &[&str]) -> Ended> {
    // The build's own folders may be closed to another user.
    let home = Space::new();
    fs::set_permissions(home.path(), Permissions::from_mode(0o755)).expect("permissions");
    fs::copy(tools::upcheck(), home.path().join("upcheck")).expect("a copy of upcheck");
    let is_root = fs::metadata(home.path()).expect("a directory").uid() == 0;
    let can_be_another = || {
        let trial = Command::new("/bin/sh").args(["-c", "exit 0"]).uid(65_534).gid(65_534).status();
        trial.is_ok_and(|status| status.success())
    };
    if is_root && !can_be_another() {
        not_tested(
            "permissions; this is root, who may do everything, and who cannot become another user here",
        );
        return None;
    }
    Some(move |space: &Space, args: &[&str]| {
        let like = upcheck(space, [""; 0]);
        let mut command = Command::new(home.path().join("upcheck"));
        command.args(args).current_dir(space.path());
        command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        Ended::new(command.output().expect("upcheck starts"))
    })
}

fn close(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("permissions");
}

#[test]
fn a_store_that_cannot_be_read_is_trouble() {
    let Some(somebody) = somebody() else { return };
    let check = ["-i", "src/*.ts", "-o", "out"];
    for (name, expected) in [
        (
            ".upcheck/records",
            "reading the records in './.upcheck': cannot read ./.upcheck/records: Permission denied",
        ),
        (
            ".upcheck",
            "reading the records in './.upcheck': cannot read ./.upcheck/records: Permission denied",
        ),
    ] {
        let space = built();
        let path = space.path().join(name);
        let mode = fs::metadata(&path).expect("it was made").mode();
        close(&path, 0);
        let ended = somebody(&space, &check);
        close(&path, mode);
        assert_eq!((ended.status, ended.stderr), (2, format!("upcheck: error: {expected}\n")), "{name}");
        fresh(&space, TARGET);
    }
}

#[test]
fn a_store_that_cannot_be_written_to_is_trouble_before_anything_is_run() {
    let Some(somebody) = somebody() else { return };
    let run = ["run", "--always", "-i", "src/*.ts", "-o", "out", "--", "sh", "-c", "echo ran >> /dev/stdout"];
    // Without a store it has to be made.
    let space = built();
    fs::remove_dir_all(space.path().join(".upcheck")).expect("it was made");
    let trouble = somebody(&space, &run).trouble();
    assert!(trouble.contains("cannot make ./.upcheck") && trouble.contains("Permission denied"), "{trouble}");
    // Asking needs none.
    let ended = somebody(&space, &["-i", "src/*.ts", "-o", "out"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    // It is there, and somebody else's.
    let space = built();
    let before = space.entries();
    let trouble = somebody(&space, &run).trouble();
    assert!(trouble.contains("Permission denied"), "{trouble}");
    let ended = somebody(&space, &["record", "-i", "src/*.ts", "-o", "out"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("Permission denied"), "{}", ended.stderr);
    assert!(space.entries() == before, "nothing was changed");
    let ended = somebody(&space, &["-i", "src/*.ts", "-o", "out"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
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
    assert!(trouble.starts_with("upcheck: error: reading the records in './.upcheck': "), "{trouble}");
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
    let warning = "upcheck: warning: the records in './.upcheck' are damaged from byte ";
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
