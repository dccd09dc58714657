//! Targets that only one driver builds at a time.

use crate::border::{call, check_flags, hand_out, need_place, shared, take_back};
use crate::error::{Failure, Status, upcheck_error};
use crate::records::upcheck_records;
use crate::texts::bytes;
use std::ffi::c_char;
use upcheck::records::{TargetLock, lock_target};

/// `UPCHECK_WAIT`
pub const UPCHECK_WAIT: u32 = 1;

/// A lock.
pub struct upcheck_lock {
    /// Held while it is there.
    _lock: TargetLock,
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_records_lock(
    records: *const upcheck_records,
    name: *const c_char,
    len: usize,
    flags: u32,
    lock: *mut *mut upcheck_lock,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        need_place(lock, "lock")?;
        check_flags(flags, UPCHECK_WAIT)?;
        // SAFETY: the caller's handle and text, and a place that is not NULL.
        unsafe {
            let (records, name) = (shared(records)?, bytes(name, len, "name")?);
            if name.is_empty() {
                return Err(Failure::invalid("a name is empty"));
            }
            let taken = lock_target(records.records.folder(), name, flags & UPCHECK_WAIT != 0)
                .map_err(|cause| Failure::io("the store of records", b"", &cause))?;
            match taken {
                Some(taken) => hand_out(lock, upcheck_lock { _lock: taken }),
                None => lock.write(std::ptr::null_mut()),
            }
        }
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_lock_free(lock: *mut upcheck_lock) {
    // SAFETY: NULL or a lock that was not freed, says the caller.
    unsafe { take_back(lock) }
}
