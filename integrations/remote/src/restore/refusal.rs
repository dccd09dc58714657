//! Why nothing was restored.

use std::fmt;
use std::io;
use upcheck::os_message;

/// Why nothing was restored.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// A ninja runs in the build directory.
    NinjaRuns,
    /// Somebody else is restoring there.
    RestoreRuns,
    /// Ninja's logs have changed since they were read.
    LogsChanged,
    /// An operation failed. What it was, and what the system says.
    Io(String, io::Error),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NinjaRuns => f.write_str("a ninja is running in the build directory"),
            Self::RestoreRuns => f.write_str("somebody else is restoring in the build directory"),
            Self::LogsChanged => f.write_str("ninja's logs have changed since they were read: try again"),
            Self::Io(operation, error) => write!(f, "{operation}: {}", os_message(error)),
        }
    }
}
