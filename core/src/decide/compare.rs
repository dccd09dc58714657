//! Comparing a file with how a record has it. Pure: whoever asks has looked at the disk already.

use crate::content::Content;
use crate::policy::Policy;
use crate::snapshot::{Meta, Stat};
use crate::state::FileState;

/// What a comparison came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// It is what it was.
    Same,
    /// It is not what it was, or is being changed right now.
    Changed,
    /// Only its content can tell, and nobody has looked at that.
    NeedsContent,
    /// Its stamp proves nothing, and the record does not know its content.
    Racy,
    /// The disk would not say. The operating system's error number.
    Unreadable(i32),
}

/// Compares a file's recorded state with how it looks now, by a policy that holds for its role (see
/// [`Policy::of_inputs`]).
#[must_use]
pub fn compare(policy: Policy, recorded: &FileState, stat: Stat, content: Content) -> Likeness {
    let now = match stat {
        Stat::Present(now) => now,
        Stat::Unreadable(errno) => return Likeness::Unreadable(errno),
        Stat::Missing | Stat::Unknown if recorded.is_missing() => return Likeness::Same,
        Stat::Missing | Stat::Unknown => return Likeness::Changed,
    };
    // Missing then, or never looked at.
    let Some(then) = recorded.meta() else { return Likeness::Changed };
    let (same_stamp, proves) = (is_same_stamp(then, now), !recorded.is_racy());
    match policy {
        Policy::Mtime | Policy::MtimeAndDigestInput | Policy::Newer => {
            if !same_stamp {
                return Likeness::Changed;
            }
            if proves {
                return Likeness::Same;
            }
        }
        Policy::MtimeOrDigest if !same_stamp => return Likeness::Changed,
        // Without a ctime a stamp can be put back, so the content is read.
        Policy::Digest if then.ctime == 0 => {}
        Policy::Digest | Policy::MtimeAndDigest | Policy::MtimeOrDigest => {
            if then == now && proves {
                return Likeness::Same;
            }
        }
    }
    by_content(recorded, then, now, content)
}

fn by_content(recorded: &FileState, then: Meta, now: Meta, content: Content) -> Likeness {
    let Some(digest) = recorded.digest() else {
        return if is_same_stamp(then, now) { Likeness::Racy } else { Likeness::Changed };
    };
    match content {
        // A directory's size says nothing about its entries, but then it is no news either that it differs.
        _ if then.size != now.size => Likeness::Changed,
        Content::Unknown => Likeness::NeedsContent,
        Content::Digest(found) if found == digest => Likeness::Same,
        Content::Digest(_) | Content::Unsteady | Content::Missing => Likeness::Changed,
        Content::Unreadable(errno) => Likeness::Unreadable(errno),
    }
}

/// Whether the mtime, size and inode number are the same. A 0 for an inode number is no number.
pub(crate) fn is_same_stamp(then: Meta, now: Meta) -> bool {
    let same_inode = then.inode == now.inode || then.inode == 0 || now.inode == 0;
    then.mtime == now.mtime && then.size == now.size && same_inode
}
