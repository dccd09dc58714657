//! The crew: threads that take chunks from one queue. It grows where the disk is slow, because then most of them wait.

use super::{Disk, chunk};
use crate::plan::Plan;
use crate::snapshot::{IoCounts, Stat};
use crate::threads::join_all;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// What a chunk costs, in nanoseconds, at least and at most: small beside a thread's start, large beside the queue's
/// lock, and many chunks to each thread.
const CHUNK: (u64, u64) = (20_000, 250_000);
/// How many chunks a plan has that is neither small nor large.
const CHUNKS: u64 = 128;
/// So many times too large a chunk may become to keep together what lies beneath one directory.
const STRETCH: u64 = 4;
/// A thread for each of so many nanoseconds of work. It takes some 25 µs to start and end one, on a busy machine a
/// few times that; from about 1,000 files on two threads were faster than one.
const WORK_PER_THREAD: u64 = 300_000;
/// A chunk that takes so many times as long as it should was not answered from memory: from a warm cache a large
/// tree takes up to twice its estimate, from a cold one some twenty times. An interrupted chunk looks slow too; that
/// costs the start of a thread now and then.
const SLOW: u32 = 8;
/// The most threads for a slow disk that is near. 109,000 files on ext4 with cold caches and two cores: 1.3 s with one thread,
/// 1.0 with 2, 0.75 with 4, 0.57 with 8, 0.5 with 16, and no less with 32.
const MOST: usize = 16;
/// The most threads for what is far away, where all of them do nothing but wait.
const MOST_FAR: usize = 32;
/// Where an answer from far away takes so long, there may be one more thread to wait for it: that is about what the
/// processor has to do for one.
const WAIT_PER_THREAD: Duration = Duration::from_micros(25);

/// Makes all visits of a plan: what was found, in the plan's order.
pub(super) fn collect(disk: &dyn Disk, plan: &Plan, threads: usize) -> (Vec<Stat>, IoCounts) {
    let mut found = vec![Stat::Unknown; plan.n_files()];
    let (cores, most) = match threads {
        0 => thread::available_parallelism().map_or((1, usize::MAX), |cores| (cores.get(), usize::MAX)),
        told => (told, told),
    };
    let work = plan.total_cost();
    let share = (work / CHUNKS).clamp(CHUNK.0, CHUNK.1);
    let crew = Crew {
        disk,
        plan,
        queue: Mutex::new(Queue { plan, share, next: 0, rest: &mut found }),
        counts: Mutex::default(),
        there: Mutex::new(There { workers: 1, lent: 0 }),
        cores,
        most,
    };
    let wanted = usize::try_from(work / WORK_PER_THREAD).unwrap_or(usize::MAX);
    thread::scope(|scope| {
        let first = (1..cores.min(wanted)).filter_map(|_| crew.start_one(scope, cores)).collect();
        crew.work(scope, first);
    });
    let counts = *lock(&crew.counts);
    (found, counts)
}

struct Crew<'a> {
    disk: &'a dyn Disk,
    plan: &'a Plan,
    queue: Mutex<Queue<'a>>,
    counts: Mutex<IoCounts>,
    there: Mutex<There>,
    /// How many there are for a disk that is not slow.
    cores: usize,
    /// How many there may be, whatever the disk.
    most: usize,
}

/// How many threads there are.
struct There {
    /// Those that take chunks, with the first one.
    workers: usize,
    /// Those that visits may have beside them.
    lent: usize,
}

