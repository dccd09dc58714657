//! Whether CMake has to run again, as `cmake --check-build-system CMakeFiles/Makefile.cmake` finds it out: a product is
//! missing, or one of the files that the Makefiles were made from is missing or newer than the oldest output.

use super::script::Script;
use super::{Describer, read_if_there};
use crate::Error;
use crate::globs::Difference;
use upcheck::collect::Disk;
use upcheck::project::Description;
use upcheck::{FileId, Policy, Reason, Stat, TargetId};

const CHECK: &[u8] = b"CMakeFiles/Makefile.cmake";
const GLOBS: &[u8] = b"CMakeFiles/cmake.verify_globs";

/// Describes it. Which file stands for it, for those who want it asked about too.
pub(super) fn describe(
    disk: &dyn Disk,
    globs: Option<&Difference>,
    describer: &mut Describer<'_>,
) -> Result<(TargetId, FileId), Error> {
    let bytes = read_if_there(disk, CHECK)?;
    let is_there = bytes.is_some();
    let script = Script::parse(bytes.as_deref().unwrap_or_default(), CHECK)?;
    let mut inputs = describer.files(script.list("CMAKE_MAKEFILE_DEPENDS"))?;
    let mut outputs = describer.files(script.list("CMAKE_MAKEFILE_OUTPUTS"))?;
    outputs.dedup();
    let mut reasons = Vec::new();
    if !is_there {
        reasons.push(Reason::OutputMissing { output: describer.file(CHECK)? });
    }
    for product in script.list("CMAKE_MAKEFILE_PRODUCTS") {
        if matches!(disk.stat(product), Stat::Missing) {
            let output = describer.file(product)?;
            if !reasons.contains(&Reason::OutputMissing { output }) {
                reasons.push(Reason::OutputMissing { output });
            }
        }
    }
    if outputs.is_empty() {
        outputs.push(describer.file(b"Makefile")?);
    }
    if inputs.is_empty() && reasons.is_empty() {
        // Not enough for CMake to tell, so it runs.
        reasons.push(Reason::InputMissing { input: describer.file(CHECK)? });
    }
    if let Some(globs) = globs {
        let verified = describer.file(GLOBS)?;
        let added = describer.files(globs.added.iter().map(Vec::as_slice))?;
        let removed = describer.files(globs.removed.iter().map(Vec::as_slice))?;
        let differs = !added.is_empty() || !removed.is_empty();
        let reason = Reason::InputsDiffer { output: verified, added: added.into(), removed: removed.into() };
        let given = if differs { std::slice::from_ref(&reason) } else { &[] };
        describer.project.add(&Description {
            outputs: &[verified],
            given: Some(given),
            ..Description::default()
        })?;
        if !inputs.contains(&verified) {
            inputs.push(verified);
        }
    }
    let target = describer.project.add(&Description {
        outputs: &outputs,
        explicit: &inputs,
        policy: Some(Policy::Newer),
        given: (!reasons.is_empty()).then_some(&reasons),
        ..Description::default()
    })?;
    Ok((target, outputs[0]))
}
