//! The decision: which targets are stale, judged from one snapshot. No I/O, no clock, no wording.
//!
//! # The rule
//!
//! This is make's idea with ninja's refinements; `docs/SEMANTICS.md` has it as a table. A target is stale
//! when
//!
//! - one of its discovered inputs is not known, or what is known of them is outdated;
//! - an input (order-only ones aside) is stale, or is a missing source;
//! - an output is missing;
//! - an output is older than the newest input, unless the target has restat and a record;
//! - its command is not the one on record (generators aside), or there is no record (likewise);
//! - the time on record is older than the newest input.
//!
//! Equal times are fresh. A phony target without inputs is stale when no file has its name; another one
//! is stale when an input is, and else lends its missing file the time of its newest input.
//!
//! # The walk
//!
//! Depth first from the requested files, inputs before users, each target once, without recursion: a chain
//! of a million targets needs no stack. The order is the order in which ninja would meet the targets,
//! because with dyndep files and with errors the order shows in the answer.

use crate::graph::Graph;
use crate::history::{Discovered, Dyndep, History, Unknown};
use crate::ids::{FileId, TargetId};
use crate::reason::{Reason, Verdict};
use crate::snapshot::{Mtime, Snapshot, Stat};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How to go on when something stands in the way of a full answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Judge everything that can be judged: what is unreadable or broken makes its own targets stale, and
    /// hides nobody else's answer. Dyndep files count from the start, even those about to be made again.
    LookPast,
    /// Stop where ninja would stop, and learn of dyndep files when ninja would.
    AsNinja,
}

/// What stops a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// Targets depend on each other. The files along the way; the first one comes again at the end.
    Cycle(Vec<FileId>),
    /// A path could not be looked at.
    Unreadable {
        /// The path.
        path: FileId,
        /// The operating system's error number.
        errno: i32,
    },
    /// A depfile or a dyndep file is unusable. What is wrong, with the path.
    Broken(Box<str>),
    /// A file's time is the one value that ninja takes for an error without a message: it gives up on the
    /// request and says nothing.
    Silent,
}

/// Everything a target may have gained from a dyndep file.
#[derive(Clone, Default)]
struct Extra {
    inputs: Arc<[FileId]>,
    outputs: Arc<[FileId]>,
}

/// A walk under way, and its result.
pub struct Decision<'a> {
    graph: &'a Graph,
    history: &'a History,
    snapshot: &'a Snapshot,
    mode: Mode,
    /// Indexed by file; see the `F_` bits.
    files: Vec<u8>,
    /// Indexed by file: the time that counts. 0 for a missing file, a borrowed time for a phony name.
    times: Vec<Mtime>,
    /// Indexed by target; see the `T_` bits.
    targets: Vec<u8>,
    /// Targets that were judged, inputs before users.
    order: Vec<TargetId>,
    /// Validations of targets met since the caller last asked.
    validations: Vec<FileId>,
    stack: Vec<Frame>,
    extra: HashMap<TargetId, Extra>,
    extra_producers: HashMap<FileId, TargetId>,
    /// Dyndep files that were not loaded yet.
    pending_dyndeps: HashSet<FileId>,
    /// Dyndep files that are unusable, in `Mode::LookPast`.
    broken_dyndeps: HashMap<FileId, Box<str>>,
}

/// Judged, or a source whose status is known.
const F_SETTLED: u8 = 1;
/// Stale, or a missing source.
const F_DIRTY: u8 = 2;
/// Dirty, and nothing that runs before can change that.
const F_CERTAIN: u8 = 4;
/// Its producer, or something before it, has yet to run.
const F_NOT_READY: u8 = 8;
/// No such file.
const F_MISSING: u8 = 16;
/// The disk would not say.
const F_UNREADABLE: u8 = 32;
/// Some target discovered it as an input.
const F_DISCOVERED: u8 = 64;

const T_IN_STACK: u8 = 1;
const T_DONE: u8 = 2;
const T_NOT_READY: u8 = 4;
const T_DIRTY: u8 = 8;
const T_CERTAIN: u8 = 16;
/// The discovered inputs were looked at.
const T_DEPS_SEEN: u8 = 32;
/// The discovered inputs are believed.
const T_DEPS_BELIEVED: u8 = 64;
/// A dyndep file says that the target has restat.
const T_RESTAT: u8 = 128;

