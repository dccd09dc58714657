//! Which things that are told of can change an answer, and whether all that can change it is told of.
//!
//! Files that are looked at are watched by the disk that remembers; what the build was read from is watched here.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use upcheck_ninja::Asked as Remembered;
use upcheck_watch::{Feed, NameTrust, Place, Trust};

/// Watches what a build was read from. To be called before each look: what is watched twice is watched once, and what went
/// away on the path to it has to be watched anew. Whether all of it is vouched for.
pub(super) fn watch_sources(asked: &Remembered, feed: &Feed, directory: &Path) -> bool {
    let mut all = true;
    for source in asked.sources() {
        let (folder, name) = split(source);
        let folder = absolute(directory, folder);
        let (place, trust) = feed.watch(&folder);
        let trusts = feed.watch_names(place, &folder, std::iter::once(name));
        all &= trust == Trust::Vouched && trusts == [NameTrust::Vouched];
    }
    all
}

/// The places in which something has to happen for another answer.
pub(super) fn places(asked: &Remembered, feed: &Feed, directory: &Path) -> HashSet<Place> {
    let folders = asked.directories().chain(asked.sources().map(|source| split(source).0));
    // The same ones in a row.
    let mut last: Option<(&[u8], Place)> = None;
    let mut place = |folder| match last {
        Some((known, place)) if known == folder => place,
        _ => {
            let (place, _) = feed.watch(&absolute(directory, folder));
            last = Some((folder, place));
            place
        }
    };
    folders.map(&mut place).collect()
}

/// A path's folder, empty for the one that paths start from, and the name in it.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        None => (b"", path),
        Some(0) => (b"/", &path[1..]),
        Some(at) => (&path[..at], &path[at + 1..]),
    }
}

/// As the disk that remembers calls it.
fn absolute(directory: &Path, folder: &[u8]) -> Vec<u8> {
    let directory = directory.as_os_str().as_bytes();
    match folder {
        b"" => directory.to_vec(),
        [b'/', ..] => folder.to_vec(),
        _ if directory.ends_with(b"/") => [directory, folder].concat(),
        _ => [directory, b"/", folder].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_found_where_the_disk_finds_it() {
        for (path, folder, name) in [
            ("build.ninja", "/b", "build.ninja"),
            ("sub/x.ninja", "/b/sub", "x.ninja"),
            ("../x.ninja", "/b/..", "x.ninja"),
            ("/x.ninja", "/", "x.ninja"),
            ("/a/x.ninja", "/a", "x.ninja"),
        ] {
            let (its, named) = split(path.as_bytes());
            assert_eq!(
                (absolute(Path::new("/b"), its).as_slice(), named),
                (folder.as_bytes(), name.as_bytes())
            );
        }
        assert_eq!(absolute(Path::new("/"), b"a"), b"/a");
    }
}
