//! Plain make goes by times alone: where a Makefile describes the same files, it finds nothing to do after a repair, either,
//! and after an edit it runs what ninja runs.

use super::command::{Ran, upcheck_in};
use super::{Builds, SECOND};
use std::collections::BTreeSet;
use std::process::Command;
use upcheck_tests::tools::Ninja;

/// The rules of the manifest that `Builds` has, with what its commands discover.
const MAKEFILE: &str = "\
all: a b copy
a.o: a.c h/all.h
	cat a.c > a.o
b.o: b.c h/all.h
	cat b.c > b.o
a: a.o
	cat a.o > a
b: b.o | words.txt
	cat b.o > b
copy: a words.txt
	cat a > copy
";

fn upcheck(builds: &Builds, arguments: &[&str]) -> String {
    let mut command = upcheck_in(builds.space.path());
    let ran = Ran::new(command.args(arguments).arg("--no-image").output().expect("it starts"));
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
    ran.stdout
}

/// What make would make.
fn made(builds: &Builds) -> BTreeSet<String> {
    let mut make = Command::new("make");
    let output = make.current_dir(builds.space.path()).args(["-n", "all"]).output().expect("make starts");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().filter_map(|line| Some(line.split_once(" > ")?.1.to_owned())).collect()
}

fn listed(builds: &Builds) -> BTreeSet<String> {
    builds.listed().into_iter().collect()
}

#[test]
fn make_agrees_after_a_repair_and_after_an_edit() {
    for &ninja in Ninja::USUAL {
        let builds = Builds::new(ninja);
        builds.space.write("Makefile", MAKEFILE);
        assert_eq!(made(&builds), BTreeSet::new(), "as ninja has built it");
        upcheck(&builds, &["record"]);
        // A fresh checkout.
        let sources = ["a.c", "b.c", "h/all.h", "words.txt", "build.ninja"];
        let now = builds.later() + 100 * SECOND;
        for source in sources {
            builds.space.set_mtime(source, now);
        }
        let everything = ["a", "a.o", "b", "b.o", "copy"].map(str::to_owned).into();
        assert_eq!((made(&builds), listed(&builds)), (everything, made(&builds)));

        upcheck(&builds, &["repair"]);
        builds.is_fresh();
        assert_eq!(made(&builds), BTreeSet::new(), "ninja {}", ninja.number());
        builds.space.write_at("b.c", "changed\n", now);
        let expected: BTreeSet<String> = ["b", "b.o"].map(str::to_owned).into();
        assert_eq!((made(&builds), listed(&builds)), (expected.clone(), expected.clone()));
        // A second checkout, with the edit: what is proved is set back once more, and the edit is left.
        for source in sources {
            builds.space.set_mtime(source, now + SECOND);
        }
        upcheck(&builds, &["repair"]);
        assert_eq!((made(&builds), listed(&builds)), (expected.clone(), expected));
    }
}
