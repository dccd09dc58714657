//! Takes in what the system has to tell of changes, so that it does not become more than it can keep.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::sync::{Arc, Weak};
use std::time::Duration;
use upcheck_watch::Feed;

/// After so long it is looked whether the feed has another descriptor, and is still there.
const LOOK: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };
/// What comes so shortly after something else is taken in together with it. The system keeps it until then.
const SHORTLY: Duration = Duration::from_millis(20);

/// Does so for as long as somebody has the feed.
pub(super) fn in_background(feed: Arc<Feed>) {
    let feed = Arc::downgrade(&feed);
    // Without a thread more is forgotten, and nothing wrong.
    let _ = std::thread::Builder::new().name("drain".into()).spawn(move || drain(&feed));
}

fn drain(feed: &Weak<Feed>) {
    while let Some(here) = feed.upgrade() {
        let Some(descriptor) = here.descriptor() else { return };
        drop(here);
        let mut watched = [PollFd::new(&descriptor, PollFlags::IN)];
        let n_ready = poll(&mut watched, Some(&LOOK));
        if n_ready.is_ok_and(|n| n > 0) {
            std::thread::sleep(SHORTLY);
        }
        if let Some(here) = feed.upgrade() {
            here.drain();
        }
    }
}
