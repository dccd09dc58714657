//! The reverse question.

use crate::border::{Taken, call, hand_out, handle, need_place, peek, put, shared, take_back};
use crate::check::names_of;
use crate::error::{Failure, Status, upcheck_error};
use crate::graph::{Kind, next_number, number, upcheck_graph};
use crate::records::upcheck_records;
use crate::texts::{strings, upcheck_str};
use upcheck::project::Options;

/// The targets that would go stale.
pub struct upcheck_affected {
    poisoned: bool,
    targets: Vec<u32>,
    /// Positions of files that nothing depends on.
    unknown: Vec<usize>,
}

handle!(upcheck_affected, "the affected targets");

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_affected_by(
    graph: *mut upcheck_graph,
    records: *const upcheck_records,
    files: *const upcheck_str,
    n_files: usize,
    affected: *mut *mut upcheck_affected,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        need_place(affected, "affected")?;
        // SAFETY: the caller's handles and texts.
        let (mut graph, records, files) = unsafe {
            let records = if records.is_null() { None } else { Some(&shared(records)?.records) };
            (Taken::new(graph)?, records, strings(files, n_files, "files")?)
        };
        if files.iter().any(|file| file.is_empty()) {
            return Err(Failure::invalid("a path is empty"));
        }
        let names = files.iter().map(|file| names_of(&graph, file)).collect::<Result<Vec<_>, _>>()?;
        graph.reopen()?;
        let upcheck_graph { disk, kind, number: graph_number, .. } = &mut *graph;
        let (found, unknown) = match kind {
            Kind::Project(project) => {
                let names: Vec<&[Vec<u8>]> = names.iter().map(Vec::as_slice).collect();
                project.affected(disk, records, &names, Options::default())?
            }
            Kind::Ninja(_) if records.is_some() => {
                return Err(Failure::invalid("the graph is ninja's, which has its own records"));
            }
            Kind::Ninja(ninja) => {
                if ninja.describe_all(disk)? {
                    *graph_number = next_number();
                }
                let (mut known, mut unknown) = (Vec::new(), Vec::new());
                for (position, names) in names.iter().enumerate() {
                    let n_before = known.len();
                    known.extend(names.iter().filter_map(|name| ninja.find(name)));
                    if known.len() == n_before {
                        unknown.push(position);
                    }
                }
                (upcheck::affected(ninja.graph(), ninja.history(), &known), unknown)
            }
        };
        let flags = |target| graph.graph().flags(target);
        let targets = found.iter().filter(|found| !flags(found.target).phony);
        let targets = targets.map(|found| number(Some(found.target.index()))).collect();
        // SAFETY: a place that is not NULL.
        unsafe { hand_out(affected, upcheck_affected { poisoned: false, targets, unknown }) };
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_affected_targets(
    affected: *const upcheck_affected,
    n: *mut usize,
) -> *const u32 {
    // SAFETY: the caller's handle and place.
    unsafe {
        let targets = peek(affected).map_or(&[][..], |affected| &affected.targets);
        put(n, targets.len());
        targets.as_ptr()
    }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_affected_unknown(
    affected: *const upcheck_affected,
    n: *mut usize,
) -> *const usize {
    // SAFETY: the caller's handle and place.
    unsafe {
        let unknown = peek(affected).map_or(&[][..], |affected| &affected.unknown);
        put(n, unknown.len());
        unknown.as_ptr()
    }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_affected_free(affected: *mut upcheck_affected) {
    // SAFETY: NULL or what was handed out and not freed, says the caller.
    unsafe { take_back(affected) }
}
