//! The tree of a file that is hashed in pieces: BLAKE3 hashes parts of a file apart, in any order, and puts them
//! together.

use blake3::hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

/// The length of a piece, at least. A power of two, and not less than BLAKE3's 1024 bytes, or pieces would not be whole
/// parts of the tree.
pub(super) const PIECE: u64 = 1 << 20;
/// The most pieces of a file: one with a hole can be larger than all memory.
const MOST: u64 = 4096;

/// The length of the pieces of a file of so many bytes; the last one may be shorter.
pub(super) fn piece_len(size: u64) -> u64 {
    size.div_ceil(MOST).clamp(PIECE, 1 << 63).next_power_of_two()
}

/// A hasher for the piece that begins at `offset`.
pub(super) fn piece_hasher(offset: u64) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.set_input_offset(offset);
    hasher
}

/// The hash of a file from those of its pieces, of which there are at least two.
pub(super) fn root(pieces: &[ChainingValue]) -> [u8; 32] {
    let (left, right) = pieces.split_at(n_left(pieces.len()));
    *merge_subtrees_root(&inner(left), &inner(right), Mode::Hash).as_bytes()
}

fn inner(pieces: &[ChainingValue]) -> ChainingValue {
    match pieces {
        [piece] => *piece,
        _ => {
            let (left, right) = pieces.split_at(n_left(pieces.len()));
            merge_subtrees_non_root(&inner(left), &inner(right), Mode::Hash)
        }
    }
}

/// The largest power of two that leaves something for the right side.
fn n_left(n: usize) -> usize {
    n.div_ceil(2).next_power_of_two()
}
