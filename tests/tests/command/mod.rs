//! Runs the real `upcheck` command. Shared by the suites about it.

#![allow(dead_code, reason = "each suite uses its own part")]

pub(crate) mod spaces;

use serde_json::Value;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use upcheck_ninja::NinjaVersion;
use upcheck_tests::space::Space;
use upcheck_tests::tools;
use upcheck_tests::words;

/// How a run of the command ended, and what it printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Takes what a finished command left. Whatever it was asked, it must neither panic nor be killed.
    #[track_caller]
    pub(crate) fn new(output: std::process::Output) -> Self {
        let text = |bytes: Vec<u8>| words::as_on_unix(String::from_utf8(bytes).expect("output in UTF-8"));
        let ran = Self {
            status: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        ran.is_orderly();
        ran
    }

    #[track_caller]
    fn is_orderly(&self) {
        assert!((0..=2).contains(&self.status), "ended with {}:\n{}", self.status, self.stderr);
        assert!(!self.stderr.contains("panicked"), "panicked:\n{}", self.stderr);
        // A warning may tell of somebody else's error.
        let is_error = |line: &str| !line.starts_with("upcheck: warning:") && line.contains("error:");
        let says_error = self.stderr.lines().any(is_error);
        assert_eq!(self.status == 2, says_error, "error and status: {self:?}");
    }

    /// Checks that there was an answer, fresh (0) or stale (1), and nothing else to say. The answer.
    #[track_caller]
    pub(crate) fn answer(self, status: i32) -> String {
        assert_eq!((self.status, self.stderr.as_str()), (status, ""), "answer: {}", self.stdout);
        self.stdout
    }

    /// Checks that there was trouble and no answer. The trouble.
    #[track_caller]
    pub(crate) fn trouble(self) -> String {
        assert_eq!((self.status, self.stdout.as_str()), (2, ""), "trouble: {}", self.stderr);
        self.stderr
    }

    /// The same for one that was asked for JSON, and says what is the matter on standard output too.
    #[track_caller]
    pub(crate) fn trouble_in_json(self) -> String {
        assert_eq!(self.status, 2, "trouble: {}", self.stderr);
        let document: Value = serde_json::from_str(&self.stdout).expect("one object");
        assert_eq!(document.get("verdict"), None, "no answer");
        let message = document["errors"][0]["message"].as_str().expect("a message");
        assert_eq!(self.stderr, format!("upcheck: error: {message}\n"));
        self.stderr
    }
}

/// The command, in a directory, with an environment of which the output does not depend, and where no image can be kept.
pub(crate) fn upcheck_in(directory: &Path) -> Command {
    let mut command = Command::new(tools::upcheck());
    command.current_dir(directory).env("TZ", "UTC").env("LC_ALL", "C");
    for home in ["HOME", "LOCALAPPDATA"] {
        command.env(home, if cfg!(windows) { "NUL" } else { "/dev/null" });
    }
    let unwanted = ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "RUST_BACKTRACE"];
    for name in unwanted.into_iter().chain(["XDG_CACHE_HOME", "UPCHECK_CACHE_DIR"]) {
        command.env_remove(name);
    }
    command
}

/// Runs `upcheck ARGS` in a build directory, with the image that an earlier run there has left.
#[track_caller]
pub(crate) fn upcheck(space: &Space, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ran {
    let mut command = upcheck_in(space.path());
    command.env("UPCHECK_CACHE_DIR", space.images());
    Ran::new(command.args(args).output().expect("upcheck starts"))
}

/// Runs `upcheck` with arguments separated by spaces.
#[track_caller]
pub(crate) fn run(space: &Space, args: &str) -> Ran {
    upcheck(space, args.split_whitespace())
}

/// A time as ninja's logs have it, from nanoseconds since 1970: on Windows they count in 100 of them, and from about 2001.
pub(crate) fn log_time(mtime: i64) -> i64 {
    if cfg!(windows) { (mtime - 978_296_800_000_000_000) / 100 } else { mtime }
}

/// The text of a build log of version 7: output, recorded time and command of each entry.
pub(crate) fn build_log(entries: &[(&str, i64, &str)]) -> String {
    let mut log = "# ninja log v7\n".to_owned();
    for (output, mtime, command) in entries {
        let hash = NinjaVersion::V1_13.hash_command(command.as_bytes());
        let mtime = log_time(*mtime);
        writeln!(log, "0\t1\t{mtime}\t{output}\t{hash:x}").expect("a string");
    }
    log
}

/// The bytes of a deps log of version 4: output, recorded time and discovered inputs of each entry.
pub(crate) fn deps_log(entries: &[(&str, i64, &[&str])]) -> Vec<u8> {
    let mut log = b"# ninjadeps\n\x04\0\0\0".to_vec();
    let mut paths: Vec<String> = Vec::new();
    for (output, mtime, inputs) in entries {
        let mut numbers = Vec::new();
        for path in std::iter::once(output).chain(*inputs) {
            let known = paths.iter().position(|known| known == path);
            let number = known.unwrap_or_else(|| {
                let padded = path.len().next_multiple_of(4);
                log.extend(u32::try_from(padded + 4).expect("a short path").to_le_bytes());
                log.extend(path.bytes());
                log.extend(std::iter::repeat_n(0, padded - path.len()));
                log.extend((!u32::try_from(paths.len()).expect("few paths")).to_le_bytes());
                paths.push((*path).to_owned());
                paths.len() - 1
            });
            numbers.push(u32::try_from(number).expect("few paths"));
        }
        let size = 4 * (2 + u32::try_from(numbers.len()).expect("few paths"));
        log.extend((size | 1 << 31).to_le_bytes());
        log.extend(numbers[0].to_le_bytes());
        log.extend(log_time(*mtime).to_le_bytes());
        log.extend(numbers[1..].iter().flat_map(|number| number.to_le_bytes()));
    }
    log
}
