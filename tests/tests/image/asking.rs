//! The default question, asked with an image and without, and of ninja: the same answer.

use upcheck::collect::{Disk, os_disk};
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
