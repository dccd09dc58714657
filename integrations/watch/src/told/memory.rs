//! What is remembered of directories, and how what a driver tells is found in it.

use super::spelling::{Key, Meant, join};
use crate::journal::NameHash;
use rapidhash::{RapidHashMap, RapidHashSet};
use std::collections::BTreeMap;
use std::ops::Bound;
use upcheck::{How, Stat, Visit};

/// So many different sets of names are remembered for one directory.
const MOST_BLOCKS: usize = 4;

/// What is known of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum State {
    /// It is as remembered, if what was told is true.
    Known,
    /// It has to be asked for; then it may be known.
    Unknown,
    /// It has to be asked for each time.
    Doubtful,
}

/// The answers to one visit.
#[derive(Debug)]
pub(super) struct Block {
    how: How,
    is_there: bool,
    /// As in [`Visit::asked_bytes`].
    asked: Box<[u8]>,
    /// How much of what is asked stands before each name.
    skipped: usize,
    stats: Box<[Stat]>,
    states: Box<[State]>,
    n_known: usize,
    /// How the directory looked before its names were asked for.
    pub(super) look: Look,
}

/// How a directory looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) stat: Stat,
    /// It had changed so shortly before that it may look the same after another change.
    pub(super) is_young: bool,
}

impl Block {
    pub(super) fn new(
        visit: Visit<'_>,
        look: Look,
        is_there: bool,
        stats: &[Stat],
        states: Vec<State>,
    ) -> Self {
        let n_known = states.iter().filter(|state| **state == State::Known).count();
        // As `Visit::names` does it.
        let skipped = if visit.how().opens() { 0 } else { join(visit.directory(), b"").len() };
        let (asked, stats, states) = (visit.asked_bytes().into(), stats.into(), states.into());
        Self { how: visit.how(), is_there, asked, skipped, stats, states, n_known, look }
    }

    fn is_like(&self, other: &Self) -> bool {
        self.how == other.how && self.asked == other.asked
    }

    pub(super) fn is_there(&self) -> bool {
        self.is_there
    }

    /// Whether nothing has to be asked for.
    pub(super) fn is_known(&self) -> bool {
        self.n_known == self.states.len()
    }

    /// Whether so much has to be asked for anew that it is better to ask for all.
    fn is_mostly_unknown(&self) -> bool {
        let n_unknown = self.states.iter().filter(|state| **state == State::Unknown).count();
        n_unknown > 8 && n_unknown * 2 > self.states.len()
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn state(&self, at: usize) -> State {
        self.states[at]
    }

    pub(super) fn stats(&self) -> &[Stat] {
        &self.stats
    }

    /// The names, by position.
    pub(super) fn names(&self) -> impl Iterator<Item = &[u8]> {
        let names = self.asked.split(|byte| *byte == 0).take(self.states.len());
        names.map(|asked| asked.get(self.skipped..).unwrap_or(asked))
    }

    pub(super) fn set(&mut self, at: usize, stat: Stat, state: State) {
        self.n_known -= usize::from(self.states[at] == State::Known);
        self.n_known += usize::from(state == State::Known);
        (self.stats[at], self.states[at]) = (stat, state);
    }

    fn forget(&mut self, names: &RapidHashSet<NameHash>) {
        let changed: Vec<usize> = self
            .names()
            .enumerate()
            .filter(|(_, name)| names.contains(&NameHash::of(name)))
            .map(|(at, _)| at)
            .collect();
        for at in changed {
            if self.states[at] == State::Known {
                self.set(at, self.stats[at], State::Unknown);
            }
        }
    }
}

/// What is remembered of a directory.
#[derive(Debug)]
pub(super) struct Directory {
    /// As visits name it.
    pub(super) path: Box<[u8]>,
    /// Absolute; `None` for one that is asked for each time, since what is told of it cannot be found by its name.
    pub(super) absolute: Option<Box<[u8]>>,
    pub(super) blocks: Vec<Block>,
}

/// All that is remembered. Directories keep their numbers.
#[derive(Debug, Default)]
pub(super) struct Directories {
    pub(super) all: Vec<Directory>,
    by_path: RapidHashMap<Box<[u8]>, usize>,
    /// Several paths may lead to one directory.
    by_key: BTreeMap<Key, Vec<usize>>,
}

impl Directories {
    /// The number of a directory that is named as a visit does, if it is known.
    pub(super) fn find(&self, path: &[u8]) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// A directory that is not known yet.
    pub(super) fn add(&mut self, path: &[u8], place: Option<(Vec<u8>, Key)>) -> usize {
        let at = self.all.len();
        let (absolute, key) = place.unzip();
        let absolute = absolute.map(Vec::into_boxed_slice);
        self.all.push(Directory { path: path.into(), absolute, blocks: Vec::new() });
        self.by_path.insert(path.into(), at);
        if let Some(key) = key {
            self.by_key.entry(key).or_default().push(at);
        }
        at
    }

    /// Forgets all answers.
    pub(super) fn clear(&mut self) {
        self.all.iter_mut().for_each(|directory| directory.blocks.clear());
    }

    /// Whether there is no answer.
    pub(super) fn is_empty(&self) -> bool {
        self.all.iter().all(|directory| directory.blocks.is_empty())
    }

    /// Forgets what somebody has told of. Whether that is everything.
    pub(super) fn forget(&mut self, told: impl Iterator<Item = Meant>) -> bool {
        let mut names: RapidHashMap<usize, RapidHashSet<NameHash>> = RapidHashMap::default();
        for meant in told {
            match meant {
                Meant::Everything => {
                    self.clear();
                    return true;
                }
                Meant::Beneath(key) => self.forget_beneath(&key),
                Meant::Path(key) => {
                    self.forget_beneath(&key);
                    // A key begins with the separator.
                    let end = key.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
                    for &at in self.by_key.get(&key[..end]).into_iter().flatten() {
                        names.entry(at).or_default().insert(NameHash::of(&key[end + 1..]));
                    }
                }
            }
        }
        for (at, names) in names {
            self.all[at].blocks.iter_mut().for_each(|block| block.forget(&names));
        }
        false
    }

    fn forget_beneath(&mut self, key: &[u8]) {
        let Self { all, by_key, .. } = self;
        let mut forget = |at: &usize| all[*at].blocks.clear();
        by_key.get(key).into_iter().flatten().for_each(&mut forget);
        // The separator, and the byte that comes after it.
        let (from, to) = ([key, b"/"].concat(), [key, &[b'/' + 1]].concat());
        let range = (Bound::Excluded(&from[..]), Bound::Excluded(&to[..]));
        by_key.range::<[u8], _>(range).flat_map(|(_, all)| all).for_each(&mut forget);
    }

    /// Takes out what is remembered for a visit, if it is of use.
    pub(super) fn take(&mut self, at: usize, visit: Visit<'_>) -> Option<Block> {
        let blocks = &mut self.all[at].blocks;
        let is_it = |block: &Block| block.how == visit.how() && *block.asked == *visit.asked_bytes();
        let found = blocks.iter().position(is_it)?;
        Some(blocks.swap_remove(found)).filter(|block| !block.is_mostly_unknown())
    }

    /// Puts it back; the last one is the newest.
    pub(super) fn put(&mut self, at: usize, block: Block) {
        let blocks = &mut self.all[at].blocks;
        blocks.retain(|other| !other.is_like(&block));
        if blocks.len() >= MOST_BLOCKS {
            blocks.remove(0);
        }
        blocks.push(block);
    }
}
