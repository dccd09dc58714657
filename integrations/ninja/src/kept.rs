//! What is kept of a build directory between two checks, and how a check goes on from there.
//!
//! Two images in the folder of images, named after the build directory:
//!
//! | image | holds | written |
//! |---|---|---|
//! | `.image` | the description: graph, hashes, records, discovered inputs, as of some moment | when the manifest changed, a log was rewritten, or much was appended since |
//! | `.state` | the last check: stamps of all that was looked at, and the decision | when something differs from it |
//!
//! So an ordinary build, which appends a little to the logs, costs a new state and no new image, and a check that finds
//! nothing changed writes nothing.
//!
//! The state is the newer one and names its image; without its own image it says nothing. See
//! [`source`](crate::source) for how it is known that the files an image came from still say the same.

mod folders;
mod load;
mod save;
mod tables;

pub use load::{Opened, Summary, open};
pub use save::{Draft, LastCheck, Saved};

use crate::build::Build;
use crate::source::{Stamp, digest};
use folders::Folders;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use upcheck::collect::{Disk, collect, confirm};
use upcheck::image::ImageFolder;
use upcheck::{Column, FileId, Mtime, Plan, Settled, Snapshot, Stat, TargetId};

/// Where images of a build directory are kept.
#[derive(Clone, Debug)]
pub struct Images {
    folder: ImageFolder,
    /// The build directory's own path, absolute, without links.
    place: Vec<u8>,
}

impl Images {
    /// Images in `folder`, of the build directory whose absolute path without links is `place`.
    #[must_use]
    pub fn new(folder: PathBuf, place: Vec<u8>) -> Self {
        Self { folder: ImageFolder::new(folder), place }
    }

    fn name(&self, who: &[u8], kind: &str) -> String {
        format!("{:016x}.{kind}", digest(who))
    }
}

/// What a build keeps in mind when it comes from an image.
pub(crate) struct Kept {
    image_id: u64,
    /// Indexed by target: its depfile, or `NO_FILE`. Empty where no target has one.
    depfile_of: Column<u32>,
    /// Indexed by target: the stamp of its depfile when it was read for the image.
    depfile_stamps: Column<Stamp>,
    /// When the image began to be made, and when the last check did.
    image_began: Mtime,
    state_began: Mtime,
    /// Depfiles that say something else than in the image, and their stamps as the last check found them.
    again: HashMap<TargetId, Stamp>,
    /// Those among them that were read in this check.
    read_now: HashSet<TargetId>,
    /// What was asked by default when the image was made.
    default_requests: Column<FileId>,
    /// What the last check found.
    before: Option<Before>,
    /// How many of the wanted files the image's plan has.
    n_planned: usize,
    /// How many of the wanted files were asked for.
    n_collected: usize,
    collected: Option<Snapshot>,
    /// Targets whose depfiles were not looked at yet.
    unchecked: Vec<TargetId>,
    /// Whether the description differs from the one that the last check had.
    is_touched: bool,
    /// Whether stamps of sources differ from those in the state.
    has_new_stamps: bool,
    /// How much was appended to the logs since the image was made, in bytes.
    appended: u64,
    /// Files with another status than at the last check.
    changed: Vec<FileId>,
}

/// The last check.
#[derive(Default)]
pub(crate) struct Before {
    settled: Option<Settled>,
    looked: Looked,
}

/// How files looked: what a verdict can depend on.
#[derive(Default)]
pub(crate) struct Looked {
    /// Indexed by file.
    mtimes: Column<Mtime>,
    /// Indexed by file: 0 nobody asked, 1 missing, 2 present, else an error number, negative.
    statuses: Column<i32>,
}

impl Looked {
    fn new(snapshot: &Snapshot, n_files: usize) -> Self {
        let looks = (0..n_files).map(|file| look(snapshot.stat(FileId::new(file))));
        let (mtimes, statuses): (Vec<_>, Vec<_>) = looks.unzip();
        Self { mtimes: mtimes.into(), statuses: statuses.into() }
    }

    /// Files that look different now, among those that were asked for.
    fn changed(&self, snapshot: &Snapshot, n_files: usize) -> Vec<FileId> {
        let (mtimes, statuses) = (&*self.mtimes, &*self.statuses);
        (0..n_files)
            .map(FileId::new)
            .filter(|&file| {
                let now = look(snapshot.stat(file));
                let index = file.index();
                let before = mtimes.get(index).copied().zip(statuses.get(index).copied());
                now != before.unwrap_or((0, UNASKED)) && now.1 != UNASKED
            })
            .collect()
    }

    /// Whether the same files were asked for, of the first `n_files` or more, and all of them look the same.
    fn is_as_before(&self, n_files: usize, stat: impl Fn(FileId) -> Stat) -> bool {
        let (mtimes, statuses) = (&*self.mtimes, &*self.statuses);
        (0..n_files.max(statuses.len())).all(|index| {
            let before = mtimes.get(index).copied().zip(statuses.get(index).copied());
            look(stat(FileId::new(index))) == before.unwrap_or((0, UNASKED))
        })
    }
}

const UNASKED: i32 = 0;
const MISSING: i32 = 1;
const PRESENT: i32 = 2;

fn look(stat: Stat) -> (Mtime, i32) {
    match stat {
        Stat::Unknown => (0, UNASKED),
        Stat::Missing => (0, MISSING),
        Stat::Present(meta) => (meta.mtime, PRESENT),
        // An error without a number still is no presence.
        Stat::Unreadable(errno) => (0, -errno.abs().max(1)),
    }
}

const NO_FILE: u32 = u32::MAX;

