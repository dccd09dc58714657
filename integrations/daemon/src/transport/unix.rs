//! Unix sockets.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use std::os::unix::net::UnixStream as Stream;

/// After so long somebody is let in for whom there was no room.
const PAUSE: Duration = Duration::from_millis(50);

/// Somebody who listens at a socket.
pub(crate) struct Listener {
    listener: UnixListener,
    /// A byte comes out here when somebody wakes it.
    woken: Stream,
    path: PathBuf,
    /// Which file the socket is.
    id: Option<(u64, u64)>,
}

/// What wakes it.
pub(crate) struct Waker(Stream);

impl Listener {
    /// Somebody who listens at a socket that does not block, whose path others know.
    pub(crate) fn new(listener: UnixListener, path: PathBuf) -> io::Result<(Self, Waker)> {
        let (wake, woken) = Stream::pair()?;
        wake.set_nonblocking(true)?;
        let id = id(&path);
        Ok((Self { listener, woken, path, id }, Waker(wake)))
    }

    /// Waits until somebody connects or wakes it, and no longer than that.
    pub(crate) fn wait(&self, time: Duration) {
        let time = Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: time.subsec_nanos().into() };
        let events = PollFlags::IN;
        let mut watched = [PollFd::new(&self.listener, events), PollFd::new(&self.woken, events)];
        // An interrupted wait is a short one.
        let _ = poll(&mut watched, Some(&time));
    }

    /// One who has connected; `None` while nobody has.
    pub(crate) fn accept(&self) -> Option<Stream> {
        let stream = match self.listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) => {
                // There is no descriptor left: it goes on waiting there, and would be tried again and again.
                if error.kind() != ErrorKind::WouldBlock {
                    std::thread::sleep(PAUSE);
                }
                return None;
            }
        };
        // Elsewhere what is accepted does not block where the socket does not.
        #[cfg(not(target_os = "linux"))]
        stream.set_nonblocking(false).ok()?;
        Some(stream)
    }

    /// Listens no longer. Where the socket is gone, nobody connects any more.
    pub(crate) fn close(&mut self) {}

    /// Whether others find it: not if the socket is gone, or another one is in its place.
    pub(crate) fn is_found(&self) -> bool {
        self.id.is_some() && id(&self.path) == self.id
    }
}

/// Which file a socket is; `None` where it is gone, or its folder is no longer at its path.
fn id(path: &std::path::Path) -> Option<(u64, u64)> {
    let socket = std::fs::symlink_metadata(path).ok()?;
    Some((socket.dev(), socket.ino()))
}

impl Waker {
    pub(crate) fn wake(&self) {
        // Where it is full, there is something in it already.
        let _ = (&self.0).write(&[0]);
    }
}

/// Whether the user himself is at the other end.
pub(crate) fn is_users(stream: &Stream) -> io::Result<bool> {
    Ok(peer(stream)? == rustix::process::geteuid().as_raw())
}

/// The user at the other end.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn peer(stream: &Stream) -> io::Result<u32> {
    let peer = rustix::net::sockopt::socket_peercred(stream);
    // Its number is 0 then, which no process has.
    let unnumbered = || io::Error::other("it has no number where this process is");
    Ok(peer
        .map_err(|error| if error.raw_os_error() == 0 { unnumbered() } else { error.into() })?
        .uid
        .as_raw())
}

/// The same.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[expect(unsafe_code, reason = "the call takes pointers")]
fn peer(stream: &Stream) -> io::Result<u32> {
    use std::os::fd::AsRawFd;
    let (mut user, mut group) = (0, 0);
    // SAFETY: the socket is open as long as the stream lives, and the call may write a number to each pointer.
    let failed = unsafe { libc::getpeereid(stream.as_raw_fd(), &raw mut user, &raw mut group) };
    if failed == 0 { Ok(user) } else { Err(io::Error::last_os_error()) }
}

/// Writes without a signal where nobody reads: not every program that asks has said that it wants none.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn send(stream: &Stream, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(stream, bytes, rustix::net::SendFlags::NOSIGNAL)?)
}

/// The same. Here a socket has said so from the beginning: the standard library sees to it when it makes one.
#[cfg(target_vendor = "apple")]
pub(crate) fn send(mut stream: &Stream, bytes: &[u8]) -> io::Result<usize> {
    stream.write(bytes)
}
