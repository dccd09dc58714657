//! Several runs at the same time.

use crate::{Ended, fresh, run, sources, stale, text, upcheck};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, Stdio};
use upcheck_tests::space::Space;

/// A run whose command waits to be told to go on.
struct Run {
    child: Child,
    stdin: ChildStdin,
    stderr: BufReader<ChildStderr>,
}

/// What the command of all these runs is, so that it is the same one: it says that it started, waits for a line, and
/// makes `out`.
const SCRIPT: &str = "echo started; read line; cat src/*.ts > out; echo ran >> log";

impl Run {
    fn start(space: &Space, options: &str) -> Self {
        let target = "-i src/*.ts -o out".split_whitespace();
        let args = ["run"].into_iter().chain(options.split_whitespace()).chain(target);
        let mut command = upcheck(space, args.chain(["--", "sh", "-c", SCRIPT]));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("upcheck starts");
        let stdin = child.stdin.take().expect("a pipe");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        Self { child, stdin, stderr }
    }

    /// A run whose command has started.
    fn started(space: &Space, options: &str) -> Self {
        let mut run = Self::start(space, options);
        let mut line = [0; 8];
        run.child.stdout.as_mut().expect("a pipe").read_exact(&mut line).expect("a line");
        assert_eq!(&line, b"started\n");
        run
    }

    fn line_of_stderr(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).expect("a line");
        line
    }

    fn go_on(mut self) -> Ended {
        // It may be one that has nothing to wait for.
        let _ = self.stdin.write_all(b"go\n");
        drop(self.stdin);
        let mut said = Vec::new();
        self.stderr.read_to_end(&mut said).expect("the end");
        let mut output = self.child.wait_with_output().expect("upcheck ends");
        output.stderr = said;
        Ended::new(output)
    }
}

#[test]
fn a_second_run_waits_for_the_first_and_then_finds_everything_fresh() {
    let space = sources();
    let first = Run::started(&space, "");
    let id = first.child.id();
    let mut second = Run::start(&space, "--explain");
    assert_eq!(
        second.line_of_stderr(),
        format!("upcheck: another run of out (process {id}) is under way: waiting for it\n")
    );
    first.go_on().well();
    let second = second.go_on();
    assert_eq!((second.status, second.stderr.as_str()), (0, "upcheck: fresh: the command need not run\n"));
    assert_eq!((text(&space, "log"), second.stdout), ("ran\n".into(), Vec::new()));
    fresh(&space, "-i src/*.ts -o out");
}

#[test]
fn a_second_run_runs_when_the_first_comes_out_stale() {
    let space = sources();
    let first = Run::started(&space, "");
    let mut second = Run::start(&space, "");
    assert!(second.line_of_stderr().ends_with(" is under way: waiting for it\n"));
    space.write("src/a.ts", "edited meanwhile\n");
    let first = first.go_on();
    assert_eq!(first.status, 0);
    assert!(first.stderr.contains("out will be stale again: src/a.ts may have changed"), "{}", first.stderr);
    second.go_on().well();
    assert_eq!(text(&space, "log"), "ran\nran\n");
    fresh(&space, "-i src/*.ts -o out");
}

#[test]
fn who_does_not_want_to_wait_is_told() {
    let space = sources();
    let first = Run::started(&space, "");
    let id = first.child.id();
    let second = Run::start(&space, "--no-wait").go_on();
    let text = format!("upcheck: error: another run of out (process {id}) is under way\n");
    assert_eq!(second.trouble(), text);
    first.go_on().well();
}

#[test]
fn runs_of_other_targets_do_not_wait() {
    let space = sources();
    let first = Run::started(&space, "");
    run(&space, "--no-wait -i src/a.ts -o other", "touch other").well();
    fresh(&space, "-i src/a.ts -o other");
    // To look at it is no run.
    assert_eq!(stale(&space, "-i src/*.ts -o out"), "out: interrupted out");
    first.go_on().well();
}

#[test]
fn what_is_being_run_is_not_recorded() {
    let space = sources();
    let first = Run::started(&space, "");
    space.write("out", "half");
    let ran = crate::ask(&space, "record --trust -i src/*.ts -o out");
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""));
    assert_eq!(ran.stderr, "upcheck: warning: out is not recorded: a run of it is under way\n");
    assert_eq!(stale(&space, "-i src/*.ts -o out"), "out: interrupted out");
    first.go_on().well();
    fresh(&space, "-i src/*.ts -o out");
}

#[test]
fn a_killed_run_frees_its_target_and_leaves_it_interrupted() {
    let space = sources();
    let mut first = Run::started(&space, "");
    first.child.kill().expect("a running process");
    first.child.wait().expect("it ends");
    assert_eq!(stale(&space, "-i src/*.ts -o out"), "out: interrupted out");
    // The command outlives it, and goes on when its input ends.
    drop(first.stdin);
    let mut rest = String::new();
    first.child.stdout.take().expect("a pipe").read_to_string(&mut rest).expect("the command's end");
    assert_eq!(text(&space, "log"), "ran\n");
    assert_eq!(stale(&space, "-i src/*.ts -o out"), "out: interrupted out");
    Run::start(&space, "--no-wait").go_on().well();
    assert_eq!(text(&space, "log"), "ran\nran\n");
    fresh(&space, "-i src/*.ts -o out");
}

#[test]
fn of_many_runs_one_does_it() {
    let space = sources();
    let mut runs: Vec<Run> = (0..8).map(|_| Run::start(&space, "")).collect();
    // Any of them may be the one that runs.
    for run in &mut runs {
        let _ = run.stdin.write_all(b"go\n");
    }
    for run in runs {
        let ended = run.go_on();
        assert_eq!(ended.status, 0, "{}", ended.stderr);
    }
    assert_eq!(text(&space, "log"), "ran\n");
    fresh(&space, "-i src/*.ts -o out");
}

#[test]
fn runs_of_many_targets_do_not_wait_for_each_other_in_circles() {
    let space = crate::graph();
    let orders = ["a.o b.o gen.h app", "app gen.h b.o a.o", "b.o app a.o gen.h", "all"];
    let start = |order: &&str| {
        let args = ["run", "--always", "--from", "graph"].into_iter().chain(order.split_whitespace());
        let mut command = upcheck(&space, args.chain(["--", "sh", "-c", crate::MAKE]));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("upcheck starts")
    };
    let children: Vec<Child> = orders.iter().cycle().take(12).map(start).collect();
    for child in children {
        assert_eq!(Ended::new(child.wait_with_output().expect("upcheck ends")).status, 0);
    }
    fresh(&space, "--from graph app");
}
