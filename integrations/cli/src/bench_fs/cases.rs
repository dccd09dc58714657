//! What is measured: each way of asking by itself, and the planner's choice against one stat after another.

use super::measured::{Measured, Work};
use super::sample::Sample;
use super::server::Server;
use std::time::{Duration, Instant};
use upcheck::collect::Disk;
use upcheck::{Costs, FileId, How, IoCounts, ListingCosts, Plan, Stat, Visit};

/// Costs at which every name is asked for by its path.
const BY_PATH: Costs = Costs { stat: 1, step: 0, open: 1, listing: None };
/// Costs at which a directory is opened wherever that could ever pay: below the base, and for two names or more.
const FROM_DIRECTORY: Costs = Costs { stat: 1, step: 1, open: 0, listing: None };
/// Costs at which every directory is listed, however large it is.
const FROM_LISTING: Costs =
    Costs { stat: 1 << 40, step: 0, open: 0, listing: Some(ListingCosts { buffer: 0, entry: 1 }) };

/// How many rounds there are at least and at most, if nobody says how many.
const ROUNDS: (usize, usize) = (11, 301);
/// Between these, rounds end after so long.
const WHILE: Duration = Duration::from_secs(2);

/// All that is measured.
pub(super) struct Cases {
    /// One way of asking each.
    pub(super) rates: Vec<Rate>,
    /// What the planner makes of the sample, and of a few names of each directory.
    pub(super) choices: Vec<Choice>,
    /// Whether answers come from far away: then the disk itself may list a directory first, whatever the plan is.
    pub(super) is_far: bool,
}

/// One way of asking.
pub(super) struct Rate {
    /// Its name for programs.
    pub(super) code: &'static str,
    /// How many operations a round makes.
    pub(super) n: usize,
    pub(super) measured: Measured,
}

/// What the planner chooses, against one stat after another.
pub(super) struct Choice {
    /// Which names, for programs.
    pub(super) code: &'static str,
    pub(super) one_by_one: Measured,
    pub(super) planned: Measured,
    /// As planned, with the threads of a check.
    pub(super) with_threads: Measured,
}

impl Cases {
    pub(super) fn new(sample: &Sample, threads: usize) -> Self {
        let table = &sample.table;
        let visits = |code, files: Vec<FileId>, costs: &Costs, how| {
            let plan = Plan::with_costs(table, files, costs);
            let n = plan.visits().filter(|visit| visit.how() == how).map(Visit::len).sum();
            Rate { code, n, measured: Measured::new(Work::Visits(plan, Some(how))) }
        };
        let (files, missing) = (|| sample.files().collect(), || sample.missing().collect());
        let n_directories = sample.directories.len();
        let mut rates = vec![
            Rate { code: "list", n: n_directories, measured: Measured::new(Work::List) },
            visits("stat-by-path", files(), &BY_PATH, How::Path),
            visits("stat-from-directory", files(), &FROM_DIRECTORY, How::Descriptor),
            visits("missing-by-path", missing(), &BY_PATH, How::Path),
            visits("missing-from-directory", missing(), &FROM_DIRECTORY, How::Descriptor),
            Rate { code: "open", n: sample.n_names(), measured: Measured::new(Work::Open) },
        ];
        if Costs::here().listing.is_some() {
            rates.insert(3, visits("stat-from-listing", files(), &FROM_LISTING, How::List));
        }
        rates.retain(|rate| rate.n > 0);
        let choice = |code, files: Vec<FileId>| {
            let plan = Plan::new(table, files.iter().copied());
            Choice {
                code,
                one_by_one: Measured::new(Work::Visits(Plan::with_costs(table, files, &BY_PATH), None)),
                planned: Measured::new(Work::Visits(plan.clone(), None)),
                with_threads: Measured::new(Work::Collect(plan, threads)),
            }
        };
        let choices = vec![choice("all", files()), choice("few", sample.few().collect())];
        Self { rates, choices, is_far: false }
    }

    /// Does everything in each of `told` rounds, or in as many as a short while is enough for, each time beginning with
    /// something else. How many rounds there were.
    pub(super) fn measure(
        &mut self,
        disk: &dyn Disk,
        sample: &Sample,
        server: Option<Server>,
        told: Option<usize>,
    ) -> usize {
        self.warm_up(disk, sample, server);
        let mut all: Vec<&mut Measured> = self.rates.iter_mut().map(|rate| &mut rate.measured).collect();
        for Choice { one_by_one, planned, with_threads, .. } in &mut self.choices {
            all.extend([one_by_one, planned, with_threads]);
        }
        let began = Instant::now();
        let mut n = 0;
        loop {
            all.iter_mut().for_each(|measured| measured.again(disk, sample));
            n += 1;
            let is_enough = match told {
                Some(told) => n >= told,
                None => n >= ROUNDS.0 && (n >= ROUNDS.1 || began.elapsed() > WHILE),
            };
            if is_enough {
                return n;
            }
            all.rotate_left(1);
        }
    }

    /// Asks for everything once: what is in the caches for one has to be there for all. Where answers turn out to come
    /// from far away, what is to be one question after another really is.
    fn warm_up(&mut self, disk: &dyn Disk, sample: &Sample, server: Option<Server>) {
        let plan = Plan::with_costs(&sample.table, sample.files(), &BY_PATH);
        for visit in plan.visits() {
            let mut found = vec![Stat::Unknown; visit.len()];
            disk.visit_and_tell(visit, &mut found, &mut IoCounts::default(), &mut |_| {
                self.is_far = true;
                0
            });
        }
        if self.is_far {
            self.rates.retain(|rate| !rate.code.ends_with("-from-directory"));
            for rate in self.rates.iter_mut().filter(|rate| rate.code.ends_with("-by-path")) {
                rate.measured.ask_singly();
            }
            self.choices.iter_mut().for_each(|choice| choice.one_by_one.ask_singly());
            // What the system remembers it answers itself, and that tells little about who is far away.
            let asked = server.map(|server| Measured::new(Work::Server(server)));
            let (code, n) = ("stat-from-server", sample.n_names());
            let at = self.rates.iter().position(|rate| rate.code.starts_with("missing")).unwrap_or(0);
            self.rates.splice(at..at, asked.map(|measured| Rate { code, n, measured }));
        }
    }
}

impl Choice {
    /// How often each way of asking is chosen.
    pub(super) fn n_visits(&self, how: How) -> usize {
        self.planned.plan().map_or(0, |plan| plan.visits().filter(|visit| visit.how() == how).count())
    }

    /// How many names are asked for.
    pub(super) fn n_names(&self) -> usize {
        self.planned.stats.len()
    }

    /// Of how many names not all three say the same: somebody has changed them meanwhile.
    pub(super) fn n_different(&self) -> usize {
        let others = self.planned.stats.iter().zip(&self.with_threads.stats);
        let all = self.one_by_one.stats.iter().zip(others);
        all.filter(|(one, (two, three))| one != two || one != three).count()
    }
}
