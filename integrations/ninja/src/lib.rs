//! Ninja build directories for [`upcheck`].
//!
//! ```no_run
//! use upcheck::collect;
//! use upcheck_ninja::{Build, Options};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let disk = collect::os_disk("build".as_ref())?;
//! let mut build = Build::load(&disk, &Options::default())?;
//! let requests = build.default_requests()?;
//! build.describe(&disk, &requests)?;
//! let snapshot = build.collect(&disk);
//! let decision = build.decide(&snapshot, &requests)?;
//! let report = build.report(&decision);
//! println!("{} of {} targets are stale", report.n_stale, report.n_targets);
//! # Ok(())
//! # }
//! ```
//!
//! Whoever wants what `ninja -n` says, its errors and its early stops included, calls [`dry_run`].

#![forbid(unsafe_code)]

mod again;
mod build;
pub mod build_log;
pub mod command_hash;
pub mod contents;
pub mod deps_log;
pub mod deps_writer;
mod describe;
mod details;
mod dry_run;
mod dyndep;
mod error;
mod kept;
mod lexer;
mod log_time;
pub mod log_writer;
mod logs;
mod manifest;
mod recipe;
pub mod repair;
mod replace_file;
mod requests;
mod scope;
mod source;
mod spelling;
mod version;

pub use again::{Again, Asked};
pub use build::{Build, Options};
pub use dry_run::{DryRun, dry_run};
pub use error::{Error, SyntaxError};
pub use kept::{Draft, Images, LastCheck, Opened, Saved, Summary, open};
pub use recipe::{Discovers, Recipe};
pub use replace_file::replace_file;
pub use version::NinjaVersion;
