//! A whole build under one name.

use super::{Checkout, client, words};
use upcheck_reapi::Digest;
use upcheck_tests::bazel_remote::BazelRemote;
use upcheck_tests::tools::Ninja;

const PULL: [&str; 5] = ["snapshot", "pull", "--format", "names", "--remote"];

/// What is stale by a snapshot, and what was said about it.
fn pulled(checkout: &Checkout, server: &str, more: &[&str]) -> (i32, String, String) {
    let ran = checkout.upcheck(&[&PULL[..], &[server], more].concat());
    (ran.status, ran.stdout, ran.stderr)
}

#[test]
fn who_has_pulled_hears_the_same_as_by_asking_for_each_target() {
    let Some(server) = BazelRemote::plain() else { return };
    let address = &server.address();
    let (one, two) = (Checkout::built(Ninja::V1_13), Checkout::new(Ninja::V1_13));
    let push = ["snapshot", "push", "--remote", address];
    let said = one.upcheck(&push).answer(0);
    // Two targets discover inputs, so they have two keys each.
    assert!(
        said.starts_with("4 targets uploaded (") && said.contains("\nsnapshot  main: 6 results ("),
        "{said}"
    );
    let again = one.upcheck(&push).answer(0);
    assert!(
        again.starts_with("0 targets uploaded, 4 already there, 0 skipped\nsnapshot  main: 6 results ("),
        "{again}"
    );

    let text = two.upcheck(&["snapshot", "pull", "--remote", address]).answer(1);
    assert!(text.contains("\nIn the cache: 4 cached ("), "{text}");
    assert_eq!(pulled(&two, address, &["obj/a.o"]), (1, "obj/a.o\nwords.txt\n".into(), String::new()));
    two.edit("src/own.h", "#define O 3\n");
    let expected = words([
        ("obj/a.o", "not-cached"),
        ("obj/b.o", "cached"),
        ("prog", "unknown"),
        ("words.txt", "cached"),
    ]);
    assert_eq!(two.remote(address, &[]), expected);
    let by_snapshot = two.upcheck(&["snapshot", "pull", "--format", "json", "--remote", address]).answer(1);
    let by_asking = two.upcheck(&["check", "--format", "json", "--remote", address]).answer(1);
    let stale = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON")["stale"].clone();
    assert_eq!(stale(&by_snapshot), stale(&by_asking));
}

#[test]
fn what_was_published_since_is_found_too_and_what_is_gone_since_is_not() {
    let Some(server) = BazelRemote::plain() else { return };
    let address = &server.address();
    let (one, two) = (Checkout::built(Ninja::V1_13), Checkout::new(Ninja::V1_13));
    one.upcheck(&["snapshot", "push", "--remote", address]).answer(0);
    for checkout in [&one, &two] {
        checkout.edit("src/own.h", "#define O 4\n");
    }
    one.build_twice();
    one.publish(address);
    let text = two.upcheck(&["snapshot", "pull", "--remote", address]).answer(1);
    assert!(text.contains("\nIn the cache: 4 cached ("), "{text}");

    let object = Digest::of(one.space.read("build/obj/b.o").as_ref());
    for file in server.files_of(&object.hex()) {
        std::fs::remove_file(file).expect("a blob");
    }
    // It finds out when it is asked for the blob, and says so from then on.
    client(&server)
        .read_all(&[object], &mut |_, found| assert!(matches!(found, Ok(None) | Err(_)), "it is gone"));
    let text = two.upcheck(&["snapshot", "pull", "--explain", "--remote", address]).answer(1);
    assert!(text.contains("obj/b.o  [not-cached]") && text.contains("prog  [unknown]"), "{text}");
}

#[test]
fn without_a_snapshot_each_target_is_asked_for_and_that_is_said() {
    let Some(server) = BazelRemote::plain() else { return };
    let address = &server.address();
    let (one, two) = (Checkout::built(Ninja::V1_13), Checkout::new(Ninja::V1_13));
    one.publish(address);
    let ran = two.upcheck(&["snapshot", "pull", "--tag", "release", "--remote", address]);
    assert_eq!(
        (ran.status, ran.stderr.as_str()),
        (1, "upcheck: warning: the cache has no snapshot 'release'\n")
    );
    assert!(ran.stdout.contains("\nIn the cache: 4 cached ("), "{}", ran.stdout);
    let trouble = two.upcheck(&["snapshot", "pull"]).trouble();
    assert!(trouble.contains("no cache is named"), "{trouble}");
    // Nobody listens there.
    let ran = two.upcheck(&["snapshot", "pull", "--remote", "unix:///nonexistent/socket"]);
    assert_eq!(ran.status, 1);
    assert_eq!(ran.stderr.matches("warning").count(), 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("4 without an answer"), "{}", ran.stdout);
}
