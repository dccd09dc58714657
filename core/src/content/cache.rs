//! Digests that are kept from one run to the next: what a file with a certain stamp holds.
//!
//! # Format
//!
//! An image (see [`crate::image`]) with these tables:
//!
//! | table | what |
//! |---|---|
//! | `writes` | 8 bytes: how often the cache was written |
//! | `rows` | for each digest, sorted: device, inode, size, mtime, ctime (8 bytes each), digest (32), the count of writes when it was last used (8) |
//!
//! A digest is kept only where the stamp proves that the content is still the same: it was old enough when the file was
//! read ([`is_racy`]), and it has an inode. So it does not matter which path led to the file, nor which build it belongs
//! to, and one cache serves all builds of a user.
//!
//! Two processes that write at once: the later one wins, and what the other one added is digested again some day.

use super::{Content, digest_files};
use crate::collect::Disk;
use crate::column::Column;
use crate::ids::FileId;
use crate::image::{Image, ImageFolder, Tables};
use crate::snapshot::{Meta, Mtime};
use crate::state::{Digest, is_racy};
use bytemuck::{Pod, Zeroable};

/// The most digests that are kept: of 80 bytes each.
const MOST: usize = 1 << 20;

/// Digests by stamp, kept in a folder. Whatever is wrong with what is kept there, it is as if it were empty.
pub struct DigestCache {
    folder: ImageFolder,
    name: String,
    /// Sorted.
    rows: Column<Row>,
    writes: u64,
    /// Which rows were asked for.
    used: Vec<bool>,
    added: Vec<Row>,
    most: usize,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Row {
    device: u64,
    inode: u64,
    size: u64,
    mtime: Mtime,
    ctime: Mtime,
    digest: Digest,
    /// The count of writes when it was last used.
    last_used: u64,
}

type Key = (u64, u64, u64, Mtime, Mtime);

impl DigestCache {
    /// The name of the cache in the folder of images: one that the folder takes for its own.
    pub const NAME: &str = "d19e575c0de00001.state-digests";

    /// The cache of that name in a folder. Nothing is read but its rows' checksum.
    #[must_use]
    pub fn open(folder: ImageFolder, name: &str) -> Self {
        let kept = folder.read(name).and_then(|image| load(&image));
        let (rows, writes) = kept.unwrap_or_default();
        let used = vec![false; rows.len()];
        Self { folder, name: name.to_owned(), rows, writes, used, added: Vec::new(), most: MOST }
    }

    /// The digest of the file with this stamp, if it is known.
    pub fn get(&mut self, meta: Meta) -> Option<Digest> {
        let at = self.rows.binary_search_by_key(&key(meta), Row::key).ok()?;
        *self.used.get_mut(at)? = true;
        Some(self.rows[at].digest)
    }

    /// Adds the digest of a file that was found to have this stamp, and was read after `moment`; it is left out where
    /// the stamp does not prove that the file is unchanged ever after.
    pub fn add(&mut self, meta: Meta, digest: Digest, moment: Mtime) {
        if meta.inode == 0 || is_racy(meta, moment) {
            return;
        }
        let Meta { mtime, ctime, size, inode, device } = meta;
        self.added.push(Row { device, inode, size, mtime, ctime, digest, last_used: 0 });
    }

    /// [`digest_files`], but only those are read whose digests are not known; theirs are added.
    ///
    /// A file whose digest is known is not looked at again: that it had this stamp when it was seen is enough.
    pub fn digest_files(
        &mut self,
        disk: &dyn Disk,
        files: &[(FileId, &[u8], Meta)],
        threads: usize,
    ) -> Vec<Content> {
        let mut contents: Vec<Content> = files
            .iter()
            .map(|(_, _, meta)| self.get(*meta).map_or(Content::Unknown, Content::Digest))
            .collect();
        let unknown = |at: &usize| contents[*at] == Content::Unknown;
        let places: Vec<usize> = (0..files.len()).filter(unknown).collect();
        let moment = Meta::mtime_at(disk.now());
        let rest: Vec<_> = places.iter().map(|&at| files[at]).collect();
        for (at, content) in places.into_iter().zip(digest_files(disk, &rest, threads)) {
            contents[at] = content;
            if let Content::Digest(digest) = content {
                self.add(files[at].2, digest, moment);
            }
        }
        contents
    }

