//! After an answer, in the background: watches files that were looked at for it, and finds out whether anybody has them open.
//! Then the next question need not ask for them.

use super::room::{Room, Unsettled};
use crate::args::Common;
use crate::run::open;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use upcheck::collect::{Disk, collect};
use upcheck_watch::WatchedDisk;

/// So many files are looked at before somebody else has a turn.
const STEP: usize = 1000;
/// For so many times as long as it would take it is not done again for the same build directory. Two daemons that watch the same
/// files tell each other of each file that they open, and would never come to an end.
const PAUSE: u32 = 5;
/// To look at all that is remembered takes about this part of the time in which it came to be.
const LOOKING: u32 = 50;
/// What was forgotten meanwhile is looked at once more: there was more to tell than can be kept, or at a limit another way to be told
/// was chosen.
const MOST_PASSES: usize = 2;
/// So much work may wait. What is beyond that is left to the next answer.
const MOST_WAITING: usize = 16;

/// Who does it.
pub(super) struct Settler(SyncSender<Work>);

/// What is to be done.
pub(super) struct Work {
    /// As somebody has asked.
    pub(super) common: Common,
    pub(super) unsettled: Unsettled,
    pub(super) room: Weak<Mutex<Room>>,
}

impl Settler {
    /// Begins to wait for work. `None` without room for a thread: then all files are asked for each time.
    pub(super) fn new() -> Option<Self> {
        let (sender, receiver) = sync_channel(MOST_WAITING);
        let thread = std::thread::Builder::new().name("settle".into()).spawn(move || settle_all(&receiver));
        thread.is_ok().then_some(Self(sender))
    }

    /// Has it done soon.
    pub(super) fn settle(&self, work: Work) {
        let _ = self.0.try_send(work);
    }
}

fn settle_all(work: &Receiver<Work>) {
    while let Ok(work) = work.recv() {
        settle(&work);
    }
}

fn settle(work: &Work) {
    let Ok(opened) = open(&work.common) else { return };
    let mut not_before = work.unsettled.eyes.not_before.lock().unwrap_or_else(PoisonError::into_inner);
    if not_before.is_some_and(|moment| Instant::now() < moment) {
        return;
    }
    let again = remember(&opened, &work.unsettled);
    *not_before = Some(Instant::now() + again * PAUSE);
    drop(not_before);
    if let Some(room) = work.room.upgrade() {
        // One in which somebody has panicked is left to whoever comes next.
        let Ok(mut room) = room.lock() else { return };
        room.calm_down(&opened);
        room.lighten(&work.common, &opened);
    }
}

/// Watches what is not watched, and finds out what of it is closed. About how long it would take to do so for what is left.
pub(super) fn remember(disk: &dyn Disk, Unsettled { eyes, plans }: &Unsettled) -> Duration {
    let memory = &eyes.memory;
    let mut again = Duration::ZERO;
    for _ in 0..MOST_PASSES {
        let (began, n_forgotten, mut n_settled) = (Instant::now(), memory.asked().forgotten, 0);
        for plan in plans {
            let _ = collect(&WatchedDisk::new(disk, memory), plan, 1);
        }
        // To open a file is told to others who watch it, and they may do the same: so it is not done for ever.
        let left = memory.n_unsettled();
        while n_settled < left {
            match WatchedDisk::new(disk, memory).settle(STEP) {
                // Somebody has what is left open.
                0 => break,
                n => n_settled += n,
            }
        }
        memory.refresh();
        again = again_after(began.elapsed(), memory.n_unsettled(), n_settled);
        if memory.asked().forgotten == n_forgotten {
            break;
        }
    }
    again
}

/// How long another pass would take, after one in which so many files were settled, for so many that are left.
fn again_after(took: Duration, n_left: usize, n_settled: usize) -> Duration {
    let [n_left, n_settled] = [n_left, n_settled].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    // To find that nothing is left takes time, too.
    (took / n_left.max(n_settled).max(1) * n_left).max(took / LOOKING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_pass_takes_as_long_as_what_is_left() {
        let took = Duration::from_secs(100);
        assert_eq!(again_after(took, 1_000, 1_000), took);
        assert_eq!(again_after(took, 2_000, 1_000), took);
        assert_eq!(again_after(took, 500, 1_000), took / 2);
        assert_eq!(again_after(took, 5, 0), took, "somebody has them open");
        assert_eq!(again_after(took, 1, 1_000_000), took / LOOKING);
        assert_eq!(again_after(took, 0, 0), took / LOOKING);
        assert_eq!(again_after(Duration::ZERO, usize::MAX, 0), Duration::ZERO);
    }
}
