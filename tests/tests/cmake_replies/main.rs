//! What CMake says about build directories: real CMakes of three versions, each with all generators that it has of those
//! that are read.

mod builds;
mod evaluated_globs;
mod names;
mod reading;
mod trouble;
mod verified_globs;
