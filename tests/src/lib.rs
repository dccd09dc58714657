//! What the suites share: real tools, build directories with times set by hand, and both sides' answers.

pub mod aloud;
pub mod answer;
#[cfg(unix)]
pub mod bazel_remote;
#[cfg(target_os = "linux")]
pub mod by_daemon;
#[cfg(unix)]
pub mod grpc_server;
pub mod moment;
pub mod schemas;
pub mod space;
#[cfg(unix)]
pub mod strict_cache;
pub mod through_c;
pub mod tools;
pub mod twin;
pub mod words;
#[cfg(target_os = "linux")]
pub mod writer;
