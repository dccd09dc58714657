//! When something last came from the server: how long it may take is counted from there, and not from the beginning.

use std::future::Future;
use std::pin::pin;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// When something last came. All requests of a connection share it: one of many is answered late where all wait in line.
#[derive(Default)]
pub(crate) struct Progress(Mutex<Option<Instant>>);

/// Nothing came for too long.
pub(crate) struct Stalled;

impl Progress {
    /// Something came, or went.
    pub(crate) fn mark(&self) {
        if let Ok(mut last) = self.0.lock() {
            *last = Some(Instant::now());
        }
    }

    /// Waits for an answer as long as anything moves. The answer itself counts as such.
    pub(crate) async fn watch<F: Future>(&self, stall: Duration, answer: F) -> Result<F::Output, Stalled> {
        let mut answer = pin!(answer);
        let mut until = Instant::now() + stall;
        loop {
            match timeout_at(until, answer.as_mut()).await {
                Ok(answer) => {
                    self.mark();
                    return Ok(answer);
                }
                Err(_) => {
                    let last = self.0.lock().ok().and_then(|last| *last);
                    let later = last.map(|last| last + stall).filter(|&later| later > until);
                    until = later.ok_or(Stalled)?;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, pause};

    fn paused(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            pause();
            test.await;
        });
    }

    #[test]
    fn an_answer_is_waited_for_while_others_come_and_not_longer() {
        paused(async {
            let progress = Progress::default();
            let begun = Instant::now();
            let others = async {
                for _ in 0..5 {
                    advance(Duration::from_secs(20)).await;
                    progress.mark();
                }
                std::future::pending::<()>().await;
            };
            let waited = progress.watch(Duration::from_secs(30), std::future::pending::<()>());
            tokio::pin!(others, waited);
            let ended = std::future::poll_fn(|context| {
                let _ = others.as_mut().poll(context);
                waited.as_mut().poll(context)
            });
            assert!(ended.await.is_err());
            assert!(begun.elapsed() >= Duration::from_secs(130), "{:?}", begun.elapsed());
        });
    }
}
