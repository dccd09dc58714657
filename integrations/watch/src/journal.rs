//! The journal: which names changed, and since when, in memory that is bounded.
//!
//! A change is a place (a directory that somebody watches) and a hash of a name in it. Two names with one hash are one here,
//! which costs a needless look. There are 16 bytes for each name and question; where that becomes too much, names become
//! "all of the directory", and directories become "everything".

use crate::Why;
use rapidhash::RapidHashSet;

/// A directory that is watched, as a feed numbers them. No number is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place(pub(crate) u32);

impl Place {
    /// The largest number. Memory is full before that.
    pub(crate) const MOST: u32 = u32::MAX >> 1;
}

/// What stands for a name: names that differ in the case of ASCII letters only have the same, since there are file systems
/// for which they are. Never [`NameHash::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameHash(pub(crate) u32);

impl NameHash {
    /// All of the directory.
    pub(crate) const ALL: Self = Self(0);

    /// What stands for a name.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
    pub fn of(name: &[u8]) -> Self {
        let mut lower = [0; 256];
        let hash = match lower.get_mut(..name.len()) {
            Some(lower) => {
                lower.copy_from_slice(name);
                lower.make_ascii_lowercase();
                rapidhash::v3::rapidhash_v3(lower)
            }
            None => rapidhash::v3::rapidhash_v3(&name.to_ascii_lowercase()),
        };
        Self((hash as u32).max(1))
    }
}

/// What changed since a token, when that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Sorted, each once.
    entries: Vec<(Place, NameHash)>,
}

/// What changed in one directory.
#[derive(Clone, Copy, Debug)]
pub enum Names<'a> {
    /// Perhaps every name, perhaps even where the path leads to.
    All,
    /// At most names that these stand for.
    Some(&'a [(Place, NameHash)]),
}

impl Changed {
    fn new(mut entries: Vec<(Place, NameHash)>) -> Self {
        entries.sort_unstable();
        entries.dedup();
        Self { entries }
    }

    /// Whether nothing did.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The directories in which something changed, with what did.
    pub fn places(&self) -> impl Iterator<Item = (Place, Names<'_>)> {
        // ALL sorts before all names.
        self.entries.chunk_by(|a, b| a.0 == b.0).map(|entries| match entries[0] {
            (place, NameHash::ALL) => (place, Names::All),
            (place, _) => (place, Names::Some(entries)),
        })
    }

    /// Whether a name in a directory may have changed.
    #[must_use]
    pub fn has(&self, place: Place, name: &[u8]) -> bool {
        let is_there = |hash| self.entries.binary_search(&(place, hash)).is_ok();
        is_there(NameHash::ALL) || is_there(NameHash::of(name))
    }
}

/// One thing that happened.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The question before which it happened.
    generation: u64,
    place: Place,
    name: NameHash,
}

/// All that happened, as far back as it reaches.
#[derive(Debug)]
pub struct Journal {
    /// The questions that were asked so far, and one: what happens now belongs to the next one.
    generation: u64,
    /// Tokens before this question are not answered.
    reaches: u64,
    /// Why it reaches no further back.
    why: Why,
    /// Rises by generation.
    entries: Vec<Entry>,
    /// What stands in `entries` for this generation.
    noted: RapidHashSet<(Place, NameHash)>,
    most: usize,
}

/// So many entries are kept: 1 MB.
const MOST: usize = 65_536;

impl Journal {
    pub(crate) fn new() -> Self {
        Self::with_room(MOST)
    }

    /// A journal that keeps so many entries.
    pub(crate) fn with_room(most: usize) -> Self {
        Self {
            generation: 1,
            reaches: 1,
            why: Why::TooOld,
            entries: Vec::new(),
            noted: RapidHashSet::default(),
            most,
        }
    }

    /// A name changed.
    pub fn note(&mut self, place: Place, name: NameHash) {
        if self.noted.contains(&(place, NameHash::ALL)) || !self.noted.insert((place, name)) {
            return;
        }
        self.entries.push(Entry { generation: self.generation, place, name });
        if self.entries.len() > self.most {
            self.shrink();
        }
    }

    /// All of a directory changed, or may have.
    pub fn note_all(&mut self, place: Place) {
        self.note(place, NameHash::ALL);
    }

    /// Nobody knows what changed.
    pub fn note_everything(&mut self, why: Why) {
        self.entries.clear();
        self.noted.clear();
        // Even a token of the last question is too old now.
        self.reaches = self.generation;
        self.why = why;
    }

    /// Ends a generation: what happens from now on happened after it. Its number.
    pub(crate) fn turn(&mut self) -> u64 {
        let ended = self.generation;
        self.generation += 1;
        self.noted.clear();
        ended
    }

    /// What happened after a generation that has ended; `Err` when that is not known.
    pub(crate) fn since(&self, generation: u64) -> Result<Changed, Why> {
        if generation >= self.generation {
            return Err(Why::NotOurToken);
        }
        if generation < self.reaches {
            return Err(self.why);
        }
        let start = self.entries.partition_point(|entry| entry.generation <= generation);
        Ok(Changed::new(self.entries[start..].iter().map(|entry| (entry.place, entry.name)).collect()))
    }

