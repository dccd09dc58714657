//! Whoever asks the daemon, and does not wait for one that does not move.

use crate::deadline::Until;
use crate::place::Place;
use crate::protocol::{MOST_ANSWER, Message, Reply, Request, WAITING};
use crate::transport::{Stream, send};
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

/// How long to wait for a sign of life before the daemon counts as hung.
#[derive(Clone, Copy, Debug)]
pub struct Patience(pub Duration);

impl Default for Patience {
    /// A daemon that is at work says so much more often.
    fn default() -> Self {
        Self(Duration::from_millis(250))
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// There is no daemon.
    NotRunning,
    /// The daemon says no; why, for people.
    Declined(String),
    /// It is there and does not answer, or not as it should; how that shows, for people.
    Unwell(String),
    /// It ended before it answered.
    Ended,
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotRunning => f.write_str("it is not running"),
            Self::Ended => f.write_str("it ended before it answered"),
            Self::Declined(reason) | Self::Unwell(reason) => f.write_str(reason),
        }
    }
}

/// Asks the daemon there, and waits for as long as it shows that it is at work.
///
/// # Errors
/// When there is none, it will not answer, or it does not show anything.
pub fn ask(place: &Place, request: &Request, patience: Patience) -> Result<Reply, NoAnswer> {
    let mut asking = Asking::begin(place, request, patience)?;
    loop {
        if let Some(reply) = asking.hear()? {
            return Ok(reply);
        }
    }
}

/// A connection whose end is an error and no signal: not every program that asks has said that it wants none.
struct Unheard<'a>(Until<'a>);

impl Write for Unheard<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        send(self.0.to_write()?, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A question that was asked, for whoever has more to look at than its answer.
#[derive(Debug)]
pub struct Asking {
    stream: Stream,
    patience: Duration,
    is_waiting: bool,
}

impl Asking {
    /// Asks the daemon there.
    ///
    /// # Errors
    /// When there is none, or it does not listen.
    pub fn begin(place: &Place, request: &Request, patience: Patience) -> Result<Self, NoAnswer> {
        let stream = place.connect().map_err(unwell)?.ok_or(NoAnswer::NotRunning)?;
        request.to_message().write(&mut Unheard(Until::after(&stream, patience.0))).map_err(unwell)?;
        Ok(Self { stream, patience: patience.0, is_waiting: false })
    }

    /// For how long nothing may be heard before the daemon counts as hung. On Unix what is heard makes a descriptor readable.
    #[must_use]
    pub fn patience(&self) -> Duration {
        if self.is_waiting { WAITING * 3 } else { self.patience }
    }

    /// Whether the daemon has said that it waits for another answer.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// What it says next; `None` where that is that it is at work, or waits.
    ///
    /// # Errors
    /// When it says no, nothing, or what nobody understands.
    pub fn hear(&mut self) -> Result<Option<Reply>, NoAnswer> {
        // Signs of life are short. An answer may be long, and comes as fast as it is taken.
        let mut heard = Until::silent_for(&self.stream, self.patience());
        let message = Message::read(&mut heard, MOST_ANSWER).map_err(unwell)?;
        match Reply::from_message(message) {
            Some(Reply::Busy) => Ok(None),
            Some(Reply::Waiting) => {
                self.is_waiting = true;
                Ok(None)
            }
            Some(Reply::Declined { reason }) => Err(NoAnswer::Declined(reason)),
            Some(Reply::Stopping) => {
                // It is gone when the connection is.
                let _ = self.stream.set_read_timeout(Some(Duration::from_secs(10)));
                match (&self.stream).read(&mut [0]) {
                    Ok(0) => Ok(Some(Reply::Stopping)),
                    Ok(_) => Err(NoAnswer::Unwell("it goes on talking".into())),
                    Err(error) => Err(unwell(error)),
                }
            }
            Some(reply) => Ok(Some(reply)),
            None => Err(NoAnswer::Unwell("it speaks another language".into())),
        }
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for Asking {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn unwell(error: io::Error) -> NoAnswer {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => NoAnswer::Unwell("it does not answer".into()),
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => NoAnswer::Ended,
        _ => NoAnswer::Unwell(format!("asking it: {error}")),
    }
}
