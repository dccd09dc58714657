//! Asking a process that remembers: the daemon of upcheck, and whoever asks it.
//!
//! ```text
//!   client                                     server
//!   finds the place, connects      ------->    looks whose process that is
//!   asks                           ------->    looks whether both are the same program, and see the same files
//!   waits, a moment at a time      <-------    busy, busy, ...
//!   prints                         <-------    the answer, or: not from me
//! ```
//!
//! The daemon never decides an answer: whoever gets none, or none in time, finds it out himself. What the answers are
//! is up to an [`Answerer`], and what it may take for unchanged is up to a [`Feed`]; this package brings questions and
//! answers together, and keeps everybody else away.
//!
//! They meet at a Unix socket, on Windows at a named pipe: `transport` has what differs, and `place` where that is.

pub mod protocol;

#[cfg_attr(unix, path = "apart/unix.rs")]
#[cfg_attr(windows, path = "apart/windows.rs")]
mod apart;
mod client;
mod deadline;
mod identity;
mod memory;
mod place;
mod program;
mod server;
mod surroundings;
#[cfg(windows)]
mod token;
mod transport;
mod waits;

pub use protocol::{Ask, Reply, Request};

#[cfg(unix)]
pub use apart::close_inherited;
#[cfg(windows)]
pub use apart::keep_own_streams;
pub use client::{Asking, NoAnswer, Patience, ask};
pub use identity::identity;
pub use place::{Lock, Place};
pub use program::Program;
pub use server::{Answerer, Counts, Ended, Server, Settings};
pub use surroundings::Surroundings;
pub use waits::Waits;
