//! Each behaviour of ninja that decides what it runs, as a small case of its own, put to the real ninja 1.11
//! and 1.13 and to upcheck. The two must name the same commands, or both have an error and mean the same.

mod commands;
mod deps;
mod dyndep;
mod files;
mod logs;
mod manifest;
mod phony;
mod regeneration;
mod requests;
mod times;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use upcheck_tests::answer::{Answer, Question, build, compare, exact, ninja, says_the_same};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// Long before anything a build writes.
const OLD: i64 = 1_600_000_000_000_000_000;

/// A space with these files, all old, and `build.ninja` among them.
fn space(files: &[(&str, &str)]) -> Space {
    let space = Space::new();
    for (path, content) in files {
        space.write_at(path, content, OLD);
    }
    space
}

/// The versions that are compared: those of every run, or all with `UPCHECK_ALL_NINJAS=1`.
fn versions() -> &'static [Ninja] {
    if std::env::var_os("UPCHECK_ALL_NINJAS").is_some() { Ninja::ALL } else { Ninja::USUAL }
}

/// Builds the files with each ninja, applies the edit, and compares.
fn after_build(files: &[(&str, &str)], edit: impl Fn(&Space)) {
    for &version in versions() {
        let space = space(files);
        build(&space, version, &Question::default());
        edit(&space);
        compare(&space, version, &Question::default());
    }
}

/// Compares without a build.
fn unbuilt(files: &[(&str, &str)]) {
    for &version in versions() {
        compare(&space(files), version, &Question::default());
    }
}

/// Both must have an error, and upcheck's must contain what ninja says.
fn same_error(space: &Space, version: Ninja, question: &Question) {
    compare(space, version, question);
    let (theirs, ours) = (ninja(space, version, question), exact(space, version, question));
    let (Answer::Error(theirs), Answer::Error(ours)) = (&theirs, &ours) else {
        panic!("no error: ninja {theirs:?}, upcheck {ours:?}");
    };
    assert!(says_the_same(ours, theirs), "ninja {}: {theirs:?}\nupcheck: {ours:?}", version.number());
}

fn same_errors(files: &[(&str, &str)]) {
    for &version in versions() {
        same_error(&space(files), version, &Question::default());
    }
}

fn run(commands: &[&str]) -> Answer {
    Answer::Run(commands.iter().map(ToString::to_string).collect())
}

const RULES: &str = "\
rule cat
  command = cat $in > $out
rule touch
  command = touch $out
rule keep
  command = test -e $out || touch $out
  restat = 1
rule gen
  command = cat $in > $out
  generator = 1
";

fn manifest(text: &str) -> String {
    format!("{RULES}{text}")
}

const DEPS: &str = "rule cc\n  command = cp in.d $out.d; cat $in > $out\n  depfile = $out.d\n  deps = gcc\nbuild out: cc in\n";

fn with_header(text: &str) -> [(&str, &str); 4] {
    [("build.ninja", text), ("in", ""), ("h.h", ""), ("in.d", "out: in h.h\n")]
}
