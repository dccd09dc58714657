//! Unix: a descriptor per directory, and lookups of names relative to it.

use super::{Disk, PATH_MAX, hand_on};
use crate::snapshot::{IoCounts, Meta, Stat};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The disk below a base directory, which stays open: renaming it does not matter, and the process's own
/// working directory is neither used nor changed.
pub struct UnixDisk {
    base: OwnedFd,
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
        let base = open_directory(rustix::fs::CWD, base.as_os_str().as_bytes())?;
        Ok(Self { base })
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

    fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
        let mut path = directory.to_vec();
        if !path.is_empty() && path != b"/" {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        path
    }
}

impl Disk for UnixDisk {
    fn visit(&self, directory: &[u8], names: &[&[u8]], stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        let longest = names.iter().map(|name| name.len()).max().unwrap_or(0);
        // A path that is too long as a whole is refused, although its parts one by one would do.
        let by_path = names.len() == 1 || directory.len() + 1 + longest >= PATH_MAX;
        if directory.is_empty() || by_path {
            for (name, stat) in names.iter().zip(stats) {
                *stat = if directory.is_empty() {
                    look_up(self.base.as_fd(), name, counts)
                } else {
                    look_up(self.base.as_fd(), &Self::join(directory, name), counts)
                };
            }
            return true;
        }
        counts.opens += 1;
        match open_directory(self.base.as_fd(), directory) {
            Ok(open) => {
                for (name, stat) in names.iter().zip(stats) {
                    *stat = look_up(open.as_fd(), name, counts);
                }
                true
            }
            Err(Errno::NOENT | Errno::NOTDIR) => {
                stats.fill(Stat::Missing);
                false
            }
            // Out of descriptors, or a directory that may be searched but not opened: ask by path.
            Err(_) => {
                for (name, stat) in names.iter().zip(stats) {
                    *stat = look_up(self.base.as_fd(), &Self::join(directory, name), counts);
                }
                true
            }
        }
    }

    fn read_stamped(&self, path: &[u8]) -> std::io::Result<(Vec<u8>, Meta)> {
        let (mut file, stamp) = self.open_file(path)?;
        // A file with a hole can be larger than all memory.
        let size = usize::try_from(stamp.size).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size.saturating_add(1)).map_err(|_| ErrorKind::OutOfMemory)?;
        file.read_to_end(&mut bytes)?;
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
}

/// Opens a directory for looking up names in it. The `/.` makes an automounter mount it, as looking up a file by
/// its full path would: the last part of a path alone does not.
fn open_directory(from: BorrowedFd<'_>, directory: &[u8]) -> rustix::io::Result<OwnedFd> {
    let path = [directory, b"/."].concat();
    openat(from, path, SEARCH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// The types of these fields differ from one Unix to the next.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
fn meta(found: &rustix::fs::Stat) -> Meta {
    Meta {
        mtime: Meta::mtime_from(found.st_mtime as _, found.st_mtime_nsec as _),
        ctime: Meta::mtime_from(found.st_ctime as _, found.st_ctime_nsec as _),
        size: u64::try_from(found.st_size).unwrap_or(0),
        inode: found.st_ino as u64,
        device: found.st_dev as u64,
    }
}

fn look_up(directory: BorrowedFd<'_>, name: &[u8], counts: &mut IoCounts) -> Stat {
    counts.stats += 1;
    // A NUL ends a path for the operating system, and for every program that will look for the file.
    let name = memchr::memchr(0, name).map_or(name, |end| &name[..end]);
    // The root's name in the root is empty.
    let name = if name.is_empty() { b"." } else { name };
    match statat(directory, name, AtFlags::empty()) {
        Ok(found) => Stat::Present(meta(&found)),
        Err(Errno::NOENT | Errno::NOTDIR) => Stat::Missing,
        Err(error) => Stat::Unreadable(error.raw_os_error()),
    }
}
