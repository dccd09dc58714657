//! Random builds, archived, edited in every way that times do not tell, and repaired: the real ninja then runs exactly what a
//! model says that knows contents only, and what it leaves behind is what a build from nothing would make.
//!
//! `UPCHECK_CASES` sets how many builds (default 24).

use super::command::{Ran, upcheck_in};
use super::{SECOND, listed};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::process::Command;
use upcheck_tests::aloud::progress;
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

const SOURCES: usize = 5;
const TARGETS: usize = 8;
const ROUNDS: usize = 3;
const EDITS: usize = 6;

struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % below
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Gcc,
    Depfile,
    /// Says how long its inputs are, and leaves its output as it is if that is what it says.
    Restat,
    Rspfile,
    TwoOutputs,
    Phony,
}

const KINDS: [Kind; 10] = [
    Kind::Plain,
    Kind::Plain,
    Kind::Gcc,
    Kind::Gcc,
    Kind::Gcc,
    Kind::Depfile,
    Kind::Restat,
    Kind::Rspfile,
    Kind::TwoOutputs,
    Kind::Phony,
];

#[derive(Clone, Debug)]
struct Target {
    kind: Kind,
    inputs: Vec<usize>,
    order_only: Vec<usize>,
    discovered: Vec<usize>,
    note: usize,
}

/// What a target was made of: contents of files by name, its note, and what came out.
type Made = (usize, BTreeMap<String, Option<Vec<u8>>>);

#[derive(Debug)]
struct World {
    space: Space,
    ninja: Ninja,
    targets: Vec<Target>,
    recorded: BTreeMap<usize, Made>,
    /// Whether logs may have lost what repair needs to be exact.
    is_loose: bool,
}

fn name(file: usize) -> String {
    if file < SOURCES { format!("../src/s{file}") } else { format!("t{}", file - SOURCES) }
}

impl Target {
    fn outputs(&self, target: usize) -> Vec<String> {
        match self.kind {
            Kind::TwoOutputs => vec![format!("t{target}"), format!("t{target}.too")],
            _ => vec![format!("t{target}")],
        }
    }
}

impl World {
    fn new(dice: &mut Dice, ninja: Ninja) -> Self {
        let mut targets = Vec::new();
        for target in 0..TARGETS {
            let kind = KINDS[dice.roll(KINDS.len())];
            let some = |most: usize, dice: &mut Dice| -> Vec<usize> {
                let n = 1 + dice.roll(most);
                (0..n).map(|_| dice.roll(SOURCES + target)).collect::<BTreeSet<_>>().into_iter().collect()
            };
            let inputs = some(2, dice);
            // Ninja 1.11 forgets what is behind a phony name when it records that an output stayed: that is stale ever after.
            let has_phony = |targets: &[Target]| {
                let phony = |input: &usize| targets[*input - SOURCES].kind == Kind::Phony;
                inputs.iter().filter(|input| **input >= SOURCES).any(phony)
            };
            let kind = if kind == Kind::Restat && has_phony(&targets) { Kind::Plain } else { kind };
            let order_only = if dice.roll(4) == 0 { some(1, dice) } else { Vec::new() };
            let discovered = match kind {
                Kind::Gcc | Kind::Depfile => vec![dice.roll(SOURCES)],
                _ => Vec::new(),
            };
            targets.push(Target { kind, inputs, order_only, discovered, note: 0 });
        }
        let space = Space::new();
        for source in 0..SOURCES {
            space.write(&format!("src/s{source}"), format!("s{source} 0\n"));
        }
        let world = Self { space, ninja, targets, recorded: BTreeMap::new(), is_loose: false };
        world.write_manifest();
        world
    }

