//! Which content belongs to which stamp, as far as somebody has looked: within this process, and where the caller hands
//! in a cache, beyond it.
//!
//! A digest is kept where the tick of the clock was over in which the file got its stamp. A file server has a clock of its
//! own, which may be behind, and a check writes nothing from which it could be read. But another file of the same file
//! system that was changed later proves it, since no program chooses the time of a status; so that is asked for, and that
//! the machine's own clock has nothing against it.

use crate::collect::Disk;
use crate::content::{Content, DigestCache, digest_files};
use crate::ids::FileId;
use crate::snapshot::{Meta, Mtime, Stat};
use crate::state::{Digest, is_racy};
use std::collections::HashMap;

/// Digests by stamps that prove something.
#[derive(Default)]
pub(super) struct Digests {
    known: HashMap<Meta, Digest>,
    pub(super) cache: Option<DigestCache>,
    /// How many files were read.
    pub(super) n_read: usize,
}

impl Digests {
    /// Keeps the digest of a file that was found to have this stamp, which proves that it is unchanged.
    pub(super) fn keep(&mut self, meta: Meta, digest: Digest) {
        // Without a status time, a stamp can be put back.
        if meta.ctime != 0 && meta.inode != 0 {
            self.known.insert(meta, digest);
        }
    }

    /// The content of files that were seen with these stamps. Only what is not known is read, and is kept if its stamp
    /// `proves` that it is unchanged ever after.
    pub(super) fn of(
        &mut self,
        disk: &dyn Disk,
        files: &[(FileId, &[u8], Meta)],
        threads: usize,
        proves: impl Fn(Meta) -> bool,
    ) -> Vec<Content> {
        let moment = Meta::mtime_at(disk.now());
        let mut contents: Vec<Content> = files.iter().map(|(_, _, meta)| self.get(*meta)).collect();
        let places: Vec<usize> =
            (0..files.len()).filter(|&place| contents[place] == Content::Unknown).collect();
        let rest: Vec<_> = places.iter().map(|&place| files[place]).collect();
        self.n_read += rest.len();
        for (place, content) in places.into_iter().zip(digest_files(disk, &rest, threads)) {
            contents[place] = content;
            let meta = files[place].2;
            if let Content::Digest(digest) = content
                && !is_racy(meta, moment)
                && proves(meta)
            {
                self.keep(meta, digest);
                if let Some(cache) = &mut self.cache {
                    cache.add(meta, digest, moment);
                }
            }
        }
        contents
    }

    fn get(&mut self, meta: Meta) -> Content {
        let known = self.known.get(&meta).copied();
        let known = known.or_else(|| self.cache.as_mut()?.get(meta));
        known.map_or(Content::Unknown, Content::Digest)
    }
}

/// The newest time of a status on each file system, among files that were seen.
#[derive(Default)]
pub(super) struct Newest(HashMap<u64, Mtime>);

impl Newest {
    pub(super) fn of(stats: impl Iterator<Item = Stat>) -> Self {
        let mut newest = Self::default();
        for stat in stats {
            if let Stat::Present(meta) = stat {
                let known = newest.0.entry(meta.device).or_insert(meta.ctime);
                *known = (*known).max(meta.ctime);
            }
        }
        newest
    }

    /// Whether something on its file system was changed after a file got its stamp, and before it was read.
    pub(super) fn is_older(&self, meta: Meta) -> bool {
        self.0.get(&meta.device).is_some_and(|&newest| meta.ctime < newest)
    }
}
