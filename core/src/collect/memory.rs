//! A disk in memory for tests: a clock that is set by hand, an access log, and faults.
#![cfg(any(test, feature = "testing"))]

use super::Disk;
use crate::path;
use crate::plan::Visit;
use crate::snapshot::{IoCounts, Meta, Mtime, Stat};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

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
    /// A file was read.
    Read(Vec<u8>),
}

#[derive(Clone, Debug, Default)]
struct Entry {
    content: Vec<u8>,
    mtime: Mtime,
    ctime: Mtime,
    inode: u64,
}

/// Files by path, with directories only as far as the paths imply them.
#[derive(Debug, Default)]
pub struct MemoryDisk {
    files: BTreeMap<Vec<u8>, Entry>,
    faults: BTreeMap<Vec<u8>, i32>,
    gone: BTreeSet<Vec<u8>>,
    clock: Mtime,
    /// Counts changes, so that no two of them, of any file, have the same status change time.
    changes: Mtime,
    next_inode: u64,
    log: Mutex<Vec<Access>>,
}

impl MemoryDisk {
    /// An empty disk whose clock stands at 1 s.
    #[must_use]
    pub fn new() -> Self {
        Self { clock: 1_000_000_000, ..Self::default() }
    }

    /// Sets the clock, in nanoseconds since 1970. It may go back.
    pub fn set_clock(&mut self, now: Mtime) {
        self.clock = now;
    }

    /// Lets a second pass.
    pub fn tick(&mut self) {
        self.clock += 1_000_000_000;
    }

    /// Writes a file, as of now.
    pub fn write(&mut self, path: &str, content: &[u8]) {
        self.files.remove(path.as_bytes());
        let mtime = self.clock;
        let entry = self.change(path);
        entry.content = content.to_vec();
        entry.mtime = mtime;
    }

    /// Sets a file's time without a change, creating it where it is missing.
    pub fn touch(&mut self, path: &str, mtime: Mtime) {
        self.change(path).mtime = mtime;
    }

    /// A file that is about to be changed, or made.
    fn change(&mut self, path: &str) -> &mut Entry {
        self.changes += 1;
        let next_inode = &mut self.next_inode;
        let entry = self.files.entry(path.as_bytes().to_vec()).or_insert_with(|| {
            *next_inode += 1;
            Entry { inode: *next_inode, ..Entry::default() }
        });
        entry.ctime = self.changes;
        entry
    }

    /// Removes a file.
    pub fn remove(&mut self, path: &str) {
        self.files.remove(path.as_bytes());
    }

    /// Says that a directory does not exist, so that a visit to it fails as a whole.
    pub fn remove_directory(&mut self, path: &str) {
        self.gone.insert(path.as_bytes().to_vec());
    }

    /// Makes every access to `path` fail with an error number of the operating system.
    pub fn fail(&mut self, path: &str, errno: i32) {
        self.faults.insert(path.as_bytes().to_vec(), errno);
    }

    /// Takes the log of all accesses so far.
    pub fn take_log(&self) -> Vec<Access> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Access>> {
        self.log.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Whether a directory, or one above it, was removed.
    fn is_gone(&self, directory: &[u8]) -> bool {
        self.gone.contains(directory)
            || !directory.is_empty() && directory != b"/" && self.is_gone(path::split(directory).0)
    }

    fn status(&self, path: &[u8]) -> Stat {
        if let Some(&errno) = self.faults.get(path) {
            return Stat::Unreadable(errno);
        }
        match self.files.get(path) {
            None => Stat::Missing,
            Some(entry) => Stat::Present(entry.meta()),
        }
    }
}

impl Entry {
    fn meta(&self) -> Meta {
        Meta {
            mtime: self.mtime,
            ctime: self.ctime,
            size: self.content.len() as u64,
            inode: self.inode,
            device: 1,
        }
    }
}

impl Disk for MemoryDisk {
    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        let directory = visit.directory();
        let names = visit.names().map(<[u8]>::to_vec).collect();
        self.lock().push(Access::Visit { directory: directory.to_vec(), names });
        counts.opens += 1;
        if self.is_gone(directory) {
            stats.fill(Stat::Missing);
            return false;
        }
        for (name, stat) in visit.names().zip(stats) {
            counts.stats += 1;
            let mut path = directory.to_vec();
            if !path.is_empty() && path != b"/" {
                path.push(b'/');
            }
            path.extend_from_slice(name);
            *stat = self.status(&path);
        }
        true
    }

    fn read_stamped(&self, path: &[u8]) -> std::io::Result<(Vec<u8>, Meta)> {
        self.lock().push(Access::Read(path.to_vec()));
        if let Some(&errno) = self.faults.get(path) {
            return Err(std::io::Error::from_raw_os_error(errno));
        }
        match self.files.get(path) {
            Some(entry) => Ok((entry.content.clone(), entry.meta())),
            None => Err(std::io::ErrorKind::NotFound.into()),
        }
    }

    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(u64::try_from(self.clock).unwrap_or(0))
    }
}
