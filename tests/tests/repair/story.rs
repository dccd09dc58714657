//! The whole story: a build is recorded and archived; a fresh checkout gives all sources new times, the archive is unpacked,
//! with times that it has cut short, and repaired; then ninja has nothing to do, and after an edit it runs that file's users.

use super::command::upcheck_in;
use super::{SECOND, listed};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use upcheck_tests::space::{Space, set_mtime};
use upcheck_tests::tools::{self, Ninja};

/// All that a manifest can have. It is made itself, of `build.ninja.in`.
const MANIFEST: &str = "\
rule generate
  command = cp $in $out # $out
  generator = 1
build build.ninja: generate ../src/build.ninja.in
rule cc
  command = cat $in ../src/h/all.h > $out && echo '$out: $in ../src/h/all.h' > $out.d # $out
  depfile = $out.d
  deps = gcc
rule cc-with-depfile
  command = cat $in ../src/h/all.h > $out && echo '$out: $in ../src/h/all.h' > $out.d # $out
  depfile = $out.d
rule link
  command = cat $$(cat $out.rsp) > $out # $out
  rspfile = $out.rsp
  rspfile_content = $in
rule cut
  command = head -c 2 $in > $out.new && (cmp -s $out.new $out && rm $out.new || mv $out.new $out) # $out
  restat = 1
rule pair
  command = cat $in > one && cat $in > two # one
rule copy
  command = cat $in > $out # $out
rule list
  command = ls $in > $out # $out
rule with-dyndep
  command = cat $in ../src/extra.txt > $out # $out
build a.o: cc ../src/a.c
build b.o: cc-with-depfile ../src/b.c
build program: link a.o b.o | words
build words: phony ../src/words.txt
build cut: cut ../src/words.txt
build after-cut: copy cut || program
build one two: pair a.o
build listing: list ../src/folder
build dd: copy ../src/dd.in
build dynamic: with-dyndep ../src/a.c || dd
  dyndep = dd
";

const SOURCES: [(&str, &str); 8] = [
    ("src/a.c", "a\n"),
    ("src/b.c", "b\n"),
    ("src/h/all.h", "h\n"),
    ("src/words.txt", "words\n"),
    ("src/extra.txt", "extra\n"),
    ("src/folder/entry", ""),
    ("src/dd.in", "ninja_dyndep_version = 1\nbuild dynamic: dyndep | ../src/extra.txt\n"),
    ("src/build.ninja.in", MANIFEST),
];

/// How the build directory is kept.
#[derive(Clone, Copy, Debug)]
enum Archive {
    /// GNU tar's formats.
    Tar(&'static str),
    Zip,
}

const ARCHIVES: [Archive; 3] = [Archive::Tar("posix"), Archive::Tar("ustar"), Archive::Zip];

/// A job of a server that builds: a checkout, with a build directory beside it.
struct Job {
    space: Space,
    ninja: Ninja,
}

impl Job {
    /// A fresh checkout.
    fn new(ninja: Ninja) -> Self {
        let job = Self { space: Space::new(), ninja };
        for (path, content) in SOURCES {
            job.space.write(path, content);
        }
        job
    }

    fn build(&self) -> PathBuf {
        self.space.path().join("build")
    }

    fn run_ninja(&self) -> String {
        if !self.build().exists() {
            self.space.write("build/build.ninja", MANIFEST);
        }
        let run = Command::new(self.ninja.path()).current_dir(self.build()).output().expect("ninja starts");
        let text = String::from_utf8(run.stdout).expect("text");
        assert!(run.status.success(), "{text}");
        text
    }

    #[track_caller]
    fn is_fresh(&self, what: &str) {
        let run =
            Command::new(self.ninja.path()).current_dir(self.build()).arg("-n").output().expect("it starts");
        let text = String::from_utf8(run.stdout).expect("text");
        assert_eq!(text, "ninja: no work to do.\n", "{what}, ninja {}", self.ninja.number());
    }

