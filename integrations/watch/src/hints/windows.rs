//! `ReadDirectoryChangesW`: a thread for each directory that is watched with all beneath it.
#![expect(unsafe_code, reason = "Windows takes pointers and handles")]

use super::{Heard, notified};
use crate::Why;
use std::fs::File;
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use windows_sys::Win32::Foundation::{ERROR_NOTIFY_ENUM_DIR, WAIT_OBJECT_0};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OVERLAPPED, FILE_LIST_DIRECTORY, FILE_NOTIFY_CHANGE_CREATION,
    FILE_NOTIFY_CHANGE_DIR_NAME, FILE_NOTIFY_CHANGE_FILE_NAME, FILE_NOTIFY_CHANGE_LAST_WRITE,
    FILE_NOTIFY_CHANGE_SIZE, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, ReadDirectoryChangesW,
};
use windows_sys::Win32::System::IO::{CancelIoEx, GetOverlappedResult, OVERLAPPED};
use windows_sys::Win32::System::Threading::{CreateEventW, INFINITE, SetEvent, WaitForMultipleObjects};

/// So many numbers of 4 bytes the system may keep until they are read: 64 KiB, since servers refuse more.
const BUFFER: usize = 16 << 10;
/// What is told of.
const WHAT: u32 = FILE_NOTIFY_CHANGE_FILE_NAME
    | FILE_NOTIFY_CHANGE_DIR_NAME
    | FILE_NOTIFY_CHANGE_SIZE
    | FILE_NOTIFY_CHANGE_LAST_WRITE
    | FILE_NOTIFY_CHANGE_CREATION;

/// Its name in the manual.
pub(super) const NAME: &str = "ReadDirectoryChangesW";

/// A directory that is watched, until this is dropped.
#[derive(Debug)]
pub(super) struct Watcher {
    end: Arc<OwnedHandle>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Watches a directory with all beneath it: what happens after this is told.
    pub(super) fn new(root: &Path, heard: &Arc<Heard>) -> io::Result<Self> {
        let end = Arc::new(event()?);
        let (root, heard, until) = (root.to_owned(), Arc::clone(heard), Arc::clone(&end));
        let (sender, has_begun) = sync_channel(1);
        // What a thread has begun ends with the thread, so this one begins it.
        let read = move || {
            let begun = Reading::new(&root).and_then(|mut reading| reading.begin().map(|()| reading));
            let (reading, said) = match begun {
                Ok(reading) => (Some(reading), Ok(())),
                Err(error) => (None, Err(error)),
            };
            let _ = sender.send(said);
            if let Some(reading) = reading {
                reading.read(&root, &heard, &until);
            }
        };
        let thread = std::thread::Builder::new().name("watch".into()).spawn(read)?;
        has_begun.recv().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
        Ok(Self { end, thread: Some(thread) })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // SAFETY: it is open.
        unsafe { SetEvent(self.end.as_raw_handle()) };
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the system writes to while it is watched.
struct Reading {
    directory: OwnedHandle,
    done: OwnedHandle,
    buffer: Box<[u32]>,
    overlapped: Box<OVERLAPPED>,
    is_under_way: bool,
}

impl Reading {
    fn new(root: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.access_mode(FILE_LIST_DIRECTORY);
        options.share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE);
        options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OVERLAPPED);
        let directory = options.open(root)?.into();
        let (done, buffer) = (event()?, vec![0; BUFFER].into());
        Ok(Self { directory, done, buffer, overlapped: Box::default(), is_under_way: false })
    }

