//! `.ninja_deps`: the inputs that commands discovered, for targets with `deps = gcc` or `msvc`.
//!
//! # Format
//!
//! Binary, little-endian, appended to by ninja. The twelve bytes `# ninjadeps\n`, a 32-bit version, then
//! records. A record begins with a 32-bit word: its size in bytes in the low 31 bits (at most 2^19 - 1), and
//! in the top bit its kind.
//!
//! | kind | content |
//! |---|---|
//! | path (0) | the path, 0 to 3 NUL bytes that pad it to a multiple of four, the complement of its number |
//! | deps (1) | number of the output's path, its mtime when recorded, numbers of the inputs' paths |
//!
//! Paths are numbered from 0 as they come, and no path comes twice. The mtime is 64 bits in version 4, lower half
//! first, nanoseconds since 1970 on Unix, on Windows units of 100 ns since the end of 2000; 32 bits of seconds in version 3. The last deps record of an output
//! counts. From the first record that breaks a rule on, nothing is believed (ninja cuts the file off there).
//!
//! Ninja 1.11 and later throw every version but 4 away. Before 1.13 it does not check that a path comes only once
//! (the later number counts), that a deps record's size is a multiple of four, nor that the numbers of inputs are
//! those of known paths: a record with an unknown one is believed to be there, and what ninja would do with it is
//! undefined.

use crate::log_time;
use crate::version::NinjaVersion;
use rapidhash::{RapidHashMap, RapidHashSet};
use std::ops::Range;

pub(crate) const HEADER: &[u8] = b"# ninjadeps\n";
pub(crate) const LARGEST_RECORD: usize = (1 << 19) - 1;
pub(crate) const IS_DEPS: u32 = 1 << 31;

/// A deps log, read but not yet matched with a graph.
#[derive(Debug, Default)]
pub struct DepsLog {
    bytes: Vec<u8>,
    version: Option<u32>,
    /// Where each path stands in `bytes`, by number.
    paths: Vec<Range<usize>>,
    /// Where each output's last record stands: the words after the size. By path number.
    records: Vec<Option<Range<usize>>>,
    damaged_at: Option<usize>,
    /// Where the last good record ends.
    end: usize,
    /// Whether a record came before its output's path, which only a strange log has.
    is_strange: bool,
}

impl DepsLog {
    /// Reads a log as a ninja of that version does. Cost: one scan; keeps `bytes`. Damage ends the log early, it is
    /// no error.
    #[must_use]
    pub fn read(bytes: Vec<u8>, ninja: NinjaVersion) -> Self {
        let mut log = Self { bytes, ..Self::default() };
        let Some(after_header) = log.bytes.strip_prefix(HEADER) else { return log };
        let Some(version) = after_header.first_chunk().map(|word| u32::from_le_bytes(*word)) else {
            return log;
        };
        log.version = Some(version);
        if !matches!(version, 3 | 4) {
            return log;
        }
        log.scan(ninja >= NinjaVersion::V1_13);
        log
    }

    fn scan(&mut self, checked: bool) {
        let (mut paths, mut records) = (Vec::new(), Vec::new());
        // Records of outputs whose path comes later. Nothing writes such, but ninja reads them.
        let mut early = RapidHashMap::default();
        let mut seen = RapidHashSet::default();
        let mut reader = Reader::new(&self.bytes, HEADER.len() + 4, 0, checked);
        while let Some(record) = reader.next(self.mtime_words()) {
            match record {
                Parsed::Path(path) => {
                    if !seen.insert(&self.bytes[path.clone()]) && checked {
                        break;
                    }
                    records.push(early.remove(&paths.len()));
                    paths.push(path);
                }
                Parsed::Deps { output, words } if output < paths.len() => records[output] = Some(words),
                Parsed::Deps { output, words } => {
                    self.is_strange = true;
                    early.insert(output, words);
                }
            }
            reader.accept();
        }
        self.end = reader.at;
        self.damaged_at = (reader.at < self.bytes.len()).then_some(reader.at);
        (self.paths, self.records) = (paths, records);
    }

