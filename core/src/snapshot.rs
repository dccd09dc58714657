//! What the disk said, all at one moment: one [`Stat`] per file, when it was taken, and what it cost.

use crate::content::Content;
use crate::ids::{FileId, narrow};
use crate::plan::{How, Plan};
use bytemuck::{Pod, Zeroable};
use std::collections::HashMap;
use std::time::SystemTime;

/// A modification time in nanoseconds since 1970-01-01 00:00 UTC.
///
/// Zero and negative values are times like any other, never an absence. Times beyond the years 1677 to
/// 2262 are held at the nearest end of that range.
pub type Mtime = i64;

/// What is known of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Stat {
    /// Nobody asked.
    #[default]
    Unknown,
    /// There is no such file (also: a dangling link, or a path through a file that is no directory).
    Missing,
    /// The disk would not say. The operating system's error number.
    Unreadable(i32),
    /// The file is there. Links are followed; a directory is a file like any other.
    Present(Meta),
}

/// What a listing or a stat tells of a file that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Meta {
    /// When its content was last changed.
    pub mtime: Mtime,
    /// When its status was last changed: its content, name, owner or times; 0 where the platform has none.
    /// Unlike the mtime, no program can choose it.
    pub ctime: Mtime,
    /// Its size in bytes.
    pub size: u64,
    /// Its inode number; 0 where the platform has none.
    pub inode: u64,
    /// The number of the file system it lies on; 0 where the platform has none.
    pub device: u64,
}

impl Meta {
    /// A time of the operating system, seconds and nanoseconds since 1970, as an [`Mtime`].
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "it was clamped to the range")]
    pub fn mtime_from(seconds: i64, nanoseconds: i64) -> Mtime {
        if let Some(exact) = seconds.checked_mul(1_000_000_000).and_then(|ns| ns.checked_add(nanoseconds)) {
            return exact;
        }
        let exact = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        exact.clamp(i128::from(Mtime::MIN), i128::from(Mtime::MAX)) as Mtime
    }

    /// A time of day as an [`Mtime`].
    #[must_use]
    pub fn mtime_at(time: SystemTime) -> Mtime {
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Mtime::try_from(after.as_nanos()).unwrap_or(Mtime::MAX),
            Err(before) => Mtime::try_from(before.duration().as_nanos()).map_or(Mtime::MIN, |ns| -ns),
        }
    }
}

/// Which fields of a [`Meta`] say something. The others are 0, and 0 in one that is says nothing either: a file
/// system may have less than its platform. Time and size are always known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Whether `ctime` is known.
    pub ctime: bool,
    /// Whether `inode` is known.
    pub inode: bool,
    /// Whether `device` is known.
    pub device: bool,
}

impl Default for Fields {
    /// All of them.
    fn default() -> Self {
        Self { ctime: true, inode: true, device: true }
    }
}

impl Fields {
    /// Those that both fill in.
    fn and(self, other: Self) -> Self {
        Self {
            ctime: self.ctime && other.ctime,
            inode: self.inode && other.inode,
            device: self.device && other.device,
        }
    }
}

/// Directories that changed while they were listed: what was found in such a one was not found at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedDirectories {
    /// How many there were.
    pub n: usize,
    /// The first that were noticed, at most [`ChangedDirectories::MOST`] of them; sorted.
    pub paths: Vec<Vec<u8>>,
}

impl ChangedDirectories {
    /// So many are named.
    pub const MOST: usize = 16;

    pub(crate) fn add(&mut self, path: &[u8]) {
        self.n += 1;
        if self.paths.len() < Self::MOST {
            let at = self.paths.partition_point(|other| other.as_slice() < path);
            self.paths.insert(at, path.to_vec());
        }
    }

    fn merge(&mut self, other: Self) {
        let n = self.n + other.n;
        for path in &other.paths {
            self.add(path);
        }
        self.n = n;
    }
}

