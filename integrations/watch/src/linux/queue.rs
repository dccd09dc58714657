//! Who is told by the kernel: a queue into which it puts what happens to what is watched.

use crate::Why;
use crate::journal::NameHash;
use rustix::fs::inotify::ReadFlags;
use rustix::io::Errno;
use std::fmt::Debug;
use std::fs::File;
use std::hash::Hash;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// What is told of one thing that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told<Watch> {
    pub(super) watch: Watch,
    /// Of a name in the directory that is watched; `None`: of what is watched itself.
    pub(super) name: Option<NameHash>,
    /// Both kinds of queues have the same numbers for what can happen. `IGNORED`: it is gone, and nothing more will be told.
    pub(super) what: ReadFlags,
}

/// A queue of the kernel's. It puts what happens there within the call that makes it happen: what was done before one reads
/// is read.
pub(super) trait Queue: Send + Sized {
    /// What stands for a directory or a file that is watched. What two names lead to that are the same has the same.
    type Watch: Copy + Debug + Eq + Hash + Send;

    /// Its name in the manual.
    const NAME: &'static str;

    /// An empty one, that watches nothing.
    fn new() -> std::io::Result<Self>;

    /// Watches a directory for names: made, removed, renamed, and for whether one may look into it.
    fn add_directory(&mut self, path: &[u8]) -> Result<Self::Watch, Errno>;

    /// Watches a file: for being opened, written to and closed, renamed, linked, removed. A link is watched itself, not what it
    /// leads to.
    fn add_file(&mut self, path: &[u8]) -> Result<Self::Watch, Errno>;

    /// Watches a file that is open.
    fn add_open_file(&mut self, file: &File) -> Result<Self::Watch, Errno>;

    /// What it is of is not watched any more.
    fn remove(&mut self, watch: Self::Watch);

    /// Reads some of what there is, perhaps of more than what is watched. How many events that was; none where there are none.
    /// `Err`: why nobody knows what happened.
    fn read(&mut self, told: &mut Vec<Told<Self::Watch>>) -> Result<usize, Why>;

    /// So many events can wait at once.
    fn length(&self) -> usize;

    /// What becomes readable.
    fn descriptor(&self) -> Arc<OwnedFd>;
}

/// How many events can wait in queues of that name.
pub(super) fn length_of(name: &str) -> usize {
    let length = std::fs::read_to_string(format!("/proc/sys/fs/{name}/max_queued_events")).ok();
    length.and_then(|text| text.trim().parse().ok()).unwrap_or(usize::MAX)
}
