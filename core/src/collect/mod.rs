//! Collecting: the only step that touches the disk.
//!
//! ```text
//!   plan:     dir a   dir a/b   dir c   dir d   dir e   ...    sorted, each directory once
//!             \______________/  \____________/  \_______
//!   queue:        chunk 1          chunk 2       chunk 3       whole visits, of about equal cost
//!                    |                |             |
//!   threads:     whoever is free takes the next                more threads where the disk is slow
//!                    |                |             |
//!   disk:     visit(dir, names) -> one Stat per name           by path, or from a descriptor
//!                    \________________|____________/
//!   snapshot:   FileId -> Stat                                 with its moment and its I/O counts
//! ```
//!
//! A collector does not know what a target is, and asks for each file once.

mod chunk;
mod confirm;
mod crew;
#[cfg(any(test, windows, target_vendor = "apple", feature = "testing"))]
mod list;
pub mod listing;
#[cfg(all(unix, any(test, target_vendor = "apple")))]
mod macos;
mod memory;
mod open;
mod portable;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod remote;
#[cfg(unix)]
mod unix;
mod watch;
#[cfg(windows)]
mod windows;

pub use confirm::{Confirm, OneName, confirm};
#[cfg(any(test, feature = "testing"))]
pub use memory::{Access, MemoryDisk};
pub use open::{Kind, Listing, OpenFile};
pub use portable::PortableDisk;
#[cfg(unix)]
pub use unix::UnixDisk;
#[cfg(windows)]
pub use windows::WindowsDisk;
#[cfg(windows)]
pub(crate) use windows::has_by_name;

use crate::plan::{Plan, Single, Visit};
use crate::snapshot::{Fields, IoCounts, Meta, Mtime, Snapshot, Stat};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use watch::Watch;

/// Where files are looked up: a disk, or what a test puts in its place.
pub trait Disk: Sync {
    /// Looks up the names of a visit and puts what is known of each into `stats`, which is as long. Links are
    /// followed.
    ///
    /// Says whether the directory itself is there, as far as the lookup told: `false` lets the caller
    /// skip everything beneath it.
    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool;

    /// Does what [`Disk::visit`] does, and calls `slow`, once at most, as soon as it turns out that answers come from far
    /// away, with the time that one takes: then it is worth while to wait for many at once. `slow` says how many threads more
    /// may wait for answers of this very visit until it ends.
    fn visit_and_tell(
        &self,
        visit: Visit<'_>,
        stats: &mut [Stat],
        counts: &mut IoCounts,
        slow: &mut dyn FnMut(Duration) -> usize,
    ) -> bool {
        let _ = slow;
        self.visit(visit, stats, counts)
    }

    /// Reads a whole file. The stamp is that of the open file, taken before the first byte is read: a file that
    /// bears it later still has this content, unless it was changed in the very tick of the clock in which the
    /// stamp was taken.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn read_stamped(&self, path: &[u8]) -> std::io::Result<(Vec<u8>, Meta)>;

    /// Reads a whole file.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn read(&self, path: &[u8]) -> std::io::Result<Vec<u8>> {
        self.read_stamped(path).map(|(bytes, _)| bytes)
    }

    /// Hands a file's content to `sink` in pieces, in order. The stamp is that of [`Disk::read_stamped`].
    ///
    /// # Errors
    /// Whatever the operating system says; `sink` may have got some pieces by then.
    fn scan(&self, path: &[u8], sink: &mut dyn FnMut(&[u8])) -> std::io::Result<Meta> {
        let (bytes, meta) = self.read_stamped(path)?;
        sink(&bytes);
        Ok(meta)
    }

    /// Reads a file from `offset` bytes on; nothing, where it has not as many. The stamp is that of
    /// [`Disk::read_stamped`].
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn read_tail(&self, path: &[u8], offset: u64) -> std::io::Result<(Vec<u8>, Meta)> {
        let (mut bytes, meta) = self.read_stamped(path)?;
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        Ok((bytes.split_off(offset), meta))
    }

    /// Opens a file or a directory, not to wait for anybody: a pipe without a writer opens, too.
    ///
    /// A disk that does not say otherwise reads the file as a whole here, knows no directories, and takes what stands
    /// at the path later for the file.
    ///
    /// # Errors
    /// Whatever the operating system says.
    fn open<'a>(&'a self, path: &[u8]) -> std::io::Result<Box<dyn OpenFile + 'a>> {
        Ok(Box::new(open::WholeFile::new(self, path)?))
    }

    /// Puts the names of a directory into `listing`, instead of those that were in it. The base's path is empty, or
    /// `.`.
    ///
    /// # Errors
    /// When there is no such directory, it is none, or whatever the operating system says.
    fn list(&self, path: &[u8], listing: &mut Listing) -> std::io::Result<()> {
        listing.clear();
        self.open(path)?.list(listing)
    }

    /// What a path leads to; links are followed, so it is never [`Kind::Link`].
    ///
    /// # Errors
    /// When it leads nowhere, or whatever the operating system says.
    fn kind(&self, path: &[u8]) -> std::io::Result<Kind> {
        self.open(path)?.look().map(|(kind, _)| kind)
    }

    /// Looks up a single file, uncounted.
    fn stat(&self, path: &[u8]) -> Stat {
        let mut stat = [Stat::Unknown];
        self.visit(Single::file(path).visit(), &mut stat, &mut IoCounts::default());
        stat[0]
    }

    /// The time with which a file that is changed now is stamped, and the number of the file system this goes for.
    /// `None`: whoever wants to know has to change a file and look.
    fn stamp_now(&self) -> Option<(Mtime, u64)> {
        None
    }

    /// Which fields of a [`Meta`] this disk fills in.
    fn fields(&self) -> Fields {
        Fields::default()
    }

    /// What is done about listings that may be behind the files they tell of.
    fn confirm(&self) -> Confirm {
        Confirm::Nothing
    }

    /// Which files have one name only, as far as that is known: [`Confirm::Suspects`] believes a listing about those.
    fn one_name(&self) -> Option<&OneName> {
        None
    }

    /// Who is told how far the reading of files' content is.
    fn headway(&self) -> Option<&dyn Headway> {
        None
    }

    /// A collection begins: what is answered from now on has to be so now, or later. Only who answers from memory has
    /// something to do here.
    fn begin(&self) {}

    /// The time of day, for the snapshot's stamp.
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Somebody who is told how far something is that takes its time, like reading what files hold: for those who wait for it.
/// Called by all threads that do it, so it should be quick.
pub trait Headway: Send + Sync {
    /// So many bytes more are to come, as far as that is known.
    fn begins(&self, n_bytes: u64);

