//! The file that contents are kept in.

use super::{LogEntry, PRESENT, RACY, Row, State, VERSION};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use upcheck::image::{Image, Tables};
use upcheck::{Column, FileId, FileState, FileTable, Meta, Stat};

/// What is on record of a build directory's files.
#[derive(Default)]
pub struct Contents {
    pub(super) files: FileTable,
    pub(super) states: Column<State>,
    pub(super) targets: Column<Row>,
    pub(super) rows: Column<u32>,
    /// Indexed by file: the target whose first output it is, plus one.
    target_of: Vec<u32>,
}

impl Contents {
    /// Its name in the folder of records.
    pub const NAME: &str = "contents";

    /// Reads what is on record; `None` if there is nothing.
    ///
    /// # Errors
    /// Whatever the operating system says; `InvalidData` for what is damaged, or of another version.
    pub fn read(folder: &Path) -> io::Result<Option<Self>> {
        let file = match File::open(folder.join(Self::NAME)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let damaged = || io::Error::new(ErrorKind::InvalidData, "it is damaged, or another version's");
        let image = Image::read(&file)?.ok_or_else(damaged)?;
        Self::load(&image).map(Some).ok_or_else(damaged)
    }

    fn load(image: &Image) -> Option<Self> {
        if *image.table::<u64>("version")? != [VERSION] {
            return None;
        }
        // The folder is in the user's tree, so what is in it may be anybody's: nothing is taken for right.
        let (paths, ends) = (image.table::<u8>("paths")?, image.table::<u64>("pathends")?);
        if !ends.is_sorted() || ends.last().map_or(0, |end| *end) != paths.len() as u64 {
            return None;
        }
        let mut files = FileTable::default();
        files.append(&paths, &ends);
        files.index();
        let mut contents = Self {
            files,
            states: image.table("states")?,
            targets: image.table("targets")?,
            rows: image.table("rows")?,
            target_of: Vec::new(),
        };
        let n_files = contents.files.len();
        let is_whole = contents.states.iter().all(|state| state.path.index() < n_files)
            && contents.rows.iter().all(|&state| (state as usize) < contents.states.len())
            && contents.targets.iter().all(|row| {
                let n = u64::from(row.n_inputs) + u64::from(row.n_discovered) + u64::from(row.n_outputs);
                let end = row.start.checked_add(n);
                row.output.index() < n_files && end.is_some_and(|end| end <= contents.rows.len() as u64)
            });
        is_whole.then(|| {
            contents.index();
            contents
        })
    }

    pub(super) fn index(&mut self) {
        self.target_of = vec![0; self.files.len()];
        for (number, row) in (1..).zip(self.targets.iter()) {
            self.target_of[row.output.index()] = number;
        }
    }

    /// Puts it in the place of what is on record: beside it first, so that it is there as a whole or not at all.
    ///
    /// # Errors
    /// Whatever the operating system says. What was on record is there then.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let version = [VERSION];
        let (mut paths, mut ends) = (Vec::new(), Vec::with_capacity(self.files.len()));
        for file in self.files.ids() {
            paths.extend_from_slice(self.files.path(file));
            ends.push(paths.len() as u64);
        }
        let mut tables = Tables::default();
        tables.add("version", &version);
        tables.add("paths", &paths);
        tables.add("pathends", &ends);
        tables.add("states", &self.states);
        tables.add("targets", &self.targets);
        tables.add("rows", &self.rows);
        let beside = folder.join(format!("{}.{}.new", Self::NAME, std::process::id()));
        let written = File::create(&beside)
            .and_then(|mut file| tables.write(&mut file).and_then(|_| file.sync_all()))
            .and_then(|()| fs::rename(&beside, folder.join(Self::NAME)));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written
    }

    /// How many targets are on record.
    #[must_use]
    pub fn n_targets(&self) -> usize {
        self.targets.len()
    }

    /// Says what ninja's log says of a target now. Whether it is on record.
    pub(crate) fn set_log(&mut self, output: &[u8], log: LogEntry) -> bool {
        let Some(place) = self.place(output) else { return false };
        self.targets.to_mut()[place].log = log;
        true
    }

    /// Takes targets off the record. What was on record of them.
    pub(crate) fn forget(&mut self, outputs: &[Vec<u8>]) -> Vec<Row> {
        let mut places: Vec<usize> = outputs.iter().filter_map(|output| self.place(output)).collect();
        places.sort_unstable();
        places.dedup();
        if places.is_empty() {
            return Vec::new();
        }
        let mut rows = Vec::with_capacity(places.len());
        let targets = std::mem::take(self.targets.to_mut());
        for (place, row) in targets.into_iter().enumerate() {
            match places.binary_search(&place) {
                Ok(_) => rows.push(row),
                Err(_) => self.targets.to_mut().push(row),
            }
        }
        self.index();
        rows
    }

