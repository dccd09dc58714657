//! The blocking face of a cache: what can be asked of it, and nothing of how.

mod lookups;
mod read;
mod write;

use crate::address::Address;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind};
use crate::link::{LARGEST, Link, Method};
use crate::messages::ActionResult;
use crate::messages::rpc::{GetCapabilitiesRequest, SHA256, SemVer, ServerCapabilities};
use crate::options::Options;
use crate::worker::Worker;
use std::future::Future;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// A cache. It connects when it is asked the first question, asks many at once over that one connection, and may be used
/// by several threads. Dropping it ends the connection and the thread behind it.
///
/// What fails because a server is busy or was restarted is tried again, as often as [`Options::retries`] says; what a server
/// refuses is not.
pub struct Client {
    link: Arc<Link>,
    /// Started with the first question.
    worker: OnceLock<Result<Worker, Error>>,
}

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
    pub fn open(address: &Address, options: Options) -> Result<Self, Error> {
        Ok(Self { link: Arc::new(Link::new(address, options)?), worker: OnceLock::new() })
    }

    /// Where the cache is.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.link.address
    }

    /// What the server says that it can do. Costs one request each time.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn capabilities(&self) -> Result<Capabilities, Error> {
        let question = GetCapabilitiesRequest { instance_name: self.link.address.instance().into() };
        let link = Arc::clone(&self.link);
        self.run(async move {
            let answer = link.ask(Method::CAPABILITIES, &question, LARGEST).await;
            answer.map_err(|failure| link.error(Method::CAPABILITIES, failure))
        })
        .map(|answer: ServerCapabilities| Capabilities::of(&answer))
    }

    /// Which of these blobs are not there, each once, in the order of the question. The server keeps the others a while
    /// longer. Costs a request for each 20,000, of which several are under way at once.
    ///
    /// # Errors
    /// When any of the requests failed.
    pub fn find_missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Error> {
        lookups::find_missing(self, digests)
    }

    /// The results of these actions, in their order; `Ok(None)`: there is none. Costs a request for each, of which
    /// [`Options::max_in_flight`] are under way at once. Where no other could be answered, the rest is not asked.
    pub fn action_results(&self, actions: &[Digest]) -> Vec<Result<Option<ActionResult>, Error>> {
        lookups::action_results(self, actions)
    }

    /// Hands these blobs to `take`, each one once, as they come, each compared with its digest; `Ok(None)`: it is not there.
    /// All of a blob is in memory at once, so somebody else has to see to it that digests do not say too much.
    pub fn read_all(&self, digests: &[Digest], take: &mut dyn FnMut(Digest, Result<Option<Vec<u8>>, Error>)) {
        read::read_all(self, digests, take);
    }

    /// Writes a blob of any size, never more bytes than its digest says; `false`: it is not there. Compared with its digest
    /// when it ends: before that, and after an error, what was written is worth nothing.
    ///
    /// # Errors
    /// When it cannot be fetched or written, or is not what the digest says.
    pub fn read_into(&self, digest: Digest, to: &mut dyn Write) -> Result<bool, Error> {
        read::read_into(self, digest, to)
    }

    /// Stores these blobs, and tells `progress` each time how many bytes more were taken. What the server has already is sent
    /// as well: ask [`Client::find_missing`] first.
    ///
    /// # Errors
    /// When any of them could not be stored; others may have been.
    pub fn write_all(&self, blobs: &[Blob], progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
        write::write_all(self, blobs, progress)
    }

    /// Stores the result of an action. Everything that it names has to be there before, and so have the action and its
    /// command.
    ///
    /// # Errors
    /// When it could not be stored.
    pub fn put_action_result(&self, action: Digest, result: &ActionResult) -> Result<(), Error> {
        write::put_action_result(self, action, result)
    }

    /// Whether who asks may store something: an empty batch is stored to find out.
    ///
    /// # Errors
    /// When the server says neither yes nor no.
    pub fn may_write(&self) -> Result<bool, Error> {
        write::may_write(self)
    }

    /// The thread behind it.
    fn worker(&self) -> Result<&Worker, Error> {
        let started = self.worker.get_or_init(|| {
            Worker::start().map_err(|error| {
                Error::new(ErrorKind::Local, "starting a thread for a connection".into(), error.to_string())
            })
        });
        started.as_ref().map_err(Error::clone)
    }

    /// Waits for something that is done there.
    fn run<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        self.worker()?.run(work).unwrap_or_else(|| Err(self.died()))
    }

    fn died(&self) -> Error {
        let operation = format!("asking {}", self.link.address);
        Error::new(ErrorKind::Local, operation, "what was to wait for the answer has ended")
    }
}

impl Capabilities {
    fn of(answer: &ServerCapabilities) -> Self {
        let cache = answer.cache_capabilities.clone().unwrap_or_default();
        let limit = |bytes: i64| u64::try_from(bytes).ok().filter(|&bytes| bytes > 0);
        let version = |version: &SemVer| format!("{}.{}", version.major, version.minor);
        let names = |numbers: &[i32], names: &[&str]| {
            let name = |&number: &i32| usize::try_from(number).ok().and_then(|number| names.get(number));
            let named =
                |number: &i32| name(number).map_or_else(|| format!("number {number}"), |name| (*name).into());
            numbers.iter().map(named).collect()
        };
        Self {
            digest_functions: names(&cache.digest_functions, FUNCTIONS),
            sha256: cache.digest_functions.contains(&SHA256),
            update_enabled: cache
                .action_cache_update_capabilities
                .is_some_and(|update| update.update_enabled),
            max_batch: limit(cache.max_batch_total_size_bytes),
            max_blob: limit(cache.max_cas_blob_size_bytes),
            compressors: names(&cache.supported_compressors, COMPRESSORS),
            versions: answer
                .low_api_version
                .as_ref()
                .map(version)
                .zip(answer.high_api_version.as_ref().map(version)),
        }
    }
}

const FUNCTIONS: &[&str] = &[
    "unknown",
    "SHA256",
    "SHA1",
    "MD5",
    "VSO",
    "SHA384",
    "SHA512",
    "MURMUR3",
    "SHA256TREE",
    "BLAKE3",
    "GITSHA1",
];
const COMPRESSORS: &[&str] = &["identity", "zstd", "deflate", "brotli"];
