//! Dyndep files.

use crate::{after_build, same_errors, space, unbuilt, versions};
use upcheck_tests::answer::{Answer, Question, build, compare, exact};
use upcheck_tests::space::TICK;

const DYNDEP: &str = "\
rule cp
  command = cp $in $out
rule r
  command = touch $out $more
build dd: cp dd.in
build out: r || dd
  dyndep = dd
build user: r | out
";

fn with_dyndep<'a>(text: &'a str, dyndep: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![("build.ninja", text), ("dd.in", dyndep), ("extra.in", "")]
}

#[test]
fn a_dyndep_file_adds_inputs() {
    let files = with_dyndep(DYNDEP, "ninja_dyndep_version = 1\nbuild out: dyndep | extra.in\n");
    after_build(&files, |_| ());
    after_build(&files, |space| space.set_mtime("extra.in", space.mtime("user").expect("built") + TICK));
    after_build(&files, |space| space.remove("extra.in"));
    after_build(&files, |space| space.remove("dd"));
    after_build(&files, |space| space.set_mtime("dd.in", space.mtime("user").expect("built") + TICK));
    unbuilt(&files);
}

#[test]
fn a_dyndep_file_adds_outputs_and_what_uses_them() {
    let text = DYNDEP.replace("  dyndep = dd\n", "  dyndep = dd\n  more = side\n") + "build last: r | side\n";
    for order in [text.clone(), text.replace("build out:", "build last0: r || side\nbuild out:")] {
        let files = with_dyndep(&order, "ninja_dyndep_version = 1.0\nbuild out | side: dyndep\n");
        unbuilt(&files);
        for version in versions() {
            let space = space(&files);
            // The first build has no dyndep file yet, and may not get far.
            let _ = upcheck_tests::answer::run_ninja(&space, *version, &Question::about(&["out"]), &[]);
            let _ = upcheck_tests::answer::run_ninja(&space, *version, &Question::default(), &[]);
            compare(&space, *version, &Question::default());
            for edit in ["side", "out", "last"] {
                let edited = space.copy();
                edited.remove(edit);
                compare(&edited, *version, &Question::default());
            }
            space.set_mtime("dd.in", space.mtime("dd").expect("built") + 1_000_000_000);
            compare(&space, *version, &Question::default());
        }
    }
}

#[test]
fn a_dyndep_file_can_say_restat() {
    let text = DYNDEP.replace("touch $out $more", "test -e $out || touch $out; true $in");
    let files = with_dyndep(&text, "ninja_dyndep_version = 1\nbuild out: dyndep | extra.in\n  restat = 1\n");
    for &version in versions() {
        let space = space(&files);
        build(&space, version, &Question::default());
        space.set_mtime("extra.in", space.mtime("user").expect("built") + TICK);
        compare(&space, version, &Question::default());
        build(&space, version, &Question::default());
        compare(&space, version, &Question::default());
    }
}

#[test]
fn a_stale_dyndep_file_counts_as_it_is() {
    let text = "rule cp\n  command = cp $in $out\nrule r\n  command = touch $out\nbuild dd: cp dd.in\n\
                build gen: r gen.in\nbuild out: r || dd\n  dyndep = dd\nbuild user: r | out\ndefault user\n";
    let files = [
        ("build.ninja", text),
        ("dd.in", "ninja_dyndep_version = 1\nbuild out: dyndep | gen\n"),
        ("gen.in", ""),
    ];
    for &version in versions() {
        let space = space(&files);
        build(&space, version, &Question::default());
        space.set_mtime("dd.in", space.mtime("user").expect("built") + TICK);
        compare(&space, version, &Question::default());
        space.set_mtime("gen.in", space.mtime("user").expect("built") + TICK);
        compare(&space, version, &Question::default());
        space.remove("gen");
        compare(&space, version, &Question::default());
        space.remove("dd");
        compare(&space, version, &Question::default());
    }
}

#[test]
fn a_broken_dyndep_file_is_an_error() {
    for dyndep in [
        "",
        "ninja_dyndep_version = 2\n",
        "build out: dyndep\n",
        "ninja_dyndep_version = 1\n",
        "ninja_dyndep_version = 1\nbuild other: dyndep\n",
        "ninja_dyndep_version = 1\nbuild user: dyndep\nbuild out: dyndep\n",
        "ninja_dyndep_version = 1\nbuild out: dyndep\nbuild out: dyndep\n",
        "ninja_dyndep_version = 1\nbuild out x: dyndep\n",
        "ninja_dyndep_version = 1\nbuild out: dyndep x\n",
        "ninja_dyndep_version = 1\nbuild out: dyndep || x\n",
        "ninja_dyndep_version = 1\nbuild out: cat\n",
        "ninja_dyndep_version = 1\nbuild out: dyndep\n  other = 1\n",
        "ninja_dyndep_version = 1\nbuild out | user: dyndep\n",
        "ninja_dyndep_version = 1\nbuild out: dyndep | user\n",
        "ninja_dyndep_version = 1\nx = 1\nbuild out: dyndep\n",
    ] {
        let text = DYNDEP.replace("build dd: cp dd.in\n", "");
        let files = [("build.ninja", text.as_str()), ("dd", dyndep), ("extra.in", "")];
        for &version in versions() {
            let space = space(&files);
            compare(&space, version, &Question::default());
            assert!(matches!(exact(&space, version, &Question::default()), Answer::Error(_)), "{dyndep:?}");
        }
    }
}

#[test]
fn a_missing_dyndep_file_that_nothing_makes_is_an_error() {
    same_errors(&[("build.ninja", &DYNDEP.replace("build dd: cp dd.in\n", ""))]);
}

#[test]
fn a_stale_dyndep_file_can_be_asked_for_alone() {
    for &version in versions() {
        let space = space(&with_dyndep(DYNDEP, "ninja_dyndep_version = 1\nbuild out: dyndep\n"));
        build(&space, version, &Question::default());
        space.set_mtime("dd.in", space.mtime("dd").expect("built") + TICK);
        compare(&space, version, &Question::about(&["dd"]));
        space.remove("dd");
        compare(&space, version, &Question::about(&["dd"]));
        space.write("dd", "broken");
        compare(&space, version, &Question::about(&["dd"]));
    }
}
