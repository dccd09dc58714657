//! Input that no build leaves behind: each kind ends in a verdict or in an error that says what, where and why,
//! and leaves the tree alone.

mod command;

use command::spaces::{
    REALISTIC, SECOND, T, discovering, link_loop, manifest, program, realistic, with_depfile,
};
use command::{Ran, build_log, deps_log, upcheck_in};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::answer::{Answer, Question, exact, look_past, run_ninja};
use upcheck_tests::space::Space;
use upcheck_tests::tools::{self, Ninja};

/// Runs `upcheck ARGS`, which must leave the tree as it was.
#[track_caller]
fn upcheck(space: &Space, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ran {
    let before = space.entries();
    let ran = command::upcheck(space, args);
    assert!(space.entries() == before, "the tree was touched");
    ran
}

#[track_caller]
fn run(space: &Space, args: &str) -> Ran {
    upcheck(space, args.split_whitespace())
}

/// Checks that `check`, `check --exact` and `why a` all end in the same trouble.
#[track_caller]
fn all_end_in(space: &Space, error: &str) {
    for args in ["", "--exact", "why a", "--format json", "-q"] {
        assert_eq!(run(space, args).trouble(), format!("upcheck: error: {error}\n"), "upcheck {args}");
    }
}

/// The report on a build that is stale or pending.
#[track_caller]
fn report(space: &Space, args: &str) -> Value {
    let ran = run(space, &format!("--format json {args}"));
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

/// `target: code path, code path; target: ...`
fn reasons(report: &Value) -> String {
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let targets = list(&report["stale"]).into_iter().map(|target| {
        let reasons = list(&target["reasons"]);
        let reasons =
            reasons.iter().map(|reason| format!("{} {}", text(&reason["code"]), text(&reason["path"])));
        format!("{}: {}", text(&target["target"]), reasons.collect::<Vec<_>>().join(", "))
    });
    targets.collect::<Vec<_>>().join("; ")
}

// ---- the manifest -----------------------------------------------------------------------------------

#[test]
fn no_manifest_is_an_error() {
    let space = Space::new();
    all_end_in(&space, "loading 'build.ninja': No such file or directory");
    assert_eq!(
        run(&space, "-f no/such.ninja").trouble(),
        "upcheck: error: loading 'no/such.ninja': No such file or directory\n"
    );
    symlink("nowhere", space.path().join("build.ninja")).expect("a link");
    all_end_in(&space, "loading 'build.ninja': No such file or directory");
}

#[test]
fn a_manifest_without_targets_is_fresh() {
    for text in ["", "\n", "# nothing\n", "x = 1\n", "rule r\n  command = c\n", "pool p\n  depth = 1\n"] {
        let space = manifest(text);
        for args in ["", "--exact", "--explain --commands"] {
            assert_eq!(run(&space, args).answer(0), "fresh: nothing to do\n", "{text:?}");
        }
        let trouble = run(&space, "a").trouble();
        assert_eq!(trouble, "upcheck: error: unknown target 'a'\n");
    }
}

#[test]
fn syntax_errors_name_the_place_and_point_at_it() {
    for (text, error) in [
        (
            "x = 1 $",
            "1:7: bad $-escape (literal $ must be written as $$)\n  | x = 1 $\n  |       ^ near here",
        ),
        (
            "x = 1\nrule t\n  command = c ${in\n",
            "3:15: bad $-escape (literal $ must be written as $$)\n  |   command = c ${in\n  |               ^ near here",
        ),
        ("build a", "1:8: unexpected EOF\n  | build a\n  |        ^ near here"),
        ("build a: t\n", "1:10: unknown build rule 't'\n  | build a: t\n  |          ^ near here"),
        (
            "build a b\n",
            "1:10: expected ':', got newline ($ also escapes ':')\n  | build a b\n  |          ^ near here",
        ),
        ("\tx = 1\n", "1:1: tabs are not allowed, use spaces\n  | \tx = 1\n  | ^ near here"),
        ("x = 1\n\n\x01\n", "3:1: lexing error\n  | ?\n  | ^ near here"),
        (
            "rule t\n  command = c\nbuild a: t\nbuild b a: t\n",
            "4:9: multiple rules generate a\n  | build b a: t\n  |         ^ near here",
        ),
        (
            "include gone.ninja\n",
            "1:19: loading 'gone.ninja': No such file or directory\n  | include gone.ninja\n  |                   ^ near here",
        ),
        ("default a\n", "1:10: unknown target 'a'\n  | default a\n  |          ^ near here"),
    ] {
        all_end_in(&manifest(text), &format!("build.ninja:{error}"));
    }
}

#[test]
fn a_syntax_error_in_an_included_file_names_that_file() {
    for word in ["include", "subninja"] {
        let space = manifest(format!("# first\n{word} sub/rules.ninja\n"));
        space.write("sub/rules.ninja", "rule t\n  command = c\n\nrule t\n");
        all_end_in(&space, "sub/rules.ninja:4:7: duplicate rule 't'\n  | rule t\n  |       ^ near here");
    }
}

#[test]
fn a_place_far_out_in_a_long_line_is_shown_in_a_window() {
    let space = manifest(format!("build {}$%\n", "x".repeat(1 << 20)));
    let trouble = run(&space, "").trouble();
    assert!(trouble.starts_with("upcheck: error: build.ninja:1:1048583: bad $-escape"), "{}", &trouble[..99]);
    assert!(trouble.len() < 500, "{} bytes", trouble.len());
    let lines: Vec<_> = trouble.lines().collect();
    assert_eq!(lines[1].find("$%"), lines[2].find('^'), "{trouble}");
}

#[test]
fn a_manifest_that_includes_itself_is_an_error_and_no_endless_loop() {
    let deep = "is included 200 levels deep: does it include itself?";
    for word in ["include", "subninja"] {
        let space = manifest(format!("{word} build.ninja\n"));
        let trouble = run(&space, "").trouble();
        let place = format!("upcheck: error: build.ninja:1:{}: 'build.ninja' {deep}\n", word.len() + 13);
        assert!(trouble.starts_with(&place), "{trouble}");
        let space = manifest("include a.ninja\n");
        space.write("a.ninja", format!("{word} ./b.ninja\n"));
        space.write("b.ninja", "include a.ninja\n");
        let trouble = run(&space, "--exact").trouble();
        assert!(trouble.contains(deep), "{trouble}");
    }
}

#[test]
fn a_deep_but_finite_chain_of_includes_is_read() {
    let space = manifest("include 1.ninja\n");
    for level in 1..150 {
        space.write(&format!("{level}.ninja"), format!("include {}.ninja\n", level + 1));
    }
    space.write("150.ninja", "rule t\n  command = t\nbuild a: t\n");
    assert_eq!(reasons(&report(&space, "")), "a: output-missing a");
}

#[test]
fn a_manifest_cut_off_anywhere_is_judged_or_refused_as_ninja_does() {
    let ours = realistic();
    let theirs = ours.copy();
    let (mut n_judged, mut n_refused) = (0, 0);
    for length in 0..=REALISTIC.len() {
        let text = &REALISTIC[..length];
        ours.write_at("build.ninja", text, T + SECOND);
        theirs.write_at("build.ninja", text, T + SECOND);
        let ran = run(&ours, "--exact");
        let (status, _, stderr) = run_ninja(&theirs, Ninja::V1_13, &Question::default(), &["-n"]);
        assert_eq!(ran.status == 2, status != Some(0), "cut at {length}: {ran:?}\n--- ninja\n{stderr}");
        let error = ran.stderr.strip_prefix("upcheck: error: ");
        assert_eq!(ran.status == 2, error.is_some_and(|text| !text.trim().is_empty()), "{ran:?}");
        if ran.status == 2 {
            n_refused += 1;
        } else {
            n_judged += 1;
        }
        let past = catch_unwind(|| look_past(&ours, Ninja::V1_13, &Question::default()));
        assert!(past.is_ok(), "panicked when cut at {length}");
    }
    assert!(n_judged > 20 && n_refused > 500, "{n_judged} judged, {n_refused} refused");
}

#[test]
fn cycles_are_errors_that_show_the_way_around() {
    let rule = "rule t\n  command = t\n";
    for (builds, request, way) in [
        ("build a: t a\n", "a", "a -> a"),
        ("build a: t b\nbuild b: t c\nbuild c: t a\n", "a", "a -> b -> c -> a"),
        ("build a: t b\nbuild b: t c\nbuild c: t a\n", "c", "c -> a -> b -> c"),
        ("build top: t a\nbuild a: t | b\nbuild b: t || a\n", "top", "a -> b -> a"),
        ("build a: phony b\nbuild b: phony a\n", "a", "a -> b -> a"),
        ("build a other: t b\nbuild b: t other\n", "a", "other -> b -> other"),
    ] {
        let space = manifest(format!("{rule}{builds}"));
        for args in [request.to_owned(), format!("--exact {request}"), format!("why {request}")] {
            let expected = format!("upcheck: error: dependency cycle: {way}\n");
            assert_eq!(run(&space, &args).trouble(), expected, "{builds}");
        }
    }
}

#[test]
fn a_cycle_that_nobody_asked_for_hides_nothing() {
    let space = manifest("rule t\n  command = t\nbuild a: t b\nbuild b: t a\nbuild c: t\n");
    assert_eq!(reasons(&report(&space, "c")), "c: output-missing c");
    assert_eq!(reasons(&report(&space, "")), "c: output-missing c");
}

#[test]
fn a_manifest_of_nothing_but_a_cycle_has_nothing_to_begin_with() {
    let space = manifest("rule t\n  command = t\nbuild a: t b\nbuild b: t a\n");
    for args in ["", "--exact"] {
        assert_eq!(
            run(&space, args).trouble(),
            "upcheck: error: could not determine root nodes of build graph\n"
        );
    }
}

#[test]
fn cycles_through_discovered_inputs_are_errors_too() {
    let space = manifest("rule t\n  command = t\n  depfile = $out.d\nbuild a: t b\nbuild b: t\n");
    space.write("a.d", "a: b\n");
    space.write("b.d", "b: a\n");
    all_end_in(&space, "dependency cycle: a -> b -> a");
    let space = manifest("rule t\n  command = t\n  deps = gcc\n  depfile = d\nbuild a: t b\nbuild b: t\n");
    space.write(".ninja_deps", deps_log(&[("a", T, &["b"]), ("b", T, &["a"])]));
    all_end_in(&space, "dependency cycle: a -> b -> a");
}

#[test]
fn variables_that_expand_to_each_other_are_an_error() {
    let space = manifest("rule t\n  command = $description\n  description = $command\nbuild a: t\n");
    all_end_in(&space, "cycle in rule variables: description -> command -> description");
}

#[test]
fn random_manifests_are_refused_or_judged() {
    let space = realistic();
    for seed in 0..400 {
        let text = damaged(REALISTIC.as_bytes(), seed);
        space.write("build.ninja", &text);
        survives(&space, seed);
        if seed % 20 == 0 {
            run(&space, "--explain --commands");
        }
    }
}

// ---- the logs ---------------------------------------------------------------------------------------

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
        assert!(ran.stdout.contains("the deps log has no entry"), "{}", ran.stdout);
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

// ---- depfiles and dyndep files ----------------------------------------------------------------------

#[test]
fn a_broken_depfile_makes_its_target_stale_and_stops_only_the_exact_answer() {
    let space = with_depfile();
    for (text, error) in [
        (&b"garbage\n"[..], "a.d: expected ':' in depfile"),
        (b"\x80\xff\n", "a.d: expected ':' in depfile"),
        (b"a: b\nb: c\n", "a.d: inputs may not also have inputs"),
        (b"a other: b\n", "a.d: depfile mentions 'other' as an output, but no such output was declared"),
    ] {
        space.write("a.d", text);
        let found = report(&space, "");
        assert_eq!(reasons(&found), "a: deps-unknown a", "{text:?}");
        assert_eq!(found["errors"][0]["message"], error);
        assert_eq!(run(&space, "--exact").trouble(), format!("upcheck: error: {error}\n"));
    }
    space.write("a.d", "b: a\n");
    assert_eq!(reasons(&report(&space, "")), "a: deps-unknown a");
    assert_eq!(reasons(&report(&space, "--exact")), "a: deps-unknown a");
}

#[test]
fn random_depfiles_and_dyndep_files_end_in_a_verdict_or_an_error() {
    let space = with_depfile();
    for seed in 0..300 {
        space.write("a.d", damaged(b"a: b \\\n c\\ d.h \\\r\n $$x e\\#f\nb:\n", seed));
        survives(&space, seed);
    }
    let space = realistic();
    for seed in 0..300 {
        let text =
            b"ninja_dyndep_version = 1\nbuild out/b.o | extra: dyndep | in.txt gone.txt\n  restat = 1\n";
        space.write("out/dd", damaged(text, seed));
        survives(&space, seed);
    }
}

/// A depfile of at least 100 MB. `name` makes its inputs, from a running number.
fn large_depfile(space: &Space, name: impl Fn(usize) -> String) {
    let file = fs::File::create(space.path().join("a.d")).expect("a file");
    let mut out = BufWriter::with_capacity(1 << 20, file);
    out.write_all(b"a:").expect("room on the disk");
    let (mut number, mut written) = (0, 0);
    while written < 100_000_000 {
        let input = format!(" \\\n  {}", name(number));
        out.write_all(input.as_bytes()).expect("room on the disk");
        number += 1;
        written += input.len();
    }
    out.write_all(b"\n").expect("room on the disk");
    out.flush().expect("room on the disk");
}

/// Runs upcheck with at most 3 GB of memory and 60 seconds of a processor.
#[track_caller]
fn run_limited(space: &Space, args: &str) -> Ran {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -v 3000000; ulimit -t 60; exec \"$0\" {args}"));
    command.arg(tools::upcheck()).current_dir(space.path()).env("TZ", "UTC");
    Ran::new(command.output().expect("sh starts"))
}

