//! Windows and macOS: the system tells what happens below a directory, and what it tells is taken for a hint.
//!
//! ```text
//!   C:\Users\me\build\out      "C:\Users" is watched, with all beneath it
//!   something happened there   ->  is it in a directory that somebody wants to know of?  ->  whoever waits is woken
//! ```
//!
//! It vouches for nothing. What is written through a mapping, through another hard link, or by who has a file open for long is told
//! late or not at all; what is told comes when it comes, and there is no barrier; and none of it was ever tried on these systems
//! themselves. So whoever wants to know how files are asks the disk for all of them, and what he gains is to know when.
//!
//! A directory is not watched by itself: on Windows it could not be renamed then, nor any above it, and one that is removed would
//! stay until the watch ends. Whoever looks at a build does not disturb it. What is below the root of a drive is nobody's to rename.

#[cfg(any(windows, test))]
mod notified;
mod spots;

#[cfg(any(target_os = "macos", all(test, unix)))]
#[path = "macos.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;

use crate::Why;
#[cfg(any(windows, target_os = "macos"))]
use crate::backend::{Backend, Closed, Counters, Doubt, NameTrust, Trust};
use crate::journal::{Journal, NameHash, Place};
use rapidhash::RapidHashSet;
use spots::Spots;
use std::path::{Component, Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So many names are kept until somebody takes them in; then it is everything.
const MOST: usize = 16_384;

/// What was told, until somebody takes it in.
#[derive(Debug, Default)]
pub struct Heard {
    inside: Mutex<Inside>,
    told: Condvar,
}

#[derive(Debug, Default)]
struct Inside {
    spots: Spots,
    names: RapidHashSet<(Place, NameHash)>,
    everything: Option<Why>,
    n_events: u64,
    n_overflows: u64,
}

/// What happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// It is there now, or is there no longer.
    Name,
    /// What it holds.
    Content,
}

impl Heard {
    /// Waits until something was told that is not taken in, and no longer than that. Whether there is something.
    #[must_use]
    pub fn wait(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut inside = self.lock();
        while !inside.has_news() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            inside = self.told.wait_timeout(inside, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Something happened to an absolute path. What nobody wants to know of wakes nobody.
    pub(crate) fn tell(&self, path: &[u8], what: What) {
        let mut inside = self.lock();
        inside.n_events += 1;
        let Inside { spots, names, .. } = &mut *inside;
        let before = names.len();
        spots.touched(path, what, |place, name| {
            names.insert((place, name));
        });
        let is_news = names.len() > before;
        if names.len() > MOST {
            inside.everything = Some(Why::TooMuch);
        }
        if is_news {
            self.told.notify_all();
        }
    }

    /// Nobody knows what happened.
    pub(crate) fn tell_everything(&self, why: Why) {
        let mut inside = self.lock();
        inside.n_overflows += u64::from(why == Why::Overflow);
        inside.everything = Some(why);
        self.told.notify_all();
    }

    /// Somebody wants to know what happens in a directory.
    fn add(&self, path: &[u8], place: Place) {
        self.lock().spots.add(path, place);
    }

    /// Takes in what was told.
    fn take_in(&self, journal: &mut Journal) {
        let mut inside = self.lock();
        let names = std::mem::take(&mut inside.names);
        match inside.everything.take() {
            Some(why) => journal.note_everything(why),
            None => names.into_iter().for_each(|(place, name)| journal.note(place, name)),
        }
    }

    /// All of it is right at any time.
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    fn has_news(&self) -> bool {
        self.everything.is_some() || !self.names.is_empty()
    }
}

/// What is watched for a directory: the first one below the root. `None` where it is the root itself.
fn watched_for(path: &Path) -> Option<PathBuf> {
    let mut parts = path.components().peekable();
    let start: PathBuf = std::iter::from_fn(|| {
        parts.next_if(|part| matches!(part, Component::Prefix(_) | Component::RootDir))
    })
    .collect();
    match parts.next() {
        Some(Component::Normal(first)) if path.has_root() => Some(start.join(first)),
        _ => None,
    }
}

/// A backend that is told what happened, and vouches for nothing.
#[cfg(any(windows, target_os = "macos"))]
#[derive(Debug, Default)]
pub struct Hints {
    heard: std::sync::Arc<Heard>,
    /// What is watched, or why it is not.
    roots: Vec<(PathBuf, Result<system::Watcher, Doubt>)>,
    n_places: usize,
}

#[cfg(any(windows, target_os = "macos"))]
impl Hints {
    /// One that watches nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn watch_root(&mut self, path: &[u8]) -> Doubt {
        let mut canonical = path.to_vec();
        upcheck::path::canonicalize(&mut canonical);
        let Some(root) = upcheck::os_path::path(&canonical).ok().and_then(|path| watched_for(&path)) else {
            return Doubt::TooWide;
        };
        let at = self.roots.iter().position(|(known, _)| *known == root).unwrap_or_else(|| {
            let watcher = system::Watcher::new(&root, &self.heard);
            let watcher = watcher.map_err(|error| Doubt::Refused(error.raw_os_error().unwrap_or(0)));
            self.roots.push((root, watcher));
            self.roots.len() - 1
        });
        match &self.roots[at].1 {
            Ok(_) => Doubt::Unproven,
            Err(doubt) => *doubt,
        }
    }
}

#[cfg(any(windows, target_os = "macos"))]
impl Backend for Hints {
    fn watch(&mut self, place: Place, path: &[u8]) -> Trust {
        self.n_places = self.n_places.max(place.0 as usize + 1);
        self.heard.add(path, place);
        Trust::Doubted(self.watch_root(path))
    }

