//! What there is below a directory: its directories, breadth first, with the names of their files.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};
use upcheck::collect::{Disk, Kind, Listing};
use upcheck::{Meta, Stat};

/// So many directories are listed at most: enough for any sample.
const MOST_DIRECTORIES: usize = 5_000;
/// So many names are listed at most.
const MOST_ENTRIES: usize = 500_000;
/// No more directories are listed after so long.
const LONG: Duration = Duration::from_secs(3);
/// Of so many files in a directory the names are kept.
const MOST_NAMES: usize = 5_000;

/// What was found.
#[derive(Default)]
pub(super) struct Survey {
    /// Those that were listed.
    pub(super) directories: Vec<Directory>,
    /// How many names they have.
    pub(super) n_entries: usize,
    /// Directories that cannot be listed.
    pub(super) n_closed: usize,
    /// Directories on other file systems, which were left alone.
    pub(super) n_elsewhere: usize,
    /// Whether all that is there was looked at.
    pub(super) is_whole: bool,
}

/// A directory that was listed.
pub(super) struct Directory {
    /// From the base, which has an empty path.
    pub(super) path: Vec<u8>,
    /// How many names it has.
    pub(super) n_entries: usize,
    /// The names of files, the first few.
    pub(super) files: Vec<Vec<u8>>,
}

impl Survey {
    /// Looks through the directories of the base's file system. Links are not followed.
    pub(super) fn make(disk: &dyn Disk) -> io::Result<Self> {
        let mut survey = Self { is_whole: true, ..Self::default() };
        let began = Instant::now();
        let mut listing = Listing::default();
        let device = device(disk, b".");
        let mut left = VecDeque::from([Vec::new()]);
        while let Some(path) = left.pop_front() {
            let is_much = survey.directories.len() == MOST_DIRECTORIES || survey.n_entries >= MOST_ENTRIES;
            if is_much || began.elapsed() > LONG {
                survey.is_whole = false;
                break;
            }
            // Not before it is its turn: a directory may have very many others, and who answers may be far away.
            if !path.is_empty() && device.is_some() && self::device(disk, &path) != device {
                survey.n_elsewhere += 1;
                continue;
            }
            match disk.list(&path, &mut listing) {
                Ok(()) => {}
                Err(cause) if path.is_empty() => return Err(cause),
                Err(_) => {
                    survey.n_closed += 1;
                    continue;
                }
            }
            let mut directory = Directory { path, n_entries: listing.len(), files: Vec::new() };
            for (name, kind) in listing.entries() {
                match kind {
                    Kind::File if directory.files.len() < MOST_NAMES => directory.files.push(name.to_vec()),
                    Kind::Directory => left.push_back(join(&directory.path, name)),
                    _ => {}
                }
            }
            survey.n_entries += directory.n_entries;
            survey.directories.push(directory);
        }
        // A disk lists in any order; the sample should be the same every time.
        survey.directories.sort_by(|a, b| a.path.cmp(&b.path));
        survey.directories.iter_mut().for_each(|directory| directory.files.sort());
        Ok(survey)
    }
}

fn device(disk: &dyn Disk, path: &[u8]) -> Option<u64> {
    match disk.stat(path) {
        Stat::Present(Meta { device, .. }) => Some(device),
        _ => None,
    }
}

/// The path of a name in a directory.
pub(super) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() }
}
