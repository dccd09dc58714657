//! Writing `.ninja_log`: entries set, kept or dropped, and the whole file made anew.
//!
//! The format is described where it is read, in [`build_log`]. A log is written in the version that a ninja believes,
//! one line for each output, in the order in which the outputs first came. Lines that nobody changes stay as they are, but
//! for what a ninja skips: older lines about the same output, and those without a meaning.

use crate::build_log::{self, Entries};
use crate::log_time;
use crate::version::NinjaVersion;
use rapidhash::RapidHashMap;
use std::fmt;
use std::io::Write;
use upcheck::Record;

/// A build log that is being put together.
#[derive(Clone, Debug)]
pub struct BuildLogWriter {
    ninja: NinjaVersion,
    lines: Vec<Line>,
    /// Where the line about an output stands in `lines`.
    places: RapidHashMap<Box<[u8]>, usize>,
}

/// What is to be written of one output.
#[derive(Clone, Debug)]
struct Line {
    output: Box<[u8]>,
    /// `None`: it was dropped.
    record: Option<Record>,
}

/// Why something cannot be said in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwritable {
    /// The path has a character that ends it in the log, or is empty.
    Path,
    /// It is longer than what ninja reads.
    TooLong,
}

impl BuildLogWriter {
    /// An empty log for that ninja.
    #[must_use]
    pub fn new(ninja: NinjaVersion) -> Self {
        Self { ninja, lines: Vec::new(), places: RapidHashMap::default() }
    }

    /// The log with the entries that this ninja finds in `bytes`: none where it would throw them away. Cost: one scan.
    #[must_use]
    pub fn read(ninja: NinjaVersion, bytes: &[u8]) -> Self {
        let mut writer = Self::new(ninja);
        let version = build_log::log_version(bytes).unwrap_or(0);
        if ninja.accepts_log(version) {
            for (output, record) in Entries::from(bytes, version) {
                writer.put(output, Some(record));
            }
        }
        writer
    }

    /// Says that an output was last made at this time, by a command with this hash.
    ///
    /// # Errors
    /// When the log has no way to name the output. Then nothing is changed.
    pub fn set(&mut self, output: &[u8], record: Record) -> Result<(), Unwritable> {
        line(output, record)?;
        self.put(output, Some(record));
        Ok(())
    }

    /// Forgets an output, so that what makes it is stale. Whether there was an entry.
    pub fn drop_entry(&mut self, output: &[u8]) -> bool {
        self.places.get(output).is_some_and(|&place| self.lines[place].record.take().is_some())
    }

    /// What it says of an output.
    #[must_use]
    pub fn record(&self, output: &[u8]) -> Option<Record> {
        self.lines[*self.places.get(output)?].record
    }

    /// All outputs that have an entry, in order.
    pub fn outputs(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().filter(|line| line.record.is_some()).map(|line| &*line.output)
    }

    /// The whole file.
    #[must_use]
    pub fn finish(&self) -> Vec<u8> {
        let mut bytes = format!("# ninja log v{}\n", log_version_of(self.ninja)).into_bytes();
        for Line { output, record } in &self.lines {
            if let Some(line) = record.and_then(|record| line(output, record).ok()) {
                bytes.extend_from_slice(&line);
            }
        }
        bytes
    }

    fn put(&mut self, output: &[u8], record: Option<Record>) {
        match self.places.get(output) {
            Some(&place) => self.lines[place].record = record,
            None => {
                self.places.insert(output.into(), self.lines.len());
                self.lines.push(Line { output: output.into(), record });
            }
        }
    }
}

/// The version of the log that this ninja writes.
#[must_use]
pub fn log_version_of(ninja: NinjaVersion) -> u32 {
    match ninja {
        NinjaVersion::V1_11 => 5,
        NinjaVersion::V1_12 => 6,
        NinjaVersion::V1_13 => 7,
    }
}

