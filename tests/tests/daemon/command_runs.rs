//! `watch -- COMMAND`: it is run for what is new, once, and never for nothing.

use crate::User;
use crate::command::spaces::{SECOND, T, changed_header, program};
use crate::followed::{Followed, checked};
use crate::same::project;
use std::process::Command;
use upcheck_tests::answer::{Question, build};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// `upcheck watch ARGS -- sh -c SCRIPT ELSEWHERE`: `$0` is a folder that nobody watches.
fn watch(user: &User, space: &Space, args: &str, elsewhere: &Space, script: &str) -> Followed {
    let mut command: Command = user.command(space);
    command.arg("watch").args(args.split_whitespace()).args(["--", "sh", "-c", script]).arg(elsewhere.path());
    Followed::spawn(&mut command)
}

/// Writes a source so that it is newer than all else, in one step: a look may come between any two.
fn write_at_once(space: &Space, path: &str, text: impl AsRef<[u8]>) {
    space.write_last("next", text);
    std::fs::rename(space.path().join("next"), space.path().join(path)).expect("a file");
}

/// How often a script that writes a line into `runs` was run.
fn n_runs(elsewhere: &Space) -> usize {
    String::from_utf8(elsewhere.read("runs")).expect("text").lines().count()
}

#[test]
fn ninja_is_run_whenever_something_is_stale() {
    let (user, space, elsewhere) = (User::new(), project(), Space::new());
    let script = format!("echo >>$0/runs; exec {} >/dev/null", Ninja::V1_13.path().display());
    let mut runs = watch(&user, &space, "", &elsewhere, &script);
    // Nothing is built yet.
    assert!(runs.line_said().starts_with("upcheck: 9 of 9 targets are stale because of "));
    assert_eq!(runs.line_said(), "upcheck: fresh: nothing to do for 9 targets");
    for round in 1..4 {
        write_at_once(&space, "src/1.c", format!("int round_{round};"));
        assert_eq!(runs.line_said(), "upcheck: 2 of 9 targets are stale because of src/1.c");
        assert_eq!(runs.line_said(), "upcheck: fresh: nothing to do for 9 targets");
        assert_eq!(n_runs(&elsewhere), 1 + round);
        assert_eq!(space.read("out/1.o"), format!("int round_{round};").into_bytes());
    }
    space.remove("out/3.o");
    runs.says("fresh: nothing to do");
    assert!(!space.read("out/3.o").is_empty());
    // Only what was asked for.
    let mut lone = watch(&user, &space, "lone", &elsewhere, "echo >>$0/lone");
    assert_eq!(lone.line_said(), "upcheck: fresh: nothing to do for 1 target");
    write_at_once(&space, "src/2.c", "int two;");
    runs.says("fresh: nothing to do");
    lone.signal("INT");
    assert_eq!(lone.ends().0, Some(0));
    assert!(elsewhere.read("lone").is_empty());
}

#[test]
fn one_that_fails_is_run_again_only_when_something_changes() {
    let (user, space, elsewhere) = (User::new(), changed_header(), Space::new());
    let mut runs = watch(&user, &space, "", &elsewhere, "echo >>$0/runs; exit 3");
    for round in 1..4_u8 {
        assert_eq!(runs.line_said(), "upcheck: 3 of 4 targets are stale because of config.h");
        assert!(runs.line_said().starts_with("upcheck: the command ended with 3 after 0."));
        assert_eq!(runs.line_said(), "upcheck: 3 targets still stale: waiting for a change");
        assert_eq!(n_runs(&elsewhere), usize::from(round));
        // What was stale before it and is not any more, or is nobody's, is no reason.
        space.write("unknown", "x");
        space.set_mtime("config.h", T + (200 + i64::from(round)) * SECOND);
    }
    runs.says("still stale");
    runs.signal("TERM");
    let (status, lines, said) = runs.ends();
    assert_eq!((status, lines.len(), said.len()), (Some(3), 0, 0));
    assert_eq!(n_runs(&elsewhere), 4);
}

#[test]
fn one_that_makes_only_a_part_is_not_run_over_and_over() {
    let (user, space, elsewhere) = (User::new(), project(), Space::new());
    build(&space, Ninja::V1_13, &Question::default());
    write_at_once(&space, "src/1.c", "int one;");
    let script = format!("echo >>$0/runs; {} out/1.o >/dev/null", Ninja::V1_13.path().display());
    let mut runs = watch(&user, &space, "", &elsewhere, &script);
    runs.says("still stale: waiting for a change");
    // What it has made leads to one run more, no other one.
    assert!(n_runs(&elsewhere) <= 2, "{:?}", runs.said);
    let before = n_runs(&elsewhere);
    write_at_once(&space, "src/2.c", "int two;");
    runs.says("targets are stale because of");
    runs.says("still stale");
    assert_eq!(n_runs(&elsewhere), before + 1, "{:?}", runs.said);
}

