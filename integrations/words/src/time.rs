//! Times as people read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::fmt::Write;
use upcheck::Mtime;

/// Where times are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// Where the machine is, as the environment and the system say.
    Local,
    /// Coordinated universal time.
    Utc,
}

/// Tells times in a zone.
pub(crate) struct Clock(pub(crate) Zone);

impl Clock {
    /// A file's time, to the nanosecond as far as it has them.
    fn time(&self, mtime: Mtime) -> String {
        match mtime % 1_000_000_000 {
            0 => self.second(mtime),
            _ => self.told(mtime, "%Y-%m-%d %H:%M:%S.%9f"),
        }
    }

    /// Two times that were compared: to the second where that tells them apart, else to the nanosecond.
    pub(crate) fn both(&self, newer: Mtime, older: Mtime) -> (String, String) {
        if i128::from(newer) - i128::from(older) < 2_000_000_000 {
            (self.time(newer), self.time(older))
        } else {
            (self.second(newer), self.second(older))
        }
    }

    /// A file's time, to the second.
    pub(crate) fn second(&self, mtime: Mtime) -> String {
        self.told(mtime, "%Y-%m-%d %H:%M:%S")
    }

    fn told(&self, mtime: Mtime, format: &str) -> String {
        let zone = if self.0 == Zone::Utc { TimeZone::UTC } else { TimeZone::system() };
        match Timestamp::from_nanosecond(i128::from(mtime)) {
            Ok(stamp) => stamp.to_zoned(zone).strftime(format).to_string(),
            Err(_) => format!("{mtime} ns since 1970"),
        }
    }
}

/// How much later `newer` is than `older`, in the largest unit that says it.
#[must_use]
pub fn difference(newer: Mtime, older: Mtime) -> String {
    let nanoseconds = i128::from(newer) - i128::from(older);
    let mut text = String::new();
    let seconds = nanoseconds / 1_000_000_000;
    let written = match seconds {
        0 if nanoseconds < 1_000_000 => write!(text, "{nanoseconds} ns"),
        0 => write!(text, "{} ms", nanoseconds / 1_000_000),
        1..120 => write!(text, "{}.{:03} s", seconds, nanoseconds % 1_000_000_000 / 1_000_000),
        120..7_200 => write!(text, "{} min", seconds / 60),
        7_200..172_800 => write!(text, "{} h", seconds / 3_600),
        _ => write!(text, "{} days", seconds / 86_400),
    };
    debug_assert!(written.is_ok());
    text
}

/// A count with its thousands apart.
#[must_use]
pub fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_commas() {
        assert_eq!(["0", "999", "1,000", "1,234,567"], [0, 999, 1_000, 1_234_567].map(count)[..]);
    }

    #[test]
    fn differences_use_the_unit_that_says_it() {
        assert_eq!(difference(5, 0), "5 ns");
        assert_eq!(difference(2_500_000, 0), "2 ms");
        assert_eq!(difference(2_500_000_000, 0), "2.500 s");
        assert_eq!(difference(i64::MAX, i64::MIN), "213503 days");
    }
}
