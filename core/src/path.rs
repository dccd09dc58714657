//! Lexical canonicalisation of path bytes. It never touches the disk.
//!
//! The rules are ninja's (`CanonicalizePath` in its `src/util.cc`): `//` and `.` disappear, `a/..`
//! collapses, a leading `..` or `/..` stays, a trailing `/` is dropped, and what would be empty becomes
//! `.`. No symbolic link is followed, so two spellings that differ through one are two paths.
//!
//! On Windows `\` separates as `/` does, and becomes `/`; two separators at the beginning stay, since a server's name
//! comes after them; a drive's letter is a name like any other, so that `C:/..` is `.`, as ninja has it. Letters keep
//! their case: `A` and `a` are two paths there, too, though the file system will find one file for both.

use std::borrow::Cow;

/// How paths are spelt. The functions of this module without a style mean [`Style::HERE`]; the other one is there for
/// tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `/` separates and begins what is absolute; a backslash is a byte like any other.
    Unix,
    /// `/` and `\` separate; `C:/` and `//server` begin what is absolute.
    Windows,
}

/// Which of a canonical path's separators had been backslashes: bit 0 is for the first one. Those after the 64th count
/// as slashes.
pub type Backslashes = u64;

impl Style {
    /// That of the platform this is compiled for.
    pub const HERE: Self = if cfg!(windows) { Self::Windows } else { Self::Unix };

    /// Canonicalises `path` in place. Linear, no allocation; the result is never longer than the input, but for the
    /// empty path. In which places it was spelt with backslashes, ninja has to know to write it as it was.
    #[inline]
    pub fn canonicalize(self, path: &mut Vec<u8>) -> Backslashes {
        match self {
            Self::Unix => {
                if !Spelling::<false>::is_canonical(path) {
                    Spelling::<false>::canonicalize(path);
                }
                0
            }
            Self::Windows if Spelling::<true>::is_canonical(path) => 0,
            Self::Windows => {
                Spelling::<true>::canonicalize(path);
                to_slashes(path)
            }
        }
    }

    /// Whether [`Style::canonicalize`] would leave `path` as it is. The common case, and only a scan.
    #[inline]
    #[must_use]
    pub fn is_canonical(self, path: &[u8]) -> bool {
        match self {
            Self::Unix => Spelling::<false>::is_canonical(path),
            Self::Windows => Spelling::<true>::is_canonical(path),
        }
    }

    /// Splits a canonical path into its directory and its name. The directory of a plain name is empty, that of what
    /// lies in a root is the root: `/`, on Windows also `C:/` and `//`.
    #[inline]
    #[must_use]
    pub fn split(self, path: &[u8]) -> (&[u8], &[u8]) {
        let Some(at) = memchr::memrchr(b'/', path) else { return (b"", path) };
        let is_root = match self {
            Self::Unix => at == 0,
            Self::Windows => at == 0 || (at == 1 && path[0] == b'/') || (at == 2 && has_drive(path)),
        };
        (&path[..at + usize::from(is_root)], &path[at + 1..])
    }

    /// Whether a path, canonical or not, does not depend on where one is. On Windows `/name` counts, though it depends
    /// on the drive.
    #[inline]
    #[must_use]
    pub fn is_absolute(self, path: &[u8]) -> bool {
        match self {
            Self::Unix => path.first() == Some(&b'/'),
            Self::Windows => match path {
                [b'/' | b'\\', ..] => true,
                [_, _, b'/' | b'\\', ..] => has_drive(path),
                _ => false,
            },
        }
    }
}

/// Canonicalises `path` in place, as [`Style::canonicalize`] does for the platform this is compiled for.
#[inline]
pub fn canonicalize(path: &mut Vec<u8>) {
    Style::HERE.canonicalize(path);
}

/// Whether [`canonicalize`] would leave `path` as it is. The common case, and only a scan.
#[inline]
#[must_use]
pub fn is_canonical(path: &[u8]) -> bool {
    Style::HERE.is_canonical(path)
}

