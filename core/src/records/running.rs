//! Which targets are being built: a lock for each, so that two runs of the same one wait for each other.
//!
//! `running/NAME` below the folder of records, where NAME is the first 32 hexadecimal digits of the BLAKE3 digest of the
//! target's name. It is locked while the target is being built, and holds the number of the process that does it, in
//! decimal digits. A file that nobody has locked means nothing: its holder was killed.

use super::lock::lock;
use super::told;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A target that nobody else builds until this is dropped, or its process ends.
#[derive(Debug)]
pub struct TargetLock {
    file: File,
    path: PathBuf,
}

/// Locks a target in the folder of records `dir`, which is made if it is not there. `None` if somebody else has it,
/// in this process or another, and this is not to `wait`.
///
/// # Errors
/// When the folder or the file cannot be made or locked.
pub fn lock_target(dir: &Path, name: &[u8], wait: bool) -> io::Result<Option<TargetLock>> {
    let path = path_of(dir, name);
    let folder = dir.join(FOLDER);
    fs::create_dir_all(&folder).map_err(|error| told("make", &folder, &error))?;
    let Some(mut file) = lock(&path, wait).map_err(|error| told("lock", &path, &error))? else {
        return Ok(None);
    };
    // The number is for a message only: a full disk does not hinder a build.
    let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
    Ok(Some(TargetLock { file, path }))
}

/// The process that has locked a target, or had: only to be asked when [`lock_target`] said that somebody has. `None`
/// where it cannot be told.
#[must_use]
pub fn target_holder(dir: &Path, name: &[u8]) -> Option<u32> {
    fs::read_to_string(path_of(dir, name)).ok()?.parse().ok()
}

impl Drop for TargetLock {
    fn drop(&mut self) {
        // Only who holds the lock removes the file, and whoever gets the lock looks whether the file is still the one
        // that lies there. Elsewhere it stays: there a file that is open cannot be removed.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
        let _ = self.file.unlock();
    }
}

const FOLDER: &str = "running";

fn path_of(dir: &Path, name: &[u8]) -> PathBuf {
    let digest = blake3::hash(name).to_hex();
    dir.join(FOLDER).join(&digest[..32])
}
