//! Random builds in two checkouts that share a cache, which loses things: whatever is restored is what a build from nothing would
//! make, the real ninja runs what was not restored and nothing else, and what is told of the cache is what happens then.
//!
//! `UPCHECK_CASES` sets how many builds (default 8), `UPCHECK_FIRST` the number of the first one.

use super::command::Ran;
use super::world::{Description, Dice, Kind, SOURCES, Side, TARGETS, content};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use upcheck_tests::aloud::progress;
use upcheck_tests::bazel_remote::{BazelRemote, Setup};
use upcheck_tests::space::Entry;
use upcheck_tests::tools::Ninja;

const ROUNDS: usize = 6;
const EDITS: usize = 4;
const SECOND: i64 = 1_000_000_000;

#[test]
fn whatever_is_edited_and_lost_what_is_restored_is_what_a_clean_build_makes() {
    let n_cases: u64 = std::env::var("UPCHECK_CASES").map_or(8, |n| n.parse().expect("a number"));
    let first: u64 = std::env::var("UPCHECK_FIRST").map_or(0, |n| n.parse().expect("a number"));
    let mut counts = Counts::default();
    for case in first..first + n_cases {
        let mut dice = Dice(case.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(11));
        // Compressed blobs are noticed to be damaged by the server, others are not.
        let setup = Setup { uncompressed: dice.roll(2) == 0, ..Setup::default() };
        let Some(server) = BazelRemote::start(setup) else { return };
        let mut world = World::new(&mut dice, server);
        for round in 0..ROUNDS {
            let side = if round == 0 { 1 } else { dice.roll(2) };
            let ninja = world.sides[side].checkout.ninja.number();
            let place = format!(
                "case {case}, round {round}, ninja {ninja} in {}",
                world.sides[side].checkout.space.path().display()
            );
            world.round(&mut dice, side, &place, &mut counts);
        }
    }
    assert!(counts.restored > 0 && counts.left > 0, "{counts:?}");
    progress(&format!(
        "{n_cases} builds: {} targets restored, {} not; {} rounds compared exactly, {} with a damaged cache",
        counts.restored, counts.left, counts.exact, counts.damaged
    ));
}

#[derive(Debug, Default)]
struct Counts {
    restored: usize,
    left: usize,
    exact: usize,
    damaged: usize,
}

struct World {
    server: BazelRemote,
    sides: [Side; 2],
    may_be_damaged: bool,
    /// Whether the server may have lost something that it does not know of.
    is_damaged: bool,
}

impl World {
    fn new(dice: &mut Dice, server: BazelRemote) -> Self {
        let description = Description::new(dice);
        let sources: Vec<String> = (0..SOURCES).map(|source| content(source, dice)).collect();
        let ninja = |dice: &mut Dice| Ninja::USUAL[dice.roll(Ninja::USUAL.len())];
        let sides = [ninja(dice), ninja(dice)].map(|ninja| Side::new(&description, ninja, &sources));
        sides[0].checkout.build_twice();
        let world = Self { server, sides, may_be_damaged: dice.roll(3) == 0, is_damaged: false };
        world.publish(dice, 0);
        world
    }

    fn round(&mut self, dice: &mut Dice, side: usize, place: &str, counts: &mut Counts) {
        for _ in 0..dice.roll(EDITS + 1) {
            edit(&mut self.sides[side], dice);
        }
        if self.may_be_damaged && dice.roll(3) == 0 {
            self.damage(dice);
        }
        let (restored, left) = self.restore(side, place);
        counts.restored += restored.len();
        counts.left += left.len();
        *(if self.is_damaged { &mut counts.damaged } else { &mut counts.exact }) += 1;
        let here = &self.sides[side];
        match dice.roll(4) {
            // What was not made waits for the next round.
            0 => {}
            1 => {
                let target = format!("t{}", dice.roll(TARGETS));
                let (is_success, said) = here.checkout.run_ninja(&[&target]);
                assert!(is_success, "{said}, {place}");
            }
            _ => {
                here.checkout.build();
                for (target, output) in outputs(here) {
                    let content = here.content(&output).unwrap_or_default();
                    assert_eq!(text(&content), text(&here.clean(target)), "{output}, {place}");
                }
                let listed = here.listed();
                assert!(listed.is_empty(), "{listed:?}, {place}:\n{}", here.explained());
            }
        }
        if dice.roll(2) == 0 {
            self.publish(dice, side);
        }
        if dice.roll(3) == 0 {
            let here = &mut self.sides[side];
            for _ in 0..=dice.roll(EDITS) {
                lie(here, dice);
            }
            if dice.roll(2) == 0 {
                here.checkout.build();
            }
            self.publish(dice, side);
            // Ninja has been lied to: only a build from nothing is right now.
            self.sides[side].checkout.forget();
        }
    }

