//! What a check came to, in arrays.

use crate::border::{Sized1, answer, call, handle, peek, put, shared, take_back, write_sized};
use crate::error::{Status, upcheck_error};
use crate::evidence::{finding, reason_number, upcheck_finding};
use crate::graph::{number, upcheck_graph};
use crate::texts::fill;
use std::ffi::c_char;
use upcheck::{Graph, Meta, Reason, Report, RootCause, Snapshot, Verdict};
use upcheck_words::Zone;

/// The answer in numbers; see `upcheck.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the header says what they are")]
pub struct upcheck_summary {
    pub struct_size: usize,
    pub n_targets: u64,
    pub n_stale: u64,
    pub n_pending: u64,
    pub n_root_causes: u64,
    pub n_files: u64,
    pub n_directories: u64,
    pub n_contents: u64,
    pub began: i64,
    pub ended: i64,
}

// SAFETY: integers, the first of them its size, and no gap at the end.
unsafe impl Sized1 for upcheck_summary {
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// A file at the root of staleness; see `upcheck.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the header says what they are")]
pub struct upcheck_cause {
    pub file: u32,
    pub reason: i32,
    pub n_targets: u64,
}

/// A report.
pub struct upcheck_report {
    poisoned: bool,
    /// The number of the graph that was checked.
    graph: u64,
    summary: upcheck_summary,
    verdicts: Vec<u8>,
    stale: Vec<u32>,
    findings: Vec<upcheck_finding>,
    /// One for each finding.
    reasons: Vec<Reason>,
    causes: Vec<upcheck_cause>,
    root_causes: Vec<RootCause>,
}

handle!(upcheck_report, "the report");

impl upcheck_report {
    pub(crate) fn new(
        graph: u64,
        report: Report,
        verdicts: &[Option<Verdict>],
        snapshot: &Snapshot,
        n_contents: usize,
    ) -> Self {
        let summary = upcheck_summary {
            struct_size: size_of::<upcheck_summary>(),
            n_targets: report.n_targets as u64,
            n_stale: report.n_stale as u64,
            n_pending: report.n_pending as u64,
            n_root_causes: report.n_root_causes as u64,
            n_files: snapshot.n_files() as u64,
            n_directories: snapshot.counts().directories,
            n_contents: n_contents as u64,
            began: Meta::mtime_at(snapshot.began()),
            ended: Meta::mtime_at(snapshot.ended()),
        };
        let causes = report.root_causes.iter().map(|cause| upcheck_cause {
            file: number(Some(cause.reason.path().index())),
            reason: reason_number(&cause.reason),
            n_targets: cause.n_targets as u64,
        });
        let causes = causes.collect();
        let n_findings = report.stale.iter().map(|stale| stale.reasons.len()).sum();
        let (mut findings, mut reasons) = (Vec::with_capacity(n_findings), Vec::with_capacity(n_findings));
        let stale = report.stale.iter().map(|stale| number(Some(stale.target.index()))).collect();
        for stale in report.stale {
            findings.extend(stale.reasons.iter().map(|reason| finding(stale.target, reason)));
            reasons.extend(stale.reasons);
        }
        Self {
            poisoned: false,
            graph,
            summary,
            verdicts: verdicts.iter().map(|verdict| verdict_number(*verdict)).collect(),
            stale,
            findings,
            reasons,
            causes,
            root_causes: report.root_causes,
        }
    }
}

fn verdict_number(verdict: Option<Verdict>) -> u8 {
    match verdict {
        Some(Verdict::Fresh) => 0,
        Some(Verdict::Stale) => 1,
        Some(Verdict::Pending) => 2,
        None => 3,
    }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_report_free(report: *mut upcheck_report) {
    // SAFETY: NULL or a report that was not freed, says the caller.
    unsafe { take_back(report) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_report_summary(
    report: *const upcheck_report,
    summary: *mut upcheck_summary,
    error: *mut *mut upcheck_error,
) -> Status {
    // SAFETY: the caller's handle and struct.
    call(error, || unsafe { write_sized(summary, &shared(report)?.summary, "summary") })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_report_is_fresh(report: *const upcheck_report) -> i32 {
    // SAFETY: the caller's handle.
    unsafe { peek(report) }
        .map_or(0, |report| i32::from(report.summary.n_stale + report.summary.n_pending == 0))
}

/// An array of a report; empty where there is none.
///
/// # Safety
/// NULL or a report; `n` and `stride` are NULL or can be written.
unsafe fn array<T>(
    report: *const upcheck_report,
    n: *mut usize,
    stride: *mut usize,
    of: impl FnOnce(&upcheck_report) -> &[T],
) -> *const T {
    // SAFETY: see above.
    unsafe {
        let values = peek(report).map_or(&[][..], of);
        put(n, values.len());
        put(stride, size_of::<T>());
        values.as_ptr()
    }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_report_verdicts(report: *const upcheck_report, n: *mut usize) -> *const u8 {
    // SAFETY: the caller's handle and place.
    unsafe { array(report, n, std::ptr::null_mut(), |report| &report.verdicts) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_report_stale(report: *const upcheck_report, n: *mut usize) -> *const u32 {
    // SAFETY: the caller's handle and place.
    unsafe { array(report, n, std::ptr::null_mut(), |report| &report.stale) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_report_findings(
    report: *const upcheck_report,
    n: *mut usize,
    stride: *mut usize,
) -> *const upcheck_finding {
    // SAFETY: the caller's handle and places.
    unsafe { array(report, n, stride, |report| &report.findings) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_report_causes(
    report: *const upcheck_report,
    n: *mut usize,
    stride: *mut usize,
) -> *const upcheck_cause {
    // SAFETY: the caller's handle and places.
    unsafe { array(report, n, stride, |report| &report.causes) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_report_explain(
    report: *const upcheck_report,
    graph: *const upcheck_graph,
    finding: usize,
    buffer: *mut c_char,
    capacity: usize,
) -> usize {
    let words = |report: &upcheck_report, graph: &Graph| {
        report.reasons.get(finding).map(|reason| upcheck_words::sentence(graph, reason, Zone::Utc))
    };
    // SAFETY: the caller's handles and buffer.
    unsafe { explain(report, graph, words, buffer, capacity) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_report_explain_cause(
    report: *const upcheck_report,
    graph: *const upcheck_graph,
    cause: usize,
    buffer: *mut c_char,
    capacity: usize,
) -> usize {
    let words = |report: &upcheck_report, graph: &Graph| {
        report.root_causes.get(cause).map(|cause| upcheck_words::cause(graph, cause, Zone::Utc))
    };
    // SAFETY: the caller's handles and buffer.
    unsafe { explain(report, graph, words, buffer, capacity) }
}

/// Puts something into words for the caller; nothing, if the report is not about this graph as it is numbered now.
///
/// # Safety
/// Each is NULL or what it is called.
unsafe fn explain(
    report: *const upcheck_report,
    graph: *const upcheck_graph,
    words: impl FnOnce(&upcheck_report, &Graph) -> Option<String>,
    buffer: *mut c_char,
    capacity: usize,
) -> usize {
    answer(0, || {
        // SAFETY: see above.
        let (report, graph) = unsafe { (shared(report), shared(graph)) };
        let text = match (report, graph) {
            (Ok(report), Ok(graph)) if report.graph == graph.number => words(report, graph.graph()),
            _ => None,
        };
        // SAFETY: see above.
        unsafe { fill(text.unwrap_or_default().as_bytes(), buffer, capacity) }
    })
}
