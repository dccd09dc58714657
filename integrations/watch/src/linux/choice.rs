//! Which of the two: inotify, and where that lets nobody watch as much as there is, fanotify, if that is permitted.
//!
//! fanotify has no such limit, and needs nothing of the kernel for each file; but it tells of whatever is opened on the whole file
//! system, by everybody, so it is not the first choice.

use super::Watching;
use super::fanotify::FanotifyQueue;
use super::inotify::InotifyQueue;
use crate::Why;
use crate::backend::{Backend, Closed, Counters, NameTrust, Trust};
use crate::journal::{Journal, NameHash, Place};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Backend for Linux.
pub struct Linux {
    chosen: Chosen,
    /// Whether fanotify is to be tried once inotify is not enough.
    may_change: bool,
}

enum Chosen {
    Inotify(Watching<InotifyQueue>),
    Fanotify(Watching<FanotifyQueue>),
}

/// The variable that says which one; without it both are.
const VARIABLE: &str = "UPCHECK_WATCH_BACKEND";

impl Linux {
    /// A backend that watches nothing yet: the one that `UPCHECK_WATCH_BACKEND` names, else inotify and, where that is not enough,
    /// fanotify.
    ///
    /// # Errors
    /// When the system lets nobody watch, there is no `/proc`, or the variable names something else.
    pub fn new() -> std::io::Result<Self> {
        match std::env::var_os(VARIABLE) {
            None => {
                let either = Self::inotify().or_else(|error| Self::fanotify().map_err(|_| error))?;
                Ok(Self { may_change: true, ..either })
            }
            Some(name) if name == "inotify" => Self::inotify(),
            Some(name) if name == "fanotify" => Self::fanotify(),
            Some(_) => Err(std::io::Error::other(format!("{VARIABLE} is neither inotify nor fanotify"))),
        }
    }

    /// By inotify, come what may.
    ///
    /// # Errors
    /// When the system lets nobody watch, or there is no `/proc`.
    pub fn inotify() -> std::io::Result<Self> {
        Ok(Self { chosen: Chosen::Inotify(Watching::new()?), may_change: false })
    }

    /// By fanotify: for whoever may administer the system (`CAP_SYS_ADMIN`), from Linux 5.9 on.
    ///
    /// # Errors
    /// When that is not permitted, or there is no `/proc`.
    pub fn fanotify() -> std::io::Result<Self> {
        Ok(Self { chosen: Chosen::Fanotify(Watching::new()?), may_change: false })
    }

    fn backend(&mut self) -> &mut dyn Backend {
        match &mut self.chosen {
            Chosen::Inotify(inotify) => inotify,
            Chosen::Fanotify(fanotify) => fanotify,
        }
    }
}

impl Backend for Linux {
    fn watch(&mut self, place: Place, path: &[u8]) -> Trust {
        self.backend().watch(place, path)
    }

    fn unwatch(&mut self, place: Place) {
        self.backend().unwatch(place);
    }

    fn watch_name(&mut self, place: Place, name: NameHash, path: &[u8]) -> NameTrust {
        self.backend().watch_name(place, name, path)
    }

    fn prove_closed(&mut self, place: Place, name: NameHash, path: &[u8], journal: &mut Journal) -> Closed {
        self.backend().prove_closed(place, name, path, journal)
    }

    fn descriptor(&self) -> Option<Arc<OwnedFd>> {
        match &self.chosen {
            Chosen::Inotify(inotify) => inotify.descriptor(),
            Chosen::Fanotify(fanotify) => fanotify.descriptor(),
        }
    }

    fn sync(&mut self, journal: &mut Journal) {
        self.backend().sync(journal);
        let Chosen::Inotify(inotify) = &self.chosen else { return };
        if !self.may_change || !inotify.is_at_limit {
            return;
        }
        self.may_change = false;
        let mut counters = inotify.counters;
        counters.resets += 1;
        if let Ok(fanotify) = Watching::new() {
            self.chosen = Chosen::Fanotify(Watching { counters, ..fanotify });
            journal.note_everything(Why::WatchLimit);
        }
    }

    fn counters(&self) -> Counters {
        match &self.chosen {
            Chosen::Inotify(inotify) => inotify.counters(),
            Chosen::Fanotify(fanotify) => fanotify.counters(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Changes, Feed};

    #[test]
    fn where_inotify_lets_nobody_watch_more_it_goes_on_by_fanotify() {
        let mut linux = Linux::new().expect("a backend");
        let may_change = Linux::fanotify().is_ok();
        let Chosen::Inotify(inotify) = &mut linux.chosen else { panic!("inotify comes first") };
        inotify.is_at_limit = true;
        let feed = Feed::new(linux);
        let before = feed.counters();
        let (_, token) = feed.since(None);
        let (changes, token) = feed.since(Some(token));
        assert_eq!(before.by, "inotify");
        if may_change {
            assert_eq!(changes, Changes::Only(crate::Changed::default()), "it changed at the first question");
            assert_eq!((feed.counters().by, feed.counters().resets), ("fanotify", 1));
            let (place, trust) = feed.watch(std::env::temp_dir().as_os_str().as_encoded_bytes());
            assert_eq!(trust, Trust::Vouched);
            drop(tempfile::NamedTempFile::new().expect("a file"));
            let (changes, _) = feed.since(Some(token));
            let Changes::Only(changed) = changes else { panic!("{changes:?}") };
            assert!(changed.places().any(|(changed, _)| changed == place), "{changed:?}");
        } else {
            assert_eq!(feed.counters().by, "inotify");
        }
    }
}
