//! A feed of the caller's own: what he says has changed.

use crate::border::{Sized1, Taken, answer, call, check_flags, peek, read_sized, shared, write_sized};
use crate::error::{Failure, Status, upcheck_error};
use crate::graph::upcheck_graph;
use crate::texts::{strings, upcheck_str};
use std::time::Duration;
use upcheck_watch::told::{Basis, News, Options, Said, Told};

/// `UPCHECK_EVERYTHING`
pub const UPCHECK_EVERYTHING: u32 = 1;

/// What has changed; see `upcheck.h`.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the header says what they are")]
pub struct upcheck_changes {
    pub struct_size: usize,
    pub since: upcheck_str,
    pub now: upcheck_str,
    pub paths: *const upcheck_str,
    pub n_paths: usize,
    pub flags: u32,
    pub spot_checks: u32,
    pub young: u64,
}

// SAFETY: pointers and integers without gaps, the first of them its size.
unsafe impl Sized1 for upcheck_changes {
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// What became of it; see `upcheck.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the header says what they are")]
pub struct upcheck_told {
    pub struct_size: usize,
    pub n_asked: u64,
    pub n_remembered: u64,
    pub n_spot_checks: u64,
    pub n_directories: u64,
    pub n_wrong: u64,
    pub basis: i32,
    pub believed: i32,
}

// SAFETY: integers, the first of them its size, and no gap at the end.
unsafe impl Sized1 for upcheck_told {
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_tell(
    graph: *mut upcheck_graph,
    changes: *const upcheck_changes,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        // SAFETY: the caller's handle, struct and texts.
        let (mut graph, given) = unsafe {
            let given = read_sized(changes, "changes")?.ok_or_else(|| Failure::null("changes"))?;
            (Taken::new(graph)?, given)
        };
        check_flags(given.flags, UPCHECK_EVERYTHING)?;
        // SAFETY: the caller's texts.
        let (since, now, paths) = unsafe {
            let paths = strings(given.paths, given.n_paths, "paths")?;
            (given.since.bytes("since")?, given.now.bytes("now")?, paths)
        };
        if paths.iter().any(|path| path.is_empty() || path.contains(&0)) {
            return Err(Failure::invalid("a path is empty or has a NUL in it"));
        }
        let is_everything = given.flags & UPCHECK_EVERYTHING != 0;
        let changed = if is_everything { Said::Everything } else { Said::Paths(&paths) };
        let upcheck_graph { told, directory, .. } = &mut *graph;
        let told = told.get_or_insert_with(|| {
            Box::new(Told::new(directory.as_os_str().as_encoded_bytes(), Options::default()))
        });
        let mut options = Options::default();
        if given.spot_checks != 0 {
            options.spot_checks = given.spot_checks as usize;
        }
        if given.young != 0 {
            options.young = Duration::from_nanos(given.young);
        }
        told.set_options(options);
        told.tell(&News { since: (!since.is_empty()).then_some(since), now, changed });
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_told(
    graph: *const upcheck_graph,
    told: *mut upcheck_told,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        // SAFETY: the caller's handle and struct.
        unsafe {
            let feed = shared(graph)?.told.as_deref();
            let counts = feed.map(Told::counts).unwrap_or_default();
            let value = upcheck_told {
                struct_size: 0,
                n_asked: counts.of_disk,
                n_remembered: counts.remembered,
                n_spot_checks: counts.checked,
                n_directories: counts.directories,
                n_wrong: counts.wrong,
                basis: number(feed.map_or(Basis::Nothing, Told::basis)),
                believed: i32::from(feed.is_none_or(Told::is_believed)),
            };
            write_sized(told, &value, "told")
        }
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_graph_wrong(graph: *const upcheck_graph) -> upcheck_str {
    // SAFETY: the caller's handle.
    answer(upcheck_str::EMPTY, || match unsafe { peek(graph) }.and_then(|graph| graph.told.as_deref()) {
        Some(told) if !told.wrong().is_empty() => upcheck_str::new(told.wrong()),
        _ => upcheck_str::EMPTY,
    })
}

/// As the header numbers them.
fn number(basis: Basis) -> i32 {
    match basis {
        Basis::Nothing => 0,
        Basis::Told => 1,
        Basis::First => 2,
        Basis::Everything => 3,
        Basis::Gap => 4,
        Basis::Silence => 5,
        Basis::Wrong => 6,
        Basis::Moved => 7,
        Basis::Unsupported => 8,
    }
}