    #[track_caller]
    fn runs(&self, expected: &[&str], what: &str) {
        let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
        assert_eq!(listed(&self.space, self.ninja), expected, "{what}, ninja {}", self.ninja.number());
    }
}

/// Runs a script of `examples/ci`.
fn script(name: &str, arguments: [&Path; 2], format: &str) -> String {
    let mut command = upcheck_in(&tools::root().join("examples/ci"));
    let script = tools::root().join("examples/ci").join(name);
    let mut sh = Command::new(script);
    sh.args(arguments).env("UPCHECK", tools::upcheck()).env("TAR_FORMAT", format);
    sh.envs(command.args(["x"]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = sh.output().expect("a shell");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).expect("text")
}

/// Packs with the times that zip has: those of the local clock, in steps of two seconds.
fn zip(folder: &Path, archive: &Path) {
    const PACK: &str = "
import os, sys, zipfile
folder, archive = sys.argv[1:]
with zipfile.ZipFile(archive, 'w') as packed:
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            packed.write(path, os.path.relpath(path, folder))
";
    python(PACK, [folder, archive]);
}

fn unzip(archive: &Path, folder: &Path) {
    const UNPACK: &str = "
import os, sys, time, zipfile
archive, folder = sys.argv[1:]
with zipfile.ZipFile(archive) as packed:
    for entry in packed.infolist():
        path = packed.extract(entry, folder)
        when = time.mktime(entry.date_time + (0, 0, -1))
        os.utime(path, (when, when))
";
    python(UNPACK, [archive, folder]);
}

fn python(program: &str, arguments: [&Path; 2]) {
    let status = Command::new("python3").args(["-c", program]).args(arguments).status().expect("python3");
    assert!(status.success());
}

/// Builds, archives, and restores beside a fresh checkout. What the repair said.
fn restored(ninja: Ninja, archive: Archive) -> (Job, String) {
    let first = Job::new(ninja);
    first.run_ninja();
    first.is_fresh("at first");
    let shelf = tempfile::tempdir().expect("a temporary directory");
    let packed = shelf.path().join("archive");
    let later = Job::new(ninja);
    let said = match archive {
        Archive::Tar(format) => {
            script("save", [&first.build(), &packed], format);
            script("restore", [&packed, &later.build()], format)
        }
        Archive::Zip => {
            let run = |job: &Job, command: &str| {
                let output =
                    upcheck_in(&job.build()).arg(command).arg("--no-image").output().expect("it starts");
                assert!(output.status.success(), "{output:?}");
                String::from_utf8(output.stdout).expect("text")
            };
            run(&first, "record");
            zip(&first.build(), &packed);
            unzip(&packed, &later.build());
            run(&later, "repair")
        }
    };
    (later, said)
}

#[test]
fn after_a_fresh_checkout_and_an_unpacked_archive_nothing_is_run() {
    for &ninja in Ninja::USUAL {
        for archive in ARCHIVES {
            let (job, said) = restored(ninja, archive);
            job.is_fresh(&format!("{archive:?}"));
            assert!(said.starts_with("repaired: ninja would run 0 of 10 targets, before 10"), "{said}");
        }
    }
}

#[test]
fn what_changed_in_the_checkout_is_run_and_nothing_else() {
    for &ninja in Ninja::USUAL {
        for (path, users) in [
            ("src/a.c", &["a.o", "program", "one", "dynamic", "after-cut"][..]),
            ("src/h/all.h", &["a.o", "b.o", "program", "one", "after-cut"]),
            ("src/words.txt", &["program", "cut", "after-cut"]),
            ("src/extra.txt", &["dynamic"]),
            ("src/folder/new", &["listing"]),
        ] {
            let first = Job::new(ninja);
            first.run_ninja();
            let shelf = tempfile::tempdir().expect("a temporary directory");
            let packed = shelf.path().join("archive");
            script("save", [&first.build(), &packed], "ustar");
            let later = Job::new(ninja);
            // The time of the file it had before: nothing but its content tells.
            later.space.write(path, "other\n");
            if let Some(time) = first.space.mtime(path) {
                later.space.set_mtime(path, time - SECOND);
            }
            script("restore", [&packed, &later.build()], "ustar");
            // An order-only input makes nobody stale.
            let expected: Vec<&str> = users
                .iter()
                .copied()
                .filter(|user| *user != "after-cut" || path == "src/words.txt")
                .collect();
            later.runs(&expected, path);
            later.run_ninja();
            later.is_fresh(path);
            let other = Job::new(ninja);
            other.space.write(path, "other\n");
            other.run_ninja();
            for made in ["a.o", "b.o", "program", "cut", "after-cut", "one", "two", "listing", "dynamic"] {
                let content = |job: &Job| fs::read(job.build().join(made)).expect("it was made");
                assert_eq!(content(&later), content(&other), "{made} after an edit of {path}");
            }
        }
    }
}

#[test]
fn a_manifest_that_is_to_be_made_again_is_and_one_that_is_not_is_not() {
    for &ninja in Ninja::USUAL {
        let (job, _) = restored(ninja, Archive::Tar("ustar"));
        job.is_fresh("the manifest is made of a source with a new time");
        let first = Job::new(ninja);
        first.run_ninja();
        let shelf = tempfile::tempdir().expect("a temporary directory");
        let packed = shelf.path().join("archive");
        script("save", [&first.build(), &packed], "posix");
        let later = Job::new(ninja);
        let changed = MANIFEST.replace("head -c 2", "head -c 3");
        later.space.write("src/build.ninja.in", &changed);
        // Older than what was made of it.
        later.space.set_mtime("src/build.ninja.in", 1_000_000_000 * SECOND);
        script("restore", [&packed, &later.build()], "posix");
        later.runs(&["build.ninja"], "a manifest that has other text");
        let ran = later.run_ninja();
        assert_eq!(later.space.read("build/build.ninja"), changed.as_bytes(), "{ran}");
        assert_eq!(later.space.read("build/cut"), b"wor");
        later.is_fresh("the manifest was made");
    }
}

#[test]
fn an_archive_of_an_archive_is_repaired_too() {
    for &ninja in Ninja::USUAL {
        let (mut job, _) = restored(ninja, Archive::Zip);
        for _ in 0..2 {
            let shelf = tempfile::tempdir().expect("a temporary directory");
            let packed = shelf.path().join("archive");
            script("save", [&job.build(), &packed], "ustar");
            job = Job::new(ninja);
            script("restore", [&packed, &job.build()], "ustar");
            job.is_fresh("once more");
        }
        job.space.write("src/b.c", "B\n");
        set_mtime(&job.space.path().join("src/b.c"), SECOND);
        let said =
            upcheck_in(&job.build()).args(["repair", "--no-image"]).output().expect("it starts").stdout;
        let said = String::from_utf8(said).expect("text");
        assert!(said.contains("not proved: b.o: input ../src/b.c changed\n"), "{said}");
        job.runs(&["b.o", "program"], "an edit");
    }
}