/// Splits a canonical path into its directory and its name, as [`Style::split`] does.
#[inline]
#[must_use]
pub fn split(path: &[u8]) -> (&[u8], &[u8]) {
    Style::HERE.split(path)
}

/// Whether a path does not depend on where one is: see [`Style::is_absolute`].
#[inline]
#[must_use]
pub fn is_absolute(path: &[u8]) -> bool {
    Style::HERE.is_absolute(path)
}

/// `path` from `directory`, unless it is absolute. Neither need be canonical.
#[must_use]
pub fn join(directory: &[u8], path: &[u8]) -> Vec<u8> {
    if directory.is_empty() || is_absolute(path) {
        return path.to_vec();
    }
    let separator: &[u8] = if directory.ends_with(b"/") { b"" } else { b"/" };
    [directory, separator, path].concat()
}

/// A path without what stands there several times: slashes. It leads to the same file, as long as it begins with as many as before;
/// all else that is not canonical may not.
#[must_use]
pub fn with_single_slashes(path: &[u8]) -> Cow<'_, [u8]> {
    let n_first = path.iter().take_while(|byte| **byte == b'/').count();
    let (first, rest) = path.split_at(n_first);
    if memchr::memmem::find(rest, b"//").is_none() {
        return path.into();
    }
    let mut single = first.to_vec();
    for &byte in rest {
        if byte != b'/' || single.last() != Some(&b'/') {
            single.push(byte);
        }
    }
    single.into()
}

/// What stands behind a path's last separator, canonical or not.
#[must_use]
pub fn name(path: &[u8]) -> &[u8] {
    let last = match Style::HERE {
        Style::Unix => Spelling::<false>::find_last(path),
        Style::Windows => Spelling::<true>::find_last(path),
    };
    last.map_or(path, |separator| &path[separator + 1..])
}

