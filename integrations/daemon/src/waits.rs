//! Finding an answer, while the client hears that it is not forgotten.
//!
//! ```text
//!   check:  busy, busy, ...                             done
//!   wait:   busy, busy, ...  waiting, ... waiting, ...  done     as soon as the answer is another one
//! ```
//!
//! One thread finds the answer, and this one talks. Whoever waits is told when the daemon ends.

use crate::protocol::{Ask, Reply, Request, WAITING};
use crate::server::{Ended, Shared, send};
use crate::transport::Stream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How often a client hears that somebody is at it.
const BUSY: Duration = Duration::from_millis(40);
/// So many clients may wait at once.
const MOST_WAITING: usize = 64;
/// So many answers may be on their way at once, for those who wait and for others.
const MOST_FINDING: usize = 128;

/// What whoever finds an answer and waits for it has to do with the client.
pub struct Waits {
    sender: Sender<Said>,
    is_over: Arc<AtomicBool>,
}

/// What is said to the thread that talks.
pub(crate) enum Said {
    Waiting,
    Reply(Reply),
    /// Whoever was to find the answer has panicked.
    Failed,
}

impl Waits {
    /// Tells the client that the answer is the one that it knows.
    pub fn begin(&self) {
        let _ = self.sender.send(Said::Waiting);
    }

    /// Whether nobody waits any more. To be asked now and then, if only as often as [`WAITING`].
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

impl Shared {
    /// Finds an answer; `None` where the client is gone.
    pub(crate) fn find(self: &Arc<Self>, stream: &Stream, request: Request) -> Option<Reply> {
        let (sender, receiver) = channel();
        let waits = Waits { sender, is_over: Arc::default() };
        let waiter = match request.ask {
            Ask::Wait => match Waiter::new(self, &waits) {
                Ok(waiter) => Some(waiter),
                Err(reply) => return Some(reply),
            },
            _ => None,
        };
        let over = Over(Arc::clone(&waits.is_over));
        let shared = Arc::clone(self);
        let Some(finding) = Finding::new(self) else {
            return Some(Reply::Declined { reason: "too many ask at once".into() });
        };
        let find = move || {
            let _finding = finding;
            let failed = Failed(waits.sender.clone());
            let reply = match request.ask {
                Ask::Wait => shared.answerer.wait(&request, &waits),
                _ => shared.answerer.answer(&request),
            };
            let _ = failed.0.send(Said::Reply(reply));
        };
        if std::thread::Builder::new().spawn(find).is_err() {
            return Some(Reply::Declined { reason: "it has no room for more threads".into() });
        }
        let (mut often, mut sign) = (BUSY, Reply::Busy);
        let reply = loop {
            match receiver.recv_timeout(often) {
                Ok(Said::Reply(reply)) => break Some(reply),
                // What it said about that is in the log.
                Ok(Said::Failed) | Err(RecvTimeoutError::Disconnected) => {
                    break Some(Reply::Declined { reason: "it has failed; see its log".into() });
                }
                Ok(Said::Waiting) => (often, sign) = (WAITING, Reply::Waiting),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if send(stream, &sign).is_err() {
                break None;
            }
        };
        drop((waiter, over));
        reply
    }

    /// Tells all who wait that there will be no other answer from here.
    pub(crate) fn tell_waiters(&self, ended: Ended) {
        for sender in self.state().waiters.values() {
            let _ = sender.send(Said::Reply(parting(ended)));
        }
    }
}

/// What whoever waits hears of the end.
fn parting(ended: Ended) -> Reply {
    let declined = |reason: &str| Reply::Declined { reason: reason.into() };
    match ended {
        Ended::Stopped => Reply::Stopping,
        Ended::Outdated => declined("its program was replaced, it begins anew"),
        Ended::Idle | Ended::Lost => declined("it has ended"),
    }
}

/// An answer that is being found.
struct Finding(Arc<Shared>);

impl Finding {
    /// `None` where too many are: whoever asks, goes away, and asks again is not to keep this process at work for ever.
    fn new(shared: &Arc<Shared>) -> Option<Self> {
        let mut state = shared.state();
        let is_room = state.n_finding < MOST_FINDING;
        state.n_finding += usize::from(is_room);
        is_room.then(|| Self(Arc::clone(shared)))
    }
}

impl Drop for Finding {
    fn drop(&mut self) {
        self.0.state().n_finding -= 1;
    }
}

/// One of those who wait, for as long as it does.
struct Waiter<'a> {
    shared: &'a Shared,
    number: u64,
}

impl<'a> Waiter<'a> {
    fn new(shared: &'a Shared, waits: &Waits) -> Result<Self, Reply> {
        let mut state = shared.state();
        if let Some(ended) = state.ended {
            return Err(parting(ended));
        }
        if state.waiters.len() >= MOST_WAITING {
            return Err(Reply::Declined { reason: "too many wait already".into() });
        }
        let number = state.waiters.last_key_value().map_or(0, |(last, _)| last + 1);
        state.waiters.insert(number, waits.sender.clone());
        Ok(Self { shared, number })
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.shared.state().waiters.remove(&self.number);
    }
}

/// Says that nobody waits any more, however that comes about.
struct Over(Arc<AtomicBool>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Says that there will be no answer, unless there was one.
struct Failed(Sender<Said>);

impl Drop for Failed {
    fn drop(&mut self) {
        let _ = self.0.send(Said::Failed);
    }
}
