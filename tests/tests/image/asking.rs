//! The default question, asked with an image and without, and of ninja: the same answer.

use std::time::{Duration, SystemTime};
use upcheck::collect::{Disk, os_disk};
use upcheck::{IoCounts, Meta, Stat, Visit};
use upcheck_ninja::Saved;
use upcheck_tests::answer::{Asked, Later, Question, ask, compare, images};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// When all that is not touched was made. Nanoseconds since 1970.
pub(crate) const OLD: i64 = 1_600_000_000_000_000_000;

/// A build directory with these files, all old, and `build.ninja` among them.
pub(crate) fn space(files: &[(&str, &str)]) -> Space {
    let space = Space::new();
    for (path, content) in files {
        space.write_at(path, content, OLD);
    }
    space
}

/// What became of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Image {
    /// It was enough to see that nothing is stale.
    AtOnce,
    /// It was used, and there was nothing to write.
    Used,
    /// The state was written.
    Updated,
    /// It was made.
    Made,
    /// There is none.
    None,
}

impl Image {
    pub(crate) fn of(asked: &Asked) -> Self {
        match asked.saved {
            Saved::Nothing if asked.is_at_once => Self::AtOnce,
            Saved::Nothing if asked.is_from_image => Self::Used,
            Saved::Nothing => Self::None,
            Saved::State => Self::Updated,
            Saved::Image => Self::Made,
        }
    }
}

/// The answer to the default question, and what became of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) is_fresh: bool,
    pub(crate) image: Image,
}

pub(crate) const fn fresh(image: Image) -> Found {
    Found { is_fresh: true, image }
}

pub(crate) const fn stale(image: Image) -> Found {
    Found { is_fresh: false, image }
}

/// Asks with the image that the last question left, and compares with the answer without one.
#[track_caller]
pub(crate) fn ask_on(disk: &dyn Disk, space: &Space, version: Ninja) -> Found {
    let question = Question::default();
    let without = ask(disk, version, &question, false, None).expect("an answer");
    let with = ask(disk, version, &question, false, Some(&images(space))).expect("an answer");
    assert_eq!(with.details, without.details, "image: {:?}", Image::of(&with));
    Found { is_fresh: with.details.is_fresh(), image: Image::of(&with) }
}

/// The same at a later hour, when every stamp counts; compared with what ninja says, too.
#[track_caller]
pub(crate) fn ask_later(space: &Space, version: Ninja) -> Found {
    let found = ask_on(&Later(os_disk(space.path()).expect("a directory")), space, version);
    compare(space, version, &Question::default());
    found
}

/// The real disk with other times.
pub(crate) struct Times<'a, D> {
    pub(crate) disk: D,
    /// What all times are rounded down to, nanoseconds.
    pub(crate) tick: i64,
    /// Whether files have a time of their status.
    pub(crate) has_ctime: bool,
    /// Files whose times stand still, whatever happens to them, and at what time.
    pub(crate) frozen: (&'a [&'a str], i64),
    /// What time it is, nanoseconds since 1970; `None` for the real time.
    pub(crate) now: Option<i64>,
}

impl<D> Times<'_, D> {
    fn change(&self, path: &[u8], meta: &mut Meta) {
        let (files, time) = self.frozen;
        if files.iter().any(|file| file.as_bytes() == path) {
            (meta.mtime, meta.ctime) = (time, time);
        }
        for time in [&mut meta.mtime, &mut meta.ctime] {
            *time -= time.rem_euclid(self.tick);
        }
        if !self.has_ctime {
            meta.ctime = 0;
        }
    }
}

impl<D: Disk> Disk for Times<'_, D> {
    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        let is_there = self.disk.visit(visit, stats, counts);
        let directory = visit.directory();
        for (name, stat) in visit.names().zip(stats) {
            let path = if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() };
            if let Stat::Present(meta) = stat {
                self.change(&path, meta);
            }
        }
        is_there
    }
    fn read_stamped(&self, path: &[u8]) -> std::io::Result<(Vec<u8>, Meta)> {
        let (bytes, mut meta) = self.disk.read_stamped(path)?;
        self.change(path, &mut meta);
        Ok((bytes, meta))
    }
    fn read_tail(&self, path: &[u8], offset: u64) -> std::io::Result<(Vec<u8>, Meta)> {
        let (bytes, mut meta) = self.disk.read_tail(path, offset)?;
        self.change(path, &mut meta);
        Ok((bytes, meta))
    }
    fn scan(&self, path: &[u8], sink: &mut dyn FnMut(&[u8])) -> std::io::Result<Meta> {
        let mut meta = self.disk.scan(path, sink)?;
        self.change(path, &mut meta);
        Ok(meta)
    }
    fn now(&self) -> SystemTime {
        match self.now {
            Some(now) => {
                SystemTime::UNIX_EPOCH + Duration::from_nanos(u64::try_from(now).expect("after 1970"))
            }
            None => self.disk.now(),
        }
    }
}
