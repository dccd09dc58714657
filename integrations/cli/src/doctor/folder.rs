//! The folder for probe files: made inside the directory in question, always removed, and its traces wiped.
//!
//! Its name tells it apart (`.upcheck-doctor-PROCESS-MOMENT`), and a lock in it tells a folder in use from one that a
//! killed run has left. The directory's own time is put back, unless something else changed the directory meanwhile.

use super::finding::{Finding, few, mishap};
use super::look::{Measured, look, nanoseconds, set_mtime};
use crate::text::plural;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use upcheck::Mtime;

const PREFIX: &str = ".upcheck-doctor-";
const LOCK: &str = "lock";

/// A folder for probe files, which goes away with the value.
pub(super) struct Folder {
    path: PathBuf,
    directory: PathBuf,
    /// Held as long as the folder is in use.
    lock: Option<File>,
    times: Times,
}

/// The times of the directory that the folder is in.
struct Times {
    before: Mtime,
    /// When the folder was there. `None`: not known, so nothing is put back.
    with_folder: Option<Mtime>,
}

/// What earlier runs left.
#[derive(Default)]
pub(super) struct Leftovers {
    removed: Vec<String>,
    /// Why others could not be removed.
    stuck: Vec<String>,
}

impl Folder {
    /// Removes what killed runs left in `directory`, and makes a new folder there.
    pub(super) fn make(directory: &Path) -> (Measured<Self>, Leftovers) {
        let before = match look(directory) {
            Ok(look) => look.mtime,
            Err(mishap) => return (Err(mishap), Leftovers::default()),
        };
        let leftovers = remove_leftovers(directory);
        let moment = nanoseconds(SystemTime::now());
        let path = directory.join(format!("{PREFIX}{}-{moment}", std::process::id()));
        if let Err(cause) = fs::create_dir(&path) {
            if !leftovers.removed.is_empty() {
                let _ = set_mtime(directory, before);
            }
            return (Err(mishap("creating", &path, &cause)), leftovers);
        }
        let with_folder = look(directory).ok().map(|look| look.mtime);
        let times = Times { before, with_folder };
        let mut folder = Self { path, directory: directory.to_owned(), lock: None, times };
        let made = folder.take_lock().map(|()| folder);
        (made, leftovers)
    }

    /// Where probe files go.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folder and puts the directory's time back.
    pub(super) fn close(mut self) -> Measured<()> {
        self.remove()
    }

    fn take_lock(&mut self) -> Measured<()> {
        let path = self.path.join(LOCK);
        let lock = File::create_new(&path).map_err(|cause| mishap("creating", &path, &cause))?;
        // Where there are no locks, nobody else gets one either.
        let _ = lock.try_lock();
        self.lock = Some(lock);
        Ok(())
    }

    fn remove(&mut self) -> Measured<()> {
        if self.path.as_os_str().is_empty() {
            return Ok(());
        }
        let path = std::mem::take(&mut self.path);
        let now = look(&self.directory).ok().map(|look| look.mtime);
        self.lock = None;
        fs::remove_dir_all(&path).map_err(|cause| mishap("removing", &path, &cause))?;
        if now.is_some() && now == self.times.with_folder {
            // Somebody who may write to a directory may not be the one who may set its time.
            let _ = set_mtime(&self.directory, self.times.before);
        }
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = self.remove();
    }
}

impl Leftovers {
    /// What there is to say of them.
    pub(super) fn finding(&self) -> Option<Finding> {
        let n = self.removed.len();
        match self.stuck.first() {
            Some(mishap) => Some(stuck(mishap).with("removed", n).with("stuck", self.stuck.len())),
            None if n == 0 => None,
            None => {
                let these = plural(n, "folder");
                let message =
                    format!("removed {these} of an earlier run that was killed: {}", few(&self.removed, n));
                Some(Finding::info("leftovers", message).with("removed", n).with("stuck", 0))
            }
        }
    }
}

/// A folder for probe files that cannot be removed.
pub(super) fn stuck(mishap: &str) -> Finding {
    Finding::warning("leftovers", format!("a folder for probe files stays behind: {mishap}"))
        .with("removed", 0)
        .with("stuck", 1)
        .advise(format!("remove what is called {PREFIX}* by hand"))
}

fn remove_leftovers(directory: &Path) -> Leftovers {
    let mut leftovers = Leftovers::default();
    let Ok(entries) = fs::read_dir(directory) else { return leftovers };
    for entry in entries.flatten() {
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || !is_ours(&name) || !is_abandoned(&entry.path()) {
            continue;
        }
        match fs::remove_dir_all(entry.path()) {
            Ok(()) => leftovers.removed.push(name),
            Err(cause) => leftovers.stuck.push(mishap("removing", &entry.path(), &cause)),
        }
    }
    leftovers
}

fn is_ours(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    numbers.is_some_and(|(process, moment)| is_number(process) && is_number(moment))
}

/// Whether nobody holds the folder's lock. One that was killed before it made the lock left an empty folder.
fn is_abandoned(folder: &Path) -> bool {
    match OpenOptions::new().read(true).write(true).open(folder.join(LOCK)) {
        Ok(lock) => !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)),
        // In doubt it is the user's.
        Err(_) => fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_exact_form_are_ours() {
        assert!(is_ours(".upcheck-doctor-12-1700000000"));
        for name in [".upcheck-doctor", ".upcheck-doctor-1", ".upcheck-doctor-1-", ".upcheck-doctor-a-1"] {
            assert!(!is_ours(name), "{name}");
        }
    }
}
