//! The Makefiles that CMake's generator `Unix Makefiles` writes, as targets of a [`Project`].

use crate::Error;
use crate::globs::Difference;
use upcheck::collect::Disk;
use upcheck::{FileId, Project, TargetId};

/// What stands in the Makefiles beside the rules for files.
#[derive(Clone, Debug)]
pub struct Makefiles {
    /// What `make` makes where no goal is named.
    pub all: FileId,
    /// The target that stands for running CMake again.
    pub configure: TargetId,
    /// Names that `make` and `cmake --build --target` take, with the file that stands for each.
    pub goals: Vec<(Vec<u8>, FileId)>,
}

/// Describes what the Makefiles of the directory at the disk's base say. `globs` is in what globs differ, where the project
/// has any with CONFIGURE_DEPENDS.
///
/// # Errors
/// When they cannot be read, or are not what CMake writes.
pub fn describe(
    disk: &dyn Disk,
    globs: Option<&Difference>,
    project: &mut Project,
) -> Result<Makefiles, Error> {
    let _ = (disk, globs, project);
    Err(Error::Unusable("not yet".into()))
}
