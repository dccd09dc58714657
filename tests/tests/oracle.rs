//! A naive second opinion. [`Oracle`] is docs/SEMANTICS.md in plain maps and recursion; on random
//! worlds in memory it must agree with [`Decision`] on what is judged, on each verdict and on each reason.
//!
//! `UPCHECK_CASES` sets how many worlds each test tries.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use upcheck::collect::{MemoryDisk, collect};
use upcheck::{
    Decision, Dyndep, DyndepEntry, FileId, Flags, Graph, History, MOST_CAUSES, Mode, Mtime, Plan, Reason,
    Record, Report, Snapshot, Stop, TargetDesc, TargetId, Unknown, Verdict,
};

/// A second, in nanoseconds.
const S: Mtime = 1_000_000_000;
/// The error of a disk that would not say.
const ELOOP: i32 = 40;

// ---- worlds -------------------------------------------------------------------------------------------

/// A build, by path.
#[derive(Clone, Debug, Default)]
struct World {
    targets: Vec<Target>,
    /// Those that are not here are missing.
    files: BTreeMap<String, State>,
    records: BTreeMap<String, Record>,
    /// `None` for one that is broken. Those that are not here were not read.
    dyndeps: BTreeMap<String, Option<Vec<Extra>>>,
    /// What is asked for.
    requests: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Present(Mtime),
    Unreadable,
    /// Missing as far as anyone knows, because nobody asks.
    NotAsked,
}

#[derive(Clone, Debug, Default)]
struct Target {
    outputs: Vec<String>,
    explicit: Vec<String>,
    implicit: Vec<String>,
    order_only: Vec<String>,
    validations: Vec<String>,
    dyndep: Option<String>,
    phony: bool,
    restat: bool,
    generator: bool,
    hash: u64,
    discovered: Discovered,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Discovered {
    #[default]
    Untracked,
    Known(Vec<String>, Option<Mtime>),
    Unknown(Unknown),
}

/// What a dyndep file says of one target.
#[derive(Clone, Debug)]
struct Extra {
    target: usize,
    outputs: Vec<String>,
    inputs: Vec<String>,
    restat: bool,
}

// ---- the oracle ---------------------------------------------------------------------------------------

/// Judged targets.
type Verdicts = BTreeMap<usize, Verdict>;

/// Reasons: code, path, and the target before this one that the reason passes on.
type Why = BTreeSet<(&'static str, String, Option<usize>)>;

struct Oracle {
    world: World,
    exact: bool,
    /// Dyndep files that were looked into, and whether they are broken.
    loaded: HashMap<String, bool>,
    visiting: HashSet<usize>,
    verdicts: Verdicts,
    /// Neither they nor anything before them has to run.
    ready: HashSet<usize>,
    /// Targets whose discovered inputs are believed.
    believed: HashSet<usize>,
    /// Files that are stale, missing or unreadable; whether nothing that runs before can change that.
    dirty: HashMap<String, bool>,
    /// Times that phony names borrow.
    lent: HashMap<String, Mtime>,
    queue: Vec<String>,
}

impl Oracle {
    fn judge(world: &World, exact: bool) -> Result<Self, &'static str> {
        let mut oracle = Self {
            world: world.clone(),
            exact,
            loaded: HashMap::new(),
            visiting: HashSet::new(),
            verdicts: BTreeMap::new(),
            ready: HashSet::new(),
            believed: HashSet::new(),
            dirty: HashMap::new(),
            lent: HashMap::new(),
            queue: Vec::new(),
        };
        let dyndeps = oracle.world.targets.iter().filter_map(|target| target.dyndep.clone());
        for dyndep in dyndeps.filter(|_| !exact).collect::<BTreeSet<_>>() {
            oracle.load(&dyndep)?;
        }
        for request in &world.requests {
            oracle.queue = vec![request.clone()];
            let mut next = 0;
            while let Some(file) = oracle.queue.get(next).cloned() {
                oracle.visit(&file)?;
                next += 1;
            }
        }
        Ok(oracle)
    }

    fn visit(&mut self, file: &str) -> Result<(), &'static str> {
        let Some(t) = self.producer(file) else {
            self.look_at(file)?;
            if !self.exists(file) {
                self.dirty.insert(file.into(), true);
            }
            return Ok(());
        };
        if self.verdicts.contains_key(&t) {
            return Ok(());
        }
        if !self.visiting.insert(t) {
            return Err("cycle");
        }
        if let Some(dyndep) = self.world.targets[t].dyndep.clone().filter(|d| !self.loaded.contains_key(d)) {
            self.visit(&dyndep)?;
            if self.is_ready(&dyndep) {
                self.load(&dyndep)?;
            }
        }
        let target = self.world.targets[t].clone();
        for output in &target.outputs {
            self.look_at(output)?;
        }
        if self.exact && matches!(target.discovered, Discovered::Unknown(Unknown::Broken { .. })) {
            return Err("broken");
        }
        let deps = self.deps_reason(&target);
        if deps.is_none() {
            self.believed.insert(t);
        }
        self.queue.extend(target.validations.clone());
        let dirtying = self.dirtying_inputs(t);
        let (mut fresh, mut dirty, mut ready) = (Vec::new(), Vec::new(), true);
        for input in &dirtying {
            self.visit(input)?;
            ready &= self.is_ready(input);
            match self.dirty.get(input) {
                Some(&certain) => dirty.push(certain),
                None => fresh.push(input.clone()),
            }
        }
        for input in &target.order_only {
            self.visit(input)?;
            ready &= self.is_ready(input);
        }
        let dyndep = self.dyndep_reason(&target);
        let out_of_date = !self.output_reasons(t, &fresh).is_empty();
        let mut certain = deps.is_some() || dirty.contains(&true) || out_of_date;
        certain |= dyndep.as_ref().is_some_and(|(stale, _)| !stale);
        let verdict = match (certain, dirty.is_empty() && dyndep.is_none()) {
            (true, _) => Verdict::Stale,
            (false, false) => Verdict::Pending,
            (false, true) => Verdict::Fresh,
        };
        self.verdicts.insert(t, verdict);
        let has_inputs = !dirtying.is_empty() || !target.order_only.is_empty();
        if ready && (verdict == Verdict::Fresh || (target.phony && !has_inputs)) {
            self.ready.insert(t);
        }
        for output in &target.outputs {
            if verdict != Verdict::Fresh {
                let passes_on = certain && (target.phony || !target.restat);
                self.dirty.insert(output.clone(), passes_on);
            } else if target.phony && self.is_missing(output) {
                let newest = dirtying.iter().map(|input| self.time(input)).max();
                self.lent.insert(output.clone(), newest.unwrap_or(0).max(0));
            }
        }
        Ok(())
    }

