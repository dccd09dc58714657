//! Listing: the names of a visit are answered from a listing of their directory, and alone where it does not tell.
//!
//! This is the same for all platforms; what a listing is made of is a [`Lister`]. A name that no entry has is missing, for
//! free. Asked for alone are: names that an entry does not answer (links, for instance), all names that were not met
//! before the visit's budget was used up or the listing failed, and all names of a directory that changed while it was
//! listed, and changed again when it was listed once more.

use crate::ids::narrow;
use crate::plan::Visit;
use crate::snapshot::{IoCounts, Meta, Stat};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use std::ops::Range;

/// A directory that can be listed.
pub(super) trait Lister {
    /// What names are made of: bytes, or UTF-16.
    type Unit: Copy + Eq + bytemuck::NoUninit;

    /// Spells a wanted name as listings do. `false` where no listing can answer for it.
    fn spell(&mut self, name: &[u8], units: &mut Vec<Self::Unit>) -> bool;

    /// Whether names that differ in case only are the same in this directory.
    fn folds(&self) -> bool;

    /// Brings names that differ in case only to the same form, of the same length.
    fn fold(units: &mut [Self::Unit]);

    /// What changes whenever a name appears in the directory or disappears; `None` where nobody knows.
    fn stamp(&mut self) -> Option<i64>;

    /// The next entries, each handed to `sink`: from the first on if `restarts`. About `limit` of them are welcome. What
    /// there was besides entries is said at the end.
    fn read(&mut self, restarts: bool, limit: usize, sink: &mut impl FnMut(Entry<'_, Self::Unit>))
    -> Outcome;

    /// Asks for one name alone.
    fn alone(&mut self, name: &[u8], counts: &mut IoCounts) -> Stat;
}

/// How a call for entries ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There may be more.
    More,
    /// There is no more.
    End,
    /// The system refused: nothing is known of what did not come.
    Failed,
}

/// What a listing tells of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a, Unit> {
    pub(super) name: &'a [Unit],
    /// Another name that it goes by in this directory.
    pub(super) other: Option<&'a [Unit]>,
    /// `None` where the entry does not tell what a question for it would.
    pub(super) meta: Option<Meta>,
}

/// How much is known of a wanted name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Nothing,
    /// An entry that is spelled otherwise has answered; there may be a better one.
    Folded,
    /// Its own entry has answered.
    Exact,
    /// It has to be asked for alone.
    Alone,
}

/// The wanted names of a visit. Used again and again, it allocates nothing.
#[derive(Debug)]
pub(super) struct Wanted<Unit> {
    /// All names as they are spelled, one after the other.
    spelled: Vec<Unit>,
    /// The same, folded, if the directory folds.
    folded: Vec<Unit>,
    names: Vec<Name>,
    /// The first of the names that are the same when they are folded, with the hash of it.
    index: HashTable<(u32, u64)>,
    /// The entry's name, folded.
    entry: Vec<Unit>,
    /// How many names are neither exact nor to be asked for alone.
    n_open: usize,
}

#[derive(Clone, Copy, Debug)]
struct Name {
    start: u32,
    end: u32,
    /// The next name that is the same when it is folded.
    next: u32,
    known: Known,
    /// Whether no listing can answer for it.
    is_odd: bool,
}

const NONE: u32 = u32::MAX;

impl<Unit> Default for Wanted<Unit> {
    fn default() -> Self {
        Self {
            spelled: Vec::new(),
            folded: Vec::new(),
            names: Vec::new(),
            index: HashTable::new(),
            entry: Vec::new(),
            n_open: 0,
        }
    }
}

/// Answers a visit from a listing, as far as it goes.
pub(super) fn answer<L: Lister>(
    lister: &mut L,
    wanted: &mut Wanted<L::Unit>,
    visit: Visit<'_>,
    stats: &mut [Stat],
    counts: &mut IoCounts,
) {
    wanted.take_in(lister, visit);
    if wanted.n_open > 0 {
        counts.listings += 1;
        if !list(lister, wanted, visit.budget(), stats, counts) {
            wanted.forget();
            counts.listings += 1;
            if !list(lister, wanted, visit.budget(), stats, counts) {
                wanted.give_up();
            }
        }
    }
    for ((name, stat), known) in visit.names().zip(stats).zip(wanted.names.iter().map(|name| name.known)) {
        match known {
            Known::Nothing => *stat = Stat::Missing,
            Known::Alone => *stat = lister.alone(name, counts),
            Known::Folded | Known::Exact => {}
        }
    }
}

/// Lists once. `false` if the directory changed meanwhile, so that a name may have been passed over.
fn list<L: Lister>(
    lister: &mut L,
    wanted: &mut Wanted<L::Unit>,
    budget: u32,
    stats: &mut [Stat],
    counts: &mut IoCounts,
) -> bool {
    let before = lister.stamp();
    let fold: Option<Fold<L::Unit>> = lister.folds().then_some(L::fold);
    let mut left = budget as usize;
    let mut n_filled = 0;
    loop {
        let mut n_entries = 0;
        let outcome = lister.read(n_filled == 0, left, &mut |entry| {
            n_entries += 1;
            wanted.meet(fold, entry, stats);
        });
        counts.buffers += 1;
        counts.entries += n_entries as u64;
        n_filled += usize::from(n_entries > 0);
        left = left.saturating_sub(n_entries);
        if wanted.n_open == 0 {
            // All were met: none can have been passed over.
            return true;
        }
        if outcome == Outcome::End {
            break;
        }
        if outcome == Outcome::Failed || left == 0 || n_entries == 0 {
            wanted.leave_the_rest();
            return true;
        }
    }
    // One call for all of it was one moment.
    let is_same = n_filled < 2 || before.is_some() && lister.stamp() == before;
    counts.changed += u64::from(!is_same);
    is_same
}