impl Crew<'_> {
    /// Takes chunks until there are none, and waits for the threads that it has started.
    fn work<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        mut started: Vec<ScopedJoinHandle<'scope, ()>>,
    ) {
        let mut counts = IoCounts::default();
        loop {
            let next = lock(&self.queue).take();
            let Some(Chunk { visits, cost, stats }) = next else { break };
            let patience = Duration::from_nanos(cost) * SLOW;
            let mut since = Instant::now();
            let mut borrowed = 0;
            chunk::visit_all(self.disk, self.plan, visits, stats, &mut counts, &mut |took| {
                if let Some(took) = took {
                    borrowed += self.start_far(scope, took, &mut started);
                    return borrowed;
                }
                lock(&self.there).lent -= std::mem::take(&mut borrowed);
                if since.elapsed() > patience {
                    started.extend(self.start_one(scope, MOST.max(self.cores)));
                    since = Instant::now();
                }
                0
            });
        }
        lock(&self.counts).add(counts);
        lock(&self.there).workers -= 1;
        join_all(started);
    }

    /// Starts as many threads as are of use where an answer takes so long, as far as there are chunks for them. Of what is
    /// left, whoever works on a chunk already may have an equal share: so many threads more.
    fn start_far<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        took: Duration,
        started: &mut Vec<ScopedJoinHandle<'scope, ()>>,
    ) -> usize {
        let of_use = usize::try_from(took.as_nanos() / WAIT_PER_THREAD.as_nanos()).unwrap_or(MOST_FAR);
        let of_use = of_use.min(MOST_FAR).max(self.cores).min(self.most);
        let missing = {
            let there = lock(&self.there);
            of_use.saturating_sub(there.workers + there.lent)
        };
        if missing == 0 {
            return 0;
        }
        let n_chunks = lock(&self.queue).chunks_left(missing);
        for _ in 0..n_chunks {
            match self.start_one(scope, of_use) {
                Some(thread) => started.push(thread),
                None => break,
            }
        }
        let mut there = lock(&self.there);
        let share = of_use.saturating_sub(there.workers) / there.workers.max(1);
        let share = share.min(of_use.saturating_sub(there.workers + there.lent));
        there.lent += share;
        share
    }

    /// Starts another thread, if there are fewer than `most` and there is something left to take. Where the system refuses, those that are there do the work.
    fn start_one<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        most: usize,
    ) -> Option<ScopedJoinHandle<'scope, ()>> {
        if lock(&self.queue).is_empty() {
            return None;
        }
        {
            let mut there = lock(&self.there);
            if there.workers + there.lent >= most.min(self.most) {
                return None;
            }
            there.workers += 1;
        }
        let thread = thread::Builder::new().spawn_scoped(scope, move || self.work(scope, Vec::new())).ok();
        if thread.is_none() {
            lock(&self.there).workers -= 1;
        }
        thread
    }
}

/// What nobody has taken yet.
struct Queue<'a> {
    plan: &'a Plan,
    /// What a chunk should cost, in nanoseconds.
    share: u64,
    next: usize,
    rest: &'a mut [Stat],
}

struct Chunk<'a> {
    visits: Range<usize>,
    /// What it should cost, in nanoseconds.
    cost: u64,
    stats: &'a mut [Stat],
}

impl<'a> Queue<'a> {
    fn is_empty(&self) -> bool {
        self.next == self.plan.n_visits()
    }

    /// About how many chunks there will be, as far as anybody wants to know.
    fn chunks_left(&self, at_most: usize) -> usize {
        let (mut n_chunks, mut cost) = (0, 0);
        for at in self.next..self.plan.n_visits() {
            cost += self.plan.cost(at);
            if cost >= self.share {
                (n_chunks, cost) = (n_chunks + 1, 0);
            }
            if n_chunks == at_most {
                return at_most;
            }
        }
        n_chunks + usize::from(cost > 0)
    }

    /// The next visits that cost about a share, and a few more rather than to cut a tree. Where chunks end depends on the plan alone.
    fn take(&mut self) -> Option<Chunk<'a>> {
        let start = self.next;
        let (mut cost, mut n_files) = (0, 0);
        // The outermost directory of this chunk that the last visit lies in, if it is opened.
        let mut top: Option<&[u8]> = None;
        while self.next < self.plan.n_visits() {
            let visit = self.plan.visit(self.next);
            let is_kept = top.is_some_and(|top| chunk::is_beneath(visit.directory(), top));
            if cost >= self.share * STRETCH || cost >= self.share && !is_kept {
                break;
            }
            if !is_kept {
                top = visit.how().opens().then(|| visit.directory());
            }
            cost += self.plan.cost(self.next);
            n_files += visit.len();
            self.next += 1;
        }
        let (stats, rest) = std::mem::take(&mut self.rest).split_at_mut(n_files);
        self.rest = rest;
        (start < self.next).then_some(Chunk { visits: start..self.next, cost, stats })
    }
}