#[test]
fn a_depfile_of_100_mb_takes_reasonable_time_and_memory() {
    let space = with_depfile();
    // As many different headers as fit; none of them is there.
    large_depfile(&space, |number| format!("/upcheck/no/such/directory{}/header{number}.h", number % 1_000));
    let text = run_limited(&space, "").answer(1);
    assert!(text.starts_with("1 of 1 target is stale\n"), "{}", &text[..100]);
    assert!(text.len() < 10_000, "{} bytes", text.len());

    // The same few headers over and over.
    large_depfile(&space, |number| format!("./{}", if number % 2 == 0 { "b" } else { "build.ninja" }));
    space.set_mtime("build.ninja", T);
    let text = run_limited(&space, "").answer(0);
    assert_eq!(text, "fresh: nothing to do for 1 target\n");

    // One name.
    fs::write(space.path().join("a.d"), [b"a: ".as_slice(), &vec![b'x'; 100_000_000]].concat())
        .expect("a file");
    let ran = run_limited(&space, "-q");
    assert_eq!(ran.answer(1), "");
}

#[test]
fn a_file_that_is_larger_than_all_memory_is_an_error_or_makes_its_target_stale() {
    let space = with_depfile();
    let grow = |name: &str| {
        space.write(name, "");
        let file = fs::File::options().write(true).open(space.path().join(name)).expect("a file");
        file.set_len(64 << 30).expect("a file with a hole");
    };
    grow("a.d");
    let text = run_limited(&space, "").answer(1);
    assert!(text.contains("not known: loading 'a.d': out of memory\n"), "{text}");
    for (name, error) in [
        (".ninja_deps", "loading deps log '.ninja_deps': out of memory"),
        (".ninja_log", "loading build log '.ninja_log': out of memory"),
        ("build.ninja", "loading 'build.ninja': out of memory"),
    ] {
        grow(name);
        assert_eq!(run_limited(&space, "").trouble(), format!("upcheck: error: {error}\n"));
    }
}

