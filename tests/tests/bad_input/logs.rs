//! The logs.

use crate::command::spaces::{REALISTIC, SECOND, T, discovering, manifest, program, realistic};
use crate::command::{build_log, deps_log};
use crate::damage::{damaged, survives};
use crate::run;
use upcheck_tests::tools::Ninja;

#[test]
fn a_build_log_of_an_unknown_version_is_named_and_not_believed() {
    for (header, version, rules) in [
        ("# ninja log v0\n", "0", "1.13"),
        ("# ninja log v1\n", "1", "1.11"),
        ("# ninja log v3\n", "3", "1.11"),
        ("# ninja log v8\n", "8", "1.13"),
        ("# ninja log v99999999999999999999\n", "0", "1.13"),
        ("# ninja log v\n", "0", "1.13"),
        ("# NINJA LOG v7\n", "0", "1.13"),
        ("\n", "0", "1.13"),
        ("\0\0\0\0", "0", "1.13"),
    ] {
        let space = program();
        let log = String::from_utf8(space.read(".ninja_log")).expect("text");
        space.write(".ninja_log", log.replace("# ninja log v7\n", header));
        for args in ["-q a.o", "--format json"] {
            assert_eq!(run(&space, args).status, 1, "{header:?}");
        }
        let ran = run(&space, "a.o");
        assert_eq!(
            ran.stderr,
            format!(
                "upcheck: warning: the build log has version {version}; ninja {rules} would throw it away and \
                 start over\n"
            ),
            "{header:?}"
        );
        assert!(ran.stdout.contains("no build of a.o is on record"), "{header:?}: {}", ran.stdout);
    }
}

#[test]
fn an_empty_build_log_is_one_without_entries() {
    let space = program();
    space.write(".ninja_log", "");
    assert!(run(&space, "a.o").answer(1).contains("no build of a.o is on record"));
}

#[test]
fn a_deps_log_of_an_unknown_version_is_named_and_not_believed() {
    for (header, warning) in [
        (&b"# ninjadeps\n\x03\0\0\0"[..], "the deps log has version 3, not 4; ninja would throw it away"),
        (b"# ninjadeps\n\x05\0\0\0", "the deps log has version 5, not 4; ninja would throw it away"),
        (b"# ninjadeps\n\0\0\0\x04", "the deps log has version 67108864, not 4; ninja would throw it away"),
        (b"# ninjadeps\n\x04\0\0", "the deps log has no proper header; ninja would throw it away"),
        (b"# ninjadeps", "the deps log has no proper header; ninja would throw it away"),
        (b"", "the deps log has no proper header; ninja would throw it away"),
        (b"something else altogether", "the deps log has no proper header; ninja would throw it away"),
    ] {
        let space = discovering();
        let log = space.read(".ninja_deps");
        let rest = if header.len() == 16 { &log[16..] } else { b"" };
        space.write(".ninja_deps", [header, rest].concat());
        let ran = run(&space, "");
        assert_eq!((ran.status, ran.stderr), (1, format!("upcheck: warning: {warning}\n")));
        assert!(ran.stdout.contains("there is no record of them"), "{}", ran.stdout);
    }
}

#[test]
fn a_log_cut_off_anywhere_is_believed_up_to_there() {
    let space = discovering();
    for (name, whole) in
        [(".ninja_log", space.read(".ninja_log")), (".ninja_deps", space.read(".ninja_deps"))]
    {
        for length in 0..whole.len() {
            space.write(name, &whole[..length]);
            let ran = run(&space, "");
            assert_eq!(ran.status, 1, "{name} cut at {length}: {}", ran.stdout);
        }
        space.write(name, &whole);
        assert_eq!(run(&space, "").status, 0);
    }
}

#[test]
fn random_bytes_in_the_logs_end_in_a_verdict() {
    let space = realistic();
    space.write_at("build.ninja", REALISTIC, T + SECOND);
    let log =
        build_log(&[("out/gen.h", T, "gen in.txt > out/gen.h"), ("prog", T, "link"), ("out/dd", T, "x")]);
    let deps = deps_log(&[("out/a.o", T, &["a.c", "a.h"]), ("out/b.o", T, &["b c.c", "a.h", "b.h"])]);
    for seed in 0..600 {
        space.write(".ninja_log", damaged(log.as_bytes(), seed));
        space.write(".ninja_deps", damaged(&deps, seed + 1));
        survives(&space, seed);
        if seed % 20 == 0 {
            let ran = run(&space, "--explain");
            assert_eq!(ran.status, 1, "seed {seed}: {}", ran.stderr);
        }
    }
}

#[test]
fn numbers_beyond_all_bounds_in_a_build_log_are_held_at_the_bounds() {
    let space = manifest("rule t\n  command = t\nbuild a: t b\n");
    space.write_at("b", "", T);
    space.write_at("a", "", T);
    let hash = Ninja::V1_13.rules().hash_command(b"t");
    let nines = "9".repeat(1_000);
    for (mtime, hash, status) in [
        (nines.clone(), format!("{hash:x}"), 0),
        (format!("-{nines}"), format!("{hash:x}"), 1),
        (T.to_string(), nines, 1),
        ("x".into(), format!("{hash:x}"), 1),
        (String::new(), format!("{hash:x}"), 1),
        (T.to_string(), format!("0x{hash:x} and more"), 0),
    ] {
        space.write(".ninja_log", format!("# ninja log v7\n0\t1\t{mtime}\ta\t{hash}\n"));
        assert_eq!(run(&space, "--explain").status, status, "{mtime} {hash}");
    }
}
