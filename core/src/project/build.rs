//! Recording: how inputs were when a build began, and how outputs came out.
//!
//! The record of a success holds the inputs **as they were before the build began**, so that an edit during the build is
//! seen by the next check. And when the build has ended they are looked at again: what was edited meanwhile may have been
//! read in between, and be put back later, as when a branch is switched and switched back. So it goes on record as
//! something that nothing is equal to, and its target is stale. What a command discovers is known only afterwards: such
//! an input is taken as it is then if it can be shown to be what it was when the build began, and otherwise as one that
//! changed.
//!
//! A new status alone is no edit, if mtime, size, inode and content are the same: commands link their inputs and make
//! them executable. So nobody sees who writes into an input, and writes back what was there, and its time, while it
//! is being used; nor who does that within one tick of the clock in which the build began.

use super::check::{DEPFILE, NUMBER, read_depfile};
use super::look::{Moment, Seen, look};
use super::{CommonValues, Options, Project, ProjectError};
use crate::collect::Disk;
use crate::decide::is_same_stamp;
use crate::files::FileTable;
use crate::history::{Rule, Unknown};
use crate::ids::{FileId, TargetId};
use crate::policy::Policy;
use crate::records::{Entry, NewEntry, ROLE_DISCOVERED, ROLE_INPUT, ROLE_OUTPUT, Records, random};
use crate::snapshot::{Meta, Mtime, Stat};
use crate::state::FileState;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Builds that began. They are on record as interrupted until they are committed.
#[derive(Clone)]
#[must_use = "a build that is never committed counts as interrupted"]
pub struct Begun {
    builds: Vec<Build>,
}

#[derive(Clone)]
struct Build {
    target: TargetId,
    began: Mtime,
    /// Its number on record: no other build has it.
    number: u64,
    described: Described,
    /// Inputs as they were then; discovered ones are those of the last success.
    files: Vec<(FileId, u32, FileState)>,
}

/// What is to be recorded of a build.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// That it began.
    Begun,
    /// That it began, and how its inputs were.
    BegunForAnother,
    /// That it succeeded, and when.
    Ended(Mtime),
}

/// What was described when a build began: that is what made its outputs, whatever is described when it ends.
#[derive(Clone)]
enum Described {
    /// What the project says of the target, which does not change, and the values of all targets, which may.
    Here(Arc<CommonValues>),
    /// What is on record.
    Elsewhere { command_hash: u64, command: Vec<u8>, values: Vec<(Vec<u8>, Vec<u8>)> },
}

/// Builds that were recorded as successes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// Files that leave it open what the targets were made from, so that these are stale again: inputs that changed since
    /// the build began, or may have; an output that another build of the same target may have written. Each with its
    /// target.
    pub doubtful: Vec<(TargetId, FileId)>,
}

impl Begun {
    /// The targets.
    pub fn targets(&self) -> impl Iterator<Item = TargetId> {
        self.builds.iter().map(|build| build.target)
    }
}

impl Project {
    /// Says that targets are about to be built. Call it before their commands read anything. Their inputs are looked at;
    /// until [`Project::commit`] the targets are on record as `interrupted`.
    ///
    /// Cost: a look at each input, and one write for all targets. Content is read where the policy wants digests and no
    /// earlier record has them.
    ///
    /// # Errors
    /// When a target is phony, or the store cannot be written to.
    pub fn begin(
        &mut self,
        disk: &dyn Disk,
        records: &mut Records,
        targets: &[TargetId],
        options: Options,
    ) -> Result<Begun, ProjectError> {
        let begun = self.look_at_inputs(disk, records, targets, options)?;
        self.append(records, &begun.builds, Stage::Begun)?;
        Ok(begun)
    }

    /// [`Project::begin`] for a build that another process is going to commit: how the inputs are is put on record, too.
    ///
    /// # Errors
    /// As [`Project::begin`].
    pub fn begin_for_another(
        &mut self,
        disk: &dyn Disk,
        records: &mut Records,
        targets: &[TargetId],
        options: Options,
    ) -> Result<(), ProjectError> {
        let begun = self.look_at_inputs(disk, records, targets, options)?;
        self.append(records, &begun.builds, Stage::BegunForAnother)
    }

