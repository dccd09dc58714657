//! Every question of a suite put to a daemon as well: its answer is compared with a full pass of the command, file by file, and
//! with the answer that the suite has.
//!
//! `UPCHECK_TEST_WATCH` names the folder of a user, in which a daemon runs or is started. In its file `asked` there is a line for
//! each question: what the answer came from.

use crate::answer::{Answer, Question};
use crate::space::Space;
use crate::tools::{self, Ninja};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where what was asked is written down, below the folder.
const ASKED: &str = "asked";

/// The folder of whose daemon is to be asked, if one is.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    std::env::var_os("UPCHECK_TEST_WATCH").map(PathBuf::from)
}

/// Makes a command one of the user with that folder: a daemon that it starts, and images, are his.
pub fn be(command: &mut Command, folder: &Path) {
    command.env("XDG_RUNTIME_DIR", folder.join("run"));
    command.env("UPCHECK_CACHE_DIR", folder.join("images"));
    command.env("TZ", "UTC").env("LC_ALL", "C").env("HOME", "/dev/null");
    command.env_remove("XDG_CACHE_HOME");
}

/// What the answers to the questions of suites came from, and how many did.
///
/// # Panics
/// When no suite has asked anything.
#[must_use]
pub fn asked(folder: &Path) -> BTreeMap<String, usize> {
    let text = std::fs::read_to_string(folder.join(ASKED)).expect("something was asked");
    let mut asked = BTreeMap::new();
    text.lines().for_each(|line| *asked.entry(line.to_owned()).or_default() += 1);
    asked
}

/// Puts the question to the daemon, again and again: the last answer is remembered, if it ever is, and no file is looked at for
/// it, if that ever happens. `answer` is what looks past what stops ninja. Nothing is done where no daemon is to be asked.
///
/// # Panics
/// When an answer is another one.
pub fn compare(space: &Space, version: Ninja, question: &Question, answer: &Answer) {
    let Some(folder) = folder() else { return };
    for time in 1..=2 {
        let from = ask(&folder, space, version, question, answer).unwrap_or_else(|difference| {
            panic!("the answer number {time} of the daemon to {question:?} is another one: {difference}")
        });
        if time == 1 {
            // What is compared looks at files, which others are told of. After these two questions nothing is left to look at.
            for _ in 0..2 {
                let asked = command(&folder, space, version, question)
                    .args(["check", "-q"])
                    .args(&question.targets)
                    .output();
                assert!(asked.is_ok(), "upcheck starts");
            }
        }
        let mut options = std::fs::File::options();
        let mut notes = options.append(true).create(true).open(folder.join(ASKED)).expect("a file");
        notes.write_all(format!("{from}\n").as_bytes()).expect("a note");
    }
}

/// The command, for this question; what it is to do with it is added.
fn command(folder: &Path, space: &Space, version: Ninja, question: &Question) -> Command {
    let mut command = Command::new(tools::upcheck());
    be(command.current_dir(space.path()), folder);
    command.args(["--ninja-version", version.number()]);
    if let Some(file) = &question.file {
        command.args(["-f", file]);
    }
    command
}

/// What the answer came from; how it differs, otherwise.
fn ask(
    folder: &Path,
    space: &Space,
    version: Ninja,
    question: &Question,
    answer: &Answer,
) -> Result<String, String> {
    let mut command = command(folder, space, version, question);
    command.args(["check", "--verify-watch", "--format", "json", "--commands"]).args(&question.targets);
    let output = command.output().expect("upcheck starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let differs = |what: &str| Err(format!("{what}\n--- without\n{answer:?}\n--- with\n{stdout}{stderr}"));
    let Ok(report) = serde_json::from_str::<Value>(&stdout) else { return differs("no answer") };
    let commands = report["stale"].as_array().map(|stale| {
        stale.iter().map(|target| target["command"].as_str().unwrap_or_default().to_owned()).collect()
    });
    let is_same = match (answer, commands) {
        (Answer::Run(expected), Some(commands)) => *expected == commands,
        (Answer::Error(_), None) => true,
        _ => false,
    };
    if !is_same {
        return differs("another answer");
    }
    if let Some((_, why)) = stderr.split_once("upcheck watch did not answer: ") {
        return Ok(format!("declined: {}", why.lines().next().unwrap_or_default()));
    }
    let summary = &report["summary"];
    match (summary["verified"].as_str(), summary["watched"].as_str(), output.status.code()) {
        (Some("same"), Some(from), Some(0 | 1)) => Ok(from.to_owned()),
        _ => differs("the daemon says something else"),
    }
}
