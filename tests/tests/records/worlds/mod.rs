//! Random worlds: sources that are edited at the worst moments, commands that read them one after the other, stores that
//! come to harm. After every step two things are asked:
//!
//! - whether the answer is the one of the naive implementation, to the last reason;
//! - whether what is called fresh is right, which needs no rule: what its command would make now is what it made.
//!
//! What documents say cannot be seen is counted and excused, nothing else is: inputs that were changed and put back within
//! a tick, or in place with their times; and changes after a clock was set back.

mod builds;
mod commands;
mod harm;
mod targets;
mod truth;

use crate::S;
use crate::describe::{Desc, Process};
use crate::dice::{Dice, number};
use crate::naive::{Naive, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;
use upcheck::Mtime;
use upcheck::collect::MemoryDisk;
use upcheck_tests::aloud::progress;

const MS: Mtime = 1_000_000;
const SOURCES: [&str; 9] = ["s0", "s1", "s2", "s3", "h0", "h1", "g/a.c", "g/b.c", "g/c.c"];

/// What was found on the way.
#[derive(Default)]
struct Counts {
    checks: AtomicU64,
    fresh: AtomicU64,
    verified: AtomicU64,
    commits: AtomicU64,
    doubted: AtomicU64,
    misread: AtomicU64,
    clock_went_back: AtomicU64,
    tampered: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

struct World<'a> {
    dice: Dice,
    disk: MemoryDisk,
    clock: Mtime,
    /// Something could not be seen after the clock went back: nothing that follows is of interest.
    is_over: bool,
    /// The latest that it has been.
    latest: Mtime,
    granularity: Mtime,
    clock_went_back: bool,
    place: TempDir,
    targets: Vec<Desc>,
    common: Vec<(String, String)>,
    /// The header that the command of a target with a depfile reads first.
    headers: BTreeMap<String, String>,
    store: Store,
    /// How long the file of records was when the naive store had so many entries.
    lengths: Vec<(u64, usize)>,
    backups: Vec<Backup>,
    /// A process that lives on from one question to the next.
    process: Option<Process>,
    /// Outputs that somebody changed by hand since they were made.
    tampered: BTreeSet<String>,
    /// Builds whose commands have read something else than is on record, which cannot be seen.
    misread: BTreeSet<u64>,
    /// What the command of each build made; of targets without outputs nothing else shows it.
    made: BTreeMap<u64, String>,
    log: Vec<String>,
    counts: &'a Counts,
}

/// A store that was kept aside: its file, what is in it, and how long it was when.
type Backup = (Vec<u8>, Store, Vec<(u64, usize)>);

impl<'a> World<'a> {
    fn new(seed: u64, counts: &'a Counts) -> Self {
        let mut dice = Dice(seed);
        let mut disk = MemoryDisk::with_real_ctimes();
        let clock = 1000 * S + 123_456_789;
        disk.set_clock(clock);
        let granularity = [1, 4 * MS, S, 2 * S][usize::try_from(dice.roll(4)).expect("small")];
        disk.set_granularity(granularity);
        if dice.one_in(3) {
            disk.set_skew(
                [-500 * S, -S, -30 * MS, 30 * MS, 900 * S][usize::try_from(dice.roll(5)).expect("small")],
            );
        }
        let in_memory = std::path::Path::new("/dev/shm");
        let place = if in_memory.is_dir() { TempDir::new_in(in_memory) } else { TempDir::new() };
        let mut world = Self {
            dice,
            disk,
            clock,
            latest: clock,
            is_over: false,
            granularity,
            clock_went_back: false,
            place: place.expect("a temporary directory"),
            targets: Vec::new(),
            common: vec![("CC".to_owned(), "a".to_owned())],
            headers: BTreeMap::new(),
            store: Store::default(),
            lengths: Vec::new(),
            backups: Vec::new(),
            process: None,
            tampered: BTreeSet::new(),
            misread: BTreeSet::new(),
            made: BTreeMap::new(),
            log: Vec::new(),
            counts,
        };
        for source in SOURCES {
            let content = world.content();
            world.disk.write(source, &content);
        }
        world.disk.write("g/readme", b"");
        world.wait();
        world.describe();
        world
    }

    fn note(&mut self, what: impl Into<String>) {
        self.log.push(what.into());
    }

    fn store_dir(&self) -> PathBuf {
        self.place.path().join("store")
    }

    fn content(&mut self) -> Vec<u8> {
        self.dice.pick(&["a", "b", "+", "a", "b", "ab+"]).as_bytes().to_vec()
    }

    fn naive(&self) -> Naive<'_> {
        Naive { disk: &self.disk, targets: &self.targets, common: &self.common, store: &self.store }
    }

    /// A process: the one that lives on, or another one.
    fn process(&mut self) -> Process {
        let known = self.process.take().filter(|_| !self.dice.one_in(4));
        known.unwrap_or_else(|| {
            let common: Vec<(&str, &str)> = self.common.iter().map(|(n, v)| (&n[..], &v[..])).collect();
            Process::with_values(&self.targets, &common)
        })
    }

    fn by(&mut self, time: Mtime) {
        self.clock += time;
        self.latest = self.latest.max(self.clock);
        self.disk.set_clock(self.clock);
    }

    /// Lets so much time pass that nothing is racy any more.
    fn wait(&mut self) {
        self.by(3 * S);
    }

    fn pass_time(&mut self) {
        let times = [0, 0, 1, MS, 10 * MS, 100 * MS, S, 3 * S];
        let time = times[usize::try_from(self.dice.roll(8)).expect("small")];
        self.by(time);
    }

    fn step(&mut self) {
        self.pass_time();
        match self.dice.roll(40) {
            0..12 => self.build(),
            12..22 => {
                self.note("edit");
                self.edit();
            }
            22..25 => self.build_all(),
            25..28 => self.tamper(),
            28..31 => self.overlap(),
            31..34 => self.describe_otherwise(),
            34..37 => self.harm_the_store(),
            37 => self.restore_all(),
            38 => {
                let back = [10 * MS, S, 5 * S, 60 * S][usize::try_from(self.dice.roll(4)).expect("small")];
                self.note(format!("the clock goes back by {back}"));
                self.clock_went_back = true;
                self.by(-back);
            }
            _ => self.note("nothing"),
        }
        if self.dice.one_in(2) {
            self.pass_time();
        }
        if self.dice.one_in(4) {
            self.check();
        }
        self.check();
    }
}