    fn watch_name(&mut self, _: Place, _: NameHash, _: &[u8]) -> NameTrust {
        NameTrust::Doubted
    }

    fn prove_closed(&mut self, _: Place, _: NameHash, _: &[u8], _: &mut Journal) -> Closed {
        Closed::Unknowable
    }

    fn heard(&self) -> Option<std::sync::Arc<Heard>> {
        Some(std::sync::Arc::clone(&self.heard))
    }

    fn vouches(&self) -> bool {
        false
    }

    /// What happened may be told later.
    fn sync(&mut self, journal: &mut Journal) {
        self.heard.take_in(journal);
    }

    fn counters(&self) -> Counters {
        let inside = self.heard.lock();
        Counters {
            by: system::NAME,
            directories: self.n_places,
            events: inside.n_events,
            overflows: inside.n_overflows,
            refused: self.roots.iter().filter(|(_, watcher)| watcher.is_err()).count() as u64,
            bytes: inside.spots.bytes(),
            ..Counters::default()
        }
    }
}

#[cfg(test)]
const ROOT: &str = if cfg!(windows) { "C:/" } else { "/" };

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// What takes longer than this has gone wrong.
    const DEADLINE: Duration = Duration::from_secs(20);

    fn at(path: &str) -> Vec<u8> {
        format!("{ROOT}{path}").into_bytes()
    }

