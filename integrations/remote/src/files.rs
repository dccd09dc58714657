//! What files hold: each is read once at most, for the digest that names it in a cache.

use crate::doubt::Doubt;
use crate::root::to_path;
use crate::threads::each;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};
#[cfg(unix)]
use std::time::{Duration, Instant};
use upcheck::collect::Disk;
use upcheck::{Meta, Stat, is_racy, os_message};
use upcheck_ninja::contents::Contents;
use upcheck_reapi::Digest;

/// No clock of a file system ticks less often.
#[cfg(unix)]
const LONGEST_TICK: Duration = Duration::from_millis(2_500);

/// What a file held, and how it looked then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) digest: Digest,
    pub(crate) is_executable: bool,
    pub(crate) meta: Meta,
    /// Whether a change right after it was read may have left its stamp as it is.
    pub(crate) is_racy: bool,
}

/// What is known of files, by their paths from the build directory.
pub(crate) struct Files<'a> {
    disk: &'a dyn Disk,
    base: PathBuf,
    threads: usize,
    /// What files with these stamps hold, by the records.
    proven: HashMap<Meta, [u8; 32]>,
    known: RwLock<HashMap<Vec<u8>, Result<Held, Doubt>>>,
}

/// Files up to this size, in bytes, are read in one go. For larger ones there is a buffer, which costs more than they do.
const SMALL: u64 = 128 << 10;

impl<'a> Files<'a> {
    /// Nothing is read yet. `contents`: what is on record, which spares reading what still looks the same.
    pub(crate) fn new(
        disk: &'a dyn Disk,
        base: PathBuf,
        contents: Option<&Contents>,
        threads: usize,
    ) -> Self {
        let proven = contents.map(|contents| contents.proven().collect()).unwrap_or_default();
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, Into::into),
            given => given,
        };
        Self { disk, base, threads, proven, known: RwLock::default() }
    }

    /// How many threads may do something for this.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Looks at those files that were not looked at yet, several at once.
    pub(crate) fn look(&self, paths: impl IntoIterator<Item = Vec<u8>>) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut new: Vec<Vec<u8>> = paths.into_iter().filter(|path| !known.contains_key(path)).collect();
        drop(known);
        new.sort_unstable();
        new.dedup();
        let held = each(self.threads, &new, |path| self.read(path, true));
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        // Two threads may have looked at the same file: what was said first of it holds.
        for (path, held) in new.into_iter().zip(held) {
            known.entry(path).or_insert(held);
        }
    }

    /// What a file holds. One that nobody has looked at is looked at now.
    pub(crate) fn held(&self, path: &[u8]) -> Result<Held, Doubt> {
        if let Some(held) = self.known(path) {
            return held;
        }
        self.look([path.to_vec()]);
        self.known(path).unwrap_or_else(|| Err(Doubt::Missing(path.into())))
    }

    fn known(&self, path: &[u8]) -> Option<Result<Held, Doubt>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    /// Whether a file is still as it was found: the same stamp, and where that proves nothing, the same content.
    pub(crate) fn is_as_found(&self, path: &[u8]) -> bool {
        let Some(Ok(held)) = self.known(path) else { return false };
        if self.disk.stat(path) != Stat::Present(held.meta) {
            return false;
        }
        !held.is_racy
            || self.read(path, false).is_ok_and(|now| now.digest == held.digest && now.meta == held.meta)
    }

    /// Waits until the stamps of all files that were looked at prove something: some milliseconds after the newest one,
    /// two seconds where stamps are coarse. Files with stamps that are far ahead are not waited for.
    #[cfg(unix)]
    pub(crate) fn settle(&self) {
        let began = Instant::now();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let racy: Vec<Meta> =
            known.values().flatten().filter(|held| held.is_racy).map(|held| held.meta).collect();
        drop(known);
        let is_open = |meta: &Meta| is_racy(*meta, Meta::mtime_at(self.disk.now()));
        while racy.iter().any(is_open) && began.elapsed() < LONGEST_TICK {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn read(&self, path: &[u8], may_know: bool) -> Result<Held, Doubt> {
        let unreadable = |error: &std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => Doubt::Missing(path.into()),
            _ => Doubt::Unreadable(path.into(), os_message(error).into()),
        };
        let status = fs::metadata(self.base.join(to_path(path))).map_err(|error| unreadable(&error))?;
        if status.is_dir() {
            return Err(Doubt::Directory(path.into()));
        }
        #[cfg(unix)]
        let meta = stamp(&status);
        #[cfg(not(unix))]
        let Stat::Present(meta) = self.disk.stat(path) else { return Err(Doubt::Missing(path.into())) };
        let is_executable = is_executable(&status);
        // A stamp without an inode or a time of the status proves nothing.
        let proves = may_know && meta.inode != 0 && meta.ctime != 0;
        if let Some(sha256) = self.proven.get(&meta).filter(|_| proves) {
            let digest = Digest { sha256: *sha256, size: meta.size };
            return Ok(Held { digest, is_executable, meta, is_racy: false });
        }
        let moment = Meta::mtime_at(self.disk.now());
        let (mut hasher, mut size) = (Sha256::new(), 0u64);
        let mut take = |piece: &[u8]| {
            hasher.update(piece);
            size += piece.len() as u64;
        };
        let read = if meta.size <= SMALL {
            self.disk.read_stamped(path).map(|(bytes, read)| {
                take(&bytes);
                read
            })
        } else {
            self.disk.scan(path, &mut take)
        };
        let read = read.map_err(|error| unreadable(&error))?;
        if read != meta || self.disk.stat(path) != Stat::Present(meta) || size != meta.size {
            return Err(Doubt::Changing(path.into()));
        }
        let digest = Digest { sha256: hasher.finalize().into(), size };
        Ok(Held { digest, is_executable, meta, is_racy: is_racy(meta, moment) })
    }
}

/// The stamp that the disk would tell. It is that of the look which tells the permissions, so one changes with the other.
#[cfg(unix)]
fn stamp(status: &fs::Metadata) -> Meta {
    use std::os::unix::fs::MetadataExt;
    Meta {
        mtime: Meta::mtime_from(status.mtime(), status.mtime_nsec()),
        ctime: Meta::mtime_from(status.ctime(), status.ctime_nsec()),
        size: status.size(),
        inode: status.ino(),
        device: status.dev(),
    }
}

#[cfg(unix)]
fn is_executable(status: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    status.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}
