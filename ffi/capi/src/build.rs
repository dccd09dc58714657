//! Builds that are put on record.

use crate::border::{Taken, call, check_flags, hand_out, handle, need_place, peek, put, take_back};
use crate::error::{Failure, Status, upcheck_error};
use crate::graph::{ids, number, upcheck_graph};
use crate::records::upcheck_records;
use upcheck::project::{Begun, Options};

/// `UPCHECK_MADE_IN_ORDER`
pub const UPCHECK_MADE_IN_ORDER: u32 = 1;

/// A file that leaves it open what a target was made from.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the header says what they are")]
pub struct upcheck_doubt {
    pub target: u32,
    pub file: u32,
}

/// Builds that began.
pub struct upcheck_build {
    poisoned: bool,
    /// The number of the graph whose targets they are.
    graph: u64,
    /// `None` once they were committed.
    begun: Option<Begun>,
    doubts: Vec<upcheck_doubt>,
}

handle!(upcheck_build, "the build");

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_begin(
    graph: *mut upcheck_graph,
    records: *mut upcheck_records,
    targets: *const u32,
    n: usize,
    build: *mut *mut upcheck_build,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        need_place(build, "build")?;
        // SAFETY: the caller's handles and array.
        unsafe {
            let (mut graph, mut records) = (Taken::new(graph)?, Taken::new(records)?);
            let targets = graph.check_targets(ids(targets, n, "targets")?)?;
            graph.reopen()?;
            let (number, (project, disk)) = (graph.number, graph.project()?);
            let begun = project.begin(disk, &mut records.records, targets, Options::default())?;
            let new =
                upcheck_build { poisoned: false, graph: number, begun: Some(begun), doubts: Vec::new() };
            hand_out(build, new);
        }
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_commit(
    graph: *mut upcheck_graph,
    records: *mut upcheck_records,
    build: *mut upcheck_build,
    flags: u32,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        check_flags(flags, UPCHECK_MADE_IN_ORDER)?;
        // SAFETY: the caller's handles.
        let (mut graph, mut records, mut build) =
            unsafe { (Taken::new(graph)?, Taken::new(records)?, Taken::new(build)?) };
        if build.graph != graph.number {
            return Err(Failure::invalid("the build is one of another graph"));
        }
        graph.reopen()?;
        let (project, disk) = graph.project()?;
        // A copy: what cannot be committed now can be later.
        let begun = build.begun.clone();
        let begun = begun.ok_or_else(|| Failure::invalid("the build was committed before"))?;
        let options = Options { made_in_order: flags & UPCHECK_MADE_IN_ORDER != 0, ..Options::default() };
        let committed = project.commit(disk, &mut records.records, begun, options)?;
        build.begun = None;
        build.doubts = committed
            .doubtful
            .into_iter()
            .map(|(target, file)| upcheck_doubt {
                target: number(Some(target.index())),
                file: number(Some(file.index())),
            })
            .collect();
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_build_doubts(
    build: *const upcheck_build,
    n: *mut usize,
    stride: *mut usize,
) -> *const upcheck_doubt {
    // SAFETY: the caller's handle and places.
    unsafe {
        let doubts = peek(build).map_or(&[][..], |build| &build.doubts);
        put(n, doubts.len());
        put(stride, size_of::<upcheck_doubt>());
        doubts.as_ptr()
    }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_build_free(build: *mut upcheck_build) {
    // SAFETY: NULL or a build that was not freed, says the caller.
    unsafe { take_back(build) }
}
