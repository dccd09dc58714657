//! `snapshot push` and `snapshot pull`: a whole build under one name, so that who has pulled asks once.

use super::publish;
use super::transfer::TransferArgs;
use crate::args::{CheckArgs, Common};
use crate::exit::Exit;
use crate::json;
use crate::run::{Trouble, check, warn};
use clap::{Args as ClapArgs, Subcommand};
use upcheck_remote::{Cache, PullError, Settings, Snapshot};

/// The name of a snapshot where none is given.
const NAME: &str = "main";

#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// Publish what is fresh, and put the results of all of it under one name
    Push(PushArgs),
    /// Say what would have to be made here, by the results under that name: `check`, with one question for all of them
    Pull(PullArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PushArgs {
    /// What to call it: a branch, say
    #[arg(long, value_name = "NAME", default_value = NAME)]
    pub(crate) tag: String,
    #[command(flatten)]
    pub(crate) publish: TransferArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PullArgs {
    /// What it is called
    #[arg(long, value_name = "NAME", default_value = NAME)]
    pub(crate) tag: String,
    #[command(flatten)]
    pub(crate) check: CheckArgs,
}

impl SnapshotCommand {
    /// Tells the check, if it is one, which snapshot to ask for.
    pub(crate) fn settle(&mut self) {
        if let Self::Pull(args) = self {
            args.check.snapshot = Some(args.tag.clone());
        }
    }

    /// Whether its answer has names that scripts may want.
    pub(crate) fn has_names(&self) -> bool {
        matches!(self, Self::Pull(_))
    }

    /// The format of its answer, and whether nothing is to be printed.
    pub(crate) fn schema(&self) -> (&'static str, bool) {
        match self {
            Self::Push(_) => (publish::SCHEMA, false),
            Self::Pull(args) => (json::SCHEMA, args.check.quiet),
        }
    }
}

/// Pushes a snapshot, or asks by one.
pub(crate) fn snapshot(common: &Common, asked: &SnapshotCommand) -> Result<Exit, Trouble> {
    match asked {
        SnapshotCommand::Push(args) => publish::publish(common, &args.publish, Some(&args.tag)),
        SnapshotCommand::Pull(args) => check(common, &args.check),
    }
}

/// The snapshot of a name. Where there is none, that is a warning, and each target is asked for itself.
pub(crate) fn pull(common: &Common, name: &str, settings: &Settings, cache: &dyn Cache) -> Snapshot {
    match Snapshot::pull(name, settings, cache) {
        Ok(Some(snapshot)) => return snapshot,
        Ok(None) => warn(common, &[format!("the cache has no snapshot '{name}'")]),
        // Whoever asks for targets next hears the same.
        Err(PullError::Cache(_)) => {}
        Err(error) => warn(common, &[format!("pulling snapshot '{name}': {error}")]),
    }
    Snapshot::default()
}
