//! docs/SEMANTICS.md, row by row: each rule on the smallest build that shows it, on a disk in memory.
//!
//! Answers are compared as text: the verdict, then all reasons with both values compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use upcheck::collect::{Disk, MemoryDisk, collect, os_disk};
use upcheck::{
    Decision, Discovered, Dyndep, DyndepEntry, FileId, Flags, Graph, History, Mode, Mtime, Plan, Reason,
    Record, Report, Snapshot, Stop, TargetDesc, TargetId, Unknown, Verdict,
};
use upcheck_ninja::{Build, NinjaVersion, Options, command_hash, dry_run};
use upcheck_tests::space::Space;
use upcheck_tests::tools;

/// A second, in nanoseconds.
const S: Mtime = 1_000_000_000;
/// The hash of every command, as long as no test changes it.
const HASH: u64 = 7;
const ELOOP: i32 = 40;

const PLAIN: Flags = Flags { phony: false, restat: false, generator: false };
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

// ---- what is there and what is not --------------------------------------------------------------------

#[test]
fn a_target_with_everything_in_place_is_fresh() {
    assert_eq!(one_target(PLAIN).answer("out"), "fresh");
    assert_eq!(two_targets(PLAIN, PLAIN).answer("out"), "fresh");
}

#[test]
fn a_missing_output_makes_its_target_stale() {
    let mut world = one_target(PLAIN);
    world.disk.remove("out");
    assert_eq!(world.answer("out"), "stale: output-missing out");
}

#[test]
fn each_missing_output_is_named() {
    let mut world = World::new();
    world.target(PLAIN, "a b c: in");
    world.file("in", S);
    world.built("a", 2 * S);
    world.record("b", 2 * S);
    world.record("c", 2 * S);
    assert_eq!(world.answer("a"), "stale: output-missing b, output-missing c");
    assert_eq!(world.answer("c"), "stale: output-missing b, output-missing c");
}

#[test]
fn a_missing_source_makes_its_users_stale_and_nobody_else() {
    let mut world = one_target(PLAIN);
    world.target(PLAIN, "other: there");
    world.target(PHONY, "all: out other");
    world.file("there", S);
    world.built("other", 2 * S);
    world.disk.remove("in");
    assert_eq!(world.answer_for("all", "out"), "stale: input-missing in");
    assert_eq!(world.answer_for("all", "other"), "fresh");
}

#[test]
fn a_missing_discovered_source_makes_its_target_stale() {
    let mut world = World::new();
    let target = world.target(PLAIN, "out: in");
    world.file("in", S);
    world.built("out", 2 * S);
    world.discovered(target, &["gone.h"], None);
    assert_eq!(world.answer("out"), "stale: input-missing gone.h");
    assert_eq!(world.exact_answer("out"), Ok("stale: input-missing gone.h".into()));
}