/// What is behind a lock stays whole when a thread panics, and the panic is passed on at the end.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::FileTable;
    use crate::plan::{Costs, Visit};

    /// A disk whose answers all come from far away. It answers none before so many threads ask at once.
    struct FarDisk {
        awaited: usize,
        asking: Mutex<(usize, usize)>,
        news: std::sync::Condvar,
    }

    impl Disk for FarDisk {
        fn visit(&self, _: Visit<'_>, stats: &mut [Stat], _: &mut IoCounts) -> bool {
            stats.fill(Stat::Missing);
            true
        }

        fn visit_and_tell(
            &self,
            visit: Visit<'_>,
            stats: &mut [Stat],
            counts: &mut IoCounts,
            slow: &mut dyn FnMut(Duration) -> usize,
        ) -> bool {
            slow(Duration::from_millis(1));
            let mut asking = lock(&self.asking);
            asking.0 += 1;
            asking.1 = asking.1.max(asking.0);
            self.news.notify_all();
            while asking.1 < self.awaited {
                asking = self.news.wait(asking).unwrap_or_else(PoisonError::into_inner);
            }
            asking.0 -= 1;
            drop(asking);
            self.visit(visit, stats, counts)
        }

        fn read_stamped(&self, _: &[u8]) -> std::io::Result<(Vec<u8>, crate::snapshot::Meta)> {
            Err(std::io::ErrorKind::NotFound.into())
        }
    }

    /// How many threads were seen to ask at once.
    fn at_once(awaited: usize, directories: usize, files: usize, threads: usize) -> usize {
        let mut table = FileTable::default();
        let paths = (0..directories * files).map(|n| format!("d{}/f{n}", n % directories));
        let ids: Vec<_> = paths.map(|path| table.intern(path.as_bytes())).collect();
        let disk = FarDisk { awaited, asking: Mutex::default(), news: std::sync::Condvar::new() };
        let _ = collect(&disk, &Plan::new(&table, ids), threads);
        lock(&disk.asking).1
    }

    #[test]
    fn for_what_is_far_away_thirty_two_threads_wait_at_once() {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let at_once = at_once(MOST_FAR, 200, 100, 0);
        assert!((MOST_FAR..=MOST_FAR.max(cores)).contains(&at_once), "{at_once}");
    }

    #[test]
    fn no_more_threads_wait_than_were_asked_for_or_have_something_to_do() {
        assert_eq!(at_once(3, 200, 100, 3), 3);
        assert_eq!(at_once(1, 200, 100, 1), 1);
        assert_eq!(at_once(1, 1, 3, 0), 1);
    }

    #[test]
    fn chunks_cover_all_visits_in_order() {
        let mut table = FileTable::default();
        let ids: Vec<_> = (0..5_000).map(|n| table.intern(format!("d{}/f{n}", n % 170).as_bytes())).collect();
        let plan = Plan::with_costs(&table, ids, &Costs::LINUX);
        for share in [1, 20_000, 100_000, 1 << 60] {
            let mut found = vec![Stat::Unknown; plan.n_files()];
            let mut queue = Queue { plan: &plan, share, next: 0, rest: &mut found };
            let mut visits = Vec::new();
            let mut n_chunks = 0;
            while let Some(chunk) = queue.take() {
                let n_files: usize = chunk.visits.clone().map(|at| plan.visit(at).len()).sum();
                assert_eq!(chunk.stats.len(), n_files);
                assert!(chunk.cost >= share || chunk.visits.end == plan.n_visits());
                visits.extend(chunk.visits);
                n_chunks += 1;
            }
            assert!(visits.into_iter().eq(0..plan.n_visits()));
            assert_eq!(n_chunks == 1, share == 1 << 60, "{n_chunks} chunks of {share} ns");
        }
    }

    #[test]
    fn what_lies_beneath_one_directory_stays_together_unless_it_is_much() {
        let mut table = FileTable::default();
        let directories =
            ["a", "b", "b/x", "b/x/y", "b/z", "b-c", "c", "c/1", "c/2", "c/3", "c/4", "c/5", "c/6"];
        let names = directories.map(|directory| (0..30).map(move |n| format!("{directory}/f{n}")));
        let ids: Vec<_> = names.into_iter().flatten().map(|name| table.intern(name.as_bytes())).collect();
        let plan = Plan::with_costs(&table, ids, &Costs::LINUX);
        let mut found = vec![Stat::Unknown; plan.n_files()];
        let mut queue = Queue { plan: &plan, share: 20_000, next: 0, rest: &mut found };
        let chunks: Vec<_> = std::iter::from_fn(|| queue.take()).map(|chunk| chunk.visits).collect();
        assert_eq!(chunks, [0..1, 1..5, 5..6, 6..10, 10..11, 11..12, 12..13]);
    }
}
