//! Build graphs from JSON for [`upcheck`]: its own form, and `compile_commands.json`.
//!
//! ```
//! use upcheck::Project;
//!
//! let text = br#"{
//!   "version": 1,
//!   "targets": [{"outputs": ["a.o"], "inputs": ["a.c"], "command": "cc -c a.c"}]
//! }"#;
//! let mut project = Project::new();
//! let summary = upcheck_graph::read_slice(text, "graph.json", &mut project)?;
//! assert_eq!(summary.n_targets, 1);
//! assert!(project.lookup(b"a.c").is_some());
//! # Ok::<(), upcheck_graph::Error>(())
//! ```
//!
//! Both readers put what they read straight into the [`Project`](upcheck::Project): paths are interned where the parser
//! finds them, and no document is kept.

#![forbid(unsafe_code)]

mod cl;
mod compile_commands;
mod compiler;
mod error;
mod graph;
mod keys;
mod place;
mod target;
mod texts;
mod words;

pub use compile_commands::{CompileOptions, read_compile_commands};
pub use error::Error;
pub use graph::{Summary, read, read_file, read_slice};
