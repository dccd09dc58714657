//! `upcheck record`: for those who build themselves.

use crate::command::Ran;
use crate::{Ended, MAKE, ask, fresh, graph, made, run, sources, stale, text, upcheck};
use upcheck_tests::space::Space;
use upcheck_tests::tools;

const TARGET: &str = "-i src/*.ts -o out";

/// What the user builds with.
fn sh(space: &Space, script: &str) {
    let status = tools::sh(script).current_dir(space.path()).status();
    assert!(status.expect("sh starts").success(), "{script}");
}

/// What was not recorded, and why.
#[track_caller]
fn refused(ran: Ran) -> String {
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    ran.stderr.replace("upcheck: warning: ", "")
}

#[test]
fn a_build_is_recorded_from_its_begin_to_its_end() {
    let space = sources();
    ask(&space, &format!("record --begin {TARGET}")).answer(0);
    assert_eq!(stale(&space, TARGET), "out: interrupted out");
    sh(&space, "cat src/*.ts > out");
    assert_eq!(stale(&space, TARGET), "out: interrupted out");
    ask(&space, &format!("record {TARGET}")).answer(0);
    fresh(&space, TARGET);
}

#[test]
fn what_was_edited_during_the_build_is_seen() {
    let space = sources();
    ask(&space, &format!("record --begin {TARGET}")).answer(0);
    sh(&space, "cat src/*.ts > out; echo later >> src/a.ts; touch out");
    let ran = ask(&space, &format!("record {TARGET}"));
    assert_eq!(ran.status, 0);
    assert_eq!(
        ran.stderr,
        "upcheck: warning: out will be stale again: src/a.ts may have changed while it was built\n"
    );
    assert_eq!(stale(&space, TARGET), "out: input-changed src/a.ts");
}

#[test]
fn a_build_that_nobody_announced_is_recorded_if_times_do_not_speak_against_it() {
    let space = sources();
    let second = 1_000_000_000;
    for (name, seconds) in [("src/a.ts", 10), ("src/b.ts", 11), ("out", 12)] {
        space.set_mtime(name, seconds * second);
    }
    ask(&space, &format!("record {TARGET}")).answer(0);
    fresh(&space, TARGET);
    space.set_mtime("src/b.ts", 13 * second);
    assert_eq!(
        refused(ask(&space, &format!("record {TARGET}"))),
        "out is not recorded: src/b.ts is newer than out by 1.000 s (1970-01-01 00:00:13 against 1970-01-01 \
         00:00:12). Begin its build with `upcheck record --begin`, or use --trust\n"
    );
    // What was on record still is, and the content is the same.
    fresh(&space, TARGET);
    space.write("src/b.ts", "B\n");
    assert_eq!(ask(&space, &format!("record {TARGET}")).status, 1);
    assert_eq!(stale(&space, TARGET), "out: input-changed src/b.ts");
    ask(&space, &format!("record --trust {TARGET}")).answer(0);
    fresh(&space, TARGET);
}

#[test]
fn what_is_not_there_is_not_recorded_and_nothing_is_lost() {
    let space = made();
    space.remove("b.o");
    for trust in ["", "--trust"] {
        assert_eq!(
            refused(ask(&space, &format!("record --from graph {trust}"))),
            "b.o is not recorded: b.o does not exist\n"
        );
        // The others are on record as they were.
        assert!(stale(&space, "--from graph").starts_with("b.o: output-missing b.o; app: upstream-stale"));
    }
    sh(&space, MAKE);
    space.remove("a.d");
    assert_eq!(
        refused(ask(&space, "record --from graph --trust a.o b.o")),
        "a.o is not recorded: the discovered inputs of a.o are not known: the depfile a.d is missing\n"
    );
    ask(&space, &format!("record --begin {TARGET}")).answer(0);
    assert_eq!(
        refused(ask(&space, &format!("record {TARGET}"))),
        "out is not recorded: out does not exist\n"
    );
}