    fn look_at_inputs(
        &mut self,
        disk: &dyn Disk,
        records: &Records,
        targets: &[TargetId],
        options: Options,
    ) -> Result<Begun, ProjectError> {
        self.prove_paths()?;
        let mut table = FileTable::default();
        let mut lists = Vec::with_capacity(targets.len());
        for &target in targets {
            if self.graph.flags(target).phony {
                return Err(ProjectError::Phony(self.graph.name(target).to_vec()));
            }
            let entry = records.entry(self.graph.name(target));
            let inputs = self.inputs_to_record(disk, records, target, entry.as_ref(), options);
            self.keep_digests(entry.as_ref());
            for (file, _) in inputs.iter().filter(|(file, _)| !self.is_name(*file)) {
                table.intern(self.graph.files.path(*file));
            }
            lists.push((target, inputs));
        }
        let seen = look(disk, records, &table, options.threads)?;
        let wants = self.digest_wants(&table, &lists);
        let wants = |file: FileId| wants.contains(&file);
        let states = seen.states(disk, &table, wants, &mut self.digests, options.threads);
        let state = |file: FileId| match table.lookup(self.graph.files.path(file)) {
            Some(place) if !self.is_name(file) => states[place.index()],
            _ => self.state_of_name(records, file),
        };
        let began = seen.moment.time;
        let mut begun = Begun { builds: Vec::with_capacity(lists.len()) };
        for (target, inputs) in lists {
            let files = inputs.into_iter().map(|(file, role)| (file, role, state(file))).collect();
            let described = Described::Here(Arc::clone(&self.common_values));
            begun.builds.push(Build { target, began, number: random(), described, files });
        }
        Ok(begun)
    }

    /// Takes up builds that another process began with [`Project::begin_for_another`]. Targets of which none is on record
    /// are left out.
    pub fn take_up(&mut self, records: &Records, targets: &[TargetId]) -> Begun {
        let mut builds = Vec::new();
        for &target in targets {
            let entry = records.entry(self.graph.name(target));
            let Some(entry) = entry.filter(|entry| entry.ended.is_none()) else { continue };
            // Begun, but not for another.
            let has_inputs = !self.graph.dirtying_inputs(target).is_empty() || self.globs(target).is_some();
            if entry.inputs.is_empty() && has_inputs {
                continue;
            }
            let files = entry
                .inputs
                .iter()
                .filter_map(|row| Some((self.file(records.path(row.path)).ok()?, row.role, row.state)));
            let files = files.collect();
            let (began, number, described) =
                (entry.began, number(&entry), self.described_elsewhere(target, &entry));
            builds.push(Build { target, began, number, described, files });
        }
        Begun { builds }
    }

    fn described_elsewhere(&self, target: TargetId, entry: &Entry<'_>) -> Described {
        // Who began without saying which command may say so now.
        let (command_hash, command) = match entry.command {
            b"" => (self.command_hash(target), self.command(target)),
            command => (entry.command_hash, command),
        };
        let values = entry.values().filter(|(name, _)| *name != NUMBER);
        let values = values.map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
        Described::Elsewhere { command_hash, command: command.to_vec(), values }
    }

