//! What earlier builds left behind: records of success, discovered inputs, dyndep files. Plain data,
//! filled in by whoever reads the logs.

mod image;
mod success;

pub use success::{Recorded, Rule, Success};

use success::Successes;

use crate::column::Column;
use crate::ids::{FileId, TargetId, narrow};
use crate::reason::Reason;
use crate::snapshot::Mtime;
use bytemuck::{Pod, Zeroable};
use std::collections::HashMap;

/// What the last success of a target left for one of its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Record {
    /// The hash of the command that ran.
    pub command_hash: u64,
    /// The time the output counts as made at. An input newer than this makes it stale.
    pub mtime: Mtime,
}

/// What is known of the inputs that a target's command discovered when it last ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovered<'a> {
    /// The target discovers none.
    Untracked,
    /// They are known; see [`History::discovered_inputs`].
    Inputs {
        /// They are believed only while the target's first output is not newer than this.
        recorded: Option<Mtime>,
    },
    /// They are not known, so only running the target can tell.
    Unknown(&'a Unknown),
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
    records: Column<Record>,
    /// Indexed by file: whether there is a record.
    has_record: Column<u8>,
    /// Indexed by target.
    command_hashes: Column<u64>,
    /// Indexed by target.
    discovered: Column<Row>,
    discovered_files: Column<FileId>,
    /// Indexed by file: between which targets those stand that discovered it. Known only where it comes from an image.
    spans: Option<Column<Span>>,
    /// What was added to `discovered_files` while it is mapped: it can be too large to be copied for a few more.
    more_discovered_files: Vec<FileId>,
    unknown: HashMap<TargetId, Unknown>,
    dyndeps: HashMap<FileId, Dyndep>,
    successes: Successes,
}

/// Discovered inputs of one target.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Row {
    /// Nanoseconds since 1970, for `RECORDED`.
    recorded: Mtime,
    /// Where they stand in `discovered_files`, and behind its end in `more_discovered_files`.
    start: u32,
    end: u32,
    kind: u32,
    zero: u32,
}

/// The first and the last target, by number, of those that discovered a file; none while the first is the larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Span {
    first: u32,
    last: u32,
}

/// For each file, between which targets those stand that discovered it.
pub struct Spans(Vec<Span>);

impl Span {
    pub(crate) const NONE: Self = Self { first: u32::MAX, last: 0 };
    pub(crate) const ALL: Self = Self { first: 0, last: u32::MAX };

    pub(crate) fn add(&mut self, other: Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }

    pub(crate) fn contains(self, target: TargetId) -> bool {
        (self.first as usize..=self.last as usize).contains(&target.index())
    }
}

/// The kinds of rows. A row of zeros is one of a target that discovers nothing.
const UNTRACKED: u32 = 0;
const INPUTS: u32 = 1;
const RECORDED: u32 = 2;
const UNKNOWN: u32 = 3;

impl History {
    /// Records the last success for one output.
    pub fn set_record(&mut self, output: FileId, record: Record) {
        *entry(&mut self.records, output.index()) = record;
        *entry(&mut self.has_record, output.index()) = 1;
    }

    /// The last success for one output.
    #[must_use]
    pub fn record(&self, output: FileId) -> Option<Record> {
        match self.has_record.get(output.index()) {
            Some(1) => self.records.get(output.index()).copied(),
            _ => None,
        }
    }

    /// Sets the hash of the command that the description has now.
    pub fn set_command_hash(&mut self, target: TargetId, hash: u64) {
        *entry(&mut self.command_hashes, target.index()) = hash;
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
        let files = &mut self.discovered_files;
        let (before, files) = match files.is_mapped() {
            true => (files.len(), &mut self.more_discovered_files),
            false => (0, files.to_mut()),
        };
        let first_new = files.len();
        files.extend(inputs);
        let (start, end) = (narrow(before + first_new), narrow(before + files.len()));
        if let Some(spans) = &mut self.spans {
            add_to_spans(spans.to_mut(), target, &files[first_new..]);
        }
        self.unknown.remove(&target);
        let (kind, recorded) = recorded.map_or((INPUTS, 0), |recorded| (RECORDED, recorded));
        self.set_row(target, Row { recorded, start, end, kind, zero: 0 });
    }

