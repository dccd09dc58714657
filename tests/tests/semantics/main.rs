//! docs/SEMANTICS.md, row by row: each rule on the smallest build that shows it, on a disk in memory.
//!
//! Answers are compared as text: the verdict, then all reasons with both values compared.

mod directories;
mod discovered;
mod document;
mod dyndep;
mod files;
mod obstacles;
mod odd_times;
mod phony;
mod records;
mod times;
mod upstream;

use std::collections::BTreeSet;
use upcheck::collect::{Disk, MemoryDisk, collect};
use upcheck::{
    Decision, FileId, Flags, Graph, History, Mode, Mtime, Plan, Reason, Record, Report, Snapshot, Stop,
    TargetDesc, TargetId, Unknown, Verdict,
};

/// A second, in nanoseconds.
const S: Mtime = 1_000_000_000;
/// The hash of every command, as long as no test changes it.
const HASH: u64 = 7;
const ELOOP: i32 = 40;

const PLAIN: Flags = Flags { phony: false, restat: false, generator: false, name_only: false };
const PHONY: Flags = Flags { phony: true, ..PLAIN };
const RESTAT: Flags = Flags { restat: true, ..PLAIN };
const GENERATOR: Flags = Flags { generator: true, ..PLAIN };

/// A build of a few targets, described by hand.
#[derive(Default)]
struct World {
    graph: Graph,
    history: History,
    disk: MemoryDisk,
    /// Files that nobody asks the disk about.
    not_asked: BTreeSet<FileId>,
}

impl World {
    fn new() -> Self {
        Self::default()
    }

    /// Adds `outputs: explicit | implicit || order-only |@ validations`.
    fn target(&mut self, flags: Flags, statement: &str) -> TargetId {
        self.dyndep_target(flags, statement, None)
    }

    fn dyndep_target(&mut self, flags: Flags, statement: &str, dyndep: Option<&str>) -> TargetId {
        let dyndep = dyndep.map(|path| self.id(path));
        let mut roles: [Vec<FileId>; 5] = Default::default();
        let mut role = 0;
        for word in statement.replace(':', " : ").split_whitespace() {
            match word {
                ":" => role = 1,
                "|" => role = 2,
                "||" => role = 3,
                "|@" => role = 4,
                path => roles[role].push(self.graph.files.intern(path.as_bytes())),
            }
        }
        let [outputs, explicit, implicit, order_only, validations] = &roles;
        let desc = TargetDesc { outputs, explicit, implicit, order_only, validations, dyndep, flags };
        let target = self.graph.add_target(desc).expect("each output has one producer");
        self.history.set_command_hash(target, HASH);
        target
    }

    fn id(&mut self, path: &str) -> FileId {
        self.graph.files.intern(path.as_bytes())
    }

    /// Puts a file on the disk.
    fn file(&mut self, path: &str, mtime: Mtime) {
        self.id(path);
        self.disk.touch(path, mtime);
    }

    /// Records a success.
    fn record(&mut self, output: &str, mtime: Mtime) {
        let output = self.id(output);
        self.history.set_record(output, Record { command_hash: HASH, mtime });
    }

    /// An output as a build at that time leaves it: on the disk and on record.
    fn built(&mut self, output: &str, mtime: Mtime) {
        self.file(output, mtime);
        self.record(output, mtime);
    }

    fn discovered(&mut self, target: TargetId, inputs: &[&str], recorded: Option<Mtime>) {
        let inputs: Vec<_> = inputs.iter().map(|path| self.id(path)).collect();
        self.history.set_discovered_inputs(target, inputs, recorded);
    }

    fn snapshot(&self, disk: &dyn Disk) -> Snapshot {
        let files = &self.graph.files;
        let wanted = files.ids().filter(|file| !self.not_asked.contains(file));
        collect(disk, &Plan::new(files, wanted), 1)
    }

    /// The verdict on what makes `path`, when it is all that is asked for.
    fn answer(&self, path: &str) -> String {
        self.answer_for(path, path)
    }

    /// The verdict on what makes `path`, when `request` is asked for.
    fn answer_for(&self, request: &str, path: &str) -> String {
        self.answer_from(&self.disk, request, path)
    }

    fn answer_from(&self, disk: &dyn Disk, request: &str, path: &str) -> String {
        let snapshot = self.snapshot(disk);
        match self.judge(&snapshot, Mode::LookPast, request) {
            Ok(decision) => self.words(&decision, path),
            Err(stop) => format!("{stop:?}"),
        }
    }

