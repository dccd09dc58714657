//! Names that few people give to files.

use crate::command::deps_log;
use crate::command::spaces::{SECOND, T, discovering, manifest, program};
use crate::{reasons, report, run, upcheck};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use upcheck_tests::space::Space;

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
