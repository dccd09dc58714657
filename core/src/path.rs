//! Lexical canonicalisation of path bytes. It never touches the disk.
//!
//! The rules are ninja's (`CanonicalizePath` in its `src/util.cc`): `//` and `.` disappear, `a/..`
//! collapses, a leading `..` or `/..` stays, a trailing `/` is dropped, and what would be empty becomes
//! `.`. No symbolic link is followed, so two spellings that differ through one are two paths.

/// Canonicalises `path` in place. Linear, no allocation; the result is never longer than the input.
pub fn canonicalize(path: &mut Vec<u8>) {
    if is_canonical(path) {
        return;
    }
    let absolute = path.first() == Some(&b'/');
    let floor = usize::from(absolute);
    // `end` is the length of the result so far. `named` counts the components that a `..` can take back.
    let (mut end, mut named) = (floor, 0usize);
    let mut at = floor;
    while at < path.len() {
        let stop = memchr::memchr(b'/', &path[at..]).map_or(path.len(), |n| at + n);
        match &path[at..stop] {
            b"" | b"." => {}
            b".." if named > 0 => {
                named -= 1;
                // Drop the last component and the separator before it, but never the root's.
                end = memchr::memrchr(b'/', &path[floor..end]).map_or(floor, |n| floor + n);
            }
            component => {
                if component != b".." {
                    named += 1;
                }
                let length = component.len();
                if end > floor {
                    path[end] = b'/';
                    end += 1;
                }
                path.copy_within(at..stop, end);
                end += length;
            }
        }
        at = stop + 1;
    }
    path.truncate(end);
    if path.is_empty() {
        path.push(b'.');
    }
}

/// Whether [`canonicalize`] would leave `path` as it is. The common case, and only a scan.
#[must_use]
pub fn is_canonical(path: &[u8]) -> bool {
    if path == b"/" {
        return true;
    }
    let rest = path.strip_prefix(b"/").unwrap_or(path);
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

/// Splits a canonical path into its directory and its name. The directory of a plain name is empty,
/// that of `/name` is `/`.
#[must_use]
pub fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b'/', path) {
        Some(0) => (&path[..1], &path[1..]),
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(path: &str) -> String {
        let mut bytes = path.as_bytes().to_vec();
        canonicalize(&mut bytes);
        assert!(is_canonical(&bytes), "{path:?} -> {bytes:?}");
        String::from_utf8(bytes).unwrap_or_default()
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
            assert_eq!(canonical(given), expected, "{given:?}");
        }
    }

    #[test]
    fn split_keeps_the_root() {
        assert_eq!(split(b"/a"), (&b"/"[..], &b"a"[..]));
        assert_eq!(split(b"a/b/c"), (&b"a/b"[..], &b"c"[..]));
        assert_eq!(split(b"a"), (&b""[..], &b"a"[..]));
    }
}
