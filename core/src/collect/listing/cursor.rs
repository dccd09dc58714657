//! A place in some bytes, from which numbers are read one after the other, however they are aligned.

/// The next bytes to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// At a place in `bytes`; `None` beyond their end.
    pub(super) fn at(bytes: &'a [u8], place: usize) -> Option<Self> {
        bytes.get(place..).map(|rest| Self { rest })
    }

    pub(super) fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*bytes)
    }

    /// How many bytes are left.
    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }
}

/// The number that stands at a place, with its lowest byte first.
pub(super) fn u32_le(bytes: &[u8], place: usize) -> Option<u32> {
    Some(u32::from_le_bytes(Cursor::at(bytes, place)?.bytes()?))
}

/// The number that stands at a place, with its lowest byte first.
pub(super) fn u64_le(bytes: &[u8], place: usize) -> Option<u64> {
    Some(u64::from_le_bytes(Cursor::at(bytes, place)?.bytes()?))
}
