//! A disk for one question: what nobody has told of is answered from memory, the rest is asked for.

use super::memory::{Block, Look, State};
use super::spelling::{is_missing, is_straight, join, os_path};
use super::{Inside, Told};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use upcheck::collect::{Confirm, Disk, Headway, Kind, Listing, OneName, OpenFile};
use upcheck::{Fields, How, IoCounts, Meta, Mtime, Stat, Visit};

/// The disk beneath, with what is remembered. It is good for one question: what changes after it was made may be seen or not.
pub struct ToldDisk<'a> {
    inner: &'a dyn Disk,
    young: Duration,
    /// Whether anything is remembered; otherwise the disk is asked for everything, and nothing is kept.
    remembers: bool,
    inside: Mutex<&'a mut Inside>,
}

impl<'a> ToldDisk<'a> {
    pub(super) fn new(inner: &'a dyn Disk, told: &'a mut Told, remembers: bool) -> Self {
        Self { inner, young: told.options.young, remembers, inside: Mutex::new(&mut told.inside) }
    }

    /// Asks for all names of a visit.
    fn ask_all(
        &self,
        visit: Visit<'_>,
        absolute: &[u8],
        stats: &mut [Stat],
        counts: &mut IoCounts,
        slow: &mut dyn FnMut(Duration) -> usize,
    ) -> (bool, Option<Block>) {
        // Before its names: who comes later has changed it.
        let look = look_at(self.inner, visit.directory(), self.young);
        let is_there = self.inner.visit_and_tell(visit, stats, counts, slow);
        if !matches!(look.stat, Stat::Missing | Stat::Present(_)) || !is_straight(absolute) {
            return (is_there, None);
        }
        let judge = Judge::new(self, absolute, look);
        let states = visit.names().zip(&*stats).map(|(name, stat)| judge.state(name, *stat)).collect();
        (is_there, Some(Block::new(visit, look, is_there, stats, states)))
    }

    /// Asks for those names of a visit that are not known. For how many.
    fn ask_some(&self, visit: Visit<'_>, absolute: &[u8], block: &mut Block) -> u64 {
        let judge = Judge::new(self, absolute, block.look);
        let mut n_asked = 0;
        for (at, name) in visit.names().enumerate() {
            let state = block.state(at);
            if state == State::Known {
                continue;
            }
            n_asked += 1;
            let stat = self.inner.stat(&join(visit.directory(), name));
            let state = if state == State::Doubtful { state } else { judge.state(name, stat) };
            block.set(at, stat, state);
        }
        n_asked
    }

    /// A panic in another thread is passed on by whoever had it, and nobody gets an answer.
    fn lock(&self) -> MutexGuard<'_, &'a mut Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a directory, and its absolute path if it can be remembered.
    fn place(&self, directory: &[u8]) -> (usize, Option<Box<[u8]>>) {
        let mut inside = self.lock();
        let at = inside.directories.find(directory).unwrap_or_else(|| {
            let place = inside.spelling.directory(directory);
            inside.directories.add(directory, place)
        });
        (at, inside.directories.all[at].absolute.clone())
    }
}

impl Disk for ToldDisk<'_> {
    fn begin(&self) {
        self.inner.begin();
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
        let n = stats.len() as u64;
        let place = (self.remembers && !visit.is_empty() && visit.how() != How::TooLong)
            .then(|| self.place(visit.directory()));
        let Some((at, Some(absolute))) = place else {
            self.lock().counts.of_disk += n;
            return self.inner.visit_and_tell(visit, stats, counts, slow);
        };
        let taken = self.lock().directories.take(at, visit);
        let (is_there, block, n_asked) = match taken {
            Some(mut block) => {
                let n_asked = if block.is_known() { 0 } else { self.ask_some(visit, &absolute, &mut block) };
                counts.stats += n_asked;
                stats.copy_from_slice(block.stats());
                (block.is_there(), Some(block), n_asked)
            }
            None => {
                let (is_there, block) = self.ask_all(visit, &absolute, stats, counts, slow);
                (is_there, block, n)
            }
        };
        let mut inside = self.lock();
        inside.counts.of_disk += n_asked;
        inside.counts.remembered += n - n_asked;
        if let Some(block) = block {
            inside.directories.put(at, block);
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

/// How a directory looks now, named as a visit does.
pub(super) fn look_at(disk: &dyn Disk, directory: &[u8], young: Duration) -> Look {
    let since = young_since(disk, young);
    look(disk.stat(if directory.is_empty() { b"." } else { directory }), since)
}

/// The same, as it was said. What changed at `since` or later is young.
pub(super) fn look(stat: Stat, since: Mtime) -> Look {
    let is_young = match stat {
        Stat::Present(meta) => meta.ctime >= since,
        _ => false,
    };
    Look { stat, is_young }
}

/// What changed then or later is young. Nanoseconds since 1970.
pub(super) fn young_since(disk: &dyn Disk, young: Duration) -> Mtime {
    Meta::mtime_at(disk.now()).saturating_sub(Mtime::try_from(young.as_nanos()).unwrap_or(Mtime::MAX))
}

/// Says what of a directory may be remembered.
struct Judge {
    /// With a separator at its end.
    path: Vec<u8>,
    /// The directory's file system; `None` if it is not there.
    device: Option<u64>,
    young_since: Mtime,
}

impl Judge {
    fn new(disk: &ToldDisk<'_>, absolute: &[u8], look: Look) -> Self {
        let device = match look.stat {
            Stat::Present(meta) => Some(meta.device),
            _ => None,
        };
        Self { path: join(absolute, b""), device, young_since: young_since(disk.inner, disk.young) }
    }

    /// What is known of a name when this was said of it.
    fn state(&self, name: &[u8], stat: Stat) -> State {
        let path = [&self.path[..], name].concat();
        let Some(path) = os_path(&path).filter(|_| name.is_ascii()) else { return State::Doubtful };
        // Not what a link leads to, as the disk says it, but what is there.
        match (stat, std::fs::symlink_metadata(path)) {
            (Stat::Missing, Err(error)) if is_missing(&error) => State::Known,
            (Stat::Present(meta), Ok(found)) if found.is_file() => {
                let Some((its, n_names)) = stamp(&found) else { return State::Doubtful };
                // By another name it may change without a word about this one.
                if n_names != 1 || Some(its.device) != self.device {
                    State::Doubtful
                } else if its != meta || its.ctime >= self.young_since {
                    State::Unknown
                } else {
                    State::Known
                }
            }
            // It is another one already.
            (Stat::Missing, Ok(found)) if found.is_file() => State::Unknown,
            (Stat::Unknown, _) | (Stat::Present(_) | Stat::Missing, Err(_)) => State::Unknown,
            // A link may lead to what is told of by another name, a directory changes by what is in it, and the rest is not
            // for files.
            _ => State::Doubtful,
        }
    }
}

/// A file's stamp, and how many names it has, where that can be known.
#[cfg(unix)]
fn stamp(found: &std::fs::Metadata) -> Option<(Meta, u64)> {
    use std::os::unix::fs::MetadataExt;
    let meta = Meta {
        mtime: Meta::mtime_from(found.mtime(), found.mtime_nsec()),
        ctime: Meta::mtime_from(found.ctime(), found.ctime_nsec()),
        size: found.size(),
        inode: found.ino(),
        device: found.dev(),
    };
    Some((meta, found.nlink()))
}

/// Elsewhere nothing is remembered so far.
#[cfg(not(unix))]
fn stamp(_: &std::fs::Metadata) -> Option<(Meta, u64)> {
    None
}