#[derive(Clone, Copy)]
struct Frame {
    target: TargetId,
    /// The file through which the target was reached.
    through: FileId,
    entered: bool,
    segment: u8,
    next: u32,
    dirty: bool,
    certain: bool,
    ready: bool,
    newest: Option<FileId>,
}

/// The runs of a target's inputs, in the order in which they are visited.
const SEGMENTS: u8 = 4;
const ORDER_ONLY: u8 = 3;

impl<'a> Decision<'a> {
    /// A walk that has not begun. Cost: one pass over all files.
    #[must_use]
    pub fn new(graph: &'a Graph, history: &'a History, snapshot: &'a Snapshot, mode: Mode) -> Self {
        let mut decision = Self {
            graph,
            history,
            snapshot,
            mode,
            files: Vec::new(),
            times: Vec::new(),
            targets: Vec::new(),
            order: Vec::new(),
            validations: Vec::new(),
            stack: Vec::new(),
            extra: HashMap::new(),
            extra_producers: HashMap::new(),
            pending_dyndeps: graph.targets().filter_map(|target| graph.dyndep(target)).collect(),
            broken_dyndeps: HashMap::new(),
        };
        decision.reset();
        decision
    }

    /// Judges everything that `requests` need, validations included: the whole decision in one call.
    ///
    /// # Errors
    /// In [`Mode::LookPast`] only a cycle stops the walk.
    pub fn judge_all(&mut self, requests: &[FileId]) -> Result<(), Stop> {
        if self.mode == Mode::LookPast && !self.pending_dyndeps.is_empty() {
            // Sorted, so that the answer does not depend on the order of a hash table.
            let mut dyndeps: Vec<_> = self.pending_dyndeps.iter().copied().collect();
            dyndeps.sort_unstable();
            for dyndep in dyndeps {
                self.load_dyndep(dyndep)?;
            }
        }
        for &request in requests {
            self.visit(request)?;
            let mut next = 0;
            while let Some(&validation) = self.validations.get(next) {
                next += 1;
                self.visit(validation)?;
            }
            self.validations.clear();
        }
        Ok(())
    }

    /// Forgets all that was judged, to judge by another history. What dyndep files added stays, and so does
    /// which files were discovered.
    pub fn restart(&mut self, history: &'a History) {
        self.history = history;
        self.reset();
    }

    fn reset(&mut self) {
        let n_files = self.graph.files.len();
        self.files.iter_mut().for_each(|bits| *bits &= F_DISCOVERED);
        self.files.resize(n_files, 0);
        self.times.clear();
        self.times.resize(n_files, 0);
        self.targets.iter_mut().for_each(|bits| *bits &= T_RESTAT);
        self.targets.resize(self.graph.n_targets(), 0);
        self.order.clear();
        self.validations.clear();
        self.stack.clear();
        for file in self.graph.files.ids() {
            let (bits, time) = match self.snapshot.stat(file) {
                // A file that nobody asked for must not pass for one that is there.
                Stat::Unknown | Stat::Missing => (F_MISSING, 0),
                Stat::Unreadable(_) => (F_UNREADABLE, 0),
                Stat::Present(meta) => (0, counted(meta.mtime)),
            };
            self.times[file.index()] = time;
            // Sources need no visit; what stands in the way of an answer is dealt with when it is met.
            let stops = bits & F_UNREADABLE != 0 || (time == -1 && self.mode == Mode::AsNinja);
            let settled = if stops || self.producer(file).is_some() {
                0
            } else if bits & F_MISSING != 0 {
                F_SETTLED | F_DIRTY | F_CERTAIN
            } else {
                F_SETTLED
            };
            self.files[file.index()] |= bits | settled;
        }
    }

    /// Judges what `file` needs, validations aside.
    ///
    /// # Errors
    /// When the walk cannot go on. What was judged before stays judged.
    pub fn visit(&mut self, file: FileId) -> Result<(), Stop> {
        let result = self.walk(file);
        for frame in self.stack.drain(..) {
            self.targets[frame.target.index()] &= !T_IN_STACK;
        }
        result
    }

    fn walk(&mut self, file: FileId) -> Result<(), Stop> {
        self.enter(file)?;
        while let Some(mut frame) = self.stack.pop() {
            let next = self.advance(&mut frame);
            if matches!(next, Ok(None)) {
                self.finish(frame);
                continue;
            }
            self.stack.push(frame);
            if let Some(input) = next? {
                self.enter(input)?;
            }
        }
        Ok(())
    }

