//! Which files had one name only, and how they looked then: what lets a listing be believed.
//!
//! A directory's entry is brought up to date by whoever changes a file by that entry's name, or gives it another name.
//! So while a file that had one name still has the entry that it had then, it has no other name, and was not changed
//! by one. That is told by asking the file itself, once: its number of names is not in a listing.
//!
//! # Format
//!
//! An image (see [`crate::image`]) with these tables, each of numbers of 8 bytes, sorted: the [`checksum`] of a
//! [`Meta`].
//!
//! | table | what |
//! |---|---|
//! | `known` | files that had one name when they looked like this |
//! | `doubted` | files that are asked each time while they look like this |
//!
//! Two processes that write at once: the later one wins, and what the other one learnt is asked again.

use super::NEAR;
use crate::column::Column;
use crate::image::{ImageFolder, Tables, checksum};
use crate::snapshot::{Meta, Mtime};
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// While there are no more, all are kept. 8 bytes each.
const MOST: usize = 1 << 22;

/// Files that are known to have one name only. Shared by all that ask about a directory: what one of them learns, saves
/// the next one the question.
///
/// What was learnt is written when the last of them lets go of it, if a folder was named and anything is new.
/// Whatever is wrong with what is kept there, it is as if nothing were known.
#[derive(Debug, Default)]
pub struct OneName {
    place: Option<(ImageFolder, String)>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
pub(super) struct Inner {
    known: Kept,
    doubted: Kept,
}

/// Numbers that were kept, and those that came since.
#[derive(Debug, Default)]
struct Kept {
    /// Sorted.
    before: Column<u64>,
    new: HashSet<u64>,
}

impl OneName {
    /// What is known of the files of a directory. `place` is bytes that no other directory has.
    #[must_use]
    pub fn open(folder: ImageFolder, place: &[u8]) -> Self {
        let name = format!("{:016x}.state-names", checksum(place));
        let image = folder.read(&name);
        let read = |table| {
            let before = image.as_ref().and_then(|image| image.table(table)).unwrap_or_default();
            Kept { before, new: HashSet::new() }
        };
        let inner = Mutex::new(Inner { known: read("known"), doubted: read("doubted") });
        Self { place: Some((folder, name)), inner }
    }