    /// Keeps what was added, if anything was. Where that fails, it will be digested again: nobody needs to know.
    pub fn save(mut self) {
        let added = std::mem::take(&mut self.added);
        if added.is_empty() {
            return;
        }
        let writes = self.writes.wrapping_add(1);
        let mut rows = self.rows.to_vec();
        for (row, used) in rows.iter_mut().zip(&self.used) {
            if *used {
                row.last_used = writes;
            }
        }
        rows.extend(added.into_iter().map(|row| Row { last_used: writes, ..row }));
        if rows.len() > self.most {
            // Those that were not used for the most writes go.
            rows.sort_unstable_by_key(|row| (std::cmp::Reverse(row.last_used), row.key()));
            rows.dedup_by_key(|row| row.key());
            rows.truncate(self.most);
        }
        rows.sort_unstable_by_key(Row::key);
        rows.dedup_by_key(|row| row.key());
        let mut tables = Tables::default();
        tables.add("writes", std::slice::from_ref(&writes));
        tables.add("rows", &rows);
        let _ = self.folder.write(&self.name, &tables);
    }
}

impl Row {
    fn key(&self) -> Key {
        (self.device, self.inode, self.size, self.mtime, self.ctime)
    }
}

fn key(meta: Meta) -> Key {
    (meta.device, meta.inode, meta.size, meta.mtime, meta.ctime)
}

fn load(image: &Image) -> Option<(Column<Row>, u64)> {
    let writes = *image.table::<u64>("writes")?.first()?;
    Some((image.table("rows")?, writes))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::collect::{Access, MemoryDisk};
    use crate::snapshot::Stat;
    use std::path::Path;

    const NAME: &str = DigestCache::NAME;
    const S: Mtime = 1_000_000_000;

    fn cache(place: &Path) -> DigestCache {
        DigestCache::open(ImageFolder::new(place.join("cache")), NAME)
    }

    fn file(inode: u64) -> Meta {
        Meta { mtime: 7, ctime: inode.cast_signed() + 1, size: 3, inode, device: 1 }
    }

    fn digest(byte: u8) -> Digest {
        Digest([byte; 32])
    }

    #[test]
    fn what_was_added_is_there_the_next_time() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let mut first = cache(place.path());
        assert_eq!(first.get(file(1)), None);
        first.add(file(2), digest(2), 10 * S);
        first.add(file(1), digest(1), 10 * S);
        first.add(file(1), digest(1), 10 * S);
        first.save();
        let mut second = cache(place.path());
        assert_eq!((second.get(file(1)), second.get(file(2))), (Some(digest(1)), Some(digest(2))));
        for other in [
            Meta { mtime: 8, ..file(1) },
            Meta { ctime: 8, ..file(1) },
            Meta { size: 8, ..file(1) },
            Meta { device: 8, ..file(1) },
        ] {
            assert_eq!(second.get(other), None);
        }
        assert_eq!(second.rows.len(), 2);
    }

    #[test]
    fn what_a_stamp_does_not_prove_is_not_kept() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let mut first = cache(place.path());
        first.add(Meta { ctime: 10 * S - 1, ..file(1) }, digest(1), 10 * S);
        first.add(Meta { inode: 0, ..file(1) }, digest(1), 10 * S);
        first.save();
        assert!(!place.path().join("cache").exists(), "nothing to keep, nothing written");
    }

    #[test]
    fn what_is_damaged_is_as_if_it_were_empty() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let mut first = cache(place.path());
        for n in 1..9 {
            first.add(file(n), digest(1), 10 * S);
        }
        first.save();
        let path = place.path().join("cache").join(NAME);
        let whole = std::fs::read(&path).expect("the cache");
        for at in (0..whole.len()).step_by(7) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x40;
            std::fs::remove_file(&path).expect("to be removed");
            std::fs::write(&path, &damaged).expect("to be written");
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
                .expect("ours");
            let found = cache(place.path()).get(file(3));
            assert!(found.is_none() || found == Some(digest(1)), "byte {at}: {found:?}");
        }
        std::fs::write(&path, &whole[..whole.len() / 2]).expect("to be written");
        let mut cut = cache(place.path());
        assert_eq!(cut.get(file(3)), None);
        cut.add(file(3), digest(3), 10 * S);
        cut.save();
        assert_eq!(cache(place.path()).get(file(3)), Some(digest(3)));
    }

    #[test]
    fn what_was_not_used_for_long_goes_when_there_is_too_much() {
        let place = tempfile::tempdir().expect("a temporary directory");
        for n in 1..=6 {
            let mut cache = DigestCache { most: 4, ..cache(place.path()) };
            let _ = cache.get(file(1));
            cache.add(file(n), digest(1), 10 * S);
            cache.save();
        }
        let mut last = cache(place.path());
        let there: Vec<u64> = (1..=6).filter(|n| last.get(file(*n)).is_some()).collect();
        assert_eq!(there, [1, 4, 5, 6]);
    }

    #[test]
    fn a_file_is_read_once_and_again_when_its_stamp_changes() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let mut disk = MemoryDisk::with_real_ctimes();
        disk.set_granularity(S / 250);
        disk.set_clock(100 * S + 1);
        disk.write("a", b"old");
        let read = |disk: &MemoryDisk| {
            let Stat::Present(meta) = disk.stat(b"a") else { panic!("it is there") };
            disk.take_log();
            let mut cache = cache(place.path());
            let contents = cache.digest_files(disk, &[(FileId::new(0), b"a", meta)], 1);
            cache.save();
            (contents[0], disk.take_log() == [Access::Read(b"a".to_vec())])
        };
        let content = |bytes| Content::Digest(Digest(*blake3::hash(bytes).as_bytes()));
        // Within a tick of the clock a change is not seen from the stamp, so nothing is believed.
        assert_eq!(read(&disk), (content(b"old"), true));
        disk.overwrite("a", b"new");
        assert_eq!(read(&disk), (content(b"new"), true));
        disk.tick();
        disk.tick();
        disk.tick();
        assert_eq!(read(&disk), (content(b"new"), true));
        assert_eq!(read(&disk), (content(b"new"), false));
        disk.overwrite_keeping_mtime("a", b"NEW");
        assert_eq!(read(&disk), (content(b"NEW"), true));
    }
}
