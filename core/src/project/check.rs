//! Asking: which targets of a project are stale.

use super::build::stat_of_success;
use super::digests::Newest;
use super::{Project, ProjectError};
use crate::collect::{Disk, collect, confirm};
use crate::decide::{Decision, Mode, Stop, wants_content};
use crate::depfile::{self, Dialect};
use crate::graph::Graph;
use crate::history::{History, Recorded, Rule, Unknown};
use crate::ids::{FileId, TargetId};
use crate::plan::Plan;
use crate::policy::Policy;
use crate::reason::{Reason, Verdict};
use crate::records::{Entry, Records, Row};
use crate::report::Report;
use crate::snapshot::{Meta, Snapshot, Stat};
use std::collections::HashSet;

/// How to go about a check.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The most threads to use; 0 for one per core.
    pub threads: usize,
    /// Whether all targets that are committed in one call were made by one command, each after those that it is made
    /// from. Then what one of them is made from may have been made since their builds began. Who builds them himself, one
    /// by one or at the same time, begins each when what it needs is there, and must not say so.
    pub made_in_order: bool,
}

/// A question that was answered, with all that the answer rests on.
pub struct Checked {
    /// The stale targets and the root causes.
    pub report: Report,
    /// How all files looked.
    pub snapshot: Snapshot,
    /// How many files' content was read because their stamps did not tell.
    pub n_contents: usize,
    /// What was looked at; `None` where the answer rests on more than how these files look.
    pub(super) plan: Option<Plan>,
    /// Indexed by target; `None` for one that nothing that was asked about needs.
    verdicts: Vec<Option<Verdict>>,
    history: History,
    requests: Vec<FileId>,
}

/// The name under which a record holds the depfile that it was made with. No value of a caller has a NUL in its name.
pub(super) const DEPFILE: &[u8] = b"\0depfile";
/// The same for the number of the build that an entry is about.
pub(super) const NUMBER: &[u8] = b"\0number";

impl Project {
    /// Says which targets are stale among those that `requests` need, and why. Nothing is written. `records` is what
    /// [`Records::read`] found: without a store, targets without a policy of their own are judged by times alone.
    ///
    /// Cost: patterns are expanded, each file is looked at once, and content is read only where stamps leave it open.
    ///
    /// # Errors
    /// When targets depend on each other, or a request names a source that is not there.
    pub fn check(
        &mut self,
        disk: &dyn Disk,
        records: Option<&Records>,
        requests: &[FileId],
        options: Options,
    ) -> Result<Checked, ProjectError> {
        self.prove_paths()?;
        let described = Describer::new(self, disk, records, options.threads).describe(requests);
        self.judge(disk, described, requests, options)
    }

    /// [`Project::check`] as if every target had the policy [`Policy::Newer`]: whether the outputs are at least not older
    /// than the inputs. A target without outputs is fresh.
    ///
    /// # Errors
    /// As [`Project::check`].
    pub fn check_by_times(
        &mut self,
        disk: &dyn Disk,
        requests: &[FileId],
        options: Options,
    ) -> Result<Checked, ProjectError> {
        self.prove_paths()?;
        let mut describer = Describer::new(self, disk, None, options.threads);
        describer.by_times = true;
        let described = describer.describe(requests);
        self.judge(disk, described, requests, options)
    }

    fn judge(
        &mut self,
        disk: &dyn Disk,
        described: Described,
        requests: &[FileId],
        options: Options,
    ) -> Result<Checked, ProjectError> {
        let Described { history, wanted, names, rests_on_more } = described;
        let plan = Plan::new(&self.graph.files, wanted);
        let mut snapshot = collect(disk, &plan, options.threads);
        confirm(disk, &self.graph, &history, &mut snapshot, options.threads);
        for (file, stat) in names {
            snapshot.set_stat(file, stat);
        }
        let n_contents = self.read_contents(disk, &history, &mut snapshot, options.threads);
        let mut checked = Checked {
            report: Report::default(),
            snapshot,
            n_contents,
            plan: (!rests_on_more).then_some(plan),
            verdicts: vec![None; self.graph.n_targets()],
            history,
            requests: requests.to_vec(),
        };
        let mut verdicts = std::mem::take(&mut checked.verdicts);
        let report = {
            let decision = checked.decision(self)?;
            self.refuse_missing(&decision, &checked.snapshot, requests)?;
            for &target in decision.judged() {
                verdicts[target.index()] = Some(decision.verdict(target));
            }
            Report::new(&decision, &self.graph, |_| true)
        };
        (checked.report, checked.verdicts) = (report, verdicts);
        Ok(checked)
    }

