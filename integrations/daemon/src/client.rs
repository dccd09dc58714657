//! Whoever asks the daemon, and does not wait for one that does not move.

use crate::place::Place;
use crate::protocol::{MOST_ANSWER, Message, Reply, Request};
use rustix::net::SendFlags;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
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
}

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotRunning => f.write_str("it is not running"),
            Self::Declined(reason) | Self::Unwell(reason) => f.write_str(reason),
        }
    }
}

/// Asks the daemon there, and waits for as long as it shows that it is at work.
///
/// # Errors
/// When there is none, it will not answer, or it does not show anything.
pub fn ask(place: &Place, request: &Request, patience: Patience) -> Result<Reply, NoAnswer> {
    let unwell = |error: io::Error| {
        NoAnswer::Unwell(match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => "it does not answer".into(),
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                "it ended before it answered".into()
            }
            _ => format!("asking it: {error}"),
        })
    };
    let mut stream = place.connect().map_err(unwell)?.ok_or(NoAnswer::NotRunning)?;
    let wait = Some(patience.0);
    stream.set_read_timeout(wait).and_then(|()| stream.set_write_timeout(wait)).map_err(unwell)?;
    request.to_message().write(&mut Unheard(&stream)).map_err(unwell)?;
    loop {
        let message = Message::read(&mut stream, MOST_ANSWER).map_err(unwell)?;
        match Reply::from_message(message) {
            Some(Reply::Busy) => {}
            Some(Reply::Declined { reason }) => return Err(NoAnswer::Declined(reason)),
            Some(Reply::Stopping) => {
                // It is gone when the connection is.
                let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
                return match stream.read(&mut [0]) {
                    Ok(0) => Ok(Reply::Stopping),
                    Ok(_) => Err(NoAnswer::Unwell("it goes on talking".into())),
                    Err(error) => Err(unwell(error)),
                };
            }
            Some(reply) => return Ok(reply),
            None => return Err(NoAnswer::Unwell("it speaks another language".into())),
        }
    }
}

/// A connection whose end is an error and no signal: not every program that asks has said that it wants none.
struct Unheard<'a>(&'a UnixStream);

impl Write for Unheard<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self.0, bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
