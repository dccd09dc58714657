//! The shared cache: `check --remote`, `publish`, `restore`, snapshots, and what is asked of a cache itself.
//!
//! Where upcheck is built without it, `without_remote.rs` stands in its place.

mod answer;
mod args;
mod ask;
mod doctor;
mod keys;
mod publish;
mod restore;
mod show;
mod snapshot;
mod transfer;

pub(crate) use answer::Remote;
pub(crate) use args::RemoteArgs;
pub(crate) use ask::{ask, refuse_project};
pub(crate) use keys::KeyArgs;
pub(crate) use publish::SCHEMA as PUBLISH_SCHEMA;
pub(crate) use restore::{SCHEMA as RESTORE_SCHEMA, restore};
pub(crate) use snapshot::{SnapshotCommand, snapshot};
pub(crate) use transfer::TransferArgs;

use crate::args::Common;
use crate::exit::Exit;
use crate::run::Trouble;
use clap::Subcommand;

const DOCTOR_EXIT_STATUS: &str =
    "Exit status: 0 nothing to worry about, 1 warnings, 2 the cache cannot be used.";

const SHOW_EXIT_STATUS: &str = "Exit status: 0 it is there, 1 nothing is there, 2 trouble.";

/// What is done about a cache itself.
#[derive(Debug, Subcommand)]
pub(crate) enum RemoteCommand {
    /// Say step by step whether a cache can be reached, trusted and asked
    #[command(after_help = DOCTOR_EXIT_STATUS)]
    Doctor(doctor::RemoteDoctorArgs),
    /// Show what a cache has under a digest: an action, its command, its inputs, its result
    #[command(after_help = SHOW_EXIT_STATUS)]
    Show(show::RemoteShowArgs),
}

impl RemoteCommand {
    /// The format of its answer, and whether nothing is to be printed.
    pub(crate) fn schema(&self) -> (&'static str, bool) {
        match self {
            Self::Doctor(_) => (doctor::SCHEMA, false),
            Self::Show(_) => (show::SCHEMA, false),
        }
    }
}

/// Puts what is fresh into the cache.
pub(crate) fn publish(common: &Common, args: &TransferArgs) -> Result<Exit, Trouble> {
    publish::publish(common, args, None)
}

/// Examines a cache, or what is in it.
pub(crate) fn examine(common: &Common, asked: &RemoteCommand) -> Result<Exit, Trouble> {
    match asked {
        RemoteCommand::Doctor(asked) => doctor::doctor(common, asked),
        RemoteCommand::Show(asked) => show::show(common, asked),
    }
}
