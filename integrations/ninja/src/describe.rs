//! What a question needs: command hashes, discovered inputs, dyndep files.

use crate::build::Build;
use crate::details::{Deps, Details};
use crate::dyndep;
use crate::error::{Error, os_message};
use crate::source::{Source, SourceKind, Stamp};
use std::io::ErrorKind;
use upcheck::collect::Disk;
use upcheck::{Dyndep, FileId, History, TargetId, Unknown};

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

    /// Puts what was found out about a target into the tables. What it discovered is reached from now on.
    fn adopt(&mut self, target: TargetId, details: Details, reach: &mut Vec<FileId>) {
        self.graph.set_flags(target, details.flags);
        if let Some(hash) = details.hash {
            self.history.set_command_hash(target, hash);
        }
        if let Some((path, stamp)) = details.depfile {
            self.depfiles.push((target, path, stamp));
        }
        self.adopt_deps(target, details.deps);
        self.is_detailed[target.index()] = true;
        self.want_discovered(target, reach);
    }

    fn adopt_deps(&mut self, target: TargetId, deps: Deps) {
        match deps {
            Deps::Untracked => {}
            Deps::Unknown(why) => self.history.set_discovered_unknown(target, why),
            Deps::Inputs(paths) => {
                let files = &mut self.graph.files;
                let inputs = paths.iter().map(|path| files.intern(path));
                self.history.set_discovered_inputs(target, inputs, None);
            }
            Deps::FromLog => self.adopt_from_log(target),
        }
    }

    fn adopt_from_log(&mut self, target: TargetId) {
        let output = self.graph.outputs(target).first();
        let number = output.and_then(|&output| self.logs.deps_number(output));
        let log = self.logs.deps_log.take();
        match log.as_ref().zip(number).and_then(|(log, number)| log.record(number)) {
            Some((mtime, inputs)) => self.set_logged_inputs(target, mtime, inputs),
            None => self.history.set_discovered_unknown(target, Unknown::NotRecorded),
        }
        self.logs.deps_log = log;
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
        let (deps, stamp) = self.read_depfile(disk, target, &path);
        self.adopt_deps(target, deps);
        self.want_discovered(target, reach);
        stamp
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
