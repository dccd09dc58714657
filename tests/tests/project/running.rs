//! `upcheck run`: when the command is run, how the run ends, and what is on record then.

use crate::{CAT, ask, fresh, run, sources, stale, text};
#[cfg(unix)]
use crate::{Ended, upcheck};
use std::fs;
use upcheck_tests::space::Space;

const TARGET: &str = "-i src/*.ts -o out";

#[test]
fn a_stale_target_is_run_and_a_fresh_one_is_not() {
    let space = sources();
    for expected in ["ran\n", "ran\n"] {
        run(&space, TARGET, CAT).well();
        assert_eq!(text(&space, "log"), expected);
    }
    space.write("src/b.ts", "B\n");
    run(&space, TARGET, CAT).well();
    run(&space, TARGET, CAT).well();
    assert_eq!((text(&space, "log"), text(&space, "out")), ("ran\nran\n".into(), "a\nB\n".into()));
    run(&space, &format!("--always {TARGET}"), CAT).well();
    assert_eq!(text(&space, "log"), "ran\nran\nran\n");
    fresh(&space, TARGET);
}

#[test]
fn another_command_is_run() {
    let space = sources();
    run(&space, TARGET, CAT).well();
    run(&space, TARGET, &format!("{CAT}; true")).well();
    run(&space, TARGET, &format!("{CAT}; true")).well();
    assert_eq!(text(&space, "log"), "ran\nran\n");
}

#[test]
fn the_exit_status_is_that_of_the_command() {
    let space = sources();
    for status in 0..=255 {
        let ended = run(&space, "-i src/*.ts -o out", &format!("echo {status} > out; exit {status}"));
        assert_eq!((ended.status, ended.stderr.as_str()), (status, ""));
        assert_eq!(ask(&space, &format!("-q {TARGET}")).status, i32::from(status != 0), "{status}");
        if status == 0 {
            space.write("src/a.ts", "edited");
        }
    }
}

#[test]
#[cfg(unix)]
fn a_signal_that_ends_the_command_shows_in_the_status() {
    let space = sources();
    // Those that no caller in the background has set to be ignored.
    for signal in [6, 9, 11, 15] {
        let ended = run(&space, TARGET, &format!("echo x > out; ulimit -c 0; kill -{signal} $$"));
        assert_eq!((ended.status, ended.stderr.as_str()), (128 + signal, ""));
        assert_eq!(stale(&space, TARGET), "out: interrupted out");
    }
}

#[test]
#[cfg(unix)] // Who may be run is another matter elsewhere.
fn a_command_that_cannot_be_run_is_126_or_127() {
    let space = sources();
    space.write("data", "no program");
    let run = |command: &str| {
        let args = ["run", "-i", "src/a.ts", "-o", "out", "--", command];
        let Ended { status, stderr, .. } =
            Ended::new(upcheck(&space, args).output().expect("upcheck starts"));
        format!("{status} {stderr}")
    };
    let error = "upcheck: error: running";
    assert_eq!(run("./data"), format!("126 {error} './data': Permission denied\n"));
    assert_eq!(run("src"), format!("127 {error} 'src': No such file or directory\n"));
    assert_eq!(run("./src"), format!("126 {error} './src': Permission denied\n"));
    assert_eq!(run("./gone"), format!("127 {error} './gone': No such file or directory\n"));
    assert_eq!(run("no-such-program"), format!("127 {error} 'no-such-program': No such file or directory\n"));
}

#[test]
fn a_failure_leaves_the_target_interrupted_until_it_succeeds() {
    let space = sources();
    run(&space, TARGET, CAT).well();
    space.write("src/a.ts", "A\n");
    assert_eq!(run(&space, TARGET, "cat src/*.ts > out; exit 3").status, 3);
    let answer = ask(&space, TARGET).answer(1);
    assert!(answer.contains("          its last build, begun "), "{answer}");
    assert!(answer.contains(", did not succeed or has not ended\n"), "{answer}");
    assert_eq!(stale(&space, TARGET), "out: interrupted out");
    // Putting back what was there does not help: nobody knows what the failure has left.
    space.write("src/a.ts", "a\n");
    assert_eq!(stale(&space, TARGET), "out: interrupted out");
    run(&space, TARGET, CAT).well();
    fresh(&space, TARGET);
}

#[test]
fn a_failure_says_nothing_of_other_targets() {
    let space = sources();
    run(&space, "-i src/a.ts -o one", "touch one").well();
    run(&space, "-i src/b.ts -o two", "touch two").well();
    assert_eq!(run(&space, "--always -i src/a.ts -o one", "exit 1").status, 1);
    fresh(&space, "-i src/b.ts -o two");
}

