//! Which targets each target needs: the graph without its files, as small as what is made from each other.

use crate::column::Column;
use crate::graph::Graph;
use crate::history::{Dyndep, History};
use crate::ids::{FileId, TargetId, narrow};
use crate::image::{Image, Tables};
use std::collections::HashMap;

/// For each target, those that make something it uses: inputs of all roles, discovered ones and those of dyndep files
/// included, and validations.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Where each target's run in `targets` ends.
    ends: Column<u32>,
    targets: Column<TargetId>,
}

impl Needs {
    /// Cost: one pass over all inputs.
    #[must_use]
    pub fn new(graph: &Graph, history: &History) -> Self {
        let extra = Extra::new(graph, history);
        let (mut ends, mut targets) = (Vec::with_capacity(graph.n_targets()), Vec::new());
        // For each target, the last one that is known to need it.
        let mut last_user = vec![u32::MAX; graph.n_targets()];
        for user in graph.targets() {
            let number = narrow(user.index());
            let mut add = |file: FileId| {
                let Some(producer) = extra.producer(graph, file) else { return };
                let last = &mut last_user[producer.index()];
                if *last != number {
                    *last = number;
                    targets.push(producer);
                }
            };
            graph.ordering_inputs(user).iter().for_each(|&file| add(file));
            graph.validations(user).iter().for_each(|&file| add(file));
            history.discovered_inputs(user).iter().for_each(|&file| add(file));
            extra.inputs.get(&user).copied().into_iter().flatten().for_each(|&file| add(file));
            ends.push(narrow(targets.len()));
        }
        Self { ends: ends.into(), targets: targets.into() }
    }

    /// For each target whether it is one of `roots` or needed by one.
    #[must_use]
    pub fn closure(&self, roots: impl IntoIterator<Item = TargetId>) -> Vec<bool> {
        let (ends, targets) = (&*self.ends, &*self.targets);
        let mut is_in = vec![false; ends.len()];
        let mut reach: Vec<TargetId> = roots.into_iter().collect();
        while let Some(target) = reach.pop() {
            if std::mem::replace(&mut is_in[target.index()], true) {
                continue;
            }
            let start = if target.index() == 0 { 0 } else { ends[target.index() - 1] as usize };
            reach.extend(&targets[start..ends[target.index()] as usize]);
        }
        is_in
    }

    /// Adds it to an image.
    pub fn save<'a>(&'a self, tables: &mut Tables<'a>) {
        tables.add("needends", &self.ends);
        tables.add("needs", &self.targets);
    }

    /// What an image holds; `None` where it is damaged.
    #[must_use]
    pub fn load(image: &Image) -> Option<Self> {
        let needs = Self { ends: image.table("needends")?, targets: image.table("needs")? };
        (needs.ends.last().map_or(0, |&end| end as usize) == needs.targets.len()).then_some(needs)
    }
}

/// What dyndep files add.
struct Extra<'a> {
    producers: HashMap<FileId, TargetId>,
    inputs: HashMap<TargetId, &'a [FileId]>,
}

impl<'a> Extra<'a> {
    fn new(graph: &Graph, history: &'a History) -> Self {
        let mut extra = Self { producers: HashMap::new(), inputs: HashMap::new() };
        if !graph.has_dyndeps() {
            return extra;
        }
        for (_, dyndep) in history.dyndeps() {
            let Dyndep::Loaded(entries) = dyndep else { continue };
            for entry in entries {
                extra.inputs.insert(entry.target, &entry.inputs);
                extra.producers.extend(entry.outputs.iter().map(|&output| (output, entry.target)));
            }
        }
        extra
    }

    fn producer(&self, graph: &Graph, file: FileId) -> Option<TargetId> {
        graph.producer(file).or_else(|| self.producers.get(&file).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::TargetDesc;

    #[test]
    fn what_is_needed_is_followed_through_discovered_inputs_and_validations() {
        let mut graph = Graph::default();
        let names = ["gen.h", "a.o", "app", "check", "other", "a.c"];
        let [header, object, app, check, other, source] =
            names.map(|name| graph.files.intern(name.as_bytes()));
        let mut add = |output, explicit: &[FileId], validations: &[FileId]| {
            let outputs = &[output];
            graph
                .add_target(TargetDesc { outputs, explicit, validations, ..TargetDesc::default() })
                .expect("each output once")
        };
        let made_header = add(header, &[], &[]);
        let made_object = add(object, &[source], &[]);
        let made_app = add(app, &[object, object], &[check]);
        let made_check = add(check, &[], &[]);
        let made_other = add(other, &[], &[]);
        let mut history = History::default();
        history.set_discovered_inputs(made_object, [header, source], None);
        let needs = Needs::new(&graph, &history);
        assert_eq!(needs.targets.len(), 3);
        let closure = needs.closure([made_app]);
        for target in [made_header, made_object, made_app, made_check] {
            assert!(closure[target.index()]);
        }
        assert!(!closure[made_other.index()]);
        assert_eq!(needs.closure([made_object]).iter().filter(|is_in| **is_in).count(), 2);
    }
}
