//! The plan: which directories to visit, and for which names. Each directory stands in it once, so that no
//! two threads can ever touch the same one.

use crate::files::FileTable;
use crate::ids::FileId;
use crate::path;
use hashbrown::HashTable;
use std::ops::Range;

/// One directory to visit, and the files wanted in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// A file in that directory: the directory is the part of its path before the name.
    pub(crate) sample: FileId,
    /// Where its files stand in [`Plan::files`].
    pub(crate) files: Range<usize>,
}

/// What to ask the disk.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    visits: Vec<Visit>,
    /// The wanted files, grouped by visit.
    files: Vec<FileId>,
}

impl Plan {
    /// A plan for `wanted`, each file once however often it is given. Cost: one hash per file, plus a
    /// sort of the directories.
    #[must_use]
    pub fn new(table: &FileTable, wanted: impl IntoIterator<Item = FileId>) -> Self {
        let mut grouping = Grouping { table, index: HashTable::new(), samples: Vec::new() };
        let mut seen = vec![false; table.len()];
        let mut sizes: Vec<usize> = Vec::new();
        let mut placed: Vec<(FileId, usize)> = Vec::new();
        let mut last: Option<usize> = None;
        for file in wanted {
            if std::mem::replace(&mut seen[file.index()], true) {
                continue;
            }
            let group = grouping.group(file, last);
            if group == sizes.len() {
                sizes.push(0);
            }
            sizes[group] += 1;
            placed.push((file, group));
            last = Some(group);
        }
        // Sorted part by part, so that a directory comes right before what is beneath it: a missing one is
        // remembered. By bytes alone, `a-b` would come between `a` and `a/c`.
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        let parts = |group: usize| grouping.directory(group).split(|&byte| byte == b'/');
        order.sort_unstable_by(|&a, &b| parts(a).cmp(parts(b)));
        let mut next = vec![0; sizes.len()];
        let mut visits = Vec::with_capacity(sizes.len());
        let mut start = 0;
        for group in order {
            next[group] = start;
            let end = start + sizes[group];
            visits.push(Visit { sample: grouping.samples[group], files: start..end });
            start = end;
        }
        let mut files = vec![FileId::new(0); placed.len()];
        for (file, group) in placed {
            files[next[group]] = file;
            next[group] += 1;
        }
        Self { visits, files }
    }

    /// The directories, sorted by path.
    #[must_use]
    pub fn visits(&self) -> &[Visit] {
        &self.visits
    }

    /// All wanted files, grouped by directory.
    #[must_use]
    pub fn files(&self) -> &[FileId] {
        &self.files
    }

    /// Splits the visits into at most `parts` runs of about equal cost.
    #[must_use]
    pub fn split(&self, parts: usize) -> Vec<&[Visit]> {
        // Opening and closing a directory costs about as much as two stats.
        let cost = |visit: &Visit| visit.files.len() + 2;
        let total: usize = self.visits.iter().map(cost).sum();
        let share = total.div_ceil(parts.max(1)).max(1);
        let mut runs = Vec::new();
        let mut rest = self.visits.as_slice();
        while !rest.is_empty() {
            let mut spent = 0;
            let end = rest.iter().position(|visit| {
                let full = spent >= share;
                spent += cost(visit);
                full
            });
            let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
            runs.push(run);
            rest = after;
        }
        runs
    }
}

/// Numbers the directories of files as they come.
struct Grouping<'a> {
    table: &'a FileTable,
    index: HashTable<usize>,
    /// For each directory, one file in it.
    samples: Vec<FileId>,
}

impl Grouping<'_> {
    fn directory(&self, group: usize) -> &[u8] {
        path::split(self.table.path(self.samples[group])).0
    }

    fn group(&mut self, file: FileId, last: Option<usize>) -> usize {
        let directory = path::split(self.table.path(file)).0;
        if let Some(last) = last
            && self.directory(last) == directory
        {
            return last;
        }
        let Self { table, index, samples } = self;
        let directory_of = |group: usize| path::split(table.path(samples[group])).0;
        let hash = rapidhash::v3::rapidhash_v3;
        let entry = index.entry(
            hash(directory),
            |&group| directory_of(group) == directory,
            |&group| hash(directory_of(group)),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => *found.get(),
            hashbrown::hash_table::Entry::Vacant(slot) => {
                let group = samples.len();
                slot.insert(group);
                samples.push(file);
                group
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_and_each_directory_stands_in_the_plan_once() {
        let mut table = FileTable::default();
        let paths = ["b/x", "a/x", "b/y", "top", "a/x", "b/c/z", "/abs", "b/x"];
        let ids: Vec<_> = paths.iter().map(|path| table.intern(path.as_bytes())).collect();
        let plan = Plan::new(&table, ids);
        let found: Vec<(&[u8], Vec<&[u8]>)> = plan
            .visits()
            .iter()
            .map(|visit| {
                let names = plan.files()[visit.files.clone()].iter().map(|&f| path::split(table.path(f)).1);
                (path::split(table.path(visit.sample)).0, names.collect())
            })
            .collect();
        let expected: Vec<(&[u8], Vec<&[u8]>)> = vec![
            (b"", vec![b"top"]),
            (b"/", vec![b"abs"]),
            (b"a", vec![b"x"]),
            (b"b", vec![b"x", b"y"]),
            (b"b/c", vec![b"z"]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn runs_cover_all_visits_in_order() {
        let mut table = FileTable::default();
        let ids: Vec<_> = (0..100).map(|n| table.intern(format!("d{}/f{n}", n % 7).as_bytes())).collect();
        let plan = Plan::new(&table, ids);
        for parts in 1..10 {
            let runs = plan.split(parts);
            assert!(runs.len() <= parts, "{parts}: {}", runs.len());
            assert_eq!(runs.concat(), plan.visits());
        }
    }
}
