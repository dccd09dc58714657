//! A disk in memory for tests: a clock that is set by hand, an access log, faults, and changes that happen while a
//! file is read.
#![cfg(any(test, feature = "testing"))]

use super::list::{self, Lister, Outcome, Wanted};
use super::listing::Folding;
use super::open::copy_at;
use super::{Confirm, Disk, Kind, Listing, OneName, OpenFile};
use crate::path;
use crate::plan::{How, Visit};
use crate::snapshot::{IoCounts, Meta, Mtime, Stat};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// The number of the file system.
const DEVICE: u64 = 1;

/// One access, as the log keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// A directory was visited for these names.
    Visit {
        /// The directory's path.
        directory: Vec<u8>,
        /// The wanted names.
        names: Vec<Vec<u8>>,
    },
    /// A file was read, or opened to be read.
    Read(Vec<u8>),
    /// A directory was listed.
    List(Vec<u8>),
    /// A path was asked for what it leads to.
    Kind(Vec<u8>),
}

#[derive(Clone, Debug)]
struct Entry {
    kind: Kind,
    /// Of a link, where it leads.
    content: Vec<u8>,
    mtime: Mtime,
    ctime: Mtime,
    inode: u64,
}

/// Files by path, with directories only as far as the paths imply them, or as they are made.
#[derive(Debug)]
pub struct MemoryDisk {
    files: BTreeMap<Vec<u8>, Entry>,
    faults: BTreeMap<Vec<u8>, i32>,
    gone: BTreeSet<Vec<u8>>,
    clock: Mtime,
    /// How far the clock that stamps are taken from is ahead of `clock`. Nanoseconds.
    skew: Mtime,
    /// What stamps are multiples of. Nanoseconds.
    granularity: Mtime,
    has_real_ctimes: bool,
    /// How many entries of a listing come with one call.
    entries_per_call: usize,
    /// Whether names that differ in the case of ASCII letters only are the same.
    folds: bool,
    /// Whether listings do not know that.
    is_case_doubtful: bool,
    /// What listings tell of files, whatever becomes of these.
    entries: BTreeMap<Vec<u8>, Meta>,
    /// What is done about that.
    confirm: Confirm,
    one_name: Option<Arc<OneName>>,
    /// Files that had several names once, by inode number.
    linked: BTreeSet<u64>,
    /// Counts changes, so that no two of them, of any file, have the same status change time.
    changes: Mtime,
    next_inode: u64,
    log: Mutex<Vec<Access>>,
    then: Option<Box<Then>>,
}

/// What the disk becomes when somebody reads a file.
#[derive(Debug)]
struct Then {
    path: Vec<u8>,
    happened: AtomicBool,
    disk: MemoryDisk,
}

impl Default for MemoryDisk {
    fn default() -> Self {
        Self {
            files: BTreeMap::new(),
            faults: BTreeMap::new(),
            gone: BTreeSet::new(),
            clock: 0,
            skew: 0,
            granularity: 1,
            has_real_ctimes: false,
            entries_per_call: 100,
            folds: false,
            is_case_doubtful: false,
            entries: BTreeMap::new(),
            confirm: Confirm::Nothing,
            one_name: None,
            linked: BTreeSet::new(),
            changes: 0,
            next_inode: 0,
            log: Mutex::default(),
            then: None,
        }
    }
}

impl MemoryDisk {
    /// An empty disk whose clock stands at 1 s.
    #[must_use]
    pub fn new() -> Self {
        Self { clock: 1_000_000_000, ..Self::default() }
    }

    /// An empty disk whose clock stands at 1 s, and whose ctimes are what its clock says: two changes within a tick of
    /// it leave the same stamp. Other disks tell all changes apart.
    #[must_use]
    pub fn with_real_ctimes() -> Self {
        Self { has_real_ctimes: true, ..Self::new() }
    }

    /// Sets the clock, in nanoseconds since 1970. It may go back.
    pub fn set_clock(&mut self, now: Mtime) {
        self.settle();
        self.clock = now;
    }

    /// Lets a second pass.
    pub fn tick(&mut self) {
        self.settle();
        self.clock += 1_000_000_000;
    }

