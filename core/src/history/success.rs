//! What is on record of a target's last success: how its inputs and outputs were, and what else it differs in from the
//! description of now.

use crate::ids::{FileId, TargetId, narrow};
use crate::policy::Policy;
use crate::reason::Reason;
use crate::state::FileState;

/// By which rule a target is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Rule {
    /// Ninja's: by times, and by the records of its logs ([`History::record`](super::History::record)).
    #[default]
    Ninja,
    /// Make's: by times alone.
    Newer,
    /// By comparison with its last success ([`History::success`](super::History::success)).
    Recorded(Policy),
    /// By nothing but what its describer has found out: it is stale for the differences that he gives
    /// ([`Success::differences`]) and fresh without any, whatever its inputs and outputs look like.
    Given {
        /// Whether its outputs are sure to come out changed when it is stale, whatever else is said of its command.
        changes: bool,
    },
}

/// A file of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The file.
    pub file: FileId,
    /// How it was: an input when the build began, an output when it was committed.
    pub state: FileState,
}

/// What is on record of a target that is judged by [`Rule::Recorded`].
#[derive(Clone, Copy, Debug)]
pub struct Success<'a> {
    /// What the record and the description differ in. Whoever describes the target finds that out.
    pub differences: &'a [Reason],
    /// How its inputs were, discovered ones included.
    pub inputs: &'a [Recorded],
    /// How its outputs were.
    pub outputs: &'a [Recorded],
}

/// The successes of all targets, in flat arrays.
#[derive(Clone, Debug, Default)]
pub(super) struct Successes {
    /// Indexed by target.
    rules: Vec<Rule>,
    /// Indexed by target: where its record stands in `rows`, plus one; 0 for none.
    places: Vec<u32>,
    rows: Vec<Place>,
    files: Vec<Recorded>,
    differences: Vec<Reason>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    differences: (u32, u32),
    inputs: (u32, u32),
    outputs: (u32, u32),
}

impl Successes {
    pub(super) fn set_rule(&mut self, target: TargetId, rule: Rule) {
        *entry(&mut self.rules, target.index()) = rule;
    }

    pub(super) fn rule(&self, target: TargetId) -> Rule {
        self.rules.get(target.index()).copied().unwrap_or_default()
    }

    pub(super) fn set(
        &mut self,
        target: TargetId,
        differences: impl IntoIterator<Item = Reason>,
        inputs: impl IntoIterator<Item = Recorded>,
        outputs: impl IntoIterator<Item = Recorded>,
    ) {
        let differences = append(&mut self.differences, differences);
        let inputs = append(&mut self.files, inputs);
        let outputs = append(&mut self.files, outputs);
        self.rows.push(Place { differences, inputs, outputs });
        *entry(&mut self.places, target.index()) = narrow(self.rows.len());
    }

    pub(super) fn get(&self, target: TargetId) -> Option<Success<'_>> {
        let place = self.places.get(target.index())?.checked_sub(1)?;
        let place = self.rows[place as usize];
        let files = |(start, end): (u32, u32)| &self.files[start as usize..end as usize];
        Some(Success {
            differences: &self.differences[place.differences.0 as usize..place.differences.1 as usize],
            inputs: files(place.inputs),
            outputs: files(place.outputs),
        })
    }
}

fn append<T>(all: &mut Vec<T>, more: impl IntoIterator<Item = T>) -> (u32, u32) {
    let start = narrow(all.len());
    all.extend(more);
    (start, narrow(all.len()))
}

fn entry<T: Clone + Default>(table: &mut Vec<T>, index: usize) -> &mut T {
    if table.len() <= index {
        table.resize(index + 1, T::default());
    }
    &mut table[index]
}
