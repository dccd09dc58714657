//! Collecting: the only step that touches the disk.
//!
//! ```text
//!   plan:     dir a   dir a/b   dir c   dir d   ...            sorted, each directory once
//!             \______________/  \____________/
//!   threads:      thread 1         thread 2                    runs of about equal cost
//!                    |                |
//!   disk:     visit(dir, names) -> one Stat per name           a descriptor per directory
//!                    \________________/
//!   snapshot:   FileId -> Stat                                 with its moment and its I/O counts
//! ```
//!
//! A collector does not know what a target is, and asks for each file once.

mod memory;
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(any(test, feature = "testing"))]
pub use memory::{Access, MemoryDisk};
pub use portable::PortableDisk;
#[cfg(unix)]
pub use unix::UnixDisk;

use crate::files::FileTable;
use crate::path;
use crate::plan::{Plan, Visit};
use crate::snapshot::{IoCounts, Meta, Snapshot, Stat};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::SystemTime;

/// Where files are looked up: a disk, or what a test puts in its place.
pub trait Disk: Sync {
    /// Looks up `names` in `directory` and puts what is known of each into `stats`, which is as long.
    /// Links are followed. An empty `directory` is the disk's base.
    ///
    /// Says whether the directory itself is there, as far as the lookup told: `false` lets the caller
    /// skip everything beneath it.
    fn visit(&self, directory: &[u8], names: &[&[u8]], stats: &mut [Stat], counts: &mut IoCounts) -> bool;

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

    /// Looks up a single file, uncounted.
    fn stat(&self, path: &[u8]) -> Stat {
        let (directory, name) = path::split(path);
        let mut stat = [Stat::Unknown];
        self.visit(directory, &[name], &mut stat, &mut IoCounts::default());
        stat[0]
    }

    /// The time of day, for the snapshot's stamp.
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// The disk below `base`, by the fastest means the platform has.
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
/// When `base` is not a directory that can be searched.
#[cfg(not(unix))]
pub fn os_disk(base: &Path) -> std::io::Result<PortableDisk> {
    PortableDisk::new(base)
}

/// Files per thread below which another thread costs more than it saves.
const FILES_PER_THREAD: usize = 2_000;

/// Asks the disk for everything in the plan, with at most `threads` threads (0: one per core).
///
/// Cost: one lookup per file and one descriptor per directory; allocates per thread, not per file.
#[must_use]
pub fn collect(disk: &dyn Disk, files: &FileTable, plan: &Plan, threads: usize) -> Snapshot {
    let began = disk.now();
    let most = match threads {
        0 => std::thread::available_parallelism().map_or(1, Into::into),
        given => given,
    };
    let runs = plan.split(most.min(plan.files().len() / FILES_PER_THREAD + 1));
    let mut found = vec![Stat::Unknown; plan.files().len()];
    let mut counts = IoCounts::default();
    std::thread::scope(|scope| {
        let mut rest = found.as_mut_slice();
        let mut workers = Vec::new();
        let mut own = None;
        for (position, run) in runs.iter().enumerate() {
            let length: usize = run.iter().map(|visit| visit.files.len()).sum();
            let (stats, after) = std::mem::take(&mut rest).split_at_mut(length);
            rest = after;
            if position == 0 {
                own = Some((run, stats));
            } else {
                workers.push(scope.spawn(move || collect_run(disk, files, plan, run, stats)));
            }
        }
        if let Some((run, stats)) = own {
            counts.add(collect_run(disk, files, plan, run, stats));
        }
        for worker in workers {
            match worker.join() {
                Ok(theirs) => counts.add(theirs),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    let mut stats = vec![Stat::Unknown; files.len()];
    for (&file, stat) in plan.files().iter().zip(found) {
        stats[file.index()] = stat;
    }
    Snapshot::new(stats, began, disk.now(), counts)
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

/// From this length on Unix refuses a path, whether it leads anywhere or not.
const PATH_MAX: usize = 4096;

/// One thread's share.
fn collect_run(
    disk: &dyn Disk,
    files: &FileTable,
    plan: &Plan,
    run: &[Visit],
    mut stats: &mut [Stat],
) -> IoCounts {
    let mut counts = IoCounts::default();
    let mut names: Vec<&[u8]> = Vec::new();
    let mut missing: Option<&[u8]> = None;
    for visit in run {
        let (found, after) = std::mem::take(&mut stats).split_at_mut(visit.files.len());
        stats = after;
        let directory = path::split(files.path(visit.sample)).0;
        let longest = visit.files.clone().map(|at| files.path(plan.files()[at]).len()).max();
        if missing.is_some_and(|gone| is_beneath(directory, gone)) && longest < Some(PATH_MAX) {
            found.fill(Stat::Missing);
            continue;
        }
        names.clear();
        names.extend(plan.files()[visit.files.clone()].iter().map(|&f| path::split(files.path(f)).1));
        counts.directories += 1;
        if !disk.visit(directory, &names, found, &mut counts) {
            missing = Some(directory);
        }
    }
    counts
}

fn is_beneath(directory: &[u8], parent: &[u8]) -> bool {
    directory.strip_prefix(parent).is_some_and(|rest| rest.first() == Some(&b'/'))
}
