//! What CMake says about a build directory, through its File API (`.cmake/api/v1`, from CMake 3.14 on).
//!
//! Source: cmake-file-api(7). Of the replies these are read: `codemodel` version 2 for the names of targets and what they
//! make, `cmakeFiles` version 1 for what CMake itself has read.

use crate::Error;
use std::path::Path;

/// What CMake has said when it last generated the directory. Paths are absolute.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// As in "3.25.1".
    pub cmake_version: String,
    /// As in "Unix Makefiles".
    pub generator: String,
    /// Whether one directory has several configurations.
    pub is_multi_config: bool,
    /// The top-level source directory.
    pub source: Vec<u8>,
    /// The build directory, as CMake knows it.
    pub build: Vec<u8>,
    /// One for each configuration; exactly one where the generator knows only one.
    pub configurations: Vec<Configuration>,
    /// What CMake has read.
    pub inputs: Vec<Input>,
    /// The globs with CONFIGURE_DEPENDS; `None` where this CMake does not say (before 3.30).
    pub globs: Option<Vec<crate::globs::Glob>>,
}

/// One of the configurations of a build directory.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// As in "Debug"; may be empty where the generator knows only one.
    pub name: String,
    /// In CMake's order.
    pub targets: Vec<Target>,
}

/// A target of CMake.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// Its name, as `cmake --build --target` takes it.
    pub name: String,
    /// In CMake's words: `EXECUTABLE`, `STATIC_LIBRARY`, `UTILITY`, ...
    pub kind: String,
    /// The directory below the build directory in which it is made; empty for the build directory itself.
    pub directory: Vec<u8>,
    /// What it makes for others to use: programs, libraries, objects of object libraries.
    pub artifacts: Vec<Vec<u8>>,
    /// Files among its sources that rules make.
    pub generated: Vec<Vec<u8>>,
    /// Other targets that are made before it, as positions in [`Configuration::targets`].
    pub depends: Vec<usize>,
}

/// A file that CMake has read.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The file.
    pub path: Vec<u8>,
    /// Whether it came with CMake.
    pub is_cmake: bool,
    /// Whether CMake, or the project while being configured, wrote it.
    pub is_generated: bool,
    /// Whether it lies outside the source tree.
    pub is_external: bool,
}

/// Reads the newest reply of the build directory `build`.
///
/// # Errors
/// When there is none, when it is half-written, and when it was written for another directory.
pub fn read(build: &Path) -> Result<Reply, Error> {
    let _ = build;
    Err(Error::Unusable("not yet".into()))
}
