//! Depfiles that are not there. There are two ways not to be: not to be found, and to lie where a file is in the place of a folder,
//! on the way or behind a link, which is an error. For a stat they are the same.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use upcheck::collect::{Disk, Listing};

/// So many missing files of a folder are asked for one by one. For more its names are listed, among which most of those that are
/// missing are not.
const MOST_SINGLE: u32 = 16;

/// The folders in which depfiles are missing.
pub(super) struct Folders<'a> {
    disk: &'a dyn Disk,
    known: HashMap<Vec<u8>, Folder>,
}

struct Folder {
    /// It is not found, so nothing in it is.
    is_missing: bool,
    n_asked: u32,
    names: Option<HashSet<Box<[u8]>>>,
}

impl<'a> Folders<'a> {
    pub(super) fn new(disk: &'a dyn Disk) -> Self {
        Self { disk, known: HashMap::new() }
    }

    /// Whether a file that is not there is not found. Costs a call at most, and one for its folder.
    pub(super) fn is_simply_missing(&mut self, path: &[u8]) -> bool {
        let Self { disk, known } = self;
        let is_not_found =
            |path: &[u8]| disk.kind(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
        let (folder, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(0) => (&b"/"[..], &path[1..]),
            Some(at) => (&path[..at], &path[at + 1..]),
            None => (&b"."[..], path),
        };
        if !known.contains_key(folder) {
            let is_missing = is_not_found(folder);
            known.insert(folder.to_vec(), Folder { is_missing, n_asked: 0, names: None });
        }
        let Some(folder_is) = known.get_mut(folder) else { return is_not_found(path) };
        if folder_is.is_missing {
            return true;
        }
        folder_is.n_asked += 1;
        if folder_is.n_asked == MOST_SINGLE {
            let mut listing = Listing::default();
            let listed = disk.list(folder, &mut listing);
            folder_is.names = listed.ok().map(|()| listing.entries().map(|(name, _)| name.into()).collect());
        }
        let is_among = folder_is.names.as_ref().is_none_or(|names| names.contains(name));
        !is_among || is_not_found(path)
    }
}
