//! What is asked of a cache, so that tests can put another one in its place.

use std::io::Write;
use upcheck_reapi::{ActionResult, Blob, Client, Digest, Error};

/// What a read in bulk hands its blobs to: `Ok(None)` for one that is not there.
pub type Take<'a> = dyn FnMut(Digest, Result<Option<Vec<u8>>, Error>) + 'a;

/// A cache. See [`Client`], whose functions these are.
pub trait Cache: Sync {
    /// Which of these blobs are not there.
    ///
    /// # Errors
    /// When any of the requests failed.
    fn find_missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Error>;

    /// The results of these actions, in their order.
    fn action_results(&self, actions: &[Digest]) -> Vec<Result<Option<ActionResult>, Error>>;

    /// Hands these blobs to `take`, each one once, in any order.
    fn read_all(&self, digests: &[Digest], take: &mut Take<'_>);

    /// Writes a blob of any size; `false`: it is not there.
    ///
    /// # Errors
    /// When it cannot be fetched or written, or is not what the digest says.
    fn read_into(&self, digest: Digest, to: &mut dyn Write) -> Result<bool, Error>;

    /// Stores these blobs, and tells `progress` each time how many bytes more are there.
    ///
    /// # Errors
    /// When any of them could not be stored.
    fn write_all(&self, blobs: &[Blob], progress: &mut dyn FnMut(u64)) -> Result<(), Error>;

    /// Stores the result of an action.
    ///
    /// # Errors
    /// When it could not be stored.
    fn put_action_result(&self, action: Digest, result: &ActionResult) -> Result<(), Error>;
}

impl Cache for Client {
    fn find_missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Error> {
        Self::find_missing(self, digests)
    }

    fn action_results(&self, actions: &[Digest]) -> Vec<Result<Option<ActionResult>, Error>> {
        Self::action_results(self, actions)
    }

    fn read_all(&self, digests: &[Digest], take: &mut Take<'_>) {
        Self::read_all(self, digests, take);
    }

    fn read_into(&self, digest: Digest, to: &mut dyn Write) -> Result<bool, Error> {
        Self::read_into(self, digest, to)
    }

    fn write_all(&self, blobs: &[Blob], progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
        Self::write_all(self, blobs, progress)
    }

    fn put_action_result(&self, action: Digest, result: &ActionResult) -> Result<(), Error> {
        Self::put_action_result(self, action, result)
    }
}
