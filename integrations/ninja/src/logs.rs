//! The two logs of a build directory, and what they say about its targets.

use crate::build::Build;
use crate::build::Options;
use crate::build_log::{self, Entries};
use crate::deps_log::{Appended, DepsLog};
use crate::error::Error;
use crate::manifest::Manifest;
use crate::source::{Source, SourceKind, Stamp};
use crate::version::NinjaVersion;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::OnceLock;
use upcheck::collect::Disk;
use upcheck::{Column, Discovered, FileId, Graph, History, Record, TargetId, Unknown};

const NOT_IN_DEPS_LOG: u32 = u32::MAX;

/// What is kept of the logs beside the history.
#[derive(Default)]
pub(crate) struct LogTables {
    /// Log entries about paths that nothing names so far.
    pub(crate) stray_records: HashMap<Box<[u8]>, Record>,
    /// The file of each path in the deps log.
    pub(crate) deps_files: Column<FileId>,
    /// The whole deps log, if it was read as a whole.
    pub(crate) deps_log: Option<DepsLog>,
    /// Targets whose discovered inputs were set by what was appended to the deps log.
    pub(crate) relearnt: Vec<TargetId>,
    /// Indexed by file: its number in the deps log, or `NOT_IN_DEPS_LOG`.
    numbers: OnceLock<Vec<u32>>,
}

impl LogTables {
    pub(crate) fn new(stray_records: HashMap<Box<[u8]>, Record>, deps_files: Column<FileId>) -> Self {
        Self { stray_records, deps_files, ..Self::default() }
    }

    /// The number of a file in the deps log.
    pub(crate) fn deps_number(&self, file: FileId) -> Option<usize> {
        let numbers = self.numbers.get_or_init(|| {
            let n_files = self.deps_files.iter().map(|file| file.index() + 1).max().unwrap_or(0);
            let mut numbers = vec![NOT_IN_DEPS_LOG; n_files];
            for (number, file) in (0u32..).zip(&*self.deps_files) {
                numbers[file.index()] = number;
            }
            numbers
        });
        let number = *numbers.get(file.index())?;
        (number != NOT_IN_DEPS_LOG).then_some(number as usize)
    }

    /// Puts what the deps log says that a target has discovered into the history.
    pub(crate) fn tell_discovered(&self, graph: &Graph, target: TargetId, history: &mut History) {
        let output = graph.outputs(target).first();
        let number = output.and_then(|&output| self.deps_number(output));
        match self.deps_log.as_ref().zip(number).and_then(|(log, number)| log.record(number)) {
            Some((mtime, inputs)) => self.set_inputs(target, mtime, inputs, history),
            None => history.set_discovered_unknown(target, Unknown::NotRecorded),
        }
    }

    /// Sets what a record of the deps log says. A damaged log can name a path that is not in it.
    fn set_inputs(
        &self,
        target: TargetId,
        mtime: i64,
        inputs: impl Iterator<Item = usize> + Clone,
        history: &mut History,
    ) {
        let files = &*self.deps_files;
        if inputs.clone().all(|number| number < files.len()) {
            history.set_discovered_inputs(target, inputs.map(|number| files[number]), Some(mtime));
        } else {
            history.set_discovered_unknown(target, Unknown::NotRecorded);
        }
    }
}

impl Build {
    // ---- the logs -----------------------------------------------------------------------------------

    pub(crate) fn take_log(&mut self, bytes: &[u8]) {
        let Some(log_version) = self.log_version else { return };
        if !self.version.accepts_log(log_version) {
            let version = self.version;
            self.warnings.push(format!(
                "the build log has version {log_version}; ninja {version} would throw it away and start over"
            ));
            return;
        }
        self.take_entries(build_log::entries(bytes));
    }

    fn take_entries(&mut self, entries: Entries<'_>) {
        for (output, record) in entries {
            match self.graph.files.lookup(output) {
                Some(file) => self.history.set_record(file, record),
                None => {
                    self.logs.stray_records.insert(output.into(), record);
                }
            }
        }
    }