    fn write_manifest(&self) {
        let mut text = String::from(
            "rule plain\n  command = (cat $all && echo $note) > $out # $me\n\
             rule gcc\n  command = (cat $all $also && echo $note) > $out && echo '$out: $also $all' > $out.d # $me\n  \
             depfile = $out.d\n  deps = gcc\n\
             rule depfile\n  command = (cat $all $also && echo $note) > $out && echo '$out: $also $all' > $out.d # $me\n  \
             depfile = $out.d\n\
             rule restat\n  command = (cat $all | wc -c && echo $note) > $out.new && (cmp -s $out.new $out && rm $out.new || \
             mv $out.new $out) # $me\n  restat = 1\n\
             rule rspfile\n  command = (cat $$(cat $me.rsp) && echo $note) > $out # $me\n  rspfile = $me.rsp\n  \
             rspfile_content = $all\n\
             rule two\n  command = (cat $all && echo $note) > $me && cp $me $me.too # $me\n",
        );
        for (number, target) in self.targets.iter().enumerate() {
            let names = |files: &[usize]| files.iter().map(|&file| name(file)).collect::<Vec<_>>().join(" ");
            let rule = match target.kind {
                Kind::Plain => "plain",
                Kind::Gcc => "gcc",
                Kind::Depfile => "depfile",
                Kind::Restat => "restat",
                Kind::Rspfile => "rspfile",
                Kind::TwoOutputs => "two",
                Kind::Phony => "phony",
            };
            let outputs = target.outputs(number).join(" ");
            write!(text, "build {outputs}: {rule} {}", names(&target.inputs)).expect("a string");
            if !target.order_only.is_empty() {
                write!(text, " || {}", names(&target.order_only)).expect("a string");
            }
            let real: Vec<usize> = target.inputs.iter().flat_map(|&input| self.files(input)).collect();
            let (all, also, note) = (names(&real), names(&target.discovered), target.note);
            writeln!(text, "\n  all = {all}\n  also = {also}\n  note = {note}\n  me = t{number}")
                .expect("a string");
        }
        self.space.write("build/build.ninja", text);
    }

    /// The files that a name stands for: those of a phony target are its inputs'.
    fn files(&self, file: usize) -> Vec<usize> {
        match file.checked_sub(SOURCES).map(|target| &self.targets[target]) {
            Some(target) if target.kind == Kind::Phony => {
                target.inputs.iter().flat_map(|&input| self.files(input)).collect()
            }
            _ => vec![file],
        }
    }

