//! A command that is timed: what it is, what has to be done before each run, and which answer it must give.

use crate::timing::{Measure, Taken};
use crate::tree::{CHANGED, TOUCHED, set_mtime};
use crate::workshop::clean;
use std::borrow::Cow;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// What stands in an answer that comes from a daemon's memory.
const WATCHED: &str = "(watched)";
/// What a daemon says of the one build that it watches here, once it vouches for all of its files.
const SETTLED: &str = r#""settled":true"#;
/// How often that is waited for.
const MOST_WAITS: usize = 6000;

/// One row of a table.
#[derive(Clone)]
pub(crate) struct Contender {
    pub(crate) name: String,
    dir: PathBuf,
    program: PathBuf,
    /// One list of arguments, or several: commands that are run one after another and count as one run.
    commands: Vec<Vec<String>>,
    before: Before,
    expected: Expected,
    /// Its commands are a sample of so many, which are to be extrapolated in a row of this name.
    pub(crate) extrapolated: Option<(String, usize)>,
}

/// What is done before each run, outside the time.
#[derive(Clone, Default)]
pub(crate) enum Before {
    /// Nothing: all is as the run before left it.
    #[default]
    Nothing,
    /// These sources become newer than what was built. After the run they are as old as before.
    Touch(Vec<PathBuf>),
    /// This contender runs, and then the sources become newer: what is remembered is of before that.
    RunThenTouch(Box<Contender>, Vec<PathBuf>),
    /// This contender, which asks a daemon, runs until the daemon knows the answer and vouches for it.
    Settle(Box<Contender>),
    /// This contender runs, whatever comes of it.
    Run(Box<Contender>),
    /// This folder is emptied.
    Empty(PathBuf),
    /// The kernel forgets the files it has read and the names it has looked up.
    ColdCaches,
}

/// The answer that a contender must give, or the figures would be of something else.
#[derive(Clone)]
pub(crate) enum Expected {
    /// Success, and output that begins like this.
    Begins(Cow<'static, str>),
    /// This exit status, and no output.
    Silent(i32),
}

impl Contender {
    pub(crate) fn new(name: &str, dir: &Path, program: &Path, args: &[&str], expected: Expected) -> Self {
        Self {
            name: name.into(),
            dir: dir.into(),
            program: program.into(),
            commands: vec![args.iter().map(ToString::to_string).collect()],
            before: Before::Nothing,
            expected,
            extrapolated: None,
        }
    }

    pub(crate) fn named(self, name: &str) -> Self {
        Self { name: name.into(), ..self }
    }

    pub(crate) fn before(self, before: Before) -> Self {
        Self { before, ..self }
    }

    pub(crate) fn expecting(self, expected: Expected) -> Self {
        Self { expected, ..self }
    }

    /// With these at the end of its arguments.
    pub(crate) fn with(mut self, args: &[&str]) -> Self {
        self.commands[0].extend(args.iter().map(ToString::to_string));
        self
    }

    /// One command for each of these, at the end of its arguments.
    pub(crate) fn for_each(mut self, args: &[&str]) -> Self {
        let command = &self.commands[0];
        self.commands = args.iter().map(|arg| [&command[..], &[arg.to_string()]].concat()).collect();
        self
    }

    /// With a second row for what as many commands as this would take.
    pub(crate) fn extrapolated(self, name: &str, n_commands: usize) -> Self {
        Self { extrapolated: Some((name.into(), n_commands)), ..self }
    }

    pub(crate) fn n_commands(&self) -> usize {
        self.commands.len()
    }

    /// Runs it once and looks at its answers.
    pub(crate) fn check(&self) -> Result<(), String> {
        let _guard = self.prepare()?;
        for command in &self.commands {
            let output = self.output(command)?;
            let answer = String::from_utf8_lossy(&output.stdout);
            let right = match &self.expected {
                Expected::Begins(beginning) => output.status.success() && answer.starts_with(&**beginning),
                Expected::Silent(status) => output.status.code() == Some(*status) && answer.is_empty(),
            };
            if !right {
                let start: Vec<_> = answer.lines().take(20).collect();
                let errors = String::from_utf8_lossy(&output.stderr);
                let (name, status, start) = (&self.name, output.status, start.join("\n"));
                return Err(format!("{name} has another answer, {status}:\n{start}\n{errors}"));
            }
        }
        Ok(())
    }

