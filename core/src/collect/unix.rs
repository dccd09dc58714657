//! Unix: lookups by path, or of names relative to a descriptor of their directory, whichever the plan says. What is
//! handed to the system stands in the plan as it is needed: nothing is copied, joined or allocated on the way.

#[cfg(any(target_os = "linux", target_os = "android"))]
use super::remote::{self, Remotes, Visiting};
use super::{Disk, Headway, Kind, Listing, OpenFile, hand_on};
use crate::path;
use crate::plan::{Asked, How, Visit};
use crate::snapshot::{IoCounts, Meta, Stat};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::{Errno, pread, retry_on_intr};
use rustix::path::Arg;
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The disk below a base directory, which stays open: renaming it does not matter, and the process's own
/// working directory is neither used nor changed.
pub struct UnixDisk {
    base: OwnedFd,
    headway: Option<Arc<dyn Headway>>,
    #[cfg(any(target_os = "linux", target_os = "android"))]
    remotes: Remotes,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const SEARCH: OFlags = OFlags::RDONLY;

impl UnixDisk {
    /// Opens `base`.
    ///
    /// # Errors
    /// When it is not a directory, or may not be searched.
    pub fn new(base: &Path) -> std::io::Result<Self> {
        if base.as_os_str().is_empty() {
            return Err(ErrorKind::NotFound.into());
        }
        let path = CString::new([base.as_os_str().as_bytes(), b"/."].concat())?;
        let base = open_directory(rustix::fs::CWD, &path)?;
        Ok(Self {
            base,
            headway: None,
            #[cfg(any(target_os = "linux", target_os = "android"))]
            remotes: Remotes::default(),
        })
    }

    /// The same disk, with somebody who is told how far the reading of content is.
    #[must_use]
    pub fn watched_by(self, headway: Arc<dyn Headway>) -> Self {
        Self { headway: Some(headway), ..self }
    }

    /// The same disk, but each listing of what is far away counts as all there is, whatever the file system is. For tests:
    /// of those that are far away, only FUSE can be had everywhere.
    #[cfg(all(feature = "testing", any(target_os = "linux", target_os = "android")))]
    #[must_use]
    pub fn believing(self) -> Self {
        Self { remotes: self.remotes.believing(), ..self }
    }

    /// The same disk, but listings of what is far away may take so many times as long as they should. For tests that count
    /// what is asked: with 0 each ends after its first call, and with very many no busy machine ends one.
    #[cfg(all(feature = "testing", any(target_os = "linux", target_os = "android")))]
    #[must_use]
    pub fn with_patience(self, patience: u32) -> Self {
        Self { remotes: self.remotes.with_patience(patience), ..self }
    }

    /// Looks up the names of a visit in `from`, which is the base, or the directory itself if it was opened.
    fn look_up_all(
        &self,
        from: BorrowedFd<'_>,
        visit: Visit<'_>,
        stats: &mut [Stat],
        counts: &mut IoCounts,
        slow: &mut dyn FnMut(Duration) -> usize,
    ) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if stats.len() >= remote::ENOUGH && visit.how() != How::TooLong {
            let visiting = Visiting { base: self.base.as_fd(), from, visit };
            return self.remotes.look_up_all(&visiting, stats, counts, slow);
        }
        let _ = slow;
        look_up_all(from, visit.asked(), stats, counts);
    }

    /// Opens a file for reading, with its stamp.
    fn open_file(&self, path: &[u8]) -> std::io::Result<(File, Meta)> {
        // Not to wait for whoever might write into a pipe some day.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = openat(&self.base, OsStr::from_bytes(path), flags, Mode::empty())?;
        let found = fstat(&file)?;
        if FileType::from_raw_mode(found.st_mode).is_fifo() {
            return Err(std::io::Error::other("it is a pipe, not a file"));
        }
        Ok((file.into(), meta(&found)))
    }
}

