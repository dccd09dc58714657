//! What a cache has for stale targets.

use crate::doubt::Doubt;
use crate::result::Output;
use upcheck::TargetId;
use upcheck_reapi::{Digest, Error};

/// What the cache has for one stale target.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Its outputs are there.
    Cached(Box<Hit>),
    /// They are not. Why, where that is not simply because nobody has put them there.
    NotCached(Option<Doubt>),
    /// Nobody can tell: an input is made by this target, which is stale and not cached.
    Unknown(TargetId),
    /// The cache did not answer.
    Trouble,
}

/// What was found for a target.
#[derive(Clone, Debug)]
#[cfg_attr(not(unix), expect(dead_code, reason = "it is for restoring"))]
pub struct Hit {
    /// The key.
    pub action: Digest,
    /// Its outputs, in the order of the description.
    pub(crate) outputs: Vec<Output>,
    /// What the command has discovered there, as it is spelt here.
    pub(crate) discovered: Vec<Vec<u8>>,
    /// The files on the disk that the key was made of.
    pub(crate) read: Vec<Vec<u8>>,
    /// Targets whose results the key was made of.
    pub(crate) after: Vec<TargetId>,
}

impl Hit {
    /// How many bytes its outputs have.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.outputs.iter().map(|output| output.leaf.digest.size).sum()
    }
}

/// What was found for stale targets.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// For each target that was asked about; those that others need come first.
    pub answers: Vec<(TargetId, Answer)>,
    /// What went wrong first.
    pub trouble: Option<Error>,
}

impl Found {
    /// How many are cached, not cached, unknown, and without an answer.
    #[must_use]
    pub fn counts(&self) -> [usize; 4] {
        let mut counts = [0; 4];
        for (_, answer) in &self.answers {
            counts[match answer {
                Answer::Cached(_) => 0,
                Answer::NotCached(_) => 1,
                Answer::Unknown(_) => 2,
                Answer::Trouble => 3,
            }] += 1;
        }
        counts
    }
}
