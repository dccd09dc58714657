//! The mount table: inotify says nothing of what is mounted on top of what is watched.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;

/// The table of this process's mount namespace, as somebody who waits for it to change has it open.
#[derive(Debug)]
pub(super) struct Mounts {
    table: File,
}

impl Mounts {
    pub(super) fn new() -> std::io::Result<Self> {
        // The kernel counts what changes from here on.
        Ok(Self { table: File::open("/proc/self/mountinfo")? })
    }

    /// Whether it changed since this was asked last. The kernel counts before the call that mounts returns.
    pub(super) fn have_changed(&self) -> rustix::io::Result<bool> {
        let mut asked = [PollFd::new(&self.table, PollFlags::PRI)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut asked, Some(&at_once))?;
        Ok(asked[0].revents().intersects(PollFlags::PRI | PollFlags::ERR))
    }
}
