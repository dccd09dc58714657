//! What the cache said about stale targets, on its way to whoever prints it.

use crate::text::plural;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::{self, Write};
use upcheck::{Graph, TargetId};
use upcheck_remote::{Answer, Found};
use upcheck_words::count;

/// What the cache said.
pub(crate) struct Remote {
    answers: HashMap<TargetId, Answer>,
    /// How many are cached, not cached, unknown, and without an answer.
    counts: [usize; 4],
    /// How many bytes the cached ones have.
    bytes: u64,
}

impl Remote {
    pub(crate) fn of(found: Found) -> Self {
        let counts = found.counts();
        let answers: HashMap<_, _> = found.answers.into_iter().collect();
        let size = |answer: &Answer| if let Answer::Cached(hit) = answer { hit.size() } else { 0 };
        let bytes = answers.values().map(size).sum();
        Self { answers, counts, bytes }
    }

    /// One word for a target; `None` for one that was not asked about.
    pub(crate) fn word(&self, target: TargetId) -> Option<&'static str> {
        self.answers.get(&target).map(|answer| match answer {
            Answer::Cached(_) => "cached",
            Answer::NotCached(_) => "not-cached",
            Answer::Unknown(_) => "unknown",
            Answer::Trouble => "?",
        })
    }

    /// The line under the headline.
    pub(crate) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let [cached, not_cached, unknown, trouble] = self.counts;
        let mut parts = Vec::new();
        if cached > 0 {
            parts.push(format!("{} cached ({})", count(cached), size(self.bytes)));
        }
        if not_cached > 0 {
            parts.push(format!("{} not cached", count(not_cached)));
        }
        if unknown > 0 {
            parts.push(format!("{} unknown", count(unknown)));
        }
        if trouble > 0 {
            parts.push(format!("{} without an answer", count(trouble)));
        }
        writeln!(out, "In the cache: {}", parts.join(", "))
    }

    /// Puts what the cache said about a target.
    pub(crate) fn put(&self, object: &mut Map<String, Value>, graph: &Graph, target: TargetId) {
        let Some(word) = self.word(target) else { return };
        object.insert("remote".into(), word.into());
        match self.answers.get(&target) {
            Some(Answer::Cached(hit)) => {
                object.insert("remote_bytes".into(), hit.size().into());
                object.insert("remote_action".into(), hit.action.to_string().into());
            }
            Some(Answer::NotCached(Some(doubt))) => {
                object.insert("remote_why".into(), doubt.to_string().into());
            }
            Some(Answer::Unknown(other)) => {
                let name = String::from_utf8_lossy(graph.name(*other));
                object.insert("remote_why".into(), format!("{name} is stale, and not cached").into());
            }
            _ => {}
        }
    }

    /// The counts, for programs.
    pub(crate) fn summary(&self) -> Value {
        let [cached, not_cached, unknown, trouble] = self.counts;
        json!({
            "cached": cached,
            "not_cached": not_cached,
            "unknown": unknown,
            "unanswered": trouble,
            "bytes": self.bytes,
        })
    }
}

/// A number of bytes, for people.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return plural(usize::try_from(bytes).unwrap_or(usize::MAX), "byte");
    }
    let (mut tenths, mut unit) = (bytes / 100, 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_three_digits_or_so() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (12_345, "12.3 kB"),
            (999_999, "999.9 kB"),
            (1_000_000, "1.0 MB"),
            (u64::MAX, "18446744.0 TB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }
}
