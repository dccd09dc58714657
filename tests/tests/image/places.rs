//! Where images are kept, and what becomes of those who want none.

use crate::command::spaces::{changed_header, program};
use crate::command::{Ran, upcheck_in};
use crate::folder::{asked, command, entries, ran};
use std::path::Path;
use upcheck_tests::space::Space;

/// A build directory whose image is used.
pub(crate) fn kept() -> Space {
    let space = program();
    // Young files are looked into, and then known to be old enough.
    let _ = asked(&space, "");
    assert_eq!(asked(&space, "").0, 0);
    space
}

#[test]
fn a_folder_that_cannot_be_made_is_worth_a_warning_only_to_those_who_named_it() {
    for (space, status) in [(program(), 0), (changed_header(), 1)] {
        let file = Space::new();
        file.write("file", "");
        let impossible = file.path().join("file/below");
        let without = ran(command(&space, "--no-image --explain"));
        assert_eq!(without.status, status);

        let mut named = upcheck_in(space.path());
        named.args(["--explain", "--image-dir"]).arg(&impossible);
        let named = ran(named);
        assert_eq!((named.status, &named.stdout), (status, &without.stdout));
        assert!(
            named.stderr.contains("warning:") && named.stderr.contains("keeping an image in"),
            "{named:?}"
        );

        let mut unnamed = upcheck_in(space.path());
        unnamed.arg("--explain").env_remove("UPCHECK_CACHE_DIR").env(CACHE, &impossible);
        assert_eq!(ran(unnamed), without);
    }
}

/// The variable that names the user's cache folder.
const CACHE: &str = if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_CACHE_HOME" };

/// Where an image is found with such an environment, below a folder that is `{}` in it.
#[track_caller]
fn place(environment: &[(&str, &str)]) -> Vec<String> {
    let (space, home) = (program(), Space::new());
    let tree = space.entries();
    let mut upcheck = upcheck_in(space.path());
    for name in ["HOME", CACHE, "UPCHECK_CACHE_DIR"] {
        upcheck.env_remove(name);
    }
    for (name, value) in environment {
        upcheck.env(name, value.replace("{}", &home.path().to_string_lossy()));
    }
    assert_eq!(ran(upcheck).answer(0), "fresh: nothing to do for 4 targets\n");
    assert!(space.entries() == tree, "{environment:?} led into the build directory");
    let below = |path: &Path| path.strip_prefix(home.path()).map(|path| path.to_string_lossy().into_owned());
    let found = home.entries().into_keys().filter(|path| path.extension().is_some_and(|is| is == "image"));
    found.map(|path| below(path.parent().expect("a folder")).expect("below home")).collect()
}

#[test]
#[cfg(unix)]
fn images_are_kept_where_the_environment_says() {
    assert_eq!(place(&[("HOME", "{}")]), [".cache/upcheck"]);
    assert_eq!(place(&[("HOME", "{}/h"), ("XDG_CACHE_HOME", "{}/x")]), ["x/upcheck"]);
    assert_eq!(place(&[("XDG_CACHE_HOME", "{}/x")]), ["x/upcheck"]);
    let all = [("HOME", "{}/h"), ("XDG_CACHE_HOME", "{}/x"), ("UPCHECK_CACHE_DIR", "{}/u")];
    assert_eq!(place(&all), ["u"]);
    assert_eq!(
        place(&[("HOME", "{}"), ("XDG_CACHE_HOME", "{}/x"), ("UPCHECK_CACHE_DIR", "")]),
        ["x/upcheck"]
    );
    // A path that is relative means nothing there.
    assert_eq!(place(&[("HOME", "{}"), ("XDG_CACHE_HOME", "relative")]), [".cache/upcheck"]);
    assert_eq!(place(&[("HOME", "{}"), ("XDG_CACHE_HOME", "")]), [".cache/upcheck"]);
    // Nor may a home be the build directory by accident.
    assert_eq!(place(&[("HOME", "relative")]), [""; 0]);
    assert_eq!(place(&[("HOME", ".")]), [""; 0]);
}

#[test]
#[cfg(windows)]
fn images_are_kept_where_the_environment_of_windows_says() {
    assert_eq!(place(&[("LOCALAPPDATA", "{}")]), ["upcheck"]);
    assert_eq!(place(&[("LOCALAPPDATA", "{}\\l"), ("HOME", "{}\\h")]), ["l\\upcheck"]);
    assert_eq!(place(&[("LOCALAPPDATA", "{}\\l"), ("UPCHECK_CACHE_DIR", "{}/u")]), ["u"]);
    assert_eq!(place(&[("LOCALAPPDATA", "{}\\l"), ("UPCHECK_CACHE_DIR", "")]), ["l\\upcheck"]);
    // Nor may a home be the build directory by accident.
    for relative in ["relative", ".", "\\", "C:"] {
        assert_eq!(place(&[("LOCALAPPDATA", relative)]), [""; 0], "{relative}");
    }
}

#[test]
fn without_images_none_is_read_and_none_is_written() {
    let space = kept();
    let before = entries(&space.images());
    for question in ["--no-image", "--no-image --exact", "why prog --no-image"] {
        assert_eq!(ran(command(&space, question)).status, 0);
    }
    assert_eq!(entries(&space.images()), before);
    space.set_mtime("config.h", 1_800_000_000_000_000_000);
    let ran: Ran = ran(command(&space, "--no-image --format json"));
    assert!(ran.stdout.contains("\"image\":\"none\""), "{}", ran.stdout);
    assert_eq!(entries(&space.images()), before);
}
