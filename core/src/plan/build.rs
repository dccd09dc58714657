//! Making a plan: files are grouped by directory, the directories sorted, and all of it laid out in visit order.

use super::cost::Costs;
use super::visit::{as_seen, prefix_len, push_directory};
use super::{Arrays, How, Plan, narrow};
use crate::files::FileTable;
use crate::ids::FileId;
use crate::path;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::cmp::Ordering;

impl Plan {
    /// A plan for `wanted`, each file once however often it is given, for the platform that this is compiled for. Cost:
    /// one hash per run of files in the same directory, a sort of the directories, and a copy of the names.
    #[must_use]
    pub fn new(table: &FileTable, wanted: impl IntoIterator<Item = FileId>) -> Self {
        Self::with_costs(table, wanted, &Costs::here())
    }

    /// A plan for a disk that is asked at these costs. Any plan is good for any disk; only the way may be a detour.
    #[must_use]
    pub fn with_costs(table: &FileTable, wanted: impl IntoIterator<Item = FileId>, costs: &Costs) -> Self {
        let mut grouping = Grouping::default();
        let mut seen = vec![false; table.len()];
        let mut placed: Vec<(FileId, u32)> = Vec::new();
        let mut n_bytes = 0;
        for file in wanted {
            if !std::mem::replace(&mut seen[file.index()], true) {
                let (directory, name) = path::split(as_seen(table.path(file)));
                n_bytes += name.len() + 1;
                placed.push((file, grouping.add(directory)));
            }
        }
        let order = grouping.order();
        let files = in_order(&placed, &grouping.groups, &order);
        let mut arrays = Arrays { n_known: narrow(table.len()), ..Arrays::default() };
        arrays.files.to_mut().reserve_exact(files.len());
        arrays.asked.to_mut().reserve(n_bytes);
        let mut start = 0;
        for &group in &order {
            let Group { directory, size } = grouping.groups[group as usize];
            let end = start + size as usize;
            arrays.push_visit(table, costs, directory, &files[start..end]);
            start = end;
        }
        Self { arrays }
    }

    /// The same plan for some of its files only, which it knows by their places in [`Plan::files`]; nothing is listed.
    #[must_use]
    pub fn part(&self, is_wanted: impl Fn(usize) -> bool) -> Self {
        let costs = Costs { listing: None, ..Costs::here() };
        let mut arrays = Arrays { n_known: self.arrays.n_known, ..Arrays::default() };
        let mut places = self.files().enumerate();
        for visit in self.visits() {
            let mut n_files = 0;
            for (asked, (place, file)) in visit.asked().zip(places.by_ref()) {
                if is_wanted(place) {
                    arrays.asked.to_mut().extend_from_slice(asked.to_bytes_with_nul());
                    arrays.files.to_mut().push(narrow(file.index()));
                    n_files += 1;
                }
            }
            if n_files > 0 {
                let how = if visit.how() == How::List { How::Descriptor } else { visit.how() };
                arrays.push_end(visit.directory(), how, &costs, n_files);
            }
        }
        Self { arrays }
    }
}

impl Arrays {
    fn push_visit(&mut self, table: &FileTable, costs: &Costs, directory: &[u8], files: &[FileId]) {
        let prefix = prefix_len(directory);
        let path = |&file: &FileId| as_seen(table.path(file));
        let longest = files.iter().map(path).map(<[u8]>::len).max().unwrap_or(0) - prefix;
        let how = How::choose(costs, directory, files.len(), longest);
        let skipped = if how.opens() { prefix } else { 0 };
        for file in files {
            self.asked.to_mut().extend_from_slice(&path(file)[skipped..]);
            self.asked.to_mut().push(0);
            self.files.to_mut().push(narrow(file.index()));
        }
        self.push_end(directory, how, costs, files.len());
    }

    /// Adds what there is of a visit beside the files and what is asked.
    fn push_end(&mut self, directory: &[u8], how: How, costs: &Costs, n_files: usize) {
        push_directory(self.directories.to_mut(), directory);
        self.hows.to_mut().push(how.code());
        let cost = how.cost(costs, directory, n_files);
        self.costs.to_mut().push(u32::try_from(cost).unwrap_or(u32::MAX));
        self.budgets.to_mut().push(how.budget(costs, directory, n_files));
        self.directory_ends.to_mut().push(narrow(self.directories.len()));
        self.asked_ends.to_mut().push(narrow(self.asked.len()));
        self.file_ends.to_mut().push(narrow(self.files.len()));
    }
}

