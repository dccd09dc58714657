//! The file of records: what lies in it, how one entry is checked, and how one is made.
//!
//! # Format
//!
//! A header, then entries, one right behind the other. All numbers in the byte order of the machine that wrote them.
//! The header and every entry begin at a multiple of 8 bytes, and so does every row, so that rows are used where
//! they lie once the file is in memory.
//!
//! | offset | size | the header |
//! |---|---|---|
//! | 0 | 8 | `uprecord` |
//! | 8 | 4 | 0x01020304, tells the byte order |
//! | 12 | 4 | version of the format, [`VERSION`]; raised with every change of anything below |
//! | 16 | 8 | checksum of the 16 bytes above |
//! | 24 | 8 | id: a random number, another one for each file that is put in the place of `records` |
//! | 32 | 8 | checksum of the 32 bytes above |
//!
//! The first 24 bytes are the same in all versions. So a file of another version or byte order can be told from a
//! damaged one: it is refused, and stays as it is, while a damaged one is replaced.
//!
//! | offset | size | an entry |
//! |---|---|---|
//! | 0 | 8 | checksum of the rest of the entry, which is what follows up to its length |
//! | 8 | 8 | checksum of the entry before it; of the header, offset 32, for the first one |
//! | 16 | 8 | where it begins in the file |
//! | 24 | 8 | its length with these 40 bytes, a multiple of 8 |
//! | 32 | 4 | kind: 1 paths, 2 a record, 3 a removal |
//! | 36 | 4 | 0 |
//! | 40 | | what its kind has; then as many NUL as are missing to a multiple of 8 |
//!
//! Checksums are rapidhash v3, with its default seed and secrets, as `rapidhash.h` of that version defines it and the
//! module `v3` of the crate `rapidhash` has it: its values do not change with the crate's version.
//!
//! Each entry holds the checksum of the one before it, so it is only believed behind the very entries that it was
//! written behind: neither copied or moved within the file, nor in another file, nor behind a tail that was cut off
//! and written again.
//!
//! | offset | size | paths |
//! |---|---|---|
//! | 40 | 4 | the number of the first of these paths: how many the entries before it hold |
//! | 44 | 4 | how many there are |
//! | 48 | 4 each | the length of each |
//! | | | the paths, one right behind the other; none is empty or holds a NUL |
//!
//! | offset | size | a record: the last one of a name counts |
//! |---|---|---|
//! | 40 | 8 | when the build began, nanoseconds since 1970, signed, as all times |
//! | 48 | 8 | when it ended; 0 where it is not known to have ended |
//! | 56 | 8 | when its files were looked at |
//! | 64 | 8 | the hash of the command |
//! | 72 | 4 | length of the name; not 0, and the name holds no NUL |
//! | 76 | 4 | length of the command |
//! | 80 | 4 | number of values |
//! | 84 | 4 | number of inputs |
//! | 88 | 4 | number of outputs |
//! | 92 | 4 | 1 if it was committed, else 0 |
//! | 96 | 88 each | the rows: first inputs with role 0, then those with role 1, then outputs, with role 2 |
//! | | 4 + 4 each | per value the length of its name and of itself |
//! | | | the name; the command; per value its name and itself |
//!
//! | offset | size | a row |
//! |---|---|---|
//! | 0 | 4 | number of a path that an entry before it holds |
//! | 4 | 4 | role: 0 input, 1 discovered input, 2 output |
//! | 8 | 8 each | mtime, ctime, size, inode, device |
//! | 48 | 32 | BLAKE3 digest of the content |
//! | 80 | 4 | bits: 1 it was there, 2 it was missing, 4 the digest is known, 8 the stamp is too young to prove anything |
//! | 84 | 4 | 0 |
//!
//! | offset | size | a removal: the name has no record any more |
//! |---|---|---|
//! | 40 | 4 | length of the name |
//! | 44 | 4 | 0 |
//! | 48 | | the name |

use crate::Mtime;
use crate::state::FileState;
use bytemuck::{Pod, Zeroable};
use std::io;
use std::ops::Range;

/// The version of the format.
pub const VERSION: u32 = 1;

/// The role of an explicit or implicit input, or of one that a pattern found.
pub const ROLE_INPUT: u32 = 0;
/// The role of an input that the last run of the command said it had read.
pub const ROLE_DISCOVERED: u32 = 1;
/// The role of an output.
pub const ROLE_OUTPUT: u32 = 2;

