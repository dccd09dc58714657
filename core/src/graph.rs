//! The graph: targets with their inputs by role and their outputs, in flat arrays behind dense ids.
//!
//! A target's inputs stand in one run of one array, partitioned by role: explicit, implicit, order-only.
//! Discovered inputs (from depfiles) are not part of the graph but of the [`History`](crate::History):
//! they are what the last run of a command said, and count only while that is believed.

use crate::column::Column;
use crate::files::FileTable;
use crate::ids::{FileId, TargetId, narrow};
use crate::image::{Image, Tables};
use crate::users::Users;
use bytemuck::{Pod, Zeroable};

/// What a caller hands in for one target. All slices are copied into the graph's arrays.
#[derive(Clone, Copy, Debug, Default)]
pub struct TargetDesc<'a> {
    /// The files the target's command writes. The first one names the target.
    pub outputs: &'a [FileId],
    /// Inputs that are named on the command line.
    pub explicit: &'a [FileId],
    /// Inputs that count like explicit ones but are not on the command line.
    pub implicit: &'a [FileId],
    /// Inputs that must be there first, whose times do not count.
    pub order_only: &'a [FileId],
    /// Targets that are to be brought up to date along with this one, without being its inputs.
    pub validations: &'a [FileId],
    /// A file, among the inputs, that will name more inputs and outputs of this target.
    pub dyndep: Option<FileId>,
    /// What kind of target it is.
    pub flags: Flags,
}

/// Kinds of targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// A mere name for its inputs: it has no command.
    pub phony: bool,
    /// Its command may leave an output untouched, and what depends on it is then fresh.
    pub restat: bool,
    /// It makes the build description itself: a changed command does not make it stale.
    pub generator: bool,
    /// Its one output is a name and no file: a check, a test run, whatever is done for its own sake.
    pub name_only: bool,
}

/// A file cannot be the output of two targets, nor twice of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplicateOutput {
    /// The file that has a producer already.
    pub file: FileId,
    /// That producer.
    pub producer: TargetId,
    /// Whether the producer is the very target that was being added.
    pub same_target: bool,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Bounds {
    outputs: u32,
    inputs: u32,
    implicit: u32,
    order_only: u32,
    validations: u32,
}

impl Flags {
    const PHONY: u8 = 1;
    const RESTAT: u8 = 2;
    const GENERATOR: u8 = 4;
    const NAME_ONLY: u8 = 8;

    fn bits(self) -> u8 {
        let Self { phony, restat, generator, name_only } = self;
        let bit = |is_set, bit| if is_set { bit } else { 0 };
        bit(phony, Self::PHONY)
            | bit(restat, Self::RESTAT)
            | bit(generator, Self::GENERATOR)
            | bit(name_only, Self::NAME_ONLY)
    }

    fn from_bits(bits: u8) -> Self {
        let is_set = |bit| bits & bit != 0;
        Self {
            phony: is_set(Self::PHONY),
            restat: is_set(Self::RESTAT),
            generator: is_set(Self::GENERATOR),
            name_only: is_set(Self::NAME_ONLY),
        }
    }
}

/// Targets, files, and who makes what.
#[derive(Default, Clone)]
pub struct Graph {
    /// Every path.
    pub files: FileTable,
    /// Indexed by target; where each of its runs begins. The runs end where the next target's begin.
    bounds: Column<Bounds>,
    outputs: Column<FileId>,
    inputs: Column<FileId>,
    validations: Column<FileId>,
    /// Indexed by target; see [`Flags::bits`].
    flags: Column<u8>,
    /// Indexed by target; `NONE` for one that waits for no dyndep file.
    dyndeps: Column<u32>,
    /// Indexed by file; `NONE` for a source.
    producers: Column<u32>,
}

/// Stands for "no target" and "no file" in tables of numbers.
const NONE: u32 = u32::MAX;

