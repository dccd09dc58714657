//! Stopping a check from another thread.

use crate::border::{answer, take_back};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use upcheck::collect::{Confirm, Disk, Kind, Listing, OneName, OpenFile};
use upcheck::{Fields, IoCounts, Meta, Mtime, Stat, Visit};

/// Whether to stop.
pub struct upcheck_cancel(AtomicBool);

impl upcheck_cancel {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub extern "C" fn upcheck_cancel_new() -> *mut upcheck_cancel {
    answer(std::ptr::null_mut(), || Box::into_raw(Box::new(upcheck_cancel(AtomicBool::new(false)))))
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_cancel_set(cancel: *const upcheck_cancel) {
    // One store and nothing else: a signal handler may do that.
    // SAFETY: NULL or a handle that was not freed, says the caller.
    if let Some(cancel) = unsafe { cancel.as_ref() } {
        cancel.0.store(true, Ordering::Relaxed);
    }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_cancel_free(cancel: *mut upcheck_cancel) {
    // SAFETY: NULL or a handle that was not freed, says the caller.
    unsafe { take_back(cancel) }
}

/// A disk that says nothing more once its user has cancelled. Whoever asked has to look at the flag when he is done, and
/// throw away what he has found.
pub(crate) struct Cancellable<'a, D> {
    pub(crate) disk: &'a D,
    pub(crate) cancel: Option<&'a upcheck_cancel>,
}

impl<D: Disk> Cancellable<'_, D> {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(upcheck_cancel::is_set)
    }

    fn go_on(&self) -> io::Result<()> {
        if self.is_cancelled() { Err(io::Error::other("cancelled")) } else { Ok(()) }
    }
}

impl<D: Disk> Disk for Cancellable<'_, D> {
    fn begin(&self) {
        self.disk.begin();
    }

    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        self.is_cancelled() || self.disk.visit(visit, stats, counts)
    }

    fn visit_and_tell(
        &self,
        visit: Visit<'_>,
        stats: &mut [Stat],
        counts: &mut IoCounts,
        slow: &mut dyn FnMut(Duration) -> usize,
    ) -> bool {
        self.is_cancelled() || self.disk.visit_and_tell(visit, stats, counts, slow)
    }

    fn read_stamped(&self, path: &[u8]) -> io::Result<(Vec<u8>, Meta)> {
        self.go_on()?;
        self.disk.read_stamped(path)
    }

    fn read(&self, path: &[u8]) -> io::Result<Vec<u8>> {
        self.go_on()?;
        self.disk.read(path)
    }

    fn scan(&self, path: &[u8], sink: &mut dyn FnMut(&[u8])) -> io::Result<Meta> {
        self.go_on()?;
        self.disk.scan(path, sink)
    }

    fn read_tail(&self, path: &[u8], offset: u64) -> io::Result<(Vec<u8>, Meta)> {
        self.go_on()?;
        self.disk.read_tail(path, offset)
    }

    fn open<'a>(&'a self, path: &[u8]) -> io::Result<Box<dyn OpenFile + 'a>> {
        self.go_on()?;
        let file = self.disk.open(path)?;
        Ok(match self.cancel {
            Some(cancel) => Box::new(CancellableFile { file, cancel }),
            None => file,
        })
    }

    fn list(&self, path: &[u8], listing: &mut Listing) -> io::Result<()> {
        self.go_on()?;
        self.disk.list(path, listing)
    }

    fn kind(&self, path: &[u8]) -> io::Result<Kind> {
        self.go_on()?;
        self.disk.kind(path)
    }

    fn stat(&self, path: &[u8]) -> Stat {
        if self.is_cancelled() { Stat::Unknown } else { self.disk.stat(path) }
    }

    fn stamp_now(&self) -> Option<(Mtime, u64)> {
        self.disk.stamp_now()
    }

    fn fields(&self) -> Fields {
        self.disk.fields()
    }

    fn confirm(&self) -> Confirm {
        self.disk.confirm()
    }

    fn one_name(&self) -> Option<&OneName> {
        self.disk.one_name()
    }

    fn now(&self) -> SystemTime {
        self.disk.now()
    }
}

/// A file whose content is no longer read once its user has cancelled: it may be a large one.
struct CancellableFile<'a> {
    file: Box<dyn OpenFile + 'a>,
    cancel: &'a upcheck_cancel,
}

impl OpenFile for CancellableFile<'_> {
    fn look(&self) -> io::Result<(Kind, Meta)> {
        self.file.look()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_set() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read_at(offset, buffer)
    }

    fn list(&self, listing: &mut Listing) -> io::Result<()> {
        self.file.list(listing)
    }
}
