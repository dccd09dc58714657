//! Finds out in the background, after an answer, whether anybody has files open that were looked at for it: the next question
//! then need not.

use super::room::Eyes;
use crate::args::Common;
use crate::run::open;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use upcheck_watch::WatchedDisk;

/// So many files are looked at before somebody else has a turn.
const STEP: usize = 1000;
/// So much work may wait. What is beyond that is done by the next question.
const MOST_WAITING: usize = 16;

/// Who does it.
pub(super) struct Settler(SyncSender<Work>);

struct Work {
    common: Common,
    eyes: Arc<Eyes>,
}

impl Settler {
    /// Begins to wait for work. `None` without room for a thread: then questions do it all, a part each time.
    pub(super) fn new() -> Option<Self> {
        let (sender, receiver) = sync_channel(MOST_WAITING);
        let thread = std::thread::Builder::new().name("settle".into()).spawn(move || settle(&receiver));
        thread.is_ok().then_some(Self(sender))
    }

    /// Does it for what was asked with these settings.
    pub(super) fn settle(&self, common: Common, eyes: Arc<Eyes>) {
        let _ = self.0.try_send(Work { common, eyes });
    }
}

fn settle(work: &Receiver<Work>) {
    while let Ok(Work { common, eyes }) = work.recv() {
        let Ok(opened) = open(&common) else { continue };
        // To open a file is told to others who watch it, and they may do the same: so it is not done for ever.
        let mut left = eyes.memory.n_unsettled();
        while left > 0 {
            match WatchedDisk::new(&opened, &eyes.memory).settle(STEP) {
                // Somebody has what is left open.
                0 => break,
                n => left = left.saturating_sub(n),
            }
        }
    }
}