    fn read_contents(
        &mut self,
        disk: &dyn Disk,
        history: &History,
        snapshot: &mut Snapshot,
        threads: usize,
    ) -> usize {
        let Self { graph, digests, .. } = self;
        let wanted = wants_content(graph, history, snapshot);
        let to_read: Vec<(FileId, &[u8], Meta)> = wanted
            .iter()
            .filter_map(|&file| match snapshot.stat(file) {
                Stat::Present(meta) if !is_name(graph, file) => Some((file, graph.files.path(file), meta)),
                _ => None,
            })
            .collect();
        let n_before = digests.n_read;
        let newest = match to_read.is_empty() {
            true => Newest::default(),
            false => Newest::of(graph.files.ids().map(|file| snapshot.stat(file))),
        };
        let contents = digests.of(disk, &to_read, threads, |meta| newest.is_older(meta));
        for (&(file, ..), content) in to_read.iter().zip(contents) {
            snapshot.set_content(file, content);
        }
        digests.n_read - n_before
    }

    /// Whether a file is none, but the name of a target without outputs.
    pub(super) fn is_name(&self, file: FileId) -> bool {
        is_name(&self.graph, file)
    }

    /// A source that was asked about has no target that could be stale for it.
    fn refuse_missing(
        &self,
        decision: &Decision<'_>,
        snapshot: &Snapshot,
        requests: &[FileId],
    ) -> Result<(), ProjectError> {
        for &file in requests {
            if decision.producer(file).is_some() {
                continue;
            }
            let path = || self.graph.files.path(file).to_vec();
            match snapshot.stat(file) {
                Stat::Present(_) => {}
                Stat::Unreadable(errno) => return Err(ProjectError::Unreadable(path(), errno)),
                Stat::Missing | Stat::Unknown => return Err(ProjectError::MissingSource(path())),
            }
        }
        Ok(())
    }
}

impl Checked {
    /// Whether everything that was asked about is fresh.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.report.is_fresh()
    }

    /// The verdict on each target, phony ones included, indexed by target; `None` for a target that nothing that was asked
    /// about needs.
    #[must_use]
    pub fn verdicts(&self) -> &[Option<Verdict>] {
        &self.verdicts
    }

    /// The decision behind the report, for those who want to follow it. Cost: all targets are judged once more.
    ///
    /// # Errors
    /// When targets depend on each other.
    pub fn decision<'a>(&'a self, project: &'a Project) -> Result<Decision<'a>, ProjectError> {
        let mut decision = Decision::new(&project.graph, &self.history, &self.snapshot, Mode::LookPast);
        decision.judge_all(&self.requests).map_err(|stop| {
            let files = if let Stop::Cycle(files) = stop { files } else { Vec::new() };
            let name = |file: &FileId| project.graph.files.path(*file).to_vec();
            ProjectError::Cycle(files.iter().map(name).collect())
        })?;
        Ok(decision)
    }

    /// What was known beside the description: records and discovered inputs.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }
}

fn is_name(graph: &Graph, file: FileId) -> bool {
    graph.producer(file).is_some_and(|target| graph.flags(target).name_only)
}

/// What a question needs to know before any file is looked at.
pub(super) struct Described {
    pub(super) history: History,
    /// The files to look at.
    pub(super) wanted: Vec<FileId>,
    /// What takes the place of a stat for names that are no files: when their last success ended.
    names: Vec<(FileId, Stat)>,
    /// Whether patterns were expanded or depfiles read.
    rests_on_more: bool,
}

/// Describes target after target, from what is asked about to what that needs.
pub(super) struct Describer<'a> {
    project: &'a mut Project,
    disk: &'a dyn Disk,
    records: Option<&'a Records>,
    /// Whether everything is judged by times.
    by_times: bool,
    threads: usize,
    described: Described,
    /// Indexed by number of a path in the store: its file's number plus one; 0 where nobody needed it yet.
    files: Vec<u32>,
    is_wanted: Vec<bool>,
    inputs: Vec<FileId>,
}

