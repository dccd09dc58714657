//! Asking which targets are stale.

use crate::border::{Sized1, Taken, call, check_flags, hand_out, need_place, read_sized, shared};
use crate::cancel::{Cancellable, upcheck_cancel};
use crate::error::{Failure, Status, upcheck_error};
use crate::evidence::finding;
use crate::graph::{Kind, ids, next_number, path_of, upcheck_graph};
use crate::records::upcheck_records;
use crate::report::upcheck_report;
use crate::texts::{strings, upcheck_str};
use std::path::Path;
use upcheck::collect::{Disk, os_disk};
use upcheck::project::{Description, Options};
use upcheck::records::Records;
use upcheck::{FileId, Policy, Project};

/// `UPCHECK_BY_TIMES`
pub const UPCHECK_BY_TIMES: u32 = 1;

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_is_stale(
    outputs: *const upcheck_str,
    n_outputs: usize,
    inputs: *const upcheck_str,
    n_inputs: usize,
    stale: *mut i32,
    reason: *mut i32,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        // SAFETY: the caller's texts.
        let (outputs, inputs) =
            unsafe { (strings(outputs, n_outputs, "outputs")?, strings(inputs, n_inputs, "inputs")?) };
        let found = first_reason(&outputs, &inputs)?;
        // SAFETY: NULL or places, says the caller.
        unsafe {
            crate::border::put(stale, i32::from(found.is_some()));
            crate::border::put(reason, found.unwrap_or(0));
        }
        Ok(())
    })
}

/// The first reason why outputs are stale, by make's rule.
fn first_reason(outputs: &[&[u8]], inputs: &[&[u8]]) -> Result<Option<i32>, Failure> {
    let mut project = Project::new();
    project.set_policy(Some(Policy::Newer));
    let mut files =
        |paths: &[&[u8]]| paths.iter().map(|path| project.file(path)).collect::<Result<Vec<_>, _>>();
    let (outputs, inputs) = (files(outputs)?, files(inputs)?);
    let target =
        project.add(&Description { outputs: &outputs, explicit: &inputs, ..Description::default() })?;
    let disk = os_disk(Path::new(".")).map_err(|cause| Failure::io("opening", b".", &cause))?;
    // One target: no thread is worth starting.
    let checked = project.check(&disk, None, &outputs[..1], Options { threads: 1, ..Options::default() })?;
    let mut stale = checked.report.stale.iter().filter(|stale| stale.target == target);
    Ok(stale.next().map(|stale| stale.reasons.first().map_or(0, |reason| finding(target, reason).reason)))
}

/// How to go about a check; see `upcheck.h`.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the header says what they are")]
pub struct upcheck_check_options {
    pub struct_size: usize,
    pub flags: u32,
    pub threads: u32,
    pub requests: *const u32,
    pub n_requests: usize,
    pub cancel: *const upcheck_cancel,
}

// SAFETY: pointers and integers without gaps, the first of them its size.
unsafe impl Sized1 for upcheck_check_options {
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// A question, as the caller has put it.
#[derive(Default)]
struct Question<'a> {
    by_times: bool,
    threads: usize,
    /// `None`: what the graph names as its defaults.
    requests: Option<&'a [FileId]>,
    cancel: Option<&'a upcheck_cancel>,
}

impl Question<'_> {
    /// # Safety
    /// See `upcheck.h`.
    unsafe fn new(options: *const upcheck_check_options, graph: &upcheck_graph) -> Result<Self, Failure> {
        // SAFETY: the caller's struct.
        let Some(given) = unsafe { read_sized(options, "options") }? else { return Ok(Self::default()) };
        check_flags(given.flags, UPCHECK_BY_TIMES)?;
        // SAFETY: the caller's array and handle.
        let (requests, cancel) =
            unsafe { (ids(given.requests, given.n_requests, "requests")?, given.cancel.as_ref()) };
        let requests = match given.requests.is_null() {
            true => None,
            false => Some(graph.check_files(requests)?),
        };
        let by_times = given.flags & UPCHECK_BY_TIMES != 0;
        Ok(Self { by_times, threads: given.threads as usize, requests, cancel })
    }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_check(
    graph: *mut upcheck_graph,
    records: *const upcheck_records,
    options: *const upcheck_check_options,
    report: *mut *mut upcheck_report,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        need_place(report, "report")?;
        // SAFETY: the caller's handles, struct and arrays.
        unsafe {
            let mut graph = Taken::new(graph)?;
            let records = if records.is_null() { None } else { Some(&shared(records)?.records) };
            let question = Question::new(options, &graph)?;
            graph.reopen()?;
            let new = check(&mut graph, records, &question)?;
            hand_out(report, new);
        }
        Ok(())
    })
}

fn check(
    graph: &mut upcheck_graph,
    records: Option<&Records>,
    question: &Question<'_>,
) -> Result<upcheck_report, Failure> {
    let upcheck_graph { disk: plain, kind, number, told, .. } = graph;
    let asked = Cancellable { disk: plain, cancel: question.cancel };
    let remembering = told.as_mut().map(|told| told.question(&asked, question.threads));
    let disk: &dyn Disk = remembering.as_ref().map_or(&asked, |disk| disk);
    let result = match kind {
        Kind::Project(project) => {
            let options = Options { threads: question.threads, ..Options::default() };
            let requests = question.requests.map_or_else(|| project.default_requests(), <[FileId]>::to_vec);
            let checked = match question.by_times {
                true => project.check_by_times(disk, &requests, options),
                false => project.check(disk, records, &requests, options),
            };
            match checked {
                // What was found after the user cancelled is not what is there.
                Ok(_) if asked.is_cancelled() => Err(Failure::cancelled()),
                Ok(checked) => {
                    let (verdicts, n_contents) = (checked.verdicts().to_vec(), checked.n_contents);
                    Ok(upcheck_report::new(*number, checked.report, &verdicts, &checked.snapshot, n_contents))
                }
                Err(error) => Err(error.into()),
            }
        }
        Kind::Ninja(_) if question.by_times || records.is_some() => {
            Err(Failure::invalid("the graph is ninja's, which has its own rules and records"))
        }
        Kind::Ninja(ninja) => {
            let is_cancelled = || asked.is_cancelled();
            ninja.check(plain, disk, question.requests, &is_cancelled).map(|(is_new, checked)| {
                if is_new {
                    *number = next_number();
                }
                upcheck_report::new(*number, checked.report, &checked.verdicts, &checked.snapshot, 0)
            })
        }
    };
    result.map_err(|failure| if asked.is_cancelled() { Failure::cancelled() } else { failure })
}

/// The names that a description may have for a file of the caller: as it is given, relative to the graph's directory,
/// and absolute.
pub(crate) fn names_of(graph: &upcheck_graph, given: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
    let mut names = Vec::with_capacity(2);
    let mut absolute = graph.directory.join(path_of(given)?).into_os_string().into_encoded_bytes();
    upcheck::path::canonicalize(&mut absolute);
    let mut base = graph.directory.as_os_str().as_encoded_bytes().to_vec();
    base.push(b'/');
    if let Some(relative) = absolute.strip_prefix(base.as_slice()) {
        names.push(relative.to_vec());
    }
    let mut own = given.to_vec();
    upcheck::path::canonicalize(&mut own);
    for name in [absolute, own] {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Whether a disk can be shared by threads, which [`Cancellable`] needs.
const _: fn() = || {
    fn is_disk<D: Disk>() {}
    is_disk::<upcheck::collect::OsDisk>();
};
