//! A feed of somebody else's: a driver that knows what changed says so, and all else is answered from memory.
//!
//! ```text
//!   tell      since token A, now token B: these paths          -> they are forgotten, with all beneath them
//!             A is not the last B; or: everything              -> all is forgotten
//!   question  each directory is looked at, and some files      -> all as remembered:   answers from memory
//!             one is not as it was, and nobody has said so     -> the driver is not believed any more: all is asked for
//! ```
//!
//! Nothing here knows what changed: it is as right as the driver is. So his word is good for one question, and part of it is
//! looked after: see `docs/WATCH.md`.

mod disk;
mod memory;
mod spelling;
mod spot;

pub use disk::ToldDisk;

use memory::Directories;
use spelling::{Spelling, is_straight};
use spot::Spots;
use std::time::Duration;
use upcheck::collect::{Confirm, Disk};
use upcheck::{Meta, Stat};

/// How far a driver is trusted.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// So many files of those that are remembered are looked at in each question: half of them at random, half in turn, so that
    /// each is looked at in the end.
    pub spot_checks: usize,
    /// What was changed so shortly ago is asked for each time: whoever changed it may still be at it.
    pub young: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { spot_checks: 16, young: Duration::from_secs(10) }
    }
}

/// What a driver says: what was changed after one moment, and before another. Tokens are his, and stand for moments.
#[derive(Clone, Copy, Debug)]
pub struct News<'a> {
    /// The token that came as `now` before; `None` where there was none.
    pub since: Option<&'a [u8]>,
    /// What the next one goes on from.
    pub now: &'a [u8],
    /// What changed.
    pub changed: Said<'a>,
}

/// What a driver says has changed.
#[derive(Clone, Copy, Debug)]
pub enum Said<'a> {
    /// Perhaps everything. A driver who was not believed is so again.
    Everything,
    /// At most these paths, absolute or relative to the base, and, of directories, what is beneath them.
    Paths(&'a [&'a [u8]]),
}

/// What the last question was answered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// There was none.
    Nothing,
    /// From memory, but for what was told, and for what is asked for each time.
    Told,
    /// The disk was asked for everything, for the first time.
    First,
    /// The same: the driver said that everything may have changed.
    Everything,
    /// The same: what he told did not go on from what he had told before.
    Gap,
    /// The same: he had told nothing since the question before.
    Silence,
    /// The same: a file was found changed that he had not told of. It stays so until he says that everything may have.
    Wrong,
    /// The same: another directory is at the base's place, or there is a link on the way to it.
    Moved,
    /// The same: nothing can be remembered here.
    Unsupported,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// For so many names the disk was asked.
    pub of_disk: u64,
    /// For so many names the answer was remembered.
    pub remembered: u64,
    /// So many remembered names were looked at all the same, to see whether what was told is true.
    pub checked: u64,
    /// So many directories were, for the same reason.
    pub directories: u64,
    /// So often it was not.
    pub wrong: u64,
}

/// What is remembered on the word of a driver.
#[derive(Debug)]
pub struct Told {
    options: Options,
    inside: Inside,
    /// That of the last news.
    token: Option<Box<[u8]>>,
    /// What the next question is answered from, where something was told since the last one.
    pending: Option<Basis>,
    is_believed: bool,
    basis: Basis,
}

#[derive(Debug)]
struct Inside {
    spelling: Spelling,
    directories: Directories,
    spots: Spots,
    counts: Counts,
    /// Device and inode of the base's directory, as of the last question.
    base: Option<(u64, u64)>,
    /// A file that was found changed without a word.
    wrong: Vec<u8>,
}

impl Told {
    /// Nothing yet, of a disk whose base is at this absolute path without links.
    #[must_use]
    pub fn new(base: &[u8], options: Options) -> Self {
        let inside = Inside {
            spelling: Spelling::new(base),
            directories: Directories::default(),
            spots: Spots::default(),
            counts: Counts::default(),
            base: None,
            wrong: Vec::new(),
        };
        Self { options, inside, token: None, pending: None, is_believed: true, basis: Basis::Nothing }
    }

