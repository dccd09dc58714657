//! Listing: the names of a visit are answered from a listing of their directory, and alone where it does not tell.
//!
//! This is the same for all platforms; how a directory is listed is a [`Lister`]. A name that was not listed is
//! missing, for free. Asked for alone are: names of which an entry does not tell what a question would (links, for
//! instance); names that were not met before the visit's budget was used up or the listing failed; and all names of a
//! directory that changed while it was listed, and changed again when it was listed once more.

use super::listing::{Answer, Folding, Matcher, Unit};
use crate::plan::Visit;
use crate::snapshot::{IoCounts, Meta, Stat};

/// A directory that can be listed.
pub(super) trait Lister {
    /// What names are made of.
    type Unit: Unit;

    /// Which names mean the same file in this directory.
    fn folding(&self) -> Folding;

    /// Whether that is certain. If not, names that were met in another case only are asked for alone.
    fn is_folding_certain(&self) -> bool {
        true
    }

    /// A wanted name as listings spell it. `None` where no listing can answer for it.
    fn spell(name: &[u8]) -> Option<impl Iterator<Item = Self::Unit>>;

    /// What changes whenever a name appears in the directory or disappears; `None` where nobody knows.
    fn stamp(&mut self) -> Option<i64>;

    /// The next entries, each handed to `sink`: from the first on, if `restarts`. About `limit` of them are welcome.
    fn read(&mut self, restarts: bool, limit: usize, sink: &mut impl FnMut(Entry<'_>)) -> Outcome;

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
    /// The system refused, or what it said makes no sense: nothing is known of what did not come.
    Failed,
}

/// What a listing tells of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    /// The name, in the units of the listing.
    pub(super) name: &'a [u8],
    /// Another name that it goes by; empty where there is none.
    pub(super) short_name: &'a [u8],
    /// `None` where the entry does not tell what a question for it would.
    pub(super) meta: Option<Meta>,
}

/// The wanted names of a visit. Used again and again, it allocates nothing.
pub(super) type Wanted<U> = Matcher<U, Option<Meta>>;

/// Answers a visit from a listing, as far as it goes.
pub(super) fn answer<L: Lister>(
    lister: &mut L,
    wanted: &mut Wanted<L::Unit>,
    visit: Visit<'_>,
    stats: &mut [Stat],
    counts: &mut IoCounts,
) {
    wanted.clear(lister.folding());
    for name in visit.names().filter_map(L::spell) {
        wanted.want(name);
    }
    if !list(lister, wanted, visit, counts) {
        wanted.forget();
        if !list(lister, wanted, visit, counts) {
            wanted.forget();
            wanted.leave_off();
        }
    }
    if !lister.is_folding_certain() {
        wanted.doubt_case();
    }
    let mut answers = wanted.answers();
    for (name, stat) in visit.names().zip(stats) {
        let answer = if L::spell(name).is_some() { answers.next() } else { None };
        *stat = match answer {
            Some(Answer::Listed(Some(meta))) => Stat::Present(meta),
            Some(Answer::Missing) => Stat::Missing,
            _ => lister.alone(name, counts),
        };
    }
}

/// Lists once. `false` if the directory changed meanwhile, so that a name may have been passed over.
fn list<L: Lister>(
    lister: &mut L,
    wanted: &mut Wanted<L::Unit>,
    visit: Visit<'_>,
    counts: &mut IoCounts,
) -> bool {
    if wanted.is_done() {
        return true;
    }
    counts.listings += 1;
    let before = lister.stamp();
    let mut left = visit.budget() as usize;
    let mut n_filled = 0;
    let mut restarts = true;
    while left > 0 {
        let mut n_entries = 0;
        let outcome = lister.read(restarts, left, &mut |entry| {
            n_entries += 1;
            wanted.list(entry.name, entry.meta);
            if !entry.short_name.is_empty() {
                wanted.list(entry.short_name, None);
            }
        });
        counts.buffers += 1;
        counts.entries += n_entries as u64;
        n_filled += usize::from(n_entries > 0);
        left = left.saturating_sub(n_entries);
        restarts = false;
        if wanted.is_done() || outcome == Outcome::Failed {
            break;
        }
        if outcome == Outcome::End {
            // One call for all of it was one moment.
            let is_same = n_filled < 2 || before.is_some() && lister.stamp() == before;
            counts.changed += u64::from(!is_same);
            return is_same;
        }
    }
    wanted.leave_off();
    true
}

#[cfg(test)]
mod tests;
