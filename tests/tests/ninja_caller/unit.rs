//! Ninja's own unit tests, and those of the disk interface.

use crate::ninjas::{changed, stock};
use crate::versions;
use std::path::Path;
use std::process::Command;
use upcheck_tests::tools::Ninja;

/// Runs a program of unit tests. How many there were.
fn passes(program: &Path, filter: &str) -> usize {
    let mut command = Command::new(program);
    // In a folder of its own: some tests write where they are. So is the one for temporary files, which tests ask the time
    // of, twice: in a shared one others make files in between.
    let space = upcheck_tests::space::Space::new();
    std::fs::create_dir(space.path().join("tmp")).expect("a folder");
    command.current_dir(space.path()).env("TMPDIR", space.path().join("tmp"));
    command.arg(format!("--gtest_filter={filter}"));
    let output = command.output().expect("it starts");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?} {filter}:\n{text}");
    // "[  PASSED  ] 12 tests." or, by ninja 1.11's own framework, "[12/12] Test.Name" and then "passed".
    let number = |text: Option<&str>| text.and_then(|text| text.parse().ok());
    let counted = match text.split("[  PASSED  ] ").nth(1) {
        Some(rest) => number(rest.split(' ').next()),
        None => number(text.rsplit('[').next().and_then(|rest| rest.split('/').next())),
    };
    counted.unwrap_or_else(|| panic!("no count in:\n{text}"))
}

#[test]
fn ninjas_own_unit_tests_pass_in_the_changed_tree() {
    for &version in versions().iter().filter(|&&version| version != Ninja::V1_12) {
        let n = passes(&changed(version).join("ninja_test"), "*");
        assert_eq!(n, passes(&stock(version).join("ninja_test"), "*"), "ninja {}", version.number());
        assert!(n > 300, "ninja {}: {n} tests", version.number());
    }
}

#[test]
fn ninjas_unit_tests_of_disks_pass_when_every_stat_is_answered_from_a_snapshot() {
    for &version in versions() {
        let n = passes(&changed(version).join("adapter_test"), "-Upcheck*");
        assert!(n >= 10, "ninja {}: {n} tests", version.number());
    }
}

#[test]
fn the_unit_tests_of_the_disk_interface_pass() {
    for &version in versions() {
        let n = passes(&changed(version).join("adapter_test"), "Upcheck*");
        assert!(n >= 10, "ninja {}: {n} tests", version.number());
    }
}
