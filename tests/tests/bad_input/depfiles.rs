//! Depfiles and dyndep files.

use crate::command::Ran;
use crate::command::spaces::{T, realistic, with_depfile};
use crate::damage::{damaged, survives};
use crate::{reasons, report, run};
use std::fs;
use std::io::{BufWriter, Write};
use std::process::Command;
use upcheck_tests::space::Space;
use upcheck_tests::tools;

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
        file.set_len(8 << 30).expect("a file with a hole");
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
