//! inotify: a watch for each directory and each file. Everybody may; the system says how many.

use super::queue::{Queue, Told, length_of};
use crate::Why;
use crate::journal::NameHash;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// So many bytes of events are read at once.
const BUFFER: usize = 64 * 1024;

/// What is told of a directory. Of permissions, because they decide whether a path leads anywhere.
const DIRECTORY: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::DONT_FOLLOW);

/// What is told of a file. That it is opened, because who has it open may write to it in ways that are told of when it is closed,
/// and not before. Beside what is told of it already: it may be a directory, which is not known before.
const FILE: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::OPEN)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::DONT_FOLLOW)
    .union(WatchFlags::MASK_ADD);

/// A queue of watches.
pub(super) struct InotifyQueue {
    /// Shared with those who wait for it to become readable, and with whoever reads it.
    instance: Arc<OwnedFd>,
    length: usize,
}

impl Queue for InotifyQueue {
    /// The kernel's number of a watch. No two watches of an instance ever have the same.
    type Watch = i32;

    const NAME: &'static str = "inotify";

    fn new() -> std::io::Result<Self> {
        let instance = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(Self { instance: Arc::new(instance), length: length_of(Self::NAME) })
    }

    fn add_directory(&mut self, path: &[u8]) -> Result<i32, Errno> {
        inotify::add_watch(&self.instance, path, DIRECTORY)
    }

    fn add_file(&mut self, path: &[u8]) -> Result<i32, Errno> {
        inotify::add_watch(&self.instance, path, FILE)
    }

    fn add_open_file(&mut self, file: &File) -> Result<i32, Errno> {
        let itself = format!("/proc/self/fd/{}", file.as_raw_fd());
        inotify::add_watch(&self.instance, &*itself, FILE - WatchFlags::DONT_FOLLOW)
    }

    fn remove(&mut self, watch: i32) {
        // It may be gone already.
        let _ = inotify::remove_watch(&self.instance, watch);
    }

    fn read(&mut self, told: &mut Vec<Told<i32>>) -> Result<usize, Why> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = Reader::new(Arc::clone(&self.instance), &mut buffer);
        let mut n_read = 0;
        while n_read == 0 || !reader.is_buffer_empty() {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(Why::Failed(error.raw_os_error())),
            };
            n_read += 1;
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                return Err(Why::Overflow);
            }
            if event.events().contains(ReadFlags::UNMOUNT) {
                return Err(Why::Mounts);
            }
            let name = event.file_name().map(|name| NameHash::of(name.to_bytes()));
            told.push(Told { watch: event.wd(), name, what: event.events() });
        }
        Ok(n_read)
    }

    fn length(&self) -> usize {
        self.length
    }

    fn descriptor(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.instance)
    }
}
