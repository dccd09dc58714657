//! What earlier builds left behind: records of success, discovered inputs, dyndep files. Plain data,
//! filled in by whoever reads the logs.

use crate::ids::{FileId, TargetId, narrow};
use crate::snapshot::Mtime;
use std::collections::HashMap;

/// What the last success of a target left for one of its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The hash of the command that ran.
    pub command_hash: u64,
    /// The time the output counts as made at. An input newer than this makes it stale.
    pub mtime: Mtime,
}

/// What is known of the inputs that a target's command discovered when it last ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Discovered {
    /// The target discovers none.
    #[default]
    Untracked,
    /// They are known.
    Inputs {
        /// Where they stand; see [`History::discovered_inputs`].
        range: (u32, u32),
        /// They are believed only while the target's first output is not newer than this.
        recorded: Option<Mtime>,
    },
    /// They are not known, so only running the target can tell.
    Unknown(Unknown),
}

/// Why discovered inputs are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// There is no record of them.
    NotRecorded,
    /// The depfile is missing or empty.
    NoDepfile {
        /// Its path.
        depfile: Box<[u8]>,
    },
    /// The depfile speaks of another target.
    OtherOutput {
        /// Its path.
        depfile: Box<[u8]>,
        /// The output it names first.
        names: Box<[u8]>,
    },
    /// The depfile cannot be read or parsed: an error for whoever insists on an answer.
    Broken {
        /// What is wrong, with the path.
        message: Box<str>,
    },
}

/// The content of a dyndep file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dyndep {
    /// It was read.
    Loaded(Vec<DyndepEntry>),
    /// It cannot be read or parsed, or does not fit the graph. What is wrong, with the path.
    Broken(Box<str>),
}

/// What a dyndep file adds to one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DyndepEntry {
    /// The target that waits for the file.
    pub target: TargetId,
    /// More outputs.
    pub outputs: Vec<FileId>,
    /// More inputs, implicit ones.
    pub inputs: Vec<FileId>,
    /// Whether the target's command may leave outputs untouched.
    pub restat: bool,
}

/// Side tables to a [`Graph`](crate::Graph): what earlier builds left behind.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Indexed by file.
    records: Vec<Option<Record>>,
    /// Indexed by target.
    command_hashes: Vec<u64>,
    /// Indexed by target.
    discovered: Vec<Discovered>,
    discovered_files: Vec<FileId>,
    dyndeps: HashMap<FileId, Dyndep>,
}

impl History {
    /// Records the last success for one output.
    pub fn set_record(&mut self, output: FileId, record: Record) {
        grow(&mut self.records, output.index());
        self.records[output.index()] = Some(record);
    }

    /// The last success for one output.
    #[must_use]
    pub fn record(&self, output: FileId) -> Option<Record> {
        self.records.get(output.index()).copied().flatten()
    }

    /// Sets the hash of the command that the description has now.
    pub fn set_command_hash(&mut self, target: TargetId, hash: u64) {
        grow(&mut self.command_hashes, target.index());
        self.command_hashes[target.index()] = hash;
    }

    /// The hash of the command that the description has now; 0 where nobody has set it.
    #[must_use]
    pub fn command_hash(&self, target: TargetId) -> u64 {
        self.command_hashes.get(target.index()).copied().unwrap_or(0)
    }

    /// Sets the discovered inputs of a target. They are copied.
    pub fn set_discovered_inputs(
        &mut self,
        target: TargetId,
        inputs: impl IntoIterator<Item = FileId>,
        recorded: Option<Mtime>,
    ) {
        let start = narrow(self.discovered_files.len());
        self.discovered_files.extend(inputs);
        let range = (start, narrow(self.discovered_files.len()));
        self.set_discovered(target, Discovered::Inputs { range, recorded });
    }

    /// Says that the discovered inputs of a target are not known.
    pub fn set_discovered_unknown(&mut self, target: TargetId, why: Unknown) {
        self.set_discovered(target, Discovered::Unknown(why));
    }

    /// What is known of the discovered inputs of a target.
    #[must_use]
    pub fn discovered(&self, target: TargetId) -> &Discovered {
        self.discovered.get(target.index()).unwrap_or(&Discovered::Untracked)
    }

    /// The discovered inputs of a target, believed or not; empty where they are not known.
    #[must_use]
    pub fn discovered_inputs(&self, target: TargetId) -> &[FileId] {
        match self.discovered(target) {
            Discovered::Inputs { range: (start, end), .. } => {
                &self.discovered_files[*start as usize..*end as usize]
            }
            _ => &[],
        }
    }

    /// Sets what a dyndep file says.
    pub fn set_dyndep(&mut self, file: FileId, dyndep: Dyndep) {
        self.dyndeps.insert(file, dyndep);
    }

    /// What a dyndep file says; `None` where nobody has looked.
    #[must_use]
    pub fn dyndep(&self, file: FileId) -> Option<&Dyndep> {
        self.dyndeps.get(&file)
    }

    fn set_discovered(&mut self, target: TargetId, discovered: Discovered) {
        grow(&mut self.discovered, target.index());
        self.discovered[target.index()] = discovered;
    }
}

fn grow<T: Default + Clone>(table: &mut Vec<T>, index: usize) {
    if table.len() <= index {
        table.resize(index + 1, T::default());
    }
}
