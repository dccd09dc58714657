//! What the operating system says of one file, and setting its time: in one form on all platforms.

use super::finding::mishap;
use std::fs::{self, File, FileTimes, Metadata, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};
use upcheck::Mtime;

/// What a measurement comes to; where it fails: operation, path and cause.
pub(super) type Measured<T> = Result<T, String>;

/// What is known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) mtime: Mtime,
    /// `None` where the platform has none.
    pub(super) ctime: Option<Mtime>,
    /// Device and number; `None` where the platform has none.
    pub(super) inode: Option<(u64, u64)>,
}

/// Looks at a file or a directory; a link is followed.
pub(super) fn look(path: &Path) -> Measured<Look> {
    let found = fs::metadata(path).map_err(|cause| mishap("looking at", path, &cause))?;
    let mtime = found.modified().map_err(|cause| mishap("looking at the time of", path, &cause))?;
    let (ctime, inode) = of_unix(&found);
    Ok(Look { mtime: nanoseconds(mtime), ctime, inode })
}

/// Sets when a file or a directory was last changed.
pub(super) fn set_mtime(path: &Path, mtime: Mtime) -> Measured<()> {
    let since = Duration::from_nanos(mtime.unsigned_abs());
    let epoch = SystemTime::UNIX_EPOCH;
    let time = if mtime < 0 { epoch.checked_sub(since) } else { epoch.checked_add(since) };
    let times = FileTimes::new().set_modified(time.unwrap_or(epoch));
    let file = if path.is_dir() { File::open(path) } else { OpenOptions::new().write(true).open(path) };
    let set = file.and_then(|file| file.set_times(times));
    set.map_err(|cause| mishap("setting the time of", path, &cause))
}

/// Creates a file, or writes another one's content anew, in place.
pub(super) fn write(path: &Path, content: &[u8]) -> Measured<()> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).open(path);
    file.and_then(|mut file| file.write_all(content)).map_err(|cause| mishap("writing", path, &cause))
}

/// A time as nanoseconds since 1970, held at the ends of the range.
pub(super) fn nanoseconds(time: SystemTime) -> Mtime {
    let held = |duration: Duration| Mtime::try_from(duration.as_nanos()).unwrap_or(Mtime::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => held(since),
        Err(before) => -held(before.duration()),
    }
}

#[cfg(unix)]
fn of_unix(found: &Metadata) -> (Option<Mtime>, Option<(u64, u64)>) {
    use std::os::unix::fs::MetadataExt;
    let ctime = upcheck::Meta::mtime_from(found.ctime(), found.ctime_nsec());
    (Some(ctime), Some((found.dev(), found.ino())))
}

#[cfg(not(unix))]
fn of_unix(_found: &Metadata) -> (Option<Mtime>, Option<(u64, u64)>) {
    (None, None)
}