    /// Says that builds succeeded. Outputs and depfiles are looked at and put on record. Where some of them need what
    /// others of them make, see [`Options::made_in_order`].
    ///
    /// Cost: a look at each input and output, and one write for all targets. It waits until the file system's clock has
    /// moved past the stamps of what was just made, some milliseconds at most.
    ///
    /// # Errors
    /// When an output was not made, a depfile is missing, or the store cannot be written to. Nothing is recorded then.
    pub fn commit(
        &mut self,
        disk: &dyn Disk,
        records: &mut Records,
        mut begun: Begun,
        options: Options,
    ) -> Result<Committed, ProjectError> {
        // What others have recorded meanwhile counts.
        records.refresh()?;
        let mut table = FileTable::default();
        let mut discovered = Vec::with_capacity(begun.builds.len());
        for build in &mut begun.builds {
            let found = self.read_discovered(disk, build.target)?;
            self.add_new_matches(disk, build, options.threads);
            let inputs = build.files.iter().map(|(file, ..)| file);
            let files = self.graph.outputs(build.target).iter().chain(&found).chain(inputs);
            for &file in files.filter(|&&file| !self.is_name(file)) {
                table.intern(self.graph.files.path(file));
            }
            discovered.push(found);
        }
        let seen = look(disk, records, &table, options.threads)?;
        let mut wants = self.output_digest_wants(&table, &begun, &discovered);
        wants.extend(self.inputs_to_read(&table, &begun, &seen));
        let wants = |file: FileId| wants.contains(&file);
        let states = seen.states(disk, &table, wants, &mut self.digests, options.threads);
        let mut committed = Committed::default();
        let clock = Moment::read(disk, records)?;
        for (build, found) in begun.builds.iter_mut().zip(discovered) {
            let context = After { project: self, records, table: &table, seen: &seen, states: &states };
            context.look_again(build, &found, &mut committed);
            context.add_discovered(build, &found, clock, &mut committed);
            context.add_outputs(build)?;
        }
        self.disown_overtaken(records, &mut begun, &mut committed)?;
        let context = After { project: self, records, table: &table, seen: &seen, states: &states };
        if options.made_in_order {
            context.add_made_along(&mut begun, &mut committed);
        }
        self.append(records, &begun.builds, Stage::Ended(seen.moment.time))?;
        Ok(committed)
    }

    /// The inputs of a target with their roles: described ones, and those that its last success discovered.
    fn inputs_to_record(
        &mut self,
        disk: &dyn Disk,
        records: &Records,
        target: TargetId,
        entry: Option<&Entry<'_>>,
        options: Options,
    ) -> Vec<(FileId, u32)> {
        let matches = self.expand_globs(disk, target, options.threads, |_, _| {});
        let mut inputs = Vec::new();
        self.real_inputs(target, &matches, &mut inputs);
        let mut all: Vec<_> = inputs.into_iter().map(|file| (file, ROLE_INPUT)).collect();
        let discovered = entry.map_or(&[][..], |entry| entry.inputs).iter();
        for row in discovered.filter(|row| row.role == ROLE_DISCOVERED) {
            if let Ok(file) = self.file(records.path(row.path)) {
                all.push((file, ROLE_DISCOVERED));
            }
        }
        all
    }

    /// Somebody else began to build the same target, or the store is another one. Whose output it is nobody knows, now or
    /// when the other one ends, so neither build counts.
    fn disown_overtaken(
        &self,
        records: &mut Records,
        begun: &mut Begun,
        committed: &mut Committed,
    ) -> Result<(), ProjectError> {
        records.refresh()?;
        let is_last = |build: &Build| {
            let entry = records.entry(self.graph.name(build.target));
            entry.is_some_and(|entry| entry.ended.is_none() && number(&entry) == build.number)
        };
        let (last, mut overtaken): (Vec<_>, Vec<_>) = begun.builds.drain(..).partition(is_last);
        begun.builds = last;
        if overtaken.is_empty() {
            return Ok(());
        }
        for build in &mut overtaken {
            build.number = random();
            committed
                .doubtful
                .extend(self.graph.outputs(build.target).first().map(|&file| (build.target, file)));
        }
        self.append(records, &overtaken, Stage::Begun)
    }

    /// What appeared during a build and matches a pattern may have been an input, and be gone by the next check.
    fn add_new_matches(&mut self, disk: &dyn Disk, build: &mut Build, threads: usize) {
        let matches = self.expand_globs(disk, build.target, threads, |_, _| {});
        let known: HashSet<FileId> = build.files.iter().map(|(file, ..)| *file).collect();
        let new = matches.into_iter().filter(|file| !known.contains(file));
        build.files.extend(new.map(|file| (file, ROLE_INPUT, FileState::UNKNOWN)));
    }

    /// The inputs whose stamps leave open whether they are what they were when their builds began.
    fn inputs_to_read(&self, table: &FileTable, begun: &Begun, seen: &Seen) -> Vec<FileId> {
        let mut wants = Vec::new();
        for (file, _, state) in begun.builds.iter().flat_map(|build| &build.files) {
            let Some(place) = table.lookup(self.graph.files.path(*file)) else { continue };
            let (Some(then), Stat::Present(now)) = (state.meta(), seen.stat(place)) else { continue };
            let is_open = is_same_stamp(then, now) && (then != now || state.is_racy());
            if is_open && state.digest().is_some() {
                wants.push(place);
            }
        }
        wants
    }