    /// From now on stamps are rounded down to a multiple of so many nanoseconds.
    pub fn set_granularity(&mut self, nanoseconds: Mtime) {
        self.settle();
        self.granularity = nanoseconds.max(1);
    }

    /// From now on stamps come from a clock that is so many nanoseconds ahead of [`Disk::now`]; behind, if negative.
    pub fn set_skew(&mut self, nanoseconds: Mtime) {
        self.settle();
        self.skew = nanoseconds;
    }

    /// From now on a call for a part of a listing gets so many entries.
    pub fn set_entries_per_call(&mut self, n: usize) {
        self.settle();
        self.entries_per_call = n.max(1);
    }

    /// From now on files are found by names that differ in the case of ASCII letters only. A file with the very name
    /// goes first, as two of them may have been made before.
    pub fn ignore_case(&mut self) {
        self.settle();
        self.folds = true;
    }

    /// From now on listings do not know whether case matters.
    pub fn doubt_case(&mut self) {
        self.settle();
        self.is_case_doubtful = true;
    }

    /// From now on listings tell of a file as it is now, whatever becomes of it, as NTFS does while a file that is
    /// open is written to, or one with several names by another of them.
    pub fn freeze_entry(&mut self, path: &str) {
        self.settle();
        if let Some(meta) = self.files.get(path.as_bytes()).map(Entry::meta) {
            self.entries.insert(path.as_bytes().to_vec(), meta);
        }
    }

    /// From now on this is done about listings that are behind.
    pub fn set_confirm(&mut self, confirm: Confirm) {
        self.settle();
        self.confirm = confirm;
    }

    /// From now on it is kept there which files have one name only.
    pub fn set_one_name(&mut self, one_name: Arc<OneName>) {
        self.settle();
        self.one_name = Some(one_name);
    }

    /// Writes into a file, as of now, under another name of it, which it is given if it has it not: the entry of this
    /// one stays as it is.
    pub fn overwrite_by_another_name(&mut self, path: &str, other: &str, content: &[u8]) {
        let inode = |disk: &Self, path: &str| disk.files.get(path.as_bytes()).map(|entry| entry.inode);
        if inode(self, path) != inode(self, other) {
            self.hard_link(path, other);
        }
        self.freeze_entry(path);
        self.overwrite(path, content);
        self.hard_link(path, other);
    }

    /// Writes a file, as of now: another file in the place of the one that was there.
    pub fn write(&mut self, path: &str, content: &[u8]) {
        self.remove(path);
        self.overwrite(path, content);
    }

    /// Writes into a file, as of now, which stays the same one. It is made where it is missing.
    pub fn overwrite(&mut self, path: &str, content: &[u8]) {
        let mtime = self.stamp();
        let entry = self.change(path);
        entry.content = content.to_vec();
        entry.mtime = mtime;
    }

    /// Writes into a file, and sets its mtime back to what it was.
    pub fn overwrite_keeping_mtime(&mut self, path: &str, content: &[u8]) {
        self.change(path).content = content.to_vec();
    }

    /// Sets a file's time without a change, creating it where it is missing.
    pub fn touch(&mut self, path: &str, mtime: Mtime) {
        self.change(path).mtime = mtime;
    }

    /// Makes a directory that has a stamp, and gets another one whenever a name appears in it or disappears. Those
    /// that are only implied by paths look as if they were missing.
    pub fn make_directory(&mut self, path: &str) {
        self.make(path, Kind::Directory, b"");
    }

    /// Makes a symbolic link. `target` counts from the link's directory, unless it is absolute.
    pub fn link(&mut self, path: &str, target: &str) {
        self.make(path, Kind::Link, target.as_bytes());
    }

    /// Makes something that is neither a file nor a directory nor a link.
    pub fn make_pipe(&mut self, path: &str) {
        self.make(path, Kind::Other, b"");
    }

    /// Makes `to` another name of the file at `from`. What is changed later is changed under one name only.
    pub fn hard_link(&mut self, from: &str, to: &str) {
        self.settle();
        if self.files.contains_key(from.as_bytes()) {
            // That is a change of its status.
            let entry = self.change(from).clone();
            self.linked.insert(entry.inode);
            self.put(to, entry);
        }
    }

