//! A ninja build directory: its manifest and its logs, read once, and what a question about it needs.

use crate::error::Error;
use crate::kept::{Kept, Summary};
use crate::logs::{LogTables, Logs, load_both};
use crate::manifest::{Manifest, Rules};
use crate::scope::Symbol;
use crate::source::{Source, SourceKind, Stamp, nanoseconds};
use crate::version::NinjaVersion;
use std::collections::{BTreeMap, HashMap, HashSet};
use upcheck::collect::{Disk, collect, confirm};
use upcheck::{
    Decision, FileId, Graph, History, Mode, Mtime, Plan, Reason, Report, Rule, Settled, Snapshot, Stat, Stop,
    TargetId, os_message, path,
};

/// What to read, and by whose rules.
#[derive(Clone, Debug)]
pub struct Options {
    /// The manifest, relative to the build directory.
    pub manifest: Vec<u8>,
    /// Whose rules hold; `None`: those of the ninja whose log is found.
    pub version: Option<NinjaVersion>,
    /// The most threads to use; 0 for one per core.
    pub threads: usize,
}

impl Options {
    pub(crate) fn n_threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, Into::into),
            given => given,
        }
    }

    /// The manifest's path, canonical.
    pub(crate) fn manifest_path(&self) -> Vec<u8> {
        let mut path = self.manifest.clone();
        path::canonicalize(&mut path);
        path
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { manifest: b"build.ninja".to_vec(), version: None, threads: 0 }
    }
}

/// A build directory whose manifest and logs were read.
pub struct Build {
    pub(crate) graph: Graph,
    pub(crate) history: History,
    /// `None` while all that is known comes from an image; see [`Build::load_rules`].
    pub(crate) rules: Option<Rules>,
    pub(crate) defaults: Vec<FileId>,
    /// Phony targets that named themselves as an input. The input is dropped, but their file counts as used.
    pub(crate) self_users: BTreeMap<FileId, TargetId>,
    pub(crate) manifest_file: Option<FileId>,
    pub(crate) version: NinjaVersion,
    pub(crate) log_version: Option<u32>,
    pub(crate) logs: LogTables,
    /// Files that some target waits for because they will name more of its inputs.
    pub(crate) dyndep_files: HashSet<FileId>,
    /// The targets that dyndep files name as producers.
    pub(crate) dyndep_producers: HashMap<FileId, TargetId>,
    /// Files that some statement of the manifest names.
    pub(crate) n_named_files: usize,
    /// Files that can be asked for by name.
    pub(crate) n_known_files: usize,
    /// Indexed by target: whether it was described.
    pub(crate) described: Vec<bool>,
    /// Indexed by target: whether its command hash and its discovered inputs were found out.
    pub(crate) is_detailed: Vec<bool>,
    /// Files that a question asked so far needs.
    pub(crate) wanted: Vec<FileId>,
    pub(crate) is_wanted: Vec<bool>,
    pub(crate) warnings: Vec<String>,
    pub(crate) options: Options,
    /// Every manifest file in the order of reading, the logs, dyndep files.
    pub(crate) sources: Vec<Source>,
    /// The depfiles that were read.
    pub(crate) depfiles: Vec<(TargetId, Vec<u8>, Stamp)>,
    /// When reading began, nanoseconds since 1970.
    pub(crate) began: Mtime,
    /// What there is beside, when an image was used.
    pub(crate) kept: Option<Kept>,
    /// Whether some target is judged by what a caller has found out.
    pub(crate) has_given: bool,
}

impl Build {
    /// Reads the manifest and the logs of the build directory at the disk's base, and describes what the manifest's
    /// own target needs. Nothing else is read, and nothing is written.
    ///
    /// # Errors
    /// When the manifest cannot be read or has a syntax error, or a log exists but cannot be read. A damaged
    /// log is no error: what it no longer says is stale.
    pub fn load(disk: &dyn Disk, options: &Options) -> Result<Self, Error> {
        let began = nanoseconds(disk.now());
        let (manifest, early) = load_both(disk, options, options.n_threads());
        let mut manifest = manifest?;
        let builddir = manifest.variable("builddir");
        let Logs { log, log_version, version, deps, sources } = match early {
            Some(logs) if builddir.is_empty() => logs?,
            _ => Logs::read(disk, &builddir, options.version)?,
        };
        let Manifest {
            graph,
            rules,
            defaults,
            self_users,
            sources: mut all_sources,
            warnings,
            n_named_files,
        } = manifest;
        all_sources.extend(sources);
        let mut build = Self {
            manifest_file: graph.files.lookup(&options.manifest_path()),
            dyndep_files: dyndep_files(&graph),
            graph,
            history: History::default(),
            rules: Some(rules),
            defaults,
            self_users,
            version,
            log_version,
            logs: LogTables::default(),
            dyndep_producers: HashMap::new(),
            n_named_files,
            n_known_files: 0,
            described: Vec::new(),
            is_detailed: Vec::new(),
            wanted: Vec::new(),
            is_wanted: Vec::new(),
            warnings,
            options: options.clone(),
            sources: all_sources,
            depfiles: Vec::new(),
            began,
            kept: None,
            has_given: false,
        };
        build.take_log(&log.unwrap_or_default());
        build.take_deps_log(deps);
        // Ninja brings its manifest up to date before it looks for what it was asked about, and knows by then what
        // the depfiles on the way there name.
        build.describe(disk, &[])?;
        build.n_known_files = build.graph.files.len();
        Ok(build)
    }

