//! What publishing has come to.

use crate::doubt::Doubt;
use crate::snapshot::Entry;
use std::fmt;
use upcheck::TargetId;

/// What became of targets that were to be published.
#[derive(Clone, Debug, Default)]
pub struct Published {
    /// Those that are there now, and were not before.
    pub uploaded: Vec<TargetId>,
    /// Those that were there.
    pub present: Vec<TargetId>,
    /// Those that are not, and why.
    pub skipped: Vec<(TargetId, Skip)>,
    /// How many blobs were sent, and how many bytes.
    pub blobs: (usize, u64),
    /// What the cache has of all of these targets now.
    pub(crate) entries: Vec<Entry>,
}

/// Why a target is not published.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skip {
    /// It has no key.
    Doubt(Doubt),
    /// Ninja's log does not tell when its command ran.
    NoRun,
    /// This input was touched after the command began: it may not be what the command has read.
    InputTouched(Box<[u8]>),
    /// This output was touched after the command ended.
    OutputTouched(Box<[u8]>),
    /// This output is a symbolic link.
    Link(Box<[u8]>),
    /// This file was changed while it was published.
    Changed(Box<[u8]>),
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match self {
            Self::Doubt(doubt) => doubt.fmt(f),
            Self::NoRun => f.write_str("ninja's log does not tell when its command ran"),
            Self::InputTouched(path) => {
                write!(f, "its input {} was touched after its command began", text(path))
            }
            Self::OutputTouched(path) => {
                write!(f, "its output {} was touched after its command had ended", text(path))
            }
            Self::Link(path) => write!(f, "its output {} is a symbolic link", text(path)),
            Self::Changed(path) => write!(f, "{} was changed while it was published", text(path)),
        }
    }
}

impl From<Doubt> for Skip {
    fn from(doubt: Doubt) -> Self {
        Self::Doubt(doubt)
    }
}
