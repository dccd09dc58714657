//! The wording of reasons and causes, with times as they are where the user is.

pub(crate) use upcheck_words::{bytes, causes_of_kind, os_error, path, upstream, visible};

use upcheck::{Graph, Reason, RootCause};
use upcheck_words::Zone;

/// One reason in one sentence, with both values compared.
pub(crate) fn sentence(graph: &Graph, reason: &Reason) -> String {
    upcheck_words::sentence(graph, reason, Zone::Local)
}

/// A root cause, to follow "N targets are stale because".
pub(crate) fn cause(graph: &Graph, cause: &RootCause) -> String {
    upcheck_words::cause(graph, cause, Zone::Local)
}
