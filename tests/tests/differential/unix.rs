//! What only Unix has: links that lead nowhere or in circles, and times that ninja counts from 1970.

use crate::{after_build, manifest, run, same_error, same_errors, space, versions};
use upcheck_tests::answer::{Question, build, compare, exact, look_past};
use upcheck_tests::space::TICK;

#[test]
fn the_first_second_of_1970_is_one_nanosecond_long() {
    let text = manifest("build out: cat in\n");
    for (input, output) in
        [(0, 0), (999_999_999, 1), (1, 999_999_999), (1_000_000_000, 5), (5, 1_000_000_000)]
    {
        after_build(&[("build.ninja", &text), ("in", "")], |space| {
            space.set_mtime("in", input);
            space.set_mtime("out", output);
        });
    }
}

#[test]
fn one_nanosecond_before_1970_silences_ninja() {
    let text = manifest("build out: cat in\nbuild out2: cat in2\n");
    let question = Question::about(&["out", "out2"]);
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", ""), ("in2", "")]);
        space.set_mtime("in", -1);
        compare(&space, version, &question);
        assert_eq!(exact(&space, version, &question), run(&["cat in2 > out2"]));
        // Whoever asks for the useful answer gets it.
        assert_eq!(look_past(&space, version, &question), run(&["cat in > out", "cat in2 > out2"]));
    }
}

#[test]
fn what_ninja_gave_up_on_silently_looks_like_a_cycle_to_the_next_request() {
    let text = manifest("build out: cat in\nbuild out2: cat in2 out\nbuild out3: cat out2\n");
    let question = Question::about(&["out", "out3"]);
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", ""), ("in2", "")]);
        space.set_mtime("in", -1);
        same_error(&space, version, &question);
    }
}

#[test]
fn links_are_followed_and_dangling_ones_are_missing() {
    let text = manifest("build out: cat link\nbuild out2: touch gone\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", ""), ("in2", "")]);
        std::os::unix::fs::symlink("in", space.path().join("link")).expect("a link");
        std::os::unix::fs::symlink("in2", space.path().join("gone")).expect("a link");
        build(&space, version, &Question::default());
        compare(&space, version, &Question::default());
        space.set_mtime("in", space.mtime("out").expect("built") + TICK);
        compare(&space, version, &Question::default());
        space.remove("in2");
        same_error(&space, version, &Question::default());
    }
}

#[test]
fn paths_that_cannot_be_looked_at_stop_ninja_only() {
    let text = manifest("build a: touch loop\nbuild b: cat in\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", "")]);
        std::os::unix::fs::symlink("loop", space.path().join("loop")).expect("a link");
        same_error(&space, version, &Question::default());
        let all = look_past(&space, version, &Question::default());
        assert_eq!(all, run(&["touch a", "cat in > b"]));
    }
    // A phony name may be a file, and then its time counts: if that is not known, nothing is.
    let text = manifest("build loop: phony in\nbuild a: touch | loop\ndefault a\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", "")]);
        build(&space, version, &Question::default());
        std::os::unix::fs::symlink("loop", space.path().join("loop")).expect("a link");
        same_error(&space, version, &Question::default());
        assert_eq!(look_past(&space, version, &Question::default()), run(&["", "touch a"]));
    }
}

// On Windows it is whole paths that are too long, if at all: that is up to a setting of the system.
#[test]
fn names_that_are_too_long_are_errors() {
    let long = "x".repeat(300);
    same_errors(&[("build.ninja", &manifest(&format!("build a: touch {long}\n")))]);
    same_errors(&[("build.ninja", &manifest(&format!("build {long}: touch\n")))]);
}

// Wine says of it that the name is not valid, where Windows says that there is no such directory.
#[test]
fn a_file_where_a_directory_is_expected_is_a_missing_file() {
    let text = manifest("build out: touch | in/below\n");
    same_errors(&[("build.ninja", &text), ("in", "")]);
}
