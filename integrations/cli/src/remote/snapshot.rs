//! `snapshot push` and `snapshot pull`: a whole build under one name, so that who has pulled asks once.

use super::publish::PublishArgs;
use crate::args::{CheckArgs, Common};
use crate::run::warn;
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
    pub(crate) publish: PublishArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PullArgs {
    /// What it is called
    #[arg(long, value_name = "NAME", default_value = NAME)]
    pub(crate) tag: String,
    #[command(flatten)]
    pub(crate) check: CheckArgs,
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
