//! Phony targets.

use crate::{OLD, after_build, manifest, same_error, same_errors, space, unbuilt, versions};
use upcheck_tests::answer::{Question, build, compare};

#[test]
fn a_phony_target_without_inputs_and_file_is_always_stale() {
    let text = manifest("build always: phony\nbuild out: cat in | always\nbuild after: cat out\n");
    after_build(&[("build.ninja", &text), ("in", "")], |_| ());
    after_build(&[("build.ninja", &text), ("in", "")], |space| space.write_at("always", "", OLD));
    after_build(&[("build.ninja", &text), ("in", "")], |space| space.write("always", ""));
}

#[test]
fn a_phony_target_without_inputs_as_an_order_only_input_changes_nothing() {
    let text = manifest("build always: phony\nbuild out: cat in || always\n");
    after_build(&[("build.ninja", &text), ("in", "")], |_| ());
}

#[test]
fn newer_inputs_show_through_a_phony_name() {
    let text = manifest(
        "build group: phony a b\nbuild outer: phony group\nbuild out: touch | outer\nbuild o2: touch || outer\n",
    );
    for touched in ["a", "b"] {
        after_build(&[("build.ninja", &text), ("a", ""), ("b", "")], |space| {
            space.set_mtime(touched, space.mtime("out").expect("built") + 1_000_000_000);
        });
    }
}

#[test]
fn newer_inputs_do_not_show_through_a_phony_name_that_is_a_file() {
    let text = manifest("build group: phony a\nbuild out: touch | group\n");
    after_build(&[("build.ninja", &text), ("a", ""), ("group", "")], |space| {
        space.set_mtime("a", space.mtime("out").expect("built") + 1_000_000_000);
    });
    after_build(&[("build.ninja", &text), ("a", ""), ("group", "")], |space| {
        space.set_mtime("group", space.mtime("out").expect("built") + 1_000_000_000);
    });
}

#[test]
fn phony_names_of_fresh_things_are_no_work() {
    let text = manifest(
        "build all: phony out sub/all\nbuild sub/all: phony out2\nbuild out: cat in\nbuild out2: cat in\ndefault all\n",
    );
    after_build(&[("build.ninja", &text), ("in", "")], |_| ());
    after_build(&[("build.ninja", &text), ("in", "")], |space| space.remove("out2"));
}

#[test]
fn a_phony_target_with_a_missing_source_is_an_error() {
    let text = manifest("build all: phony gone\n");
    same_errors(&[("build.ninja", &text)]);
}

#[test]
fn a_phony_target_that_names_itself_is_cleaned_of_it() {
    for statement in [
        "build a: phony a b",
        "build a: phony b a",
        "build a: phony a",
        "build a: phony b || a",
        "build a: phony || a b",
        "build a: phony b c || a",
        "build a: phony b || a a",
    ] {
        let text = manifest(&format!("{statement}\nbuild out: touch | a\nbuild c: touch\n"));
        unbuilt(&[("build.ninja", &text), ("b", "")]);
        after_build(&[("build.ninja", &text), ("b", "")], |_| ());
        after_build(&[("build.ninja", &text), ("b", "")], |space| {
            space.set_mtime("b", space.mtime("out").expect("built") + 1_000_000_000);
        });
        after_build(&[("build.ninja", &text), ("b", "")], |space| space.remove("c"));
    }
}

#[test]
fn a_phony_target_that_named_itself_counts_as_used() {
    same_errors(&[("build.ninja", "build a: phony a\n")]);
    let text = manifest("build a: phony a\nbuild out: cat in a\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", ""), ("a", "")]);
        compare(&space, version, &Question::default());
        compare(&space, version, &Question::about(&["a^"]));
    }
}

#[test]
fn what_the_manifest_waits_for_counts_as_recorded_when_ninja_starts_over() {
    let text = manifest("build build.ninja: gen configure || tool\nbuild tool: touch\nbuild out: cat tool\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("configure", &text)]);
        space.set_mtime("configure", OLD - 1);
        build(&space, version, &Question::default());
        // Only the command of what the manifest waits for has changed, so that what uses it is not named.
        space.write_at("build.ninja", text.replace("touch $out\n", "touch  $out\n"), OLD);
        compare(&space, version, &Question::default());
    }
}

#[test]
fn what_was_discovered_on_the_way_to_the_manifest_stays_discovered() {
    let text = manifest(
        "rule dep\n  command = echo 'tool: in' > $out.d; touch $out\n  depfile = $out.d\n\
         build build.ninja: gen configure || tool\nbuild tool: dep\nbuild out: cat in\n",
    );
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("configure", &text), ("in", "")]);
        space.set_mtime("configure", OLD - 1);
        build(&space, version, &Question::default());
        space.remove("in");
        compare(&space, version, &Question::default());
    }
}

#[test]
fn what_a_depfile_on_the_way_to_the_manifest_names_can_be_asked_for() {
    let text = manifest(
        "rule dep\n  command = echo 'tool: h.h' > $out.d; touch $out\n  depfile = $out.d\n\
         build build.ninja: gen configure || tool\nbuild tool: dep\nbuild out: cat in\n\
         rule dep2\n  command = echo 'out2: h2.h' > $out.d; touch $out\n  depfile = $out.d\nbuild out2: dep2\n",
    );
    for &version in versions() {
        let files =
            [("build.ninja", text.as_str()), ("configure", &text), ("in", ""), ("h.h", ""), ("h2.h", "")];
        let space = space(&files);
        space.set_mtime("configure", OLD - 1);
        build(&space, version, &Question::default());
        compare(&space, version, &Question::about(&["h.h"]));
        same_error(&space, version, &Question::about(&["h2.h"]));
    }
}

#[test]
fn a_phony_target_with_an_implicit_self_is_a_cycle() {
    same_errors(&[("build.ninja", "build a: phony b | a\nbuild b: phony\n")]);
}