    /// The same by the rules of [`Mode::AsNinja`].
    fn exact_answer(&self, path: &str) -> Result<String, Stop> {
        let snapshot = self.snapshot(&self.disk);
        Ok(self.words(&self.judge(&snapshot, Mode::AsNinja, path)?, path))
    }

    fn judge<'a>(&'a self, snapshot: &'a Snapshot, mode: Mode, request: &str) -> Result<Decision<'a>, Stop> {
        let mut decision = Decision::new(&self.graph, &self.history, snapshot, mode);
        decision.judge_all(&[self.lookup(request)])?;
        Ok(decision)
    }

    fn report(&self, request: &str) -> Report {
        let snapshot = self.snapshot(&self.disk);
        let decision = self.judge(&snapshot, Mode::LookPast, request).expect("no cycle");
        Report::new(&decision, &self.graph, |_| true)
    }

    fn lookup(&self, path: &str) -> FileId {
        self.graph.files.lookup(path.as_bytes()).expect("the build names it")
    }

    fn words(&self, decision: &Decision<'_>, path: &str) -> String {
        let target = decision.producer(self.lookup(path)).expect("something makes it");
        if !decision.judged().contains(&target) {
            return "not judged".into();
        }
        let reasons: Vec<_> =
            decision.reasons(target).iter().map(|reason| reason_words(&self.graph, reason)).collect();
        match decision.verdict(target) {
            Verdict::Fresh => {
                assert!(reasons.is_empty(), "a fresh target with reasons: {reasons:?}");
                "fresh".into()
            }
            Verdict::Pending => format!("pending: {}", reasons.join(", ")),
            Verdict::Stale => format!("stale: {}", reasons.join(", ")),
        }
    }
}

fn reason_words(graph: &Graph, reason: &Reason) -> String {
    let path = |file| String::from_utf8_lossy(graph.files.path(file)).into_owned();
    let name = |target| String::from_utf8_lossy(graph.name(target)).into_owned();
    let about = path(reason.path());
    let detail = match reason {
        Reason::InputNewer { input_mtime, output, output_mtime, recorded, .. } => format!(
            " at {} > {} at {}{}",
            time(*input_mtime),
            path(*output),
            time(*output_mtime),
            if *recorded { " on record" } else { "" }
        ),
        Reason::CommandChanged { recorded_hash, hash, .. } => format!(" from {recorded_hash} to {hash}"),
        Reason::DepsOutdated { output_mtime, recorded_mtime, .. } => {
            format!(" at {} > {} on record", time(*output_mtime), time(*recorded_mtime))
        }
        Reason::DepsUnknown { why: Unknown::NotRecorded, .. } => " not recorded".into(),
        Reason::DepsUnknown { why: Unknown::NoDepfile { depfile }, .. } => {
            format!(" without {}", depfile.escape_ascii())
        }
        Reason::DepsUnknown { why: Unknown::OtherOutput { depfile, names }, .. } => {
            format!(" but {} names {}", depfile.escape_ascii(), names.escape_ascii())
        }
        Reason::DepsUnknown { why: Unknown::Broken { message }, .. }
        | Reason::DyndepBroken { message, .. } => format!(" broken: {message}"),
        Reason::DyndepStale { producer, .. } => format!(" to be made by {}", name(*producer)),
        Reason::UpstreamStale { producer, .. } => format!(" made by {}", name(*producer)),
        Reason::Unreadable { errno, .. } => format!(" error {errno}"),
        _ => String::new(),
    };
    format!("{} {about}{detail}", reason.code())
}

fn time(mtime: Mtime) -> String {
    if mtime % S == 0 { format!("{}s", mtime / S) } else { format!("{mtime}ns") }
}

/// `out` made from `in`, up to date: made at 2 s from an input of 1 s.
fn one_target(flags: Flags) -> World {
    let mut world = World::new();
    world.target(flags, "out: in");
    world.file("in", S);
    world.built("out", 2 * S);
    world
}

/// `mid` made from `in`, and `out` made from `mid`, all up to date.
fn two_targets(first: Flags, second: Flags) -> World {
    let mut world = World::new();
    world.target(first, "mid: in");
    world.target(second, "out: mid");
    world.file("in", S);
    for (output, flags) in [("mid", first), ("out", second)] {
        if !flags.phony {
            world.built(output, 2 * S);
        }
    }
    world
}

/// `out` made from `in`, up to date, with what its command has discovered.
fn discovering(inputs: &[&str], recorded: Option<Mtime>) -> World {
    let mut world = World::new();
    let target = world.target(PLAIN, "out: in");
    world.file("in", S);
    world.built("out", 2 * S);
    world.discovered(target, inputs, recorded);
    world
}
