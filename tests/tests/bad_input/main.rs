//! Input that no build leaves behind: each kind ends in a verdict or in an error that says what, where and why,
//! and leaves the tree alone.

#[path = "../command/mod.rs"]
mod command;
mod damage;
mod depfiles;
mod logs;
mod manifest;
mod names;
mod permissions;
mod wrong_kind;

use command::Ran;
use serde_json::Value;
use std::ffi::OsStr;
use upcheck_tests::space::Space;

/// Runs `upcheck ARGS`, which must leave the tree as it was.
#[track_caller]
fn upcheck(space: &Space, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ran {
    let before = space.entries();
    let ran = command::upcheck(space, args);
    assert!(space.entries() == before, "the tree was touched");
    ran
}

#[track_caller]
fn run(space: &Space, args: &str) -> Ran {
    upcheck(space, args.split_whitespace())
}

/// Checks that `check`, `check --exact` and `why a` all end in the same trouble.
#[track_caller]
fn all_end_in(space: &Space, error: &str) {
    let expected = format!("upcheck: error: {error}\n");
    for args in ["", "--exact", "why a", "-q"] {
        assert_eq!(run(space, args).trouble(), expected, "upcheck {args}");
    }
    assert_eq!(run(space, "--format json").trouble_in_json(), expected);
}

/// The report on a build that is stale or pending.
#[track_caller]
fn report(space: &Space, args: &str) -> Value {
    let ran = run(space, &format!("--format json {args}"));
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

/// `target: code path, code path; target: ...`
fn reasons(report: &Value) -> String {
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let targets = list(&report["stale"]).into_iter().map(|target| {
        let reasons = list(&target["reasons"]);
        let reasons =
            reasons.iter().map(|reason| format!("{} {}", text(&reason["code"]), text(&reason["path"])));
        format!("{}: {}", text(&target["target"]), reasons.collect::<Vec<_>>().join(", "))
    });
    targets.collect::<Vec<_>>().join("; ")
}