/// One file of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Row {
    /// The number of its path in the store that the row was read from.
    pub path: u32,
    /// [`ROLE_INPUT`], [`ROLE_DISCOVERED`] or [`ROLE_OUTPUT`].
    pub role: u32,
    /// How it was.
    pub state: FileState,
}

/// What a record says of a target. It lies in the store's memory.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    /// The target.
    pub name: &'a [u8],
    /// When its build began, in nanoseconds since 1970.
    pub began: Mtime,
    /// When it ended; `None` if it was begun and not committed.
    pub ended: Option<Mtime>,
    /// When its files were looked at.
    pub moment: Mtime,
    /// The hash of its command.
    pub command_hash: u64,
    /// Its command, as far as somebody wanted to keep it; may be empty.
    pub command: &'a [u8],
    /// Its inputs: those with [`ROLE_INPUT`], then those with [`ROLE_DISCOVERED`], each in the order in which they
    /// were recorded.
    pub inputs: &'a [Row],
    /// Its outputs, in the order in which they were recorded.
    pub outputs: &'a [Row],
    lengths: &'a [[u32; 2]],
    values: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The names and values that were recorded, in that order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let mut rest = self.values;
        // Whoever made this entry saw to it that all of them fit.
        let mut next = move |length: u32| {
            let (first, others) = rest.split_at_checked(length as usize).unwrap_or_default();
            rest = others;
            first
        };
        self.lengths.iter().map(move |&[name, value]| (next(name), next(value)))
    }

    /// The inputs that the description names, without those that were discovered.
    #[must_use]
    pub fn declared(&self) -> &'a [Row] {
        &self.inputs[..self.n_declared()]
    }

    /// The inputs that the command discovered.
    #[must_use]
    pub fn discovered(&self) -> &'a [Row] {
        &self.inputs[self.n_declared()..]
    }

    fn n_declared(&self) -> usize {
        self.inputs.partition_point(|row| row.role == ROLE_INPUT)
    }
}

/// An entry that is to be appended.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewEntry<'a> {
    /// The target; not empty and without a NUL.
    pub name: &'a [u8],
    /// When its build began, in nanoseconds since 1970.
    pub began: Mtime,
    /// When it ended; `None` if it has only begun.
    pub ended: Option<Mtime>,
    /// When its files were looked at.
    pub moment: Mtime,
    /// The hash of its command.
    pub command_hash: u64,
    /// Its command; may be empty.
    pub command: &'a [u8],
    /// Names and values that are to be kept with it. Any bytes.
    pub values: &'a [(&'a [u8], &'a [u8])],
    /// Its files: path, role and state, the roles in any order. A path is not empty and has no NUL.
    pub files: &'a [(&'a [u8], u32, FileState)],
}

#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Header {
    magic: [u8; 8],
    byte_order: u32,
    version: u32,
    start_checksum: u64,
    pub(super) id: u64,
    pub(super) checksum: u64,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct EntryHead {
    checksum: u64,
    previous: u64,
    position: u64,
    length: u64,
    kind: u32,
    zero: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RecordHead {
    began: Mtime,
    ended: Mtime,
    moment: Mtime,
    command_hash: u64,
    n_name: u32,
    n_command: u32,
    n_values: u32,
    n_inputs: u32,
    n_outputs: u32,
    committed: u32,
}

pub(super) const HEADER_SIZE: usize = size_of::<Header>();
const WORD: usize = size_of::<u64>();
const MAGIC: [u8; 8] = *b"uprecord";
const BYTE_ORDER: u32 = 0x0102_0304;
const PATHS: u32 = 1;
const RECORD: u32 = 2;
const REMOVAL: u32 = 3;

impl Header {
    pub(super) fn new(id: u64) -> Self {
        let mut header = Self {
            magic: MAGIC,
            byte_order: BYTE_ORDER,
            version: VERSION,
            start_checksum: 0,
            id,
            checksum: 0,
        };
        header.start_checksum = checksum(&bytemuck::bytes_of(&header)[..16]);
        header.checksum = checksum(&bytemuck::bytes_of(&header)[..32]);
        header
    }

    /// The header of a file; `None` if it is damaged.
    ///
    /// # Errors
    /// When it is whole, but not of this version and byte order. Says which it is of.
    pub(super) fn read(file: &[u8]) -> Result<Option<Self>, String> {
        let Some(&header) =
            file.get(..HEADER_SIZE).and_then(|bytes| bytemuck::try_from_bytes::<Self>(bytes).ok())
        else {
            return Ok(None);
        };
        let start_checksum = checksum(&file[..16]);
        if header.magic != MAGIC {
            return Ok(None);
        }
        if header.byte_order == BYTE_ORDER.swap_bytes()
            && header.start_checksum == start_checksum.swap_bytes()
        {
            return Err("it was written by a machine of another byte order".to_owned());
        }
        if header.byte_order != BYTE_ORDER || header.start_checksum != start_checksum {
            return Ok(None);
        }
        if header.version != VERSION {
            let version = header.version;
            return Err(format!("its format has version {version}, and this upcheck knows only {VERSION}"));
        }
        Ok((header.checksum == checksum(&file[..32])).then_some(header))
    }
}

/// An entry that was found whole, right and in its place. Positions are those of bytes in the file.
pub(super) struct Checked {
    /// Where it ends.
    pub(super) end: usize,
    pub(super) what: What,
}

pub(super) enum What {
    /// Where the next paths lie: the place of the first, and the length of each.
    Paths { start: usize, lengths: Range<usize> },
    /// A record, and where its target's name lies.
    Record { name: Range<usize> },
    /// A removal, and where the name lies.
    Removal { name: Range<usize> },
}

/// Why there is no entry where one was looked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoEntry {
    /// The file ends there.
    End,
    /// The file ends before that entry does.
    Unfinished,
    /// Something else than an entry that was written there.
    Broken,
}

