//! Edges turned around: for each file, the targets that use it.

use crate::ids::{FileId, TargetId, narrow};

/// For each file, the targets that use it, in the order of the description.
#[derive(Clone, Debug)]
pub struct Users {
    /// Indexed by file: where its targets begin. One more at the end.
    starts: Vec<u32>,
    targets: Vec<TargetId>,
}

impl Users {
    /// Those of all edges that `each_edge` names, which it does twice, in the same order. Four bytes are kept for each edge
    /// and for each file.
    pub(crate) fn new(n_files: usize, each_edge: impl Fn(&mut dyn FnMut(FileId, TargetId))) -> Self {
        let mut starts = vec![0u32; n_files + 1];
        each_edge(&mut |file, _| starts[file.index() + 1] += 1);
        let mut n_edges = 0;
        for start in &mut starts {
            n_edges += *start;
            *start = n_edges;
        }
        let mut next = starts.clone();
        let mut targets = vec![TargetId::new(0); n_edges as usize];
        each_edge(&mut |file, target| {
            let slot = &mut next[file.index()];
            targets[*slot as usize] = target;
            *slot = narrow(*slot as usize + 1);
        });
        Self { starts, targets }
    }

    /// The targets that use a file. One that names it twice comes twice.
    #[must_use]
    pub fn of(&self, file: FileId) -> &[TargetId] {
        match (self.starts.get(file.index()), self.starts.get(file.index() + 1)) {
            (Some(&start), Some(&end)) => &self.targets[start as usize..end as usize],
            _ => &[],
        }
    }
}
