//! `upcheck bench-fs`: what it counts, what it compares, that it says what docs/schema/bench-fs.json describes, and that
//! it changes nothing. What anything takes is not looked at here.

#[path = "../command/mod.rs"]
mod command;
mod documents;

use command::{Ran, run, upcheck, upcheck_in};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;
use upcheck_tests::tools;

/// A directory with 2 files, one below it with 40, and a deep one with 5.
fn tree() -> Space {
    let space = Space::new();
    for name in ["a b", "c$#;'\"\\\n"] {
        space.write(name, "");
    }
    (0..40).for_each(|n| space.write(&format!("many/f{n}"), "content"));
    (0..5).for_each(|n| space.write(&format!("é/d/e/e/p/f{n}"), ""));
    space
}

/// What was measured, in a few rounds.
#[track_caller]
fn card(space: &Space, args: &str) -> Value {
    let answer = run(space, &format!("bench-fs --format json --rounds 2 {args}")).answer(0);
    serde_json::from_str(&answer).expect("JSON")
}

fn rows(card: &Value) -> Vec<(&str, u64, u64, &str)> {
    let rows = card["directories"].as_array().expect("a list").iter();
    let number = |row: &Value, key: &str| row[key].as_u64().expect("a number");
    fn text<'a>(row: &'a Value, key: &str) -> &'a str {
        row[key].as_str().expect("text")
    }
    rows.map(|row| (text(row, "path"), number(row, "entries"), number(row, "files"), text(row, "how")))
        .collect()
}

#[test]
fn everything_below_is_counted_and_measured() {
    let card = card(&tree(), "");
    assert_eq!(
        card["below"],
        json!({ "directories": 7, "entries": 53, "closed": 0, "elsewhere": 0, "whole": true })
    );
    assert_eq!(card["sample"], json!({ "directories": 3, "entries": 49, "files": 47, "rounds": 2 }));
    let rates: Vec<_> = card["rates"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|rate| (rate["code"].as_str().expect("text"), rate["count"].as_u64().expect("a number")))
        .collect();
    let expected = [
        ("list", 3),
        ("stat-by-path", 47),
        ("stat-from-directory", 45),
        ("missing-by-path", 47),
        ("missing-from-directory", 45),
        ("open", 47),
    ];
    assert_eq!(rates, expected, "the base itself needs no opening");
    assert_eq!(card["far"], false);
}

#[test]
fn the_planner_chooses_as_in_a_check() {
    let card = card(&tree(), "");
    let expected = [(".", 4, 2, "path"), ("many", 40, 40, "descriptor"), ("é/d/e/e/p", 5, 5, "descriptor")];
    assert_eq!(rows(&card), expected);
    let choices = card["choices"].as_array().expect("a list");
    let hows = |path, descriptor| json!({ "path": path, "descriptor": descriptor, "list": 0, "too-long": 0 });
    let found: Vec<_> =
        choices.iter().map(|it| (&it["code"], &it["files"], &it["hows"], &it["changed"])).collect();
    let expected =
        [(json!("all"), json!(47), hows(1, 2), json!(0)), (json!("few"), json!(8), hows(3, 0), json!(0))];
    let expected: Vec<_> =
        expected.iter().map(|(code, files, hows, changed)| (code, files, hows, changed)).collect();
    assert_eq!(found, expected);
    let calls = json!({ "opens": 2, "listings": 0, "buffers": 0, "entries": 0, "stats": 47 });
    assert_eq!(choices[0]["calls"], calls);
}

#[test]
fn a_sample_is_as_large_as_it_is_told_and_spread_over_all() {
    let space = Space::new();
    (0..10).for_each(|n| space.write(&format!("d{n}/f"), ""));
    let card = card(&space, "--directories 5");
    let paths: Vec<_> = rows(&card).into_iter().map(|(path, ..)| path.to_owned()).collect();
    assert_eq!(paths, ["d0", "d2", "d4", "d6", "d8"]);
    assert_eq!(card["below"]["directories"], 11);
}

#[test]
fn links_are_not_followed_and_only_files_are_asked_for() {
    let space = tree();
    let path = |name: &str| space.path().join(name);
    symlink(".", path("loop")).expect("a link");
    symlink("many", path("many too")).expect("a link");
    symlink("nowhere", path("many/dangling")).expect("a link");
    let made = std::process::Command::new("mkfifo").arg(path("many/pipe")).status().expect("mkfifo starts");
    assert!(made.success());
    let card = card(&space, "");
    assert_eq!(card["below"]["directories"], 7);
    assert_eq!(rows(&card)[1], ("many", 42, 40, "descriptor"));
}

#[test]
fn names_that_are_not_utf_8_can_be_had_exactly() {
    let space = Space::new();
    let name = OsString::from_vec(b"\xff".to_vec());
    fs::create_dir(space.path().join(&name)).expect("a directory");
    fs::write(space.path().join(&name).join("f"), "").expect("a file");
    let card = card(&space, "");
    let row = &card["directories"][0];
    assert_eq!((&row["path"], &row["path_b64"]), (&json!("\u{fffd}"), &json!("/w==")));
    let ran = upcheck(&space, ["bench-fs".into(), "--format=json".into(), "--rounds=1".into(), name]);
    let card: Value = serde_json::from_str(&ran.answer(0)).expect("JSON");
    assert_eq!(card["directory_b64"], "Li//");
}