/// Checks the entry that begins at `at`, behind one with the checksum `previous`, when there are `n_paths` paths.
pub(super) fn check(file: &[u8], at: usize, previous: u64, n_paths: usize) -> Result<Checked, NoEntry> {
    let rest = file.get(at..).unwrap_or_default();
    if rest.is_empty() {
        return Err(NoEntry::End);
    }
    let Some(head) = rest.get(..size_of::<EntryHead>()) else { return Err(NoEntry::Unfinished) };
    let head: &EntryHead = bytemuck::try_from_bytes(head).map_err(|_| NoEntry::Broken)?;
    let length = usize::try_from(head.length).map_err(|_| NoEntry::Broken)?;
    let is_in_place = head.previous == previous && head.position == at as u64;
    if !is_in_place || length < size_of::<EntryHead>() || !length.is_multiple_of(WORD) {
        return Err(NoEntry::Broken);
    }
    let entry = rest.get(..length).ok_or(NoEntry::Unfinished)?;
    if head.checksum != checksum(&entry[WORD..]) {
        return Err(NoEntry::Broken);
    }
    let what = what(head.kind, entry, at, n_paths).ok_or(NoEntry::Broken)?;
    Ok(Checked { end: at + length, what })
}

/// The record at a place where [`check`] found one.
pub(super) fn record(file: &[u8], at: usize) -> Option<Entry<'_>> {
    let mut rest = Rest(file.get(at..)?);
    let head = rest.take::<EntryHead>(1)?.first()?;
    if head.kind != RECORD {
        return None;
    }
    rest = Rest(file.get(at..at.checked_add(usize::try_from(head.length).ok()?)?)?);
    rest.take::<EntryHead>(1)?;
    let head = rest.take::<RecordHead>(1)?.first()?;
    let inputs = rest.take(head.n_inputs as usize)?;
    let outputs = rest.take(head.n_outputs as usize)?;
    let lengths = rest.take(head.n_values as usize)?;
    Some(Entry {
        began: head.began,
        ended: (head.committed != 0).then_some(head.ended),
        moment: head.moment,
        command_hash: head.command_hash,
        inputs,
        outputs,
        lengths,
        name: rest.take(head.n_name as usize)?,
        command: rest.take(head.n_command as usize)?,
        values: rest.0,
    })
}

/// The checksum that the entry at `at` carries.
pub(super) fn checksum_at(words: &[u64], at: usize) -> u64 {
    words.get(at / WORD).copied().unwrap_or_default()
}

/// The length that the entry at `at` says it has; right where [`check`] found one.
pub(super) fn length_at(words: &[u64], at: usize) -> usize {
    words.get(at / WORD + 3).map_or(0, |&length| usize::try_from(length).unwrap_or(0))
}

/// Appends entries to the words of a file.
pub(super) struct Writer<'a> {
    words: &'a mut Vec<u64>,
    previous: u64,
}