/// Brings a name to the form in which names that are the same are equal.
type Fold<Unit> = fn(&mut [Unit]);

impl<Unit: Copy + Eq + bytemuck::NoUninit> Wanted<Unit> {
    /// Takes in the names of a visit, instead of those that were here.
    fn take_in<L: Lister<Unit = Unit>>(&mut self, lister: &mut L, visit: Visit<'_>) {
        self.spelled.clear();
        self.names.clear();
        self.index.clear();
        for name in visit.names() {
            let start = self.spelled.len();
            let is_odd = !lister.spell(name, &mut self.spelled);
            let (start, end) = (narrow(start), narrow(self.spelled.len()));
            let known = if is_odd { Known::Alone } else { Known::Nothing };
            self.names.push(Name { start, end, next: NONE, known, is_odd });
        }
        self.folded.clone_from(&self.spelled);
        if lister.folds() {
            L::fold(&mut self.folded);
        }
        for at in 0..self.names.len() {
            if !self.names[at].is_odd {
                self.file(at);
            }
        }
        self.n_open = self.names.iter().filter(|name| !name.is_odd).count();
    }

    /// Puts a name into the index.
    fn file(&mut self, at: usize) {
        let Self { folded, names, index, .. } = self;
        let key = |at: u32| &folded[names[at as usize].range()];
        let hash = hash_of(key(narrow(at)));
        let is_it = |&(first, its): &(u32, u64)| its == hash && key(first) == key(narrow(at));
        match index.entry(hash, is_it, |&(_, hash)| hash) {
            Slot::Vacant(slot) => {
                slot.insert((narrow(at), hash));
            }
            Slot::Occupied(slot) => {
                let first = slot.get().0 as usize;
                names[at].next = names[first].next;
                names[first].next = narrow(at);
            }
        }
    }

    /// Takes in what an entry tells.
    fn meet(&mut self, fold: Option<Fold<Unit>>, entry: Entry<'_, Unit>, stats: &mut [Stat]) {
        for (name, is_other) in [(Some(entry.name), false), (entry.other, true)] {
            let Some(name) = name else { continue };
            self.entry.clear();
            self.entry.extend_from_slice(name);
            if let Some(fold) = fold {
                fold(&mut self.entry);
            }
            let hash = hash_of(&self.entry);
            let Self { folded, names, index, entry: key, .. } = &*self;
            let is_it =
                |&(first, its): &(u32, u64)| its == hash && folded[names[first as usize].range()] == **key;
            let mut next = index.find(hash, is_it).map_or(NONE, |&(first, _)| first);
            while next != NONE {
                let at = next as usize;
                let is_exact = !is_other && self.spelled[self.names[at].range()] == *name;
                self.settle(at, is_exact, entry.meta, &mut stats[at]);
                next = self.names[at].next;
            }
        }
    }

    /// An entry answers a wanted name.
    fn settle(&mut self, at: usize, is_exact: bool, meta: Option<Meta>, stat: &mut Stat) {
        let known = &mut self.names[at].known;
        let was_open = matches!(*known, Known::Nothing | Known::Folded);
        *known = match (*known, is_exact) {
            (Known::Alone, _) => Known::Alone,
            (Known::Exact, false) => return,
            (Known::Nothing, false) => Known::Folded,
            (Known::Nothing | Known::Folded, true) => Known::Exact,
            // Two entries that are equally good.
            (Known::Folded, false) | (Known::Exact, true) => Known::Alone,
        };
        match meta {
            Some(meta) => *stat = Stat::Present(meta),
            None => *known = Known::Alone,
        }
        let is_open = matches!(*known, Known::Nothing | Known::Folded);
        self.n_open -= usize::from(was_open && !is_open);
    }

    /// What was not met is asked for alone.
    fn leave_the_rest(&mut self) {
        for name in &mut self.names {
            if matches!(name.known, Known::Nothing | Known::Folded) {
                name.known = Known::Alone;
            }
        }
        self.n_open = 0;
    }

    /// Forgets what was learnt.
    fn forget(&mut self) {
        for name in &mut self.names {
            name.known = if name.is_odd { Known::Alone } else { Known::Nothing };
        }
        self.n_open = self.names.iter().filter(|name| !name.is_odd).count();
    }

    /// All names are asked for alone.
    fn give_up(&mut self) {
        for name in &mut self.names {
            name.known = Known::Alone;
        }
    }
}

impl Name {
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

fn hash_of<Unit: bytemuck::NoUninit>(name: &[Unit]) -> u64 {
    rapidhash::v3::rapidhash_v3(bytemuck::cast_slice(name))
}

#[cfg(test)]
mod tests;
