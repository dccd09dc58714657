//! Random worlds.

use crate::{Discovered, Extra, S, State, Target, World};
use proptest::prelude::*;
use std::collections::BTreeMap;
use upcheck::{Mtime, Record, Unknown};

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
pub(crate) const ODD_TIMES: [Mtime; 12] =
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

pub(crate) fn worlds() -> impl Strategy<Value = World> {
    prop::collection::vec(any::<u16>(), 0..700).prop_map(|numbers| roll(&numbers))
}
