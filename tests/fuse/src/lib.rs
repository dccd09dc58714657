//! A file system in memory for tests, behind FUSE: it answers late, counts what it is asked, and has bad habits.
//!
//! ```text
//!   Tree      what is there: files, directories, links, with their times, and what is wrong with them
//!   Habits    how it is served: how late, with readdirplus or without, for how long answers may be kept
//!   Mount     both of them at a path, with the counts of what was asked
//! ```
//!
//! Answers are given by another thread than the one that takes the requests, each in its own time: many requests can
//! be under way at once, as on a network.
#![cfg(target_os = "linux")]

mod counts;
mod late;
mod mount;
mod served;
mod tree;

pub use counts::{Asked, Counts};
pub use mount::Mount;
pub use served::{Habits, Names, Plus};
pub use tree::Tree;
