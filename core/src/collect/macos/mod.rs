//! macOS: a directory is listed by `getattrlistbulk`, which tells the times of what it lists.
//!
//! None of this was ever run on macOS. All but the call itself, which [`sys`] has, is run by the tests on other systems, with
//! a kernel in its place that makes the same buffers.
//!
//! The listing is believed where stat(2) could say nothing else: on APFS and HFS+, of files with one name only, on the
//! directory's own file system, with all that was asked for. What a file server lists may be older than its files, so
//! directories on other file systems are not listed. Links, directories (something may be mounted there), files with several
//! names and entries with errors are asked for alone. Names are compared as they are, or without the case of ASCII
//! letters where the volume ignores case; volumes take different spellings of other letters for one name, so
//! a listing with such letters does not prove that anything is missing: see [`Folding`].

#[cfg(target_vendor = "apple")]
mod sys;
#[cfg(test)]
mod tests;

use super::Kind;
use super::list::{self, Entry, Lister, Outcome, Wanted};
use super::listing::{Folding, attributes};
use crate::plan::Visit;
use crate::snapshot::{IoCounts, Meta, Stat};
use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;
use std::cell::RefCell;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

#[cfg(target_vendor = "apple")]
pub(super) use sys::Darwin;

/// What only macOS can do.
pub(super) trait Kernel {
    /// Fills a buffer with the next entries of a directory: how many there are, 0 at its end.
    ///
    /// # Errors
    /// Whatever the system says.
    fn bulk(&self, directory: BorrowedFd<'_>, buffer: &mut [u8]) -> rustix::io::Result<usize>;

    /// Whether what the directory's file system tells in listings is what it knows of the files, and not a copy that may
    /// be older: on another machine's disk it may be.
    fn is_authority(&self, directory: BorrowedFd<'_>) -> bool;

    /// Whether names that differ in case are different names in a directory; `None` where the system does not say.
    fn has_case(&self, directory: BorrowedFd<'_>) -> Option<bool>;
}

/// The largest buffer: some 500 entries.
const LARGEST: usize = 64 * 1024;
/// The smallest one: any entry fits into it.
const SMALLEST: usize = 4 * 1024;
/// What an entry takes up, with a name of some length.
const ENTRY: usize = 128;

/// What a thread uses again and again.
#[derive(Default)]
struct Room {
    wanted: Wanted<u8>,
    buffer: Vec<u8>,
}

thread_local! {
    static ROOM: RefCell<Room> = RefCell::default();
}

/// Answers a visit from a listing of its directory, which is open for reading and was not read before. `false`, and nothing
/// done, where a listing proves nothing.
pub(super) fn answer(
    kernel: &impl Kernel,
    directory: BorrowedFd<'_>,
    visit: Visit<'_>,
    stats: &mut [Stat],
    counts: &mut IoCounts,
) -> bool {
    if !kernel.is_authority(directory) {
        return false;
    }
    ROOM.with_borrow_mut(|Room { wanted, buffer }| {
        buffer.resize(LARGEST, 0);
        let mut lister = Directory { kernel, directory, was_read: false, again: None, device: None, buffer };
        list::answer(&mut lister, wanted, visit, stats, counts);
    });
    true
}

/// A directory that is listed.
struct Directory<'a, K> {
    kernel: &'a K,
    directory: BorrowedFd<'a>,
    /// Whether anything was read from it.
    was_read: bool,
    /// The same opened once more, to be read from its beginning.
    again: Option<OwnedFd>,
    /// The number of its file system, once it is known.
    device: Option<u64>,
    buffer: &'a mut Vec<u8>,
}

impl<K: Kernel> Lister for Directory<'_, K> {
    type Unit = u8;

    fn folding(&self) -> Folding {
        match self.kernel.has_case(self.directory) {
            Some(true) => Folding::Form,
            _ => Folding::Case,
        }
    }

    fn is_folding_certain(&self) -> bool {
        self.kernel.has_case(self.directory).is_some()
    }

    fn spell(name: &[u8]) -> Option<impl Iterator<Item = u8>> {
        (!matches!(name, b"" | b"." | b"..")).then(|| name.iter().copied())
    }

    fn stamp(&mut self) -> Option<i64> {
        let meta = super::unix::meta(&fstat(self.directory).ok()?);
        self.device = Some(meta.device);
        Some(meta.mtime)
    }

    fn read(&mut self, restarts: bool, limit: usize, sink: &mut impl FnMut(Entry<'_>)) -> Outcome {
        if restarts && self.restart().is_err() {
            return Outcome::Failed;
        }
        let size = limit.saturating_mul(ENTRY).clamp(SMALLEST, self.buffer.len());
        let buffer = &mut self.buffer[..size];
        let directory = self.again.as_ref().map_or(self.directory, AsFd::as_fd);
        let count = loop {
            match self.kernel.bulk(directory, buffer) {
                Ok(0) => return Outcome::End,
                Ok(count) => break count,
                Err(Errno::INTR) => {}
                Err(_) => return Outcome::Failed,
            }
        };
        for entry in attributes::entries(buffer, count) {
            let Ok(entry) = entry else { return Outcome::Failed };
            sink(Entry { name: entry.name, short_name: b"", meta: meta(&entry, self.device) });
        }
        Outcome::More
    }

    fn alone(&mut self, name: &[u8], counts: &mut IoCounts) -> Stat {
        counts.stats += 1;
        // The root's name in the root is empty.
        let name = OsStr::from_bytes(if name.is_empty() { b"." } else { name });
        super::unix::stat_of(statat(self.directory, name, AtFlags::empty()))
    }
}

impl<K> Directory<'_, K> {
    /// Has the next call begin with the first entry.
    fn restart(&mut self) -> rustix::io::Result<()> {
        if std::mem::replace(&mut self.was_read, true) {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            self.again = Some(openat(self.directory, c".", flags, Mode::empty())?);
        }
        Ok(())
    }
}

/// What stat(2) would say, as far as the entry proves it.
fn meta(entry: &attributes::Entry<'_>, device: Option<u64>) -> Option<Meta> {
    let is_plain = entry.kind == Kind::File && entry.links == Some(1);
    entry.meta().filter(|meta| is_plain && device == Some(meta.device))
}