#[test]
fn a_missing_order_only_source_does_not_count() {
    let mut world = World::new();
    world.target(PLAIN, "out: in || gone");
    world.file("in", S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn a_file_that_nobody_asked_about_never_passes_for_one_that_is_there() {
    let mut world = one_target(PLAIN);
    let input = world.id("in");
    world.not_asked.insert(input);
    assert_eq!(world.answer("out"), "stale: input-missing in");
    let mut world = one_target(PLAIN);
    let output = world.id("out");
    world.not_asked.insert(output);
    assert_eq!(world.answer("out"), "stale: output-missing out");
    let snapshot = world.snapshot(&world.disk);
    assert_eq!(snapshot.stat(output), upcheck::Stat::Unknown, "the snapshot keeps the difference");
}

// ---- times --------------------------------------------------------------------------------------------

#[test]
fn a_newer_input_makes_its_target_stale() {
    let mut world = one_target(PLAIN);
    world.file("in", 3 * S);
    let newer = "input-newer in at 3s > out at 2s";
    assert_eq!(world.answer("out"), format!("stale: {newer}"));
}

#[test]
fn one_nanosecond_is_newer() {
    let mut world = one_target(PLAIN);
    world.file("in", 2 * S + 1);
    assert_eq!(world.answer("out"), "stale: input-newer in at 2000000001ns > out at 2s");
}

#[test]
fn equal_times_are_fresh() {
    let mut world = one_target(PLAIN);
    world.file("in", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn all_newer_inputs_are_named_the_newest_first() {
    let mut world = World::new();
    world.target(PLAIN, "out: a b c");
    world.built("out", 2 * S);
    for (input, seconds) in [("a", 3), ("b", 4), ("c", 1)] {
        world.file(input, seconds * S);
    }
    let expected = "stale: input-newer b at 4s > out at 2s, input-newer a at 3s > out at 2s";
    assert_eq!(world.answer("out"), expected);
}

#[test]
fn an_implicit_input_counts_like_an_explicit_one() {
    let mut world = World::new();
    world.target(PLAIN, "out: in | tool");
    world.file("in", S);
    world.file("tool", 3 * S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "stale: input-newer tool at 3s > out at 2s");
}

#[test]
fn the_time_of_an_order_only_input_does_not_count() {
    let mut world = World::new();
    world.target(PLAIN, "out: in || stamp");
    world.file("in", S);
    world.file("stamp", 9 * S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn a_stale_order_only_input_is_judged_and_leaves_its_user_fresh() {
    let mut world = World::new();
    world.target(PLAIN, "stamp:");
    world.target(PLAIN, "out: in || stamp");
    world.file("in", S);
    world.built("out", 2 * S);
    world.record("stamp", 2 * S);
    assert_eq!(world.answer_for("out", "stamp"), "stale: output-missing stamp");
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn each_output_is_compared_with_the_newest_input() {
    let mut world = World::new();
    world.target(PLAIN, "a b: in");
    world.file("in", 3 * S);
    world.built("a", 4 * S);
    world.built("b", 2 * S);
    assert_eq!(world.answer("a"), "stale: input-newer in at 3s > b at 2s");
}

#[test]
fn an_input_newer_than_the_time_on_record_makes_its_target_stale() {
    let mut world = one_target(PLAIN);
    world.file("in", 3 * S);
    world.file("out", 4 * S);
    assert_eq!(world.answer("out"), "stale: input-newer in at 3s > out at 2s on record");
}

#[test]
fn an_output_changed_by_hand_is_not_noticed() {
    let mut world = one_target(PLAIN);
    world.disk.set_clock(9 * S);
    world.disk.write("out", b"edited");
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn an_input_replaced_by_an_older_one_is_not_noticed() {
    let mut world = one_target(PLAIN);
    world.disk.set_clock(S / 2 + S);
    world.disk.write("in", b"restored from a backup");
    assert_eq!(world.answer("out"), "fresh");
}

// ---- restat -------------------------------------------------------------------------------------------

#[test]
fn with_restat_and_a_record_the_time_of_the_output_does_not_count() {
    let mut world = one_target(RESTAT);
    world.file("in", 3 * S);
    world.record("out", 3 * S);
    assert_eq!(world.answer("out"), "fresh", "the file is older than its input, the record is not");
    world.file("in", 4 * S);
    assert_eq!(world.answer("out"), "stale: input-newer in at 4s > out at 3s on record");
}

#[test]
fn with_restat_and_no_record_the_time_of_the_output_counts() {
    let mut world = World::new();
    world.target(Flags { restat: true, ..GENERATOR }, "out: in");
    world.file("in", 3 * S);
    world.file("out", 2 * S);
    assert_eq!(world.answer("out"), "stale: input-newer in at 3s > out at 2s");
    world.file("out", 3 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn restat_does_not_excuse_a_missing_output() {
    let mut world = one_target(RESTAT);
    world.disk.remove("out");
    assert_eq!(world.answer("out"), "stale: output-missing out");
}

// ---- commands and records -----------------------------------------------------------------------------

#[test]
fn a_changed_command_makes_its_target_stale() {
    let mut world = one_target(PLAIN);
    let output = world.id("out");
    world.history.set_record(output, Record { command_hash: 5, mtime: 2 * S });
    assert_eq!(world.answer("out"), "stale: command-changed out from 5 to 7");
}

#[test]
fn the_record_of_each_output_must_have_the_command() {
    let mut world = World::new();
    world.target(PLAIN, "a b: in");
    world.file("in", S);
    world.built("a", 2 * S);
    world.built("b", 2 * S);
    let second = world.id("b");
    world.history.set_record(second, Record { command_hash: 5, mtime: 2 * S });
    assert_eq!(world.answer("a"), "stale: command-changed b from 5 to 7");
}

#[test]
fn a_target_without_a_record_was_never_built() {
    let mut world = World::new();
    world.target(PLAIN, "out: in");
    world.file("in", S);
    world.file("out", 2 * S);
    assert_eq!(world.answer("out"), "stale: never-built out");
}

#[test]
fn a_generator_needs_no_record_and_may_change_its_command() {
    let mut world = World::new();
    world.target(GENERATOR, "out: in");
    world.file("in", S);
    world.file("out", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
    let output = world.id("out");
    world.history.set_record(output, Record { command_hash: 5, mtime: 2 * S });
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn a_generator_with_a_record_is_held_to_its_time() {
    let mut world = one_target(GENERATOR);
    world.file("in", 3 * S);
    world.file("out", 4 * S);
    assert_eq!(world.answer("out"), "stale: input-newer in at 3s > out at 2s on record");
}

#[test]
fn several_reasons_are_all_given() {
    let mut world = World::new();
    let target = world.target(PLAIN, "a b: gone in");
    world.history.set_discovered_unknown(target, Unknown::NotRecorded);
    world.file("in", 3 * S);
    world.file("a", 2 * S);
    let expected = "stale: deps-unknown a not recorded, input-missing gone, \
                    input-newer in at 3s > a at 2s, never-built a, output-missing b";
    assert_eq!(world.answer("a"), expected);
}

// ---- discovered inputs --------------------------------------------------------------------------------

/// `out` made from `in`, up to date, with what its command has discovered.
fn discovering(inputs: &[&str], recorded: Option<Mtime>) -> World {
    let mut world = World::new();
    let target = world.target(PLAIN, "out: in");
    world.file("in", S);
    world.built("out", 2 * S);
    world.discovered(target, inputs, recorded);
    world
}

fn unknown(why: Unknown) -> World {
    let mut world = one_target(PLAIN);
    let target = world.graph.producer(world.lookup("out")).expect("there is one");
    world.history.set_discovered_unknown(target, why);
    world
}

#[test]
fn a_discovered_input_counts_like_any_other() {
    let mut world = discovering(&["a.h"], Some(2 * S));
    world.file("a.h", S);
    assert_eq!(world.answer("out"), "fresh");
    world.file("a.h", 3 * S);
    assert_eq!(world.answer("out"), "stale: input-newer a.h at 3s > out at 2s");
}

#[test]
fn a_discovered_input_can_be_made_by_a_target() {
    let mut world = discovering(&["a.h"], Some(2 * S));
    world.target(PLAIN, "a.h: gen");
    world.file("gen", 3 * S);
    world.built("a.h", S);
    assert_eq!(world.answer("out"), "stale: upstream-stale a.h made by a.h");
    assert_eq!(world.answer_for("out", "a.h"), "stale: input-newer gen at 3s > a.h at 1s");
}

#[test]
fn discovered_inputs_that_are_not_recorded_make_the_target_stale() {
    let world = unknown(Unknown::NotRecorded);
    assert_eq!(world.answer("out"), "stale: deps-unknown out not recorded");
}

#[test]
fn a_missing_depfile_makes_the_target_stale() {
    let world = unknown(Unknown::NoDepfile { depfile: (*b"out.d").into() });
    assert_eq!(world.answer("out"), "stale: deps-unknown out without out.d");
}

#[test]
fn a_depfile_about_another_output_makes_the_target_stale() {
    let world = unknown(Unknown::OtherOutput { depfile: (*b"out.d").into(), names: (*b"old").into() });
    assert_eq!(world.answer("out"), "stale: deps-unknown out but out.d names old");
}

#[test]
fn a_broken_depfile_makes_the_target_stale_and_is_an_error_in_exact_mode() {
    let world = unknown(Unknown::Broken { message: "out.d: expected ':'".into() });
    assert_eq!(world.answer("out"), "stale: deps-unknown out broken: out.d: expected ':'");
    assert_eq!(world.exact_answer("out"), Err(Stop::Broken("out.d: expected ':'".into())));
}

#[test]
fn an_output_newer_than_its_recorded_inputs_makes_them_outdated() {
    let mut world = discovering(&["a.h"], Some(2 * S));
    world.file("a.h", S);
    world.file("out", 3 * S);
    assert_eq!(world.answer("out"), "stale: deps-outdated out at 3s > 2s on record");
}

#[test]
fn an_output_as_old_as_its_recorded_inputs_or_older_leaves_them_believed() {
    let mut world = discovering(&["a.h"], Some(3 * S));
    world.file("a.h", S);
    assert_eq!(world.answer("out"), "fresh");
    world.file("out", 3 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn only_the_first_output_is_compared_with_the_time_of_the_recorded_inputs() {
    let mut world = World::new();
    let target = world.target(PLAIN, "a b: in");
    world.file("in", S);
    world.built("a", 2 * S);
    world.built("b", 9 * S);
    world.discovered(target, &[], Some(2 * S));
    assert_eq!(world.answer("b"), "fresh");
}

#[test]
fn a_missing_output_does_not_make_its_recorded_inputs_outdated() {
    let mut world = discovering(&["a.h"], Some(2 * S));
    world.file("a.h", 3 * S);
    world.disk.remove("out");
    assert_eq!(world.answer("out"), "stale: output-missing out", "they are believed, and older than nothing");
}

#[test]
fn inputs_from_a_depfile_have_no_time_of_their_own() {
    let mut world = discovering(&["a.h"], None);
    world.file("a.h", S);
    world.file("out", 9 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn discovered_inputs_that_are_not_believed_are_not_followed() {
    let mut world = discovering(&["a.h"], Some(2 * S));
    world.target(PLAIN, "a.h: gen");
    world.file("gen", 3 * S);
    world.built("a.h", S);
    world.file("out", 3 * S);
    assert_eq!(world.answer("out"), "stale: deps-outdated out at 3s > 2s on record");
    assert_eq!(world.answer_for("out", "a.h"), "not judged");
}

#[test]
fn a_target_without_discovered_inputs_is_not_asked_for_any() {
    let world = one_target(PLAIN);
    let target = world.graph.producer(world.lookup("out")).expect("there is one");
    assert_eq!(world.history.discovered(target), &Discovered::Untracked);
    assert_eq!(world.answer("out"), "fresh");
}

// ---- phony --------------------------------------------------------------------------------------------

#[test]
fn a_phony_without_inputs_and_without_a_file_makes_its_users_stale_always() {
    let mut world = World::new();
    world.target(PHONY, "always:");
    world.target(PLAIN, "out: always");
    world.built("out", 9 * S);
    assert_eq!(world.answer_for("out", "always"), "stale: phony-missing always");
    assert_eq!(world.answer("out"), "stale: phony-missing always");
}

#[test]
fn a_phony_without_inputs_but_with_a_file_counts_as_that_file() {
    let mut world = World::new();
    world.target(PHONY, "header:");
    world.target(PLAIN, "out: header");
    world.file("header", S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
    world.file("header", 3 * S);
    assert_eq!(world.answer("out"), "stale: input-newer header at 3s > out at 2s");
}

#[test]
fn a_phony_without_a_file_lends_its_users_the_time_of_its_newest_input() {
    let mut world = World::new();
    world.target(PHONY, "group: a b");
    world.target(PLAIN, "out: group");
    world.file("a", S);
    world.file("b", 2 * S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
    world.file("b", 3 * S);
    assert_eq!(world.answer("out"), "stale: input-newer group at 3s > out at 2s");
}

#[test]
fn a_chain_of_phonies_lends_the_newest_time_of_all() {
    let mut world = World::new();
    world.target(PHONY, "first: deep");
    world.target(PHONY, "second: first shallow");
    world.target(PHONY, "third: second");
    world.target(PLAIN, "out: third");
    world.file("deep", 3 * S);
    world.file("shallow", S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "stale: input-newer third at 3s > out at 2s");
    world.file("deep", S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn a_phony_with_a_file_hides_the_times_of_its_inputs() {
    let mut world = World::new();
    world.target(PHONY, "group: a");
    world.target(PLAIN, "out: group");
    world.file("group", S);
    world.file("a", 9 * S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn a_phony_lends_nothing_of_its_order_only_inputs() {
    let mut world = World::new();
    world.target(PHONY, "group: || a");
    world.target(PLAIN, "out: group");
    world.file("a", 9 * S);
    world.built("out", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn a_phony_is_stale_when_an_input_is_and_passes_that_on() {
    let mut world = two_targets(PHONY, PLAIN);
    world.disk.remove("in");
    assert_eq!(world.answer_for("out", "mid"), "stale: input-missing in");
    assert_eq!(world.answer("out"), "stale: upstream-stale mid made by mid");
}

#[test]
fn a_missing_phony_with_inputs_is_fresh() {
    let world = two_targets(PLAIN, PHONY);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn a_phony_with_nothing_but_validations_counts_as_one_without_inputs() {
    let mut world = one_target(PLAIN);
    world.target(PHONY, "group: |@ out");
    world.target(PLAIN, "user: group");
    world.built("user", 2 * S);
    assert_eq!(world.answer("user"), "stale: phony-missing group");
}

#[test]
fn a_phony_that_nothing_uses_is_no_work_even_if_it_is_stale_always() {
    let mut world = World::new();
    world.target(PHONY, "all:");
    assert_eq!(world.answer("all"), "stale: phony-missing all");
    assert!(world.report("all").is_fresh());
}

#[test]
fn a_phony_that_nothing_uses_does_not_hide_a_missing_source() {
    let mut world = World::new();
    world.target(PHONY, "all: gone");
    assert_eq!(world.answer("all"), "stale: input-missing gone");
    let report = world.report("all");
    assert_eq!(listed_names(&world, &report), ["all"], "ninja has an error here");
    assert!(!report.is_fresh());
}

#[test]
fn a_phony_of_which_another_output_is_missing_is_blamed_for_that_one() {
    let mut world = World::new();
    world.target(PHONY, "here gone:");
    world.target(PLAIN, "out: here");
    world.file("here", S);
    world.built("out", 2 * S);
    assert_eq!(world.answer_for("out", "here"), "stale: phony-missing gone");
    assert_eq!(world.answer("out"), "stale: upstream-stale here made by here");
}

#[test]
fn a_phony_is_not_listed_for_what_a_target_before_it_is_listed_for() {
    let mut world = two_targets(PLAIN, PHONY);
    world.file("in", 3 * S);
    let report = world.report("out");
    assert_eq!(listed_names(&world, &report), ["mid"]);
    assert_eq!((report.n_targets, report.n_stale, report.n_pending), (1, 1, 0));
}

#[test]
fn a_phony_is_listed_for_what_only_it_is_kept_from_by() {
    let mut world = two_targets(PHONY, PLAIN);
    world.disk.remove("in");
    let report = world.report("out");
    assert_eq!(listed_names(&world, &report), ["mid", "out"]);
    assert_eq!((report.n_targets, report.n_stale, report.n_root_causes), (2, 2, 1));
}

fn listed_names(world: &World, report: &Report) -> Vec<String> {
    let name = |target| String::from_utf8_lossy(world.graph.name(target)).into_owned();
    report.stale.iter().map(|stale| name(stale.target)).collect()
}

// ---- upstream and pending -----------------------------------------------------------------------------

#[test]
fn what_is_made_from_a_stale_target_is_stale() {
    let mut world = two_targets(PLAIN, PLAIN);
    world.file("in", 3 * S);
    assert_eq!(world.answer_for("out", "mid"), "stale: input-newer in at 3s > mid at 2s");
    assert_eq!(world.answer("out"), "stale: upstream-stale mid made by mid");
}

#[test]
fn what_is_made_from_a_stale_target_with_restat_is_pending() {
    let mut world = two_targets(RESTAT, PLAIN);
    world.file("in", 3 * S);
    assert_eq!(world.answer_for("out", "mid"), "stale: input-newer in at 3s > mid at 2s on record");
    assert_eq!(world.answer("out"), "pending: upstream-stale mid made by mid");
}

#[test]
fn pending_is_passed_on_through_phonies_and_commands() {
    let mut world = two_targets(RESTAT, PHONY);
    world.target(PLAIN, "far: out");
    world.target(PLAIN, "further: far");
    world.built("far", 2 * S);
    world.built("further", 2 * S);
    world.file("in", 3 * S);
    assert_eq!(world.answer_for("further", "out"), "pending: upstream-stale mid made by mid");
    assert_eq!(world.answer_for("further", "far"), "pending: upstream-stale out made by out");
    assert_eq!(world.answer("further"), "pending: upstream-stale far made by far");
}

#[test]
fn a_reason_of_its_own_makes_a_pending_target_stale() {
    let mut world = two_targets(RESTAT, PLAIN);
    world.file("in", 3 * S);
    world.disk.remove("out");
    assert_eq!(world.answer("out"), "stale: upstream-stale mid made by mid, output-missing out");
}

#[test]
fn one_certain_input_makes_a_pending_target_stale() {
    let mut world = two_targets(RESTAT, PLAIN);
    world.target(PLAIN, "sure: in");
    world.target(PLAIN, "both: mid sure");
    world.built("sure", 2 * S);
    world.built("both", 2 * S);
    world.file("in", 3 * S);
    let expected = "stale: upstream-stale mid made by mid, upstream-stale sure made by sure";
    assert_eq!(world.answer("both"), expected);
}

#[test]
fn pending_folds_to_stale_for_whoever_wants_two_values() {
    let mut world = two_targets(RESTAT, PLAIN);
    world.file("in", 3 * S);
    let report = world.report("out");
    assert_eq!((report.n_stale, report.n_pending, report.n_fresh()), (1, 1, 0));
    assert!(!report.is_fresh());
    assert!(Verdict::Fresh < Verdict::Pending && Verdict::Pending < Verdict::Stale);
}

#[test]
fn a_stale_input_hides_its_own_time() {
    let mut world = two_targets(PLAIN, PLAIN);
    world.file("in", 9 * S);
    world.file("mid", 5 * S);
    assert_eq!(world.answer("out"), "stale: upstream-stale mid made by mid");
}

// ---- validations --------------------------------------------------------------------------------------

#[test]
fn validations_are_judged_along_and_do_not_count() {
    let mut world = World::new();
    world.target(PLAIN, "out: in |@ lint");
    world.target(PLAIN, "lint: rules");
    world.file("in", S);
    world.file("rules", 3 * S);
    world.built("out", 2 * S);
    world.built("lint", 2 * S);
    assert_eq!(world.answer("out"), "fresh");
    assert_eq!(world.answer_for("out", "lint"), "stale: input-newer rules at 3s > lint at 2s");
}

#[test]
fn validations_of_inputs_and_of_validations_are_judged_too() {
    let mut world = World::new();
    world.target(PLAIN, "mid: in |@ lint");
    world.target(PLAIN, "out: mid");
    world.target(PLAIN, "lint: in |@ meta");
    world.target(PLAIN, "meta: in");
    world.file("in", S);
    for output in ["mid", "out", "lint"] {
        world.built(output, 2 * S);
    }
    assert_eq!(world.answer_for("out", "lint"), "fresh");
    assert_eq!(world.answer_for("out", "meta"), "stale: output-missing meta");
}

#[test]
fn a_validation_may_use_what_it_validates() {
    let mut world = World::new();
    world.target(PLAIN, "out: in |@ lint");
    world.target(PLAIN, "lint: out");
    world.file("in", S);
    world.built("out", 2 * S);
    world.built("lint", 2 * S);
    assert_eq!(world.answer_for("out", "lint"), "fresh");
}

// ---- dyndep files -------------------------------------------------------------------------------------

/// `out` made from `in`, up to date, waiting for the dyndep file `dd` that `scan` goes into.
fn with_dyndep(restat: bool, inputs: &[&str], outputs: &[&str]) -> World {
    let mut world = World::new();
    world.target(PLAIN, "dd: scan");
    let target = world.dyndep_target(PLAIN, "out: in || dd", Some("dd"));
    world.file("scan", S);
    world.file("in", S);
    world.built("dd", 2 * S);
    world.built("out", 2 * S);
    let [inputs, outputs] = [inputs, outputs].map(|paths| paths.iter().map(|path| world.id(path)).collect());
    let dyndep = world.id("dd");
    let entry = DyndepEntry { target, inputs, outputs, restat };
    world.history.set_dyndep(dyndep, Dyndep::Loaded(vec![entry]));
    world
}

#[test]
fn inputs_from_a_dyndep_file_count() {
    let mut world = with_dyndep(false, &["more"], &[]);
    world.file("more", S);
    assert_eq!(world.answer("out"), "fresh");
    assert_eq!(world.exact_answer("out"), Ok("fresh".into()));
    world.file("more", 3 * S);
    assert_eq!(world.answer("out"), "stale: input-newer more at 3s > out at 2s");
    let exact = world.exact_answer("out");
    assert_eq!(exact, Ok("stale: input-newer more at 3s > out at 2s".into()));
}

#[test]
fn outputs_from_a_dyndep_file_count() {
    let mut world = with_dyndep(false, &[], &["also"]);
    world.target(PLAIN, "user: also");
    world.built("also", 2 * S);
    world.built("user", 2 * S);
    assert_eq!(world.answer("user"), "fresh");
    world.disk.remove("also");
    assert_eq!(world.answer_for("user", "out"), "stale: output-missing also");
    assert_eq!(world.answer("user"), "stale: upstream-stale also made by out");
}

#[test]
fn restat_from_a_dyndep_file_counts() {
    for (restat, verdict) in [(false, "stale"), (true, "pending")] {
        let mut world = with_dyndep(restat, &[], &[]);
        world.target(PLAIN, "user: out");
        world.built("user", 2 * S);
        world.file("in", 3 * S);
        assert_eq!(world.answer("user"), format!("{verdict}: upstream-stale out made by out"));
    }
}

#[test]
fn a_missing_extra_output_of_a_target_with_restat_leaves_its_users_pending() {
    let mut world = with_dyndep(true, &[], &["also"]);
    world.target(PLAIN, "user: also");
    world.built("user", 2 * S);
    world.record("also", 2 * S);
    assert_eq!(world.answer_for("user", "out"), "stale: output-missing also");
    assert_eq!(world.answer("user"), "pending: upstream-stale also made by out");
}

#[test]
fn a_stale_dyndep_file_leaves_its_targets_pending() {
    let mut world = with_dyndep(false, &["more"], &[]);
    world.file("more", S);
    world.file("scan", 3 * S);
    assert_eq!(world.answer("out"), "pending: deps-unknown dd to be made by dd");
    assert_eq!(world.answer_for("out", "dd"), "stale: input-newer scan at 3s > dd at 2s");
}

#[test]
fn what_a_stale_dyndep_file_says_counts_in_the_usual_mode_only() {
    let mut world = with_dyndep(false, &["more"], &[]);
    world.file("more", 4 * S);
    world.file("scan", 3 * S);
    let expected = "stale: input-newer more at 4s > out at 2s, deps-unknown dd to be made by dd";
    assert_eq!(world.answer("out"), expected);
    assert_eq!(world.exact_answer("out"), Ok("fresh".into()), "ninja learns of it once dd is made");
}

#[test]
fn a_broken_dyndep_file_makes_its_targets_stale_and_is_an_error_in_exact_mode() {
    let mut world = with_dyndep(false, &[], &[]);
    let dyndep = world.id("dd");
    world.history.set_dyndep(dyndep, Dyndep::Broken("dd:1: no".into()));
    assert_eq!(world.answer("out"), "stale: deps-unknown dd broken: dd:1: no");
    assert_eq!(world.exact_answer("out"), Err(Stop::Broken("dd:1: no".into())));
}

#[test]
fn a_dyndep_file_that_claims_anothers_output_is_broken() {
    let world = with_dyndep(false, &[], &["dd"]);
    assert_eq!(world.answer("out"), "stale: deps-unknown dd broken: multiple rules generate dd");
    assert_eq!(world.exact_answer("out"), Err(Stop::Broken("multiple rules generate dd".into())));
}

#[test]
fn of_a_dyndep_file_that_is_broken_somewhere_nothing_counts() {
    let mut world = World::new();
    let first = world.dyndep_target(PLAIN, "a: dd", Some("dd"));
    let second = world.dyndep_target(PLAIN, "b: dd", Some("dd"));
    for (path, seconds) in [("dd", 1), ("new", 9)] {
        world.file(path, seconds * S);
    }
    world.built("a", 2 * S);
    world.built("b", 2 * S);
    let [dyndep, new, taken] = ["dd", "new", "a"].map(|path| world.id(path));
    let entry = |target, inputs, outputs| DyndepEntry { target, inputs, outputs, restat: false };
    let entries = vec![entry(first, vec![new], vec![]), entry(second, vec![], vec![taken])];
    world.history.set_dyndep(dyndep, Dyndep::Loaded(entries));
    assert_eq!(world.answer("a"), "stale: deps-unknown dd broken: multiple rules generate a");
}

// ---- what cannot be answered --------------------------------------------------------------------------

#[test]
fn an_unreadable_input_makes_its_users_stale_and_nobody_else() {
    let mut world = one_target(PLAIN);
    world.target(PLAIN, "other: there");
    world.target(PHONY, "all: out other");
    world.file("there", S);
    world.built("other", 2 * S);
    world.disk.fail("in", ELOOP);
    assert_eq!(world.answer_for("all", "out"), "stale: unreadable in error 40");
    assert_eq!(world.answer_for("all", "other"), "fresh");
}

#[test]
fn an_unreadable_output_makes_its_target_stale() {
    let mut world = one_target(PLAIN);
    world.disk.fail("out", ELOOP);
    assert_eq!(world.answer("out"), "stale: unreadable out error 40");
}

#[test]
fn an_unreadable_order_only_source_does_not_count() {
    let mut world = World::new();
    world.target(PLAIN, "out: in || odd");
    world.file("in", S);
    world.built("out", 2 * S);
    world.disk.fail("odd", ELOOP);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn an_unreadable_phony_name_makes_the_phony_stale() {
    let mut world = two_targets(PHONY, PLAIN);
    world.file("in", 9 * S);
    world.disk.fail("mid", ELOOP);
    assert_eq!(world.answer_for("out", "mid"), "stale: unreadable mid error 40");
    assert_eq!(world.answer("out"), "stale: upstream-stale mid made by mid");
}

#[test]
fn in_exact_mode_an_unreadable_path_is_an_error() {
    for (statement, odd) in [("out: odd", "odd"), ("out: || odd", "odd"), ("out: in", "out")] {
        let mut world = World::new();
        world.target(PLAIN, statement);
        world.file("in", S);
        world.built("out", 2 * S);
        let path = world.id(odd);
        world.disk.fail(odd, ELOOP);
        assert_eq!(world.exact_answer("out"), Err(Stop::Unreadable { path, errno: ELOOP }), "{statement}");
    }
}

#[test]
fn a_cycle_is_an_error_in_both_modes() {
    let mut world = World::new();
    world.target(PLAIN, "a: b");
    world.target(PLAIN, "b: c");
    world.target(PLAIN, "c: a");
    let path = ["a", "b", "c", "a"].map(|name| world.id(name)).to_vec();
    assert_eq!(world.answer("a"), format!("{:?}", Stop::Cycle(path.clone())));
    assert_eq!(world.exact_answer("a"), Err(Stop::Cycle(path)));
}

#[test]
fn a_cycle_begins_and_ends_with_the_output_through_which_it_closes() {
    let mut world = World::new();
    world.target(PLAIN, "a b: c");
    world.target(PLAIN, "c: b");
    let path = ["b", "c", "b"].map(|name| world.id(name)).to_vec();
    assert_eq!(world.exact_answer("a"), Err(Stop::Cycle(path)));
}

#[test]
fn a_cycle_through_order_only_or_discovered_inputs_is_one_too() {
    let mut world = World::new();
    world.target(PLAIN, "a: || b");
    world.target(PLAIN, "b: a");
    let path = ["b", "a", "b"].map(|name| world.id(name)).to_vec();
    assert_eq!(world.exact_answer("b"), Err(Stop::Cycle(path)));

    let mut world = World::new();
    let target = world.target(PLAIN, "out: in");
    world.discovered(target, &["out"], None);
    world.built("out", 2 * S);
    let path = ["out", "out"].map(|name| world.id(name)).to_vec();
    assert_eq!(world.exact_answer("out"), Err(Stop::Cycle(path)));
}

// ---- odd times ----------------------------------------------------------------------------------------

#[test]
fn a_time_of_zero_is_a_time_and_no_absence() {
    let mut world = one_target(PLAIN);
    world.file("in", 0);
    assert_eq!(world.answer("out"), "fresh");
    world.file("out", 0);
    world.file("in", S);
    assert_eq!(world.answer("out"), "stale: input-newer in at 1s > out at 1ns");
}

#[test]
fn the_first_second_of_1970_counts_as_one_moment() {
    for (input, output) in [(0, S - 1), (S - 1, 0), (5, 4)] {
        let mut world = one_target(PLAIN);
        world.file("in", input);
        world.file("out", output);
        world.record("out", 1);
        assert_eq!(world.answer("out"), "fresh", "{input} {output}");
    }
}

#[test]
fn times_before_1970_are_compared_like_others() {
    let mut world = one_target(PLAIN);
    world.file("in", -3 * S);
    world.built("out", -2 * S);
    assert_eq!(world.answer("out"), "fresh");
    world.file("in", -S);
    assert_eq!(world.answer("out"), "stale: input-newer in at -1s > out at -2s");
}

#[test]
fn a_time_one_nanosecond_before_1970_makes_ninja_give_up_silently() {
    let mut world = one_target(PLAIN);
    world.file("in", -1);
    assert_eq!(world.answer("out"), "fresh");
    assert_eq!(world.exact_answer("out"), Err(Stop::Silent));
    let mut world = one_target(PLAIN);
    world.file("out", -1);
    assert_eq!(world.answer("out"), "stale: input-newer in at 1s > out at -1ns");
    assert_eq!(world.exact_answer("out"), Err(Stop::Silent));
}

#[test]
fn a_missing_phony_without_a_time_to_lend_counts_as_made_in_1970() {
    let mut world = World::new();
    world.target(PHONY, "group: || in");
    world.target(PLAIN, "out: group");
    world.file("in", S);
    world.built("out", -2 * S);
    assert_eq!(world.answer("out"), "stale: input-newer group at 0s > out at -2s");
}

// ---- what counts as a file ----------------------------------------------------------------------------

#[test]
fn a_directory_counts_as_a_file_with_its_own_time() {
    let space = Space::new();
    space.write_at("dir/inside", "", 9 * S);
    space.set_mtime("dir", S);
    space.write_at("out", "", 2 * S);
    let mut world = World::new();
    world.target(PLAIN, "out: dir");
    world.record("out", 2 * S);
    let answer = |world: &World| world.answer_from(&os_disk(space.path()).expect("a disk"), "out", "out");
    assert_eq!(answer(&world), "fresh", "what is in it does not count");
    space.set_mtime("dir", 3 * S);
    assert_eq!(answer(&world), "stale: input-newer dir at 3s > out at 2s");
}

#[test]
fn links_are_followed_and_one_that_leads_nowhere_is_missing() {
    use std::os::unix::fs::symlink;
    let space = Space::new();
    space.write_at("real", "", 3 * S);
    space.write_at("out", "", 2 * S);
    for (to, link) in [("real", "link"), ("nowhere", "dangling"), ("loop", "loop")] {
        symlink(to, space.path().join(link)).expect("a link");
    }
    for (input, expected) in [
        ("link", "stale: input-newer link at 3s > out at 2s"),
        ("dangling", "stale: input-missing dangling"),
        ("loop", "stale: unreadable loop error 40"),
        ("real/beneath", "stale: input-missing real/beneath"),
    ] {
        let mut world = World::new();
        world.target(PLAIN, &format!("out: {input}"));
        world.record("out", 2 * S);
        let disk = os_disk(space.path()).expect("a disk");
        assert_eq!(world.answer_from(&disk, "out", "out"), expected);
    }
}

// ---- stamps that mislead ------------------------------------------------------------------------------

#[test]
fn an_edit_within_the_tick_of_a_coarse_stamp_is_not_noticed() {
    let mut world = one_target(PLAIN);
    world.disk.set_clock(2 * S);
    world.disk.write("in", b"edited right after the build, on a disk that keeps whole seconds");
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn an_input_from_the_future_stays_newer_until_then() {
    let mut world = one_target(PLAIN);
    world.file("in", 100 * S);
    for built_at in [3 * S, 4 * S] {
        world.built("out", built_at);
        let expected = format!("stale: input-newer in at 100s > out at {}s", built_at / S);
        assert_eq!(world.answer("out"), expected);
    }
    world.built("out", 100 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn an_output_from_the_future_hides_nothing_from_the_record() {
    let mut world = one_target(PLAIN);
    world.file("out", 100 * S);
    world.file("in", 3 * S);
    assert_eq!(world.answer("out"), "stale: input-newer in at 3s > out at 2s on record");
}

#[test]
fn an_output_and_a_record_from_the_future_hide_later_edits() {
    let mut world = one_target(PLAIN);
    world.built("out", 100 * S);
    world.file("in", 3 * S);
    assert_eq!(world.answer("out"), "fresh");
}

#[test]
fn outputs_truncated_by_an_archive_look_older_than_their_inputs() {
    let mut world = one_target(PLAIN);
    world.file("in", 2 * S + 300);
    world.built("out", 2 * S + 500);
    assert_eq!(world.answer("out"), "fresh");
    world.file("out", 2 * S);
    assert_eq!(world.answer("out"), "stale: input-newer in at 2000000300ns > out at 2s");
}

#[test]
fn outputs_rounded_up_by_an_archive_make_their_discovered_inputs_outdated() {
    let mut world = discovering(&[], Some(2 * S));
    world.file("out", 4 * S);
    assert_eq!(world.answer("out"), "stale: deps-outdated out at 4s > 2s on record");
}

#[test]
fn sources_checked_out_afresh_are_newer_than_restored_outputs() {
    let mut world = World::new();
    world.target(PLAIN, "out: a b");
    world.built("out", 2 * S);
    world.file("a", 50 * S);
    world.file("b", 50 * S);
    let expected = "stale: input-newer a at 50s > out at 2s, input-newer b at 50s > out at 2s";
    assert_eq!(world.answer("out"), expected);
}

// ---- build directories --------------------------------------------------------------------------------

/// A ninja build directory in memory.
struct Directory {
    disk: MemoryDisk,
}

impl Directory {
    fn new(manifest: &str) -> Self {
        let mut disk = MemoryDisk::new();
        disk.write("build.ninja", manifest.as_bytes());
        Self { disk }
    }

    fn file(&mut self, path: &str, mtime: Mtime) {
        self.disk.touch(path, mtime);
    }

    /// Writes a log of that version, with entries of output, command and time, hashed as that version does.
    fn log(&mut self, version: u32, entries: &[(&str, &str, Mtime)]) {
        let mut text = format!("# ninja log v{version}\n");
        for (output, command, mtime) in entries {
            let hash = match version {
                7 => command_hash::rapidhash(command.as_bytes()),
                _ => command_hash::murmur_hash_64a(command.as_bytes()),
            };
            text += &format!("0\t1\t{mtime}\t{output}\t{hash:x}\n");
        }
        self.disk.write(".ninja_log", text.as_bytes());
    }

    fn load(&self, version: Option<NinjaVersion>) -> (Build, Vec<FileId>) {
        let options = Options { version, ..Options::default() };
        let mut build = Build::load(&self.disk, &options).expect("a manifest");
        let requests = build.default_requests().expect("there are roots");
        build.describe(&self.disk, &requests).expect("no cycle in variables");
        (build, requests)
    }

    /// All targets with a command that are not fresh, with their reasons.
    fn check(&self, version: Option<NinjaVersion>) -> Vec<String> {
        let (build, requests) = self.load(version);
        let snapshot = build.collect(&self.disk);
        let decision = build.decide(&snapshot, &requests).expect("no cycle");
        listed(&build, &build.report(&decision))
    }

    /// What a dry run lists, or its error.
    fn dry_run(&self, version: Option<NinjaVersion>) -> Result<Vec<String>, String> {
        let (build, requests) = self.load(version);
        let snapshot = build.collect(&self.disk);
        match dry_run(&build, &self.disk, &snapshot, Ok(requests), true) {
            Ok(run) => Ok(listed(&build, &run.report)),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn listed(build: &Build, report: &Report) -> Vec<String> {
    let line = |stale: &upcheck::StaleTarget| {
        let name = String::from_utf8_lossy(build.graph().name(stale.target)).into_owned();
        let reasons: Vec<_> =
            stale.reasons.iter().map(|reason| reason_words(build.graph(), reason)).collect();
        format!("{name}: {}", reasons.join(", "))
    };
    report.stale.iter().map(line).collect()
}

const CC: &str = "rule cc\n  command = cc $in\n  depfile = $out.d\n";
const VERSIONS: [(u32, NinjaVersion); 3] =
    [(5, NinjaVersion::V1_11), (6, NinjaVersion::V1_12), (7, NinjaVersion::V1_13)];

#[test]
fn the_rules_are_those_of_the_ninja_whose_log_is_found() {
    for (log_version, expected) in VERSIONS {
        let mut directory = Directory::new("rule cc\n  command = cc $in\nbuild out: cc in\n");
        directory.file("in", S);
        directory.file("out", 2 * S);
        directory.log(log_version, &[("out", "cc in", 2 * S)]);
        assert_eq!(directory.check(None), [""; 0], "hashes of log version {log_version}");
        assert_eq!(directory.load(None).0.version(), expected);
    }
}

#[test]
fn a_log_that_its_ninja_would_throw_away_is_not_believed() {
    for (log_version, _) in VERSIONS {
        for (own_version, version) in VERSIONS {
            let mut directory = Directory::new("rule cc\n  command = cc $in\nbuild out: cc in\n");
            directory.file("in", S);
            directory.file("out", 2 * S);
            directory.log(log_version, &[("out", "cc in", 2 * S)]);
            let answer = directory.check(Some(version)).join("\n");
            if log_version == own_version || (log_version, own_version) == (6, 5) {
                assert_eq!(answer, "", "{version} reads {log_version}");
            } else if version == NinjaVersion::V1_11 {
                assert!(
                    answer.starts_with("out: command-changed out"),
                    "{version} hashes otherwise: {answer}"
                );
            } else {
                assert_eq!(answer, "out: never-built out", "{version} throws {log_version} away");
            }
        }
    }
}

#[test]
fn a_missing_source_is_an_error_in_exact_mode() {
    let mut directory = Directory::new("rule cc\n  command = cc $in\nbuild out: cc gone\n");
    directory.file("out", 2 * S);
    directory.log(7, &[("out", "cc gone", 2 * S)]);
    assert_eq!(directory.check(None), ["out: input-missing gone"]);
    let error = directory.dry_run(None).expect_err("ninja refuses");
    assert_eq!(error, "'gone', needed by 'out', missing and no known rule to make it");
}

#[test]
fn a_missing_header_that_only_a_depfile_names_is_no_error() {
    for (log_version, version) in VERSIONS {
        let mut directory = Directory::new(&format!("{CC}build out: cc in\n"));
        directory.file("in", S);
        directory.file("out", 2 * S);
        directory.disk.write("out.d", b"out: in gone.h\n");
        directory.log(log_version, &[("out", "cc in", 2 * S)]);
        let expected = vec!["out: input-missing gone.h".to_owned()];
        assert_eq!(directory.check(Some(version)), expected);
        assert_eq!(directory.dry_run(Some(version)), Ok(expected));
    }
}

#[test]
fn a_missing_source_that_a_depfile_names_too_is_an_error_since_1_12() {
    for (log_version, version) in VERSIONS {
        let mut directory = Directory::new(&format!("{CC}build out: cc gone\n"));
        directory.file("out", 2 * S);
        directory.disk.write("out.d", b"out: gone\n");
        directory.log(log_version, &[("out", "cc gone", 2 * S)]);
        assert_eq!(directory.check(Some(version)), ["out: input-missing gone"]);
        let exact = directory.dry_run(Some(version));
        if version == NinjaVersion::V1_11 {
            assert_eq!(exact, Ok(vec!["out: input-missing gone".into()]));
        } else {
            assert!(exact.expect_err("ninja refuses").contains("'gone', needed by 'out'"));
        }
    }
}

#[test]
fn a_missing_dyndep_file_makes_its_targets_stale_and_is_an_error_in_exact_mode() {
    let manifest = "rule cc\n  command = cc $in\nbuild out: cc in || dd\n  dyndep = dd\n";
    let mut directory = Directory::new(manifest);
    directory.file("in", S);
    directory.file("out", 2 * S);
    directory.log(7, &[("out", "cc in", 2 * S)]);
    let trouble = "loading 'dd': No such file or directory";
    assert_eq!(directory.check(None), [format!("out: deps-unknown dd broken: {trouble}")]);
    assert_eq!(directory.dry_run(None), Err(trouble.into()));
}

#[test]
fn the_content_of_a_response_file_is_part_of_the_command() {
    let manifest = |content: &str| {
        format!("rule ar\n  command = ar @$out.rsp\n  rspfile = $out.rsp\n  rspfile_content = {content}\n")
    };
    for (content, is_fresh) in [("a b", true), ("a b c", false)] {
        let mut directory = Directory::new(&(manifest(content) + "build lib: ar in\n"));
        directory.file("in", S);
        directory.file("lib", 2 * S);
        directory.log(7, &[("lib", "ar @lib.rsp;rspfile=a b", 2 * S)]);
        let answer = directory.check(None);
        assert_eq!(answer.is_empty(), is_fresh, "{answer:?}");
        assert!(answer.iter().all(|line| line.starts_with("lib: command-changed lib")), "{answer:?}");
    }
}

#[test]
fn quotes_are_part_of_names_in_depfiles_since_1_13() {
    for (log_version, version) in VERSIONS {
        let mut directory = Directory::new(&format!("{CC}build out: cc in\n"));
        directory.file("in", S);
        directory.file("it's.h", 3 * S);
        directory.file("it", S);
        directory.file("s.h", S);
        directory.file("out", 2 * S);
        directory.disk.write("out.d", b"out: it's.h\n");
        directory.log(log_version, &[("out", "cc in", 2 * S)]);
        let is_fresh = version < NinjaVersion::V1_13;
        assert_eq!(directory.check(None).is_empty(), is_fresh, "{version}");
    }
}

#[test]
fn a_build_that_ends_during_the_check_leaves_its_targets_stale() {
    let mut directory = Directory::new("rule cc\n  command = cc $in\nbuild out: cc in\n");
    directory.file("in", 3 * S);
    directory.file("out", 2 * S);
    directory.log(7, &[("out", "cc in", 2 * S)]);
    let (build, requests) = directory.load(None);
    directory.file("out", 4 * S);
    directory.log(7, &[("out", "cc in", 4 * S)]);
    let snapshot = build.collect(&directory.disk);
    let decision = build.decide(&snapshot, &requests).expect("no cycle");
    let report = build.report(&decision);
    assert_eq!(listed(&build, &report), ["out: input-newer in at 3s > out at 2s on record"]);
    assert_eq!(directory.check(None), [""; 0], "the next check sees all of it");
}

#[test]
fn exact_mode_stops_at_a_stale_manifest_and_the_usual_mode_looks_past_it() {
    let mut directory = Directory::new(
        "rule cc\n  command = cc $in\nrule gen\n  command = gen\n  generator = 1\n\
         build build.ninja: gen | conf\nbuild out: cc in\n",
    );
    directory.file("build.ninja", 2 * S);
    directory.file("conf", 3 * S);
    directory.file("in", 3 * S);
    directory.file("out", 2 * S);
    directory.log(7, &[("out", "cc in", 2 * S)]);
    let manifest = "build.ninja: manifest-stale build.ninja, input-newer conf at 3s > build.ninja at 2s";
    let manifest = manifest.to_owned();
    let out = "out: input-newer in at 3s > out at 2s".to_owned();
    assert_eq!(directory.check(None), [manifest.clone(), out]);
    assert_eq!(directory.dry_run(None), Ok(vec![manifest]));
}

#[test]
fn a_missing_source_that_was_asked_for_is_an_error_in_both_modes() {
    let mut directory = Directory::new("rule cc\n  command = cc $in\nbuild out: cc gone\n");
    directory.file("out", 2 * S);
    let mut build = Build::load(&directory.disk, &Options::default()).expect("a manifest");
    let requests = vec![build.resolve(b"gone").expect("the manifest names it")];
    build.describe(&directory.disk, &requests).expect("no cycle in variables");
    let snapshot = build.collect(&directory.disk);
    let expected = "'gone' missing and no known rule to make it";
    let usual = build.decide(&snapshot, &requests).err().map(|error| error.to_string());
    assert_eq!(usual.as_deref(), Some(expected));
    let exact = dry_run(&build, &directory.disk, &snapshot, Ok(requests), false);
    assert_eq!(exact.expect_err("ninja refuses").to_string(), expected);
}

// ---- the document -------------------------------------------------------------------------------------

/// The tests in a suite's source, and whether they are ignored.
fn tests_in(module: &str) -> BTreeMap<String, bool> {
    let source = tools::root().join(format!("tests/tests/{module}.rs"));
    let text = fs::read_to_string(&source).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    let mut tests = BTreeMap::new();
    for after in text.split("#[test]\n").skip(1) {
        let (attributes, rest) = after.split_once("fn ").expect("a function");
        let (name, _) = rest.split_once('(').expect("a function");
        tests.insert(format!("{module}::{name}"), attributes.contains("#[ignore"));
    }
    tests
}

#[test]
fn every_test_that_the_document_names_exists_and_each_of_this_suite_is_named() {
    let document = fs::read_to_string(tools::root().join("docs/SEMANTICS.md")).expect("the document");
    let mut named = BTreeSet::new();
    for row in document.lines() {
        let code = row.split('`').skip(1).step_by(2);
        for name in code.filter(|code| code.contains("::")) {
            let (module, _) = name.split_once("::").expect("a module");
            let tests = tests_in(module);
            let ignored = tests.get(name).unwrap_or_else(|| panic!("there is no test {name}"));
            assert_eq!(row.contains("not so yet"), *ignored, "{name}");
            named.insert(name.to_owned());
        }
    }
    let mut rules: BTreeSet<_> = tests_in("semantics").into_keys().collect();
    rules.retain(|name| !name.contains("every_test_that_the_document_names"));
    let unnamed: Vec<_> = rules.difference(&named).collect();
    assert!(rules.len() > 90 && unnamed.is_empty(), "the document does not name {unnamed:#?}");
}
