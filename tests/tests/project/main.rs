//! The `upcheck` command on targets that options or a graph describe: asking, running, recording, and what would be
//! affected.

mod affected;
mod bad_input;
#[cfg(unix)]
mod closed;
#[path = "../command/mod.rs"]
mod command;
#[cfg(unix)] // A compiler for the system it runs on.
mod compiler;
#[cfg(unix)] // What is done to files there takes a real shell, and git.
mod content;
mod graphs;
mod innocence;
#[cfg(unix)] // Modes and links.
mod keeping;
#[cfg(unix)] // They are read from ELF files.
mod libraries;
mod options;
#[cfg(unix)] // Make and go-task, with shells and a compiler.
mod others;
mod passing;
mod recording;
mod running;
mod stores;
mod together;
mod wrapping;

use command::{Ran, upcheck_in};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::process::{Command, ExitStatus, Output};
use upcheck_tests::space::Space;
use upcheck_tests::tools::{self, output_of};
use upcheck_tests::words;

/// Something that is done to a build.
type Act<'a> = &'a dyn Fn(&Space);

/// How a command ended that may end in any way.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ended {
    /// The exit status; 128 and the number of the signal that it died of.
    status: i32,
    stdout: Vec<u8>,
    stderr: String,
}

impl Ended {
    #[track_caller]
    fn new(output: Output) -> Self {
        let Output { status, stdout, stderr } = output;
        let stderr = words::as_on_unix(String::from_utf8_lossy(&stderr).into_owned());
        assert!(!stderr.contains("panicked"), "{stderr}");
        let status = status.code().unwrap_or_else(|| 128 + signal(status));
        Self { status, stdout, stderr }
    }