/// How often the disk was asked. What speed rests on, and what tests assert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct IoCounts {
    /// Directories that were visited.
    pub directories: u64,
    /// Directories that were opened. One in which few names are wanted is not.
    pub opens: u64,
    /// Single files that were asked for their status.
    pub stats: u64,
    /// Directories that were listed for the status of what is in them.
    pub listings: u64,
    /// Calls that the listings took. The last one of a listing may say no more than that there is no more.
    pub buffers: u64,
    /// Entries that the listings had.
    pub entries: u64,
    /// Listings during which the directory changed.
    pub changed: u64,
    /// Files that a listing told of, and that were asked for once more because it may lag behind.
    pub confirmed: u64,
}

impl IoCounts {
    /// Adds what another thread counted.
    pub fn add(&mut self, other: Self) {
        self.directories += other.directories;
        self.opens += other.opens;
        self.stats += other.stats;
        self.listings += other.listings;
        self.buffers += other.buffers;
        self.entries += other.entries;
        self.changed += other.changed;
        self.confirmed += other.confirmed;
    }
}

/// All that one collection learnt. It does not change once it is built.
#[derive(Clone, Debug)]
pub struct Snapshot {
    stats: Vec<Stat>,
    /// For each file, where its status stands in `stats`: what was found stays where it was put. `None` where that
    /// is the file's own number.
    places: Option<Vec<u32>>,
    began: SystemTime,
    ended: SystemTime,
    counts: IoCounts,
    contents: HashMap<FileId, Content>,
    fields: Fields,
    changed: ChangedDirectories,
    /// By file, whether only a listing told of it that may be behind; empty where none was.
    listed: Vec<bool>,
}

impl Snapshot {
    /// A snapshot from a table indexed by [`FileId`].
    #[must_use]
    pub fn new(stats: Vec<Stat>, began: SystemTime, ended: SystemTime, counts: IoCounts) -> Self {
        Self {
            stats,
            places: None,
            began,
            ended,
            counts,
            contents: HashMap::new(),
            fields: Fields::default(),
            changed: ChangedDirectories::default(),
            listed: Vec::new(),
        }
    }

    /// A snapshot from what was found for a plan, in the plan's order.
    pub(crate) fn in_plan_order(
        plan: &Plan,
        stats: Vec<Stat>,
        began: SystemTime,
        ended: SystemTime,
        counts: IoCounts,
    ) -> Self {
        let mut places = vec![u32::MAX; plan.n_known()];
        for (place, file) in (0..).zip(plan.files()) {
            places[file.index()] = place;
        }
        Self { places: Some(places), ..Self::new(stats, began, ended, counts) }
    }

    /// Notes what the disk says of itself, and which directories changed.
    pub(crate) fn describe(&mut self, fields: Fields, changed: ChangedDirectories) {
        (self.fields, self.changed) = (fields, changed);
    }

    /// Notes which files were answered from listings, and may be behind. `confirmed`: which places of the plan were asked
    /// themselves since.
    pub(crate) fn note_listed(&mut self, plan: &Plan, confirmed: &[bool]) {
        self.listed = vec![false; plan.n_known()];
        let mut files = plan.files().zip(confirmed);
        for visit in plan.visits() {
            for (file, is_confirmed) in files.by_ref().take(visit.len()) {
                self.listed[file.index()] = visit.how() == How::List && !is_confirmed;
            }
        }
    }

    /// Takes in what files said themselves.
    pub(crate) fn confirmed(&mut self, files: impl Iterator<Item = (FileId, Stat)>, counts: IoCounts) {
        for (file, stat) in files {
            self.set_stat(file, stat);
            if let Some(is_listed) = self.listed.get_mut(file.index()) {
                *is_listed = false;
            }
        }
        self.counts.add(counts);
    }

    /// Whether any file was answered from a listing that may be behind.
    #[must_use]
    pub fn has_listed(&self) -> bool {
        !self.listed.is_empty()
    }

