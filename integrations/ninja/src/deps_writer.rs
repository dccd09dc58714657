//! Writing `.ninja_deps`: records set, kept or dropped, and the whole file made anew.
//!
//! The format, version 4, is described where it is read, in [`deps_log`](crate::deps_log). Paths keep the numbers that
//! they have, unless the log is so damaged that a path came twice.

use crate::deps_log::{DepsLog, HEADER, IS_DEPS, LARGEST_RECORD};
use crate::log_time;
use crate::log_writer::Unwritable;
use upcheck::{FileTable, Mtime, narrow};

/// A deps log that is being put together.
#[derive(Clone, Default)]
pub struct DepsLogWriter {
    paths: FileTable,
    /// Indexed by path.
    records: Vec<Option<Deps>>,
}

/// What an output has discovered.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Deps {
    mtime: Mtime,
    /// Numbers of paths.
    inputs: Vec<u32>,
}

impl DepsLogWriter {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The log with all good records of one that was read; without any where that has another version than 4, which ninja
    /// throws away.
    #[must_use]
    pub fn read(log: &DepsLog) -> Self {
        let mut writer = Self::default();
        if log.version() != Some(4) {
            return writer;
        }
        let numbers: Vec<u32> = log.paths().map(|path| writer.number(path)).collect();
        for (number, &output) in numbers.iter().enumerate() {
            let Some((mtime, inputs)) = log.record(number) else { continue };
            let inputs: Option<Vec<u32>> = inputs.map(|input| numbers.get(input).copied()).collect();
            if let (Some(inputs), Some(record)) = (inputs, writer.records.get_mut(output as usize)) {
                *record = Some(Deps { mtime, inputs });
            }
        }
        writer
    }

    /// Says what an output has discovered, and the time that it had then.
    ///
    /// # Errors
    /// When the log cannot hold a path, or so many of them. Then nothing is changed.
    pub fn set<'a>(
        &mut self,
        output: &[u8],
        mtime: Mtime,
        inputs: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(), Unwritable> {
        let inputs: Vec<&[u8]> = inputs.into_iter().collect();
        for path in inputs.iter().copied().chain([output]) {
            check_path(path)?;
        }
        if 4 * (3 + inputs.len()) > LARGEST_RECORD {
            return Err(Unwritable::TooLong);
        }
        let inputs = inputs.into_iter().map(|path| self.number(path)).collect();
        let output = self.number(output);
        self.records[output as usize] = Some(Deps { mtime, inputs });
        Ok(())
    }

    /// Sets the time alone. Whether there is a record.
    pub fn set_mtime(&mut self, output: &[u8], mtime: Mtime) -> bool {
        let record = self.paths.lookup(output).and_then(|output| self.records[output.index()].as_mut());
        record.map(|record| record.mtime = mtime).is_some()
    }

    /// Forgets what an output has discovered, so that what makes it is stale. Whether there was a record.
    pub fn drop_record(&mut self, output: &[u8]) -> bool {
        self.paths.lookup(output).is_some_and(|output| self.records[output.index()].take().is_some())
    }

    /// What it says of an output: the time that it had, and what it discovered.
    #[must_use]
    pub fn record(&self, output: &[u8]) -> Option<(Mtime, impl Iterator<Item = &[u8]>)> {
        let Deps { mtime, inputs } = self.records[self.paths.lookup(output)?.index()].as_ref()?;
        let paths = inputs.iter().map(|&input| self.paths.path(upcheck::FileId::new(input as usize)));
        Some((*mtime, paths))
    }

    /// The whole file.
    #[must_use]
    pub fn finish(&self) -> Vec<u8> {
        let mut bytes = [HEADER, &4u32.to_le_bytes()].concat();
        for file in self.paths.ids() {
            let path = self.paths.path(file);
            let padded = path.len().next_multiple_of(4);
            bytes.extend_from_slice(&narrow(padded + 4).to_le_bytes());
            bytes.extend_from_slice(path);
            bytes.resize(bytes.len() + padded - path.len(), 0);
            bytes.extend_from_slice(&(!narrow(file.index())).to_le_bytes());
        }
        for (output, record) in self.records.iter().enumerate() {
            let Some(Deps { mtime, inputs }) = record else { continue };
            bytes.extend_from_slice(&(IS_DEPS | narrow(4 * (3 + inputs.len()))).to_le_bytes());
            bytes.extend_from_slice(&narrow(output).to_le_bytes());
            bytes.extend_from_slice(&log_time::logged(*mtime).to_le_bytes());
            for input in inputs {
                bytes.extend_from_slice(&input.to_le_bytes());
            }
        }
        bytes
    }

    fn number(&mut self, path: &[u8]) -> u32 {
        let file = self.paths.intern(path);
        if self.records.len() <= file.index() {
            self.records.resize(file.index() + 1, None);
        }
        narrow(file.index())
    }
}

