//! `file(GLOB ... CONFIGURE_DEPENDS)`: whether a glob matches other files than when CMake ran.

/// A glob, and what it matched.
#[derive(Clone, Debug, Default)]
pub struct Glob {
    /// As in `/src/*.c`.
    pub expression: String,
    /// Whether it goes down into directories.
    pub recurse: bool,
    /// Whether directories count.
    pub list_directories: bool,
    /// Whether it follows links to directories.
    pub follow_symlinks: bool,
    /// What results are relative to.
    pub relative: Option<String>,
    /// What it matched, sorted.
    pub paths: Vec<Vec<u8>>,
}

/// In what the globs of a build directory differ from when CMake ran. Absolute paths.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// What they match now and did not.
    pub added: Vec<Vec<u8>>,
    /// What they matched and do not any more.
    pub removed: Vec<Vec<u8>>,
}
