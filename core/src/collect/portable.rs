//! The standard library alone: one lookup by full path per file. The fallback where there is nothing
//! better, and the oracle that every other collector must equal.

use super::{Disk, hand_on};
use crate::plan::Visit;
use crate::snapshot::{IoCounts, Meta, Stat};
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The disk below a base directory.
pub struct PortableDisk {
    base: PathBuf,
}

impl PortableDisk {
    /// Takes `base` as the place that relative paths start from.
    ///
    /// # Errors
    /// When it is not a directory.
    pub fn new(base: &Path) -> std::io::Result<Self> {
        let base = std::fs::canonicalize(base)?;
        if !base.is_dir() {
            return Err(ErrorKind::NotADirectory.into());
        }
        Ok(Self { base })
    }

    fn full(&self, directory: &[u8], name: &[u8]) -> PathBuf {
        let separator: &[u8] = if directory.is_empty() || directory == b"/" { b"" } else { b"/" };
        self.base.join(os_path(&[directory, separator, name].concat()))
    }
}

impl Disk for PortableDisk {
    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        for (name, stat) in visit.names().zip(stats) {
            counts.stats += 1;
            *stat = match std::fs::metadata(self.full(visit.directory(), name)) {
                Ok(found) => Stat::Present(meta(&found)),
                Err(error) => match (error.kind(), error.raw_os_error()) {
                    (ErrorKind::NotFound | ErrorKind::NotADirectory, _) => Stat::Missing,
                    (_, errno) => Stat::Unreadable(errno.unwrap_or(0)),
                },
            };
        }
        true
    }

    fn read_stamped(&self, path: &[u8]) -> std::io::Result<(Vec<u8>, Meta)> {
        let mut file = File::open(self.base.join(os_path(path)))?;
        let stamp = meta(&file.metadata()?);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok((bytes, stamp))
    }

    fn scan(&self, path: &[u8], sink: &mut dyn FnMut(&[u8])) -> std::io::Result<Meta> {
        let mut file = File::open(self.base.join(os_path(path)))?;
        let stamp = meta(&file.metadata()?);
        hand_on(&mut file, sink)?;
        Ok(stamp)
    }
}

#[cfg(unix)]
fn meta(found: &Metadata) -> Meta {
    use std::os::unix::fs::MetadataExt;
    Meta {
        mtime: found.modified().map_or(0, since_epoch),
        ctime: Meta::mtime_from(found.ctime(), found.ctime_nsec()),
        size: found.len(),
        inode: found.ino(),
        device: found.dev(),
    }
}

#[cfg(not(unix))]
fn meta(found: &Metadata) -> Meta {
    Meta { mtime: found.modified().map_or(0, since_epoch), size: found.len(), ..Meta::default() }
}

fn since_epoch(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
    }
}

#[cfg(unix)]
fn os_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let bytes = memchr::memchr(0, bytes).map_or(bytes, |end| &bytes[..end]);
    std::ffi::OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
fn os_path(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}
