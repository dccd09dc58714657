//! Why a target has no key.

use std::fmt;

/// Why nobody can say what a target is called in a shared cache, so that it is not looked for there, nor put there. Paths are
/// those of the description.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// It makes the build description itself.
    Generator,
    /// Its command talks to whoever sits at the terminal.
    Console,
    /// A dyndep file has a say in what it reads and writes.
    Dyndep,
    /// It has no outputs, or no command.
    Nothing,
    /// The rule's variables expand to each other without end.
    Rule(Box<str>),
    /// What its command discovers is not known.
    Undiscovered,
    /// This output is not beneath the build directory.
    Outside(Box<[u8]>),
    /// This path is no UTF-8, which names in the cache are.
    NotText(Box<[u8]>),
    /// Its command is no UTF-8.
    CommandNotText,
    /// This path is one that keys mean something else by.
    Named(Box<[u8]>),
    /// Its command has what stands for the root in keys.
    Placeholder,
    /// Its command needs more of a shell than can be followed, so nobody knows which programs it runs. The word.
    Shell(Box<str>),
    /// Its command names this file, which the build makes, but which is not among the inputs.
    Undeclared(Box<[u8]>),
    /// This program of its command is not found.
    Program(Box<[u8]>),
    /// This input is a directory, and nobody knows what of it is read.
    Directory(Box<[u8]>),
    /// This input is not there.
    Missing(Box<[u8]>),
    /// This file cannot be read. What the system says.
    Unreadable(Box<[u8]>, Box<str>),
    /// This file was changed while it was read.
    Changing(Box<[u8]>),
    /// Two names among the inputs contradict each other: one is beneath the other, which is a file.
    Tree(Box<str>),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match self {
            Self::Generator => f.write_str("it makes the build description itself"),
            Self::Console => f.write_str("its command talks to the terminal"),
            Self::Dyndep => f.write_str("a dyndep file says what it reads and writes"),
            Self::Nothing => f.write_str("it has no command, or no outputs"),
            Self::Rule(message) => f.write_str(message),
            Self::Undiscovered => f.write_str("what its command discovers is not known"),
            Self::Outside(path) => {
                write!(f, "its output {} is not beneath the build directory", text(path))
            }
            Self::NotText(path) => write!(f, "the path {} is no UTF-8", text(path)),
            Self::CommandNotText => f.write_str("its command is no UTF-8"),
            Self::Named(path) => write!(f, "the path {} means something else in keys", text(path)),
            Self::Placeholder => f.write_str("its command has what stands for the root in keys"),
            Self::Shell(word) => {
                write!(f, "at '{word}' its command needs more of a shell than can be followed")
            }
            Self::Undeclared(path) => {
                write!(
                    f,
                    "its command names {}, which the build makes and which is not among its inputs",
                    text(path)
                )
            }
            Self::Program(path) => write!(f, "its command's program {} is not found", text(path)),
            Self::Directory(path) => write!(f, "its input {} is a directory", text(path)),
            Self::Missing(path) => write!(f, "its input {} is missing", text(path)),
            Self::Unreadable(path, cause) => write!(f, "reading {}: {cause}", text(path)),
            Self::Changing(path) => write!(f, "{} was changed while it was read", text(path)),
            Self::Tree(name) => write!(f, "{name} is a file to one input and a directory to another"),
        }
    }
}