    fn content(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.space.path().join("build").join(path)).ok()
    }

    /// What a target and its inputs hold now.
    fn holds(&self, number: usize) -> Made {
        let target = &self.targets[number];
        let inputs =
            target.inputs.iter().chain(&target.discovered).flat_map(|&input| self.files(input)).map(name);
        let all = inputs.chain(target.outputs(number));
        (target.note, all.map(|path| (path.clone(), self.content(&path))).collect())
    }

    /// What is to be run: what is not as it was recorded, and what depends on it.
    fn expected(&self) -> BTreeSet<String> {
        let mut stale = [false; TARGETS];
        for (number, target) in self.targets.iter().enumerate() {
            let is_phony = target.kind == Kind::Phony;
            let has_depfile = target.kind != Kind::Depfile || self.content(&format!("t{number}.d")).is_some();
            let is_other =
                !is_phony && (self.recorded.get(&number) != Some(&self.holds(number)) || !has_depfile);
            let above =
                target.inputs.iter().filter_map(|input| input.checked_sub(SOURCES)).any(|input| stale[input]);
            stale[number] = is_other || above;
        }
        let runs = |number: &usize| stale[*number] && self.targets[*number].kind != Kind::Phony;
        (0..TARGETS).filter(runs).map(|number| format!("t{number}")).collect()
    }

    /// What a build from nothing would make.
    fn clean(&self, file: usize) -> Vec<u8> {
        let Some(number) = file.checked_sub(SOURCES) else {
            return self.content(&name(file)).expect("a source");
        };
        let target = &self.targets[number];
        let inputs = target.inputs.iter().flat_map(|&input| self.files(input).into_iter());
        let direct: Vec<usize> = match target.kind {
            Kind::Phony => return Vec::new(),
            _ => inputs.collect(),
        };
        let mut content: Vec<u8> =
            direct.iter().chain(&target.discovered).flat_map(|&input| self.clean(input)).collect();
        if target.kind == Kind::Restat {
            content = format!("{}\n", content.len()).into_bytes();
        }
        content.extend_from_slice(format!("{}\n", target.note).as_bytes());
        content
    }

    fn run_ninja(&self) {
        let build = self.space.path().join("build");
        let run = Command::new(self.ninja.path()).current_dir(build).output().expect("ninja starts");
        assert!(
            run.status.success(),
            "{} in {}",
            String::from_utf8_lossy(&run.stdout),
            self.space.path().display()
        );
    }

    fn upcheck(&self, arguments: &[&str]) -> String {
        let mut command = upcheck_in(&self.space.path().join("build"));
        command.args(arguments).args(["--no-image", "--ninja-version", self.ninja.number()]);
        let ran = Ran::new(command.output().expect("upcheck starts"));
        let n_problems =
            ran.stderr.lines().filter(|line| !DAMAGE.iter().any(|damage| line.contains(damage))).count();
        if (ran.status, n_problems) != (0, 0) {
            let mut why = upcheck_in(&self.space.path().join("build"));
            why.args(["--explain", "--no-image", "--ninja-version", self.ninja.number()]);
            let why = Ran::new(why.output().expect("upcheck starts"));
            panic!("{arguments:?}: {}{}{}\n{self:?}", ran.stdout, ran.stderr, why.stdout);
        }
        ran.stdout
    }

    fn record(&mut self) {
        self.upcheck(&["record"]);
        self.recorded = (0..TARGETS).map(|number| (number, self.holds(number))).collect();
        self.is_loose = false;
    }

    fn edit(&mut self, dice: &mut Dice) {
        let source = format!("src/s{}", dice.roll(SOURCES));
        let target = dice.roll(TARGETS);
        let output = format!("build/{}", name(SOURCES + target));
        let content = format!("{} {}\n", &source[4..], dice.roll(12));
        match dice.roll(16) {
            0 => self.space.write(&source, content),
            // The old time, or an even older one.
            1 => {
                let old = self.space.mtime(&source).expect("a source");
                let earlier = [0, 1, 3600 * SECOND][dice.roll(3)];
                self.space.write_at(&source, content, old - earlier);
            }
            2 => {
                let other = format!("src/s{}", dice.roll(SOURCES));
                let of = |path: &str| (self.space.read(path), self.space.mtime(path).expect("a source"));
                let ((one, one_time), (two, two_time)) = (of(&source), of(&other));
                self.space.write_at(&source, two, two_time);
                self.space.write_at(&other, one, one_time);
            }
            3 => {
                self.targets[target].note = dice.roll(3);
                self.write_manifest();
            }
            4 => self.space.remove(&output),
            5 if self.space.path().join(&output).exists() => {
                let time = self.space.mtime(&output).expect("it is there");
                self.space.write_at(&output, "somebody else's\n", time);
            }
            6 => self.space.remove(["build/.ninja_log", "build/.ninja_deps"][dice.roll(2)]),
            7 | 8 => {
                let log = ["build/.ninja_log", "build/.ninja_deps"][dice.roll(2)];
                let bytes = self.space.read(log);
                self.space.write(log, &bytes[..dice.roll(bytes.len() + 1)]);
            }
            9 => self.space.remove(&format!("{output}.d")),
            10 if self.space.path().join(&output).exists() => {
                let time = self.space.mtime(&output).expect("it is there");
                self.space.set_mtime(&output, time + [-1, 1, -3600 * SECOND, 5][dice.roll(4)]);
            }
            11 => {
                let build = self.space.path().join("build");
                let mut restat = Command::new(self.ninja.path());
                // It fails where there is no log.
                let _ = restat.current_dir(build).args(["-t", "restat"]).output().expect("ninja starts");
                self.is_loose = true;
            }
            // A build that nobody records. What it makes may be wrong: times lie.
            12 => {
                let build = self.space.path().join("build");
                Command::new(self.ninja.path()).current_dir(build).output().expect("ninja starts");
                self.is_loose = true;
            }
            13 => {
                // All sources at once, as a checkout with the times of commits would.
                for source in 0..SOURCES {
                    self.space.set_mtime(&format!("src/s{source}"), 1_500_000_000 * SECOND);
                }
            }
            _ => {}
        }
    }

    /// A fresh checkout beside a build directory from an archive.
    fn restore(&self, dice: &mut Dice) {
        if dice.roll(4) > 0 {
            for source in 0..SOURCES {
                let path = format!("src/s{source}");
                let content = self.space.read(&path);
                self.space.remove(&path);
                self.space.write(&path, content);
            }
        }
        let unit = [1, 1000, SECOND, 2 * SECOND][dice.roll(4)];
        for (path, entry) in self.space.entries() {
            if path.starts_with(self.space.path().join("build")) && path.is_file() {
                let time = i64::try_from(entry.mtime()).expect("a time");
                upcheck_tests::space::set_mtime(&path, time.div_euclid(unit) * unit);
            }
        }
    }
}

