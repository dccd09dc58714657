//! One check of the build in the directory, without an image, and what its stamps look like.

use super::finding::{Finding, MOST_NAMED, few};
use super::look::nanoseconds;
use super::stamps::span;
use super::watches::OfBuild;
use crate::json::put_path;
use crate::text::plural;
use crate::words;
use serde_json::{Map, Value};
use std::collections::HashSet;
use upcheck::collect::Disk;
use upcheck::{Decision, FileId, Mtime, Report, Snapshot, Stat, TargetId};
use upcheck_ninja::{Build, Error, Options};
use upcheck_words::count;

const SECOND: Mtime = 1_000_000_000;

/// A build, how its files looked, and what was stale.
pub(super) struct Checked {
    pub(super) build: Build,
    pub(super) snapshot: Snapshot,
    pub(super) report: Report,
    /// Discovered inputs that are not there and that nothing makes, each with the first target that names it.
    phantoms: Vec<(FileId, TargetId)>,
}

/// Looks at what ninja would build by default.
pub(super) fn check(disk: &dyn Disk, options: &Options) -> Result<Checked, Error> {
    let mut build = Build::load(disk, options)?;
    let requests = build.default_requests()?;
    build.describe(disk, &requests)?;
    let snapshot = build.collect(disk);
    let decision = build.decide(&snapshot, &requests)?;
    let report = build.report(&decision);
    let phantoms = phantoms(&build, &decision, &snapshot);
    drop(decision);
    Ok(Checked { build, snapshot, report, phantoms })
}

impl Checked {
    /// When the last file had been looked at, by the local clock.
    pub(super) fn ended(&self) -> Mtime {
        nanoseconds(self.snapshot.ended())
    }

    /// A file's time; `None` for one that is not there.
    pub(super) fn mtime(&self, file: FileId) -> Option<Mtime> {
        match self.snapshot.stat(file) {
            Stat::Present(meta) => Some(meta.mtime),
            _ => None,
        }
    }

    /// A file's path for people.
    pub(super) fn name(&self, file: FileId) -> String {
        words::path(self.build.graph(), file)
    }

    /// What a watcher of the build has to watch.
    pub(super) fn watched(&self) -> OfBuild {
        let files = &self.build.graph().files;
        let asked = files.ids().filter(|&file| self.snapshot.stat(file) != Stat::Unknown);
        let parents = asked.map(|file| {
            let path = files.path(file);
            &path[..path.iter().rposition(|&byte| byte == b'/').unwrap_or(0)]
        });
        let directories = parents.collect::<HashSet<_>>().len() as u64;
        OfBuild { directories, files: self.snapshot.n_files() as u64 }
    }

    /// How large it is, and how much is stale.
    pub(super) fn finding(&self) -> Finding {
        let report = &self.report;
        let stale = match report.n_stale + report.n_pending {
            0 => "all fresh".into(),
            n => format!("{} stale", count(n)),
        };
        let files = plural(self.snapshot.n_files(), "file");
        Finding::info("build", format!("{}, {stale}; {files}", plural(report.n_targets, "target")))
            .with("targets", report.n_targets)
            .with("stale", report.n_stale)
            .with("pending", report.n_pending)
            .with("files", self.snapshot.n_files())
    }

    /// Files and records that are ahead of `now`.
    pub(super) fn future(&self, now: Mtime) -> Option<Finding> {
        let graph = self.build.graph();
        let ahead = |time: Option<Mtime>| time.filter(|&time| time > now);
        let files = graph.files.ids().filter_map(|file| Some((file, ahead(self.mtime(file))?)));
        let mut files: Vec<_> = files.collect();
        files.sort_by_key(|&(file, mtime)| (std::cmp::Reverse(mtime), file));
        let record = |file| self.build.history().record(file).map(|record| record.mtime);
        let n_records = graph.files.ids().filter(|&file| ahead(record(file)).is_some()).count();
        if files.is_empty() && n_records == 0 {
            return None;
        }
        let n_sources = files.iter().filter(|(file, _)| graph.producer(*file).is_none()).count();
        let named = files.iter().take(MOST_NAMED);
        let names: Vec<_> = named
            .clone()
            .map(|&(file, mtime)| format!("{} by {}", self.name(file), span(mtime.saturating_sub(now))))
            .collect();
        let message = if files.is_empty() {
            format!("{} of the log in the future", plural(n_records, "record"))
        } else {
            let records =
                if n_records > 0 { format!("; and {}", plural(n_records, "record")) } else { String::new() };
            format!("{} in the future: {}{records}", plural(files.len(), "file"), few(&names, files.len()))
        };
        let advice = match (n_sources, files.len()) {
            (0, _) => {
                "once the clock is right, remove these outputs and build again: edits are missed until then"
            }
            _ => "what is made from these sources is stale until then: once the clock is right, touch them",
        };
        let mut finding = Finding::warning("future-stamps", message)
            .with("files", files.len())
            .with("sources", n_sources)
            .with("records", n_records)
            .with("now_ns", now)
            .advise(advice);
        let entries = named.map(|&(file, mtime)| {
            let values = [("mtime_ns", mtime.into()), ("ahead_ns", mtime.saturating_sub(now).into())];
            self.file(file, values)
        });
        finding.files = entries.collect();
        Some(finding)
    }

