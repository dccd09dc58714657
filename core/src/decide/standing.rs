//! A decision that stays in memory, for whoever asks again and again about the same build.
//!
//! ```text
//!   decision:      a.o  b.o  lib  app  all        inputs before users
//!   changed file:  b.c
//!   users:         b.c -> b.o -> lib -> app -> all
//!   walk:          these four, from the beginning; everything else stays as it is
//! ```
//!
//! Unlike [`Settled`], which lies in images and knows a byte of each file, it has all that a walk leaves. So an answer takes
//! what the changed files lead to, and a look at a byte of each target.

use super::*;
use crate::users::Users;

/// A decision in [`Mode::LookPast`] that is judged again where files changed.
pub struct Standing {
    found: Found,
    /// Whom a file leads to.
    users: Users,
}

impl Standing {
    /// What a whole decision found out. `None` for one that was made as ninja makes it, where the order of the walk shows in
    /// the answer. Cost: one pass over all edges, for each of which four bytes are kept.
    #[must_use]
    pub fn new(decision: Decision<'_>) -> Option<Self> {
        let is_usable = decision.mode == Mode::LookPast && decision.pending_dyndeps.is_empty();
        let users = decision.users();
        is_usable.then_some(Self { found: decision.found, users })
    }

    /// Judges again what these files lead to, which have another status since, as [`Decision::judge_all`] would, and hands
    /// the decision to `read`. The graph, the history and the requests have to be those of the decision. `None` where
    /// that is not enough to go by: then all has to be judged.
    ///
    /// Cost: the walk of what changed, and one pass over the targets for a byte each.
    #[must_use]
    pub fn judge_again<R>(
        self,
        graph: &Graph,
        history: &History,
        snapshot: &Snapshot,
        changed: &[FileId],
        read: impl FnOnce(&Decision<'_>) -> R,
    ) -> Option<(Self, R)> {
        if (self.found.files.len(), self.found.targets.len()) != (graph.files.len(), graph.n_targets()) {
            return None;
        }
        let Self { found, users } = self;
        let (mode, validations, stack, pending_dyndeps) =
            (Mode::LookPast, Vec::new(), Vec::new(), HashSet::new());
        let mut decision =
            Decision { graph, history, snapshot, mode, found, validations, stack, pending_dyndeps };
        decision.judge_changed(&users, changed)?;
        let answer = read(&decision);
        Some((Self { found: decision.found, users }, answer))
    }
}

impl Decision<'_> {
    /// For each file, the targets whose verdict or readiness may depend on it.
    fn users(&self) -> Users {
        Users::new(self.graph.files.len(), |edge| {
            for target in self.graph.targets() {
                let extra = self.extra_of(target).map_or(&[][..], |extra| &extra.inputs);
                let inputs = self.graph.ordering_inputs(target).iter().chain(extra);
                // Whether they are believed may change.
                inputs.chain(self.history.discovered_inputs(target)).for_each(|&file| edge(file, target));
            }
        })
    }

    fn judge_changed(&mut self, users: &Users, changed: &[FileId]) -> Option<()> {
        changed.iter().for_each(|&file| self.look_up(file));
        let affected = self.affected_by(users, changed);
        let mut again = Vec::new();
        self.found.order.retain(|&target| {
            if affected[target.index()] {
                again.push(target);
            }
            !affected[target.index()]
        });
        let believed: Vec<u8> = again.iter().map(|&target| self.forget(target)).collect();
        for (&target, believed) in again.iter().zip(believed) {
            let Some(&output) = self.graph.outputs(target).first() else { continue };
            // A cycle is better told by a walk from the beginning.
            self.judge_all(&[output]).ok()?;
            // What only its discovered inputs led to might not be needed any more.
            if believed & !self.found.targets[target.index()] != 0 {
                return None;
            }
        }
        Some(())
    }

    /// For each target whether it was judged and may come out in another way now.
    fn affected_by(&self, users: &Users, changed: &[FileId]) -> Vec<bool> {
        let mut affected = vec![false; self.graph.n_targets()];
        let mut left: Vec<TargetId> = Vec::new();
        let mut add = |target: TargetId, left: &mut Vec<TargetId>| {
            let is_judged = self.found.targets[target.index()] & T_DONE != 0;
            if is_judged && !std::mem::replace(&mut affected[target.index()], true) {
                left.push(target);
            }
        };
        for &file in changed {
            let producer = self.producer(file);
            users.of(file).iter().copied().chain(producer).for_each(|target| add(target, &mut left));
        }
        while let Some(target) = left.pop() {
            for output in self.outputs(target) {
                users.of(output).iter().for_each(|&target| add(target, &mut left));
            }
        }
        affected
    }

    /// Lets a target be judged from the beginning. Whether its discovered inputs were believed, as a bit.
    fn forget(&mut self, target: TargetId) -> u8 {
        let before = self.found.targets[target.index()];
        self.found.targets[target.index()] &= T_RESTAT;
        self.each_output(target, Self::look_up);
        before & T_DEPS_BELIEVED
    }
}