impl Graph {
    /// Adds a target. Amortised cost: one copy of each slice.
    ///
    /// # Errors
    /// When one of its outputs has a producer already. The graph is then as it was before.
    pub fn add_target(&mut self, desc: TargetDesc<'_>) -> Result<TargetId, DuplicateOutput> {
        let target = TargetId::new(self.bounds.len());
        let n_files = self.files.len();
        self.producers.to_mut().resize(n_files, NONE);
        for (position, &file) in desc.outputs.iter().enumerate() {
            if let Some(producer) = self.producer(file) {
                for claimed in &desc.outputs[..position] {
                    self.producers.to_mut()[claimed.index()] = NONE;
                }
                let same_target = producer == target;
                return Err(DuplicateOutput { file, producer, same_target });
            }
            self.producers.to_mut()[file.index()] = narrow(target.index());
        }
        let inputs = self.inputs.len();
        let bounds = Bounds {
            outputs: narrow(self.outputs.len()),
            inputs: narrow(inputs),
            implicit: narrow(inputs + desc.explicit.len()),
            order_only: narrow(inputs + desc.explicit.len() + desc.implicit.len()),
            validations: narrow(self.validations.len()),
        };
        self.bounds.to_mut().push(bounds);
        self.outputs.to_mut().extend_from_slice(desc.outputs);
        let inputs = self.inputs.to_mut();
        inputs.extend_from_slice(desc.explicit);
        inputs.extend_from_slice(desc.implicit);
        inputs.extend_from_slice(desc.order_only);
        self.validations.to_mut().extend_from_slice(desc.validations);
        self.flags.to_mut().push(desc.flags.bits());
        self.dyndeps.to_mut().push(desc.dyndep.map_or(NONE, |file| narrow(file.index())));
        Ok(target)
    }

    /// How many targets there are, phony ones included.
    #[must_use]
    pub fn n_targets(&self) -> usize {
        self.bounds.len()
    }

    /// How many inputs all targets have together, order-only ones included.
    #[must_use]
    pub fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// All targets, in the order in which they were added.
    pub fn targets(&self) -> impl Iterator<Item = TargetId> + use<> {
        (0..self.n_targets()).map(TargetId::new)
    }

    /// The target that makes `file`; `None` for a source.
    #[must_use]
    pub fn producer(&self, file: FileId) -> Option<TargetId> {
        match self.producers.get(file.index()) {
            None | Some(&NONE) => None,
            Some(&target) => Some(TargetId::new(target as usize)),
        }
    }

    /// What the target's command writes, explicit and implicit outputs.
    #[must_use]
    pub fn outputs(&self, target: TargetId) -> &[FileId] {
        let start = self.bounds[target.index()].outputs as usize;
        &self.outputs[start..self.end(target, self.outputs.len(), |next| next.outputs)]
    }

    /// The inputs that are named on the command line.
    #[must_use]
    pub fn explicit_inputs(&self, target: TargetId) -> &[FileId] {
        let bounds = self.bounds[target.index()];
        &self.inputs[bounds.inputs as usize..bounds.implicit as usize]
    }

    /// The inputs that can make the target stale: explicit and implicit ones.
    #[must_use]
    pub fn dirtying_inputs(&self, target: TargetId) -> &[FileId] {
        let bounds = self.bounds[target.index()];
        &self.inputs[bounds.inputs as usize..bounds.order_only as usize]
    }

    /// The inputs that only have to be there first.
    #[must_use]
    pub fn order_only_inputs(&self, target: TargetId) -> &[FileId] {
        let start = self.bounds[target.index()].order_only as usize;
        &self.inputs[start..self.end(target, self.inputs.len(), |next| next.inputs)]
    }

    /// Every input the description names: explicit, implicit and order-only.
    #[must_use]
    pub fn ordering_inputs(&self, target: TargetId) -> &[FileId] {
        let start = self.bounds[target.index()].inputs as usize;
        &self.inputs[start..self.end(target, self.inputs.len(), |next| next.inputs)]
    }

    /// What is to be brought up to date along with the target.
    #[must_use]
    pub fn validations(&self, target: TargetId) -> &[FileId] {
        let start = self.bounds[target.index()].validations as usize;
        &self.validations[start..self.end(target, self.validations.len(), |next| next.validations)]
    }

