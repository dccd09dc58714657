//! Targets of ninja builds in a shared cache: what they are called there, and how they get there and back.
//!
//! A target is called by what decides how it comes out: see [`Settings`] and the table in `key.rs`. Whether it is there is
//! asked with [`look_up`]; what a build has made is put there with [`publish`]. A cache is not trusted.

#![forbid(unsafe_code)]

mod cache;
mod doubt;
mod files;
mod found;
mod key;
mod levels;
mod lookup;
mod programs;
mod publish;
mod published;
#[cfg(unix)]
mod restore;
mod restored;
mod result;
mod root;
mod runs;
mod snapshot;
mod state;
mod threads;
mod tree;

pub use cache::{Cache, Take};
pub use doubt::Doubt;
pub use found::{Answer, Found, Hit};
pub use key::Settings;
pub use published::{Published, Skip};
#[cfg(unix)]
pub use restore::{Refusal, restore};
pub use restored::{Left, Restored};
pub use root::Root;
pub use snapshot::{PullError, Pushed, Snapshot, Through};
pub use state::{Discovered, Input, TargetState};

use files::Files;
use key::Keys;
use lookup::Lookup;
use publish::Publish;
use runs::Runs;
use upcheck::TargetId;
use upcheck::collect::{Disk, Headway};
use upcheck_ninja::Build;
use upcheck_ninja::contents::Contents;
use upcheck_reapi::Error;

/// A build whose targets are looked for.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The build, whose rules are loaded, and which was described.
    pub build: &'a Build,
    /// Where it is.
    pub disk: &'a dyn Disk,
    /// What all names are relative to.
    pub root: &'a Root,
    /// What keys depend on beside the build.
    pub settings: &'a Settings,
    /// What files held when they were put on record, which spares reading them.
    pub contents: Option<&'a Contents>,
    /// The most threads to read with; 0 for one per core.
    pub threads: usize,
}

impl<'a> Place<'a> {
    fn files(&self) -> Files<'a> {
        Files::new(self.disk, self.root.build_directory(), self.contents, self.threads)
    }
}

/// Asks a cache for stale targets. `stale` has to be all of them: what they make is not on the disk.
///
/// Cost: files that the keys are made of are read, unless records prove what they hold; for each level of stale targets up
/// to four rounds of questions, and one more in the end.
#[must_use]
pub fn look_up(place: &Place<'_>, stale: &[TargetId], cache: &dyn Cache) -> Found {
    let files = place.files();
    Lookup::new(Keys::new(place.build, place.root, place.settings), &files, cache).run(stale)
}

/// Puts fresh targets into a cache, or only says what would be put there. `fresh` are targets that ninja's rules call fresh,
/// by the records of the ninja that made them. `headway` is told how many bytes there are to
/// send, and how many were sent.
///
/// # Errors
/// When the cache does not answer, or takes no more. What was put there until then is complete.
pub fn publish(
    place: &Place<'_>,
    fresh: &[TargetId],
    cache: &dyn Cache,
    is_dry: bool,
    headway: &dyn Headway,
) -> Result<Published, Error> {
    let files = place.files();
    let runs = Runs::read(place.build, place.disk);
    let keys = Keys::new(place.build, place.root, place.settings);
    Publish { keys, files: &files, cache, runs, is_dry }.run(fresh, headway)
}

/// Puts fresh targets into a cache, as [`publish`] does, and the results of all of them that are there then under one name.
///
/// # Errors
/// As [`publish`].
pub fn push_snapshot(
    place: &Place<'_>,
    fresh: &[TargetId],
    name: &str,
    cache: &dyn Cache,
    headway: &dyn Headway,
) -> Result<(Published, Pushed), Error> {
    let mut published = publish(place, fresh, cache, false, headway)?;
    let entries = std::mem::take(&mut published.entries);
    let pushed = snapshot::push(name, place.settings, entries, cache, headway)?;
    Ok((published, pushed))
}
