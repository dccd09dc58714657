//! Exit status, standard output and standard error.

use crate::command::spaces::{changed_header, many, program};
use crate::command::{Ran, run, upcheck_in};
use crate::json;
use serde_json::json;
#[cfg(unix)]
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use upcheck_tests::space::Space;

#[test]
fn a_fresh_build_is_status_0_with_or_without_the_word_check() {
    let space = program();
    for args in ["", "check"] {
        assert_eq!(run(&space, args).answer(0), "fresh: nothing to do for 4 targets\n", "{args}");
    }
}

#[test]
fn a_stale_build_is_status_1_and_says_the_cause_and_the_targets() {
    let expected = "\
3 of 4 targets are stale

3 targets are stale because config.h is newer than what was made from it (changed 2023-11-14 22:14:50)

stale   a.o
          config.h is newer than a.o by 89.000 s (2023-11-14 22:14:50 against 2023-11-14 22:13:21)
stale   b.o
          config.h is newer than b.o by 89.000 s (2023-11-14 22:14:50 against 2023-11-14 22:13:21)
stale   prog
          a.o is stale
          b.o is stale
";
    assert_eq!(run(&changed_header(), "").answer(1), expected);
}

#[test]
fn a_single_stale_target_needs_no_summary_of_causes() {
    let space = program();
    space.remove("check");
    let expected = "1 of 4 targets is stale\n\nstale   check\n          check does not exist\n";
    assert_eq!(run(&space, "").answer(1), expected);
}

#[test]
fn trouble_is_status_2_with_nothing_on_standard_output_for_people() {
    let space = Space::new();
    for args in ["", "check", "why x", "--exact", "-q", "-q --format json", "check -q --format jsonl"] {
        let trouble = run(&space, args).trouble();
        assert_eq!(trouble, "upcheck: error: loading 'build.ninja': No such file or directory\n", "{args}");
    }
}

#[test]
fn trouble_is_an_object_without_a_verdict_for_programs() {
    let space = Space::new();
    for (args, schema) in [
        ("--format json", "upcheck.report/1"),
        ("check --format jsonl", "upcheck.report/1"),
        ("--exact --format json", "upcheck.report/1"),
        ("why x --format json", "upcheck.why/1"),
        ("why x --format jsonl", "upcheck.why/1"),
    ] {
        let ran = run(&space, args);
        let message = "loading 'build.ninja': No such file or directory";
        let expected = json!({ "schema": schema, "from": "ninja", "errors": [{ "message": message }] });
        assert_eq!((ran.stdout.lines().count(), json(&ran.stdout)), (1, expected), "{args}");
        assert_eq!(ran.trouble_in_json(), format!("upcheck: error: {message}\n"), "{args}");
    }
    let named = run(&program(), "--format json no\u{1}pe");
    assert_eq!(json(&named.stdout)["errors"][0]["message"], "unknown target 'no\u{1}pe'");
}

#[test]
fn wrong_usage_is_status_2_and_help_is_status_0() {
    let space = program();
    for args in [
        "--frob",
        "check --frob",
        "why",
        "why -q prog",
        "--format xml",
        "--threads many",
        "--color pink",
        "--explain why prog",
        "prog why prog",
        "prog check",
    ] {
        let trouble = run(&space, args).trouble();
        assert!(trouble.contains("error: "), "{args}: {trouble}");
    }
    for args in ["--help", "-h", "help", "check --help", "why --help", "--version"] {
        let help = run(&space, args).answer(0);
        assert!(help.len() > 10, "{args}");
    }
    assert!(run(&space, "--help").stdout.contains("Usage: upcheck [check] [OPTIONS] [TARGET]..."));
    assert!(run(&space, "--help").stdout.contains("Exit status: 0 everything is fresh, 1 "));
}

