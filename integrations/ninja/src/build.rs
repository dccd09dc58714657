//! A ninja build directory: its manifest and its logs, read once, and what a question about it needs.

use crate::build_log;
use crate::depfile;
use crate::deps_log::DepsLog;
use crate::dyndep;
use crate::error::{Error, os_message};
use crate::manifest::Manifest;
use crate::scope::Symbol;
use crate::version::NinjaVersion;
use std::collections::HashMap;
use std::io::ErrorKind;
use upcheck::collect::{Disk, collect};
use upcheck::{
    Decision, Dyndep, FileId, Flags, Graph, History, Mode, Plan, Reason, Record, Report, Snapshot, Stat,
    Stop, TargetId, Unknown, path,
};

/// What to read, and by whose rules.
#[derive(Clone, Debug)]
pub struct Options {
    /// The manifest, relative to the build directory.
    pub manifest: Vec<u8>,
    /// Whose rules hold; `None`: those of the ninja whose log is found.
    pub version: Option<NinjaVersion>,
    /// The most threads to use; 0 for one per core, and more for looking at files where the disk is slow.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { manifest: b"build.ninja".to_vec(), version: None, threads: 0 }
    }
}

/// A build directory whose manifest and logs were read.
pub struct Build {
    pub(crate) manifest: Manifest,
    pub(crate) history: History,
    manifest_file: Option<FileId>,
    manifest_path: Vec<u8>,
    version: NinjaVersion,
    log_version: Option<u32>,
    pub(crate) deps_log: DepsLog,
    /// The file of each path in the deps log.
    pub(crate) deps_files: Vec<FileId>,
    /// Indexed by file: its number in the deps log, or `NOT_IN_DEPS_LOG`.
    deps_numbers: Vec<u32>,
    /// The targets that dyndep files name as producers.
    dyndep_producers: HashMap<FileId, TargetId>,
    /// Log entries about paths that nothing names so far.
    stray_records: HashMap<Box<[u8]>, Record>,
    /// Files that can be asked for by name.
    pub(crate) n_known_files: usize,
    /// Indexed by target: whether it was described.
    described: Vec<bool>,
    /// Files that a question asked so far needs.
    wanted: Vec<FileId>,
    is_wanted: Vec<bool>,
    warnings: Vec<String>,
    threads: usize,
    /// What the options say of it, for collecting: 0 lets it decide.
    threads_asked: usize,
}

const NOT_IN_DEPS_LOG: u32 = u32::MAX;

/// What is known of one target beyond its place in the graph, found without touching shared tables.
struct Details {
    flags: Flags,
    hash: Option<u64>,
    deps: Deps,
}

enum Deps {
    Untracked,
    FromLog,
    Unknown(Unknown),
    /// Canonical paths.
    Inputs(Vec<Vec<u8>>),
}