#[test]
fn a_stale_input_does_not_hide_that_it_is_newer() {
    let space = Space::new();
    space.write(
        "graph.json",
        r#"{"version": 1, "targets": [{"outputs": ["a.o"], "inputs": ["a.c"]},
            {"outputs": ["both"], "inputs": ["a.o"], "phony": true}, {"outputs": ["app"], "inputs": ["both"]},
            {"outputs": ["other"], "inputs": ["app"]}]}"#,
    );
    for (name, days) in [("a.c", 5), ("a.o", 4), ("app", 3), ("other", 9)] {
        space.set_mtime(name, days * 86_400_000_000_000);
    }
    let said = refused(ask(&space, "record --from graph"));
    let lines: Vec<_> = said.lines().map(|line| line.split(" by ").next().expect("a word")).collect();
    assert_eq!(
        lines,
        ["a.o is not recorded: a.c is newer than a.o", "app is not recorded: a.o is newer than app"]
    );
    assert_eq!(
        stale(&space, "--from graph"),
        "a.o: never-built a.o; app: upstream-stale both, never-built app; other: upstream-stale app"
    );
}

#[test]
fn a_whole_build_by_another_tool_is_recorded_in_one_go() {
    for targets in ["", "all"] {
        let space = graph();
        sh(&space, MAKE);
        ask(&space, &format!("record --from graph {targets}")).answer(0);
        fresh(&space, "--from graph");
        space.write("a.c", "int edited;\n");
        ask(&space, &format!("record --begin --from graph {targets}")).answer(0);
        sh(&space, MAKE);
        ask(&space, &format!("record --from graph {targets}")).answer(0);
        fresh(&space, "--from graph");
    }
}

#[test]
fn what_is_made_before_what_it_is_made_of_is_not_up_to_date() {
    let space = graph();
    // The objects come out after the program.
    let wrong = format!("{MAKE} && touch app -d '2020-01-01'");
    let ended = run(&space, "--from graph", &wrong);
    assert_eq!(ended.status, 0);
    for object in ["a.o", "b.o"] {
        let text = format!(
            "upcheck: warning: app will be stale again: {object} may have changed while it was built\n"
        );
        assert!(ended.stderr.contains(&text), "{}", ended.stderr);
    }
    assert!(stale(&space, "--from graph").starts_with("app: input-changed a.o, input-changed b.o; tests: "));
}

#[test]
fn steps_are_recorded_one_by_one_as_a_driver_does_it() {
    let space = graph();
    for (target, script) in [
        ("gen.h", "cp gen.in gen.h"),
        ("a.o", "cat a.c deep.h gen.h > a.o; echo a.o: deep.h gen.h > a.d"),
        ("b.o", "cat b.c deep.h gen.h > b.o; echo b.o: deep.h gen.h > b.d"),
        ("app", "cat a.o b.o > app"),
        ("tests", "true"),
    ] {
        ask(&space, &format!("record --begin --from graph {target}")).answer(0);
        sh(&space, script);
        ask(&space, &format!("record --from graph {target}")).answer(0);
    }
    fresh(&space, "--from graph");
    space.write("deep.h", "another");
    assert!(
        stale(&space, "--from graph").starts_with("a.o: input-changed deep.h; b.o: input-changed deep.h")
    );
}

#[test]
fn sources_are_not_recorded() {
    let space = made();
    let text = "upcheck: error: 'a.c' is a source: nothing makes it\n";
    assert_eq!(ask(&space, "record --from graph a.c").trouble(), text);
    assert_eq!(run(&space, "--from graph a.c", "true").trouble(), text);
}

#[test]
fn the_command_is_on_record_if_it_is_told() {
    let space = sources();
    let args = |command: &str| {
        let args = ["record", "-i", "src/*.ts", "-o", "out", "--trust", "--", "sh", "-c", command];
        Ran::new(upcheck(&space, args).output().expect("upcheck starts"))
    };
    sh(&space, "cat src/*.ts > out");
    args("cat src/*.ts > out").answer(0);
    // So `run` finds it.
    let ended = run(&space, TARGET, "cat src/*.ts > out");
    assert_eq!(ended, Ended { status: 0, stdout: Vec::new(), stderr: String::new() });
    run(&space, TARGET, "cat src/*.ts > out; echo other >> log").well();
    assert_eq!(text(&space, "log"), "other\n");
}
