//! What can go wrong, with operation, path and cause.

use std::fmt;
use upcheck::os_message;

/// Why a build directory of CMake cannot be judged.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written.
    Io {
        /// What was under way, as in "reading".
        operation: &'static str,
        /// The file.
        path: Vec<u8>,
        /// The operating system's answer.
        cause: std::io::Error,
    },
    /// A file does not say what CMake writes there.
    Content {
        /// The file.
        path: Vec<u8>,
        /// Line, from 1; 0 where the file as a whole is meant.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The directory is none of CMake's, or not what it was, or CMake was not asked.
    Unusable(String),
    /// The targets cannot be described.
    Describe(upcheck::project::DescribeError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { operation, path, cause } => {
                write!(f, "{operation} '{}': {}", String::from_utf8_lossy(path), os_message(cause))
            }
            Self::Content { path, line: 0, message } => {
                write!(f, "{}: {message}", String::from_utf8_lossy(path))
            }
            Self::Content { path, line, message } => {
                write!(f, "{}:{line}: {message}", String::from_utf8_lossy(path))
            }
            Self::Unusable(message) => f.write_str(message),
            Self::Describe(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { cause, .. } => Some(cause),
            Self::Describe(error) => Some(error),
            _ => None,
        }
    }
}

impl From<upcheck::project::DescribeError> for Error {
    fn from(error: upcheck::project::DescribeError) -> Self {
        Self::Describe(error)
    }
}
