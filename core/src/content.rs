//! Content: what files hold, as digests, for those whose stamps do not tell.

use crate::collect::Disk;
use crate::ids::FileId;
use crate::snapshot::Meta;
use crate::state::Digest;

/// What looking at a file's content came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nobody looked.
    Unknown,
    /// It has this digest, and looked as it was expected to before and after its content was read.
    Digest(Digest),
    /// Its stamp was another one than expected, before or after: somebody is changing it.
    Unsteady,
    /// It is not there.
    Missing,
    /// The disk would not say. The operating system's error number.
    Unreadable(i32),
}

/// Reads the content of files with at most `threads` threads; 0 for one per core. The answers are in the order of the
/// files.
#[must_use]
pub fn digest_files(_disk: &dyn Disk, files: &[(FileId, &[u8], Meta)], _threads: usize) -> Vec<Content> {
    vec![Content::Unknown; files.len()]
}
