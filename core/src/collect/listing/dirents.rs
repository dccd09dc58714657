//! Directory listings of Linux: `struct linux_dirent64`, as getdents64(2) writes them.
//!
//! Numbers are as the processor has them:
//!
//! | at | bytes | |
//! |---|---|---|
//! | 0 | 8 | inode number |
//! | 8 | 8 | where the listing goes on: of no use but to seek |
//! | 16 | 2 | bytes of the entry, with what fills it up to a multiple of 8 |
//! | 18 | 1 | kind, as in `<dirent.h>`; 0 where the file system does not say |
//! | 19 | | the name, and a NUL |

use super::Damaged;
use super::cursor::Cursor;
use crate::collect::Kind;

/// Where the name begins.
const NAME: usize = 19;

/// What a directory knows of one name in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The name. `.` and `..` are listed too, by most file systems.
    pub name: &'a [u8],
    /// The inode number: of what is mounted upon, where something is mounted.
    pub inode: u64,
    /// What it is.
    pub kind: Kind,
}

/// The entries of a buffer of which the operating system says that so many bytes are filled.
#[must_use]
pub fn entries(filled: &[u8]) -> Entries<'_> {
    Entries { filled, next: 0 }
}

/// See [`entries`].
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    filled: &'a [u8],
    /// Where the next entry begins.
    next: usize,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, Damaged>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next;
        let rest = self.filled.get(at..).filter(|rest| !rest.is_empty())?;
        match entry(rest) {
            Ok((entry, length)) => {
                self.next = at + length;
                Some(Ok(entry))
            }
            Err(what) => {
                self.next = self.filled.len();
                Some(Err(Damaged { at, what }))
            }
        }
    }
}

/// The entry at the beginning of `rest`, and its length.
#[inline]
fn entry(rest: &[u8]) -> Result<(Entry<'_>, usize), &'static str> {
    const SHORT: &str = "an entry that does not fit into the buffer";
    let mut fixed = Cursor::at(rest, 0).ok_or(SHORT)?;
    let inode = u64::from_ne_bytes(fixed.bytes().ok_or(SHORT)?);
    let _: [u8; 8] = fixed.bytes().ok_or(SHORT)?;
    let length = usize::from(u16::from_ne_bytes(fixed.bytes().ok_or(SHORT)?));
    let [kind] = fixed.bytes().ok_or(SHORT)?;
    if length <= NAME {
        return Err("a length that leaves no room for a name");
    }
    let name = rest.get(NAME..length).ok_or(SHORT)?;
    match memchr::memchr(0, name) {
        None => Err("a name without an end"),
        Some(0) => Err("an empty name"),
        Some(end) => Ok((Entry { name: &name[..end], inode, kind: kind_of(kind) }, length)),
    }
}

/// `DT_*` of `<dirent.h>`.
fn kind_of(code: u8) -> Kind {
    match code {
        4 => Kind::Directory,
        8 => Kind::File,
        10 => Kind::Link,
        1 | 2 | 6 | 12 | 14 => Kind::Other,
        _ => Kind::Unknown,
    }
}
