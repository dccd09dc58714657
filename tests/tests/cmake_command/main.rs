//! `upcheck` in build directories of CMake: real CMakes of three versions, with Makefiles and both of ninja's generators.

#[path = "../command/mod.rs"]
mod command;

mod names;
mod project;
mod running;
mod trouble;
