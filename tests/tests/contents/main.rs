//! What files hold, for builds of the real ninja: what is put on record, and what `check --content` makes of it.

mod cases;
#[path = "../command/mod.rs"]
mod command;
mod damage;
#[cfg(target_os = "linux")]
mod progress;
mod random;

use command::{run, upcheck};
use serde_json::Value;
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

/// Waits until files that are written get a later time than this, which is not far ahead.
fn wait_past(time: i64) {
    let space = Space::new();
    loop {
        space.write("now", "");
        if space.mtime("now") > Some(time) {
            return;
        }
        std::thread::yield_now();
    }
}

/// A build directory that ninja has just built, with times that are set one after the other.
struct Built {
    space: Space,
    now: i64,
}

impl Built {
    fn new() -> Self {
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
        let built = Self { space, now: OLD };
        built.ninja();
        built
    }

    /// Builds. What is made is newer than what was edited.
    fn ninja(&self) {
        wait_past(self.now);
        let status = Command::new(Ninja::V1_13.path())
            .current_dir(self.space.path())
            .arg("--quiet")
            .status()
            .expect("ninja starts");
        assert!(status.success());
    }

    /// Puts on record what there is.
    #[track_caller]
    fn record(&self) {
        assert_eq!(run(&self.space, "record").answer(0), "");
    }

    /// Writes a file whose time is later than all others.
    fn edit(&mut self, path: &str, content: &str) {
        let later = self.later();
        self.space.write_at(path, content, later);
    }

    /// Changes a file's time only.
    fn touch(&mut self, path: &str) {
        let later = self.later();
        self.space.set_mtime(path, later);
    }

    /// A time that is later than all others.
    fn later(&mut self) -> i64 {
        let files = ["a", "b", "copy", "a.o", "b.o", "a.c", "b.c", "h/all.h", "words.txt", "build.ninja"];
        let newest = files.iter().filter_map(|file| self.space.mtime(file)).max().unwrap_or(OLD);
        self.now = self.now.max(newest) + TICK;
        self.now
    }

    /// What is stale or pending by content.
    #[track_caller]
    fn stale(&self) -> BTreeSet<String> {
        let ran = upcheck(&self.space, ["--content", "--format", "json"]);
        assert!(ran.status < 2, "{ran:?}");
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let stale: BTreeSet<String> = report["stale"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|target| target["target"].as_str().expect("text").to_owned())
            .collect();
        assert_eq!(stale.is_empty(), ran.status == 0, "{ran:?}");
        stale
    }

    #[track_caller]
    fn is_stale(&self, expected: &[&str]) {
        let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
        assert_eq!(self.stale(), expected);
    }

    /// The codes of a target's reasons.
    #[track_caller]
    fn codes(&self, target: &str) -> Vec<String> {
        let ran = upcheck(&self.space, ["--content", "--format", "json"]);
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let stale = report["stale"].as_array().expect("a list");
        let found = stale.iter().find(|stale| stale["target"] == target).expect("it is stale");
        let reasons = found["reasons"].as_array().expect("reasons");
        reasons.iter().map(|reason| reason["code"].as_str().expect("text").to_owned()).collect()
    }
}
