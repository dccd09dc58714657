//! What makes no sense is one error each, with nothing done, and nothing lost.

use crate::{Ended, ask, fresh, graph, made, run, sources, upcheck};
use std::io::Write;
use std::path::MAIN_SEPARATOR;
use std::process::Stdio;
use upcheck_tests::space::Space;

/// What is said of a directory that should be a file.
const DIRECTORY: &str = if cfg!(windows) { "Permission denied" } else { "Is a directory" };

#[test]
fn options_that_describe_no_target_are_told_of() {
    let space = sources();
    for (args, expected) in [
        ("-i src/a.ts", "a target needs an output (-o) or a name (--name)"),
        ("--value A=1", "a target needs an output (-o) or a name (--name)"),
        ("--env HOME", "a target needs an output (-o) or a name (--name)"),
        ("--depfile x.d", "a target needs an output (-o) or a name (--name)"),
        ("--order-only x", "a target needs an output (-o) or a name (--name)"),
        ("--inputs-from list", "a target needs an output (-o) or a name (--name)"),
        ("-o out --name lint", "--name is for a target without outputs (-o)"),
        ("-o out -o out", "'out' is twice an output of the same target"),
        ("-o out -o ./out", "'out' is twice an output of the same target"),
        ("-o out -i out", "dependency cycle: out -> out"),
        ("-o out --value X", "--value X: it has the form NAME=VALUE"),
        ("-o out --inputs-from gone", "reading 'gone': No such file or directory"),
        ("-o out --inputs-from src", &format!("reading 'src': {DIRECTORY}")),
        ("-o out other", "unknown target 'other'"),
        ("-o output outpt", "unknown target 'outpt', did you mean 'output'?"),
        ("-o ab cd", "unknown target 'cd'"),
        ("-o out --from graph", "--from, and options that describe a target: only one can be meant"),
        ("-o out --from ninja", "--from, and options that describe a target: only one can be meant"),
        ("-o out -f graph.json", "--file, and options that describe a target: only one can be meant"),
        #[cfg(unix)] // The other one is in core's `records`, in words of its own.
        (
            "-o out --records src/a.ts",
            "reading the records in './src/a.ts': cannot read ./src/a.ts/records: Not a directory",
        ),
        ("-C gone -o out", "opening 'gone': No such file or directory"),
    ] {
        let expected = format!("upcheck: error: {expected}\n");
        for command in ["", "check", "check -q", "record", "record --begin"] {
            if command.starts_with("record") && (args.contains("--records") || args.contains("-i out")) {
                continue;
            }
            assert_eq!(ask(&space, &format!("{command} {args}")).trouble(), expected, "{command} {args}");
        }
        if !args.contains("--records") {
            assert_eq!(run(&space, args, "true").trouble(), expected, "run {args}");
        }
        if !args.ends_with(char::is_alphanumeric) || args.split(' ').count() % 2 == 0 {
            let named = format!("affected {args} some-file");
            if !args.contains("other") && !args.contains("out -i out") && !args.contains("ab cd") {
                assert_eq!(ask(&space, &named).status, 2, "{named}");
            }
        }
    }
    assert!(!space.path().join("out").exists());
}

#[test]
fn empty_and_impossible_paths_are_told_of() {
    let space = sources();
    let ended = |args: &[&str]| Ended::new(upcheck(&space, args).output().expect("upcheck starts"));
    for args in [
        &["-i", "", "-o", "out"][..],
        &["-o", ""],
        &["-o", "out", "--order-only", ""],
        &["affected", "-o", "out", ""],
        &["--name", ""],
    ] {
        let Ended { status, stderr, .. } = ended(args);
        let expected = match args {
            ["--name", _] => "upcheck: error: a target has neither outputs nor a name\n",
            _ => "upcheck: error: a path is empty\n",
        };
        assert_eq!((status, stderr.as_str()), (2, expected), "{args:?}");
    }
    for (list, args, expected) in [
        ("a\0b", "--inputs-from list -o out", "in the list 'list': the path \"a\\0b\" has a NUL in it"),
        ("a\n\nb\n", "--inputs-from list -o out", "in the list 'list': a path is empty"),
        ("a\0\0b", "--inputs-from list -0 -o out", "in the list 'list': a path is empty"),
    ] {
        space.write("list", list);
        assert_eq!(ask(&space, args).trouble(), format!("upcheck: error: {expected}\n"));
    }
}

