//! Repair: times and logs are put right, as far as contents prove that nothing else has changed.
//!
//! A fresh checkout gives every source a new time, and an archive cuts the times in a build directory short. What holds
//! what it held when it was recorded can have back the time that it had, and then ninja finds nothing to do for it.
//!
//! ```text
//!   prove     each target by its record: inputs, what it discovered, outputs, command    proof.rs
//!   plan      times for files, entries for logs                                          times.rs, entries.rs
//!   simulate  read the planned logs, set the planned times, judge as ninja does          simulate.rs
//!   apply     records, deps log, build log, times; put back where anything fails         apply.rs
//! ```
//!
//! # Why nothing that changed is hidden
//!
//! In the log that is left behind, only targets have an entry that are proved to be what they would be if they were made
//! again. Ninja runs what has no entry, whatever the times say. Targets with `generator`, which it runs by times alone, get
//! an entry that is older than all inputs instead. So it does not matter which times are set, or whether all of them are.
//! And so the logs are written before any time is set: whatever keeps the rest from being done, more is run, never less.
//!
//! All the same the result is judged by ninja's rules before anything is written, from the very bytes of the new logs. If a
//! target were fresh there without a proof, nothing would be written.

mod apply;
mod entries;
mod proof;
mod simulate;
mod times;

pub use proof::{Unproven, Why};
pub use times::NewTime;

use crate::build::{Build, Options};
use crate::contents::{Contents, LogEntry};
use crate::error::Error;
use crate::source::{Source, SourceKind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use upcheck::collect::Disk;
use upcheck::content::DigestCache;
use upcheck::{FileId, Meta, Snapshot, Stat, is_racy};

/// How to repair.
#[derive(Clone, Debug, Default)]
pub struct RepairOptions {
    /// Leave the times of sources as they are, and give outputs later ones instead: for a source tree that other build
    /// directories use, too.
    pub keep_sources: bool,
}

/// What is to be done. Nothing was written so far.
#[derive(Debug)]
pub struct Repair {
    /// The files that get another time, in the order of their paths.
    pub times: Vec<NewTime>,
    /// Outputs whose entry in the build log is made or changed; sorted.
    pub mended: Vec<Vec<u8>>,
    /// Outputs whose entry in the build log is dropped, or made to look old; sorted.
    pub dropped: Vec<Vec<u8>>,
    /// Outputs whose discovered inputs are written to the deps log; sorted.
    pub deps: Vec<Vec<u8>>,
    /// How many targets were looked at; phony ones are not.
    pub n_targets: usize,
    /// Those that are not proved to be up to date. Ninja will run them.
    pub unproven: Vec<Unproven>,
    /// How many targets `ninja`, without arguments, would run before this, and after.
    pub n_stale: (usize, usize),
    /// How many files' content was looked at.
    pub n_read: usize,
    /// Oddities that did not stand in the way.
    pub warnings: Vec<String>,
    log: Option<NewFile>,
    deps_log: Option<NewFile>,
    /// What the record will say of the log's entries, by first output.
    entries: Vec<(Vec<u8>, LogEntry)>,
    /// What has to go off the record: only entries that are dropped say that it is outdated.
    outdated: Vec<Vec<u8>>,
}

/// A log that is to be written anew.
#[derive(Debug)]
struct NewFile {
    path: Vec<u8>,
    /// `None`: it is not there.
    before: Option<Vec<u8>>,
    after: Vec<u8>,
}

/// Where a build directory is.
#[derive(Clone, Debug)]
pub struct Place {
    /// The directory that paths start from.
    pub directory: PathBuf,
    /// The folder of records.
    pub records: PathBuf,
}

/// How long stamps can be too young to prove anything: coarse ones are whole seconds, or two.
const LONGEST_WAIT: Duration = Duration::from_millis(2_500);
const STEP: Duration = Duration::from_millis(5);

impl Repair {
    /// Finds out what there is to repair. Nothing is written.
    ///
    /// Cost: that of three checks of everything, and each file that is not as it was recorded is read once, unless `cache`
    /// knows it. Waits for a moment where files were changed just now: as long as a clock's tick may take.
    ///
    /// # Errors
    /// When the build cannot be read or judged, when ninja seems to be running, when files are changed meanwhile, or when
    /// something would look fresh that is not proved to be.
    pub fn plan(
        disk: &dyn Disk,
        place: &Place,
        options: &Options,
        repair: &RepairOptions,
        contents: &Contents,
        cache: Option<&mut DigestCache>,
    ) -> Result<Self, Error> {
        let mut build = Build::load(disk, options)?;
        refuse_while_ninja_runs(disk, &build)?;
        let all = first_outputs(&build);
        build.describe(disk, &all)?;
        let ninjas = build.history.clone();
        let doubts = build.judge_by_record_for_repair(disk, contents)?;
        let mut snapshot = build.collect(disk);
        wait_until_stamps_prove(disk, &mut build, &mut snapshot);
        let moment = Meta::mtime_at(disk.now());
        let looked = build.look_at_contents(disk, contents, &mut snapshot, cache);
        let decision = build.decide(&snapshot, &all)?;
        let mut proofs = proof::prove(&build, &ninjas, (&snapshot, moment), decision.judged(), doubts);
        drop(decision);
        let times = times::plan(&build, place, &snapshot, &proofs.proven, repair);
        proofs.doubt(&build, |target| entries::is_ahead(&build, contents, &times, target, moment));
        let entries = entries::plan(disk, &build, &ninjas, contents, &proofs, &times)?;
        let simulated = simulate::simulate(disk, &build, &snapshot, &proofs, &times, &entries)?;
        let before = simulate::before(disk, &build)?;
        let is_outdated = |unproven: &&Unproven| unproven.why == Why::MadeSince;
        let outdated = proofs.unproven.iter().filter(is_outdated).map(|unproven| unproven.target.clone());
        Ok(Self {
            outdated: outdated.collect(),
            times: times.changes(&build, &snapshot),
            mended: entries.mended,
            dropped: entries.dropped,
            deps: entries.deps,
            n_targets: proofs.proven.len() + proofs.unproven.len(),
            unproven: proofs.unproven,
            n_stale: (before, simulated.n_stale),
            n_read: looked.looked,
            warnings: build.warnings.clone(),
            log: entries.log,
            deps_log: entries.deps_log,
            entries: entries.recorded,
        })
    }

    /// Whether there is nothing to be written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
            && self.log.is_none()
            && self.deps_log.is_none()
            && self.entries.is_empty()
            && self.outdated.is_empty()
    }
}