    /// Takes the validations of the targets met since the last call.
    pub fn take_validations(&mut self) -> Vec<FileId> {
        std::mem::take(&mut self.validations)
    }

    /// The targets that were judged, phony ones included, inputs before users.
    #[must_use]
    pub fn judged(&self) -> &[TargetId] {
        &self.order
    }

    /// The verdict on a target; fresh for one that nobody asked for.
    #[must_use]
    pub fn verdict(&self, target: TargetId) -> Verdict {
        match self.targets[target.index()] & (T_DIRTY | T_CERTAIN) {
            0 => Verdict::Fresh,
            T_DIRTY => Verdict::Pending,
            _ => Verdict::Stale,
        }
    }

    /// Whether a file is stale, or a missing source.
    #[must_use]
    pub fn is_dirty(&self, file: FileId) -> bool {
        self.files[file.index()] & F_DIRTY != 0
    }

    /// Whether some target that was judged discovered `file` as an input.
    #[must_use]
    pub fn is_discovered(&self, file: FileId) -> bool {
        self.files[file.index()] & F_DISCOVERED != 0
    }

    /// Whether neither the target nor anything before it has to run.
    #[must_use]
    pub fn is_ready(&self, target: TargetId) -> bool {
        let bits = self.targets[target.index()];
        bits & T_DONE != 0 && bits & T_NOT_READY == 0
    }

    /// What makes `file`, dyndep files considered.
    #[must_use]
    pub fn producer(&self, file: FileId) -> Option<TargetId> {
        match self.graph.producer(file) {
            None if !self.extra_producers.is_empty() => self.extra_producers.get(&file).copied(),
            producer => producer,
        }
    }

    /// All outputs of a target, dyndep files considered.
    pub fn outputs(&self, target: TargetId) -> impl Iterator<Item = FileId> + use<'_, 'a> {
        let extra = self.extra_of(target).map_or(&[][..], |extra| &extra.outputs);
        self.graph.outputs(target).iter().chain(extra).copied()
    }

    /// All inputs of a target that count for it now, in the order in which they are visited.
    pub fn inputs(&self, target: TargetId) -> impl Iterator<Item = FileId> + use<'_, 'a> {
        self.dirtying_inputs(target).chain(self.graph.order_only_inputs(target).iter().copied())
    }

    /// Whether the target's command may leave outputs untouched, dyndep files considered.
    #[must_use]
    pub fn has_restat(&self, target: TargetId) -> bool {
        self.graph.flags(target).restat || self.targets[target.index()] & T_RESTAT != 0
    }

    /// All reasons why a target is stale or pending; none for a fresh one. Cost: its inputs once.
    #[must_use]
    pub fn reasons(&self, target: TargetId) -> Vec<Reason> {
        if self.verdict(target) == Verdict::Fresh {
            return Vec::new();
        }
        let mut all = AllReasons::default();
        self.judge_deps(target, &mut all);
        let mut newest = None;
        for input in self.dirtying_inputs(target) {
            if self.is_dirty(input) {
                all.push_once(self.why_dirty(input));
            } else {
                self.keep_newest(&mut newest, input);
            }
        }
        self.judge_outputs(target, newest, &mut all);
        if let Some(reason) = self.dyndep_reason(target) {
            all.push_once(reason);
        }
        // The ladder names the newest input; the others that are newer than the same output are causes too.
        let newer = all.reasons.iter().find_map(|reason| match *reason {
            Reason::InputNewer { output, output_mtime, recorded, .. } => {
                Some((output, output_mtime, recorded))
            }
            _ => None,
        });
        if let Some((output, output_mtime, recorded)) = newer {
            for input in self.dirtying_inputs(target) {
                let input_mtime = self.times[input.index()];
                if !self.is_dirty(input) && input_mtime > output_mtime {
                    all.push_once(Reason::InputNewer { input, input_mtime, output, output_mtime, recorded });
                }
            }
        }
        all.reasons
    }

    // ---- the walk -----------------------------------------------------------------------------------

