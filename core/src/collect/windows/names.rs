//! Names as Windows takes them: UTF-16, with backslashes, and with rules of its own that not all names follow.
//!
//! A path is handed to the kernel as it is where that means the same as what a program would get that opens it: the
//! kernel takes no `..`, keeps dots and spaces at the end of a name, and knows no `nul`. What is not plain goes
//! through the rules of Windows first.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// Whether a name means to the kernel what it means to programs, and to a listing what it means to the kernel.
pub(super) fn is_plain(name: &[u8]) -> bool {
    let is_odd = |byte: &u8| *byte < b' ' || b"\\/:*?\"<>|".contains(byte);
    !name.is_empty()
        && !matches!(name[name.len() - 1], b'.' | b' ')
        && !name.iter().any(is_odd)
        && !is_device(name)
        && std::str::from_utf8(name).is_ok()
}

/// Whether a listing answers for a name: not where it may be the short one of another.
pub(super) fn is_listed(name: &[u8]) -> bool {
    is_plain(name) && !name.contains(&b'~')
}

/// Whether Windows may take a name for a device. What follows the first dot or colon does not matter.
fn is_device(name: &[u8]) -> bool {
    let end = name.iter().position(|byte| matches!(byte, b'.' | b':')).unwrap_or(name.len());
    let stem = name[..end].trim_ascii_end();
    let is_one_of = |devices: &[&[u8]]| devices.iter().any(|device| stem.eq_ignore_ascii_case(device));
    let is_numbered = |port: &[u8]| {
        // Also with the digits that stand higher: ¹, ² and ³.
        stem.split_at_checked(3).is_some_and(|(start, rest)| {
            let is_digit = matches!(rest, [b'0'..=b'9'] | [0xc2, 0xb9 | 0xb2 | 0xb3]);
            start.eq_ignore_ascii_case(port) && is_digit
        })
    };
    is_one_of(&[b"con", b"prn", b"aux", b"nul", b"conin$", b"conout$", b"clock$"])
        || is_numbered(b"com")
        || is_numbered(b"lpt")
}

/// Adds a plain name.
pub(super) fn push(name: &[u8], units: &mut Vec<u16>) {
    units.extend(String::from_utf8_lossy(name).encode_utf16());
}

/// Adds a path of plain names that counts from where one stands. `false`, with nothing added that matters, if it has
/// names that are not plain.
fn push_plain(path: &[u8], units: &mut Vec<u16>) -> bool {
    for (at, name) in path.split(|byte| *byte == b'/').enumerate() {
        if !is_plain(name) {
            return false;
        }
        if at > 0 {
            units.push(u16::from(b'\\'));
        }
        push(name, units);
    }
    true
}

/// Where a path that the kernel gets begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// At the base.
    Base,
    /// At the root of all.
    Root,
}

/// Adds a path of plain names, as the kernel takes it; `None`, with nothing added that matters, if it has to go
/// through the rules of Windows.
pub(super) fn push_direct(path: &[u8], units: &mut Vec<u16>) -> Option<Start> {
    match path {
        [letter, b':', b'/', rest @ ..] if letter.is_ascii_alphabetic() => {
            units.extend("\\??\\".encode_utf16().chain([
                u16::from(*letter),
                u16::from(b':'),
                u16::from(b'\\'),
            ]));
            (rest.is_empty() || push_plain(rest, units)).then_some(Start::Root)
        }
        _ => push_plain(path, units).then_some(Start::Base),
    }
}

/// Adds an absolute path that went through the rules of Windows, as the kernel takes it.
pub(super) fn push_absolute(path: &Path, units: &mut Vec<u16>) {
    use std::os::windows::ffi::OsStrExt;
    let start = units.len();
    let [slash, question, dot] = [b'\\', b'?', b'.'].map(u16::from);
    units.extend("\\??\\".encode_utf16());
    units.extend(path.as_os_str().encode_wide());
    let from = start + 4;
    let rest = &units[from..];
    if rest.starts_with(&[slash, slash, question, slash]) || rest.starts_with(&[slash, slash, dot, slash]) {
        units.drain(from..from + 4);
    } else if rest.starts_with(&[slash, slash]) {
        units.splice(from..from + 1, "UNC".encode_utf16());
    }
}

/// Bytes of a path as the standard library takes them.
pub(super) fn os_path(bytes: &[u8]) -> io::Result<PathBuf> {
    let bytes = memchr::memchr(0, bytes).map_or(bytes, |end| &bytes[..end]);
    match bytes {
        // The drive's root, and not wherever the process stands on that drive.
        [_, b':'] => crate::os_path::path(&[bytes, b"/"].concat()).map(Cow::into_owned),
        _ => crate::os_path::path(bytes).map(Cow::into_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn absolute(path: &str) -> String {
        let mut units = Vec::new();
        push_absolute(Path::new(path), &mut units);
        String::from_utf16(&units).expect("it was")
    }

    #[test]
    fn names_that_windows_has_rules_for_are_not_plain() {
        for name in
            ["a", "a.h", ".a", "a b", "größe.h", "con1", "com", "comx1", "null", "PROGRA~1", "$a", "#;%"]
        {
            assert!(is_plain(name.as_bytes()), "{name}");
        }
        for name in [
            "", ".", "..", "a.", "a ", "...", "con", "Con.txt", "NUL", "nul .c", "com1", "LPT9.x", "com¹",
            "aux", "a:b", "a\\b", "a?", "*", "a\tb", "conin$", "c:",
        ] {
            assert!(!is_plain(name.as_bytes()), "{name}");
        }
        assert!(!is_plain(b"a\xff"));
        assert!(is_listed(b"program files") && !is_listed(b"PROGRA~1"));
    }

    #[test]
    fn paths_of_the_kernel_begin_otherwise() {
        assert_eq!(absolute("C:\\a\\b"), "\\??\\C:\\a\\b");
        assert_eq!(absolute("\\\\?\\C:\\a"), "\\??\\C:\\a");
        assert_eq!(absolute("\\\\.\\NUL"), "\\??\\NUL");
        assert_eq!(absolute("\\\\server\\share\\a"), "\\??\\UNC\\server\\share\\a");
        assert_eq!(absolute("\\\\?\\UNC\\server\\share"), "\\??\\UNC\\server\\share");
    }

    #[test]
    fn paths_with_a_drive_need_no_rules_either() {
        let mut units = Vec::new();
        assert_eq!(push_direct(b"C:/a (b)/c", &mut units), Some(Start::Root));
        assert_eq!(String::from_utf16_lossy(&units), "\\??\\C:\\a (b)\\c");
        units.clear();
        assert_eq!(push_direct(b"d:/", &mut units), Some(Start::Root));
        assert_eq!(String::from_utf16_lossy(&units), "\\??\\d:\\");
        for path in ["C:", "C:a", "C:/a/..", "C:/nul", "C://a", "1:/a"] {
            assert_eq!(push_direct(path.as_bytes(), &mut units), None, "{path}");
        }
    }

    #[test]
    fn a_path_is_plain_if_all_its_names_are() {
        let mut units = Vec::new();
        assert!(push_plain(b"a/b c/d.h", &mut units));
        assert_eq!(String::from_utf16_lossy(&units), "a\\b c\\d.h");
        for path in ["../a", "a/../b", "/a", "C:/a", "a//b", "a/b./c", "a/nul/c", ""] {
            assert!(!push_plain(path.as_bytes(), &mut units), "{path}");
        }
    }
}