    /// All reasons of a target that is not fresh.
    fn reasons(&self, t: usize) -> Why {
        if self.verdicts[&t] == Verdict::Fresh {
            return Why::new();
        }
        let target = &self.world.targets[t];
        let (dirty, fresh): (Vec<_>, Vec<_>) =
            self.dirtying_inputs(t).into_iter().partition(|input| self.dirty.contains_key(input));
        let mut why = self.output_reasons(t, &fresh);
        why.extend(self.deps_reason(target).map(|code| (code, target.outputs[0].clone(), None)));
        for input in dirty {
            let (code, producer) = match self.producer(&input) {
                Some(p) if self.is_bare_phony(p) && self.is_missing(&input) => ("phony-missing", None),
                Some(p) => ("upstream-stale", Some(p)),
                None if self.state(&input) == Some(State::Unreadable) => ("unreadable", None),
                None => ("input-missing", None),
            };
            why.insert((code, input, producer));
        }
        if let Some((is_stale, dyndep)) = self.dyndep_reason(target) {
            let producer = self.producer(&dyndep).filter(|_| is_stale);
            why.insert(("deps-unknown", dyndep, producer));
        }
        why
    }

    /// Whether something keeps the target from being judged, and not only one before it.
    fn has_obstacle(&self, t: usize) -> bool {
        self.reasons(t).iter().any(|(code, _, upstream)| match *code {
            "input-missing" | "unreadable" => true,
            // A phony has no discovered inputs.
            "deps-unknown" => self.world.targets[t].phony && upstream.is_none(),
            _ => false,
        })
    }

    /// The reasons behind a target that are not passed on from one before it.
    fn root_causes(&self, t: usize) -> BTreeSet<(&'static str, String)> {
        let mut causes = BTreeSet::new();
        for (code, path, upstream) in self.reasons(t) {
            match upstream {
                Some(upstream) => causes.extend(self.root_causes(upstream)),
                None => {
                    causes.insert((code, path));
                }
            }
        }
        causes
    }

    /// Why the outputs are out of date, given the inputs that are fresh.
    fn output_reasons(&self, t: usize, fresh: &[String]) -> Why {
        let target = &self.world.targets[t];
        let mut why = Why::new();
        let mut add = |code, path: &String| why.insert((code, path.clone(), None));
        let newest = fresh.iter().map(|input| self.time(input)).max();
        let (mut compared, mut unrecorded, mut changed, mut missing) = (None, None, None, None);
        for output in &target.outputs {
            match self.state(output) {
                Some(State::Unreadable) => _ = add("unreadable", output),
                Some(State::Present(_)) => {
                    let record = self.world.records.get(output);
                    let own = Some(self.own_time(output)).filter(|_| !target.restat || record.is_none());
                    let times = [own, record.map(|record| record.mtime)];
                    compared = compared.or(times.into_iter().flatten().find(|&time| newest > Some(time)));
                    if record.is_none() {
                        unrecorded.get_or_insert(output);
                    }
                    if record.is_some_and(|record| record.command_hash != target.hash) {
                        changed.get_or_insert(output);
                    }
                }
                _ if target.phony && !self.is_bare_phony(t) => {}
                _ if target.phony => _ = missing.get_or_insert(output),
                _ => _ = add("output-missing", output),
            }
        }
        if target.phony {
            missing.map(|output| add("phony-missing", output));
            return why;
        }
        for input in fresh.iter().filter(|input| compared.is_some_and(|time| self.time(input) > time)) {
            add("input-newer", input);
        }
        if !target.generator {
            unrecorded.map(|output| add("never-built", output));
            changed.map(|output| add("command-changed", output));
        }
        why
    }

