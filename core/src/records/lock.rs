//! A lock is a file that is locked by the operating system: it is free again when its holder ends, however it ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Locks the file at `path` for this holder alone, making it if it is not there. `None` if somebody else has it and
/// this is not to `wait`.
///
/// Whoever holds the lock may remove the file: those who wait for it notice that it is another one now.
pub(super) fn lock(path: &Path, wait: bool) -> io::Result<Option<File>> {
    loop {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match if wait { file.lock() } else { file.try_lock().or_else(refused) } {
            Ok(()) if is_at(&file, path)? => return Ok(Some(file)),
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock && !wait => return Ok(None),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn refused(error: TryLockError) -> io::Result<()> {
    Err(match error {
        TryLockError::WouldBlock => ErrorKind::WouldBlock.into(),
        TryLockError::Error(error) => error,
    })
}

/// Whether this is the file that lies at `path` now.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let there = match fs::metadata(path) {
        Ok(there) => there,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let here = file.metadata()?;
    Ok((here.dev(), here.ino()) == (there.dev(), there.ino()))
}

/// Nobody removes the file here: see [`TargetLock`](super::TargetLock).
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    fs::exists(path)
}
