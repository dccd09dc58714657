//! What a file that was opened tells: what it is, what it holds, and, of a directory, which names are in it.

use super::Disk;
use crate::snapshot::{Meta, Stat};
use std::io::{self, ErrorKind};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file with content.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, whatever it leads to.
    Link,
    /// A pipe, a socket, a device.
    Other,
    /// The disk would not say.
    Unknown,
}

/// The names of one directory, each with its kind; neither `.` nor `..` among them. It can be used again and again.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    names: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: usize,
    end: usize,
    kind: Kind,
}

impl Listing {
    /// Adds a name.
    pub fn push(&mut self, name: &[u8], kind: Kind) {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        self.entries.push(Entry { start, end: self.names.len(), kind });
    }

    /// Forgets all names.
    pub fn clear(&mut self) {
        self.names.clear();
        self.entries.clear();
    }

    /// Sorts the names by their bytes. A disk tells them in any order.
    pub fn sort(&mut self) {
        let names = &self.names;
        self.entries.sort_unstable_by(|a, b| names[a.start..a.end].cmp(&names[b.start..b.end]));
    }

    /// Drops a name that comes again right after itself.
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn dedup(&mut self) {
        let names = &self.names;
        self.entries.dedup_by(|a, b| names[a.start..a.end] == names[b.start..b.end]);
    }

    /// The names and what they stand for.
    pub fn entries(&self) -> impl Iterator<Item = (&[u8], Kind)> {
        self.entries.iter().map(|entry| (&self.names[entry.start..entry.end], entry.kind))
    }

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// A file, or a directory, that was opened: it stays the same one, whatever becomes of its path.
pub trait OpenFile: Send + Sync {
    /// What it is, and its stamp as it is now.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn look(&self) -> io::Result<(Kind, Meta)>;

    /// Reads from `offset` bytes on into `buffer`, as far as the file goes. How many bytes there were.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Puts the names of a directory into `listing`, instead of those that were in it.
    ///
    /// # Errors
    /// When it is not a directory, or whatever the operating system says.
    fn list(&self, listing: &mut Listing) -> io::Result<()>;
}

/// A file of a disk that can only read files as a whole.
pub(super) struct WholeFile<'a, D: Disk + ?Sized> {
    disk: &'a D,
    path: Vec<u8>,
    bytes: Vec<u8>,
}

impl<'a, D: Disk + ?Sized> WholeFile<'a, D> {
    pub(super) fn new(disk: &'a D, path: &[u8]) -> io::Result<Self> {
        Ok(Self { disk, path: path.to_vec(), bytes: disk.read(path)? })
    }
}

impl<D: Disk + ?Sized> OpenFile for WholeFile<'_, D> {
    fn look(&self) -> io::Result<(Kind, Meta)> {
        match self.disk.stat(&self.path) {
            Stat::Present(meta) => Ok((Kind::File, meta)),
            Stat::Unreadable(errno) => Err(io::Error::from_raw_os_error(errno)),
            Stat::Missing | Stat::Unknown => Err(ErrorKind::NotFound.into()),
        }
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(copy_at(&self.bytes, offset, buffer))
    }

    fn list(&self, _: &mut Listing) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }
}

/// Copies what `bytes` have from `offset` on.
pub(super) fn copy_at(bytes: &[u8], offset: u64, buffer: &mut [u8]) -> usize {
    let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
    let length = rest.len().min(buffer.len());
    buffer[..length].copy_from_slice(&rest[..length]);
    length
}
