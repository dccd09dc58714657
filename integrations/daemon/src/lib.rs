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
//! Only Linux has a daemon yet.

#![forbid(unsafe_code)]

pub mod protocol;

#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod deadline;
#[cfg(target_os = "linux")]
mod place;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod server;
#[cfg(target_os = "linux")]
mod surroundings;
#[cfg(target_os = "linux")]
mod waits;

pub use protocol::{Ask, Reply, Request};

#[cfg(target_os = "linux")]
pub use client::{Asking, NoAnswer, Patience, ask};
#[cfg(target_os = "linux")]
pub use place::{Lock, Place};
#[cfg(target_os = "linux")]
pub use program::Program;
#[cfg(target_os = "linux")]
pub use server::{Answerer, Counts, Ended, Server, Settings};
#[cfg(target_os = "linux")]
pub use surroundings::Surroundings;
#[cfg(target_os = "linux")]
pub use waits::Waits;