    /// Asks, restores, and compares all of it. What was restored, and what was not.
    fn restore(&self, side: usize, place: &str) -> (BTreeSet<String>, BTreeSet<String>) {
        let (here, address) = (&self.sides[side], &self.server.address());
        let before = here.checkout.space.entries();
        let answer = ask(here, &["check", "--format", "json", "--remote", address]);
        assert!(here.checkout.space.entries() == before, "a check changes nothing, {place}");
        let said: BTreeMap<String, String> =
            list(&answer, "stale").map(|it| (word(it, "target"), word(it, "remote"))).collect();
        let is_made = |name: &String| !is_phony(here, name);
        let cached: BTreeSet<String> =
            said.iter().filter(|(_, word)| *word == "cached").map(|(name, _)| name.clone()).collect();

        let answer = ask(here, &["restore", "--format", "json", "--explain", "--remote", address]);
        let restored: BTreeSet<String> = list(&answer, "restored").map(|it| word(it, "target")).collect();
        let left: BTreeSet<String> =
            list(&answer, "stale").map(|it| word(it, "target")).filter(is_made).collect();
        let place = &format!("{place}\n{answer:#}\n{said:?}");
        let both: BTreeSet<String> = restored.union(&left).cloned().collect();
        let stale: BTreeSet<String> = said.keys().filter(|name| is_made(name)).cloned().collect();
        assert_eq!(both, stale, "{place}");
        if self.is_damaged {
            assert!(restored.is_subset(&cached), "{place}");
        } else {
            assert_eq!(restored, cached, "{place}");
        }

        let after = here.checkout.space.entries();
        let mut may_change = BTreeSet::from([".ninja_log".to_owned(), ".ninja_deps".to_owned()]);
        for (target, output) in outputs(here).filter(|(target, _)| restored.contains(&format!("t{target}"))) {
            let content = here.content(&output).expect("it was restored");
            assert_eq!(text(&content), text(&here.made(target)), "{output}, {place}");
            let is_program = here.description.targets[target].kind == Kind::Program;
            let mode = fs::metadata(here.output(&output)).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o100 != 0, is_program, "{output}, {place}");
            if here.description.targets[target].kind == Kind::Depfile {
                may_change.insert(format!("{output}.d"));
            }
            may_change.insert(output);
        }
        let may_change: BTreeSet<PathBuf> = may_change.iter().map(|name| here.output(name)).collect();
        let changed: BTreeSet<PathBuf> = changed(&before, &after);
        assert!(changed.is_subset(&may_change), "{changed:?}, {place}");
        assert_eq!(here.listed(), left, "{place}");
        for (target, output) in outputs(here) {
            let is_right = here.content(&output) == Some(here.clean(target));
            assert!(is_right || left.contains(&format!("t{target}")), "{output}, {place}");
        }
        if !self.is_damaged {
            let before = here.checkout.space.entries();
            let answer = ask(here, &["restore", "--format", "json", "--remote", address]);
            assert_eq!(list(&answer, "restored").count(), 0, "{place}");
            assert!(here.checkout.space.entries() == before, "nothing to do, {place}");
        }
        (restored, left)
    }

    fn publish(&self, dice: &mut Dice, side: usize) {
        let command: &[&str] = if dice.roll(3) == 0 { &["snapshot", "push"] } else { &["publish"] };
        let address = &self.server.address();
        ask(&self.sides[side], &[command, &["--format", "json", "--remote", address]].concat());
    }

    /// Removes or spoils some of what the server keeps, behind its back.
    fn damage(&mut self, dice: &mut Dice) {
        let kind = ["cas.v2", "ac.v2"][dice.roll(2)];
        let mut files = Vec::new();
        for folder in fs::read_dir(self.server.folder().join("cache").join(kind)).expect("a folder") {
            let folder = fs::read_dir(folder.expect("an entry").path()).expect("a folder");
            files.extend(folder.map(|file| file.expect("an entry").path()));
        }
        files.sort();
        for file in &files {
            if dice.roll(6) > 0 {
                continue;
            }
            match dice.roll(3) {
                0 => {
                    let mut bytes = fs::read(file).expect("a blob");
                    if let Some(last) = bytes.last_mut() {
                        *last ^= 4;
                    }
                    fs::write(file, bytes).expect("a blob");
                }
                _ => fs::remove_file(file).expect("a blob"),
            }
            self.is_damaged = true;
        }
    }
}