    /// Settles a source, or puts the target that makes `file` on the stack.
    fn enter(&mut self, file: FileId) -> Result<(), Stop> {
        let Some(target) = self.producer(file) else {
            return self.settle_source(file);
        };
        let bits = &mut self.targets[target.index()];
        if *bits & T_IN_STACK != 0 {
            return Err(Stop::Cycle(self.cycle(target, file)));
        }
        if *bits & T_DONE != 0 {
            // An output that a dyndep file gave to a target which had been judged before.
            self.files[file.index()] |= F_SETTLED;
            return Ok(());
        }
        *bits = (*bits & !T_NOT_READY) | T_IN_STACK;
        self.stack.push(Frame {
            target,
            through: file,
            entered: false,
            segment: 0,
            next: 0,
            dirty: false,
            certain: false,
            ready: true,
            newest: None,
        });
        Ok(())
    }

    fn settle_source(&mut self, file: FileId) -> Result<(), Stop> {
        if self.files[file.index()] & F_SETTLED != 0 {
            return Ok(());
        }
        self.look_at(file)?;
        let bits = &mut self.files[file.index()];
        *bits |= F_SETTLED;
        if *bits & (F_MISSING | F_UNREADABLE) != 0 {
            *bits |= F_DIRTY | F_CERTAIN;
        }
        Ok(())
    }

    /// Stops at a path that ninja would stop at.
    fn look_at(&self, file: FileId) -> Result<(), Stop> {
        if self.mode == Mode::LookPast {
            return Ok(());
        }
        match self.snapshot.stat(file) {
            Stat::Unreadable(errno) => Err(Stop::Unreadable { path: file, errno }),
            Stat::Present(meta) if meta.mtime == -1 => Err(Stop::Silent),
            _ => Ok(()),
        }
    }

    /// Goes on with a target. `Some(file)`: that file has to be judged first.
    fn advance(&mut self, frame: &mut Frame) -> Result<Option<FileId>, Stop> {
        let target = frame.target;
        if !frame.entered {
            if let Some(dyndep) = self.unloaded_dyndep(target) {
                if !self.is_settled(dyndep) {
                    return Ok(Some(dyndep));
                }
                if self.files[dyndep.index()] & F_NOT_READY == 0 {
                    self.load_dyndep(dyndep)?;
                }
            }
            for output in self.outputs(target) {
                self.look_at(output)?;
            }
            self.see_deps(frame)?;
            self.validations.extend_from_slice(self.graph.validations(target));
            frame.entered = true;
        }
        while frame.segment < SEGMENTS {
            let extra;
            let inputs = match frame.segment {
                0 => self.graph.dirtying_inputs(target),
                1 => match self.extra.get(&target) {
                    Some(found) => {
                        extra = found.inputs.clone();
                        &*extra
                    }
                    None => &[],
                },
                2 if self.targets[target.index()] & T_DEPS_BELIEVED != 0 => {
                    self.history.discovered_inputs(target)
                }
                ORDER_ONLY => self.graph.order_only_inputs(target),
                _ => &[],
            };
            while let Some(&input) = inputs.get(frame.next as usize) {
                let bits = self.files[input.index()];
                if bits & F_SETTLED == 0 {
                    return Ok(Some(input));
                }
                frame.next += 1;
                frame.ready &= bits & F_NOT_READY == 0;
                if frame.segment == ORDER_ONLY {
                    continue;
                }
                if bits & F_DIRTY != 0 {
                    frame.dirty = true;
                    frame.certain |= bits & F_CERTAIN != 0;
                } else {
                    self.keep_newest(&mut frame.newest, input);
                }
            }
            frame.segment += 1;
            frame.next = 0;
        }
        Ok(None)
    }

    /// Decides whether the discovered inputs of a target are believed. Once per target.
    fn see_deps(&mut self, frame: &mut Frame) -> Result<(), Stop> {
        let target = frame.target;
        if self.targets[target.index()] & T_DEPS_SEEN != 0 {
            return Ok(());
        }
        self.targets[target.index()] |= T_DEPS_SEEN;
        if let Discovered::Unknown(Unknown::Broken { message }) = self.history.discovered(target)
            && self.mode == Mode::AsNinja
        {
            return Err(Stop::Broken(message.clone()));
        }
        let mut any = AnyReason(false);
        self.judge_deps(target, &mut any);
        if any.0 {
            frame.dirty = true;
            frame.certain = true;
        } else {
            for &input in self.history.discovered_inputs(target) {
                self.files[input.index()] |= F_DISCOVERED;
            }
            self.targets[target.index()] |= T_DEPS_BELIEVED;
        }
        Ok(())
    }