#[test]
fn what_changes_meanwhile_leads_to_one_run_more() {
    let (user, space, elsewhere) = (User::new(), project(), Space::new());
    build(&space, Ninja::V1_13, &Question::default());
    let made = Command::new("mkfifo").arg(elsewhere.path().join("go")).status().expect("mkfifo");
    assert!(made.success());
    let script =
        format!("{} >/dev/null; echo >>$0/runs; cat $0/go >/dev/null", Ninja::V1_13.path().display());
    let mut runs = watch(&user, &space, "", &elsewhere, &script);
    runs.says("fresh");
    let let_go = || std::fs::write(elsewhere.path().join("go"), "go").expect("a fifo");
    let is_running = |n: usize| {
        while n_runs(&elsewhere) < n {
            std::thread::yield_now();
        }
    };
    write_at_once(&space, "src/1.c", "int one;");
    is_running(1);
    // It has made src/1.c already.
    write_at_once(&space, "src/1.c", "int one_more;");
    write_at_once(&space, "src/2.c", "int two;");
    let_go();
    is_running(2);
    assert_eq!(space.read("out/1.o"), b"int one_more;");
    let_go();
    runs.says("fresh");
    assert_eq!(n_runs(&elsewhere), 2);
    assert_eq!(checked(&user, &space, "")["verdict"], "fresh");
}

#[test]
fn one_that_changes_what_it_is_run_for_is_run_five_times_in_a_row_and_not_for_ever() {
    let (user, space, elsewhere) = (User::new(), changed_header(), Space::new());
    let script = "echo >>$0/runs; touch -d @$(($(date +%s) + $(wc -l <$0/runs))) config.h";
    let mut runs = watch(&user, &space, "", &elsewhere, script);
    runs.says("still stale: waiting for a change");
    assert_eq!(n_runs(&elsewhere), 5, "{:?}", runs.said);
    space.set_mtime("a.c", T + 300 * SECOND);
    runs.says("still stale: waiting for a change");
    assert_eq!(n_runs(&elsewhere), 10, "{:?}", runs.said);
}

#[test]
fn signals_come_to_the_command_and_its_status_is_the_last() {
    let (user, space, elsewhere) = (User::new(), changed_header(), Space::new());
    for signal in ["INT", "TERM"] {
        // A signal to a child that has not become `sleep` yet would be lost, so nothing is asked of one.
        let script =
            "trap 'echo got >>$0/got; exit 7' INT TERM; echo >>$0/runs; while :; do sleep 0.05; done";
        let runs = watch(&user, &space, "", &elsewhere, script);
        while n_runs(&elsewhere) < 1 {
            std::thread::yield_now();
        }
        runs.signal(signal);
        let (status, _, said) = runs.ends();
        assert_eq!(status, Some(7), "{said:?}");
        assert_eq!(elsewhere.read("got"), b"got\n");
        elsewhere.remove("runs");
        elsewhere.remove("got");
    }
}

#[test]
fn it_goes_without_a_daemon_and_says_what_is_wrong_at_once() {
    let (user, space, elsewhere) = (User::new(), program(), Space::new());
    let mut runs =
        watch(&user, &space, "--no-watch", &elsewhere, "echo >>$0/runs; touch -d @1700000000 config.h");
    runs.says("upcheck watch does not answer: --no-watch");
    runs.says("fresh");
    for round in 1..3 {
        space.set_mtime("config.h", T + (100 + round) * SECOND);
        runs.says("3 of 4 targets are stale because of config.h");
        runs.says("fresh");
    }
    assert_eq!(n_runs(&elsewhere), 2);
    assert!(user.status().is_none());
    let ended = |args: &[&str]| {
        let output = user.command(&space).args(args).output().expect("upcheck starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    space.set_mtime("config.h", T + 200 * SECOND);
    let (status, said) = ended(&["watch", "--", "no-such-program-anywhere"]);
    assert_eq!(status, Some(127), "{said}");
    let (status, said) = ended(&["watch", "--", "/"]);
    assert_eq!(status, Some(126), "{said}");
    let (status, said) = ended(&["watch", "no-such-target", "--", "true"]);
    assert_eq!((status, said.as_str()), (Some(125), "upcheck: error: unknown target 'no-such-target'\n"));
    for wrong in [&["watch"][..], &["watch", "a"], &["watch", "--no-watch", "status"]] {
        assert_eq!(ended(wrong).0, Some(2), "{wrong:?}");
    }
}
