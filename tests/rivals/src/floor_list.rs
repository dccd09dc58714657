//! The list for the `floor` program: the files that upcheck looks at, laid out so that nothing is left to do but
//! to ask for them. The format is described in `bin/floor.rs`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use upcheck::Stat;
use upcheck::collect::os_disk;
use upcheck_ninja::{Build, Options};

/// From so many files on a directory is opened, not walked to for each of them.
const FILES_WORTH_OPENING: usize = 4;

/// What a full check looks at, or one for some targets.
pub(crate) struct Looked {
    /// The targets that were judged.
    pub(crate) n_targets: usize,
    /// Sorted by directory.
    paths: Vec<Vec<u8>>,
}

impl Looked {
    /// Asks upcheck's library about a build in which everything is up to date. No targets: the default ones.
    pub(crate) fn at(dir: &Path, targets: &[&str]) -> Result<Self, String> {
        let disk = os_disk(dir).map_err(|error| error.to_string())?;
        let mut build = Build::load(&disk, &Options::default()).map_err(|error| error.to_string())?;
        let requests = match targets {
            [] => build.default_requests(),
            targets => targets.iter().map(|target| build.resolve(target.as_bytes())).collect(),
        };
        let requests = requests.map_err(|error| error.to_string())?;
        build.describe(&disk, &requests).map_err(|error| error.to_string())?;
        let snapshot = build.collect(&disk);
        let decision = build.decide(&snapshot, &requests).map_err(|error| error.to_string())?;
        let report = build.report(&decision);
        let files = &build.graph().files;
        let collected = files.ids().filter(|&file| snapshot.stat(file) != Stat::Unknown);
        let paths: Vec<_> = collected.map(|file| files.path(file).to_vec()).collect();
        Ok(Self::of(report.n_targets, paths))
    }

    /// These files, in whatever order.
    pub(crate) fn of(n_targets: usize, mut paths: Vec<Vec<u8>>) -> Self {
        paths.sort_unstable_by(|a, b| split(a).cmp(&split(b)));
        Self { n_targets, paths }
    }

    pub(crate) fn n_files(&self) -> usize {
        self.paths.len()
    }

    /// Writes the list for so many threads.
    pub(crate) fn write(&self, path: PathBuf, n_threads: usize) -> io::Result<PathBuf> {
        fs::write(&path, self.list(n_threads))?;
        Ok(path)
    }

    fn list(&self, n_threads: usize) -> Vec<u8> {
        // Each thread gets as many files; a directory at a seam is opened by both sides.
        let mut parts = self.paths.chunks(self.paths.len().div_ceil(n_threads).max(1));
        let mut list = to_bytes(n_threads).to_vec();
        list.resize(8 * (n_threads + 1), 0);
        for thread in 0..n_threads {
            let begin = to_bytes(list.len());
            list[8 * (thread + 1)..8 * (thread + 2)].copy_from_slice(&begin);
            write_part(&mut list, parts.next().unwrap_or_default());
        }
        list
    }
}

fn to_bytes(number: usize) -> [u8; 8] {
    u64::try_from(number).expect("a size in memory").to_le_bytes()
}

fn write_part(list: &mut Vec<u8>, paths: &[Vec<u8>]) {
    let mut group: Option<&[u8]> = None;
    for files in paths.chunk_by(|a, b| split(a).0 == split(b).0) {
        let by_path = files.len() < FILES_WORTH_OPENING;
        let directory = if by_path { b"" } else { split(&files[0]).0 };
        if group != Some(directory) {
            if group.is_some() {
                list.push(0);
            }
            list.extend_from_slice(directory);
            list.push(0);
            group = Some(directory);
        }
        for file in files {
            let name = if directory.is_empty() { file } else { split(file).1 };
            list.extend_from_slice(name);
            list.push(0);
        }
    }
    if group.is_some() {
        list.push(0);
    }
}

/// Directory and name.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(0) => (b"/", &path[1..]),
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (b"", path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(paths: &[&str], n_threads: usize) -> String {
        let paths = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        let list = Looked { n_targets: 0, paths }.list(n_threads);
        let parts = list[8 * (n_threads + 1)..].to_vec();
        String::from_utf8(parts).expect("text").replace('\0', "|")
    }

    #[test]
    fn directories_with_many_files_are_groups_and_other_files_stand_there_with_their_paths() {
        assert_eq!(list(&["top", "a/x", "b/1", "b/2", "b/3", "b/4"], 1), "|top|a/x||b|1|2|3|4||");
        assert_eq!(list(&["/x", "/a/1", "/a/2", "/a/3", "/a/4"], 1), "|/x||/a|1|2|3|4||");
    }

    #[test]
    fn threads_get_equal_shares_and_no_thread_has_none_of_the_format() {
        assert_eq!(
            list(&["b/1", "b/2", "b/3", "b/4", "b/5", "b/6", "b/7", "b/8"], 2),
            "b|1|2|3|4||b|5|6|7|8||"
        );
        assert_eq!(list(&["x"], 2), "|x||");
        assert_eq!(list(&[], 2), "");
    }
}