    /// Copies a file with its mtime, as `cp -p` does.
    pub fn copy_with_mtime(&mut self, from: &str, to: &str) {
        self.settle();
        if let Some(Entry { content, mtime, .. }) = self.files.get(from.as_bytes()).cloned() {
            self.write(to, &content);
            self.touch(to, mtime);
        }
    }

    /// Renames a file. It keeps its mtime, and gets a new ctime, as on most file systems.
    pub fn rename(&mut self, from: &str, to: &str) {
        self.settle();
        if let Some(entry) = self.files.get(from.as_bytes()).cloned() {
            self.remove(from);
            self.put(to, entry);
            self.change(to);
        }
    }

    /// Removes a file.
    pub fn remove(&mut self, path: &str) {
        self.settle();
        if self.files.remove(path.as_bytes()).is_some() {
            self.note_in_directory(path);
        }
    }

    /// Says that a directory does not exist, so that a visit to it fails as a whole.
    pub fn remove_directory(&mut self, path: &str) {
        self.settle();
        self.gone.insert(path.as_bytes().to_vec());
    }

    /// Makes every access to `path` fail with an error number of the operating system.
    pub fn fail(&mut self, path: &str, errno: i32) {
        self.settle();
        self.faults.insert(path.as_bytes().to_vec(), errno);
    }

    /// Lets something happen to the disk as soon as somebody has read from the file or listed the directory at `path`,
    /// once.
    pub fn on_read(&mut self, path: &str, change: impl FnOnce(&mut Self)) {
        self.settle();
        let mut disk = Self {
            files: self.files.clone(),
            faults: self.faults.clone(),
            gone: self.gone.clone(),
            entries: self.entries.clone(),
            one_name: self.one_name.clone(),
            linked: self.linked.clone(),
            log: Mutex::default(),
            then: None,
            ..*self
        };
        change(&mut disk);
        let path = path.as_bytes().to_vec();
        self.then = Some(Box::new(Then { path, happened: AtomicBool::new(false), disk }));
    }

