//! How a file was at one moment, as a record keeps it: its stamp, and the digest of its content where that was looked at.

use crate::snapshot::{Meta, Mtime, Stat};
use bytemuck::{Pod, Zeroable};

/// The BLAKE3 digest of a file's content; of a directory, that of its sorted entries (see
/// [`digest_files`](crate::content::digest_files)).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Digest(pub [u8; 32]);

/// How a file was when somebody looked at it. A row of zeros says that nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FileState {
    meta: Meta,
    digest: Digest,
    bits: u32,
    zero: u32,
}

/// The file was there.
const PRESENT: u32 = 1;
/// The file was not there.
const MISSING: u32 = 2;
/// The digest is known.
const HAS_DIGEST: u32 = 4;
/// The stamp was so young that a later change may have left it as it is.
const RACY: u32 = 8;

impl FileState {
    /// What is known of a file that cannot be told apart from any other: nothing compares equal to it.
    pub const UNKNOWN: Self = Self {
        meta: Meta { mtime: 0, ctime: 0, size: 0, inode: 0, device: 0 },
        digest: Digest([0; 32]),
        bits: 0,
        zero: 0,
    };

    /// How a file looks. `racy`: its stamp is so young that a later change may leave it as it is.
    #[must_use]
    pub fn new(stat: Stat, digest: Option<Digest>, racy: bool) -> Self {
        match stat {
            Stat::Unknown | Stat::Unreadable(_) => Self::UNKNOWN,
            Stat::Missing => Self { bits: MISSING, ..Self::UNKNOWN },
            Stat::Present(meta) => {
                let racy = if racy { RACY } else { 0 };
                let has_digest = if digest.is_some() { HAS_DIGEST } else { 0 };
                let digest = digest.unwrap_or(Digest([0; 32]));
                Self { meta, digest, bits: PRESENT | has_digest | racy, zero: 0 }
            }
        }
    }

    /// Its stamp; `None` where it was missing, or nothing is known.
    #[must_use]
    pub fn meta(&self) -> Option<Meta> {
        (self.bits & PRESENT != 0).then_some(self.meta)
    }

    /// Whether it was not there.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.bits & MISSING != 0
    }

    /// The digest of its content, where it was looked at.
    #[must_use]
    pub fn digest(&self) -> Option<Digest> {
        (self.bits & HAS_DIGEST != 0).then_some(self.digest)
    }

    /// Whether its stamp proves nothing: a change right after it was taken may have left it as it is.
    #[must_use]
    pub fn is_racy(&self) -> bool {
        self.bits & RACY != 0
    }
}

/// How far behind the clock a file's stamp may be when it is made: a tick of the kernel, and more where stamps are
/// rounded. Nanoseconds.
const TICK: Mtime = 100_000_000;
/// The same where stamps are whole seconds, or even ones.
const COARSE_TICK: Mtime = 2_100_000_000;

/// Whether a file that was looked at, not before `moment`, can have been changed after that and still bear this stamp.
///
/// Stamps come from a clock that ticks, a few times per second or once in two, depending on the file system. A file
/// that is changed twice within a tick has the same stamp, and perhaps the same size, after both changes. So a stamp
/// proves that nothing was changed only if the tick in which it was made was over when the file was looked at. Where
/// stamps are whole seconds, the tick is taken for a long one; one file in a billion is doubted for nothing.
///
/// What counts is the time of the status, which no program can choose. Where the platform has none (it is 0), the
/// mtime has to do. A stamp from the future is racy: the clocks are apart, or somebody set it.
#[must_use]
pub fn is_racy(meta: Meta, moment: Mtime) -> bool {
    let changed = if meta.ctime == 0 { meta.mtime } else { meta.ctime };
    let tick = if changed % 1_000_000_000 == 0 { COARSE_TICK } else { TICK };
    changed >= moment.saturating_sub(tick)
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_racy_until_its_tick_is_over() {
        let second = 1_000_000_000;
        let at = |ctime| Meta { mtime: 5, ctime, ..Meta::default() };
        for (meta, moment, expected) in [
            (at(70 * second + 1), 70 * second + 1, true),
            (at(70 * second + 1), 70 * second + 100_000_001, true),
            (at(70 * second + 1), 70 * second + 100_000_002, false),
            (at(70 * second), 72 * second, true),
            (at(70 * second), 72 * second + 100_000_001, false),
            (at(80 * second + 1), 70 * second, true),
            // Without a ctime the mtime counts.
            (Meta { mtime: 70 * second + 1, ..Meta::default() }, 70 * second + 2, true),
            (Meta { mtime: 70 * second + 1, ..Meta::default() }, 71 * second + 2, false),
            (at(i64::MIN), i64::MIN, true),
            (at(i64::MAX), i64::MAX, true),
        ] {
            assert_eq!(is_racy(meta, moment), expected, "{meta:?} at {moment}");
        }
    }
}
