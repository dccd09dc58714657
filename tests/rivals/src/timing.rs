//! Takes the times of commands, through the `measure` program, and says what they come to.

use crate::workshop::clean;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The `measure` program.
pub(crate) struct Measure {
    pub(crate) program: PathBuf,
}

/// What one run took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Taken {
    /// Milliseconds from before it was started until it had ended.
    pub(crate) wall: f64,
    /// Milliseconds of all processors, in its own code and in the kernel.
    pub(crate) cpu: f64,
    /// The most memory it had at once, KiB.
    pub(crate) memory: u64,
    pub(crate) status: i32,
}

/// What was taken of one contender.
#[derive(Clone, Default)]
pub(crate) struct Times {
    all: Vec<Taken>,
}

/// What they come to: milliseconds, and KiB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) wall_min: f64,
    pub(crate) wall: f64,
    pub(crate) cpu_min: f64,
    pub(crate) cpu: f64,
    pub(crate) memory: u64,
}

impl Measure {
    pub(crate) fn run(&self, dir: &Path, program: &Path, args: &[String]) -> Result<Taken, String> {
        let mut command = Command::new(&self.program);
        command.current_dir(dir).arg(program).args(args).stdin(Stdio::null());
        let output = clean(&mut command).output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        parse(&printed).ok_or_else(|| format!("measure printed {printed}"))
    }
}

fn parse(printed: &str) -> Option<Taken> {
    let mut fields = printed.split_ascii_whitespace();
    Some(Taken {
        wall: fields.next()?.parse::<f64>().ok()? / 1e6,
        cpu: fields.next()?.parse::<f64>().ok()? / 1e3,
        memory: fields.next()?.parse().ok()?,
        status: fields.next()?.parse().ok()?,
    })
}

impl Taken {
    /// One after the other.
    pub(crate) fn add(&mut self, next: &Self) {
        self.wall += next.wall;
        self.cpu += next.cpu;
        self.memory = self.memory.max(next.memory);
    }
}

impl Times {
    pub(crate) fn add(&mut self, taken: Taken) {
        self.all.push(taken);
    }

    pub(crate) fn figures(&self) -> Figures {
        let [(wall_min, wall), (cpu_min, cpu)] = [|t: &Taken| t.wall, |t: &Taken| t.cpu].map(|time| {
            let mut times: Vec<_> = self.all.iter().map(time).collect();
            times.sort_by(f64::total_cmp);
            let at = |position: usize| times.get(position).copied().unwrap_or(f64::NAN);
            (at(0), (at((times.len().max(1) - 1) / 2) + at(times.len() / 2)) / 2.0)
        });
        let memory = self.all.iter().map(|taken| taken.memory).max().unwrap_or(0);
        Figures { wall_min, wall, cpu_min, cpu, memory }
    }
}

impl Figures {
    /// What `factor` times as much work would take.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self {
            wall_min: self.wall_min * factor,
            wall: self.wall * factor,
            cpu_min: self.cpu_min * factor,
            cpu: self.cpu * factor,
            memory: self.memory,
        }
    }

    /// Least and median wall time, then of processor time.
    pub(crate) fn milliseconds(&self) -> [f64; 4] {
        [self.wall_min, self.wall, self.cpu_min, self.cpu]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_the_least_and_the_median() {
        let mut times = Times::default();
        for wall in [5.0, 1.0, 3.0, 9.0] {
            times.add(Taken { wall, cpu: wall * 2.0, memory: 7, status: 0 });
        }
        assert_eq!(times.figures().milliseconds(), [1.0, 4.0, 2.0, 8.0]);
        times.add(Taken { wall: 2.0, cpu: 2.0, memory: 8, status: 0 });
        assert_eq!(times.figures().milliseconds(), [1.0, 3.0, 2.0, 6.0]);
        assert_eq!(times.figures().memory, 8);
    }

    #[test]
    fn what_measure_prints_is_understood() {
        let taken = parse("1500000 2500 300 1\n");
        assert_eq!(taken, Some(Taken { wall: 1.5, cpu: 2.5, memory: 300, status: 1 }));
        assert_eq!(parse("1 2 3\n"), None);
    }
}
