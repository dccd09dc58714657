//! A graph is read and its targets are judged.

use upcheck::collect::MemoryDisk;
use upcheck::project::{Options, ProjectError};
use upcheck::{Policy, Project};
use upcheck_graph::read_slice;

const TARGETS: &str = r#"{"outputs": ["out/a.o"], "inputs": ["src/a.c"], "order_only": ["out"], "depfile": "out/a.d"},
  {"outputs": ["out/app"], "inputs": ["out/a.o"]},
  {"outputs": ["site"], "inputs": ["src/b.md"], "globs": ["docs/**/*.md"]},
  {"outputs": ["all"], "inputs": ["out/app", "site"], "phony": true}"#;

fn project(more: &str) -> Project {
    let mut project = Project::new();
    let text = format!("{{\"version\": 1, \"targets\": [{TARGETS}]{more}}}");
    read_slice(text.as_bytes(), "graph.json", &mut project).expect("a graph");
    project
}

fn built() -> MemoryDisk {
    let mut disk = MemoryDisk::new();
    for path in ["src/a.c", "src/a.h", "src/b.md", "docs/x/y.md"] {
        disk.write(path, b"");
    }
    disk.tick();
    disk.write("out", b"");
    disk.write("out/a.o", b"");
    disk.write("out/a.d", b"out/a.o: src/a.c src/a.h\n");
    disk.tick();
    disk.write("out/app", b"");
    disk.write("site", b"");
    disk.tick();
    disk
}

/// The stale targets with the codes of their reasons.
fn stale(project: &mut Project, disk: &MemoryDisk) -> Vec<String> {
    let requests = project.default_requests();
    let checked = project.check(disk, None, &requests, Options::default()).expect("an answer");
    let graph = project.graph();
    let tell = |target: &upcheck::StaleTarget| {
        let codes: Vec<_> = target.reasons.iter().map(|reason| reason.code()).collect();
        format!("{} {}", String::from_utf8_lossy(graph.name(target.target)), codes.join(" "))
    };
    checked.report.stale.iter().map(tell).collect()
}

#[test]
fn targets_are_judged_by_times_where_there_is_no_store() {
    let mut project = project("");
    let mut disk = built();
    assert!(stale(&mut project, &disk).is_empty());
    disk.write("src/a.h", b"changed");
    assert_eq!(stale(&mut project, &disk), ["out/a.o input-newer", "out/app upstream-stale"]);
    disk.remove("out/a.d");
    assert_eq!(stale(&mut project, &disk)[0], "out/a.o deps-unknown");
}

#[test]
fn matches_of_patterns_are_inputs() {
    let mut disk = built();
    disk.write("docs/x/z.md", b"");
    assert_eq!(stale(&mut project(""), &disk), ["site input-newer"]);
}

#[test]
fn defaults_are_what_is_asked_about() {
    let mut disk = built();
    disk.write("src/a.c", b"changed");
    assert_eq!(stale(&mut project(", \"defaults\": [\"site\"]"), &disk), [""; 0]);
    assert_eq!(stale(&mut project(", \"defaults\": [\"./out//app\"]"), &disk).len(), 2);
}

#[test]
fn a_policy_holds_for_targets_before_and_after_it() {
    let project = project(", \"policy\": \"mtime-or-digest\"");
    let graph = project.graph();
    assert!(graph.targets().all(|target| project.policy(target) == Some(Policy::MtimeOrDigest)));
}

#[test]
fn a_cycle_is_found_by_the_check() {
    let mut project = project("");
    let text = br#"{"version": 1, "targets": [{"outputs": ["x"], "inputs": ["y"]}, {"outputs": ["y"], "inputs": ["x"]}]}"#;
    read_slice(text, "cycle.json", &mut project).expect("a graph");
    let requests = project.default_requests();
    let error = project.check(&built(), None, &requests, Options::default()).map(drop).expect_err("a cycle");
    assert!(matches!(&error, ProjectError::Cycle(names) if names.len() == 3), "{error}");
}

#[test]
fn a_default_that_nothing_makes_is_told() {
    let mut project = project(", \"defaults\": [\"ouput/app\"]");
    let requests = project.default_requests();
    let error = project.check(&built(), None, &requests, Options::default()).map(drop).expect_err("a typo");
    assert!(matches!(&error, ProjectError::MissingSource(path) if path == b"ouput/app"), "{error}");
}