    /// A phony name for nothing.
    fn is_bare_phony(&self, t: usize) -> bool {
        let target = &self.world.targets[t];
        target.phony
            && [&target.explicit, &target.implicit, &target.order_only].iter().all(|run| run.is_empty())
    }

    fn deps_reason(&self, target: &Target) -> Option<&'static str> {
        match &target.discovered {
            Discovered::Unknown(_) => Some("deps-unknown"),
            Discovered::Known(_, Some(recorded)) if self.own_time(&target.outputs[0]) > *recorded => {
                Some("deps-outdated")
            }
            _ => None,
        }
    }

    /// Why the dyndep file leaves the verdict open: whether it is stale (broken otherwise), and its path.
    fn dyndep_reason(&self, target: &Target) -> Option<(bool, String)> {
        let dyndep = target.dyndep.clone().filter(|_| !self.exact)?;
        let stale = self.producer(&dyndep).is_some() && self.dirty.contains_key(&dyndep);
        let broken = self.loaded.get(&dyndep) == Some(&true);
        (stale || broken).then_some((stale, dyndep))
    }

    /// Takes over what a dyndep file says; of a broken one nothing counts.
    fn load(&mut self, dyndep: &str) -> Result<(), &'static str> {
        let extras = self.world.dyndeps.get(dyndep).cloned().flatten();
        let claimed: Vec<_> = extras.iter().flatten().flat_map(|extra| &extra.outputs).collect();
        let twice = claimed.len() != claimed.iter().collect::<HashSet<_>>().len();
        let broken = twice || extras.is_none() || claimed.iter().any(|file| self.producer(file).is_some());
        for extra in extras.into_iter().flatten().filter(|_| !broken) {
            let target = &mut self.world.targets[extra.target];
            target.outputs.extend(extra.outputs);
            target.implicit.extend(extra.inputs);
            target.restat |= extra.restat;
        }
        self.loaded.insert(dyndep.into(), broken);
        if broken && self.exact { Err("broken") } else { Ok(()) }
    }

    fn look_at(&self, file: &str) -> Result<(), &'static str> {
        match self.state(file) {
            Some(State::Unreadable) if self.exact => Err("unreadable"),
            Some(State::Present(-1)) if self.exact => Err("silent"),
            _ => Ok(()),
        }
    }

    fn dirtying_inputs(&self, t: usize) -> Vec<String> {
        let target = &self.world.targets[t];
        let mut inputs = [target.explicit.clone(), target.implicit.clone()].concat();
        if let Discovered::Known(discovered, _) = &target.discovered
            && self.believed.contains(&t)
        {
            inputs.extend(discovered.clone());
        }
        inputs
    }

    fn producer(&self, file: &str) -> Option<usize> {
        self.world.targets.iter().position(|target| target.outputs.iter().any(|output| output == file))
    }

    fn is_ready(&self, file: &str) -> bool {
        self.producer(file).is_none_or(|t| self.ready.contains(&t))
    }

    fn state(&self, file: &str) -> Option<State> {
        self.world.files.get(file).copied()
    }

    fn exists(&self, file: &str) -> bool {
        matches!(self.state(file), Some(State::Present(_)))
    }

    fn is_missing(&self, file: &str) -> bool {
        matches!(self.state(file), None | Some(State::NotAsked))
    }

    /// The time of a file as it is compared; 0 where there is none.
    fn own_time(&self, file: &str) -> Mtime {
        match self.state(file) {
            Some(State::Present(0..S)) => 1,
            Some(State::Present(mtime)) => mtime,
            _ => 0,
        }
    }

    fn time(&self, file: &str) -> Mtime {
        self.lent.get(file).copied().unwrap_or_else(|| self.own_time(file))
    }
}

// ---- the same world for the code under test -------------------------------------------------------------

/// A world as the library takes it.
struct Described {
    graph: Graph,
    history: History,
    snapshot: Snapshot,
    requests: Vec<FileId>,
}

