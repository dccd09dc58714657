//! Directory listings of Windows: the `FILE_*_DIR_INFORMATION` structures, as `NtQueryDirectoryFile` writes them.
//!
//! All numbers have their lowest byte first; times are counted in 100 ns since 1601. Each entry begins like this
//! (MS-FSCC 2.4.10 and the sections around it):
//!
//! | at | bytes | |
//! |---|---|---|
//! | 0 | 4 | how far the next entry is from this one; 0 in the last one |
//! | 4 | 4 | index: of no use |
//! | 8 | 8 | creation time |
//! | 16 | 8 | last access time |
//! | 24 | 8 | last write time |
//! | 32 | 8 | change time: of content, attributes, names; a file system that has none leaves it 0 |
//! | 40 | 8 | size |
//! | 48 | 8 | allocated size |
//! | 56 | 4 | attributes |
//! | 60 | 4 | bytes of the name |
//! | 64 | 4 | size of the extended attributes; of a reparse point, in the classes without a field for it, its tag |
//!
//! What follows depends on the class; nothing ends a name but its length:
//!
//! | class | number | short name: length, at | file id | reparse tag | name | section |
//! |---|---|---|---|---|---|---|
//! | full | 2 | | | 64 | 68 | 2.4.14 |
//! | both | 3 | 68, 70 | | 64 | 94 | 2.4.8 |
//! | id-both | 37 | 68, 70 | 96, 8 bytes | 64 | 104 | 2.4.17 |
//! | id-full | 38 | | 72, 8 bytes | 64 | 80 | 2.4.18 |
//! | id-extd | 60 | | 72, 16 bytes | 68 | 88 | ntifs.h |
//! | id-extd-both | 63 | 88, 90 | 72, 16 bytes | 68 | 114 | ntifs.h |
//!
//! An entry tells what the *directory* knows of the file. On NTFS that is a copy, which is brought up to date when the
//! file is closed, and only in the directory through which it was open: times and sizes of files that have several
//! names, or that are open for writing, may be old.

use super::Damaged;
use super::cursor::{Cursor, u32_le, u64_le};
use crate::snapshot::Mtime;

/// `FILE_ATTRIBUTE_DIRECTORY`.
pub const DIRECTORY: u32 = 0x10;
/// `FILE_ATTRIBUTE_REPARSE_POINT`: a link of some kind, or a file that something stands in front of.
pub const REPARSE_POINT: u32 = 0x400;

/// What is asked for: `FILE_INFORMATION_CLASS`, by its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Class {
    /// `FileFullDirectoryInformation`.
    Full = 2,
    /// `FileBothDirectoryInformation`.
    Both = 3,
    /// `FileIdBothDirectoryInformation`.
    IdBoth = 37,
    /// `FileIdFullDirectoryInformation`.
    IdFull = 38,
    /// `FileIdExtdDirectoryInformation`.
    IdExtd = 60,
    /// `FileIdExtdBothDirectoryInformation`.
    IdExtdBoth = 63,
}

impl Class {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Full, Self::Both, Self::IdBoth, Self::IdFull, Self::IdExtd, Self::IdExtdBoth];

    /// Where the parts that differ are.
    fn layout(self) -> Layout {
        let (short_name, file_id, tag, name) = match self {
            Self::Full => (None, None, 64, 68),
            Self::Both => (Some(68), None, 64, 94),
            Self::IdBoth => (Some(68), Some((96, 8)), 64, 104),
            Self::IdFull => (None, Some((72, 8)), 64, 80),
            Self::IdExtd => (None, Some((72, 16)), 68, 88),
            Self::IdExtdBoth => (Some(88), Some((72, 16)), 68, 114),
        };
        Layout { short_name, file_id, tag, name }
    }
}

#[derive(Clone, Copy, Debug)]
struct Layout {
    /// The length of the short name: one byte, another to fill, then 24 for the name.
    short_name: Option<usize>,
    /// Where it is, and how long.
    file_id: Option<(usize, usize)>,
    tag: usize,
    name: usize,
}

/// Names of at most 8 and 3 characters.
const SHORT_NAME: usize = 24;