    /// Makes command lines available. Costs nothing when the manifest was read; where all that is known comes from an
    /// image, it is read now.
    ///
    /// # Errors
    /// When the manifest cannot be read, or is no longer the same.
    pub fn load_rules(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        if self.rules.is_some() {
            return Ok(());
        }
        let manifest = Manifest::load(disk, &self.options.manifest, self.options.version)?;
        let digests =
            |sources: &[Source]| -> Vec<u64> { sources.iter().map(|source| source.digest).collect() };
        if digests(&manifest.sources)
            != digests(&self.sources[..manifest.sources.len().min(self.sources.len())])
        {
            return Err(Error::Refused("the manifest was changed while it was being checked".into()));
        }
        self.rules = Some(manifest.rules);
        Ok(())
    }

    /// The graph that the manifest describes.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What the logs, depfiles and dyndep files say, as far as it was needed.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Whose rules hold.
    #[must_use]
    pub fn version(&self) -> NinjaVersion {
        self.version
    }

    /// The version of the build log; `None` where there is none.
    #[must_use]
    pub fn log_version(&self) -> Option<u32> {
        self.log_version
    }

    /// The manifest's own file, if some statement names it.
    #[must_use]
    pub fn manifest_file(&self) -> Option<FileId> {
        self.manifest_file
    }

    /// The manifest's path, canonical.
    #[must_use]
    pub fn manifest_path(&self) -> Vec<u8> {
        self.options.manifest_path()
    }

    /// Every manifest file that was read, in order.
    pub fn sources(&self) -> impl Iterator<Item = &[u8]> {
        let manifests = self.sources.iter().filter(|source| source.kind == SourceKind::Manifest);
        manifests.map(|source| source.path.as_slice())
    }

    /// Oddities that did not keep the build from being judged.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether some statement of the manifest names `file`; otherwise only logs and depfiles do.
    #[must_use]
    pub fn is_named(&self, file: FileId) -> bool {
        file.index() < self.n_named_files
    }

    /// The command line of a target, as ninja would run it; empty for a phony one.
    ///
    /// # Errors
    /// When the rule's variables expand to each other without end, or the rules were not loaded.
    pub fn command(&self, target: TargetId) -> Result<Vec<u8>, Error> {
        self.binding(target, Symbol::COMMAND, true)
    }

    /// The name of a target's rule; empty while the rules were not loaded.
    #[must_use]
    pub fn rule_name(&self, target: TargetId) -> &[u8] {
        self.rules.as_ref().map_or(b"", |rules| rules.rule_name(target))
    }

    pub(crate) fn binding(&self, target: TargetId, symbol: Symbol, escape: bool) -> Result<Vec<u8>, Error> {
        let Some(rules) = &self.rules else {
            return Err(Error::Refused("the rules of the manifest were not loaded".into()));
        };
        rules.binding(&self.graph, target, symbol, escape, self.version == NinjaVersion::V1_11)
    }

    // ---- answers ------------------------------------------------------------------------------------

    /// Asks the disk about everything that was described, each file once. Where depfiles changed since an image was
    /// made of them, they are read, and then what they name is asked for.
    #[must_use]
    pub fn collect(&mut self, disk: &dyn Disk) -> Snapshot {
        if self.is_kept() {
            return self.collect_kept(disk);
        }
        let plan = Plan::new(&self.graph.files, self.wanted.iter().copied());
        let mut snapshot = collect(disk, &plan, self.options.threads);
        confirm(disk, &self.graph, &self.history, &mut snapshot, self.options.threads);
        snapshot
    }

    /// Judges the target that makes `output` by whether files came or went, whatever ninja's rules say: for one that ninja
    /// runs every time so that it finds that out itself. To be called after [`Build::collect`]. Whether there is such a
    /// target.
    ///
    /// Decisions about such a build are not for images: nobody could tell later whether what was given still holds.
    pub fn give(&mut self, output: &[u8], added: &[Vec<u8>], removed: &[Vec<u8>]) -> bool {
        let Some(output) = self.graph.files.lookup(output) else { return false };
        let Some(target) = self.graph.producer(output) else { return false };
        let mut files = |paths: &[Vec<u8>]| paths.iter().map(|path| self.graph.files.intern(path)).collect();
        let (added, removed): (Box<[_]>, Box<[_]>) = (files(added), files(removed));
        let differs = !added.is_empty() || !removed.is_empty();
        let reason = differs.then_some(Reason::InputsDiffer { output, added, removed });
        self.history.set_rule(target, Rule::Given { changes: true });
        self.history.set_success(target, reason, [], []);
        self.has_given = true;
        true
    }