    /// Checks that it ended well with nothing to say.
    #[track_caller]
    fn well(self) {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""), "{}", String::from_utf8_lossy(&self.stdout));
    }

    /// Checks that it ended in trouble of its own. What it said.
    #[track_caller]
    fn trouble(self) -> String {
        assert_eq!((self.status, self.stdout.as_slice()), (125, &b""[..]), "{}", self.stderr);
        let lines = self.stderr.lines().filter(|line| line.contains("error:")).count();
        assert_eq!(lines, 1, "one error: {}", self.stderr);
        self.stderr
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> i32 {
    std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or(0)
}

/// There are none.
#[cfg(windows)]
fn signal(_: ExitStatus) -> i32 {
    0
}

/// `upcheck`, about to be started with these arguments.
fn upcheck<A: AsRef<OsStr>>(space: &Space, args: impl IntoIterator<Item = A>) -> Command {
    let mut command = upcheck_in(space.path());
    tools::with_commands(&mut command);
    command.args(args);
    command
}

/// Asks, with arguments separated by spaces: with what earlier questions have kept, with what this one has, and without
/// either, which has to be the same.
#[track_caller]
fn ask(space: &Space, args: &str) -> Ran {
    let once = |keep: bool| {
        let mut command = upcheck(space, args.split_whitespace());
        if keep {
            command.env("UPCHECK_CACHE_DIR", space.images());
        }
        Ran::new(output_of(&mut command).expect("upcheck starts"))
    };
    // That one answers by doing something.
    if args.split(' ').any(|arg| arg == "record") {
        return once(true);
    }
    let (kept, again, ran) = (once(true), once(true), once(false));
    for kept in [kept, again] {
        assert_eq!(comparable(kept), comparable(ran.clone()), "{args}");
    }
    ran
}

/// What does not depend on when, or how, an answer was found.
fn comparable(mut ran: Ran) -> Ran {
    let without = |line: &str| {
        let Ok(Value::Object(mut object)) = serde_json::from_str::<Value>(line) else {
            return line.to_owned();
        };
        if let Some(summary) = object.get_mut("summary").and_then(Value::as_object_mut) {
            let keys =
                ["snapshot_began_ns", "snapshot_ended_ns", "files", "stats", "directories", "contents"];
            keys.iter().for_each(|key| drop(summary.remove(*key)));
        }
        Value::Object(object).to_string()
    };
    // What a check reads of content, it keeps: then only that is known.
    ran.stderr = ran.stderr.replace(" --image-dir <DIR>", "");
    ran.stdout = ran.stdout.lines().map(without).collect::<Vec<_>>().join("\n");
    ran
}

/// Runs `upcheck run ARGS -- sh -c SCRIPT`, with arguments separated by spaces.
#[track_caller]
fn run(space: &Space, args: &str, script: &str) -> Ended {
    let args = ["run"].into_iter().chain(args.split_whitespace()).chain(["--", "sh", "-c", script]);
    let mut command = upcheck(space, args);
    // The first one keeps nothing, the others do.
    if fs::exists(space.path().join(".upcheck")).is_ok_and(|exists| exists) {
        command.env("UPCHECK_CACHE_DIR", space.images());
    }
    Ended::new(output_of(&mut command).expect("upcheck starts"))
}

/// Checks that everything is fresh.
#[track_caller]
fn fresh(space: &Space, args: &str) {
    let answer = ask(space, args).answer(0);
    assert!(answer.starts_with("fresh"), "{answer}");
}

/// The stale targets with the codes of their reasons and the files these are about, as `a.o: input-changed a.c`.
#[track_caller]
fn stale(space: &Space, args: &str) -> String {
    let report = json(&ask(space, &format!("check --format json {args}")).answer(1));
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let targets = list(&report["stale"]).into_iter().map(|target| {
        let reason = |reason: &Value| format!("{} {}", text(&reason["code"]), text(&reason["path"]));
        let reasons: Vec<_> = list(&target["reasons"]).iter().map(reason).collect();
        format!("{}: {}", text(&target["target"]), reasons.join(", "))
    });
    targets.collect::<Vec<_>>().join("; ")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// A file's content as text.
fn text(space: &Space, path: &str) -> String {
    String::from_utf8(space.read(path)).expect("text")
}

/// Two sources below `src`, and nothing else.
fn sources() -> Space {
    let space = Space::new();
    space.write("src/a.ts", "a\n");
    space.write("src/b.ts", "b\n");
    space
}

/// Makes `out` of all sources, and says in `log` that it did.
const CAT: &str = "cat src/*.ts > out; echo ran >> log";

/// A project in which a program is built of two objects with a header that only depfiles know, checked, and installed:
/// `cc` and so on are scripts.
fn graph() -> Space {
    let space = Space::new();
    space.write(
        "graph.json",
        r#"{
  "version": 1,
  "vars": {"CC": "cc 1.0"},
  "targets": [
    {"outputs": ["a.o"], "inputs": ["a.c"], "order_only": ["gen.h"], "depfile": "a.d", "command": ["cc", "a.c"]},
    {"outputs": ["b.o"], "inputs": ["b.c"], "order_only": ["gen.h"], "depfile": "b.d", "command": ["cc", "b.c"]},
    {"outputs": ["gen.h"], "inputs": ["gen.in"], "command": "cp gen.in gen.h"},
    {"outputs": ["app"], "inputs": ["a.o", "b.o"], "globs": ["res/**"], "command": "link a.o b.o"},
    {"name": "tests", "inputs": ["app"], "vars": {"SEED": "1"}, "command": "./app --test"},
    {"outputs": ["all"], "inputs": ["app", "tests"], "phony": true}
  ],
  "defaults": ["all"]
}
"#,
    );
    space.write("a.c", "int a;\n");
    space.write("b.c", "int b;\n");
    space.write("deep.h", "#define DEEP\n");
    space.write("gen.in", "#define GEN\n");
    space.write("res/icon", "icon\n");
    space
}

/// Makes everything that [`graph`] describes.
const MAKE: &str = "cp gen.in gen.h && cat a.c deep.h gen.h > a.o && echo a.o: a.c deep.h gen.h > a.d && \
    cat b.c deep.h gen.h > b.o && echo b.o: b.c deep.h gen.h > b.d && cat a.o b.o res/* > app";

/// [`graph`], made and on record.
#[track_caller]
fn made() -> Space {
    let space = graph();
    run(&space, "--from graph", MAKE).well();
    space
}

/// Replaces a text in a file, where it stands once.
#[track_caller]
fn replace(space: &Space, path: &str, from: &str, to: &str) {
    let text = text(space, path);
    assert_eq!(text.matches(from).count(), 1, "{from} in {path}");
    space.write(path, text.replace(from, to));
}

/// Changes a file's name.
fn rename(space: &Space, from: &str, to: &str) {
    fs::rename(space.path().join(from), space.path().join(to)).expect("another name");
}
