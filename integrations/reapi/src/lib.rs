//! A client of caches that speak the Remote Execution API v2 over gRPC: bazel-remote and its like.
//!
//! It asks what is there, and fetches and stores blobs and the results of actions; it runs nothing, and judges nothing.
//! Every function blocks: what the connection needs of threads and runtimes is hidden behind [`Client`].
//!
//! A cache is not trusted. What comes from one is compared with the digest that was asked for, is never longer than that
//! says, and paths in it are handed on as they are: whoever writes files by them has to look at them first.

#![forbid(unsafe_code)]

mod address;
mod batch;
mod client;
mod credentials;
mod digest;
mod error;
mod fault;
mod link;
pub mod messages;
mod options;
mod pool;
mod progress;
mod secret;
mod worker;

pub use address::{Address, AddressError, Place};
pub use client::{Blob, Capabilities, Client};
pub use digest::{Digest, DigestError, encode};
pub use error::{Error, ErrorKind};
pub use messages::ActionResult;
pub use options::{Header, Netrc, Options};
pub use prost::Message;
pub use secret::Secret;
