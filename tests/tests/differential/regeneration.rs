//! The manifest as a target.

use crate::{OLD, manifest, run, same_errors, space, versions};
use upcheck_tests::answer::{Question, build, compare, exact, look_past};
use upcheck_tests::space::TICK;

#[test]
fn ninja_stops_at_a_stale_manifest_and_upcheck_looks_past_it() {
    let text = manifest("build build.ninja: gen configure\nbuild out: cat in\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("configure", &text), ("in", "")]);
        space.set_mtime("configure", OLD - 1);
        build(&space, version, &Question::default());
        compare(&space, version, &Question::default());
        space.set_mtime("in", space.mtime("out").expect("built") + TICK);
        compare(&space, version, &Question::default());
        space.set_mtime("configure", space.mtime("build.ninja").expect("there") + 1_000_000_000);
        compare(&space, version, &Question::default());
        assert_eq!(exact(&space, version, &Question::default()), run(&["cat configure > build.ninja"]));
        let all = look_past(&space, version, &Question::default());
        assert_eq!(all, run(&["cat configure > build.ninja", "cat in > out"]));
        // Even a target that does not exist is not noticed before the manifest is.
        compare(&space, version, &Question::about(&["nothing"]));
    }
}

#[test]
fn a_stale_order_only_input_of_the_manifest_is_run_and_the_rest_too() {
    let text = manifest("build build.ninja: gen configure || tool\nbuild tool: cat in2\nbuild out: cat in\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("configure", &text), ("in", ""), ("in2", "")]);
        space.set_mtime("configure", OLD - 1);
        build(&space, version, &Question::default());
        space.remove("tool");
        compare(&space, version, &Question::default());
        space.remove("out");
        compare(&space, version, &Question::default());
    }
}

#[test]
fn an_error_on_the_way_to_the_manifest_is_an_error() {
    let text = manifest("build build.ninja: gen configure\nbuild out: cat in\n");
    same_errors(&[("build.ninja", &text), ("in", "")]);
}

#[test]
fn a_glob_check_that_always_runs_stops_ninja_for_ever() {
    let text = "rule glob\n  command = true\n  restat = 1\n  generator = 1\nrule cmake\n  command = touch $out\n  generator = 1\n\
                build always: phony\nbuild globs: glob always\nbuild build.ninja: cmake globs CMakeLists.txt\n\
                rule touch\n  command = touch $out\nbuild out: touch in\n";
    for &version in versions() {
        let space = space(&[("build.ninja", text), ("CMakeLists.txt", ""), ("in", ""), ("globs", "")]);
        compare(&space, version, &Question::default());
        assert_eq!(exact(&space, version, &Question::default()), run(&["true", "touch build.ninja"]));
        let all = look_past(&space, version, &Question::default());
        assert_eq!(all, run(&["true", "touch build.ninja", "touch out"]));
    }
}

#[test]
fn another_manifest_can_be_named() {
    let text = manifest("build other.ninja: gen in\nbuild out: cat in\n");
    let question = Question { file: Some("./other.ninja".into()), ..Question::default() };
    for &version in versions() {
        let space = space(&[("other.ninja", &text), ("in", "")]);
        compare(&space, version, &question);
    }
}
