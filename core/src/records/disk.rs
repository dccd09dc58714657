//! What the store does to its file, each step of which can fail: in tests it does so when it is told to.

use super::contents::Contents;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The disk that a store lies on.
#[derive(Default)]
pub(super) struct Disk {
    #[cfg(test)]
    pub(super) faults: Faults,
}

/// What the disk refuses to do.
#[cfg(test)]
#[derive(Default)]
pub(super) struct Faults {
    /// How many bytes can still be written.
    pub(super) room: Option<usize>,
    pub(super) no_cut: bool,
    pub(super) no_sync: bool,
    pub(super) no_rename: bool,
}

impl Disk {
    /// Writes at a place of the file, with one call unless the system takes less.
    pub(super) fn write(&mut self, file: &mut File, at: usize, bytes: &[u8]) -> io::Result<()> {
        file.seek(SeekFrom::Start(at as u64))?;
        #[cfg(test)]
        if let Some(room) = &mut self.faults.room {
            let fits = bytes.len().min(*room);
            *room -= fits;
            file.write_all(&bytes[..fits])?;
            return if fits == bytes.len() { Ok(()) } else { Err(ErrorKind::StorageFull.into()) };
        }
        file.write_all(bytes)
    }

    /// Cuts the file off.
    pub(super) fn cut(&mut self, file: &File, length: usize) -> io::Result<()> {
        #[cfg(test)]
        if self.faults.no_cut {
            return Err(ErrorKind::Other.into());
        }
        file.set_len(length as u64)
    }

    /// Puts a new file in the place of the one at `path`. Whoever opens `path` gets the one or the other, whole; so it
    /// is after a power failure, if the file is forced to the disk, which can take a tenth of a second.
    pub(super) fn replace(
        &mut self,
        path: &Path,
        beside: &Path,
        bytes: &[u8],
        force: bool,
    ) -> io::Result<()> {
        // What somebody left who was killed here. It may be a link, which must not be written through.
        match fs::remove_file(beside) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let replaced = self.write_new(beside, bytes, force).and_then(|()| self.rename(beside, path));
        if replaced.is_err() {
            // If that fails too, the next one does it.
            let _ = fs::remove_file(beside);
        }
        replaced
    }

    fn write_new(&mut self, path: &Path, bytes: &[u8], force: bool) -> io::Result<()> {
        let mut file = File::create_new(path)?;
        self.write(&mut file, 0, bytes)?;
        #[cfg(test)]
        if self.faults.no_sync {
            return Err(ErrorKind::Other.into());
        }
        if force { file.sync_data() } else { Ok(()) }
    }

    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "a test can make it fail"))]
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        #[cfg(test)]
        if self.faults.no_rename {
            return Err(ErrorKind::Other.into());
        }
        fs::rename(from, to)
    }
}

/// Whether the file still begins with all that was read of it. Then only what is behind that is news.
pub(super) fn begins_with(file: &mut File, known: &Contents) -> io::Result<bool> {
    let Some(header) = known.header() else { return Ok(false) };
    let (at, mark) = known.mark();
    let mut found_header = vec![0; size_of_val(header)];
    let mut found_mark = [0; size_of::<u64>()];
    let mut read = || -> io::Result<bool> {
        file.seek(SeekFrom::Start(0))?;
        file.read_exact(&mut found_header)?;
        file.seek(SeekFrom::Start(at as u64))?;
        file.read_exact(&mut found_mark)?;
        Ok(file.metadata()?.len() >= known.end() as u64)
    };
    match read() {
        Ok(is_long_enough) => {
            let is_same =
                found_header == bytemuck::bytes_of(header) && u64::from_ne_bytes(found_mark) == mark;
            Ok(is_same && is_long_enough)
        }
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Appends the whole words that the file has from `at` on.
pub(super) fn read_words(file: &mut File, at: usize, n_bytes: u64, words: &mut Vec<u64>) -> io::Result<()> {
    file.seek(SeekFrom::Start(at as u64))?;
    let n_words = usize::try_from(n_bytes / size_of::<u64>() as u64).map_err(|_| ErrorKind::OutOfMemory)?;
    let start = words.len();
    // Grows as a vector does: somebody may append again and again.
    words.try_reserve(n_words).map_err(|_| ErrorKind::OutOfMemory)?;
    words.resize(start + n_words, 0);
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words[start..]);
    let mut n_read = 0;
    while n_read < bytes.len() {
        match file.read(&mut bytes[n_read..]) {
            Ok(0) => break,
            Ok(n) => n_read += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    words.truncate(start + n_read / size_of::<u64>());
    Ok(())
}
