//! A stream that ends at a moment: neither whoever sends a byte now and then holds anybody up, nor signals, after each of which
//! waiting would begin anew.

use crate::transport::Stream;
use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

/// A connection, until a moment.
pub(crate) struct Until<'a> {
    stream: &'a Stream,
    moment: Instant,
    /// What is read puts the moment off by so much.
    again: Option<Duration>,
}

impl<'a> Until<'a> {
    /// The connection, for so long from now on.
    pub(crate) fn after(stream: &'a Stream, time: Duration) -> Self {
        Self { stream, moment: Instant::now() + time, again: None }
    }

    /// The connection, until nothing has been read for so long.
    pub(crate) fn silent_for(stream: &'a Stream, time: Duration) -> Self {
        Self { again: Some(time), ..Self::after(stream, time) }
    }

    /// The connection, for one that writes to it in his own way.
    pub(crate) fn to_write(&self) -> io::Result<&'a Stream> {
        self.stream.set_write_timeout(self.left()?)?;
        Ok(self.stream)
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.moment.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        let read = self.stream.read(bytes);
        if let (Ok(1..), Some(time)) = (&read, self.again) {
            self.moment = Instant::now() + time;
        }
        read
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to_write()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