    /// Whether a file was answered from a listing that may be behind, see [`crate::collect::Confirm`].
    #[must_use]
    pub fn is_listed(&self, file: FileId) -> bool {
        self.listed.get(file.index()).is_some_and(|is_listed| *is_listed)
    }

    /// Which fields of each [`Meta`] say something.
    #[must_use]
    pub fn fields(&self) -> Fields {
        self.fields
    }

    /// Which directories changed while they were listed. What such a one says was not so at one moment.
    #[must_use]
    pub fn changed_directories(&self) -> &ChangedDirectories {
        &self.changed
    }

    /// Adds what another collection learnt about files that this one was not asked for.
    pub fn merge(&mut self, other: Self) {
        let n_files = self.n_places().max(other.n_places());
        let mut places = vec![u32::MAX; n_files];
        let mut stats = Vec::with_capacity(self.stats.len() + other.stats.len());
        let is_known = |snapshot: &Self, file| snapshot.stat(file) != Stat::Unknown;
        let ids = (0..n_files).map(FileId::new);
        let listed =
            ids.map(|file| if is_known(self, file) { self.is_listed(file) } else { other.is_listed(file) });
        let listed: Vec<bool> =
            if self.has_listed() || other.has_listed() { listed.collect() } else { Vec::new() };
        for (file, place) in places.iter_mut().enumerate() {
            let file = FileId::new(file);
            let known = [self.stat(file), other.stat(file)].into_iter().find(|stat| *stat != Stat::Unknown);
            if let Some(stat) = known {
                *place = narrow(stats.len());
                stats.push(stat);
            }
        }
        (self.stats, self.places) = (stats, Some(places));
        self.ended = self.ended.max(other.ended);
        self.counts.add(other.counts);
        self.fields = self.fields.and(other.fields);
        self.changed.merge(other.changed);
        self.listed = listed;
        self.contents.extend(other.contents);
    }

    fn n_places(&self) -> usize {
        self.places.as_ref().map_or(self.stats.len(), Vec::len)
    }

    /// What is known of `file`; [`Stat::Unknown`] for a file that was not part of the collection.
    #[must_use]
    pub fn stat(&self, file: FileId) -> Stat {
        let place = match &self.places {
            Some(places) => places.get(file.index()).map_or(usize::MAX, |&place| place as usize),
            None => file.index(),
        };
        self.stats.get(place).copied().unwrap_or_default()
    }

    /// Puts in what is known of a file without asking the disk.
    pub fn set_stat(&mut self, file: FileId, stat: Stat) {
        let n_places = self.n_places();
        let places = self.places.get_or_insert_with(|| (0..narrow(n_places)).collect());
        if places.len() <= file.index() {
            places.resize(file.index() + 1, u32::MAX);
        }
        let place = &mut places[file.index()];
        match self.stats.get_mut(*place as usize) {
            Some(known) => *known = stat,
            None => {
                *place = narrow(self.stats.len());
                self.stats.push(stat);
            }
        }
    }

    /// Adds what looking at a file's content came to.
    pub fn set_content(&mut self, file: FileId, content: Content) {
        self.contents.insert(file, content);
    }

    /// What looking at a file's content came to; [`Content::Unknown`] where nobody looked.
    #[must_use]
    pub fn content(&self, file: FileId) -> Content {
        self.contents.get(&file).copied().unwrap_or(Content::Unknown)
    }

    /// When the first file was asked for. A change after this moment may or may not be in the snapshot.
    #[must_use]
    pub fn began(&self) -> SystemTime {
        self.began
    }

    /// When the last file had answered.
    #[must_use]
    pub fn ended(&self) -> SystemTime {
        self.ended
    }

    /// How many files were asked for.
    #[must_use]
    pub fn n_files(&self) -> usize {
        self.stats.iter().filter(|stat| **stat != Stat::Unknown).count()
    }

    /// What the collection asked of the disk.
    #[must_use]
    pub fn counts(&self) -> IoCounts {
        self.counts
    }
}