impl<'a> Writer<'a> {
    /// Behind what there is, the last of which has the checksum `previous`.
    pub(super) fn new(words: &'a mut Vec<u64>, previous: u64) -> Self {
        Self { words, previous }
    }

    /// # Errors
    /// When a path or a number is too long.
    pub(super) fn paths(&mut self, first: usize, paths: &[&[u8]]) -> io::Result<()> {
        let lengths =
            paths.iter().map(|path| count(path.len(), "bytes in a path")).collect::<io::Result<Vec<_>>>()?;
        // The number after the last one has to be a number, too.
        count(first.saturating_add(paths.len()), "paths")?;
        let head = [count(first, "paths")?, count(paths.len(), "paths")?];
        self.entry(PATHS, |words| {
            let head = [bytemuck::cast_slice(&head), bytemuck::cast_slice(&lengths)];
            push(words, head.into_iter().chain(paths.iter().copied()));
        });
        Ok(())
    }

    /// `numbers`: those of the entry's files. Roles are among the three, names and paths are as they have to be.
    ///
    /// # Errors
    /// When there is too much of something.
    pub(super) fn record(&mut self, new: &NewEntry<'_>, numbers: &[u32]) -> io::Result<()> {
        let n_of = |role| new.files.iter().filter(|(_, other, _)| *other == role).count();
        let n_outputs = n_of(ROLE_OUTPUT);
        let head = RecordHead {
            began: new.began,
            ended: new.ended.unwrap_or(0),
            moment: new.moment,
            command_hash: new.command_hash,
            n_name: count(new.name.len(), "bytes in the name of a target")?,
            n_command: count(new.command.len(), "bytes in a command")?,
            n_values: count(new.values.len(), "values")?,
            n_inputs: count(new.files.len() - n_outputs, "inputs")?,
            n_outputs: count(n_outputs, "outputs")?,
            committed: u32::from(new.ended.is_some()),
        };
        let mut lengths = Vec::with_capacity(new.values.len());
        for (name, value) in new.values {
            lengths.push([count(name.len(), "bytes in a name")?, count(value.len(), "bytes in a value")?]);
        }
        self.entry(RECORD, |words| {
            push(words, [bytemuck::bytes_of(&head)].into_iter());
            words.reserve(new.files.len() * (size_of::<Row>() / WORD));
            for wanted in [ROLE_INPUT, ROLE_DISCOVERED, ROLE_OUTPUT] {
                for (&(_, role, state), &path) in new.files.iter().zip(numbers) {
                    if role == wanted {
                        words.extend_from_slice(bytemuck::cast_slice(&[Row { path, role, state }]));
                    }
                }
            }
            let texts = [bytemuck::cast_slice(&lengths), new.name, new.command].into_iter();
            push(words, texts.chain(new.values.iter().flat_map(|(name, value)| [*name, *value])));
        });
        Ok(())
    }

    /// # Errors
    /// When the name is too long.
    pub(super) fn removal(&mut self, name: &[u8]) -> io::Result<()> {
        let head = [count(name.len(), "bytes in the name of a target")?, 0];
        self.entry(REMOVAL, |words| push(words, [bytemuck::cast_slice(&head), name].into_iter()));
        Ok(())
    }

    /// Appends a record as it lies in another file, given its words, with other path numbers.
    pub(super) fn copy(&mut self, record: &[u64], number: impl Fn(u32) -> u32) {
        let head_words = size_of::<EntryHead>() / WORD;
        let rows_at = head_words + size_of::<RecordHead>() / WORD;
        self.entry(RECORD, |words| {
            let start = words.len();
            words.extend_from_slice(record.get(head_words..).unwrap_or_default());
            let Some(copied) = words.get_mut(start..) else { return };
            let Some((head, rest)) = copied.split_at_mut_checked(rows_at - head_words) else { return };
            let Ok(head) = bytemuck::try_from_bytes::<RecordHead>(bytemuck::cast_slice(head)) else { return };
            let n_rows = head.n_inputs as usize + head.n_outputs as usize;
            if let Some(rows) = rest.get_mut(..n_rows * (size_of::<Row>() / WORD)) {
                for row in bytemuck::cast_slice_mut::<u64, Row>(rows) {
                    row.path = number(row.path);
                }
            }
        });
    }

