//! Tokens: a point in what one feed has told. A token is no time, and says nothing to another feed.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// A point in the story of one feed: what happened after it can be asked for. Opaque; it may be kept as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    pub(crate) instance: Instance,
    /// Counts the questions that this feed has been asked, from 1.
    pub(crate) generation: u64,
}

/// Which feed it is: 128 bits that no other one has, in this process or another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Instance(u64, u64);

impl Instance {
    /// Bits that nobody has seen before. The standard library seeds its hashers from the system's random numbers.
    pub(crate) fn random() -> Self {
        let one = || RandomState::new().hash_one(std::process::id());
        Self(one(), one())
    }
}

impl Token {
    /// So many bytes is a token.
    pub const LENGTH: usize = 24;

    /// The token as bytes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        let words = [self.instance.0, self.instance.1, self.generation];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The token that was these bytes; any bytes are one, though perhaps of no feed.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Self::LENGTH]) -> Self {
        let mut words = [0; 3];
        for (word, place) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = place.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        }
        Self { instance: Instance(words[0], words[1]), generation: words[2] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_survives_as_bytes() {
        let token = Token { instance: Instance::random(), generation: 0x0102_0304_0506_0708 };
        assert_eq!(Token::from_bytes(token.to_bytes()), token);
    }

    #[test]
    fn no_two_feeds_are_the_same() {
        let all: std::collections::HashSet<_> = (0..10_000).map(|_| Instance::random()).collect();
        assert_eq!(all.len(), 10_000);
    }
}
