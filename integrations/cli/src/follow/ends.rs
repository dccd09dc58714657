//! What else there is to wait for: signals, and that nobody reads any more.
//!
//! A signal makes a byte in a pipe readable; whoever waits looks at all of them at once.

use crate::exit::Status;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, getpgrp, kill_process};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::{SIGCHLD, SIGINT, SIGTERM};
use std::io::{self, Read, Stdout};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};
use upcheck_daemon::Asking;

/// Why waiting ended for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// A signal, by its number.
    Signal(i32),
    /// Standard output is a pipe, and nobody reads from it.
    NobodyReads,
}

impl Ended {
    /// What a process ends with that has nothing else to say.
    pub(crate) fn status(self) -> Status {
        match self {
            Self::Signal(number) => u8::try_from(128 + number).unwrap_or(1).into(),
            Self::NobodyReads => 0.into(),
        }
    }
}

/// All that whoever waits looks at.
pub(crate) struct Ends {
    /// The ends to read from, by signal.
    signals: Vec<(i32, UnixStream)>,
    stdout: Option<Stdout>,
}

impl Ends {
    /// Of a command that prints answers until it is told to end.
    pub(crate) fn of_following() -> io::Result<Self> {
        Ok(Self { signals: caught(&[SIGINT, SIGTERM])?, stdout: Some(io::stdout()) })
    }

    /// Of one that ends by itself: signals end it as they end any.
    pub(crate) fn of_reading() -> Self {
        Self { signals: Vec::new(), stdout: Some(io::stdout()) }
    }

    /// Of one that runs others.
    pub(crate) fn of_running() -> io::Result<Self> {
        Ok(Self { signals: caught(&[SIGINT, SIGTERM, SIGCHLD])?, stdout: None })
    }

    /// Waits until something can be heard; `false` when time is over before that.
    pub(crate) fn wait(&self, heard: Option<BorrowedFd<'_>>, time: Option<Duration>) -> Result<bool, Ended> {
        let until = time.map(|time| Instant::now() + time);
        loop {
            let mut asked: Vec<PollFd<'_>> =
                self.signals.iter().map(|(_, pipe)| PollFd::new(pipe, PollFlags::IN)).collect();
            // What is not asked for is told all the same: that nobody is at the other end.
            asked.extend(self.stdout.iter().map(|stdout| PollFd::new(stdout, PollFlags::empty())));
            if let Some(heard) = heard {
                asked.push(PollFd::from_borrowed_fd(heard, PollFlags::IN));
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let timeout = left.map(|left| Timespec {
                tv_sec: left.as_secs().cast_signed(),
                tv_nsec: left.subsec_nanos().into(),
            });
            // An interrupted wait is one that goes on.
            let n_ready = poll(&mut asked, timeout.as_ref()).unwrap_or(0);
            let told: Vec<bool> = asked.iter().map(|asked| !asked.revents().is_empty()).collect();
            drop(asked);
            for ((number, pipe), _) in self.signals.iter().zip(&told).filter(|(_, told)| **told) {
                take(pipe);
                if *number != SIGCHLD {
                    return Err(Ended::Signal(*number));
                }
            }
            let others = told.get(self.signals.len()..).unwrap_or_default();
            if self.stdout.is_some() && others.first() == Some(&true) {
                return Err(Ended::NobodyReads);
            }
            if heard.is_some() && others.last() == Some(&true) {
                return Ok(true);
            }
            // What others do is no reason to cut a pause short.
            let is_child = n_ready > 0 && heard.is_none() && until.is_none();
            if is_child || until.is_some_and(|until| Instant::now() >= until) {
                return Ok(is_child);
            }
        }
    }

    /// Waits until the daemon says something; `false` when it has said nothing for too long.
    pub(crate) fn hear(&self, asking: &Asking) -> Result<bool, Ended> {
        self.wait(Some(asking.as_fd()), Some(asking.patience()))
    }

    /// Waits until a process has ended, and hands signals on to it. What signal there was.
    pub(crate) fn wait_for(&self, child: &mut Child) -> io::Result<(ExitStatus, Option<Ended>)> {
        let mut ended = None;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok((status, ended));
            }
            if let Err(told) = self.wait(None, None) {
                // What is typed at a terminal it has got already. Once more, and it is handed on in any case.
                let has_it = told == Ended::Signal(SIGINT) && ended.is_none() && is_in_foreground();
                if !has_it {
                    hand_on(child, told);
                }
                ended = Some(told);
            }
        }
    }
}

fn caught(signals: &[i32]) -> io::Result<Vec<(i32, UnixStream)>> {
    let catch = |&signal: &i32| {
        let (read, write) = UnixStream::pair()?;
        read.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(signal, write)?;
        Ok((signal, read))
    };
    signals.iter().map(catch).collect()
}

/// Takes out what a signal has put in.
fn take(mut pipe: &UnixStream) {
    let mut bytes = [0; 64];
    while pipe.read(&mut bytes).is_ok_and(|n| n > 0) {}
}

/// Whether what is typed at the terminal comes to this process.
fn is_in_foreground() -> bool {
    let is_ours = |stream: BorrowedFd<'_>| tcgetpgrp(stream).is_ok_and(|group| group == getpgrp());
    is_ours(io::stdin().as_fd()) || is_ours(io::stdout().as_fd()) || is_ours(io::stderr().as_fd())
}

fn hand_on(child: &Child, told: Ended) {
    let signal = match told {
        Ended::Signal(SIGINT) => Signal::INT,
        _ => Signal::TERM,
    };
    // It has not been waited for, so nobody else has its number.
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}
