//! What is printed for programs is what docs/schema says.

use super::Checkout;
use serde_json::{Value, json};
use upcheck_tests::bazel_remote::BazelRemote;
use upcheck_tests::schemas::verdicts;
use upcheck_tests::tools::Ninja;

#[test]
fn what_is_printed_for_programs_is_what_the_schemas_say() {
    let Some(server) = BazelRemote::plain() else { return };
    let address = &server.address();
    let (one, two) = (Checkout::built(Ninja::V1_13), Checkout::new(Ninja::V1_13));
    one.edit("src/own.h", "#define O 5\n");
    let nobody = "unix:///nowhere/at/all.sock";
    let mut cases: Vec<(String, Value)> = Vec::new();
    let mut add = |checkout: &Checkout, args: &[&str], expected: i32| {
        let ran = checkout.upcheck(&[args, &["--format", "json"]].concat());
        assert_eq!(ran.status, expected, "{args:?}: {ran:?}");
        let schema = match args[..2.min(args.len())] {
            ["check", ..] | ["snapshot", "pull"] => "report",
            ["snapshot", "push"] => "publish",
            _ => args[0],
        };
        cases.push((format!("{schema}.json"), serde_json::from_str(&ran.stdout).expect("JSON")));
    };
    add(&one, &["publish", "--dry-run", "--remote", address], 0);
    add(&one, &["publish", "--remote", address], 0);
    add(&one, &["publish", "--remote", address], 0);
    add(&one, &["publish", "--remote", nobody], 2);
    add(&one, &["publish"], 2);
    add(&two, &["check", "--remote", address], 1);
    add(&two, &["check", "--remote", nobody], 1);
    add(&two, &["check", "--remote", "nonsense"], 2);
    add(&two, &["restore", "--dry-run", "--remote", address], 1);
    two.edit("src/b.c", "int f(void) { return 3; }\n");
    add(&two, &["check", "--remote", address], 1);
    add(&two, &["restore", "--remote", address], 1);
    add(&two, &["restore"], 2);
    add(&one, &["snapshot", "push", "--remote", address], 0);
    add(&one, &["snapshot", "push", "--remote", nobody], 2);
    add(&two, &["snapshot", "pull", "--remote", address], 1);
    add(&two, &["snapshot", "pull"], 2);
    let remote = &cases[5].1["summary"]["remote"];
    assert_eq!((&remote["cached"], &remote["not_cached"]), (&json!(2), &json!(1)), "{remote}");
    for ((_, document), verdict) in cases.iter().zip(verdicts(&cases)) {
        assert_eq!(verdict, None, "{document:#}");
    }
}