fn describe(world: &World) -> Described {
    let mut graph = Graph::default();
    let mut history = History::default();
    let mut disk = MemoryDisk::new();
    for target in &world.targets {
        let mut ids =
            |paths: &[String]| paths.iter().map(|path| intern(&mut graph, path)).collect::<Vec<_>>();
        let [outputs, explicit, implicit, order_only, validations] =
            [&target.outputs, &target.explicit, &target.implicit, &target.order_only, &target.validations]
                .map(|paths| ids(paths));
        let dyndep = target.dyndep.as_ref().map(|path| intern(&mut graph, path));
        let flags = Flags { phony: target.phony, restat: target.restat, generator: target.generator };
        let id = graph
            .add_target(TargetDesc {
                outputs: &outputs,
                explicit: &explicit,
                implicit: &implicit,
                order_only: &order_only,
                validations: &validations,
                dyndep,
                flags,
            })
            .expect("each output has one producer");
        history.set_command_hash(id, target.hash);
        match &target.discovered {
            Discovered::Untracked => {}
            Discovered::Unknown(why) => history.set_discovered_unknown(id, why.clone()),
            Discovered::Known(paths, recorded) => {
                let inputs: Vec<_> = paths.iter().map(|path| intern(&mut graph, path)).collect();
                history.set_discovered_inputs(id, inputs, *recorded);
            }
        }
    }
    for (path, &record) in &world.records {
        history.set_record(intern(&mut graph, path), record);
    }
    for (path, extras) in &world.dyndeps {
        let dyndep = match extras {
            None => Dyndep::Broken("broken".into()),
            Some(extras) => Dyndep::Loaded(
                extras
                    .iter()
                    .map(|extra| DyndepEntry {
                        target: TargetId::new(extra.target),
                        outputs: extra.outputs.iter().map(|path| intern(&mut graph, path)).collect(),
                        inputs: extra.inputs.iter().map(|path| intern(&mut graph, path)).collect(),
                        restat: extra.restat,
                    })
                    .collect(),
            ),
        };
        history.set_dyndep(intern(&mut graph, path), dyndep);
    }
    let requests = world.requests.iter().map(|path| intern(&mut graph, path)).collect();
    for (path, state) in &world.files {
        match *state {
            State::Present(mtime) => disk.touch(path, mtime),
            State::Unreadable => disk.fail(path, ELOOP),
            State::NotAsked => disk.touch(path, 5 * S),
        }
    }
    let asked = |file: &FileId| {
        let path = String::from_utf8_lossy(graph.files.path(*file)).into_owned();
        world.files.get(&path) != Some(&State::NotAsked)
    };
    let plan = Plan::new(&graph.files, graph.files.ids().filter(asked));
    let snapshot = collect(&disk, &plan, 1);
    Described { graph, history, snapshot, requests }
}

fn intern(graph: &mut Graph, path: &str) -> FileId {
    graph.files.intern(path.as_bytes())
}

impl Described {
    fn judge(&self, exact: bool) -> Result<Decision<'_>, &'static str> {
        let mode = if exact { Mode::AsNinja } else { Mode::LookPast };
        let mut decision = Decision::new(&self.graph, &self.history, &self.snapshot, mode);
        match decision.judge_all(&self.requests) {
            Ok(()) => Ok(decision),
            Err(Stop::Cycle(_)) => Err("cycle"),
            Err(Stop::Unreadable { .. }) => Err("unreadable"),
            Err(Stop::Broken(_)) => Err("broken"),
            Err(Stop::Silent) => Err("silent"),
            Err(_) => Err("unheard of"),
        }
    }

    fn reasons(&self, decision: &Decision<'_>, target: TargetId) -> Why {
        let reasons = decision.reasons(target);
        let why: Why = reasons.iter().map(|reason| self.reason(reason)).collect();
        assert_eq!(why.len(), reasons.len(), "a reason is given twice: {reasons:?}");
        why
    }

    fn reason(&self, reason: &Reason) -> (&'static str, String, Option<usize>) {
        (reason.code(), self.path(reason.path()), reason.upstream().map(TargetId::index))
    }

    fn path(&self, file: FileId) -> String {
        String::from_utf8_lossy(self.graph.files.path(file)).into_owned()
    }
}

fn verdicts(decision: &Decision<'_>) -> Verdicts {
    decision.judged().iter().map(|&target| (target.index(), decision.verdict(target))).collect()
}

/// The verdicts on a world in the usual mode; `None` if there is a cycle.
fn answer(world: &World) -> Option<Verdicts> {
    describe(world).judge(false).ok().map(|decision| verdicts(&decision))
}

// ---- random worlds --------------------------------------------------------------------------------------

/// Random numbers that a failing case shrinks towards zero: "as good builds leave it".
struct Dice<'a> {
    numbers: std::slice::Iter<'a, u16>,
    /// How many of a hundred things are odd.
    odds: usize,
}

impl Dice<'_> {
    fn below(&mut self, n: usize) -> usize {
        usize::from(*self.numbers.next().unwrap_or(&0)) % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    fn odd(&mut self) -> bool {
        self.below(100) >= 100 - self.odds
    }

    fn some<T: Clone>(&mut self, pool: &[T], most: usize) -> Vec<T> {
        let n = self.below(most + 1);
        (0..n).map(|_| pool[self.below(pool.len())].clone()).collect()
    }
}

/// Sources are made at 1 s to 4 s, outputs at 5 s, all at once; odd files at one of these.
const ODD_TIMES: [Mtime; 12] =
    [6 * S, 9 * S, 5 * S + 1, 5 * S - 1, 4 * S, S, S - 1, 7, 0, -1, -2 * S, -3 * S];