    /// Runs it once, and prints what its first command prints.
    pub(crate) fn answer(&self) -> Result<String, String> {
        let _guard = self.prepare()?;
        let output = self.output(&self.commands[0])?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs it until its answer is one that a daemon has remembered, and waits until the daemon vouches for all that it is made
    /// of.
    fn settle(&self) -> Result<(), String> {
        let is_settled = || {
            let status = self.output(&["watch".into(), "status".into(), "--format".into(), "json".into()])?;
            Ok::<_, String>(String::from_utf8_lossy(&status.stdout).contains(SETTLED))
        };
        for _ in 0..MOST_WAITS {
            if self.answer()?.contains(WATCHED) && is_settled()? {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(format!("{}: no daemon vouches for the answer", self.name))
    }

    /// Runs it once. What it took.
    pub(crate) fn time(&self, measure: &Measure) -> Result<Taken, String> {
        let _guard = self.prepare()?;
        let mut all = Taken::default();
        let expected = match self.expected {
            Expected::Begins(_) => 0,
            Expected::Silent(status) => status,
        };
        for command in &self.commands {
            let taken = measure
                .run(&self.dir, &self.program, command)
                .map_err(|error| format!("{}: {error}", self.name))?;
            if taken.status != expected {
                return Err(format!("{}: exit status {}, not {expected}", self.name, taken.status));
            }
            all.add(&taken);
        }
        Ok(all)
    }

    fn output(&self, command: &[String]) -> Result<Output, String> {
        let mut process = Command::new(&self.program);
        process.current_dir(&self.dir).args(command).stdin(Stdio::null());
        clean(&mut process).output().map_err(|error| format!("{}: {error}", self.name))
    }

    fn prepare(&self) -> Result<Option<Touched>, String> {
        self.before.prepare().map_err(|error| format!("{}: before it runs: {error}", self.name))
    }
}

impl Before {
    fn prepare(&self) -> io::Result<Option<Touched>> {
        match self {
            Self::Nothing => {}
            Self::Touch(paths) => {
                let touched = Touched(paths.clone());
                for path in paths {
                    set_mtime(&File::options().append(true).open(path)?, TOUCHED)?;
                }
                return Ok(Some(touched));
            }
            Self::RunThenTouch(contender, paths) => {
                contender.check().map_err(io::Error::other)?;
                return Self::Touch(paths.clone()).prepare();
            }
            Self::Settle(contender) => contender.settle().map_err(io::Error::other)?,
            Self::Run(contender) => drop(contender.answer().map_err(io::Error::other)?),
            Self::Empty(folder) => {
                if folder.exists() {
                    fs::remove_dir_all(folder)?;
                }
                fs::create_dir_all(folder)?;
            }
            Self::ColdCaches => {
                // Only what is on the disk can be forgotten.
                rustix::fs::sync();
                fs::write(DROP_CACHES, "3")?;
            }
        }
        Ok(None)
    }
}

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Whether the caches can be made cold: if not, why.
pub(crate) fn can_drop_caches() -> Result<(), String> {
    let opened = File::options().write(true).open(DROP_CACHES);
    opened.map(drop).map_err(|error| format!("{DROP_CACHES}: {error}"))
}

/// Makes a source as old as it was generated.
pub(crate) fn untouch(path: &Path) -> io::Result<()> {
    set_mtime(&File::options().append(true).open(path)?, CHANGED)
}

/// Sources that are newer than what was built, until this goes away.
struct Touched(Vec<PathBuf>);

impl Drop for Touched {
    fn drop(&mut self) {
        for path in &self.0 {
            // The next run of this program does it again.
            let _ = untouch(path);
        }
    }
}
