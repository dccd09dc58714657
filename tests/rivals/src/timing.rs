//! Runs contenders and takes their times.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A command that is timed.
pub(crate) struct Contender {
    pub(crate) name: String,
    program: PathBuf,
    args: Vec<String>,
    /// How its output has to begin; empty for one whose exit status has to do.
    expected: &'static str,
}

impl Contender {
    pub(crate) fn new(name: &str, program: PathBuf, args: &[&str]) -> Self {
        let args = args.iter().map(ToString::to_string).collect();
        Self { name: name.into(), program, args, expected: "" }
    }

    /// The answer that the generated build must get.
    pub(crate) fn expecting(self, expected: &'static str) -> Self {
        Self { expected, ..self }
    }

    fn command(&self, dir: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(dir).args(&self.args).stdin(Stdio::null());
        command
    }

    /// Runs it once and looks at its answer.
    pub(crate) fn check(&self, dir: &Path) -> Result<(), String> {
        let output = self.command(dir).output().map_err(|error| format!("{}: {error}", self.name))?;
        let answer = String::from_utf8_lossy(&output.stdout);
        if output.status.success() && answer.starts_with(self.expected) {
            return Ok(());
        }
        let start: String = answer.lines().take(20).collect::<Vec<_>>().join("\n");
        let errors = String::from_utf8_lossy(&output.stderr);
        Err(format!("{} has another answer, {}:\n{start}\n{errors}", self.name, output.status))
    }

    /// Runs it once. Milliseconds until it ended, and of processor time that it took.
    pub(crate) fn time(&self, dir: &Path) -> Result<(f64, f64), String> {
        let mut command = self.command(dir);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let cpu_before = cpu_of_children();
        let start = Instant::now();
        let status = command.status().map_err(|error| format!("{}: {error}", self.name))?;
        let wall = start.elapsed().as_secs_f64() * 1e3;
        if !status.success() {
            return Err(format!("{}: {status}", self.name));
        }
        Ok((wall, cpu_of_children() - cpu_before))
    }
}

/// Milliseconds that the children which have ended took of all processors, in their own code and in the kernel.
fn cpu_of_children() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("this kind of usage is known");
    let milliseconds =
        |time: TimeVal| std::time::Duration::from_micros(time.num_microseconds().unsigned_abs());
    (milliseconds(usage.user_time()) + milliseconds(usage.system_time())).as_secs_f64() * 1e3
}

/// What was taken of one contender.
#[derive(Clone, Default)]
pub(crate) struct Times {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Times {
    pub(crate) fn add(&mut self, (wall, cpu): (f64, f64)) {
        self.wall.push(wall);
        self.cpu.push(cpu);
    }

    /// Least and median wall time, then of processor time.
    pub(crate) fn figures(&self) -> [f64; 4] {
        let [(wall_min, wall), (cpu_min, cpu)] = [&self.wall, &self.cpu].map(|times| {
            let mut times = times.clone();
            times.sort_by(f64::total_cmp);
            let at = |position: usize| times.get(position).copied().unwrap_or(f64::NAN);
            (at(0), at(times.len() / 2))
        });
        [wall_min, wall, cpu_min, cpu]
    }
}