impl Disk for UnixDisk {
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
        if !visit.how().opens() {
            self.look_up_all(self.base.as_fd(), visit, stats, counts, slow);
            return true;
        }
        counts.opens += 1;
        match open_directory(self.base.as_fd(), visit.to_open()) {
            #[cfg(target_vendor = "apple")]
            Ok(open)
                if visit.how() == How::List
                    && super::macos::answer(&super::macos::Darwin, open.as_fd(), visit, stats, counts) => {}
            Ok(open) => self.look_up_all(open.as_fd(), visit, stats, counts, slow),
            Err(Errno::NOENT | Errno::NOTDIR) => {
                stats.fill(Stat::Missing);
                return false;
            }
            // Out of descriptors, or a directory that may be searched but not opened.
            Err(_) => look_up_by_path(self.base.as_fd(), visit, stats, counts),
        }
        true
    }

    fn read_stamped(&self, path: &[u8]) -> std::io::Result<(Vec<u8>, Meta)> {
        let (file, stamp) = self.open_file(path)?;
        // A file with a hole can be larger than all memory.
        let size = usize::try_from(stamp.size).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size.saturating_add(1)).map_err(|_| ErrorKind::OutOfMemory)?;
        // The size is known. A file alone would be asked for it again, and for where it stands.
        file.take(u64::MAX).read_to_end(&mut bytes)?;
        Ok((bytes, stamp))
    }

    fn read_tail(&self, path: &[u8], offset: u64) -> std::io::Result<(Vec<u8>, Meta)> {
        let (mut file, stamp) = self.open_file(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok((bytes, stamp))
    }

    fn scan(&self, path: &[u8], sink: &mut dyn FnMut(&[u8])) -> std::io::Result<Meta> {
        let (mut file, stamp) = self.open_file(path)?;
        hand_on(&mut file, sink)?;
        Ok(stamp)
    }

    fn open<'a>(&'a self, path: &[u8]) -> std::io::Result<Box<dyn OpenFile + 'a>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        Ok(Box::new(UnixFile(openat(&self.base, or_base(path), flags, Mode::empty())?)))
    }

    fn list(&self, path: &[u8], listing: &mut Listing) -> std::io::Result<()> {
        listing.clear();
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY;
        Ok(list(openat(&self.base, or_base(path), flags, Mode::empty())?, listing)?)
    }

    fn headway(&self) -> Option<&dyn Headway> {
        self.headway.as_deref()
    }

    fn kind(&self, path: &[u8]) -> std::io::Result<Kind> {
        let found = statat(&self.base, or_base(path), AtFlags::empty())?;
        Ok(kind(FileType::from_raw_mode(found.st_mode)))
    }
}

struct UnixFile(OwnedFd);

impl OpenFile for UnixFile {
    fn look(&self) -> std::io::Result<(Kind, Meta)> {
        let found = fstat(&self.0)?;
        Ok((kind(FileType::from_raw_mode(found.st_mode)), meta(&found)))
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match retry_on_intr(|| pread(&self.0, &mut buffer[done..], offset + done as u64))? {
                0 => break,
                length => done += length,
            }
        }
        Ok(done)
    }

    fn list(&self, listing: &mut Listing) -> std::io::Result<()> {
        listing.clear();
        // A descriptor of its own, because a directory is read from where its descriptor stands.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::DIRECTORY;
        Ok(list(openat(&self.0, c".", flags, Mode::empty())?, listing)?)
    }
}

/// So many bytes of names are asked for at once.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NAMES: usize = 64 * 1024;

/// Adds the names of an open directory.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn list(directory: OwnedFd, listing: &mut Listing) -> rustix::io::Result<()> {
    let mut buffer = Vec::with_capacity(NAMES);
    let mut entries = rustix::fs::RawDir::new(&directory, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Err(Errno::INTR) => continue,
            entry => entry?,
        };
        add(&directory, entry.file_name(), entry.file_type(), listing)?;
    }
    Ok(())
}

/// Adds the names of an open directory.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn list(directory: OwnedFd, listing: &mut Listing) -> rustix::io::Result<()> {
    for entry in rustix::fs::Dir::read_from(&directory)? {
        let entry = entry?;
        add(&directory, entry.file_name(), entry.file_type(), listing)?;
    }
    Ok(())
}

