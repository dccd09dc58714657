//! How often a file system was asked, by kind of request, and how many requests were under way at once.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A name in a directory, with its attributes.
    Lookup,
    /// The attributes of what is known already.
    Attributes,
    /// Where a link leads.
    Link,
    /// To open a directory, in order to read it.
    OpenDirectory,
    /// Some names of a directory.
    Names,
    /// Some names of a directory, with the attributes of each.
    NamesAndAttributes,
    /// To close a directory. Nobody waits for it.
    CloseDirectory,
    /// To open a file.
    Open,
    /// Some of a file's content.
    Read,
    /// Anything else.
    Other,
}

impl Asked {
    /// How many wait for the answer.
    fn waits(self) -> u64 {
        u64::from(self != Self::CloseDirectory)
    }
}

const KINDS: usize = Asked::Other as usize + 1;

/// Counts at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    by_kind: [u64; KINDS],
    /// The most requests that were under way at once, taken but not answered, without those that nobody waits for.
    pub at_once: u64,
}

impl Counts {
    /// How many requests of a kind there were.
    #[must_use]
    pub fn of(&self, kind: Asked) -> u64 {
        self.by_kind[kind as usize]
    }

    /// How many requests there were.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.by_kind.iter().sum()
    }
}

/// Counts that go on.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    by_kind: [AtomicU64; KINDS],
    under_way: AtomicU64,
    at_once: AtomicU64,
}

impl Counting {
    /// A request came. How many are under way now.
    pub(crate) fn came(&self, kind: Asked) -> u64 {
        self.by_kind[kind as usize].fetch_add(1, Ordering::SeqCst);
        let under_way = self.under_way.fetch_add(kind.waits(), Ordering::SeqCst) + kind.waits();
        self.at_once.fetch_max(under_way, Ordering::SeqCst);
        under_way
    }

    /// A request is about to be answered. Not afterwards: who got the answer may look at the counts.
    pub(crate) fn goes(&self, kind: Asked) {
        self.under_way.fetch_sub(kind.waits(), Ordering::SeqCst);
    }

    /// What was counted since the last time, and starts anew.
    pub(crate) fn take(&self) -> Counts {
        Counts {
            by_kind: std::array::from_fn(|at| self.by_kind[at].swap(0, Ordering::SeqCst)),
            at_once: self.at_once.swap(self.under_way.load(Ordering::SeqCst), Ordering::SeqCst),
        }
    }
}
