//! Commands: what they read, while somebody edits it, what they make of it, and what goes on record.

use super::{World, count};
use crate::describe::{Desc, ONE, Running};
use crate::naive::{self, Entry, meta, named_in, read};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use upcheck::Policy;
use upcheck::project::Options;

/// A build under way.
pub(super) struct Build {
    pub(super) running: Running,
    pub(super) begun: Vec<Entry>,
    /// What each command has read.
    pub(super) reads: Vec<BTreeMap<String, Vec<u8>>>,
    pub(super) named: Vec<Vec<String>>,
    pub(super) is_done: bool,
    /// Whether one command makes them all, in the order in which they use each other.
    pub(super) made_in_order: bool,
}

impl World<'_> {
    /// Begins builds that one process commits, or another.
    pub(super) fn begin(&mut self, names: &[&str], is_for_another: bool) -> Build {
        self.note(format!("begin {names:?}, for another: {is_for_another}"));
        let process = self.process();
        let running = match is_for_another {
            true => {
                process.begin_for_another(&self.disk, &self.store_dir(), names);
                self.process = None;
                self.process().take_up(&self.store_dir(), names)
            }
            false => process.begin(&self.disk, &self.store_dir(), names),
        };
        let (targets, common) = (&self.targets, &self.common);
        let begun = naive::begin(&mut self.store, &self.disk, targets, common, names, is_for_another);
        self.measure();
        Build { running, begun, reads: Vec::new(), named: Vec::new(), is_done: true, made_in_order: false }
    }

    /// Runs the commands of a build. With `disturbed`, there are edits while they read.
    pub(super) fn commands(&mut self, build: &mut Build, disturbed: bool) {
        for at in 0..build.begun.len() {
            let desc = self.naive().desc(&build.begun[at].target).clone();
            if disturbed && self.dice.one_in(3) {
                self.edit();
            }
            // The order in which files are read is that of their names; edits come in between.
            let mut reads = BTreeMap::new();
            let mut moment = None;
            if disturbed && self.dice.one_in(4) {
                moment = Some(self.dice.roll(4));
            }
            let done = loop {
                let mut n_read = 0;
                let known = reads.clone();
                let mut new = reads.clone();
                let stop = moment;
                let made = self.run(&desc, |path| {
                    if let Some(content) = known.get(path) {
                        return Some(Vec::clone(content));
                    }
                    n_read += 1;
                    if stop == Some(n_read - 1) {
                        return None;
                    }
                    let content = read(&self.disk, path)?;
                    new.insert(path.to_owned(), content.clone());
                    Some(content)
                });
                reads = new;
                if stop.is_some() {
                    moment = None;
                    self.pass_time();
                    self.edit();
                    if self.dice.one_in(2) {
                        moment = Some(self.dice.roll(3));
                    }
                    continue;
                }
                break made;
            };
            let Some((content, named)) = done else {
                self.note(format!("  {} fails", desc.called()));
                build.is_done = false;
                return;
            };
            // A pattern may match less by now than what was read.
            reads.retain(|path, _| named.contains(path));
            self.note(format!("  {} reads {:?}, makes {content}", desc.called(), texts(&reads)));
            self.write_outputs(&desc, &content, &named);
            self.made.insert(build.begun[at].build, content);
            build.reads.push(reads);
            build.named.push(if desc.depfile.is_empty() { Vec::new() } else { named });
        }
    }

    pub(super) fn commit(&mut self, build: Build) {
        let names: Vec<String> = build.begun.iter().map(|entry| entry.target.clone()).collect();
        let outputs: Vec<String> = self
            .targets
            .iter()
            .filter(|d| names.iter().any(|n| n == d.called()))
            .flat_map(|d| d.outputs.clone())
            .collect();
        if outputs.iter().any(|output| meta(&self.disk, output).is_none()) {
            self.note("  an output is gone: no commit");
            return;
        }
        // What stands in the depfile is what counts, whoever wrote it.
        let named: Vec<Vec<String>> = build
            .begun
            .iter()
            .map(|entry| match self.naive().desc(&entry.target).depfile.as_str() {
                "" => Vec::new(),
                depfile => named_in(&read(&self.disk, depfile).unwrap_or_default()),
            })
            .collect();
        let made_in_order = build.made_in_order;
        let options = Options { made_in_order, ..ONE };
        let (process, committed) =
            build.running.try_commit_with(&self.disk, options).expect("it is committed");
        self.process = Some(process);
        naive::commit(
            &mut self.store,
            &self.disk,
            &self.targets,
            &self.common,
            &build.begun,
            &named,
            made_in_order,
        );
        self.measure();
        self.note(format!("commit {names:?}, {} doubtful", committed.doubtful.len()));
        count(&self.counts.commits);
        if !committed.doubtful.is_empty() {
            count(&self.counts.doubted);
        }
        for (begun, reads) in build.begun.iter().zip(&build.reads) {
            self.compare_reads(begun, reads);
        }
    }

    /// What the command of a target makes of its inputs, what it reads, and what it discovers. `None` if it fails.
    pub(super) fn run(
        &self,
        desc: &Desc,
        mut read: impl FnMut(&str) -> Option<Vec<u8>>,
    ) -> Option<(String, Vec<String>)> {
        let naive = self.naive();
        let mut all = BTreeMap::new();
        for path in naive.inputs(desc) {
            let is_file =
                naive.producer(&path).is_none_or(|desc| desc.outputs.contains(&path) && !desc.phony);
            if is_file {
                let content = read(&path)?;
                all.insert(path, content);
            }
        }
        let mut named: Vec<String> = all.keys().cloned().collect();
        if let Some(header) = self.headers.get(desc.called()).filter(|_| !desc.depfile.is_empty()) {
            let content = read(header)?;
            let more = content.contains(&b'+');
            named.push(header.clone());
            all.insert(header.clone(), content);
            if more {
                all.insert("h1".to_owned(), read("h1")?);
                named.push("h1".to_owned());
            }
        }
        let mut hasher = DefaultHasher::new();
        (desc.called(), &desc.command, naive.values(desc), all).hash(&mut hasher);
        Some((format!("{:016x}", hasher.finish()), named))
    }

    fn write_outputs(&mut self, desc: &Desc, content: &str, named: &[String]) {
        for output in &desc.outputs {
            let is_kept = read(&self.disk, output).is_some_and(|old| old == content.as_bytes());
            match self.dice.roll(3) {
                // Make's rule does not forgive that.
                0 if is_kept && desc.policy != Some(Policy::Newer) => {}
                1 => self.disk.overwrite(output, content.as_bytes()),
                _ => self.disk.write(output, content.as_bytes()),
            }
            self.tampered.remove(output);
        }
        if !desc.depfile.is_empty() {
            let text = format!("{}: {}\n", desc.called(), named.join(" "));
            self.disk.write(&desc.depfile, text.as_bytes());
        }
    }

    /// How long the store's file is now.
    fn measure(&mut self) {
        let length = fs::metadata(self.store_dir().join("records")).map_or(0, |meta| meta.len());
        self.lengths.push((length, self.store.entries.len()));
    }
}

fn texts(reads: &BTreeMap<String, Vec<u8>>) -> BTreeMap<&str, String> {
    reads
        .iter()
        .map(|(path, content)| (path.as_str(), String::from_utf8_lossy(content).into_owned()))
        .collect()
}
