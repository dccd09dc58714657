//! What names a blob: the SHA-256 of its bytes, and how many there are.

use crate::messages;
use prost::Message;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;

/// The name of a blob. Only SHA-256: it is what every cache can do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest {
    /// The hash of the bytes.
    pub sha256: [u8; 32],
    /// How many bytes there are. At most `i64::MAX` can be asked for.
    pub size: u64,
}

/// The bytes of a message in its canonical form, and what names them in a cache.
#[must_use]
pub fn encode(message: &impl Message) -> (Digest, Vec<u8>) {
    let bytes = message.encode_to_vec();
    (Digest::of(&bytes), bytes)
}

impl Digest {
    /// The name of the blob without a byte, which every cache has.
    pub const EMPTY: Self = Self {
        sha256: [
            0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
            0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
        ],
        size: 0,
    };

    /// The name of these bytes. Costs hashing them: about 0.5 ns a byte.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self { sha256: Sha256::digest(bytes).into(), size: bytes.len() as u64 }
    }

    /// The message's form. A size that no message has room for becomes the largest that has.
    #[must_use]
    pub fn to_message(&self) -> messages::Digest {
        messages::Digest { hash: self.hex(), size_bytes: i64::try_from(self.size).unwrap_or(i64::MAX) }
    }

    /// Reads a message's form.
    ///
    /// # Errors
    /// When it is no SHA-256 in lower case digits, or the size is below 0.
    pub fn from_message(message: &messages::Digest) -> Result<Self, DigestError> {
        let sha256 = parse_hex(&message.hash).ok_or(DigestError::Hash)?;
        let size = u64::try_from(message.size_bytes).map_err(|_| DigestError::Size)?;
        Ok(Self { sha256, size })
    }

    /// The hash in 64 lower case hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |value: u8| char::from(DIGITS[usize::from(value & 15)]);
        self.sha256.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte)]).collect()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.hex(), self.size)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    /// Reads `hash/size`.
    fn from_str(text: &str) -> Result<Self, DigestError> {
        let (hash, size) = text.split_once('/').ok_or(DigestError::NoSize)?;
        let sha256 = parse_hex(hash).ok_or(DigestError::Hash)?;
        let digits = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit());
        let size = size.parse().ok().filter(|_| digits).ok_or(DigestError::Size)?;
        Ok(Self { sha256, size })
    }
}

/// Why something is no digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DigestError {
    /// There is no size behind the hash.
    NoSize,
    /// The hash is not 64 lower case hexadecimal digits.
    Hash,
    /// The size is no number of bytes.
    Size,
}

impl fmt::Display for DigestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSize => "a digest is HASH/SIZE, and there is no size",
            Self::Hash => "the hash of a digest is 64 lower case hexadecimal digits",
            Self::Size => "the size of a digest is a number of bytes",
        })
    }
}

impl std::error::Error for DigestError {}

fn parse_hex(text: &str) -> Option<[u8; 32]> {
    let digits: &[u8; 64] = text.as_bytes().try_into().ok()?;
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = value(*high)? << 4 | value(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad/3";

    #[test]
    fn a_digest_is_read_as_it_is_shown() {
        let digest = Digest::of(b"abc");
        assert_eq!(digest.to_string(), ABC);
        assert_eq!(ABC.parse(), Ok(digest));
        assert_eq!(Digest::from_message(&digest.to_message()), Ok(digest));
        assert_eq!(Digest::of(b""), Digest::EMPTY);
    }

    #[test]
    fn what_is_no_digest_is_refused() {
        let hash = &ABC[..64];
        for (text, expected) in [
            (hash.to_owned(), DigestError::NoSize),
            (format!("{}/3", hash.to_uppercase()), DigestError::Hash),
            (format!("{}/3", &hash[1..]), DigestError::Hash),
            (format!("é{}/3", &hash[2..]), DigestError::Hash),
            (format!("{hash}/-1"), DigestError::Size),
            (format!("{hash}/+1"), DigestError::Size),
            (format!("{hash}/"), DigestError::Size),
            (format!("{hash}/99999999999999999999"), DigestError::Size),
        ] {
            assert_eq!(text.parse::<Digest>(), Err(expected), "{text}");
        }
        let below = messages::Digest { hash: hash.into(), size_bytes: -1 };
        assert_eq!(Digest::from_message(&below), Err(DigestError::Size));
        assert_eq!(Digest { sha256: [0; 32], size: u64::MAX }.to_message().size_bytes, i64::MAX);
    }
}