    /// Takes the log of all accesses so far.
    pub fn take_log(&self) -> Vec<Access> {
        std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, access: Access) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(access);
    }

    /// The disk as it is now, after what [`MemoryDisk::on_read`] made happen.
    fn now_it_is(&self) -> &Self {
        match &self.then {
            Some(then) if then.happened.load(Ordering::Acquire) => then.disk.now_it_is(),
            _ => self,
        }
    }

    fn was_read(&self, path: &[u8]) {
        if let Some(then) = &self.now_it_is().then
            && then.path == path
        {
            then.happened.store(true, Ordering::Release);
        }
    }

    /// Makes what happened to the disk the disk itself.
    fn settle(&mut self) {
        while self.then.as_ref().is_some_and(|then| then.happened.load(Ordering::Acquire)) {
            let Some(then) = self.then.take() else { return };
            let log = Mutex::new(self.take_log());
            *self = Self { log, ..then.disk };
        }
    }

    /// The stamp of a change that is made now.
    fn stamp(&self) -> Mtime {
        let exact = self.clock + self.skew;
        exact - exact.rem_euclid(self.granularity)
    }

    /// A file that is about to be changed, or made.
    fn change(&mut self, path: &str) -> &mut Entry {
        self.settle();
        if !self.files.contains_key(path.as_bytes()) {
            self.note_in_directory(path);
            self.next_inode += 1;
        }
        self.changes += 1;
        let ctime = if self.has_real_ctimes { self.stamp() } else { self.changes };
        let inode = self.next_inode;
        let entry = self.files.entry(path.as_bytes().to_vec()).or_insert_with(|| Entry {
            kind: Kind::File,
            content: Vec::new(),
            mtime: 0,
            ctime,
            inode,
        });
        entry.ctime = ctime;
        entry
    }

    fn make(&mut self, path: &str, kind: Kind, content: &[u8]) {
        self.write(path, content);
        self.change(path).kind = kind;
    }

    fn put(&mut self, path: &str, entry: Entry) {
        if self.files.insert(path.as_bytes().to_vec(), entry).is_none() {
            self.note_in_directory(path);
        }
    }

    /// A name appeared in a directory, or disappeared.
    fn note_in_directory(&mut self, path: &str) {
        let mtime = self.stamp();
        let Ok(directory) = std::str::from_utf8(path::split(path.as_bytes()).0) else { return };
        if self.files.get(directory.as_bytes()).is_some_and(|entry| entry.kind == Kind::Directory) {
            self.change(directory).mtime = mtime;
        }
    }

    /// Whether a directory, or one above it, was removed.
    fn is_gone(&self, directory: &[u8]) -> bool {
        self.gone.contains(directory)
            || !directory.is_empty() && directory != b"/" && self.is_gone(path::split(directory).0)
    }

    fn status(&self, path: &[u8]) -> Stat {
        let path = match self.resolve(path) {
            Ok(path) => path,
            Err(errno) => return Stat::Unreadable(errno),
        };
        match self.files.get(&path).or_else(|| self.folded(&path)) {
            None => Stat::Missing,
            Some(entry) => Stat::Present(entry.meta()),
        }
    }

    /// A file's own answer, which tells how many names it has.
    fn ask(&self, path: &[u8]) -> Stat {
        let stat = self.status(path);
        if let (Some(one_name), Stat::Present(meta)) = (&self.one_name, stat)
            && !self.linked.contains(&meta.inode)
        {
            one_name.learn(meta, self.clock);
        }
        stat
    }

    /// The first file with a name that differs in case only.
    fn folded(&self, path: &[u8]) -> Option<&Entry> {
        let is_it = |(other, _): &(&Vec<u8>, &Entry)| self.folds && other.eq_ignore_ascii_case(path);
        self.files.iter().find(is_it).map(|(_, entry)| entry)
    }

    /// Where a path leads, through all links. The error number where the disk will not say.
    fn resolve(&self, path: &[u8]) -> Result<Vec<u8>, i32> {
        const ELOOP: i32 = 40;
        let mut path = path.to_vec();
        for _ in 0..ELOOP {
            if let Some(&errno) = self.faults.get(&path) {
                return Err(errno);
            }
            let Some(next) = self.follow(&path) else { return Ok(path) };
            path = or_base(&next).to_vec();
        }
        Err(ELOOP)
    }

    /// The path with the first link in it followed; `None` where there is none.
    fn follow(&self, path: &[u8]) -> Option<Vec<u8>> {
        let ends = memchr::memchr_iter(b'/', path).chain([path.len()]).filter(|end| *end > 0);
        let (end, link) = ends
            .filter_map(|end| self.files.get(&path[..end]).map(|entry| (end, entry)))
            .find(|(_, entry)| entry.kind == Kind::Link)?;
        let directory = path::split(&path[..end]).0;
        let mut next = match link.content.first() {
            Some(b'/') => link.content.clone(),
            _ if directory.is_empty() => link.content.clone(),
            _ => [directory, b"/", &link.content].concat(),
        };
        next.extend_from_slice(&path[end..]);
        path::canonicalize(&mut next);
        Some(next)
    }

    /// What stands at a path that was resolved: also a directory that other paths imply.
    fn kind_of(&self, path: &[u8]) -> io::Result<Kind> {
        let is_directory = || {
            let under = [path, b"/"].concat();
            path.is_empty() || path == b"/" || self.names_under(&under).next().is_some()
        };
        match self.files.get(path) {
            Some(entry) => Ok(entry.kind),
            None if self.is_gone(path) || !is_directory() => Err(ErrorKind::NotFound.into()),
            None => Ok(Kind::Directory),
        }
    }

    /// What comes after `prefix` in the paths that have more than it.
    fn names_under<'a>(&'a self, prefix: &'a [u8]) -> impl Iterator<Item = (&'a [u8], Kind)> {
        let range = self.files.range(prefix.to_vec()..).map(|(path, entry)| (path.as_slice(), entry.kind));
        range.map_while(move |(path, kind)| Some((path.strip_prefix(prefix)?, kind)))
    }

    fn list_resolved(&self, path: &[u8], listing: &mut Listing) -> io::Result<()> {
        listing.clear();
        if self.kind_of(path)? != Kind::Directory {
            return Err(ErrorKind::NotADirectory.into());
        }
        let prefix = if path.is_empty() || path == b"/" { path.to_vec() } else { [path, b"/"].concat() };
        let mut last: &[u8] = b"";
        for (rest, kind) in self.names_under(&prefix) {
            let end = memchr::memchr(b'/', rest);
            let (name, kind) = end.map_or((rest, kind), |end| (&rest[..end], Kind::Directory));
            // Absolute paths, and those that lead out of the base, are not in it.
            if name == last || name.is_empty() || name == b".." {
                continue;
            }
            last = name;
            listing.push(name, kind);
        }
        // Between `a` and `a/b` there may be `a-c`.
        listing.sort();
        listing.dedup();
        Ok(())
    }
}

