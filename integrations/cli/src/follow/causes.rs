//! What is at the root of staleness, in short, for `upcheck watch -- COMMAND`: it tells what is new from what was there before
//! the command was run.
//!
//! ```text
//!   numbers of targets, stale ones and pending ones, with spaces between      each entry has a NUL behind it
//!   kind, code, path, evidence, with tabs between
//!   ...
//! ```
//!
//! The kind is `made` where it is about a file that the build makes, which may be the command's own doing, and `given` else. The
//! evidence is what changes when somebody changes the same thing once more; of what is made there is none.

use crate::answer::Answer;
use std::io::{self, Write};
use upcheck::{Compared, FileId, Graph, Reason};

/// What begins an entry that is not about what the build makes.
const GIVEN: &str = "given";

/// The causes of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Causes {
    pub(crate) n_targets: usize,
    /// With those that are pending.
    pub(crate) n_stale: usize,
    /// As they are printed; the one with the most targets first.
    pub(crate) entries: Vec<Vec<u8>>,
}

/// Prints them.
pub(crate) fn print(out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
    let report = &answer.report;
    write!(out, "{} {} {}\0", report.n_targets, report.n_stale, report.n_pending)?;
    for cause in &report.root_causes {
        let reason = &cause.reason;
        let evidence = evidence(answer.graph, reason);
        let kind = if evidence.is_some() { GIVEN } else { "made" };
        write!(out, "{kind}\t{}\t", reason.code())?;
        out.write_all(answer.graph.files.path(reason.path()))?;
        write!(out, "\t{}\0", evidence.unwrap_or_default())?;
    }
    Ok(())
}

impl Causes {
    /// Reads what was printed.
    pub(crate) fn read(printed: &[u8]) -> Self {
        let mut entries = printed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        let counts = String::from_utf8_lossy(entries.next().unwrap_or_default()).into_owned();
        let counts: Vec<usize> = counts.split(' ').filter_map(|count| count.parse().ok()).collect();
        let count = |at: usize| counts.get(at).copied().unwrap_or(0);
        Self {
            n_targets: count(0),
            n_stale: count(1) + count(2),
            entries: entries.map(<[u8]>::to_vec).collect(),
        }
    }

    /// Whether something is among them that is not among others.
    pub(crate) fn has_more_than(&self, others: &Self) -> bool {
        self.entries.iter().any(|entry| !others.entries.contains(entry))
    }

    /// Those that are not about what the build makes.
    pub(crate) fn given(&self) -> Self {
        let is_given = |entry: &&Vec<u8>| entry.starts_with(GIVEN.as_bytes());
        Self { entries: self.entries.iter().filter(is_given).cloned().collect(), ..*self }
    }

    /// Forgets those that are not among others.
    pub(crate) fn keep_those_in(&mut self, others: &Self) {
        self.entries.retain(|entry| others.entries.contains(entry));
    }

    /// The path of the first one.
    pub(crate) fn first_path(&self) -> Option<&[u8]> {
        self.entries.first()?.split(|byte| *byte == b'\t').nth(2)
    }
}

/// `None` of what is made.
fn evidence(graph: &Graph, reason: &Reason) -> Option<String> {
    let is_made = |file: FileId| graph.producer(file).is_some();
    match reason {
        Reason::CommandChanged { hash, .. } => Some(format!("{hash:x}")),
        Reason::ValueChanged { value, .. } => {
            Some(value.as_ref().map_or(String::new(), |value| blake3::hash(value).to_hex().to_string()))
        }
        reason if is_made(reason.path()) => None,
        Reason::InputNewer { input_mtime, .. } => Some(input_mtime.to_string()),
        Reason::InputChanged { compared, .. } => {
            let Compared { now, digest, .. } = **compared;
            let stamp = now.map(|now| format!("{} {}", now.mtime, now.size)).unwrap_or_default();
            Some(digest.map_or(stamp, |digest| digest.to_string()))
        }
        _ => Some(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_come_out_as_they_were_printed() {
        let causes =
            Causes::read(b"7 2 1\0given\tinput-newer\ta b.c\t17\0given\tcommand-changed\tx\ty\tff\0");
        assert_eq!((causes.n_targets, causes.n_stale, causes.entries.len()), (7, 3, 2));
        assert_eq!(causes.first_path(), Some(&b"a b.c"[..]));
        assert_eq!(Causes::read(b""), Causes::default());
        assert_eq!(Causes::read(b"3 0 0\0"), Causes { n_targets: 3, ..Causes::default() });
    }

    #[test]
    fn what_is_new_is_told_from_what_was_there() {
        let before = Causes::read(b"2 2 0\0given\tinput-newer\ta.c\t17\0made\tnever-built\tb\t\0");
        let again = Causes::read(b"2 1 0\0given\tinput-newer\ta.c\t18\0");
        let left = Causes::read(b"2 1 0\0made\tnever-built\tb\t\0");
        assert!(again.has_more_than(&before), "it was changed once more");
        assert!(!left.has_more_than(&before), "it was there before");
        assert_eq!(left.given().entries, Vec::<Vec<u8>>::new());
        assert_eq!(before.given().entries.len(), 1);
        let mut known = before.clone();
        known.keep_those_in(&left);
        assert!(before.has_more_than(&known), "what went away and comes back is new");
    }
}
