//! How far a file system's clock is from the local one: stamps of fresh files, each between two readings of the latter.

use super::finding::Finding;
use super::look::{Measured, look, nanoseconds, write};
use super::stamps::span;
use std::path::Path;
use std::time::SystemTime;
use upcheck::Mtime;

/// What is more than this is no accident of measuring, and more than images reckon with.
const MOST_OFFSET: Mtime = 100_000_000;
const N_PROBES: usize = 5;

/// The file system's clock minus the local one lies between these, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    least: Mtime,
    most: Mtime,
}

/// Measures in a folder. `delay_ns`: how far a stamp may lie behind the moment of writing.
pub(super) fn measure(folder: &Path, delay_ns: Mtime) -> Measured<Offset> {
    let mut probes = Vec::new();
    for number in 0..N_PROBES {
        let probe = folder.join(format!("clock-{number}"));
        let before = nanoseconds(SystemTime::now());
        write(&probe, b"1")?;
        let after = nanoseconds(SystemTime::now());
        probes.push((before, look(&probe)?.mtime, after));
    }
    Ok(offset(&probes, delay_ns))
}

impl Offset {
    /// What is certain of it: 0 where both clocks may be the same.
    pub(super) fn certain(self) -> Mtime {
        self.least.max(0) + self.most.min(0)
    }

    /// The file system's time at a moment of the local clock, rather later than it is.
    pub(super) fn at(self, local: Mtime) -> Mtime {
        local.saturating_add(self.most)
    }

    /// The measured values, or what is the matter with them.
    pub(super) fn finding(self) -> Finding {
        let certain = self.certain();
        let finding = if certain.abs() <= MOST_OFFSET {
            let within = span(self.most.saturating_sub(self.least));
            Finding::info(
                "clock",
                format!("the file system's clock agrees with the local one (known to {within})"),
            )
        } else {
            let side = if certain > 0 { "ahead of" } else { "behind" };
            Finding::warning(
                "clock-offset",
                format!("the file system's clock is {side} the local one by {}", span(certain.abs())),
            )
            .advise("set both clocks by the same server (NTP): files that are written here and files that are copied \
                with their times do not compare")
        };
        finding.with("offset_least_ns", self.least).with("offset_most_ns", self.most)
    }
}

/// What all probes allow. Each: the local clock, the stamp, the local clock again.
fn offset(probes: &[(Mtime, Mtime, Mtime)], delay_ns: Mtime) -> Offset {
    let least = probes.iter().map(|(_, stamp, after)| stamp.saturating_sub(*after)).max().unwrap_or(0);
    let most = probes.iter().map(|(before, stamp, _)| stamp.saturating_add(delay_ns).saturating_sub(*before));
    let most = most.min().unwrap_or(0);
    // A clock that was set meanwhile leaves nothing that all allow.
    Offset { least: least.min(most), most: most.max(least) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Mtime = 1_000_000_000;

    #[test]
    fn a_stamp_between_two_readings_shows_no_offset() {
        let offset = offset(&[(100, 103, 105), (200, 202, 204)], 0);
        assert_eq!(offset, Offset { least: -2, most: 2 });
        assert_eq!((offset.certain(), offset.at(7)), (0, 9));
        assert_eq!(offset.finding().code, "clock");
    }

    #[test]
    fn a_coarse_stamp_may_lie_behind_by_its_step() {
        let coarse = offset(&[(9 * S + 5, 9 * S, 9 * S + 6)], S);
        assert_eq!(coarse.certain(), 0);
        assert_eq!(offset(&[(9 * S + 5, 9 * S, 9 * S + 6)], 4).certain(), -1);
    }

    #[test]
    fn a_clock_that_is_ahead_or_behind_is_found_out_and_so_is_by_how_much() {
        let ahead = offset(&[(100 * S, 160 * S, 101 * S)], S);
        assert_eq!((ahead.certain(), ahead.at(0)), (59 * S, 61 * S));
        assert_eq!(ahead.finding().message, "the file system's clock is ahead of the local one by 59.000 s");
        let behind = offset(&[(100 * S, 40 * S, 101 * S)], S);
        assert_eq!((behind.certain(), behind.at(0)), (-59 * S, -59 * S));
        assert_eq!(behind.finding().code, "clock-offset");
    }

    #[test]
    fn a_clock_that_is_set_meanwhile_breaks_nothing() {
        let offset = offset(&[(0, 0, 1), (50, 10, 51), (i64::MIN, i64::MAX, i64::MIN)], 1);
        assert!(offset.least <= offset.most);
    }
}
