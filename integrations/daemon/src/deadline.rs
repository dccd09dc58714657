//! A stream that ends at a moment: whoever sends a byte now and then does not hold anybody up.

use crate::transport::Stream;
use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

/// A connection, until a moment.
pub(crate) struct Until<'a> {
    stream: &'a Stream,
    moment: Instant,
}

impl<'a> Until<'a> {
    /// The connection, for so long from now on.
    pub(crate) fn after(stream: &'a Stream, time: Duration) -> Self {
        Self { stream, moment: Instant::now() + time }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.moment.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(bytes)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
