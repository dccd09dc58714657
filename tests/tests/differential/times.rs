//! What is newer than what.

use crate::{OLD, after_build, manifest};
use upcheck_ninja::build_log;
use upcheck_tests::space::TICK;

#[test]
fn a_finished_build_has_no_work_to_do() {
    after_build(&[("build.ninja", &manifest("build out: cat in\n")), ("in", "")], |_| ());
}

#[test]
fn a_newer_input_runs_its_target_and_what_comes_after() {
    let text = manifest("build mid: cat in\nbuild out: cat mid\nbuild other: cat in2\n");
    after_build(&[("build.ninja", &text), ("in", ""), ("in2", "")], |space| {
        space.set_mtime("in", space.mtime("mid").expect("built") + TICK);
    });
}

#[test]
fn equal_times_are_fresh() {
    let text = manifest("build out: cat in\n");
    after_build(&[("build.ninja", &text), ("in", "")], |space| {
        // Also equal to what the log says, which since 1.12 is the time the command started.
        let recorded = build_log::entries(&space.read(".ninja_log")).next().expect("an entry").1.mtime;
        space.set_mtime("in", recorded);
        space.set_mtime("out", recorded);
    });
}

#[test]
fn an_input_newer_than_the_record_but_not_than_the_output_runs() {
    let text = manifest("build out: cat in\n");
    after_build(&[("build.ninja", &text), ("in", "")], |space| {
        let out = space.mtime("out").expect("built");
        space.set_mtime("out", out + 5_000_000_000);
        space.set_mtime("in", out + 1_000_000_000);
    });
}

#[test]
fn an_output_changed_from_outside_is_fresh() {
    let text = manifest("build out: cat in\n");
    after_build(&[("build.ninja", &text), ("in", "")], |space| space.write("out", "changed"));
}

#[test]
fn times_that_go_back_are_not_noticed_on_inputs_and_are_on_outputs() {
    let text = manifest("build out: cat in\nbuild out2: cat in2\n");
    after_build(&[("build.ninja", &text), ("in", ""), ("in2", "")], |space| {
        space.set_mtime("in", OLD - 1_000_000_000);
        space.set_mtime("out2", OLD - 1_000_000_000);
    });
}

#[test]
fn times_before_1970_are_times() {
    let text = manifest("build out: cat in\n");
    for (input, output) in
        [(-5_000_000_000, -4_000_000_000), (-4_000_000_000, -5_000_000_000), (-200, 0), (0, -200)]
    {
        after_build(&[("build.ninja", &text), ("in", "")], |space| {
            space.set_mtime("in", input);
            space.set_mtime("out", output);
        });
    }
}

#[test]
fn a_directory_counts_with_its_own_time() {
    let text = manifest("build out: touch dir\n");
    after_build(&[("build.ninja", &text), ("dir/file", "")], |space| {
        space.write("dir/another", "");
        let newer = space.mtime("out").expect("built") + 1_000_000_000;
        upcheck_tests::space::set_mtime(&space.path().join("dir"), newer);
    });
}
