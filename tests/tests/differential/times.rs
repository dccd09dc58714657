//! What is newer than what.

use crate::{OLD, after_build, manifest, run, same_error, space, versions};
use upcheck_tests::answer::{Question, build, compare, exact, look_past};

#[test]
fn a_finished_build_has_no_work_to_do() {
    after_build(&[("build.ninja", &manifest("build out: cat in\n")), ("in", "")], |_| ());
}

#[test]
fn a_newer_input_runs_its_target_and_what_comes_after() {
    let text = manifest("build mid: cat in\nbuild out: cat mid\nbuild other: cat in2\n");
    after_build(&[("build.ninja", &text), ("in", ""), ("in2", "")], |space| {
        space.set_mtime("in", space.mtime("mid").expect("built") + 1);
    });
}

#[test]
fn equal_times_are_fresh() {
    let text = manifest("build out: cat in\n");
    after_build(&[("build.ninja", &text), ("in", "")], |space| {
        // Also equal to what the log says, which since 1.12 is the time the command started.
        let log = String::from_utf8(space.read(".ninja_log")).expect("text");
        let recorded = log.lines().nth(1).and_then(|line| line.split('\t').nth(2)).expect("an entry");
        let recorded: i64 = recorded.parse().expect("a time");
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
fn times_before_1970_are_times() {
    let text = manifest("build out: cat in\n");
    for (input, output) in
        [(-5_000_000_000, -4_000_000_000), (-4_000_000_000, -5_000_000_000), (-2, 0), (0, -2)]
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
fn a_directory_counts_with_its_own_time() {
    let text = manifest("build out: touch dir\n");
    after_build(&[("build.ninja", &text), ("dir/file", "")], |space| {
        space.write("dir/another", "");
        let newer = space.mtime("out").expect("built") + 1_000_000_000;
        upcheck_tests::space::set_mtime(&space.path().join("dir"), newer);
    });
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
        space.set_mtime("in", space.mtime("out").expect("built") + 1);
        compare(&space, version, &Question::default());
        space.remove("in2");
        same_error(&space, version, &Question::default());
    }
}
