//! `.ninja_log`: what each output was made by, and when.
//!
//! # Format
//!
//! Text, appended to by ninja after each command. The first line is `# ninja log v` and a number; each
//! other line is
//!
//! ```text
//! start_ms TAB end_ms TAB mtime TAB output_path TAB command_hash LF
//! ```
//!
//! | field | meaning |
//! |---|---|
//! | `start_ms`, `end_ms` | when the command ran, milliseconds since ninja started (unused here) |
//! | `mtime` | decimal; on Unix nanoseconds since 1970, on Windows units of 100 ns since the end of 2000. Up to version 5 the output's own time; since version 6 the time the command started |
//! | `output_path` | as ninja keeps it: canonical, no escapes |
//! | `command_hash` | hexadecimal; see [`command_hash`](crate::command_hash). In version 4 the command itself |
//!
//! The last line about an output counts. Lines with too few fields are skipped, so is a last line without its
//! end, so is a stretch of 256 KiB without one; what follows a number in its field is ignored. A first line
//! that is no header counts as version 0. An empty file is an empty log.
//!
//! Ninja 1.11 believes versions from 4 on, 1.12 version 6 only, 1.13 version 7 only; a log that is not
//! believed is thrown away, which makes everything stale.

use crate::command_hash::murmur_hash_64a;
use crate::log_time;
use crate::manifest::leading_number;
use upcheck::Record;

/// Ninja reads the log through a buffer of this size and loses longer lines.
pub(crate) const BUFFER: usize = 256 << 10;

/// The version in a log's first line; `None` for an empty file.
#[must_use]
pub fn log_version(bytes: &[u8]) -> Option<u32> {
    if bytes.is_empty() {
        return None;
    }
    let number = bytes.strip_prefix(b"# ninja log v").map_or(0, leading_number);
    Some(u32::try_from(number).unwrap_or(0))
}

/// All entries, in the order of the file: an output's last one counts. Cost: one scan.
#[must_use]
pub fn entries(bytes: &[u8]) -> Entries<'_> {
    Entries::from(bytes, log_version(bytes).unwrap_or(0))
}

/// The entries of a log, or of what was appended to one.
pub struct Entries<'a> {
    lines: Lines<'a>,
    hashed: bool,
}

impl<'a> Entries<'a> {
    /// The entries in `bytes`, which begin with a line of a log of that version.
    #[must_use]
    pub fn from(bytes: &'a [u8], log_version: u32) -> Self {
        Self { lines: Lines { bytes, at: 0 }, hashed: log_version >= 5 }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a [u8], Record);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = entry(self.lines.next()?, self.hashed) {
                return Some(entry);
            }
        }
    }
}

/// The whole lines of a log. What follows may be the beginning of one.
#[must_use]
pub fn whole_lines(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1)]
}

fn entry(line: &[u8], hashed: bool) -> Option<(&[u8], Record)> {
    let mut fields = line.splitn(5, |&byte| byte == b'\t');
    let (_start, _end, mtime) = (fields.next()?, fields.next()?, fields.next()?);
    let (output, command) = (fields.next()?, fields.next()?);
    let command_hash = if hashed { leading_hex(command) } else { murmur_hash_64a(command) };
    Some((output, Record { command_hash, mtime: log_time::mtime(leading_number(mtime)) }))
}

/// The lines that ninja's buffered reader finds.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
            let window = &rest[..rest.len().min(BUFFER)];
            if let Some(end) = memchr::memchr(b'\n', window) {
                self.at += end + 1;
                return Some(&rest[..end]);
            }
            self.at += window.len();
        }
    }
}

/// The number a text begins with, as C's `strtoull` reads it in base 16.
fn leading_hex(text: &[u8]) -> u64 {
    let text = text.trim_ascii_start();
    let (negative, text) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let digits = match text {
        [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit() => &text[2..],
        _ => text,
    };
    let mut value = 0u64;
    for &byte in digits {
        let Some(digit) = char::from(byte).to_digit(16) else { break };
        match value.checked_mul(16) {
            Some(shifted) => value = shifted | u64::from(digit),
            None => return u64::MAX,
        }
    }
    if negative { value.wrapping_neg() } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_time::mtime;

    fn read(text: &[u8]) -> Vec<(String, u64, i64)> {
        entries(text)
            .map(|(output, record)| {
                (String::from_utf8_lossy(output).into_owned(), record.command_hash, record.mtime)
            })
            .collect()
    }

    #[test]
    fn fields_are_read_as_laxly_as_ninja_reads_them() {
        let log = b"# ninja log v7\n1\t2\t3\tout\tff\n1\t2\t-3x\ta b\tFfz\textra\nno tabs\n1\t2\t3\tout\n";
        assert_eq!(read(log), [("out".into(), 0xff, mtime(3)), ("a b".into(), 0xff, mtime(-3))]);
    }

    #[test]
    fn a_last_line_without_its_end_is_not_there() {
        assert_eq!(read(b"# ninja log v5\n1\t2\t3\tout\tff"), []);
    }

    #[test]
    fn a_line_longer_than_ninjas_buffer_is_lost_and_its_rest_is_a_line() {
        let mut log = b"# ninja log v6\n".to_vec();
        log.extend(std::iter::repeat_n(b'x', BUFFER));
        log.extend_from_slice(b"1\t2\t3\tout\tff\n");
        assert_eq!(read(&log), [("out".into(), 0xff, mtime(3))]);
    }

    #[test]
    fn reading_goes_on_where_the_last_line_ended() {
        let log = b"# ninja log v7\n1\t2\t3\ta\tff\n1\t2\t4\tb\tf";
        assert_eq!(entries(log).count(), 1);
        let grown = [&log[..], b"e\n"].concat();
        let tail: Vec<_> = Entries::from(&grown[whole_lines(log).len()..], 7).collect();
        assert_eq!(tail, [(&b"b"[..], Record { command_hash: 0xfe, mtime: mtime(4) })]);
    }

    #[test]
    fn version_four_keeps_the_command_itself() {
        let log = b"# ninja log v4\n1\t2\t3\tout\tcc -c a.c\n";
        assert_eq!(read(log), [("out".into(), murmur_hash_64a(b"cc -c a.c"), mtime(3))]);
    }

    #[test]
    fn versions_are_read_from_the_first_line() {
        for (text, version) in [
            (&b""[..], None),
            (b"# ninja log v7\n", Some(7)),
            (b"# ninja log v12 \n", Some(12)),
            (b"# ninja log v-1\n", Some(0)),
            (b"# ninja log\n", Some(0)),
            (b"\x00\xff", Some(0)),
        ] {
            assert_eq!(log_version(text), version, "{}", text.escape_ascii());
        }
    }
}
