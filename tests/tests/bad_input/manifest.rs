//! The manifest.

use crate::command::deps_log;
use crate::command::spaces::{REALISTIC, SECOND, T, manifest, realistic};
use crate::damage::{damaged, survives};
use crate::{all_end_in, reasons, report, run};
use std::os::unix::fs::symlink;
use std::panic::catch_unwind;
use upcheck_tests::answer::{Question, look_past, run_ninja};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

#[test]
fn no_manifest_is_an_error() {
    let space = Space::new();
    all_end_in(&space, "loading 'build.ninja': No such file or directory");
    assert_eq!(
        run(&space, "-f no/such.ninja").trouble(),
        "upcheck: error: loading 'no/such.ninja': No such file or directory\n"
    );
    symlink("nowhere", space.path().join("build.ninja")).expect("a link");
    all_end_in(&space, "loading 'build.ninja': No such file or directory");
}

#[test]
fn a_manifest_without_targets_is_fresh() {
    for text in ["", "\n", "# nothing\n", "x = 1\n", "rule r\n  command = c\n", "pool p\n  depth = 1\n"] {
        let space = manifest(text);
        for args in ["", "--exact", "--explain --commands"] {
            assert_eq!(run(&space, args).answer(0), "fresh: nothing to do\n", "{text:?}");
        }
        let trouble = run(&space, "a").trouble();
        assert_eq!(trouble, "upcheck: error: unknown target 'a'\n");
    }
}

#[test]
fn syntax_errors_name_the_place_and_point_at_it() {
    for (text, error) in [
        (
            "x = 1 $",
            "1:7: bad $-escape (literal $ must be written as $$)\n  | x = 1 $\n  |       ^ near here",
        ),
        (
            "x = 1\nrule t\n  command = c ${in\n",
            "3:15: bad $-escape (literal $ must be written as $$)\n  |   command = c ${in\n  |               ^ near here",
        ),
        ("build a", "1:8: unexpected EOF\n  | build a\n  |        ^ near here"),
        ("build a: t\n", "1:10: unknown build rule 't'\n  | build a: t\n  |          ^ near here"),
        (
            "build a b\n",
            "1:10: expected ':', got newline ($ also escapes ':')\n  | build a b\n  |          ^ near here",
        ),
        ("\tx = 1\n", "1:1: tabs are not allowed, use spaces\n  | \tx = 1\n  | ^ near here"),
        ("x = 1\n\n\x01\n", "3:1: lexing error\n  | ?\n  | ^ near here"),
        (
            "rule t\n  command = c\nbuild a: t\nbuild b a: t\n",
            "4:9: multiple rules generate a\n  | build b a: t\n  |         ^ near here",
        ),
        (
            "include gone.ninja\n",
            "1:19: loading 'gone.ninja': No such file or directory\n  | include gone.ninja\n  |                   ^ near here",
        ),
        ("default a\n", "1:10: unknown target 'a'\n  | default a\n  |          ^ near here"),
    ] {
        all_end_in(&manifest(text), &format!("build.ninja:{error}"));
    }
}

#[test]
fn a_syntax_error_in_an_included_file_names_that_file() {
    for word in ["include", "subninja"] {
        let space = manifest(format!("# first\n{word} sub/rules.ninja\n"));
        space.write("sub/rules.ninja", "rule t\n  command = c\n\nrule t\n");
        all_end_in(&space, "sub/rules.ninja:4:7: duplicate rule 't'\n  | rule t\n  |       ^ near here");
    }
}

#[test]
fn a_place_far_out_in_a_long_line_is_shown_in_a_window() {
    let space = manifest(format!("build {}$%\n", "x".repeat(1 << 20)));
    let trouble = run(&space, "").trouble();
    assert!(trouble.starts_with("upcheck: error: build.ninja:1:1048583: bad $-escape"), "{}", &trouble[..99]);
    assert!(trouble.len() < 500, "{} bytes", trouble.len());
    let lines: Vec<_> = trouble.lines().collect();
    assert_eq!(lines[1].find("$%"), lines[2].find('^'), "{trouble}");
}

#[test]
fn a_manifest_that_includes_itself_is_an_error_and_no_endless_loop() {
    let deep = "is included 200 levels deep: does it include itself?";
    for word in ["include", "subninja"] {
        let space = manifest(format!("{word} build.ninja\n"));
        let trouble = run(&space, "").trouble();
        let place = format!("upcheck: error: build.ninja:1:{}: 'build.ninja' {deep}\n", word.len() + 13);
        assert!(trouble.starts_with(&place), "{trouble}");
        let space = manifest("include a.ninja\n");
        space.write("a.ninja", format!("{word} ./b.ninja\n"));
        space.write("b.ninja", "include a.ninja\n");
        let trouble = run(&space, "--exact").trouble();
        assert!(trouble.contains(deep), "{trouble}");
    }
}

