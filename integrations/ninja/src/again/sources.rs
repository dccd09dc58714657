//! The files that a build was read from, as they are looked at again and again: all at once, by directory, as inputs and
//! outputs are.

use crate::source::{Checked, Source, Stamp, nanoseconds};
use std::sync::Arc;
use upcheck::collect::{Disk, collect};
use upcheck::{FileId, FileTable, Mtime, Plan, path};

/// What each source said, and where to look for it.
pub(super) struct Sources {
    all: Vec<Known>,
    files: FileTable,
    plan: Arc<Plan>,
}

struct Known {
    source: Source,
    file: FileId,
    /// The moment that its stamp proves something for: what was changed long enough before it would have another one.
    moment: Mtime,
}

impl Sources {
    /// What these said when they were read, not before a moment.
    pub(super) fn new(sources: &[Source], moment: Mtime) -> Self {
        let mut files = FileTable::default();
        // What is told of is told by names, so each has to be one.
        let known = |source: &Source| Known {
            source: source.clone(),
            file: files.intern(&path::with_single_slashes(&source.path)),
            moment,
        };
        let all = sources.iter().map(known).collect();
        let plan = Arc::new(Plan::new(&files, files.ids()));
        Self { all, files, plan }
    }

    /// Whether a path is one of them.
    pub(super) fn has(&self, path: &[u8]) -> bool {
        self.files.lookup(path).is_some()
    }

    /// What [`Sources::are_same`] asks for.
    pub(super) fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.plan)
    }

    /// The directories that they are in.
    pub(super) fn directories(&self) -> impl Iterator<Item = &[u8]> {
        self.plan.visits().map(|visit| visit.directory())
    }

    /// How many files they are.
    pub(super) fn n_files(&self) -> usize {
        self.plan.n_files()
    }

    /// Whether they say what they said.
    pub(super) fn are_same(&mut self, disk: &dyn Disk, threads: usize) -> bool {
        let moment = nanoseconds(disk.now());
        let now = collect(disk, &self.plan, threads);
        self.all.iter_mut().all(|known| {
            let is_same = Stamp::from_stat(now.stat(known.file)) == Some(known.source.stamp);
            is_same && !known.source.stamp.is_racy(known.moment) || known.reads_the_same(disk, moment)
        })
    }

    /// Whether they look as they did when they were read.
    pub(super) fn look_the_same(&self, disk: &dyn Disk, threads: usize) -> bool {
        let now = collect(disk, &self.plan, threads);
        let is_same = |known: &Known| Stamp::from_stat(now.stat(known.file)) == Some(known.source.stamp);
        self.all.iter().all(is_same)
    }

    /// Whether they say what they said, if it is known that none of them was touched since they were looked at.
    pub(super) fn are_same_untouched(&mut self, disk: &dyn Disk) -> bool {
        let moment = nanoseconds(disk.now());
        let mut racy = self.all.iter_mut().filter(|known| known.source.stamp.is_racy(known.moment));
        racy.all(|known| known.reads_the_same(disk, moment))
    }
}

impl Known {
    /// Looks into the file.
    fn reads_the_same(&mut self, disk: &dyn Disk, moment: Mtime) -> bool {
        match self.source.check(disk, self.source.stamp, self.moment) {
            Checked::Same => true,
            // What was understood of it is the same, but what was behind that, and was warned of, is not there any more.
            Checked::SameContent(_) if self.source.has_more() => false,
            Checked::SameContent(stamp) => {
                (self.source.stamp, self.moment) = (stamp, moment);
                true
            }
            Checked::Grown(_) | Checked::Changed => false,
        }
    }
}
