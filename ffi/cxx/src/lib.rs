//! The C++ library, which has the C functions as well.
//!
//! C++ programs include `upcheck/upcheck.hpp`. Below that header is the bridge, and below the bridge are the functions
//! of the C interface: so both interfaces give the same answers, and bugs are stopped in one place.
//!
//! - [`bridge`] says what C++ sees.
//! - [`types`] are the values that are handed over in arrays: those of the C interface.
//! - [`failure`] is how errors get to C++, where they become exceptions.
//! - The rest is one file for each handle.

#![allow(unsafe_code, reason = "this is the border to C++; each block names the fact it relies on")]
#![warn(unsafe_op_in_unsafe_fn)]

mod affected;
#[allow(unreachable_pub, reason = "the macro makes all of it public")]
mod bridge;
mod check;
mod failure;
mod graph;
mod records;
mod report;
mod slices;
mod snapshot;
mod types;

pub use upcheck_capi::*;