    /// Has the system write what happens next.
    fn begin(&mut self) -> io::Result<()> {
        *self.overlapped = OVERLAPPED { hEvent: self.done.as_raw_handle(), ..OVERLAPPED::default() };
        let length = u32::try_from(size_of_val(&*self.buffer)).unwrap_or(0);
        // SAFETY: the buffer has so many bytes, is aligned to 4, and is its own until this is done, as is the other place: see
        // `drop`.
        let is_begun = unsafe {
            ReadDirectoryChangesW(
                self.directory.as_raw_handle(),
                self.buffer.as_mut_ptr().cast(),
                length,
                1,
                WHAT,
                null_mut(),
                &raw mut *self.overlapped,
                None,
            )
        };
        if is_begun == 0 {
            return Err(io::Error::last_os_error());
        }
        self.is_under_way = true;
        Ok(())
    }

    /// How many bytes were written; or why none were.
    fn end(&mut self) -> io::Result<usize> {
        let mut length = 0;
        // SAFETY: it was begun with these. The call waits until it is done.
        let is_done = unsafe {
            let directory = self.directory.as_raw_handle();
            GetOverlappedResult(directory, &raw const *self.overlapped, &raw mut length, 1)
        };
        self.is_under_way = false;
        if is_done == 0 { Err(io::Error::last_os_error()) } else { Ok(length as usize) }
    }

    /// Tells what happens, until it is told to end or the system says no.
    fn read(mut self, root: &Path, heard: &Heard, until: &OwnedHandle) {
        loop {
            let handles = [self.done.as_raw_handle(), until.as_raw_handle()];
            // SAFETY: there are two handles, and both are open.
            let first = unsafe { WaitForMultipleObjects(2, handles.as_ptr(), 0, INFINITE) };
            if first != WAIT_OBJECT_0 {
                return;
            }
            let told = match self.end() {
                // There was more than the buffer can take.
                Ok(0) => None,
                Ok(length) => Some(self.told(length)),
                Err(error) if error.raw_os_error() == Some(ERROR_NOTIFY_ENUM_DIR.cast_signed()) => None,
                Err(error) => return heard.tell_everything(Why::Failed(error.raw_os_error().unwrap_or(0))),
            };
            // At once: meanwhile the system keeps as much as the buffer can take.
            let begun = self.begin();
            match told {
                None => heard.tell_everything(Why::Overflow),
                Some(told) => {
                    for (what, name) in told {
                        let path: PathBuf = root.join(std::ffi::OsString::from_wide(&name));
                        heard.tell(upcheck::os_path::bytes(&path), what);
                    }
                }
            }
            if let Err(error) = begun {
                return heard.tell_everything(Why::Failed(error.raw_os_error().unwrap_or(0)));
            }
        }
    }

    fn told(&self, length: usize) -> Vec<(super::What, Vec<u16>)> {
        let bytes: Vec<u8> =
            self.buffer.iter().flat_map(|number| number.to_le_bytes()).take(length).collect();
        notified::parse(&bytes)
    }
}

impl Drop for Reading {
    /// What the system may still write to stays until it does no longer.
    fn drop(&mut self) {
        if self.is_under_way {
            // SAFETY: it was begun with these.
            unsafe { CancelIoEx(self.directory.as_raw_handle(), &raw const *self.overlapped) };
            let _ = self.end();
        }
    }
}

/// Something that happens, and has happened until something is begun with it.
fn event() -> io::Result<OwnedHandle> {
    // SAFETY: nothing but numbers is given to the call.
    let event = unsafe { CreateEventW(null(), 1, 0, null()) };
    if event.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was made just now, and nobody else has it.
    Ok(unsafe { OwnedHandle::from_raw_handle(event) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Journal, Place};

    #[test]
    fn a_watch_ends_with_its_value_and_is_in_nobodys_way() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = upcheck::os_path::canonicalize(directory.path()).expect("a path");
        let heard = Arc::new(Heard::default());
        heard.add(upcheck::os_path::bytes(&at), Place(0));
        drop(Watcher::new(&at, &heard).expect("a watch"));
        let mut journal = Journal::new();
        let before = journal.turn();
        std::fs::write(at.join("a"), "a").expect("a file");
        heard.take_in(&mut journal);
        assert!(journal.since(before).expect("it reaches back").is_empty());
        directory.close().expect("it can be removed");
    }
}