/// What a directory knows of one name in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The name: units of UTF-16, each with its low byte first. `.` and `..` are listed too.
    pub name: &'a [u8],
    /// Another name for the same, as DOS would have it, in the same units; empty where there is none.
    pub short_name: &'a [u8],
    /// When its content was last changed.
    pub mtime: Mtime,
    /// When anything about it was last changed.
    pub ctime: Mtime,
    /// Its size in bytes.
    pub size: u64,
    /// Its number in the file system; 0 where the class has none. 64 bits, except where the class has 128.
    pub file_id: u128,
    /// `FILE_ATTRIBUTE_*`.
    pub attributes: u32,
    /// Of a reparse point: what kind it is.
    pub reparse_tag: Option<u32>,
}

impl Entry<'_> {
    /// Whether it is a directory, or a link to one that has to say so itself.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        self.attributes & DIRECTORY != 0
    }

    /// Whether it is the directory itself, or the one above.
    #[must_use]
    pub fn is_dot(&self) -> bool {
        matches!(self.name, b".\0" | b".\0.\0")
    }
}

/// The entries of a buffer of which the operating system says that so many bytes are filled.
#[must_use]
pub fn entries(class: Class, filled: &[u8]) -> Entries<'_> {
    Entries { layout: class.layout(), filled, next: if filled.is_empty() { None } else { Some(0) } }
}

/// See [`entries`].
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    layout: Layout,
    filled: &'a [u8],
    /// Where the next entry begins.
    next: Option<usize>,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, Damaged>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next.take()?;
        Some(self.entry(at).map_err(|what| Damaged { at, what }))
    }
}

impl<'a> Entries<'a> {
    /// Reads an entry, and finds where the next one begins: always beyond this one.
    #[inline]
    fn entry(&mut self, at: usize) -> Result<Entry<'a>, &'static str> {
        const SHORT: &str = "an entry that does not fit into the buffer";
        let layout = self.layout;
        let rest = self.filled.get(at..).ok_or("a beginning beyond the buffer")?;
        let (fixed, _) = rest.split_at_checked(layout.name).ok_or(SHORT)?;
        let number = |place| u32_le(fixed, place).ok_or(SHORT);
        let time = |place| u64_le(fixed, place).map(|ticks| mtime(ticks.cast_signed())).ok_or(SHORT);

        let name_end = usize::try_from(number(60)?).ok().and_then(|length| layout.name.checked_add(length));
        let name_end = name_end.ok_or("a name that does not fit into the buffer")?;
        let name = rest.get(layout.name..name_end).ok_or("a name that does not fit into the buffer")?;
        if name.is_empty() || name.len() % 2 != 0 {
            return Err("a name with an odd number of bytes, or none");
        }
        let short_name = match layout.short_name {
            Some(place) => short_name(fixed, place)?,
            None => &[],
        };
        let file_id = match layout.file_id {
            Some((place, 8)) => u64_le(fixed, place).ok_or(SHORT)?.into(),
            Some((place, _)) => {
                u128::from_le_bytes(Cursor::at(fixed, place).and_then(|mut id| id.bytes()).ok_or(SHORT)?)
            }
            None => 0,
        };
        let attributes = number(56)?;
        let is_reparse_point = attributes & REPARSE_POINT != 0;
        let entry = Entry {
            name,
            short_name,
            mtime: time(24)?,
            ctime: time(32)?,
            size: u64_le(fixed, 40).ok_or(SHORT)?,
            file_id,
            attributes,
            reparse_tag: if is_reparse_point { Some(number(layout.tag)?) } else { None },
        };
        self.next = match usize::try_from(number(0)?) {
            Ok(0) => None,
            Ok(offset) if offset >= name_end => at.checked_add(offset),
            _ => return Err("a next entry that begins within it"),
        };
        Ok(entry)
    }
}

fn short_name(fixed: &[u8], place: usize) -> Result<&[u8], &'static str> {
    let length = usize::from(*fixed.get(place).ok_or("no room for a short name")?);
    if length > SHORT_NAME || length % 2 != 0 {
        return Err("a short name that is too long, or has an odd number of bytes");
    }
    fixed.get(place + 2..place + 2 + length).ok_or("no room for a short name")
}

/// 1970, in 100 ns since 1601.
const EPOCH: i64 = 116_444_736_000_000_000;

/// A time of Windows, in 100 ns since 1601, as an [`Mtime`]: exact from 1677 to 2262, and held at the nearest end
/// of that range.
#[must_use]
pub fn mtime(ticks: i64) -> Mtime {
    // What saturates first saturates at last, too.
    ticks.saturating_sub(EPOCH).saturating_mul(100)
}
