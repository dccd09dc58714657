//! What earlier builds left behind: records of success, discovered inputs, dyndep files. Plain data,
//! filled in by whoever reads the logs.

use crate::column::Column;
use crate::ids::{FileId, TargetId, narrow};
use crate::image::{Image, Tables, WordReader, WordWriter};
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

    fn set_row(&mut self, target: TargetId, row: Row) {
        *entry(&mut self.discovered, target.index()) = row;
    }

    /// Adds everything to an image.
    pub fn save<'a>(&'a self, tables: &mut Tables<'a>, spans: &'a Spans) {
        tables.add("records", &self.records);
        tables.add("recorded", &self.has_record);
        tables.add("hashes", &self.command_hashes);
        if self.more_discovered_files.is_empty() {
            tables.add("discover", &self.discovered);
            tables.add("discfile", &self.discovered_files);
        } else {
            let (rows, files) = self.compacted();
            tables.add_bytes("discover", bytemuck::cast_slice(&rows).to_vec());
            tables.add_bytes("discfile", bytemuck::cast_slice(&files).to_vec());
        }
        tables.add("spans", &spans.0);
        tables.add_bytes("unknown", self.unknown_to_bytes());
        tables.add_bytes("dynfiles", self.dyndeps_to_bytes());
    }

    /// What an image holds of a graph with so many files and targets; `None` where it is damaged.
    #[must_use]
    pub fn load(image: &Image, n_files: usize, n_targets: usize) -> Option<Self> {
        let mut history = Self {
            records: image.table("records")?,
            has_record: image.table("recorded")?,
            command_hashes: image.table("hashes")?,
            discovered: image.table("discover")?,
            discovered_files: image.table("discfile")?,
            spans: Some(image.table("spans")?),
            ..Self::default()
        };
        history.read_unknown(&image.table("unknown")?, n_targets)?;
        history.read_dyndeps(&image.table("dynfiles")?, n_files, n_targets)?;
        Some(history)
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

    /// The discovered inputs without what is no longer used.
    fn compacted(&self) -> (Vec<Row>, Vec<FileId>) {
        let mut files = Vec::with_capacity(self.discovered_files.len());
        let rows = self.discovered.iter().enumerate().map(|(target, row)| {
            let start = narrow(files.len());
            files.extend_from_slice(self.discovered_inputs(TargetId::new(target)));
            Row { start, end: narrow(files.len()), ..*row }
        });
        (rows.collect(), files)
    }

    /// For each target: its number, the kind, and one or two texts. Ordered by target.
    fn unknown_to_bytes(&self) -> Vec<u8> {
        let mut all: Vec<_> = self.unknown.iter().collect();
        all.sort_by_key(|(target, _)| **target);
        let mut words = WordWriter::default();
        for (target, why) in all {
            words.number(target.index() as u64);
            match why {
                Unknown::NotRecorded => words.number(0),
                Unknown::NoDepfile { depfile } => {
                    words.number(1);
                    words.text(depfile);
                }
                Unknown::OtherOutput { depfile, names } => {
                    words.number(2);
                    words.text(depfile);
                    words.text(names);
                }
                Unknown::Broken { message } => {
                    words.number(3);
                    words.text(message.as_bytes());
                }
            }
        }
        words.into_bytes()
    }

    fn read_unknown(&mut self, bytes: &[u8], n_targets: usize) -> Option<()> {
        let mut words = WordReader::new(bytes);
        while !words.is_at_end() {
            let target = TargetId::new(words.index(n_targets)?);
            let why = match words.number()? {
                0 => Unknown::NotRecorded,
                1 => Unknown::NoDepfile { depfile: words.text()?.into() },
                2 => Unknown::OtherOutput { depfile: words.text()?.into(), names: words.text()?.into() },
                _ => Unknown::Broken { message: words.message()?.into() },
            };
            self.unknown.insert(target, why);
        }
        Some(())
    }

    /// For each file: its number, 1 and a message or 0 and the entries. An entry: target, restat, outputs, inputs,
    /// each list with its length. Ordered by file.
    fn dyndeps_to_bytes(&self) -> Vec<u8> {
        let mut all: Vec<_> = self.dyndeps.iter().collect();
        all.sort_by_key(|(file, _)| **file);
        let mut words = WordWriter::default();
        for (file, dyndep) in all {
            words.number(file.index() as u64);
            match dyndep {
                Dyndep::Broken(message) => {
                    words.number(1);
                    words.text(message.as_bytes());
                }
                Dyndep::Loaded(entries) => {
                    words.number(0);
                    words.number(entries.len() as u64);
                    for entry in entries {
                        words.number(entry.target.index() as u64);
                        words.number(u64::from(entry.restat));
                        for files in [&entry.outputs, &entry.inputs] {
                            words.number(files.len() as u64);
                            files.iter().for_each(|file| words.number(file.index() as u64));
                        }
                    }
                }
            }
        }
        words.into_bytes()
    }

    fn read_dyndeps(&mut self, bytes: &[u8], n_files: usize, n_targets: usize) -> Option<()> {
        let mut words = WordReader::new(bytes);
        while !words.is_at_end() {
            let file = FileId::new(words.index(n_files)?);
            let dyndep = if words.number()? == 1 {
                Dyndep::Broken(words.message()?.into())
            } else {
                let n_entries = words.number()?;
                let mut entries = Vec::new();
                for _ in 0..n_entries {
                    let target = TargetId::new(words.index(n_targets)?);
                    let restat = words.number()? == 1;
                    let mut files = || -> Option<Vec<FileId>> {
                        let n = words.number()?;
                        (0..n).map(|_| words.index(n_files).map(FileId::new)).collect()
                    };
                    entries.push(DyndepEntry { target, outputs: files()?, inputs: files()?, restat });
                }
                Dyndep::Loaded(entries)
            };
            self.dyndeps.insert(file, dyndep);
        }
        Some(())
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
