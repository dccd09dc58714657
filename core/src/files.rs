//! The table of files: path bytes to [`FileId`] and back, all names in one arena.

use crate::ids::{FileId, narrow};
use hashbrown::HashTable;

/// Every path of a graph, once.
///
/// Paths are bytes, canonical ones (see [`path::canonicalize`](crate::path::canonicalize)), and are
/// compared byte by byte. Lookup and insert cost one hash of the path.
#[derive(Default, Clone)]
pub struct FileTable {
    arena: Vec<u8>,
    /// End of each path in `arena`; a path begins where the one before it ends.
    ends: Vec<usize>,
    index: HashTable<u32>,
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

    /// The file at `path`, if it is known.
    #[must_use]
    pub fn lookup(&self, path: &[u8]) -> Option<FileId> {
        self.index
            .find(hash(path), |&id| path_at(&self.arena, &self.ends, id as usize) == path)
            .map(|&id| FileId::new(id as usize))
    }

    /// The file at `path`, made known if it is not.
    pub fn intern(&mut self, path: &[u8]) -> FileId {
        let Self { arena, ends, index } = self;
        let entry = index.entry(
            hash(path),
            |&id| path_at(arena, ends, id as usize) == path,
            |&id| hash(path_at(arena, ends, id as usize)),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => FileId::new(*found.get() as usize),
            hashbrown::hash_table::Entry::Vacant(slot) => {
                let id = FileId::new(ends.len());
                slot.insert(narrow(id.index()));
                arena.extend_from_slice(path);
                ends.push(arena.len());
                id
            }
        }
    }
}

fn path_at<'a>(arena: &'a [u8], ends: &[usize], index: usize) -> &'a [u8] {
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &arena[start..ends[index]]
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
}