/// So many worlds take a few seconds.
const USUAL: u64 = 1000;

/// Lives through a world. What went wrong in it, and what happened before.
fn live(seed: u64, n_steps: u64, counts: &Counts) -> Result<(), String> {
    let mut world = World::new(seed, counts);
    for step in 0..n_steps {
        world.note(format!("-- {step}, at {}", world.clock));
        if world.is_over {
            break;
        }
        let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.step()));
        if let Err(panic) = lived {
            let text = panic.downcast_ref::<String>().cloned();
            let text =
                text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default();
            let targets: Vec<String> = world.targets.iter().map(|desc| format!("{desc:?}")).collect();
            return Err(format!(
                "seed {seed}, granularity {}: {text}\n{}\n{:?}\n{}",
                world.granularity,
                targets.join("\n"),
                world.headers,
                world.log.join("\n")
            ));
        }
    }
    Ok(())
}

#[test]
fn what_is_fresh_is_right_and_what_is_stale_is_so_for_the_reasons_of_the_naive_implementation() {
    let (cases, first) = (number("UPCHECK_CASES", USUAL), number("UPCHECK_SEED", 1));
    let counts = Counts::default();
    let next = AtomicU64::new(first);
    let failed = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + cases || !failed.lock().expect("no panic").is_empty() {
                        return;
                    }
                    if let Err(why) = live(seed, 20, &counts) {
                        // The fewest steps in which it goes wrong.
                        let shortest = (1..20).find_map(|n| live(seed, n, &Counts::default()).err());
                        failed.lock().expect("no panic").push(shortest.unwrap_or(why));
                    }
                }
            });
        }
    });
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    if cases > USUAL {
        progress(&format!(
            "{cases} worlds: {} checks, {} commits ({} doubted), {} times fresh, {} of them compared with the truth; not seen: {} put back unseen, \
         {} after the clock went back, {} outputs changed by hand where only stamps count",
            of(&counts.checks),
            of(&counts.commits),
            of(&counts.doubted),
            of(&counts.fresh),
            of(&counts.verified),
            of(&counts.misread),
            of(&counts.clock_went_back),
            of(&counts.tampered)
        ));
    }
    // Excuses are rare, or they hide something.
    let excused = of(&counts.misread) + of(&counts.clock_went_back);
    assert!(excused <= 3 + cases / 500, "{excused} times something could not be seen");
    if let Some(why) = failed.into_inner().expect("no panic").first() {
        panic!("{why}");
    }
}
