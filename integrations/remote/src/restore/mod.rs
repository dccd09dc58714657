//! Taking from the cache what is stale here: outputs, and what ninja has to know so that it finds nothing to do.
//!
//! ```text
//!   look up -> fetch beside, each compared with its digest -> inputs as they were? -> rename -> wait for the clock
//!           -> inputs still as they were? -> logs
//! ```
//!
//! Until a target's renames nothing of it has changed, and before the logs are written ninja takes what has changed for
//! stale: whenever this ends, and however, no target looks fresh that is not.
//!
//! What is renamed has the time of now, so all that uses it and was made before is stale. The log says of it the time of its
//! newest input: what is edited later is newer than that, since the clock has gone on before the last look at the inputs.

mod folder;
mod logs;
mod refusal;

use crate::Place;
use crate::cache::Cache;
use crate::files::Files;
use crate::found::{Answer, Hit};
use crate::key::Keys;
use crate::lookup::Lookup;
use crate::restored::{Left, Restored};
use folder::{Folder, Staged};
use logs::Told;
pub use refusal::Refusal;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::PathBuf;
use upcheck::collect::Headway;
use upcheck::{FileId, Mtime, Stat, TargetId, os_message};
use upcheck_ninja::Discovers;
use upcheck_reapi::{Digest, Error, ErrorKind};

/// The largest blob that is fetched together with others. What is larger never is in memory as a whole.
const LARGE: u64 = 1 << 20;

/// A target on its way.
struct Ready {
    target: TargetId,
    hit: Box<Hit>,
    /// Its outputs, and its depfile as the last one.
    staged: Vec<Option<Staged>>,
    discovers: Discovers,
    depfile: Vec<u8>,
    inputs: Vec<FileId>,
    /// Why it is not to be restored.
    left: Option<Left>,
}

/// Takes stale targets from a cache. `stale` has to be all of them; those in `wanted` are restored.
///
/// # Errors
/// When nothing can be restored at all. What was there is there then.
pub fn restore(
    place: &Place<'_>,
    stale: &[TargetId],
    wanted: &[TargetId],
    cache: &dyn Cache,
    is_dry: bool,
    headway: &dyn Headway,
) -> Result<Restored, Refusal> {
    let base = place.root.build_directory();
    let files = place.files();
    let keys = Keys::new(place.build, place.root, place.settings);
    let found = Lookup::new(keys, &files, cache).run(stale);
    let mut restored = Restored { trouble: found.trouble, ..Restored::default() };
    let wanted: HashSet<TargetId> = wanted.iter().copied().collect();
    let mut ready = Vec::new();
    for (target, answer) in found.answers.into_iter().filter(|(target, _)| wanted.contains(target)) {
        match answer {
            Answer::Cached(hit) => ready.push(Ready::new(place, target, hit)),
            Answer::NotCached(doubt) => restored.left.push((target, Left::NotCached(doubt))),
            Answer::Unknown(other) => restored.left.push((target, Left::Behind(other))),
            Answer::Trouble => restored.left.push((target, Left::Trouble)),
        }
    }
    if is_dry || ready.is_empty() {
        restored.restored = ready.iter().map(|ready| ready.target).collect();
        restored.bytes = ready.iter().map(|ready| ready.hit.size()).sum();
        return Ok(restored);
    }
    let mut work = Work { place, base, files, cache, folder: None, ready, bytes: 0, trouble: None };
    let written = work.run(headway);
    for Ready { target, left, .. } in std::mem::take(&mut work.ready) {
        match left {
            None => restored.restored.push(target),
            Some(left) => restored.left.push((target, left)),
        }
    }
    restored.bytes = work.bytes;
    restored.trouble = restored.trouble.or(work.trouble);
    written.map(|()| restored)
}

struct Work<'a, 'b> {
    place: &'b Place<'a>,
    base: PathBuf,
    files: Files<'a>,
    cache: &'b dyn Cache,
    folder: Option<Folder>,
    /// Those that others need come first.
    ready: Vec<Ready>,
    bytes: u64,
    trouble: Option<Error>,
}

