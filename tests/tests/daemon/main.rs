//! `upcheck watch`: a daemon never changes an answer, whatever happens to it.
#![cfg(target_os = "linux")]

#[path = "../command/mod.rs"]
mod command;
mod command_runs;
mod disguise;
mod documents;
mod elsewhere;
mod follow;
mod followed;
mod full;
mod hung;
mod life;
mod noise;
mod open;
mod replaced;
mod same;
mod settled;
mod soak;
mod storm;
mod strangers;
mod suites;
mod vandal;
mod verified;

use command::{Ran, upcheck_in};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;
use upcheck_tests::space::Space;

/// A user of his own: with folders that are nobody else's, and a daemon in them that is gone with the value.
pub(crate) struct User {
    home: TempDir,
}

impl User {
    pub(crate) fn new() -> Self {
        let home = tempfile::Builder::new().prefix("upcheck-user-").tempdir().expect("a temporary directory");
        std::fs::create_dir(home.path().join("run")).expect("a directory");
        Self { home }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Where the daemon's folder is.
    pub(crate) fn folder(&self) -> PathBuf {
        self.home.path().join("run/upcheck")
    }

    /// The command in a build directory, as this user.
    pub(crate) fn command(&self, space: &Space) -> Command {
        let mut command = upcheck_in(space.path());
        self.be(&mut command);
        command
    }

    /// Makes a command one of this user's.
    pub(crate) fn be(&self, command: &mut Command) {
        command.env("XDG_RUNTIME_DIR", self.home().join("run"));
        command.env("UPCHECK_CACHE_DIR", self.home().join("images"));
    }

    /// Runs `upcheck` with arguments separated by spaces.
    #[track_caller]
    pub(crate) fn run(&self, space: &Space, args: &str) -> Ran {
        Ran::new(self.command(space).args(args.split_whitespace()).output().expect("upcheck starts"))
    }

    /// What the daemon says of itself; `None` while none runs.
    #[track_caller]
    pub(crate) fn status(&self) -> Option<Value> {
        let ran = self.run(&Space::new(), "watch status --format json");
        let status: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(status["running"], ran.status == 0, "{status}");
        (ran.status == 0).then_some(status)
    }

    /// The daemon's process.
    #[track_caller]
    pub(crate) fn pid(&self) -> u64 {
        self.status().expect("it runs")["pid"].as_u64().expect("a number")
    }

    /// Sends a signal to the daemon, and returns when it has arrived.
    #[track_caller]
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.pid();
        kill(signal, pid);
        while signal == "STOP" && state(pid) != Some('T') {
            std::thread::yield_now();
        }
        while signal == "KILL" && !matches!(state(pid), None | Some('Z')) {
            std::thread::yield_now();
        }
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let log = std::fs::read_to_string(self.folder().join("log")).unwrap_or_default();
        let mut stop = self.command(&Space::new());
        let _ = stop.args(["watch", "stop"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !std::thread::panicking() {
            assert!(!log.contains("panicked"), "the daemon panicked:\n{log}");
        }
    }
}

/// Sends a signal to a process.
#[track_caller]
pub(crate) fn kill(signal: &str, pid: u64) {
    let status = Command::new("kill").args(["-s", signal, &pid.to_string()]).status().expect("kill starts");
    assert!(status.success(), "kill -s {signal} {pid}");
}

/// What a process does; `None` where there is none.
fn state(pid: u64) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// An answer in text without the word about where it comes from; and whether that was there.
pub(crate) fn without_watched(text: &str) -> (String, bool) {
    (text.replacen(" (watched)\n", "\n", 1), text.contains(" (watched)\n"))
}

/// An answer in JSON without what may differ between two looks at the same: times, costs, and where it comes from.
pub(crate) fn without_costs(text: &str) -> Value {
    let mut report: Value = serde_json::from_str(text).expect("JSON");
    if let Some(summary) = report.get_mut("summary").and_then(Value::as_object_mut) {
        for key in
            ["directories", "stats", "image", "watched", "verified", "snapshot_began_ns", "snapshot_ended_ns"]
        {
            summary.remove(key);
        }
    }
    report
}