impl<'a> Describer<'a> {
    pub(super) fn new(
        project: &'a mut Project,
        disk: &'a dyn Disk,
        records: Option<&'a Records>,
        threads: usize,
    ) -> Self {
        let described = Described {
            history: History::default(),
            wanted: Vec::new(),
            names: Vec::new(),
            rests_on_more: false,
        };
        let files = vec![0; records.map_or(0, Records::n_paths)];
        Self {
            project,
            disk,
            records,
            by_times: false,
            threads,
            described,
            files,
            is_wanted: Vec::new(),
            inputs: Vec::new(),
        }
    }

    pub(super) fn describe(mut self, requests: &[FileId]) -> Described {
        let mut is_described = vec![false; self.project.graph.n_targets()];
        let mut left = Vec::new();
        requests.iter().for_each(|&file| self.want(file, &mut left));
        while let Some(target) = left.pop() {
            if std::mem::replace(&mut is_described[target.index()], true) {
                continue;
            }
            self.target(target);
            let graph = &self.project.graph;
            let files: [Vec<FileId>; 4] = [
                graph.outputs(target).to_vec(),
                graph.ordering_inputs(target).to_vec(),
                graph.validations(target).to_vec(),
                self.described.history.discovered_inputs(target).to_vec(),
            ];
            files.iter().flatten().for_each(|&file| self.want(file, &mut left));
        }
        self.described
    }

    fn want(&mut self, file: FileId, left: &mut Vec<TargetId>) {
        left.extend(self.project.graph.producer(file));
        if self.is_wanted.len() <= file.index() {
            self.is_wanted.resize(self.project.graph.files.len(), false);
        }
        if !std::mem::replace(&mut self.is_wanted[file.index()], true) && !self.project.is_name(file) {
            self.described.wanted.push(file);
        }
    }

    fn target(&mut self, target: TargetId) {
        let flags = self.project.graph.flags(target);
        if flags.phony {
            if flags.restat {
                self.described.history.set_rule(target, Rule::Newer);
            }
            return;
        }
        if let Some(reasons) = self.project.given.get(&target) {
            self.described.history.set_rule(target, Rule::Given { changes: false });
            self.described.history.set_success(target, reasons.iter().cloned(), [], []);
            // Nothing that could be looked at again tells whether it holds.
            self.described.rests_on_more = true;
            return;
        }
        let mut differences = Vec::new();
        let matches = self.project.expand_globs(self.disk, target, self.threads, |file, errno| {
            differences.push(Reason::Unreadable { path: file, errno });
        });
        self.described.rests_on_more |= self.project.globs(target).is_some();
        let rule = match self.by_times {
            true => Rule::Newer,
            false => self.project.rule(target, self.records.is_some()),
        };
        let name = self.project.graph.name(target);
        let records = self.records;
        let entry = records.and_then(|records| records.entry(name));
        let history = &mut self.described.history;
        history.set_rule(target, rule);
        if let Rule::Recorded(_) = rule {
            match (records, entry) {
                (Some(records), Some(entry)) => self.recorded(target, records, &entry, &matches, differences),
                _ => history.set_discovered_inputs(target, matches, None),
            }
        } else {
            self.by_times(target, matches, differences);
        }
    }

    /// A target that is judged by times: what its depfile says now has to do.
    fn by_times(&mut self, target: TargetId, mut inputs: Vec<FileId>, troubles: Vec<Reason>) {
        let history = &mut self.described.history;
        // A directory whose files cannot be told is an unknown set of inputs.
        if let Some(Reason::Unreadable { path, errno }) = troubles.first() {
            let path = String::from_utf8_lossy(self.project.graph.files.path(*path)).into_owned();
            let cause = std::io::Error::from_raw_os_error(*errno);
            let message = format!("listing '{path}': {cause}").into();
            return history.set_discovered_unknown(target, Unknown::Broken { message });
        }
        let depfile = self.project.depfile(target).to_vec();
        self.described.rests_on_more |= !depfile.is_empty();
        if !depfile.is_empty() {
            match read_depfile(self.disk, &depfile) {
                Ok(names) => {
                    let files = names.iter().filter_map(|name| self.project.discovered(target, name).ok());
                    inputs.extend(files);
                }
                Err(why) => return history.set_discovered_unknown(target, why),
            }
        }
        if !inputs.is_empty() {
            history.set_discovered_inputs(target, inputs, None);
        }
    }

