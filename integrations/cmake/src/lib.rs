//! CMake build directories for [`upcheck`]: what CMake says about them through its File API, and the Makefiles that it
//! writes, as targets of a [`Project`](upcheck::Project).
//!
//! A directory of one of the Ninja generators is read by `upcheck-ninja`; of it this package only tells what the targets
//! are called in CMake, and whether globs have another result than when CMake ran.

#![forbid(unsafe_code)]

mod error;
pub mod globs;
pub mod makefiles;
pub mod names;
pub mod reply;

pub use error::Error;