    /// The policy that holds for a target's record, also where it is judged by times alone for now.
    fn recording_policy(&self, target: TargetId) -> Policy {
        match self.rule(target, true) {
            Rule::Recorded(policy) => policy,
            _ => Policy::default(),
        }
    }

    fn digest_wants(&self, table: &FileTable, lists: &[(TargetId, Vec<(FileId, u32)>)]) -> HashSet<FileId> {
        let mut wants = HashSet::new();
        for (target, inputs) in lists {
            if self.recording_policy(*target).of_inputs().needs_digest() {
                let places = inputs.iter().map(|(file, _)| table.lookup(self.graph.files.path(*file)));
                wants.extend(places.flatten());
            }
        }
        wants
    }

    fn output_digest_wants(
        &self,
        table: &FileTable,
        begun: &Begun,
        discovered: &[Vec<FileId>],
    ) -> HashSet<FileId> {
        let mut wants = HashSet::new();
        let place = |file: &FileId| table.lookup(self.graph.files.path(*file));
        let batch: HashSet<TargetId> = begun.targets().collect();
        let is_made = |file: &&FileId| self.graph.producer(**file).is_some_and(|it| batch.contains(&it));
        for (build, found) in begun.builds.iter().zip(discovered) {
            let policy = self.recording_policy(build.target);
            if policy.of_inputs().needs_digest() {
                let made = build.files.iter().map(|(file, ..)| file).filter(is_made);
                wants.extend(found.iter().chain(made).filter_map(place));
            }
            if policy.of_outputs().needs_digest() {
                wants.extend(self.graph.outputs(build.target).iter().filter_map(place));
            }
        }
        wants
    }

    /// What stands for the state of a name that is no file: which success of its target there was.
    fn state_of_name(&self, records: &Records, file: FileId) -> FileState {
        let entry = records.entry(self.graph.files.path(file));
        entry.map_or(FileState::UNKNOWN, |entry| FileState::new(stat_of_success(&entry), None, false))
    }

    /// Takes over the digests that a record has for stamps which prove something.
    fn keep_digests(&mut self, entry: Option<&Entry<'_>>) {
        let rows = entry.map_or(&[][..], |entry| entry.inputs);
        for state in rows.iter().map(|row| row.state).filter(|state| !state.is_racy()) {
            if let (Some(meta), Some(digest)) = (state.meta(), state.digest()) {
                self.digests.keep(meta, digest);
            }
        }
    }

    fn read_discovered(&mut self, disk: &dyn Disk, target: TargetId) -> Result<Vec<FileId>, ProjectError> {
        let depfile = self.depfile(target).to_vec();
        if depfile.is_empty() {
            return Ok(Vec::new());
        }
        let names = read_depfile(disk, &depfile).map_err(|why| {
            let path = String::from_utf8_lossy(&depfile).into_owned();
            ProjectError::Depfile(match why {
                Unknown::Broken { message } => message,
                _ => format!("the command left no depfile '{path}'").into(),
            })
        })?;
        let mut seen: HashSet<FileId> = self.graph.dirtying_inputs(target).iter().copied().collect();
        let files: Vec<_> = names.iter().filter_map(|name| self.discovered(target, name).ok()).collect();
        Ok(files.into_iter().filter(|&file| seen.insert(file)).collect())
    }

