//! The daemon's side of waiting: when it looks again for a client that waits for another answer.
//!
//! ```text
//!   something is told of  ->  nothing more for a moment, or for too long  ->  a look
//!   nothing is            ->  a look now and then
//! ```
//!
//! What counts is what a look finds: the client is answered when its answer has another mark than the one that he has. So nothing
//! is missed by what is told too early, twice or not at all; it is at most found later.

use super::question::Asked;
use super::room::Looked;
use super::rooms::Rooms;
use std::time::{Duration, Instant};
use upcheck_daemon::{Reply, Request, Waits};
use upcheck_watch::{Changes, Feed, Token, Why};

/// When nothing more was told of for so long, it is over.
const QUIET: Duration = Duration::from_millis(60);
/// So long after the first thing that was told of, it is looked even if it is not over.
const MOST: Duration = Duration::from_secs(1);
/// Between two looks, so many times as long as the last one took, there is no look, whatever is told of: a build that is under
/// way has better use for the processor.
const PAUSE: u32 = 5;
/// How often it is looked while there is something that nobody tells of; and how many times as long as the last look took, if that
/// is more.
const OFTEN: Duration = Duration::from_secs(1);
const OFTEN_TIMES: u32 = 20;
/// How often it is looked while whatever happens is told of.
const SELDOM: Duration = Duration::from_secs(5);
/// Somebody who is told of things at once, over and over, does not keep a processor busy with it.
const BREATH: Duration = Duration::from_millis(10);

/// The answer, when it is another one than the client has.
pub(super) fn wait(rooms: &Rooms, request: &Request, waits: &Waits) -> Reply {
    let declined = |reason: &str| Reply::Declined { reason: reason.to_owned() };
    // The answer that has the client's mark.
    let mut seen = None;
    let mut is_told = false;
    loop {
        // Each time as if it had just been asked: a link on the way may lead elsewhere now.
        let asked = match Asked::read(request) {
            Ok(asked) => asked,
            Err(reason) => return declined(reason),
        };
        let looked = match rooms.visit(&asked.common, |room| room.look_for(&asked, seen)) {
            Ok(looked) => looked,
            Err(reason) => return declined(reason),
        };
        let ended = Instant::now();
        if let Some(exit) = looked.exit {
            let mark = asked.captured.mark(exit as u8);
            if request.mark.as_ref() != Some(&mark) {
                let [stdout, stderr] = asked.captured.take();
                return Reply::Done { status: exit as u8, stdout, stderr, mark: Some(mark) };
            }
            seen = Some(looked.number);
        }
        if !is_told {
            waits.begin();
            is_told = true;
        }
        let pause = ended + looked.took * PAUSE;
        if !looked.is_new {
            until_told(rooms.feed().as_deref(), &looked, ended, waits);
        }
        sleep_until(pause, waits);
        if waits.is_over() {
            return declined("nobody waits for it");
        }
    }
}

/// Waits until there is a reason to look again.
fn until_told(feed: Option<&Feed>, looked: &Looked, ended: Instant, waits: &Waits) {
    let often = if looked.is_calm { SELDOM } else { OFTEN };
    let until = ended + often.max(looked.took * OFTEN_TIMES);
    let (Some(feed), Some(mut token)) = (feed, looked.token) else { return sleep_until(until, waits) };
    while Instant::now() < until && !waits.is_over() {
        if !feed.wait(token, until.min(Instant::now() + SELDOM)) {
            continue;
        }
        let (changes, now) = feed.since(Some(token));
        token = now;
        match changes {
            // Of another build directory.
            Changes::Only(changed) if !changed.places().any(|(place, _)| looked.places.contains(&place)) => {
                std::thread::sleep(BREATH);
            }
            // It will say so as often as one asks.
            Changes::Everything(Why::NoBackend | Why::Failed(_)) => return sleep_until(until, waits),
            _ => return settle(feed, token, waits),
        }
    }
}

/// Waits until nothing more is told of, but not too long.
fn settle(feed: &Feed, mut token: Token, waits: &Waits) {
    let until = Instant::now() + MOST;
    while Instant::now() < until && !waits.is_over() && feed.wait(token, Instant::now() + QUIET) {
        std::thread::sleep(BREATH);
        token = feed.since(None).1;
    }
}

fn sleep_until(until: Instant, waits: &Waits) {
    while Instant::now() < until && !waits.is_over() {
        std::thread::sleep(until.saturating_duration_since(Instant::now()).min(OFTEN));
    }
}