    /// The file that will name more inputs and outputs of this target.
    #[must_use]
    pub fn dyndep(&self, target: TargetId) -> Option<FileId> {
        let file = self.dyndeps[target.index()];
        (file != NONE).then(|| FileId::new(file as usize))
    }

    /// What kind of target it is.
    #[must_use]
    pub fn flags(&self, target: TargetId) -> Flags {
        Flags::from_bits(self.flags[target.index()])
    }

    /// Sets the kind of a target, for descriptions that know it only once all is read.
    pub fn set_flags(&mut self, target: TargetId, flags: Flags) {
        if self.flags(target) != flags {
            self.flags.to_mut()[target.index()] = flags.bits();
        }
    }

    /// The name of a target: its first output.
    #[must_use]
    pub fn name(&self, target: TargetId) -> &[u8] {
        self.outputs(target).first().map_or(b"", |&file| self.files.path(file))
    }

    /// Whether any target waits for a dyndep file.
    #[must_use]
    pub fn has_dyndeps(&self) -> bool {
        self.dyndeps.iter().any(|&file| file != NONE)
    }

    /// The reverse edges: which targets the description says use a file. One pass over all inputs.
    #[must_use]
    pub fn users(&self) -> Users {
        Users::new(self.files.len(), |edge| {
            for target in self.targets() {
                self.ordering_inputs(target).iter().for_each(|&file| edge(file, target));
            }
        })
    }

    /// Adds the graph to an image.
    pub fn save<'a>(&'a self, tables: &mut Tables<'a>) {
        self.files.save(tables);
        tables.add("bounds", &self.bounds);
        tables.add("outputs", &self.outputs);
        tables.add("inputs", &self.inputs);
        tables.add("valids", &self.validations);
        tables.add("flags", &self.flags);
        tables.add("dyndeps", &self.dyndeps);
        tables.add("makers", &self.producers);
    }

    /// The graph in an image; `None` where it is damaged.
    #[must_use]
    pub fn load(image: &Image) -> Option<Self> {
        Some(Self {
            files: FileTable::load(image)?,
            bounds: image.table("bounds")?,
            outputs: image.table("outputs")?,
            inputs: image.table("inputs")?,
            validations: image.table("valids")?,
            flags: image.table("flags")?,
            dyndeps: image.table("dyndeps")?,
            producers: image.table("makers")?,
        })
    }

    fn end(&self, target: TargetId, all: usize, of: impl Fn(&Bounds) -> u32) -> usize {
        self.bounds.get(target.index() + 1).map_or(all, |next| of(next) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_slices_of_one_run() {
        let mut graph = Graph::default();
        let [a, b, c, out] = ["a", "b", "c", "out"].map(|name| graph.files.intern(name.as_bytes()));
        let target = graph
            .add_target(TargetDesc {
                outputs: &[out],
                explicit: &[a],
                implicit: &[b],
                order_only: &[c],
                ..TargetDesc::default()
            })
            .expect("no other target makes it");
        assert_eq!(graph.dirtying_inputs(target), [a, b]);
        assert_eq!(graph.order_only_inputs(target), [c]);
        assert_eq!(graph.ordering_inputs(target), [a, b, c]);
        assert_eq!(graph.producer(out), Some(target));
        assert_eq!(graph.producer(a), None);
        assert_eq!(graph.users().of(c), [target]);
    }

    #[test]
    fn two_producers_are_refused_and_nothing_is_left_behind() {
        let mut graph = Graph::default();
        let [a, b] = ["a", "b"].map(|name| graph.files.intern(name.as_bytes()));
        fn desc(outputs: &[FileId]) -> TargetDesc<'_> {
            TargetDesc { outputs, ..TargetDesc::default() }
        }
        graph.add_target(desc(&[a])).expect("first");
        let refused = graph.add_target(desc(&[b, a])).expect_err("a is taken");
        assert_eq!((refused.file, refused.same_target), (a, false));
        assert_eq!(graph.producer(b), None);
        let twice = graph.add_target(desc(&[b, b])).expect_err("b twice");
        assert!(twice.same_target);
        assert_eq!(graph.n_targets(), 1);
    }
}