impl Ready {
    fn new(place: &Place<'_>, target: TargetId, hit: Box<Hit>) -> Self {
        let recipe = place.build.recipe(target).unwrap_or_default();
        let staged = (0..=hit.outputs.len()).map(|_| None).collect();
        let inputs = recipe.inputs.iter().chain(&recipe.phony).copied().collect();
        Self { target, hit, staged, discovers: recipe.discovers, depfile: recipe.depfile, inputs, left: None }
    }
}

impl Work<'_, '_> {
    fn run(&mut self, headway: &dyn Headway) -> Result<(), Refusal> {
        let failed = |operation: &str| {
            let operation = operation.to_owned();
            move |error| Refusal::Io(operation, error)
        };
        if logs::ninja_runs(&self.base) {
            return Err(Refusal::NinjaRuns);
        }
        let folder = Folder::open(&self.base).map_err(failed("opening the build directory"))?;
        if !folder.lock() {
            return Err(Refusal::RestoreRuns);
        }
        self.fetch(&folder, headway);
        // What proves nothing yet does after some milliseconds.
        self.files.settle();
        self.leave_behind(|work, ready| work.changed_input(ready));
        if logs::ninja_runs(&self.base) {
            return Err(Refusal::NinjaRuns);
        }
        if !self.place.build.has_logs_as_read(self.place.disk) {
            return Err(Refusal::LogsChanged);
        }
        let now = folder.now().map_err(failed("writing into the build directory"))?;
        self.leave_behind(|work, ready| work.future_input(ready, now));
        let renamed = self.rename(now);
        // An edit from now on has a later time than what was renamed, and one until now shows below.
        while folder.now().map_err(failed("writing into the build directory"))? <= now {
            std::thread::yield_now();
        }
        self.leave_behind(|work, ready| work.changed_input(ready));
        self.folder = Some(folder);
        self.write_logs(now, &renamed).map_err(failed("writing ninja's logs"))
    }

    /// Leaves out targets, and all that was called after them.
    fn leave_behind(&mut self, why: impl Fn(&Self, &Ready) -> Option<Left>) {
        let mut gone = HashSet::new();
        for at in 0..self.ready.len() {
            if self.ready[at].left.is_none() {
                let behind = self.ready[at].hit.after.iter().find(|after| gone.contains(*after));
                let left = behind.map(|&other| Left::Behind(other)).or_else(|| why(self, &self.ready[at]));
                self.ready[at].left = left;
            }
            if self.ready[at].left.is_some() {
                gone.insert(self.ready[at].target);
            }
        }
    }

    fn changed_input(&self, ready: &Ready) -> Option<Left> {
        let changed = ready.hit.read.iter().find(|path| !self.files.is_as_found(path))?;
        Some(Left::Changed(changed.as_slice().into()))
    }

    fn future_input(&self, ready: &Ready, now: Mtime) -> Option<Left> {
        let disk = self.place.disk;
        let is_later = |path: &&Vec<u8>| matches!(disk.stat(path), Stat::Present(meta) if meta.mtime > now);
        Some(Left::Future(ready.hit.read.iter().find(is_later)?.as_slice().into()))
    }

