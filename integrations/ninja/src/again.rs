//! A question about a build that stays in memory: asked once more, all that is done is to look what changed.
//!
//! ```text
//!   sources, depfiles:  one says something else                ->  outdated: to be read anew
//!   files:              all look as they did                   ->  the same report
//!                       some do not                            ->  only what they lead to is judged
//! ```
//!
//! The files are asked for each time. Where that is too much, the disk has a memory of its own.

use crate::build::Build;
use crate::error::Error;
use crate::kept::Summary;
use crate::source::{Checked, Stamp};
use upcheck::collect::{Disk, collect, confirm};
use upcheck::{Decision, FileId, Mtime, Plan, Report, Settled, Snapshot, Stat};

/// A question that was answered, and all that a second answer takes.
pub struct Asked {
    build: Build,
    requests: Vec<FileId>,
    snapshot: Snapshot,
    settled: Settled,
    report: Report,
    plan: Plan,
    /// Depfiles as they were read, and the moments that their stamps prove something for.
    depfiles: Vec<(FileId, Stamp, Mtime)>,
}

/// What has become of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// It holds.
    Same,
    /// Files look different: there is a new one.
    Changed,
    /// What the build was read from says something else, or may: all has to be read anew.
    Outdated,
}

impl Asked {
    /// What a decision about `requests` was made of. `None` where nobody could tell later whether that is still so.
    #[must_use]
    pub fn new(mut build: Build, requests: Vec<FileId>, snapshot: Snapshot) -> Option<Self> {
        if build.has_given || build.sources.iter().any(|source| source.stamp == Stamp::UNKNOWN) {
            return None;
        }
        // Before anything is judged: it may make files known.
        let depfiles = build.depfiles_read();
        let decision = build.decide(&snapshot, &requests).ok()?;
        let (settled, report) = (Settled::new(&decision), build.report(&decision));
        let asked = build.graph.files.ids().filter(|&file| snapshot.stat(file) != Stat::Unknown);
        let depfile_ids = depfiles.iter().map(|(file, ..)| *file);
        let plan = Plan::new(&build.graph.files, asked.chain(depfile_ids).collect::<Vec<_>>());
        Some(Self { requests, snapshot, settled, report, plan, depfiles, build })
    }

    /// Asks once more.
    pub fn again(&mut self, disk: &dyn Disk) -> Again {
        // Logs first, files later: a file may then be newer than its record, never older.
        if !self.has_same_sources(disk) {
            return Again::Outdated;
        }
        let threads = self.build.options.threads;
        let mut snapshot = collect(disk, &self.plan, threads);
        let is_as_read = |&(file, stamp, moment): &(FileId, Stamp, Mtime)| {
            Stamp::from_stat(snapshot.stat(file)) == Some(stamp) && !stamp.is_racy(moment)
        };
        if !self.depfiles.iter().all(is_as_read) {
            return Again::Outdated;
        }
        confirm(disk, &self.build.graph, &self.build.history, &mut snapshot, threads);
        let differs = |file: &FileId| {
            let before = self.snapshot.stat(*file);
            // Depfiles may be asked for now for the first time; where one counts as a file, it was before.
            before != Stat::Unknown && look(snapshot.stat(*file)) != look(before)
        };
        let changed: Vec<FileId> = self.plan.files().filter(differs).collect();
        if changed.is_empty() {
            // What the last decision rests on looks the same here.
            self.snapshot = snapshot;
            return Again::Same;
        }
        let before = Some((&self.settled, changed.as_slice()));
        let Ok(decision) = self.build.decide_after(&snapshot, &self.requests, before) else {
            return Again::Outdated;
        };
        let (settled, report) = (Settled::new(&decision), self.build.report(&decision));
        (self.settled, self.report, self.snapshot) = (settled, report, snapshot);
        Again::Changed
    }

    /// Whether manifest, logs and dyndep files say what they said. Whoever knows beside this that no file has changed knows
    /// that the last answer holds.
    pub fn has_same_sources(&self, disk: &dyn Disk) -> bool {
        self.build.sources.iter().all(|source| {
            let checked = source.check(disk, source.stamp, self.build.began);
            matches!(checked, Checked::Same | Checked::SameContent(_))
        })
    }

    /// The files that the build was read from: manifests, logs, dyndep files.
    pub fn sources(&self) -> impl Iterator<Item = &[u8]> {
        self.build.sources.iter().map(|source| source.path.as_slice())
    }

    /// The directories with files that are asked for; empty for the one that paths start from.
    pub fn directories(&self) -> impl Iterator<Item = &[u8]> {
        self.plan.visits().map(|visit| visit.directory())
    }

    /// How many files are asked for.
    #[must_use]
    pub fn n_files(&self) -> usize {
        self.plan.n_files()
    }

    /// The build.
    #[must_use]
    pub fn build(&self) -> &Build {
        &self.build
    }

    /// The last answer.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The last answer in short.
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.build.summary(&self.snapshot, &self.report)
    }

    /// The decision that the last answer comes from.
    ///
    /// # Errors
    /// Those of [`Build::decide`].
    pub fn decision(&self) -> Result<Decision<'_>, Error> {
        self.build.decide_after(&self.snapshot, &self.requests, Some((&self.settled, &[])))
    }

    /// Makes command lines available.
    ///
    /// # Errors
    /// Those of [`Build::load_rules`].
    pub fn load_rules(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        self.build.load_rules(disk)
    }
}

/// What a verdict can depend on.
fn look(stat: Stat) -> Stat {
    match stat {
        Stat::Present(meta) => Stat::Present(upcheck::Meta { mtime: meta.mtime, ..upcheck::Meta::default() }),
        stat => stat,
    }
}
