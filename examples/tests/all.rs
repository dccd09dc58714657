//! Every example runs and says what it is meant to say.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The command, built with the features that the whole workspace has together, as this test is: otherwise most of what it
/// rests on would be compiled a second time.
fn upcheck() -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--workspace", "--all-features", "--bin", "upcheck"]);
    // Some build scripts are run once more for what cargo tells tests of their package.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_")
            || name.to_string_lossy().starts_with("CARGO_MANIFEST_")
        {
            build.env_remove(name);
        }
    }
    let folder = Path::new(env!("CARGO_BIN_EXE_tour")).parent().expect("a folder");
    build.args(folder.ends_with("release").then_some("--release"));
    assert!(build.status().expect("cargo runs").success(), "the command does not build");
    folder.join("upcheck")
}

fn run(program: &str, arguments: &[&str]) -> String {
    let images = concat!(env!("CARGO_TARGET_TMPDIR"), "/images");
    let mut command = Command::new(program);
    command.args(arguments).env("NO_COLOR", "1").env("UPCHECK_CACHE_DIR", images).env("UPCHECK", upcheck());
    let output = command.output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{program}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn the_tour_shows_the_cause_and_the_chain_and_other_programs_can_ask_about_it() {
    let tour = run(env!("CARGO_BIN_EXE_tour"), &[]);
    for expected in [
        "fresh: nothing to do for 12 targets\n[exit status 0]",
        "8 targets are stale because include/config.h is newer than what was made from it",
        "obj/log.o does not exist",
        "app is stale",
        "[exit status 1]",
        "\"code\":\"input-newer\"",
    ] {
        assert!(tour.contains(expected), "no {expected:?} in:\n{tour}");
    }
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/sample");
    let stale = run(env!("CARGO_BIN_EXE_stale_targets"), &[sample, "obj/log.o"]);
    assert_eq!(stale, "obj/log.o\toutput-missing\n");
}

#[test]
fn a_driver_of_ones_own_gets_its_answer() {
    let text = run(env!("CARGO_BIN_EXE_own_driver"), &[]);
    assert_eq!(text, "1 of 2 targets are stale\npage.html: page.md is newer by 1800 s\n");
}
