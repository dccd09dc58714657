//! The status of many files.

use crate::bridge::ffi::{Failure, Texts};
use crate::failure::{attempt, call};
use crate::slices::{array, chars};
use crate::types::Stat;
use std::ptr::null_mut;
use upcheck_capi::*;

/// A snapshot: `upcheck::Snapshot` holds one. NULL inside, where the call failed.
pub(crate) struct Snapshot(*mut upcheck_snapshot);

impl Drop for Snapshot {
    fn drop(&mut self) {
        // SAFETY: its own handle, or NULL.
        unsafe { upcheck_snapshot_free(self.0) }
    }
}

pub(crate) fn collect(
    directory: &[u8],
    paths: Texts<'_>,
    threads: u32,
    failure: &mut Failure,
) -> Box<Snapshot> {
    let mut snapshot = Snapshot(null_mut());
    attempt(failure, (), || {
        let n = paths.ends.len();
        let given = paths.for_c(n, "the paths")?;
        // SAFETY: texts whose ends were looked at, and a place of our own.
        call(|error| unsafe {
            upcheck_collect(
                chars(directory),
                directory.len(),
                given.bytes,
                given.ends,
                n,
                threads,
                &raw mut snapshot.0,
                error,
            )
        })
    });
    Box::new(snapshot)
}

impl Snapshot {
    pub(crate) fn stats(&self) -> &[Stat] {
        let (mut n, mut stride) = (0, 0);
        // SAFETY: a handle and places of our own; the array lives as long as the snapshot.
        unsafe {
            let stats = upcheck_snapshot_stats(self.0, &raw mut n, &raw mut stride);
            array(stats, n)
        }
    }

    pub(crate) fn find(&self, path: &[u8]) -> *const Stat {
        // SAFETY: a handle and a text of our own.
        unsafe { upcheck_snapshot_find(self.0, chars(path), path.len()) }.cast()
    }
}
