//! What restoring has come to.

use crate::doubt::Doubt;
use std::fmt;
use upcheck::TargetId;
use upcheck_reapi::Error;

/// What became of stale targets.
#[derive(Clone, Debug, Default)]
pub struct Restored {
    /// Those that are fresh now.
    pub restored: Vec<TargetId>,
    /// Those that are not, and why.
    pub left: Vec<(TargetId, Left)>,
    /// How many bytes were fetched.
    pub bytes: u64,
    /// What was wrong with the cache first.
    pub trouble: Option<Error>,
}

/// Why a target is stale as before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Left {
    /// It is not in the cache. Why, where that is not simply because nobody has put it there.
    NotCached(Option<Doubt>),
    /// This target, which makes an input of it, is stale and was not restored.
    Behind(TargetId),
    /// The cache did not answer.
    Trouble,
    /// The cache has said that it has this output, but does not have it any more.
    Gone(String),
    /// What the cache has of this output is not what it should be. What is wrong.
    Broken(String, Box<str>),
    /// This file cannot be put into its place. What the system says.
    Place(String, Box<str>),
    /// This input was changed meanwhile, or cannot be told from one that was.
    Changed(Box<[u8]>),
    /// This input has a time that is yet to come, so no edit of it would be seen.
    Future(Box<[u8]>),
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match self {
            Self::NotCached(None) => f.write_str("it is not in the cache"),
            Self::NotCached(Some(doubt)) => doubt.fmt(f),
            Self::Behind(_) => f.write_str("what makes an input of it is stale, and was not restored"),
            Self::Trouble => f.write_str("the cache did not answer"),
            Self::Gone(name) => write!(f, "its output {name} is no longer in the cache"),
            Self::Broken(name, why) => write!(f, "its output {name} is broken in the cache: {why}"),
            Self::Place(name, why) => write!(f, "putting {name} into its place: {why}"),
            Self::Changed(path) => write!(f, "its input {} was changed meanwhile", text(path)),
            Self::Future(path) => write!(f, "its input {} has a time that is yet to come", text(path)),
        }
    }
}
