//! The reverse question about a project.

use super::check::Describer;
use super::{Options, Project};
use crate::affected::{Affected, affected};
use crate::collect::Disk;
use crate::ids::FileId;
use crate::records::Records;

impl Project {
    /// Which targets would go stale if these files changed, appeared or disappeared; see
    /// [`affected`](crate::affected()). A file that no target names may still match a target's pattern. Also says which
    /// of the files nothing depends on, by their positions.
    ///
    /// Cost: records, or else depfiles, are read; no file is looked at.
    pub fn affected(
        &mut self,
        disk: &dyn Disk,
        records: Option<&Records>,
        files: &[&[u8]],
        options: Options,
    ) -> (Vec<Affected>, Vec<usize>) {
        let all: Vec<FileId> =
            self.graph.targets().filter_map(|target| self.graph.outputs(target).first().copied()).collect();
        let mut history = Describer::new(self, disk, records, options.threads).describe(&all).history;
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for (position, &path) in files.iter().enumerate() {
            let matching: Vec<_> = self
                .graph
                .targets()
                .filter(|&target| self.globs(target).is_some_and(|globs| globs.matches(path)))
                .collect();
            let file = if matching.is_empty() { self.lookup(path) } else { self.file(path).ok() };
            let Some(file) = file else {
                unknown.push(position);
                continue;
            };
            known.push(file);
            for target in matching {
                let inputs = history.discovered_inputs(target);
                if !inputs.contains(&file) && !self.graph.outputs(target).contains(&file) {
                    let inputs: Vec<_> = inputs.iter().copied().chain([file]).collect();
                    history.set_discovered_inputs(target, inputs, None);
                }
            }
        }
        (affected(&self.graph, &history, &known), unknown)
    }
}
