//! What a process has open that lives longer than whoever started it, on Unix.
#![expect(unsafe_code, reason = "descriptors are known by number only")]

use rustix::io::{FdFlags, close, fcntl_getfd};
use std::os::fd::BorrowedFd;

/// Closes what this process has inherited, but for its three streams. What it has opened itself stays: a descriptor that is
/// inherited is one that is not closed when a program is started, and nothing here opens such.
pub fn close_inherited() {
    let Ok(open) = std::fs::read_dir("/dev/fd") else { return };
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let numbers: Vec<i32> = open.flatten().filter_map(number).filter(|number| *number > 2).collect();
    for number in numbers {
        // SAFETY: it is not used after this line. If it is not open by now, that is said.
        let flags = fcntl_getfd(unsafe { BorrowedFd::borrow_raw(number) });
        if flags.is_ok_and(|flags| !flags.contains(FdFlags::CLOEXEC)) {
            // SAFETY: nobody in this process has opened it, so nobody here rests on it.
            unsafe { close(number) };
        }
    }
}
