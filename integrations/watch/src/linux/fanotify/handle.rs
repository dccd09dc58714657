//! File handles: what the kernel calls a file, whatever its names are.

#![allow(unsafe_code, reason = "fanotify and file handles are not in rustix")]

use rustix::io::Errno;
use std::ffi::{CString, c_int, c_uint};
use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// No handle is longer (`MAX_HANDLE_SZ`).
const LONGEST: usize = 128;

/// A handle as the kernel writes it, and which mount it was reached by.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Handle {
    length: c_uint,
    pub(super) kind: c_int,
    bytes: [u8; LONGEST],
}

impl Handle {
    /// The handle without what is behind it.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..(self.length as usize).min(LONGEST)]
    }
}

/// The handle of what a path leads to, a link itself, and the number of the mount that it lies on.
pub(super) fn of_path(path: &[u8]) -> Result<(Handle, c_int), Errno> {
    handle(libc::AT_FDCWD, path, 0)
}

/// The same of an open file.
pub(super) fn of_file(file: &File) -> Result<(Handle, c_int), Errno> {
    handle(file.as_raw_fd(), b"", libc::AT_EMPTY_PATH)
}

fn handle(from: c_int, path: &[u8], flags: c_int) -> Result<(Handle, c_int), Errno> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    let length = c_uint::try_from(LONGEST).unwrap_or(c_uint::MAX);
    let mut handle = Handle { length, kind: 0, bytes: [0; LONGEST] };
    let mut mount = 0;
    let place = (&raw mut handle).cast::<libc::file_handle>();
    // SAFETY: `place` is a head of the right form with as many bytes behind it as that says; the path ends with NUL.
    let done = unsafe { libc::name_to_handle_at(from, path.as_ptr(), place, &raw mut mount, flags) };
    if done == 0 { Ok((handle, mount)) } else { Err(last_error()) }
}

/// A group: its queue, as a file. It reports files by handles, with the directory and the name that they were reached by.
pub(super) fn new_group() -> Result<OwnedFd, Errno> {
    let report = libc::FAN_REPORT_FID | libc::FAN_REPORT_DIR_FID | libc::FAN_REPORT_NAME;
    let flags = libc::FAN_CLASS_NOTIF | libc::FAN_CLOEXEC | libc::FAN_NONBLOCK | report;
    // SAFETY: it takes two numbers.
    let group = unsafe { libc::fanotify_init(flags, libc::O_RDONLY.cast_unsigned()) };
    if group < 0 {
        return Err(last_error());
    }
    // SAFETY: the kernel has just opened it for us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(group) })
}

/// From now on the group is told of all that happens on the whole file system that a path lies on, as far as it is in `what`.
pub(super) fn mark_file_system(group: BorrowedFd<'_>, path: &Path, what: u64) -> Result<(), Errno> {
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)?;
    let flags = libc::FAN_MARK_ADD | libc::FAN_MARK_FILESYSTEM | libc::FAN_MARK_DONT_FOLLOW;
    // SAFETY: the group is open, and the path ends with NUL.
    let done = unsafe { libc::fanotify_mark(group.as_raw_fd(), flags, what, libc::AT_FDCWD, path.as_ptr()) };
    if done == 0 { Ok(()) } else { Err(last_error()) }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_of_one_file_have_one_handle_and_another_file_has_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let of = |name: &str| {
            let (handle, mount) = of_path(path(name).as_os_str().as_bytes()).expect("a handle");
            (handle.kind, handle.bytes().to_vec(), mount)
        };
        let file = File::create(path("a")).expect("a file");
        std::fs::hard_link(path("a"), path("b")).expect("a link");
        std::os::unix::fs::symlink("a", path("link")).expect("a link");
        std::fs::write(path("c"), "").expect("a file");
        assert_eq!(of("a"), of("b"));
        assert_ne!(of("a"), of("c"));
        assert_ne!(of("a"), of("link"));
        let (handle, mount) = of_file(&file).expect("a handle");
        assert_eq!((handle.kind, handle.bytes().to_vec(), mount), of("a"));
        let old = of("c");
        std::fs::remove_file(path("c")).expect("a file");
        std::fs::write(path("c"), "").expect("a file");
        assert_ne!(of("c"), old, "even if its inode has the same number");
        assert_eq!(of_path(path("none").as_os_str().as_bytes()).err(), Some(Errno::NOENT));
    }
}
