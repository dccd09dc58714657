//! The blocking face of a cache: what can be asked of it, and nothing of how.

use crate::address::Address;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind};
use crate::messages::ActionResult;
use crate::options::Options;
use std::io::Write;
use std::path::PathBuf;

/// A cache. It connects when it is asked the first question, asks many at once over that one connection, and may be used
/// by several threads. Dropping it ends the connection and the thread behind it.
///
/// What fails because a server is busy or was restarted is tried again, as often as [`Options::retries`] says; what a server
/// refuses is not.
pub struct Client {}

/// What a server says that it can do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The functions for digests, by their names.
    pub digest_functions: Vec<String>,
    /// Whether SHA-256 is among them, without which nothing can be asked.
    pub sha256: bool,
    /// Whether results may be stored. Servers say so also to those who may not: see [`Client::may_write`].
    pub update_enabled: bool,
    /// The most bytes of blobs in a batch, if it is told.
    pub max_batch: Option<u64>,
    /// The most bytes of one blob, if it is told.
    pub max_blob: Option<u64>,
    /// The ways in which streams may be compressed, by their names.
    pub compressors: Vec<String>,
    /// The earliest and the latest version of the API, as `2.0`.
    pub versions: Option<(String, String)>,
}

/// What is to be stored.
#[derive(Clone, Debug)]
pub enum Blob {
    /// Bytes.
    Bytes {
        /// What names them.
        digest: Digest,
        /// They.
        bytes: Vec<u8>,
    },
    /// A file, which is read when it is sent, and refused if it no longer is what its digest says.
    File {
        /// What names its contents.
        digest: Digest,
        /// Where it is.
        path: PathBuf,
    },
}

impl Blob {
    /// What names it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self {
            Self::Bytes { digest, .. } | Self::File { digest, .. } => *digest,
        }
    }
}

impl Client {
    /// Reads the files that the options name. Nothing is connected yet.
    ///
    /// # Errors
    /// When options contradict each other or the address, or a file cannot be read.
    pub fn open(_address: &Address, _options: Options) -> Result<Self, Error> {
        Ok(Self {})
    }

    /// What the server says that it can do. Costs one request each time.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn capabilities(&self) -> Result<Capabilities, Error> {
        Err(later())
    }

    /// Which of these blobs are not there. The server keeps the others a while longer. Costs a request for each 20,000, of
    /// which several are under way at once.
    ///
    /// # Errors
    /// When any of the requests failed.
    pub fn find_missing(&self, _digests: &[Digest]) -> Result<Vec<Digest>, Error> {
        Err(later())
    }

    /// The results of these actions, in their order; `Ok(None)`: there is none. Costs a request for each, of which
    /// [`Options::max_in_flight`] are under way at once.
    pub fn action_results(&self, actions: &[Digest]) -> Vec<Result<Option<ActionResult>, Error>> {
        actions.iter().map(|_| Err(later())).collect()
    }

    /// Hands these blobs to `take`, each one once, as they come, each compared with its digest; `Ok(None)`: it is not there.
    /// All of a blob is in memory at once.
    pub fn read_all(&self, digests: &[Digest], take: &mut dyn FnMut(Digest, Result<Option<Vec<u8>>, Error>)) {
        digests.iter().for_each(|&digest| take(digest, Err(later())));
    }

    /// Writes a blob of any size, never more bytes than its digest says; `false`: it is not there. Compared with its digest
    /// when it ends: before that, and after an error, what was written is worth nothing.
    ///
    /// # Errors
    /// When it cannot be fetched or written, or is not what the digest says.
    pub fn read_into(&self, _digest: Digest, _to: &mut dyn Write) -> Result<bool, Error> {
        Err(later())
    }

    /// Stores these blobs, and tells `progress` each time how many bytes more are there. What the server has already is sent
    /// as well: ask [`Client::find_missing`] first.
    ///
    /// # Errors
    /// When any of them could not be stored; others may have been.
    pub fn write_all(&self, _blobs: &[Blob], _progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
        Err(later())
    }

    /// Stores the result of an action. Everything that it names has to be there before, and so have the action and its
    /// command.
    ///
    /// # Errors
    /// When it could not be stored.
    pub fn put_action_result(&self, _action: Digest, _result: &ActionResult) -> Result<(), Error> {
        Err(later())
    }

    /// Whether who asks may store something: an empty batch is stored to find out.
    ///
    /// # Errors
    /// When the server says neither yes nor no.
    pub fn may_write(&self) -> Result<bool, Error> {
        Err(later())
    }
}

fn later() -> Error {
    Error::new(ErrorKind::Unreachable, "asking a cache".into(), "not yet")
}
