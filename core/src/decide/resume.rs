//! Judging only what changed since an earlier decision.
//!
//! ```text
//!   earlier decision:  a.o  b.o  lib  app  all        inputs before users
//!   changed file:      b.c
//!   one pass:           -    x    x    x    x         x: has a changed input, or one made by an x
//!   walk:                   b.o  lib  app  all        only from these; what the others have stays settled
//! ```
//!
//! Only for [`Mode::LookPast`], where the order of the walk does not show in the answer.

use super::*;
use crate::column::Column;
use crate::history::Span;
use crate::image::{Image, Tables};

/// What a decision left for the next one.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// Indexed by file; see the `F_` bits.
    files: Column<u8>,
    /// Indexed by target; see the `T_` bits.
    targets: Column<u8>,
    /// Inputs before users.
    order: Column<TargetId>,
}

impl Settled {
    /// What a whole decision found out.
    #[must_use]
    pub fn new(decision: &Decision<'_>) -> Self {
        Self {
            files: decision.found.files.clone().into(),
            targets: decision.found.targets.clone().into(),
            order: decision.found.order.clone().into(),
        }
    }

    /// Adds it to an image.
    pub fn save<'a>(&'a self, tables: &mut Tables<'a>) {
        tables.add("filebits", &self.files);
        tables.add("targbits", &self.targets);
        tables.add("order", &self.order);
    }

    /// What an image holds about a graph; `None` where it is damaged or about another one.
    #[must_use]
    pub fn load(image: &Image, graph: &Graph) -> Option<Self> {
        let settled = Self {
            files: image.table("filebits")?,
            targets: image.table("targbits")?,
            order: image.table("order")?,
        };
        let n_targets = graph.n_targets();
        // Files may have become known since, or may be about to: that of each output is looked up when it is needed.
        let fits = settled.targets.len() == n_targets
            && settled.order.iter().all(|target| target.index() < n_targets);
        fits.then_some(settled)
    }
}

/// What may be different for the targets that come next.
struct Changes {
    /// Indexed by file.
    is_changed: Vec<bool>,
    /// Between which targets those stand that discovered one of these files.
    discoverers: Span,
}

impl Changes {
    fn add(&mut self, history: &History, file: FileId) {
        self.is_changed[file.index()] = true;
        self.discoverers.add(history.discoverers(file));
    }
}

impl<'a> Decision<'a> {
    /// Judges what `requests` need, as [`Decision::judge_all`] in [`Mode::LookPast`] would, given what an earlier such
    /// decision about the same requests, graph and history left, and which files have another status since. `None`
    /// where that is not enough to go by: then all has to be judged.
    ///
    /// Cost: one pass over all inputs for a byte each, and the walk of what changed.
    #[must_use]
    pub fn resume(
        graph: &'a Graph,
        history: &'a History,
        snapshot: &'a Snapshot,
        before: &Settled,
        changed: &[FileId],
    ) -> Option<Self> {
        let mut decision = Self::new(graph, history, snapshot, Mode::LookPast);
        decision.load_all_dyndeps().ok()?;
        let affected = decision.affected(before, changed);
        decision.settle_others(before, &affected)?;
        for &target in before.order.iter().filter(|target| affected[target.index()]) {
            let Some(&output) = graph.outputs(target).first() else { continue };
            // A cycle is better told by a walk from the beginning.
            decision.judge_all(&[output]).ok()?;
            let believed = decision.found.targets[target.index()] & T_DEPS_BELIEVED;
            // What only these inputs led to might not be needed any more.
            if before.targets[target.index()] & T_DEPS_BELIEVED & !believed != 0 {
                return None;
            }
        }
        Some(decision)
    }

    /// For each target whether it has to be judged again.
    fn affected(&self, before: &Settled, changed: &[FileId]) -> Vec<bool> {
        let mut affected = vec![false; self.graph.n_targets()];
        let mut changes =
            Changes { is_changed: vec![false; self.graph.files.len()], discoverers: Span::NONE };
        for &file in changed {
            changes.add(self.history, file);
            if let Some(producer) = self.producer(file) {
                affected[producer.index()] = true;
            }
        }
        for &target in &*before.order {
            // A phony name's borrowed time is not kept; there are few of them.
            let again = affected[target.index()]
                || self.graph.flags(target).phony
                || self.may_be_affected(target, before, &changes);
            if again {
                affected[target.index()] = true;
                self.outputs(target).for_each(|output| changes.add(self.history, output));
            }
        }
        affected
    }

    fn may_be_affected(&self, target: TargetId, before: &Settled, changes: &Changes) -> bool {
        let any = |files: &[FileId]| files.iter().any(|file| changes.is_changed[file.index()]);
        any(self.graph.ordering_inputs(target))
            || self.extra_of(target).is_some_and(|extra| any(&extra.inputs))
            || (changes.discoverers.contains(target)
                && before.targets[target.index()] & T_DEPS_BELIEVED != 0
                && any(self.history.discovered_inputs(target)))
    }

    /// Takes over what is known of the targets that are not affected. `None` where it does not say enough.
    fn settle_others(&mut self, before: &Settled, affected: &[bool]) -> Option<()> {
        const KEPT: u8 = F_SETTLED | F_DIRTY | F_CERTAIN | F_NOT_READY;
        for &target in before.order.iter().filter(|target| !affected[target.index()]) {
            self.found.targets[target.index()] |= before.targets[target.index()] & !T_IN_STACK;
            let mut is_known = true;
            self.each_output(target, |decision, output| match before.files.get(output.index()) {
                Some(known) => decision.found.files[output.index()] |= known & KEPT,
                None => is_known = false,
            });
            if !is_known {
                return None;
            }
            self.found.order.push(target);
        }
        Some(())
    }
}
