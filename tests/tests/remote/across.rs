//! What was built in one checkout is restored in another one, at another path.

use super::{Checkout, MANIFEST, SOURCES, words};
use upcheck_tests::bazel_remote::BazelRemote;
use upcheck_tests::tools::Ninja;

#[test]
fn a_build_is_restored_elsewhere_and_ninja_finds_nothing_to_do_and_then_what_is_edited() {
    for &ninja in Ninja::USUAL {
        let Some(server) = BazelRemote::plain() else { return };
        let server = &server.address();
        let one = Checkout::built(ninja);
        let said = one.publish(server);
        assert!(
            said.starts_with("4 targets uploaded (") && said.ends_with(", 0 already there, 0 skipped\n"),
            "{said}"
        );
        assert_eq!(one.publish(server), "0 targets uploaded, 4 already there, 0 skipped\n");
        let two = Checkout::new(ninja);
        let all = words([
            ("obj/a.o", "cached"),
            ("obj/b.o", "cached"),
            ("prog", "cached"),
            ("words.txt", "cached"),
        ]);
        assert_eq!(two.remote(server, &[]), all);
        let said = two.restore(server).answer(0);
        assert!(said.starts_with("4 targets restored ("), "{said}");
        assert_eq!(two.ninja_would_make(), [""; 0], "{ninja:?}");
        for output in ["build/obj/a.o", "build/obj/b.o", "build/prog", "build/words.txt"] {
            assert_eq!(two.space.read(output), one.space.read(output), "{output}");
        }
        let ran =
            std::process::Command::new(two.space.path().join("build/prog")).status().expect("it can be run");
        assert!(ran.success());
        assert_eq!(two.restore(server).answer(0), "0 targets restored, 0 still stale\n");
        // A header that one object alone has read.
        two.edit("src/own.h", "#define O 1\n");
        assert_eq!(two.ninja_would_make(), ["obj/a.o", "prog"], "{ninja:?}");
        two.edit("src/all.h", "#define N 1\n");
        assert_eq!(two.ninja_would_make(), ["obj/a.o", "obj/b.o", "prog"], "{ninja:?}");
        two.edit("src/words", "c\n");
        assert_eq!(two.ninja_would_make().len(), 4, "{ninja:?}");
        two.build();
        assert_eq!(two.ninja_would_make(), [""; 0]);
    }
}

#[test]
fn what_is_restored_makes_those_stale_that_were_built_of_something_else() {
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    for &ninja in Ninja::USUAL {
        let (one, two) = (Checkout::built(ninja), Checkout::built(ninja));
        // Only the object is published with the edit, and not what is linked of it.
        one.edit("src/own.h", "#define O 2\n");
        let (is_success, said) = one.run_ninja(&["obj/a.o"]);
        assert!(is_success, "{said}");
        one.forget();
        let (is_success, said) = one.run_ninja(&["obj/a.o"]);
        assert!(is_success, "{said}");
        one.publish(server);
        two.edit("src/own.h", "#define O 2\n");
        assert_eq!(two.remote(server, &[]), words([("obj/a.o", "cached"), ("prog", "not-cached")]));
        let ran = two.restore(server);
        assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
        assert!(
            ran.stdout.contains("1 target restored")
                && ran.stdout.contains("stale     prog: it is not in the cache"),
            "{ran:?}"
        );
        assert_eq!(two.ninja_would_make(), ["prog"], "{ninja:?}");
    }
}

#[test]
fn a_dry_run_changes_nothing_on_either_side() {
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    let (one, two) = (Checkout::built(Ninja::V1_13), Checkout::new(Ninja::V1_13));
    let said = one.upcheck(&["publish", "--dry-run", "--remote", server]).answer(0);
    assert!(said.starts_with("4 targets to be uploaded ("), "{said}");
    assert!(two.remote(server, &[]).values().all(|word| word != "cached"));
    one.publish(server);
    let before = two.space.entries();
    let said = two.upcheck(&["restore", "--dry-run", "--remote", server]).answer(1);
    assert!(said.starts_with("4 targets to be restored (at most "), "{said}");
    assert_eq!(two.space.entries(), before);
}

/// With depfiles that stay, where ninja keeps nothing in its own log.
#[test]
fn depfiles_that_ninja_keeps_are_written_anew_with_the_names_of_here() {
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    let manifest = MANIFEST.replace("  deps = gcc\n", "");
    for &ninja in Ninja::USUAL {
        let (one, two) =
            (Checkout::with(ninja, &manifest, &SOURCES), Checkout::with(ninja, &manifest, &SOURCES));
        one.build_twice();
        one.publish(server);
        two.restore(server).answer(0);
        assert_eq!(two.ninja_would_make(), [""; 0]);
        let depfile = String::from_utf8(two.space.read("build/obj/a.o.d")).expect("text");
        assert!(!depfile.contains(&*one.space.path().to_string_lossy()), "{depfile}");
        two.edit("src/own.h", "#define O 1\n");
        assert_eq!(two.ninja_would_make(), ["obj/a.o", "prog"]);
    }
}

/// A generated header that only the order of the build leads to, and that compilers discover.
#[test]
fn a_generated_header_that_was_discovered_comes_from_the_cache_too() {
    let Some(server) = BazelRemote::plain() else { return };
    let server = &server.address();
    let manifest = "\
rule gen
  command = cp $in $out
rule cc
  command = cc -Igen -MMD -MF $out.d -c $in -o $out
  deps = gcc
  depfile = $out.d
build gen/n.h: gen @/src/n.in
build headers: phony gen/n.h
build a.o: cc @/src/a.c || headers
";
    let sources = [("src/a.c", "#include \"n.h\"\nint n = N;\n"), ("src/n.in", "#define N 1\n")];
    let (one, two) =
        (Checkout::with(Ninja::V1_13, manifest, &sources), Checkout::with(Ninja::V1_13, manifest, &sources));
    one.build_twice();
    one.publish(server);
    assert_eq!(two.remote(server, &[]), words([("a.o", "cached"), ("gen/n.h", "cached")]));
    two.restore(server).answer(0);
    assert_eq!(two.ninja_would_make(), [""; 0]);
    two.edit("src/n.in", "#define N 2\n");
    // What the header will be is not known, so neither is what is made of it.
    assert_eq!(two.remote(server, &[]), words([("a.o", "unknown"), ("gen/n.h", "not-cached")]));
    two.build();
    two.forget();
    two.edit("src/n.in", "#define N 1\n");
    assert_eq!(two.remote(server, &[]), words([("a.o", "cached"), ("gen/n.h", "cached")]));
}
