//! Requests and answers. [`crate::Client`] makes and reads them; they are public for whoever writes a server for tests.

use super::google::Status;
use super::{ActionResult, Digest};
use prost::Message;
use prost::bytes::Bytes;

/// The number of SHA-256 among the functions that make digests.
pub const SHA256: i32 = 1;
/// The number of "not compressed" among the ways to compress.
pub const IDENTITY: i32 = 0;

/// Asks what a server can do.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct GetCapabilitiesRequest {
    /// The instance.
    #[prost(string, tag = "1")]
    pub instance_name: String,
}

/// What a server can do.
#[derive(Clone, PartialEq, Message)]
pub struct ServerCapabilities {
    /// As a cache.
    #[prost(message, optional, tag = "1")]
    pub cache_capabilities: Option<CacheCapabilities>,
    /// The earliest version of the API that it speaks.
    #[prost(message, optional, tag = "4")]
    pub low_api_version: Option<SemVer>,
    /// The latest version of the API that it speaks.
    #[prost(message, optional, tag = "5")]
    pub high_api_version: Option<SemVer>,
}

/// What a server can do as a cache.
#[derive(Clone, PartialEq, Message)]
pub struct CacheCapabilities {
    /// The functions that make digests.
    #[prost(int32, repeated, tag = "1")]
    pub digest_functions: Vec<i32>,
    /// Whether results may be stored.
    #[prost(message, optional, tag = "2")]
    pub action_cache_update_capabilities: Option<ActionCacheUpdateCapabilities>,
    /// The most bytes of blobs in a batch; 0: no limit but that of the server's gRPC library.
    #[prost(int64, tag = "4")]
    pub max_batch_total_size_bytes: i64,
    /// Whether targets of links may be absolute: 2 if so.
    #[prost(int32, tag = "5")]
    pub symlink_absolute_path_strategy: i32,
    /// The ways to compress streams.
    #[prost(int32, repeated, tag = "6")]
    pub supported_compressors: Vec<i32>,
    /// The ways to compress blobs in batches.
    #[prost(int32, repeated, tag = "7")]
    pub supported_batch_update_compressors: Vec<i32>,
    /// The most bytes of a blob; 0: not told.
    #[prost(int64, tag = "8")]
    pub max_cas_blob_size_bytes: i64,
}

/// Whether results may be stored. Some servers say so to everybody.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct ActionCacheUpdateCapabilities {
    /// Whether they may.
    #[prost(bool, tag = "1")]
    pub update_enabled: bool,
}

/// A version.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct SemVer {
    /// Its first number.
    #[prost(int32, tag = "1")]
    pub major: i32,
    /// Its second number.
    #[prost(int32, tag = "2")]
    pub minor: i32,
    /// Its third number.
    #[prost(int32, tag = "3")]
    pub patch: i32,
    /// What stands behind the numbers.
    #[prost(string, tag = "4")]
    pub prerelease: String,
}

/// Asks for a result.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct GetActionResultRequest {
    /// The instance.
    #[prost(string, tag = "1")]
    pub instance_name: String,
    /// The digest of the action.
    #[prost(message, optional, tag = "2")]
    pub action_digest: Option<Digest>,
    /// Whether what it printed is to be in the answer.
    #[prost(bool, tag = "3")]
    pub inline_stdout: bool,
    /// Whether what it printed as errors is to be in the answer.
    #[prost(bool, tag = "4")]
    pub inline_stderr: bool,
    /// The files whose contents are to be in the answer.
    #[prost(string, repeated, tag = "5")]
    pub inline_output_files: Vec<String>,
    /// The function that made the digest.
    #[prost(int32, tag = "6")]
    pub digest_function: i32,
}

/// Stores a result.
#[derive(Clone, PartialEq, Message)]
pub struct UpdateActionResultRequest {
    /// The instance.
    #[prost(string, tag = "1")]
    pub instance_name: String,
    /// The digest of the action.
    #[prost(message, optional, tag = "2")]
    pub action_digest: Option<Digest>,
    /// The result.
    #[prost(message, optional, tag = "3")]
    pub action_result: Option<ActionResult>,
    /// The function that made the digest.
    #[prost(int32, tag = "5")]
    pub digest_function: i32,
}

/// Asks which blobs are not there.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct FindMissingBlobsRequest {
    /// The instance.
    #[prost(string, tag = "1")]
    pub instance_name: String,
    /// The blobs.
    #[prost(message, repeated, tag = "2")]
    pub blob_digests: Vec<Digest>,
    /// The function that made the digests.
    #[prost(int32, tag = "3")]
    pub digest_function: i32,
}

