//! Targets that a graph describes.

use crate::command::Ran;
use crate::{Act, MAKE, Space, ask, fresh, graph, json, made, replace, run, stale, upcheck};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

#[test]
fn a_graph_is_judged_from_a_file_or_from_standard_input() {
    let space = graph();
    let by_file = ask(&space, "--from graph").answer(1);
    assert!(by_file.starts_with("5 of 5 targets are stale\n"), "{by_file}");
    assert_eq!(ask(&space, "check --from graph -f ./graph.json").answer(1), by_file);
    let mut command = upcheck(&space, ["--from", "graph", "-f", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("upcheck starts");
    child.stdin.take().expect("a pipe").write_all(&space.read("graph.json")).expect("all was read");
    assert_eq!(Ran::new(child.wait_with_output().expect("upcheck ends")).answer(1), by_file);
    run(&space, "--from graph", MAKE).well();
    assert_eq!(ask(&space, "--from graph").answer(0), "fresh: nothing to do for 5 targets\n");
    let elsewhere = Space::new();
    fresh(&elsewhere, &format!("--from graph -C {}", space.path().display()));
}

#[test]
fn every_kind_of_change_has_its_reason() {
    let changes: [(&str, Act, &str); 12] = [
        (
            "a source",
            &|space| space.write("a.c", "int aa;\n"),
            "a.o: input-changed a.c; app: upstream-stale a.o; tests: upstream-stale app",
        ),
        (
            "a discovered header",
            &|space| space.write("deep.h", "#define DEEPER\n"),
            "a.o: input-changed deep.h; b.o: input-changed deep.h; \
             app: upstream-stale a.o, upstream-stale b.o; tests: upstream-stale app",
        ),
        (
            "a discovered header is gone",
            &|space| space.remove("deep.h"),
            "a.o: input-missing deep.h; b.o: input-missing deep.h; \
             app: upstream-stale a.o, upstream-stale b.o; tests: upstream-stale app",
        ),
        (
            "a resource",
            &|space| space.write("res/icon", "another\n"),
            "app: input-changed res/icon; tests: upstream-stale app",
        ),
        (
            "a new resource",
            &|space| space.write("res/deep/logo", "logo\n"),
            "app: inputs-differ app; tests: upstream-stale app",
        ),
        (
            "an output is gone",
            &|space| space.remove("b.o"),
            "b.o: output-missing b.o; app: upstream-stale b.o; tests: upstream-stale app",
        ),
        (
            "an output is edited",
            &|space| space.write("b.o", "b\n"),
            "b.o: output-changed b.o; app: upstream-stale b.o; tests: upstream-stale app",
        ),
        (
            "a command",
            &|space| replace(space, "graph.json", "\"cc\", \"b.c\"", "\"cc\", \"-O\", \"b.c\""),
            "b.o: command-changed b.o; app: upstream-stale b.o; tests: upstream-stale app",
        ),
        (
            "a value",
            &|space| replace(space, "graph.json", "\"SEED\": \"1\"", "\"SEED\": \"2\""),
            "tests: value-changed tests",
        ),
        (
            "an input more",
            &|space| replace(space, "graph.json", "[\"gen.in\"]", "[\"gen.in\", \"a.c\"]"),
            "gen.h: inputs-differ gen.h; a.o: upstream-stale gen.h; b.o: upstream-stale gen.h; \
             app: upstream-stale a.o, upstream-stale b.o; tests: upstream-stale app",
        ),
        (
            "the value of all",
            &|space| replace(space, "graph.json", "cc 1.0", "cc 1.1"),
            "gen.h: value-changed gen.h; a.o: upstream-stale gen.h, value-changed a.o; \
             b.o: upstream-stale gen.h, value-changed b.o; \
             app: upstream-stale a.o, upstream-stale b.o, value-changed app; tests: upstream-stale app, value-changed tests",
        ),
        (
            "a target more",
            &|space| replace(space, "graph.json", "\"targets\": [", "\"targets\": [{\"outputs\": [\"n\"]}, "),
            "",
        ),
    ];
    for (what, act, expected) in changes {
        let space = made();
        act(&space);
        if expected.is_empty() {
            fresh(&space, "--from graph");
        } else {
            assert_eq!(stale(&space, "--from graph"), expected, "{what}");
        }
    }
}

#[test]
fn targets_can_be_asked_for_one_by_one() {
    let space = made();
    space.write("b.c", "int bb;\n");
    fresh(&space, "--from graph a.o gen.h");
    fresh(&space, "--from graph a.c");
    assert_eq!(stale(&space, "--from graph b.o"), "b.o: input-changed b.c");
    assert!(stale(&space, "--from graph all").ends_with("; tests: upstream-stale app"));
    let absolute = space.path().join("b.o").display().to_string();
    assert_eq!(stale(&space, &format!("--from graph {absolute}")), "b.o: input-changed b.c");
}

#[test]
fn the_chain_to_the_cause_can_be_shown() {
    let space = made();
    space.write("b.c", "int bbb;\n");
    assert_eq!(
        ask(&space, "why tests --from graph").answer(1),
        "tests is pending\n\
         └─ app is pending\n   \
            └─ b.o is stale\n      \
               └─ b.c changed (9 bytes against 7)\n"
    );
    let answer = json(&ask(&space, "why all --from graph --format json").answer(1));
    let names: Vec<_> =
        answer["targets"].as_array().expect("a list").iter().map(|it| it["target"].clone()).collect();
    assert_eq!(names, ["all", "app", "tests", "b.o"]);
    assert_eq!(answer["from"], "graph");
}

#[test]
fn explaining_lists_every_reason_and_commands_are_shown() {
    let space = made();
    space.write("deep.h", "another");
    replace(&space, "graph.json", "cc 1.0", "cc 1.1");
    let answer = ask(&space, "--from graph --explain --commands").answer(1);
    for line in [
        "          the value of CC changed (\"cc 1.1\" against \"cc 1.0\")\n",
        "          deep.h changed (7 bytes against 13)\n",
        "          $ cc a.c\n",
        "          $ ./app --test\n",
    ] {
        assert!(answer.contains(line), "{line}{answer}");
    }
}

#[test]
fn lines_about_a_graph_say_the_same_as_the_whole() {
    let space = made();
    space.write("deep.h", "another");
    let whole = json(&ask(&space, "--from graph --format json").answer(1));
    let lines = ask(&space, "--from graph --format jsonl").answer(1);
    let mut lines: Vec<Value> = lines.lines().map(json).collect();
    let last = lines.pop().expect("a last line");
    assert_eq!(whole["stale"], Value::from(lines));
    let summary = |answer: &Value| {
        let mut summary = answer["summary"].as_object().expect("an object").clone();
        // Where listings may lag, what is young is asked itself: the first time there is more to ask.
        let differs = |key: &str| key.starts_with("snapshot_") || ["directories", "stats"].contains(&key);
        summary.retain(|key, _| !differs(key));
        summary
    };
    assert_eq!((&whole["root_causes"], summary(&whole)), (&last["root_causes"], summary(&last)));
    assert_eq!(whole["root_causes"], json(r#"[{"path": "deep.h", "code": "input-changed", "targets": 4}]"#));
    let summary = &whole["summary"];
    assert_eq!(summary["records"], true);
    // Elsewhere a record has no device, so that contents are compared.
    if cfg!(unix) {
        assert_eq!(summary["contents"], 0);
    }
}

#[test]
fn every_change_is_over_when_all_was_made_again() {
    let space = made();
    space.write("deep.h", "another");
    space.write("res/deep/logo", "logo\n");
    replace(&space, "graph.json", "cc 1.0", "cc 1.1");
    run(&space, "--from graph all", &MAKE.replace("res/*", "res/icon")).well();
    fresh(&space, "--from graph");
}

#[test]
fn a_step_at_a_time_can_be_run() {
    let space = graph();
    let step = |target: &str, script: &str| run(&space, &format!("--from graph {target}"), script).well();
    step("gen.h", "cp gen.in gen.h");
    fresh(&space, "--from graph gen.h");
    step("a.o", "cat a.c deep.h > a.o; echo a.o: deep.h > a.d");
    step("b.o", "cat b.c deep.h > b.o; echo b.o: deep.h > b.d");
    step("app", "cat a.o b.o > app");
    assert_eq!(stale(&space, "--from graph"), "tests: never-built tests");
    step("tests", "test -s app");
    fresh(&space, "--from graph");
    // Each of them is fresh now.
    step("app", "exit 1");
    step("all", "exit 1");
    // What comes out as it was makes nothing else stale.
    space.write("a.c", "int a;\n");
    space.write("gen.in", "#define GEN\n ");
    assert_eq!(stale(&space, "--from graph gen.h"), "gen.h: input-changed gen.in");
    step("gen.h", "echo '#define GEN' > gen.h");
    fresh(&space, "--from graph");
}

#[test]
fn a_run_of_a_phony_target_covers_what_is_behind_it() {
    let space = graph();
    run(&space, "--from graph all", MAKE).well();
    fresh(&space, "--from graph");
    space.write("a.c", "int other;\n");
    // A target alone is no word about what it needs.
    run(&space, "--from graph app", "echo >> app").well();
    assert!(stale(&space, "--from graph").starts_with("a.o: input-changed a.c"));
    run(&space, "--from graph all", MAKE).well();
    fresh(&space, "--from graph");
}
