//! Files and directories that may not be read.

use crate::command::spaces::{T, discovering, manifest, program, with_depfile};
use crate::command::{Ran, build_log, upcheck_in};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;
use upcheck_tests::tools;

/// Who runs upcheck where permissions matter. Root may do everything, and so must become somebody else.
fn somebody() -> Option<impl Fn(&Space, &str) -> Ran> {
    let space = Space::new();
    let is_root = fs::metadata(space.path()).expect("a directory").uid() == 0;
    if !is_root {
        return Some(somebody_else(None));
    }
    let mut trial = Command::new("/bin/sh");
    trial.args(["-c", "exit 0"]).uid(65_534).gid(65_534);
    if trial.status().is_ok_and(|status| status.success()) {
        return Some(somebody_else(Some(65_534)));
    }
    not_tested("permissions; this is root, who may read everything, and who cannot become another user here");
    None
}

fn somebody_else(uid: Option<u32>) -> impl Fn(&Space, &str) -> Ran {
    // The build's own folders may be closed to the other user.
    let home = Space::new();
    fs::set_permissions(home.path(), Permissions::from_mode(0o755)).expect("permissions");
    let upcheck = home.path().join("upcheck");
    fs::copy(tools::upcheck(), &upcheck).expect("a copy of upcheck");
    move |space: &Space, args: &str| {
        let _keep = &home;
        let before = space.entries();
        let copied = upcheck_in(space.path());
        let mut command = Command::new(&upcheck);
        command.args(args.split_whitespace()).current_dir(space.path());
        command.envs(copied.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(uid) = uid {
            command.uid(uid).gid(uid);
        }
        let ran = Ran::new(command.output().expect("upcheck starts"));
        assert!(space.entries() == before, "the tree was touched");
        ran
    }
}

#[test]
fn files_that_may_not_be_read_are_errors_or_make_their_targets_stale() {
    let Some(run) = somebody() else { return };
    let open = |space: &Space| {
        fs::set_permissions(space.path(), Permissions::from_mode(0o755)).expect("permissions");
    };
    let close = |space: &Space, name: &str, mode: u32| {
        fs::set_permissions(space.path().join(name), Permissions::from_mode(mode)).expect("permissions");
    };
    for (name, error) in [
        ("build.ninja", "loading 'build.ninja': Permission denied"),
        (".ninja_log", "loading build log '.ninja_log': Permission denied"),
        (".ninja_deps", "loading deps log '.ninja_deps': Permission denied"),
    ] {
        let space = discovering();
        open(&space);
        assert_eq!(run(&space, "").status, 0);
        close(&space, name, 0);
        let expected = format!("upcheck: error: {error}\n");
        for args in ["", "--exact", "why a"] {
            assert_eq!(run(&space, args).trouble(), expected);
        }
        assert_eq!(run(&space, "--format json").trouble_in_json(), expected);
    }

    // Only the time of sources and outputs matters: nobody has to be able to read them.
    let space = program();
    open(&space);
    for name in ["a.c", "a.o", "prog", "config.h"] {
        close(&space, name, 0);
    }
    assert_eq!(run(&space, "").answer(0), "fresh: nothing to do for 4 targets\n");

    let space = with_depfile();
    open(&space);
    space.write("a.d", "a: b\n");
    assert_eq!(run(&space, "").status, 0);
    close(&space, "a.d", 0);
    let text = run(&space, "").answer(1);
    assert!(
        text.contains("the discovered inputs of a are not known: loading 'a.d': Permission denied\n"),
        "{text}"
    );
    assert_eq!(run(&space, "--exact").trouble(), "upcheck: error: loading 'a.d': Permission denied\n");
}

#[test]
fn directories_that_may_not_be_searched_hide_only_what_is_in_them() {
    let Some(run) = somebody() else { return };
    let space = manifest(
        "rule t\n  command = t $out\nbuild a: t closed/x closed/y\nbuild b: t listed/x\nbuild c: t\n",
    );
    for name in ["closed/x", "closed/y", "listed/x"] {
        space.write_at(name, "", T);
    }
    for name in ["a", "b", "c"] {
        space.write_at(name, "", T);
    }
    space.write(".ninja_log", build_log(&[("a", T, "t a"), ("b", T, "t b"), ("c", T, "t c")]));
    fs::set_permissions(space.path(), Permissions::from_mode(0o755)).expect("permissions");
    let close = |name: &str, mode: u32| {
        fs::set_permissions(space.path().join(name), Permissions::from_mode(mode)).expect("permissions");
    };
    // To be searched but not listed is enough.
    close("listed", 0o711);
    assert_eq!(run(&space, "").answer(0), "fresh: nothing to do for 3 targets\n");
    close("closed", 0o644);
    assert_eq!(
        run(&space, "").answer(1),
        "1 of 3 targets is stale\n\n\
         stale   a\n          closed/x cannot be looked at: Permission denied\n          \
         closed/y cannot be looked at: Permission denied\n"
    );
    assert_eq!(run(&space, "--exact").trouble(), "upcheck: error: stat(closed/x): Permission denied\n");
    assert_eq!(run(&space, "-C closed").trouble().lines().count(), 1);
    close("closed", 0o755);
}