    fn finish(&mut self, frame: Frame) {
        let Frame { target, mut dirty, mut certain, mut ready, .. } = frame;
        if !certain {
            let mut any = AnyReason(false);
            self.judge_outputs(target, frame.newest, &mut any);
            if any.0 {
                (dirty, certain) = (true, true);
            }
        }
        let phony = self.graph.flags(target).phony;
        if phony
            && !dirty
            && let Some(newest) = frame.newest
        {
            self.lend_time(target, self.times[newest.index()]);
        }
        if let Some(reason) = self.dyndep_reason(target) {
            dirty = true;
            certain |= matches!(reason, Reason::DyndepBroken { .. });
        }
        let has_inputs = self.inputs(target).next().is_some();
        if dirty && (has_inputs || !phony) {
            ready = false;
        }
        // A stale target with restat may leave its outputs as they are: whether its users have to run is open.
        let passes_on = certain && (phony || !self.has_restat(target));
        let mut bits = F_SETTLED;
        if dirty {
            bits |= F_DIRTY;
        }
        if passes_on {
            bits |= F_CERTAIN;
        }
        if !ready {
            bits |= F_NOT_READY;
        }
        self.each_output(target, |decision, output| {
            let file = &mut decision.files[output.index()];
            // Dirty stays dirty when a target is judged again, as it does in ninja.
            *file = (*file & !F_NOT_READY) | bits;
        });
        let target_bits = &mut self.targets[target.index()];
        *target_bits = (*target_bits & !T_IN_STACK) | T_DONE;
        if dirty {
            *target_bits |= T_DIRTY;
        }
        if certain {
            *target_bits |= T_CERTAIN;
        }
        if !ready {
            *target_bits |= T_NOT_READY;
        }
        self.order.push(target);
    }

    /// A phony name without a file counts as being as new as its newest input.
    fn lend_time(&mut self, target: TargetId, time: Mtime) {
        self.each_output(target, |decision, output| {
            if decision.files[output.index()] & F_MISSING != 0 {
                let own = &mut decision.times[output.index()];
                *own = (*own).max(time);
            }
        });
    }

    fn cycle(&self, target: TargetId, file: FileId) -> Vec<FileId> {
        let start = self.stack.iter().position(|frame| frame.target == target).unwrap_or(0);
        let mut files: Vec<_> = self.stack[start..].iter().map(|frame| frame.through).collect();
        if let Some(first) = files.first_mut() {
            *first = file;
        }
        files.push(file);
        files
    }

    // ---- the ladder ---------------------------------------------------------------------------------

    /// Why the discovered inputs of a target are not believed.
    fn judge_deps(&self, target: TargetId, sink: &mut impl Sink) {
        let Some(&output) = self.graph.outputs(target).first() else { return };
        match self.history.discovered(target) {
            Discovered::Unknown(why) => {
                sink.push(|| Reason::DepsUnknown { output, why: why.clone() });
            }
            Discovered::Inputs { recorded: Some(recorded), .. } => {
                let (output_mtime, recorded_mtime) = (self.own_time(output), *recorded);
                if output_mtime > recorded_mtime {
                    sink.push(|| Reason::DepsOutdated { output, output_mtime, recorded_mtime });
                }
            }
            _ => {}
        }
    }