    /// Judges the requests, and the manifest's own target last. What stands in the way of one answer does not
    /// stand in the way of the others.
    ///
    /// # Errors
    /// When targets depend on each other, or when a request names a source that is not to be had: it has no target
    /// that could be stale for it.
    pub fn decide<'a>(&'a self, snapshot: &'a Snapshot, requests: &[FileId]) -> Result<Decision<'a>, Error> {
        let before = self.before(requests).filter(|_| !self.has_given);
        self.decide_after(snapshot, requests, before)
    }

    /// The same, where an earlier decision about these requests and the files with another status since are known.
    pub(crate) fn decide_after<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        requests: &[FileId],
        before: Option<(&Settled, &[FileId])>,
    ) -> Result<Decision<'a>, Error> {
        let resumed = before.and_then(|(before, changed)| {
            Decision::resume(&self.graph, &self.history, snapshot, before, changed)
        });
        let decision = match resumed {
            Some(decision) => decision,
            None => {
                let mut decision = Decision::new(&self.graph, &self.history, snapshot, Mode::LookPast);
                let all: Vec<_> = requests.iter().copied().chain(self.manifest_file).collect();
                decision.judge_all(&all).map_err(|stop| self.explain_stop(&stop))?;
                decision
            }
        };
        self.refuse_missing(&decision, snapshot, requests)?;
        Ok(decision)
    }

    /// Says no to requests for sources that are not to be had.
    pub(crate) fn refuse_missing(
        &self,
        decision: &Decision<'_>,
        snapshot: &Snapshot,
        requests: &[FileId],
    ) -> Result<(), Error> {
        for &file in requests {
            if decision.producer(file).is_some() || !decision.is_dirty(file) {
                continue;
            }
            if let Stat::Unreadable(errno) = snapshot.stat(file) {
                return Err(self.explain_stop(&Stop::Unreadable { path: file, errno }));
            }
            let shown = String::from_utf8_lossy(self.graph.files.path(file));
            return Err(Error::Refused(format!("'{shown}' missing and no known rule to make it")));
        }
        Ok(())
    }

    /// Sums up a decision. Where the manifest's own target is stale, its first reason says so: everything else was
    /// judged by the manifest that is there now.
    #[must_use]
    pub fn report(&self, decision: &Decision<'_>) -> Report {
        let mut report = Report::new(decision, &self.graph, |_| true);
        self.mark_manifest(&mut report);
        report
    }

    /// The answer in short.
    #[must_use]
    pub fn summary(&self, snapshot: &Snapshot, report: &Report) -> Summary {
        self.summary_of(snapshot, snapshot.n_files(), report)
    }

    /// The same where somebody has counted the files of the snapshot already.
    pub(crate) fn summary_of(&self, snapshot: &Snapshot, n_files: usize, report: &Report) -> Summary {
        Summary {
            n_targets: report.n_targets,
            n_files,
            counts: snapshot.counts(),
            snapshot: (snapshot.began(), snapshot.ended()),
            version: self.version,
            log_version: self.log_version,
            warnings: self.warnings.clone(),
        }
    }

    /// Whether what is known comes from an image.
    #[must_use]
    pub fn is_from_image(&self) -> bool {
        self.is_kept()
    }

    pub(crate) fn mark_manifest(&self, report: &mut Report) {
        let Some(manifest) = self.manifest_file else { return };
        let producer = self.graph.producer(manifest);
        if let Some(stale) = report.stale.iter_mut().find(|stale| Some(stale.target) == producer) {
            stale.reasons.insert(0, Reason::ManifestStale { manifest });
        }
    }

    /// What ninja would say about what stopped a walk.
    pub(crate) fn explain_stop(&self, stop: &Stop) -> Error {
        let shown = |file: FileId| String::from_utf8_lossy(self.graph.files.path(file)).into_owned();
        Error::Refused(match stop {
            Stop::Cycle(files) => {
                let names: Vec<_> = files.iter().map(|&file| shown(file)).collect();
                format!("dependency cycle: {}", names.join(" -> "))
            }
            Stop::Unreadable { path, errno } => {
                let cause = os_message(&std::io::Error::from_raw_os_error(*errno));
                format!("stat({}): {cause}", shown(*path))
            }
            Stop::Broken(message) => message.to_string(),
            _ => String::new(),
        })
    }
}

pub(crate) fn dyndep_files(graph: &Graph) -> HashSet<FileId> {
    graph.targets().filter_map(|target| graph.dyndep(target)).collect()
}