    /// How far he is trusted from now on.
    pub fn set_options(&mut self, options: Options) {
        self.options = options;
    }

    /// Takes in what a driver says. It is good for the next question; several may come before that.
    pub fn tell(&mut self, news: &News<'_>) {
        let goes_on = self.token.is_some() && news.since == self.token.as_deref();
        let basis = match news.changed {
            Said::Everything => {
                self.is_believed = true;
                Basis::Everything
            }
            Said::Paths(_) if !self.is_believed => Basis::Wrong,
            Said::Paths(_) if self.token.is_none() => Basis::First,
            Said::Paths(_) if !goes_on => Basis::Gap,
            Said::Paths(paths) => {
                let Inside { spelling, directories, .. } = &mut self.inside;
                let is_everything = directories.forget(paths.iter().map(|path| spelling.meant(path)));
                if is_everything { Basis::Everything } else { Basis::Told }
            }
        };
        if basis != Basis::Told {
            self.inside.directories.clear();
        }
        self.token = Some(news.now.into());
        // Of several, the one that has forgotten all.
        let was_told = matches!(self.pending, None | Some(Basis::Told));
        if was_told || basis == Basis::Everything {
            self.pending = Some(basis);
        }
    }

    /// The disk for one question: `inner`, and what is remembered of it. With at most so many threads it is looked whether
    /// what was told is true; 0: as many as help.
    pub fn question<'a>(&'a mut self, inner: &'a dyn Disk, threads: usize) -> ToldDisk<'a> {
        let (basis, remembers) = self.stand(inner, threads);
        self.basis = basis;
        // Silence is no news: what comes next goes on from the last token.
        if !remembers && basis != Basis::Silence {
            self.inside.directories.clear();
        }
        ToldDisk::new(inner, self, remembers)
    }

    /// What a question is answered from, and whether its answers are remembered.
    fn stand(&mut self, inner: &dyn Disk, threads: usize) -> (Basis, bool) {
        let Some(basis) = self.pending.take() else { return (Basis::Silence, false) };
        if !cfg!(unix) || inner.confirm() != Confirm::Nothing {
            return (Basis::Unsupported, false);
        }
        if basis == Basis::Wrong {
            return (basis, false);
        }
        let Some(base) = self.base_of(inner) else { return (Basis::Moved, false) };
        if self.inside.base.replace(base).is_some_and(|before| before != base) {
            self.inside.directories.clear();
            return (Basis::Moved, true);
        }
        if basis == Basis::Told
            && !self.inside.directories.is_empty()
            && let Err(path) = spot::check(&mut self.inside, inner, self.options, threads)
        {
            self.inside.counts.wrong += 1;
            self.inside.wrong = path;
            self.is_believed = false;
            return (Basis::Wrong, false);
        }
        (basis, true)
    }

    /// Device and inode of the disk's base, if that is what lies at the base's path, which has no link on it: what lies behind one
    /// may be told of by another name.
    fn base_of(&self, inner: &dyn Disk) -> Option<(u64, u64)> {
        let id = |stat: Stat| match stat {
            Stat::Present(Meta { device, inode, .. }) => Some((device, inode)),
            _ => None,
        };
        let (said, base) = (id(inner.stat(b"."))?, self.inside.spelling.base());
        (id(inner.stat(base))? == said && is_straight(base)).then_some(said)
    }

    /// What was counted.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.inside.counts
    }

    /// What the last question was answered from.
    #[must_use]
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// Whether what is told next will be believed.
    #[must_use]
    pub fn is_believed(&self) -> bool {
        self.is_believed
    }

    /// The last file that was found changed without a word, named as in the question; empty where there was none.
    #[must_use]
    pub fn wrong(&self) -> &[u8] {
        &self.inside.wrong
    }
}
