//! Which targets of a build are stale, and why?
//!
//! ```text
//!   describe -> graph -> plan -> collect -> decide -> report
//! ```
//!
//! | step | makes | may touch |
//! |---|---|---|
//! | describe | a [`Graph`] and its [`History`] | what the caller hands in |
//! | plan | a [`Plan`]: which directories to visit, for which names | nothing |
//! | collect | a [`Snapshot`]: one [`Stat`] per file | the disk, and nobody else does |
//! | decide | a [`Decision`]: a [`Verdict`] per target | nothing: no I/O, no clock |
//! | report | a [`Report`]: reasons with evidence, root causes | nothing |
//!
//! A check changes nothing on the disk, and nothing that a later check depends on.
//!
//! Authors of build drivers describe a [`Project`], which also remembers what each target's last success looked like:
//! see [`project`]. Beneath it are the steps, which can be used one by one:
//!
//! ```
//! use upcheck::{Decision, Graph, History, Mode, Plan, Record, Report, TargetDesc, collect};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = std::env::temp_dir().join(format!("upcheck-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir)?;
//! # std::fs::write(dir.join("a.c"), "")?;
//! let mut graph = Graph::default();
//! let (source, object) = (graph.files.intern(b"a.c"), graph.files.intern(b"a.o"));
//! graph
//!     .add_target(TargetDesc { outputs: &[object], explicit: &[source], ..TargetDesc::default() })
//!     .expect("nothing else makes a.o");
//! let mut history = History::default();
//! history.set_record(object, Record { command_hash: 0, mtime: 0 });
//!
//! let plan = Plan::new(&graph.files, graph.files.ids());
//! let snapshot = collect::collect(&collect::os_disk(&dir)?, &plan, 0);
//! let mut decision = Decision::new(&graph, &history, &snapshot, Mode::LookPast);
//! decision.judge_all(&[object]).expect("no cycle");
//! let report = Report::new(&decision, &graph, |_| true);
//! assert_eq!(report.stale[0].reasons[0].code(), "output-missing");
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok(())
//! # }
//! ```

mod affected;
pub mod collect;
mod column;
pub mod content;
mod decide;
pub mod depfile;
mod files;
pub mod globs;
mod graph;
mod history;
mod ids;
pub mod image;
mod needs;
mod os_message;
pub mod os_path;
#[cfg(windows)]
pub mod os_token;
pub mod path;
mod plan;
mod policy;
pub mod project;
mod reason;
pub mod records;
mod report;
mod snapshot;
mod state;
mod threads;
mod users;

pub use affected::{Affected, affected};
pub use column::Column;
pub use decide::{Decision, Likeness, Mode, Settled, Standing, Stop, compare, wants_content};
pub use files::FileTable;
pub use graph::{DuplicateOutput, Flags, Graph, TargetDesc};
pub use history::{
    Discovered, Dyndep, DyndepEntry, History, Record, Recorded, Rule, Spans, Success, Unknown,
};
pub use ids::{FileId, TargetId, narrow};
pub use needs::Needs;
pub use os_message::os_message;
pub use plan::{Arrays, Asked, Costs, Estimate, Explained, How, ListingCosts, Plan, Visit};
pub use policy::Policy;
pub use project::Project;
pub use reason::{Compared, Reason, Verdict};
pub use report::{CauseKind, MOST_CAUSES, Report, RootCause, StaleTarget};
pub use snapshot::{ChangedDirectories, Fields, IoCounts, Meta, Mtime, Snapshot, Stat};
pub use state::{Digest, FileState, is_racy};
pub use users::Users;
