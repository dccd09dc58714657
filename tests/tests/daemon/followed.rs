//! A command that goes on, and what it prints line by line.

use crate::{User, kill};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use upcheck_tests::space::Space;

/// What takes longer than this has gone wrong; what goes right takes a small part of it.
const DEADLINE: Duration = Duration::from_secs(120);

/// One that runs, and is killed with the value.
pub(crate) struct Followed {
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
    /// All lines that were taken from standard output and standard error.
    pub(crate) lines: Vec<String>,
    pub(crate) said: Vec<String>,
}

impl Followed {
    /// Starts `upcheck` with arguments separated by spaces.
    pub(crate) fn start(user: &User, space: &Space, args: &str) -> Self {
        let mut command = user.command(space);
        command.args(args.split_whitespace());
        Self::spawn(&mut command)
    }

    /// Starts a command.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let stdout = lines_of(child.stdout.take().expect("a pipe"));
        let stderr = lines_of(child.stderr.take().expect("a pipe"));
        Self { child, stdout, stderr, lines: Vec::new(), said: Vec::new() }
    }

    pub(crate) fn pid(&self) -> u64 {
        self.child.id().into()
    }

    /// The next line that it prints.
    #[track_caller]
    pub(crate) fn line(&mut self) -> String {
        let line = next(&self.stdout, || {
            format!("{:?}, {:?}", self.lines, self.stderr.try_iter().collect::<Vec<_>>())
        });
        self.lines.push(line.clone());
        line
    }

    /// Takes what it says on standard error until there are words in it. The line.
    #[track_caller]
    pub(crate) fn says(&mut self, words: &str) -> String {
        loop {
            let line = next(&self.stderr, || format!("waiting for {words:?} after {:?}", self.said));
            self.said.push(line.clone());
            if line.contains(words) {
                return line;
            }
        }
    }

    /// The next line that it says on standard error.
    #[track_caller]
    pub(crate) fn line_said(&mut self) -> String {
        self.says("")
    }

    /// What it has said on standard error so far.
    pub(crate) fn said_so_far(&mut self) -> &[String] {
        self.said.extend(self.stderr.try_iter());
        &self.said
    }

    /// Takes answers until the last one is the wanted one. No answer comes twice in a row.
    #[track_caller]
    pub(crate) fn settles_at(&mut self, wanted: &Value) {
        loop {
            let last = self.lines.last().map(|line| answer(line));
            if last.as_ref() == Some(wanted) {
                return;
            }
            let now = self.stdout.recv_timeout(DEADLINE);
            let now = now.unwrap_or_else(|why| {
                let said: Vec<_> = self.stderr.try_iter().collect();
                panic!("{why}: not\n{wanted}\nbut {last:?}\nafter {} answers; {said:?}", self.lines.len())
            });
            assert_ne!(last, Some(answer(&now)), "an answer that was no news");
            self.lines.push(now);
        }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: &str) {
        kill(signal, self.pid());
    }

    /// Waits until it has ended. The exit status, and what was left to be read from both streams.
    #[track_caller]
    pub(crate) fn ends(mut self) -> (Option<i32>, Vec<String>, Vec<String>) {
        let status = self.child.wait().expect("it ends");
        // They end with it.
        let rest = |lines: &Receiver<String>| lines.iter().collect();
        (status.code(), rest(&self.stdout), rest(&self.stderr))
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer in one line, without what it cost.
#[track_caller]
pub(crate) fn answer(line: &str) -> Value {
    let mut answer = crate::without_costs(line);
    if let Some(summary) = answer.get_mut("summary").and_then(Value::as_object_mut) {
        summary.remove("files");
    }
    answer
}

/// The answer of a check that looks at everything.
#[track_caller]
pub(crate) fn checked(user: &User, space: &Space, targets: &str) -> Value {
    answer(&user.run(space, &format!("check --no-watch --format json {targets}")).stdout)
}

fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

#[track_caller]
fn next(lines: &Receiver<String>, context: impl Fn() -> String) -> String {
    match lines.recv_timeout(DEADLINE) {
        Ok(line) => line,
        Err(RecvTimeoutError::Timeout) => panic!("nothing came: {}", context()),
        Err(RecvTimeoutError::Disconnected) => panic!("it has ended: {}", context()),
    }
}