/// The first output of every target: whoever asks about these asks about all.
fn first_outputs(build: &Build) -> Vec<FileId> {
    let graph = &build.graph;
    graph.targets().filter_map(|target| graph.outputs(target).first().copied()).collect()
}

/// The sources of a build are its manifests, then its logs, then dyndep files.
fn log_source(build: &Build, kind: SourceKind) -> Option<&Source> {
    build.sources.iter().find(|source| source.kind == kind)
}

/// The folder of the logs, as the manifest has it; empty for the build directory.
fn builddir(build: &Build) -> Vec<u8> {
    let path = log_source(build, SourceKind::BuildLog).map_or(&b""[..], |source| &source.path);
    path.strip_suffix(b".ninja_log").and_then(|path| path.strip_suffix(b"/")).unwrap_or_default().to_vec()
}

/// From 1.12 on there is a file while ninja runs commands. One that was killed leaves it behind.
fn refuse_while_ninja_runs(disk: &dyn Disk, build: &Build) -> Result<(), Error> {
    let mut lock = builddir(build);
    if !lock.is_empty() {
        lock.push(b'/');
    }
    lock.extend_from_slice(b".ninja_lock");
    match disk.stat(&lock) {
        Stat::Missing | Stat::Unknown => Ok(()),
        Stat::Present(_) | Stat::Unreadable(_) => {
            let shown = String::from_utf8_lossy(&lock);
            Err(Error::Refused(format!(
                "ninja seems to be running: '{shown}' is there; where none runs, one was killed and left it behind"
            )))
        }
    }
}

/// Looks again until no file was changed so shortly before that it could be changed once more under the same stamp. Gives
/// up on those whose time lies ahead.
fn wait_until_stamps_prove(disk: &dyn Disk, build: &mut Build, snapshot: &mut Snapshot) {
    let began = disk.now();
    loop {
        let now = disk.now();
        let moment = Meta::mtime_at(now);
        let waits = build.wanted.iter().any(|&file| match snapshot.stat(file) {
            Stat::Present(meta) => is_racy(meta, moment) && changed_at(meta) <= moment,
            _ => false,
        });
        if !waits || now.duration_since(began).unwrap_or(LONGEST_WAIT) >= LONGEST_WAIT {
            return;
        }
        std::thread::sleep(STEP);
        *snapshot = build.collect(disk);
    }
}

fn changed_at(meta: Meta) -> i64 {
    if meta.ctime == 0 { meta.mtime } else { meta.ctime }
}

impl Place {
    /// Where a path of the build leads to.
    fn of(&self, path: &[u8]) -> std::io::Result<PathBuf> {
        upcheck::os_path::path(path).map(|path| self.directory.join(path))
    }

    fn folder(&self) -> &Path {
        &self.records
    }
}
