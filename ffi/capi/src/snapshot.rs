//! The status of many files, for those who judge for themselves.

use crate::border::{call, hand_out, handle, need_place, peek, put, take_back};
use crate::error::{Failure, Status, upcheck_error};
use crate::graph::{directory_of, too_many};
use crate::texts::{bytes as text, upcheck_texts};
use std::ffi::c_char;
use upcheck::collect::{collect, os_disk};
use upcheck::{FileTable, Plan, Stat};

/// What is known of a file; see `upcheck.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the header says what they are")]
pub struct upcheck_stat {
    pub state: i32,
    pub os_code: i32,
    pub mtime: i64,
    pub ctime: i64,
    pub size: u64,
    pub inode: u64,
    pub device: u64,
}

impl From<Stat> for upcheck_stat {
    fn from(stat: Stat) -> Self {
        match stat {
            Stat::Unknown => Self::default(),
            Stat::Missing => Self { state: 1, ..Self::default() },
            Stat::Present(meta) => Self {
                state: 2,
                os_code: 0,
                mtime: meta.mtime,
                ctime: meta.ctime,
                size: meta.size,
                inode: meta.inode,
                device: meta.device,
            },
            Stat::Unreadable(errno) => Self { state: 3, os_code: errno, ..Self::default() },
        }
    }
}

/// A snapshot.
pub struct upcheck_snapshot {
    poisoned: bool,
    files: FileTable,
    /// By position.
    stats: Vec<upcheck_stat>,
    /// Where the status of each file of the table stands in `stats`.
    places: Vec<u32>,
}

handle!(upcheck_snapshot, "the snapshot");

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_collect(
    directory: *const c_char,
    len: usize,
    bytes: *const c_char,
    ends: *const u64,
    n: usize,
    threads: u32,
    snapshot: *mut *mut upcheck_snapshot,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        need_place(snapshot, "snapshot")?;
        // SAFETY: the caller's texts.
        let (directory, rows) =
            unsafe { (text(directory, len, "directory")?, upcheck_texts { bytes, ends }.rows(n, "paths")?) };
        if rows.ends().len() != n {
            return Err(Failure::null("the ends of the paths"));
        }
        if n >= u32::MAX as usize {
            return Err(too_many("paths"));
        }
        let base = directory_of(directory)?;
        let disk = os_disk(&base).map_err(|cause| Failure::io("opening", directory, &cause))?;
        let mut files = FileTable::default();
        let (mut ids, mut places) = (Vec::with_capacity(n), Vec::new());
        for (at, position) in (0..n).zip(0u32..) {
            let path = rows.row(at);
            if path.is_empty() || path.contains(&0) {
                return Err(Failure::invalid(format!("path {at} is empty or has a NUL in it")));
            }
            let file = files.intern(path);
            if file.index() == places.len() {
                places.push(position);
            }
            ids.push(file);
        }
        let plan = Plan::new(&files, files.ids());
        let found = collect(&disk, &plan, threads as usize);
        let stats = ids.into_iter().map(|file| found.stat(file).into()).collect();
        // SAFETY: a place that is not NULL.
        unsafe { hand_out(snapshot, upcheck_snapshot { poisoned: false, files, stats, places }) };
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_snapshot_stats(
    snapshot: *const upcheck_snapshot,
    n: *mut usize,
    stride: *mut usize,
) -> *const upcheck_stat {
    // SAFETY: the caller's handle and places.
    unsafe {
        let stats = peek(snapshot).map_or(&[][..], |snapshot| &snapshot.stats);
        put(n, stats.len());
        put(stride, size_of::<upcheck_stat>());
        stats.as_ptr()
    }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_snapshot_find(
    snapshot: *const upcheck_snapshot,
    path: *const c_char,
    len: usize,
) -> *const upcheck_stat {
    crate::border::answer(std::ptr::null(), || {
        // SAFETY: the caller's handle and text.
        let (snapshot, path) = unsafe { (peek(snapshot), text(path, len, "path")) };
        let (Some(snapshot), Ok(path)) = (snapshot, path) else { return std::ptr::null() };
        let found = snapshot.files.lookup(path);
        found.map_or(std::ptr::null(), |file| {
            &raw const snapshot.stats[snapshot.places[file.index()] as usize]
        })
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_snapshot_free(snapshot: *mut upcheck_snapshot) {
    // SAFETY: NULL or a snapshot that was not freed, says the caller.
    unsafe { take_back(snapshot) }
}
