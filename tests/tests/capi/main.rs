//! The C interface: its header and its library say the same, misuse is a status and no crash, nothing leaks, and its answers
//! are those of the Rust interface.

#![allow(unsafe_code, reason = "what is tested is called as from C; each block names the fact it relies on")]

mod c;
mod choices;
mod declared;
mod described;
mod header;
mod layout;
mod ninjas;
mod nulls;
mod panics;
mod programs;
mod replay;
mod sequences;