// ---- names ------------------------------------------------------------------------------------------

#[test]
fn spaces_quotes_and_all_other_bytes_that_a_manifest_can_name_are_fine_in_paths() {
    let names: &[&[u8]] = &[
        b"sp ace",
        b"qu'o\"te",
        b"dol$lar",
        b"co:lon",
        b"pi|pe",
        b"\xff\xfe\x80",
        b"\xe2\x82",
        "\u{e9}t\u{e9}".as_bytes(),
        b"esc\x1b[31m",
        b"#x",
        b"back\\slash",
        b"-dash",
    ];
    for name in names {
        let mut escaped = Vec::new();
        for &byte in *name {
            if matches!(byte, b' ' | b'$' | b':' | b'|') {
                escaped.push(b'$');
            }
            escaped.push(byte);
        }
        // Ninja has no escape for this one.
        if name.contains(&b'|') {
            escaped = b"${pipe}".to_vec();
        }
        let text = [
            &b"pipe = pi|pe\nrule t\n  command = t $out\nbuild out/"[..],
            &escaped,
            b": t ",
            &escaped,
            b"\n",
        ];
        let space = manifest(text.concat());
        let shown = String::from_utf8_lossy(name).into_owned();

        let source = space.path().join(OsStr::from_bytes(name));
        let output = space.path().join("out").join(OsStr::from_bytes(name));
        let found = report(&space, "");
        assert_eq!(found["stale"][0]["reasons"][0]["path"], shown);
        assert_eq!(found["stale"][0]["reasons"][0]["code"], "input-missing");
        fs::write(&source, "").expect("a file");
        let found = report(&space, "");
        assert_eq!(found["stale"][0]["target"], format!("out/{shown}"));
        assert_eq!(found["stale"][0]["reasons"][0]["code"], "output-missing");
        assert_eq!(found["stale"][0].get("target_b64").is_some(), std::str::from_utf8(name).is_err());

        fs::create_dir(output.parent().expect("a directory")).expect("a directory");
        fs::write(&output, "").expect("a file");
        let request = OsString::from_vec([b"out/", *name].concat());
        for args in
            [vec![request.clone()], vec!["why".into(), request.clone()], vec!["--exact".into(), request]]
        {
            let ran = upcheck(
                &space,
                ["check".into()].into_iter().filter(|_| args[0] != *"why").chain(args.clone()),
            );
            let ran = ran.answer(1);
            assert!(!ran.contains('\x1b'), "{ran:?}");
            assert!(ran.contains("no build of out/"), "{ran}");
        }
    }
}

