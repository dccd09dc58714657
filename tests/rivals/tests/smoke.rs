//! A tiny race in each cheap case: builds are made, answers compared with ninja's, times taken, results written.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Those that need no compiler, no minutes, and nothing of the rest of the machine.
const CASES: [&str; 11] = [
    "no-op",
    "depfiles",
    "source",
    "header",
    "targets",
    "first-run",
    "manifest",
    "files-small",
    "files-medium",
    "files-large",
    "watched",
];

fn rivals(dir: &Path, args: &[&str]) -> Output {
    // Cargo has built this package's programs for its tests; the command it has not.
    let _ = upcheck_tests::tools::upcheck();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rivals"));
    command
        .args(["--as-built", "--targets", "300", "--rounds", "1", "--dir"])
        .arg(dir.join("builds"))
        .args(args);
    command.output().expect("rivals starts")
}

#[track_caller]
fn must_succeed(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn every_cheap_case_passes_and_is_recorded() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let docs = dir.path().join("docs");
    fs::create_dir(&docs).expect("a folder");
    let document = docs.join("PERFORMANCE.md");
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/PERFORMANCE.md");
    fs::copy(original, &document).expect("the document of the project");
    let (cases, csv) = (CASES.join(","), dir.path().join("all.csv"));
    let record = format!("--record={}", docs.display());
    let csv_option = format!("--csv={}", csv.display());

    let output = rivals(dir.path(), &["--case", &cases, &record, &csv_option, "--rival", "nothing=true"]);
    let text = must_succeed(&output);
    for case in CASES {
        assert!(text.contains(&format!("== {case}: ")), "{case}: {text}");
        let chart = fs::read_to_string(docs.join(format!("performance/{case}.svg"))).expect("a chart");
        assert!(chart.contains(">floor (2 threads)<"), "{case}: {chart}");
    }
    for name in ["upcheck check ", "ninja 1.13 -n ", "ninja 1.11 -n ", "floor (2 threads) ", "nothing "] {
        // No-op, depfiles, first run, manifest and three sizes; before there is an image the first has another name.
        let n = text.lines().filter(|line| line.starts_with(name)).count();
        assert!(n >= 6, "{name}: {n} in {text}");
    }
    let recorded = fs::read_to_string(docs.join("performance/results.csv")).expect("recorded figures");
    assert_eq!(recorded, fs::read_to_string(csv).expect("the same figures"));
    assert_eq!(recorded.lines().filter(|line| line.starts_with("date,")).count(), 1, "{recorded}");
    let n_fields: Vec<_> = recorded.lines().map(|line| line.split(',').count()).collect();
    assert!(n_fields.len() > 60 && n_fields.iter().all(|&n| n >= 12), "{recorded}");
    let document = fs::read_to_string(document).expect("the document");
    assert!(document.contains("](performance/no-op.svg)"), "{document}");
    // The largest build alone does not stay.
    assert!(dir.path().join("builds/layers-300-150").exists());
    assert!(!dir.path().join("builds/layers-2597-12").exists());
}

#[test]
fn a_build_is_used_again_and_what_was_touched_is_as_old_as_before() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let build = dir.path().join("builds/layers-300-150");
    must_succeed(&rivals(dir.path(), &["--case", "source,header"]));
    let mtime = |path: &str| fs::metadata(build.join(path)).and_then(|file| file.modified()).expect("a time");
    assert_eq!(mtime("include/d0000/header_0.h"), mtime("build.ninja"));
    assert_eq!(mtime("src/l0004/file_00.cc"), mtime("build.ninja"));
    fs::write(build.join("still-there"), "").expect("a file");
    must_succeed(&rivals(dir.path(), &["--case", "no-op"]));
    assert!(build.join("still-there").exists());
}

#[test]
fn a_folder_with_something_else_in_it_is_left_alone() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let precious = dir.path().join("builds/precious");
    fs::create_dir(dir.path().join("builds")).expect("a folder");
    fs::write(&precious, "").expect("a file");
    let output = rivals(dir.path(), &["--case", "no-op"]);
    assert!(!output.status.success());
    assert!(precious.exists());
}

#[cfg(unix)]
#[test]
fn a_cache_is_asked_and_what_it_answers_is_looked_at() {
    // Without Go there is no cache; that was said aloud.
    if upcheck_tests::bazel_remote::program("bazel-remote").is_none() {
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let _ = upcheck_tests::tools::upcheck();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cache"));
    command.args(["--as-built", "--few", "30", "--many", "120", "--rounds", "1", "--dir"]).arg(dir.path());
    let text = must_succeed(&command.output().expect("cache starts"));
    for row in [
        "a process that does nothing",
        "a question and its answer",
        "presence of 120 blobs, all there",
        "a snapshot of 120 targets, after the keys",
        "check --remote, 30 targets",
        "snapshot pull, 120 targets",
        "publish again, 30 targets",
        "restore, 30 targets",
        "cp -a of the outputs, 30 targets",
    ] {
        assert!(text.contains(&format!("| {row} | ")), "{row}: {text}");
    }
}
