//! Globs: which files match patterns, those that are there, and whether one that is not there would.
//!
//! | pattern | matches |
//! |---|---|
//! | `*` | any characters of one name, also none |
//! | `?` | one byte of a name; characters beyond ASCII have several |
//! | `[a-z_]`, `[!a-z]`, `[^a-z]` | one byte that is, or is not, among these ASCII characters; for itself, `]` stands first, `-` first or last, `\` anywhere |
//! | `**` between slashes | any number of directories, also none; at the end, everything beneath |
//! | `**` elsewhere | what `*` matches |
//! | `{a,b/*.c}` | each of the alternatives; they may be empty, and have braces of their own |
//! | `\x` | `x` itself, which is not `/` |
//! | `!` at the beginning | nothing: what the rest matches is left out, wherever among the patterns it stands |
//!
//! - `*`, `?`, `[` and `\` are as the globset crate has them: it matches bytes, but what stands
//!   between two slashes must be UTF-8 if it has wildcards. What else is said here is our own.
//! - A pattern is matched with the whole path, which is canonical (see [`path::canonicalize`])
//!   and counts from the disk's base; so is the pattern made. `*.c` matches `a.c`, but not `src/a.c`. Patterns that are
//!   absolute or begin with `../` match paths that do.
//! - A name that begins with a dot is only matched where the pattern has that dot, also in what is left out: `**` does not
//!   go into `.git`, and `!**` does not leave out `.git/config`.
//! - Only files match, and links that lead to files. Directories, pipes, sockets and devices do not.
//! - `**` goes into directories, not into links to them, which may lead in circles. All else in a pattern goes through
//!   links. [`Globs::matches`] looks at no disk, so there a link is a directory like any other.
//! - There are no files that say what to ignore.
//! - A directory that cannot be listed, or a link that cannot be followed, is trouble: nobody knows what matches there. One
//!   that is not there, or has just disappeared, is empty.
//!
//! What is asked of the disk: a listing of each directory in which a name with wildcards is looked for, once for all
//! patterns that are expanded together; and what stands at a path, for each match that is a link and for each
//! name without wildcards that is not beneath a `**`. What is left out as a whole (`!out/**`) is not visited.

mod pattern;
mod walk;

pub use pattern::{GlobFault, MOST_ALTERNATIVES};

use crate::collect::Disk;
use crate::path;
use pattern::{Compiled, Pattern};
use std::borrow::Cow;
use std::fmt;

/// Patterns that were understood.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Globs {
    wanted: Vec<Pattern>,
    left_out: Vec<Pattern>,
}

/// A pattern that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobError {
    /// The pattern.
    pub pattern: Vec<u8>,
    /// What is wrong with it.
    pub fault: GlobFault,
}

/// The files that match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expanded {
    paths: Vec<u8>,
    /// Where each path ends.
    ends: Vec<usize>,
    trouble: Vec<(Vec<u8>, i32)>,
}

impl Globs {
    /// Understands patterns.
    ///
    /// # Errors
    /// The first pattern that cannot be understood.
    pub fn new<P: AsRef<[u8]>>(patterns: &[P]) -> Result<Self, GlobError> {
        let mut globs = Self::default();
        let mut compiled = Compiled::default();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let (side, text) = match pattern.strip_prefix(b"!") {
                Some(text) => (&mut globs.left_out, text),
                None => (&mut globs.wanted, pattern),
            };
            let parsed = Pattern::parse(text, &mut compiled)
                .map_err(|fault| GlobError { pattern: pattern.to_vec(), fault })?;
            side.extend(parsed);
        }
        Ok(globs)
    }

    /// Whether a file at that path matches, be it there or not.
    #[must_use]
    pub fn matches(&self, path: &[u8]) -> bool {
        let mut path = Cow::Borrowed(path);
        if !path::is_canonical(&path) {
            path::canonicalize(path.to_mut());
        }
        let (is_absolute, names) = pattern::names(&path);
        let any = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(is_absolute, &names));
        any(&self.wanted) && !any(&self.left_out)
    }

    /// The files on the disk that match, with at most `threads` threads; with 0 there is one per core, and more where the
    /// disk is slow.
    #[must_use]
    pub fn expand(&self, disk: &dyn Disk, threads: usize) -> Expanded {
        expand_all(disk, &[self], threads).pop().unwrap_or_default()
    }
}

/// The files that match each of several globs. A directory that several of them need is listed once.
#[must_use]
pub fn expand_all(disk: &dyn Disk, globs: &[&Globs], threads: usize) -> Vec<Expanded> {
    walk::expand_all(disk, globs, threads)
}

impl Expanded {
    /// The paths, canonical, sorted by their bytes, each once.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let start = |at: usize| at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.ends.iter().enumerate().map(move |(at, end)| &self.paths[start(at)..*end])
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether nothing matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What the disk would not say, sorted: a path, and the operating system's error number. Something may match there.
    #[must_use]
    pub fn trouble(&self) -> &[(Vec<u8>, i32)] {
        &self.trouble
    }
}

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pattern `{}`: {}", String::from_utf8_lossy(&self.pattern), self.fault)
    }
}

impl std::error::Error for GlobError {}

#[cfg(test)]
mod tests;