    /// Says that the discovered inputs of a target are not known.
    pub fn set_discovered_unknown(&mut self, target: TargetId, why: Unknown) {
        self.set_row(target, Row { kind: UNKNOWN, ..Row::zeroed() });
        self.unknown.insert(target, why);
    }

    /// What is known of the discovered inputs of a target.
    #[must_use]
    pub fn discovered(&self, target: TargetId) -> Discovered<'_> {
        let Some(row) = self.discovered.get(target.index()) else { return Discovered::Untracked };
        match row.kind {
            UNTRACKED => Discovered::Untracked,
            INPUTS => Discovered::Inputs { recorded: None },
            RECORDED => Discovered::Inputs { recorded: Some(row.recorded) },
            _ => Discovered::Unknown(self.unknown.get(&target).unwrap_or(&Unknown::NotRecorded)),
        }
    }

    /// The discovered inputs of a target, believed or not; empty where they are not known.
    #[must_use]
    pub fn discovered_inputs(&self, target: TargetId) -> &[FileId] {
        let Some(row) = self.discovered.get(target.index()) else { return &[] };
        let (start, end, before) = (row.start as usize, row.end as usize, self.discovered_files.len());
        match start.checked_sub(before) {
            Some(start) => &self.more_discovered_files[start..end - before],
            None => &self.discovered_files[start..end],
        }
    }

    /// Between which targets those stand that discovered a file. Errs on the side of too many.
    pub(crate) fn discoverers(&self, file: FileId) -> Span {
        match &self.spans {
            Some(spans) => spans.get(file.index()).copied().unwrap_or(Span::NONE),
            None => Span::ALL,
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

    /// All dyndep files that somebody has looked at.
    pub fn dyndeps(&self) -> impl Iterator<Item = (FileId, &Dyndep)> {
        self.dyndeps.iter().map(|(file, dyndep)| (*file, dyndep))
    }

    /// Sets the rule by which a target is judged; [`Rule::Ninja`] where nobody does.
    pub fn set_rule(&mut self, target: TargetId, rule: Rule) {
        self.successes.set_rule(target, rule);
    }

    /// The rule by which a target is judged.
    #[must_use]
    pub fn rule(&self, target: TargetId) -> Rule {
        self.successes.rule(target)
    }

    /// Sets what is on record of a target that is judged by [`Rule::Recorded`]. See [`Success`].
    pub fn set_success(
        &mut self,
        target: TargetId,
        differences: impl IntoIterator<Item = Reason>,
        inputs: impl IntoIterator<Item = Recorded>,
        outputs: impl IntoIterator<Item = Recorded>,
    ) {
        self.successes.set(target, differences, inputs, outputs);
    }

    /// What is on record of a target that is judged by [`Rule::Recorded`].
    #[must_use]
    pub fn success(&self, target: TargetId) -> Option<Success<'_>> {
        self.successes.get(target)
    }

    fn set_row(&mut self, target: TargetId, row: Row) {
        *entry(&mut self.discovered, target.index()) = row;
    }

    /// Between which targets the discoverers of each file stand. Cost: one pass over all discovered inputs.
    #[must_use]
    pub fn spans(&self) -> Spans {
        let mut spans = Vec::new();
        for target in (0..self.discovered.len()).map(TargetId::new) {
            add_to_spans(&mut spans, target, self.discovered_inputs(target));
        }
        Spans(spans)
    }
}

fn add_to_spans(spans: &mut Vec<Span>, target: TargetId, files: &[FileId]) {
    let number = narrow(target.index());
    for file in files {
        if spans.len() <= file.index() {
            spans.resize(file.index() + 1, Span::NONE);
        }
        spans[file.index()].add(Span { first: number, last: number });
    }
}

/// The entry at `index`, made with all before it if there are not as many.
fn entry<T: Pod>(table: &mut Column<T>, index: usize) -> &mut T {
    let values = table.to_mut();
    if values.len() <= index {
        values.resize(index + 1, T::zeroed());
    }
    &mut values[index]
}
