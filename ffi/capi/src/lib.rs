//! The functions of upcheck's C interface, one file for each section of `upcheck.h`.
//!
//! The header says what they do; here is how. What holds for all of them:
//!
//! - Every function goes through [`border`]: pointers become references and slices there, errors and panics become
//!   statuses.
//! - A function checks all that it was given before it changes anything.
//! - Types have the names of the header. Those that callers see into are `repr(C)`, and their layout is compared with the
//!   header's by the tests; handles are Rust's own.
//!
//! This crate is linked into `libupcheck.so`, `libupcheck.a` and `libupcheck_cxx.a`; Rust programs use [`upcheck`] itself.

#![allow(non_camel_case_types, reason = "the names are those of the header")]
#![allow(unsafe_code, reason = "this is the border to C; each block names the fact it relies on")]
#![allow(clippy::missing_safety_doc, reason = "the header says what callers owe, once for all functions")]
#![warn(unsafe_op_in_unsafe_fn)]

#[cfg(not(panic = "unwind"))]
compile_error!("a panic has to stop at the border to C, which takes panic=unwind");

mod affected;
mod ask;
mod border;
mod build;
mod cancel;
mod check;
mod describe;
mod error;
mod evidence;
mod feed;
mod graph;
mod load;
mod lock;
mod ninja;
mod records;
mod report;
mod snapshot;
#[cfg(feature = "testing")]
pub mod testing;
mod texts;

pub use affected::*;
pub use ask::*;
pub use build::*;
pub use cancel::*;
pub use check::*;
pub use describe::*;
pub use error::*;
pub use evidence::*;
pub use feed::*;
pub use graph::*;
pub use load::*;
pub use lock::*;
pub use records::*;
pub use report::*;
pub use snapshot::*;
pub use texts::*;

use std::ffi::c_char;

/// What the header promises of threads: no handle belongs to one, and many may use what they only read.
const _: fn() = || {
    fn is_for_threads<T: Send + Sync>() {}
    is_for_threads::<upcheck_graph>();
    is_for_threads::<upcheck_records>();
    is_for_threads::<upcheck_report>();
    is_for_threads::<upcheck_build>();
    is_for_threads::<upcheck_cancel>();
    is_for_threads::<upcheck_affected>();
    is_for_threads::<upcheck_answer>();
    is_for_threads::<upcheck_snapshot>();
    is_for_threads::<upcheck_error>();
};

/// The version of the library: major, minor and patch in 8, 12 and 12 bits.
#[unsafe(no_mangle)]
pub extern "C" fn upcheck_version() -> u32 {
    let mut parts = env!("CARGO_PKG_VERSION").split('.').map(|part| part.parse().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    (next() << 24) | (next() << 12) | next()
}

/// The version of the library in words.
#[unsafe(no_mangle)]
pub extern "C" fn upcheck_version_string() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