/// What is said of logs that were cut off.
const DAMAGE: [&str; 2] = ["warning: the deps log ", "warning: the build log "];

#[test]
fn after_a_repair_ninja_runs_what_changed_and_nothing_else() {
    let n_cases: u64 = std::env::var("UPCHECK_CASES").map_or(24, |n| n.parse().expect("a number"));
    let (mut n_exact, mut n_loose, mut n_run, mut n_kept) = (0, 0, 0, 0);
    for case in 0..n_cases {
        let mut dice = Dice(case.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(5));
        let ninja = Ninja::USUAL[dice.roll(Ninja::USUAL.len())];
        let mut world = World::new(&mut dice, ninja);
        world.run_ninja();
        world.record();
        for round in 0..ROUNDS {
            for _ in 0..dice.roll(EDITS + 1) {
                world.edit(&mut dice);
            }
            world.restore(&mut dice);
            let place = format!(
                "case {case}, round {round}, ninja {} in {}",
                ninja.number(),
                world.space.path().display()
            );
            let keeps: &[&str] = if dice.roll(3) == 0 { &["repair", "--keep-sources"] } else { &["repair"] };
            let expected = world.expected();
            world.upcheck(keeps);
            let found: BTreeSet<String> = listed(&world.space, ninja);
            if world.is_loose {
                assert!(found.is_superset(&expected), "{place}: {found:?}, but {expected:?}");
                n_loose += 1;
            } else {
                assert_eq!(found, expected, "{place}");
                n_exact += 1;
            }
            n_run += found.len();
            n_kept += TARGETS - found.len();
            let again = world.space.entries();
            let text = world.upcheck(keeps);
            assert!(text.starts_with("nothing to repair: "), "{place}: {text}");
            assert_eq!(world.space.entries(), again, "{place}");
            let has_half_line = world.content(".ninja_log").is_some_and(|log| !log.ends_with(b"\n"));
            world.run_ninja();
            if has_half_line {
                // Ninja goes on in the middle of it, and does not know the next time what it has done there.
                world.run_ninja();
            }
            for (number, target) in world.targets.iter().enumerate() {
                for output in target.outputs(number).iter().filter(|_| target.kind != Kind::Phony) {
                    let content = world.content(output).unwrap_or_default();
                    assert_eq!(content, world.clean(SOURCES + number), "{output}, {place}");
                }
            }
            if dice.roll(3) > 0 {
                world.record();
            } else {
                world.is_loose = true;
            }
        }
    }
    assert!(n_exact > 0 && n_kept > 0);
    progress(&format!(
        "{n_cases} builds: {n_exact} repairs compared exactly, {n_loose} for what must run; {n_run} targets ran, {n_kept} did not"
    ));
}
