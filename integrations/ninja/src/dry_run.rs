//! What `ninja -n` would print: the same targets, the same early stop at the manifest, the same errors.
//!
//! Ninja judges target by target, in the order asked for, and plans each before it looks at the next; then it
//! "runs" the plan, and whatever becomes finished may bring a dyndep file into play, which brings new edges.
//! A dry run changes no file, so what was stale stays stale, and the order in which things finish does not
//! show in the set of targets.

use crate::build::Build;
use crate::error::Error;
use crate::log_time;
use crate::scope::Symbol;
use crate::version::NinjaVersion;
use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use upcheck::collect::Disk;
use upcheck::depfile;
use upcheck::{
    Decision, Dyndep, FileId, History, Mode, Record, Report, Snapshot, Stop, TargetId, os_message,
};

/// What a dry run comes to.
#[derive(Debug, Default)]
pub struct DryRun {
    /// The targets that ninja would run, with their reasons.
    pub report: Report,
    /// Whether ninja would stop here to read its manifest again.
    pub stopped_at_manifest: bool,
}

/// Finds out what `ninja -n` would print for `requests`, which must have been described and collected.
///
/// `requests` may be an error (a target that is not known): ninja looks at its manifest first, and only then
/// at what it was asked for. `are_defaults`: nobody asked for anything.
///
/// # Errors
/// Where ninja has one, in its words.
pub fn dry_run(
    build: &Build,
    disk: &dyn Disk,
    snapshot: &Snapshot,
    requests: Result<Vec<FileId>, Error>,
    are_defaults: bool,
) -> Result<DryRun, Error> {
    let later;
    let mut decision = Decision::new(build.graph(), build.history(), snapshot, Mode::AsNinja);
    let mut earlier = None;
    if let Some(manifest) = build.manifest_file() {
        let rebuilding = |message: String| {
            let path = String::from_utf8_lossy(build.graph().files.path(manifest));
            Error::Refused(format!("rebuilding '{path}': {message}"))
        };
        let mut run = Run::new(build, disk, &mut decision);
        run.request(manifest).map_err(|error| rebuilding(error.to_string()))?;
        if run.has_commands() {
            run.finish_all().map_err(|error| rebuilding(error.to_string()))?;
            let wanted = run.wanted();
            let mut report = Report::new(&decision, build.graph(), |target| wanted.contains(&target));
            build.mark_manifest(&mut report);
            if decision.is_dirty(manifest) {
                return Ok(DryRun { report, stopped_at_manifest: true });
            }
            // Only something that the manifest waits for is stale: ninja runs that, and starts over.
            later = as_if_recorded(build, &report);
            decision.restart(&later);
            earlier = Some(report);
        }
    }
    let mut requests = requests?;
    if are_defaults && build.default_requests_are_roots() {
        // What the manifest's own target has discovered is used by now, and no root any more.
        requests.retain(|&file| !decision.is_discovered(file));
    }
    let mut run = Run::new(build, disk, &mut decision);
    for request in requests {
        run.request(request)?;
    }
    if run.has_commands() {
        run.finish_all().map_err(|error| Error::Refused(format!("build stopped: {error}.")))?;
    }
    let wanted = run.wanted();
    let mut report = Report::new(&decision, build.graph(), |target| wanted.contains(&target));
    build.mark_manifest(&mut report);
    if let Some(earlier) = earlier {
        append(&mut report, earlier);
    }
    Ok(DryRun { report, stopped_at_manifest: false })
}

/// A dry run writes no log, but it does keep records of what it pretends to have run, and believes them when it
/// starts over: the command of now, recorded at time 0.
fn as_if_recorded(build: &Build, report: &Report) -> History {
    let mut history = build.history().clone();
    for stale in &report.stale {
        let command_hash = history.command_hash(stale.target);
        for &output in build.graph().outputs(stale.target) {
            history.set_record(output, Record { command_hash, mtime: log_time::mtime(0) });
        }
    }
    history
}

/// Adds what an earlier pass listed and the last one did not.
fn append(report: &mut Report, earlier: Report) {
    let known: HashSet<_> = report.stale.iter().map(|stale| stale.target).collect();
    let new = earlier.stale.into_iter().filter(|stale| !known.contains(&stale.target));
    for stale in new {
        report.n_stale += 1;
        report.n_targets += 1;
        report.stale.push(stale);
    }
    for cause in earlier.root_causes {
        let same = |other: &upcheck::RootCause| {
            other.reason.code() == cause.reason.code() && other.reason.path() == cause.reason.path()
        };
        if !report.root_causes.iter().any(same) {
            report.n_root_causes += 1;
            report.root_causes.push(cause);
        }
    }
    report.root_causes.sort_by_key(|cause| std::cmp::Reverse(cause.n_targets));
    for kind in earlier.kinds {
        match report.kinds.iter_mut().find(|known| known.code == kind.code) {
            Some(known) => {
                known.n_causes = known.n_causes.max(kind.n_causes);
                known.n_targets = known.n_targets.max(kind.n_targets);
            }
            None => report.kinds.push(kind),
        }
    }
    report.kinds.sort_by_key(|kind| std::cmp::Reverse(kind.n_targets));
}