    /// The version in the header; `None` without a proper header.
    #[must_use]
    pub fn version(&self) -> Option<u32> {
        self.version
    }

    /// Offset of the first record that breaks a rule, in bytes.
    #[must_use]
    pub fn damaged_at(&self) -> Option<usize> {
        self.damaged_at
    }

    /// All paths, by number.
    pub fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.paths.iter().map(|range| &self.bytes[range.clone()])
    }

    /// The last record of the output whose path has this number: its mtime in nanoseconds since 1970, and the
    /// numbers of its inputs' paths, which may be out of range in a damaged log read as before 1.13.
    #[must_use]
    pub fn record(&self, output: usize) -> Option<(i64, impl Iterator<Item = usize> + Clone + use<'_>)> {
        deps(&self.bytes[self.records.get(output)?.clone()?], self.mtime_words())
    }

    /// The beginning of the log up to which it was understood: what follows may be appended to it.
    pub(crate) fn understood(&self) -> &[u8] {
        &self.bytes[..self.end]
    }

    /// Whether what is appended later can be read without the rest.
    pub(crate) fn can_be_resumed(&self) -> bool {
        self.version == Some(4) && !self.is_strange
    }

    fn mtime_words(&self) -> usize {
        if self.version == Some(3) { 1 } else { 2 }
    }
}

/// What was appended to a log of version 4.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Appended {
    /// New paths. Their numbers follow those that were there.
    pub paths: Vec<Vec<u8>>,
    /// The number of an output's path, the mtime in nanoseconds since 1970, the numbers of the inputs' paths. In the
    /// order of the log: the last one about an output counts.
    pub records: Vec<(usize, i64, Vec<usize>)>,
    /// How many bytes of it are good records.
    pub length: usize,
    /// Offset of the first record that breaks a rule, in bytes.
    pub damaged_at: Option<usize>,
}

impl Appended {
    /// Reads what was appended to a log with `n_paths` paths, the known ones. `None` where it is so strange that only
    /// the whole log tells what it means.
    #[must_use]
    pub fn read(
        bytes: &[u8],
        ninja: NinjaVersion,
        n_paths: usize,
        is_known: impl Fn(&[u8]) -> bool,
    ) -> Option<Self> {
        let mut appended = Self::default();
        let mut seen = RapidHashSet::default();
        let checked = ninja >= NinjaVersion::V1_13;
        let mut reader = Reader::new(bytes, 0, n_paths, checked);
        while let Some(record) = reader.next(2) {
            match record {
                Parsed::Path(path) => {
                    let path = &bytes[path];
                    if is_known(path) || !seen.insert(path) {
                        return None;
                    }
                    appended.paths.push(path.to_vec());
                }
                Parsed::Deps { output, words } => {
                    if output >= reader.n_paths {
                        return None;
                    }
                    let (mtime, inputs) = deps(&bytes[words], 2)?;
                    appended.records.push((output, mtime, inputs.collect()));
                }
            }
            reader.accept();
        }
        appended.length = reader.at;
        appended.damaged_at = (reader.at < bytes.len()).then_some(reader.at);
        Some(appended)
    }
}

/// The mtime and the inputs in the words of a deps record.
fn deps(words: &[u8], mtime_words: usize) -> Option<(i64, impl Iterator<Item = usize> + Clone + use<'_>)> {
    let words = words.as_chunks::<4>().0;
    let mtime = match (mtime_words, words.get(1), words.get(2)) {
        (1, Some(seconds), _) => i64::from(i32::from_le_bytes(*seconds)).saturating_mul(1_000_000_000),
        (_, Some(low), Some(high)) => {
            i64::from(u32::from_le_bytes(*low)) | (i64::from(i32::from_le_bytes(*high)) << 32)
        }
        _ => return None,
    };
    let mtime = if mtime_words == 1 { mtime } else { log_time::mtime(mtime) };
    let inputs = words.get(1 + mtime_words..).unwrap_or_default();
    Some((mtime, inputs.iter().map(|word| u32::from_le_bytes(*word) as usize)))
}