#[test]
fn newlines_and_invalid_bytes_in_the_names_given_to_the_command_are_shown_harmlessly() {
    let space = program();
    let bytes = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    assert_eq!(
        upcheck(&space, [bytes(b"new\nline\x1b\xff")]).trouble(),
        "upcheck: error: unknown target 'new\nline\\u{1b}\u{fffd}'\n"
    );
    assert_eq!(
        upcheck(&space, [bytes(b"-f"), bytes(b"no\xffsuch\x1b[0m")]).trouble(),
        "upcheck: error: loading 'no\u{fffd}such\\u{1b}[0m': No such file or directory\n"
    );
    assert_eq!(
        upcheck(&space, [bytes(b"-C"), bytes(b"no\xffsuch\x07")]).trouble(),
        "upcheck: error: opening 'no\u{fffd}such\\u{7}': No such file or directory\n"
    );
    assert_eq!(upcheck(&space, [bytes(b"--format"), bytes(b"\xff")]).status, 2);
    assert_eq!(upcheck(&space, [bytes(b"a.c\0"[..3].as_ref())]).status, 0);
}

#[test]
fn a_build_directory_and_a_manifest_may_have_any_name() {
    let space = Space::new();
    let name = OsStr::from_bytes(b"sp ace\nnew\xffline");
    let directory = space.path().join(name);
    fs::create_dir(&directory).expect("a directory");
    fs::write(directory.join(name), "rule t\n  command = t\nbuild a: t\n").expect("a file");
    let args = [OsStr::new("-C"), name, OsStr::new("-f"), name];
    assert!(upcheck(&space, args).answer(1).ends_with("\nstale   a\n          a does not exist\n"));
    fs::write(directory.join(name), "rule t\n  command = $").expect("a file");
    let trouble = upcheck(&space, args).trouble();
    assert!(trouble.starts_with("upcheck: error: sp ace\nnew\u{fffd}line:2:13: bad $-escape"), "{trouble}");
}

