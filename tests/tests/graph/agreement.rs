//! The schema and the reader accept the same documents, but for what a schema cannot say.

use crate::mutations::{apply, change, outcome, whole};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use upcheck_tests::schemas::verdicts;
use upcheck_tests::tools::root;

/// What a schema cannot say, and the reader refuses.
const BEYOND: &[&str] = &[
    "is an output of two targets",
    "is twice an output of the same target",
    "is called or makes already",
    "NUL",
    // Patterns that are none.
    "pattern",
];

fn assert_agreement(documents: Vec<Value>) -> (usize, usize) {
    let cases: Vec<_> = documents.into_iter().map(|document| ("graph.json".to_owned(), document)).collect();
    let (mut n_accepted, mut n_beyond) = (0, 0);
    for (verdict, (_, document)) in verdicts(&cases).into_iter().zip(&cases) {
        let outcome = outcome(&serde_json::to_vec(document).expect("text"), &[]).map(drop);
        match (verdict, outcome) {
            (None, Ok(())) => n_accepted += 1,
            (None, Err(message)) => {
                assert!(BEYOND.iter().any(|what| message.contains(what)), "refused: {message}: {document}");
                n_beyond += 1;
            }
            (Some(verdict), outcome) => assert!(outcome.is_err(), "accepted, but {verdict}: {document}"),
        }
    }
    (n_accepted, n_beyond)
}

#[test]
fn on_documents_that_were_changed() {
    let mut runner = TestRunner::deterministic();
    let changes = proptest::collection::vec(change(), 1..4);
    let documents: Vec<_> = (0..1500)
        .map(|_| {
            let changes = changes.new_tree(&mut runner).expect("changes").current();
            let mut document = whole();
            changes.iter().for_each(|change| apply(&mut document, change));
            document
        })
        .collect();
    let (n_accepted, n_beyond) = assert_agreement(documents);
    assert!(n_accepted > 100 && n_beyond < 200, "{n_accepted} accepted, {n_beyond} beyond the schema");
}

#[test]
fn on_good_documents() {
    let targets = [
        json!({"outputs": ["a"]}),
        json!({"name": "a"}),
        json!({"name": "a", "outputs": []}),
        json!({"name": {"base64": "/w=="}, "phony": true}),
        json!({"outputs": ["a"], "command": []}),
        json!({"outputs": ["a"], "command": ""}),
        json!({"outputs": ["a"], "command": ["", {"base64": ""}]}),
        json!({"outputs": ["a"], "phony": false, "globs": [], "policy": "newer", "vars": {"a b": "\u{0}"}}),
    ];
    let mut documents: Vec<_> =
        targets.iter().map(|target| json!({"version": 1, "targets": [target]})).collect();
    documents.extend([whole(), json!({"version": 1.0, "targets": [], "defaults": ["x"], "vars": {}})]);
    let n_documents = documents.len();
    assert_eq!(assert_agreement(documents), (n_documents, 0));
}

#[test]
fn on_bad_documents() {
    let targets = [
        json!({}),
        json!({"outputs": []}),
        json!({"outputs": [""]}),
        json!({"outputs": ["a\u{0}"]}),
        json!({"outputs": "a"}),
        json!({"outputs": [["a"]]}),
        json!({"outputs": [{"base64": ""}]}),
        json!({"outputs": [{"base64": "/x=="}]}),
        json!({"outputs": [{"base64": "/w"}]}),
        json!({"outputs": [{}]}),
        json!({"outputs": [{"base64": "/w==", "x": 1}]}),
        json!({"outputs": ["a"], "name": "b"}),
        json!({"name": ""}),
        json!({"name": "a", "phony": null}),
        json!({"name": "a", "phony": true, "command": "x"}),
        json!({"name": "a", "phony": true, "vars": {}}),
        json!({"name": "a", "command": "\u{0}"}),
        json!({"name": "a", "command": ["a\u{0}"]}),
        json!({"name": "a", "command": [["a"]]}),
        json!({"name": "a", "command": 1}),
        json!({"name": "a", "depfile": ""}),
        json!({"name": "a", "depfile": ["a"]}),
        json!({"name": "a", "globs": "*"}),
        json!({"name": "a", "globs": [{"base64": ""}]}),
        json!({"name": "a", "vars": {"": ""}}),
        json!({"name": "a", "vars": {"x\u{0}": ""}}),
        json!({"name": "a", "vars": {"x": 1}}),
        json!({"name": "a", "vars": []}),
        json!({"name": "a", "policy": "Mtime"}),
        json!({"name": "a", "directory": "x"}),
    ];
    let mut documents: Vec<_> =
        targets.iter().map(|target| json!({"version": 1, "targets": [target]})).collect();
    documents.extend([
        json!([]),
        json!({"version": 1}),
        json!({"targets": []}),
        json!({"version": 2, "targets": []}),
        json!({"version": "1", "targets": []}),
        json!({"version": 1.5, "targets": []}),
        json!({"version": 1, "targets": {}}),
        json!({"version": 1, "targets": [], "defaults": [1]}),
        json!({"version": 1, "targets": [], "policy": ""}),
        json!({"version": 1, "targets": [], "$schema": 1}),
        json!({"version": 1, "targets": [], "more": 1}),
    ]);
    assert_eq!(assert_agreement(documents), (0, 0));
}

#[test]
fn on_the_example_in_the_documents() {
    let text = std::fs::read_to_string(root().join("docs/FORMATS.md")).expect("a document");
    let (_, rest) = text.split_once("```json\n").expect("an example");
    let (example, _) = rest.split_once("```").expect("its end");
    let documents = vec![serde_json::from_str(example).expect("JSON")];
    assert_eq!(assert_agreement(documents), (1, 0));
}
