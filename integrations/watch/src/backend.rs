//! Backends: who is told by the system what changed.

use crate::journal::{Journal, NameHash, Place};

/// Whether a feed can say of a directory that nothing in it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It can, for names that [`Backend::watch_name`] vouches for as well.
    Vouched,
    /// It cannot: whoever wants to know asks the disk.
    Doubted(Doubt),
}

/// Why a feed does not speak for a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// There is nothing here that tells of changes.
    NoBackend,
    /// The file system may change without a word: it is shared, made of others, or unknown. Its type, as `statfs` says it.
    FileSystem(i64),
    /// It is a layer of another file system, which may change it without a word.
    Layer,
    /// Names are found in other spellings than they are told of.
    CaseFolding,
    /// Names appear and disappear with the key that they are encrypted with.
    Encrypted,
    /// The system lets nobody watch more.
    WatchLimit,
    /// The system would not let it be watched. Its error number.
    Refused(i32),
    /// There are so many links in the path that the system gives up.
    Links,
    /// It changed while it was about to be watched.
    Changing,
    /// What is told of it is told, but nobody has proved that this is all, or in time.
    Unproven,
    /// To watch it would be to watch everything there is.
    TooWide,
}

/// Whether a feed can say of one file that nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameTrust {
    /// It can. Of a file that is not there, too.
    Vouched,
    /// Not now: somebody may have it open to write to it, in ways that are told of when it is closed, and not before. See
    /// [`Backend::prove_closed`].
    Held,
    /// The system did not let it be watched.
    Doubted,
}

/// Whether nobody has a file open to write to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// Nobody has.
    Yes,
    /// Somebody has, or may have at the moment.
    No,
    /// The system does not say.
    Unknowable,
}

/// What a backend has counted since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// What the system tells by, as its manual calls that; empty where it does not tell.
    pub by: &'static str,
    /// Directories that are watched now, with those that only lead to others.
    pub directories: usize,
    /// Files that are watched now.
    pub files: usize,
    /// What the system told.
    pub events: u64,
    /// How often it had more to tell than it could keep.
    pub overflows: u64,
    /// How often all watches were made anew, for whatever reason.
    pub resets: u64,
    /// Directories and files that the system did not let anybody watch.
    pub refused: u64,
    /// About how many bytes the backend has.
    pub bytes: usize,
}

/// What is told of changes by the system. If it vouches for anything, it has to be right about this: a change that was made, by a
/// call that has returned, before [`Backend::sync`] was called, is in the journal when that returns.
pub trait Backend: Send {
    /// Watches the directory that an absolute path leads to, and whatever could make the path lead elsewhere. Where it is
    /// missing, it is watched for to appear. A place that is watched already stays as it is.
    fn watch(&mut self, place: Place, path: &[u8]) -> Trust;

    /// Nobody wants to know of a place any more, until it is watched again. What is told of it from then on may be told or not.
    fn unwatch(&mut self, _: Place) {}

    /// Watches a file under a name of a place, before it is looked at. `path` is its absolute path. A file that is not there can
    /// be vouched for.
    fn watch_name(&mut self, place: Place, name: NameHash, path: &[u8]) -> NameTrust;

    /// Whether nobody has a file that is watched open to write to it, in ways that are told of when it is closed, and not before.
    /// If so, it is vouched for until somebody opens it. What happens meanwhile is noted.
    fn prove_closed(&mut self, place: Place, name: NameHash, path: &[u8], journal: &mut Journal) -> Closed;

    /// What becomes readable when there is something to tell, if there is such a thing: until [`Backend::sync`] was called
    /// next, since then it may be another one.
    #[cfg(unix)]
    fn descriptor(&self) -> Option<std::sync::Arc<std::os::fd::OwnedFd>> {
        None
    }

    /// What somebody waits for who calls [`Backend::sync`] when there is something to tell, where that is no descriptor.
    #[cfg(not(target_os = "linux"))]
    fn heard(&self) -> Option<std::sync::Arc<crate::Heard>> {
        None
    }

    /// Whether it ever vouches for anything. Otherwise it can only tell when it is time to look.
    fn vouches(&self) -> bool {
        true
    }

    /// The barrier: notes all that happened until now. It changes nothing on the disk.
    fn sync(&mut self, journal: &mut Journal);

    /// What it has counted.
    fn counters(&self) -> Counters;
}

/// A backend for systems that have none: it vouches for nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Null;

impl Backend for Null {
    fn watch(&mut self, _: Place, _: &[u8]) -> Trust {
        Trust::Doubted(Doubt::NoBackend)
    }

    fn watch_name(&mut self, _: Place, _: NameHash, _: &[u8]) -> NameTrust {
        NameTrust::Doubted
    }

    fn prove_closed(&mut self, _: Place, _: NameHash, _: &[u8], _: &mut Journal) -> Closed {
        Closed::Unknowable
    }

    fn vouches(&self) -> bool {
        false
    }

    fn sync(&mut self, journal: &mut Journal) {
        journal.note_everything(crate::Why::NoBackend);
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }
}
