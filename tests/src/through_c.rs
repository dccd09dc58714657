//! The functions of the C interface behind types that free what they hold, and answers in a form in which those of C and
//! of Rust can be compared: by paths and names, to the last piece of evidence.

#![allow(unsafe_code, reason = "what is tested is called as from C; each block names the fact it relies on")]

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::fmt::Write;
use std::ptr::{null, null_mut};
use upcheck::{FileId, Graph, Reason, Report, Snapshot, TargetId, Verdict};
use upcheck_capi::*;

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Its status.
    pub status: Status,
    /// What it says.
    pub message: String,
}

/// Makes a call with a place for its error.
///
/// # Errors
/// What the call says.
///
/// # Panics
/// Where status and error do not fit together.
pub fn call(body: impl FnOnce(*mut *mut upcheck_error) -> Status) -> Result<(), Failed> {
    let mut error: *mut upcheck_error = null_mut::<u64>().wrapping_add(1).cast();
    let status = body(&raw mut error);
    if status == Status::Ok {
        assert!(error.is_null(), "an error of a call that succeeded");
        return Ok(());
    }
    // SAFETY: the call has failed, so it has handed out an error.
    unsafe {
        assert_eq!(upcheck_error_status(error), status);
        let message = CStr::from_ptr(upcheck_error_message(error)).to_string_lossy().into_owned();
        assert!(!message.is_empty(), "an error without a message");
        upcheck_error_free(error);
        Err(Failed { status, message })
    }
}

/// Bytes as C takes them.
#[must_use]
pub fn text(bytes: &[u8]) -> upcheck_str {
    upcheck_str { ptr: bytes.as_ptr().cast(), len: bytes.len() }
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $raw:ident, $free:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name(pub *mut $raw);

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: it is freed here and nowhere else.
                unsafe { $free(self.0) }
            }
        }
    };
}

handle!(
    /// A graph.
    CGraph,
    upcheck_graph,
    upcheck_graph_free
);
handle!(
    /// A store.
    CRecords,
    upcheck_records,
    upcheck_records_free
);
handle!(
    /// A report.
    CReport,
    upcheck_report,
    upcheck_report_free
);
handle!(
    /// A build.
    CBuild,
    upcheck_build,
    upcheck_build_free
);

/// A copy of an array that the library hands out. What it says of its length and stride is believed.
///
/// # Panics
/// Where it hands out no pointer.
///
/// # Safety
/// `array` hands out an array of these that is still there when it returns.
pub unsafe fn array<T: Copy>(array: impl FnOnce(*mut usize, *mut usize) -> *const T) -> Vec<T> {
    let (mut n, mut stride) = (usize::MAX, size_of::<T>());
    let first = array(&raw mut n, &raw mut stride);
    assert!(!first.is_null() && stride >= size_of::<T>());
    // SAFETY: says the caller.
    (0..n).map(|at| unsafe { first.byte_add(at * stride).read() }).collect()
}

impl CGraph {
    /// A graph of a directory.
    ///
    /// # Errors
    /// What the call says.
    pub fn new(directory: &[u8]) -> Result<Self, Failed> {
        let mut graph = null_mut();
        // SAFETY: a text and places.
        call(|error| unsafe {
            upcheck_graph_new(directory.as_ptr().cast(), directory.len(), &raw mut graph, error)
        })?;
        Ok(Self(graph))
    }

    /// The path of a file.
    #[must_use]
    pub fn path(&self, file: u32) -> String {
        // SAFETY: the graph is there, and nobody changes it while its text is read.
        unsafe { shown(upcheck_graph_path(self.0, file)) }
    }

    /// The name of a target.
    #[must_use]
    pub fn name(&self, target: u32) -> String {
        // SAFETY: as above.
        unsafe { shown(upcheck_graph_name(self.0, target)) }
    }

    /// The file of a path.
    #[must_use]
    pub fn find(&self, path: &[u8]) -> u32 {
        // SAFETY: the graph is there, and so is the text.
        unsafe { upcheck_graph_find(self.0, path.as_ptr().cast(), path.len()) }
    }

    /// Reads a ninja build directory.
    ///
    /// # Errors
    /// What the call says.
    pub fn load_ninja(&self, options: &upcheck_ninja_options) -> Result<(), Failed> {
        // SAFETY: the graph is there, and so is the struct.
        call(|error| unsafe { upcheck_graph_load_ninja(self.0, options, error) })
    }

