//! The daemon's life: it listens, lets in whom it knows, and ends when nobody needs it any more.
//!
//! One thread listens; each connection has a thread that reads the question, and one that finds the answer. Meanwhile the
//! first says that it is busy, so that a client can tell work from a process that does not move: see `waits.rs`.

use crate::deadline::Until;
use crate::memory::memory;
use crate::place::{Lock, MOST_LOG, Place};
use crate::program::Program;
use crate::protocol::{Ask, MOST_ANSWER, MOST_REQUEST, Message, Reply, Request};
use crate::surroundings::Surroundings;
use crate::transport::{Listener, Stream, Waker, is_users};
use crate::waits::{Said, Waits};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Whoever finds the answers.
pub trait Answerer: Send + Sync + 'static {
    /// The answer to a check, or why not. Called by several threads at once.
    fn answer(&self, request: &Request) -> Reply;

    /// Somebody has found out that an answer was wrong: nothing that is remembered may be used again.
    fn forget(&self);

    /// The answer to a check as soon as its mark is not that of the request. Called by several threads at once, each of which
    /// is one that waits.
    fn wait(&self, request: &Request, waits: &Waits) -> Reply;

    /// What there is to say of itself, as keys of the status.
    fn status(&self) -> Map<String, Value>;
}

/// How a daemon is to live.
#[derive(Clone, Debug)]
pub struct Settings {
    /// For how long nobody may have asked anything before it ends.
    pub idle: Duration,
    /// The version of the program.
    pub version: &'static str,
}

/// Why a daemon ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Nobody asked for a long time.
    Idle,
    /// Somebody said so.
    Stopped,
    /// Another file is at the place of its program, or the world has changed around it: one that begins anew is right.
    Outdated,
    /// It can no longer be found where it listens.
    Lost,
}

/// What was asked so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Checks that were asked for.
    pub questions: u64,
    /// How many of them were declined, by reason.
    pub declined: BTreeMap<String, u64>,
    /// Connections of other users.
    pub strangers: u64,
    /// Connections that did not keep to the protocol.
    pub malformed: u64,
    /// Connections for which there was no room.
    pub too_many: u64,
}

/// A daemon that listens.
pub struct Server {
    place: Place,
    /// Woken when there is a reason to end. Gone before the lock is.
    listener: Listener,
    _lock: Lock,
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    settings: Settings,
    program: Program,
    surroundings: Surroundings,
    pub(crate) answerer: Box<dyn Answerer>,
    began: Instant,
    waker: Waker,
    state: Mutex<State>,
}

pub(crate) struct State {
    /// Connections, with those who wait.
    n_active: usize,
    /// Answers that are being found, those that nobody waits for any more among them.
    pub(crate) n_finding: usize,
    /// How to tell something to those who wait.
    pub(crate) waiters: BTreeMap<u64, Sender<Said>>,
    last_question: Instant,
    pub(crate) ended: Option<Ended>,
    counts: Counts,
}

/// So many connections are served at once, beside those who wait.
const MOST_ACTIVE: usize = 32;
/// So many reasons are told apart.
const MOST_REASONS: usize = 32;
/// How long a question may take to come.
const QUESTION_TIME: Duration = Duration::from_secs(2);
/// How long an answer may take to be taken.
const ANSWER_TIME: Duration = Duration::from_secs(60);
/// How long those are waited for who were let in when it ends.
const LAST_ANSWERS: Duration = Duration::from_secs(1);
/// How often the daemon looks after itself.
const LOOK: Duration = Duration::from_secs(10);

impl Server {
    /// Begins to listen; `None` where another daemon does.
    ///
    /// # Errors
    /// Whatever the operating system says.
    pub fn begin(
        place: Place,
        settings: Settings,
        program: Program,
        answerer: Box<dyn Answerer>,
    ) -> io::Result<Option<Self>> {
        let surroundings = Surroundings::of_this_process()
            .ok_or_else(|| io::Error::other("the system does not say where this is"))?;
        let Some(lock) = place.lock_soon()? else { return Ok(None) };
        let (listener, waker) = place.listen(&lock)?;
        let now = Instant::now();
        let state = State {
            n_active: 0,
            n_finding: 0,
            waiters: BTreeMap::new(),
            last_question: now,
            ended: None,
            counts: Counts::default(),
        };
        let state = Mutex::new(state);
        let shared = Shared { settings, program, surroundings, answerer, began: now, waker, state };
        Ok(Some(Self { place, listener, _lock: lock, shared: Arc::new(shared) }))
    }

    /// Answers until there is a reason to end. The lock is free, and the socket gone, when it returns. What is under way is
    /// waited for, but not for long.
    #[must_use]
    pub fn run(mut self) -> Ended {
        let ended = loop {
            self.wait();
            while let Some(stream) = self.listener.accept() {
                self.let_in(stream);
            }
            if let Some(ended) = self.reason_to_end() {
                break ended;
            }
            if !self.listener.is_found() {
                break Ended::Lost;
            }
            self.place.shorten_log(MOST_LOG);
        };
        // The socket of another daemon stays.
        if ended != Ended::Lost {
            self.place.stop_listening();
        }
        self.listener.close();
        let until = Instant::now() + LAST_ANSWERS;
        self.let_out(until, |state| state.waiters.len());
        // Somebody who was let in last may have told it to end, which counts.
        let was_told = self.shared.state().ended == Some(Ended::Stopped);
        let ended = if was_told { Ended::Stopped } else { ended };
        self.shared.tell_waiters(ended);
        self.let_out(until, |_| 0);
        ended
    }