    /// So many of them have come, or will not.
    fn goes_on(&self, n_bytes: u64);
}

/// The disk below `base`, by the fastest means the platform has.
///
/// It stays with the directory that it has opened: if that is renamed, and another one is made in its place, then it is
/// about the one that lies elsewhere now. Who asks more than once opens it anew for each question.
///
/// # Errors
/// When `base` is not a directory that can be searched.
#[cfg(unix)]
pub fn os_disk(base: &Path) -> std::io::Result<UnixDisk> {
    UnixDisk::new(base)
}

/// The disk below `base`, by the fastest means the platform has.
///
/// # Errors
/// When `base` is not a directory that can be opened.
#[cfg(windows)]
pub fn os_disk(base: &Path) -> std::io::Result<WindowsDisk> {
    WindowsDisk::new(base)
}

/// The disk below `base`, by the fastest means the platform has.
///
/// # Errors
/// When `base` is not a directory that can be searched.
#[cfg(not(any(unix, windows)))]
pub fn os_disk(base: &Path) -> std::io::Result<PortableDisk> {
    PortableDisk::new(base)
}

/// What [`os_disk`] opens; where its listings may be behind, it takes from `one_name`, and adds to it, what lets them be
/// believed.
///
/// # Errors
/// As [`os_disk`].
pub fn os_disk_knowing(base: &Path, one_name: Arc<OneName>) -> std::io::Result<OsDisk> {
    let disk = os_disk(base)?;
    #[cfg(windows)]
    let disk = disk.knowing(one_name);
    #[cfg(not(windows))]
    drop(one_name);
    Ok(disk)
}

/// What [`os_disk`] opens.
#[cfg(unix)]
pub type OsDisk = UnixDisk;
/// What [`os_disk`] opens.
#[cfg(windows)]
pub type OsDisk = WindowsDisk;
/// What [`os_disk`] opens.
#[cfg(not(any(unix, windows)))]
pub type OsDisk = PortableDisk;

/// Asks the disk for everything in the plan, with at most `threads` threads. With 0 there is at most one per core,
/// and more only where the disk turns out to be slow.
///
/// Cost: one lookup per file, and a descriptor for each directory where the plan says so; allocates per thread, not
/// per file. What is asked depends on the plan alone, not on threads or time, but where files are far away or listings may
/// be behind: there it depends on what the answers are, too.
#[must_use]
pub fn collect(disk: &dyn Disk, plan: &Plan, threads: usize) -> Snapshot {
    let began = disk.now();
    disk.begin();
    let watch = Watch::new(disk);
    let unlisted = (disk.confirm() == Confirm::All).then(|| plan.part(|_| true));
    let asked = unlisted.as_ref().unwrap_or(plan);
    let (mut found, mut counts) = crew::collect(&watch, asked, threads);
    let may_lag = disk.confirm() == Confirm::Suspects && counts.listings > 0;
    let confirmed = may_lag
        .then(|| confirm::suspects(disk, asked, threads, Meta::mtime_at(began), &mut found, &mut counts));
    let mut snapshot = Snapshot::in_plan_order(plan, found, began, disk.now(), counts);
    snapshot.describe(disk.fields(), watch.finish());
    if let Some(confirmed) = confirmed {
        snapshot.note_listed(asked, &confirmed);
    }
    snapshot
}

/// How much of a file is held at once while it is scanned.
const PIECE: usize = 256 * 1024;

/// Hands on all that `file` has, through one buffer.
fn hand_on(file: &mut impl Read, sink: &mut dyn FnMut(&[u8])) -> std::io::Result<()> {
    let mut buffer = vec![0; PIECE];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => sink(&buffer[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
