//! The suite `feed` once more, by fanotify instead of inotify. That needs the right to administer the system.
//!
//! One test after the other, and nothing beside them: whatever happens on the file system is told, and more of it than the kernel
//! keeps would be an answer that is right, and not the one that is expected.
#![cfg(target_os = "linux")]

use upcheck_tests::aloud::not_tested;
use upcheck_tests::tools::cargo;
use upcheck_watch::Linux;

/// What is about inotify's limits, and what is done by users who may not use fanotify.
const LEFT_OUT: [&str; 5] =
    ["by_fanotify::", "limits::what_", "limits::where_", "limits::when_", "paths::permissions_"];

#[test]
fn what_holds_by_inotify_holds_by_fanotify() {
    if let Err(error) = Linux::fanotify() {
        not_tested(&format!("fanotify: {error}"));
        return;
    }
    let mut test = cargo();
    // With the features that the whole workspace has together: so it was compiled when all tests were.
    test.args(["test", "--workspace", "--all-features", "--test", "feed"]);
    if !cfg!(debug_assertions) {
        test.arg("--release");
    }
    test.args(["--", "--test-threads", "1"]).args(LEFT_OUT.iter().flat_map(|name| ["--skip", name]));
    let output = test.env("UPCHECK_WATCH_BACKEND", "fanotify").output().expect("cargo runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let passed = said.split(" passed").next().and_then(|text| text.rsplit(' ').next()?.parse().ok());
    assert!(passed > Some(50), "{said}");
}