impl Entry {
    fn meta(&self) -> Meta {
        Meta {
            mtime: self.mtime,
            ctime: self.ctime,
            size: self.content.len() as u64,
            inode: self.inode,
            device: DEVICE,
        }
    }
}

impl Disk for MemoryDisk {
    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        let directory = visit.directory();
        let names = visit.names().map(<[u8]>::to_vec).collect();
        self.note(Access::Visit { directory: directory.to_vec(), names });
        let disk = self.now_it_is();
        counts.opens += 1;
        if disk.is_gone(directory) {
            stats.fill(Stat::Missing);
            return false;
        }
        if visit.how() == How::List {
            let mut lister = MemoryLister { disk: self, directory, listed: Vec::new() };
            list::answer(&mut lister, &mut Wanted::default(), visit, stats, counts);
            return true;
        }
        for (name, stat) in visit.names().zip(stats) {
            counts.stats += 1;
            *stat = disk.ask(&join(directory, name));
        }
        true
    }

    fn read_stamped(&self, path: &[u8]) -> io::Result<(Vec<u8>, Meta)> {
        self.note(Access::Read(path.to_vec()));
        let disk = self.now_it_is();
        let resolved = disk.resolve(path).map_err(io::Error::from_raw_os_error)?;
        let read = disk.files.get(&resolved).map(|entry| (entry.content.clone(), entry.meta()));
        self.was_read(path);
        read.ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn open<'a>(&'a self, path: &[u8]) -> io::Result<Box<dyn OpenFile + 'a>> {
        self.note(Access::Read(path.to_vec()));
        let disk = self.now_it_is();
        let resolved = disk.resolve(or_base(path)).map_err(io::Error::from_raw_os_error)?;
        let kind = disk.kind_of(&resolved)?;
        let entry = disk.files.get(&resolved).cloned();
        Ok(Box::new(MemoryFile { disk: self, path: path.to_vec(), resolved, kind, entry }))
    }

    fn list(&self, path: &[u8], listing: &mut Listing) -> io::Result<()> {
        self.note(Access::List(path.to_vec()));
        let disk = self.now_it_is();
        let resolved = disk.resolve(or_base(path)).map_err(io::Error::from_raw_os_error)?;
        let listed = disk.list_resolved(&resolved, listing);
        self.was_read(path);
        listed
    }

    fn kind(&self, path: &[u8]) -> io::Result<Kind> {
        self.note(Access::Kind(path.to_vec()));
        let disk = self.now_it_is();
        disk.kind_of(&disk.resolve(or_base(path)).map_err(io::Error::from_raw_os_error)?)
    }

    fn confirm(&self) -> Confirm {
        self.confirm
    }

    fn one_name(&self) -> Option<&OneName> {
        self.one_name.as_deref()
    }

    fn stamp_now(&self) -> Option<(Mtime, u64)> {
        Some((self.now_it_is().stamp(), DEVICE))
    }

    fn now(&self) -> SystemTime {
        let clock = self.now_it_is().clock;
        SystemTime::UNIX_EPOCH + Duration::from_nanos(u64::try_from(clock).unwrap_or(0))
    }
}

