//! The reverse question.

use crate::bridge::ffi::{Failure, Text};
use crate::failure::{attempt, call};
use crate::graph::Graph;
use crate::records::Records;
use crate::slices::{array, strings};
use crate::types::Target;
use std::ptr::null_mut;
use upcheck_capi::*;

/// The targets that would go stale: `upcheck::Affected` holds one. NULL inside, where the call failed.
pub(crate) struct Affected(*mut upcheck_affected);

impl Drop for Affected {
    fn drop(&mut self) {
        // SAFETY: its own handle, or NULL.
        unsafe { upcheck_affected_free(self.0) }
    }
}

/// # Safety
/// The pointer is NULL or leads to records.
pub(crate) unsafe fn affected_by(
    graph: &mut Graph,
    records: *const Records,
    files: &[Text<'_>],
    failure: &mut Failure,
) -> Box<Affected> {
    let mut affected = Affected(null_mut());
    // SAFETY: see above; the rest are handles, texts and a place of our own.
    attempt(failure, (), || unsafe {
        let files = strings(files);
        let records = records.as_ref().map_or(null_mut(), |records| records.0);
        call(|error| {
            upcheck_affected_by(graph.0, records, files.as_ptr(), files.len(), &raw mut affected.0, error)
        })
    });
    Box::new(affected)
}

impl Affected {
    pub(crate) fn targets(&self) -> &[Target] {
        let mut n = 0;
        // SAFETY: a handle and a place of our own; the array lives as long as the handle.
        unsafe {
            let targets = upcheck_affected_targets(self.0, &raw mut n);
            array(targets, n)
        }
    }

    pub(crate) fn unknown(&self) -> &[usize] {
        let mut n = 0;
        // SAFETY: a handle and a place of our own; the array lives as long as the handle.
        unsafe {
            let unknown = upcheck_affected_unknown(self.0, &raw mut n);
            array(unknown, n)
        }
    }
}
