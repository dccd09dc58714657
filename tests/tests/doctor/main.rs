//! `upcheck doctor`: what it measures, what it finds in builds, and that it leaves no trace.

mod builds;
#[path = "../command/mod.rs"]
mod command;
mod documents;
mod grounds;
mod mounts;
mod oddities;
mod perpetual;
mod traces;

use command::{Ran, upcheck_in};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// What the doctor said, and how it ended.
struct Diagnosis {
    status: i32,
    document: Value,
    stderr: String,
}

impl Diagnosis {
    /// Takes what a command that asked for JSON has left.
    #[track_caller]
    fn of(command: &mut Command) -> Self {
        let ran = Ran::new(command.output().expect("upcheck starts"));
        let document = serde_json::from_str(&ran.stdout).expect("JSON");
        let diagnosis = Self { status: ran.status, document, stderr: ran.stderr };
        let verdict = ["good", "attention"][usize::try_from(ran.status).expect("no trouble")];
        assert_eq!(diagnosis.document["verdict"], verdict, "{}", ran.stdout);
        diagnosis
    }

    fn findings(&self) -> &Vec<Value> {
        self.document["findings"].as_array().expect("a list")
    }

    /// The codes of all warnings.
    fn warnings(&self) -> Vec<&str> {
        let warnings = self.findings().iter().filter(|finding| finding["severity"] == "warning");
        warnings.map(|finding| finding["code"].as_str().expect("a code")).collect()
    }

    /// The codes of all findings that state no fact of every diagnosis.
    fn remarks(&self) -> Vec<&str> {
        let facts = ["file-system", "stamps", "clock", "directory-stamps", "inodes", "names", "watches"];
        let codes = self.findings().iter().map(|finding| finding["code"].as_str().expect("a code"));
        codes.filter(|code| !facts.contains(code)).collect()
    }

    /// The only finding with that code.
    #[track_caller]
    fn finding(&self, code: &str) -> &Value {
        let found: Vec<_> = self.findings().iter().filter(|finding| finding["code"] == code).collect();
        assert_eq!(found.len(), 1, "{code} in {:#}", self.document);
        found[0]
    }

    /// A value that the only finding with that code rests on.
    #[track_caller]
    fn evidence(&self, code: &str, key: &str) -> &Value {
        let evidence = self.finding(code)["evidence"].as_object().expect("an object");
        evidence.get(key).unwrap_or_else(|| panic!("no {key} in {evidence:?}"))
    }
}

/// Runs the doctor in a directory, with more arguments.
#[track_caller]
fn examine(directory: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Diagnosis {
    Diagnosis::of(upcheck_in(directory).args(["doctor", "--format", "json"]).args(args))
}

/// Runs the doctor without more arguments.
#[track_caller]
fn examine_it(directory: &Path) -> Diagnosis {
    examine(directory, [""; 0])
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

fn number(value: &Value) -> i64 {
    value.as_i64().expect("a number")
}
