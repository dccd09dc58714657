//! What can go wrong, with file, line, column and cause.

use std::fmt;
use std::io;

/// Why a file does not describe a build.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file says something that makes no sense.
    Content {
        /// The file, as the caller calls it.
        name: String,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// The file cannot be read.
    Read {
        /// The file, as the caller calls it.
        name: String,
        /// The operating system's answer.
        cause: io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Content { name, line, column, message } => write!(f, "{name}:{line}:{column}: {message}"),
            Self::Read { name, cause } => write!(f, "reading '{name}': {cause}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Content { .. } => None,
            Self::Read { cause, .. } => Some(cause),
        }
    }
}
