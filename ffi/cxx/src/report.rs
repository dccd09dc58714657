//! What a check came to.

use crate::bridge::ffi;
use crate::graph::Graph;
use crate::slices::{array, filled};
use crate::types::{Cause, Finding, Summary, Target, Verdict};
use std::ptr::null_mut;
use upcheck_capi::*;

/// A report: `upcheck::Report` holds one. NULL inside, where the check failed.
pub(crate) struct Report(pub(crate) *mut upcheck_report);

impl Drop for Report {
    fn drop(&mut self) {
        // SAFETY: its own handle, or NULL.
        unsafe { upcheck_report_free(self.0) }
    }
}

impl Report {
    pub(crate) fn native(&self) -> *mut ffi::upcheck_report {
        self.0.cast()
    }

    pub(crate) fn summary(&self) -> Summary {
        // SAFETY: integers, for which zeros are values.
        let mut summary: upcheck_summary = unsafe { std::mem::zeroed() };
        summary.struct_size = size_of::<upcheck_summary>();
        // It fails only where there is no report.
        // SAFETY: a handle and a struct of our own.
        let _ = unsafe { upcheck_report_summary(self.0, &raw mut summary, null_mut()) };
        Summary(summary)
    }

    pub(crate) fn verdicts(&self) -> &[Verdict] {
        let mut n = 0;
        // SAFETY: a handle and a place of our own; the array lives as long as the report.
        unsafe {
            let verdicts = upcheck_report_verdicts(self.0, &raw mut n);
            array(verdicts, n)
        }
    }

    pub(crate) fn stale(&self) -> &[Target] {
        let mut n = 0;
        // SAFETY: a handle and a place of our own; the array lives as long as the report.
        unsafe {
            let stale = upcheck_report_stale(self.0, &raw mut n);
            array(stale, n)
        }
    }

    pub(crate) fn findings(&self) -> &[Finding] {
        let (mut n, mut stride) = (0, 0);
        // SAFETY: a handle and places of our own; the array lives as long as the report.
        unsafe {
            let findings = upcheck_report_findings(self.0, &raw mut n, &raw mut stride);
            array(findings, n)
        }
    }

    pub(crate) fn causes(&self) -> &[Cause] {
        let (mut n, mut stride) = (0, 0);
        // SAFETY: a handle and places of our own; the array lives as long as the report.
        unsafe {
            let causes = upcheck_report_causes(self.0, &raw mut n, &raw mut stride);
            array(causes, n)
        }
    }

    pub(crate) fn explain(&self, graph: &Graph, finding: usize) -> Vec<u8> {
        // SAFETY: handles and a buffer of our own.
        filled(|buffer, capacity| unsafe {
            upcheck_report_explain(self.0, graph.0, finding, buffer, capacity)
        })
    }

    pub(crate) fn explain_cause(&self, graph: &Graph, cause: usize) -> Vec<u8> {
        // SAFETY: handles and a buffer of our own.
        filled(|buffer, capacity| unsafe {
            upcheck_report_explain_cause(self.0, graph.0, cause, buffer, capacity)
        })
    }
}
