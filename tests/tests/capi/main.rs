//! The C interface: its header and its library say the same, misuse is a status and no crash, nothing leaks, and its answers
//! are those of the Rust interface.

#![allow(unsafe_code, reason = "what is tested is called as from C; each block names the fact it relies on")]

// These compile C for the system they run on. tests/run-windows does it for Windows.
#[cfg(target_os = "linux")]
mod asks;
#[cfg(unix)]
mod c;
mod choices;
#[cfg(unix)]
mod declared;
mod described;
#[cfg(unix)]
mod header;
#[cfg(unix)]
mod layout;
mod ninjas;
#[cfg(unix)]
mod nulls;
mod panics;
#[cfg(unix)]
mod programs;
mod replay;
mod sequences;
