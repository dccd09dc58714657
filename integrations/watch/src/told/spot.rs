//! Looks whether what a driver told is true, before anything is answered from memory.
//!
//! Each directory is looked at: where names came, went, were replaced or now lie elsewhere it looks different, and then all that
//! is remembered of it is looked at. That leaves what was written to in place: of that some files are looked at, half of
//! them at random, which soon finds what is wrong often, half in turn, which finds everything in the end.

use super::disk::{look, young_since};
use super::memory::{Directories, State};
use super::spelling::join;
use super::{Inside, Options};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use upcheck::collect::{Disk, collect};
use upcheck::{FileId, FileTable, Plan, Stat};

/// What is kept between questions.
#[derive(Debug, Default)]
pub(super) struct Spots {
    /// Where those in turn go on: a directory, and a position in all its names.
    next: (usize, usize),
    /// What chance goes on from; `None` before it began.
    chance: Option<u64>,
    looks: Option<Looks>,
}

/// How all directories are looked at.
#[derive(Debug)]
struct Looks {
    /// By number of the directory.
    files: Vec<FileId>,
    plan: Plan,
}

/// A remembered name: its directory, block and position.
type Spot = (usize, usize, usize);

/// Looks; `Err` is a file that is not as it was remembered.
pub(super) fn check(
    inside: &mut Inside,
    disk: &dyn Disk,
    options: Options,
    threads: usize,
) -> Result<(), Vec<u8>> {
    let Inside { directories, spots, counts, .. } = inside;
    let since = young_since(disk, options.young);
    let looks = spots.looks.take().filter(|looks| looks.files.len() == directories.all.len());
    let looks = looks.unwrap_or_else(|| Looks::new(directories));
    let seen = collect(disk, &looks.plan, threads);
    counts.directories += looks.files.len() as u64;
    // Those that do not look as they did, and all names that are remembered of them.
    let mut changed = Vec::new();
    let mut wanted: Vec<Spot> = Vec::new();
    for (at, directory) in directories.all.iter_mut().enumerate() {
        let now = look(seen.stat(looks.files[at]), since);
        if !matches!(now.stat, Stat::Missing | Stat::Present(_)) {
            directory.blocks.clear();
        }
        for (number, block) in directory.blocks.iter().enumerate() {
            if block.look.is_young || block.look.stat != now.stat {
                changed.push((at, number, now));
                let known = (0..block.len()).filter(|position| block.state(*position) == State::Known);
                wanted.extend(known.map(|position| (at, number, position)));
            }
        }
    }
    spots.looks = Some(looks);
    let half = options.spot_checks / 2;
    wanted.extend(spots.in_turn(directories, options.spot_checks - half));
    wanted.extend(spots.at_random(directories, half));
    counts.checked += wanted.len() as u64;
    compare(directories, &wanted, disk, threads)?;
    for (at, number, now) in changed {
        directories.all[at].blocks[number].look = now;
    }
    Ok(())
}

/// Asks the disk for names, and compares.
fn compare(
    directories: &mut Directories,
    wanted: &[Spot],
    disk: &dyn Disk,
    threads: usize,
) -> Result<(), Vec<u8>> {
    let mut files = FileTable::default();
    let mut asked = Vec::with_capacity(wanted.len());
    for of_block in wanted.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1) && a.2 < b.2) {
        let (at, number, _) = of_block[0];
        let directory = &directories.all[at];
        let mut names = directory.blocks[number].names().enumerate();
        for (.., position) in of_block {
            let name = names.find(|(at, _)| at == position).map_or(&b""[..], |(_, name)| name);
            asked.push(files.intern(&join(&directory.path, name)));
        }
    }
    let plan = Plan::new(&files, files.ids());
    let seen = collect(disk, &plan, threads);
    for (&(at, number, position), file) in wanted.iter().zip(asked) {
        let block = &mut directories.all[at].blocks[number];
        let (before, now) = (block.stats()[position], seen.stat(file));
        if now == Stat::Unknown {
            // Nobody said: the question was given up.
            block.set(position, before, State::Unknown);
        } else if now != before {
            return Err(files.path(file).to_vec());
        }
    }
    Ok(())
}

impl Looks {
    fn new(directories: &Directories) -> Self {
        let mut table = FileTable::default();
        let path = |path: &[u8]| if path.is_empty() { b".".to_vec() } else { path.to_vec() };
        let files: Vec<FileId> =
            directories.all.iter().map(|directory| table.intern(&path(&directory.path))).collect();
        Self { plan: Plan::new(&table, table.ids()), files }
    }
}

impl Spots {
    /// The next ones that are known, `n` at most. Each comes before one comes again, whatever is asked meanwhile.
    fn in_turn(&mut self, directories: &Directories, n: usize) -> Vec<Spot> {
        let (all, (first, begin)) = (&directories.all, self.next);
        let mut found = Vec::with_capacity(n);
        if n == 0 || all.is_empty() {
            return found;
        }
        // The first one comes last, too, up to where this began.
        for step in 0..=all.len() {
            let at = (first + step) % all.len();
            let range = match step {
                0 => begin..usize::MAX,
                _ if step == all.len() => 0..begin,
                _ => 0..usize::MAX,
            };
            let mut before = 0;
            for (number, block) in all[at].blocks.iter().enumerate() {
                let from = range.start.saturating_sub(before).min(block.len());
                let to = range.end.saturating_sub(before).min(block.len());
                for position in from..to {
                    if block.state(position) == State::Known {
                        found.push((at, number, position));
                    }
                    if found.len() == n {
                        self.next = (at, before + position + 1);
                        return found;
                    }
                }
                before += block.len();
            }
        }
        found
    }

    /// Some that are known, `n` at most, each as likely as any other.
    fn at_random(&mut self, directories: &Directories, n: usize) -> Vec<Spot> {
        let blocks = || {
            let all = directories.all.iter().enumerate();
            all.flat_map(|(at, directory)| {
                directory.blocks.iter().enumerate().map(move |(number, block)| (at, number, block))
            })
        };
        let total: u64 = blocks().map(|(.., block)| block.len() as u64).sum();
        if total == 0 {
            return Vec::new();
        }
        // Some will not be known.
        let mut places: Vec<u64> = (0..2 * n).map(|_| self.chance() % total).collect();
        places.sort_unstable();
        let mut places = places.into_iter().peekable();
        let mut found = Vec::new();
        let mut before = 0;
        for (at, number, block) in blocks() {
            let end = before + block.len() as u64;
            while let Some(place) = places.next_if(|place| *place < end) {
                let position = usize::try_from(place - before).unwrap_or(0);
                if block.state(position) == State::Known {
                    found.push((at, number, position));
                }
            }
            before = end;
        }
        // Which ones go is left to chance as well.
        while found.len() > n {
            let which = self.chance() % found.len() as u64;
            found.swap_remove(usize::try_from(which).unwrap_or(0));
        }
        found
    }

    /// The next number of a sequence that nobody foresees (splitmix64; the standard library seeds its hashers from the
    /// system's random numbers).
    fn chance(&mut self) -> u64 {
        let last = self.chance.unwrap_or_else(|| RandomState::new().hash_one(std::process::id()));
        let next = last.wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.chance = Some(next);
        let mixed = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
