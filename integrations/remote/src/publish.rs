//! Putting what a build has made into the cache: outputs first, results last, so that nobody finds a result without them.

use crate::cache::Cache;
use crate::doubt::Doubt;
use crate::files::{Files, Held};
use crate::key::{Key, Keys, Kind, Prepared, discovers};
use crate::lookup::{MOST_LISTS, lists};
use crate::published::{Published, Skip};
use crate::result::{Output, outputs_of, result_of};
use crate::root::to_path;
use crate::runs::Runs;
use crate::snapshot::Entry;
use crate::state::{Discovered, Input, TargetState};
use crate::threads::each;
use crate::tree::{Inputs, Leaf};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use upcheck::collect::Headway;
use upcheck::{FileId, Mtime, TargetId};
use upcheck_reapi::messages::{ActionResult, OutputFile};
use upcheck_reapi::{Blob, Digest, Error, encode};

/// A target with its keys.
struct Candidate {
    target: TargetId,
    prepared: Prepared,
    full: Key,
    /// For one that discovers inputs: its other key, and the list of what it has discovered.
    declared: Option<(Key, (Digest, Vec<u8>))>,
    state: TargetState,
    /// All inputs by their paths.
    read: Vec<Vec<u8>>,
}

/// Publishing under way.
pub(crate) struct Publish<'a, 'b> {
    pub(crate) keys: Keys<'a>,
    pub(crate) files: &'b Files<'a>,
    pub(crate) cache: &'b dyn Cache,
    pub(crate) runs: Runs,
    pub(crate) is_dry: bool,
}

impl Publish<'_, '_> {
    /// Publishes fresh targets.
    pub(crate) fn run(mut self, fresh: &[TargetId], headway: &dyn Headway) -> Result<Published, Error> {
        let mut published = Published::default();
        let mut candidates = Vec::new();
        self.look_at_files(fresh);
        let made = each(self.files.threads(), fresh, |&target| self.candidate(target));
        for (&target, candidate) in fresh.iter().zip(made) {
            match candidate {
                Ok(candidate) => candidates.push(candidate),
                Err(doubt) => published.skipped.push((target, doubt.into())),
            }
        }
        let known = self.known(&candidates)?;
        let mut new = Vec::new();
        for candidate in candidates {
            if let Some(entry) = known.full.get(&candidate.full.action.0) {
                published.present.push(candidate.target);
                published.entries.push(entry.clone());
                new.push((candidate, None));
                continue;
            }
            match self.proven_outputs(&candidate) {
                Ok(outputs) => new.push((candidate, Some(outputs))),
                Err(skip) => published.skipped.push((candidate.target, skip)),
            }
        }
        let blobs = self.blobs(&new, &known);
        let digests: Vec<Digest> = blobs.iter().map(Blob::digest).collect();
        let missing: HashSet<Digest> = self.cache.find_missing(&digests)?.into_iter().collect();
        let blobs: Vec<Blob> = blobs.into_iter().filter(|blob| missing.contains(&blob.digest())).collect();
        published.blobs = (blobs.len(), blobs.iter().map(|blob| blob.digest().size).sum());
        if self.is_dry {
            published.uploaded =
                new.iter().filter(|(_, outputs)| outputs.is_some()).map(|(it, _)| it.target).collect();
            return Ok(published);
        }
        // An output that is changed now is noticed when it is sent; all are looked at once more below.
        if !blobs.is_empty() {
            headway.begins(published.blobs.1);
            self.cache.write_all(&blobs, &mut |n_bytes| headway.goes_on(n_bytes))?;
        }
        let (mut results, mut listed) = (Vec::new(), Vec::new());
        for (candidate, outputs) in &new {
            if let Some(outputs) = outputs {
                let path = |output: &Output| self.keys.build.graph().files.path(output.file).to_vec();
                let files = candidate.read.iter().cloned().chain(outputs.iter().map(path));
                if let Some(changed) = files.into_iter().find(|path| !self.files.is_as_found(path)) {
                    published.skipped.push((candidate.target, Skip::Changed(changed.into())));
                    continue;
                }
                let result = result_of(outputs, Some(&candidate.state));
                results.push((candidate.full.action.0, result));
                published.uploaded.push(candidate.target);
                published.entries.extend(Entry::of_outputs(candidate.full.action.0, outputs));
            }
            if let Some((action, list)) = list_of(candidate, &known) {
                published.entries.extend(Entry::of(action, &list));
                if known.lacks(candidate) {
                    listed.push((action, list));
                }
            }
        }
        self.put_all(&results)?;
        self.put_all(&listed)?;
        Ok(published)
    }

    /// Reads all inputs, several at once.
    fn look_at_files(&self, fresh: &[TargetId]) {
        let build = self.keys.build;
        let (graph, history) = (build.graph(), build.history());
        let mut files = HashSet::new();
        for &target in fresh {
            let inputs = graph.dirtying_inputs(target).iter().chain(history.discovered_inputs(target));
            files.extend(inputs.chain(graph.outputs(target)).copied());
        }
        self.files.look(files.into_iter().map(|file| graph.files.path(file).to_vec()).collect::<Vec<_>>());
    }