#[test]
fn a_newline_in_a_path_that_only_the_deps_log_knows_does_not_break_the_layout() {
    let space = discovering();
    space.write(".ninja_deps", deps_log(&[("a", T + SECOND, &["new\nline.h", "esc\x1b.h"])]));
    let expected = "\
1 of 1 target is stale

stale   a
          new\\nline.h does not exist and nothing makes it
          esc\\u{1b}.h does not exist and nothing makes it
";
    assert_eq!(run(&space, "").answer(1), expected);
    assert_eq!(reasons(&report(&space, "")), "a: input-missing new\nline.h, input-missing esc\x1b.h");
}

#[test]
fn a_path_longer_than_the_system_takes_is_unreadable() {
    let long = "d/".repeat(3_000);
    let space = manifest(format!("rule t\n  command = t\nbuild a: t {long}x\nbuild b: t\n"));
    let found = report(&space, "");
    assert_eq!(reasons(&found), format!("a: unreadable {long}x, output-missing a; b: output-missing b"));
    assert_eq!(found["stale"][0]["reasons"][0]["detail"], "File name too long");
    assert_eq!(
        run(&space, "--exact").trouble(),
        format!("upcheck: error: stat({long}x): File name too long\n")
    );
}

// ---- the wrong kind of file -------------------------------------------------------------------------

