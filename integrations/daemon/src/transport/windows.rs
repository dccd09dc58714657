//! Named pipes. Whatever is read or written is under way while one waits for it, so that waiting can end.
#![expect(unsafe_code, reason = "Windows takes pointers and handles")]

use crate::token::{self, OnlyUser};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_BROKEN_PIPE, ERROR_IO_PENDING, ERROR_NO_DATA, ERROR_OPERATION_ABORTED,
    ERROR_PIPE_BUSY, ERROR_PIPE_CONNECTED, ERROR_PIPE_NOT_CONNECTED, HANDLE, INVALID_HANDLE_VALUE,
    WAIT_OBJECT_0,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_FIRST_PIPE_INSTANCE, FILE_FLAG_OVERLAPPED, PIPE_ACCESS_DUPLEX, ReadFile,
    SECURITY_IDENTIFICATION, WriteFile,
};
use windows_sys::Win32::System::IO::{CancelIoEx, GetOverlappedResult, OVERLAPPED};
use windows_sys::Win32::System::Pipes::{
    ConnectNamedPipe, CreateNamedPipeW, GetNamedPipeServerProcessId, PIPE_READMODE_BYTE,
    PIPE_REJECT_REMOTE_CLIENTS, PIPE_TYPE_BYTE, PIPE_UNLIMITED_INSTANCES, PIPE_WAIT,
};
use windows_sys::Win32::System::Threading::{CreateEventW, INFINITE, SetEvent, WaitForMultipleObjects};

/// So much is kept on its way in each direction, and so much is read or written at once; bytes.
const BUFFER: u32 = 64 << 10;
/// How long a client waits for room, and what it does so in.
const ROOM: Duration = Duration::from_millis(250);
const STEP: Duration = Duration::from_millis(2);

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct Stream {
    pipe: OwnedHandle,
    /// In milliseconds.
    read_time: AtomicU32,
    write_time: AtomicU32,
}

impl Stream {
    fn new(pipe: OwnedHandle) -> Self {
        Self { pipe, read_time: AtomicU32::new(INFINITE), write_time: AtomicU32::new(INFINITE) }
    }

    /// How long reading may take; `None`: as long as it likes.
    #[expect(clippy::unnecessary_wraps, reason = "a socket has this, and may say no")]
    pub(crate) fn set_read_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        self.read_time.store(milliseconds(time), Ordering::Relaxed);
        Ok(())
    }

    /// How long writing may take; `None`: as long as it likes.
    #[expect(clippy::unnecessary_wraps, reason = "a socket has this, and may say no")]
    pub(crate) fn set_write_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        self.write_time.store(milliseconds(time), Ordering::Relaxed);
        Ok(())
    }

    /// Another one for the same connection, which is over when both are gone.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self::new(self.pipe.try_clone()?))
    }

    /// Has something done, and waits until it is, for so many milliseconds. How many bytes came of it.
    fn transfer(&self, time: u32, begin: impl FnOnce(HANDLE, *mut OVERLAPPED) -> i32) -> io::Result<usize> {
        match under_way(&self.pipe, None, time, begin)? {
            Done::All(n) => Ok(n),
            Done::Interrupted => Err(ErrorKind::TimedOut.into()),
        }
    }
}