    fn entry(&mut self, kind: u32, fill: impl FnOnce(&mut Vec<u64>)) {
        let start = self.words.len();
        let mut head = EntryHead {
            checksum: 0,
            previous: self.previous,
            position: (start * WORD) as u64,
            length: 0,
            kind,
            zero: 0,
        };
        push(self.words, [bytemuck::bytes_of(&head)].into_iter());
        fill(self.words);
        let entry = &mut self.words[start..];
        head.length = size_of_val(entry) as u64;
        entry[..size_of::<EntryHead>() / WORD].copy_from_slice(bytemuck::cast_slice(&[head]));
        entry[0] = checksum(bytemuck::cast_slice(&entry[1..]));
        self.previous = entry[0];
    }
}

pub(super) fn checksum(bytes: &[u8]) -> u64 {
    rapidhash::v3::rapidhash_v3(bytes)
}

/// What an entry of that kind holds; `None` if it does not fit together.
fn what(kind: u32, entry: &[u8], at: usize, n_paths: usize) -> Option<What> {
    let mut rest = Rest(entry);
    rest.take::<EntryHead>(1)?;
    let place = |rest: &Rest<'_>| at + (entry.len() - rest.0.len());
    match kind {
        PATHS => {
            let &[first, n] = rest.take::<[u32; 2]>(1)?.first()?;
            let lengths_at = place(&rest);
            let lengths = rest.take::<u32>(n as usize)?;
            let start = place(&rest);
            let length = lengths.iter().try_fold(0_usize, |sum, &length| sum.checked_add(length as usize))?;
            let paths = rest.0.get(..length)?;
            let are_right = first as usize == n_paths && first.checked_add(n).is_some();
            let are_paths = lengths.iter().all(|&length| length != 0) && !paths.contains(&0);
            (are_right && are_paths).then_some(What::Paths { start, lengths: lengths_at..start })
        }
        RECORD => {
            let found = record(entry, 0)?;
            let has_path = |row: &Row| (row.path as usize) < n_paths;
            let roles = |row: &Row| row.role;
            let inputs_are_right =
                found.inputs.iter().all(|row| has_path(row) && row.role <= ROLE_DISCOVERED)
                    && found.inputs.is_sorted_by_key(roles);
            let outputs_are_right = found.outputs.iter().all(|row| has_path(row) && row.role == ROLE_OUTPUT);
            let length =
                found.lengths.iter().flatten().try_fold(0_usize, |sum, &n| sum.checked_add(n as usize))?;
            if !inputs_are_right || !outputs_are_right || length > found.values.len() || !is_name(found.name)
            {
                return None;
            }
            let rows = size_of_val(found.inputs) + size_of_val(found.outputs);
            let heads = size_of::<EntryHead>() + size_of::<RecordHead>();
            let start = at + heads + rows + size_of_val(found.lengths);
            Some(What::Record { name: start..start + found.name.len() })
        }
        REMOVAL => {
            let &[length, _] = rest.take::<[u32; 2]>(1)?.first()?;
            let start = place(&rest);
            let name = rest.take::<u8>(length as usize)?;
            is_name(name).then_some(What::Removal { name: start..start + name.len() })
        }
        _ => None,
    }
}

/// Whether it may be the name of a target, or a path.
pub(super) fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && !name.contains(&0)
}

/// What was not yet read of an entry.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take<T: Pod>(&mut self, n: usize) -> Option<&'a [T]> {
        let (taken, rest) = self.0.split_at_checked(n.checked_mul(size_of::<T>())?)?;
        self.0 = rest;
        bytemuck::try_cast_slice(taken).ok()
    }
}

/// Appends bytes, and NULs up to the end of a word.
fn push<'a>(words: &mut Vec<u64>, parts: impl Iterator<Item = &'a [u8]> + Clone) {
    let start = words.len();
    let length: usize = parts.clone().map(<[u8]>::len).sum();
    words.resize(start + length.div_ceil(WORD), 0);
    let mut place: &mut [u8] = bytemuck::cast_slice_mut(&mut words[start..]);
    for part in parts {
        let (here, rest) = place.split_at_mut(part.len());
        here.copy_from_slice(part);
        place = rest;
    }
}

/// A count as the file has it.
fn count(n: usize, of_what: &str) -> io::Result<u32> {
    u32::try_from(n).map_err(|_| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("a record cannot hold {n} {of_what}: more than 32 bits"),
        )
    })
}
