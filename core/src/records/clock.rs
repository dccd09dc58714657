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
        Ok((Mtime::try_from(time.as_nanos()).unwrap_or(Mtime::MAX), self.device(&found)))
    }

    #[cfg(unix)]
    #[expect(clippy::unused_self, reason = "elsewhere the file itself has to be asked")]
    fn device(&self, clock: &std::fs::Metadata) -> u64 {
        std::os::unix::fs::MetadataExt::dev(clock)
    }

    /// The standard library does not tell it, so it is asked for as that of all files is.
    #[cfg(not(unix))]
    fn device(&self, _: &std::fs::Metadata) -> u64 {
        use crate::collect::Disk;
        let disk = crate::collect::os_disk(&self.dir);
        match disk.map(|disk| disk.stat(b"clock")) {
            Ok(crate::snapshot::Stat::Present(meta)) => meta.device,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::{Disk, os_disk};
    use crate::snapshot::Stat;

    #[test]
    fn the_clock_is_that_of_the_file_system_which_files_beside_it_are_on() {
        let place = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(place.path().join("output"), "").expect("a file");
        let records = Records::open(&place.path().join("store")).expect("a store");
        let (_, device) = records.clock().expect("a clock");
        let disk = os_disk(place.path()).expect("a directory");
        let Stat::Present(meta) = disk.stat(b"output") else { panic!("it was written") };
        assert_eq!(device, meta.device);
    }
}
