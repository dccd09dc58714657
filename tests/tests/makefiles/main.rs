//! Makefiles of CMake's: what upcheck says is stale, against what make then does. `make -n` misleads there, so make runs.

mod custom;
mod edits;
mod harness;
mod interrupted;
mod odd;
mod random;