/// Says which blobs are not there.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct FindMissingBlobsResponse {
    /// They.
    #[prost(message, repeated, tag = "2")]
    pub missing_blob_digests: Vec<Digest>,
}

/// Stores blobs.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct BatchUpdateBlobsRequest {
    /// The instance.
    #[prost(string, tag = "1")]
    pub instance_name: String,
    /// The blobs.
    #[prost(message, repeated, tag = "2")]
    pub requests: Vec<UpdateBlob>,
    /// The function that made the digests.
    #[prost(int32, tag = "5")]
    pub digest_function: i32,
}

/// A blob that is to be stored.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct UpdateBlob {
    /// Its digest.
    #[prost(message, optional, tag = "1")]
    pub digest: Option<Digest>,
    /// Its bytes.
    #[prost(bytes = "bytes", tag = "2")]
    pub data: Bytes,
    /// How they are compressed.
    #[prost(int32, tag = "3")]
    pub compressor: i32,
}

/// Says how storing each blob ended.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct BatchUpdateBlobsResponse {
    /// One for each.
    #[prost(message, repeated, tag = "1")]
    pub responses: Vec<UpdatedBlob>,
}

/// Says how storing a blob ended.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct UpdatedBlob {
    /// Its digest.
    #[prost(message, optional, tag = "1")]
    pub digest: Option<Digest>,
    /// How it ended.
    #[prost(message, optional, tag = "2")]
    pub status: Option<Status>,
}

/// Asks for blobs.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct BatchReadBlobsRequest {
    /// The instance.
    #[prost(string, tag = "1")]
    pub instance_name: String,
    /// The blobs.
    #[prost(message, repeated, tag = "2")]
    pub digests: Vec<Digest>,
    /// The ways in which they may be compressed.
    #[prost(int32, repeated, tag = "3")]
    pub acceptable_compressors: Vec<i32>,
    /// The function that made the digests.
    #[prost(int32, tag = "4")]
    pub digest_function: i32,
}

/// Has blobs.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct BatchReadBlobsResponse {
    /// One for each.
    #[prost(message, repeated, tag = "1")]
    pub responses: Vec<ReadBlob>,
}

/// Has a blob, or says why not.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct ReadBlob {
    /// Its digest.
    #[prost(message, optional, tag = "1")]
    pub digest: Option<Digest>,
    /// Its bytes.
    #[prost(bytes = "bytes", tag = "2")]
    pub data: Bytes,
    /// How it ended.
    #[prost(message, optional, tag = "3")]
    pub status: Option<Status>,
    /// How the bytes are compressed.
    #[prost(int32, tag = "4")]
    pub compressor: i32,
}

/// Asks for a blob, from an offset on. This one and the next are of `google.bytestream`.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct ReadRequest {
    /// Names the blob.
    #[prost(string, tag = "1")]
    pub resource_name: String,
    /// The bytes to leave out.
    #[prost(int64, tag = "2")]
    pub read_offset: i64,
    /// The most bytes to answer; 0: all.
    #[prost(int64, tag = "3")]
    pub read_limit: i64,
}

/// Has the next bytes of a blob.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct ReadResponse {
    /// They.
    #[prost(bytes = "bytes", tag = "10")]
    pub data: Bytes,
}

/// Has the next bytes of a blob that is to be stored.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct WriteRequest {
    /// Names the blob, in the first one.
    #[prost(string, tag = "1")]
    pub resource_name: String,
    /// How many bytes came before.
    #[prost(int64, tag = "2")]
    pub write_offset: i64,
    /// Whether these are the last.
    #[prost(bool, tag = "3")]
    pub finish_write: bool,
    /// The bytes.
    #[prost(bytes = "bytes", tag = "10")]
    pub data: Bytes,
}

/// Says how much of a blob is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Message)]
pub struct WriteResponse {
    /// Bytes; -1 where it was there and was to come compressed.
    #[prost(int64, tag = "1")]
    pub committed_size: i64,
}

/// Who asks: travels beside each request.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct RequestMetadata {
    /// The program.
    #[prost(message, optional, tag = "1")]
    pub tool_details: Option<ToolDetails>,
}

/// A program.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct ToolDetails {
    /// Its name.
    #[prost(string, tag = "1")]
    pub tool_name: String,
    /// Its version.
    #[prost(string, tag = "2")]
    pub tool_version: String,
}