    /// Takes in that a file that was asked itself looks like this now, and has one name.
    #[cfg_attr(
        not(any(test, windows, feature = "testing")),
        expect(dead_code, reason = "elsewhere no listing is behind")
    )]
    pub(in crate::collect) fn learn(&self, meta: Meta, now: Mtime) {
        // File systems without file ids, and those whose ids do not fit, say so with these two; and without a change
        // time, another name leaves no trace.
        let is_told_apart = meta.inode != 0 && meta.inode != u64::MAX && meta.ctime != 0;
        // Who has just written may be writing still.
        if is_told_apart && meta.mtime.max(meta.ctime) <= now.saturating_sub(NEAR) {
            self.lock().known.add(look(meta));
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn save(&mut self) {
        let Some((folder, name)) = &self.place else { return };
        let Inner { known, doubted } = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        if known.new.is_empty() && doubted.new.is_empty() {
            return;
        }
        let (known, doubted) = (known.all(), doubted.all());
        let mut tables = Tables::default();
        tables.add("known", &known);
        tables.add("doubted", &doubted);
        // A cache: where it cannot be written, the same files are asked again.
        let _ = folder.write(name, &tables);
    }
}

impl Drop for OneName {
    fn drop(&mut self) {
        self.save();
    }
}

impl Inner {
    /// Whether a file that a listing tells of has one name only, so that the listing is right about it.
    pub(super) fn knows(&self, meta: Meta) -> bool {
        let look = look(meta);
        self.known.has(look) && !self.doubted.has(look)
    }

    /// From now on a file is asked each time while it looks like this.
    pub(super) fn doubt(&mut self, meta: Meta) {
        self.doubted.add(look(meta));
    }
}

impl Kept {
    fn has(&self, look: u64) -> bool {
        self.before.binary_search(&look).is_ok() || self.new.contains(&look)
    }

    fn add(&mut self, look: u64) {
        if self.before.binary_search(&look).is_err() {
            self.new.insert(look);
        }
    }

    /// All of them, sorted; only the new ones where there are too many.
    fn all(&self) -> Vec<u64> {
        let before: &[u64] = if self.before.len() + self.new.len() > MOST { &[] } else { &self.before };
        let mut all: Vec<u64> = before.iter().chain(&self.new).copied().collect();
        all.sort_unstable();
        all
    }
}

/// Which file it is, and all that an entry tells of it, as one number.
fn look(meta: Meta) -> u64 {
    checksum(bytemuck::bytes_of(&meta))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::path::Path;

    const NOW: Mtime = 100 * NEAR;

    fn open(place: &Path) -> OneName {
        OneName::open(ImageFolder::new(place.join("cache")), b"here")
    }

    fn file(inode: u64) -> Meta {
        Meta { mtime: 7, ctime: 8, size: 3, inode, device: 1 }
    }

    fn knows(one_name: &OneName, meta: Meta) -> bool {
        one_name.lock().knows(meta)
    }

    #[test]
    fn what_was_learnt_is_known_the_next_time_and_what_was_doubted_is_not() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let first = open(place.path());
        for inode in [3, 1, 2] {
            assert!(!knows(&first, file(inode)));
            first.learn(file(inode), NOW);
            assert!(knows(&first, file(inode)));
        }
        first.lock().doubt(file(2));
        drop(first);
        let second = open(place.path());
        assert_eq!([1, 2, 3, 4].map(|inode| knows(&second, file(inode))), [true, false, true, false]);
        // Asked again, and still with one name: it is doubted nevertheless.
        second.learn(file(2), NOW);
        assert!(!knows(&second, file(2)));
        for other in [
            Meta { mtime: 8, ..file(1) },
            Meta { ctime: 9, ..file(1) },
            Meta { size: 8, ..file(1) },
            Meta { device: 8, ..file(1) },
        ] {
            assert!(!knows(&second, other));
        }
        let elsewhere = OneName::open(ImageFolder::new(place.path().join("cache")), b"elsewhere");
        assert!(!knows(&elsewhere, file(1)));
    }

    #[test]
    fn what_may_still_be_written_to_or_cannot_be_told_apart_is_not_learnt() {
        let one_name = OneName::default();
        for meta in [
            Meta { mtime: NOW - NEAR + 1, ..file(1) },
            Meta { ctime: NOW - NEAR + 1, ..file(1) },
            Meta { mtime: NOW + NEAR, ..file(1) },
            Meta { ctime: 0, ..file(1) },
            file(0),
            file(u64::MAX),
        ] {
            one_name.learn(meta, NOW);
            assert!(!knows(&one_name, meta), "{meta:?}");
        }
        let oldest = Meta { mtime: Mtime::MIN, ..file(1) };
        one_name.learn(oldest, NOW);
        assert!(knows(&one_name, oldest));
    }

    #[test]
    fn nothing_is_written_where_nothing_is_new() {
        let place = tempfile::tempdir().expect("a temporary directory");
        drop(open(place.path()));
        assert!(!place.path().join("cache").exists());
        open(place.path()).learn(file(1), NOW);
        let path = std::fs::read_dir(place.path().join("cache")).expect("a folder").next().expect("a file");
        let path = path.expect("a file").path();
        std::fs::File::options()
            .write(true)
            .open(&path)
            .and_then(|file| {
                file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(2_000_000_000))
            })
            .expect("a time");
        let time = || std::fs::metadata(&path).and_then(|found| found.modified()).expect("a time");
        let before = time();
        open(place.path()).learn(file(1), NOW);
        assert_eq!(time(), before);
    }

    #[test]
    fn what_is_damaged_is_as_if_nothing_were_known() {
        let place = tempfile::tempdir().expect("a temporary directory");
        open(place.path()).learn(file(1), NOW);
        let path = std::fs::read_dir(place.path().join("cache")).expect("a folder").next().expect("a file");
        let path = path.expect("a file").path();
        let whole = std::fs::read(&path).expect("it was written");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x40;
            std::fs::write(&path, &damaged).expect("it can be");
            let one_name = OneName::open(ImageFolder::new(place.path().join("cache")), b"here");
            // What fills up to the next table is nobody's.
            assert!(!knows(&one_name, file(2)), "{at}");
        }
    }
}
