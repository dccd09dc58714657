//! `upcheck repair`, and the logs that it writes: after a fresh checkout and an old build directory, the real ninja runs what
//! changed, and nothing else.

mod cmake;
#[path = "../command/mod.rs"]
mod command;
mod kills;
mod lies;
mod make;
mod manners;
mod mounts;
mod random;
mod story;
mod writers;

use std::collections::BTreeSet;
use std::process::Command;
use upcheck_tests::space::{Space, TICK};
use upcheck_tests::tools::Ninja;

/// When everything was last changed, before a test begins.
const OLD: i64 = 1_600_000_000_000_000_000;
const SECOND: i64 = 1_000_000_000;

/// Two programs of C sources that share a header, and a copy of one of them made through a phony name.
const MANIFEST: &str = "\
rule cc
  command = cat $in $more > $out && echo '$out: $in h/all.h' > $out.d # $note
  deps = gcc
  depfile = $out.d
rule cat
  command = cat $in > $out
build a.o: cc a.c
build b.o: cc b.c
build a: cat a.o
build b: cat b.o | words
build words: phony words.txt
build copy: cat a | all-words
build all-words: phony words
default a b copy
";

/// A build directory that ninja has built.
struct Builds {
    space: Space,
    ninja: Ninja,
}

impl Builds {
    fn new(ninja: Ninja) -> Self {
        let space = Space::new();
        for (path, content) in [
            ("a.c", "a\n"),
            ("b.c", "b\n"),
            ("h/all.h", "h\n"),
            ("words.txt", "w\n"),
            ("build.ninja", MANIFEST),
        ] {
            space.write_at(path, content, OLD);
        }
        let builds = Self { space, ninja };
        builds.build();
        builds
    }

    fn run(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(self.ninja.path());
        let output = command.current_dir(self.space.path()).args(arguments).output().expect("ninja starts");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn build(&self) {
        self.run(&["--quiet"]);
    }

    /// What ninja would make, sorted. Each of its commands says what it makes.
    fn listed(&self) -> Vec<String> {
        // A dry run can change logs that are odd.
        let copy = self.space.copy();
        let asked = Self { space: copy, ninja: self.ninja };
        let listed = asked.run(&["-n", "-v"]);
        let outputs =
            listed.lines().filter_map(|line| Some(line.split_once(" > ")?.1.split(' ').next()?.to_owned()));
        let mut outputs: Vec<String> = outputs.collect();
        outputs.sort_unstable();
        outputs
    }

    #[track_caller]
    fn is_fresh(&self) {
        let copy = self.space.copy();
        let asked = Self { space: copy, ninja: self.ninja };
        assert_eq!(asked.run(&["-n"]), "ninja: no work to do.\n", "ninja {}", self.ninja.number());
    }

    /// A time that is later than all others.
    fn later(&self) -> i64 {
        let entries = self.space.entries();
        let newest = entries.values().map(upcheck_tests::space::Entry::mtime).max().unwrap_or(0);
        i64::try_from(newest).expect("a time") + TICK
    }
}

/// The targets that ninja would make in the folder `build`, whose commands end with a comment that names one.
fn listed(space: &Space, ninja: Ninja) -> BTreeSet<String> {
    // A dry run can change logs that are odd.
    let copy = space.copy();
    let mut command = Command::new(ninja.path());
    let output =
        command.current_dir(copy.path().join("build")).args(["-n", "-v"]).output().expect("ninja starts");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    text.lines().filter_map(|line| Some(line.rsplit_once("# ")?.1.to_owned())).collect()
}
