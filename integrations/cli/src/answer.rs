//! An answer on its way from the question to whoever prints it.

use upcheck::{Reason, Report, Snapshot};
use upcheck_ninja::Build;

/// An answer to `check`, with all that printing it needs.
pub(crate) struct Answer<'a> {
    pub(crate) build: &'a Build,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) report: Report,
    pub(crate) exact: bool,
    pub(crate) stopped_at_manifest: bool,
    pub(crate) explain: bool,
    pub(crate) commands: bool,
}

impl Answer<'_> {
    /// Whether ninja would begin by making its manifest again.
    pub(crate) fn manifest_is_stale(&self) -> bool {
        let reasons = self.report.stale.iter().flat_map(|stale| &stale.reasons);
        reasons.into_iter().any(|reason| matches!(reason, Reason::ManifestStale { .. }))
    }
}
