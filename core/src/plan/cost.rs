//! What it costs to ask a platform's disk, in nanoseconds, and how far a listing may go.
//!
//! # Linux
//!
//! Measured on Linux 6.18 with ext4, warm caches, one thread, 200 names per directory, the best of 41 rounds; other
//! machines differ in scale, but little in proportion, and only proportions decide. By the depth of the directory
//! below the base:
//!
//! | depth | open and close | stat in it | stat by path | pays from |
//! |---|---|---|---|---|
//! | 1 | 1,100 | 641 | 707 | 17 names |
//! | 2 | 1,180 | 652 | 768 | 11 names |
//! | 3 | 1,219 | 645 | 815 | 8 names |
//! | 4 | 1,280 | 640 | 878 | 6 names |
//! | 6 | 1,379 | 629 | 1,013 | 4 names |
//! | 8 | 1,527 | 639 | 1,114 | 4 names |
//!
//! So a stat by path costs 60 ns more for each directory on the way, and an open directory about as much as two
//! stats. What is missing costs about half of what is there. In a tree of 100,000 files, whose names
//! do not fit into the processor's caches, all of it takes up to twice as long.
//!
//! A listing tells no times there, so nothing is listed.
//!
//! # Windows
//!
//! Never measured by us. Published for Windows 11: to ask for a file by opening it 27.5 µs, by its name alone
//! (`GetFileInformationByName`, from 24H2 on) 7.1 µs, and 1 to 4 million entries per second from a listing, of which
//! we take the middle. Nobody says what one call for a part of a listing costs; we take it for as much as a question
//! by name, which is the only published figure of one call that opens nothing. Nor does anybody say that a file is
//! cheaper to open from its directory than by its path, so it is not.
//!
//! # macOS
//!
//! Never measured by us. Published is a walk that got 4.9 times faster with `getattrlistbulk`: we take Linux's
//! figures for all else, and an entry of a listing for less than a fifth of a stat.
//!
//! # How far a listing may go
//!
//! Nobody knows how many entries a directory has before it is listed. So a listing has a budget: as many entries as
//! cost what it costs to ask for each wanted name alone. Where it is used up, the rest is asked for alone, and all of
//! it has cost at most twice what that alone would have. And a listing is begun only where the names alone cost at
//! least twice what the shortest listing with all of them does: what is not listed cost at most twice the best, too.

/// What it costs to ask a platform's disk, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// To look up one name where one stands, or by a path that passes no directory.
    pub stat: u64,
    /// To pass one directory on the way.
    pub step: u64,
    /// To open a directory and to close it, without the way to it.
    pub open: u64,
    /// What a listing costs; `None` where it tells no times.
    pub listing: Option<ListingCosts>,
}

/// What it costs to list a directory that is open, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingCosts {
    /// One call, however many entries come with it.
    pub buffer: u64,
    /// One entry, wanted or not.
    pub entry: u64,
}

/// What the ways to ask for the names in a directory are expected to cost, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Each by its path.
    pub by_path: u64,
    /// Each from the open directory.
    pub opened: u64,
    /// By a listing with nothing else in it; `None` where a listing tells no times.
    pub listed: Option<u64>,
}

impl Costs {
    /// Linux, where a listing tells no times. All other systems that are not named here count as Linux.
    pub const LINUX: Self = Self { stat: 640, step: 60, open: 1_050, listing: None };

    /// Windows, where every question opens the file.
    pub const WINDOWS: Self = Self {
        stat: 27_500,
        step: 0,
        open: 27_500,
        listing: Some(ListingCosts { buffer: 7_100, entry: 500 }),
    };

    /// Windows from 11 24H2 on, where a file is asked for by its name alone.
    pub const WINDOWS_BY_NAME: Self = Self { stat: 7_100, ..Self::WINDOWS };

    /// macOS, with `getattrlistbulk`.
    pub const MACOS: Self = Self { listing: Some(ListingCosts { buffer: 1_050, entry: 120 }), ..Self::LINUX };