    /// Lets those who were let in have their answers, if these are on their way, until so many are left.
    fn let_out(&self, until: Instant, n_left: impl Fn(&State) -> usize) {
        let is_out = || {
            let state = self.shared.state();
            state.n_active <= n_left(&state)
        };
        while !is_out() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn wait(&self) {
        let idle_for = self.shared.state().last_question.elapsed();
        let time = self.shared.settings.idle.saturating_sub(idle_for).clamp(Duration::from_millis(10), LOOK);
        self.listener.wait(time);
    }

    fn let_in(&self, stream: Stream) {
        let is_known = is_users(&stream).is_ok_and(|is| is);
        let mut state = self.shared.state();
        if !is_known {
            state.counts.strangers += 1;
            return;
        }
        if state.n_active - state.waiters.len() >= MOST_ACTIVE {
            state.counts.too_many += 1;
            return;
        }
        state.n_active += 1;
        drop(state);
        let shared = Arc::clone(&self.shared);
        let serve = move || {
            let _active = Active(&shared);
            shared.serve(&stream);
        };
        if std::thread::Builder::new().spawn(serve).is_err() {
            self.shared.state().n_active -= 1;
        }
    }

    fn reason_to_end(&self) -> Option<Ended> {
        let shared = &self.shared;
        let mut state = shared.state();
        let is_idle = state.n_active == 0 && state.last_question.elapsed() >= shared.settings.idle;
        if state.ended.is_none() && is_idle {
            state.ended = Some(Ended::Idle);
        }
        if state.ended.is_none() && shared.program.is_replaced(shared.settings.version) {
            state.ended = Some(Ended::Outdated);
        }
        state.ended
    }
}

/// A connection that counts, until it is over, however that comes about.
struct Active<'a>(&'a Arc<Shared>);

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.state().n_active -= 1;
    }
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // All of it is numbers that are right at any time.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(self: &Arc<Self>, stream: &Stream) {
        let message = Message::read(&mut Until::after(stream, QUESTION_TIME), MOST_REQUEST);
        let request = message.ok().and_then(|message| Request::from_message(&message));
        let Some(request) = request else {
            self.state().counts.malformed += 1;
            return;
        };
        match request.ask {
            Ask::Check | Ask::Wait => self.serve_check(stream, request),
            Ask::Status => drop(send(stream, &Reply::Status(self.status()))),
            Ask::Forget => {
                self.answerer.forget();
                let _ = send(stream, &Reply::Status(self.status()));
            }
            Ask::Stop => {
                let _ = send(stream, &Reply::Stopping);
                self.end(Ended::Stopped);
                // Open until the process ends: that tells the client that it has.
                std::mem::forget(stream.try_clone());
            }
        }
    }

    fn serve_check(self: &Arc<Self>, stream: &Stream, request: Request) {
        {
            let mut state = self.state();
            state.counts.questions += 1;
            state.last_question = Instant::now();
        }
        let reply = match self.objection(&request) {
            Some(reason) => Reply::Declined { reason },
            None => match self.find(stream, request) {
                Some(reply) => reply,
                None => {
                    self.state().last_question = Instant::now();
                    return;
                }
            },
        };
        let reply = match reply {
            Reply::Done { stdout, stderr, .. } if (stdout.len() + stderr.len()) as u64 > MOST_ANSWER => {
                Reply::Declined { reason: "the answer is too long".into() }
            }
            reply => reply,
        };
        {
            let mut state = self.state();
            state.last_question = Instant::now();
            if let Reply::Declined { reason } = &reply {
                let declined = &mut state.counts.declined;
                if declined.len() < MOST_REASONS || declined.contains_key(reason) {
                    *declined.entry(reason.clone()).or_default() += 1;
                }
            }
        }
        let _ = send(stream, &reply);
    }

    /// Why a question is not for this daemon.
    fn objection(&self, request: &Request) -> Option<String> {
        if self.program.is_replaced(self.settings.version) {
            self.end(Ended::Outdated);
            return Some("its program was replaced, it begins anew".into());
        }
        // A driver is another program; what he gets is what a library of this version would find.
        let library = Program::library(self.settings.version);
        if request.program != self.program.id() && request.program != library {
            return Some("it runs another upcheck".into());
        }
        let difference = self.surroundings.difference(&request.surroundings)?;
        // It may be the world that has changed, and not who asks.
        let now = Surroundings::of_this_process();
        if now.is_some_and(|now| now != self.surroundings) {
            self.end(Ended::Outdated);
        }
        Some(difference.into())
    }

    fn end(&self, why: Ended) {
        let mut state = self.state();
        // Whoever tells it to end does not want another one.
        if why == Ended::Stopped || state.ended.is_none() {
            state.ended = Some(why);
        }
        drop(state);
        self.waker.wake();
    }

    fn status(&self) -> Map<String, Value> {
        let (counts, n_waiting) = {
            let state = self.state();
            (state.counts.clone(), state.waiters.len())
        };
        let Value::Object(mut status) = json!({
            "pid": std::process::id(),
            "version": self.settings.version,
            "uptime_s": self.began.elapsed().as_secs(),
            "idle_after_s": self.settings.idle.as_secs(),
            "idle_for_s": self.state().last_question.elapsed().as_secs(),
            "memory_bytes": memory(),
            "questions": counts.questions,
            "waiting": n_waiting,
            "declined": counts.declined,
            "strangers": counts.strangers,
            "malformed": counts.malformed,
            "too_many": counts.too_many,
        }) else {
            unreachable!("it is an object")
        };
        status.extend(self.answerer.status());
        status
    }
}

pub(crate) fn send(stream: &Stream, reply: &Reply) -> io::Result<()> {
    reply.to_message().write(&mut Until::after(stream, ANSWER_TIME))
}