    /// Puts targets back that were taken off.
    pub(crate) fn put_back(&mut self, rows: &[Row]) {
        self.targets.to_mut().extend_from_slice(rows);
        self.index();
    }

    pub(crate) fn target(&self, output: &[u8]) -> Option<&Row> {
        self.targets.get(self.place(output)?)
    }

    /// The SHA-256 of every file that is on record with a stamp that proves something: what looks like this still holds that.
    pub fn proven(&self) -> impl Iterator<Item = (Meta, [u8; 32])> {
        let proves = |state: &&State| {
            state.bits == PRESENT && state.meta.inode != 0 && state.meta.ctime != 0 && state.sha256 != [0; 32]
        };
        self.states.iter().filter(proves).map(|state| (state.meta, state.sha256))
    }

    fn place(&self, output: &[u8]) -> Option<usize> {
        let file = self.files.lookup(output)?;
        (*self.target_of.get(file.index())? as usize).checked_sub(1)
    }

    /// The states of a target: of described inputs, of discovered ones, of outputs.
    pub(crate) fn states_of(&self, row: &Row) -> [impl Iterator<Item = &State> + Clone; 3] {
        let mut start = usize::try_from(row.start).unwrap_or(usize::MAX);
        [row.n_inputs, row.n_discovered, row.n_outputs].map(|n| {
            let end = start.saturating_add(n as usize);
            let rows = self.rows.get(start..end).unwrap_or_default();
            start = end;
            rows.iter().filter_map(|&state| self.states.get(state as usize))
        })
    }

    pub(crate) fn path(&self, file: FileId) -> &[u8] {
        self.files.path(file)
    }
}

impl State {
    pub(super) fn file_state(&self) -> FileState {
        if self.bits & PRESENT == 0 {
            return FileState::new(Stat::Missing, None, false);
        }
        FileState::new(Stat::Present(self.meta), Some(self.blake3), self.bits & RACY != 0)
    }
}

/// Whether the same is on record.
impl PartialEq for Contents {
    fn eq(&self, other: &Self) -> bool {
        let paths = |contents: &Self| -> Vec<Vec<u8>> {
            contents.files.ids().map(|file| contents.files.path(file).to_vec()).collect()
        };
        *self.states == *other.states
            && *self.targets == *other.targets
            && *self.rows == *other.rows
            && paths(self) == paths(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;

    /// What is read of a file with these tables, whose checksums are right.
    fn read(ends: &[u64], states: &[State], targets: &[Row], rows: &[u32]) -> io::Result<Option<Contents>> {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let version = [VERSION];
        let mut tables = Tables::default();
        tables.add("version", &version);
        tables.add("paths", b"ab");
        tables.add("pathends", ends);
        tables.add("states", states);
        tables.add("targets", targets);
        tables.add("rows", rows);
        let mut file = File::create(folder.path().join(Contents::NAME)).expect("a file");
        tables.write(&mut file).expect("it is written");
        Contents::read(folder.path())
    }

    #[test]
    fn tables_that_do_not_fit_together_are_an_error_whatever_their_checksums_say() {
        let state = |file| State { path: FileId::new(file), ..State::zeroed() };
        let row =
            |output, start, n_inputs| Row { output: FileId::new(output), start, n_inputs, ..Row::zeroed() };
        let right =
            read(&[1, 2], &[state(1)], &[row(0, 0, 1)], &[0]).expect("it is right").expect("it is there");
        assert_eq!(right.target(b"a").map(|row| right.states_of(row).map(Iterator::count)), Some([1, 0, 0]));
        assert!(right.target(b"b").is_none());
        for (what, found) in [
            ("ends that go back", read(&[2, 1], &[], &[], &[])),
            ("ends past the end", read(&[1, 3], &[], &[], &[])),
            ("no ends", read(&[], &[], &[], &[])),
            ("a path that is none", read(&[1, 2], &[state(2)], &[], &[])),
            ("an output that is none", read(&[1, 2], &[state(1)], &[row(2, 0, 1)], &[0])),
            ("a state that is none", read(&[1, 2], &[state(1)], &[row(0, 0, 1)], &[1])),
            ("rows past the end", read(&[1, 2], &[state(1)], &[row(0, 0, 2)], &[0])),
            ("rows past all ends", read(&[1, 2], &[state(1)], &[row(0, u64::MAX, 1)], &[0])),
        ] {
            let error = found.err().map(|error| error.kind());
            assert_eq!(error, Some(ErrorKind::InvalidData), "{what}");
        }
    }
}