    /// Why the outputs of a target are out of date, given the newest of its inputs that are fresh.
    fn judge_outputs(&self, target: TargetId, newest: Option<FileId>, sink: &mut impl Sink) {
        let flags = self.graph.flags(target);
        if flags.phony {
            if self.inputs(target).next().is_none() {
                for output in self.outputs(target) {
                    if self.files[output.index()] & F_MISSING != 0 {
                        sink.push(|| Reason::PhonyMissing { input: output });
                        return;
                    }
                }
            }
            return;
        }
        let newest = newest.map(|input| (input, self.times[input.index()]));
        let restat = self.has_restat(target);
        for output in self.outputs(target) {
            if sink.is_full() {
                return;
            }
            match self.snapshot.stat(output) {
                Stat::Missing | Stat::Unknown => {
                    sink.push(|| Reason::OutputMissing { output });
                    continue;
                }
                Stat::Unreadable(errno) => {
                    sink.push(|| Reason::Unreadable { path: output, errno });
                    continue;
                }
                Stat::Present(_) => {}
            }
            let record = self.history.record(output);
            let own = (!restat || record.is_none()).then(|| self.own_time(output));
            let on_record = record.map(|record| record.mtime);
            if let Some((input, input_mtime)) = newest {
                let older = |time: Option<Mtime>| time.filter(|&time| time < input_mtime);
                let compared = older(own).map(|time| (time, false));
                if let Some((output_mtime, recorded)) =
                    compared.or_else(|| older(on_record).map(|time| (time, true)))
                {
                    sink.push(|| Reason::InputNewer { input, input_mtime, output, output_mtime, recorded });
                }
            }
            if flags.generator {
                continue;
            }
            match record {
                None => sink.push(|| Reason::NeverBuilt { output }),
                Some(record) => {
                    let (recorded_hash, hash) = (record.command_hash, self.history.command_hash(target));
                    if recorded_hash != hash {
                        sink.push(|| Reason::CommandChanged { output, recorded_hash, hash });
                    }
                }
            }
        }
    }

    /// Why a dirty input is dirty, seen from the target that uses it.
    fn why_dirty(&self, input: FileId) -> Reason {
        if let Some(producer) = self.producer(input) {
            let phony = self.graph.flags(producer).phony;
            return if phony && self.inputs(producer).next().is_none() {
                Reason::PhonyMissing { input }
            } else {
                Reason::UpstreamStale { input, producer }
            };
        }
        match self.snapshot.stat(input) {
            Stat::Unreadable(errno) => Reason::Unreadable { path: input, errno },
            _ => Reason::InputMissing { input },
        }
    }

    /// Why the dyndep file leaves the verdict open. Only for those who look past it.
    fn dyndep_reason(&self, target: TargetId) -> Option<Reason> {
        let dyndep = self.graph.dyndep(target).filter(|_| self.mode == Mode::LookPast)?;
        if let Some(producer) = self.producer(dyndep).filter(|_| self.is_dirty(dyndep)) {
            return Some(Reason::DyndepStale { dyndep, producer });
        }
        let message = self.broken_dyndeps.get(&dyndep)?.clone();
        Some(Reason::DyndepBroken { dyndep, message })
    }

    fn keep_newest(&self, newest: &mut Option<FileId>, input: FileId) {
        if newest.is_none_or(|best| self.times[input.index()] > self.times[best.index()]) {
            *newest = Some(input);
        }
    }

    fn own_time(&self, file: FileId) -> Mtime {
        match self.snapshot.stat(file) {
            Stat::Present(meta) => counted(meta.mtime),
            _ => 0,
        }
    }

    // ---- dyndep files -------------------------------------------------------------------------------

    /// The dyndep file of a target, while it was not loaded.
    #[must_use]
    pub fn unloaded_dyndep(&self, target: TargetId) -> Option<FileId> {
        self.graph.dyndep(target).filter(|file| self.pending_dyndeps.contains(file))
    }

    /// Whether `file` is a dyndep file that was not loaded.
    #[must_use]
    pub fn is_unloaded_dyndep(&self, file: FileId) -> bool {
        self.pending_dyndeps.contains(&file)
    }

    /// Adds what a dyndep file says to its targets.
    ///
    /// # Errors
    /// In [`Mode::AsNinja`] when the file is unusable; otherwise its targets are stale for it.
    pub fn load_dyndep(&mut self, file: FileId) -> Result<(), Stop> {
        self.pending_dyndeps.remove(&file);
        let trouble = match self.history.dyndep(file) {
            Some(Dyndep::Loaded(entries)) => self.add_dyndep_entries(entries),
            Some(Dyndep::Broken(message)) => Some(message.clone()),
            None => Some("the dyndep file was not read".into()),
        };
        match (trouble, self.mode) {
            (None, _) => Ok(()),
            (Some(message), Mode::AsNinja) => Err(Stop::Broken(message)),
            (Some(message), Mode::LookPast) => {
                self.broken_dyndeps.insert(file, message);
                Ok(())
            }
        }
    }