    fn candidate(&self, target: TargetId) -> Result<Candidate, Doubt> {
        let build = self.keys.build;
        let (graph, history) = (build.graph(), build.history());
        let prepared = self.keys.prepare(target, self.files)?;
        let discovers = discovers(&prepared.recipe);
        if matches!(history.discovered(target), upcheck::Discovered::Unknown(_)) {
            return Err(Doubt::Undiscovered);
        }
        let (mut inputs, mut read) = (Inputs::new(), Vec::new());
        for &file in &prepared.recipe.inputs {
            self.add(graph.files.path(file), &mut inputs, &mut read)?;
        }
        for &file in &prepared.recipe.phony {
            match self.add(graph.files.path(file), &mut inputs, &mut read) {
                Ok(_) | Err(Doubt::Missing(_) | Doubt::Directory(_)) => {}
                Err(doubt) => return Err(doubt),
            }
        }
        let mut state = TargetState {
            version: TargetState::VERSION,
            discovered: Vec::new(),
            command_sha256: prepared.command_sha256.to_vec(),
        };
        if !discovers {
            let full = self.keys.key(&prepared, Kind::Full, inputs)?;
            return Ok(Candidate { target, prepared, full, declared: None, state, read });
        }
        let declared = self.keys.key(&prepared, Kind::Declared, inputs.clone())?;
        for &file in history.discovered_inputs(target) {
            let path = graph.files.path(file);
            let held = self.add(path, &mut inputs, &mut read)?;
            let path = self.keys.root.portable(path)?;
            state.discovered.push(Input { path, sha256: held.digest.sha256.to_vec() });
        }
        state.discovered.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        state.discovered.dedup();
        let paths = state.discovered.iter().map(|input| input.path.clone()).collect();
        let list = encode(&Discovered { paths });
        let full = self.keys.key(&prepared, Kind::Full, inputs)?;
        Ok(Candidate { target, prepared, full, declared: Some((declared, list)), state, read })
    }

    fn add(&self, path: &[u8], inputs: &mut Inputs, read: &mut Vec<Vec<u8>>) -> Result<Held, Doubt> {
        let name = self.keys.root.name_in_tree(path)?;
        let held = self.files.held(path)?;
        inputs.insert(name, Leaf { digest: held.digest, is_executable: held.is_executable });
        read.push(path.to_vec());
        Ok(held)
    }

    /// What the cache has of these already.
    fn known(&self, candidates: &[Candidate]) -> Result<Known, Error> {
        let declared = |candidate: &Candidate| candidate.declared.as_ref().map(|(key, _)| key.action.0);
        let mut actions: Vec<Digest> = candidates
            .iter()
            .flat_map(|candidate| [candidate.full.action.0].into_iter().chain(declared(candidate)))
            .collect();
        actions.sort_unstable();
        actions.dedup();
        let mut results: HashMap<Digest, ActionResult> = HashMap::new();
        for (action, result) in actions.iter().zip(self.cache.action_results(&actions)) {
            results.extend(result?.map(|result| (*action, result)));
        }
        let mut known = Known::default();
        let mut outputs = Vec::new();
        for candidate in candidates {
            let action = candidate.full.action.0;
            if let Some(found) =
                results.get(&action).and_then(|result| outputs_of(&candidate.prepared, result))
            {
                outputs.extend(found.iter().map(|output| (output.leaf.digest, action)));
                known.full.extend(Entry::of_outputs(action, &found).map(|entry| (action, entry)));
            }
            if let Some((action, result)) =
                declared(candidate).and_then(|action| Some((action, results.get(&action)?)))
            {
                known.lists.insert(action, lists(result));
            }
        }
        // A result whose outputs are gone is none.
        let mut digests: Vec<Digest> = outputs.iter().map(|(digest, _)| *digest).collect();
        digests.extend(known.lists.values().flatten());
        digests.sort_unstable();
        digests.dedup();
        let missing: HashSet<Digest> = match digests.is_empty() {
            true => HashSet::new(),
            false => self.cache.find_missing(&digests)?.into_iter().collect(),
        };
        for (digest, action) in outputs {
            if missing.contains(&digest) {
                known.full.remove(&action);
            }
        }
        known.lists.values_mut().for_each(|lists| lists.retain(|list| !missing.contains(list)));
        Ok(known)
    }

