//! Suites that know nothing of a daemon, with every question put to one as well: see `upcheck_tests::by_daemon`.

use crate::User;
use upcheck_tests::by_daemon::asked;
use upcheck_tests::tools::cargo;

/// Runs a suite. What the daemon's answers came from: from memory, from what had changed, all of them; and in how many of the build
/// directories that were asked about last some were given without a look at any file.
fn run_by_daemon(suite: &str, environment: &[(&str, &str)]) -> [usize; 4] {
    let user = User::new();
    let mut test = cargo();
    // With the features that the whole workspace has together: so it was compiled when all tests were.
    test.args(["test", "--quiet", "--workspace", "--all-features", "--test", suite]);
    if !cfg!(debug_assertions) {
        test.arg("--release");
    }
    test.env("UPCHECK_TEST_WATCH", user.home()).envs(environment.iter().copied());
    let output = test.output().expect("cargo runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{suite}:\n{}{}", text(&output.stdout), text(&output.stderr));
    let status = user.status().expect("it runs");
    assert_eq!(status["wrong"], 0, "{status}");
    let builds = status["builds"].as_array().expect("a list");
    let n_untouched = builds.iter().filter(|build| build["untouched"].as_u64() > Some(0)).count();
    let asked = asked(user.home());
    upcheck_tests::aloud::progress(&format!("{suite} by the daemon: {asked:?}"));
    let n = |from: &str| asked.get(from).copied().unwrap_or(0);
    [n("memory"), n("changes"), asked.values().sum(), n_untouched]
}

#[test]
#[ignore = "takes minutes: a few cases ask after each byte of a log"]
fn the_named_cases_are_answered_by_a_daemon_as_without_it() {
    // A case is asked about a few times only, one right after the other: files may not be vouched for by then.
    let [memory, _, all, _] = run_by_daemon("differential", &[]);
    assert!(memory > 100 && memory * 8 > all, "{memory} of {all} from memory");
}

#[test]
fn random_builds_are_answered_by_a_daemon_as_without_it() {
    let cases = std::env::var("UPCHECK_CASES").unwrap_or_else(|_| "40".into());
    let [memory, changes, all, untouched] = run_by_daemon("random", &[("UPCHECK_CASES", &cases)]);
    let cases = cases.parse::<usize>().expect("a number");
    assert!(all > 10 * cases, "{all} questions");
    assert!(memory * 4 > all && changes > 0, "{memory} of {all} from memory, {changes} from changes");
    assert!(untouched > 0, "no answer was given without a look at files");
}
