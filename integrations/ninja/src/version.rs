//! Which ninja's rules hold: the answer to "what would ninja run" depends on it.

use crate::command_hash;
use std::fmt;
use upcheck::depfile::Dialect;

/// A ninja release line whose rules are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NinjaVersion {
    /// 1.11 (and 1.10, near enough): logs of version 4 or later, MurmurHash64A.
    V1_11,
    /// 1.12: logs of version 6, MurmurHash64A.
    V1_12,
    /// 1.13: logs of version 7, rapidhash.
    V1_13,
}

impl NinjaVersion {
    /// The version that writes logs of `log_version`; the newest where that is not known.
    #[must_use]
    pub fn from_log_version(log_version: u32) -> Self {
        match log_version {
            1..=5 => Self::V1_11,
            6 => Self::V1_12,
            _ => Self::V1_13,
        }
    }

    /// Reads `1.13`, `1.13.2` and the like.
    ///
    /// # Errors
    /// For a release whose rules are not known here; the message says which are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split('.');
        match (parts.next(), parts.next()) {
            (Some("1"), Some("11")) => Ok(Self::V1_11),
            (Some("1"), Some("12")) => Ok(Self::V1_12),
            (Some("1"), Some("13")) => Ok(Self::V1_13),
            _ => Err("known are the rules of ninja 1.11, 1.12 and 1.13".into()),
        }
    }

    /// Major and minor number.
    #[must_use]
    pub fn number(self) -> (u32, u32) {
        match self {
            Self::V1_11 => (1, 11),
            Self::V1_12 => (1, 12),
            Self::V1_13 => (1, 13),
        }
    }

    /// How this version reads depfiles.
    #[must_use]
    pub fn depfile_dialect(self) -> Dialect {
        Dialect { quotes_end_names: self < Self::V1_13, blank_is_an_error: self == Self::V1_11 }
    }

    /// Whether this version believes a log of `log_version`, or throws it away and starts over.
    #[must_use]
    pub fn accepts_log(self, log_version: u32) -> bool {
        match self {
            Self::V1_11 => log_version >= 4,
            Self::V1_12 => log_version == 6,
            Self::V1_13 => log_version == 7,
        }
    }

    /// The hash of a command, as this version records it.
    #[must_use]
    pub fn hash_command(self, command: &[u8]) -> u64 {
        match self {
            Self::V1_11 | Self::V1_12 => command_hash::murmur_hash_64a(command),
            Self::V1_13 => command_hash::rapidhash(command),
        }
    }
}

impl fmt::Display for NinjaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.number();
        write!(f, "{major}.{minor}")
    }
}