impl Build {
    /// Reads the manifest and the logs of the build directory at the disk's base, and describes what the manifest's
    /// own target needs. Nothing else is read, and nothing is written.
    ///
    /// # Errors
    /// When the manifest cannot be read or has a syntax error, or a log exists but cannot be read. A damaged
    /// log is no error: what it no longer says is stale.
    pub fn load(disk: &dyn Disk, options: &Options) -> Result<Self, Error> {
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, Into::into),
            given => given,
        };
        let (manifest, early) = load_both(disk, options, threads);
        let mut manifest = manifest?;
        let builddir = manifest.variable("builddir");
        let Logs { log, log_version, version, deps } = match early {
            Some(logs) if builddir.is_empty() => logs?,
            _ => Logs::read(disk, &builddir, options.version)?,
        };
        let mut manifest_path = options.manifest.clone();
        path::canonicalize(&mut manifest_path);
        let mut build = Self {
            manifest_file: manifest.graph.files.lookup(&manifest_path),
            warnings: std::mem::take(&mut manifest.warnings),
            manifest,
            history: History::default(),
            manifest_path,
            version,
            log_version,
            deps_log: DepsLog::default(),
            deps_files: Vec::new(),
            deps_numbers: Vec::new(),
            dyndep_producers: HashMap::new(),
            stray_records: HashMap::new(),
            n_known_files: 0,
            described: Vec::new(),
            wanted: Vec::new(),
            is_wanted: Vec::new(),
            threads,
            threads_asked: options.threads,
        };
        build.take_log(&log.unwrap_or_default());
        build.take_deps_log(deps);
        // Ninja brings its manifest up to date before it looks for what it was asked about, and knows by then what
        // the depfiles on the way there name.
        build.describe(disk, &[])?;
        build.n_known_files = build.manifest.graph.files.len();
        Ok(build)
    }

    /// The graph that the manifest describes.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.manifest.graph
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
    pub fn manifest_path(&self) -> &[u8] {
        &self.manifest_path
    }

    /// Every manifest file that was read, in order.
    pub fn sources(&self) -> impl Iterator<Item = &[u8]> {
        self.manifest.sources.iter().map(Vec::as_slice)
    }

    /// Oddities that did not keep the build from being judged.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether some statement of the manifest names `file`; otherwise only logs and depfiles do.
    #[must_use]
    pub fn is_named(&self, file: FileId) -> bool {
        file.index() < self.manifest.n_named_files
    }

    /// The command line of a target, as ninja would run it; empty for a phony one.
    ///
    /// # Errors
    /// When the rule's variables expand to each other without end.
    pub fn command(&self, target: TargetId) -> Result<Vec<u8>, Error> {
        self.binding(target, Symbol::COMMAND, true)
    }

    /// The name of a target's rule.
    #[must_use]
    pub fn rule_name(&self, target: TargetId) -> &[u8] {
        self.manifest.rule_name(target)
    }

    pub(crate) fn binding(&self, target: TargetId, symbol: Symbol, escape: bool) -> Result<Vec<u8>, Error> {
        self.manifest.binding(target, symbol, escape, self.version == NinjaVersion::V1_11)
    }

    // ---- the logs -----------------------------------------------------------------------------------

    fn take_log(&mut self, bytes: &[u8]) {
        let Some(log_version) = self.log_version else { return };
        if !self.version.accepts_log(log_version) {
            let version = self.version;
            self.warnings.push(format!(
                "the build log has version {log_version}; ninja {version} would throw it away and start over"
            ));
            return;
        }
        let files = &self.manifest.graph.files;
        for (output, record) in build_log::entries(bytes) {
            match files.lookup(output) {
                Some(file) => self.history.set_record(file, record),
                None => {
                    self.stray_records.insert(output.into(), record);
                }
            }
        }
    }

    fn take_deps_log(&mut self, log: Option<DepsLog>) {
        let Some(log) = log else { return };
        if log.version() != Some(4) {
            self.warnings.push(match log.version() {
                Some(version) => {
                    format!("the deps log has version {version}, not 4; ninja would throw it away")
                }
                None => "the deps log has no proper header; ninja would throw it away".into(),
            });
            return;
        }
        if let Some(offset) = log.damaged_at() {
            self.warnings
                .push(format!("the deps log is damaged at byte {offset}; what follows is not believed"));
        }
        let files = &mut self.manifest.graph.files;
        self.deps_files = log.paths().map(|path| files.intern(path)).collect();
        self.deps_numbers.resize(files.len(), NOT_IN_DEPS_LOG);
        for (number, &file) in (0u32..).zip(&self.deps_files) {
            self.deps_numbers[file.index()] = number;
        }
        self.deps_log = log;
    }

    /// The number of a file in the deps log.
    pub(crate) fn deps_number(&self, file: FileId) -> Option<usize> {
        let number = *self.deps_numbers.get(file.index())?;
        (number != NOT_IN_DEPS_LOG).then_some(number as usize)
    }

    // ---- description --------------------------------------------------------------------------------

    /// Finds out all that the requests, and the manifest itself, need: command hashes, discovered inputs, dyndep files. Reads depfiles and
    /// dyndep files, in parallel; what was described before costs nothing.
    ///
    /// # Errors
    /// When a rule's variables expand to each other without end.
    pub fn describe(&mut self, disk: &dyn Disk, requests: &[FileId]) -> Result<(), Error> {
        self.described.resize(self.graph().n_targets(), false);
        let mut reach: Vec<FileId> = requests.iter().copied().chain(self.manifest_file).collect();
        while !reach.is_empty() {
            let wave = self.close_over(&mut reach, disk);
            for (target, details) in self.details(disk, &wave)? {
                self.adopt(target, details, &mut reach);
            }
        }
        Ok(())
    }

    /// Follows the manifest's own edges from `reach`, which it empties. The targets met for the first time.
    fn close_over(&mut self, reach: &mut Vec<FileId>, disk: &dyn Disk) -> Vec<TargetId> {
        let mut wave = Vec::new();
        while let Some(file) = reach.pop() {
            self.want(file);
            let by_manifest = self.manifest.graph.producer(file);
            let producer = by_manifest.or_else(|| self.dyndep_producers.get(&file).copied());
            let Some(target) = producer else { continue };
            if std::mem::replace(&mut self.described[target.index()], true) {
                continue;
            }
            wave.push(target);
            for &output in self.manifest.graph.outputs(target) {
                want(&mut self.is_wanted, &mut self.wanted, output);
            }
            reach.extend_from_slice(self.manifest.graph.ordering_inputs(target));
            reach.extend_from_slice(self.manifest.graph.validations(target));
            if let Some(dyndep) = self.manifest.graph.dyndep(target) {
                self.load_dyndep(disk, dyndep, reach);
                if let Some(Dyndep::Loaded(entries)) = self.history.dyndep(dyndep)
                    && let Some(entry) = entries.iter().find(|entry| entry.target == target)
                {
                    reach.extend_from_slice(&entry.inputs);
                    reach.extend_from_slice(&entry.outputs);
                }
            }
        }
        wave
    }

    fn want(&mut self, file: FileId) {
        want(&mut self.is_wanted, &mut self.wanted, file);
    }

    fn load_dyndep(&mut self, disk: &dyn Disk, file: FileId, reach: &mut Vec<FileId>) {
        if self.history.dyndep(file).is_some() {
            return;
        }
        let file_path = self.graph().files.path(file).to_vec();
        let dyndep = match disk.read(&file_path) {
            Ok(text) => match dyndep::parse(&mut self.manifest.graph, file, &text) {
                Ok(entries) => Dyndep::Loaded(entries),
                Err(message) => Dyndep::Broken(message.into()),
            },
            Err(error) => {
                let shown = String::from_utf8_lossy(&file_path);
                Dyndep::Broken(format!("loading '{shown}': {}", os_message(&error)).into())
            }
        };
        if let Dyndep::Loaded(entries) = &dyndep {
            for entry in entries {
                for &output in &entry.outputs {
                    self.dyndep_producers.entry(output).or_insert(entry.target);
                    // Whoever took it for a source needs that target too.
                    if self.is_wanted.get(output.index()) == Some(&true) {
                        reach.push(output);
                    }
                    let output_path = self.manifest.graph.files.path(output);
                    if let Some(record) = self.stray_records.get(output_path) {
                        self.history.set_record(output, *record);
                    }
                }
            }
        }
        self.history.set_dyndep(file, dyndep);
    }

    /// Looks into targets, spread over threads.
    fn details(&self, disk: &dyn Disk, wave: &[TargetId]) -> Result<Vec<(TargetId, Details)>, Error> {
        /// Below this a thread costs more than it saves.
        const TARGETS_PER_THREAD: usize = 500;
        let n_threads = self.threads.min(wave.len() / TARGETS_PER_THREAD + 1);
        let share = wave.len().div_ceil(n_threads).max(1);
        let look = |targets: &[TargetId]| -> Result<Vec<_>, Error> {
            targets.iter().map(|&target| Ok((target, self.detail(disk, target)?))).collect()
        };
        if n_threads == 1 {
            return look(wave);
        }
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                wave.chunks(share).map(|targets| scope.spawn(move || look(targets))).collect();
            let mut all = Vec::with_capacity(wave.len());
            for worker in workers {
                match worker.join() {
                    Ok(found) => all.append(&mut found?),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok(all)
        })
    }

    fn detail(&self, disk: &dyn Disk, target: TargetId) -> Result<Details, Error> {
        let is_set = |symbol| Ok::<_, Error>(!self.binding(target, symbol, true)?.is_empty());
        // In ninja's order, so that of two broken bindings the same one is named.
        let deps = if is_set(Symbol::DEPS)? {
            Deps::FromLog
        } else {
            let depfile = self.binding(target, Symbol::DEPFILE, false)?;
            if depfile.is_empty() { Deps::Untracked } else { self.read_depfile(disk, target, depfile) }
        };
        let phony = self.graph().flags(target).phony;
        let flags = Flags { phony, restat: is_set(Symbol::RESTAT)?, generator: is_set(Symbol::GENERATOR)? };
        let hash = match phony || flags.generator {
            true => None,
            false => Some(self.version.hash_command(&self.command_with_rspfile(target)?)),
        };
        Ok(Details { flags, hash, deps })
    }

    /// What the command's hash is taken of.
    fn command_with_rspfile(&self, target: TargetId) -> Result<Vec<u8>, Error> {
        let mut command = self.command(target)?;
        let content = self.binding(target, Symbol::RSPFILE_CONTENT, true)?;
        if !content.is_empty() {
            command.extend_from_slice(b";rspfile=");
            command.extend_from_slice(&content);
        }
        Ok(command)
    }

    fn read_depfile(&self, disk: &dyn Disk, target: TargetId, depfile: Vec<u8>) -> Deps {
        let broken = |message: String| Deps::Unknown(Unknown::Broken { message: message.into() });
        let shown = String::from_utf8_lossy(&depfile);
        let bytes = match disk.read(&depfile) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return broken(format!("loading '{shown}': {}", os_message(&error))),
        };
        if bytes.is_empty() {
            return Deps::Unknown(Unknown::NoDepfile { depfile: depfile.into() });
        }
        let mut parsed = match depfile::parse(&bytes, self.version) {
            Ok(parsed) => parsed,
            Err(message) => return broken(format!("{shown}: {message}")),
        };
        let Some(first) = parsed.outputs.first_mut() else {
            return broken(format!("{shown}: no outputs declared"));
        };
        path::canonicalize(first);
        if first != self.graph().name(target) {
            let names = std::mem::take(first).into();
            return Deps::Unknown(Unknown::OtherOutput { depfile: depfile.into(), names });
        }
        let outputs = self.graph().outputs(target);
        let is_output = |name: &Vec<u8>| outputs.iter().any(|&file| self.graph().files.path(file) == name);
        if let Some(other) = parsed.outputs.iter().find(|name| !is_output(name)) {
            return broken(format!(
                "{shown}: depfile mentions '{}' as an output, but no such output was declared",
                String::from_utf8_lossy(other)
            ));
        }
        for input in &mut parsed.inputs {
            path::canonicalize(input);
        }
        Deps::Inputs(parsed.inputs)
    }

    /// Puts what was found out about a target into the tables. What it discovered is reached from now on.
    fn adopt(&mut self, target: TargetId, details: Details, reach: &mut Vec<FileId>) {
        self.manifest.graph.set_flags(target, details.flags);
        if let Some(hash) = details.hash {
            self.history.set_command_hash(target, hash);
        }
        match details.deps {
            Deps::Untracked => return,
            Deps::Unknown(why) => self.history.set_discovered_unknown(target, why),
            Deps::Inputs(paths) => {
                let files = &mut self.manifest.graph.files;
                let inputs = paths.iter().map(|path| files.intern(path));
                self.history.set_discovered_inputs(target, inputs, None);
            }
            Deps::FromLog => {
                let output = self.manifest.graph.outputs(target).first();
                let number = output.and_then(|&output| self.deps_number(output));
                let record = number.and_then(|number| self.deps_log.record(number));
                // A damaged log can name a path that is not in it.
                match record.filter(|(_, inputs)| inputs.clone().all(|number| number < self.deps_files.len()))
                {
                    Some((mtime, inputs)) => {
                        let inputs = inputs.map(|number| self.deps_files[number]);
                        self.history.set_discovered_inputs(target, inputs, Some(mtime));
                    }
                    None => self.history.set_discovered_unknown(target, Unknown::NotRecorded),
                }
            }
        }
        for &input in self.history.discovered_inputs(target) {
            if want(&mut self.is_wanted, &mut self.wanted, input) {
                reach.push(input);
            }
        }
    }

    // ---- answers ------------------------------------------------------------------------------------

    /// Asks the disk about everything that was described, each file once.
    #[must_use]
    pub fn collect(&self, disk: &dyn Disk) -> Snapshot {
        let plan = Plan::new(&self.graph().files, self.wanted.iter().copied());
        collect(disk, &plan, self.threads_asked)
    }

    /// Judges the requests, and the manifest's own target last. What stands in the way of one answer does not
    /// stand in the way of the others.
    ///
    /// # Errors
    /// When targets depend on each other, or when a request names a source that is not to be had: it has no target
    /// that could be stale for it.
    pub fn decide<'a>(&'a self, snapshot: &'a Snapshot, requests: &[FileId]) -> Result<Decision<'a>, Error> {
        let mut decision = Decision::new(self.graph(), &self.history, snapshot, Mode::LookPast);
        let all: Vec<_> = requests.iter().copied().chain(self.manifest_file).collect();
        decision.judge_all(&all).map_err(|stop| self.explain_stop(&stop))?;
        for &file in requests {
            if decision.producer(file).is_some() || !decision.is_dirty(file) {
                continue;
            }
            if let Stat::Unreadable(errno) = snapshot.stat(file) {
                return Err(self.explain_stop(&Stop::Unreadable { path: file, errno }));
            }
            let shown = String::from_utf8_lossy(self.graph().files.path(file));
            return Err(Error::Refused(format!("'{shown}' missing and no known rule to make it")));
        }
        Ok(decision)
    }

    /// Sums up a decision. Where the manifest's own target is stale, its first reason says so: everything else was
    /// judged by the manifest that is there now.
    #[must_use]
    pub fn report(&self, decision: &Decision<'_>) -> Report {
        let mut report = Report::new(decision, self.graph(), |_| true);
        self.mark_manifest(&mut report);
        report
    }

    pub(crate) fn mark_manifest(&self, report: &mut Report) {
        let Some(manifest) = self.manifest_file else { return };
        let producer = self.graph().producer(manifest);
        if let Some(stale) = report.stale.iter_mut().find(|stale| Some(stale.target) == producer) {
            stale.reasons.insert(0, Reason::ManifestStale { manifest });
        }
    }

    /// What ninja would say about what stopped a walk.
    pub(crate) fn explain_stop(&self, stop: &Stop) -> Error {
        let shown = |file: FileId| String::from_utf8_lossy(self.graph().files.path(file)).into_owned();
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

/// Both logs, as far as they can be read without the manifest.
struct Logs {
    log: Option<Vec<u8>>,
    log_version: Option<u32>,
    version: NinjaVersion,
    deps: Option<DepsLog>,
}

impl Logs {
    fn read(disk: &dyn Disk, builddir: &[u8], told: Option<NinjaVersion>) -> Result<Self, Error> {
        let path = |name: &[u8]| match builddir {
            b"" => name.to_vec(),
            _ => [builddir, b"/", name].concat(),
        };
        let log = read_if_there(disk, "loading build log", &path(b".ninja_log"))?;
        let deps = read_if_there(disk, "loading deps log", &path(b".ninja_deps"))?;
        let log_version = log.as_deref().and_then(build_log::log_version);
        let found = NinjaVersion::from_log_version(log_version.unwrap_or(u32::MAX));
        let version = told.unwrap_or(found);
        Ok(Self { log, log_version, version, deps: deps.map(|bytes| DepsLog::read(bytes, version)) })
    }
}

/// Reads the manifest, and meanwhile, where there are threads to spare, the logs from where they usually are. Only
/// the manifest can say that they are elsewhere.
fn load_both(
    disk: &dyn Disk,
    options: &Options,
    threads: usize,
) -> (Result<Manifest, Error>, Option<Result<Logs, Error>>) {
    let manifest = || Manifest::load(disk, &options.manifest, options.version);
    if threads < 2 {
        return (manifest(), None);
    }
    std::thread::scope(|scope| {
        let logs = scope.spawn(|| Logs::read(disk, b"", options.version));
        let manifest = manifest();
        match logs.join() {
            Ok(logs) => (manifest, Some(logs)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Whether the file was not wanted before.
fn want(is_wanted: &mut Vec<bool>, wanted: &mut Vec<FileId>, file: FileId) -> bool {
    if is_wanted.len() <= file.index() {
        is_wanted.resize((file.index() + 1).next_power_of_two(), false);
    }
    let first = !std::mem::replace(&mut is_wanted[file.index()], true);
    if first {
        wanted.push(file);
    }
    first
}

fn read_if_there(
    disk: &dyn Disk,
    operation: &'static str,
    file_path: &[u8],
) -> Result<Option<Vec<u8>>, Error> {
    match disk.read(file_path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Error::Read { operation, path: file_path.to_vec(), cause }),
    }
}