/// Goes from record to record.
struct Reader<'a> {
    bytes: &'a [u8],
    /// Where the next record begins, in bytes.
    at: usize,
    n_paths: usize,
    checked: bool,
    /// Where the record that came last ends, and whether it is a path.
    next_at: usize,
    is_path: bool,
}

enum Parsed {
    Path(Range<usize>),
    Deps { output: usize, words: Range<usize> },
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], at: usize, n_paths: usize, checked: bool) -> Self {
        Self { bytes, at, n_paths, checked, next_at: at, is_path: false }
    }

    /// The next record, which [`Reader::accept`] steps over; `None` at the end and where a rule is broken.
    fn next(&mut self, mtime_words: usize) -> Option<Parsed> {
        let (bytes, start) = (self.bytes, self.at + 4);
        let head = word(bytes, self.at)?;
        let size = (head & !IS_DEPS) as usize;
        let end = start + size;
        if size == 0 || size > LARGEST_RECORD || end > bytes.len() {
            return None;
        }
        self.next_at = end;
        self.is_path = head & IS_DEPS == 0;
        if self.is_path {
            let mut path = start..end.checked_sub(4).filter(|&end| end > start)?;
            if word(bytes, path.end)? != !upcheck::narrow(self.n_paths) {
                return None;
            }
            for _ in 0..3 {
                if path.len() > 1 && bytes[path.end - 1] == 0 {
                    path.end -= 1;
                }
            }
            return Some(Parsed::Path(path));
        }
        let words = bytes[start..end].as_chunks::<4>().0;
        if (self.checked && !size.is_multiple_of(4)) || words.len() < 1 + mtime_words {
            return None;
        }
        let inputs = &words[1 + mtime_words..];
        if self.checked && inputs.iter().any(|input| u32::from_le_bytes(*input) as usize >= self.n_paths) {
            return None;
        }
        let output = u32::from_le_bytes(words[0]) as usize;
        // Ninja keeps numbers as signed ones, and dies of a negative one.
        (output <= i32::MAX as usize).then_some(Parsed::Deps { output, words: start..end })
    }

    /// Goes on behind the record that came last.
    fn accept(&mut self) {
        self.at = self.next_at;
        self.n_paths += usize::from(self.is_path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_time::mtime;

    fn path_record(path: &[u8], number: u32) -> Vec<u8> {
        let padded = path.len().next_multiple_of(4);
        let mut record = upcheck::narrow(padded + 4).to_le_bytes().to_vec();
        record.extend_from_slice(path);
        record.resize(4 + padded, 0);
        record.extend_from_slice(&(!number).to_le_bytes());
        record
    }

    fn deps_record(words: &[u32]) -> Vec<u8> {
        let head = IS_DEPS | upcheck::narrow(words.len() * 4);
        [head].iter().chain(words).flat_map(|word| word.to_le_bytes()).collect()
    }

    fn log(version: u32, records: &[Vec<u8>]) -> Vec<u8> {
        [HEADER, &version.to_le_bytes(), &records.concat()].concat()
    }

    fn inputs(log: &DepsLog, output: usize) -> Option<(i64, Vec<usize>)> {
        log.record(output).map(|(mtime, inputs)| (mtime, inputs.collect()))
    }

    #[test]
    fn the_last_record_of_an_output_counts() {
        let bytes = log(
            4,
            &[
                path_record(b"out", 0),
                path_record(b"in.h", 1),
                deps_record(&[0, 1, 0, 1]),
                path_record(b"b", 2),
                deps_record(&[0, 5, 1, 1, 2]),
            ],
        );
        let log = DepsLog::read(bytes, NinjaVersion::V1_13);
        assert_eq!(log.damaged_at(), None);
        assert_eq!(log.paths().collect::<Vec<_>>(), [&b"out"[..], b"in.h", b"b"]);
        assert_eq!(inputs(&log, 0), Some((mtime((1 << 32) + 5), vec![1, 2])));
        assert_eq!(inputs(&log, 1), None);
        assert_eq!(inputs(&log, 9), None);
    }

    #[test]
    fn what_was_appended_is_read_without_the_rest() {
        let whole = log(4, &[path_record(b"out", 0), path_record(b"in.h", 1), deps_record(&[0, 1, 0, 1])]);
        let before = DepsLog::read(whole.clone(), NinjaVersion::V1_13);
        assert_eq!((before.understood(), before.can_be_resumed()), (&whole[..], true));
        let more = [path_record(b"new.h", 2), deps_record(&[0, 9, 0, 1, 2]), vec![1, 2]].concat();
        let known = |path: &[u8]| path == b"out" || path == b"in.h";
        let appended = Appended::read(&more, NinjaVersion::V1_13, 2, known).expect("nothing strange");
        assert_eq!(appended.paths, [b"new.h"]);
        assert_eq!(appended.records, [(0, mtime(9), vec![1, 2])]);
        assert_eq!((appended.length, appended.damaged_at), (more.len() - 2, Some(more.len() - 2)));
        let again = path_record(b"in.h", 2);
        assert_eq!(Appended::read(&again, NinjaVersion::V1_13, 2, known), None);
    }

    #[test]
    fn version_three_counts_seconds() {
        let bytes = log(3, &[path_record(b"o", 0), path_record(b"i", 1), deps_record(&[0, 7, 1])]);
        assert_eq!(inputs(&DepsLog::read(bytes, NinjaVersion::V1_13), 0), Some((7_000_000_000, vec![1])));
    }

    #[test]
    fn nothing_after_the_first_bad_record_is_believed() {
        let good = [path_record(b"o", 0), deps_record(&[0, 1, 0])].concat();
        let after = deps_record(&[0, 2, 0]);
        for bad in [
            path_record(b"wrong number", 7),
            path_record(b"o", 1),
            deps_record(&[0, 1, 0, 1]),
            deps_record(&[0, 1]),
            deps_record(&[0xffff_ffff, 1, 0, 0]),
            vec![0, 0, 0, 0],
            vec![0xff, 0xff, 0xff, 0x7f],
            vec![6, 0, 0, 0x80, 0, 0, 0, 0, 0, 0],
            vec![4, 0, 0, 0, 1, 2, 3, 4],
        ] {
            let bytes = log(4, &[good.clone(), bad.clone(), after.clone()]);
            let log = DepsLog::read(bytes, NinjaVersion::V1_13);
            assert_eq!(log.damaged_at(), Some(16 + good.len()), "{bad:?}");
            assert_eq!(inputs(&log, 0), Some((mtime(1), vec![])), "{bad:?}");
        }
    }

    #[test]
    fn before_1_13_less_is_checked() {
        let bytes = log(
            4,
            &[
                path_record(b"o", 0),
                deps_record(&[0, 1, 0, 99]),
                path_record(b"o", 1),
                deps_record(&[1, 2, 0, 0]),
            ],
        );
        for ninja in [NinjaVersion::V1_11, NinjaVersion::V1_12] {
            let log = DepsLog::read(bytes.clone(), ninja);
            assert_eq!(log.damaged_at(), None);
            assert_eq!(inputs(&log, 0), Some((mtime(1), vec![99])));
            assert_eq!(inputs(&log, 1), Some((mtime(2), vec![0])));
        }
        assert!(DepsLog::read(bytes, NinjaVersion::V1_13).damaged_at().is_some());
    }

    #[test]
    fn a_record_may_come_before_its_outputs_path() {
        let bytes = log(4, &[deps_record(&[1, 5, 0]), path_record(b"a", 0), path_record(b"b", 1)]);
        let log = DepsLog::read(bytes, NinjaVersion::V1_13);
        assert_eq!(log.damaged_at(), None);
        assert_eq!(inputs(&log, 1), Some((mtime(5), vec![])));
    }

    #[test]
    fn a_log_cut_off_anywhere_is_read_up_to_there() {
        let records = [path_record(b"out", 0), path_record(b"in", 1), deps_record(&[0, 1, 0, 1])];
        let bytes = log(4, &records);
        for length in 0..bytes.len() {
            let log = DepsLog::read(bytes[..length].to_vec(), NinjaVersion::V1_13);
            assert_eq!(inputs(&log, 0), None, "{length}");
        }
    }
}