    fn append(&self, records: &mut Records, builds: &[Build], stage: Stage) -> Result<(), ProjectError> {
        let ended = if let Stage::Ended(time) = stage { Some(time) } else { None };
        let mut rows = Vec::with_capacity(builds.len());
        let mut values = Vec::with_capacity(builds.len());
        for build in builds {
            let path =
                |&(file, role, state): &(FileId, u32, FileState)| (self.graph.files.path(file), role, state);
            // Whoever commits it himself knows them; they can be many.
            let files = if stage == Stage::Begun { &[][..] } else { &build.files };
            rows.push(files.iter().map(path).collect::<Vec<_>>());
            let mut all: Vec<(&[u8], &[u8])> = match &build.described {
                Described::Here(common) => {
                    let depfile = Some(self.depfile(build.target)).filter(|depfile| !depfile.is_empty());
                    let depfile = depfile.map(|depfile| (DEPFILE, depfile));
                    self.values_with(build.target, common).chain(depfile).collect()
                }
                Described::Elsewhere { values, .. } => {
                    values.iter().map(|(name, value)| (&name[..], &value[..])).collect()
                }
            };
            all.push((NUMBER, bytemuck::bytes_of(&build.number)));
            values.push(all);
        }
        let entries: Vec<NewEntry<'_>> = builds
            .iter()
            .zip(rows.iter().zip(&values))
            .map(|(build, (files, values))| {
                let (command_hash, command) = match &build.described {
                    Described::Here(_) => (self.command_hash(build.target), self.command(build.target)),
                    Described::Elsewhere { command_hash, command, .. } => (*command_hash, &command[..]),
                };
                NewEntry {
                    name: self.graph.name(build.target),
                    began: build.began,
                    ended,
                    moment: ended.unwrap_or(build.began),
                    command_hash,
                    command,
                    values,
                    files,
                }
            })
            .collect();
        records.append(&entries)?;
        Ok(())
    }
}

/// The number of the build that an entry is about; 0 if it has none.
fn number(entry: &Entry<'_>) -> u64 {
    let value = entry.values().find(|(name, _)| *name == NUMBER);
    value.and_then(|(_, bytes)| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes)
}

/// What takes the place of a stat for the name of a target without outputs: which of its builds was the last, and that
/// it succeeded. Times would not tell two of them that succeed within a tick.
pub(super) fn stat_of_success(entry: &Entry<'_>) -> Stat {
    entry.ended.map_or(Stat::Unknown, |ended| success_at(ended, number(entry)))
}

fn success_at(ended: Mtime, number: u64) -> Stat {
    // With a time that nobody can put back, so that no policy asks for content.
    Stat::Present(Meta { mtime: ended, ctime: ended.max(1), inode: number, ..Meta::default() })
}

/// After a command: what it left.
struct After<'a> {
    project: &'a Project,
    records: &'a Records,
    table: &'a FileTable,
    seen: &'a Seen,
    states: &'a [FileState],
}