    /// Those of the platform that this is compiled for, as far as [`crate::os_disk`] makes use of it.
    #[must_use]
    pub fn here() -> Self {
        #[cfg(windows)]
        return if crate::collect::has_by_name() { Self::WINDOWS_BY_NAME } else { Self::WINDOWS };
        #[cfg(target_vendor = "apple")]
        return Self::MACOS;
        #[cfg(not(any(windows, target_vendor = "apple")))]
        Self::LINUX
    }

    /// What all ways to ask for so many names in a directory would cost.
    #[must_use]
    pub fn estimate(&self, directory: &[u8], names: usize) -> Estimate {
        let depth = depth(directory);
        Estimate {
            by_path: self.by_path(depth, names),
            opened: self.by_descriptor(depth, names),
            listed: self.by_listing(depth, names),
        }
    }

    /// Each of `names` by its whole path.
    pub(super) fn by_path(&self, depth: usize, names: usize) -> u64 {
        self.way(depth).saturating_add(self.stat).saturating_mul(names as u64)
    }

    /// The way once, then each of `names` from there.
    pub(super) fn by_descriptor(&self, depth: usize, names: usize) -> u64 {
        let all = self.stat.saturating_mul(names as u64);
        self.open.saturating_add(self.way(depth)).saturating_add(all)
    }

    /// The way once, then a listing with nothing in it but `names`. A second call learns that there is no more.
    pub(super) fn by_listing(&self, depth: usize, names: usize) -> Option<u64> {
        let ListingCosts { buffer, entry } = self.listing?;
        let listed = buffer.saturating_mul(2).saturating_add(entry.saturating_mul(names as u64));
        Some(self.open.saturating_add(self.way(depth)).saturating_add(listed))
    }

    /// To pass all directories on the way.
    fn way(&self, depth: usize) -> u64 {
        self.step.saturating_mul(depth as u64)
    }

    /// How many entries may be listed before it would have been cheaper to ask for each of `names` alone.
    pub(super) fn budget(&self, depth: usize, names: usize) -> u32 {
        let Some((ListingCosts { entry, .. }, begun)) = self.listing.zip(self.by_listing(depth, 0)) else {
            return 0;
        };
        let alone = self.by_path(depth, names).min(self.by_descriptor(depth, names));
        u32::try_from(alone.saturating_sub(begun) / entry.max(1)).unwrap_or(u32::MAX)
    }
}

/// How many directories have to be passed to get into `directory`.
pub(super) fn depth(directory: &[u8]) -> usize {
    match directory {
        b"" => 0,
        b"/" => 1,
        _ => memchr::memchr_iter(b'/', directory).count() + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_the_directories_on_the_way() {
        let cases: [(&[u8], usize); 6] =
            [(b"", 0), (b"a", 1), (b"a/b", 2), (b"/", 1), (b"/usr", 2), (b"../a", 2)];
        for (directory, expected) in cases {
            assert_eq!(depth(directory), expected, "{}", directory.escape_ascii());
        }
    }

    #[test]
    fn costs_beyond_all_numbers_are_the_largest_number() {
        let listing = Some(ListingCosts { buffer: u64::MAX, entry: u64::MAX });
        let most = Costs { stat: u64::MAX, step: u64::MAX, open: u64::MAX, listing };
        let found = most.estimate(b"a/b", 1_000);
        assert_eq!(found, Estimate { by_path: u64::MAX, opened: u64::MAX, listed: Some(u64::MAX) });
        let none =
            Costs { stat: u64::MAX, step: 0, open: 0, listing: Some(ListingCosts { buffer: 0, entry: 0 }) };
        assert_eq!((none.budget(2, 1_000), most.budget(2, 1_000)), (u32::MAX, 0));
    }

    #[test]
    fn a_descriptor_pays_sooner_the_deeper_the_directory() {
        let pays = |depth| {
            (1..1000).find(|&n| Costs::LINUX.by_descriptor(depth, n) < Costs::LINUX.by_path(depth, n))
        };
        let found: Vec<_> = (0..=8).map(pays).collect();
        let expected = [None, Some(19), Some(10), Some(7), Some(6), Some(5), Some(4), Some(4), Some(4)];
        assert_eq!(found, expected);
    }
}
