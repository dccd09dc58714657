//! The JSON of the rate card is what docs/schema/bench-fs.json says it is, and nothing else is.

use crate::command::{run, upcheck};
use crate::{card, tree};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use upcheck_tests::schemas::verdicts;
use upcheck_tests::space::Space;
use upcheck_tests::tools::root;

const SCHEMA: &str = "bench-fs.json";

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_schema_accepts_all_there_is() {
    let odd = Space::new();
    let name = OsString::from_vec(b"\xff".to_vec());
    fs::create_dir(odd.path().join(&name)).expect("a directory");
    fs::write(odd.path().join(name).join("f"), "").expect("a file");
    let mut cases = Vec::new();
    for space in [&tree(), &odd, &Space::new()] {
        let ask = |format: &str| {
            upcheck(space, ["bench-fs", "--rounds", "1", "--format", format].map(OsString::from)).stdout
        };
        let whole = parse(&ask("json"));
        let lines: Vec<Value> = ask("jsonl").lines().map(parse).collect();
        if let Some(directories) = whole["directories"].as_array() {
            assert_eq!(lines.len(), directories.len() + 1);
            assert!(lines.iter().zip(directories).all(|(line, directory)| line["path"] == directory["path"]));
        }
        let part = if whole.get("errors").is_some() { "trouble" } else { "answer" };
        cases.extend(lines.into_iter().map(|line| (format!("{SCHEMA}#/$defs/line"), line)));
        cases.push((format!("{SCHEMA}#/$defs/{part}"), whole.clone()));
        cases.push((SCHEMA.into(), whole));
    }
    let bad: Vec<_> =
        verdicts(&cases).into_iter().zip(&cases).filter_map(|(bad, case)| Some((bad?, case))).collect();
    assert!(bad.is_empty(), "{} of {} are rejected, first: {:#?}", bad.len(), cases.len(), bad[0]);
}

/// All paths to values within a document: keys and places.
fn paths(value: &Value) -> Vec<String> {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(object) => object.iter().map(|(key, value)| (format!("/{key}"), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(at, value)| (format!("/{at}"), value)).collect(),
        _ => Vec::new(),
    };
    let below = |(step, value): (String, &Value)| {
        let mut all: Vec<String> = paths(value).into_iter().map(|path| step.clone() + &path).collect();
        all.push(step);
        all
    };
    inner.into_iter().flat_map(below).collect()
}

#[test]
fn the_schema_rejects_a_card_with_any_part_lost_or_of_another_kind() {
    let card = card(&tree(), "");
    let trouble = parse(&run(&Space::new(), "bench-fs nowhere --format json").stdout);
    let mut cases = Vec::new();
    for document in [&card, &trouble] {
        for path in paths(document) {
            let (parent, key) = path.rsplit_once('/').expect("a step");
            let mut lost = document.clone();
            if let Some(object) = lost.pointer_mut(parent).and_then(Value::as_object_mut) {
                object.remove(key);
                // A document without errors is not trouble, and not an answer either.
                cases.push(lost);
            }
            for other in [json!(-1), json!([]), json!({ "new": 1 })] {
                let mut changed = document.clone();
                *changed.pointer_mut(&path).expect("it is there") = other;
                cases.push(changed);
            }
            let mut more = document.clone();
            if let Some(object) = more.pointer_mut(&path).and_then(Value::as_object_mut) {
                object.insert("new".into(), json!(1));
                cases.push(more);
            }
        }
    }
    let cases: Vec<_> = cases.into_iter().map(|case| (SCHEMA.to_owned(), case)).collect();
    let accepted: Vec<_> =
        verdicts(&cases).into_iter().zip(&cases).filter(|(bad, _)| bad.is_none()).collect();
    assert!(
        accepted.is_empty(),
        "{} of {} are accepted, first: {:#?}",
        accepted.len(),
        cases.len(),
        accepted[0]
    );
}

#[test]
fn the_page_has_every_code_and_no_others() {
    let page = fs::read_to_string(root().join("docs/BENCH_FS.md")).expect("a page");
    let rows: BTreeSet<_> =
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let schema = parse(&fs::read_to_string(root().join("docs/schema").join(SCHEMA)).expect("a schema"));
    let known = schema["$defs"]["rates"]["items"]["properties"]["code"]["enum"].as_array().expect("a list");
    assert_eq!(rows, known.iter().map(|code| code.as_str().expect("a code")).collect());
}