/// The status of a script that was not allowed to do what the test needs.
const NOT_ALLOWED: i32 = 90;

/// What was measured in a namespace; `None`, aloud, where there can be none. Where there is one, it has to be measured.
fn unshared(output: std::io::Result<std::process::Output>, what: &str) -> Option<Value> {
    let refusal = match &output {
        Err(error) => Some(error.to_string()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_refused = said.starts_with("unshare: ") || output.status.code() == Some(NOT_ALLOWED);
            is_refused.then_some(said)
        }
    };
    if let Some(refusal) = refusal {
        not_tested(&format!("{what}: {refusal}"));
        return None;
    }
    Some(serde_json::from_str(&Ran::new(output.expect("it was started")).answer(0)).expect("JSON"))
}

#[test]
fn a_directory_that_is_closed_is_left_out_and_counted() {
    let space = tree();
    let set = |mode| fs::set_permissions(space.path().join("many"), fs::Permissions::from_mode(mode));
    set(0).expect("permissions");
    // In a user namespace nobody may do more than the permissions say, root neither.
    let mut command = std::process::Command::new("unshare");
    command.arg("-U").arg(tools::upcheck()).args(["bench-fs", "--format", "json", "--rounds", "1"]);
    let output = command.current_dir(space.path()).output();
    set(0o755).expect("permissions");
    let Some(card) = unshared(output, "a directory that cannot be listed; this needs `unshare -U`") else {
        return;
    };
    assert_eq!((&card["below"]["closed"], &card["below"]["directories"]), (&json!(1), &json!(6)));
}

#[test]
fn other_file_systems_below_are_left_alone() {
    let space = tree();
    let script =
        "mount -t tmpfs none many && echo > many/x || exit 90; exec \"$1\" bench-fs --format json --rounds 1";
    let mut command = std::process::Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(tools::upcheck()).current_dir(space.path());
    let what = "a mounted file system below; this needs `unshare -m` and `mount`";
    let Some(card) = unshared(command.output(), what) else { return };
    assert_eq!((&card["below"]["elsewhere"], &card["below"]["directories"]), (&json!(1), &json!(6)));
    assert!(rows(&card).iter().all(|(path, ..)| *path != "many"));
}

#[test]
fn nothing_is_changed_and_no_cache_is_written() {
    let space = tree();
    let before = space.entries();
    let mut command = upcheck_in(space.path());
    command.args(["bench-fs", "--rounds", "2"]).env("UPCHECK_CACHE_DIR", space.images());
    Ran::new(command.output().expect("upcheck starts")).answer(0);
    assert!(space.entries() == before);
    assert!(!space.images().exists());
}

#[test]
fn people_get_tables() {
    let space = tree();
    let text = run(&space, "bench-fs --rounds 2").answer(0);
    // Whether the machine has other things to do is its own affair.
    let lines: Vec<_> = text.split("\nThe machine was busy").next().expect("a text").lines().collect();
    let first: Vec<_> = lines.iter().map(|line| line.split("  ").next().unwrap_or_default()).collect();
    let expected = [
        "file-system",
        "below",
        "sample",
        "",
        "one thread, warm caches",
        "list a directory, names only",
        "",
        "stat by path",
        "stat from its directory",
        "missing, by path",
        "missing, from its directory",
        "open and close a file",
        "",
        "the planner's choice, least",
        "all 47 files",
        "",
        "8 files, at most 3 of each directory",
        "",
        "",
        "",
        "",
        "",
        "",
    ];
    assert_eq!(first, expected, "{text}");
    assert_eq!(lines[1], "below        7 directories with 53 entries");
    assert_eq!(lines[2], "sample       47 files of 3 directories with 49 entries; 2 rounds");
    assert_eq!(lines[15], "  1 by path, 2 opened; asked for: 47 files, 2 openings");
    assert!(lines[20].ends_with("  opened   many"), "{text}");
    assert!(lines[22].ends_with("  by path  ."), "{text}");
}

#[test]
fn where_there_is_nothing_to_measure_is_trouble() {
    let space = Space::new();
    fs::create_dir(space.path().join("empty")).expect("a directory");
    symlink("nowhere", space.path().join("empty/link")).expect("a link");
    space.write("other/file", "");
    for (args, expected) in [
        ("bench-fs empty", "upcheck: error: measuring './empty': there is no file in it, nor below it\n"),
        ("bench-fs nowhere", "upcheck: error: opening './nowhere': No such file or directory\n"),
        ("bench-fs other/file", "upcheck: error: opening './other/file': Not a directory\n"),
        ("-C other bench-fs file", "upcheck: error: opening 'other/file': Not a directory\n"),
        ("bench-fs other --format names", "upcheck: error: --format names is for check and affected\n"),
    ] {
        assert_eq!(run(&space, args).trouble(), expected);
        if !args.contains("names") {
            assert_eq!(run(&space, &format!("{args} --format json")).trouble_in_json(), expected);
        }
    }
    for args in ["--rounds 0", "--rounds x", "--directories 0", "a b"] {
        run(&space, &format!("bench-fs {args}")).trouble();
    }
}
