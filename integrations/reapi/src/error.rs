//! Why a cache gave no answer, in words, with the whole chain of causes.

use std::fmt;
use std::sync::Arc;

/// Why there is no answer. It can be handed to everybody who waits for the same.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

struct Inner {
    kind: ErrorKind,
    operation: String,
    cause: String,
    hint: Option<&'static str>,
}

/// What went wrong, as far as it makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Options make no sense, or a file that they name cannot be read.
    Configuration,
    /// There is no connection: nobody listens, no such host, no answer in time.
    Unreachable,
    /// There is no trust: a certificate is not believed, by either side, or one side speaks TLS and the other does not.
    Tls,
    /// The server does not know who asks, or does not allow it.
    Refused,
    /// Something answers, but it is no cache: an HTTP port, a proxy, another gRPC server.
    NotACache,
    /// The server was reached, and then was silent for too long.
    Stalled,
    /// The server failed, and kept failing.
    Server,
    /// The server's answer makes no sense.
    BrokenAnswer,
    /// Bytes are not those that the digest is of.
    Corrupt,
    /// A file on this side cannot be read, or what bytes were to be written to failed.
    Local,
    /// A file on this side is no longer what its digest says.
    Changed,
}

impl ErrorKind {
    /// Whether every other question would fail the same way, so that none is worth asking.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(
            self,
            Self::Configuration
                | Self::Unreachable
                | Self::Tls
                | Self::Refused
                | Self::NotACache
                | Self::Stalled
        )
    }
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, operation: String, cause: impl Into<String>) -> Self {
        Self(Arc::new(Inner { kind, operation, cause: cause.into(), hint: None }))
    }

    pub(crate) fn with_hint(
        kind: ErrorKind,
        operation: String,
        cause: String,
        hint: Option<&'static str>,
    ) -> Self {
        Self(Arc::new(Inner { kind, operation, cause, hint }))
    }

    /// The same of another kind, and with a hint if there is none.
    pub(crate) fn or_else(self, kind: ErrorKind, hint: &'static str) -> Self {
        let hint = self.0.hint.or(Some(hint));
        Self::with_hint(kind, self.0.operation.clone(), self.0.cause.clone(), hint)
    }

    /// What went wrong, as far as it makes a difference.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What was tried, and where.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.0.operation
    }

    /// Why it failed: each cause behind what it caused.
    #[must_use]
    pub fn cause(&self) -> &str {
        &self.0.cause
    }

    /// What is probably wrong, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        self.0.hint
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.operation, self.0.cause)?;
        match self.0.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {}
