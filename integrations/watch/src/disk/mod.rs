//! A disk that remembers: it answers as the one beneath it would, and asks that for what may have changed only.
//!
//! ```text
//!   begin:   everything that happened until now is drained, and marks what is remembered
//!   visit:   nothing marked      -> the remembered answers, and a question for each name that is not vouched for
//!            some names marked   -> these are watched, then asked for
//!            nothing remembered  -> path and names are watched, then all are asked for
//! ```
//!
//! A name is watched before it is asked for: so a change is in the answer, or it will be told of. What happens while one
//! looks marks what is remembered of it, whether that was put back by then or not.
//!
//! What is remembered of a file is vouched for only when it was proved that nobody has it open to write to it. That takes
//! longer than to ask for it, so a question does it for some files only; [`WatchedDisk::settle`] does it for the others.

mod answers;
mod memory;

pub use memory::{Asked, Memory, Options};

use crate::{Closed, NameTrust, Place, Trust};
use memory::{Block, Slot, State, Taken};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use upcheck::collect::{Confirm, Disk, Headway, Kind, Listing, OneName, OpenFile};
use upcheck::{Fields, How, IoCounts, Meta, Mtime, Stat, Visit};

/// A question proves of so many files that nobody has them open.
const PROOFS: usize = 1000;

/// A disk with a memory, for one question. The memory outlives it.
pub struct WatchedDisk<'a> {
    inner: &'a dyn Disk,
    memory: &'a Memory,
    /// Whether the disk's base is where the memory's is.
    is_same_base: AtomicBool,
    /// Of how many files it may still be proved that nobody has them open.
    n_proofs: AtomicUsize,
    /// Whether it remembers nothing new.
    only_asks: bool,
    /// For so many names the disk beneath was asked.
    n_asked: AtomicU64,
    /// For so many names there was an answer, remembered or asked for.
    n_answered: AtomicU64,
}

impl<'a> WatchedDisk<'a> {
    /// The disk `inner` with a memory of the same base. What changed until now is known when this returns.
    #[must_use]
    pub fn new(inner: &'a dyn Disk, memory: &'a Memory) -> Self {
        Self::open(inner, memory, false)
    }

    /// The same for a question that is to be answered soon: what is not remembered is asked for, and neither watched nor
    /// remembered. Somebody else does that later, with [`WatchedDisk::new`] and [`WatchedDisk::settle`].
    #[must_use]
    pub fn only_asking(inner: &'a dyn Disk, memory: &'a Memory) -> Self {
        Self::open(inner, memory, true)
    }

    fn open(inner: &'a dyn Disk, memory: &'a Memory, only_asks: bool) -> Self {
        let (is_same_base, n_proofs) = (AtomicBool::new(false), AtomicUsize::new(PROOFS));
        let [n_asked, n_answered] = [AtomicU64::new(0), AtomicU64::new(0)];
        let disk = Self { inner, memory, is_same_base, n_proofs, only_asks, n_asked, n_answered };
        disk.begin();
        disk
    }

    /// For how many names it has the answers from memory; `None` if it has asked for any.
    #[must_use]
    pub fn remembered(&self) -> Option<u64> {
        let [n_asked, n_answered] =
            [&self.n_asked, &self.n_answered].map(|count| count.load(Ordering::Relaxed));
        (n_asked == 0).then_some(n_answered)
    }

    fn count(&self, n_asked: u64, n_answered: u64) {
        self.n_asked.fetch_add(n_asked, Ordering::Relaxed);
        self.n_answered.fetch_add(n_answered, Ordering::Relaxed);
        self.memory.count(n_asked, n_answered);
    }

    /// Asks for what was asked for before and is not vouched for, and proves of at most so many files that nobody has them
    /// open, so that the next question need not. Of how many files that was done. It may run beside questions.
    pub fn settle(&self, n_files: usize) -> usize {
        self.n_proofs.store(n_files, Ordering::Relaxed);
        if !self.is_same_base.load(Ordering::Relaxed) {
            return 0;
        }
        let mut n_settled = 0;
        for directory in self.memory.unsettled() {
            let Taken { slot, epoch, mut blocks } = self.memory.take(&directory);
            for block in &mut blocks {
                let before = block.n_known();
                self.ask_some(&directory, block, &mut IoCounts::default());
                n_settled += block.n_known().saturating_sub(before);
            }
            self.memory.put((slot, epoch), blocks.into_iter());
            if self.n_proofs.load(Ordering::Relaxed) == 0 {
                break;
            }
        }
        n_settled
    }

