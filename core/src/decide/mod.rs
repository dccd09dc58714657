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

mod compare;
mod dyndep;
mod ladder;
mod record;
mod resume;
mod standing;
mod walk;

pub(crate) use compare::is_same_stamp;
pub use compare::{Likeness, compare};
pub use record::wants_content;
pub use resume::Settled;
pub use standing::Standing;
use walk::Frame;

use crate::content::Content;
use crate::graph::Graph;
use crate::history::{Discovered, Dyndep, History, Recorded, Rule, Unknown};
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
    found: Found,
    /// Validations of targets met since the caller last asked.
    validations: Vec<FileId>,
    stack: Vec<Frame>,
    /// Dyndep files that were not loaded yet.
    pending_dyndeps: HashSet<FileId>,
}

/// What a walk finds out.
#[derive(Default)]
struct Found {
    /// Indexed by file; see the `F_` bits.
    files: Vec<u8>,
    /// Indexed by file: the time that counts. 0 for a missing file, a borrowed time for a phony name.
    times: Vec<Mtime>,
    /// Indexed by target; see the `T_` bits.
    targets: Vec<u8>,
    /// Targets that were judged, inputs before users.
    order: Vec<TargetId>,
    extra: HashMap<TargetId, Extra>,
    extra_producers: HashMap<FileId, TargetId>,
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

impl<'a> Decision<'a> {
    /// A walk that has not begun. Cost: one pass over all files.
    #[must_use]
    pub fn new(graph: &'a Graph, history: &'a History, snapshot: &'a Snapshot, mode: Mode) -> Self {
        let mut decision = Self {
            graph,
            history,
            snapshot,
            mode,
            found: Found::default(),
            validations: Vec::new(),
            stack: Vec::new(),
            pending_dyndeps: graph.targets().filter_map(|target| graph.dyndep(target)).collect(),
        };
        decision.reset();
        decision
    }