    /// A target with a record: what the record and the description differ in is found out here, how its files are now
    /// is for the decision to compare.
    fn recorded(
        &mut self,
        target: TargetId,
        records: &'a Records,
        entry: &Entry<'a>,
        matches: &[FileId],
        mut differences: Vec<Reason>,
    ) {
        let Some(&output) = self.project.graph.outputs(target).first() else { return };
        if entry.ended.is_none() {
            differences.push(Reason::Interrupted { output, began: entry.began });
            let history = &mut self.described.history;
            history.set_discovered_inputs(target, matches.iter().copied(), None);
            return history.set_success(target, differences, [], []);
        }
        if self.project.graph.flags(target).name_only {
            // It has no file, but who uses it has to know which of its successes he saw.
            self.described.names.push((output, stat_of_success(entry)));
        }
        let hash = self.project.command_hash(target);
        // Who describes a target without its command says nothing about it.
        if entry.command_hash != hash && !self.project.command(target).is_empty() {
            let recorded_hash = entry.command_hash;
            differences.push(Reason::CommandChanged { output, recorded_hash, hash });
        }
        self.compare_values(target, output, entry, &mut differences);
        let (described, discovered) = (entry.declared(), entry.discovered());
        let mut inputs = self.compare_inputs(target, output, records, described, matches, &mut differences);
        let mut found = Vec::with_capacity(matches.len() + discovered.len());
        found.extend_from_slice(matches);
        for row in discovered {
            let Some(file) = self.file(records, row.path) else { continue };
            found.push(file);
            inputs.push(Recorded { file, state: row.state });
        }
        let outputs = self.compare_outputs(target, records, entry.outputs, &mut differences);
        let history = &mut self.described.history;
        history.set_discovered_inputs(target, found, None);
        history.set_success(target, differences, inputs, outputs);
    }

    fn compare_values(
        &self,
        target: TargetId,
        output: FileId,
        entry: &Entry<'_>,
        differences: &mut Vec<Reason>,
    ) {
        let depfile = self.project.depfile(target);
        let recorded_depfile = entry.values().find(|(name, _)| *name == DEPFILE);
        if recorded_depfile.map_or(&b""[..], |(_, path)| path) != depfile {
            differences.push(Reason::DepsUnknown { output, why: Unknown::NotRecorded });
        }
        let then = entry.values().filter(|(name, _)| ![DEPFILE, NUMBER].contains(name));
        let (mut then, mut now): (Vec<_>, Vec<_>) = (then.collect(), self.project.values(target).collect());
        then.sort_unstable();
        now.sort_unstable();
        if then == now {
            return;
        }
        let mut names: Vec<&[u8]> = then.iter().chain(&now).map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            // A name may have several values.
            let of = |values: &[(&'_ [u8], &'_ [u8])], at| {
                let mut its = values.iter().filter(|(other, _)| *other == name);
                its.nth(at).map(|(_, value)| Box::<[u8]>::from(*value))
            };
            let pairs = (0..).map(|at| (of(&then, at), of(&now, at)));
            let mut pairs = pairs.take_while(|pair| *pair != (None, None));
            if let Some((recorded, value)) = pairs.find(|(recorded, value)| recorded != value) {
                differences.push(Reason::ValueChanged { output, name: name.into(), recorded, value });
            }
        }
    }

    /// What is on record of the inputs that the description has now.
    fn compare_inputs(
        &mut self,
        target: TargetId,
        output: FileId,
        records: &Records,
        rows: &[Row],
        matches: &[FileId],
        differences: &mut Vec<Reason>,
    ) -> Vec<Recorded> {
        let mut described = std::mem::take(&mut self.inputs);
        described.clear();
        self.project.real_inputs(target, matches, &mut described);
        let files = &self.project.graph.files;
        // Mostly nothing has changed, and then the bytes are the same, one path after the other.
        let is_same = rows.len() == described.len()
            && rows.iter().zip(&described).all(|(row, &file)| records.path(row.path) == files.path(file));
        let mut recorded = Vec::with_capacity(rows.len());
        if is_same {
            let pairs = rows.iter().zip(&described);
            recorded.extend(pairs.map(|(row, &file)| Recorded { file, state: row.state }));
        } else {
            let now: HashSet<FileId> = described.iter().copied().collect();
            let mut then = HashSet::with_capacity(rows.len());
            let mut removed = Vec::new();
            for row in rows {
                let Some(file) = self.file(records, row.path) else { continue };
                then.insert(file);
                match now.contains(&file) {
                    true => recorded.push(Recorded { file, state: row.state }),
                    false => removed.push(file),
                }
            }
            let mut added: Vec<_> = described.iter().copied().filter(|file| !then.contains(file)).collect();
            removed.dedup();
            added.dedup();
            if !added.is_empty() || !removed.is_empty() {
                let (added, removed) = (added.into(), removed.into());
                differences.push(Reason::InputsDiffer { output, added, removed });
            }
        }
        self.inputs = described;
        recorded
    }

    fn compare_outputs(
        &mut self,
        target: TargetId,
        records: &Records,
        rows: &[Row],
        differences: &mut Vec<Reason>,
    ) -> Vec<Recorded> {
        let outputs = self.project.graph.outputs(target);
        if self.project.graph.flags(target).name_only {
            return Vec::new();
        }
        let files = &self.project.graph.files;
        let mut recorded = Vec::with_capacity(outputs.len());
        for &output in outputs {
            match rows.iter().find(|row| records.path(row.path) == files.path(output)) {
                Some(row) => recorded.push(Recorded { file: output, state: row.state }),
                None => differences.push(Reason::NeverBuilt { output }),
            }
        }
        recorded
    }

    /// The file of a path in the store.
    fn file(&mut self, records: &Records, path: u32) -> Option<FileId> {
        let known = self.files.get(path as usize).copied().unwrap_or(0);
        if let Some(file) = known.checked_sub(1) {
            return Some(FileId::new(file as usize));
        }
        let file = self.project.file(records.path(path)).ok()?;
        if let Some(slot) = self.files.get_mut(path as usize) {
            *slot = crate::ids::narrow(file.index() + 1);
        }
        Some(file)
    }
}

