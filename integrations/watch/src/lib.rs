//! A change feed: what changed below some directories since a token, or: nobody knows.
//!
//! ```text
//!   watch(directory) ->  place           each part of the path is watched, and what links in it lead to
//!   since(token)     ->  Only(names), token        or Everything(why), token
//! ```
//!
//! A feed is a hint that is never wrong: in any doubt the answer is "everything", and for what it cannot vouch it says so.
//! [`WatchedDisk`] makes of it a disk that answers as the one beneath it, and asks that for what changed only.
//! Whoever has a feed of his own brings it with [`told::Told`].
//! What it rests on, and what it cannot see, stands in `docs/WATCH.md`.

mod backend;
mod disk;
#[cfg(any(not(target_os = "linux"), test))]
mod hints;
mod journal;
#[cfg(target_os = "linux")]
mod linux;
mod token;
pub mod told;
#[cfg(unix)]
mod view;

pub use backend::{Backend, Closed, Counters, Doubt, NameTrust, Null, Trust};
pub use disk::{Asked, Memory, Options, WatchedDisk};
#[cfg(any(not(target_os = "linux"), test))]
pub use hints::Heard;
#[cfg(any(windows, target_os = "macos"))]
pub use hints::Hints;
pub use journal::{Changed, Journal, NameHash, Names, Place};
#[cfg(target_os = "linux")]
pub use linux::Linux;
pub use token::Token;
#[cfg(unix)]
pub use view::View;

use rapidhash::RapidHashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use token::Instance;

/// Why nobody knows what changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// There was no token: it is the first question.
    First,
    /// The token is of another feed, perhaps of one that was there before this process began.
    NotOurToken,
    /// So long ago that nobody remembers.
    TooOld,
    /// So much changed that nobody remembers all of it.
    TooMuch,
    /// The system had more to tell than it could keep.
    Overflow,
    /// A file system was mounted or unmounted somewhere.
    Mounts,
    /// Watches of what is gone were in the way of others.
    Cluttered,
    /// The system lets nobody watch as much as there is in this way: it is watched in another one from here on.
    WatchLimit,
    /// The system failed to tell. Its error number.
    Failed(i32),
    /// There is nothing here that tells of changes.
    NoBackend,
}

/// What changed since a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes {
    /// Perhaps everything. All places have to be watched again.
    Everything(Why),
    /// Nothing in places that are vouched for but this, as far as names go that are vouched for.
    Only(Changed),
}

/// A feed. It can be shared by threads.
pub struct Feed {
    instance: Instance,
    vouches: bool,
    inner: Mutex<Inner>,
    /// Those who wait are woken when something was taken in.
    told: Condvar,
}

struct Inner {
    backend: Box<dyn Backend>,
    journal: Journal,
    /// By absolute path.
    places: RapidHashMap<Box<[u8]>, Place>,
    /// How many memories have answers of a place.
    held: RapidHashMap<Place, u32>,
}

impl Feed {
    /// A feed of what a backend is told.
    #[must_use]
    pub fn new(backend: impl Backend + 'static) -> Self {
        let vouches = backend.vouches();
        let inner = Inner {
            backend: Box::new(backend),
            journal: Journal::new(),
            places: RapidHashMap::default(),
            held: RapidHashMap::default(),
        };
        Self { instance: Instance::random(), vouches, inner: Mutex::new(inner), told: Condvar::new() }
    }

    /// A feed by the best means that the platform has.
    ///
    /// # Errors
    /// When the system does not let anybody watch.
    #[cfg(target_os = "linux")]
    pub fn here() -> std::io::Result<Self> {
        Ok(Self::new(Linux::new()?))
    }

    /// A feed by the best means that the platform has. It vouches for nothing: see [`Feed::vouches`].
    ///
    /// # Errors
    /// None, here.
    #[cfg(any(windows, target_os = "macos"))]
    pub fn here() -> std::io::Result<Self> {
        Ok(Self::new(Hints::new()))
    }

    /// A feed by the best means that the platform has: none.
    ///
    /// # Errors
    /// None, here.
    #[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
    pub fn here() -> std::io::Result<Self> {
        Ok(Self::new(Null))
    }

    /// Whether it ever vouches for anything. Where it does not, all it can say is when it is time to look.
    #[must_use]
    pub fn vouches(&self) -> bool {
        self.vouches
    }

    /// Watches a directory by its absolute path, whether it is there or not. To do so again costs little, and is needed after
    /// everything or all of the directory changed.
    pub fn watch(&self, path: &[u8]) -> (Place, Trust) {
        let mut inner = self.lock();
        let Inner { backend, places, .. } = &mut *inner;
        let place = match places.get(path) {
            Some(place) => *place,
            None => {
                let place = Place(u32::try_from(places.len()).unwrap_or(Place::MOST).min(Place::MOST));
                places.insert(path.into(), place);
                place
            }
        };
        (place, backend.watch(place, path))
    }

    /// Somebody has answers of a place, until he has released it.
    pub(crate) fn hold(&self, place: Place) {
        *self.lock().held.entry(place).or_default() += 1;
    }

    /// Somebody has no answers of a place any more. If nobody else has any, it is no longer watched.
    pub(crate) fn release(&self, place: Place) {
        let mut inner = self.lock();
        let Some(n) = inner.held.get_mut(&place) else { return };
        *n -= 1;
        if *n == 0 {
            inner.held.remove(&place);
            inner.backend.unwatch(place);
        }
    }