/// A random world, from the bottom up.
fn roll(numbers: &[u16]) -> World {
    let mut dice = Dice { numbers: numbers.iter(), odds: 0 };
    dice.odds = [3, 1, 10, 30][dice.below(4)];
    let mut world = World::default();
    let mut pool: Vec<String> = (0..4).map(|n| format!("s{n}")).collect();
    for source in pool.iter().chain(&["h0".into(), "h1".into(), "dd".into()]) {
        let seconds = dice.below(4) as Mtime + 1;
        put(&mut world, &mut dice, source, Some(seconds * S));
    }
    let n_targets = 1 + dice.below(14);
    for t in 0..n_targets {
        let target = roll_target(&mut world, &mut dice, t, n_targets, &pool);
        pool.extend(target.outputs.iter().cloned());
        // More likely to be used again than the sources.
        pool.push(target.outputs[0].clone());
        if target.dyndep.is_some() {
            pool.push(format!("x{t}"));
        }
        world.targets.push(target);
    }
    roll_dyndeps(&mut world, &mut dice);
    world.requests = match dice.below(3) {
        0 => world.targets.iter().rev().flat_map(|target| target.outputs.clone()).collect(),
        _ => dice.some(&pool, 3),
    };
    world
}

fn roll_target(
    world: &mut World,
    dice: &mut Dice<'_>,
    t: usize,
    n_targets: usize,
    pool: &[String],
) -> Target {
    let kind = dice.below(12);
    let mut target =
        Target { phony: (7..10).contains(&kind), hash: 1 + dice.below(2) as u64, ..Target::default() };
    target.restat = kind == 5 || kind == 6 || kind == 11;
    target.generator = kind == 10 || kind == 11;
    let n_outputs = [1, 1, 1, 2, 3][dice.below(5)];
    target.outputs = (0..n_outputs).map(|n| format!("t{t}.{n}")).collect();
    target.explicit = dice.some(pool, 3);
    target.implicit = dice.some(pool, 1);
    target.order_only = dice.some(pool, 1);
    if dice.one_in(5) {
        // Any target: a validation may use what it validates.
        target.validations.push(format!("t{}.0", dice.below(n_targets)));
    }
    if dice.one_in(80) {
        // Any target: a cycle, now and then.
        target.implicit.push(format!("t{}.0", dice.below(n_targets)));
    }
    if dice.one_in(6) {
        let dyndep = if dice.one_in(2) { "dd".into() } else { pool[dice.below(pool.len())].clone() };
        let role = if dice.one_in(2) { &mut target.implicit } else { &mut target.order_only };
        role.push(dyndep.clone());
        target.dyndep = Some(dyndep);
    }
    if !target.phony {
        let seen = [pool, &["h0".into(), "h1".into(), "h2".into()]].concat();
        let recorded = if dice.odd() { ODD_TIMES[dice.below(ODD_TIMES.len())] } else { 5 * S };
        target.discovered = match dice.below(8) {
            0..4 => Discovered::Untracked,
            4 | 5 => Discovered::Known(dice.some(&seen, 3), None),
            6 => Discovered::Known(dice.some(&seen, 3), Some(recorded)),
            _ if !dice.odd() => Discovered::Known(dice.some(&seen, 3), Some(recorded)),
            _ => Discovered::Unknown(match dice.below(4) {
                0 => Unknown::NotRecorded,
                1 => Unknown::NoDepfile { depfile: Box::default() },
                2 => Unknown::OtherOutput { depfile: Box::default(), names: Box::default() },
                _ => Unknown::Broken { message: "broken".into() },
            }),
        };
    }
    for output in target.outputs.clone() {
        put_output(world, dice, &target, &output);
    }
    target
}

fn put_output(world: &mut World, dice: &mut Dice<'_>, target: &Target, output: &str) {
    if target.phony {
        let time = dice.one_in(4).then_some(5 * S);
        put(world, dice, output, time);
        return;
    }
    put(world, dice, output, Some(5 * S));
    let mut record = Record { command_hash: target.hash, mtime: 5 * S };
    if dice.odd() {
        match dice.below(3) {
            0 => return,
            1 => record.command_hash = 9,
            _ => record.mtime = ODD_TIMES[dice.below(ODD_TIMES.len())],
        }
    }
    world.records.insert(output.into(), record);
}

fn put(world: &mut World, dice: &mut Dice<'_>, path: &str, time: Option<Mtime>) {
    let state = match dice.odd() {
        false => time.map(State::Present),
        true => match dice.below(8) {
            0 => None,
            1 => Some(State::Unreadable),
            2 => Some(State::NotAsked),
            _ => Some(State::Present(ODD_TIMES[dice.below(ODD_TIMES.len())])),
        },
    };
    world.files.extend(state.map(|state| (path.to_owned(), state)));
}

/// Fills every dyndep file, one entry for each of its targets.
fn roll_dyndeps(world: &mut World, dice: &mut Dice<'_>) {
    let mut files: BTreeMap<String, Vec<Extra>> = BTreeMap::new();
    for t in 0..world.targets.len() {
        let target = world.targets[t].clone();
        let Some(dyndep) = target.dyndep.clone() else { continue };
        let before: Vec<String> = world.targets[..t]
            .iter()
            .flat_map(|target| target.outputs.clone())
            .chain(["s0".into()])
            .collect();
        let mut extra =
            Extra { target: t, outputs: Vec::new(), inputs: dice.some(&before, 2), restat: false };
        extra.restat = dice.one_in(4);
        if dice.one_in(3) {
            extra.outputs.push(format!("x{t}"));
        }
        if dice.odd() && dice.one_in(4) {
            // It is taken: the dyndep file is broken.
            extra.outputs.push("t0.0".into());
        }
        put_output(world, dice, &target, &format!("x{t}"));
        files.entry(dyndep).or_default().push(extra);
    }
    for (dyndep, extras) in files {
        if !dice.odd() {
            world.dyndeps.insert(dyndep, Some(extras));
        } else if dice.one_in(2) {
            world.dyndeps.insert(dyndep, None);
        }
    }
}