    /// Asks.
    ///
    /// # Errors
    /// What the call says.
    pub fn check(
        &self,
        records: Option<&CRecords>,
        options: Option<&upcheck_check_options>,
    ) -> Result<CReport, Failed> {
        let mut report = null_mut();
        let records = records.map_or(null(), |records| records.0.cast_const());
        let options = options.map_or(null(), std::ptr::from_ref);
        // SAFETY: the handles are there, and so is the struct.
        call(|error| unsafe { upcheck_check(self.0, records, options, &raw mut report, error) })
            .inspect_err(|_| assert!(report.is_null(), "a report of a check that failed"))?;
        Ok(CReport(report))
    }

    /// Asks about all, or about files, and reads the whole answer.
    ///
    /// # Errors
    /// What the call says.
    pub fn answer(
        &self,
        records: Option<&CRecords>,
        requests: Option<&[u32]>,
        flags: u32,
    ) -> Result<Answer, Failed> {
        // SAFETY: zeros are a value of it.
        let mut options: upcheck_check_options = unsafe { std::mem::zeroed() };
        options.struct_size = size_of::<upcheck_check_options>();
        options.flags = flags;
        if let Some(requests) = requests {
            (options.requests, options.n_requests) = (requests.as_ptr(), requests.len());
        }
        let report = self.check(records, Some(&options))?;
        Ok(Answer::of_c(self, &report))
    }
}