#[test]
fn a_command_that_does_not_make_its_outputs_is_trouble() {
    let space = sources();
    let said = |what: &str| format!("upcheck: error: the command succeeded, but is not recorded: {what}\n");
    assert_eq!(run(&space, TARGET, "true").trouble(), said("the command did not make 'out'"));
    assert_eq!(stale(&space, TARGET), "out: interrupted out");
    assert_eq!(
        run(&space, "-i src/a.ts -o out -o two", "touch out").trouble(),
        said("the command did not make 'two'")
    );
    let target = "-i src/a.ts -o out --depfile out.d";
    assert_eq!(run(&space, target, "touch out").trouble(), said("the command left no depfile 'out.d'"));
    space.write("out.d", "no colon");
    let trouble = run(&space, target, "touch out").trouble();
    assert!(trouble.starts_with(&said("out.d")[..said("out.d").len() - 1]), "{trouble}");
    run(&space, target, "touch out; echo out: > out.d").well();
    fresh(&space, target);
}

#[test]
fn an_input_that_is_edited_while_the_command_runs_makes_the_target_stale() {
    let space = sources();
    let ended = run(&space, TARGET, "cat src/*.ts > out; echo later >> src/a.ts");
    assert_eq!(ended.status, 0);
    assert_eq!(
        ended.stderr,
        "upcheck: warning: out will be stale again: src/a.ts may have changed while it was built\n"
    );
    assert_eq!(stale(&space, TARGET), "out: input-changed src/a.ts");
    run(&space, TARGET, CAT).well();
    fresh(&space, TARGET);
    // One that only the depfile knows, of which nobody knows how it was when the command began.
    let target = "-i src/a.ts -o two --depfile two.d";
    space.write("deep.h", "1\n");
    let build = "cat src/a.ts deep.h > two; echo two: deep.h > two.d";
    assert_eq!(run(&space, target, &format!("{build}; echo 2 > deep.h")).status, 0);
    assert_eq!(stale(&space, target), "two: input-changed deep.h");
    run(&space, target, build).well();
    fresh(&space, target);
    // One that appears meanwhile.
    let ended = run(&space, &format!("--always {TARGET}"), "cat src/*.ts > out; echo c > src/c.ts");
    assert_eq!(ended.status, 0);
    assert!(stale(&space, TARGET).starts_with("out: in"));
    run(&space, TARGET, CAT).well();
    fresh(&space, TARGET);
}

#[test]
fn explaining_says_why_it_runs_or_that_it_need_not() {
    let space = sources();
    let explained = |expected: &str| {
        let ended = run(&space, &format!("--explain {TARGET}"), "cat src/*.ts > out; echo made");
        assert_eq!((ended.status, ended.stderr.as_str()), (0, expected));
        ended.stdout
    };
    let missing = "upcheck: stale: out\n\
                   upcheck:        no build of out is on record\n\
                   upcheck:        out does not exist\n";
    assert_eq!(explained(missing), b"made\n");
    assert_eq!(explained("upcheck: fresh: the command need not run\n"), b"");
    space.write("src/a.ts", "longer\n");
    assert_eq!(
        explained("upcheck: stale: out\nupcheck:        src/a.ts changed (7 bytes against 2)\n"),
        b"made\n"
    );
}

#[test]
fn a_directory_can_be_an_output_and_an_input() {
    let space = sources();
    let target = "-i src -o dist";
    run(&space, target, "mkdir -p dist && cp src/*.ts dist").well();
    fresh(&space, target);
    space.write("src/new.ts", "new\n");
    assert_eq!(stale(&space, target), "dist: input-changed src");
    run(&space, target, "mkdir -p dist && cp src/*.ts dist").well();
    fs::remove_dir_all(space.path().join("dist")).expect("it was made");
    assert_eq!(stale(&space, target), "dist: output-missing dist");
}

#[test]
fn outputs_that_a_command_leaves_as_they_are_do_no_harm() {
    let space = sources();
    let script = "cmp -s src/a.ts out || cp src/a.ts out";
    run(&space, TARGET, script).well();
    // Looks newer to make for ever.
    space.write("src/b.ts", "B\n");
    run(&space, TARGET, script).well();
    fresh(&space, TARGET);
}

#[test]
fn a_ninja_build_is_run_only_if_something_is_stale_and_never_recorded() {
    let space = Space::new();
    space.write("build.ninja", "rule t\n  command = t\nbuild a: t\n");
    // The tool is run where the user is, and its status is the answer: nothing was built, so it is run again.
    for _ in 0..2 {
        let ran = run(&space, "", "echo built; exit 3");
        assert_eq!((ran.status, &ran.stdout[..], ran.stderr.as_str()), (3, &b"built\n"[..], ""));
    }
    // What its files hold is on record only of what is fresh.
    let ran = ask(&space, "record");
    assert_eq!((ran.status, &ran.stderr[..]), (1, "upcheck: warning: a is not recorded: it is stale\n"));
    let text =
        "upcheck: error: --begin, --trust and a command are not for ninja, which has records of its own\n";
    assert_eq!(ask(&space, "record --begin a").trouble(), text);
    assert!(!space.path().join(".upcheck").exists());
}