fn worlds() -> impl Strategy<Value = World> {
    prop::collection::vec(any::<u16>(), 0..700).prop_map(|numbers| roll(&numbers))
}

// ---- what must hold -------------------------------------------------------------------------------------

/// Tries a property on as many worlds as asked for.
fn for_worlds(cases: u32, property: impl Fn(World) -> Result<(), TestCaseError>) {
    let cases = match std::env::var("UPCHECK_CASES") {
        Ok(text) => text.parse().expect("UPCHECK_CASES is a number"),
        Err(_) => cases,
    };
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    if let Err(error) = TestRunner::new(config).run(&worlds(), property) {
        panic!("{error}");
    }
}

#[test]
fn decisions_equal_the_oracle() {
    let seen = RefCell::new(BTreeMap::<String, usize>::new());
    for_worlds(4_000, |world| {
        let described = describe(&world);
        // Ninja keeps a name dirty that it took for a missing source before a dyndep file gave it to a phony.
        let odd_phony = world.targets.iter().any(|target| target.phony && target.dyndep.is_some());
        for exact in [false, true].into_iter().filter(|exact| !(*exact && odd_phony)) {
            let expected = Oracle::judge(&world, exact);
            let found = described.judge(exact);
            let (decision, oracle) = match (found, expected) {
                (Ok(decision), Ok(oracle)) => (decision, oracle),
                (found, expected) => {
                    let (found, expected) = (found.err(), expected.err());
                    prop_assert_eq!(found, expected, "exact: {}", exact);
                    let stop = found.unwrap_or_default();
                    *seen.borrow_mut().entry(format!("exact {exact}: {stop}")).or_default() += 1;
                    continue;
                }
            };
            prop_assert_eq!(&verdicts(&decision), &oracle.verdicts, "exact: {}", exact);
            prop_assert_eq!(decision.judged().len(), oracle.verdicts.len(), "a target is judged twice");
            for &target in decision.judged() {
                let t = target.index();
                let name = &world.targets[t].outputs[0];
                let why = described.reasons(&decision, target);
                prop_assert_eq!(&why, &oracle.reasons(t), "{}, exact: {}", name, exact);
                prop_assert_eq!(decision.is_ready(target), oracle.ready.contains(&t), "{} is ready", name);
                prop_assert_eq!(why.is_empty(), oracle.verdicts[&t] == Verdict::Fresh, "{}", name);
                let mut seen = seen.borrow_mut();
                *seen.entry(format!("exact {exact}: {:?}", oracle.verdicts[&t])).or_default() += 1;
                for (code, ..) in why {
                    *seen.entry(format!("exact {exact}: {code}")).or_default() += 1;
                }
            }
        }
        Ok(())
    });
    // What the worlds never showed was not tested.
    let seen = seen.into_inner();
    let verdicts = ["Fresh", "Pending", "Stale"];
    let codes = [
        "output-missing",
        "input-missing",
        "input-newer",
        "command-changed",
        "never-built",
        "deps-unknown",
        "deps-outdated",
        "upstream-stale",
        "phony-missing",
        "unreadable",
    ];
    for what in verdicts.iter().chain(&codes).chain(&["cycle"]) {
        for exact in [false, true] {
            let impossible = exact && *what == "unreadable";
            let n = seen.get(&format!("exact {exact}: {what}")).copied().unwrap_or(0);
            assert!(n > 20 || impossible, "the worlds show {what} {n} times only: {seen:#?}");
        }
    }
    for stop in ["unreadable", "broken", "silent"] {
        let n = seen.get(&format!("exact true: {stop}")).copied().unwrap_or(0);
        assert!(n > 20, "the worlds show {stop} {n} times only: {seen:#?}");
    }
}

#[test]
fn report_counts_equal_a_brute_force_count() {
    for_worlds(2_000, |world| {
        let described = describe(&world);
        let (Ok(decision), Ok(oracle)) = (described.judge(false), Oracle::judge(&world, false)) else {
            return Ok(());
        };
        for every in [1, 2] {
            let is_listed = |t: usize| t.is_multiple_of(every);
            let report = Report::new(&decision, &described.graph, |target| is_listed(target.index()));
            check_report(&world, &described, &oracle, &report, is_listed)?;
        }
        Ok(())
    });
}

