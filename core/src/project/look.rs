//! Looking at files for a record: their stamps, whether these prove anything, and their content where that is wanted.

use super::digests::Digests;
use crate::collect::{Disk, collect};
use crate::content::Content;
use crate::files::FileTable;
use crate::ids::FileId;
use crate::plan::Plan;
use crate::records::Records;
use crate::snapshot::{Meta, Mtime, Snapshot, Stat};
use crate::state::{FileState, is_racy};
use std::time::Duration;

/// A reading of the clock that stamps files.
///
/// It is had by changing a file of the store and looking at its stamp, so it is the clock of the file system that the
/// store lies on, whoever keeps it. A file of the same file system whose stamp is older than a reading was not changed
/// after the reading, and will bear a newer stamp when it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) time: Mtime,
    device: u64,
}

/// How often a tick of the clock is waited for, in steps of a millisecond. Kernels tick every 1 to 10 ms; a clock that
/// is coarser is not worth waiting for, because content can tell, too.
const MOST_STEPS: u32 = 20;

impl Moment {
    pub(super) fn read(disk: &dyn Disk, records: &Records) -> std::io::Result<Self> {
        let (time, device) = match disk.stamp_now() {
            Some(now) => now,
            None => records.clock()?,
        };
        Ok(Self { time, device })
    }

    /// An earlier reading of the same clock.
    pub(super) fn at(self, time: Mtime) -> Self {
        Self { time, ..self }
    }

    /// Whether a file that looked like this after the reading may be changed without looking different.
    pub(super) fn is_racy(self, meta: Meta) -> bool {
        if meta.device == self.device {
            let changed = if meta.ctime == 0 { meta.mtime } else { meta.ctime };
            return changed >= self.time;
        }
        // Another file system, perhaps another clock.
        is_racy(meta, self.time)
    }
}

/// How files look, seen at a moment.
pub(super) struct Seen {
    pub(super) moment: Moment,
    snapshot: Snapshot,
}

/// Looks at all files of a table. Where stamps are so young that they prove nothing yet, it waits for the clock to move
/// on, some milliseconds at most.
pub(super) fn look(
    disk: &dyn Disk,
    records: &Records,
    files: &FileTable,
    threads: usize,
) -> std::io::Result<Seen> {
    let plan = Plan::new(files, files.ids());
    let mut moment = Moment::read(disk, records)?;
    let mut snapshot = collect(disk, &plan, threads);
    for _ in 0..MOST_STEPS {
        let racy = files.ids().filter(|&file| is_young(snapshot.stat(file), moment)).count();
        // A disk with a clock of its own does not wait for ours.
        if racy == 0 || disk.stamp_now().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
        let later = Moment::read(disk, records)?;
        if later.time > moment.time {
            moment = later;
            snapshot = collect(disk, &plan, threads);
        }
    }
    Ok(Seen { moment, snapshot })
}

/// Whether waiting a little makes the stamp prove something.
fn is_young(stat: Stat, moment: Moment) -> bool {
    let Stat::Present(meta) = stat else { return false };
    // What bears a stamp from the future does so for long.
    meta.device == moment.device && meta.ctime != 0 && meta.ctime == moment.time
}

impl Seen {
    pub(super) fn stat(&self, file: FileId) -> Stat {
        self.snapshot.stat(file)
    }

    pub(super) fn is_racy(&self, file: FileId) -> bool {
        matches!(self.stat(file), Stat::Present(meta) if self.moment.is_racy(meta))
    }

    /// The states of files, with digests of those for which they are wanted, or whose stamps prove nothing.
    pub(super) fn states(
        &self,
        disk: &dyn Disk,
        files: &FileTable,
        wants_digest: impl Fn(FileId) -> bool,
        digests: &mut Digests,
        threads: usize,
    ) -> Vec<FileState> {
        let mut states = vec![FileState::UNKNOWN; files.len()];
        let mut to_read = Vec::new();
        for file in files.ids() {
            let (stat, racy) = (self.stat(file), self.is_racy(file));
            states[file.index()] = FileState::new(stat, None, racy);
            if let Stat::Present(meta) = stat
                && (racy || wants_digest(file))
            {
                to_read.push((file, files.path(file), meta));
            }
        }
        let contents = digests.of(disk, &to_read, threads, |meta| !self.moment.is_racy(meta));
        for (&(file, _, meta), content) in to_read.iter().zip(contents) {
            states[file.index()] = match content {
                Content::Digest(digest) => {
                    let racy = self.moment.is_racy(meta);
                    if !racy {
                        digests.keep(meta, digest);
                    }
                    FileState::new(Stat::Present(meta), Some(digest), racy)
                }
                // Somebody is changing it, or it cannot be read: it will count as changed.
                _ => FileState::UNKNOWN,
            };
        }
        states
    }
}
