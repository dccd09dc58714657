//! A driver in C that asks the daemon: its answers are those of the command, and whatever is wrong with the daemon is no
//! answer and nothing worse.

use crate::c::{Link, program, run, sources, text};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use upcheck_tests::answer::{Question, build};
use upcheck_tests::space::Space;
use upcheck_tests::tools::{Ninja, upcheck};

/// A user with folders of his own, whose daemon ends with the value.
struct User {
    home: TempDir,
    asks: PathBuf,
}

impl User {
    fn new() -> Self {
        let home = TempDir::new().expect("a folder");
        let asks = program(&sources().join("ask.c"), &["-O1"], Link::Shared, home.path());
        Self { home, asks }
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env("XDG_RUNTIME_DIR", self.home.path())
            .env("UPCHECK_CACHE_DIR", self.home.path().join("images"));
        command
    }

    fn watch(&self, what: &str) {
        let output = run(self.command(upcheck()).args(["watch", what]));
        assert!(output.status.success(), "{}", text(&output));
    }

    /// What the driver is told about a directory.
    #[track_caller]
    fn asked(&self, directory: &Path, targets: &[&str]) -> String {
        let output = run(self.command(&self.asks).arg(directory).args(targets));
        assert!(output.status.success(), "{}: {}", output.status, text(&output));
        text(&output).trim_end().to_owned()
    }

    /// Puts somebody in the daemon's place.
    fn listen(&self) -> UnixListener {
        let folder = self.home.path().join("upcheck");
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).expect("permissions");
        UnixListener::bind(folder.join("socket")).expect("a socket")
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = self.command(upcheck()).args(["watch", "stop"]).output();
    }
}

fn project() -> Space {
    let space = Space::new();
    space.write("in", "1");
    space.write(
        "build.ninja",
        "rule cp\n  command = cp $in $out\nbuild mid: cp in\nbuild out: cp mid\nbuild other: cp in\n",
    );
    space
}

#[test]
fn the_daemon_says_to_a_driver_what_the_command_says() {
    let (user, space) = (User::new(), project());
    assert_eq!(user.asked(space.path(), &[]), "0 it is not running");
    user.watch("start");
    assert_eq!(user.asked(space.path(), &[]), "2");
    build(&space, Ninja::V1_13, &Question::default());
    assert_eq!(user.asked(space.path(), &[]), "1");
    space.write_last("mid", "2");
    assert_eq!(user.asked(space.path(), &[]), "2");
    assert_eq!(user.asked(space.path(), &["other"]), "1");
    assert_eq!(user.asked(space.path(), &["other", "out"]), "2");
    // What the command answers with trouble, the daemon does not answer.
    assert!(user.asked(space.path(), &["nobody"]).starts_with("0 "));
    assert!(user.asked(Path::new("/nowhere/at/all"), &[]).starts_with("0 "));
    space.write("build.ninja", "build out cp");
    assert!(user.asked(space.path(), &[]).starts_with("0 "));
    user.watch("stop");
    assert_eq!(user.asked(space.path(), &[]), "0 it is not running");
}

/// The driver's signals come more often than it has patience.
#[test]
fn a_daemon_that_hangs_is_no_answer_also_where_signals_come() {
    let (user, space) = (User::new(), project());
    user.watch("start");
    let status = run(user.command(upcheck()).args(["watch", "status", "--format", "json"]));
    let pid: String = text(&status)
        .split_once("\"pid\":")
        .expect("a number")
        .1
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let signal = |name: &str| assert!(run(Command::new("kill").args(["-s", name, &pid])).status.success());
    signal("STOP");
    let asked = user.asked(space.path(), &[]);
    signal("CONT");
    assert_eq!(asked, "0 it does not answer");
}

#[test]
fn a_driver_that_sees_another_world_gets_no_answer() {
    let (user, space) = (User::new(), project());
    user.watch("start");
    let output = run(user.command(&user.asks).arg(space.path()).env("TZ", "Asia/Kathmandu"));
    assert_eq!(text(&output).trim_end(), "0 it has another time zone");
}

/// Programs in C are not asked whether they want a signal when a connection ends.
#[test]
fn a_daemon_that_hangs_up_or_talks_nonsense_is_no_answer_and_no_signal() {
    let (user, space) = (User::new(), project());
    let listener = user.listen();
    let talk = std::thread::spawn(move || {
        // Two questions each: hung up on at once, after reading, and answered with nonsense.
        for round in 0..6 {
            let Ok((mut stream, _)) = listener.accept() else { return };
            if round >= 2 {
                let _ = stream.read(&mut [0; 1 << 16]);
            }
            if round >= 4 {
                let _ = std::io::Write::write_all(&mut stream, &[b'x'; 100]);
            }
        }
    });
    for _ in 0..3 {
        assert!(user.asked(space.path(), &[]).starts_with("0 "));
    }
    talk.join().expect("it has talked");
}
