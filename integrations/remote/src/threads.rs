//! The same for each of many things, by several threads at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// So many things in a row are taken by one thread: fewer are not worth a thread.
const RUN: usize = 64;

/// What `work` makes of each thing, in their order. At most so many threads, this one among them.
pub(crate) fn each<T: Sync, R: Send>(threads: usize, things: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let n_runs = things.len().div_ceil(RUN);
    if threads < 2 || n_runs < 2 {
        return things.iter().map(work).collect();
    }
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(n_runs)));
    let take = || {
        loop {
            let run = next.fetch_add(1, Ordering::Relaxed);
            let Some(things) = things.chunks(RUN).nth(run) else { break };
            let made: Vec<R> = things.iter().map(&work).collect();
            done.lock().unwrap_or_else(PoisonError::into_inner).push((run, made));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(n_runs) {
            scope.spawn(take);
        }
        take();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(run, _)| *run);
    done.into_iter().flat_map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once_and_comes_in_order() {
        for n_things in [0, 1, RUN, RUN + 1, 10 * RUN + 3] {
            let things: Vec<usize> = (0..n_things).collect();
            for threads in [0, 1, 2, 7] {
                let n_done = AtomicUsize::new(0);
                let made = each(threads, &things, |thing| {
                    n_done.fetch_add(1, Ordering::Relaxed);
                    thing * 2
                });
                assert_eq!(made, things.iter().map(|thing| thing * 2).collect::<Vec<_>>());
                assert_eq!(n_done.into_inner(), n_things);
            }
        }
    }
}
