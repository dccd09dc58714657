//! A question about a build that stays in memory: asked once more, all that is done is to look what changed.
//!
//! ```text
//!   sources, depfiles:  one says something else                ->  outdated: to be read anew
//!   files:              all look as they did                   ->  the same report
//!                       some do not                            ->  only what they lead to is judged
//! ```
//!
//! The files are asked for each time. Where that is too much, the disk has a memory of its own.

mod sources;

use crate::build::Build;
use crate::error::Error;
use crate::kept::Summary;
use crate::source::Stamp;
use sources::Sources;
use std::borrow::Cow;
use std::io::ErrorKind;
use std::sync::Arc;
use upcheck::collect::{Disk, collect, confirm};
use upcheck::{FileId, Mtime, Plan, Report, Snapshot, Standing, Stat, path};

/// A question that was answered, and all that a second answer takes.
pub struct Asked {
    build: Build,
    requests: Vec<FileId>,
    snapshot: Snapshot,
    /// How many files are in the snapshot.
    n_seen: usize,
    /// `None` once nothing can be judged.
    standing: Option<Standing>,
    report: Report,
    plan: Arc<Plan>,
    sources: Sources,
    /// Depfiles as they were read, and the moments that their stamps prove something for; in the order of their numbers.
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
        let mut depfiles = build.depfiles_read();
        // They are called what a rule calls them.
        let mut misspelt = Vec::new();
        for (depfile, ..) in &mut depfiles {
            let files = &mut build.graph.files;
            if is_misspelt(files.path(*depfile)) {
                misspelt.push(*depfile);
                let spelt = path::with_single_slashes(files.path(*depfile)).into_owned();
                *depfile = files.intern(&spelt);
            }
        }
        // By the numbers that they are looked up by.
        depfiles.sort_unstable_by_key(|(file, ..)| *file);
        misspelt.sort_unstable();
        let decision = build.decide(&snapshot, &requests).ok()?;
        let report = build.report(&decision);
        let standing = Some(Standing::new(decision)?);
        let asked = build.graph.files.ids().filter(|&file| snapshot.stat(file) != Stat::Unknown);
        let (asked, odd): (Vec<_>, Vec<_>) =
            asked.partition(|&file| !is_misspelt(build.graph.files.path(file)));
        if odd.iter().any(|file| misspelt.binary_search(file).is_err()) {
            return None;
        }
        let depfile_ids = depfiles.iter().map(|(file, ..)| *file);
        let plan = Arc::new(Plan::new(&build.graph.files, asked.into_iter().chain(depfile_ids)));
        let sources = Sources::new(&build.sources, build.began);
        let n_seen = snapshot.n_files();
        Some(Self { requests, snapshot, n_seen, standing, report, plan, sources, depfiles, build })
    }

    /// Asks once more.
    pub fn again(&mut self, disk: &dyn Disk) -> Again {
        // Logs first, files later: a file may then be newer than its record, never older.
        let threads = self.build.options.threads;
        if !self.sources.are_same(disk, threads) {
            return Again::Outdated;
        }
        let mut snapshot = collect(disk, &self.plan, threads);
        if !self.are_depfiles_as_read(disk, &snapshot) {
            return Again::Outdated;
        }
        confirm(disk, &self.build.graph, &self.build.history, &mut snapshot, threads);
        let differs = |file: &FileId| {
            let before = self.snapshot.stat(*file);
            // Depfiles may be asked for now for the first time; where one counts as a file, it was before.
            before != Stat::Unknown && look(snapshot.stat(*file)) != look(before)
        };
        let changed: Vec<FileId> = self.plan.files().filter(differs).collect();
        (self.n_seen, self.snapshot) = (snapshot.n_files(), snapshot);
        // Where nothing changed, what the last decision rests on looks the same here.
        if changed.is_empty() { Again::Same } else { self.judge(&changed) }
    }

    /// Asks once more about files of these paths only, where nothing else was touched. `None`: that is not enough.
    pub fn again_about(&mut self, disk: &dyn Disk, paths: &[Vec<u8>]) -> Option<Again> {
        if paths.iter().any(|path| self.sources.has(path)) {
            return None;
        }
        let mut changed = Vec::new();
        for path in paths {
            let Some(file) = self.build.graph.files.lookup(path) else { continue };
            let now = disk.stat(path);
            if let Ok(at) = self.depfiles.binary_search_by_key(&file, |(file, ..)| *file)
                && !is_as_read(disk, path, self.depfiles[at], now)
            {
                return Some(Again::Outdated);
            }
            let before = self.snapshot.stat(file);
            if before != Stat::Unknown {
                if look(now) != look(before) {
                    changed.push(file);
                }
                self.snapshot.set_stat(file, now);
            }
        }
        if !self.sources.are_same_untouched(disk) {
            return None;
        }
        Some(if changed.is_empty() { Again::Same } else { self.judge(&changed) })
    }

    /// A new answer, from the one before and the snapshot, in which these files look different.
    fn judge(&mut self, changed: &[FileId]) -> Again {
        let Self { build, requests, snapshot, .. } = self;
        let judge_all = || {
            let decision = build.decide_after(snapshot, requests, None).ok()?;
            let report = build.report(&decision);
            Some((Standing::new(decision)?, report))
        };
        let judged = self.standing.take().and_then(|standing| {
            standing.judge_again(&build.graph, &build.history, snapshot, changed, |decision| {
                build.refuse_missing(decision, snapshot, requests).is_ok().then(|| build.report(decision))
            })
        });
        let judged = match judged {
            Some((standing, report)) => report.map(|report| (standing, report)),
            None => judge_all(),
        };
        let Some((standing, report)) = judged else { return Again::Outdated };
        (self.standing, self.report) = (Some(standing), report);
        Again::Changed
    }

    /// Whether all that [`Asked::again`] asks for is as it was. The answer stays as it is.
    pub fn is_as_before(&mut self, disk: &dyn Disk) -> bool {
        if !self.sources.are_same(disk, 1) {
            return false;
        }
        let snapshot = collect(disk, &self.plan, 1);
        let is_same = |file: FileId| look(snapshot.stat(file)) == look(self.snapshot.stat(file));
        self.are_depfiles_as_read(disk, &snapshot)
            && self.plan.files().all(|file| self.snapshot.stat(file) == Stat::Unknown || is_same(file))
    }

    fn are_depfiles_as_read(&self, disk: &dyn Disk, now: &Snapshot) -> bool {
        let is_same = |&depfile: &(FileId, Stamp, Mtime)| {
            is_as_read(disk, self.build.graph.files.path(depfile.0), depfile, now.stat(depfile.0))
        };
        self.depfiles.iter().all(is_same)
    }

    /// What [`Asked::again`] asks for.
    #[must_use]
    pub fn plans(&self) -> [Arc<Plan>; 2] {
        [self.sources.plan(), Arc::clone(&self.plan)]
    }

    /// Whether all that the last answer is made of looks as it did. Nothing is kept of this look, and nothing is read.
    pub fn looks_the_same(&self, disk: &dyn Disk) -> bool {
        let threads = self.build.options.threads;
        let now = collect(disk, &self.plan, threads);
        let is_same = |file: FileId| {
            let before = self.snapshot.stat(file);
            before == Stat::Unknown || look(now.stat(file)) == look(before)
        };
        self.sources.look_the_same(disk, threads)
            && self.are_depfiles_as_read(disk, &now)
            && self.plan.files().all(is_same)
    }

    /// For how many files [`Asked::again`] asks.
    #[must_use]
    pub fn n_asked(&self) -> usize {
        self.plan.n_files() + self.sources.n_files()
    }

    /// The directories of what [`Asked::again`] asks for; empty for the one that paths start from. Some may come twice.
    pub fn directories(&self) -> impl Iterator<Item = &[u8]> {
        self.plan.visits().map(|visit| visit.directory()).chain(self.sources.directories())
    }

    /// How many files the answer is about.
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

    /// How the files looked that the last answer is made of.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The last answer in short.
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.build.summary_of(&self.snapshot, self.n_seen, &self.report)
    }

    /// Makes command lines available.
    ///
    /// # Errors
    /// Those of [`Build::load_rules`].
    pub fn load_rules(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        self.build.load_rules(disk)
    }
}

/// Whether a depfile says what it said when it was read.
fn is_as_read(disk: &dyn Disk, path: &[u8], (_, stamp, moment): (FileId, Stamp, Mtime), now: Stat) -> bool {
    if stamp.is_missing() && now == Stat::Missing {
        // There are two ways to be missing, and one of them is an error: a file where a directory should be.
        return disk.kind(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    }
    Stamp::from_stat(now) == Some(stamp) && !stamp.is_racy(moment)
}

/// What a verdict can depend on.
/// Whether whoever is told of a change of the file would call it something else: nobody has a name with a NUL in it, or with a slash.
/// What ninja writes and what it reads is without, but for the paths of its own files and of depfiles.
fn is_misspelt(path: &[u8]) -> bool {
    path.contains(&0) || matches!(path::with_single_slashes(path), Cow::Owned(_))
}

fn look(stat: Stat) -> Stat {
    match stat {
        Stat::Present(meta) => Stat::Present(upcheck::Meta { mtime: meta.mtime, ..upcheck::Meta::default() }),
        stat => stat,
    }
}