fn add(
    directory: &OwnedFd,
    name: &CStr,
    file_type: FileType,
    listing: &mut Listing,
) -> rustix::io::Result<()> {
    if name == c"." || name == c".." {
        return Ok(());
    }
    let kind = match kind(file_type) {
        // Some file systems tell names only.
        Kind::Unknown => match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => kind(FileType::from_raw_mode(found.st_mode)),
            // It is gone already.
            Err(Errno::NOENT) => return Ok(()),
            Err(_) => Kind::Unknown,
        },
        known => known,
    };
    listing.push(name.to_bytes(), kind);
    Ok(())
}

fn kind(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        FileType::Unknown => Kind::Unknown,
        _ => Kind::Other,
    }
}

/// The base has an empty path here, but not for the system.
fn or_base(path: &[u8]) -> &OsStr {
    OsStr::from_bytes(if path.is_empty() { b"." } else { path })
}

/// The path ends with `/.`, see the plan's directories.
fn open_directory(from: BorrowedFd<'_>, path: &CStr) -> rustix::io::Result<OwnedFd> {
    openat(from, path, SEARCH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

fn look_up_all(from: BorrowedFd<'_>, asked: Asked<'_>, stats: &mut [Stat], counts: &mut IoCounts) {
    counts.stats += stats.len() as u64;
    for (asked, stat) in asked.zip(stats) {
        // The root's name in the root is empty.
        *stat = look_up(from, if asked.is_empty() { c"." } else { asked });
    }
}

/// Asks for the names of a visit by their paths, although they stand in it as names of an open directory.
fn look_up_by_path(base: BorrowedFd<'_>, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) {
    counts.stats += stats.len() as u64;
    for (name, stat) in visit.names().zip(stats) {
        *stat = look_up(base, path::join(visit.directory(), name));
    }
}

/// The types of these fields differ from one Unix to the next.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
pub(super) fn meta(found: &rustix::fs::Stat) -> Meta {
    Meta {
        mtime: Meta::mtime_from(found.st_mtime as _, found.st_mtime_nsec as _),
        ctime: Meta::mtime_from(found.st_ctime as _, found.st_ctime_nsec as _),
        size: u64::try_from(found.st_size).unwrap_or(0),
        inode: found.st_ino as u64,
        device: found.st_dev as u64,
    }
}

pub(super) fn look_up(from: BorrowedFd<'_>, path: impl Arg) -> Stat {
    stat_of(statat(from, path, AtFlags::empty()))
}

/// What an answer of the system means.
pub(super) fn stat_of(answer: rustix::io::Result<rustix::fs::Stat>) -> Stat {
    match answer {
        Ok(found) => Stat::Present(meta(&found)),
        Err(Errno::NOENT | Errno::NOTDIR) => Stat::Missing,
        Err(error) => Stat::Unreadable(error.raw_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::FileTable;
    use crate::plan::{Costs, Plan};

    #[test]
    fn names_in_the_base_and_in_the_root_are_not_mistaken_for_each_other_when_no_directory_can_be_opened() {
        let place = tempfile::tempdir().expect("a temporary directory");
        // Names that there are in one of the two only: so many that both are listed.
        let ours: Vec<_> = (0..40).map(|n| format!("f{n}")).collect();
        ours.iter().for_each(|name| std::fs::write(place.path().join(name), "").expect("a file"));
        let theirs = ["bin", "dev", "etc", "usr"].iter().map(|name| format!("/{name}"));
        let missing = (0..40).map(|n| format!("/f{n}"));
        let paths: Vec<_> = ours.iter().cloned().chain(theirs).chain(["bin".into()]).chain(missing).collect();
        let mut table = FileTable::default();
        let ids: Vec<_> = paths.iter().map(|path| table.intern(path.as_bytes())).collect();
        let plan = Plan::with_costs(&table, ids, &Costs::MACOS);
        let disk = UnixDisk::new(place.path()).expect("a directory");
        for visit in plan.visits() {
            assert!(visit.how().opens(), "{}", visit.directory().escape_ascii());
            let mut found = vec![Stat::Unknown; visit.len()];
            look_up_by_path(disk.base.as_fd(), visit, &mut found, &mut IoCounts::default());
            for (name, stat) in visit.names().zip(&found) {
                let is_ours = name.starts_with(b"f");
                let is_there = is_ours == visit.directory().is_empty();
                let name = name.escape_ascii();
                assert_eq!(matches!(stat, Stat::Present(_)), is_there, "{name}: {stat:?}");
            }
        }
    }
}