#[test]
fn a_directory_in_the_place_of_a_file_that_has_to_be_read_is_an_error() {
    let text = "rule t\n  command = t\nbuild a: t\n";
    for (name, error) in [
        ("build.ninja", "loading 'build.ninja': Is a directory"),
        (".ninja_log", "loading build log '.ninja_log': Is a directory"),
        (".ninja_deps", "loading deps log '.ninja_deps': Is a directory"),
    ] {
        let space = manifest(text);
        space.remove(name);
        fs::create_dir(space.path().join(name)).expect("a directory");
        all_end_in(&space, error);
    }
    let space = manifest("include sub\n");
    fs::create_dir(space.path().join("sub")).expect("a directory");
    all_end_in(
        &space,
        "build.ninja:1:12: loading 'sub': Is a directory\n  | include sub\n  |            ^ near here",
    );
    let space = manifest(format!("builddir = b\n{text}"));
    space.write("b", "");
    all_end_in(&space, "loading build log 'b/.ninja_log': Not a directory");
}

#[test]
fn a_directory_in_the_place_of_a_depfile_or_dyndep_file_makes_its_target_stale() {
    let space = with_depfile();
    fs::create_dir(space.path().join("a.d")).expect("a directory");
    let found = report(&space, "");
    assert_eq!(reasons(&found), "a: deps-unknown a");
    assert_eq!(found["errors"][0]["message"], "loading 'a.d': Is a directory");
    assert_eq!(run(&space, "--exact").trouble(), "upcheck: error: loading 'a.d': Is a directory\n");

    let space = manifest("rule t\n  command = t\nbuild a: t || dd\n  dyndep = dd\nbuild b: t\n");
    fs::create_dir(space.path().join("dd")).expect("a directory");
    let found = report(&space, "");
    assert_eq!(reasons(&found), "a: output-missing a, deps-unknown dd; b: output-missing b");
    assert_eq!(found["errors"][0]["message"], "loading 'dd': Is a directory");
    assert_eq!(run(&space, "--exact").trouble(), "upcheck: error: loading 'dd': Is a directory\n");
}

#[test]
fn directories_as_sources_and_outputs_are_files_like_any_other() {
    let space = program();
    for name in ["a.c", "a.o"] {
        space.remove(name);
        fs::create_dir(space.path().join(name)).expect("a directory");
    }
    upcheck_tests::space::set_mtime(&space.path().join("a.c"), T);
    upcheck_tests::space::set_mtime(&space.path().join("a.o"), T + SECOND);
    assert_eq!(run(&space, "").answer(0), "fresh: nothing to do for 4 targets\n");
    upcheck_tests::space::set_mtime(&space.path().join("a.c"), T + 9 * SECOND);
    assert_eq!(reasons(&report(&space, "a.o")), "a.o: input-newer a.c");
}

#[test]
fn a_path_through_a_file_is_a_missing_file() {
    let space = manifest("rule t\n  command = t\nbuild a: t file/x\nbuild b: t file/y/z file/y/zz\n");
    space.write("file", "");
    assert_eq!(
        reasons(&report(&space, "")),
        "a: input-missing file/x, output-missing a; b: input-missing file/y/z, input-missing file/y/zz, output-missing b"
    );
}

// ---- loops of links ---------------------------------------------------------------------------------

