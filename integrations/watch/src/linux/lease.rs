//! Whether somebody has a file open to write to it: the kernel gives a read lease on a file to its owner only if nobody has.
//!
//! Who writes through a mapping, or with the kernel's asynchronous calls, is told of only when the file is closed. So a file is
//! vouched for only after a lease on it was given, and until somebody opens it. Nobody can be kept from opening it meanwhile
//! for longer than it takes to give the lease back, which is done at once.
//!
//! Source: `fcntl(2)`, "Leases"; `check_conflicting_open()` in the kernel's `fs/locks.c`. Mappings count, since each keeps its
//! file open.

#![allow(unsafe_code, reason = "leases are not in rustix")]

use crate::backend::Closed;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Which signal is sent (`asm-generic/fcntl.h`; it is the same wherever Rust has Linux).
const F_SETSIG: libc::c_int = 10;

/// Opens a file so that it can be asked about. It is no wait where somebody has a lease on it, and no side effect where it is no
/// file any more.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Whether nobody has the file open to write to it. It has to be open for reading only.
pub(super) fn is_closed(file: &File) -> Closed {
    // Who opens the file between the two calls waits until the second one, and a signal is sent to this process: not the usual
    // one, which would end it, but one that does nothing unless somebody wants it to.
    let asked =
        control(file, F_SETSIG, libc::SIGURG).and_then(|()| control(file, libc::F_SETLEASE, libc::F_RDLCK));
    match asked {
        Ok(()) => {
            // Where this failed, closing the file does it.
            let _ = control(file, libc::F_SETLEASE, libc::F_UNLCK);
            Closed::Yes
        }
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Closed::No,
        // It is somebody else's file, or on a file system that has no leases.
        Err(_) => Closed::Unknowable,
    }
}

fn control(file: &File, command: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: the descriptor is open, and these commands take a number and touch no memory of this process.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), command, value) };
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_closed_when_all_who_could_write_to_it_have_closed_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        let one = File::create(&path).expect("a file");
        let two = OpenOptions::new().append(true).open(&path).expect("a file");
        let reader = File::open(&path).expect("a file");
        let mine = open(&path).expect("a file");
        assert_eq!(is_closed(&mine), Closed::No);
        drop(one);
        assert_eq!(is_closed(&mine), Closed::No);
        drop(two);
        assert_eq!(is_closed(&mine), Closed::Yes);
        drop(reader);
        // Nobody is kept from writing.
        drop(
            OpenOptions::new()
                .write(true)
                .custom_flags(libc::O_NONBLOCK)
                .open(&path)
                .expect("no lease is left"),
        );
        assert_eq!(is_closed(&mine), Closed::Yes);
    }

    #[test]
    fn what_is_no_plain_file_is_not_known_to_be_closed() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = open(folder.path()).expect("a folder can be opened");
        assert_eq!(is_closed(&file), Closed::Unknowable);
        assert!(open(&folder.path().join("none")).is_err());
    }
}
