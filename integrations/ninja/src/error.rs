//! What can go wrong, with operation, path and cause.

use std::fmt;
use upcheck::os_message;

/// An error that keeps a build directory from being judged.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file does not follow its grammar.
    Syntax(Box<SyntaxError>),
    /// A file cannot be read.
    Read {
        /// What was under way, as in "loading".
        operation: &'static str,
        /// The file.
        path: Vec<u8>,
        /// The operating system's answer.
        cause: std::io::Error,
    },
    /// Ninja would not go on either, and this is what it would say.
    Refused(String),
}

/// Where and how a file departs from its grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The file.
    pub path: Vec<u8>,
    /// Line, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The line itself, without its end.
    pub text: Vec<u8>,
}

/// Longest piece of a line that is shown with a syntax error, in bytes.
const MOST_CONTEXT: usize = 100;

impl SyntaxError {
    /// Describes the place `at` of `text`. Cost: a scan up to it.
    #[must_use]
    pub fn new(path: &[u8], text: &[u8], at: usize, message: impl Into<String>) -> Self {
        let at = at.min(text.len());
        let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |newline| start + newline);
        let line_text = &text[start..end];
        Self {
            path: path.to_vec(),
            line: memchr::memchr_iter(b'\n', &text[..start]).count() + 1,
            column: at - start + 1,
            message: message.into(),
            text: line_text.strip_suffix(b"\r").unwrap_or(line_text).to_vec(),
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, column, message, text } = self;
        writeln!(f, "{}:{line}:{column}: {message}", String::from_utf8_lossy(path))?;
        // A window of the line that has the place in it.
        let from = (column - 1).saturating_sub(MOST_CONTEXT * 3 / 4);
        let to = text.len().min(from + MOST_CONTEXT);
        let shown = String::from_utf8_lossy(text.get(from..to).unwrap_or_default());
        let before = String::from_utf8_lossy(text.get(from..column - 1).unwrap_or_default());
        let indent: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let shown: String =
            shown.chars().map(|c| if c.is_control() && c != '\t' { '?' } else { c }).collect();
        write!(f, "  | {shown}\n  | {indent}^ near here")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => error.fmt(f),
            Self::Read { operation, path, cause } => {
                write!(f, "{operation} '{}': {}", String::from_utf8_lossy(path), os_message(cause))
            }
            Self::Refused(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