/// The files by directory, in the order of the directories.
fn in_order(placed: &[(FileId, u32)], groups: &[Group<'_>], order: &[u32]) -> Vec<FileId> {
    let mut next = vec![0; groups.len()];
    let mut start = 0;
    for &group in order {
        next[group as usize] = start;
        start += groups[group as usize].size as usize;
    }
    let mut files = vec![FileId::new(0); placed.len()];
    for &(file, group) in placed {
        let at = &mut next[group as usize];
        files[*at] = file;
        *at += 1;
    }
    files
}

/// Numbers the directories of files as they come.
#[derive(Default)]
struct Grouping<'a> {
    /// The number of each directory, and the hash of its path.
    index: HashTable<(u32, u64)>,
    groups: Vec<Group<'a>>,
    /// The group of the file that came last: the next one is often its neighbour.
    last: u32,
}

/// How many files are wanted in a directory.
#[derive(Clone, Copy)]
struct Group<'a> {
    directory: &'a [u8],
    size: u32,
}

impl<'a> Grouping<'a> {
    /// Counts one more file in a directory.
    fn add(&mut self, directory: &'a [u8]) -> u32 {
        if self.groups.get(self.last as usize).is_none_or(|last| last.directory != directory) {
            self.last = self.find(directory);
        }
        self.groups[self.last as usize].size += 1;
        self.last
    }

    fn find(&mut self, directory: &'a [u8]) -> u32 {
        let Self { index, groups, .. } = self;
        let hash = rapidhash::v3::rapidhash_v3(directory);
        let is_it = |&(group, its): &(u32, u64)| its == hash && groups[group as usize].directory == directory;
        match index.entry(hash, is_it, |&(_, hash)| hash) {
            Entry::Occupied(found) => found.get().0,
            Entry::Vacant(slot) => {
                let group = narrow(groups.len());
                slot.insert((group, hash));
                groups.push(Group { directory, size: 0 });
                group
            }
        }
    }

    /// The directories, sorted part by part, so that one comes right before what is beneath it: a missing one is
    /// remembered. By bytes alone, `a-b` would come between `a` and `a/c`.
    fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..narrow(self.groups.len())).collect();
        let directory = |group: u32| self.groups[group as usize].directory;
        order.sort_unstable_by(|&a, &b| by_parts(directory(a), directory(b)));
        order
    }
}

