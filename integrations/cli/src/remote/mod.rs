//! The shared cache: `check --remote`, `publish` and `restore`.

mod answer;
mod ask;
mod keys;
mod publish;

pub(crate) use answer::Remote;
pub(crate) use ask::{ask, refuse_project};
pub(crate) use keys::KeyArgs;
pub(crate) use publish::{PublishArgs, SCHEMA, publish};