fn has_drive(path: &[u8]) -> bool {
    matches!(path, [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// The two styles with the same steps, each compiled for itself: paths are canonicalised by the million.
struct Spelling<const WINDOWS: bool>;

impl<const WINDOWS: bool> Spelling<WINDOWS> {
    const fn separates(byte: u8) -> bool {
        byte == b'/' || (WINDOWS && byte == b'\\')
    }

    fn find(path: &[u8]) -> Option<usize> {
        if WINDOWS { memchr::memchr2(b'/', b'\\', path) } else { memchr::memchr(b'/', path) }
    }

    fn find_last(path: &[u8]) -> Option<usize> {
        if WINDOWS { memchr::memrchr2(b'/', b'\\', path) } else { memchr::memrchr(b'/', path) }
    }

    /// How many bytes at the beginning always stay.
    fn root(path: &[u8]) -> usize {
        match path {
            [first, second, ..] if WINDOWS && Self::separates(*first) && Self::separates(*second) => 2,
            [first, ..] if Self::separates(*first) => 1,
            _ => 0,
        }
    }

    fn canonicalize(path: &mut Vec<u8>) {
        let floor = Self::root(path);
        // `end` is the length of the result so far. `named` counts the components that a `..` can take back.
        let (mut end, mut named) = (floor, 0usize);
        let mut at = floor;
        while at < path.len() {
            let stop = Self::find(&path[at..]).map_or(path.len(), |n| at + n);
            let behind = path.len().min(stop + 1);
            match &path[at..stop] {
                b"" | b"." => {}
                b".." if named > 0 => {
                    named -= 1;
                    // Drop the last component and the separator before it, but never the root's.
                    end = Self::find_last(&path[floor..end]).map_or(floor, |n| floor + n);
                }
                component => {
                    if component != b".." {
                        named += 1;
                    }
                    let length = component.len();
                    // The separator behind the component before is in its place: it came along with that one.
                    end += usize::from(end > floor);
                    path.copy_within(at..behind, end);
                    end += length;
                }
            }
            at = behind;
        }
        path.truncate(end);
        if path.is_empty() {
            path.push(b'.');
        }
    }

    fn is_canonical(path: &[u8]) -> bool {
        if WINDOWS && memchr::memchr(b'\\', path).is_some() {
            return false;
        }
        let (root, rest) = path.split_at(Self::root(path));
        if rest.is_empty() {
            return !root.is_empty();
        }
        let mut named = false;
        for component in rest.split(|&byte| byte == b'/') {
            match component {
                b"" => return false,
                b"." => return path == b".",
                b".." if named => return false,
                b".." => {}
                _ => named = true,
            }
        }
        true
    }
}

/// Turns backslashes into slashes. Which ones they were.
fn to_slashes(path: &mut [u8]) -> Backslashes {
    let (mut backslashes, mut mask) = (0, 1u64);
    for byte in path {
        if *byte == b'\\' {
            *byte = b'/';
            backslashes |= mask;
        } else if *byte != b'/' {
            continue;
        }
        mask <<= 1;
    }
    backslashes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(style: Style, path: &str) -> (String, Backslashes) {
        let mut bytes = path.as_bytes().to_vec();
        let was_canonical = style.is_canonical(&bytes);
        let backslashes = style.canonicalize(&mut bytes);
        assert!(style.is_canonical(&bytes), "{path:?} -> {}", bytes.escape_ascii());
        assert_eq!(was_canonical, bytes == path.as_bytes(), "{path:?}");
        (String::from_utf8(bytes).unwrap_or_default(), backslashes)
    }

    #[test]
    fn slashes_are_single_but_at_the_beginning() {
        for (path, single) in [
            ("a//b", "a/b"),
            ("a///b//", "a/b/"),
            ("a/b", "a/b"),
            ("", ""),
            ("/", "/"),
            ("//a//b", "//a/b"),
            ("a/.//../b", "a/./../b"),
        ] {
            assert_eq!(&*with_single_slashes(path.as_bytes()), single.as_bytes());
        }
    }

    #[test]
    fn spellings_collapse_as_ninja_collapses_them() {
        for (given, expected) in [
            ("foo.h", "foo.h"),
            ("./foo.h", "foo.h"),
            ("./foo/./bar.h", "foo/bar.h"),
            ("./x/foo/../bar.h", "x/bar.h"),
            ("./x/foo/../../bar.h", "bar.h"),
            ("foo//bar", "foo/bar"),
            ("foo//.//..///bar", "bar"),
            ("./x/../foo/../../bar.h", "../bar.h"),
            ("foo/./.", "foo"),
            ("foo/bar/..", "foo"),
            ("foo/.hidden_bar", "foo/.hidden_bar"),
            ("/foo", "/foo"),
            ("//foo", "/foo"),
            ("..", ".."),
            ("../", ".."),
            ("../foo", "../foo"),
            ("../foo/", "../foo"),
            ("../..", "../.."),
            ("../../", "../.."),
            ("./../", ".."),
            ("/..", "/.."),
            ("/../", "/.."),
            ("/../..", "/../.."),
            ("/", "/"),
            ("/foo/..", "/"),
            (".", "."),
            ("./.", "."),
            ("foo/..", "."),
            ("foo/.._bar", "foo/.._bar"),
            ("../../foo/bar.h", "../../foo/bar.h"),
            ("a/../../b", "../b"),
            ("...", "..."),
            ("a/...", "a/..."),
        ] {
            assert_eq!(canonical(Style::Unix, given), (expected.into(), 0), "{given:?}");
            // On Windows they are the same, but for two slashes at the beginning.
            if !given.starts_with("//") {
                assert_eq!(canonical(Style::Windows, given), (expected.into(), 0), "{given:?}");
            }
        }
        assert_eq!(canonical(Style::Unix, "a\\..\\b"), ("a\\..\\b".into(), 0), "a name like any other");
    }

    #[test]
    fn backslashes_become_slashes_on_windows_and_are_remembered() {
        for (given, expected, backslashes) in [
            ("a\\b.c", "a/b.c", 0b1),
            ("a/b\\c/d\\e", "a/b/c/d/e", 0b1010),
            (".\\a\\\\b/.\\c", "a/b/c", 0b01),
            ("a\\..\\b", "b", 0),
            ("a/x\\..\\b\\c", "a/b/c", 0b10),
            ("a\\x/../b/c", "a/b/c", 0b01),
            ("..\\..\\a", "../../a", 0b11),
            ("../..\\a", "../../a", 0b10),
            ("a\\b\\..\\..\\..\\c", "../c", 0b1),
            ("a\\", "a", 0),
            ("\\", "/", 0b1),
            ("\\a", "/a", 0b1),
            ("\\a\\..\\..\\b", "/../b", 0b11),
            ("\\\\server\\share\\a", "//server/share/a", 0b1111),
            ("//server/share//a", "//server/share/a", 0),
            ("\\/server", "//server", 0b01),
            ("///a", "//a", 0),
            ("//a/../..", "//..", 0),
            ("C:\\a", "C:/a", 0b1),
            ("C:/a/../b", "C:/b", 0),
            ("C:\\a\\..\\..", ".", 0),
            ("c:a\\b", "c:a/b", 0b1),
            ("C:", "C:", 0),
        ] {
            assert_eq!(canonical(Style::Windows, given), (expected.into(), backslashes), "{given:?}");
        }
    }

    #[test]
    fn backslashes_behind_the_64th_separator_are_forgotten() {
        let deep = "a\\".repeat(70) + "b";
        assert_eq!(canonical(Style::Windows, &deep), ("a/".repeat(70) + "b", u64::MAX));
        let late = "a/".repeat(63) + "b\\c\\d";
        assert_eq!(canonical(Style::Windows, &late), ("a/".repeat(63) + "b/c/d", 1 << 63));
    }

    #[test]
    fn split_keeps_the_root() {
        for style in [Style::Unix, Style::Windows] {
            assert_eq!(style.split(b"/a"), (&b"/"[..], &b"a"[..]));
            assert_eq!(style.split(b"a/b/c"), (&b"a/b"[..], &b"c"[..]));
            assert_eq!(style.split(b"a"), (&b""[..], &b"a"[..]));
            assert_eq!(style.split(b"/"), (&b"/"[..], &b""[..]));
        }
        assert_eq!(Style::Unix.split(b"C:/a"), (&b"C:"[..], &b"a"[..]));
        assert_eq!(Style::Windows.split(b"C:/a"), (&b"C:/"[..], &b"a"[..]));
        assert_eq!(Style::Windows.split(b"C:/a/b"), (&b"C:/a"[..], &b"b"[..]));
        assert_eq!(Style::Windows.split(b"//server"), (&b"//"[..], &b"server"[..]));
        assert_eq!(Style::Windows.split(b"//server/share"), (&b"//server"[..], &b"share"[..]));
        assert_eq!(Style::Windows.split(b"ab/c"), (&b"ab"[..], &b"c"[..]));
    }

    #[test]
    fn what_is_absolute_has_a_root() {
        for (path, unix, windows) in [
            ("/a", true, true),
            ("\\a", false, true),
            ("//server/share", true, true),
            ("C:/a", false, true),
            ("c:\\a", false, true),
            ("C:a", false, false),
            ("C:", false, false),
            ("1:/a", false, false),
            ("a/b", false, false),
            ("", false, false),
        ] {
            assert_eq!(Style::Unix.is_absolute(path.as_bytes()), unix, "{path}");
            assert_eq!(Style::Windows.is_absolute(path.as_bytes()), windows, "{path}");
        }
    }
}