    pub(crate) fn take_deps_log(&mut self, log: Option<DepsLog>) {
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
            self.warnings.push(damage(offset as u64));
        }
        let files = &mut self.graph.files;
        self.logs.deps_files = log.paths().map(|path| files.intern(path)).collect::<Vec<_>>().into();
        self.logs.deps_log = Some(log);
    }

    // ---- what was appended --------------------------------------------------------------------------

    /// Reads what was appended to the logs since the image was made, and puts it into the tables. `None` where only
    /// the whole logs tell what it means. How many bytes it was.
    pub(crate) fn take_tails(&mut self, disk: &dyn Disk, tails: &[(usize, Stamp)]) -> Option<u64> {
        let mut total = 0;
        for &(source, stamp) in tails {
            let Source { kind, path, length, .. } = self.sources[source].clone();
            let (bytes, read) = disk.read_tail(&path, length).ok()?;
            // Written to again since it was looked at: the next check will tell.
            if Stamp::of(read) != stamp {
                return None;
            }
            let taken = match kind {
                SourceKind::BuildLog => self.take_log_tail(&bytes),
                _ => self.take_deps_tail(&bytes, length)?,
            };
            self.sources[source].length += taken as u64;
            self.sources[source].stamp = stamp;
            total += taken as u64;
        }
        Some(total)
    }

    fn take_log_tail(&mut self, bytes: &[u8]) -> usize {
        let lines = build_log::whole_lines(bytes);
        self.take_entries(Entries::from(lines, self.log_version.unwrap_or(0)));
        lines.len()
    }

    fn take_deps_tail(&mut self, bytes: &[u8], offset: u64) -> Option<usize> {
        let known = |path: &[u8]| {
            let file = self.graph.files.lookup(path);
            file.is_some_and(|file| self.logs.deps_number(file).is_some())
        };
        let appended = Appended::read(bytes, self.version, self.logs.deps_files.len(), known)?;
        for path in &appended.paths {
            let file = self.graph.files.intern(path);
            self.logs.deps_files.to_mut().push(file);
        }
        self.logs.numbers = OnceLock::new();
        for (output, mtime, inputs) in appended.records {
            let output = self.logs.deps_files[output];
            let Some(target) = self.graph.producer(output) else { continue };
            if self.graph.outputs(target).first() == Some(&output) && self.learns_from_log(target) {
                self.logs.set_inputs(target, mtime, inputs.into_iter(), &mut self.history);
                self.logs.relearnt.push(target);
            }
        }
        let is_warning_of_damage = |warning: &String| warning.starts_with(DAMAGED);
        self.warnings.retain(|warning| !is_warning_of_damage(warning));
        if let Some(at) = appended.damaged_at {
            self.warnings.push(damage(offset + at as u64));
        }
        Some(appended.length)
    }

    fn learns_from_log(&self, target: TargetId) -> bool {
        matches!(
            self.history.discovered(target),
            Discovered::Inputs { recorded: Some(_) } | Discovered::Unknown(Unknown::NotRecorded)
        )
    }
}

const DAMAGED: &str = "the deps log is damaged";

fn damage(offset: u64) -> String {
    format!("{DAMAGED} at byte {offset}; what follows is not believed")
}

/// Both logs, as far as they can be read without the manifest.
pub(crate) struct Logs {
    pub(crate) log: Option<Vec<u8>>,
    pub(crate) log_version: Option<u32>,
    pub(crate) version: NinjaVersion,
    pub(crate) deps: Option<DepsLog>,
    pub(crate) sources: [Source; 2],
}

impl Logs {
    pub(crate) fn read(disk: &dyn Disk, builddir: &[u8], told: Option<NinjaVersion>) -> Result<Self, Error> {
        let path = |name: &[u8]| match builddir {
            b"" => name.to_vec(),
            _ => [builddir, b"/", name].concat(),
        };
        let mut log_source = Source::missing(SourceKind::BuildLog, &path(b".ninja_log"));
        let mut deps_source = Source::missing(SourceKind::DepsLog, &path(b".ninja_deps"));
        let log = read_if_there(disk, "loading build log", &mut log_source)?;
        let deps = read_if_there(disk, "loading deps log", &mut deps_source)?;
        let log_version = log.as_deref().and_then(build_log::log_version);
        let found = NinjaVersion::from_log_version(log_version.unwrap_or(u32::MAX));
        let version = told.unwrap_or(found);
        if let Some(log) = &log {
            let can_grow = log_version.is_some_and(|log_version| version.accepts_log(log_version));
            log_source.understood(if can_grow { build_log::whole_lines(log) } else { log }, can_grow);
        }
        let deps = deps.map(|bytes| DepsLog::read(bytes, version));
        if let Some(deps) = &deps {
            deps_source.understood(deps.understood(), deps.can_be_resumed());
        }
        Ok(Self { log, log_version, version, deps, sources: [log_source, deps_source] })
    }
}

/// Reads the manifest, and meanwhile, where there are threads to spare, the logs from where they usually are. Only
/// the manifest can say that they are elsewhere.
pub(crate) fn load_both(
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

fn read_if_there(
    disk: &dyn Disk,
    operation: &'static str,
    source: &mut Source,
) -> Result<Option<Vec<u8>>, Error> {
    match disk.read_stamped(&source.path) {
        Ok((bytes, stamp)) => {
            source.stamp = Stamp::of(stamp);
            Ok(Some(bytes))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Error::Read { operation, path: source.path.clone(), cause }),
    }
}
