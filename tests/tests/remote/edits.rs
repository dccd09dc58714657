//! What an edit does to what the cache has.

use super::{Checkout, MANIFEST, SOURCES, words};
use upcheck_tests::bazel_remote::BazelRemote;
use upcheck_tests::tools::Ninja;

/// Two checkouts at different paths, both built, the first one published.
fn two(server: &str) -> (Checkout, Checkout) {
    let (one, two) = (Checkout::built(Ninja::V1_13), Checkout::built(Ninja::V1_13));
    one.publish(server);
    (one, two)
}

#[test]
fn what_is_edited_is_not_cached_and_what_is_behind_it_is_unknown() {
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    let (_one, two) = two(server);
    two.edit("src/b.c", "int f(void) { return 7; }\n");
    assert_eq!(two.remote(server, &[]), words([("obj/b.o", "not-cached"), ("prog", "unknown")]));
    // A file that only looks changed is what it was.
    two.edit("src/b.c", SOURCES[1].1);
    assert_eq!(two.remote(server, &[]), words([("obj/b.o", "cached"), ("prog", "cached")]));
}

#[test]
fn an_edit_that_changes_no_output_ends_there() {
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    let (one, two) = two(server);
    let commented = format!("/* why */ {}", SOURCES[1].1);
    one.edit("src/b.c", &commented);
    one.build_twice();
    one.upcheck(&["publish", "--remote", server, "obj/b.o"]).answer(0);
    two.edit("src/b.c", &commented);
    // What is linked of the same objects is there since the first time.
    assert_eq!(two.remote(server, &[]), words([("obj/b.o", "cached"), ("prog", "cached")]));
    two.restore(server).answer(0);
    assert_eq!(two.ninja_would_make(), [""; 0]);
}

#[test]
fn a_header_that_others_have_included_since_is_found_without_compiling() {
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    let (one, two) = two(server);
    let with_new = "#include \"all.h\"\n#include \"new.h\"\nint f(void) { return N + M; }\n";
    for checkout in [&one, &two] {
        checkout.edit("src/new.h", "#define M 0\n");
        checkout.edit("src/b.c", with_new);
    }
    one.build_twice();
    one.publish(server);
    // Here nobody has read the new header yet.
    assert_eq!(two.remote(server, &[]), words([("obj/b.o", "cached"), ("prog", "cached")]));
    two.edit("src/new.h", "#define M 1\n");
    assert_eq!(two.remote(server, &[])["obj/b.o"], "not-cached");
    two.edit("src/new.h", "#define M 0\n");
    two.restore(server).answer(0);
    two.edit("src/new.h", "#define M 2\n");
    assert_eq!(two.ninja_would_make(), ["obj/b.o", "prog"]);
}

#[test]
fn whatever_else_decides_what_comes_out_is_in_the_key() {
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    // The script is no input, as far as the description says.
    let manifest = "rule gen\n command = sh @/src/gen.sh $in $out\nbuild out: gen @/src/in\n";
    let sources = [("src/gen.sh", "cp $1 $2\n"), ("src/in", "in\n")];
    let one = Checkout::with(Ninja::V1_13, manifest, &sources);
    one.build_twice();
    one.publish(server);
    let again = |manifest: &str, sources: &[(&str, &str)], more: &[&str]| {
        Checkout::with(Ninja::V1_13, manifest, sources).remote(server, more)["out"].clone()
    };
    assert_eq!(again(manifest, &sources, &[]), "cached");
    assert_eq!(again(manifest, &[("src/gen.sh", "cat $1 $1 > $2\n"), sources[1]], &[]), "not-cached");
    assert_eq!(again(manifest, &[sources[0], ("src/in", "other\n")], &[]), "not-cached");
    assert_eq!(again(&manifest.replace("sh @", "dash @"), &sources, &[]), "not-cached");
    assert_eq!(again(&manifest.replace("$in $out", "$in  $out"), &sources, &[]), "not-cached");
    assert_eq!(again(&manifest.replace("build out", "build out | too"), &sources, &[]), "not-cached");
    assert_eq!(again(manifest, &sources, &["--remote-salt", "other"]), "not-cached");
    assert_eq!(again(manifest, &sources, &["--remote-env", "LC_ALL"]), "not-cached");
    assert_eq!(again(manifest, &sources, &["--remote-env", "NOT_SET_ANYWHERE"]), "cached");
}

#[test]
fn a_source_that_can_be_executed_is_another_one() {
    use std::os::unix::fs::PermissionsExt;
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    let manifest = "rule gen\n command = cp -p $in $out\nbuild out: gen @/src/in\n";
    let one = Checkout::with(Ninja::V1_13, manifest, &[("src/in", "in\n")]);
    one.build_twice();
    one.publish(server);
    let two = Checkout::with(Ninja::V1_13, manifest, &[("src/in", "in\n")]);
    assert_eq!(two.remote(server, &[])["out"], "cached");
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(two.space.path().join("src/in"), permissions).expect("our own file");
    assert_eq!(two.remote(server, &[])["out"], "not-cached");
}

#[test]
fn where_nothing_is_stale_nobody_is_asked() {
    let one = Checkout::built(Ninja::V1_13);
    let nobody = "unix:///nowhere/at/all.sock";
    let ran = one.upcheck(&["check", "--remote", nobody]);
    assert_eq!(ran.answer(0), "fresh: nothing to do for 4 targets\n");
    one.upcheck(&["restore", "--remote", nobody]).answer(0);
}

#[test]
fn where_nobody_answers_the_answer_is_as_without_asking() {
    let one = Checkout::built(Ninja::V1_13);
    one.edit("src/own.h", "#define O 3\n");
    let without = one.upcheck(&["check", "--format", "json"]);
    for nobody in ["unix:///nowhere/at/all.sock", "grpc://127.0.0.1:1"] {
        let ran = one.upcheck(&["check", "--format", "json", "--remote", nobody]);
        assert_eq!(ran.status, without.status);
        assert_eq!(ran.stderr.matches("upcheck: warning:").count(), 1, "{ran:?}");
        let answer: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let stale = answer["stale"].as_array().expect("a list");
        assert!(stale.len() == 2 && stale.iter().all(|target| target["remote"] == "?"), "{answer}");
        assert_eq!(answer["summary"]["remote"]["unanswered"], 2);
        // Nothing is changed either.
        let before = one.space.entries();
        let ran = one.restore(nobody);
        assert_eq!(ran.status, 1);
        assert_eq!(one.space.entries(), before);
        assert_eq!(one.upcheck(&["publish", "--remote", nobody]).status, 2);
    }
}

#[test]
fn commands_of_another_root_are_told_apart_from_names_that_only_look_like_it() {
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    // The same text with another meaning: a path that goes on behind the root's name.
    let manifest = format!("{MANIFEST}build more: words @/src/words\n  command = echo @/src/wordsx > more\n");
    let one = Checkout::with(Ninja::V1_13, &manifest, &SOURCES);
    one.build_twice();
    one.publish(server);
    let two = Checkout::with(Ninja::V1_13, &manifest.replace("@/src/wordsx", "@x/src/words"), &SOURCES);
    assert_eq!(two.remote(server, &["more"]), words([("more", "not-cached")]));
}
