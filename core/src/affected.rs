//! The reverse question: which targets would go stale if these files changed.
//!
//! Follows what can make a target stale: explicit, implicit and discovered inputs, what a dyndep file adds, the matches
//! of patterns. Order-only inputs and validations pass nothing on. Nothing is looked at on the disk, so a file may be
//! gone, or not be there yet.

use crate::graph::Graph;
use crate::history::{Dyndep, History, Rule};
use crate::ids::{FileId, TargetId};
use crate::users::Users;

/// A target that would go stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affected {
    /// The target.
    pub target: TargetId,
    /// The first of the given files that leads to it.
    pub because: FileId,
    /// How many targets stand between the two.
    pub distance: u32,
}

/// The targets that would go stale if `files` changed, phony ones included, nearest first and then in the order of the
/// description. Cost: two passes over all edges.
///
/// A target with restat, or one whose content decides, may turn out to leave its users as they are; they are listed all
/// the same.
#[must_use]
pub fn affected(graph: &Graph, history: &History, files: &[FileId]) -> Vec<Affected> {
    let endangered = Endangered::new(graph, history);
    let mut reached = vec![false; graph.n_targets()];
    let mut found: Vec<Affected> = Vec::new();
    // One round for each step away from the files, so that the nearest come first.
    let mut round: Vec<(FileId, FileId)> = files.iter().map(|&file| (file, file)).collect();
    for &file in files {
        // A record also holds how outputs came out.
        if let Some(target) = graph.producer(file)
            && matches!(history.rule(target), Rule::Recorded(_))
            && !std::mem::replace(&mut reached[target.index()], true)
        {
            found.push(Affected { target, because: file, distance: 0 });
            round.extend(endangered.outputs(graph, target).map(|output| (output, file)));
        }
    }
    let mut distance = 0;
    while !round.is_empty() {
        let mut next = Vec::new();
        let first = found.len();
        for (file, because) in round {
            for &target in endangered.by(file) {
                if !std::mem::replace(&mut reached[target.index()], true) {
                    found.push(Affected { target, because, distance });
                    next.extend(endangered.outputs(graph, target).map(|output| (output, because)));
                }
            }
        }
        found[first..].sort_by_key(|affected| affected.target);
        round = next;
        distance += 1;
    }
    found
}

/// For each file, the targets that it can make stale.
struct Endangered {
    users: Users,
    /// Outputs that dyndep files add.
    extra: Vec<(TargetId, FileId)>,
}

impl Endangered {
    fn new(graph: &Graph, history: &History) -> Self {
        let mut more = Vec::new();
        let mut extra = Vec::new();
        for (_, dyndep) in history.dyndeps() {
            let Dyndep::Loaded(entries) = dyndep else { continue };
            for entry in entries {
                more.extend(entry.inputs.iter().map(|&file| (file, entry.target)));
                extra.extend(entry.outputs.iter().map(|&file| (entry.target, file)));
            }
        }
        extra.sort_unstable();
        let each_edge = |act: &mut dyn FnMut(FileId, TargetId)| {
            for target in graph.targets() {
                let inputs = graph.dirtying_inputs(target).iter();
                inputs.chain(history.discovered_inputs(target)).for_each(|&file| act(file, target));
                if let Some(dyndep) = graph.dyndep(target) {
                    act(dyndep, target);
                }
            }
            more.iter().for_each(|&(file, target)| act(file, target));
        };
        Self { users: Users::new(graph.files.len(), each_edge), extra }
    }

    fn by(&self, file: FileId) -> &[TargetId] {
        self.users.of(file)
    }

    fn outputs(&self, graph: &Graph, target: TargetId) -> impl Iterator<Item = FileId> + use<> {
        let first = self.extra.partition_point(|(other, _)| *other < target);
        let extra = self.extra[first..].iter().take_while(|(other, _)| *other == target);
        let all: Vec<_> = graph.outputs(target).iter().copied().chain(extra.map(|(_, file)| *file)).collect();
        all.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Flags, TargetDesc};

    /// a.c -> a.o -> app -> (phony) all; gen is order-only for a.o; hdr is discovered by a.o.
    fn world() -> (Graph, History, [FileId; 7], [TargetId; 4]) {
        let mut graph = Graph::default();
        let files =
            ["a.c", "hdr", "gen.in", "gen", "a.o", "app", "all"].map(|f| graph.files.intern(f.as_bytes()));
        let [a_c, hdr, gen_in, generated, a_o, app, all] = files;
        let mut add = |outputs: &[FileId], explicit: &[FileId], order_only: &[FileId], phony| {
            let flags = Flags { phony, ..Flags::default() };
            let desc = TargetDesc { outputs, explicit, order_only, flags, ..TargetDesc::default() };
            graph.add_target(desc).expect("no other makes it")
        };
        let t_gen = add(&[generated], &[gen_in], &[], false);
        let t_obj = add(&[a_o], &[a_c], &[generated], false);
        let t_app = add(&[app], &[a_o], &[], false);
        let t_all = add(&[all], &[app], &[], true);
        let mut history = History::default();
        history.set_discovered_inputs(t_obj, [hdr], Some(1));
        (graph, history, files, [t_gen, t_obj, t_app, t_all])
    }

    fn reached(files: &[FileId]) -> Vec<(usize, u32)> {
        let (graph, history, ..) = world();
        affected(&graph, &history, files).iter().map(|one| (one.target.index(), one.distance)).collect()
    }

    #[test]
    fn a_source_reaches_all_that_is_made_from_it() {
        let (_, _, [a_c, hdr, ..], _) = world();
        assert_eq!(reached(&[a_c]), [(1, 0), (2, 1), (3, 2)]);
        assert_eq!(reached(&[hdr]), reached(&[a_c]));
    }

    #[test]
    fn order_only_inputs_pass_nothing_on() {
        let (_, _, [_, _, gen_in, generated, ..], _) = world();
        assert_eq!(reached(&[gen_in]), [(0, 0)]);
        assert_eq!(reached(&[generated]), []);
    }

    #[test]
    fn an_output_that_is_compared_with_a_record_affects_its_own_target() {
        let (graph, mut history, [.., a_o, _, _], [_, t_obj, t_app, t_all]) = world();
        assert_eq!(affected(&graph, &history, &[a_o])[0].target, t_app);
        history.set_rule(t_obj, Rule::Recorded(crate::policy::Policy::default()));
        let found: Vec<_> = affected(&graph, &history, &[a_o]).iter().map(|one| one.target).collect();
        assert_eq!(found, [t_obj, t_app, t_all]);
    }
}
