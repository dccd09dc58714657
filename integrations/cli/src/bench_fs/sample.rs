//! Which directories and names are measured: spread evenly over what there is, and as many as a round can do in about a
//! second.

use super::survey::{Directory, Survey, join};
use std::time::{Duration, Instant};
use upcheck::collect::Disk;
use upcheck::{FileId, FileTable};

/// What a round should take, roughly.
const ROUND: Duration = Duration::from_secs(1);
/// How often a round asks for each name, roughly.
const TIMES: u32 = 8;
/// From so many names on the files of another directory are not needed, and with more a round says no more.
const NAMES: (usize, usize) = (200, 20_000);
/// So many names are asked for to learn how long that takes.
const TRIES: usize = 20;
/// How many names of a directory are few.
pub(super) const FEW: usize = 3;

/// The sample, and the names of it in one table.
pub(super) struct Sample {
    pub(super) table: FileTable,
    /// Those that have files, by their paths.
    pub(super) directories: Vec<Sampled>,
    /// How many entries they have.
    pub(super) n_entries: usize,
}

/// A directory of the sample.
pub(super) struct Sampled {
    pub(super) path: Vec<u8>,
    pub(super) n_entries: usize,
    /// Files that are there.
    pub(super) files: Vec<FileId>,
    /// As many names that are not.
    pub(super) missing: Vec<FileId>,
}

impl Sample {
    /// Takes at most `most` directories.
    pub(super) fn take(survey: &Survey, disk: &dyn Disk, most: usize) -> Self {
        let with_files: Vec<_> = survey.directories.iter().filter(|it| !it.files.is_empty()).collect();
        let chosen: Vec<&Directory> = spread(&with_files, most).copied().collect();
        let share = n_names(disk, &chosen).div_ceil(chosen.len().max(1));
        let mut table = FileTable::default();
        let mut directories = Vec::new();
        for directory in chosen {
            let path = &directory.path;
            let files: Vec<_> = spread(&directory.files, share).collect();
            let missing = (0..files.len()).map(|n| format!("no such file, {n}").into_bytes());
            let missing: Vec<_> = missing.filter(|name| !directory.files.contains(name)).collect();
            let mut intern = |name: &Vec<u8>| table.intern(&join(path, name));
            directories.push(Sampled {
                path: path.clone(),
                n_entries: directory.n_entries,
                files: files.into_iter().map(&mut intern).collect(),
                missing: missing.iter().map(&mut intern).collect(),
            });
        }
        let n_entries = directories.iter().map(|directory| directory.n_entries).sum();
        Self { table, directories, n_entries }
    }

    /// How many files are in it.
    pub(super) fn n_names(&self) -> usize {
        self.directories.iter().map(|directory| directory.files.len()).sum()
    }

    /// All its files.
    pub(super) fn files(&self) -> impl Iterator<Item = FileId> {
        self.directories.iter().flat_map(|directory| directory.files.iter().copied())
    }

    /// A few files of each directory.
    pub(super) fn few(&self) -> impl Iterator<Item = FileId> {
        self.directories.iter().flat_map(|directory| spread(&directory.files, FEW).copied())
    }

    /// All names that are not there.
    pub(super) fn missing(&self) -> impl Iterator<Item = FileId> {
        self.directories.iter().flat_map(|directory| directory.missing.iter().copied())
    }
}

/// How many names a round can ask for, as often as it does.
fn n_names(disk: &dyn Disk, directories: &[&Directory]) -> usize {
    let names = directories.iter().filter_map(|directory| Some((&directory.path, directory.files.first()?)));
    let tried: Vec<_> = names.map(|(path, name)| join(path, name)).take(TRIES).collect();
    let began = Instant::now();
    for path in &tried {
        disk.stat(path);
    }
    let each = began.elapsed() / u32::try_from(tried.len().max(1)).unwrap_or(1);
    let n = ROUND.as_nanos() / (each * TIMES).as_nanos().max(1);
    usize::try_from(n).unwrap_or(usize::MAX).clamp(NAMES.0, NAMES.1)
}

/// At most `most` of many, as far apart as can be.
fn spread<T>(all: &[T], most: usize) -> impl Iterator<Item = &T> {
    let n = all.len().min(most);
    (0..n).map(move |at| &all[at * all.len() / n])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_evenly() {
        let of = |all: &[u32], most| spread(all, most).copied().collect::<Vec<_>>();
        assert_eq!(of(&[1, 2, 3, 4, 5, 6], 3), [1, 3, 5]);
        assert_eq!(of(&[1, 2, 3], 2), [1, 2]);
        assert_eq!(of(&[1, 2, 3], 9), [1, 2, 3]);
        assert_eq!(of(&[], 9), [0; 0]);
        assert_eq!(of(&[1], 0), [0; 0]);
    }
}