    fn add_dyndep_entries(&mut self, entries: &[crate::history::DyndepEntry]) -> Option<Box<str>> {
        for entry in entries {
            if entry.restat {
                self.targets[entry.target.index()] |= T_RESTAT;
            }
            for &output in &entry.outputs {
                if self.producer(output).is_some() {
                    let path = String::from_utf8_lossy(self.graph.files.path(output));
                    return Some(format!("multiple rules generate {path}").into());
                }
                self.extra_producers.insert(output, entry.target);
                // It may have been taken for a source so far.
                self.files[output.index()] &= !F_SETTLED;
            }
            self.extra.insert(
                entry.target,
                Extra { inputs: entry.inputs.as_slice().into(), outputs: entry.outputs.as_slice().into() },
            );
        }
        None
    }

    /// Lets a target be judged again, because a dyndep file has changed what it, or one before it, needs.
    /// Whether it had been judged.
    pub fn unsettle(&mut self, target: TargetId) -> bool {
        let bits = &mut self.targets[target.index()];
        let was_done = *bits & T_DONE != 0;
        *bits &= !T_DONE;
        self.each_output(target, |decision, output| {
            decision.files[output.index()] &= !F_SETTLED;
        });
        was_done
    }

    /// Says that a target and everything before it has run.
    pub fn set_ready(&mut self, target: TargetId) {
        self.targets[target.index()] &= !T_NOT_READY;
        self.each_output(target, |decision, output| {
            decision.files[output.index()] &= !F_NOT_READY;
        });
    }

    fn each_output(&mut self, target: TargetId, mut act: impl FnMut(&mut Self, FileId)) {
        for &output in self.graph.outputs(target) {
            act(self, output);
        }
        if let Some(extra) = self.extra_of(target).cloned() {
            for &output in &*extra.outputs {
                act(self, output);
            }
        }
    }

    fn is_settled(&self, file: FileId) -> bool {
        self.files[file.index()] & F_SETTLED != 0
    }

    fn extra_of(&self, target: TargetId) -> Option<&Extra> {
        if self.extra.is_empty() { None } else { self.extra.get(&target) }
    }

    /// The inputs that can make the target stale, in the order in which they are visited.
    fn dirtying_inputs(&self, target: TargetId) -> impl Iterator<Item = FileId> + use<'_, 'a> {
        let extra = self.extra_of(target).map_or(&[][..], |extra| &extra.inputs);
        let believed = self.targets[target.index()] & T_DEPS_BELIEVED != 0;
        let discovered = if believed { self.history.discovered_inputs(target) } else { &[] };
        self.graph.dirtying_inputs(target).iter().chain(extra).chain(discovered).copied()
    }
}

/// The time of a file as the rule counts it: the whole first second of 1970 is one nanosecond into it,
/// because ninja keeps 0 for "missing".
fn counted(mtime: Mtime) -> Mtime {
    if (0..1_000_000_000).contains(&mtime) { 1 } else { mtime }
}

/// Where the ladder puts what it finds: the same walk decides and explains.
trait Sink {
    fn push(&mut self, reason: impl FnOnce() -> Reason);
    fn is_full(&self) -> bool;
}

/// Wants to know only whether there is a reason. Allocates nothing.
struct AnyReason(bool);

impl Sink for AnyReason {
    fn push(&mut self, _: impl FnOnce() -> Reason) {
        self.0 = true;
    }
    fn is_full(&self) -> bool {
        self.0
    }
}

/// Wants all reasons; of a kind that says the same of every output, the first.
#[derive(Default)]
struct AllReasons {
    reasons: Vec<Reason>,
    seen: HashSet<(&'static str, FileId)>,
}

impl AllReasons {
    /// Adds a reason unless there is one of its kind about the same path: an input can be named twice.
    fn push_once(&mut self, reason: Reason) {
        if self.seen.insert((reason.code(), reason.path())) {
            self.reasons.push(reason);
        }
    }
}

impl Sink for AllReasons {
    fn push(&mut self, reason: impl FnOnce() -> Reason) {
        let reason = reason();
        let once_per_target = matches!(
            reason,
            Reason::NeverBuilt { .. } | Reason::CommandChanged { .. } | Reason::InputNewer { .. }
        );
        if !once_per_target || self.reasons.iter().all(|other| other.code() != reason.code()) {
            self.push_once(reason);
        }
    }
    fn is_full(&self) -> bool {
        false
    }
}