#[test]
fn patterns_that_are_none_are_told_of() {
    let space = sources();
    for pattern in ["src/[", "src/{a,b", "![", "a**[!"] {
        let trouble = ask(&space, &format!("-i {pattern} -o out")).trouble();
        assert!(trouble.starts_with("upcheck: error: pattern `"), "{pattern}: {trouble}");
        assert_eq!(trouble.lines().count(), 1);
        assert_eq!(run(&space, &format!("-i {pattern} -o out"), "touch out").trouble(), trouble);
        space.write(
            "graph.json",
            format!(r#"{{"version": 1, "targets": [{{"outputs": ["o"], "globs": ["{pattern}"]}}]}}"#),
        );
        let located = ask(&space, "--from graph").trouble();
        assert!(located.starts_with("upcheck: error: graph.json:1:"), "{pattern}: {located}");
    }
    assert!(!space.path().join("out").exists());
}

#[test]
fn wrong_usage_is_status_2_and_125_for_a_run() {
    let space = sources();
    for args in [
        "--policy mtimes -o out",
        "--policy",
        "--from makefile",
        "--frob -o out",
        "why -o out",
        "affected --from graph",
        "record --begin --trust -o out",
        "-o out record --begin extra --frob",
    ] {
        let trouble = ask(&space, args).trouble();
        assert!(trouble.starts_with("error: "), "{args}: {trouble}");
    }
    for args in [
        "run -o out",
        "run -o out --",
        "run --frob -o out -- true",
        "-C . run -o out",
        "run --policy x -o out -- true",
    ] {
        let ended = Ended::new(upcheck(&space, args.split(' ')).output().expect("upcheck starts"));
        assert!(ended.clone().trouble().starts_with("error: "), "{args}: {ended:?}");
    }
    for help in ["run --help", "record --help", "affected --help"] {
        assert!(ask(&space, help).answer(0).contains("Exit status: "), "{help}");
    }
    let trouble = ask(&space, "--policy mtimes -o out").trouble();
    assert!(
        trouble.contains("mtime, digest, mtime-and-digest, mtime-and-digest-input, mtime-or-digest, newer")
    );
}

#[test]
fn options_for_others_are_told_of() {
    let space = made();
    for (args, expected) in [
        ("--from graph --exact", "--exact is about ninja"),
        ("check --from graph --exact app", "--exact is about ninja"),
        ("--from graph -- make app", "a command after `--` is for a target that options describe (-i, -o)"),
        (
            "why --from graph app -- make",
            "a command after `--` is for a target that options describe (-i, -o)",
        ),
        (
            "record --from graph app -- make",
            "a command after `--` is for a target that options describe (-i, -o)",
        ),
        ("-- app", "a command after `--` is for a target that options describe (-i, -o)"),
        ("--policy digest", "--policy is not for ninja, which has its own rules"),
        ("affected --from graph - -f -", "standard input can only be one thing: `-` is there twice"),
        ("affected -o x --inputs-from - -", "standard input can only be one thing: `-` is there twice"),
        ("--explain record --from graph", "options of check and targets go after the command's name"),
    ] {
        assert_eq!(ask(&space, args).trouble(), format!("upcheck: error: {expected}\n"), "{args}");
    }
    fresh(&space, "--from graph");
}

#[test]
fn a_graph_that_is_none_is_told_of_with_its_place() {
    let space = made();
    let whole = String::from_utf8(space.read("graph.json")).expect("text");
    let target = |text: &str| format!("{{\"version\": 1, \"targets\": [\n  {text}]}}");
    for (text, expected) in [
        ("", "1:1: the file is empty"),
        ("{\"version\": 2, \"targets\": []}", "1:13: version 2 of the format is not known, only 1 is"),
        ("{\"version\": 1}", "1:14: a graph needs the key \"targets\""),
        (&whole[..whole.len() / 2], ""),
        (&target("{\"inputs\": [\"a\"]}"), "2:19: targets[0] has neither \"outputs\" nor a \"name\""),
        (
            &target("{\"outputs\": [\"a\"], \"inpts\": []}"),
            "2:22: unknown key \"inpts\" (did you mean \"inputs\"?)",
        ),
        (&target("{\"outputs\": [\"a\", \"a\"]}"), "2:21: \"a\" is twice an output of the same target"),
        (
            &target("{\"outputs\": [\"a\"]}, {\"outputs\": [\"b\", \"a\"]}"),
            "2:41: \"a\" is an output of two targets: targets[0] (\"a\") and targets[1] (\"b\")",
        ),
        (&target("{\"outputs\": [\"\"]}"), "2:16: a path is empty"),
        (&target("{\"outputs\": [\"a\\u0000b\"]}"), "2:16: the path \"a\\0b\" has a NUL in it"),
        (
            &target("{\"outputs\": [\"a\"], \"policy\": \"mtimes\"}"),
            "2:32: unknown policy \"mtimes\" (did you mean \"mtime\"?); there are mtime, digest, mtime-and-digest, mtime-and-digest-input, mtime-or-digest, newer",
        ),
    ] {
        space.write("graph.json", text);
        for command in ["", "why all", "record", "affected a.c"] {
            let trouble = ask(&space, &format!("{command} --from graph")).trouble();
            let start = format!("upcheck: error: graph.json:{expected}");
            assert!(trouble.starts_with(&start) && trouble.lines().count() == 1, "{start} in {trouble}");
        }
        let trouble = run(&space, "--from graph all", "touch was-run").trouble();
        assert!(trouble.starts_with(&format!("upcheck: error: graph.json:{expected}")), "{trouble}");
    }
    assert!(!space.path().join("was-run").exists());
    // What was on record still is.
    space.write("graph.json", &whole);
    fresh(&space, "--from graph");
    // And on standard input it is called that.
    let mut command = upcheck(&space, ["--from", "graph", "-f", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("upcheck starts");
    child.stdin.take().expect("a pipe").write_all(b"[]").expect("all was read");
    let ended = Ended::new(child.wait_with_output().expect("upcheck ends"));
    assert!(ended.stderr.starts_with("upcheck: error: standard input:1:1: "), "{}", ended.stderr);
}

#[test]
fn cycles_are_named_once_around() {
    let space = Space::new();
    space.write(
        "graph.json",
        r#"{"version": 1, "targets": [{"outputs": ["a"], "inputs": ["b"]},
            {"outputs": ["b"], "order_only": ["c"]}, {"outputs": ["c"], "inputs": ["a"]}, {"outputs": ["d"]}]}"#,
    );
    let expected = "upcheck: error: dependency cycle: a -> b -> c -> a\n";
    for args in ["--from graph", "check a --from graph -q", "why --from graph a", "record --from graph"] {
        assert_eq!(ask(&space, args).trouble(), expected, "{args}");
    }
    assert_eq!(run(&space, "--from graph a", "touch a").trouble(), expected);
    assert!(!space.path().join("a").exists());
    // Others are judged.
    assert_eq!(ask(&space, "-q d --from graph").status, 1);
    space.write("graph.json", r#"{"version": 1, "targets": [{"outputs": ["a"], "inputs": ["a"]}]}"#);
    assert_eq!(ask(&space, "--from graph").trouble(), "upcheck: error: dependency cycle: a -> a\n");
}

#[test]
fn unknown_targets_are_named_with_what_is_near() {
    let space = graph();
    for (name, hint) in [
        ("test", ", did you mean 'tests'?"),
        ("a.oo", ", did you mean 'a.o'?"),
        ("gen.hh", ", did you mean 'gen.h'?"),
        ("nope", ""),
        ("x", ""),
        ("something-else", ""),
        ("no/\u{e4}\u{1}", ""),
    ] {
        let shown = name.replace('\u{1}', "\\u{1}");
        let expected = format!("upcheck: error: unknown target '{shown}'{hint}\n");
        for command in ["check", "why", "record"] {
            assert_eq!(ask(&space, &format!("{command} --from graph {name}")).trouble(), expected);
        }
        assert_eq!(run(&space, &format!("--from graph {name}"), "true").trouble(), expected);
    }
}

#[test]
fn files_that_are_not_there_are_named() {
    let space = sources();
    let missing = |name: &str| format!("upcheck: error: reading '{name}': No such file or directory\n");
    assert_eq!(ask(&space, "--from graph").trouble(), missing("graph.json"));
    assert_eq!(ask(&space, "--from graph -f no/such").trouble(), missing("no/such"));
    assert_eq!(
        ask(&space, "-C src --from graph").trouble(),
        missing(&format!("src{MAIN_SEPARATOR}graph.json"))
    );
    assert_eq!(ask(&space, "--from compile-commands").trouble(), missing("compile_commands.json"));
    assert_eq!(
        ask(&space, "--from graph -f src").trouble(),
        format!("upcheck: error: reading 'src': {DIRECTORY}\n")
    );
    assert_eq!(
        ask(&space, "affected --from graph --base gone a.c").trouble(),
        "upcheck: error: finding 'gone': No such file or directory\n"
    );
    let trouble = ask(&space, "--from graph --format json").trouble_in_json();
    assert_eq!(trouble, missing("graph.json"));
    assert_eq!(
        ask(&space, "affected --from graph --format jsonl a.c").trouble_in_json(),
        missing("graph.json")
    );
}

#[test]
fn a_source_that_is_asked_for_has_to_be_there() {
    let space = graph();
    fresh(&space, "--from graph a.c");
    space.remove("a.c");
    let expected = "upcheck: error: 'a.c' does not exist and nothing makes it\n";
    assert_eq!(ask(&space, "--from graph a.c").trouble(), expected);
    assert_eq!(ask(&space, "why --from graph a.c").trouble(), expected);
}
