//! The table of files: path bytes to [`FileId`] and back, all names in one arena.

use crate::column::Column;
use crate::ids::{FileId, narrow};
use crate::image::{Image, Tables};

/// Every path of a graph, once.
///
/// Paths are bytes, canonical ones (see [`path::canonicalize`](crate::path::canonicalize)), and are
/// compared byte by byte. Lookup and insert cost one hash of the path.
#[derive(Default, Clone)]
pub struct FileTable {
    arena: Column<u8>,
    /// End of each path in `arena`; a path begins where the one before it ends.
    ends: Column<u64>,
    /// A hash table: each path is found from the slot that its hash names, going on to the next while a slot is
    /// taken by another. A power of two of them, at most half of them taken.
    slots: Column<u64>,
    /// How many of the last files have no slot yet.
    n_unindexed: usize,
    /// The first file that was found to have the path of another one.
    twice: Option<FileId>,
}

/// What a slot holds: half of the path's hash above, its file's number plus one below; 0 for an empty one.
#[derive(Clone, Copy)]
struct Slot(u64);

impl Slot {
    fn new(hash: u64, file: FileId) -> Self {
        Self((hash & !u64::from(u32::MAX)) | u64::from(narrow(file.index() + 1)))
    }

    #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    fn file(self) -> Option<FileId> {
        let number = self.0 as u32 as usize;
        number.checked_sub(1).map(FileId::new)
    }

    /// Whether the path may be the one of that hash. Wrong for one in four billion others.
    fn may_be(self, hash: u64) -> bool {
        (self.0 ^ hash) >> 32 == 0
    }

    /// Where the path belongs in a table of so many slots.
    fn home(hash: u64, n_slots: usize) -> usize {
        // The upper half: it is all that a slot still knows when the table grows.
        ((hash >> 32) as usize) & (n_slots - 1)
    }
}

impl FileTable {
    /// How many files there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The path of `file`.
    #[must_use]
    pub fn path(&self, file: FileId) -> &[u8] {
        path_at(&self.arena, &self.ends, file.index())
    }

    /// All ids, in the order in which the files became known.
    pub fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.len()).map(FileId::new)
    }

    /// The file at `path`, if it is known. Cost: where files were appended and not indexed since, a look at each of them.
    #[must_use]
    pub fn lookup(&self, path: &[u8]) -> Option<FileId> {
        let indexed = if self.slots.is_empty() { None } else { self.find(path, hash(path)).ok() };
        indexed.or_else(|| self.unindexed().find(|&file| self.path(file) == path))
    }

    /// Appends paths that the caller says are not in the table yet, each of them once. Path `k` is
    /// `bytes[ends[k - 1]..ends[k]]`. Costs a copy. Whether it is so is found out by [`FileTable::index`].
    ///
    /// # Panics
    /// When the ends do not ascend, or the last one is not the end of the bytes.
    pub fn append(&mut self, bytes: &[u8], ends: &[u64]) {
        check_ends(bytes, ends);
        let start = self.arena.len() as u64;
        self.arena.to_mut().extend_from_slice(bytes);
        self.ends.to_mut().extend(ends.iter().map(|end| start + end));
        self.n_unindexed += ends.len();
    }

    /// [`FileTable::append`] to an empty table, without a copy until another path is added.
    ///
    /// # Panics
    /// As [`FileTable::append`], and when the table is not empty.
    pub fn borrow(&mut self, bytes: &'static [u8], ends: &'static [u64]) {
        assert!(self.is_empty(), "borrowed paths are the first ones");
        check_ends(bytes, ends);
        (self.arena, self.ends) = (Column::borrowed(bytes), Column::borrowed(ends));
        self.n_unindexed = ends.len();
    }

    /// Makes all files known by their paths. Costs a hash of each that was appended since the last time.
    pub fn index(&mut self) {
        if self.n_unindexed == 0 {
            return;
        }
        if self.slots.len() < 2 * (self.len() + 1) {
            self.grow();
        }
        let mut slots = std::mem::take(self.slots.to_mut());
        for file in self.unindexed() {
            let path = self.path(file);
            let hash = hash(path);
            match find(&slots, &self.arena, &self.ends, path, hash) {
                Ok(_) => self.twice = self.twice.or(Some(file)),
                Err(free) => slots[free] = Slot::new(hash, file).0,
            }
        }
        self.slots = slots.into();
        self.n_unindexed = 0;
    }

    /// A file with the path of another one, which was appended against what its caller said. Known after
    /// [`FileTable::index`].
    #[must_use]
    pub fn twice(&self) -> Option<FileId> {
        self.twice
    }

    fn unindexed(&self) -> impl Iterator<Item = FileId> + use<> {
        (self.len() - self.n_unindexed..self.len()).map(FileId::new)
    }

    /// The file at `path`, made known if it is not.
    pub fn intern(&mut self, path: &[u8]) -> FileId {
        self.index();
        if self.slots.len() < 2 * (self.len() + 1) {
            self.grow();
        }
        let hash = hash(path);
        match self.find(path, hash) {
            Ok(file) => file,
            Err(free) => {
                let file = FileId::new(self.len());
                self.slots.to_mut()[free] = Slot::new(hash, file).0;
                let arena = self.arena.to_mut();
                arena.extend_from_slice(path);
                let end = arena.len() as u64;
                self.ends.to_mut().push(end);
                file
            }
        }
    }

    /// The file, or the slot where it belongs.
    fn find(&self, path: &[u8], hash: u64) -> Result<FileId, usize> {
        find(&self.slots, &self.arena, &self.ends, path, hash)
    }

    fn grow(&mut self) {
        let n_slots = (4 * (self.len() + 1)).next_power_of_two().max(64);
        let mut slots = vec![0; n_slots];
        for &slot in self.slots.iter().filter(|slot| **slot != 0) {
            let mut at = Slot::home(slot, n_slots);
            while slots[at] != 0 {
                at = (at + 1) & (n_slots - 1);
            }
            slots[at] = slot;
        }
        self.slots = slots.into();
    }

    /// Adds the tables to an image. All files have to be indexed.
    pub fn save<'a>(&'a self, tables: &mut Tables<'a>) {
        debug_assert_eq!(self.n_unindexed, 0, "paths are missing in the table");
        tables.add("paths", &self.arena);
        tables.add("pathends", &self.ends);
        tables.add("slots", &self.slots);
    }

    /// The table in an image; `None` where it is damaged.
    #[must_use]
    pub fn load(image: &Image) -> Option<Self> {
        let files = Self {
            arena: image.table("paths")?,
            ends: image.table("pathends")?,
            slots: image.table("slots")?,
            ..Self::default()
        };
        let is_whole = files.ends.last().map_or(0, |end| *end) == files.arena.len() as u64;
        (is_whole && (files.slots.is_empty() || files.slots.len().is_power_of_two())).then_some(files)
    }
}