impl After<'_> {
    /// Inputs that are not what they were when the build began may have been read as something else.
    fn look_again(&self, build: &mut Build, found: &[FileId], committed: &mut Committed) {
        let found: HashSet<FileId> = found.iter().copied().collect();
        for (file, role, state) in &mut build.files {
            let was_known = *state != FileState::UNKNOWN;
            if was_known {
                *state = self.as_before(*file, *state);
            }
            // Discovered ones are told of with those that are new.
            if *role == ROLE_INPUT && *state == FileState::UNKNOWN && !found.contains(file) {
                committed.doubtful.push((build.target, *file));
            }
        }
    }

    /// The state of an input that was like this when the build began; unknown if it may have changed since.
    fn as_before(&self, file: FileId, then: FileState) -> FileState {
        let path = self.project.graph.files.path(file);
        let Some(place) = self.table.lookup(path).filter(|_| !self.project.is_name(file)) else {
            let is_same = self.project.state_of_name(self.records, file) == then;
            return if is_same { then } else { FileState::UNKNOWN };
        };
        let now = self.states[place.index()];
        let is_same = match (then.meta(), self.seen.stat(place)) {
            (None, Stat::Missing) => then.is_missing(),
            (Some(meta), Stat::Present(seen)) if meta == seen && !then.is_racy() => return then,
            // Where no digest was wanted, the stamp is what counts.
            (Some(meta), Stat::Present(seen)) => {
                is_same_stamp(meta, seen) && (then.digest().is_none() || then.digest() == now.digest())
            }
            _ => false,
        };
        if is_same { now } else { FileState::UNKNOWN }
    }

    /// Puts what the command discovered in the place of what the one before it had.
    fn add_discovered(&self, build: &mut Build, found: &[FileId], clock: Moment, committed: &mut Committed) {
        let before: HashMap<FileId, FileState> =
            build.files.iter().map(|&(file, _, state)| (file, state)).collect();
        build.files.retain(|(_, role, _)| *role == ROLE_INPUT);
        for &file in found {
            let state = match before.get(&file) {
                Some(&state) => state,
                None => self.as_it_was(file, build.began, clock),
            };
            if state == FileState::UNKNOWN {
                committed.doubtful.push((build.target, file));
            }
            build.files.push((file, ROLE_DISCOVERED, state));
        }
    }

    /// How a file was when a build began that nobody knew would read it; unknown if that cannot be shown.
    fn as_it_was(&self, file: FileId, began: Mtime, clock: Moment) -> FileState {
        let path = self.project.graph.files.path(file);
        let Some(place) = self.table.lookup(path) else { return FileState::UNKNOWN };
        let state = self.states[place.index()];
        let Stat::Present(meta) = self.seen.stat(place) else { return FileState::UNKNOWN };
        // With a clock that was set back meanwhile stamps say nothing of before and after.
        if clock.time >= began && !clock.at(began).is_racy(meta) {
            return state;
        }
        // Its stamp is as young as the build. But perhaps another target made it, and that had ended by then.
        let producer = self.project.graph.producer(file);
        let entry = producer.and_then(|target| self.records.entry(self.project.graph.name(target)));
        let ended_before = entry.filter(|entry| entry.ended.is_some_and(|ended| ended <= began));
        let made = ended_before.and_then(|entry| {
            entry.outputs.iter().find(|row| self.records.path(row.path) == path).map(|row| row.state)
        });
        match made {
            Some(made) if made.meta() == Some(meta) && !made.is_racy() => state,
            _ => FileState::UNKNOWN,
        }
    }

    /// Where one command built many targets in their order, inputs that it made for some of them are what came out, unless
    /// that is younger than what was made of it.
    fn add_made_along(&self, begun: &mut Begun, committed: &mut Committed) {
        let project = self.project;
        let batch: HashMap<TargetId, u64> =
            begun.builds.iter().map(|build| (build.target, build.number)).collect();
        let stat = |file: FileId| match self.table.lookup(project.graph.files.path(file)) {
            Some(place) => (self.seen.stat(place), self.states[place.index()]),
            None => (Stat::Unknown, FileState::UNKNOWN),
        };
        let mut settled = HashSet::new();
        for build in &mut begun.builds {
            let target = build.target;
            let outputs = project.graph.outputs(target).iter().filter(|&&file| !project.is_name(file));
            let times = outputs.filter_map(|&file| match stat(file) {
                (Stat::Present(meta), _) => Some(meta.mtime),
                _ => None,
            });
            let oldest = times.min().unwrap_or(Mtime::MAX);
            for (file, _, state) in build.files.iter_mut().filter(|(_, role, _)| *role != ROLE_OUTPUT) {
                let producer = project.graph.producer(*file).filter(|it| *it != target);
                let Some(&number) = producer.and_then(|producer| batch.get(&producer)) else { continue };
                if *state != FileState::UNKNOWN {
                    continue;
                }
                *state = match stat(*file) {
                    _ if project.is_name(*file) => {
                        FileState::new(success_at(self.seen.moment.time, number), None, false)
                    }
                    (Stat::Present(meta), state) if meta.mtime <= oldest => state,
                    _ => continue,
                };
                settled.insert((target, *file));
            }
        }
        committed.doubtful.retain(|doubtful| !settled.contains(doubtful));
    }

    fn add_outputs(&self, build: &mut Build) -> Result<(), ProjectError> {
        for &file in self.project.graph.outputs(build.target) {
            if self.project.is_name(file) {
                continue;
            }
            let path = self.project.graph.files.path(file);
            let place = self.table.lookup(path);
            let state = match place.map(|place| (self.seen.stat(place), self.states[place.index()])) {
                Some((Stat::Present(_), state)) => state,
                Some((Stat::Unreadable(errno), _)) => {
                    return Err(ProjectError::Unreadable(path.to_vec(), errno));
                }
                _ => return Err(ProjectError::OutputNotMade(path.to_vec())),
            };
            build.files.push((file, ROLE_OUTPUT, state));
        }
        Ok(())
    }
}
