//! Answers that rest on listings of directories, as on Windows and macOS, on a disk in memory: what lags behind, and
//! what it costs.

mod behind;
mod calls;
