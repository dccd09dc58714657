//! How many questions go into one request: fewer than a number, and fewer bytes than servers take.

use std::ops::Range;

/// What most servers take in one message, whatever they say: the limit of gRPC's libraries.
pub(crate) const MESSAGE: usize = 4 << 20;
/// Room for what is in a message beside its blobs, but for an instance's name.
pub(crate) const FRAME: usize = 1 << 10;

/// Cuts items into runs of at most `count` items whose sizes add up to at most `size`. An item that is larger by itself
/// stands alone.
pub(crate) fn batches(
    sizes: impl IntoIterator<Item = usize>,
    count: usize,
    size: usize,
) -> Vec<Range<usize>> {
    let mut batches = Vec::new();
    let (mut start, mut sum) = (0, 0_usize);
    let mut end = 0;
    for item in sizes {
        let larger = sum.saturating_add(item);
        if end > start && (larger > size || end - start == count) {
            batches.push(start..end);
            (start, sum) = (end, item);
        } else {
            sum = larger;
        }
        end += 1;
    }
    if end > start {
        batches.push(start..end);
    }
    batches
}

/// The bytes that a message of this many bytes takes up in one that lists it, with a tag below 16.
pub(crate) fn listed(length: usize) -> usize {
    1 + prost::length_delimiter_len(length) + length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_batch_is_larger_than_allowed_and_nothing_is_left_out() {
        assert_eq!(batches([], 3, 10), []);
        assert_eq!(batches([1, 1, 1, 1], 3, 10), [0..3, 3..4]);
        assert_eq!(batches([5, 5, 1, 20, 1], 3, 10), [0..2, 2..3, 3..4, 4..5]);
        assert_eq!(batches([10, 10], 3, 10), [0..1, 1..2]);
        assert_eq!(batches([usize::MAX, usize::MAX], 3, 10), [0..1, 1..2]);
    }
}
