//! Answers that are given in time: each some time after its request, by a thread of their own.

use crate::counts::{Asked, Counting};
use crate::tree::Tree;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Gives one answer, from the tree as it is by then.
type Answer = Box<dyn FnOnce(&Tree) + Send>;
/// Changes a tree.
pub(crate) type Change = Box<dyn FnOnce(&mut Tree) + Send>;

/// What waits to be answered.
pub(crate) struct Late {
    pub(crate) counting: Counting,
    state: Mutex<State>,
    news: Condvar,
}

struct State {
    tree: Tree,
    waiting: BinaryHeap<Waiting>,
    /// How many requests came so far.
    came: u64,
    /// Nothing is answered before so many requests are under way at once, or before that moment; but so many are answered
    /// first.
    held: Option<(u64, Instant)>,
    free: u64,
    /// What happens once so many more requests of a kind have been answered.
    then: Option<(Asked, u64, Change)>,
    is_over: bool,
}

struct Waiting {
    due: Instant,
    number: u64,
    kind: Asked,
    answer: Answer,
}

impl Late {
    pub(crate) fn new(tree: Tree) -> Self {
        let state = State {
            tree,
            waiting: BinaryHeap::new(),
            came: 0,
            held: None,
            free: 0,
            then: None,
            is_over: false,
        };
        Self { counting: Counting::default(), state: Mutex::new(state), news: Condvar::new() }
    }

    /// Takes a request that is to be answered after `latency`.
    pub(crate) fn take(&self, kind: Asked, latency: Duration, answer: impl FnOnce(&Tree) + Send + 'static) {
        let due = Instant::now() + latency;
        let mut state = self.state();
        let under_way = self.counting.came(kind);
        if state.free == 0 && state.held.is_some_and(|(enough, _)| under_way >= enough) {
            state.held = None;
        }
        state.came += 1;
        let number = state.came;
        state.waiting.push(Waiting { due, number, kind, answer: Box::new(answer) });
        self.news.notify_one();
    }

    /// Answers what is due, until there is nobody left to ask.
    pub(crate) fn answer_all(&self) {
        let mut state = self.state();
        while !state.is_over {
            let now = Instant::now();
            let due = state.waiting.peek().map(|next| match state.held {
                Some((_, latest)) if state.free == 0 => latest,
                _ => next.due,
            });
            state = match due {
                None => self.news.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(due) if due > now => {
                    self.news.wait_timeout(state, due - now).unwrap_or_else(PoisonError::into_inner).0
                }
                Some(_) => {
                    match state.free.checked_sub(1) {
                        Some(free) => state.free = free,
                        None => state.held = None,
                    }
                    self.answer_next(&mut state);
                    state
                }
            };
        }
    }

    fn answer_next(&self, state: &mut State) {
        let Some(Waiting { kind, answer, .. }) = state.waiting.pop() else { return };
        self.counting.goes(kind);
        answer(&state.tree);
        let left = match &mut state.then {
            Some((awaited, left, _)) if *awaited == kind => {
                *left -= 1;
                *left
            }
            _ => return,
        };
        if left == 0
            && let Some((_, _, change)) = state.then.take()
        {
            change(&mut state.tree);
        }
    }

    /// After so many more answers, none is given until so many requests are under way at once; after a long while it is
    /// given all the same, for somebody to find out that there never were as many.
    pub(crate) fn hold(&self, free: u64, under_way: u64, at_most: Duration) {
        let mut state = self.state();
        state.free = free;
        state.held = Some((under_way, Instant::now() + at_most));
    }

    /// Lets something happen right after so many more requests of a kind have been answered.
    pub(crate) fn then(&self, kind: Asked, times: u64, change: Change) {
        self.state().then = Some((kind, times.max(1), change));
    }

    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Tree) -> T) -> T {
        change(&mut self.state().tree)
    }

    pub(crate) fn end(&self) {
        self.state().is_over = true;
        self.news.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one that is due first is the greatest.
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.due, other.number).cmp(&(self.due, self.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}
