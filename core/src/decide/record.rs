//! The other ladder: a target against the record of its last success.

use super::ladder::Sink;
use super::*;
use crate::policy::Policy;
use crate::reason::Compared;
use crate::state::FileState;

/// The files whose content has to be looked at before anything can be decided, each once: what stands on record of them
/// leaves it open whether they changed. Cost: one comparison for each file on record.
#[must_use]
pub fn wants_content(graph: &Graph, history: &History, snapshot: &Snapshot) -> Vec<FileId> {
    let mut wanted = Vec::new();
    let mut seen = HashSet::new();
    for target in graph.targets() {
        let (Rule::Recorded(policy), Some(success)) = (history.rule(target), history.success(target)) else {
            continue;
        };
        let inputs = success.inputs.iter().map(|recorded| (recorded, policy.of_inputs()));
        let outputs = success.outputs.iter().map(|recorded| (recorded, policy.of_outputs()));
        for (recorded, policy) in inputs.chain(outputs) {
            let stat = snapshot.stat(recorded.file);
            let likeness = compare(policy, &recorded.state, stat, Content::Unknown);
            if likeness == Likeness::NeedsContent && seen.insert(recorded.file) {
                wanted.push(recorded.file);
            }
        }
    }
    wanted
}

impl Decision<'_> {
    /// Whether content decides about inputs that are made again.
    pub(super) fn forgives(&self, target: TargetId) -> bool {
        matches!(self.history.rule(target), Rule::Recorded(policy) if policy.of_inputs().forgives())
    }

    /// Why a target is not as its last success left it.
    pub(super) fn judge_by_record(&self, target: TargetId, policy: Policy, sink: &mut impl Sink) {
        let Some(success) = self.history.success(target) else {
            if let Some(&output) = self.graph.outputs(target).first() {
                sink.push(|| Reason::NeverBuilt { output });
            }
            return self.judge_presence(target, sink);
        };
        for difference in success.differences {
            sink.push(|| difference.clone());
        }
        let by = policy.of_inputs();
        for recorded in success.inputs {
            if sink.is_full() {
                return;
            }
            // Stale itself, or missing: that is a reason already.
            if self.is_dirty(recorded.file) {
                continue;
            }
            self.judge_file(recorded, by, sink, |input, compared| Reason::InputChanged { input, compared });
        }
        let by = policy.of_outputs();
        for recorded in success.outputs {
            if sink.is_full() {
                return;
            }
            if recorded.state.meta().is_some() && matches!(self.snapshot.stat(recorded.file), Stat::Missing) {
                sink.push(|| Reason::OutputMissing { output: recorded.file });
                continue;
            }
            self.judge_file(recorded, by, sink, |output, compared| Reason::OutputChanged {
                output,
                compared,
            });
        }
    }

    /// Outputs that are not there, of a target without a record.
    fn judge_presence(&self, target: TargetId, sink: &mut impl Sink) {
        if self.graph.flags(target).name_only {
            return;
        }
        for output in self.outputs(target) {
            match self.snapshot.stat(output) {
                Stat::Missing | Stat::Unknown => sink.push(|| Reason::OutputMissing { output }),
                Stat::Unreadable(errno) => sink.push(|| Reason::Unreadable { path: output, errno }),
                Stat::Present(_) => {}
            }
        }
    }

    fn judge_file(
        &self,
        recorded: &Recorded,
        policy: Policy,
        sink: &mut impl Sink,
        changed: impl FnOnce(FileId, Box<Compared>) -> Reason,
    ) {
        let (file, state): (FileId, &FileState) = (recorded.file, &recorded.state);
        let (stat, content) = (self.snapshot.stat(file), self.snapshot.content(file));
        match compare(policy, state, stat, content) {
            Likeness::Same => {}
            // Nobody looked, so nobody can say that it is the same.
            Likeness::Changed | Likeness::NeedsContent => {
                sink.push(|| changed(file, Box::new(Compared::new(state, stat, content))));
            }
            Likeness::Racy => sink.push(|| Reason::Racy { path: file }),
            Likeness::Unreadable(errno) => sink.push(|| Reason::Unreadable { path: file, errno }),
        }
    }
}
