//! Asking which targets are stale, and stopping that.

use crate::bridge::ffi::{self, CheckOptions, Failure, Text};
use crate::failure::{attempt, call};
use crate::graph::Graph;
use crate::records::Records;
use crate::report::Report;
use crate::slices::strings;
use std::ptr::{null, null_mut};
use upcheck_capi::*;

/// A way to stop a check: `upcheck::Cancel` holds one.
pub(crate) struct Cancel(*mut upcheck_cancel);

impl Drop for Cancel {
    fn drop(&mut self) {
        // SAFETY: its own handle.
        unsafe { upcheck_cancel_free(self.0) }
    }
}

pub(crate) fn cancel_new() -> Box<Cancel> {
    Box::new(Cancel(upcheck_cancel_new()))
}

impl Cancel {
    pub(crate) fn native(&self) -> *mut ffi::upcheck_cancel {
        self.0.cast()
    }

    pub(crate) fn set(&self) {
        // SAFETY: a handle of our own.
        unsafe { upcheck_cancel_set(self.0) }
    }
}

/// # Safety
/// Pointers are NULL or lead to what they say.
pub(crate) unsafe fn check(
    graph: &mut Graph,
    records: *const Records,
    given: &CheckOptions<'_>,
    cancel: *const Cancel,
    failure: &mut Failure,
) -> Box<Report> {
    let mut report = Report(null_mut());
    let options = upcheck_check_options {
        struct_size: size_of::<upcheck_check_options>(),
        flags: given.flags,
        threads: given.threads,
        // Of an empty slice the pointer is not NULL: nothing is asked about.
        requests: if given.is_all { null() } else { given.requests.as_ptr().cast() },
        n_requests: if given.is_all { 0 } else { given.requests.len() },
        // SAFETY: see above.
        cancel: unsafe { cancel.as_ref() }.map_or(null(), |cancel| cancel.0),
    };
    // SAFETY: see above; the rest are handles, a struct, an array and a place of our own.
    attempt(failure, (), || unsafe {
        let records = records.as_ref().map_or(null_mut(), |records| records.0);
        call(|error| upcheck_check(graph.0, records, &raw const options, &raw mut report.0, error))
    });
    Box::new(report)
}

pub(crate) fn first_reason(outputs: &[Text<'_>], inputs: &[Text<'_>], failure: &mut Failure) -> i32 {
    attempt(failure, 0, || {
        let (outputs, inputs) = (strings(outputs), strings(inputs));
        let mut reason = 0;
        // SAFETY: texts and a place of our own.
        call(|error| unsafe {
            upcheck_is_stale(
                outputs.as_ptr(),
                outputs.len(),
                inputs.as_ptr(),
                inputs.len(),
                null_mut(),
                &raw mut reason,
                error,
            )
        })?;
        Ok(reason)
    })
}