/// The line that a log has about an output, to be appended to one of the ninja whose hash it is. It begins and ends in the
/// first millisecond: what is written here was not run.
///
/// # Errors
/// When the log has no way to name the output.
pub fn line(output: &[u8], record: Record) -> Result<Vec<u8>, Unwritable> {
    if output.is_empty() || output.iter().any(|byte| matches!(byte, b'\n' | b'\t' | b'\0')) {
        return Err(Unwritable::Path);
    }
    let mut line = Vec::with_capacity(output.len() + 48);
    let Record { command_hash, mtime } = record;
    // Writing to memory does not fail.
    let _ = write!(line, "0\t0\t{}\t", log_time::logged(mtime));
    line.extend_from_slice(output);
    let _ = writeln!(line, "\t{command_hash:x}");
    if line.len() >= build_log::BUFFER { Err(Unwritable::TooLong) } else { Ok(line) }
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Path => "ninja's log cannot hold such a path",
            Self::TooLong => "it is longer than what ninja reads of its log",
        })
    }
}

impl std::error::Error for Unwritable {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_time::mtime;

    fn record(command_hash: u64, time: i64) -> Record {
        Record { command_hash, mtime: mtime(time) }
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        for ninja in [NinjaVersion::V1_11, NinjaVersion::V1_12, NinjaVersion::V1_13] {
            let mut writer = BuildLogWriter::new(ninja);
            writer.set(b"a b", record(u64::MAX, 7)).expect("a plain path");
            writer.set(b"\xff", record(0, -7)).expect("a plain path");
            writer.set(b"gone", record(1, 1)).expect("a plain path");
            assert!(writer.drop_entry(b"gone") && !writer.drop_entry(b"gone") && !writer.drop_entry(b"none"));
            let bytes = writer.finish();
            assert_eq!(build_log::log_version(&bytes), Some(log_version_of(ninja)));
            let expected = [(&b"a b"[..], record(u64::MAX, 7)), (b"\xff", record(0, -7))];
            assert_eq!(build_log::entries(&bytes).collect::<Vec<_>>(), expected);
            assert_eq!(BuildLogWriter::read(ninja, &bytes).finish(), bytes);
        }
    }

    #[test]
    fn the_last_line_about_an_output_is_kept_and_a_torn_one_is_not() {
        let log = b"# ninja log v7\n1\t2\t3\ta\tff\n1\t2\t3\tb\tee\nnonsense\n4\t5\t6\ta\tdd\n1\t2\t3\tc\tcc";
        let mut writer = BuildLogWriter::read(NinjaVersion::V1_13, log);
        assert_eq!(writer.outputs().collect::<Vec<_>>(), [b"a", b"b"]);
        assert_eq!(writer.record(b"a"), Some(record(0xdd, 6)));
        writer.set(b"b", record(1, 9)).expect("a plain path");
        assert_eq!(writer.finish(), b"# ninja log v7\n0\t0\t6\ta\tdd\n0\t0\t9\tb\t1\n");
    }

    #[test]
    fn a_log_that_this_ninja_throws_away_has_no_entries() {
        let log = b"# ninja log v7\n1\t2\t3\ta\tff\n";
        assert_eq!(BuildLogWriter::read(NinjaVersion::V1_12, log).finish(), b"# ninja log v6\n");
        assert_eq!(BuildLogWriter::read(NinjaVersion::V1_12, b"").finish(), b"# ninja log v6\n");
        // 1.11 believes it, and so the entries mean for it what they say.
        assert_eq!(
            BuildLogWriter::read(NinjaVersion::V1_11, log).finish(),
            b"# ninja log v5\n0\t0\t3\ta\tff\n"
        );
    }

    #[test]
    fn what_the_log_cannot_hold_is_refused_and_changes_nothing() {
        let mut writer = BuildLogWriter::new(NinjaVersion::V1_13);
        for path in [&b""[..], b"a\nb", b"a\tb", b"a\0"] {
            assert_eq!(writer.set(path, record(1, 1)), Err(Unwritable::Path), "{}", path.escape_ascii());
        }
        assert_eq!(writer.set(&vec![b'x'; build_log::BUFFER], record(1, 1)), Err(Unwritable::TooLong));
        assert_eq!(writer.finish(), b"# ninja log v7\n");
    }
}
