//! What Windows says of the user for whom a thread runs, as bytes.
#![expect(unsafe_code, reason = "Windows takes pointers and sizes")]

use std::ffi::c_void;
use std::io;
use std::ptr::without_provenance_mut;
use windows_sys::Win32::Foundation::{ERROR_INSUFFICIENT_BUFFER, HANDLE};
use windows_sys::Win32::Security::{GetTokenInformation, TOKEN_INFORMATION_CLASS};

/// What the token says by which this thread is judged: a structure that goes with the class, and what its pointers lead to.
///
/// # Errors
/// Whatever the operating system says.
pub fn token(class: TOKEN_INFORMATION_CLASS) -> io::Result<Vec<u64>> {
    // `GetCurrentThreadEffectiveToken`, which is no handle to be closed, but a number that stands for one.
    const EFFECTIVE: usize = -6_isize as usize;
    let token: HANDLE = without_provenance_mut(EFFECTIVE);
    fill(|buffer, length, needed| {
        // SAFETY: the buffer has as many bytes as is said and is aligned, and `needed` is where the call may write a number.
        // The token is one that every thread has.
        unsafe { GetTokenInformation(token, class, buffer, length, needed) }
    })
}

/// Calls with a buffer that is large enough. The call gets the buffer, how many bytes it has, and where to write how many it
/// takes; it ends with 0 if it failed. The buffer is of numbers so that it is aligned to 8 bytes; what is behind the
/// answer is 0.
///
/// # Errors
/// What the operating system says of the call's failure.
pub fn fill(call: impl Fn(*mut c_void, u32, *mut u32) -> i32) -> io::Result<Vec<u64>> {
    let mut buffer = vec![0_u64; 32];
    loop {
        let length = u32::try_from(size_of_val(&*buffer)).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut needed = 0;
        if call(buffer.as_mut_ptr().cast(), length, &raw mut needed) != 0 {
            return Ok(buffer);
        }
        let error = io::Error::last_os_error();
        // Groups may become more between two calls, but a length that was enough is no reason to go on.
        if error.raw_os_error() != Some(ERROR_INSUFFICIENT_BUFFER.cast_signed()) || needed <= length {
            return Err(error);
        }
        buffer.resize(needed.div_ceil(8) as usize, 0);
    }
}
