//! Asking whoever keeps a file, past what the system remembers of it.
//!
//! Linux: statx(2) with `AT_STATX_FORCE_SYNC`. Elsewhere there is no such question.

use std::path::Path;

/// Asks for files below a directory.
pub(super) struct Server {
    #[cfg(target_os = "linux")]
    base: std::os::fd::OwnedFd,
}

impl Server {
    /// `None` where there is no such question.
    #[cfg(target_os = "linux")]
    pub(super) fn new(directory: &Path) -> Option<Self> {
        use rustix::fs::{Mode, OFlags};
        let base =
            rustix::fs::open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let server = Self { base: base.ok()? };
        server.ask(b".").then_some(server)
    }

    /// Asks for a file. Whether there was an answer.
    #[cfg(target_os = "linux")]
    pub(super) fn ask(&self, path: &[u8]) -> bool {
        use rustix::fs::{AtFlags, StatxFlags, statx};
        use std::os::unix::ffi::OsStrExt;
        let path = std::ffi::OsStr::from_bytes(path);
        statx(&self.base, path, AtFlags::STATX_FORCE_SYNC, StatxFlags::BASIC_STATS).is_ok()
    }

    /// `None`: there is no such question.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn new(_directory: &Path) -> Option<Self> {
        None
    }

    /// Never called.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn ask(&self, _path: &[u8]) -> bool {
        false
    }
}
