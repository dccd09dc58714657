//! The `upcheck` command as people and scripts meet it: options, exit status, streams, wording.

#[path = "../command/mod.rs"]
mod command;
mod looking_past;
mod many;
mod options;
mod plan;
mod real_ninja;
mod streams;
mod why;

use command::Ran;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// The names of the targets in the report, with their verdicts.
#[track_caller]
fn listed(ran: Ran, status: i32) -> String {
    let report = json(&ran.answer(status));
    let stale = report["stale"].as_array().expect("a list");
    let names = stale.iter().map(|target| {
        let text = |key: &str| target[key].as_str().expect("text").to_owned();
        format!("{}:{}", text("target"), text("verdict"))
    });
    names.collect::<Vec<_>>().join(" ")
}

fn many_lines(text: &str, start: &str) -> usize {
    text.lines().filter(|line| line.trim_start().starts_with(start)).count()
}
