//! The truth: whether an answer is the naive one, and whether what is fresh is what its command would make.

use super::{World, count};
use crate::describe::{Answer, Desc, lines};
use crate::naive::{Entry, Seen, read};
use std::collections::{BTreeMap, BTreeSet};
use upcheck::Policy;

impl World<'_> {
    /// Asks, and compares the answer with the naive one, and what is fresh with the truth.
    pub(super) fn check(&mut self) -> Answer {
        let mut process = self.process();
        let mut answer = process.check(&self.disk, &self.store_dir());
        // A phony name is listed with a missing source, and is of no interest.
        answer.retain(|name, _| !self.naive().desc(name).phony);
        self.process = Some(process);
        count(&self.counts.checks);
        let expected = self.naive().check();
        if answer != expected && self.clock_went_back {
            // A file was changed at the same time as once before, so that content is known for its stamp.
            count(&self.counts.clock_went_back);
            self.is_over = true;
            return expected;
        }
        assert_eq!(lines(&answer), lines(&expected), "upcheck, and the naive implementation");
        for desc in self.targets.iter().filter(|desc| !desc.phony && !answer.contains_key(desc.called())) {
            count(&self.counts.fresh);
            self.verify(desc);
        }
        answer
    }

    /// What is fresh is what its command would make now.
    fn verify(&self, desc: &Desc) {
        let policy = match desc.policy.unwrap_or_default() {
            Policy::Newer if desc.outputs.is_empty() => Policy::default(),
            policy => policy,
        };
        if !policy.of_inputs().needs_digest() {
            return;
        }
        let entry = self.store.success(desc.called()).expect("what is fresh was built");
        if self.misread.contains(&entry.build) {
            return count(&self.counts.misread);
        }
        if !policy.of_outputs().needs_digest()
            && desc.outputs.iter().any(|output| self.tampered.contains(output))
        {
            return count(&self.counts.tampered);
        }
        let right = self.run(desc, |path| read(&self.disk, path)).map(|(content, _)| content);
        let found = match desc.outputs.is_empty() {
            true => vec![self.made.get(&entry.build).cloned()],
            false => desc
                .outputs
                .iter()
                .map(|o| read(&self.disk, o).map(|c| String::from_utf8_lossy(&c).into_owned()))
                .collect(),
        };
        if found.iter().all(|found| *found == right) {
            return count(&self.counts.verified);
        }
        if self.clock_went_back {
            return count(&self.counts.clock_went_back);
        }
        panic!("{} is fresh and is {found:?}, but would be {right:?}", desc.called());
    }

    /// Whether a command has read what is on record; if not, only what cannot be seen is an excuse.
    pub(super) fn compare_reads(&mut self, begun: &Entry, reads: &BTreeMap<String, Vec<u8>>) {
        let Some(entry) = self.store.success(&begun.target).filter(|entry| entry.build == begun.build) else {
            return;
        };
        let mut is_misread = false;
        let mut is_excused = true;
        let content_on_record = |rows: &[(String, Seen)], path: &str| {
            rows.iter().find(|(p, _)| p == path).map(|(_, seen)| match seen {
                Seen::File { content, .. } => Some(content.clone()),
                _ => None,
            })
        };
        for (path, content) in reads {
            let recorded =
                content_on_record(&entry.inputs, path).or_else(|| content_on_record(&entry.discovered, path));
            let Some(Some(recorded)) = recorded else { continue };
            if recorded != *content {
                is_misread = true;
                let then = content_on_record(&begun.inputs, path)
                    .or_else(|| content_on_record(&begun.discovered, path))
                    .flatten();
                // Put back as it had been when the build began.
                is_excused &= then.as_ref() == Some(&recorded) && read(&self.disk, path) == Some(recorded);
            }
        }
        // What a pattern matched only for a moment.
        let matched = |path: &&str| path.starts_with("g/");
        let read: BTreeSet<&str> = reads.keys().map(String::as_str).filter(matched).collect();
        let recorded: BTreeSet<&str> =
            entry.inputs.iter().map(|(path, _)| path.as_str()).filter(matched).collect();
        is_misread |= read != recorded;
        let by_stamps_alone = !matches!(self.naive().desc(&begun.target).policy, Some(policy) if policy.of_inputs().needs_digest() || policy == Policy::Newer);
        if is_misread {
            assert!(
                is_excused || self.clock_went_back || by_stamps_alone,
                "{} has read something else",
                begun.target
            );
            self.misread.insert(begun.build);
        }
    }
}