/// Compares paths part by part: as bytes, but with the separator before every other.
fn by_parts(a: &[u8], b: &[u8]) -> Ordering {
    match a.iter().zip(b).find(|(a, b)| a != b) {
        Some((b'/', _)) => Ordering::Less,
        Some((_, b'/')) => Ordering::Greater,
        Some((a, b)) => a.cmp(b),
        None => a.len().cmp(&b.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Explained;
    use super::*;

    fn plan(paths: &[&str]) -> Plan {
        let mut table = FileTable::default();
        let ids: Vec<_> = paths.iter().map(|path| table.intern(path.as_bytes())).collect();
        Plan::with_costs(&table, ids, &Costs::LINUX)
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    fn names_in(directory: &str, n: usize) -> Vec<String> {
        (0..n).map(|n| format!("{directory}/f{n}")).collect()
    }

    /// A name that begins with a slash would be looked for in the root of the file system.
    #[test]
    fn whatever_slashes_are_before_a_name_none_is_in_it() {
        let many: Vec<_> = (0..30).map(|n| format!("a//f{n}")).collect();
        let paths: Vec<_> = many.iter().map(String::as_str).chain(["b///x", "/c//y", "d/z"]).collect();
        let plan = plan(&paths);
        let wanted: Vec<String> =
            paths.iter().map(|path| path.rsplit('/').next().unwrap_or(path).into()).collect();
        let mut found: Vec<String> =
            plan.visits().flat_map(|visit| visit.names().map(text).collect::<Vec<_>>()).collect();
        let opened = plan.visits().find(|visit| visit.directory() == b"a/").expect("a visit");
        assert!(opened.how().opens() && opened.asked().all(|asked| asked.to_bytes().starts_with(b"f")));
        found.sort_unstable();
        let mut wanted = wanted;
        wanted.sort_unstable();
        assert_eq!(found, wanted);
    }

    #[test]
    fn each_file_and_each_directory_stands_in_the_plan_once() {
        let plan = plan(&["b/x", "a/x", "b/y", "top", "a/x", "b/c/z", "/abs", "b/x", "b/y\0z", "b\0/y"]);
        let found: Vec<(String, Vec<String>)> =
            plan.visits().map(|visit| (text(visit.directory()), visit.names().map(text).collect())).collect();
        let expected = [
            ("", vec!["top", "b"]),
            ("/", vec!["abs"]),
            ("a", vec!["x"]),
            ("b", vec!["x", "y", "y"]),
            ("b/c", vec!["z"]),
        ];
        let expected = expected.map(|(directory, names)| {
            (directory.to_owned(), names.into_iter().map(str::to_owned).collect::<Vec<_>>())
        });
        assert_eq!(found, expected);
        let files: Vec<_> = plan.files().map(FileId::index).collect();
        assert_eq!(files, [3, 7, 5, 1, 0, 2, 6, 4]);
        assert_eq!((plan.n_visits(), plan.n_files(), plan.n_known()), (5, 8, 8));
    }

    #[test]
    fn directories_are_sorted_part_by_part() {
        let sorted = ["", "/", "/usr", "..", "a", "a/b", "a/b/c", "a/b-c", "a-b", "a-b/c", "ab"];
        for (at, a) in sorted.iter().enumerate() {
            for (other, b) in sorted.iter().enumerate() {
                assert_eq!(by_parts(a.as_bytes(), b.as_bytes()), at.cmp(&other), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_directory_is_opened_where_that_is_cheaper() {
        let paths = [names_in("many", 30), names_in("few", 10), names_in("deep/down/in/it", 10)].concat();
        let paths: Vec<&str> = paths.iter().map(String::as_str).chain(["one", "two", "/root"]).collect();
        let plan = plan(&paths);
        let found: Vec<_> = plan.explain().map(|e| (text(e.directory), e.how, e.names)).collect();
        let expected = [
            ("", How::Path, 2),
            ("/", How::Path, 1),
            ("deep/down/in/it", How::Descriptor, 10),
            ("few", How::Path, 10),
            ("many", How::Descriptor, 30),
        ];
        assert_eq!(found, expected.map(|(directory, how, names)| (directory.to_owned(), how, names)));
        let costs: Vec<u64> = plan.explain().map(|Explained { nanoseconds, .. }| nanoseconds).collect();
        assert!(costs[2] > costs[3] && costs[2] < costs[4], "{costs:?}");
        assert_eq!(costs.iter().sum::<u64>(), plan.total_cost());
    }

    #[test]
    fn a_directory_with_a_path_that_is_too_long_is_never_opened() {
        let long = "d/".repeat(2030);
        let paths = names_in(&long[..long.len() - 1], 50);
        let mut paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        assert_eq!(plan(&paths).visit(0).how(), How::Descriptor);
        let too_long = format!("{long}{}", "n".repeat(36));
        paths.push(&too_long);
        assert_eq!(plan(&paths).visit(0).how(), How::TooLong);
    }

    #[test]
    fn a_plan_can_be_put_together_again_but_not_from_anything_else() {
        let paths = [names_in("many", 30), names_in("few", 3)].concat();
        let paths: Vec<&str> = paths.iter().map(String::as_str).chain(["one", "/"]).collect();
        let whole = plan(&paths).arrays().clone();
        assert_eq!(Plan::from_arrays(whole.clone()).expect("it is whole").arrays(), &whole);
        let damages: [fn(&mut Arrays); 11] = [
            |a| a.budgets.to_mut().truncate(1),
            |a| a.hows.to_mut()[0] = 9,
            |a| a.hows.to_mut().truncate(1),
            |a| a.directories.to_mut()[0] = 0,
            |a| a.directory_ends.to_mut()[0] += 1,
            |a| a.asked.to_mut().truncate(3),
            |a| *a.asked.to_mut().last_mut().expect("not empty") = b'x',
            |a| a.asked.to_mut()[2] = 0,
            |a| a.file_ends.to_mut()[1] = 0,
            |a| a.files.to_mut()[2] = 99,
            |a| a.asked.to_mut()[6] = b'x',
        ];
        for (at, damage) in damages.into_iter().enumerate() {
            let mut arrays = whole.clone();
            damage(&mut arrays);
            assert!(Plan::from_arrays(arrays).is_none(), "{at}");
        }
    }
}