fn check_report(
    world: &World,
    described: &Described,
    oracle: &Oracle,
    report: &Report,
    is_listed: impl Fn(usize) -> bool,
) -> Result<(), TestCaseError> {
    let counts = |t: usize| is_listed(t) && (!world.targets[t].phony || oracle.has_obstacle(t));
    let listed: Verdicts =
        oracle.verdicts.iter().filter(|(t, _)| counts(**t)).map(|(&t, &verdict)| (t, verdict)).collect();
    let n_targets = oracle.verdicts.keys().filter(|t| !world.targets[**t].phony || counts(**t)).count();
    let count = |verdict| listed.values().filter(|other| **other == verdict).count();
    prop_assert_eq!(report.n_targets, n_targets);
    prop_assert_eq!(report.n_stale, count(Verdict::Stale));
    prop_assert_eq!(report.n_pending, count(Verdict::Pending));
    prop_assert_eq!(report.n_fresh(), report.n_targets - report.n_stale - report.n_pending);
    prop_assert_eq!(report.is_fresh(), report.stale.is_empty());

    let stale: Verdicts = report.stale.iter().map(|stale| (stale.target.index(), stale.verdict)).collect();
    let not_fresh: Verdicts = listed.into_iter().filter(|(_, verdict)| *verdict != Verdict::Fresh).collect();
    prop_assert_eq!(report.stale.len(), stale.len(), "a target is listed twice");
    prop_assert_eq!(&stale, &not_fresh);
    let mut before = BTreeSet::new();
    for stale in &report.stale {
        let why: Why = stale.reasons.iter().map(|reason| described.reason(reason)).collect();
        prop_assert_eq!(&why, &oracle.reasons(stale.target.index()));
        let after = |upstream: &usize| not_fresh.contains_key(upstream) && !before.contains(upstream);
        prop_assert!(
            !why.iter().any(|(.., upstream)| upstream.as_ref().is_some_and(after)),
            "users before inputs"
        );
        before.insert(stale.target.index());
    }

    let mut causes: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for t in not_fresh.keys() {
        let own = oracle.root_causes(*t);
        for code in own.iter().map(|(code, _)| code).collect::<BTreeSet<_>>() {
            kinds.entry(code).or_default().1 += 1;
        }
        for cause in own {
            *causes.entry(cause).or_default() += 1;
        }
    }
    for (code, _) in causes.keys() {
        kinds.entry(code).or_default().0 += 1;
    }
    prop_assert_eq!(report.n_root_causes, causes.len());
    let found = report.root_causes.iter().map(|cause| {
        let (code, path, _) = described.reason(&cause.reason);
        ((code, path), cause.n_targets)
    });
    prop_assert_eq!(found.collect::<BTreeMap<_, _>>(), causes);
    let found = report.kinds.iter().map(|kind| (kind.code, (kind.n_causes, kind.n_targets)));
    prop_assert_eq!(found.collect::<BTreeMap<_, _>>(), kinds);
    prop_assert!(report.root_causes.is_sorted_by_key(|cause| Reverse(cause.n_targets)));
    prop_assert!(report.kinds.is_sorted_by_key(|kind| Reverse(kind.n_targets)));
    Ok(())
}

#[test]
fn the_biggest_of_very_many_root_causes_are_counted_in_full() {
    let n = MOST_CAUSES + 100;
    let mut world = World::default();
    for t in 0..n {
        let mut explicit = vec![format!("gone{t}")];
        if t >= n - 50 {
            // Met last, and still the biggest.
            explicit.push("shared".into());
        }
        world.targets.push(Target { outputs: vec![format!("t{t}")], explicit, ..Target::default() });
        world.files.insert(format!("t{t}"), State::Present(5 * S));
        world.records.insert(format!("t{t}"), Record { command_hash: 0, mtime: 5 * S });
        world.requests.push(format!("t{t}"));
    }
    world.files.insert("shared".into(), State::Present(6 * S));
    let described = describe(&world);
    let report = Report::new(&described.judge(false).expect("no cycle"), &described.graph, |_| true);
    assert_eq!((report.n_root_causes, report.root_causes.len()), (n + 1, MOST_CAUSES));
    assert_eq!(described.path(report.root_causes[0].reason.path()), "shared");
    assert_eq!(report.root_causes[0].n_targets, 50);
    assert!(report.root_causes[1..].iter().all(|cause| cause.n_targets == 1));
    let kinds: Vec<_> = report.kinds.iter().map(|kind| (kind.code, kind.n_causes, kind.n_targets)).collect();
    assert_eq!(kinds, [("input-missing", n, n), ("input-newer", 1, 50)]);
}

// ---- properties that need no oracle ---------------------------------------------------------------------

/// Everything that was not fresh before still is not.
fn none_became_fresh(before: &Verdicts, after: &Verdicts) -> Result<(), TestCaseError> {
    for (t, verdict) in before {
        let now = after.get(t).copied();
        prop_assert!(*verdict == Verdict::Fresh || now != Some(Verdict::Fresh), "t{} became fresh", t);
    }
    Ok(())
}

fn sources(world: &World) -> Vec<String> {
    let mut files = world.files.clone();
    for output in world.targets.iter().flat_map(|target| &target.outputs) {
        files.remove(output);
    }
    // What a dyndep file may give a producer is no source.
    files.into_keys().filter(|path| !path.starts_with('x')).collect()
}

