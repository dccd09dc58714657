//! What it costs to ask the disk, in nanoseconds, and which way of asking is cheaper.
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

/// To open a directory and to close it, without the way to it.
const OPEN_AND_CLOSE: u64 = 1_050;
/// To look up one name where one stands.
const STAT: u64 = 640;
/// To pass one directory on the way.
const STEP: u64 = 60;

/// How many directories have to be passed to get into `directory`.
pub(super) fn depth(directory: &[u8]) -> usize {
    match directory {
        b"" => 0,
        b"/" => 1,
        _ => memchr::memchr_iter(b'/', directory).count() + 1,
    }
}

/// Each of `names` by its whole path.
pub(super) fn by_path(depth: usize, names: usize) -> u64 {
    names as u64 * (STAT + depth as u64 * STEP)
}

/// The way once, then each of `names` from there.
pub(super) fn by_descriptor(depth: usize, names: usize) -> u64 {
    OPEN_AND_CLOSE + depth as u64 * STEP + names as u64 * STAT
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
    fn a_descriptor_pays_sooner_the_deeper_the_directory() {
        let pays = |depth| (1..1000).find(|&names| by_descriptor(depth, names) < by_path(depth, names));
        let found: Vec<_> = (0..=8).map(pays).collect();
        let expected = [None, Some(19), Some(10), Some(7), Some(6), Some(5), Some(4), Some(4), Some(4)];
        assert_eq!(found, expected);
    }
}
