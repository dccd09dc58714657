//! What operating systems write into a buffer when they are asked for the entries of a directory, read as plain bytes.
//!
//! Each parser is a pure function over `&[u8]`, the same on every platform: it reads no byte beyond the buffer,
//! expects no alignment, copies no name, and never panics. It yields entries one by one; at the first thing that
//! cannot be, it yields [`Damaged`] and ends. Then nothing is known of what would have come: whoever lists asks one
//! by one for what is still open.
//!
//! | parser | filled by | specified in |
//! |---|---|---|
//! | [`windows`] | `NtQueryDirectoryFile`, `GetFileInformationByHandleEx` | MS-FSCC 2.4 |
//! | [`attributes`] | `getattrlistbulk` of macOS | getattrlistbulk(2), getattrlist(2) |
//! | [`dirents`] | `getdents64` of Linux | getdents64(2) |
//!
//! [`Matcher`] brings what is listed together with what is wanted.

pub mod attributes;
mod cursor;
pub mod dirents;
mod matcher;
pub mod windows;

pub use matcher::{Answer, Folding, Matcher, Unit};

use std::fmt;

/// A buffer that cannot be what the operating system wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Where in the buffer the entry begins.
    pub at: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "damaged directory listing: {} in the entry at byte {}", self.what, self.at)
    }
}

impl std::error::Error for Damaged {}

impl From<Damaged> for std::io::Error {
    fn from(damaged: Damaged) -> Self {
        Self::new(std::io::ErrorKind::InvalidData, damaged)
    }
}
