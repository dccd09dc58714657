//! What is said past the test harness, which shows nothing of a test that passes.

use std::io::Write;

/// Says that this machine does not let a test do its work.
pub fn not_tested(what: &str) {
    line(&format!("\nNOT TESTED: {what}"));
}

/// How far a long test is.
pub fn progress(what: &str) {
    line(what);
}

fn line(text: &str) {
    // One call, so that lines of several threads do not mix. Nothing is left to be done when it fails.
    let _ = std::io::stderr().write_all(format!("{text}\n").as_bytes());
}
