//! `upcheck watch` on Windows: the same answers as without it, after whatever was done to files and to it.
//!
//! Wine cannot show who else could ask or answer: it has one user, no elevation, and lets several make the first end of a pipe.

use crate::command::Ran;
use crate::command::spaces::{SECOND, T, changed_header, program};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tempfile::TempDir;
use upcheck_tests::answer::{Question, build};
use upcheck_tests::space::Space;
use upcheck_tests::tools::{self, Ninja};

/// What takes longer than this has gone wrong.
const DEADLINE: Duration = Duration::from_secs(60);

/// A user of his own: with a local folder that is nobody else's, and a daemon that is gone with the value.
struct User {
    home: TempDir,
    program: PathBuf,
}

impl User {
    fn new() -> Self {
        let home = tempfile::Builder::new().prefix("upcheck-user-").tempdir().expect("a temporary directory");
        Self { home, program: tools::upcheck().to_owned() }
    }

    /// Somebody who has the command elsewhere.
    fn with_own_program() -> Self {
        let mut user = Self::new();
        let program = user.home.path().join("upcheck.exe");
        std::fs::copy(tools::upcheck(), &program).expect("a copy");
        user.program = program;
        user
    }

    fn command(&self, space: &Space, args: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(space.path()).args(args.split_whitespace());
        self.be(&mut command);
        command
    }

    /// Has a command run as this user.
    fn be(&self, command: &mut Command) {
        command.env("LOCALAPPDATA", self.home.path().join("local"));
        command.env("UPCHECK_CACHE_DIR", self.home.path().join("images"));
    }

    #[track_caller]
    fn run(&self, space: &Space, args: &str) -> Ran {
        Ran::new(self.command(space, args).output().expect("upcheck starts"))
    }

    /// What the daemon says of itself; `None` while none runs.
    #[track_caller]
    fn status(&self) -> Option<Value> {
        let ran = self.run(&Space::new(), "watch status --format json");
        let status: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(status["running"], ran.status == 0, "{status}");
        (ran.status == 0).then_some(status)
    }

    #[track_caller]
    fn pid(&self) -> u64 {
        self.status().expect("it runs")["pid"].as_u64().expect("a number")
    }

    /// A daemon that is a child of this process, so that it can be killed.
    fn serve(&self) -> Child {
        std::fs::create_dir_all(self.home.path().join(r"local\upcheck\watch")).expect("a folder");
        let mut command = self.command(&Space::new(), "watch serve --idle 600");
        // Where it is, nothing can be removed.
        command.current_dir(self.home.path());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("upcheck starts");
        let mut said = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut said).expect("text");
        assert_eq!(said.trim_end(), "ready");
        child
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ =
            self.command(&Space::new(), "watch stop").stdout(Stdio::null()).stderr(Stdio::null()).status();
        let log = self.home.path().join(r"local\upcheck\watch\log");
        let log = std::fs::read_to_string(log).unwrap_or_default();
        if !std::thread::panicking() {
            assert!(!log.contains("panicked"), "the daemon panicked:\n{log}");
        }
    }
}

/// A command that goes on, and is killed with the value.
struct Followed(Child, Receiver<String>);

