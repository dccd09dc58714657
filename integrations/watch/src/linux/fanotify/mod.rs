//! fanotify: one mark for a whole file system. Who may administer the system may; there may be as many files as one likes.
//!
//! What happens is told of with file handles, which stand for directories and files whatever their names are. So what is watched
//! is what handles are remembered of; everything else that is told of the file system is read and dropped.
//!
//! Whether the handles that the kernel reports are those that it gives for paths is not taken for granted: a file system is
//! trusted after a directory in it was opened, and that was told with the handle that its path has.
//!
//! Source: `fanotify(7)`, "Identifying objects by file handle"; `name_to_handle_at(2)`.

mod events;
mod handle;

use super::queue::{Queue, Told, length_of};
use crate::Why;
use crate::journal::NameHash;
use events::{Event, Object};
use handle::Handle;
use rapidhash::RapidHashMap;
use rustix::fs::inotify::ReadFlags;
use rustix::fs::{Mode, OFlags, lstat, open, statvfs};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// So many bytes of events are read at once.
const BUFFER: usize = 256 * 1024;

/// What is told of a directory: of the names in it.
const OF_NAMES: ReadFlags = ReadFlags::CREATE
    .union(ReadFlags::DELETE)
    .union(ReadFlags::MOVED_FROM)
    .union(ReadFlags::MOVED_TO)
    .union(ReadFlags::ATTRIB);
/// What is told of a file or directory itself.
const OF_ITSELF: ReadFlags = ReadFlags::MODIFY
    .union(ReadFlags::OPEN)
    .union(ReadFlags::ATTRIB)
    .union(ReadFlags::CLOSE_WRITE)
    .union(ReadFlags::MOVE_SELF)
    .union(ReadFlags::DELETE_SELF);

/// All that is told of a file system, directories included.
const TOLD: u64 = OF_NAMES.union(OF_ITSELF).union(ReadFlags::ISDIR).bits() as u64;

/// A queue of what happens on file systems.
pub(super) struct FanotifyQueue {
    group: Arc<OwnedFd>,
    length: usize,
    /// Which file system lies on a mount, by its number; `Err` where one cannot rely on what is told of it.
    mounts: RapidHashMap<i32, Result<u64, Errno>>,
    /// The file systems that are told of, each with its device.
    devices: RapidHashMap<u64, u64>,
    buffer: Vec<u8>,
    /// What was read, and not asked for yet.
    read: Vec<Told<u64>>,
    /// Why it is not known what happened while that was read.
    failed: Option<Why>,
}

impl FanotifyQueue {
    /// What stands for the file that has a handle.
    fn watch(&mut self, (handle, mount): (Handle, i32), path: &[u8]) -> Result<u64, Errno> {
        let known = self.mounts.get(&mount).copied();
        let file_system = match known {
            Some(known) => known,
            None => {
                // No error of this is to be taken for one of the path.
                let known = self.file_system(&handle, path).map_err(|_| Errno::XDEV);
                // What has gone away meanwhile says nothing of the others on its file system.
                if known.is_ok() || handle::of_path(path).is_ok() {
                    self.mounts.insert(mount, known);
                }
                known
            }
        }?;
        Ok(watch(Object { file_system, kind: handle.kind, handle: handle.bytes() }))
    }

    /// What the kernel calls the file system of a path, all of which is told of from then on.
    fn file_system(&mut self, handle: &Handle, path: &[u8]) -> Result<u64, Errno> {
        let path = Path::new(OsStr::from_bytes(path));
        let (file_system, device) = (statvfs(path)?.f_fsid, lstat(path)?.st_dev);
        match self.devices.get(&file_system) {
            // It is mounted at another place, too.
            Some(known) if *known == device => return Ok(file_system),
            // A copy, with the same name and the same handles: what is told of one could not be told from the other.
            Some(_) => return Err(Errno::XDEV),
            None => {}
        }
        handle::mark_file_system(self.group.as_fd(), path, TOLD)?;
        let directory = watch(Object { file_system, kind: handle.kind, handle: handle.bytes() });
        self.prove(path, directory)?;
        self.devices.insert(file_system, device);
        Ok(file_system)
    }

