//! Stores of records that permissions close.

use crate::{CAT, Ended, fresh, run, sources, upcheck};
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
    run(&space, TARGET, CAT).well();
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