#[test]
fn touching_or_removing_a_source_makes_nothing_fresh() {
    for_worlds(1_000, |world| {
        let Some(before) = answer(&world) else { return Ok(()) };
        for source in sources(&world) {
            let mut touched = world.clone();
            if let Some(State::Present(mtime)) = touched.files.get_mut(&source) {
                *mtime = 20 * S;
                let after = answer(&touched).expect("no new cycle");
                none_became_fresh(&before, &after)?;
                prop_assert_eq!(before.len(), after.len());
            }
            let mut removed = world.clone();
            removed.files.remove(&source);
            none_became_fresh(&before, &answer(&removed).expect("no new cycle"))?;
        }
        Ok(())
    });
}

#[test]
fn losing_a_record_or_changing_a_command_makes_its_target_stale_and_nothing_fresh() {
    for_worlds(1_000, |world| {
        let Some(before) = answer(&world) else { return Ok(()) };
        for t in 0..world.targets.len() {
            let target = &world.targets[t];
            if target.generator || target.phony {
                continue;
            }
            let mut forgotten = world.clone();
            forgotten.records.remove(&target.outputs[0]);
            let mut changed = world.clone();
            changed.targets[t].hash = 100;
            for after in [&forgotten, &changed].map(|world| answer(world).expect("no new cycle")) {
                none_became_fresh(&before, &after)?;
                prop_assert!(after.get(&t).is_none_or(|verdict| *verdict == Verdict::Stale), "t{}", t);
            }
        }
        Ok(())
    });
}

#[test]
fn asking_for_more_or_in_another_order_changes_no_verdict() {
    for_worlds(1_000, |world| {
        let Some(together) = answer(&world) else { return Ok(()) };
        let mut one_by_one = Verdicts::new();
        for request in &world.requests {
            let alone = World { requests: vec![request.clone()], ..world.clone() };
            one_by_one.extend(answer(&alone).expect("no new cycle"));
        }
        prop_assert_eq!(&together, &one_by_one);
        let requests = world.requests.iter().rev().cloned().collect();
        prop_assert_eq!(Some(together), answer(&World { requests, ..world }));
        Ok(())
    });
}

#[test]
fn the_order_of_inputs_and_whether_they_are_on_the_command_line_does_not_matter() {
    for_worlds(1_000, |world| {
        let mut shuffled = world.clone();
        for target in &mut shuffled.targets {
            target.explicit.append(&mut target.implicit);
            target.explicit.reverse();
            target.order_only.reverse();
            target.validations.reverse();
        }
        prop_assert_eq!(answer(&world), answer(&shuffled));
        Ok(())
    });
}

#[test]
fn times_count_only_against_each_other() {
    for_worlds(1_000, |mut world| {
        // Below that, zero and the first second of 1970 have a meaning.
        each_time(&mut world, |time| time.max(S));
        let mut later = world.clone();
        each_time(&mut later, |time| time + 1_000_000 * S);
        prop_assert_eq!(answer(&world), answer(&later));
        Ok(())
    });
}

fn each_time(world: &mut World, change: impl Fn(Mtime) -> Mtime) {
    for state in world.files.values_mut() {
        if let State::Present(mtime) = state {
            *mtime = change(*mtime);
        }
    }
    for record in world.records.values_mut() {
        record.mtime = change(record.mtime);
    }
    for target in &mut world.targets {
        if let Discovered::Known(_, Some(recorded)) = &mut target.discovered {
            *recorded = change(*recorded);
        }
    }
}

#[test]
fn without_dyndep_files_both_modes_agree_wherever_ninja_has_an_answer() {
    for_worlds(1_000, |mut world| {
        for target in &mut world.targets {
            target.dyndep = None;
        }
        if let Ok(exact) = describe(&world).judge(true) {
            prop_assert_eq!(answer(&world), Some(verdicts(&exact)));
        }
        Ok(())
    });
}

#[test]
fn after_a_whole_build_everything_is_fresh() {
    for_worlds(1_000, |mut world| {
        build(&mut world);
        if let Some(verdicts) = answer(&world) {
            prop_assert!(verdicts.values().all(|verdict| *verdict == Verdict::Fresh), "{:?}", verdicts);
            prop_assert!(
                world.requests.iter().all(|path| path.starts_with(['s', 'x'])) || !verdicts.is_empty()
            );
        }
        Ok(())
    });
}

/// Brings everything up to date.
fn build(world: &mut World) {
    let headers = ["s0", "s1", "s2", "s3", "h0", "h1", "h2", "dd"].map(String::from);
    for source in headers {
        world.files.insert(source, State::Present(S));
    }
    for t in 0..world.targets.len() {
        let target = &mut world.targets[t];
        let is_known = matches!(target.discovered, Discovered::Known(..) | Discovered::Untracked);
        if !is_known {
            target.discovered = Discovered::Untracked;
        }
        if let Discovered::Known(_, Some(recorded)) = &mut target.discovered {
            *recorded = 5 * S;
        }
        for output in target.outputs.iter().chain([&format!("x{t}")]) {
            world.files.insert(output.clone(), State::Present(5 * S));
            world.records.insert(output.clone(), Record { command_hash: target.hash, mtime: 5 * S });
        }
        if let Some(dyndep) = target.dyndep.clone() {
            let extras = world.dyndeps.entry(dyndep).or_default().get_or_insert_default();
            extras.iter_mut().for_each(|extra| extra.outputs.retain(|output| output != "t0.0"));
        }
    }
}
