//! Held names: files that somebody may have open to write to.
//!
//! Who writes through a mapping, or with the kernel's asynchronous calls, is told of only when the file is closed. But before
//! that such a file is nearly always created, truncated or written to in the usual way, and that is told of. So a name that
//! began to change is held until somebody who had it open to write to it closes it. What is held is asked for each time.
//!
//! A name that a link was made for is never closed under that name, so it stays held: all the better, since whoever has the
//! file open by another name is told of under that name.

use crate::journal::{NameHash, Place};
use rapidhash::RapidHashSet;

/// So many renamings may be half told at once.
const HALF_TOLD: usize = 64;

/// The names that are held.
#[derive(Debug, Default)]
pub(super) struct Held {
    names: RapidHashSet<(Place, NameHash)>,
    /// Of files that were taken from a name, by the number of the renaming, whether they were held there.
    moving: Vec<(u32, bool)>,
}

impl Held {
    /// Something began to change.
    pub(super) fn hold(&mut self, places: &[Place], name: NameHash) {
        self.names.extend(places.iter().map(|&place| (place, name)));
    }

    /// It was closed, or removed.
    pub(super) fn release(&mut self, places: &[Place], name: NameHash) {
        for &place in places {
            self.names.remove(&(place, name));
        }
    }

    /// A file was taken from a name. The name stays as it was: where two names are exchanged, both files are still there.
    pub(super) fn taken(&mut self, places: &[Place], name: NameHash, renaming: u32) {
        if places.is_empty() {
            return;
        }
        if self.moving.len() == HALF_TOLD {
            self.moving.remove(0);
        }
        self.moving.push((renaming, places.iter().any(|&place| self.has(place, name))));
    }

    /// A file was put at a name. One that comes from where nobody watched may be open.
    pub(super) fn put(&mut self, places: &[Place], name: NameHash, renaming: u32) {
        let known = self.moving.iter().rev().find(|(its, _)| *its == renaming);
        if known.is_none_or(|(_, was_held)| *was_held) {
            self.hold(places, name);
        }
    }

    /// Whether a name is held.
    pub(super) fn has(&self, place: Place, name: NameHash) -> bool {
        self.names.contains(&(place, name))
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.names.capacity() * (size_of::<(Place, NameHash)>() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &[Place] = &[Place(1)];

    fn name(name: &str) -> NameHash {
        NameHash::of(name.as_bytes())
    }

    #[test]
    fn what_was_closed_before_it_was_renamed_is_not_held() {
        let mut held = Held::default();
        held.hold(HERE, name("a.tmp"));
        held.release(HERE, name("a.tmp"));
        held.taken(HERE, name("a.tmp"), 1);
        held.put(HERE, name("a"), 1);
        assert!(!held.has(Place(1), name("a")));
    }

    #[test]
    fn what_is_open_stays_held_by_its_new_name() {
        let mut held = Held::default();
        held.hold(HERE, name("a.tmp"));
        held.taken(HERE, name("a.tmp"), 1);
        held.put(HERE, name("a"), 1);
        assert!(held.has(Place(1), name("a")));
    }

    #[test]
    fn of_two_names_that_are_exchanged_the_open_one_stays_held() {
        for open in ["a", "b"] {
            let mut held = Held::default();
            held.hold(HERE, name(open));
            for (renaming, from, to) in [(1, "a", "b"), (2, "b", "a")] {
                held.taken(HERE, name(from), renaming);
                held.put(HERE, name(to), renaming);
            }
            let now = if open == "a" { "b" } else { "a" };
            assert!(held.has(Place(1), name(now)), "{open}");
        }
    }

    #[test]
    fn what_comes_from_elsewhere_is_held() {
        let mut held = Held::default();
        held.taken(&[], name("x"), 7);
        held.put(HERE, name("a"), 7);
        assert!(held.has(Place(1), name("a")));
    }
}
