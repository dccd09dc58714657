//! Random builds, really built, then edited and touched at random: what is stale by content is what a model says that knows
//! what every file held when its users were made.
//!
//! `UPCHECK_CASES` sets how many builds (default 60).

use super::command::{run, upcheck};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::Command;
use upcheck_tests::aloud::progress;
use upcheck_tests::space::{Space, TICK};
use upcheck_tests::tools::Ninja;

const OLD: i64 = 1_600_000_000_000_000_000;
const SOURCES: usize = 4;
const TARGETS: usize = 7;

struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % below
    }
}

struct World {
    space: Space,
    /// Of each target: its inputs, sources first.
    inputs: Vec<Vec<usize>>,
    /// Of each target, the inputs that only its depfile names; sources.
    discovered: Vec<Vec<usize>>,
    notes: Vec<u32>,
    contents: Vec<u32>,
    /// What each target was last made of: contents of sources beneath it, and its note.
    made_of: BTreeMap<usize, (BTreeMap<usize, u32>, u32)>,
    /// The same for what is on record.
    recorded: BTreeMap<usize, (BTreeMap<usize, u32>, u32)>,
    now: i64,
}

fn name(file: usize) -> String {
    if file < SOURCES { format!("s{file}") } else { format!("t{}", file - SOURCES) }
}

impl World {
    fn new(dice: &mut Dice) -> Self {
        let mut inputs = Vec::new();
        let mut discovered = Vec::new();
        for target in 0..TARGETS {
            let mut of = BTreeSet::from([dice.roll(SOURCES + target)]);
            of.insert(dice.roll(SOURCES + target));
            inputs.push(of.into_iter().collect());
            discovered.push(if dice.roll(2) == 0 { vec![dice.roll(SOURCES)] } else { Vec::new() });
        }
        let mut world = Self {
            space: Space::new(),
            inputs,
            discovered,
            notes: vec![0; TARGETS],
            contents: vec![0; SOURCES],
            made_of: BTreeMap::new(),
            recorded: BTreeMap::new(),
            now: OLD,
        };
        for source in 0..SOURCES {
            world.space.write_at(&name(source), "0", OLD);
        }
        world.write_manifest();
        world.build();
        world
    }

    fn write_manifest(&self) {
        let mut text = String::from(
            "rule make\n  command = cat $in $also > $out && echo '$out: $also' > $out.d # $note\n  depfile = $out.d\n  \
             deps = gcc\nrule plain\n  command = cat $in > $out # $note\n",
        );
        for target in 0..TARGETS {
            let names = |files: &[usize]| files.iter().map(|&file| name(file)).collect::<Vec<_>>().join(" ");
            let rule = if self.discovered[target].is_empty() { "plain" } else { "make" };
            let (output, inputs) = (name(SOURCES + target), names(&self.inputs[target]));
            let (also, note) = (names(&self.discovered[target]), self.notes[target]);
            write!(text, "build {output}: {rule} {inputs}\n  also = {also}\n  note = {note}\n")
                .expect("a string");
        }
        self.space.write_at("build.ninja", text, OLD);
    }

    /// What a target would be made of now.
    fn made_of_now(&self, target: usize) -> (BTreeMap<usize, u32>, u32) {
        let mut all = BTreeMap::new();
        for &input in self.inputs[target].iter().chain(&self.discovered[target]) {
            if input < SOURCES {
                all.insert(input, self.contents[input]);
            }
        }
        (all, self.notes[target])
    }

    fn build(&mut self) {
        super::wait_past(self.now);
        let run = Command::new(Ninja::V1_13.path()).current_dir(self.space.path()).arg("--quiet").output();
        let run = run.expect("ninja starts");
        assert!(run.status.success(), "{run:?}");
        for target in 0..TARGETS {
            // Only what is stale by ninja's rules is made again; what it would be made of is the same for the others,
            // unless a time was set back, which no step here does.
            self.made_of.insert(target, self.made_of_now(target));
        }
    }

    fn record(&mut self) {
        let ran = run(&self.space, "record");
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        self.recorded = self.made_of.clone();
    }

    fn later(&mut self) -> i64 {
        let newest = (0..SOURCES + TARGETS).filter_map(|file| self.space.mtime(&name(file))).max();
        self.now = self.now.max(newest.unwrap_or(OLD)) + TICK;
        self.now
    }

    /// Stale by content: of something else than on record, itself or what it needs.
    fn expected(&self) -> BTreeSet<String> {
        let mut stale = [false; SOURCES + TARGETS];
        for target in 0..TARGETS {
            let is_other = self.recorded.get(&target) != Some(&self.made_of_now(target));
            let above = self.inputs[target].iter().any(|&input| stale[input]);
            stale[SOURCES + target] = is_other || above;
        }
        (SOURCES..SOURCES + TARGETS).filter(|&file| stale[file]).map(name).collect()
    }

    fn found(&self) -> BTreeSet<String> {
        let ran = upcheck(&self.space, ["--content", "--format", "json"]);
        assert!(ran.status < 2, "{ran:?}");
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let stale = report["stale"].as_array().expect("a list").iter();
        stale.map(|target| target["target"].as_str().expect("text").to_owned()).collect()
    }
}

#[test]
fn what_is_stale_by_content_is_what_holds_something_else() {
    let n_cases: u64 = std::env::var("UPCHECK_CASES").map_or(60, |n| n.parse().expect("a number"));
    let mut n_compared = 0;
    let mut n_stale = 0;
    for case in 0..n_cases {
        let mut dice = Dice(case.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut world = World::new(&mut dice);
        world.record();
        for step in 0..6 {
            match dice.roll(8) {
                0..=2 => {
                    let source = dice.roll(SOURCES);
                    let later = world.later();
                    world.contents[source] = u32::try_from(dice.roll(3)).expect("small");
                    let content = world.contents[source].to_string();
                    world.space.write_at(&name(source), content, later);
                }
                3 | 4 => {
                    for file in 0..SOURCES + TARGETS {
                        if dice.roll(2) == 0 {
                            let later = world.later();
                            world.space.set_mtime(&name(file), later);
                        }
                    }
                }
                5 => {
                    let target = dice.roll(TARGETS);
                    world.notes[target] = u32::try_from(dice.roll(2)).expect("small");
                    world.write_manifest();
                }
                6 if world.expected().is_empty() => world.record(),
                6 => {}
                _ => {
                    world.build();
                    world.record();
                }
            }
            let (expected, found) = (world.expected(), world.found());
            assert_eq!(found, expected, "case {case}, step {step} in {}", world.space.path().display());
            n_compared += 1;
            n_stale += found.len();
        }
    }
    assert!(n_stale > 0);
    progress(&format!("{n_cases} builds, {n_compared} answers compared, {n_stale} targets stale by content"));
}