/// # Safety
/// The text is there.
unsafe fn shown(text: upcheck_str) -> String {
    assert!(!text.ptr.is_null());
    // SAFETY: says the caller.
    let bytes = unsafe { std::slice::from_raw_parts(text.ptr.cast::<u8>(), text.len) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// How often directories were visited, where that does not depend on the moment: on Windows, what is young is asked
/// itself, once more.
fn visits(n: u64) -> u64 {
    if cfg!(windows) { 0 } else { n }
}

/// A report, with paths and names for numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The verdict on each target, by its name: 0 fresh, 1 stale, 2 pending, 3 unasked.
    pub verdicts: BTreeMap<String, u8>,
    /// The names of those that are stale or pending, in order.
    pub stale: Vec<String>,
    /// All reasons, in order, with all evidence.
    pub findings: Vec<String>,
    /// The root causes.
    pub causes: Vec<String>,
    /// What the summary says.
    pub counts: [u64; 6],
}

impl Answer {
    /// Reads all arrays of a report.
    ///
    /// # Panics
    /// Where they contradict each other.
    #[must_use]
    pub fn of_c(graph: &CGraph, report: &CReport) -> Self {
        let none = |number: u32, text: String| if number == UPCHECK_NONE { "-".to_owned() } else { text };
        let path = |file| none(file, graph.path(file));
        let name = |target| none(target, graph.name(target));
        // SAFETY: the handles are there; the arrays live as long as the report.
        unsafe {
            let verdicts = array(|n, _| upcheck_report_verdicts(report.0, n));
            let stale = array(|n, stride| upcheck_report_stale(report.0, n, stride));
            let findings = array(|n, stride| upcheck_report_findings(report.0, n, stride));
            let causes = array(|n, stride| upcheck_report_causes(report.0, n, stride));
            let mut summary: upcheck_summary = std::mem::zeroed();
            summary.struct_size = size_of::<upcheck_summary>();
            call(|error| upcheck_report_summary(report.0, &raw mut summary, error)).expect("a summary");
            assert_eq!(verdicts.len(), upcheck_graph_n_targets(graph.0));
            assert_eq!(upcheck_report_is_fresh(report.0) == 1, stale.is_empty());
            assert!(summary.began <= summary.ended);
            for at in 0..=findings.len() {
                let sentence = sentence(|buffer, capacity| {
                    upcheck_report_explain(report.0, graph.0, at, buffer, capacity)
                });
                assert_eq!(sentence.is_empty(), at == findings.len(), "finding {at}");
            }
            for at in 0..=causes.len() {
                let sentence = sentence(|buffer, capacity| {
                    upcheck_report_explain_cause(report.0, graph.0, at, buffer, capacity)
                });
                assert_eq!(sentence.is_empty(), at == causes.len(), "cause {at}");
            }
            let reason = |number: i32| {
                let name = CStr::from_ptr(upcheck_reason_name(number)).to_str().expect("ASCII");
                assert!(number > 0 && !name.is_empty(), "reason {number}");
                name
            };
            Self {
                verdicts: (0u32..).zip(&verdicts).map(|(target, &is)| (graph.name(target), is)).collect(),
                stale: stale.into_iter().map(|stale| name(stale.target)).collect(),
                findings: findings
                    .iter()
                    .map(|it| {
                        assert_eq!(it.reserved, 0);
                        let (file, against) = (path(it.file), path(it.against));
                        let (target, upstream) = (name(it.target), name(it.upstream));
                        let reason = reason(it.reason);
                        format!("{target}: {reason} {file} {against} {} {} {upstream}", it.seen, it.expected)
                    })
                    .collect(),
                causes: causes
                    .iter()
                    .map(|it| format!("{} {} {}", it.n_targets, reason(it.reason), path(it.file)))
                    .collect(),
                counts: [
                    summary.n_targets,
                    summary.n_stale,
                    summary.n_pending,
                    summary.n_root_causes,
                    summary.n_files,
                    visits(summary.n_directories),
                ],
            }
        }
    }

    /// What is to be compared with another one. An image lets other files be looked at: those that it was read from.
    #[must_use]
    pub fn compared_with(&self, other: &Self, has_image: bool) -> Self {
        let mut compared = self.clone();
        if has_image {
            compared.counts[4..].copy_from_slice(&other.counts[4..]);
        }
        compared
    }

    /// The same from what Rust says.
    #[must_use]
    pub fn of_rust(
        graph: &Graph,
        report: &Report,
        verdicts: &[Option<Verdict>],
        snapshot: &Snapshot,
    ) -> Self {
        let path = |file: FileId| String::from_utf8_lossy(graph.files.path(file)).into_owned();
        let name = |target: TargetId| String::from_utf8_lossy(graph.name(target)).into_owned();
        let findings = report.stale.iter().flat_map(|stale| {
            stale.reasons.iter().map(|reason| {
                let (against, seen, expected) = evidence(reason);
                let against = against.map_or("-".to_owned(), path);
                let upstream = reason.upstream().map_or("-".to_owned(), name);
                let mut line = format!("{}: {} ", name(stale.target), reason.code());
                let _ = write!(line, "{} {against} {seen} {expected} {upstream}", path(reason.path()));
                line
            })
        });
        let count = |n: usize| u64::try_from(n).expect("a count");
        Self {
            verdicts: graph
                .targets()
                .zip(verdicts)
                .map(|(target, verdict)| {
                    let number = match verdict {
                        Some(Verdict::Fresh) => 0,
                        Some(Verdict::Stale) => 1,
                        Some(Verdict::Pending) => 2,
                        None => 3,
                    };
                    (name(target), number)
                })
                .collect(),
            stale: report.stale.iter().map(|stale| name(stale.target)).collect(),
            findings: findings.collect(),
            causes: report
                .root_causes
                .iter()
                .map(|it| format!("{} {} {}", it.n_targets, it.reason.code(), path(it.reason.path())))
                .collect(),
            counts: [
                count(report.n_targets),
                count(report.n_stale),
                count(report.n_pending),
                count(report.n_root_causes),
                count(snapshot.n_files()),
                visits(snapshot.counts().directories),
            ],
        }
    }
}

/// A sentence for people, of which the first piece has to be the same however small the buffer is.
fn sentence(explain: impl Fn(*mut c_char, usize) -> usize) -> String {
    let length = explain(null_mut(), 0);
    let mut buffer = vec![0x7fu8; length + 2];
    assert_eq!(explain(buffer.as_mut_ptr().cast(), length + 1), length);
    assert_eq!((buffer[length], buffer[length + 1]), (0, 0x7f), "where a sentence ends");
    let mut small = [0x7fu8; 8];
    assert_eq!(explain(small.as_mut_ptr().cast(), 5), length);
    let n = length.min(4);
    assert!(small[..n] == buffer[..n] && small[n] == 0 && small[5..] == [0x7f; 3]);
    buffer.truncate(length);
    String::from_utf8(buffer).expect("UTF-8")
}

/// What the header says of a reason's evidence: against what, what was seen, what was expected.
fn evidence(reason: &Reason) -> (Option<FileId>, i64, i64) {
    let signed = |number: u64| i64::from_ne_bytes(number.to_ne_bytes());
    let count = |files: &[FileId]| i64::try_from(files.len()).expect("a count");
    match reason {
        Reason::InputNewer { input_mtime, output, output_mtime, .. } => {
            (Some(*output), *input_mtime, *output_mtime)
        }
        Reason::InputChanged { compared, .. } | Reason::OutputChanged { compared, .. } => {
            let mtime = |meta: Option<upcheck::Meta>| meta.map_or(i64::MIN, |meta| meta.mtime);
            (None, mtime(compared.now), mtime(compared.recorded))
        }
        Reason::InputsDiffer { added, removed, .. } => (None, count(added), count(removed)),
        Reason::CommandChanged { recorded_hash, hash, .. } => (None, signed(*hash), signed(*recorded_hash)),
        Reason::DepsOutdated { output_mtime, recorded_mtime, .. } => (None, *output_mtime, *recorded_mtime),
        Reason::Interrupted { began, .. } => (None, *began, 0),
        Reason::Unreadable { errno, .. } => (None, i64::from(*errno), 0),
        _ => (None, 0, 0),
    }
}