    /// Makes room: each name once, then directories for names, then everything for directories.
    fn shrink(&mut self) {
        let half = self.most / 2;
        self.keep_last(|entry| entry.name);
        if self.entries.len() > half {
            self.keep_last(|_| NameHash::ALL);
        }
        if self.entries.len() > half {
            // What is in this generation is gone as well, so the token of the last one is too old.
            self.note_everything(Why::TooMuch);
        }
        let now = self.entries.iter().filter(|entry| entry.generation == self.generation);
        self.noted = now.map(|entry| (entry.place, entry.name)).collect();
    }

    /// Keeps of entries that are the same by place and `name` the last one.
    fn keep_last(&mut self, name: impl Fn(&Entry) -> NameHash) {
        let mut seen = RapidHashSet::default();
        let mut kept: Vec<Entry> = Vec::new();
        for entry in self.entries.iter().rev() {
            let name = name(entry);
            if seen.insert((entry.place, name)) {
                kept.push(Entry { name, ..*entry });
            }
        }
        kept.reverse();
        self.entries = kept;
    }

    /// Whether something happened in this generation, which has not ended.
    pub(crate) fn has_new(&self) -> bool {
        self.has_since(self.generation - 1)
    }

    /// Whether something happened after a generation that has ended, or nobody knows.
    pub(crate) fn has_since(&self, generation: u64) -> bool {
        generation < self.reaches || self.entries.last().is_some_and(|last| last.generation > generation)
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
            + self.noted.capacity() * (size_of::<(Place, NameHash)>() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(journal: &mut Journal, place: u32, name: &str) {
        journal.note(Place(place), NameHash::of(name.as_bytes()));
    }

    #[test]
    fn what_happened_after_a_question_is_told_however_often_one_asks() {
        let mut journal = Journal::new();
        let first = journal.turn();
        noted(&mut journal, 1, "a");
        noted(&mut journal, 1, "a");
        let second = journal.turn();
        noted(&mut journal, 2, "b");
        let third = journal.turn();
        for _ in 0..2 {
            let since = |generation| journal.since(generation).expect("it reaches back");
            assert_eq!(since(first).entries.len(), 2);
            assert!(since(second).has(Place(2), b"b") && !since(second).has(Place(1), b"a"));
            assert!(since(third).is_empty());
            let has = [first, second, third].map(|generation| journal.has_since(generation));
            assert_eq!(has, [true, true, false]);
        }
        assert!(!journal.has_new());
        noted(&mut journal, 1, "a");
        assert!(journal.has_new() && journal.has_since(third));
    }

    #[test]
    fn a_token_from_the_future_is_nobodys() {
        let mut journal = Journal::new();
        let token = journal.turn();
        assert_eq!(journal.since(token + 1), Err(Why::NotOurToken));
        assert_eq!(journal.since(u64::MAX), Err(Why::NotOurToken));
    }

    #[test]
    fn after_everything_no_earlier_token_is_answered() {
        let mut journal = Journal::new();
        let before = journal.turn();
        noted(&mut journal, 1, "a");
        journal.note_everything(Why::Overflow);
        assert!(journal.has_new() && journal.has_since(before));
        noted(&mut journal, 1, "b");
        assert_eq!(journal.since(before), Err(Why::Overflow));
        let after = journal.turn();
        assert!(journal.since(after).expect("it reaches back").is_empty());
        assert_eq!(journal.since(before), Err(Why::Overflow));
    }

    #[test]
    fn names_that_differ_in_case_are_one() {
        assert_eq!(NameHash::of(b"README"), NameHash::of(b"Readme"));
        assert_ne!(NameHash::of(b"a"), NameHash::of(b"b"));
        let long = [b'X'; 4_000];
        assert_eq!(NameHash::of(&long), NameHash::of(&long.to_ascii_lowercase()));
        assert_ne!(NameHash::of(b""), NameHash::ALL);
    }

    #[test]
    fn a_full_journal_says_more_than_happened_and_never_less() {
        for most in [1, 2, 3, 10, 40, 1_000] {
            let mut journal = Journal::with_room(most);
            let mut seed = 7_u32;
            let mut happened: Vec<Vec<(u32, String)>> = vec![Vec::new()];
            for _ in 0..2_000 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let (place, name) = (seed >> 28, format!("n{}", seed >> 20 & 0xff));
                match seed >> 8 & 31 {
                    0 => {
                        journal.turn();
                        happened.push(Vec::new());
                    }
                    1 if seed & 7 == 0 => journal.note_all(Place(place)),
                    _ => {
                        noted(&mut journal, place, &name);
                        happened.last_mut().expect("one").push((place, name));
                    }
                }
                assert!(journal.entries.len() <= most);
            }
            journal.turn();
            for generation in 1..=happened.len() {
                let Ok(changed) = journal.since(generation as u64) else { continue };
                for (place, name) in happened[generation..].iter().flatten() {
                    assert!(changed.has(Place(*place), name.as_bytes()), "{most}: {place} {name}");
                }
            }
            assert!(journal.since(happened.len() as u64).is_ok());
        }
    }
}
