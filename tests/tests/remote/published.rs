//! What is published, and above all what is not: others would believe it.

use super::{Checkout, words};
use upcheck_tests::bazel_remote::BazelRemote;
use upcheck_tests::tools::Ninja;

#[test]
fn an_input_that_was_touched_while_the_command_ran_is_not_published() {
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    // It reads, and then somebody edits what it has read, and then it writes.
    let manifest = "rule slow\n command = cp $in $out.tmp && echo x >> $in && cp $out.tmp $out\nbuild out: slow @/src/in\n";
    for &ninja in Ninja::USUAL {
        let one = Checkout::with(ninja, manifest, &[("src/in", "in\n")]);
        one.build();
        let said = one.publish(server);
        assert!(said.starts_with("0 targets uploaded"), "{ninja:?}: {said}");
        let two = Checkout::with(ninja, manifest, &[("src/in", "in\nx\n")]);
        assert_eq!(two.remote(server, &[]), words([("out", "not-cached")]), "{ninja:?}");
    }
}

#[test]
fn a_log_that_tells_of_outputs_and_not_of_beginnings_proves_nothing_of_what_was_touched_between() {
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    // What it writes is newer than the edit of what it has read.
    let script = "cp $1 $2.tmp; echo x >> $1; until [ $2 -nt $1 ]; do cp $2.tmp $2; done\n";
    for (restat, log_is_mended) in [("restat = 1", false), ("", true)] {
        for &ninja in Ninja::USUAL {
            let manifest = format!(
                "rule slow\n command = sh @/src/slow.sh $in $out\n {restat}\nbuild out: slow @/src/in\n"
            );
            let sources = |held| [("src/in", held), ("src/slow.sh", script)];
            let one = Checkout::with(ninja, &manifest, &sources("in\n"));
            one.build();
            if log_is_mended {
                let (is_success, said) = one.run_ninja(&["-t", "restat"]);
                assert!(is_success, "{said}");
            }
            let said = one.publish(server);
            assert!(said.starts_with("0 targets uploaded"), "{ninja:?}, {restat}: {said}");
            let two = Checkout::with(ninja, &manifest, &sources("in\nx\n"));
            assert_eq!(two.remote(server, &[]), words([("out", "not-cached")]), "{ninja:?}, {restat}");
        }
    }
}

#[test]
fn an_output_that_somebody_else_has_changed_is_not_published() {
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    for &ninja in Ninja::USUAL {
        let one = Checkout::built(ninja);
        // Later than any command can have done it.
        let later = Checkout::built(ninja);
        one.edit("build/words.txt", "not what came out\n");
        let said = one.publish(server);
        assert!(said.contains("words.txt: "), "{ninja:?}: {said}");
        assert_ne!(later.remote(server, &[]).get("words.txt").map(String::as_str), Some("cached"));
        let two = Checkout::new(ninja);
        assert_eq!(two.remote(server, &[])["words.txt"], "not-cached", "{ninja:?}");
    }
}

#[test]
fn what_is_stale_is_not_published() {
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    let one = Checkout::built(Ninja::V1_13);
    one.edit("src/own.h", "#define O 4\n");
    let said = one.publish(server);
    assert!(said.starts_with("2 targets uploaded (") && said.contains("2 targets are stale"), "{said}");
    let two = Checkout::new(Ninja::V1_13);
    two.edit("src/own.h", "#define O 4\n");
    let remote = two.remote(server, &[]);
    assert_eq!(remote["obj/a.o"], "not-cached");
    assert_eq!(remote["obj/b.o"], "cached");
}

#[test]
fn what_nobody_can_name_is_said_and_not_published() {
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    let manifest = "\
rule copy
  command = cp $in $out
rule shell
  command = for i in $in; do cp $$i $out; done
rule console
  command = cp $in $out
  pool = console
rule generator
  command = cp $in $out
  generator = 1
rule gone
  command = no-such-program-anywhere $in > $out || cp $in $out
build shell.out: shell @/src/in
build console.out: console @/src/in
build generator.out: generator @/src/in
build gone.out: gone @/src/in
build @/src/outside.out: copy @/src/in
build directory.out: copy @/src/in | @/src/directory
build fine.out: copy @/src/in
";
    let one = Checkout::with(Ninja::V1_13, manifest, &[("src/in", "in\n"), ("src/directory/x", "")]);
    one.build_twice();
    let said = one.publish(server);
    assert!(said.starts_with("1 target uploaded (") && said.contains("6 skipped"), "{said}");
    for why in [
        "shell.out: at '$i shell.out' its command needs more of a shell than can be followed",
        "console.out: its command talks to the terminal",
        "generator.out: it makes the build description itself",
        "gone.out: its command's program no-such-program-anywhere is not found",
        "is not beneath the build directory",
        "directory.out: its input ",
    ] {
        assert!(said.contains(why), "{why}: {said}");
    }
}
