//! The history as tables of an image.

use super::*;
use crate::image::{Image, Tables, WordReader, WordWriter};

impl History {
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
