//! How paths are written into commands: as they were first spelt, and so that they are one word each.
//!
//! On Windows a manifest may write `a\b.c`, which is the file `a/b.c`; commands then get `a\b.c`, also where another
//! place of the manifest calls it `a/b.c`, if that comes later. Commands are compared by their hash, so it matters.

use rapidhash::RapidHashMap;
use upcheck::FileId;
use upcheck::path::{Backslashes, Style};

/// Files that are not written with slashes alone. On Unix there are none.
#[derive(Default)]
pub(crate) struct Spellings(RapidHashMap<FileId, Backslashes>);

impl Spellings {
    /// Takes in how a file was spelt when it was first named.
    pub(crate) fn set(&mut self, file: FileId, backslashes: Backslashes) {
        if backslashes != 0 {
            self.0.insert(file, backslashes);
        }
    }

    /// Appends a file's path; `escape`: quoted, if it has to be, for whoever reads command lines on this platform.
    pub(crate) fn append(&self, file: FileId, path: &[u8], escape: bool, to: &mut Vec<u8>) {
        // Most manifests have no such files at all.
        let backslashes = if self.0.is_empty() { None } else { self.0.get(&file) };
        let spelt = backslashes.map(|&backslashes| respelt(path, backslashes));
        let path = spelt.as_deref().unwrap_or(path);
        match (escape, Style::HERE) {
            (false, _) => to.extend_from_slice(path),
            (true, Style::Unix) => shell_escape(path, to),
            (true, Style::Windows) => windows_escape(path, to),
        }
    }
}

/// A canonical path as it was before its separators became slashes.
fn respelt(path: &[u8], backslashes: Backslashes) -> Vec<u8> {
    let mut mask: Backslashes = 1;
    let mut spelt = path.to_vec();
    for byte in spelt.iter_mut().filter(|byte| **byte == b'/') {
        if backslashes & mask != 0 {
            *byte = b'\\';
        }
        mask <<= 1;
    }
    spelt
}

/// Quotes a path for a POSIX shell, if it has to be.
fn shell_escape(path: &[u8], to: &mut Vec<u8>) {
    if path.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_+-./".contains(byte)) {
        to.extend_from_slice(path);
        return;
    }
    to.push(b'\'');
    for &byte in path {
        if byte == b'\'' {
            to.extend_from_slice(b"'\\''");
        } else {
            to.push(byte);
        }
    }
    to.push(b'\'');
}

/// Quotes a path, if it has to be, for programs that take their command line apart by Microsoft's rules: a backslash
/// means itself unless a quote follows.
fn windows_escape(path: &[u8], to: &mut Vec<u8>) {
    if !path.iter().any(|byte| b" \"".contains(byte)) {
        to.extend_from_slice(path);
        return;
    }
    to.push(b'"');
    let mut n_backslashes = 0;
    for &byte in path {
        match byte {
            b'\\' => n_backslashes += 1,
            b'"' => {
                to.extend(std::iter::repeat_n(b'\\', n_backslashes + 1));
                n_backslashes = 0;
            }
            _ => n_backslashes = 0,
        }
        to.push(byte);
    }
    to.extend(std::iter::repeat_n(b'\\', n_backslashes));
    to.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(escape: fn(&[u8], &mut Vec<u8>), path: &str) -> String {
        let mut escaped = Vec::new();
        escape(path.as_bytes(), &mut escaped);
        String::from_utf8(escaped).expect("text")
    }

    #[test]
    fn a_shell_gets_quotes_where_it_needs_them() {
        for (path, expected) in
            [("a/b-c_d+e.1", "a/b-c_d+e.1"), ("a b", "'a b'"), ("a'b", r"'a'\''b'"), ("a\\b", r"'a\b'")]
        {
            assert_eq!(escaped(shell_escape, path), expected);
        }
    }

    #[test]
    fn windows_gets_quotes_where_it_needs_them() {
        for (path, expected) in [
            ("a/b'$;#&", "a/b'$;#&"),
            (r"a\b", r"a\b"),
            ("a b", r#""a b""#),
            (r"a b\c\", r#""a b\c\\""#),
            (r#"a"b"#, r#""a\"b""#),
            (r#"a\\"b"#, r#""a\\\\\"b""#),
        ] {
            assert_eq!(escaped(windows_escape, path), expected);
        }
    }

    #[test]
    fn paths_get_back_their_backslashes() {
        for path in [r"a\b/c\d", r"..\..\a", r"\\server\share/x", "a/b", r"C:\a\b"] {
            let mut bytes = path.as_bytes().to_vec();
            let backslashes = Style::Windows.canonicalize(&mut bytes);
            assert_eq!(respelt(&bytes, backslashes), path.as_bytes());
        }
        assert_eq!(
            respelt("a/".repeat(70).as_bytes(), u64::MAX),
            (r"a\".repeat(64) + &"a/".repeat(6)).as_bytes()
        );
    }
}
