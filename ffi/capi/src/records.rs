//! The store of records.

use crate::border::{Taken, call, hand_out, handle, need_place, put, take_back};
use crate::error::{Failure, Status, upcheck_error};
use crate::graph::absolute;
use crate::texts::{bytes, strings, upcheck_str};
use std::ffi::c_char;
use upcheck::records::Records;

/// A store.
pub struct upcheck_records {
    pub(crate) poisoned: bool,
    pub(crate) records: Records,
}

handle!(upcheck_records, "the records");

#[expect(clippy::needless_pass_by_value, reason = "it is handed over where errors become others")]
fn trouble(cause: std::io::Error) -> Failure {
    Failure::io("the store of records", b"", &cause)
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_records_open(
    folder: *const c_char,
    len: usize,
    records: *mut *mut upcheck_records,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        need_place(records, "records")?;
        // SAFETY: the caller's text, and a place that is not NULL.
        unsafe {
            let folder = absolute(bytes(folder, len, "folder")?)?;
            let opened = Records::open(&folder).map_err(trouble)?;
            hand_out(records, upcheck_records { poisoned: false, records: opened });
        }
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_records_read(
    folder: *const c_char,
    len: usize,
    records: *mut *mut upcheck_records,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        need_place(records, "records")?;
        // SAFETY: the caller's text, and a place that is not NULL.
        unsafe {
            let folder = absolute(bytes(folder, len, "folder")?)?;
            let read = Records::read(&folder).map_err(trouble)?;
            match read {
                Some(read) => hand_out(records, upcheck_records { poisoned: false, records: read }),
                None => put(records, std::ptr::null_mut()),
            }
        }
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_records_free(records: *mut upcheck_records) {
    // SAFETY: NULL or a store that was not freed, says the caller.
    unsafe { take_back(records) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_records_refresh(
    records: *mut upcheck_records,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        // SAFETY: the caller's handle.
        let mut records = unsafe { Taken::new(records) }?;
        records.records.refresh().map_err(trouble)
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_records_forget(
    records: *mut upcheck_records,
    names: *const upcheck_str,
    n: usize,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        // SAFETY: the caller's handle and texts.
        let (mut records, names) = unsafe { (Taken::new(records)?, strings(names, n, "names")?) };
        records.records.forget(&names).map_err(trouble)
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_records_compact(
    records: *mut upcheck_records,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        // SAFETY: the caller's handle.
        let mut records = unsafe { Taken::new(records) }?;
        records.records.compact().map_err(trouble)
    })
}