#[test]
fn quiet_prints_nothing_and_ends_with_the_same_status() {
    assert_eq!(run(&program(), "-q").answer(0), "");
    assert_eq!(run(&changed_header(), "-q").answer(1), "");
    assert_eq!(run(&changed_header(), "check --quiet --format json check").answer(0), "");
    let warned = program();
    warned.write(".ninja_log", "# ninja log v99\n");
    assert_eq!(run(&warned, "-q").answer(1), "");
    assert!(run(&program(), "-q nope").trouble().contains("unknown target 'nope'"));
}

#[test]
fn whoever_stops_reading_changes_neither_status_nor_standard_error() {
    let space = many(1_200);
    for (args, status) in [
        ("--explain", 1),
        ("--format json", 1),
        ("--format jsonl", 1),
        ("why all --all", 1),
        ("why all --all --format json", 1),
        ("--help", 0),
    ] {
        let mut child = upcheck_in(space.path())
            .args(args.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("upcheck starts");
        drop(child.stdout.take());
        let ran = Ran::new(child.wait_with_output().expect("upcheck ends"));
        assert_eq!((ran.status, ran.stderr.as_str()), (status, ""), "{args}");
    }
}

#[test]
fn a_reader_that_leaves_in_the_middle_changes_nothing_either() {
    let space = many(1_200);
    let mut child = upcheck_in(space.path())
        .args(["--format", "jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("upcheck starts");
    let mut first = String::new();
    // The answer is larger than any buffer in between.
    let mut reader = BufReader::with_capacity(16, child.stdout.take().expect("a pipe"));
    reader.read_line(&mut first).expect("a line");
    drop(reader);
    let ran = Ran::new(child.wait_with_output().expect("upcheck ends"));
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
    assert!(json(&first)["target"].is_string(), "{first}");
}

#[test]
#[cfg(unix)] // A file that is always full.
fn an_answer_that_cannot_be_written_is_trouble() {
    for (space, args) in
        [(program(), ""), (changed_header(), "--format json"), (changed_header(), "why prog")]
    {
        let full = File::create("/dev/full").expect("/dev/full");
        let mut command = upcheck_in(space.path());
        let ran = Ran::new(command.args(args.split_whitespace()).stdout(full).output().expect("runs"));
        assert_eq!(
            ran.trouble(),
            "upcheck: error: writing to standard output: No space left on device\n",
            "{args}"
        );
    }
}

#[test]
#[cfg(unix)] // The same.
fn diagnostics_that_cannot_be_written_change_no_status() {
    let space = program();
    space.write(".ninja_log", "# ninja log v99\n");
    for (args, status) in [("", 1), ("nope", 2)] {
        let full = File::create("/dev/full").expect("/dev/full");
        let mut command = upcheck_in(space.path());
        let ended = command.args(args.split_whitespace()).stdout(Stdio::null()).stderr(full).status();
        assert_eq!(ended.expect("upcheck starts").code(), Some(status), "{args}");
    }
}

#[test]
fn warnings_go_to_standard_error_and_leave_the_answer_alone() {
    let space = program();
    space.write(".ninja_log", "# ninja log v99\n");
    let ran = run(&space, "--format json");
    assert_eq!(
        ran.stderr,
        "upcheck: warning: the build log has version 99; ninja 1.13 would throw it away and start over\n"
    );
    assert_eq!((ran.status, json(&ran.stdout)["verdict"].as_str()), (1, Some("stale")));
}

#[test]
fn scripts_get_nothing_but_names() {
    let space = changed_header();
    let text = run(&space, "").answer(1);
    let names = run(&space, "--format names").answer(1);
    assert!(
        !names.is_empty() && names.lines().all(|name| text.contains(&format!("stale   {name}\n"))),
        "{names}"
    );
    assert_eq!(run(&space, "--format names -0").answer(1), names.replace('\n', "\0"));
    assert_eq!(run(&program(), "--format names").answer(0), "");
    assert!(run(&space, "why prog --format names").trouble().contains("--format names is for"));
    // No name is a target called "error".
    let trouble = run(&space, "nope --format names").trouble();
    assert!(trouble.contains("unknown target 'nope'"), "{trouble}");
}