    /// Opens a directory, which has to be told.
    fn prove(&mut self, path: &Path, directory: u64) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        drop(open(path, flags, Mode::empty())?);
        let (mut is_told, mut n_read) = (false, 0);
        while n_read <= self.length {
            match self.read_some(|watch| is_told |= watch == directory) {
                Ok(0) => break,
                Ok(n) => n_read += n,
                Err(why) => {
                    self.failed = Some(why);
                    return Err(Errno::XDEV);
                }
            }
        }
        if is_told { Ok(()) } else { Err(Errno::XDEV) }
    }

    /// Reads once, and says which directories were opened. How many events there were.
    fn read_some(&mut self, mut opened: impl FnMut(u64)) -> Result<usize, Why> {
        let length = loop {
            match rustix::io::read(&*self.group, &mut self.buffer[..]) {
                Ok(length) => break length,
                Err(Errno::AGAIN) => return Ok(0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(Why::Failed(error.raw_os_error())),
            }
        };
        let (mut n_events, mut why) = (0, None);
        let read = &mut self.read;
        let parsed = events::events(&self.buffer[..length], |event| {
            n_events += 1;
            if let Err(doubt) = tell(event, read, &mut opened) {
                why.get_or_insert(doubt);
            }
        });
        let parsed = parsed.map_err(|events::Malformed| Why::Failed(Errno::PROTO.raw_os_error()));
        parsed.and(why.map_or(Ok(n_events), Err))
    }
}

impl Queue for FanotifyQueue {
    /// A hash of file system and handle: 64 bits.
    type Watch = u64;

    const NAME: &'static str = "fanotify";

    fn new() -> std::io::Result<Self> {
        let group = handle::new_group()?;
        // Everybody gets a group. That may be of no use to him.
        if let Err(Errno::PERM) = handle::mark_file_system(group.as_fd(), Path::new("/"), TOLD) {
            return Err(Errno::PERM.into());
        }
        Ok(Self {
            group: Arc::new(group),
            length: length_of(Self::NAME),
            mounts: RapidHashMap::default(),
            devices: RapidHashMap::default(),
            buffer: vec![0; BUFFER],
            read: Vec::new(),
            failed: None,
        })
    }

    fn add_directory(&mut self, path: &[u8]) -> Result<u64, Errno> {
        self.watch(handle::of_path(path)?, path)
    }

    fn add_file(&mut self, path: &[u8]) -> Result<u64, Errno> {
        self.watch(handle::of_path(path)?, path)
    }

    fn add_open_file(&mut self, file: &File) -> Result<u64, Errno> {
        let (handle, mount) = handle::of_file(file)?;
        let known = self.mounts.get(&mount).copied().unwrap_or(Err(Errno::XDEV));
        known.map(|file_system| watch(Object { file_system, kind: handle.kind, handle: handle.bytes() }))
    }

    fn remove(&mut self, _: u64) {
        // Nothing in the kernel stands for it.
    }

    fn read(&mut self, told: &mut Vec<Told<u64>>) -> Result<usize, Why> {
        let n_read = self.read_some(|_| {})?;
        told.append(&mut self.read);
        self.failed.map_or(Ok(n_read), Err)
    }

    fn length(&self) -> usize {
        self.length
    }

    fn descriptor(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.group)
    }
}

/// What stands for a file.
fn watch(object: Object<'_>) -> u64 {
    let mut bytes = [object.file_system.to_ne_bytes().as_slice(), &object.kind.to_ne_bytes()].concat();
    bytes.extend_from_slice(object.handle);
    rapidhash::v3::rapidhash_v3(&bytes)
}

/// What an event tells of a name, and of what it happened to. `Err`: nobody knows what happened.
fn tell(event: Event<'_>, told: &mut Vec<Told<u64>>, opened: &mut impl FnMut(u64)) -> Result<(), Why> {
    #[expect(clippy::cast_possible_truncation, reason = "those of inotify are the lower ones")]
    let what = ReadFlags::from_bits_retain(event.what as u32);
    if what.contains(ReadFlags::QUEUE_OVERFLOW) {
        return Err(Why::Overflow);
    }
    if event.is_incomplete || event.name.is_none() && event.itself.is_none() {
        // There was no room to say what it happened to.
        return Err(Why::Failed(Errno::NODATA.raw_os_error()));
    }
    let mut itself = event.itself;
    match event.name {
        Some((directory, b".")) => itself = itself.or(Some(directory)),
        Some((directory, name)) => {
            let of_names = what & OF_NAMES;
            if !of_names.is_empty() {
                let name = Some(NameHash::of(name));
                told.push(Told { watch: watch(directory), name, what: of_names });
            }
        }
        None => {}
    }
    let Some(itself) = itself else { return Ok(()) };
    let mut of_itself = what & OF_ITSELF;
    if what.contains(ReadFlags::ISDIR) {
        if of_itself.contains(ReadFlags::OPEN) {
            opened(watch(itself));
        }
        // Whoever looks into a directory changes nothing.
        of_itself -= ReadFlags::OPEN;
    }
    if of_itself.contains(ReadFlags::DELETE_SELF) {
        of_itself |= ReadFlags::IGNORED;
    }
    if !of_itself.is_empty() {
        told.push(Told { watch: watch(itself), name: None, what: of_itself });
    }
    Ok(())
}
