//! What a shared cache costs: asking it, publishing and restoring, in turn, against a real bazel-remote on this machine.
//!
//! ```text
//! cargo run --release --package upcheck-rivals --bin cache
//! cargo run --release --package upcheck-rivals --bin cache -- --few 1000 --many 0 --rounds 3
//! cargo run --release --package upcheck-rivals --bin cache -- --rival 'before=/elsewhere/upcheck'
//! ```
//!
//! ```text
//! two builds, few and many targets --> all of both published once, untimed --> rounds, A B C A B C --> table
//! build.rs                             race.rs                                 race.rs             table.rs
//! ```
//!
//! The server keeps its data in memory, and shares the processors with who asks it: of what is measured, a good part is its
//! own work. Times are those of whole processes, but for questions that are asked by this program itself.

#[cfg(unix)]
mod build;
#[cfg(unix)]
mod race;
#[cfg(unix)]
mod table;

#[cfg(unix)]
fn main() -> Result<(), String> {
    race::main()
}

#[cfg(not(unix))]
fn main() -> Result<(), String> {
    Err("what has to do with a cache is measured on Unix".into())
}
