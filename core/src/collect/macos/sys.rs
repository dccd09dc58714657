//! What only macOS can be asked: two calls that nobody wraps, and the type of a file system.
#![allow(unsafe_code)]

use super::Kernel;
use crate::collect::listing::attributes;
use rustix::fs::fstatfs;
use rustix::io::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The kernel that is there.
pub(in crate::collect) struct Darwin;

impl Kernel for Darwin {
    fn bulk(&self, directory: BorrowedFd<'_>, buffer: &mut [u8]) -> rustix::io::Result<usize> {
        let mut asked = libc::attrlist {
            bitmapcount: libc::ATTR_BIT_MAP_COUNT,
            reserved: 0,
            commonattr: attributes::COMMON,
            volattr: 0,
            dirattr: 0,
            fileattr: attributes::FILE,
            forkattr: 0,
        };
        let list = (&raw mut asked).cast();
        // SAFETY: The descriptor is open as long as it is borrowed, `asked` is a whole list of attributes, and the system
        // writes no more bytes than the buffer has.
        let count = unsafe {
            libc::getattrlistbulk(directory.as_raw_fd(), list, buffer.as_mut_ptr().cast(), buffer.len(), 0)
        };
        usize::try_from(count).map_err(|_| last_error())
    }

    fn is_authority(&self, directory: BorrowedFd<'_>) -> bool {
        let Ok(found) = fstatfs(directory) else { return false };
        let name = found.f_fstypename.map(|unit| unit.cast_unsigned());
        name.starts_with(b"apfs\0") || name.starts_with(b"hfs\0")
    }

    fn has_case(&self, directory: BorrowedFd<'_>) -> Option<bool> {
        // SAFETY: The descriptor is open as long as it is borrowed, and nothing else is handed over.
        match unsafe { libc::fpathconf(directory.as_raw_fd(), libc::_PC_CASE_SENSITIVE) } {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

fn last_error() -> Errno {
    let errno = std::io::Error::last_os_error().raw_os_error();
    errno.map_or(Errno::IO, Errno::from_raw_os_error)
}
