//! What a file of records says, in memory: the file as far as it is believed, and where the last entry of each target
//! lies in it.
//!
//! Rows and paths stay where they were read. What is kept beside the file's own bytes is two numbers per path, and
//! three per target.

use super::format::{self, Entry, HEADER_SIZE, Header, NewEntry, NoEntry, What, Writer};
use super::{Damage, DamageKind};
use hashbrown::HashTable;
use std::io;
use std::ops::Range;

#[derive(Default)]
pub(super) struct Contents {
    /// The bytes of the file that are believed: none, or the header and whole entries.
    words: Vec<u64>,
    header: Option<Header>,
    /// Where the last entry begins; 0 while there is none.
    last: usize,
    /// For each path where it begins, and its length.
    paths: Vec<(usize, u32)>,
    /// A slot for each target that was ever named, in that order.
    slots: Vec<Slot>,
    /// Numbers of slots, by name.
    names: HashTable<u32>,
    /// Numbers of paths, by path: only of the first so many, since only who appends needs it.
    numbers: HashTable<u32>,
    /// How many bytes there are in records that stand, and in others that do not, or that took them away.
    standing: usize,
    dead: usize,
}

/// The last entry of a target.
struct Slot {
    /// Where it begins.
    at: usize,
    is_record: bool,
    name: Range<usize>,
}

impl Contents {
    /// The contents of a new file.
    pub(super) fn new(id: u64) -> Self {
        let header = Header::new(id);
        let words = bytemuck::cast_slice(&[header]).to_vec();
        Self { words, header: Some(header), ..Self::default() }
    }

