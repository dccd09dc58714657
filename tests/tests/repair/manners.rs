//! Repair as a command: what it says, what it refuses, and that nothing is half done.

use super::command::run;
use super::{Builds, OLD};
use serde_json::Value;
use upcheck_tests::tools::Ninja;

fn recorded() -> Builds {
    let builds = Builds::new(Ninja::V1_13);
    assert_eq!(run(&builds.space, "record").answer(0), "");
    builds
}

#[test]
fn a_dry_run_says_what_a_repair_does_and_does_nothing() {
    let builds = recorded();
    builds.space.write("a.c", "a\n");
    builds.space.write("b.c", "B\n");
    let before = builds.space.entries();
    let planned = run(&builds.space, "repair --dry-run").answer(0);
    let expected = "to repair: ninja would run 2 of 5 targets, now 5\ntime set: a.c\nlog entry dropped: b.o\n\
                    not proved: b.o: input b.c changed\n";
    assert_eq!(planned, expected);
    assert_eq!(builds.space.entries(), before);
    let done = run(&builds.space, "repair").answer(0);
    assert_eq!(done, expected.replace("to repair", "repaired").replace("now 5", "before 5"));
    let again = run(&builds.space, "repair").answer(0);
    assert_eq!(
        again,
        "nothing to repair: ninja would run 2 of 5 targets\nnot proved: b.o: input b.c changed\n"
    );
}

#[test]
fn an_answer_in_json_has_all_of_it() {
    let builds = recorded();
    builds.space.write("a.c", "a\n");
    builds.space.write("b.c", "B\n");
    let from = builds.space.mtime("a.c");
    let text = run(&builds.space, "repair --format json").answer(0);
    let found: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(found["schema"], "upcheck.repair/1");
    assert_eq!(found["times"], serde_json::json!([{ "path": "a.c", "from_ns": from, "to_ns": OLD }]));
    assert_eq!(found["log_dropped"], serde_json::json!([{ "path": "b.o" }]));
    let unproven = serde_json::json!([{ "target": "b.o", "code": "input-changed", "path": "b.c" }]);
    assert_eq!(found["unproven"], unproven);
    assert_eq!(found["summary"]["stale_after"], 2);
}

#[test]
fn answers_are_what_the_schema_says_and_others_are_not() {
    let builds = recorded();
    builds.space.write("a.c", "a\n");
    builds.space.write("b.c", "B\n");
    builds.space.remove(".ninja_deps");
    let planned = run(&builds.space, "repair -n --format json").answer(0);
    let answer: Value = serde_json::from_str(&planned).expect("JSON");
    builds.space.remove(".upcheck/contents");
    let trouble = run(&builds.space, "repair --format jsonl");
    trouble.clone().trouble_in_json();
    let trouble: Value = serde_json::from_str(&trouble.stdout).expect("JSON");
    let without = |key: &str| {
        let mut damaged = answer.clone();
        damaged.as_object_mut().expect("an object").remove(key).expect("it has it");
        damaged
    };
    let mut pathless = answer.clone();
    pathless["unproven"][0].as_object_mut().expect("an object").remove("path").expect("it has it");
    let mut other = answer.clone();
    other["deps_mended"][0]["path"] = Value::Null;
    let wrong = [without("times"), without("dry_run"), without("summary"), pathless, other];
    let cases = [answer.clone(), trouble].into_iter().chain(wrong);
    let cases: Vec<_> = cases.map(|document| ("repair.json".to_owned(), document)).collect();
    let verdicts = upcheck_tests::schemas::verdicts(&cases);
    let accepted: Vec<bool> = verdicts.iter().map(Option::is_none).collect();
    assert_eq!(accepted, [true, true, false, false, false, false, false], "{verdicts:?}");
}

#[test]
fn without_records_or_with_damaged_ones_nothing_is_repaired() {
    let builds = Builds::new(Ninja::V1_13);
    let before = builds.space.entries();
    let text = run(&builds.space, "repair").trouble();
    assert!(
        text.starts_with("upcheck: error: nothing is on record in './.upcheck', so nothing can be proved"),
        "{text}"
    );
    assert_eq!(builds.space.entries(), before);
    let builds = recorded();
    let whole = builds.space.read(".upcheck/contents");
    for length in [0, 64, whole.len() / 2, whole.len() - 1] {
        builds.space.write(".upcheck/contents", &whole[..length]);
        let before = builds.space.entries();
        let text = run(&builds.space, "repair").trouble();
        assert!(text.contains("reading './.upcheck/contents': "), "{text}");
        assert_eq!(builds.space.entries(), before);
    }
}

#[test]
fn while_ninja_runs_nothing_is_repaired() {
    let builds = recorded();
    builds.space.write(".ninja_lock", "");
    builds.space.write("a.c", "a\n");
    let before = builds.space.entries();
    let text = run(&builds.space, "repair").trouble();
    assert!(text.contains("ninja seems to be running: '.ninja_lock' is there"), "{text}");
    assert_eq!(builds.space.entries(), before);
}

#[test]
fn a_real_ninja_that_runs_is_noticed() {
    let builds = recorded();
    // A command that repairs, while ninja runs it.
    let upcheck = upcheck_tests::tools::upcheck().display().to_string();
    let manifest = format!(
        "rule repair\n  command = {upcheck} repair --no-image > $out 2>&1; true\nbuild said: repair\ndefault said\n"
    );
    builds.space.write("build.ninja", manifest);
    builds.build();
    let said = String::from_utf8(builds.space.read("said")).expect("text");
    assert!(said.contains("ninja seems to be running: '.ninja_lock' is there"), "{said}");
}

#[test]
fn what_is_not_built_by_ninja_is_refused() {
    let builds = recorded();
    builds.space.write("graph.json", r#"{"version": 1, "targets": []}"#);
    let text = run(&builds.space, "repair --from graph").trouble();
    assert!(text.starts_with("upcheck: error: repair is for ninja: "), "{text}");
    let text = run(&builds.space, "repair --format names").trouble();
    assert!(text.contains("--format names"), "{text}");
}
