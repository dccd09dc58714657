//! Documents against the schemas in docs/schema.

use crate::tools::{root, run_tool};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

/// What is wrong with each document; `None` for those that their schema accepts. Each comes with its schema, such as
/// `why.json#/$defs/line`. All at once: starting Python takes longer than what it does.
///
/// # Panics
/// When the validator cannot be run, or a schema is itself no good.
#[must_use]
pub fn verdicts(cases: &[(String, Value)]) -> Vec<Option<String>> {
    let mut python = Command::new("python3")
        .arg(root().join("tests/tools/validate-json"))
        .arg(root().join("docs/schema"))
        .env("PYTHONPATH", run_tool("get-jsonschema", "4"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    let mut stdin = python.stdin.take().expect("a pipe");
    let line = |(schema, document): &(String, Value)| json!({ "schema": schema, "document": document });
    let input: String = cases.iter().map(|case| line(case).to_string() + "\n").collect();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = python.wait_with_output().expect("python3 ends");
    assert!(output.status.success(), "validate-json failed");
    writer.join().expect("no panic").expect("all was read");
    let text = String::from_utf8(output.stdout).expect("text");
    let verdict = |line: &str| serde_json::from_str::<Option<String>>(line).expect("JSON");
    let verdicts: Vec<_> = text.lines().map(verdict).collect();
    assert_eq!(verdicts.len(), cases.len());
    verdicts
}
