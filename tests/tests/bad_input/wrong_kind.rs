//! The wrong kind of file: directories, and links that lead in circles.

use crate::command::spaces::{SECOND, T, link_loop, manifest, program, with_depfile};
use crate::{all_end_in, reasons, report, run};
use std::fs;
use upcheck_tests::space::Space;

#[test]
fn a_directory_in_the_place_of_a_file_that_has_to_be_read_is_an_error() {
    let text = "rule t\n  command = t\nbuild a: t\n";
    for (name, error) in [
        ("build.ninja", "loading 'build.ninja': Is a directory"),
        (".ninja_log", "loading build log '.ninja_log': Is a directory"),
        (".ninja_deps", "loading deps log '.ninja_deps': Is a directory"),
    ] {
        let space = manifest(text);
        space.remove(name);
        fs::create_dir(space.path().join(name)).expect("a directory");
        all_end_in(&space, error);
    }
    let space = manifest("include sub\n");
    fs::create_dir(space.path().join("sub")).expect("a directory");
    all_end_in(
        &space,
        "build.ninja:1:12: loading 'sub': Is a directory\n  | include sub\n  |            ^ near here",
    );
    let space = manifest(format!("builddir = b\n{text}"));
    space.write("b", "");
    all_end_in(&space, "loading build log 'b/.ninja_log': Not a directory");
}

#[test]
fn a_directory_in_the_place_of_a_depfile_or_dyndep_file_makes_its_target_stale() {
    let space = with_depfile();
    fs::create_dir(space.path().join("a.d")).expect("a directory");
    let found = report(&space, "");
    assert_eq!(reasons(&found), "a: deps-unknown a");
    assert_eq!(found["errors"][0]["message"], "loading 'a.d': Is a directory");
    assert_eq!(run(&space, "--exact").trouble(), "upcheck: error: loading 'a.d': Is a directory\n");

    let space = manifest("rule t\n  command = t\nbuild a: t || dd\n  dyndep = dd\nbuild b: t\n");
    fs::create_dir(space.path().join("dd")).expect("a directory");
    let found = report(&space, "");
    assert_eq!(reasons(&found), "a: output-missing a, deps-unknown dd; b: output-missing b");
    assert_eq!(found["errors"][0]["message"], "loading 'dd': Is a directory");
    assert_eq!(run(&space, "--exact").trouble(), "upcheck: error: loading 'dd': Is a directory\n");
}

#[test]
fn directories_as_sources_and_outputs_are_files_like_any_other() {
    let space = program();
    for name in ["a.c", "a.o"] {
        space.remove(name);
        fs::create_dir(space.path().join(name)).expect("a directory");
    }
    upcheck_tests::space::set_mtime(&space.path().join("a.c"), T);
    upcheck_tests::space::set_mtime(&space.path().join("a.o"), T + SECOND);
    assert_eq!(run(&space, "").answer(0), "fresh: nothing to do for 4 targets\n");
    upcheck_tests::space::set_mtime(&space.path().join("a.c"), T + 9 * SECOND);
    assert_eq!(reasons(&report(&space, "a.o")), "a.o: input-newer a.c");
}

#[test]
fn a_path_through_a_file_is_a_missing_file() {
    let space = manifest("rule t\n  command = t\nbuild a: t file/x\nbuild b: t file/y/z file/y/zz\n");
    space.write("file", "");
    assert_eq!(
        reasons(&report(&space, "")),
        "a: input-missing file/x, output-missing a; b: input-missing file/y/z, input-missing file/y/zz, output-missing b"
    );
}

#[test]
fn loops_of_links_where_a_file_has_to_be_read_are_errors() {
    let text = "rule t\n  command = t\nbuild a: t\n";
    for (name, error) in [
        ("build.ninja", "loading 'build.ninja': Too many levels of symbolic links"),
        (".ninja_log", "loading build log '.ninja_log': Too many levels of symbolic links"),
        (".ninja_deps", "loading deps log '.ninja_deps': Too many levels of symbolic links"),
    ] {
        let space = manifest(text);
        link_loop(&space, name);
        all_end_in(&space, error);
    }
    let space = manifest(format!("builddir = here\n{text}"));
    link_loop(&space, "here");
    all_end_in(&space, "loading build log 'here/.ninja_log': Too many levels of symbolic links");
    let space = Space::new();
    link_loop(&space, "here");
    assert_eq!(
        run(&space, "-C here").trouble(),
        "upcheck: error: opening 'here': Too many levels of symbolic links\n"
    );
}

#[test]
fn loops_of_links_elsewhere_make_their_targets_stale() {
    let loops = "Too many levels of symbolic links";
    for name in ["a.c", "a.o"] {
        let space = program();
        link_loop(&space, name);
        let found = report(&space, "");
        assert_eq!(reasons(&found), format!("a.o: unreadable {name}; prog: upstream-stale a.o"));
        assert_eq!(found["stale"][0]["reasons"][0]["detail"], loops);
        assert_eq!(found["errors"].as_array().map(Vec::len), Some(1));
        let why = run(&space, "why prog").answer(1);
        assert!(why.ends_with(&format!("   └─ {name} cannot be looked at: {loops}\n")), "{why}");
        assert_eq!(run(&space, "--exact").trouble(), format!("upcheck: error: stat({name}): {loops}\n"));
        assert_eq!(run(&space, "check check").answer(0), "fresh: nothing to do for 1 target\n");
    }
    let space = with_depfile();
    link_loop(&space, "a.d");
    assert_eq!(reasons(&report(&space, "")), "a: deps-unknown a");
    assert_eq!(run(&space, "--exact").trouble(), format!("upcheck: error: loading 'a.d': {loops}\n"));
    // A loop among the directories, with one and with several names behind it.
    let space = manifest("rule t\n  command = t\nbuild a: t here/x\nbuild b: t there/y there/z\n");
    link_loop(&space, "here");
    link_loop(&space, "there");
    assert_eq!(
        reasons(&report(&space, "")),
        "a: unreadable here/x, output-missing a; b: unreadable there/y, unreadable there/z, output-missing b"
    );
}