/// A directory whose entries tell what a stat does, but for links.
struct MemoryLister<'a> {
    disk: &'a MemoryDisk,
    directory: &'a [u8],
    /// The names that no call has got yet, the next of them last.
    listed: Vec<Vec<u8>>,
}

impl Lister for MemoryLister<'_> {
    type Unit = u8;

    fn folding(&self) -> Folding {
        if self.disk.folds || self.disk.is_case_doubtful { Folding::Case } else { Folding::None }
    }

    fn is_folding_certain(&self) -> bool {
        !self.disk.is_case_doubtful
    }

    fn spell(name: &[u8]) -> Option<impl Iterator<Item = u8>> {
        (!matches!(name, b"" | b"." | b"..")).then(|| name.iter().copied())
    }

    fn stamp(&mut self) -> Option<i64> {
        let disk = self.disk.now_it_is();
        let path = disk.resolve(self.directory).ok()?;
        disk.files.get(&path).map_or(Some(0), |entry| Some(entry.ctime))
    }

    fn read(&mut self, restarts: bool, limit: usize, sink: &mut impl FnMut(list::Entry<'_>)) -> Outcome {
        let disk = self.disk.now_it_is();
        if restarts {
            self.disk.note(Access::List(self.directory.to_vec()));
            let mut listing = Listing::default();
            let listed = disk.resolve(self.directory).map(|path| disk.list_resolved(&path, &mut listing));
            if !matches!(listed, Ok(Ok(()))) {
                return Outcome::Failed;
            }
            self.listed = listing.entries().map(|(name, _)| name.to_vec()).collect();
            self.listed.reverse();
        }
        let n = limit.clamp(1, disk.entries_per_call).min(self.listed.len());
        for name in self.listed.split_off(self.listed.len() - n).iter().rev() {
            let path = join(self.directory, name);
            let meta = match disk.files.get(&path) {
                Some(entry) if entry.kind != Kind::Link && !disk.faults.contains_key(&path) => {
                    Some(disk.entries.get(&path).copied().unwrap_or_else(|| entry.meta()))
                }
                _ => None,
            };
            sink(list::Entry { name, short_name: b"", meta });
        }
        self.disk.was_read(self.directory);
        if self.listed.is_empty() { Outcome::End } else { Outcome::More }
    }

    fn alone(&mut self, name: &[u8], counts: &mut IoCounts) -> Stat {
        counts.stats += 1;
        self.disk.now_it_is().ask(&join(self.directory, name))
    }
}

struct MemoryFile<'a> {
    disk: &'a MemoryDisk,
    /// As it was asked for.
    path: Vec<u8>,
    resolved: Vec<u8>,
    kind: Kind,
    /// What was opened; `None` for a directory that other paths imply.
    entry: Option<Entry>,
}

impl MemoryFile<'_> {
    /// The file as it is now.
    fn entry(&self) -> Option<Entry> {
        let opened = self.entry.as_ref()?;
        match self.disk.now_it_is().files.get(&self.resolved) {
            Some(entry) if entry.inode == opened.inode => Some(entry.clone()),
            // It has lost a name, and that is a change of its status.
            _ => Some(Entry { ctime: opened.ctime + 1, ..opened.clone() }),
        }
    }
}

impl OpenFile for MemoryFile<'_> {
    fn look(&self) -> io::Result<(Kind, Meta)> {
        Ok((self.kind, self.entry().map_or(Meta::default(), |entry| entry.meta())))
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let content = self.entry().map(|entry| entry.content).unwrap_or_default();
        let length = copy_at(&content, offset, buffer);
        self.disk.was_read(&self.path);
        Ok(length)
    }

    fn list(&self, listing: &mut Listing) -> io::Result<()> {
        let listed = self.disk.now_it_is().list_resolved(&self.resolved, listing);
        self.disk.was_read(&self.path);
        listed
    }
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let separator: &[u8] = if directory.is_empty() || directory == b"/" { b"" } else { b"/" };
    [directory, separator, name].concat()
}

/// The base as it is in paths.
fn or_base(path: &[u8]) -> &[u8] {
    if path == b"." { b"" } else { path }
}
