//! Watches a collection: which directories changed while they were listed.

use super::Disk;
use crate::plan::Visit;
use crate::snapshot::{ChangedDirectories, IoCounts, Meta, Stat};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// A disk whose visits are watched.
pub(super) struct Watch<'a> {
    disk: &'a dyn Disk,
    changed: Mutex<ChangedDirectories>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(disk: &'a dyn Disk) -> Self {
        Self { disk, changed: Mutex::default() }
    }

    /// What was seen.
    pub(super) fn finish(self) -> ChangedDirectories {
        self.changed.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for Watch<'_> {
    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        self.visit_and_tell(visit, stats, counts, &mut |_| 0)
    }

    fn visit_and_tell(
        &self,
        visit: Visit<'_>,
        stats: &mut [Stat],
        counts: &mut IoCounts,
        slow: &mut dyn FnMut(Duration) -> usize,
    ) -> bool {
        let before = counts.changed;
        let is_there = self.disk.visit_and_tell(visit, stats, counts, slow);
        if counts.changed > before {
            self.changed.lock().unwrap_or_else(PoisonError::into_inner).add(visit.directory());
        }
        is_there
    }

    fn read_stamped(&self, path: &[u8]) -> std::io::Result<(Vec<u8>, Meta)> {
        self.disk.read_stamped(path)
    }

    fn now(&self) -> SystemTime {
        self.disk.now()
    }
}
