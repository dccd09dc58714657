//! What paths are called here: one name for each, however a driver writes it, and never one that is too narrow.
//!
//! Names that differ in the case of ASCII letters only are one, since there are file systems for which they are. Beyond ASCII
//! nobody but the file system knows which names are the same: a path is read up to the first such name, and the rest of it means
//! all that is beneath. The base's own name may be written as it likes.

use std::path::PathBuf;

/// A path by which things are found here: absolute, without links, folded; the root's is empty, so that what is beneath a key
/// begins with it and `/`.
pub(super) type Key = Box<[u8]>;

/// What a path means that somebody has told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meant {
    /// This file, or this directory and all that is beneath it.
    Path(Key),
    /// All that is beneath a directory; the directory itself cannot be told from others in it.
    Beneath(Key),
    /// Perhaps anything.
    Everything,
}

/// How paths are read that start from a base.
#[derive(Clone, Debug)]
pub(super) struct Spelling {
    /// Absolute, without links.
    base: Vec<u8>,
}

impl Spelling {
    pub(super) fn new(base: &[u8]) -> Self {
        Self { base: base.to_vec() }
    }

    /// The base, absolute.
    pub(super) fn base(&self) -> &[u8] {
        &self.base
    }

    /// The absolute path of a directory that is named as a visit does, and its key; `None` for one that cannot be told from
    /// others by its name, and where the way to it is not plain.
    pub(super) fn directory(&self, directory: &[u8]) -> Option<(Vec<u8>, Key)> {
        let parts = self.parts(directory)?;
        let mut absolute = Vec::new();
        for part in &parts {
            absolute.push(b'/');
            absolute.extend_from_slice(part);
        }
        let (key, is_whole) = self.fold(&parts);
        if absolute.is_empty() {
            absolute.push(b'/');
        }
        is_whole.then_some((absolute, key))
    }

    /// What a path means that somebody has told of.
    pub(super) fn meant(&self, told: &[u8]) -> Meant {
        let Some(parts) = self.parts(told) else { return Meant::Everything };
        match self.fold(&parts) {
            (key, _) if key.is_empty() => Meant::Everything,
            (key, true) => Meant::Path(key),
            (key, false) => Meant::Beneath(key),
        }
    }

    /// The names on the way from the root. `None` where one goes back up out of what may be a link.
    fn parts<'a>(&'a self, path: &'a [u8]) -> Option<Vec<&'a [u8]>> {
        let split = |path: &'a [u8]| {
            path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".")
        };
        let is_absolute = path.first() == Some(&b'/');
        let mut parts: Vec<&[u8]> = if is_absolute { Vec::new() } else { split(&self.base).collect() };
        let mut may_go_up = !is_absolute;
        for part in split(path) {
            if part != b".." {
                parts.push(part);
                may_go_up = false;
            } else if may_go_up {
                // The base has no links in it. Above the root there is the root.
                parts.pop();
            } else {
                return None;
            }
        }
        Some(parts)
    }

    /// The key of the names as far as it can be told, and whether that is all of them.
    fn fold(&self, parts: &[&[u8]]) -> (Key, bool) {
        let mut base = self.base.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
        let mut is_base = true;
        let mut key = Vec::new();
        for part in parts {
            is_base = is_base && base.next() == Some(*part);
            if !is_base && !part.is_ascii() {
                return (key.into(), false);
            }
            key.push(b'/');
            key.extend(part.iter().map(u8::to_ascii_lowercase));
        }
        (key.into(), true)
    }
}

/// Whether an absolute path without `..` is the way that the system takes to what is there, without a link. Where something is
/// missing, this goes for what is there of it.
pub(super) fn is_straight(path: &[u8]) -> bool {
    let Some(mut path) = os_path(path) else { return false };
    loop {
        match std::fs::canonicalize(&path) {
            Ok(real) => return real == path,
            Err(error) if is_missing(&error) => {
                // What leads nowhere may lead somewhere tomorrow.
                if std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) || !path.pop() {
                    return false;
                }
            }
            Err(_) => return false,
        }
    }
}

