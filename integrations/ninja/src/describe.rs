//! What a question needs: command hashes, discovered inputs, dyndep files.

use crate::build::Build;
use crate::details::{Chunk, Context, Deps, Details, Look};
use crate::dyndep;
use crate::error::Error;
use crate::logs::LogTables;
use crate::source::{Source, SourceKind, Stamp};
use std::io::ErrorKind;
use upcheck::collect::Disk;
use upcheck::{Dyndep, FileId, FileTable, Flags, Graph, History, TargetId, os_message};

impl Build {
    // ---- description --------------------------------------------------------------------------------

    /// Finds out all that the requests, and the manifest itself, need: command hashes, discovered inputs, dyndep files. Reads depfiles and
    /// dyndep files, in parallel; what was described before costs nothing.
    ///
    /// # Errors
    /// When a rule's variables expand to each other without end.
    pub fn describe(&mut self, disk: &dyn Disk, requests: &[FileId]) -> Result<(), Error> {
        if self.is_kept() {
            self.describe_kept(disk, requests);
            return Ok(());
        }
        let reach = requests.iter().copied().chain(self.manifest_file).collect();
        self.describe_from(disk, reach)
    }

    /// Describes everything that is reached from these files.
    pub(crate) fn describe_from(&mut self, disk: &dyn Disk, mut reach: Vec<FileId>) -> Result<(), Error> {
        self.described.resize(self.graph.n_targets(), false);
        self.is_detailed.resize(self.graph.n_targets(), false);
        while !reach.is_empty() {
            let mut wave = self.close_over(&mut reach, disk);
            for &target in wave.iter().filter(|target| self.is_detailed[target.index()]) {
                want_discovered(&self.history, target, &mut self.is_wanted, &mut self.wanted, &mut reach);
            }
            wave.retain(|target| !self.is_detailed[target.index()]);
            let n_threads = self.options.n_threads();
            self.take_in(disk, &mut reach, |context, intake| {
                context.look_into(&wave, n_threads, |thread, chunk| intake.take(thread, chunk))
            })?;
        }
        Ok(())
    }

