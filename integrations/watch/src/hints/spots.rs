//! Which directories somebody wants to know of, by path: what is told of is found among them.
//!
//! Paths are compared as text, in lower case. Where one directory has several paths (links, short names, drives that stand for
//! others), what is told of by one is not found by another; and where names differ in case only, too much is found. Both are
//! allowed to hints.

use super::What;
use crate::journal::{NameHash, Place};
use std::collections::BTreeMap;

/// Directories by path.
#[derive(Debug, Default)]
pub(super) struct Spots {
    by_path: BTreeMap<Box<[u8]>, Vec<Place>>,
}

impl Spots {
    /// Adds one. `path` is absolute.
    pub(super) fn add(&mut self, path: &[u8], place: Place) {
        let places = self.by_path.entry(key(path).into()).or_default();
        if !places.contains(&place) {
            places.push(place);
        }
    }

    /// Notes all that a change of a path is a change of: a name in its directory; and where the path itself is there now, or is
    /// there no longer, all that is beneath it.
    pub(super) fn touched(&self, path: &[u8], what: What, mut note: impl FnMut(Place, NameHash)) {
        let mut path = path.to_vec();
        upcheck::path::canonicalize(&mut path);
        let (directory, name) = upcheck::path::split(&path);
        for place in self.by_path.get(&*key(directory)).into_iter().flatten() {
            note(*place, NameHash::of(name));
        }
        if what == What::Name {
            let itself = key(&path);
            let beneath = [&*itself, b"/"].concat().into_boxed_slice();
            let all_beneath = self.by_path.range(beneath.clone()..);
            let all_beneath = all_beneath.take_while(|(path, _)| path.starts_with(&beneath));
            let all = self.by_path.get(&*itself).into_iter().chain(all_beneath.map(|(_, places)| places));
            all.flatten().for_each(|place| note(*place, NameHash::ALL));
        }
    }

    /// About how many bytes it has.
    #[cfg_attr(
        not(any(windows, target_os = "macos")),
        allow(dead_code, reason = "there is a better backend")
    )]
    pub(super) fn bytes(&self) -> usize {
        self.by_path.keys().map(|path| path.len() + 64).sum()
    }
}

fn key(path: &[u8]) -> Vec<u8> {
    let mut path = path.to_vec();
    upcheck::path::canonicalize(&mut path);
    String::from_utf8_lossy(&path).to_lowercase().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(path: &str, what: What) -> Vec<(u32, bool)> {
        let mut spots = Spots::default();
        for (n, path) in (0..).zip(["/b", "/b/out", "/b/Out/sub", "/b/output", "/b/../src", "/ä"]) {
            spots.add(path.as_bytes(), Place(n));
            spots.add(path.as_bytes(), Place(n));
        }
        let mut noted = Vec::new();
        spots.touched(path.as_bytes(), what, |place, name| noted.push((place.0, name == NameHash::ALL)));
        noted.sort_unstable();
        noted
    }

    #[test]
    fn a_file_that_was_written_to_is_a_name_in_its_directory() {
        assert_eq!(touched("/b/x", What::Content), [(0, false)]);
        assert_eq!(touched("/b/out/x", What::Content), [(1, false)]);
        assert_eq!(touched("/src/x.c", What::Content), [(4, false)]);
        assert_eq!(touched("/b/out/deep/x", What::Content), []);
        assert_eq!(touched("/b/OUT/x", What::Content), [(1, false)]);
        assert_eq!(touched("/Ä/x", What::Content), [(5, false)]);
    }

    #[test]
    fn a_directory_that_came_or_went_is_all_that_is_beneath_it() {
        assert_eq!(touched("/b/out", What::Content), [(0, false)]);
        assert_eq!(touched("/b/out", What::Name), [(0, false), (1, true), (2, true)]);
        assert_eq!(touched("/src", What::Name), [(4, true)]);
        assert_eq!(touched("/b", What::Name), [(0, true), (1, true), (2, true), (3, true)]);
        assert_eq!(touched("/elsewhere", What::Name), []);
    }
}