    pub(super) fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }

    /// How many bytes of the file are believed.
    pub(super) fn end(&self) -> usize {
        size_of_val(&self.words[..])
    }

    /// Where the checksum of the last entry stands, and what it is: all before it hangs on it.
    pub(super) fn mark(&self) -> (usize, u64) {
        let at = if self.last == 0 { HEADER_SIZE - size_of::<u64>() } else { self.last };
        (at, format::checksum_at(&self.words, at))
    }

    pub(super) fn n_paths(&self) -> usize {
        self.paths.len()
    }

    pub(super) fn path(&self, number: u32) -> &[u8] {
        let (start, length) = self.paths.get(number as usize).copied().unwrap_or_default();
        self.bytes().get(start..start + length as usize).unwrap_or_default()
    }

    pub(super) fn entry(&self, name: &[u8]) -> Option<Entry<'_>> {
        let hash = format::checksum(name);
        let &number = self.names.find(hash, |&number| self.name(number) == name)?;
        self.record(&self.slots[number as usize])
    }

    /// The last entries of all targets.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.slots.iter().filter_map(|slot| self.record(slot))
    }

    /// How many bytes the records that stand take, and how many those that do not.
    pub(super) fn weight(&self) -> (usize, usize) {
        (self.standing, self.dead)
    }

    /// Takes in what somebody else put behind what is known: `add` appends words of the file, which has `n_more`
    /// bytes there. What does not check is not kept.
    ///
    /// # Errors
    /// When the file is not to be read by this version, or `add` fails; then nothing is known any more.
    pub(super) fn extend(
        &mut self,
        n_more: u64,
        add: impl FnOnce(&mut Vec<u64>) -> io::Result<()>,
    ) -> io::Result<Option<Damage>> {
        if let Err(error) = add(&mut self.words) {
            *self = Self::default();
            return Err(error);
        }
        let start = self.end_of_known();
        let length = start as u64 + n_more;
        let damage =
            |what, at: usize| Damage { what, at: at as u64, bytes: length.saturating_sub(at as u64) };
        if self.header.is_none() {
            match Header::read(self.bytes()) {
                Ok(Some(header)) => self.header = Some(header),
                Ok(None) => {
                    self.words.clear();
                    return Ok(Some(damage(DamageKind::Header, 0)));
                }
                Err(why) => {
                    *self = Self::default();
                    return Err(io::Error::new(io::ErrorKind::Unsupported, why));
                }
            }
        }
        let (end, why) = self.take_in(start.max(HEADER_SIZE));
        let what = match why {
            NoEntry::End if length == end as u64 => return Ok(None),
            NoEntry::End | NoEntry::Unfinished => DamageKind::Unfinished,
            NoEntry::Broken => DamageKind::Broken,
        };
        Ok(Some(damage(what, end)))
    }

    /// Appends entries in memory, from the word that is returned on. They count once [`Contents::accept`] was called;
    /// [`Contents::retract`] takes them back.
    ///
    /// # Errors
    /// When there is too much of something; nothing is appended then.
    pub(super) fn add(&mut self, entries: &[NewEntry<'_>]) -> io::Result<usize> {
        let end = self.words.len();
        let (_, previous) = self.mark();
        let (numbers, new) = self.number_files(entries)?;
        let first = self.paths.len();
        let mut writer = Writer::new(&mut self.words, previous);
        let mut write = || {
            if !new.is_empty() {
                writer.paths(first, &new)?;
            }
            let mut numbers = &numbers[..];
            for entry in entries {
                let (its, others) = numbers.split_at(entry.files.len());
                writer.record(entry, its)?;
                numbers = others;
            }
            Ok(())
        };
        let written = write();
        if written.is_err() {
            self.words.truncate(end);
        }
        written.map(|()| end)
    }

    /// As [`Contents::add`], removals of those names that have a record.
    pub(super) fn add_removals(&mut self, names: &[&[u8]]) -> io::Result<usize> {
        let end = self.words.len();
        let (_, previous) = self.mark();
        let present: Vec<_> = names.iter().filter(|name| self.entry(name).is_some()).collect();
        let mut writer = Writer::new(&mut self.words, previous);
        let written = present.into_iter().try_for_each(|name| writer.removal(name));
        if written.is_err() {
            self.words.truncate(end);
        }
        written.map(|()| end)
    }

    /// What was appended from the word `from` on is in the file.
    pub(super) fn accept(&mut self, from: usize) {
        let (_, why) = self.take_in(from * size_of::<u64>());
        debug_assert_eq!(why, NoEntry::End, "what was written is what is read");
    }

    /// What was appended from the word `from` on is not in the file.
    pub(super) fn retract(&mut self, from: usize) {
        self.words.truncate(from);
    }

    /// The same records in a new file, without what is dead, and without paths that no record names.
    ///
    /// # Errors
    /// When there is too much of something.
    pub(super) fn compacted(&self, id: u64) -> io::Result<Self> {
        let mut fresh = Self::new(id);
        let mut numbers = vec![u32::MAX; self.paths.len()];
        let mut paths = Vec::new();
        for row in self.entries().flat_map(|entry| entry.inputs.iter().chain(entry.outputs)) {
            let number = &mut numbers[row.path as usize];
            if *number == u32::MAX {
                *number = crate::narrow(paths.len());
                paths.push(self.path(row.path));
            }
        }
        let (_, previous) = fresh.mark();
        let mut writer = Writer::new(&mut fresh.words, previous);
        if !paths.is_empty() {
            writer.paths(0, &paths)?;
        }
        for slot in self.slots.iter().filter(|slot| slot.is_record) {
            let start = slot.at / size_of::<u64>();
            let length = format::length_at(&self.words, slot.at) / size_of::<u64>();
            writer.copy(&self.words[start..start + length], |number| numbers[number as usize]);
        }
        fresh.accept(HEADER_SIZE / size_of::<u64>());
        Ok(fresh)
    }

    /// The paths' numbers, for each file of each entry, and those paths that have none yet, in the order of the
    /// numbers that they will have.
    fn number_files<'a>(&mut self, entries: &[NewEntry<'a>]) -> io::Result<(Vec<u32>, Vec<&'a [u8]>)> {
        let n_files = entries.iter().map(|entry| entry.files.len()).sum();
        let mut numbers = Vec::with_capacity(n_files);
        let mut new: Vec<&[u8]> = Vec::new();
        let mut new_numbers: HashTable<u32> = HashTable::new();
        let first = self.paths.len();
        for entry in entries {
            // Most targets have the files that they had, and those had been numbered in their order.
            let mut guess =
                self.entry(entry.name).and_then(|known| known.inputs.first()).map_or(0, |row| row.path);
            for &(path, _, _) in entry.files {
                let number = if self.path(guess) == path {
                    guess
                } else {
                    let hash = format::checksum(path);
                    self.number_paths();
                    let known = self.numbers.find(hash, |&number| self.path(number) == path);
                    let known = known
                        .or_else(|| new_numbers.find(hash, |&number| new[number as usize - first] == path));
                    if let Some(&number) = known {
                        number
                    } else {
                        let number = u32::try_from(first + new.len()).map_err(|_| {
                            io::Error::new(
                                io::ErrorKind::InvalidInput,
                                "more than four billion paths in the records",
                            )
                        })?;
                        new.push(path);
                        let hash_of = |&number: &u32| format::checksum(new[number as usize - first]);
                        new_numbers.insert_unique(hash, number, hash_of);
                        number
                    }
                };
                numbers.push(number);
                guess = number.saturating_add(1);
            }
        }
        Ok((numbers, new))
    }

    /// Makes all paths known in `numbers`.
    fn number_paths(&mut self) {
        if self.numbers.len() == self.paths.len() {
            return;
        }
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.reserve(self.paths.len() - numbers.len(), |&number| format::checksum(self.path(number)));
        for number in crate::narrow(numbers.len())..crate::narrow(self.paths.len()) {
            let hash = format::checksum(self.path(number));
            numbers.insert_unique(hash, number, |&number| format::checksum(self.path(number)));
        }
        self.numbers = numbers;
    }

    /// Takes in all entries from `at` on, up to what is none. Where that is, and why it is none.
    fn take_in(&mut self, mut at: usize) -> (usize, NoEntry) {
        let why = loop {
            let (_, previous) = self.mark();
            let checked = match format::check(self.bytes(), at, previous, self.paths.len()) {
                Ok(checked) => checked,
                Err(why) => break why,
            };
            match checked.what {
                What::Paths { mut start, lengths } => {
                    let lengths: &[u32] =
                        bytemuck::cast_slice(&bytemuck::cast_slice::<u64, u8>(&self.words)[lengths]);
                    self.paths.reserve(lengths.len());
                    for &length in lengths {
                        self.paths.push((start, length));
                        start += length as usize;
                    }
                }
                What::Record { name } => self.set_slot(name, at, checked.end - at, true),
                What::Removal { name } => self.set_slot(name, at, checked.end - at, false),
            }
            self.last = at;
            at = checked.end;
        };
        self.words.truncate(at / size_of::<u64>());
        (at, why)
    }

    fn set_slot(&mut self, name: Range<usize>, at: usize, length: usize, is_record: bool) {
        let (file, slots, words): (&[u8], _, _) =
            (bytemuck::cast_slice(&self.words), &mut self.slots, &self.words);
        let hash = format::checksum(&file[name.clone()]);
        let found =
            self.names.find(hash, |&number| file[slots[number as usize].name.clone()] == file[name.clone()]);
        if is_record {
            self.standing += length;
        } else {
            self.dead += length;
        }
        let Some(&number) = found else {
            let number = crate::narrow(slots.len());
            slots.push(Slot { at, is_record, name });
            self.names.insert_unique(hash, number, |&number| {
                format::checksum(&file[slots[number as usize].name.clone()])
            });
            return;
        };
        let slot = &mut slots[number as usize];
        if slot.is_record {
            let length = format::length_at(words, slot.at);
            self.standing -= length;
            self.dead += length;
        }
        *slot = Slot { at, is_record, name };
    }

    /// How many bytes of the file were checked.
    fn end_of_known(&self) -> usize {
        let end =
            if self.last == 0 { HEADER_SIZE } else { self.last + format::length_at(&self.words, self.last) };
        if self.header.is_none() { 0 } else { end }
    }

    fn name(&self, slot: u32) -> &[u8] {
        self.bytes().get(self.slots[slot as usize].name.clone()).unwrap_or_default()
    }

    fn record(&self, slot: &Slot) -> Option<Entry<'_>> {
        if slot.is_record { format::record(self.bytes(), slot.at) } else { None }
    }
}
