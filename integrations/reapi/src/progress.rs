//! When something last came from the server: how long it may be silent is counted from there. How long all may take that is asked
//! of it, where there is such a limit, is counted from the first question.

use std::future::Future;
use std::pin::pin;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// When something last came. All requests of a connection share it: one of many is answered late where all wait in line.
#[derive(Default)]
pub(crate) struct Progress(Mutex<Option<Instant>>);

/// Why an answer was not waited for any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Late {
    /// Nothing came for too long.
    Stalled,
    /// All that was asked has taken too long.
    Over,
}

impl Progress {
    /// Something came, or went.
    pub(crate) fn mark(&self) {
        if let Ok(mut last) = self.0.lock() {
            *last = Some(Instant::now());
        }
    }

    /// Waits for an answer as long as anything moves, and until `over` at most. The answer itself counts as what moves.
    pub(crate) async fn watch<F: Future>(
        &self,
        stall: Duration,
        over: Option<Instant>,
        answer: F,
    ) -> Result<F::Output, Late> {
        let is_over = || over.is_some_and(|over| over <= Instant::now());
        let mut answer = pin!(answer);
        let mut until = Instant::now() + stall;
        while !is_over() {
            match timeout_at(over.map_or(until, |over| over.min(until)), answer.as_mut()).await {
                Ok(answer) => {
                    self.mark();
                    return Ok(answer);
                }
                Err(_) if is_over() => {}
                Err(_) => {
                    let last = self.0.lock().ok().and_then(|last| *last);
                    let later = last.map(|last| last + stall).filter(|&later| later > until);
                    until = later.ok_or(Late::Stalled)?;
                }
            }
        }
        Err(Late::Over)
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

    /// How long an answer is waited for that never comes, while others come every 20 s, five times; and why no longer.
    async fn waited(over: Option<Duration>) -> (Duration, Late) {
        let progress = Progress::default();
        let begun = Instant::now();
        let others = async {
            for _ in 0..5 {
                advance(Duration::from_secs(20)).await;
                progress.mark();
            }
            std::future::pending::<()>().await;
        };
        let never = std::future::pending::<()>();
        let waited = progress.watch(Duration::from_secs(30), over.map(|over| begun + over), never);
        tokio::pin!(others, waited);
        let ended = std::future::poll_fn(|context| {
            let _ = others.as_mut().poll(context);
            waited.as_mut().poll(context)
        });
        let late = ended.await.expect_err("it never comes");
        (begun.elapsed(), late)
    }

    #[test]
    fn an_answer_is_waited_for_while_others_come_and_not_longer() {
        paused(async {
            let (waited, late) = waited(None).await;
            assert!(waited >= Duration::from_secs(130) && late == Late::Stalled, "{waited:?}, {late:?}");
        });
    }

    #[test]
    fn whatever_else_comes_nothing_is_waited_for_once_the_time_for_all_is_over() {
        paused(async {
            let (waited, late) = waited(Some(Duration::from_secs(70))).await;
            assert!(waited < Duration::from_secs(100) && late == Late::Over, "{waited:?}, {late:?}");
            let over = Some(Instant::now());
            let late = Progress::default().watch(Duration::from_secs(30), over, async {}).await;
            assert_eq!(late, Err(Late::Over), "not even for what is there at once");
        });
    }
}
