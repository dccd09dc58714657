//! Between the operating system's paths and ours, which are bytes.
//!
//! On Unix both are bytes, and the same. On Windows ours are UTF-8, with surrogates that have lost their other half
//! encoded like other characters (WTF-8), since names on the disk may have such; what is neither names no file there.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// The bytes of a path or a name. They are not canonical: see [`path::canonicalize`](crate::path::canonicalize).
#[must_use]
pub fn bytes<P: AsRef<OsStr> + ?Sized>(path: &P) -> &[u8] {
    // On Windows the encoding is promised to be UTF-8 where it can be; that the rest is WTF-8 has been so ever since.
    path.as_ref().as_encoded_bytes()
}

/// What the operating system calls a path. Costs nothing, but for odd names on Windows.
///
/// # Errors
/// On Windows, when it is neither UTF-8 nor WTF-8: there can be no such file.
pub fn path(bytes: &[u8]) -> io::Result<Cow<'_, Path>> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(Cow::Borrowed(Path::new(OsStr::from_bytes(bytes))))
    }
    #[cfg(not(unix))]
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Cow::Borrowed(Path::new(text))),
        Err(_) => odd_path(bytes).map(Cow::Owned),
    }
}

/// A path that starts at the root and has no links in it, as [`std::fs::canonicalize`] has it, but on Windows without
/// the prefix `\\\\?\\`: with it a slash would be a character like any other.
///
/// # Errors
/// Whatever the operating system says.
pub fn canonicalize<P: AsRef<Path>>(path: P) -> io::Result<PathBuf> {
    let found = std::fs::canonicalize(path)?;
    Ok(if cfg!(windows) { without_prefix(found) } else { found })
}

fn without_prefix(path: PathBuf) -> PathBuf {
    let Some(text) = path.to_str() else { return path };
    if let Some(rest) = text.strip_prefix(r"\\?\UNC\") {
        return format!(r"\\{rest}").into();
    }
    match text.strip_prefix(r"\\?\") {
        // What else there is with this prefix, volumes by number for instance, has no other name.
        Some(rest) if crate::path::Style::Windows.is_absolute(rest.as_bytes()) => rest.into(),
        _ => path,
    }
}

#[cfg(windows)]
fn odd_path(bytes: &[u8]) -> io::Result<PathBuf> {
    use std::os::windows::ffi::OsStringExt;
    let units = units(bytes).ok_or_else(not_a_name)?;
    Ok(std::ffi::OsString::from_wide(&units).into())
}

#[cfg(not(any(unix, windows)))]
fn odd_path(_: &[u8]) -> io::Result<PathBuf> {
    Err(not_a_name())
}

#[cfg(not(unix))]
fn not_a_name() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "no file can have this name: it is not UTF-8")
}

/// The UTF-16 of WTF-8.
#[cfg(any(windows, test))]
fn units(mut bytes: &[u8]) -> Option<Vec<u16>> {
    let mut units = Vec::with_capacity(bytes.len());
    loop {
        let chunk = bytes.utf8_chunks().next();
        let valid = chunk.map_or("", |chunk| chunk.valid());
        units.extend(valid.encode_utf16());
        bytes = match &bytes[valid.len()..] {
            [] => return Some(units),
            // What UTF-8 would make of a surrogate, if it were allowed to.
            [0xED, high @ 0xA0..=0xBF, low @ 0x80..=0xBF, rest @ ..] => {
                units.push(0xD000 | u16::from(high & 0x3F) << 6 | u16::from(low & 0x3F));
                rest
            }
            _ => return None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_comes_back_as_it_was() {
        for name in ["a", "a b/c$.d", "\u{e4}\u{4f60}/\u{1F600}.c", ""] {
            assert_eq!(bytes(&*path(name.as_bytes()).expect("a path")), name.as_bytes());
        }
    }

    #[test]
    fn odd_names_have_their_utf_16() {
        let all = |text: &str| text.encode_utf16().collect::<Vec<_>>();
        assert_eq!(units(b""), Some(vec![]));
        assert_eq!(units("a\u{e4}\u{1F600}".as_bytes()), Some(all("a\u{e4}\u{1F600}")));
        assert_eq!(units(b"a\xED\xA0\x80b"), Some(vec![0x61, 0xD800, 0x62]));
        assert_eq!(units(b"\xED\xBF\xBF"), Some(vec![0xDFFF]));
        assert_eq!(units(b"a\xFF"), None);
        assert_eq!(units(b"\xED\xA0"), None);
    }

    #[test]
    fn paths_lose_the_prefix_that_makes_slashes_names() {
        for (given, expected) in [
            (r"\\?\C:\a\b", r"C:\a\b"),
            (r"\\?\UNC\server\share\a", r"\\server\share\a"),
            (r"\\?\Volume{1}\a", r"\\?\Volume{1}\a"),
            (r"C:\a", r"C:\a"),
            ("/a", "/a"),
        ] {
            assert_eq!(without_prefix(given.into()), Path::new(expected), "{given}");
        }
    }

    #[cfg(windows)]
    #[test]
    fn bytes_that_no_name_has_are_refused() {
        assert_eq!(path(b"a\xFF").expect_err("no name").kind(), io::ErrorKind::InvalidInput);
        assert_eq!(bytes(&*path(b"a\xED\xA0\x80b").expect("a name")), b"a\xED\xA0\x80b");
    }
}