#[test]
fn a_deep_but_finite_chain_of_includes_is_read() {
    let space = manifest("include 1.ninja\n");
    for level in 1..150 {
        space.write(&format!("{level}.ninja"), format!("include {}.ninja\n", level + 1));
    }
    space.write("150.ninja", "rule t\n  command = t\nbuild a: t\n");
    assert_eq!(reasons(&report(&space, "")), "a: output-missing a");
}

#[test]
fn a_manifest_cut_off_anywhere_is_judged_or_refused_as_ninja_does() {
    let ours = realistic();
    let theirs = ours.copy();
    let (mut n_judged, mut n_refused) = (0, 0);
    for length in 0..=REALISTIC.len() {
        let text = &REALISTIC[..length];
        ours.write_at("build.ninja", text, T + SECOND);
        theirs.write_at("build.ninja", text, T + SECOND);
        let ran = run(&ours, "--exact");
        let (status, _, stderr) = run_ninja(&theirs, Ninja::V1_13, &Question::default(), &["-n"]);
        assert_eq!(ran.status == 2, status != Some(0), "cut at {length}: {ran:?}\n--- ninja\n{stderr}");
        let error = ran.stderr.strip_prefix("upcheck: error: ");
        assert_eq!(ran.status == 2, error.is_some_and(|text| !text.trim().is_empty()), "{ran:?}");
        if ran.status == 2 {
            n_refused += 1;
        } else {
            n_judged += 1;
        }
        let past = catch_unwind(|| look_past(&ours, Ninja::V1_13, &Question::default()));
        assert!(past.is_ok(), "panicked when cut at {length}");
    }
    assert!(n_judged > 20 && n_refused > 500, "{n_judged} judged, {n_refused} refused");
}

#[test]
fn cycles_are_errors_that_show_the_way_around() {
    let rule = "rule t\n  command = t\n";
    for (builds, request, way) in [
        ("build a: t a\n", "a", "a -> a"),
        ("build a: t b\nbuild b: t c\nbuild c: t a\n", "a", "a -> b -> c -> a"),
        ("build a: t b\nbuild b: t c\nbuild c: t a\n", "c", "c -> a -> b -> c"),
        ("build top: t a\nbuild a: t | b\nbuild b: t || a\n", "top", "a -> b -> a"),
        ("build a: phony b\nbuild b: phony a\n", "a", "a -> b -> a"),
        ("build a other: t b\nbuild b: t other\n", "a", "other -> b -> other"),
    ] {
        let space = manifest(format!("{rule}{builds}"));
        for args in [request.to_owned(), format!("--exact {request}"), format!("why {request}")] {
            let expected = format!("upcheck: error: dependency cycle: {way}\n");
            assert_eq!(run(&space, &args).trouble(), expected, "{builds}");
        }
    }
}

#[test]
fn a_cycle_that_nobody_asked_for_hides_nothing() {
    let space = manifest("rule t\n  command = t\nbuild a: t b\nbuild b: t a\nbuild c: t\n");
    assert_eq!(reasons(&report(&space, "c")), "c: output-missing c");
    assert_eq!(reasons(&report(&space, "")), "c: output-missing c");
}

#[test]
fn a_manifest_of_nothing_but_a_cycle_has_nothing_to_begin_with() {
    let space = manifest("rule t\n  command = t\nbuild a: t b\nbuild b: t a\n");
    for args in ["", "--exact"] {
        assert_eq!(
            run(&space, args).trouble(),
            "upcheck: error: could not determine root nodes of build graph\n"
        );
    }
}

#[test]
fn cycles_through_discovered_inputs_are_errors_too() {
    let space = manifest("rule t\n  command = t\n  depfile = $out.d\nbuild a: t b\nbuild b: t\n");
    space.write("a.d", "a: b\n");
    space.write("b.d", "b: a\n");
    all_end_in(&space, "dependency cycle: a -> b -> a");
    let space = manifest("rule t\n  command = t\n  deps = gcc\n  depfile = d\nbuild a: t b\nbuild b: t\n");
    space.write(".ninja_deps", deps_log(&[("a", T, &["b"]), ("b", T, &["a"])]));
    all_end_in(&space, "dependency cycle: a -> b -> a");
}

#[test]
fn variables_that_expand_to_each_other_are_an_error() {
    let space = manifest("rule t\n  command = $description\n  description = $command\nbuild a: t\n");
    all_end_in(&space, "cycle in rule variables: description -> command -> description");
}

#[test]
fn random_manifests_are_refused_or_judged() {
    let space = realistic();
    for seed in 0..400 {
        let text = damaged(REALISTIC.as_bytes(), seed);
        space.write("build.ninja", &text);
        survives(&space, seed);
        if seed % 20 == 0 {
            run(&space, "--explain --commands");
        }
    }
}