impl Project {
    /// The rule by which a target is judged.
    pub(super) fn rule(&self, target: TargetId, has_store: bool) -> Rule {
        let name_only = self.graph.flags(target).name_only;
        match self.policy(target) {
            // Without a file no time can tell.
            Some(Policy::Newer) | None if name_only => Rule::Recorded(Policy::default()),
            Some(Policy::Newer) => Rule::Newer,
            Some(policy) => Rule::Recorded(policy),
            None if has_store => Rule::Recorded(Policy::default()),
            None => Rule::Newer,
        }
    }

    /// The files that the patterns of a target match now. `trouble` is told of directories that cannot be listed.
    pub(super) fn expand_globs(
        &mut self,
        disk: &dyn Disk,
        target: TargetId,
        threads: usize,
        mut trouble: impl FnMut(FileId, i32),
    ) -> Vec<FileId> {
        let Some(globs) = self.globs(target) else { return Vec::new() };
        let found = globs.expand(disk, threads);
        let outputs: Vec<FileId> = self.graph.outputs(target).to_vec();
        let depfile = self.depfile(target).to_vec();
        let mut files = Vec::with_capacity(found.len());
        // What the command writes is no input, whatever the pattern.
        for path in found.paths().filter(|path| *path != depfile) {
            files.extend(self.file(path).ok().filter(|file| !outputs.contains(file)));
        }
        for (directory, errno) in found.trouble() {
            if let Ok(file) = self.file(directory) {
                trouble(file, *errno);
            }
        }
        files
    }
}

/// The names of the inputs in a depfile.
pub(super) fn read_depfile(disk: &dyn Disk, path: &[u8]) -> Result<Vec<Vec<u8>>, Unknown> {
    let shown = || String::from_utf8_lossy(path).into_owned();
    let bytes = match disk.read(path) {
        Ok(bytes) if bytes.is_empty() => return Err(Unknown::NoDepfile { depfile: path.into() }),
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Unknown::NoDepfile { depfile: path.into() });
        }
        Err(error) => {
            let message = format!("reading '{}': {error}", shown()).into();
            return Err(Unknown::Broken { message });
        }
    };
    match depfile::parse(&bytes, Dialect::default()) {
        Ok(depfile) => Ok(depfile.inputs),
        Err(what) => Err(Unknown::Broken { message: format!("{}: {what}", shown()).into() }),
    }
}
