//! An answer on its way from the question to whoever prints it.

use upcheck::{Graph, Reason, Report, TargetId};
use upcheck_ninja::{Build, Summary};

/// An answer to `check`, with all that printing it needs.
pub(crate) struct Answer<'a> {
    /// Empty where everything is fresh and no graph was needed to see that.
    pub(crate) graph: &'a Graph,
    pub(crate) build: Option<&'a Build>,
    pub(crate) summary: Summary,
    pub(crate) report: Report,
    pub(crate) manifest_path: Vec<u8>,
    /// What became of the image: `none`, `used`, `updated`, `made`, `failed`.
    pub(crate) image: &'static str,
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

    /// The command line of a target; empty where there is none.
    pub(crate) fn command(&self, target: TargetId) -> Vec<u8> {
        self.build.and_then(|build| build.command(target).ok()).unwrap_or_default()
    }
}
