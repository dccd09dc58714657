//! Takes in what the system has told of changes, where somebody else hears it.

use std::sync::{Arc, Weak};
use std::time::Duration;
use upcheck_watch::Feed;

/// After so long it is looked whether the feed is still there.
const LOOK: Duration = Duration::from_secs(5);
/// What comes so shortly after something else is taken in together with it.
const SHORTLY: Duration = Duration::from_millis(20);

/// Does so for as long as somebody has the feed.
pub(super) fn in_background(feed: Arc<Feed>) {
    let feed = Arc::downgrade(&feed);
    // Without a thread more is found late, and nothing is wrong.
    let _ = std::thread::Builder::new().name("drain".into()).spawn(move || drain(&feed));
}

fn drain(feed: &Weak<Feed>) {
    while let Some(here) = feed.upgrade() {
        let Some(heard) = here.heard() else { return };
        drop(here);
        if heard.wait(LOOK) {
            std::thread::sleep(SHORTLY);
        }
        if let Some(here) = feed.upgrade() {
            here.drain();
        }
    }
}