    /// Watches and asks for all names of a visit.
    fn ask_all(
        &self,
        visit: Visit<'_>,
        slot: Slot,
        stats: &mut [Stat],
        counts: &mut IoCounts,
        slow: &mut dyn FnMut(Duration) -> usize,
    ) -> (bool, Option<Block>) {
        let path = self.memory.absolute(visit.directory());
        let (place, _) = self.memory.feed().watch(&path);
        // Before anything is looked at: what is told of the place from now on has to find its way here. What somebody else
        // was told before that may have been the end of its watches.
        self.memory.belongs(slot, place);
        let (place, trust) = self.memory.feed().watch(&path);
        if trust != Trust::Vouched {
            return (self.inner.visit_and_tell(visit, stats, counts, slow), None);
        }
        let trusts = self.memory.feed().watch_names(place, &path, visit.names());
        let is_there = self.inner.visit_and_tell(visit, stats, counts, slow);
        let judge = Judge::new(self, place, &path);
        let states = visit.names().zip(&*stats).zip(trusts);
        let states = states.map(|((name, stat), trust)| judge.state(name, *stat, trust)).collect();
        (is_there, Some(Block::new(visit, place, is_there, stats, states)))
    }

    /// Asks for those names in a block that are not vouched for.
    fn ask_some(&self, directory: &[u8], block: &mut Block, counts: &mut IoCounts) {
        let path = self.memory.absolute(directory);
        let mut judge = None;
        let mut asked = join(directory, b"");
        let length = asked.len();
        for (at, name) in block.not_known(directory) {
            let state = block.state(at);
            asked.truncate(length);
            asked.extend_from_slice(&name);
            counts.stats += 1;
            if state == State::Doubtful || self.only_asks {
                block.set(at, self.inner.stat(&asked), state);
                continue;
            }
            let trust = self.watch_name(block.place(), &path, &name);
            let stat = self.inner.stat(&asked);
            let judge = judge.get_or_insert_with(|| Judge::new(self, block.place(), &path));
            block.set(at, stat, judge.state(&name, stat, trust));
        }
    }

    fn watch_name(&self, place: Place, path: &[u8], name: &[u8]) -> NameTrust {
        let trusts = self.memory.feed().watch_names(place, path, [name].into_iter());
        trusts.first().copied().unwrap_or(NameTrust::Doubted)
    }

    /// Asks the disk beneath as well. The answer is the disk's; that of the memory is compared with it.
    fn verify(&self, visit: Visit<'_>, taken: (Slot, u64), was_there: bool, stats: &mut [Stat]) -> bool {
        let mut fresh = vec![Stat::Unknown; stats.len()];
        let is_there = self.inner.visit(visit, &mut fresh, &mut IoCounts::default());
        if was_there == is_there && fresh == stats {
            return is_there;
        }
        // What changed since this question began may differ, and will be told of.
        self.begin();
        let differ = visit.names().zip(fresh.iter().zip(&*stats)).filter(|(_, (a, b))| a != b);
        let names = differ.map(|(name, _)| name);
        if !self.memory.is_marked(taken, was_there != is_there, names) {
            self.memory.found_wrong();
        }
        stats.copy_from_slice(&fresh);
        is_there
    }
}

impl Disk for WatchedDisk<'_> {
    fn begin(&self) {
        self.inner.begin();
        self.memory.refresh();
        let is_same = self.inner.confirm() == Confirm::Nothing && self.memory.is_base(self.inner.stat(b"."));
        self.is_same_base.store(is_same, Ordering::Relaxed);
    }

    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        self.visit_and_tell(visit, stats, counts, &mut |_| 0)
    }

    fn visit_and_tell(
        &self,
        visit: Visit<'_>,
        stats: &mut [Stat],
        counts: &mut IoCounts,
        slow: &mut dyn FnMut(Duration) -> usize,
    ) -> bool {
        let is_ours = self.is_same_base.load(Ordering::Relaxed) && !visit.is_empty();
        if !is_ours || visit.how() == How::TooLong {
            return self.inner.visit_and_tell(visit, stats, counts, slow);
        }
        let Taken { slot, epoch, mut blocks } = self.memory.take(visit.directory());
        let found = blocks.iter().position(|block| block.is_for(visit));
        let block = found.map(|at| blocks.swap_remove(at));
        let was_there = block.is_some();
        let (is_there, block) = match block {
            Some(block) if block.is_mostly_unknown() && !self.only_asks => {
                self.count(stats.len() as u64, stats.len() as u64);
                self.ask_all(visit, slot, stats, counts, slow)
            }
            block if self.only_asks && block.as_ref().is_none_or(Block::is_mostly_unknown) => {
                self.count(stats.len() as u64, stats.len() as u64);
                (self.inner.visit_and_tell(visit, stats, counts, slow), block)
            }
            Some(mut block) => {
                let before = counts.stats;
                if !block.is_known() {
                    self.ask_some(visit.directory(), &mut block, counts);
                }
                block.copy_to(stats);
                self.count(counts.stats - before, stats.len() as u64);
                let is_there = block.is_there();
                (is_there, Some(block))
            }
            None => {
                self.count(stats.len() as u64, stats.len() as u64);
                self.ask_all(visit, slot, stats, counts, slow)
            }
        };
        if was_there && block.is_none() {
            self.memory.dropped();
        }
        self.memory.put((slot, epoch), blocks.into_iter().chain(block));
        if self.memory.options().verify {
            return self.verify(visit, (slot, epoch), is_there, stats);
        }
        is_there
    }

    fn read_stamped(&self, path: &[u8]) -> std::io::Result<(Vec<u8>, Meta)> {
        self.inner.read_stamped(path)
    }

    fn read(&self, path: &[u8]) -> std::io::Result<Vec<u8>> {
        self.inner.read(path)
    }

    fn scan(&self, path: &[u8], sink: &mut dyn FnMut(&[u8])) -> std::io::Result<Meta> {
        self.inner.scan(path, sink)
    }

    fn read_tail(&self, path: &[u8], offset: u64) -> std::io::Result<(Vec<u8>, Meta)> {
        self.inner.read_tail(path, offset)
    }

    fn open<'b>(&'b self, path: &[u8]) -> std::io::Result<Box<dyn OpenFile + 'b>> {
        self.inner.open(path)
    }

    fn list(&self, path: &[u8], listing: &mut Listing) -> std::io::Result<()> {
        self.inner.list(path, listing)
    }

    fn kind(&self, path: &[u8]) -> std::io::Result<Kind> {
        self.inner.kind(path)
    }

    fn stat(&self, path: &[u8]) -> Stat {
        self.inner.stat(path)
    }

    fn stamp_now(&self) -> Option<(Mtime, u64)> {
        self.inner.stamp_now()
    }

    fn fields(&self) -> Fields {
        self.inner.fields()
    }

    fn confirm(&self) -> Confirm {
        self.inner.confirm()
    }

    fn one_name(&self) -> Option<&OneName> {
        self.inner.one_name()
    }

    fn headway(&self) -> Option<&dyn Headway> {
        self.inner.headway()
    }

    fn now(&self) -> SystemTime {
        self.inner.now()
    }
}