#[test]
fn loops_of_links_where_a_file_has_to_be_read_are_errors() {
    let text = "rule t\n  command = t\nbuild a: t\n";
    for (name, error) in [
        ("build.ninja", "loading 'build.ninja': Too many levels of symbolic links"),
        (".ninja_log", "loading build log '.ninja_log': Too many levels of symbolic links"),
        (".ninja_deps", "loading deps log '.ninja_deps': Too many levels of symbolic links"),
    ] {
        let space = manifest(text);
        link_loop(&space, name);
        all_end_in(&space, error);
    }
    let space = manifest(format!("builddir = here\n{text}"));
    link_loop(&space, "here");
    all_end_in(&space, "loading build log 'here/.ninja_log': Too many levels of symbolic links");
    let space = Space::new();
    link_loop(&space, "here");
    assert_eq!(
        run(&space, "-C here").trouble(),
        "upcheck: error: opening 'here': Too many levels of symbolic links\n"
    );
}

#[test]
fn loops_of_links_elsewhere_make_their_targets_stale() {
    let loops = "Too many levels of symbolic links";
    for name in ["a.c", "a.o"] {
        let space = program();
        link_loop(&space, name);
        let found = report(&space, "");
        assert_eq!(reasons(&found), format!("a.o: unreadable {name}; prog: upstream-stale a.o"));
        assert_eq!(found["stale"][0]["reasons"][0]["detail"], loops);
        assert_eq!(found["errors"].as_array().map(Vec::len), Some(1));
        let why = run(&space, "why prog").answer(1);
        assert!(why.ends_with(&format!("   └─ {name} cannot be looked at: {loops}\n")), "{why}");
        assert_eq!(run(&space, "--exact").trouble(), format!("upcheck: error: stat({name}): {loops}\n"));
        assert_eq!(run(&space, "check check").answer(0), "fresh: nothing to do for 1 target\n");
    }
    let space = with_depfile();
    link_loop(&space, "a.d");
    assert_eq!(reasons(&report(&space, "")), "a: deps-unknown a");
    assert_eq!(run(&space, "--exact").trouble(), format!("upcheck: error: loading 'a.d': {loops}\n"));
    // A loop among the directories, with one and with several names behind it.
    let space = manifest("rule t\n  command = t\nbuild a: t here/x\nbuild b: t there/y there/z\n");
    link_loop(&space, "here");
    link_loop(&space, "there");
    assert_eq!(
        reasons(&report(&space, "")),
        "a: unreadable here/x, output-missing a; b: unreadable there/y, unreadable there/z, output-missing b"
    );
}

// ---- permissions ------------------------------------------------------------------------------------

/// Who runs upcheck where permissions matter. Root may do everything, and so must become somebody else.
fn somebody() -> Option<impl Fn(&Space, &str) -> Ran> {
    let space = Space::new();
    let is_root = fs::metadata(space.path()).expect("a directory").uid() == 0;
    if !is_root {
        return Some(somebody_else(None));
    }
    let mut trial = Command::new("/bin/sh");
    trial.args(["-c", "exit 0"]).uid(65_534).gid(65_534);
    if trial.status().is_ok_and(|status| status.success()) {
        return Some(somebody_else(Some(65_534)));
    }
    not_tested("permissions; this is root, who may read everything, and who cannot become another user here");
    None
}

