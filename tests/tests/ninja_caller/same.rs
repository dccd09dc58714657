//! Suites that know nothing of a changed ninja, run with it beside the stock one: see `upcheck_tests::twin`.

use crate::ninjas::twins;
use crate::versions;
use std::fs;
use std::os::unix::fs::symlink;
use upcheck_tests::space::Space;
use upcheck_tests::tools::cargo;
use upcheck_tests::twin::n_compared;

/// Runs a suite. How often the two ninjas were compared.
fn run_beside(suite: &str, environment: &[(&str, &str)]) -> u64 {
    let folder = Space::new();
    for &version in versions() {
        let twins = twins(version);
        let own = folder.path().join(version.number());
        fs::create_dir(&own).expect("a folder");
        symlink(twins.stock, own.join("stock")).expect("a link");
        symlink(twins.changed, own.join("changed")).expect("a link");
    }
    let mut test = cargo();
    // With the features that the whole workspace has together: so it was compiled when all tests were.
    test.args(["test", "--quiet", "--workspace", "--all-features", "--test", suite]);
    if !cfg!(debug_assertions) {
        test.arg("--release");
    }
    test.env("UPCHECK_TWINS", folder.path()).envs(environment.iter().copied());
    let output = test.output().expect("cargo runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{suite}:\n{}{}", text(&output.stdout), text(&output.stderr));
    n_compared(folder.path())
}

#[test]
fn the_differential_cases_get_the_same_from_both() {
    let n = run_beside("differential", &[]);
    assert!(n > 500, "{n} comparisons");
}

#[test]
fn random_builds_get_the_same_from_both() {
    let cases = std::env::var("UPCHECK_CASES").unwrap_or_else(|_| "40".into());
    let n = run_beside("random", &[("UPCHECK_CASES", &cases)]);
    assert!(n > 10 * cases.parse::<u64>().expect("a number"), "{n} comparisons");
}
