//! What can be wrong with a description, a question, or a build that is to be recorded.

use crate::globs::GlobError;
use std::fmt;

/// Why a target cannot be described like that.
#[derive(Debug)]
#[non_exhaustive]
pub enum DescribeError {
    /// A path without a byte.
    EmptyPath,
    /// A path with a NUL in it, which no file can have.
    NulInPath(Vec<u8>),
    /// A path that was said to be canonical and relative to the project's base, and is not.
    NotCanonical(Vec<u8>),
    /// Paths that were to be borrowed, where there are others already.
    NotFirst,
    /// Ends of paths that do not ascend to the end of their bytes.
    Ends,
    /// A path that was said to be there once, and is there twice.
    PathTwice(Vec<u8>),
    /// A target with neither outputs nor a name.
    Nameless,
    /// A phony target with something that only a command can have, in a word: it would go unseen.
    PhonyWith(&'static str),
    /// An output twice in one target.
    OutputTwice(Vec<u8>),
    /// An output of two targets; the name of the other one.
    OutputOfTwo(Vec<u8>, Vec<u8>),
    /// A pattern that is none.
    Glob(GlobError),
    /// There are more of these than fit into 32 bits.
    TooMany(&'static str),
}

/// Why a question has no answer, or a build no record.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProjectError {
    /// What was described is not what its caller said it was.
    Description(DescribeError),
    /// Targets depend on each other: the names along the way, the first one again at the end.
    Cycle(Vec<Vec<u8>>),
    /// A file that was asked about is a source, and is not there.
    MissingSource(Vec<u8>),
    /// A file that was asked about cannot be looked at. The operating system's error number.
    Unreadable(Vec<u8>, i32),
    /// A command ended without making this output of its target.
    OutputNotMade(Vec<u8>),
    /// The command ended without leaving a depfile that can be read. What is wrong, with the path.
    Depfile(Box<str>),
    /// A phony target has nothing to record.
    Phony(Vec<u8>),
    /// The store of records.
    Records(std::io::Error),
}

impl fmt::Display for DescribeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        match self {
            Self::EmptyPath => f.write_str("a path is empty"),
            Self::NulInPath(path) => write!(f, "the path {:?} has a NUL in it", shown(path)),
            Self::NotCanonical(path) => {
                write!(f, "the path '{}' was added as a canonical one and is not", shown(path))
            }
            Self::NotFirst => f.write_str("only the first paths of a project can be borrowed"),
            Self::Ends => f.write_str("the ends of the paths do not ascend to the end of their bytes"),
            Self::PathTwice(path) => write!(f, "the path '{}' was added twice as a new one", shown(path)),
            Self::Nameless => f.write_str("a target has neither outputs nor a name"),
            Self::PhonyWith(what) => write!(f, "a phony target has no {what}: it runs nothing"),
            Self::OutputTwice(path) => write!(f, "'{}' is twice an output of the same target", shown(path)),
            Self::OutputOfTwo(path, other) => {
                write!(
                    f,
                    "'{}' is an output of two targets, the other one is '{}'",
                    shown(path),
                    shown(other)
                )
            }
            Self::Glob(error) => error.fmt(f),
            Self::TooMany(what) => write!(f, "there are more {what} than fit into 32 bits"),
        }
    }
}

impl std::error::Error for DescribeError {}

impl fmt::Display for ProjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        match self {
            Self::Description(error) => error.fmt(f),
            Self::Cycle(names) => {
                let names: Vec<_> = names.iter().map(|name| shown(name)).collect();
                write!(f, "dependency cycle: {}", names.join(" -> "))
            }
            Self::MissingSource(path) => write!(f, "'{}' does not exist and nothing makes it", shown(path)),
            Self::Unreadable(path, errno) => {
                write!(f, "looking at '{}': {}", shown(path), std::io::Error::from_raw_os_error(*errno))
            }
            Self::OutputNotMade(path) => write!(f, "the command did not make '{}'", shown(path)),
            Self::Depfile(message) => f.write_str(message),
            Self::Phony(name) => {
                write!(f, "'{}' is phony: it makes nothing that could be recorded", shown(name))
            }
            Self::Records(error) => write!(f, "the store of records: {error}"),
        }
    }
}

impl std::error::Error for ProjectError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Records(error) => Some(error),
            Self::Description(error) => Some(error),
            _ => None,
        }
    }
}

impl From<std::io::Error> for ProjectError {
    fn from(error: std::io::Error) -> Self {
        Self::Records(error)
    }
}