    #[test]
    fn whoever_waits_is_woken_by_what_happens_where_somebody_wants_to_know() {
        let heard = Heard::default();
        heard.add(&at("b"), Place(7));
        heard.tell(&at("c/x"), What::Content);
        assert!(!heard.wait(Duration::ZERO), "nobody wants to know");
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| heard.wait(Duration::from_secs(600)));
            heard.tell(&at("b/x"), What::Content);
            assert!(waits.join().expect("no panic"));
        });
        let mut journal = Journal::new();
        let before = journal.turn();
        heard.take_in(&mut journal);
        assert!(!heard.wait(Duration::ZERO), "it was taken in");
        assert!(journal.since(before).expect("it reaches back").has(Place(7), b"x"));
    }

    #[test]
    fn what_nobody_knows_and_what_is_too_much_is_everything() {
        let heard = Heard::default();
        heard.add(&at("b"), Place(0));
        let mut journal = Journal::new();
        let mut before = journal.turn();
        heard.tell_everything(Why::Overflow);
        assert!(heard.wait(Duration::ZERO));
        heard.take_in(&mut journal);
        assert_eq!(journal.since(before), Err(Why::Overflow));
        before = journal.turn();
        (0..=MOST).for_each(|n| heard.tell(&at(&format!("b/{n}")), What::Content));
        heard.take_in(&mut journal);
        assert_eq!(journal.since(before), Err(Why::TooMuch));
        assert_eq!(heard.lock().n_overflows, 1);
    }

    #[test]
    fn what_is_watched_is_the_first_below_the_root() {
        let watched = |path: &str| watched_for(Path::new(path)).map(|root| root.display().to_string());
        if cfg!(windows) {
            assert_eq!(watched(r"C:\Users\me\build").as_deref(), Some(r"C:\Users"));
            assert_eq!(watched("C:/Users").as_deref(), Some(r"C:\Users"));
            assert_eq!(watched(r"\\server\share\a\b").as_deref(), Some(r"\\server\share\a"));
            assert_eq!(watched(r"C:\"), None);
            assert_eq!(watched(r"\\server\share"), None);
            assert_eq!(watched(r"C:Users\me"), None);
        } else {
            assert_eq!(watched("/Users/me/build").as_deref(), Some("/Users"));
            assert_eq!(watched("/Users").as_deref(), Some("/Users"));
            assert_eq!(watched("/"), None);
        }
        assert_eq!(watched("relative/a"), None);
    }

    fn directory() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("a directory");
        let at = upcheck::os_path::canonicalize(directory.path()).expect("a path");
        (directory, at)
    }

    /// Waits until a name is told of.
    #[track_caller]
    fn hear(heard: &Heard, journal: &mut Journal, place: Place, name: &str) {
        let (before, until) = (journal.turn(), Instant::now() + DEADLINE);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            assert!(heard.wait(left), "{name} is not told of");
            heard.take_in(journal);
            if journal.since(before).expect("it reaches back").has(place, name.as_bytes()) {
                return;
            }
        }
    }

    #[test]
    fn what_happens_in_a_directory_is_told() {
        let (_directory, at) = directory();
        let heard = Arc::new(Heard::default());
        heard.add(upcheck::os_path::bytes(&at), Place(0));
        // Whoever began it may be gone.
        let _watcher = std::thread::scope(|scope| {
            scope.spawn(|| system::Watcher::new(&at, &heard).expect("a watch")).join().expect("no panic")
        });
        let mut journal = Journal::new();
        for name in ["a", "b"] {
            std::fs::write(at.join(name), name).expect("a file");
            hear(&heard, &mut journal, Place(0), name);
        }
    }

    /// Wine tells of directories that are made while it watches, not of those that were there.
    #[test]
    fn what_happens_deeper_is_told() {
        let (_directory, at) = directory();
        let heard = Arc::new(Heard::default());
        let _watcher = system::Watcher::new(&at, &heard).expect("a watch");
        let mut deep = at;
        let mut journal = Journal::new();
        for depth in 0..4 {
            heard.add(upcheck::os_path::bytes(&deep), Place(depth));
            // Wine and `notify` take a moment to see a new directory.
            let until = Instant::now() + DEADLINE;
            let before = journal.turn();
            while !journal.since(before).expect("it reaches back").has(Place(depth), b"x") {
                assert!(Instant::now() < until, "{} is not told of", deep.display());
                std::fs::write(deep.join("x"), "x").expect("a file");
                let _ = heard.wait(Duration::from_millis(100));
                heard.take_in(&mut journal);
            }
            deep.push("a");
            std::fs::create_dir(&deep).expect("a directory");
        }
    }

    #[test]
    fn a_directory_that_is_not_there_is_refused() {
        let heard = Arc::default();
        let nowhere = format!("{ROOT}no-such-directory");
        assert!(system::Watcher::new(Path::new(&nowhere), &heard).is_err());
    }
}
