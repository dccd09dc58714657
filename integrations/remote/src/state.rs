//! What travels with a result beside its outputs, and the lists of inputs that commands have discovered.
//!
//! A result carries a [`TargetState`] in the metadata that servers keep without looking at it. A list of discovered inputs
//! is a blob, a [`Discovered`]: many targets have the same.

use upcheck_reapi::Message;
use upcheck_reapi::messages::ActionResult;
use upcheck_reapi::messages::google::Any;

/// The name of the type in a result's metadata.
const TYPE: &str = "type.googleapis.com/upcheck.v1.TargetState";

/// What travels with a result.
#[derive(Clone, PartialEq, Message)]
pub struct TargetState {
    /// The version of this format: 1.
    #[prost(uint32, tag = "1")]
    pub version: u32,
    /// What the command has discovered, sorted by path.
    #[prost(message, repeated, tag = "2")]
    pub discovered: Vec<Input>,
    /// The SHA-256 of the command, with the placeholder in the root's place.
    #[prost(bytes = "vec", tag = "3")]
    pub command_sha256: Vec<u8>,
}

/// An input, and what it held.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Input {
    /// Its path: relative to the build directory, or absolute with a placeholder for the root.
    #[prost(string, tag = "1")]
    pub path: String,
    /// The SHA-256 of what it held.
    #[prost(bytes = "vec", tag = "2")]
    pub sha256: Vec<u8>,
}

/// A list of discovered inputs.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Discovered {
    /// Their paths as in [`Input::path`], sorted, each once.
    #[prost(string, repeated, tag = "1")]
    pub paths: Vec<String>,
}

impl TargetState {
    /// The current version.
    pub(crate) const VERSION: u32 = 1;

    /// As a result carries it.
    pub(crate) fn to_any(&self) -> Any {
        Any { type_url: TYPE.into(), value: self.encode_to_vec() }
    }

    /// What a result carries; `None` for one that carries nothing that can be read: some servers drop it.
    #[must_use]
    pub fn of(result: &ActionResult) -> Option<Self> {
        let any =
            result.execution_metadata.as_ref()?.auxiliary_metadata.iter().find(|any| any.type_url == TYPE)?;
        Self::decode(any.value.as_slice()).ok().filter(|state| state.version == Self::VERSION)
    }
}