impl Followed {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let (sender, receiver) = channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self(child, receiver)
    }

    #[track_caller]
    fn line(&self) -> String {
        self.1.recv_timeout(DEADLINE).expect("a line")
    }

    /// Whether the next answer, in JSON, is that all is fresh.
    #[track_caller]
    fn is_fresh(&self) -> bool {
        let line = self.line();
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        answer["verdict"] == "fresh"
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An answer without the word about where it comes from; and whether that was there.
fn without_watched(text: &str) -> (String, bool) {
    (text.replacen(" (watched)\n", "\n", 1), text.contains(" (watched)\n"))
}

/// Answers are the same with and without a daemon.
#[track_caller]
fn is_the_same(user: &User, space: &Space, args: &str) -> Ran {
    let plain = user.run(space, &format!("check --no-watch {args}"));
    let mut by_daemon = user.run(space, &format!("check {args}"));
    by_daemon.stdout = without_watched(&by_daemon.stdout).0;
    assert_eq!(by_daemon, plain, "{args}");
    plain
}

/// Objects with a depfile, whose headers are in a directory, and what is made of them.
fn project() -> Space {
    let space = Space::new();
    let text = "rule cc\n  command = cat $in > $out && echo $out: src/h/common.h > $out.d\n  depfile = $out.d\n  deps = gcc\n\
                rule cat\n  command = cat $in > $out\n\
                build out/0.o: cc src/0.c\nbuild out/1.o: cc src/1.c\nbuild lib: cat out/0.o out/1.o\n\
                build lone: cat src/0.c\n";
    space.write("build.ninja", text);
    for path in ["src/0.c", "src/1.c", "src/h/common.h"] {
        space.write_at(path, path, T);
    }
    build(&space, Ninja::V1_13, &Question::default());
    space
}

#[test]
fn it_is_started_says_what_it_does_and_is_stopped() {
    let (user, space) = (User::new(), program());
    assert_eq!(user.run(&space, "watch status").answer(1), "upcheck watch does not run\n");
    assert_eq!(user.run(&space, "watch stop").answer(0), "upcheck watch does not run\n");
    let started = user.run(&space, "watch start").answer(0);
    let status = user.status().expect("it runs");
    assert_eq!(started, format!("upcheck watch runs, pid {}\n", status["pid"]));
    assert!(status["memory_bytes"].as_u64() > Some(0), "{status}");
    let again = user.run(&space, "watch start").answer(0);
    assert_eq!(again, format!("upcheck watch runs already, pid {}\n", status["pid"]));
    assert_eq!(user.run(&space, "watch stop").answer(0), "upcheck watch has ended\n");
    assert!(user.status().is_none());
}

#[test]
fn a_check_that_wants_one_starts_it_and_others_use_it_and_say_so() {
    let (user, space) = (User::new(), program());
    let plain = user.run(&space, "").answer(0);
    assert_eq!(user.run(&space, "check --no-watch").answer(0), plain);
    assert!(user.status().is_none(), "a check alone starts nothing");
    assert_eq!(user.run(&space, "check --watch").answer(0), plain);
    let pid = user.pid();
    for args in ["", "--watch", "check -C ."] {
        assert_eq!(without_watched(&user.run(&space, args).answer(0)), (plain.clone(), true), "{args}");
    }
    assert_eq!(user.run(&space, "-q").answer(0), "");
    assert_eq!(user.pid(), pid);
    // What it does not answer is answered without it, and who wants it is told.
    for args in ["check nothing", "check -C nothing"] {
        assert_eq!(user.run(&space, args), user.run(&space, &format!("{args} --no-watch")), "{args}");
    }
    let told = user.run(&space, "check --watch --no-image");
    assert!(told.stderr.starts_with("upcheck: warning: upcheck watch did not answer: "), "{}", told.stderr);
    let elsewhere =
        user.command(&space, "check --watch").env("TZ", "Asia/Tokyo").output().expect("it starts");
    let said = String::from_utf8_lossy(&elsewhere.stderr).into_owned();
    assert!(said.contains("it has another time zone"), "{said}");
}

#[test]
fn after_each_edit_the_answer_is_that_of_a_check_alone() {
    let (user, space) = (User::new(), project());
    user.run(&space, "watch start").answer(0);
    let path = |name: &str| space.path().join(name);
    let rename = |from: &str, to: &str| std::fs::rename(path(from), path(to)).expect("a rename");
    let write = |name: &str| space.write(name, "something else");
    let edits: [(&str, i32, &dyn Fn()); 11] = [
        ("nothing", 0, &|| {}),
        ("a source", 1, &|| write("src/1.c")),
        ("the same once more", 1, &|| write("src/1.c")),
        ("all is built", 0, &|| build(&space, Ninja::V1_13, &Question::default())),
        ("a header", 1, &|| write("src/h/common.h")),
        ("an older header", 0, &|| space.set_mtime("src/h/common.h", T)),
        ("a directory that is gone", 1, &|| rename("src/h", "elsewhere")),
        ("and is back", 0, &|| rename("elsewhere", "src/h")),
        ("an output that is gone", 1, &|| space.remove("out/0.o")),
        ("all is built again", 0, &|| build(&space, Ninja::V1_13, &Question::default())),
        ("another manifest", 1, &|| {
            let text = String::from_utf8(space.read("build.ninja")).expect("text");
            space.write("new.ninja", format!("{text}build more: cat src/new.c\n"));
            space.write("src/new.c", "new");
            rename("new.ninja", "build.ninja");
        }),
    ];
    for (what, status, edit) in edits {
        edit();
        let plain = is_the_same(&user, &space, "--explain");
        assert_eq!(plain.status, status, "{what}: {}", plain.stdout);
        is_the_same(&user, &space, "lone out/1.o");
        let verified = user.run(&space, "check --verify-watch");
        assert_eq!((verified.status, verified.stderr.as_str()), (status, ""), "{what}");
        assert!(verified.stdout.contains("verified)\n"), "{what}: {}", verified.stdout);
    }
    let status = user.status().expect("it runs");
    let known = &status["builds"][0];
    let count = |key: &str| known[key].as_u64().expect("a number");
    assert!(count("from_memory") > 0 && count("from_changes") > 0, "{status}");
    assert_eq!(
        (count("untouched"), &known["settled"]),
        (0, &false.into()),
        "nothing is vouched for: {status}"
    );
    assert_eq!(status["wrong"], 0, "{status}");
    assert!(status["verified"].as_u64() > Some(0), "{status}");
    // Nobody holds what was asked about.
    rename("src", "src2");
    std::fs::remove_dir_all(path("src2")).expect("nobody is in the way");
}

#[test]
fn whoever_waits_hears_of_another_answer() {
    let (user, space) = (User::new(), program());
    let follows = Followed::start(user.command(&space, "check --follow --format jsonl"));
    assert!(follows.is_fresh());
    let mut waits = user.command(&space, "watch wait");
    let mut waits = waits.stdout(Stdio::null()).spawn().expect("upcheck starts");
    while user.status().is_none_or(|status| status["waiting"] != 2) {
        std::thread::sleep(Duration::from_millis(50));
    }
    space.set_mtime("config.h", T + 90 * SECOND);
    assert!(!follows.is_fresh());
    assert_eq!(waits.wait().expect("it ends").code(), Some(1));
    space.set_mtime("config.h", T);
    assert!(follows.is_fresh());
}

/// Watched is the first directory below the root of the drive. Of what is deeper Wine tells where it was made meanwhile.
#[test]
fn whoever_waits_is_woken_by_what_the_system_tells() {
    let (user, space) = (User::new(), program());
    let root = tempfile::Builder::new().prefix("upcheck-").tempdir_in("C:\\").expect("a directory");
    let n_events = || user.status().expect("it runs")["watched"]["events"].as_u64().expect("a number");
    let until = |is_so: &dyn Fn() -> bool| {
        while !is_so() {
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let mut at = root.path().to_owned();
    let mut all = Vec::new();
    for n in 1..=3 {
        for entry in std::fs::read_dir(space.path()).expect("a directory").flatten() {
            // With their times.
            std::fs::copy(entry.path(), at.join(entry.file_name())).expect("a copy");
        }
        let mut command = user.command(&space, "check --follow --format jsonl");
        command.current_dir(&at);
        let follows = Followed::start(command);
        assert!(follows.is_fresh());
        until(&|| user.status().is_some_and(|status| status["waiting"] == n));
        let before = n_events();
        for name in ["config.h", "a.c"] {
            std::fs::write(at.join(name), "newer").expect("a file");
            assert!(!follows.is_fresh());
        }
        until(&|| n_events() > before);
        all.push(follows);
        let before = n_events();
        at.push("deeper");
        std::fs::create_dir(&at).expect("a directory");
        until(&|| n_events() > before);
    }
}

/// `tests/run-windows` compiles it, in C, with each form of the library.
#[test]
#[ignore = "tests/run-windows compiles what is started here"]
fn a_driver_in_c_hears_what_the_command_says() {
    let drivers = std::env::var("UPCHECK_WINDOWS_DRIVERS").expect("paths of programs");
    for driver in drivers.split(';') {
        let (user, space) = (User::new(), project());
        let asked = |targets: &[&str]| {
            let mut asks = Command::new(driver);
            user.be(&mut asks);
            let output = asks.arg(space.path()).args(targets).output().expect("the driver starts");
            let said = String::from_utf8(output.stdout).expect("text");
            assert!(output.status.success(), "{driver}: {said}{}", String::from_utf8_lossy(&output.stderr));
            said.trim_end().to_owned()
        };
        assert_eq!(asked(&[]), "0 it is not running");
        user.run(&space, "watch start").answer(0);
        assert_eq!(asked(&[]), "1");
        space.write("src/1.c", "newer");
        assert_eq!((asked(&[]), asked(&["lone"])), ("2".to_owned(), "1".to_owned()));
        assert!(asked(&["nobody"]).starts_with("0 "));
        user.run(&space, "watch stop").answer(0);
        assert_eq!(asked(&[]), "0 it is not running");
    }
}

#[test]
fn a_command_is_run_when_something_is_stale() {
    let (user, space) = (User::new(), changed_header());
    let mut command = user.command(&space, "watch --");
    command.args(["cmd", "/c", "echo run"]).stderr(Stdio::null());
    let runs = Followed::start(command);
    assert_eq!(runs.line(), "run");
    space.set_mtime("a.c", T + 95 * SECOND);
    assert_eq!(runs.line(), "run");
}

#[test]
fn of_many_that_are_started_at_once_one_stays() {
    let (user, space) = (User::new(), program());
    let start = |_| {
        let mut command = user.command(&space, "check --watch");
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("upcheck starts")
    };
    for mut child in (0..5).map(start).collect::<Vec<_>>() {
        assert!(child.wait().expect("it ends").success());
    }
    user.pid();
    // A second one would answer now.
    user.run(&space, "watch stop").answer(0);
    assert!(user.status().is_none());
}

#[test]
fn one_that_is_killed_is_replaced_also_for_those_who_wait() {
    let (user, space) = (User::new(), program());
    let mut daemon = user.serve();
    let first = user.pid();
    let follows = Followed::start(user.command(&space, "check --follow --format jsonl"));
    assert!(follows.is_fresh());
    while user.status().is_none_or(|status| status["waiting"] != 1) {
        std::thread::sleep(Duration::from_millis(50));
    }
    daemon.kill().expect("it runs");
    daemon.wait().expect("it ends");
    space.set_mtime("config.h", T + 90 * SECOND);
    assert!(!follows.is_fresh());
    drop(follows);
    user.run(&space, "check --watch");
    assert_ne!(user.pid(), first);
}

#[test]
fn it_ends_when_nobody_asks() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start --idle 1").answer(0);
    while user.status().is_some() {
        std::thread::sleep(Duration::from_millis(300));
    }
    let log = std::fs::read_to_string(user.home.path().join(r"local\upcheck\watch\log")).expect("a log");
    assert!(log.contains("ended: Idle"), "{log}");
}

#[test]
fn it_begins_anew_when_its_program_was_replaced() {
    let (user, space) = (User::with_own_program(), program());
    user.run(&space, "watch start").answer(0);
    let pid = user.pid();
    // What runs cannot be overwritten, but it can be renamed.
    std::fs::rename(&user.program, user.home.path().join("old.exe")).expect("a rename");
    std::fs::copy(tools::upcheck(), &user.program).expect("a copy");
    set_times(&user.program);
    let answer = user.run(&space, "check").answer(0);
    assert!(!without_watched(&answer).1, "{answer}");
    // It begins by itself.
    while user.status().is_none_or(|status| status["pid"] == pid) {
        std::thread::sleep(Duration::from_millis(50));
    }
    user.run(&space, "check").answer(0);
    assert!(without_watched(&user.run(&space, "check").answer(0)).1);
}

/// So that it is another file whatever the copy has kept.
fn set_times(path: &Path) {
    let file = std::fs::File::options().write(true).open(path).expect("a file");
    file.set_modified(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000))
        .expect("a time");
}
