//! Exit statuses, which scripts rely on.

use std::process::ExitCode;

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything asked for is fresh.
    Fresh = 0,
    /// Something is stale, or pending.
    Stale = 1,
    /// There is no answer: a broken manifest, an unknown target, wrong usage.
    Trouble = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
