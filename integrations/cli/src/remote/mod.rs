//! The shared cache: `check --remote`, `publish` and `restore`.

mod answer;
mod ask;
mod keys;
mod publish;
mod restore;

pub(crate) use answer::Remote;
pub(crate) use ask::{ask, refuse_project};
pub(crate) use keys::KeyArgs;
pub(crate) use publish::{PublishArgs, SCHEMA as PUBLISH_SCHEMA, publish};
pub(crate) use restore::{RestoreArgs, SCHEMA as RESTORE_SCHEMA, restore};
