//! What files held when targets were last fresh: what tells a change from a new time.
//!
//! Ninja knows times only. A checkout, an archive or a copy gives every file another one, and everything is stale. So
//! once a build is over, what its files hold can be put on record, and a later check compares contents where times
//! differ.
//!
//! A target's record counts while ninja's log has the entry for it that it had then. Where it has another one, ninja has
//! made the target again, of inputs that nobody has put on record, and its own rules hold. Where it has none, the log was
//! lost, and the record still tells what its outputs were made of.
//!
//! # Format
//!
//! An image (see [`upcheck::image`]) with these tables:
//!
//! | table | entries | what |
//! |---|---|---|
//! | `version` | u64 | [`VERSION`] |
//! | `paths`, `pathends` | bytes, u64 | every path, and where each ends |
//! | `states` | 112 bytes | how a file was: stamp, BLAKE3 and SHA-256 of its content, path, whether it was there |
//! | `targets` | 48 bytes | a target: its first output, its command's hash, ninja's entry for it, where its rows are |
//! | `rows` | u32 | numbers of states: for each target its described inputs, its discovered ones, its outputs |
//!
//! A phony input stands for its own inputs, and is beside them itself, as a file that most often is not there.

mod judge;
mod record;
mod store;

pub use judge::ContentCounts;
pub(crate) use judge::{POLICY, is_of_last_run};
pub use record::{Doubt, NewContents, Unrecorded};
pub use store::Contents;

use crate::build::Build;
use bytemuck::{Pod, Zeroable};
use std::collections::HashSet;
use upcheck::{Digest, Dyndep, FileId, Meta, Mtime, TargetId};

/// The version of the format.
const VERSION: u64 = 1;

/// How a file was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct State {
    meta: Meta,
    blake3: Digest,
    /// Zeros for a directory, which has none.
    sha256: [u8; 32],
    pub(crate) path: FileId,
    bits: u32,
}

/// It was there; else it was not.
const PRESENT: u32 = 1;
/// Its stamp was so young that a later change may have left it as it is.
const RACY: u32 = 2;

/// A target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Row {
    /// Ninja's entry for it; zeros where it had none.
    pub(crate) log: LogEntry,
    pub(crate) command_hash: u64,
    /// Where its rows begin.
    start: u64,
    /// Its first output.
    output: FileId,
    n_inputs: u32,
    pub(crate) n_discovered: u32,
    n_outputs: u32,
}

/// What ninja's log says of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct LogEntry {
    pub(crate) mtime: Mtime,
    pub(crate) command_hash: u64,
}

impl Build {
    /// The inputs that the description names, a phony one with its own, in the order of their numbers.
    fn real_inputs(&self, target: TargetId) -> Vec<FileId> {
        let mut found = HashSet::new();
        let mut left = self.direct_inputs(target);
        while let Some(file) = left.pop() {
            if !found.insert(file) {
                continue;
            }
            let producer = self.graph.producer(file);
            if let Some(phony) = producer.filter(|&producer| self.graph.flags(producer).phony) {
                left.extend(self.direct_inputs(phony));
            }
        }
        let mut found: Vec<FileId> = found.into_iter().collect();
        found.sort_unstable();
        found
    }

    fn direct_inputs(&self, target: TargetId) -> Vec<FileId> {
        let mut inputs = self.graph.dirtying_inputs(target).to_vec();
        if let Some(entry) = self.dyndep_entry(target) {
            inputs.extend_from_slice(&entry.inputs);
        }
        inputs
    }

    pub(crate) fn all_outputs(&self, target: TargetId) -> Vec<FileId> {
        let mut outputs = self.graph.outputs(target).to_vec();
        if let Some(entry) = self.dyndep_entry(target) {
            outputs.extend_from_slice(&entry.outputs);
        }
        outputs
    }

    /// Whether the target's command may leave outputs as they are.
    pub(crate) fn may_keep_outputs(&self, target: TargetId) -> bool {
        self.graph.flags(target).restat || self.dyndep_entry(target).is_some_and(|entry| entry.restat)
    }

    fn dyndep_entry(&self, target: TargetId) -> Option<&upcheck::DyndepEntry> {
        match self.history.dyndep(self.graph.dyndep(target)?)? {
            Dyndep::Loaded(entries) => entries.iter().find(|entry| entry.target == target),
            Dyndep::Broken(_) => None,
        }
    }

    pub(crate) fn log_entry(&self, output: FileId) -> Option<LogEntry> {
        let record = self.history.record(output)?;
        Some(LogEntry { mtime: record.mtime, command_hash: record.command_hash })
    }
}
