//! Brings the names that a directory lists together with those that are wanted in it.
//!
//! Each wanted name is put into a table once and each listed name is looked up in it once, so it costs as much as
//! there are names of both kinds. Nothing is allocated per name, and a matcher can be used again and again.
//!
//! Where a directory does not tell `a` from `A`, only ASCII is folded here. What such a file system does with other letters
//! is its own affair, which the listing does not show: it may take `ß` for `ss`, or a letter with an accent for the letter
//! and the accent. So a listing answers "there is no such name" only where neither the wanted name nor any
//! listed one has other letters; otherwise the answer is [`Answer::Doubtful`], and whoever asks has to ask for this
//! very name. The same goes for what several listed names could mean.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rapidhash::v3::rapidhash_v3;

/// What a listing says about a wanted name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// It was not listed, so it is not there.
    Missing,
    /// It was listed.
    Listed(T),
    /// The listing does not tell.
    Doubtful,
}

/// Which names mean the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Folding {
    /// Those with the same units only: the directory tells all others apart.
    #[default]
    None,
    /// The same, but names beyond ASCII may be listed in another form than they were given in.
    Form,
    /// Case does not matter, and names beyond ASCII may be listed in another form.
    Case,
}

/// What names consist of: bytes, or units of UTF-16.
pub trait Unit: Copy {
    /// Adds a unit to a name, as listings have it: units of 16 bits with the low byte first.
    fn push(self, name: &mut Vec<u8>);
    /// Adds a name with the capital letters of ASCII made small.
    fn fold(name: &[u8], folded: &mut Vec<u8>);
    /// Whether a name is all ASCII.
    fn is_ascii(name: &[u8]) -> bool;
}

impl Unit for u8 {
    fn push(self, name: &mut Vec<u8>) {
        name.push(self);
    }

    fn fold(name: &[u8], folded: &mut Vec<u8>) {
        folded.extend(name.iter().map(u8::to_ascii_lowercase));
    }

    fn is_ascii(name: &[u8]) -> bool {
        name.is_ascii()
    }
}

impl Unit for u16 {
    fn push(self, name: &mut Vec<u8>) {
        name.extend_from_slice(&self.to_le_bytes());
    }

    fn fold(name: &[u8], folded: &mut Vec<u8>) {
        for unit in name.chunks(2) {
            match *unit {
                [low, 0] => folded.extend([low.to_ascii_lowercase(), 0]),
                _ => folded.extend_from_slice(unit),
            }
        }
    }

    fn is_ascii(name: &[u8]) -> bool {
        name.chunks(2).all(|unit| matches!(*unit, [low, 0] if low.is_ascii()))
    }
}

/// The wanted names of one directory, and what was listed of them; `T` is what a listing tells of a name.
#[derive(Debug)]
pub struct Matcher<U, T> {
    folding: Folding,
    /// The wanted names one after the other, as they were given.
    names: Vec<u8>,
    /// The same with small letters; empty where case matters.
    folded: Vec<u8>,
    wanted: Vec<Wanted<T>>,
    /// The first of all wanted names that are equal, folded.
    table: HashTable<u32>,
    /// Whether a name was listed that is not all ASCII.
    listed_beyond_ascii: bool,
    /// How many wanted names no listed one has answered by the very name.
    n_open: usize,
    /// Where listed names are folded.
    scratch: Vec<u8>,
    unit: std::marker::PhantomData<U>,
}

#[derive(Debug)]
struct Wanted<T> {
    /// Where its name ends. It begins where that of the one before ends.
    end: usize,
    hash: u64,
    /// The next one with the same name, folded.
    next: Option<u32>,
    found: Found<T>,
}

#[derive(Clone, Copy, Debug)]
enum Found<T> {
    Nothing,
    /// A name that is the same only if case does not matter.
    Alike(T),
    Itself(T),
    /// Several names that cannot all be meant.
    Several {
        itself: bool,
    },
}

impl<U, T> Default for Matcher<U, T> {
    fn default() -> Self {
        Self {
            folding: Folding::None,
            names: Vec::new(),
            folded: Vec::new(),
            wanted: Vec::new(),
            table: HashTable::new(),
            listed_beyond_ascii: false,
            n_open: 0,
            scratch: Vec::new(),
            unit: std::marker::PhantomData,
        }
    }
}

impl<U: Unit, T: Copy + PartialEq> Matcher<U, T> {
    /// Forgets everything but the room it took.
    pub fn clear(&mut self, folding: Folding) {
        self.folding = folding;
        self.names.clear();
        self.folded.clear();
        self.wanted.clear();
        self.table.clear();
        self.listed_beyond_ascii = false;
        self.n_open = 0;
    }

    /// Forgets what was listed, but not what is wanted.
    pub fn forget(&mut self) {
        for wanted in &mut self.wanted {
            wanted.found = Found::Nothing;
        }
        self.listed_beyond_ascii = false;
        self.n_open = self.wanted.len();
    }

