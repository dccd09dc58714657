//! Which things that are told of can change an answer.

use std::collections::HashSet;
use std::path::Path;
use upcheck::{os_path, path};
use upcheck_ninja::Asked as Remembered;
use upcheck_watch::{Feed, Place};

/// The places in which something has to happen for another answer.
pub(super) fn places(asked: &Remembered, feed: &Feed, directory: &Path) -> HashSet<Place> {
    asked.directories().map(|folder| feed.watch(&absolute(directory, folder)).0).collect()
}

/// As the disk that remembers calls it.
fn absolute(directory: &Path, folder: &[u8]) -> Vec<u8> {
    let directory = os_path::bytes(directory);
    if folder.is_empty() { directory.to_vec() } else { path::join(directory, folder) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_called_as_the_disk_calls_it() {
        for (directory, folder, called) in [
            ("/b", "", "/b"),
            ("/b", "sub", "/b/sub"),
            ("/b", "..", "/b/.."),
            ("/b", "/", "/"),
            ("/b", "/a", "/a"),
            ("/", "a", "/a"),
        ] {
            assert_eq!(absolute(Path::new(directory), folder.as_bytes()), called.as_bytes());
        }
    }
}