impl Read for &Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let length = u32::try_from(bytes.len()).map_or(BUFFER, |length| length.min(BUFFER));
        let read = self.transfer(self.read_time.load(Ordering::Relaxed), |pipe, overlapped| {
            // SAFETY: there are at least so many bytes, which nobody else has before this is done: see `under_way`.
            unsafe { ReadFile(pipe, bytes.as_mut_ptr(), length, null_mut(), overlapped) }
        });
        match read {
            Err(error) if is(&error, &[ERROR_BROKEN_PIPE, ERROR_PIPE_NOT_CONNECTED]) => Ok(0),
            read => read,
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = u32::try_from(bytes.len()).map_or(BUFFER, |length| length.min(BUFFER));
        let written = self.transfer(self.write_time.load(Ordering::Relaxed), |pipe, overlapped| {
            // SAFETY: there are at least so many bytes, which stay as they are until this is done: see `under_way`.
            unsafe { WriteFile(pipe, bytes.as_ptr(), length, null_mut(), overlapped) }
        });
        match written {
            Err(error) if is(&error, &[ERROR_BROKEN_PIPE, ERROR_PIPE_NOT_CONNECTED, ERROR_NO_DATA]) => {
                Err(ErrorKind::BrokenPipe.into())
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes; there are no signals here.
pub(crate) fn send(mut stream: &Stream, bytes: &[u8]) -> io::Result<usize> {
    stream.write(bytes)
}

/// Whether the user himself is at the other end. Nobody else gets there: see [`OnlyUser`].
#[expect(clippy::unnecessary_wraps, reason = "a socket is asked, and may not say")]
pub(crate) fn is_users(_: &Stream) -> io::Result<bool> {
    Ok(true)
}

/// Connects to whoever listens at a pipe. `None` where nobody does.
pub(crate) fn connect(pipe: &Path) -> io::Result<Option<Stream>> {
    let until = Instant::now() + ROOM;
    // Whoever listens may find out who this is, and do nothing in his name.
    let mut options = File::options();
    options.read(true).write(true).custom_flags(FILE_FLAG_OVERLAPPED);
    options.security_qos_flags(SECURITY_IDENTIFICATION);
    let pipe = loop {
        match options.open(pipe) {
            Ok(pipe) => break OwnedHandle::from(pipe),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) if is(&error, &[ERROR_PIPE_BUSY]) => {
                if Instant::now() >= until {
                    return Err(ErrorKind::WouldBlock.into());
                }
                std::thread::sleep(STEP);
            }
            Err(error) => return Err(error),
        }
    };
    let mut process = 0;
    // SAFETY: the pipe is open, and the call writes a number.
    if unsafe { GetNamedPipeServerProcessId(pipe.as_raw_handle(), &raw mut process) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // Somebody else may have been faster to take the name.
    if !token::is_users(&pipe)? || !token::is_trusted_alike(process)? {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "another user listens there"));
    }
    Ok(Some(Stream::new(pipe)))
}

/// One end of a pipe to which nobody has connected yet.
pub(crate) struct Instance(OwnedHandle);

impl Instance {
    /// The first one of a pipe; or one more, where one of this user's is left behind: a client that hangs keeps it.
    ///
    /// # Errors
    /// When there is one of another user's already.
    pub(crate) fn first(pipe: &Path) -> io::Result<Self> {
        match Self::new(pipe, FILE_FLAG_FIRST_PIPE_INSTANCE) {
            Err(error) if is(&error, &[ERROR_ACCESS_DENIED]) => {}
            made => return made,
        }
        let more = Self::new(pipe, 0)?;
        match token::is_users(&more.0)? {
            true => Ok(more),
            false => Err(io::Error::new(ErrorKind::PermissionDenied, "another user listens there")),
        }
    }

    fn new(pipe: &Path, flags: u32) -> io::Result<Self> {
        use std::os::windows::ffi::OsStrExt;
        let name: Vec<u16> = pipe.as_os_str().encode_wide().chain([0]).collect();
        let only_user = OnlyUser::new()?;
        let attributes = only_user.attributes();
        let mode = PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS;
        // SAFETY: the name ends with 0, and the attributes live until the call has returned.
        let made = unsafe {
            CreateNamedPipeW(
                name.as_ptr(),
                PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | flags,
                mode,
                PIPE_UNLIMITED_INSTANCES,
                BUFFER,
                BUFFER,
                0,
                &raw const attributes,
            )
        };
        if made == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it was made just now, and nobody else has it.
        Ok(Self(unsafe { OwnedHandle::from_raw_handle(made) }))
    }

    /// Waits until somebody connects; `false` when that was interrupted.
    fn wait(&self, interrupt: &Event) -> io::Result<bool> {
        let done = under_way(&self.0, Some(interrupt), INFINITE, |pipe, overlapped| {
            // SAFETY: see `under_way`.
            unsafe { ConnectNamedPipe(pipe, overlapped) }
        });
        match done {
            Ok(done) => Ok(matches!(done, Done::All(_))),
            // Somebody has connected before this, and may have gone again: that is found by reading.
            Err(error) if is(&error, &[ERROR_PIPE_CONNECTED, ERROR_NO_DATA]) => Ok(true),
            Err(error) => Err(error),
        }
    }
}

/// What a listener hears.
enum Heard {
    Connected(Stream),
    Woken,
}

/// Somebody who listens at a pipe: a thread that waits for whoever connects, and always has one more end for the next.
pub(crate) struct Listener {
    heard: Receiver<Heard>,
    /// What was heard while it waited.
    first: std::cell::Cell<Option<Stream>>,
    end: Arc<Event>,
    thread: Option<JoinHandle<()>>,
}

/// What wakes it.
pub(crate) struct Waker(Sender<Heard>);

impl Listener {
    /// Somebody who listens there, beginning with the first end.
    pub(crate) fn new(first: Instance, pipe: &Path) -> io::Result<(Self, Waker)> {
        let (sender, heard) = channel();
        let end = Arc::new(Event::new()?);
        let (pipe, waker) = (pipe.to_owned(), Waker(sender.clone()));
        let until = Arc::clone(&end);
        let listen = move || listen(first, &pipe, &until, &sender);
        let thread = std::thread::Builder::new().name("listen".into()).spawn(listen)?;
        Ok((Self { heard, first: std::cell::Cell::default(), end, thread: Some(thread) }, waker))
    }

    /// Waits until somebody connects or wakes it, and no longer than that.
    pub(crate) fn wait(&self, time: Duration) {
        match self.heard.recv_timeout(time) {
            Ok(Heard::Connected(stream)) => self.first.set(Some(stream)),
            Ok(Heard::Woken) | Err(RecvTimeoutError::Timeout) => {}
            // It is not found any more, which is looked at elsewhere.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(STEP),
        }
    }

    /// One who has connected; `None` while nobody has.
    pub(crate) fn accept(&self) -> Option<Stream> {
        if let Some(stream) = self.first.take() {
            return Some(stream);
        }
        loop {
            match self.heard.try_recv() {
                Ok(Heard::Connected(stream)) => return Some(stream),
                Ok(Heard::Woken) => {}
                Err(_) => return None,
            }
        }
    }

    /// Whether others find it. Nobody can take its name away; but there may be no room for one more end.
    pub(crate) fn is_found(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Listens no longer. Whoever has connected and was not accepted is left alone.
    pub(crate) fn close(&mut self) {
        self.end.set();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        while self.accept().is_some() {}
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.close();
    }
}

impl Waker {
    pub(crate) fn wake(&self) {
        // Where it is gone, nobody need be woken.
        let _ = self.0.send(Heard::Woken);
    }
}

/// Waits for one after the other, until it is told to end, or there is no room for one more.
fn listen(first: Instance, pipe: &Path, end: &Event, sender: &Sender<Heard>) {
    let mut instance = first;
    while let Ok(true) = instance.wait(end) {
        let Ok(next) = Instance::new(pipe, 0) else { return };
        let Instance(connected) = std::mem::replace(&mut instance, next);
        if sender.send(Heard::Connected(Stream::new(connected))).is_err() {
            return;
        }
    }
}

/// What became of something that was under way.
enum Done {
    /// It is done, with so many bytes.
    All(usize),
    /// Time was over before it was done, or somebody interrupted it.
    Interrupted,
}

/// Begins something that may take long, and waits until it is done, for so many milliseconds, or until it is interrupted. When
/// this returns, nothing is under way any more, so whatever was lent for it may be used again.
fn under_way(
    pipe: &OwnedHandle,
    interrupt: Option<&Event>,
    time: u32,
    begin: impl FnOnce(HANDLE, *mut OVERLAPPED) -> i32,
) -> io::Result<Done> {
    let event = Event::new()?;
    let mut overlapped = OVERLAPPED { hEvent: event.0.as_raw_handle(), ..OVERLAPPED::default() };
    let pipe = pipe.as_raw_handle();
    if begin(pipe, &raw mut overlapped) == 0 {
        let error = io::Error::last_os_error();
        if !is(&error, &[ERROR_IO_PENDING]) {
            return Err(error);
        }
        let handles =
            [event.0.as_raw_handle(), interrupt.map_or(null_mut(), |event| event.0.as_raw_handle())];
        let n_handles = if interrupt.is_some() { 2 } else { 1 };
        // SAFETY: there are so many handles, and they are open.
        let first = unsafe { WaitForMultipleObjects(n_handles, handles.as_ptr(), 0, time) };
        if first != WAIT_OBJECT_0 {
            // SAFETY: it was begun with these. If it is done by now, nothing happens.
            unsafe { CancelIoEx(pipe, &raw const overlapped) };
        }
    }
    let mut n_bytes = 0;
    // SAFETY: it was begun with these. The call waits until it is done, or is not done any more.
    let is_done = unsafe { GetOverlappedResult(pipe, &raw const overlapped, &raw mut n_bytes, 1) };
    if is_done != 0 {
        return Ok(Done::All(n_bytes as usize));
    }
    match io::Error::last_os_error() {
        error if is(&error, &[ERROR_OPERATION_ABORTED]) => Ok(Done::Interrupted),
        error => Err(error),
    }
}

/// Something that happens once.
struct Event(OwnedHandle);

impl Event {
    fn new() -> io::Result<Self> {
        // SAFETY: nothing but numbers is given to the call.
        let event = unsafe { CreateEventW(null(), 1, 0, null()) };
        if event.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it was made just now, and nobody else has it.
        Ok(Self(unsafe { OwnedHandle::from_raw_handle(event) }))
    }

    fn set(&self) {
        // SAFETY: it is open.
        unsafe { SetEvent(self.0.as_raw_handle()) };
    }
}

/// At least one, so that what is there is taken.
fn milliseconds(time: Option<Duration>) -> u32 {
    let time = time.map(|time| u32::try_from(time.as_millis()).unwrap_or(INFINITE - 1));
    time.map_or(INFINITE, |time| time.clamp(1, INFINITE - 1))
}

fn is(error: &io::Error, codes: &[u32]) -> bool {
    error.raw_os_error().is_some_and(|code| codes.contains(&code.cast_unsigned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(of: &str) -> std::path::PathBuf {
        format!(r"\\.\pipe\upcheck-test-{}-{of}", std::process::id()).into()
    }

    /// The two ends of a connection: of who listens, and of who has connected.
    fn pair(of: &str) -> (Listener, Stream, Stream) {
        let name = name(of);
        let (listener, _) = Listener::new(Instance::first(&name).expect("a pipe"), &name).expect("a thread");
        let client = connect(&name).expect("somebody listens").expect("somebody listens");
        let server = loop {
            listener.wait(Duration::from_secs(60));
            if let Some(server) = listener.accept() {
                break server;
            }
        };
        (listener, server, client)
    }

    #[test]
    fn bytes_go_both_ways_and_what_was_written_is_read_after_the_end() {
        let (_listener, server, client) = pair("both-ways");
        let long: Vec<u8> = (0..300_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| (&client).write_all(&long).expect("it is read"));
            let mut read = vec![0; long.len()];
            (&server).read_exact(&mut read).expect("it is written");
            assert_eq!(read, long);
        });
        (&server).write_all(b"the last").expect("there is room");
        drop(server);
        let mut read = Vec::new();
        (&client).read_to_end(&mut read).expect("an end");
        assert_eq!(read, b"the last");
        let error = (&client).write(b"more").expect_err("nobody reads");
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn reading_and_writing_end_when_time_is_over_and_go_on_later() {
        let (_listener, server, client) = pair("times");
        for stream in [&server, &client] {
            stream.set_read_timeout(Some(Duration::from_millis(30))).expect("a time");
            stream.set_write_timeout(Some(Duration::from_millis(30))).expect("a time");
        }
        let error = (&client).read(&mut [0; 9]).expect_err("nothing comes");
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        (&server).write_all(b"late").expect("there is room");
        let mut read = [0; 9];
        assert_eq!((&client).read(&mut read).expect("it has come"), 4);
        let full = vec![7; BUFFER as usize];
        let error = (0..64).find_map(|_| (&server).write(&full).err()).expect("nobody reads");
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn nobody_listens_where_nobody_ever_did_nor_where_somebody_has_gone() {
        assert!(connect(&name("nobody")).expect("no pipe").is_none());
        let (listener, server, client) = pair("gone");
        drop(listener);
        drop((server, client));
        assert!(connect(&name("gone")).expect("no pipe").is_none());
    }

    #[test]
    fn a_listener_is_woken_and_many_connect_at_once() {
        let name = name("many");
        let (listener, waker) =
            Listener::new(Instance::first(&name).expect("a pipe"), &name).expect("a thread");
        waker.wake();
        listener.wait(Duration::from_secs(600));
        assert!(listener.accept().is_none() && listener.is_found());
        let connecting: Vec<_> = (0..20)
            .map(|_| {
                let name = name.clone();
                std::thread::spawn(move || connect(&name).expect("room").expect("somebody listens"))
            })
            .collect();
        let mut accepted = Vec::new();
        while accepted.len() < connecting.len() {
            listener.wait(Duration::from_secs(600));
            accepted.extend(std::iter::from_fn(|| listener.accept()));
        }
        for client in connecting {
            drop(client.join().expect("no panic"));
        }
        assert!(accepted.iter().all(|mut server| server.read(&mut [0]).is_ok_and(|n| n == 0)));
    }
}