/// Ninja takes NULs at the end of a path for padding.
fn check_path(path: &[u8]) -> Result<(), Unwritable> {
    if path.is_empty() || path.last() == Some(&0) {
        return Err(Unwritable::Path);
    }
    let size = path.len().next_multiple_of(4) + 4;
    if size > LARGEST_RECORD { Err(Unwritable::TooLong) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_time::mtime;
    use crate::version::NinjaVersion;

    fn read(bytes: Vec<u8>) -> DepsLog {
        let log = DepsLog::read(bytes, NinjaVersion::V1_13);
        assert_eq!((log.version(), log.damaged_at()), (Some(4), None));
        log
    }

    fn sample() -> DepsLogWriter {
        let mut writer = DepsLogWriter::new();
        for length in 1..=9 {
            let output = vec![b'o'; length];
            writer.set(&output, mtime(-5), [&b"in.h"[..], b"\xff b", &output]).expect("plain paths");
        }
        writer.set(b"none", mtime(1 << 33), []).expect("plain paths");
        writer
    }

    fn said(writer: &DepsLogWriter, output: &[u8]) -> Option<(Mtime, Vec<Vec<u8>>)> {
        writer.record(output).map(|(mtime, inputs)| (mtime, inputs.map(<[u8]>::to_vec).collect()))
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let bytes = sample().finish();
        let log = read(bytes.clone());
        let paths: Vec<_> = log.paths().map(<[u8]>::to_vec).collect();
        assert_eq!(paths[..3], [&b"in.h"[..], b"\xff b", b"o"]);
        let again = DepsLogWriter::read(&log);
        assert_eq!(again.finish(), bytes);
        assert_eq!(said(&again, b"none"), Some((mtime(1 << 33), vec![])));
        let expected = vec![b"in.h".to_vec(), b"\xff b".to_vec(), b"ooo".to_vec()];
        assert_eq!(said(&again, b"ooo"), Some((mtime(-5), expected)));
        assert_eq!(said(&again, b"in.h"), None);
    }

    #[test]
    fn numbers_of_paths_stay_when_records_are_changed_or_dropped() {
        let mut writer = sample();
        assert!(
            writer.set_mtime(b"oo", mtime(9)) && !writer.set_mtime(b"in.h", 1) && !writer.set_mtime(b"?", 1)
        );
        assert!(writer.drop_record(b"o") && !writer.drop_record(b"o") && !writer.drop_record(b"?"));
        writer.set(b"new", mtime(2), [&b"newer"[..]]).expect("plain paths");
        let (before, after) = (read(sample().finish()), read(writer.finish()));
        let n_before = before.paths().count();
        assert_eq!(after.paths().take(n_before).collect::<Vec<_>>(), before.paths().collect::<Vec<_>>());
        assert_eq!(after.paths().skip(n_before).collect::<Vec<_>>(), [&b"newer"[..], b"new"]);
        let again = DepsLogWriter::read(&after);
        assert_eq!(said(&again, b"o"), None);
        assert_eq!(said(&again, b"oo").map(|(time, _)| time), Some(mtime(9)));
        assert_eq!(said(&again, b"new"), Some((mtime(2), vec![b"newer".to_vec()])));
    }

    #[test]
    fn of_a_log_that_is_cut_off_the_good_records_stay() {
        let whole = sample().finish();
        for length in 0..whole.len() {
            let cut = DepsLog::read(whole[..length].to_vec(), NinjaVersion::V1_13);
            let writer = DepsLogWriter::read(&cut);
            let log = read(writer.finish());
            for output in (1..=9).map(|length| vec![b'o'; length]) {
                let kept = said(&DepsLogWriter::read(&log), &output);
                assert!(kept.is_none() || kept == said(&sample(), &output), "{length}");
            }
        }
    }

    #[test]
    fn what_the_log_cannot_hold_is_refused_and_changes_nothing() {
        let mut writer = sample();
        let before = writer.finish();
        assert_eq!(writer.set(b"", 1, []), Err(Unwritable::Path));
        assert_eq!(writer.set(b"new", 1, [&b"a\0"[..]]), Err(Unwritable::Path));
        assert_eq!(writer.set(&vec![b'x'; LARGEST_RECORD - 3], 1, []), Err(Unwritable::TooLong));
        let many = vec![&b"in.h"[..]; LARGEST_RECORD / 4];
        assert_eq!(writer.set(b"new", 1, many), Err(Unwritable::TooLong));
        assert_eq!(writer.finish(), before);
    }

    #[test]
    fn a_path_that_came_twice_comes_once() {
        // As ninja 1.11 reads it: the later number counts for it, and both name the same file.
        let mut bytes = sample().finish();
        let log = DepsLog::read(bytes.clone(), NinjaVersion::V1_11);
        let n_paths = narrow(log.paths().count());
        bytes.extend_from_slice(&8u32.to_le_bytes());
        bytes.extend_from_slice(b"in.h");
        bytes.extend_from_slice(&(!n_paths).to_le_bytes());
        let words = [IS_DEPS | 16, 2, 7, 0, n_paths];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        let writer = DepsLogWriter::read(&DepsLog::read(bytes, NinjaVersion::V1_11));
        assert_eq!(said(&writer, b"o"), Some((mtime(7), vec![b"in.h".to_vec()])));
        assert_eq!(read(writer.finish()).paths().count(), n_paths as usize);
    }
}