    /// The outputs of a target, if it is proved that its command has made them, of the inputs that there are now.
    fn proven_outputs(&mut self, candidate: &Candidate) -> Result<Vec<Output>, Skip> {
        let graph = self.keys.build.graph();
        let (mut outputs, mut metas) = (Vec::new(), Vec::new());
        for (file, name) in &candidate.prepared.outputs {
            let path = graph.files.path(*file);
            let place = self.keys.root.build_directory().join(to_path(path));
            if std::fs::symlink_metadata(place).is_ok_and(|status| status.is_symlink()) {
                return Err(Skip::Link(path.into()));
            }
            let held = self.files.held(path)?;
            let leaf = Leaf { digest: held.digest, is_executable: held.is_executable };
            outputs.push(Output { file: *file, name: name.clone(), leaf });
            metas.push((path, held.meta));
        }
        let mtimes: Vec<_> = metas.iter().map(|(_, meta)| meta.mtime).collect();
        let run = self.runs.of(self.keys.build, candidate.target, &mtimes).ok_or(Skip::NoRun)?;
        for (path, meta) in metas {
            if touched(meta) > run.ended_until {
                return Err(Skip::OutputTouched(path.into()));
            }
        }
        for path in &candidate.read {
            let touched = touched(self.files.held(path)?.meta);
            let made_by = graph.files.lookup(path).and_then(|file| graph.producer(file));
            let is_as_read = touched < run.sources_before
                || made_by.is_some_and(|producer| match run.is_exact {
                    true => touched <= run.made_until,
                    false => touched <= run.made_until && self.ended_until(producer) >= Some(touched),
                });
            if !is_as_read {
                return Err(Skip::InputTouched(path.as_slice().into()));
            }
        }
        Ok(outputs)
    }

    /// What was touched later was not touched by a target's command; `None` where that is not known.
    fn ended_until(&mut self, target: TargetId) -> Option<Mtime> {
        let graph = self.keys.build.graph();
        let mtime = |&output: &FileId| Some(self.files.held(graph.files.path(output)).ok()?.meta.mtime);
        let mtimes: Vec<Mtime> = graph.outputs(target).iter().map(mtime).collect::<Option<_>>()?;
        Some(self.runs.of(self.keys.build, target, &mtimes)?.ended_until)
    }

    /// All that is to be there before the results are.
    fn blobs(&self, new: &[(Candidate, Option<Vec<Output>>)], known: &Known) -> Vec<Blob> {
        let mut outputs = HashMap::new();
        let mut messages = HashMap::new();
        for (candidate, proven) in new {
            let mut keys = Vec::new();
            if let Some(proven) = proven {
                for output in proven {
                    let path = self.keys.build.graph().files.path(output.file);
                    let path = self.keys.root.build_directory().join(to_path(path));
                    outputs.insert(output.leaf.digest, path);
                }
                keys.push(&candidate.full);
            }
            if let Some((key, (digest, bytes))) =
                candidate.declared.as_ref().filter(|_| known.lacks(candidate))
            {
                messages.insert(*digest, bytes.clone());
                keys.push(key);
            }
            for key in keys {
                let own = [&candidate.prepared.command, &key.action];
                let all = own.into_iter().chain(&key.tree.directories);
                messages.extend(all.map(|(digest, bytes)| (*digest, bytes.clone())));
            }
        }
        let outputs = outputs.into_iter().map(|(digest, path)| Blob::File { digest, path });
        outputs.chain(messages.into_iter().map(|(digest, bytes)| Blob::Bytes { digest, bytes })).collect()
    }

    /// Puts results, many at once: a cache has no way to put several in one request.
    fn put_all(&self, results: &[(Digest, ActionResult)]) -> Result<(), Error> {
        /// What waits for answers needs no processor.
        const MOST_THREADS: usize = 32;
        let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
        let work = || {
            while let Some((action, result)) = results.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = self.cache.put_action_result(*action, result) {
                    next.store(results.len(), Ordering::Relaxed);
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..results.len().min(MOST_THREADS) {
                scope.spawn(work);
            }
            work();
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// The result that has the list of what a command has discovered before those that others have put there; `None` where it is
/// among them.
fn list_of(candidate: &Candidate, known: &Known) -> Option<(Digest, ActionResult)> {
    let (key, (list, _)) = candidate.declared.as_ref()?;
    let others = known.lists.get(&key.action.0).into_iter().flatten();
    let own = known.lacks(candidate).then_some(list);
    let all = own.into_iter().chain(others).take(MOST_LISTS);
    let name = |(at, digest): (usize, &Digest)| OutputFile {
        path: format!("discovered/{at}"),
        digest: Some(digest.to_message()),
        ..OutputFile::default()
    };
    let output_files = all.enumerate().map(name).collect();
    Some((key.action.0, ActionResult { output_files, ..result_of(&[], None) }))
}

/// What a cache has already.
#[derive(Default)]
struct Known {
    /// Actions whose results are there, with all their outputs.
    full: HashMap<Digest, Entry>,
    /// The lists under declared keys.
    lists: HashMap<Digest, Vec<Digest>>,
}

impl Known {
    /// Whether the list of what a target has discovered is not among those of its declared key.
    fn lacks(&self, candidate: &Candidate) -> bool {
        let Some((key, (list, _))) = &candidate.declared else { return false };
        !self.lists.get(&key.action.0).is_some_and(|lists| lists.contains(list))
    }
}

/// When a file was last touched, in any way.
fn touched(meta: upcheck::Meta) -> upcheck::Mtime {
    meta.mtime.max(meta.ctime)
}
