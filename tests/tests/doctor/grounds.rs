//! What is measured where everything is as usual, and what cannot be examined at all.

use crate::command::{run, upcheck_in};
use crate::{Ran, examine, examine_it, number, text};
use std::path::Path;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;

#[test]
fn a_usual_directory_is_measured_and_good() {
    let space = Space::new();
    space.write("some/folder/file", "");
    let diagnosis = examine_it(space.path());
    assert_eq!((diagnosis.status, diagnosis.stderr.as_str()), (0, ""), "{:#}", diagnosis.document);
    assert_eq!(diagnosis.remarks(), ["no-build"]);
    assert_eq!(diagnosis.evidence("file-system", "read_only"), false);
    assert_eq!(diagnosis.evidence("stamps", "kept_ns"), 1);
    assert_eq!(diagnosis.evidence("stamps", "rewriting_moves"), true);
    assert_eq!(diagnosis.evidence("stamps", "ctime"), "moves");
    // How fast the clock ticks is the machine's business, and how much of that shows, that of its load.
    assert!(diagnosis.evidence("stamps", "tick_ns").as_i64().is_none_or(|tick| tick > 0));
    assert!(number(diagnosis.evidence("stamps", "tie_ns")) >= 0);
    let offset = |key| number(diagnosis.evidence("clock", key));
    assert!(offset("offset_least_ns") <= offset("offset_most_ns"));
    for key in ["create_moves", "remove_moves", "rename_moves"] {
        assert_eq!(diagnosis.evidence("directory-stamps", key), true, "{key}");
    }
    assert_eq!(diagnosis.evidence("directory-stamps", "edit_moves"), false);
    assert_eq!(diagnosis.evidence("inodes", "stable"), true);
    assert_eq!(diagnosis.evidence("inodes", "links_share"), true);
    assert_eq!(diagnosis.evidence("names", "case_sensitive"), true);
    assert_eq!(diagnosis.evidence("names", "unicode_folded"), false);
    assert_eq!(diagnosis.evidence("names", "bytes_kept"), true);
    assert_eq!(diagnosis.evidence("watches", "directories_below"), 3);
}

#[test]
fn a_file_system_in_memory_is_known_as_one() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        not_tested("a file system in memory; this needs /dev/shm");
        return;
    };
    let diagnosis = examine_it(directory.path());
    assert_eq!(diagnosis.evidence("file-system", "type"), "tmpfs");
    assert_eq!(diagnosis.evidence("file-system", "kind"), "memory");
    assert_eq!(diagnosis.evidence("file-system", "magic"), 0x0102_1994);
}

#[test]
fn people_get_a_line_per_finding_and_the_facts_first() {
    let space = Space::new();
    space.write("build.ninja", "rule t\n  command = t\nbuild a: t b\n");
    space.write_at("b", "", i64::MAX / 4 * 3);
    let answer = run(&space, "doctor").answer(1);
    let codes: Vec<_> = answer.lines().take_while(|line| !line.is_empty()).map(first_word).collect();
    let facts = ["file-system", "stamps", "clock", "directory-stamps", "inodes", "names", "build", "watches"];
    assert_eq!(codes, facts);
    let rest: Vec<_> = answer.lines().skip(facts.len() + 1).collect();
    assert!(rest[0].starts_with("warning future-stamps: 1 file in the future: b by "), "{answer}");
    assert!(rest[1].starts_with("          -> what is made from these sources "), "{answer}");
    assert_eq!(rest[2..], ["", "1 warning"], "{answer}");
    space.set_mtime("b", 1_700_000_000_000_000_000);
    assert!(run(&space, "doctor").answer(0).ends_with("\n\nnothing to worry about\n"));
}

fn first_word(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}

#[test]
fn lines_say_what_the_whole_says() {
    let space = Space::new();
    let whole = examine_it(space.path());
    let ran =
        Ran::new(upcheck_in(space.path()).args(["doctor", "--format", "jsonl"]).output().expect("upcheck"));
    let lines: Vec<serde_json::Value> =
        ran.answer(0).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (last, findings) = lines.split_last().expect("a last line");
    assert_eq!(last["summary"], whole.document["summary"]);
    assert_eq!(last["verdict"], "good");
    let codes = |findings: &[serde_json::Value]| -> Vec<String> {
        findings.iter().map(|finding| text(&finding["code"]).to_owned()).collect()
    };
    assert_eq!(codes(findings), codes(whole.findings()));
}

#[test]
fn the_directory_can_be_given_in_two_ways() {
    let space = Space::new();
    space.write("sub/build.ninja", "");
    space.write("sub/other.ninja", "");
    for args in [&["sub"][..], &["-C", "sub"], &["-C", "sub", "."], &["-C", "sub", "-f", "other.ninja"]] {
        assert_eq!(examine(space.path(), args).remarks(), ["build"], "{args:?}");
    }
    assert_eq!(examine_it(space.path()).remarks(), ["no-build"]);
    assert_eq!(text(&examine(space.path(), ["sub"]).document["directory"]), "./sub");
}

#[test]
fn what_is_no_directory_is_trouble() {
    let space = Space::new();
    space.write("file", "");
    for (args, message) in [
        ("doctor nowhere", "opening './nowhere': No such file or directory"),
        ("doctor -C nowhere", "opening 'nowhere': No such file or directory"),
        ("doctor file", "opening './file': Not a directory"),
    ] {
        assert_eq!(run(&space, args).trouble(), format!("upcheck: error: {message}\n"));
        assert!(run(&space, &format!("{args} --format json")).trouble_in_json().contains(message));
    }
}

#[test]
fn a_command_without_a_build_is_trouble_and_is_not_run() {
    let space = Space::new();
    let trouble = run(&space, "doctor -- touch made").trouble();
    assert!(trouble.contains("opening './build.ninja': there is no build"), "{trouble}");
    space.write("build.ninja", "");
    let trouble = run(&space, "doctor -- ./no-such-program x").trouble();
    assert_eq!(trouble, "upcheck: error: starting './no-such-program': No such file or directory\n");
    assert!(!Path::new(&space.path().join("made")).exists());
}
