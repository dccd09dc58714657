//! The times in ninja's logs, which are those of the operating system.
//!
//! | platform | unit | zero |
//! |---|---|---|
//! | Unix | 1 ns | 1970 |
//! | Windows | 100 ns | 400 years after 1601, so that it fits: in the last hours of the year 2000 |
//!
//! Here all times are nanoseconds since 1970, which holds every one of Windows' between the years 1677 and 2262 exactly.
//! Others become the earliest or the latest of these, as those of files do.

use upcheck::Mtime;
use upcheck::path::Style;

/// Windows counts from 1601, ninja from 12,622,770,400 s later, we from 11,644,473,600 s later. In units of 100 ns.
const BETWEEN: i64 = (12_622_770_400 - 11_644_473_600) * 10_000_000;

/// A time in a log of this platform.
pub(crate) fn mtime(logged: i64) -> Mtime {
    mtime_on(Style::HERE, logged)
}

/// How a log of this platform has a time. On Windows it is rounded down to the unit there, so that it is never too new.
pub(crate) fn logged(mtime: Mtime) -> i64 {
    logged_on(Style::HERE, mtime)
}

fn logged_on(platform: Style, mtime: Mtime) -> i64 {
    match platform {
        Style::Unix => mtime,
        Style::Windows => mtime.div_euclid(100).saturating_sub(BETWEEN),
    }
}

fn mtime_on(platform: Style, logged: i64) -> Mtime {
    match platform {
        Style::Unix => logged,
        Style::Windows => logged.saturating_add(BETWEEN).saturating_mul(100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_windows_are_counted_from_the_end_of_2000() {
        let windows = |logged| mtime_on(Style::Windows, logged);
        // 2000-12-31 21:06:40.
        assert_eq!(windows(0), 978_296_800_000_000_000);
        assert_eq!(windows(1), 978_296_800_000_000_100);
        // What ninja.exe 1.13 wrote about a file of 2021-02-03 04:05:06.7890123.
        assert_eq!(windows(6_340_283_067_890_123), 1_612_325_106_789_012_300);
        // Before 1970.
        assert_eq!(windows(-9_782_968_000_000_001), -100);
        assert_eq!(windows(i64::MAX), i64::MAX);
        assert_eq!(windows(i64::MIN), i64::MIN);
    }

    #[test]
    fn what_is_written_is_what_was_read() {
        for time in [0, 1, -1, 6_340_283_067_890_123, -9_782_968_000_000_001] {
            assert_eq!(logged_on(Style::Windows, mtime_on(Style::Windows, time)), time);
            assert_eq!(logged_on(Style::Unix, mtime_on(Style::Unix, time)), time);
        }
        assert_eq!(logged_on(Style::Windows, 978_296_800_000_000_199), 1);
        assert_eq!(logged_on(Style::Windows, -1), -9_782_968_000_000_001);
    }

    #[test]
    fn times_of_unix_stay_as_they_are() {
        assert_eq!(mtime_on(Style::Unix, -7), -7);
        assert_eq!(mtime_on(Style::Unix, i64::MAX), i64::MAX);
    }
}
