//! What a target's success rests on: its described inputs, with names that stand for others replaced by what they stand
//! for, and the files that its patterns match.

use super::Project;
use crate::ids::{FileId, TargetId};
use std::collections::HashSet;

impl Project {
    /// Appends the inputs of a target whose changes count, discovered ones aside. The order depends on the description
    /// and on `matches`, what its patterns match, alone.
    pub(super) fn real_inputs(&self, target: TargetId, matches: &[FileId], into: &mut Vec<FileId>) {
        let described = self.graph.dirtying_inputs(target);
        let is_phony = |&file: &FileId| self.phony_producer(file).is_some();
        if described.iter().any(is_phony) {
            self.see_through(described, into);
        } else {
            into.extend_from_slice(described);
        }
        let outputs = self.graph.outputs(target);
        into.extend(matches.iter().filter(|file| !outputs.contains(file)));
    }

    /// A phony target hides its inputs from who compares files one by one, so they count for its users. A file may have
    /// its name, so that counts too.
    fn see_through(&self, files: &[FileId], into: &mut Vec<FileId>) {
        let mut seen = HashSet::new();
        let mut left: Vec<FileId> = files.iter().rev().copied().collect();
        while let Some(file) = left.pop() {
            if !seen.insert(file) {
                continue;
            }
            into.push(file);
            if let Some(phony) = self.phony_producer(file) {
                left.extend(self.graph.dirtying_inputs(phony).iter().rev());
            }
        }
    }

    fn phony_producer(&self, file: FileId) -> Option<TargetId> {
        self.graph.producer(file).filter(|&target| self.graph.flags(target).phony)
    }
}
