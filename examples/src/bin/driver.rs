//! For authors of build drivers: a small one that builds only what is stale, whoever killed it the last time, and
//! whoever else builds in the same directory.
//!
//! It builds 500 files in a directory, each of which is two sources and perhaps another such file, one after the other. The
//! description stands below; a real driver would read it from somewhere.
//!
//! ```text
//! cargo run --package upcheck-examples --bin driver -- DIRECTORY       # builds
//! cargo run --package upcheck-examples --bin driver -- DIRECTORY -n    # says what it would build, and why
//! ```
//!
//! The order of business for each target is
//!
//! ```text
//! lock     so that no other driver builds it at the same time
//! check    what another driver has built before it was locked is fresh
//! begin    how the inputs are is looked at before any of them is read
//! ...      its command runs
//! commit   the outputs go on record, and the inputs are looked at again
//! ```
//!
//! If the driver is killed between begin and commit, the targets are on record as interrupted, and stale.
#![expect(clippy::print_stdout, reason = "a command prints")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use upcheck::collect::{OsDisk, os_disk};
use upcheck::project::{Checked, Description, Options};
use upcheck::records::{Records, TargetLock, lock_target};
use upcheck::{Project, Reason, StaleTarget, TargetId};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(arguments.next().ok_or("which directory?")?);
    let is_dry = arguments.next().is_some_and(|argument| argument == "-n");
    let mut driver = Driver::new(&directory)?;
    if is_dry {
        return driver.explain();
    }
    make_sources(&directory)?;
    // What is stale because something before it is stale comes in a later round: perhaps that comes out as it was.
    loop {
        let ready = driver.ready(&[])?;
        if ready.is_empty() {
            return Ok(());
        }
        // What was built is recorded a few targets at a time: that costs less than one at a time, and a driver that is
        // killed loses only the last few.
        for some in ready.chunks(16) {
            driver.build(some)?;
        }
    }
}

/// All that a driver holds on to.
struct Driver {
    directory: PathBuf,
    store: PathBuf,
    disk: OsDisk,
    project: Project,
    records: Records,
}

impl Driver {
    fn new(directory: &Path) -> Outcome<Self> {
        let store = directory.join(".upcheck");
        Ok(Self {
            directory: directory.to_owned(),
            disk: os_disk(directory)?,
            project: describe()?,
            records: Records::open(&store)?,
            store,
        })
    }

    /// Asks about some targets, or about all.
    fn check(&mut self, targets: &[TargetId]) -> Outcome<Checked> {
        // What other drivers have recorded counts.
        self.records.refresh()?;
        let mut files: Vec<_> =
            targets.iter().map(|&target| self.project.graph().outputs(target)[0]).collect();
        if targets.is_empty() {
            files = self.project.default_requests();
        }
        Ok(self.project.check(&self.disk, Some(&self.records), &files, Options::default())?)
    }

    /// The stale ones among some targets, or among all, that need not wait for others.
    fn ready(&mut self, targets: &[TargetId]) -> Outcome<Vec<TargetId>> {
        let checked = self.check(targets)?;
        let waits = |stale: &StaleTarget| stale.reasons.iter().any(|reason| reason.upstream().is_some());
        let ready = checked.report.stale.iter().filter(|stale| !waits(stale)).map(|stale| stale.target);
        Ok(ready.filter(|target| targets.is_empty() || targets.contains(target)).collect())
    }

    fn build(&mut self, targets: &[TargetId]) -> Outcome<()> {
        let (locks, targets) = self.lock(targets)?;
        if targets.is_empty() {
            return Ok(());
        }
        let targets = self.ready(&targets)?;
        let begun = self.project.begin(&self.disk, &mut self.records, &targets, Options::default())?;
        for &target in &targets {
            self.run(target)?;
        }
        // A target one of whose inputs was edited meanwhile is stale again, and built in the next round.
        self.project.commit(&self.disk, &mut self.records, begun, Options::default())?;
        drop(locks);
        Ok(())
    }

    /// Locks targets, but not those that another driver is building. If these are all, waits for one of them.
    fn lock(&self, targets: &[TargetId]) -> Outcome<(Vec<TargetLock>, Vec<TargetId>)> {
        let lock = |target: TargetId, wait| lock_target(&self.store, self.project.graph().name(target), wait);
        let (mut locks, mut locked) = (Vec::new(), Vec::new());
        for &target in targets {
            if let Some(lock) = lock(target, false)? {
                locks.push(lock);
                locked.push(target);
            }
        }
        if let ([], Some(&first)) = (&locked[..], targets.first()) {
            lock(first, true)?;
        }
        Ok((locks, locked))
    }

    /// What would be a command: writes the inputs to the output, one after the other.
    fn run(&self, target: TargetId) -> Outcome<()> {
        let graph = self.project.graph();
        let path =
            |file| Ok::<_, Box<dyn Error>>(self.directory.join(str::from_utf8(graph.files.path(file))?));
        let mut content = Vec::new();
        for &input in graph.dirtying_inputs(target) {
            content.extend(fs::read(path(input)?)?);
        }
        let output = path(graph.outputs(target)[0])?;
        fs::create_dir_all(output.parent().ok_or("an output is in a directory")?)?;
        fs::write(output, content)?;
        println!("{}", str::from_utf8(graph.name(target))?);
        Ok(())
    }

    /// Says what is stale, and why.
    fn explain(&mut self) -> Outcome<()> {
        let checked = self.check(&[])?;
        let graph = self.project.graph();
        for stale in &checked.report.stale {
            let reason = |reason: &Reason| {
                format!("{} {}", reason.code(), String::from_utf8_lossy(graph.files.path(reason.path())))
            };
            let reasons: Vec<String> = stale.reasons.iter().map(reason).collect();
            println!("{}: {}", str::from_utf8(graph.name(stale.target))?, reasons.join(", "));
        }
        Ok(())
    }
}

const SOURCES: usize = 60;
/// Targets stand in layers of so many, each of which may use the one before it.
const LAYER: usize = 100;
const TARGETS: usize = 500;

fn describe() -> Outcome<Project> {
    let mut project = Project::new();
    for target in 0..TARGETS {
        let mut names = vec![source(target % SOURCES), source((target * 7 + 3) % SOURCES)];
        if target >= LAYER && target % 5 != 0 {
            names.push(output(target / LAYER * LAYER - LAYER + target * 13 % LAYER));
        }
        let inputs: Vec<_> =
            names.iter().map(|name| project.file(name.as_bytes())).collect::<Result<_, _>>()?;
        let outputs = [project.file(output(target).as_bytes())?];
        // Another list of inputs is another command, and makes the target stale.
        let command = format!("cat {}", names.join(" "));
        project.add(&Description {
            outputs: &outputs,
            explicit: &inputs,
            command: command.as_bytes(),
            ..Description::default()
        })?;
    }
    Ok(project)
}

fn source(number: usize) -> String {
    format!("sources/{number}")
}

fn output(number: usize) -> String {
    format!("built/{number}")
}

/// So that there is something to build.
fn make_sources(directory: &Path) -> Outcome<()> {
    fs::create_dir_all(directory.join("sources"))?;
    for number in 0..SOURCES {
        let path = directory.join(source(number));
        if !path.exists() {
            fs::write(path, format!("{number}\n"))?;
        }
    }
    Ok(())
}
