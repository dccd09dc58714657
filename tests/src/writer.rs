//! A process that writes to files in unusual ways: through mappings, asynchronously, by handles, or to files without names.

use crate::space::Space;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::LazyLock;

/// A process that writes.
pub struct Writer {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Writer {
    /// One that has nothing open.
    ///
    /// # Panics
    /// Without a C compiler.
    #[must_use]
    pub fn new() -> Self {
        static PROGRAM: LazyLock<(PathBuf, Space)> = LazyLock::new(|| {
            let space = Space::new();
            let program = space.path().join("writer");
            let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/writer.c");
            let status = Command::new("cc").args(["-Wall", source, "-o"]).arg(&program).status();
            assert!(status.expect("cc starts").success(), "the writer does not compile");
            (program, space)
        });
        let mut command = Command::new(&PROGRAM.0);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the writer");
        let orders = process.stdin.take().expect("a pipe");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        Self { process, orders, answers }
    }

    /// Gives an order, and waits until it was obeyed.
    ///
    /// # Errors
    /// What the system says.
    ///
    /// # Panics
    /// When the process has ended.
    pub fn try_to(&mut self, order: &str) -> Result<(), String> {
        writeln!(self.orders, "{order}").expect("a pipe");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("a pipe");
        if answer == "ok\n" { Ok(()) } else { Err(answer.trim_end().to_owned()) }
    }

    /// Gives an order that has to be obeyed.
    ///
    /// # Panics
    /// When it is not.
    #[track_caller]
    pub fn to(&mut self, order: &str) {
        self.try_to(order).unwrap_or_else(|error| panic!("{order}: {error}"));
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}