    /// Fetches all outputs beside their places.
    fn fetch(&mut self, folder: &Folder, headway: &dyn Headway) {
        let graph = self.place.build.graph();
        let (mut small, mut large) = (HashMap::<Digest, Vec<(usize, usize)>>::new(), Vec::new());
        for at in 0..self.ready.len() {
            for number in 0..self.ready[at].hit.outputs.len() {
                let output = &self.ready[at].hit.outputs[number];
                let digest = output.leaf.digest;
                // What is there already need not be fetched.
                let path = graph.files.path(output.file);
                if self.files.held(path).is_ok_and(|held| held.digest == digest)
                    && digest.size <= LARGE
                    && let Ok(bytes) = self.place.disk.read(path)
                    && Digest::of(&bytes) == digest
                {
                    self.stage(folder, at, number, &bytes);
                } else if digest.size <= LARGE {
                    small.entry(digest).or_default().push((at, number));
                } else {
                    large.push((at, number));
                }
            }
            self.stage_depfile(folder, at);
        }
        let mut digests: Vec<Digest> = small.keys().copied().collect();
        digests.sort_unstable();
        let cache = self.cache;
        let size = |&(at, number): &(usize, usize)| self.ready[at].hit.outputs[number].leaf.digest.size;
        headway.begins(digests.iter().map(|digest| digest.size).chain(large.iter().map(size)).sum());
        if !digests.is_empty() {
            cache.read_all(&digests, &mut |digest, read| {
                let users = small.remove(&digest).unwrap_or_default();
                headway.goes_on(digest.size);
                if let Ok(Some(bytes)) = &read {
                    self.bytes += bytes.len() as u64;
                }
                for (at, number) in users {
                    match &read {
                        // Nobody but this compares what other caches than the client hand out.
                        Ok(Some(bytes)) if Digest::of(bytes) == digest => {
                            self.stage(folder, at, number, bytes)
                        }
                        Ok(Some(_)) => self.broken(at, number, "its content has another digest"),
                        Ok(None) => self.gone(at, number),
                        Err(error) => self.failed(at, number, error),
                    }
                }
            });
        }
        // What was not handed out at all is not there.
        for (at, number) in small.into_values().flatten() {
            self.gone(at, number);
        }
        for (at, number) in large {
            self.fetch_large(folder, at, number);
            headway.goes_on(self.ready[at].hit.outputs[number].leaf.digest.size);
        }
    }

    fn fetch_large(&mut self, folder: &Folder, at: usize, number: usize) {
        if self.ready[at].left.is_some() || self.trouble.as_ref().is_some_and(|it| it.kind().is_final()) {
            self.ready[at].left.get_or_insert(Left::Trouble);
            return;
        }
        let output = self.ready[at].hit.outputs[number].clone();
        match folder.stage(output.name.as_bytes(), output.leaf.is_executable) {
            Ok((staged, file)) => {
                let mut file = io::BufWriter::new(file);
                let read = self.cache.read_into(output.leaf.digest, &mut file);
                match (read, file.flush()) {
                    (Ok(true), Ok(())) => {
                        self.bytes += output.leaf.digest.size;
                        self.ready[at].staged[number] = Some(staged);
                    }
                    (Ok(false), _) => self.gone(at, number),
                    (Err(error), _) => self.failed(at, number, &error),
                    (_, Err(error)) => self.misplaced(at, output.name, &error),
                }
            }
            Err(error) => self.misplaced(at, output.name, &error),
        }
    }

    fn stage(&mut self, folder: &Folder, at: usize, number: usize, bytes: &[u8]) {
        let output = &self.ready[at].hit.outputs[number];
        let (name, is_executable) = (output.name.clone(), output.leaf.is_executable);
        match stage(folder, name.as_bytes(), is_executable, bytes) {
            Ok(staged) => self.ready[at].staged[number] = Some(staged),
            Err(error) => self.misplaced(at, name, &error),
        }
    }

    /// Ninja reads what was discovered in the depfile of a target that keeps one.
    fn stage_depfile(&mut self, folder: &Folder, at: usize) {
        let ready = &self.ready[at];
        if ready.discovers != Discovers::InDepfile {
            return;
        }
        let shown = String::from_utf8_lossy(&ready.depfile).into_owned();
        let output = self.place.build.graph().name(ready.target);
        let text = logs::depfile(output, &ready.hit.discovered).ok_or(io::ErrorKind::InvalidData);
        let name = self.place.root.name_of_output(&ready.depfile).map_err(|_| io::ErrorKind::InvalidInput);
        let staged = text.and_then(|text| Ok((text, name?))).map_err(io::Error::from);
        match staged.and_then(|(text, name)| stage(folder, name.as_bytes(), false, &text)) {
            Ok(staged) => {
                let last = self.ready[at].staged.len() - 1;
                self.ready[at].staged[last] = Some(staged);
            }
            Err(error) => self.misplaced(at, shown, &error),
        }
    }

