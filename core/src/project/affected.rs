//! The reverse question about a project.

use super::check::Describer;
use super::{Options, Project, ProjectError};
use crate::affected::{Affected, affected};
use crate::collect::Disk;
use crate::ids::FileId;
use crate::records::Records;

impl Project {
    /// Which targets would go stale if these files changed, appeared or disappeared; see
    /// [`affected`](crate::affected()). A file that no target names may still match a target's pattern. Also says which
    /// of the files nothing depends on, by their positions.
    ///
    /// Each file comes with all names that it may have, for instance relative and absolute: a description can use one and
    /// a compiler's depfile another.
    ///
    /// Cost: records, or else depfiles, are read; no file is looked at.
    ///
    /// # Errors
    /// When paths are not what was said of them; see [`Project::add_distinct`].
    pub fn affected<N: AsRef<[u8]>>(
        &mut self,
        disk: &dyn Disk,
        records: Option<&Records>,
        files: &[&[N]],
        options: Options,
    ) -> Result<(Vec<Affected>, Vec<usize>), ProjectError> {
        self.prove_paths()?;
        let all: Vec<FileId> =
            self.graph.targets().filter_map(|target| self.graph.outputs(target).first().copied()).collect();
        let mut history = Describer::new(self, disk, records, options.threads).describe(&all).history;
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for (position, names) in files.iter().enumerate() {
            let n_before = known.len();
            for name in *names {
                let name = name.as_ref();
                let matching: Vec<_> = self
                    .graph
                    .targets()
                    .filter(|&target| self.globs(target).is_some_and(|globs| globs.matches(name)))
                    .collect();
                let file = if matching.is_empty() { self.lookup(name) } else { self.file(name).ok() };
                let Some(file) = file else { continue };
                known.push(file);
                for target in matching {
                    let inputs = history.discovered_inputs(target);
                    if !inputs.contains(&file) && !self.graph.outputs(target).contains(&file) {
                        let inputs: Vec<_> = inputs.iter().copied().chain([file]).collect();
                        history.set_discovered_inputs(target, inputs, None);
                    }
                }
            }
            if known.len() == n_before {
                unknown.push(position);
            }
        }
        Ok((affected(&self.graph, &history, &known), unknown))
    }
}
