//! The clock that stamps files: read by changing one, since a file server has a clock of its own.

use super::{Records, told};
use crate::snapshot::Mtime;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::time::UNIX_EPOCH;

impl Records {
    /// The time with which a file is stamped that is changed now on the file system of the store, in nanoseconds since
    /// 1970, and that file system's number (0 where the platform has none). Cost: one byte is written to a file beside the
    /// records.
    ///
    /// # Errors
    /// When the file cannot be written to.
    pub fn clock(&self) -> io::Result<(Mtime, u64)> {
        let path = self.dir.join("clock");
        let read = || {
            let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            file.write_all(b".")?;
            file.metadata()
        };
        let found = read().map_err(|error| told("write to", &path, &error))?;
        let time = found.modified()?.duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
        Ok((Mtime::try_from(time.as_nanos()).unwrap_or(Mtime::MAX), device(&found)))
    }
}

#[cfg(unix)]
fn device(found: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::dev(found)
}

#[cfg(not(unix))]
fn device(_: &std::fs::Metadata) -> u64 {
    0
}
