//! The result of a target: its outputs by name. What a cache says is believed for declared outputs only.

use crate::key::Prepared;
use crate::tree::Leaf;
use upcheck::FileId;
use upcheck_reapi::messages::{ExecutedActionMetadata, OutputFile};
use upcheck_reapi::{ActionResult, Digest};

use crate::state::TargetState;

/// An output of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) file: FileId,
    /// Its path from the build directory.
    pub(crate) name: String,
    pub(crate) leaf: Leaf,
}

/// The outputs of a target, in the order of the description; `None` if the result is not one that this target can have: it
/// names anything but exactly the declared outputs, each once, as files, or is one of a failure.
pub(crate) fn outputs_of(prepared: &Prepared, result: &ActionResult) -> Option<Vec<Output>> {
    let ActionResult {
        output_directories,
        output_file_symlinks,
        output_directory_symlinks,
        output_symlinks,
        ..
    } = result;
    let has_others = !output_directories.is_empty()
        || !output_file_symlinks.is_empty()
        || !output_directory_symlinks.is_empty()
        || !output_symlinks.is_empty();
    if has_others || result.exit_code != 0 || result.output_files.len() != prepared.outputs.len() {
        return None;
    }
    let leaf = |file: &OutputFile| {
        let digest = Digest::from_message(file.digest.as_ref()?).ok()?;
        Some(Leaf { digest, is_executable: file.is_executable })
    };
    let named = result.output_files.iter().map(|file| Some((file.path.as_str(), leaf(file)?)));
    let mut leaves: Vec<(&str, Leaf)> = named.collect::<Option<_>>()?;
    leaves.sort_by_key(|(path, _)| *path);
    let of = |(file, name): &(FileId, String)| {
        let at = leaves.binary_search_by_key(&name.as_str(), |(path, _)| path).ok()?;
        Some(Output { file: *file, name: name.clone(), leaf: leaves[at].1 })
    };
    prepared.outputs.iter().map(of).collect()
}

/// The result that is put into the cache for these outputs.
pub(crate) fn result_of(outputs: &[Output], state: Option<&TargetState>) -> ActionResult {
    let mut output_files: Vec<OutputFile> = outputs
        .iter()
        .map(|output| OutputFile {
            path: output.name.clone(),
            digest: Some(output.leaf.digest.to_message()),
            is_executable: output.leaf.is_executable,
            ..OutputFile::default()
        })
        .collect();
    output_files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    ActionResult {
        output_files,
        execution_metadata: Some(ExecutedActionMetadata {
            worker: concat!("upcheck/", env!("CARGO_PKG_VERSION")).into(),
            auxiliary_metadata: state.map(TargetState::to_any).into_iter().collect(),
            ..ExecutedActionMetadata::default()
        }),
        ..ActionResult::default()
    }
}
