//! Putting on record what files hold.

use super::{Contents, LogEntry, PRESENT, RACY, Row, State};
use crate::build::Build;
use bytemuck::Zeroable;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use upcheck::collect::Disk;
use upcheck::content::{Content, digest_files};
use upcheck::{Decision, Digest, FileId, Meta, Snapshot, Stat, TargetId, Verdict, is_racy};

/// What is to be put on record.
pub struct NewContents {
    /// All that is on record then.
    pub contents: Contents,
    /// How many targets were found fresh, and are on record as they are now.
    pub n_recorded: usize,
    /// Targets that are not.
    pub unrecorded: Vec<Unrecorded>,
    /// How many files were read.
    pub n_read: usize,
}

/// A target that is not put on record. What was on record of it stays there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unrecorded {
    /// The target.
    pub target: TargetId,
    /// Why.
    pub doubt: Doubt,
}

/// Why a target is not put on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// It is stale, so its outputs were made of something else.
    Stale,
    /// A file was changed while it was read, or cannot be read.
    File(FileId),
}

/// A file's content in both digests.
type Both = (Digest, [u8; 32]);

impl Build {
    /// What is to be on record after a build: of the targets that were judged and are fresh, what their files hold now; of
    /// all others what `before` says. Nothing is written.
    ///
    /// Cost: each file is read once that has another stamp than in `before`, or one that proves nothing.
    #[must_use]
    pub fn record_contents(
        &self,
        disk: &dyn Disk,
        decision: &Decision<'_>,
        snapshot: &Snapshot,
        before: &Contents,
    ) -> NewContents {
        let mut unrecorded = Vec::new();
        let mut fresh = Vec::new();
        for &target in decision.judged() {
            if self.graph.flags(target).phony {
                continue;
            }
            match decision.verdict(target) {
                Verdict::Fresh => fresh.push((target, self.files_of(target))),
                _ => unrecorded.push(Unrecorded { target, doubt: Doubt::Stale }),
            }
        }
        let mut wanted: Vec<FileId> = fresh.iter().flat_map(|(_, files)| files.concat()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let (known, n_read) = self.read_both(disk, &wanted, snapshot, before);
        let mut draft = Draft::default();
        let mut n_recorded = 0;
        for (target, files) in fresh {
            let of = |file: FileId| self.state(file, snapshot, &known);
            if let Some(&file) = files.iter().flatten().find(|&&file| of(file).is_none()) {
                unrecorded.push(Unrecorded { target, doubt: Doubt::File(file) });
                continue;
            }
            let Some(&output) = self.graph.outputs(target).first() else { continue };
            let log = self.log_entry(output).unwrap_or_else(LogEntry::zeroed);
            let command_hash = self.history.command_hash(target);
            let path = |file: FileId| self.graph.files.path(file);
            let states = files
                .each_ref()
                .map(|files| files.iter().filter_map(|&file| Some((path(file), of(file)?))).collect());
            draft.add(path(output), log, command_hash, states);
            n_recorded += 1;
        }
        draft.add_others(before, |output| {
            self.graph.files.lookup(output).is_some_and(|output| self.graph.producer(output).is_some())
        });
        NewContents { contents: draft.finish(), n_recorded, unrecorded, n_read }
    }

    fn files_of(&self, target: TargetId) -> [Vec<FileId>; 3] {
        let mut discovered = self.history.discovered_inputs(target).to_vec();
        discovered.sort_unstable();
        discovered.dedup();
        [self.real_inputs(target), discovered, self.all_outputs(target)]
    }

    /// How a file is; `None` where nobody can tell.
    fn state(
        &self,
        file: FileId,
        snapshot: &Snapshot,
        known: &HashMap<FileId, (Both, bool)>,
    ) -> Option<State> {
        match snapshot.stat(file) {
            Stat::Present(meta) => {
                let &((blake3, sha256), is_racy) = known.get(&file)?;
                let bits = PRESENT | if is_racy { RACY } else { 0 };
                Some(State { meta, blake3, sha256, bits, ..State::zeroed() })
            }
            Stat::Missing => Some(State::zeroed()),
            Stat::Unknown | Stat::Unreadable(_) => None,
        }
    }

    /// What files hold, and whether their stamps prove that they still do; and how many were read.
    fn read_both(
        &self,
        disk: &dyn Disk,
        wanted: &[FileId],
        snapshot: &Snapshot,
        before: &Contents,
    ) -> (HashMap<FileId, (Both, bool)>, usize) {
        // An inode number that is none, and a status without a time, prove nothing.
        let proving = before
            .states
            .iter()
            .filter(|state| state.bits == PRESENT && state.meta.inode != 0 && state.meta.ctime != 0);
        let by_stamp: HashMap<Meta, Both> =
            proving.map(|state| (state.meta, (state.blake3, state.sha256))).collect();
        let mut known = HashMap::with_capacity(wanted.len());
        let mut to_read = Vec::new();
        for &file in wanted {
            let Stat::Present(meta) = snapshot.stat(file) else { continue };
            match by_stamp.get(&meta) {
                Some(both) => drop(known.insert(file, (*both, false))),
                None => to_read.push((file, self.graph.files.path(file), meta)),
            }
        }
        let moment = Meta::mtime_at(disk.now());
        let found = read_all(disk, &to_read, self.options.n_threads());
        for (&(file, _, meta), both) in to_read.iter().zip(found) {
            if let Some(both) = both {
                known.insert(file, (both, is_racy(meta, moment)));
            }
        }
        (known, to_read.len())
    }
}

/// Reads files that were seen with these stamps. `None` for one that cannot be read, or has another stamp by now.
fn read_all(disk: &dyn Disk, files: &[(FileId, &[u8], Meta)], threads: usize) -> Vec<Option<Both>> {
    if let Some(headway) = disk.headway() {
        headway.begins(files.iter().map(|(_, _, meta)| meta.size).sum());
    }
    let next = AtomicUsize::new(0);
    let found = Mutex::new(vec![None; files.len()]);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(at) else { break };
            let both = read(disk, file);
            found.lock().unwrap_or_else(PoisonError::into_inner)[at] = both;
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(files.len()) {
            scope.spawn(work);
        }
        work();
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn read(disk: &dyn Disk, file: &(FileId, &[u8], Meta)) -> Option<Both> {
    let &(_, path, expected) = file;
    let (mut blake3, mut sha256) = (blake3::Hasher::new(), Sha256::new());
    let mut left = expected.size;
    let mut goes_on = |n_bytes: u64| {
        // A file may be longer by now than what was announced.
        let n_bytes = n_bytes.min(left);
        left -= n_bytes;
        if let Some(headway) = disk.headway() {
            headway.goes_on(n_bytes);
        }
    };
    let scanned = disk.scan(path, &mut |piece| {
        blake3.update(piece);
        sha256.update(piece);
        goes_on(piece.len() as u64);
    });
    goes_on(u64::MAX);
    match scanned {
        Ok(meta) if meta == expected && disk.stat(path) == Stat::Present(expected) => {
            Some((Digest(*blake3.finalize().as_bytes()), sha256.finalize().into()))
        }
        Ok(_) => None,
        // A directory, perhaps, which has content of its own kind.
        Err(_) => match digest_files(disk, std::slice::from_ref(file), 1)[..] {
            [Content::Digest(digest)] => Some((digest, [0; 32])),
            _ => None,
        },
    }
}

/// Contents that are being put together.
#[derive(Default)]
struct Draft {
    contents: Contents,
    /// The numbers of states.
    numbers: HashMap<State, u32>,
}

impl Draft {
    fn add(
        &mut self,
        output: &[u8],
        log: LogEntry,
        command_hash: u64,
        [inputs, discovered, outputs]: [Vec<(&[u8], State)>; 3],
    ) {
        let output = self.contents.files.intern(output);
        let start = self.contents.rows.len() as u64;
        let [n_inputs, n_discovered, n_outputs] =
            [inputs.len(), discovered.len(), outputs.len()].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        for (path, state) in inputs.into_iter().chain(discovered).chain(outputs) {
            let state = State { path: self.contents.files.intern(path), ..state };
            let states = &mut self.contents.states;
            let number = *self.numbers.entry(state).or_insert_with(|| {
                states.to_mut().push(state);
                u32::try_from(states.len() - 1).unwrap_or(u32::MAX)
            });
            self.contents.rows.to_mut().push(number);
        }
        let row = Row { log, command_hash, start, output, n_inputs, n_discovered, n_outputs };
        self.contents.targets.to_mut().push(row);
    }

    /// Adds what was on record of other targets, those that there still are.
    fn add_others(&mut self, before: &Contents, is_there: impl Fn(&[u8]) -> bool) {
        let added: std::collections::HashSet<Vec<u8>> =
            self.contents.targets.iter().map(|row| self.contents.path(row.output).to_vec()).collect();
        for row in before.targets.iter() {
            let output = before.path(row.output);
            if added.contains(output) || !is_there(output) {
                continue;
            }
            let states = before.states_of(row);
            let states = states.map(|states| states.map(|state| (before.path(state.path), *state)).collect());
            self.add(output, row.log, row.command_hash, states);
        }
    }

    fn finish(mut self) -> Contents {
        self.contents.files.index();
        self.contents.index();
        self.contents
    }
}