fn check_ends(bytes: &[u8], ends: &[u64]) {
    assert!(ends.is_sorted() && ends.last().map_or(0, |end| *end) == bytes.len() as u64, "the ends are none");
}

/// The file in a hash table, or the slot where it belongs.
fn find(slots: &[u64], arena: &[u8], ends: &[u64], path: &[u8], hash: u64) -> Result<FileId, usize> {
    let mut at = Slot::home(hash, slots.len());
    loop {
        let slot = Slot(slots[at]);
        match slot.file() {
            None => return Err(at),
            Some(file) if slot.may_be(hash) && path_at(arena, ends, file.index()) == path => {
                return Ok(file);
            }
            Some(_) => at = (at + 1) & (slots.len() - 1),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the arena is in memory, so its size fits")]
fn path_at<'a>(arena: &'a [u8], ends: &[u64], index: usize) -> &'a [u8] {
    let start = if index == 0 { 0 } else { ends[index - 1] as usize };
    &arena[start..ends[index] as usize]
}

fn hash(path: &[u8]) -> u64 {
    rapidhash::v3::rapidhash_v3(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_are_the_same_file() {
        let mut files = FileTable::default();
        let a = files.intern(b"a/b.c");
        let empty_name = files.intern(b"\xff\xfe");
        assert_eq!(files.intern(b"a/b.c"), a);
        assert_ne!(a, empty_name);
        assert_eq!(files.path(a), b"a/b.c");
        assert_eq!(files.path(empty_name), b"\xff\xfe");
        assert_eq!(files.lookup(b"a/b"), None);
        assert_eq!(files.len(), 2);
    }

    #[test]
    fn appended_files_are_numbered_by_position_and_found_before_and_after_they_are_indexed() {
        let mut files = FileTable::default();
        let first = files.intern(b"a");
        files.append(b"bccd", &[1, 3, 4]);
        let numbers =
            |files: &FileTable| ["a", "b", "cc", "d", "e"].map(|path| files.lookup(path.as_bytes()));
        let all = [Some(first), Some(FileId::new(1)), Some(FileId::new(2)), Some(FileId::new(3)), None];
        assert_eq!(numbers(&files), all);
        files.index();
        assert_eq!((numbers(&files), files.twice()), (all, None));
        files.append(b"eaa", &[1, 2, 3]);
        assert_eq!(files.intern(b"cc"), FileId::new(2));
        assert_eq!(files.twice(), Some(FileId::new(5)), "a is there already");
        assert_eq!(files.intern(b"f"), FileId::new(7));
        assert_eq!(files.path(FileId::new(4)), b"e");
    }

    #[test]
    fn borrowed_files_are_copied_when_another_one_comes() {
        let mut files = FileTable::default();
        files.borrow(b"ab", &[1, 2]);
        assert_eq!((files.lookup(b"b"), files.len()), (Some(FileId::new(1)), 2));
        assert_eq!(files.intern(b"b"), FileId::new(1));
        assert_eq!(files.intern(b"c"), FileId::new(2));
        assert_eq!([0, 1, 2].map(|at| files.path(FileId::new(at)).to_vec()), [b"a", b"b", b"c"]);
    }

    #[test]
    fn every_path_is_found_again_while_the_table_grows() {
        let mut files = FileTable::default();
        assert_eq!(files.lookup(b"0"), None);
        let name = |number: usize| format!("d{}/f{number}", number % 7).into_bytes();
        for number in 0..5000 {
            assert_eq!(files.intern(&name(number)), FileId::new(number));
            assert_eq!(files.lookup(&name(number / 2)), Some(FileId::new(number / 2)));
            assert_eq!(files.lookup(&name(number + 1)), None);
        }
        assert!((0..5000).all(|number| files.intern(&name(number)) == FileId::new(number)));
    }
}
