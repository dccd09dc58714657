//! A visit: one directory with the names wanted in it, as bytes that the operating system takes without a copy.

use super::cost::{self, Costs};
use crate::path;
use std::ffi::CStr;

/// From this length on Unix refuses a path, whether it leads anywhere or not.
const PATH_MAX: usize = 4096;

/// What the path of a directory ends with in a plan. The `/.` makes an automounter mount it, as looking up a file
/// by its full path would: the last part of a path alone does not.
const TAIL: &[u8] = b"/.\0";

/// How the names of a directory are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Each by its path.
    Path,
    /// From a descriptor of the directory.
    Descriptor,
    /// Each by its path, because one of the paths is too long as a whole, although its parts one by one might do.
    /// Such a path is refused even where it leads nowhere.
    TooLong,
    /// From a listing of the directory: what is not in it is missing. Where there is more to list than the visit's
    /// budget, what was not met so far is asked for from a descriptor.
    List,
}

impl How {
    /// The cheapest way that tells the truth. `longest` is the length of the longest name.
    pub(super) fn choose(costs: &Costs, directory: &[u8], names: usize, longest: usize) -> Self {
        let depth = cost::depth(directory);
        let (by_path, by_descriptor) = (costs.by_path(depth, names), costs.by_descriptor(depth, names));
        let is_far_dearer = |listing: u64| by_path.min(by_descriptor) / 2 >= listing;
        if directory.len() + 1 + longest >= PATH_MAX {
            Self::TooLong
        } else if costs.by_listing(depth, names).is_some_and(is_far_dearer) {
            Self::List
        } else if by_descriptor < by_path {
            Self::Descriptor
        } else {
            Self::Path
        }
    }

    /// What the visit costs. Of a listing it is the least: that of a directory with nothing in it but `names`.
    pub(super) fn cost(self, costs: &Costs, directory: &[u8], names: usize) -> u64 {
        let depth = cost::depth(directory);
        match self {
            Self::Path | Self::TooLong => costs.by_path(depth, names),
            Self::Descriptor => costs.by_descriptor(depth, names),
            Self::List => costs.by_listing(depth, names).unwrap_or_default(),
        }
    }

    /// How many entries may be listed.
    pub(super) fn budget(self, costs: &Costs, directory: &[u8], names: usize) -> u32 {
        if self == Self::List { costs.budget(cost::depth(directory), names) } else { 0 }
    }

    /// Whether the directory is opened, so that it is known afterwards whether it is there.
    #[must_use]
    pub fn opens(self) -> bool {
        matches!(self, Self::Descriptor | Self::List)
    }

    pub(super) fn code(self) -> u8 {
        self as u8
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        [Self::Path, Self::Descriptor, Self::TooLong, Self::List].into_iter().find(|how| how.code() == code)
    }
}

/// One directory to visit, with the names wanted in it.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    how: How,
    /// The directory's path and [`TAIL`].
    directory: &'a [u8],
    /// What to ask for, each with a NUL at its end: names where the directory is opened, otherwise whole paths.
    asked: &'a [u8],
    len: usize,
    budget: u32,
}

impl<'a> Visit<'a> {
    pub(super) fn new(how: How, directory: &'a [u8], asked: &'a [u8], len: usize) -> Self {
        Self { how, directory, asked, len, budget: 0 }
    }

    pub(super) fn with_budget(self, budget: u32) -> Self {
        Self { budget, ..self }
    }

    /// How its names are asked for.
    #[must_use]
    pub fn how(self) -> How {
        self.how
    }

    /// Of a visit that lists, how many entries it may list. Beyond that the remaining names are cheaper to ask for
    /// one by one. It may as well ask for all of them like that.
    #[must_use]
    pub fn budget(self) -> u32 {
        self.budget
    }

    /// How many names are wanted.
    #[must_use]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether no name is wanted: only whether the directory is there.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The directory's path; empty for the disk's base.
    #[must_use]
    pub fn directory(self) -> &'a [u8] {
        &self.directory[..self.directory.len() - TAIL.len()]
    }

    /// The directory's path, for the operating system to open it.
    #[must_use]
    pub fn to_open(self) -> &'a CStr {
        match CStr::from_bytes_until_nul(self.directory) {
            Ok(path) if !self.directory().is_empty() => path,
            _ => c".",
        }
    }

    /// What to ask the operating system for: names in the directory if it is to be opened, otherwise whole paths.
    /// The root itself has no name, and its string is empty or `/`.
    #[must_use]
    pub fn asked(self) -> Asked<'a> {
        Asked { rest: self.asked }
    }

    /// All strings of [`Visit::asked`] in a row, each with a NUL at its end: two visits with the same how, directory and
    /// bytes here want the same.
    #[must_use]
    pub fn asked_bytes(self) -> &'a [u8] {
        self.asked
    }

    /// The wanted names.
    pub fn names(self) -> impl Iterator<Item = &'a [u8]> {
        let skipped = if self.how.opens() { 0 } else { prefix_len(self.directory()) };
        self.asked().map(move |asked| &asked.to_bytes()[skipped..])
    }
}

/// The strings of [`Visit::asked`].
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Asked<'a> {
    type Item = &'a CStr;

    #[inline]
    fn next(&mut self) -> Option<&'a CStr> {
        let next = CStr::from_bytes_until_nul(self.rest).ok()?;
        self.rest = &self.rest[next.count_bytes() + 1..];
        Some(next)
    }
}

/// A visit that stands alone, for a single question.
pub(crate) struct Single {
    bytes: Vec<u8>,
    /// Where the directory ends, with its tail.
    end: usize,
    how: How,
    len: usize,
}

impl Single {
    /// Asks for one file by its path.
    pub(crate) fn file(file: &[u8]) -> Self {
        let file = as_seen(file);
        let directory = path::split(file).0;
        let bytes = [directory, TAIL, file, b"\0"].concat();
        Self { bytes, end: directory.len() + TAIL.len(), how: How::Path, len: 1 }
    }

    /// Asks only whether a directory is there.
    pub(crate) fn directory(directory: &[u8]) -> Self {
        let bytes = [directory, TAIL].concat();
        Self { end: bytes.len(), bytes, how: How::Descriptor, len: 0 }
    }

    pub(crate) fn visit(&self) -> Visit<'_> {
        let (directory, asked) = self.bytes.split_at(self.end);
        Visit::new(self.how, directory, asked, self.len)
    }
}

/// A path as far as the operating system sees it: a NUL ends it, there and for every program that will look for
/// the file.
pub(super) fn as_seen(path: &[u8]) -> &[u8] {
    memchr::memchr(0, path).map_or(path, |end| &path[..end])
}

/// How much of a file's path is not its name.
pub(super) fn prefix_len(directory: &[u8]) -> usize {
    // A root ends in the slash that is before the name, others do not: where there are several, as in `a//b`, the last one is
    // the one that is not part of the directory.
    let is_root = directory == b"/" || cfg!(windows) && matches!(directory, b"//" | [_, b':', b'/']);
    directory.len() + usize::from(!directory.is_empty() && !is_root)
}

/// Adds a directory to an arena of directories.
pub(super) fn push_directory(arena: &mut Vec<u8>, directory: &[u8]) {
    arena.extend_from_slice(directory);
    arena.extend_from_slice(TAIL);
}

/// Whether `bytes` are a directory as [`push_directory`] writes it.
pub(super) fn is_directory(bytes: &[u8]) -> bool {
    bytes.strip_suffix(TAIL).is_some_and(|directory| !directory.contains(&0))
}
