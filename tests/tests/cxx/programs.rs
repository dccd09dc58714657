//! The C++ programs beside this file, each in both standards, and in the hands of all that can find fault with them.

use crate::compile::{program, run, sources, succeeded};
use std::path::Path;
use std::process::Command;
use upcheck_tests::space::Space;

/// As C++17 under valgrind; as C++20 under the sanitizers for addresses and undefined behaviour.
fn examined(name: &str, arguments: &[&str]) {
    let source = sources().join(name).with_extension("cc");
    let made = Space::new();

    let plain = made.path().join("plain");
    program("-std=c++17", &["-O1"], &[&source], &plain);
    let mut valgrind = Command::new("valgrind");
    let kinds = "definite,indirect,possible";
    valgrind.args(["--quiet", "--error-exitcode=99", "--leak-check=full"]);
    valgrind.args([format!("--errors-for-leak-kinds={kinds}"), format!("--show-leak-kinds={kinds}")]);
    valgrind.arg(format!("--suppressions={}", sources().join("valgrind.supp").display()));
    runs(valgrind.arg(&plain).args(arguments));

    let sanitized = made.path().join("sanitized");
    let flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    program("-std=c++20", &flags, &[&source], &sanitized);
    runs(Command::new(&sanitized).args(arguments));
}

/// Runs a program in an empty folder.
fn runs(command: &mut Command) {
    let space = Space::new();
    // How a panic is printed is up to Rust programs' environment, and slow under valgrind.
    succeeded(command.current_dir(space.path()).env("RUST_BACKTRACE", "0"));
}

#[test]
fn graphs_are_described_and_asked_about() {
    examined("graphs", &[]);
}

#[test]
fn errors_are_exceptions() {
    examined("errors", &[]);
}

#[test]
fn objects_are_moved() {
    examined("moves", &[]);
}

#[test]
fn results_are_ranges() {
    examined("ranges", &[]);
}

#[test]
fn records_tell_what_was_built() {
    examined("records", &[]);
}

#[test]
fn a_driver_brings_a_feed_and_asks_the_daemon() {
    examined("feed", &[]);
}

#[test]
fn both_interfaces_agree() {
    examined("agreement", &["1", "40"]);
    let cases = std::env::var("UPCHECK_CASES").ok();
    if let Some(cases) = cases {
        let (made, space) = (Space::new(), Space::new());
        let agreement = made.path().join("agreement");
        program("-std=c++17", &["-O1"], &[&sources().join("agreement.cc")], &agreement);
        succeeded(Command::new(agreement).args(["2", &cases]).current_dir(space.path()));
    }
}

#[test]
fn bugs_are_exceptions() {
    examined("panics", &[]);
}

#[test]
fn threads_share_what_is_const() {
    examined("threads", &[]);
    let (made, space) = (Space::new(), Space::new());
    let threads = made.path().join("threads");
    program("-std=c++17", &["-O1", "-fsanitize=thread"], &[&sources().join("threads.cc")], &threads);
    let mut command = Command::new(&threads);
    succeeded(command.current_dir(space.path()));
}

/// A program that does what the header forbids is found out by what these tests look through.
#[test]
fn the_sanitizers_see_into_the_library() {
    let made = Space::new();
    let source = made.path().join("bad.cc");
    let text = "#include <upcheck/upcheck.hpp>
        int main() {
          upcheck::Graph graph;
          upcheck::Description description;
          description.outputs = graph.files({\"nix\"});
          graph.add(description);
          auto report = std::make_unique<upcheck::Report>(upcheck::check(graph));
          const auto findings = report->findings();
          report.reset();
          return findings[0].reason() == upcheck::Reason::fresh;
        }";
    std::fs::write(&source, text).expect("a source");
    let bad = made.path().join("bad");
    program("-std=c++17", &["-fsanitize=address"], &[Path::new(&source)], &bad);
    let output = run(Command::new(bad).current_dir(made.path()));
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("heap-use-after-free"), "{output:?}");
}
