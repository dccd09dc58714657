//! Graphs in JSON and compilation databases: what is read is judged, what is damaged is refused with its place.

mod agreement;
mod checked;
mod compile_commands;
mod memory;
mod mutations;
mod real;
