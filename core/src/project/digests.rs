//! Which content belongs to which stamp, as far as somebody has looked: within this process, and where the caller hands
//! in a cache, beyond it.

use crate::collect::Disk;
use crate::content::{Content, DigestCache, digest_files};
use crate::ids::FileId;
use crate::snapshot::Meta;
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

    /// The content of files that were seen with these stamps. Only what is not known is read.
    pub(super) fn of(
        &mut self,
        disk: &dyn Disk,
        files: &[(FileId, &[u8], Meta)],
        threads: usize,
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