    /// Judges everything that `requests` need, validations included: the whole decision in one call.
    ///
    /// # Errors
    /// In [`Mode::LookPast`] only a cycle stops the walk.
    pub fn judge_all(&mut self, requests: &[FileId]) -> Result<(), Stop> {
        if self.mode == Mode::LookPast {
            self.load_all_dyndeps()?;
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

    fn load_all_dyndeps(&mut self) -> Result<(), Stop> {
        // Sorted, so that the answer does not depend on the order of a hash table.
        let mut dyndeps: Vec<_> = self.pending_dyndeps.iter().copied().collect();
        dyndeps.sort_unstable();
        dyndeps.into_iter().try_for_each(|dyndep| self.load_dyndep(dyndep))
    }

    /// Forgets all that was judged, to judge by another history. What dyndep files added stays, and so does
    /// which files were discovered.
    pub fn restart(&mut self, history: &'a History) {
        self.history = history;
        self.reset();
    }

    fn reset(&mut self) {
        let n_files = self.graph.files.len();
        self.found.files.resize(n_files, 0);
        self.found.times.clear();
        self.found.times.resize(n_files, 0);
        self.found.targets.iter_mut().for_each(|bits| *bits &= T_RESTAT);
        self.found.targets.resize(self.graph.n_targets(), 0);
        self.found.order.clear();
        self.validations.clear();
        self.stack.clear();
        for file in self.graph.files.ids() {
            self.look_up(file);
        }
    }

    /// Takes over from the snapshot how a file looks.
    fn look_up(&mut self, file: FileId) {
        let (bits, time) = match self.snapshot.stat(file) {
            // A file that nobody asked for must not pass for one that is there.
            Stat::Unknown | Stat::Missing => (F_MISSING, 0),
            Stat::Unreadable(_) => (F_UNREADABLE, 0),
            Stat::Present(meta)
                if cfg!(windows) && self.mode == Mode::AsNinja && meta.mtime == NINJAS_ZERO =>
            {
                (F_MISSING, 0)
            }
            Stat::Present(meta) => (0, counted(meta.mtime)),
        };
        self.found.times[file.index()] = time;
        // Sources need no visit; what ninja would stop at is dealt with when it is met.
        let stops = self.mode == Mode::AsNinja && (bits & F_UNREADABLE != 0 || time == SILENT);
        let settled = if stops || self.producer(file).is_some() {
            0
        } else if bits & (F_MISSING | F_UNREADABLE) != 0 {
            F_SETTLED | F_DIRTY | F_CERTAIN
        } else {
            F_SETTLED
        };
        self.found.files[file.index()] = (self.found.files[file.index()] & F_DISCOVERED) | bits | settled;
    }

    /// Takes the validations of the targets met since the last call.
    pub fn take_validations(&mut self) -> Vec<FileId> {
        std::mem::take(&mut self.validations)
    }

    /// The targets that were judged, phony ones included, inputs before users.
    #[must_use]
    pub fn judged(&self) -> &[TargetId] {
        &self.found.order
    }

    /// The verdict on a target; fresh for one that nobody asked for.
    #[must_use]
    pub fn verdict(&self, target: TargetId) -> Verdict {
        match self.found.targets[target.index()] & (T_DIRTY | T_CERTAIN) {
            0 => Verdict::Fresh,
            T_DIRTY => Verdict::Pending,
            _ => Verdict::Stale,
        }
    }

    /// Whether a file is stale, or a missing source.
    #[must_use]
    pub fn is_dirty(&self, file: FileId) -> bool {
        self.found.files[file.index()] & F_DIRTY != 0
    }

    /// Whether some target that was judged discovered `file` as an input.
    #[must_use]
    pub fn is_discovered(&self, file: FileId) -> bool {
        self.found.files[file.index()] & F_DISCOVERED != 0
    }

    /// Whether neither the target nor anything before it has to run.
    #[must_use]
    pub fn is_ready(&self, target: TargetId) -> bool {
        let bits = self.found.targets[target.index()];
        bits & T_DONE != 0 && bits & T_NOT_READY == 0
    }

    /// What makes `file`, dyndep files considered.
    #[must_use]
    pub fn producer(&self, file: FileId) -> Option<TargetId> {
        match self.graph.producer(file) {
            None if !self.found.extra_producers.is_empty() => self.found.extra_producers.get(&file).copied(),
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
        self.graph.flags(target).restat || self.found.targets[target.index()] & T_RESTAT != 0
    }
    // ---- shared by the steps -------------------------------------------------------------------------

    fn keep_newest(&self, newest: &mut Option<FileId>, input: FileId) {
        if newest.is_none_or(|best| self.found.times[input.index()] > self.found.times[best.index()]) {
            *newest = Some(input);
        }
    }

    fn own_time(&self, file: FileId) -> Mtime {
        match self.snapshot.stat(file) {
            Stat::Present(meta) => counted(meta.mtime),
            _ => 0,
        }
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
        self.found.files[file.index()] & F_SETTLED != 0
    }

    fn extra_of(&self, target: TargetId) -> Option<&Extra> {
        if self.found.extra.is_empty() { None } else { self.found.extra.get(&target) }
    }

    /// The inputs that can make the target stale, in the order in which they are visited.
    fn dirtying_inputs(&self, target: TargetId) -> impl Iterator<Item = FileId> + use<'_, 'a> {
        let extra = self.extra_of(target).map_or(&[][..], |extra| &extra.inputs);
        let believed = self.found.targets[target.index()] & T_DEPS_BELIEVED != 0;
        let discovered = if believed { self.history.discovered_inputs(target) } else { &[] };
        self.graph.dirtying_inputs(target).iter().chain(extra).chain(discovered).copied()
    }
}

/// The time of a file as the rule counts it: the whole first second of 1970 is one nanosecond into it,
/// because ninja keeps 0 for "missing". On Windows it takes no such care.
fn counted(mtime: Mtime) -> Mtime {
    if cfg!(unix) && (0..1_000_000_000).contains(&mtime) { 1 } else { mtime }
}

/// The time that ninja takes for an error which it says nothing about: its -1.
const SILENT: Mtime = if cfg!(windows) { NINJAS_ZERO - 100 } else { -1 };

/// What ninja on Windows counts from, which it takes for the time of a missing file.
const NINJAS_ZERO: Mtime = 978_296_800_000_000_000;