/// What a plan wants of a target in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    /// Only to know when it is ready.
    Nothing,
    /// To run it.
    Run,
}

/// One plan, and its pretended execution.
struct Run<'r, 'a> {
    build: &'a Build,
    disk: &'r dyn Disk,
    decision: &'r mut Decision<'a>,
    wants: HashMap<TargetId, Want>,
    /// The keys of `wants`, in the order in which they came.
    order: Vec<TargetId>,
    finished: HashSet<TargetId>,
}

impl<'r, 'a> Run<'r, 'a> {
    fn new(build: &'a Build, disk: &'r dyn Disk, decision: &'r mut Decision<'a>) -> Self {
        Self { build, disk, decision, wants: HashMap::new(), order: Vec::new(), finished: HashSet::new() }
    }

    fn is_phony(&self, target: TargetId) -> bool {
        self.build.graph().flags(target).phony
    }

    fn has_commands(&self) -> bool {
        self.wants.iter().any(|(&target, &want)| want == Want::Run && !self.is_phony(target))
    }

    /// The targets whose commands would run.
    fn wanted(&self) -> HashSet<TargetId> {
        let runs = self.wants.iter().filter(|(_, want)| **want == Want::Run);
        runs.map(|(&target, _)| target).filter(|&target| !self.is_phony(target)).collect()
    }

    /// Judges and plans one requested file and the validations it brings.
    fn request(&mut self, file: FileId) -> Result<(), Error> {
        match self.judge(file) {
            Ok(validations) => {
                if self.decision.producer(file).is_none_or(|target| !self.decision.is_ready(target)) {
                    self.plan(file)?;
                }
                self.plan_validations(validations)
            }
            // Ninja gives up on this request without a word.
            Err(Stop::Silent) => Ok(()),
            Err(stop) => Err(self.build.explain_stop(&stop)),
        }
    }

    fn judge(&mut self, file: FileId) -> Result<Vec<FileId>, Stop> {
        self.decision.visit(file)?;
        let mut all = Vec::new();
        let mut next = 0;
        loop {
            all.extend(self.decision.take_validations());
            let Some(&validation) = all.get(next) else { return Ok(all) };
            next += 1;
            self.decision.visit(validation)?;
        }
    }

    fn plan_validations(&mut self, validations: Vec<FileId>) -> Result<(), Error> {
        for validation in validations {
            let producer = self.decision.producer(validation);
            if producer.is_some_and(|target| !self.decision.is_ready(target)) {
                self.plan(validation)?;
            }
        }
        Ok(())
    }

    fn plan(&mut self, file: FileId) -> Result<(), Error> {
        self.plan_below(vec![(file, None)])
    }

    /// Plans files, each with the one that needs it, and all that they need themselves: depth first, the last
    /// of the list first.
    fn plan_below(&mut self, mut stack: Vec<(FileId, Option<FileId>)>) -> Result<(), Error> {
        while let Some((file, user)) = stack.pop() {
            let Some(target) = self.decision.producer(file) else {
                self.check_source(file, user)?;
                continue;
            };
            if self.decision.is_ready(target) || self.finished.contains(&target) {
                continue;
            }
            let is_new = !self.wants.contains_key(&target);
            if is_new {
                self.order.push(target);
            }
            let want = self.wants.entry(target).or_insert(Want::Nothing);
            if self.decision.is_dirty(file) {
                *want = Want::Run;
            }
            if is_new {
                let first = stack.len();
                stack.extend(self.decision.inputs(target).map(|input| (input, Some(file))));
                stack[first..].reverse();
            }
        }
        Ok(())
    }

    /// A missing source that the description names is an error. One that only a depfile knows is not: the
    /// command may no longer need it.
    fn check_source(&self, file: FileId, user: Option<FileId>) -> Result<(), Error> {
        let discovered_only = match self.build.version() {
            NinjaVersion::V1_11 => self.decision.is_discovered(file),
            _ => !self.build.is_named(file),
        };
        if !self.decision.is_dirty(file) || discovered_only {
            return Ok(());
        }
        let shown = |file| String::from_utf8_lossy(self.build.graph().files.path(file));
        let needed = user.map_or(String::new(), |user| format!(", needed by '{}',", shown(user)));
        Err(Error::Refused(format!("'{}'{needed} missing and no known rule to make it", shown(file))))
    }

    // ---- the pretended execution --------------------------------------------------------------------

