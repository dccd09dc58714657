//! Which program a process runs, so that an answer always comes from the program that was asked.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The program of this process, as it was on the disk when it began.
#[derive(Clone, Debug)]
pub struct Program {
    id: String,
    path: PathBuf,
}

impl Program {
    /// The one of this process, of that version.
    ///
    /// # Errors
    /// Where `/proc` does not say.
    pub fn of_this_process(version: &str) -> io::Result<Self> {
        // By this name the file is reached even if another one has taken its place.
        let file = Path::new("/proc/self/exe");
        let id = stamp(file, version)?;
        Ok(Self { id, path: std::fs::read_link(file)? })
    }

    /// What a driver says that uses the library of that version, and is no command.
    #[must_use]
    pub fn library(version: &str) -> String {
        format!("{version} library")
    }

    /// Its version, and which file it is: the same for two processes that run the same file, as it was.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where it lies; where it lay, if another one has taken its place.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        /// What the kernel says of a file whose name is gone.
        const GONE: &[u8] = b" (deleted)";
        let path = self.path.clone().into_os_string().into_vec();
        match path.strip_suffix(GONE) {
            Some(known) if !self.path.exists() => OsString::from_vec(known.to_vec()).into(),
            _ => self.path.clone(),
        }
    }

    /// Whether there is another file at its path now. One that is gone may come back.
    #[must_use]
    pub fn is_replaced(&self, version: &str) -> bool {
        stamp(&self.path(), version).is_ok_and(|now| now != self.id)
    }
}

fn stamp(file: &Path, version: &str) -> io::Result<String> {
    let meta = std::fs::metadata(file)?;
    let (dev, ino, size) = (meta.dev(), meta.ino(), meta.size());
    Ok(format!("{version} {dev:x}:{ino:x}:{size:x}:{:x}.{:x}", meta.mtime(), meta.mtime_nsec()))
}