    /// There is more in the directory than was listed: what was not met, or not as it is spelled, is doubtful.
    pub fn leave_off(&mut self) {
        for wanted in &mut self.wanted {
            if !wanted.found.is_settled() {
                wanted.found = Found::Several { itself: false };
            }
        }
    }

    /// Nobody knows whether case matters after all: what was met in another case only is doubtful.
    pub fn doubt_case(&mut self) {
        for wanted in &mut self.wanted {
            if let Found::Alike(_) = wanted.found {
                wanted.found = Found::Several { itself: false };
            }
        }
    }

    /// Whether each wanted name was listed as it is spelled: nothing that is listed later could be meant rather.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.n_open == 0
    }

    /// Adds a wanted name: its place is the number of those before it. The same name may be wanted again.
    pub fn want(&mut self, name: impl IntoIterator<Item = U>) {
        let start = self.names.len();
        for unit in name {
            unit.push(&mut self.names);
        }
        if self.folding == Folding::Case {
            U::fold(&self.names[start..], &mut self.folded);
        }
        let place = crate::ids::narrow(self.wanted.len());
        let end = self.names.len();
        let keys = if self.folding == Folding::Case { &self.folded } else { &self.names };
        let key = &keys[start..end];
        let hash = rapidhash_v3(key);
        self.wanted.push(Wanted { end, hash, next: None, found: Found::Nothing });
        self.n_open += 1;
        let wanted = &self.wanted;
        let is_it =
            |&other: &u32| wanted[other as usize].hash == hash && &keys[range(wanted, other as usize)] == key;
        match self.table.entry(hash, is_it, |&other| wanted[other as usize].hash) {
            Entry::Occupied(found) => {
                let first = *found.get() as usize;
                self.wanted[place as usize].next = self.wanted[first].next.replace(place);
            }
            Entry::Vacant(slot) => {
                slot.insert(place);
            }
        }
    }

    /// Takes in a listed name: bytes, or units of UTF-16 with the low byte first.
    #[inline]
    pub fn list(&mut self, name: &[u8], value: T) {
        if self.folding != Folding::None && !self.listed_beyond_ascii {
            self.listed_beyond_ascii = !U::is_ascii(name);
        }
        let (key, keys) = match self.folding {
            Folding::Case => {
                self.scratch.clear();
                U::fold(name, &mut self.scratch);
                (self.scratch.as_slice(), &self.folded)
            }
            Folding::None | Folding::Form => (name, &self.names),
        };
        let hash = rapidhash_v3(key);
        let wanted = &self.wanted;
        let is_it =
            |&other: &u32| wanted[other as usize].hash == hash && &keys[range(wanted, other as usize)] == key;
        let mut next = self.table.find(hash, is_it).copied();
        while let Some(place) = next {
            let is_itself = &self.names[range(&self.wanted, place as usize)] == name;
            let wanted = &mut self.wanted[place as usize];
            self.n_open -= usize::from(is_itself && !wanted.found.is_settled());
            wanted.found.add(is_itself, value);
            next = wanted.next;
        }
    }

    /// What the listing says of the wanted names, in their order, once all of it was taken in.
    pub fn answers(&self) -> impl Iterator<Item = Answer<T>> {
        (0..self.wanted.len()).map(|place| match self.wanted[place].found {
            Found::Itself(value) | Found::Alike(value) => Answer::Listed(value),
            Found::Several { .. } => Answer::Doubtful,
            Found::Nothing if self.is_doubtful(place) => Answer::Doubtful,
            Found::Nothing => Answer::Missing,
        })
    }

    /// Whether a name could have been listed in another form.
    fn is_doubtful(&self, place: usize) -> bool {
        self.folding != Folding::None
            && (self.listed_beyond_ascii || !U::is_ascii(&self.names[range(&self.wanted, place)]))
    }
}

impl<T: Copy + PartialEq> Found<T> {
    /// Whether the very name was listed.
    fn is_settled(&self) -> bool {
        matches!(self, Self::Itself(_) | Self::Several { itself: true })
    }

    /// The very name counts more than one that is alike: then the directory does tell them apart.
    fn add(&mut self, is_itself: bool, value: T) {
        *self = match (*self, is_itself) {
            (Self::Nothing, true) | (Self::Alike(_) | Self::Several { itself: false }, true) => {
                Self::Itself(value)
            }
            (Self::Nothing, false) => Self::Alike(value),
            // A directory that changes while it is read may list a name twice.
            (Self::Itself(before), true) if before != value => Self::Several { itself: true },
            (Self::Alike(before), false) if before != value => Self::Several { itself: false },
            (same, _) => same,
        };
    }
}

fn range<T>(wanted: &[Wanted<T>], place: usize) -> std::ops::Range<usize> {
    let start = place.checked_sub(1).map_or(0, |before| wanted[before].end);
    start..wanted[place].end
}