/// Changes something so that ninja sees it.
fn edit(here: &mut Side, dice: &mut Dice) {
    let (source, target) = (dice.roll(SOURCES), dice.roll(TARGETS));
    let path = format!("src/s{source}");
    let logs = [".ninja_log", ".ninja_deps"];
    match dice.roll(9) {
        0..=2 => here.checkout.edit(&path, &content(source, dice)),
        3 => {
            let same = here.checkout.space.read(&path);
            here.checkout.edit(&path, &text(&same));
        }
        4 => here.set_note(target, dice.roll(2)),
        5 => drop(fs::remove_file(here.output(&format!("t{target}")))),
        6 => drop(fs::remove_file(here.output(&format!("t{target}.d")))),
        7 => {
            let log = logs[dice.roll(2)];
            if let Some(bytes) = here.content(log) {
                let ends = if log == ".ninja_log" { ends_of_lines(&bytes) } else { ends_of_records(&bytes) };
                let end = ends.get(dice.roll(ends.len() + 1)).copied().unwrap_or(0);
                fs::write(here.output(log), &bytes[..end]).expect("a log");
            }
        }
        _ => {
            here.checkout.space.remove("build/.ninja_log");
            // Whatever is there is stale now.
            let name = format!("build/t{target}");
            if !is_phony(here, &format!("t{target}")) {
                here.checkout.space.write(&name, "somebody else's\n");
            }
        }
    }
}

/// Changes something so that ninja does not see it, or sees something else.
fn lie(here: &mut Side, dice: &mut Dice) {
    let (source, target) = (dice.roll(SOURCES), dice.roll(TARGETS));
    let space = &here.checkout.space;
    let path = format!("src/s{source}");
    let output = format!("build/t{target}");
    // What was made a moment ago is told from what is touched now only when clocks have gone on.
    let newest = here.checkout.space.mtime("build/.ninja_log").unwrap_or(0);
    space.write("clock", "");
    while space.mtime("clock").is_some_and(|now| now >= newest && now < newest + SECOND / 20) {
        space.write("clock", "");
    }
    space.remove("clock");
    match dice.roll(6) {
        0 => {
            let earlier = [0, 1, 3600 * SECOND][dice.roll(3)];
            let mtime = space.mtime(&path).expect("a source");
            space.write_at(&path, content(source, dice), mtime - earlier);
        }
        1 if here.content(&output[6..]).is_some() => {
            let mtime = space.mtime(&output).expect("it is there");
            space.write_at(&output, "somebody else's\n", mtime + [0, -1, SECOND][dice.roll(3)]);
        }
        2 if here.content(&output[6..]).is_some() => {
            // What a command makes is made again of something else, and that is forgotten.
            let mtime = space.mtime(&path).expect("a source");
            let held = space.read(&path);
            here.checkout.edit(&path, &content(source, dice));
            here.checkout.build();
            space.write_at(&path, held, mtime);
        }
        3 => drop(here.checkout.run_ninja(&["-t", "restat"])),
        4 => drop(here.checkout.run_ninja(&["-t", "cleandead"])),
        _ => {
            let other = format!("src/s{}", dice.roll(SOURCES));
            let of = |path: &str| (space.read(path), space.mtime(path).expect("a source"));
            let ((one, one_time), (two, two_time)) = (of(&path), of(&other));
            space.write_at(&path, two, two_time);
            space.write_at(&other, one, one_time);
        }
    }
}

/// Where a build log can be cut: where ninja finds half a line, it goes on in the middle of it, and then misunderstands both.
fn ends_of_lines(log: &[u8]) -> Vec<usize> {
    (1..=log.len()).filter(|&end| log[end - 1] == b'\n').collect()
}

/// Where a deps log can be cut: where ninja 1.11 finds a part of a record's length, it goes on behind it, and misunderstands both.
fn ends_of_records(log: &[u8]) -> Vec<usize> {
    let mut ends = vec!["# ninjadeps\n".len() + 4];
    while let Some((length, _)) = ends.last().and_then(|&end| log.get(end..)?.split_first_chunk::<4>()) {
        let end = ends[ends.len() - 1] + 4 + (u32::from_ne_bytes(*length) & !(1 << 31)) as usize;
        // Half a record is thrown away.
        ends.extend([end - 1, end]);
    }
    ends.retain(|&end| end <= log.len());
    ends
}

/// Runs the command. Warnings are no errors: a cache may be broken.
#[track_caller]
fn ask(here: &Side, args: &[&str]) -> Value {
    let ran: Ran = here.checkout.upcheck(args);
    assert!(ran.status < 2, "{ran:?}");
    serde_json::from_str(&ran.stdout).expect("JSON")
}

fn list<'a>(answer: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    answer[name].as_array().expect("a list").iter()
}

fn word(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn is_phony(here: &Side, name: &str) -> bool {
    let target: usize = name[1..].parse().expect("a target's name");
    here.description.targets[target].kind == Kind::Phony
}

/// All outputs with the numbers of their targets.
fn outputs(here: &Side) -> impl Iterator<Item = (usize, String)> {
    (0..TARGETS).flat_map(|target| here.description.outputs(target).into_iter().map(move |it| (target, it)))
}

/// The files that are others than before, or gone, or new.
fn changed(before: &BTreeMap<PathBuf, Entry>, after: &BTreeMap<PathBuf, Entry>) -> BTreeSet<PathBuf> {
    let all = before.keys().chain(after.keys()).filter(|path| !path.is_dir());
    all.filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