impl Build {
    pub(crate) fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Looks at what was described with the help of an image, until nothing new comes up.
    pub(crate) fn collect_kept(&mut self, disk: &dyn Disk) -> Snapshot {
        let Some(mut kept) = self.kept.take() else { unreachable!("only for builds with an image") };
        let mut snapshot = kept.collected.take();
        loop {
            let new = self.wanted.get(kept.n_collected..).unwrap_or_default();
            if !new.is_empty() || snapshot.is_none() {
                let plan = Plan::new(&self.graph.files, new.iter().copied());
                let part = collect(disk, &plan, self.options.threads);
                match &mut snapshot {
                    Some(snapshot) => snapshot.merge(part),
                    None => snapshot = Some(part),
                }
            }
            kept.n_collected = self.wanted.len();
            let Some(snapshot) = &snapshot else { unreachable!("it was collected") };
            self.check_depfiles(disk, &mut kept, snapshot);
            if self.wanted.len() == kept.n_collected {
                break;
            }
        }
        let mut snapshot = snapshot.unwrap_or_else(|| unreachable!("it was collected"));
        confirm(disk, &self.graph, &self.history, &mut snapshot, self.options.threads);
        if let Some(before) = &kept.before {
            kept.changed = before.looked.changed(&snapshot, self.graph.files.len());
        }
        self.kept = Some(kept);
        snapshot
    }

    /// Reads those depfiles again that are not as they were.
    fn check_depfiles(&mut self, disk: &dyn Disk, kept: &mut Kept, snapshot: &Snapshot) {
        let mut reach = Vec::new();
        let mut folders = Folders::new(disk);
        for target in std::mem::take(&mut kept.unchecked) {
            let Some(depfile) = kept.depfile(target) else { continue };
            let (known, is_in_image) = kept.depfile_stamp(target);
            let is_known = Stamp::from_stat(snapshot.stat(depfile)) == Some(known)
                && !known.is_racy(if is_in_image { kept.image_began } else { kept.state_began })
                && (!known.is_missing() || folders.is_simply_missing(self.graph.files.path(depfile)));
            if is_known && is_in_image {
                continue;
            }
            let stamp = self.read_depfile_again(disk, target, depfile, &mut reach);
            kept.is_touched |= !is_known || stamp != known;
            kept.again.insert(target, stamp);
            kept.read_now.insert(target);
        }
        let before = self.described.clone();
        // All was found out when the image was made, so nothing can be wrong with a rule now.
        let described = self.describe_from(disk, reach);
        debug_assert!(described.is_ok());
        self.want_depfiles(kept, &before);
    }

    /// Wants the depfiles of targets that were described since.
    fn want_depfiles(&mut self, kept: &mut Kept, before: &[bool]) {
        if kept.depfile_of.is_empty() {
            return;
        }
        for target in self.graph.targets() {
            let is_new = self.described[target.index()] && before.get(target.index()) != Some(&true);
            if let Some(depfile) = kept.depfile(target).filter(|_| is_new) {
                self.want(depfile);
                kept.unchecked.push(target);
            }
        }
    }

    /// Describes what requests need, when all was found out before.
    pub(crate) fn describe_kept(&mut self, disk: &dyn Disk, requests: &[FileId]) {
        let Some(mut kept) = self.kept.take() else { return };
        let before = self.described.clone();
        let reach = requests.iter().copied().chain(self.manifest_file).collect();
        let described = self.describe_from(disk, reach);
        debug_assert!(described.is_ok());
        self.want_depfiles(&mut kept, &before);
        self.kept = Some(kept);
    }

    /// The depfiles of what was described, with their stamps as they were read, and since when these prove something.
    pub(crate) fn depfiles_read(&mut self) -> Vec<(FileId, Stamp, Mtime)> {
        let Some(kept) = &self.kept else {
            let files = &mut self.graph.files;
            let read = self.depfiles.iter().map(|(_, path, stamp)| (files.intern(path), *stamp, self.began));
            return read.collect();
        };
        let described = self.graph.targets().filter(|target| self.described[target.index()]);
        let read = |target: TargetId| {
            let depfile = kept.depfile(target)?;
            let (stamp, is_in_image) = kept.depfile_stamp(target);
            let moment = match is_in_image {
                true => kept.image_began,
                false if kept.read_now.contains(&target) => self.began,
                false => kept.state_began,
            };
            Some((depfile, stamp, moment))
        };
        described.filter_map(read).collect()
    }

    /// What is known of the last decision about these requests, if it is enough to go on from; and what changed since.
    pub(crate) fn before(&self, requests: &[FileId]) -> Option<(&Settled, &[FileId])> {
        let kept =
            self.kept.as_ref().filter(|kept| !kept.is_touched && *kept.default_requests == *requests)?;
        Some((kept.before.as_ref()?.settled.as_ref()?, &kept.changed))
    }
}

impl Kept {
    fn depfile(&self, target: TargetId) -> Option<FileId> {
        let file = *self.depfile_of.get(target.index())?;
        (file != NO_FILE).then(|| FileId::new(file as usize))
    }

    /// The stamp of a target's depfile when it was last read, and whether that was for the image.
    fn depfile_stamp(&self, target: TargetId) -> (Stamp, bool) {
        match self.again.get(&target) {
            Some(stamp) => (*stamp, false),
            None => (self.depfile_stamps[target.index()], true),
        }
    }

    /// The stamp of a target's depfile for an image that is made of what this one says now. What nobody has asked about
    /// was not looked at, and is not proven by an image that begins later.
    fn depfile_stamp_now(&self, target: TargetId) -> Stamp {
        let (stamp, is_in_image) = self.depfile_stamp(target);
        let is_proven =
            if is_in_image { !stamp.is_racy(self.image_began) } else { self.read_now.contains(&target) };
        if is_proven { stamp } else { Stamp::UNKNOWN }
    }
}
