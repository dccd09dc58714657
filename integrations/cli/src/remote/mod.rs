//! The shared cache: `check --remote`, `publish`, `restore`, and snapshots.

mod answer;
mod ask;
mod keys;
mod publish;
mod restore;
mod snapshot;

pub(crate) use answer::Remote;
pub(crate) use ask::{ask, refuse_project};
pub(crate) use keys::KeyArgs;
pub(crate) use publish::{PublishArgs, SCHEMA as PUBLISH_SCHEMA, publish};
pub(crate) use restore::{RestoreArgs, SCHEMA as RESTORE_SCHEMA, restore};
pub(crate) use snapshot::SnapshotCommand;
