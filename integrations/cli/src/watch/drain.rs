//! Takes in what the system has to tell of changes, so that it does not become more than it can keep.

use std::sync::{Arc, Weak};
use std::time::Duration;
use upcheck_watch::Feed;

/// After so long it is looked whether the feed has another descriptor, and is still there.
const LOOK: Duration = Duration::from_secs(5);
/// What comes so shortly after something else is taken in together with it. The system keeps it until then.
const SHORTLY: Duration = Duration::from_millis(20);

/// Does so for as long as somebody has the feed.
pub(super) fn in_background(feed: Arc<Feed>) {
    let feed = Arc::downgrade(&feed);
    // Without a thread more is forgotten or found late, and nothing is wrong.
    let _ = std::thread::Builder::new().name("drain".into()).spawn(move || drain(&feed));
}

fn drain(feed: &Weak<Feed>) {
    while let Some(here) = feed.upgrade() {
        let Some(is_news) = wait(here) else { return };
        if is_news {
            std::thread::sleep(SHORTLY);
        }
        if let Some(here) = feed.upgrade() {
            here.drain();
        }
    }
}

/// Waits, without keeping the feed, until there is something to take in: whether there is. `None` where nobody ever tells.
#[cfg(target_os = "linux")]
fn wait(feed: Arc<Feed>) -> Option<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let descriptor = feed.descriptor()?;
    drop(feed);
    let look = Timespec { tv_sec: LOOK.as_secs().cast_signed(), tv_nsec: 0 };
    let n_ready = poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&look));
    Some(n_ready.is_ok_and(|n| n > 0))
}

/// The same, where somebody else hears what is told.
#[cfg(not(target_os = "linux"))]
fn wait(feed: Arc<Feed>) -> Option<bool> {
    let heard = feed.heard()?;
    drop(feed);
    Some(heard.wait(LOOK))
}