    /// Watches files in a place, each before it is looked at. `path` is the directory's.
    pub fn watch_names<'a>(
        &self,
        place: Place,
        path: &[u8],
        names: impl Iterator<Item = &'a [u8]>,
    ) -> Vec<NameTrust> {
        let mut inner = self.lock();
        let mut full = [path, b"/"].concat();
        let length = full.len();
        let watch = |name: &[u8]| {
            full.truncate(length);
            full.extend_from_slice(name);
            inner.backend.watch_name(place, NameHash::of(name), &full)
        };
        names.map(watch).collect()
    }

    /// Whether a file that is watched, and held, is closed by now, so that it can be vouched for from here on. `path` is its own.
    pub fn prove_closed(&self, place: Place, name: &[u8], path: &[u8]) -> Closed {
        let mut inner = self.lock();
        let Inner { backend, journal, .. } = &mut *inner;
        let closed = backend.prove_closed(place, NameHash::of(name), path, journal);
        // It may have taken in what happened until then.
        if journal.has_new() {
            self.told.notify_all();
        }
        closed
    }

    /// What becomes readable when there is something to take in with [`Feed::drain`], if there is such a thing. It may be
    /// another one after each answer.
    #[cfg(unix)]
    #[must_use]
    pub fn descriptor(&self) -> Option<std::sync::Arc<std::os::fd::OwnedFd>> {
        self.lock().backend.descriptor()
    }

    /// What there is to wait for, where that is no descriptor: whoever has waited for it calls [`Feed::drain`].
    #[cfg(not(target_os = "linux"))]
    #[must_use]
    pub fn heard(&self) -> Option<std::sync::Arc<Heard>> {
        self.lock().backend.heard()
    }

    /// What changed since a token, and the token for the next question. What was changed by calls that returned before this
    /// one is in the answer.
    pub fn since(&self, token: Option<Token>) -> (Changes, Token) {
        let mut inner = self.lock();
        let Inner { backend, journal, .. } = &mut *inner;
        backend.sync(journal);
        if journal.has_new() {
            self.told.notify_all();
        }
        let generation = journal.turn();
        let changed = match token {
            None => Err(Why::First),
            Some(token) if token.instance != self.instance => Err(Why::NotOurToken),
            Some(token) => journal.since(token.generation),
        };
        let changes = changed.map_or_else(Changes::Everything, Changes::Only);
        (changes, Token { instance: self.instance, generation })
    }

    /// Takes in what the system has to tell, so that it does not become more than it can keep.
    pub fn drain(&self) {
        let mut inner = self.lock();
        let Inner { backend, journal, .. } = &mut *inner;
        backend.sync(journal);
        if journal.has_new() {
            self.told.notify_all();
        }
    }

    /// Waits until something was taken in since a token, wherever it happened, but not beyond a moment. Whether there was
    /// something. Somebody else has to take it in, with [`Feed::drain`] or [`Feed::since`].
    #[must_use]
    pub fn wait(&self, token: Token, until: Instant) -> bool {
        let mut inner = self.lock();
        loop {
            if token.instance != self.instance || inner.journal.has_since(token.generation) {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let Ok((woken, _)) = self.told.wait_timeout(inner, left) else {
                // Somebody has panicked: nobody knows what has happened since.
                return true;
            };
            inner = woken;
        }
    }

    /// What was counted.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let inner = self.lock();
        let counters = inner.backend.counters();
        let places: usize =
            inner.places.keys().map(|path| path.len() + size_of::<(Box<[u8]>, Place)>()).sum();
        Counters { bytes: counters.bytes + inner.journal.bytes() + places, ..counters }
    }

    /// A panic behind the lock is passed on by whoever had it; what is there may be half done, and vouches for nothing.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poisoned: PoisonError<_>| {
            let mut inner = poisoned.into_inner();
            inner.backend = Box::new(Null);
            inner
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_tells_of_changes_everything_may_have_changed() {
        let feed = Feed::new(Null);
        let (_, trust) = feed.watch(b"/");
        assert_eq!(trust, Trust::Doubted(Doubt::NoBackend));
        let (changes, token) = feed.since(None);
        assert_eq!(changes, Changes::Everything(Why::First));
        assert_eq!(feed.since(Some(token)).0, Changes::Everything(Why::NoBackend));
    }

    /// A directory in which something happens with every look.
    struct Restless;

    impl Backend for Restless {
        fn watch(&mut self, _: Place, _: &[u8]) -> Trust {
            Trust::Vouched
        }

        fn watch_name(&mut self, _: Place, _: NameHash, _: &[u8]) -> NameTrust {
            NameTrust::Vouched
        }

        fn prove_closed(&mut self, _: Place, _: NameHash, _: &[u8], _: &mut Journal) -> Closed {
            Closed::Yes
        }

        fn sync(&mut self, journal: &mut Journal) {
            journal.note(Place(0), NameHash::of(b"a"));
        }

        fn counters(&self) -> Counters {
            Counters::default()
        }
    }

    #[test]
    fn whoever_waits_is_woken_by_what_somebody_else_takes_in() {
        let feed = Feed::new(Restless);
        let (_, token) = feed.since(None);
        assert!(!feed.wait(token, Instant::now()), "nothing was taken in");
        std::thread::scope(|scope| {
            let waits =
                scope.spawn(|| feed.wait(token, Instant::now() + std::time::Duration::from_secs(600)));
            feed.drain();
            assert!(waits.join().expect("no panic"));
        });
        assert!(feed.wait(token, Instant::now()), "it stays true");
        let (_, later) = feed.since(Some(token));
        assert!(!feed.wait(later, Instant::now()));
        assert!(feed.wait(Feed::new(Null).since(None).1, Instant::now()), "another feed's token");
    }

    #[test]
    fn another_feeds_token_is_not_answered() {
        let (one, other) = (Feed::new(Null), Feed::new(Null));
        let (_, token) = one.since(None);
        assert_eq!(other.since(Some(token)).0, Changes::Everything(Why::NotOurToken));
    }
}