/// Whether a file is not there, by what was said when it was looked for.
pub(super) fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// A path as the system's functions want it.
pub(super) fn os_path(path: &[u8]) -> Option<PathBuf> {
    upcheck::os_path::path(path).ok().map(std::borrow::Cow::into_owned)
}

/// A directory's path, a separator where one is needed, and a name.
pub(super) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let separator: &[u8] = if directory.is_empty() || directory.ends_with(b"/") { b"" } else { b"/" };
    [directory, separator, name].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        text.as_bytes().into()
    }

    #[test]
    fn one_file_has_one_key_however_it_is_written() {
        let spelling = Spelling::new("/home/jürgen/Build".as_bytes());
        let path = Meant::Path(key("/home/jürgen/build/src/a.c"));
        for told in [
            "src/a.c",
            "./src//a.c",
            "SRC/A.c",
            "/home/jürgen/Build/src/a.c",
            "/home//./jürgen/Build/src/a.c/",
            "../Build/src/a.c",
        ] {
            assert_eq!(spelling.meant(told.as_bytes()), path, "{told}");
        }
        assert_eq!(spelling.meant(b"../x"), Meant::Path(key("/home/jürgen/x")));
        assert_eq!(spelling.meant(b"/else/X"), Meant::Path(key("/else/x")));
    }

    #[test]
    fn what_cannot_be_told_apart_means_what_is_above_it() {
        let spelling = Spelling::new("/home/jürgen/build".as_bytes());
        let meant = |told: &str| spelling.meant(told.as_bytes());
        assert_eq!(meant("src/ſ.c"), Meant::Beneath(key("/home/jürgen/build/src")));
        assert_eq!(meant("é/a.c"), Meant::Beneath(key("/home/jürgen/build")));
        // Another spelling of the base's own name, perhaps.
        assert_eq!(meant("/home/JÜRGEN/build/a"), Meant::Beneath(key("/home")));
        assert_eq!(meant("/HOME/jürgen/build/a"), Meant::Beneath(key("/home")));
        for told in ["/", "/..", "src/../a", "/home/../x", "/é"] {
            assert_eq!(meant(told), Meant::Everything, "{told}");
        }
        assert_eq!(meant("../../../../.."), Meant::Everything);
        assert_eq!(meant(""), Meant::Path(key("/home/jürgen/build")));
        assert_eq!(meant("."), meant(""));
    }

    #[test]
    fn a_directory_that_cannot_be_told_apart_has_no_key() {
        let spelling = Spelling::new("/home/jürgen/build".as_bytes());
        let of = |directory: &str| spelling.directory(directory.as_bytes());
        let base = "/home/jürgen/build".as_bytes().to_vec();
        assert_eq!(of(""), Some((base, key("/home/jürgen/build"))));
        assert_eq!(of("Out/x").map(|(_, key)| key), Some(key("/home/jürgen/build/out/x")));
        assert_eq!(of("../src").map(|(path, _)| path), Some("/home/jürgen/src".as_bytes().to_vec()));
        assert_eq!(of("/"), Some((b"/".to_vec(), key(""))));
        assert_eq!(of("é"), None);
        assert_eq!(of("/usr/é/x"), None);
        assert_eq!(of("a/../b"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_way_with_a_link_on_it_is_not_straight() {
        let folder = tempfile::tempdir().expect("a directory");
        let root = folder.path().canonicalize().expect("a path");
        std::fs::create_dir_all(root.join("real/deep")).expect("directories");
        std::fs::write(root.join("file"), "").expect("a file");
        std::os::unix::fs::symlink("real", root.join("link")).expect("a link");
        std::os::unix::fs::symlink("nowhere", root.join("dangling")).expect("a link");
        let is = |path: &str| is_straight(root.join(path).as_os_str().as_encoded_bytes());
        assert!(is("real/deep") && is("real/missing/x") && is("missing") && is("file/x"));
        assert!(
            !is("link") && !is("link/deep") && !is("link/missing/x") && !is("dangling") && !is("dangling/x")
        );
    }
}
