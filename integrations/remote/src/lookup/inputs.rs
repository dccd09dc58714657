//! What a stale target reads, and the keys that are made of it: files on the disk, and what the cache has of others' outputs.

use super::{Asked, Guess, Lookup};
use crate::doubt::Doubt;
use crate::key::{Kind, Prepared, discovers};
use crate::threads::each;
use crate::tree::{Inputs, Leaf};
use std::collections::HashSet;
use upcheck::{FileId, TargetId};

/// Inputs that are put together.
#[derive(Default)]
struct Gathered {
    inputs: Inputs,
    /// The files on the disk among them.
    read: Vec<Vec<u8>>,
    /// The targets that make the others.
    after: Vec<TargetId>,
}

/// Why a target has no inputs to make a key of.
pub(super) enum Stop {
    Doubt(Doubt),
    Behind(TargetId),
}

impl Lookup<'_, '_> {
    /// Reads what is not known yet, all at once.
    pub(super) fn look_at_inputs(&self, questions: &[(TargetId, Prepared)]) {
        let (build, root) = (self.keys.build, self.keys.root);
        let (graph, history) = (build.graph(), build.history());
        let mut files: HashSet<FileId> = HashSet::new();
        for (target, prepared) in questions {
            let recipe = &prepared.recipe;
            let discovered = if discovers(recipe) { history.discovered_inputs(*target) } else { &[] };
            files.extend(recipe.inputs.iter().chain(discovered).copied());
        }
        let files: Vec<FileId> = files.into_iter().collect();
        let paths = each(self.files.threads(), &files, |&file| {
            let path = graph.files.path(file);
            let is_read = root.name_in_tree(path).is_ok_and(|name| !self.made.contains_key(&name));
            is_read.then(|| path.to_vec())
        });
        self.files.look(paths.into_iter().flatten());
    }

    /// What a target is to be asked for with.
    pub(super) fn asked(&self, target: TargetId, prepared: &Prepared) -> Result<Asked, Stop> {
        let build = self.keys.build;
        let Gathered { inputs: declared, read, after } = self.declared(prepared)?;
        if !discovers(&prepared.recipe) {
            let key = self.keys.key(prepared, Kind::Full, declared).map_err(Stop::Doubt)?;
            let known = Guess { action: key.action.0, discovered: Vec::new(), read, after };
            return Ok(Asked { known: Some(known), ..Asked::default() });
        }
        let key = self.keys.key(prepared, Kind::Declared, declared).map_err(Stop::Doubt)?;
        let mut asked = Asked { declared: Some(key), ..Asked::default() };
        let discovered = build.history().discovered_inputs(target);
        let discovered: Vec<Vec<u8>> =
            discovered.iter().map(|&file| build.graph().files.path(file).to_vec()).collect();
        if !discovered.is_empty() {
            match self.guess(prepared, discovered) {
                Ok(guess) => asked.known = Some(guess),
                Err(Stop::Behind(other)) => asked.stop = Some(other),
                // A header that is gone: others may know better what is read now.
                Err(Stop::Doubt(_)) => {}
            }
        }
        Ok(asked)
    }

    /// The inputs that the description names, the files among them, and the targets.
    fn declared(&self, prepared: &Prepared) -> Result<Gathered, Stop> {
        let graph = self.keys.build.graph();
        let mut gathered = Gathered::default();
        for &file in &prepared.recipe.inputs {
            self.add(&mut gathered, graph.files.path(file))?;
        }
        for &file in &prepared.recipe.phony {
            // A mere name is no file.
            match self.add(&mut gathered, graph.files.path(file)) {
                Ok(()) | Err(Stop::Doubt(Doubt::Missing(_) | Doubt::Directory(_))) => {}
                Err(stop) => return Err(stop),
            }
        }
        Ok(gathered)
    }

    /// The full key by a list of discovered inputs.
    pub(super) fn guess(&self, prepared: &Prepared, discovered: Vec<Vec<u8>>) -> Result<Guess, Stop> {
        let mut gathered = self.declared(prepared)?;
        for path in &discovered {
            self.add(&mut gathered, path)?;
        }
        let Gathered { inputs, read, after } = gathered;
        let key = self.keys.key(prepared, Kind::Full, inputs).map_err(Stop::Doubt)?;
        Ok(Guess { action: key.action.0, discovered, read, after })
    }

    fn add(&self, gathered: &mut Gathered, path: &[u8]) -> Result<(), Stop> {
        let name = self.keys.root.name_in_tree(path).map_err(Stop::Doubt)?;
        let leaf = match self.made.get(&name) {
            Some((target, Some(leaf))) => {
                gathered.after.push(*target);
                *leaf
            }
            Some((target, None)) => return Err(Stop::Behind(*target)),
            None => {
                let held = self.files.held(path).map_err(Stop::Doubt)?;
                gathered.read.push(path.to_vec());
                Leaf { digest: held.digest, is_executable: held.is_executable }
            }
        };
        gathered.inputs.insert(name, leaf);
        Ok(())
    }
}