    /// Lets everything in the plan finish.
    fn finish_all(&mut self) -> Result<(), Error> {
        let has_dyndeps = self.order.iter().any(|&target| {
            self.decision.outputs(target).any(|output| self.decision.is_unloaded_dyndep(output))
        });
        if !has_dyndeps {
            for position in 0..self.order.len() {
                self.extract_deps(self.order[position])?;
            }
            return Ok(());
        }
        loop {
            let mut progress = false;
            let mut position = 0;
            while position < self.order.len() {
                let target = self.order[position];
                position += 1;
                if !self.finished.contains(&target) && self.inputs_are_ready(target) {
                    self.finish(target)?;
                    progress = true;
                }
            }
            if !progress {
                return if self.finished.len() == self.order.len() {
                    Ok(())
                } else {
                    Err(Error::Refused("stuck [this is a bug]".into()))
                };
            }
        }
    }

    fn inputs_are_ready(&self, target: TargetId) -> bool {
        self.decision.inputs(target).all(|input| {
            let producer = self.decision.producer(input);
            producer.is_none_or(|target| self.decision.is_ready(target))
        })
    }

    fn finish(&mut self, target: TargetId) -> Result<(), Error> {
        self.extract_deps(target)?;
        self.finished.insert(target);
        self.decision.set_ready(target);
        let outputs: Vec<_> = self.decision.outputs(target).collect();
        for output in outputs {
            if self.decision.is_unloaded_dyndep(output) {
                self.load_dyndep(output)?;
            }
        }
        Ok(())
    }

    /// A dyndep file is there now, or so the dry run pretends: what is on disk counts.
    fn load_dyndep(&mut self, file: FileId) -> Result<(), Error> {
        self.decision.load_dyndep(file).map_err(|stop| self.build.explain_stop(&stop))?;
        for dependent in self.unsettle_users(file) {
            let validations = self.judge(dependent).map_err(|stop| self.build.explain_stop(&stop))?;
            self.plan_validations(validations)?;
            if let Some(target) =
                self.decision.producer(dependent).filter(|_| self.decision.is_dirty(dependent))
                && let Some(want) = self.wants.get_mut(&target)
            {
                *want = Want::Run;
            }
        }
        let Some(Dyndep::Loaded(entries)) = self.build.history().dyndep(file) else { return Ok(()) };
        for entry in entries {
            if !self.decision.is_ready(entry.target) && self.wants.contains_key(&entry.target) {
                let user = self.build.graph().outputs(entry.target).first().copied();
                self.plan_below(entry.inputs.iter().rev().map(|&input| (input, user)).collect())?;
            }
        }
        Ok(())
    }

    /// Lets every planned target that uses `file`, directly or not, be judged again. Their outputs.
    fn unsettle_users(&mut self, file: FileId) -> Vec<FileId> {
        let mut changed = HashSet::from([file]);
        let mut dependents = Vec::new();
        let mut rest: Vec<_> =
            self.order.iter().copied().filter(|target| !self.finished.contains(target)).collect();
        loop {
            let before = rest.len();
            rest.retain(|&target| {
                if !self.decision.inputs(target).any(|input| changed.contains(&input)) {
                    return true;
                }
                self.decision.unsettle(target);
                for output in self.decision.outputs(target) {
                    changed.insert(output);
                    dependents.push(output);
                }
                false
            });
            if rest.len() == before {
                return dependents;
            }
        }
    }

    /// Even in a dry run ninja looks for the depfile that a command with `deps` should have left.
    fn extract_deps(&self, target: TargetId) -> Result<(), Error> {
        if self.is_phony(target) || self.wants.get(&target) != Some(&Want::Run) {
            return Ok(());
        }
        let trouble = match self.build.binding(target, Symbol::DEPS, true)?.as_slice() {
            b"" | b"msvc" => None,
            b"gcc" => self.leftover_depfile_trouble(target)?,
            other => {
                let other = String::from_utf8_lossy(other);
                return Err(Error::Refused(format!("unknown deps type '{other}'")));
            }
        };
        match trouble {
            None => Ok(()),
            Some(trouble) => {
                let name = String::from_utf8_lossy(self.build.graph().name(target));
                Err(Error::Refused(format!("subcommand failed: {name}: {trouble}")))
            }
        }
    }

    fn leftover_depfile_trouble(&self, target: TargetId) -> Result<Option<String>, Error> {
        let path = self.build.binding(target, Symbol::DEPFILE, false)?;
        if path.is_empty() {
            return Ok(Some("edge with deps=gcc but no depfile makes no sense".into()));
        }
        Ok(match self.disk.read(&path) {
            Ok(bytes) if bytes.is_empty() => None,
            Ok(bytes) => depfile::parse(&bytes, self.build.version().depfile_dialect()).err().map(Into::into),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => Some(os_message(&error)),
        })
    }
}
