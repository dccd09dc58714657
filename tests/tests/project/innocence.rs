//! Asking changes nothing, creates nothing, and so makes no difference to what is asked next.

use crate::{MAKE, ask, graph, json, made, replace, run, sources};
use std::fs;
use upcheck_tests::space::Space;

const QUESTIONS: &[&str] = &[
    "--from graph",
    "check --from graph --explain --commands",
    "check --from graph -q",
    "check --from graph --format json",
    "check --from graph --format jsonl --policy digest",
    "check --from graph app tests",
    "check --from graph --policy mtime-or-digest",
    "check --from graph --policy newer",
    "check --from graph --exact",
    "check --from graph no-such-target",
    "check --from graph -f no-such.json",
    "why --from graph all app",
    "why --from graph --all --format json tests",
    "affected --from graph a.c deep.h res/new README",
    "affected --from graph --format jsonl a.c",
    "-i a.c -i src/*.ts -o out",
    "-i **/* -o app --depfile a.d",
    "-i res -o app --value X=1 --env HOME -- make app",
    "-i a.c --name lint",
    "why -i *.c -o app app",
    "affected -i *.c -o app b.c",
    "-i [ -o out",
    "-C sub -o out",
    "--records elsewhere -i a.c -o out",
];

fn kinds() -> Vec<(&'static str, Space)> {
    let edited = || {
        let space = made();
        space.write("deep.h", "edited");
        space.write("a.c", "int a;\n");
        space.remove("b.o");
        space.write("res/more", "");
        space
    };
    let broken = made();
    broken.write("graph.json", "{");
    let damaged = made();
    let mut records = damaged.read(".upcheck/records");
    let middle = records.len() / 2;
    records[middle] ^= 1;
    damaged.write(".upcheck/records", records);
    let cut = made();
    let records = cut.read(".upcheck/records");
    cut.write(".upcheck/records", &records[..records.len() - 8]);
    let no_store = made();
    fs::remove_dir_all(no_store.path().join(".upcheck")).expect("it was made");
    let interrupted = made();
    assert_eq!(run(&interrupted, "--from graph --always", "exit 1").status, 1);
    let empty_store = graph();
    fs::create_dir(empty_store.path().join(".upcheck")).expect("a folder");
    let command = made();
    replace(&command, "graph.json", "link a.o b.o", "link b.o a.o");
    vec![
        ("nothing was built", graph()),
        ("everything is fresh", made()),
        ("much is stale", edited()),
        ("a graph that is none", broken),
        ("a damaged store", damaged),
        ("a store that ends too early", cut),
        ("a build without a store", no_store),
        ("an interrupted build", interrupted),
        ("a store with nothing in it", empty_store),
        ("another command", command),
        ("no graph", sources()),
    ]
}

#[test]
fn no_question_touches_anything() {
    let mut ended = [0; 3];
    for (name, space) in kinds() {
        let before = space.entries();
        for question in QUESTIONS {
            let ran = ask(&space, question);
            assert!(space.entries() == before, "upcheck {question} touched {name}");
            ended[usize::try_from(ran.status).expect("a status")] += 1;
        }
    }
    assert!(ended.iter().all(|&times| times > 10), "{ended:?}");
}

#[test]
fn an_answer_is_the_same_however_often_it_is_asked_for() {
    for (name, space) in kinds() {
        let answer = || {
            let mut report = json(&ask(&space, "--from graph --format json").stdout);
            if let Some(summary) = report.get_mut("summary").and_then(serde_json::Value::as_object_mut) {
                summary.retain(|key, _| !key.starts_with("snapshot_"));
            }
            report
        };
        let first = answer();
        assert_eq!([answer(), answer()], [first.clone(), first], "{name}");
    }
}

#[test]
fn a_failed_question_leaves_records_as_they_are() {
    let space = made();
    let before = space.entries();
    for question in
        ["record --from graph nope", "record --from graph -f nope", "record -o", "record --begin -i a.c"]
    {
        let _ = ask(&space, question).trouble();
        assert!(space.entries() == before, "{question}");
    }
    for run_of in ["--from graph nope", "--from graph -f nope", "-i a.c", "-o app --name x", "-i [ -o x"] {
        let _ = run(&space, run_of, MAKE).trouble();
        assert!(space.entries() == before, "run {run_of}");
    }
}