    fn gone(&mut self, at: usize, number: usize) {
        let name = self.ready[at].hit.outputs[number].name.clone();
        self.ready[at].left.get_or_insert(Left::Gone(name));
    }

    fn broken(&mut self, at: usize, number: usize, why: &str) {
        let name = self.ready[at].hit.outputs[number].name.clone();
        self.ready[at].left.get_or_insert(Left::Broken(name, why.into()));
    }

    fn failed(&mut self, at: usize, number: usize, error: &Error) {
        if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::BrokenAnswer) {
            return self.broken(at, number, &error.to_string());
        }
        self.ready[at].left.get_or_insert(Left::Trouble);
        self.trouble.get_or_insert_with(|| error.clone());
    }

    fn misplaced(&mut self, at: usize, name: String, error: &io::Error) {
        self.ready[at].left.get_or_insert(Left::Place(name, os_message(error).into()));
    }

    /// Puts all that was fetched into its place. Which targets were changed, if not as a whole.
    fn rename(&mut self, now: Mtime) -> HashSet<TargetId> {
        let mut changed = HashSet::new();
        let mut gone: HashSet<TargetId> = HashSet::new();
        for ready in &mut self.ready {
            if ready.left.is_none()
                && let Some(&other) = ready.hit.after.iter().find(|after| gone.contains(*after))
            {
                ready.left = Some(Left::Behind(other));
            }
            // The depfile first: with an old output it says more than is needed, at worst.
            let staged = ready.staged.iter_mut().rev().flatten();
            for staged in staged.take_while(|_| ready.left.is_none()) {
                match staged.place(now) {
                    Ok(()) => drop(changed.insert(ready.target)),
                    Err(error) => {
                        let name = String::from_utf8_lossy(staged.name()).into_owned();
                        ready.left = Some(Left::Place(name, os_message(&error).into()));
                        break;
                    }
                }
            }
            if ready.left.is_some() {
                gone.insert(ready.target);
            }
        }
        changed
    }

    fn write_logs(&self, now: Mtime, renamed: &HashSet<TargetId>) -> io::Result<()> {
        let (build, disk) = (self.place.build, self.place.disk);
        let graph = build.graph();
        let (mut told, mut forgotten) = (Vec::new(), Vec::new());
        for ready in &self.ready {
            let outputs: Vec<&[u8]> =
                graph.outputs(ready.target).iter().map(|&file| graph.files.path(file)).collect();
            if ready.left.is_some() {
                // What was changed in part, or of what may not be, is not to look fresh.
                forgotten.extend(outputs.into_iter().filter(|_| renamed.contains(&ready.target)));
                continue;
            }
            let inputs = ready.inputs.iter().map(|&file| graph.files.path(file));
            let inputs = inputs.chain(ready.hit.discovered.iter().map(Vec::as_slice));
            let mtimes = inputs.filter_map(|path| match disk.stat(path) {
                Stat::Present(meta) => Some(meta.mtime),
                _ => None,
            });
            told.push(Told {
                outputs,
                command_hash: build.history().command_hash(ready.target),
                newest_input: mtimes.max().unwrap_or(now).min(now),
                mtime: now,
                discovered: (ready.discovers == Discovers::InLog).then_some(ready.hit.discovered.as_slice()),
            });
        }
        if told.is_empty() && forgotten.is_empty() {
            return Ok(());
        }
        if !build.has_logs_as_read(disk) {
            return Err(io::Error::other(
                "they have changed since they were read: what was restored is stale",
            ));
        }
        logs::write(build, disk, &self.base, &told, &forgotten)
    }
}

fn stage(folder: &Folder, name: &[u8], is_executable: bool, bytes: &[u8]) -> io::Result<Staged> {
    let (staged, mut file) = folder.stage(name, is_executable)?;
    file.write_all(bytes)?;
    Ok(staged)
}