/// Says what of a directory may be remembered.
struct Judge<'a> {
    disk: &'a WatchedDisk<'a>,
    place: Place,
    path: Vec<u8>,
    length: usize,
    /// The directory's file system; `None` if it is not there.
    device: Option<u64>,
}

impl<'a> Judge<'a> {
    fn new(disk: &'a WatchedDisk<'a>, place: Place, path: &[u8]) -> Self {
        let device = std::fs::metadata(os_path(path)).ok().map(|found| look(&found).1.device);
        let path = join(path, b"");
        Self { disk, place, length: path.len(), path, device }
    }

    /// What is known of a name, when this was said of it after it was watched.
    fn state(&self, name: &[u8], stat: Stat, trust: NameTrust) -> State {
        if trust == NameTrust::Doubted {
            return State::Doubtful;
        }
        let mut path = self.path[..self.length].to_vec();
        path.extend_from_slice(name);
        // Not what a link leads to, as the disk says it, but what is there.
        let found = std::fs::symlink_metadata(os_path(&path));
        match (stat, found) {
            (Stat::Missing, Err(error))
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                State::Known
            }
            (Stat::Present(meta), Ok(found)) if found.is_file() => {
                let (_, its) = look(&found);
                if Some(its.device) != self.device {
                    State::Doubtful
                } else if its != meta {
                    State::Unknown
                } else if trust == NameTrust::Held {
                    self.prove(name, &path)
                } else {
                    State::Known
                }
            }
            // It is another one already.
            (Stat::Missing, Ok(found)) if found.is_file() => State::Unknown,
            (Stat::Present(_) | Stat::Missing, Err(_)) => State::Unknown,
            // A link may lead to where nobody watches, a directory changes by what is in it, and the rest is not for files.
            _ => State::Doubtful,
        }
    }

    /// What is known of a file that is held. Whoever had it open until now and has written to it has been told of, at the latest
    /// when it was closed.
    fn prove(&self, name: &[u8], path: &[u8]) -> State {
        let left = &self.disk.n_proofs;
        if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err() {
            return State::Unknown;
        }
        match self.disk.memory.feed().prove_closed(self.place, name, path) {
            Closed::Yes => State::Known,
            Closed::No => State::Unknown,
            Closed::Unknowable => State::Doubtful,
        }
    }
}

/// Whether it is a plain file, and its stamp.
#[cfg(unix)]
fn look(found: &std::fs::Metadata) -> (bool, Meta) {
    use std::os::unix::fs::MetadataExt;
    let meta = Meta {
        mtime: Meta::mtime_from(found.mtime(), found.mtime_nsec()),
        ctime: Meta::mtime_from(found.ctime(), found.ctime_nsec()),
        size: found.size(),
        inode: found.ino(),
        device: found.dev(),
    };
    (found.is_file(), meta)
}

/// Elsewhere nothing is vouched for so far, and nobody gets here.
#[cfg(not(unix))]
fn look(found: &std::fs::Metadata) -> (bool, Meta) {
    (found.is_file(), Meta::default())
}

#[cfg(unix)]
fn os_path(path: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(path).into()
}

#[cfg(not(unix))]
fn os_path(path: &[u8]) -> PathBuf {
    String::from_utf8_lossy(path).into_owned().into()
}

/// A directory's path, a separator where one is needed, and a name.
fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let separator: &[u8] = if directory.is_empty() || directory.ends_with(b"/") { b"" } else { b"/" };
    [directory, separator, name].concat()
}
