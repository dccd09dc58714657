//! What files hold: each is read once at most, for the digest that names it in a cache.

use crate::doubt::Doubt;
use crate::root::to_path;
use crate::threads::each;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fs;
use std::io;
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

/// So many bytes are read at once.
const PIECE: usize = 256 * 1024;

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
        let unreadable = |error: &io::Error| match error.kind() {
            io::ErrorKind::NotFound => Doubt::Missing(path.into()),
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
        let (digest, read) = self.digest(path, meta.size).map_err(|error| unreadable(&error))?;
        if read != meta || self.disk.stat(path) != Stat::Present(meta) || digest.size != meta.size {
            return Err(Doubt::Changing(path.into()));
        }
        Ok(Held { digest, is_executable, meta, is_racy: is_racy(meta, moment) })
    }

    /// What is read of a file that should have so many bytes, and how it looked before. Of one that has more it is not much
    /// more: a device may go on for ever.
    fn digest(&self, path: &[u8], size: u64) -> io::Result<(Digest, Meta)> {
        let file = self.disk.open(path)?;
        let (_, meta) = file.look()?;
        let most = size.saturating_add(1);
        let mut buffer = vec![0; usize::try_from(most).map_or(PIECE, |most| most.min(PIECE))];
        let (mut hasher, mut read) = (Sha256::new(), 0);
        while read < most {
            let length = file.read_at(read, &mut buffer)?;
            hasher.update(&buffer[..length]);
            read += length as u64;
            if length < buffer.len() {
                break;
            }
        }
        Ok((Digest { sha256: hasher.finalize().into(), size: read }, meta))
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use upcheck::collect::os_disk;

    #[test]
    fn what_has_no_end_is_not_read_to_its_end() {
        let space = tempfile::tempdir().expect("a directory");
        let disk = os_disk(space.path()).expect("a disk");
        let files = Files::new(&disk, space.path().to_owned(), None, 1);
        let zeros = files.held(b"/dev/zero");
        assert_eq!(zeros, Err(Doubt::Changing((*b"/dev/zero").into())));
        assert_eq!(files.held(b"/dev/null").map(|held| held.digest), Ok(Digest::EMPTY));
    }

    #[test]
    fn files_are_read_as_a_whole_whatever_their_size() {
        let space = tempfile::tempdir().expect("a directory");
        let disk = os_disk(space.path()).expect("a disk");
        let files = Files::new(&disk, space.path().to_owned(), None, 2);
        for size in [0, 1, PIECE - 2, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let content: Vec<u8> = (0..=250).cycle().take(size).collect();
            let name = size.to_string();
            fs::write(space.path().join(&name), &content).expect("a file");
            let held = files.held(name.as_bytes()).expect("it can be read");
            assert_eq!(held.digest, Digest::of(&content), "{size}");
            assert!(files.is_as_found(name.as_bytes()));
        }
    }
}