fn somebody_else(uid: Option<u32>) -> impl Fn(&Space, &str) -> Ran {
    // The build's own folders may be closed to the other user.
    let home = Space::new();
    fs::set_permissions(home.path(), Permissions::from_mode(0o755)).expect("permissions");
    let upcheck = home.path().join("upcheck");
    fs::copy(tools::upcheck(), &upcheck).expect("a copy of upcheck");
    move |space: &Space, args: &str| {
        let _keep = &home;
        let before = space.entries();
        let copied = upcheck_in(space.path());
        let mut command = Command::new(&upcheck);
        command.args(args.split_whitespace()).current_dir(space.path());
        command.envs(copied.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(uid) = uid {
            command.uid(uid).gid(uid);
        }
        let ran = Ran::new(command.output().expect("upcheck starts"));
        assert!(space.entries() == before, "the tree was touched");
        ran
    }
}

#[test]
fn files_that_may_not_be_read_are_errors_or_make_their_targets_stale() {
    let Some(run) = somebody() else { return };
    let open = |space: &Space| {
        fs::set_permissions(space.path(), Permissions::from_mode(0o755)).expect("permissions");
    };
    let close = |space: &Space, name: &str, mode: u32| {
        fs::set_permissions(space.path().join(name), Permissions::from_mode(mode)).expect("permissions");
    };
    for (name, error) in [
        ("build.ninja", "loading 'build.ninja': Permission denied"),
        (".ninja_log", "loading build log '.ninja_log': Permission denied"),
        (".ninja_deps", "loading deps log '.ninja_deps': Permission denied"),
    ] {
        let space = discovering();
        open(&space);
        assert_eq!(run(&space, "").status, 0);
        close(&space, name, 0);
        for args in ["", "--exact", "why a", "--format json"] {
            assert_eq!(run(&space, args).trouble(), format!("upcheck: error: {error}\n"));
        }
    }

    // Only the time of sources and outputs matters: nobody has to be able to read them.
    let space = program();
    open(&space);
    for name in ["a.c", "a.o", "prog", "config.h"] {
        close(&space, name, 0);
    }
    assert_eq!(run(&space, "").answer(0), "fresh: nothing to do for 4 targets\n");

    let space = with_depfile();
    open(&space);
    space.write("a.d", "a: b\n");
    assert_eq!(run(&space, "").status, 0);
    close(&space, "a.d", 0);
    let text = run(&space, "").answer(1);
    assert!(
        text.contains("the discovered inputs of a are not known: loading 'a.d': Permission denied\n"),
        "{text}"
    );
    assert_eq!(run(&space, "--exact").trouble(), "upcheck: error: loading 'a.d': Permission denied\n");
}

#[test]
fn directories_that_may_not_be_searched_hide_only_what_is_in_them() {
    let Some(run) = somebody() else { return };
    let space = manifest(
        "rule t\n  command = t $out\nbuild a: t closed/x closed/y\nbuild b: t listed/x\nbuild c: t\n",
    );
    for name in ["closed/x", "closed/y", "listed/x"] {
        space.write_at(name, "", T);
    }
    for name in ["a", "b", "c"] {
        space.write_at(name, "", T);
    }
    space.write(".ninja_log", build_log(&[("a", T, "t a"), ("b", T, "t b"), ("c", T, "t c")]));
    fs::set_permissions(space.path(), Permissions::from_mode(0o755)).expect("permissions");
    let close = |name: &str, mode: u32| {
        fs::set_permissions(space.path().join(name), Permissions::from_mode(mode)).expect("permissions");
    };
    // To be searched but not listed is enough.
    close("listed", 0o711);
    assert_eq!(run(&space, "").answer(0), "fresh: nothing to do for 3 targets\n");
    close("closed", 0o644);
    assert_eq!(
        run(&space, "").answer(1),
        "1 of 3 targets is stale\n\n\
         stale   a\n          closed/x cannot be looked at: Permission denied\n          \
         closed/y cannot be looked at: Permission denied\n"
    );
    assert_eq!(run(&space, "--exact").trouble(), "upcheck: error: stat(closed/x): Permission denied\n");
    assert_eq!(run(&space, "-C closed").trouble().lines().count(), 1);
    close("closed", 0o755);
}

// ---- helpers ----------------------------------------------------------------------------------------

/// Asks for every kind of answer, by the rules of each version: none may panic.
#[track_caller]
fn survives(space: &Space, seed: u64) {
    let before = space.entries();
    for version in Ninja::ALL {
        let question = Question::default();
        let ask =
            AssertUnwindSafe(|| [exact(space, version, &question), look_past(space, version, &question)]);
        let answers = catch_unwind(ask);
        let Ok(answers) = answers else { panic!("seed {seed} panics by the rules of {}", version.number()) };
        for answer in answers {
            assert!(answer != Answer::Error(String::new()), "seed {seed}: an error without words");
        }
    }
    assert!(space.entries() == before, "the tree was touched");
}

/// The bytes with some damage: some replaced, cut, doubled or removed, or all of them random.
fn damaged(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut bytes = bytes.to_vec();
    if seed.is_multiple_of(7) {
        let length = random.below(3_000);
        return (0..length).map(|_| random.byte()).collect();
    }
    for _ in 0..=random.below(6) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        let end = (at + random.below(40)).min(bytes.len());
        match random.below(6) {
            0 => bytes[at] = random.byte(),
            1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let doubled = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, doubled);
            }
            _ => {
                let inserted: Vec<_> = (0..random.below(9)).map(|_| random.byte()).collect();
                bytes.splice(at..at, inserted);
            }
        }
    }
    bytes
}

/// A small generator of numbers: the same seed gives the same damage everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 11).expect("64 bits") % bound
    }

    fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }
}