    /// Outputs in whole seconds beside inputs with fractions, on a file system that keeps fractions.
    pub(super) fn truncated(&self) -> Option<Finding> {
        let targets = self.build.graph().targets();
        let mut outputs: Vec<_> = targets.flat_map(|target| self.truncated_outputs(target)).collect();
        outputs.sort_by_key(|&(_, is_misled)| !is_misled);
        let n_misled = outputs.iter().filter(|(_, is_misled)| *is_misled).count();
        let names: Vec<_> = outputs.iter().take(MOST_NAMED).map(|&(file, _)| self.name(file)).collect();
        let message = format!(
            "{} with a stamp in whole seconds beside inputs with fractions: {}",
            plural(outputs.len(), "output"),
            few(&names, outputs.len())
        );
        let finding = if n_misled == 0 {
            Finding::info("truncated-stamps", message)
        } else {
            let message = format!("{message}; {} older than an input for that alone", count(n_misled));
            Finding::warning("truncated-stamps", message)
        };
        let mut finding = finding.with("files", outputs.len()).with("misled", n_misled).advise(
            "an archive or a cache cuts off fractions: use a format that keeps them (tar --format=posix)",
        );
        let entries = outputs.iter().take(MOST_NAMED);
        finding.files =
            entries.map(|&(file, _)| self.file(file, [("mtime_ns", self.mtime(file).into())])).collect();
        (!outputs.is_empty()).then_some(finding)
    }

    /// Discovered inputs that do not exist.
    pub(super) fn phantom_inputs(&self) -> Option<Finding> {
        let phantoms = &self.phantoms;
        let names: Vec<_> = phantoms.iter().take(MOST_NAMED).map(|&(file, _)| self.name(file)).collect();
        let message = format!(
            "{} of which only depfiles or the deps log know, and which are not there: {}",
            plural(phantoms.len(), "input"),
            few(&names, phantoms.len())
        );
        let mut finding = Finding::warning("phantom-inputs", message).with("files", phantoms.len()).advise(
            "build, then ask again: what is still named then is a wrong name in what the command discovers",
        );
        let entries = phantoms.iter().take(MOST_NAMED).map(|&(file, target)| {
            let mut object = Map::new();
            put_path(&mut object, "path", self.build.graph().files.path(file));
            put_path(&mut object, "target", self.build.graph().name(target));
            Value::Object(object)
        });
        finding.files = entries.collect();
        (!phantoms.is_empty()).then_some(finding)
    }

    /// Truncated outputs of a target, and whether each is older than an input for that alone.
    fn truncated_outputs(&self, target: TargetId) -> Vec<(FileId, bool)> {
        let graph = self.build.graph();
        let discovered = self.build.history().discovered_inputs(target);
        let inputs = graph.dirtying_inputs(target).iter().chain(discovered);
        let fractions: Vec<_> =
            inputs.filter_map(|&input| self.mtime(input)).filter(|mtime| mtime % SECOND != 0).collect();
        if fractions.is_empty() || graph.flags(target).phony {
            return Vec::new();
        }
        let outputs = graph.outputs(target).iter().filter_map(|&output| Some((output, self.mtime(output)?)));
        let truncated = outputs.filter(|(_, mtime)| mtime % SECOND == 0);
        truncated
            .map(|(output, mtime)| {
                let is_within = |input: &Mtime| (1..SECOND).contains(&input.saturating_sub(mtime));
                (output, fractions.iter().any(is_within))
            })
            .collect()
    }

    fn file(&self, file: FileId, values: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
        let mut object = Map::new();
        put_path(&mut object, "path", self.build.graph().files.path(file));
        object.extend(values.into_iter().map(|(key, value)| (key.to_owned(), value)));
        Value::Object(object)
    }
}

fn phantoms(build: &Build, decision: &Decision<'_>, snapshot: &Snapshot) -> Vec<(FileId, TargetId)> {
    let mut seen = HashSet::new();
    let mut phantoms = Vec::new();
    for &target in decision.judged() {
        for &input in build.history().discovered_inputs(target) {
            let is_there = snapshot.stat(input) != Stat::Missing || decision.producer(input).is_some();
            if !is_there && !build.is_named(input) && seen.insert(input) {
                phantoms.push((input, target));
            }
        }
    }
    phantoms
}
