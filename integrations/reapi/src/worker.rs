//! The thread behind a client, with the runtime that the connection lives in. Nobody else knows of either.

use std::future::Future;
use std::io;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

/// A thread that runs what is handed to it until it is dropped.
pub(crate) struct Worker {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name("upcheck-reapi".into()).spawn(move || {
            let _ = runtime.block_on(stopped);
            // What still runs in threads for blocking work, a credential helper at most, ends by itself.
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, stop: Some(stop), thread: Some(thread) })
    }

    /// Begins something.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        self.handle.spawn(work).abort_handle()
    }

    /// Does something, and waits for it. `None`: it died.
    pub(crate) fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Option<T> {
        // Not the channel of the runtime: that one must not be waited for in a thread of another runtime, as a caller's may be.
        let (sender, receiver) = mpsc::sync_channel(1);
        self.spawn(async move {
            let _ = sender.send(work.await);
        });
        receiver.recv().ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It ends without panicking, and nobody waits for himself: clients are not handed to their own thread.
            let _ = thread.join();
        }
    }
}