    /// Follows the manifest's own edges from `reach`, which it empties. The targets met for the first time.
    fn close_over(&mut self, reach: &mut Vec<FileId>, disk: &dyn Disk) -> Vec<TargetId> {
        let mut wave = Vec::new();
        while let Some(file) = reach.pop() {
            self.want(file);
            let by_manifest = self.graph.producer(file);
            let producer = by_manifest.or_else(|| self.dyndep_producers.get(&file).copied());
            let Some(target) = producer else { continue };
            if std::mem::replace(&mut self.described[target.index()], true) {
                continue;
            }
            wave.push(target);
            for at in 0..self.graph.outputs(target).len() {
                let output = self.graph.outputs(target)[at];
                self.want(output);
                // Ninja loads it as soon as it is made, whoever waits for it.
                if self.dyndep_files.contains(&output) {
                    self.load_dyndep(disk, output, reach);
                }
            }
            reach.extend_from_slice(self.graph.ordering_inputs(target));
            reach.extend_from_slice(self.graph.validations(target));
            if let Some(dyndep) = self.graph.dyndep(target) {
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

    pub(crate) fn want(&mut self, file: FileId) {
        want(&mut self.is_wanted, &mut self.wanted, file);
    }

    fn load_dyndep(&mut self, disk: &dyn Disk, file: FileId, reach: &mut Vec<FileId>) {
        if self.history.dyndep(file).is_some() {
            return;
        }
        let file_path = self.graph.files.path(file).to_vec();
        let mut source = Source::missing(SourceKind::Dyndep, &file_path);
        let dyndep = match disk.read_stamped(&file_path) {
            Ok((text, stamp)) => {
                source.stamp = Stamp::of(stamp);
                source.understood(&text, false);
                match dyndep::parse(&mut self.graph, file, &text) {
                    Ok(entries) => Dyndep::Loaded(entries),
                    Err(message) => Dyndep::Broken(message.into()),
                }
            }
            Err(error) => {
                if error.kind() != ErrorKind::NotFound {
                    source.stamp = Stamp::UNKNOWN;
                }
                let shown = String::from_utf8_lossy(&file_path);
                Dyndep::Broken(format!("loading '{shown}': {}", os_message(&error)).into())
            }
        };
        self.sources.push(source);
        self.take_dyndep(file, dyndep, reach);
    }

    /// Puts what a dyndep file says into the tables.
    pub(crate) fn take_dyndep(&mut self, file: FileId, dyndep: Dyndep, reach: &mut Vec<FileId>) {
        if let Dyndep::Loaded(entries) = &dyndep {
            for entry in entries {
                for &output in &entry.outputs {
                    self.dyndep_producers.entry(output).or_insert(entry.target);
                    // Whoever took it for a source needs that target too.
                    if self.is_wanted.get(output.index()) == Some(&true) {
                        reach.push(output);
                    }
                    let output_path = self.graph.files.path(output);
                    if let Some(record) = self.logs.stray_records.get(output_path) {
                        self.history.set_record(output, *record);
                    }
                }
            }
        }
        self.history.set_dyndep(file, dyndep);
    }

    /// Looks into targets, and puts what is found out into the tables. What they discovered is reached from now on.
    fn take_in<R>(
        &mut self,
        disk: &dyn Disk,
        reach: &mut Vec<FileId>,
        look: impl FnOnce(Context<'_>, &mut Intake<'_>) -> R,
    ) -> R {
        let context = Context { disk, graph: &self.graph, rules: self.rules.as_ref(), version: self.version };
        let mut intake = Intake {
            graph: &self.graph,
            logs: &self.logs,
            history: &mut self.history,
            depfiles: &mut self.depfiles,
            is_detailed: &mut self.is_detailed,
            is_wanted: &mut self.is_wanted,
            wanted: &mut self.wanted,
            reach,
            new_files: FileTable::default(),
            files_of_threads: Vec::new(),
            flags: Vec::new(),
        };
        let result = look(context, &mut intake);
        let Intake { new_files, flags, .. } = intake;
        for file in new_files.ids() {
            self.graph.files.intern(new_files.path(file));
        }
        for (target, flags) in flags {
            self.graph.set_flags(target, flags);
        }
        result
    }

    /// Reads the depfile of a target again. What it discovered is reached from now on.
    pub(crate) fn read_depfile_again(
        &mut self,
        disk: &dyn Disk,
        target: TargetId,
        depfile: FileId,
        reach: &mut Vec<FileId>,
    ) -> Stamp {
        let path = self.graph.files.path(depfile).to_vec();
        self.take_in(disk, reach, |context, intake| {
            let (chunk, stamp) = Look::new(context).depfile_alone(target, &path);
            intake.take(0, chunk);
            stamp
        })
    }

    /// Wants what a target discovered. What is new is reached.
    pub(crate) fn want_discovered(&mut self, target: TargetId, reach: &mut Vec<FileId>) {
        want_discovered(&self.history, target, &mut self.is_wanted, &mut self.wanted, reach);
    }

    /// Forgets what was asked so far, but not what was found out.
    pub(crate) fn forget_question(&mut self) {
        self.described.fill(false);
        self.is_wanted.fill(false);
        self.wanted.clear();
    }
}

/// The tables that take in what is found out, while the graph stays as it is: threads are looking at it.
struct Intake<'a> {
    graph: &'a Graph,
    logs: &'a LogTables,
    history: &'a mut History,
    depfiles: &'a mut Vec<(TargetId, Vec<u8>, Stamp)>,
    is_detailed: &'a mut Vec<bool>,
    is_wanted: &'a mut Vec<bool>,
    wanted: &'a mut Vec<FileId>,
    reach: &'a mut Vec<FileId>,
    /// The files that will follow those of the graph.
    new_files: FileTable,
    /// The files of each thread's new ones.
    files_of_threads: Vec<Vec<FileId>>,
    /// Where they are not those that the graph has.
    flags: Vec<(TargetId, Flags)>,
}

impl Intake<'_> {
    fn take(&mut self, thread: usize, chunk: Chunk) {
        let Chunk { details, inputs, new_files } = chunk;
        if self.files_of_threads.len() <= thread {
            self.files_of_threads.resize_with(thread + 1, Vec::new);
        }
        for path in new_files {
            let file = self.file(&path);
            self.files_of_threads[thread].push(file);
        }
        for Details { target, flags, hash, deps, depfile } in details {
            if self.graph.flags(target) != flags {
                self.flags.push((target, flags));
            }
            if let Some(hash) = hash {
                self.history.set_command_hash(target, hash);
            }
            if let Some((path, stamp)) = depfile {
                self.depfiles.push((target, path, stamp));
            }
            self.take_deps(target, deps, &inputs, thread);
            self.is_detailed[target.index()] = true;
            want_discovered(self.history, target, self.is_wanted, self.wanted, self.reach);
        }
    }

    fn take_deps(&mut self, target: TargetId, deps: Deps, inputs: &[u32], thread: usize) {
        match deps {
            Deps::Untracked => {}
            Deps::Unknown(why) => self.history.set_discovered_unknown(target, why),
            Deps::FromLog => self.logs.tell_discovered(self.graph, target, self.history),
            Deps::Inputs(range) => {
                let n_known = self.graph.files.len();
                let new_files = &self.files_of_threads[thread];
                let file = |number: &u32| {
                    let number = *number as usize;
                    number.checked_sub(n_known).map_or_else(|| FileId::new(number), |new| new_files[new])
                };
                self.history.set_discovered_inputs(target, inputs[range].iter().map(file), None);
            }
        }
    }

    /// The file at a canonical path.
    fn file(&mut self, path: &[u8]) -> FileId {
        let files = &self.graph.files;
        files.lookup(path).unwrap_or_else(|| FileId::new(files.len() + self.new_files.intern(path).index()))
    }
}

fn want_discovered(
    history: &History,
    target: TargetId,
    is_wanted: &mut Vec<bool>,
    wanted: &mut Vec<FileId>,
    reach: &mut Vec<FileId>,
) {
    for &input in history.discovered_inputs(target) {
        if want(is_wanted, wanted, input) {
            reach.push(input);
        }
    }
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
