//! Many questions at once, over one connection, with answers that are taken as they come.

use crate::error::Error;
use crate::worker::Worker;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::unbounded_channel;

/// Asks the questions 0 to `count`, `in_flight` of them at once, and hands each answer to `take`, exactly one for each. After
/// an answer with which every other would fail, the remaining questions are not asked, and have the same answer.
pub(crate) fn ask_all<A, F, Fut>(
    worker: &Worker,
    count: usize,
    in_flight: usize,
    ask: F,
    died: &dyn Fn() -> Error,
    take: &mut dyn FnMut(usize, Result<A, Error>),
) where
    A: Send + 'static,
    F: Fn(usize) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<A, Error>> + Send,
{
    let in_flight = in_flight.clamp(1, count.max(1));
    let shared = Arc::new(Shared {
        ask,
        next: AtomicUsize::new(0),
        end: OnceLock::new(),
        // A slow taker holds up those who ask, so that answers do not pile up.
        room: Arc::new(Semaphore::new(in_flight)),
    });
    let (answers, mut ready) = unbounded_channel();
    let (handed, taken) = mpsc::channel();
    // The taker sleeps in another thread: it is woken once for all that came at once, not for each answer.
    worker.spawn(async move {
        loop {
            let mut several = Vec::new();
            if ready.recv_many(&mut several, in_flight).await == 0 || handed.send(several).is_err() {
                break;
            }
        }
    });
    for _ in 0..in_flight {
        let (shared, answers) = (Arc::clone(&shared), answers.clone());
        worker.spawn(async move {
            loop {
                let question = shared.next.fetch_add(1, Ordering::Relaxed);
                if question >= count {
                    break;
                }
                let answer = match shared.end.get() {
                    Some(error) => Err(error.clone()),
                    None => (shared.ask)(question).await,
                };
                if let Err(error) = &answer
                    && error.kind().is_final()
                {
                    let _ = shared.end.set(error.clone());
                }
                let Ok(room) = Arc::clone(&shared.room).acquire_owned().await else { break };
                if answers.send((question, answer, room)).is_err() {
                    break;
                }
            }
        });
    }
    drop(answers);
    let mut answered = vec![false; count];
    for (question, answer, _room) in taken.into_iter().flatten() {
        if let Some(answered) = answered.get_mut(question) {
            *answered = true;
            take(question, answer);
        }
    }
    for (question, _) in answered.iter().enumerate().filter(|(_, answered)| !**answered) {
        take(question, Err(died()));
    }
}

struct Shared<F> {
    ask: F,
    next: AtomicUsize,
    end: OnceLock<Error>,
    room: Arc<Semaphore>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn error(kind: ErrorKind) -> Error {
        Error::new(kind, "asking".into(), "no")
    }

    #[test]
    fn every_question_has_one_answer() {
        let worker = Worker::start().expect("a thread");
        let mut seen = vec![0; 1000];
        let ask = |question: usize| async move {
            match question % 3 {
                0 => Err(error(ErrorKind::Server)),
                1 => {
                    tokio::task::yield_now().await;
                    Ok(question)
                }
                _ => Ok(question),
            }
        };
        ask_all(&worker, 1000, 7, ask, &|| error(ErrorKind::Unreachable), &mut |question, answer| {
            assert_eq!(answer.ok(), Some(question).filter(|question| question % 3 != 0));
            seen[question] += 1;
        });
        assert!(seen.iter().all(|&times| times == 1));
    }

    #[test]
    fn after_an_answer_that_is_final_nothing_is_asked() {
        let worker = Worker::start().expect("a thread");
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let ask = move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            async { Err::<(), _>(error(ErrorKind::Refused)) }
        };
        let mut answers = 0;
        ask_all(&worker, 10_000, 10, ask, &|| error(ErrorKind::Unreachable), &mut |_, answer| {
            assert_eq!(answer.expect_err("refused").kind(), ErrorKind::Refused);
            answers += 1;
        });
        assert_eq!(answers, 10_000);
        assert!(asked.load(Ordering::Relaxed) <= 10);
    }

    #[test]
    fn a_question_that_panics_has_an_answer() {
        let worker = Worker::start().expect("a thread");
        let ask = |question: usize| async move {
            assert_ne!(question, 5, "for the test");
            Ok(question)
        };
        let mut answers = 0;
        ask_all(&worker, 10, 1, ask, &|| error(ErrorKind::Unreachable), &mut |question, answer| {
            assert_eq!(answer.is_ok(), question < 5);
            answers += 1;
        });
        assert_eq!(answers, 10);
    }
}
