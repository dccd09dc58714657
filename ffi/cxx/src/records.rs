//! The store of records, and builds that are put on record.

use crate::bridge::ffi::{self, Failure, Text};
use crate::failure::{attempt, call};
use crate::graph::Graph;
use crate::slices::{array, chars, strings};
use crate::types::{Doubt, Target};
use std::ptr::null_mut;
use upcheck_capi::*;

/// A store: `upcheck::Records` holds one. NULL inside, where there is none.
pub(crate) struct Records(pub(crate) *mut upcheck_records);

impl Drop for Records {
    fn drop(&mut self) {
        // SAFETY: its own handle, or NULL.
        unsafe { upcheck_records_free(self.0) }
    }
}

pub(crate) fn records_open(folder: &[u8], failure: &mut Failure) -> Box<Records> {
    let mut records = Records(null_mut());
    // SAFETY: a text and a place of our own.
    attempt(failure, (), || unsafe {
        call(|error| upcheck_records_open(chars(folder), folder.len(), &raw mut records.0, error))
    });
    Box::new(records)
}

pub(crate) fn records_read(folder: &[u8], failure: &mut Failure) -> Box<Records> {
    let mut records = Records(null_mut());
    // SAFETY: a text and a place of our own.
    attempt(failure, (), || unsafe {
        call(|error| upcheck_records_read(chars(folder), folder.len(), &raw mut records.0, error))
    });
    Box::new(records)
}

impl Records {
    pub(crate) fn is_there(&self) -> bool {
        !self.0.is_null()
    }

    pub(crate) fn native(&self) -> *mut ffi::upcheck_records {
        self.0.cast()
    }

    pub(crate) fn refresh(&mut self, failure: &mut Failure) {
        // SAFETY: a handle of our own.
        attempt(failure, (), || call(|error| unsafe { upcheck_records_refresh(self.0, error) }));
    }

    pub(crate) fn forget(&mut self, names: &[Text<'_>], failure: &mut Failure) {
        attempt(failure, (), || {
            let names = strings(names);
            // SAFETY: a handle and texts of our own.
            call(|error| unsafe { upcheck_records_forget(self.0, names.as_ptr(), names.len(), error) })
        });
    }

    pub(crate) fn compact(&mut self, failure: &mut Failure) {
        // SAFETY: a handle of our own.
        attempt(failure, (), || call(|error| unsafe { upcheck_records_compact(self.0, error) }));
    }
}

/// Builds that began: `upcheck::Build` holds them.
pub(crate) struct Build(*mut upcheck_build);

impl Drop for Build {
    fn drop(&mut self) {
        // SAFETY: its own handle, or NULL.
        unsafe { upcheck_build_free(self.0) }
    }
}

pub(crate) fn build_begin(
    graph: &mut Graph,
    records: &mut Records,
    targets: &[Target],
    failure: &mut Failure,
) -> Box<Build> {
    let mut build = Build(null_mut());
    // SAFETY: handles, an array and a place of our own.
    attempt(failure, (), || unsafe {
        call(|error| {
            let numbers = targets.as_ptr().cast();
            upcheck_begin(graph.0, records.0, numbers, targets.len(), &raw mut build.0, error)
        })
    });
    Box::new(build)
}

impl Build {
    pub(crate) fn commit(
        &mut self,
        graph: &mut Graph,
        records: &mut Records,
        flags: u32,
        failure: &mut Failure,
    ) {
        attempt(failure, (), || {
            // SAFETY: handles of our own.
            call(|error| unsafe { upcheck_commit(graph.0, records.0, self.0, flags, error) })
        });
    }

    pub(crate) fn doubts(&self) -> &[Doubt] {
        let (mut n, mut stride) = (0, 0);
        // SAFETY: a handle and places of our own; the array is there until the next commit.
        unsafe {
            let doubts = upcheck_build_doubts(self.0, &raw mut n, &raw mut stride);
            array(doubts, n)
        }
    }
}
