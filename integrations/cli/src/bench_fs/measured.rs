//! Something that is done again and again, and what it took.

use super::sample::Sample;
use super::server::Server;
use std::time::Instant;
use upcheck::collect::{Disk, Listing, collect};
use upcheck::{How, IoCounts, Plan, Stat, Visit};

/// Work, and what it took in each round.
pub(super) struct Measured {
    work: Work,
    /// What each round took, in nanoseconds.
    rounds: Vec<u64>,
    /// What each visit took at least, in nanoseconds, in the plan's order; for visits only.
    pub(super) visits: Vec<u64>,
    /// What was found last, in the plan's order; where names were asked for.
    pub(super) stats: Vec<Stat>,
    /// What that asked of the disk.
    pub(super) counts: IoCounts,
}

/// What is done in a round.
pub(super) enum Work {
    /// List each directory.
    List,
    /// Open and close each file.
    Open,
    /// Ask for each file past what the system remembers of it.
    Server(Server),
    /// Make visits one after another, those alone that ask this way if one is named.
    Visits(Plan, Option<How>),
    /// Ask for each file of a plan, visit by visit, by a question of its own.
    Singly(Plan),
    /// Collect as a check would, with so many threads.
    Collect(Plan, usize),
}

impl Measured {
    pub(super) fn new(work: Work) -> Self {
        Self { work, rounds: Vec::new(), visits: Vec::new(), stats: Vec::new(), counts: IoCounts::default() }
    }

    /// Does it once more.
    pub(super) fn again(&mut self, disk: &dyn Disk, sample: &Sample) {
        let Self { work, rounds, visits, stats, counts } = self;
        *counts = IoCounts::default();
        rounds.push(match work {
            Work::List => {
                let mut listing = Listing::default();
                // What cannot be listed any more has taken its time all the same.
                time(|| sample.directories.iter().for_each(|it| drop(disk.list(&it.path, &mut listing))))
            }
            Work::Open => time(|| {
                for file in sample.files() {
                    drop(disk.open(sample.table.path(file)));
                }
            }),
            Work::Server(server) => time(|| {
                for file in sample.files() {
                    // Whoever is gone has taken the time all the same.
                    server.ask(sample.table.path(file));
                }
            }),
            Work::Visits(plan, how) => all_visits(plan, visits, stats, |visit, found| {
                let is_meant = how.is_none_or(|how| how == visit.how());
                is_meant.then(|| {
                    time(|| {
                        // A directory that is gone leaves its names missing.
                        disk.visit(visit, found, counts);
                    })
                })
            }),
            Work::Singly(plan) => {
                let mut files = plan.files();
                all_visits(plan, visits, stats, |_, found| {
                    let files = files.by_ref().take(found.len());
                    let paths = files.map(|file| sample.table.path(file));
                    counts.stats += found.len() as u64;
                    Some(time(|| {
                        found.iter_mut().zip(paths).for_each(|(stat, path)| *stat = disk.stat(path))
                    }))
                })
            }
            Work::Collect(plan, threads) => {
                let began = Instant::now();
                let snapshot = collect(disk, plan, *threads);
                let spent = nanoseconds(began);
                *stats = plan.files().map(|file| snapshot.stat(file)).collect();
                *counts = snapshot.counts();
                spent
            }
        });
    }

    /// From now on asks for each file by a question of its own.
    pub(super) fn ask_singly(&mut self) {
        if let Work::Visits(plan, _) = &mut self.work {
            self.work = Work::Singly(std::mem::take(plan));
        }
    }

    /// The plan, where there is one.
    pub(super) fn plan(&self) -> Option<&Plan> {
        match &self.work {
            Work::Visits(plan, _) | Work::Singly(plan) | Work::Collect(plan, _) => Some(plan),
            Work::List | Work::Open | Work::Server(_) => None,
        }
    }

    /// What a round took at least, in nanoseconds.
    pub(super) fn least(&self) -> u64 {
        self.rounds.iter().copied().min().unwrap_or(0)
    }

    /// What half of the rounds did not exceed, in nanoseconds.
    pub(super) fn median(&self) -> u64 {
        let mut sorted = self.rounds.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0)
    }
}

/// Makes the visits of a plan, those that `make` has a time for, and keeps the least time of each. The time of all.
fn all_visits(
    plan: &Plan,
    visits: &mut Vec<u64>,
    stats: &mut Vec<Stat>,
    mut make: impl FnMut(Visit<'_>, &mut [Stat]) -> Option<u64>,
) -> u64 {
    visits.resize(plan.n_visits(), u64::MAX);
    stats.clear();
    stats.resize(plan.n_files(), Stat::Unknown);
    let mut rest = stats.as_mut_slice();
    let mut sum = 0;
    for (visit, least) in plan.visits().zip(visits) {
        let (found, after) = rest.split_at_mut(visit.len());
        rest = after;
        if let Some(spent) = make(visit, found) {
            *least = spent.min(*least);
            sum += spent;
        }
    }
    sum
}

fn time(work: impl FnOnce()) -> u64 {
    let began = Instant::now();
    work();
    nanoseconds(began)
}

fn nanoseconds(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_one_of_the_rounds() {
        let of = |rounds: &[u64]| {
            let measured = Measured { rounds: rounds.to_vec(), ..Measured::new(Work::List) };
            (measured.least(), measured.median())
        };
        assert_eq!(of(&[5]), (5, 5));
        assert_eq!(of(&[5, 1, 9]), (1, 5));
        assert_eq!(of(&[4, 3, 2, 1]), (1, 2));
        assert_eq!(of(&[]), (0, 0));
    }
}
