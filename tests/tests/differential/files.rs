//! Outputs and inputs that are not there, or that are something else.

use crate::{after_build, manifest, run, same_error, space, unbuilt, versions};
use upcheck_tests::answer::{Question, build, compare, look_past};
use upcheck_tests::space::TICK;

#[test]
fn a_missing_output_runs_its_target() {
    let text = manifest("build out1 out2: touch in\nbuild after: cat out1\n");
    for gone in ["out1", "out2", "after"] {
        after_build(&[("build.ninja", &text), ("in", "")], |space| space.remove(gone));
    }
}

#[test]
fn a_missing_source_is_an_error() {
    let text = manifest("build out: cat in | in2 || in3\n");
    for gone in ["in", "in2"] {
        for &version in versions() {
            let space = space(&[("build.ninja", &text), ("in", ""), ("in2", ""), ("in3", "")]);
            build(&space, version, &Question::default());
            space.remove(gone);
            same_error(&space, version, &Question::default());
        }
    }
}

#[test]
fn a_missing_order_only_source_matters_only_to_a_stale_target() {
    let text = manifest("build out: cat in || in3\n");
    let files = [("build.ninja", text.as_str()), ("in", ""), ("in3", "")];
    after_build(&files, |space| space.remove("in3"));
    for &version in versions() {
        let space = space(&files);
        build(&space, version, &Question::default());
        space.remove("in3");
        space.remove("out");
        same_error(&space, version, &Question::default());
    }
}

#[test]
fn a_missing_source_hides_nobody_elses_answer() {
    let text =
        manifest("build out: cat in\nbuild after: cat out\nbuild other: cat in2\nbuild third: cat in2\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", ""), ("in2", "")]);
        build(&space, version, &Question::default());
        space.remove("in");
        space.remove("third");
        same_error(&space, version, &Question::default());
        let all = look_past(&space, version, &Question::default());
        assert_eq!(all, run(&["cat in > out", "cat out > after", "cat in2 > third"]));
    }
}

#[test]
fn order_only_inputs_come_first_but_do_not_make_stale() {
    let text = manifest("build dep: cat in2\nbuild out: cat in || dep\n");
    after_build(&[("build.ninja", &text), ("in", ""), ("in2", "")], |space| {
        space.set_mtime("in2", space.mtime("out").expect("built") + 1_000_000_000);
    });
    unbuilt(&[("build.ninja", &text), ("in", ""), ("in2", "")]);
}

#[test]
fn implicit_outputs_and_inputs_count() {
    let text = manifest("build out | side: touch in | hidden\n");
    let files = [("build.ninja", text.as_str()), ("in", ""), ("hidden", "")];
    for &version in versions() {
        let space = space(&files);
        space.write("side", "");
        build(&space, version, &Question::default());
        compare(&space, version, &Question::default());
        space.remove("side");
        compare(&space, version, &Question::default());
    }
    after_build(&files, |space| space.set_mtime("hidden", space.mtime("out").expect("built") + TICK));
}

#[test]
fn validations_are_brought_along_even_by_a_fresh_target() {
    let text = manifest(
        "build out: cat in |@ check\nbuild check: cat in2 |@ check2\nbuild check2: cat out in3\ndefault out\n",
    );
    let files = [("build.ninja", text.as_str()), ("in", ""), ("in2", ""), ("in3", "")];
    unbuilt(&files);
    for touched in ["in", "in2", "in3"] {
        after_build(&files, |space| space.set_mtime(touched, space.mtime("check2").expect("built") + TICK));
    }
}

#[test]
fn a_missing_validation_is_an_error_only_when_it_is_looked_for() {
    let text = manifest("build out: cat in |@ nothing\n");
    unbuilt(&[("build.ninja", &text), ("in", "")]);
    unbuilt(&[("build.ninja", &text), ("in", ""), ("nothing", "")]);
}

#[test]
fn what_is_only_a_validation_is_built_by_default() {
    // Being named as a validation is no use: both are roots.
    let text = manifest("build out: cat in |@ check\nbuild check: cat in2\n");
    let files = [("build.ninja", text.as_str()), ("in", ""), ("in2", "")];
    unbuilt(&files);
    after_build(&files, |space| space.remove("check"));
}

#[test]
fn validations_may_depend_on_the_target_itself() {
    let text = manifest("build out: cat in |@ check\nbuild check: cat out\n");
    after_build(&[("build.ninja", &text), ("in", "")], |space| space.remove("check"));
}
