//! The C library. Its functions are those of `upcheck-capi`, its header is `include/upcheck.h`.

pub use upcheck_capi::*;
