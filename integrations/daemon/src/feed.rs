//! What a daemon is told of changes: the border to whoever watches directories.
//!
//! A feed is a hint that is never wrong: what it does not name has not changed. Where it cannot say that, it says that
//! everything may have. Files that it cannot vouch for, it names each time.

/// Somebody who watches directories.
pub trait Feed: Send {
    /// Watches these names of a directory, given by its absolute path: what they lead to, and the way there. Whether this
    /// was news: what is read from now on is vouched for, what was read before is not.
    fn watch(&mut self, directory: &[u8], names: &mut dyn Iterator<Item = &[u8]>) -> bool;

    /// What changed since that moment, which then is in the past; and the moment of this answer.
    fn since(&mut self, moment: Moment) -> (Changes, Moment);

    /// The moment that it is. All that changed until now lies before it.
    fn now(&mut self) -> Moment {
        self.since(Moment::NEVER).1
    }

    /// Whether it may ever say less than everything.
    fn can_watch(&self) -> bool {
        true
    }

    /// What is watched.
    fn watched(&self) -> Watched;
}

/// A moment in the life of one feed; no time, and nothing to another feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Of which feed; 0 of none.
    pub instance: u64,
    /// The number of the moment.
    pub generation: u64,
}

impl Moment {
    /// One of no feed: everything has changed since.
    pub const NEVER: Self = Self { instance: 0, generation: 0 };
}

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes {
    /// Nobody knows; why not, for people.
    Everything(String),
    /// These, and nothing else that is watched.
    Only(Vec<Changed>),
}

/// A directory in which something changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The path by which it is watched.
    pub directory: Vec<u8>,
    /// Which of its names; `None` where that may be all.
    pub names: Option<Vec<Vec<u8>>>,
}

/// What a feed watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Directories.
    pub directories: usize,
    /// Names in them.
    pub files: usize,
}

/// A feed that knows nothing: where there is no other.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFeed;

impl Feed for NoFeed {
    fn watch(&mut self, _: &[u8], _: &mut dyn Iterator<Item = &[u8]>) -> bool {
        false
    }

    fn since(&mut self, moment: Moment) -> (Changes, Moment) {
        (Changes::Everything("nobody watches the directories here".into()), moment)
    }

    fn can_watch(&self) -> bool {
        false
    }

    fn watched(&self) -> Watched {
        Watched::default()
    }
}
