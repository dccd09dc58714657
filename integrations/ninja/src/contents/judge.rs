//! Judging targets by what their files hold.

use super::{Contents, LogEntry, Row};
use crate::build::Build;
use crate::error::Error;
use std::collections::HashSet;
use upcheck::collect::Disk;
use upcheck::content::{Content, DigestCache, digest_files};
use upcheck::wants_content;
use upcheck::{FileId, Meta, Policy, Reason, Recorded, Rule, Snapshot, Stat, TargetId};

/// What looking at contents came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentCounts {
    /// Targets that were judged by their records.
    pub targets: usize,
    /// Files whose content was looked at.
    pub looked: usize,
    /// Those among them that hold what they held: only their stamps are others.
    pub touched: usize,
}

/// Files count as changed where the stamp and the content differ.
pub(crate) const POLICY: Policy = Policy::MtimeAndDigest;

impl Build {
    /// From now on targets with a record that counts are judged by it. To be called before [`Build::collect`]. How many
    /// these are.
    ///
    /// Cost: one comparison for each file of a record; the disk is asked for depfiles of targets that only records
    /// lead to.
    ///
    /// # Errors
    /// As [`Build::describe`].
    pub fn judge_by_content(&mut self, disk: &dyn Disk, contents: &Contents) -> Result<usize, Error> {
        self.judge_by_content_where(disk, contents, |build, output, _, row| {
            is_of_last_run(row, build.log_entry(output))
        })
    }

    /// The same, where `counts` says whether a target's record counts.
    pub(crate) fn judge_by_content_where(
        &mut self,
        disk: &dyn Disk,
        contents: &Contents,
        mut counts: impl FnMut(&Self, FileId, TargetId, &Row) -> bool,
    ) -> Result<usize, Error> {
        let mut n_judged = 0;
        let mut judged = vec![false; self.graph.n_targets()];
        loop {
            let mut reach = Vec::new();
            for target in self.graph.targets() {
                let is_new = self.described.get(target.index()) == Some(&true) && !judged[target.index()];
                if is_new {
                    judged[target.index()] = true;
                    n_judged += usize::from(self.judge_one(contents, target, &mut counts, &mut reach));
                }
            }
            if reach.is_empty() {
                break;
            }
            self.describe_from(disk, reach)?;
        }
        // Nobody could tell later whether what was on record still holds.
        self.has_given = true;
        Ok(n_judged)
    }

    fn judge_one(
        &mut self,
        contents: &Contents,
        target: TargetId,
        counts: &mut impl FnMut(&Self, FileId, TargetId, &Row) -> bool,
        reach: &mut Vec<FileId>,
    ) -> bool {
        let flags = self.graph.flags(target);
        let Some(&output) = self.graph.outputs(target).first() else { return false };
        let Some(row) = contents.target(self.graph.files.path(output)).filter(|_| !flags.phony) else {
            return false;
        };
        if !counts(self, output, target, row) {
            return false;
        }
        let [inputs, discovered, outputs] = contents.states_of(row);
        let mut intern = |path: &[u8]| self.graph.files.intern(path);
        let mut recorded = |state: &super::State| Recorded {
            file: intern(contents.path(state.path)),
            state: state.file_state(),
        };
        let inputs: Vec<Recorded> = inputs.map(&mut recorded).collect();
        let discovered: Vec<Recorded> = discovered.map(&mut recorded).collect();
        let outputs: Vec<Recorded> = outputs.map(&mut recorded).collect();
        let differences = self.differences(target, output, row, &inputs, &outputs);
        let files: Vec<FileId> = discovered.iter().map(|recorded| recorded.file).collect();
        for recorded in inputs.iter().chain(&outputs).chain(&discovered) {
            self.want(recorded.file);
        }
        reach.extend(files.iter().filter(|&&file| self.leads_on(file)));
        self.history.set_discovered_inputs(target, files, None);
        self.history.set_rule(target, Rule::Recorded(POLICY));
        self.history.set_success(target, differences, inputs.into_iter().chain(discovered), outputs);
        true
    }

    /// Whether there is a target to describe behind a file.
    fn leads_on(&self, file: FileId) -> bool {
        let producer = self.graph.producer(file).or_else(|| self.dyndep_producers.get(&file).copied());
        producer.is_some_and(|producer| !self.described[producer.index()])
    }

    /// What the record and the description differ in.
    fn differences(
        &self,
        target: TargetId,
        output: FileId,
        row: &Row,
        inputs: &[Recorded],
        outputs: &[Recorded],
    ) -> Vec<Reason> {
        let mut differences = Vec::new();
        let hash = self.history.command_hash(target);
        if hash != row.command_hash && !self.graph.flags(target).generator {
            let recorded_hash = row.command_hash;
            differences.push(Reason::CommandChanged { output, recorded_hash, hash });
        }
        let then: HashSet<FileId> = inputs.iter().map(|recorded| recorded.file).collect();
        let now: HashSet<FileId> = self.real_inputs(target).into_iter().collect();
        let sorted = |one: &HashSet<FileId>, other: &HashSet<FileId>| -> Box<[FileId]> {
            let mut only: Vec<FileId> = one.difference(other).copied().collect();
            only.sort_unstable();
            only.into()
        };
        let (added, removed) = (sorted(&now, &then), sorted(&then, &now));
        if !added.is_empty() || !removed.is_empty() {
            differences.push(Reason::InputsDiffer { output, added, removed });
        }
        let then: HashSet<FileId> = outputs.iter().map(|recorded| recorded.file).collect();
        for output in self.all_outputs(target).into_iter().filter(|output| !then.contains(output)) {
            differences.push(Reason::NeverBuilt { output });
        }
        differences
    }

    /// Looks at the content of files whose stamps leave it open whether they changed. To be called after
    /// [`Build::collect`].
    ///
    /// Cost: each of them is read once, unless `cache` knows it.
    pub fn look_at_contents(
        &self,
        disk: &dyn Disk,
        contents: &Contents,
        snapshot: &mut Snapshot,
        cache: Option<&mut DigestCache>,
    ) -> ContentCounts {
        let wanted = wants_content(&self.graph, &self.history, snapshot);
        let to_read: Vec<(FileId, &[u8], Meta)> = wanted
            .iter()
            .filter_map(|&file| match snapshot.stat(file) {
                Stat::Present(meta) => Some((file, self.graph.files.path(file), meta)),
                _ => None,
            })
            .collect();
        let threads = self.options.threads;
        let found = match cache {
            Some(cache) => cache.digest_files(disk, &to_read, threads),
            None => digest_files(disk, &to_read, threads),
        };
        let states = contents.states.iter();
        let held: HashSet<_> =
            states.clone().map(|state| (contents.path(state.path), state.blake3)).collect();
        let timed: HashSet<_> = states.map(|state| (contents.path(state.path), state.meta.mtime)).collect();
        let mut counts = ContentCounts { looked: to_read.len(), ..ContentCounts::default() };
        for (&(file, path, meta), content) in to_read.iter().zip(found) {
            // A stamp that was too young to prove anything is looked at, too.
            if let Content::Digest(digest) = content {
                let is_touched = held.contains(&(path, digest)) && !timed.contains(&(path, meta.mtime));
                counts.touched += usize::from(is_touched);
            }
            snapshot.set_content(file, content);
        }
        counts
    }
}

/// Whether a record tells of the last time that a target was made.
pub(crate) fn is_of_last_run(row: &Row, log: Option<LogEntry>) -> bool {
    log.is_none_or(|log| log == row.log)
}
