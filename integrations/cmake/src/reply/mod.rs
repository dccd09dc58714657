//! What CMake says about a build directory, through its File API (`.cmake/api/v1`, from CMake 3.14 on).
//!
//! Source: cmake-file-api(7). Of the replies these are read: `codemodel` version 2 for the names of targets and what they
//! make, `cmakeFiles` version 1 for what CMake itself has read. It does not matter which client asked for them.
//!
//! CMake writes each file under another name first, the index last, and then removes what the index does not name. A CMake
//! that generates without being asked removes all replies. So an index that is there is from the last time CMake
//! generated, unless that was interrupted.

mod cmake_files;
mod codemodel;
mod index;
mod query;
mod usable;

pub use query::write_query;

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
    /// Whether CMake ran again since, and failed (said from CMake 4.1 on). All else here is from the last time it did not.
    pub has_failed_since: bool,
}

/// One of the configurations of a build directory.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// As in "Debug"; may be empty where the generator knows only one.
    pub name: String,
    /// In CMake's order.
    pub targets: Vec<Target>,
    /// Names of targets of which nothing is made, as interface libraries; empty where this CMake does not say (before 4).
    pub abstract_targets: Vec<String>,
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
    /// Files among its sources that rules make, and the first output of each rule that CMake counts among its sources.
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

/// How often a reply is read from its index on, if CMake seems to be writing another one.
const ATTEMPTS: usize = 5;

/// Reads the newest reply of the build directory `build`.
///
/// # Errors
/// When there is none, when it is half-written, older than the files that CMake generated, or written for another directory
/// or by a generator that nobody here can read.
pub fn read(build: &Path) -> Result<Reply, Error> {
    usable::is_build_directory(build)?;
    let mut attempts = 1;
    let reply = loop {
        match attempt(build) {
            // What the index named is gone, or not whole: CMake may have written a new index by now.
            Err(Trouble::Incomplete(_)) if attempts < ATTEMPTS => attempts += 1,
            Err(Trouble::Incomplete(error)) => {
                return Err(Error::Unusable(format!(
                    "{error}: CMake is writing its reply this moment, or was interrupted: {}",
                    usable::run_cmake(build)
                )));
            }
            Err(Trouble::Final(error)) => return Err(error),
            Ok(reply) => break reply,
        }
    };
    usable::is_current(build, &reply.1)?;
    Ok(reply.0)
}

/// Why an attempt failed.
enum Trouble {
    /// Files are missing or not whole: it may be worth another attempt.
    Incomplete(Error),
    /// Another attempt would be the same.
    Final(Error),
}

/// Also the name of the index.
fn attempt(build: &Path) -> Result<(Reply, String), Trouble> {
    let folder = build.join(".cmake/api/v1/reply");
    let found = index::newest(build, &folder).map_err(Trouble::Final)?;
    let index = index::read(build, &folder, &found.name)?;
    let mut reply = Reply {
        cmake_version: index.version,
        is_multi_config: index.is_multi_config,
        generator: index.generator,
        has_failed_since: found.has_failed_since,
        ..Reply::default()
    };
    usable::is_known_generator(build, &reply.generator).map_err(Trouble::Final)?;
    codemodel::read(build, &folder, &index.codemodel, &mut reply)?;
    cmake_files::read(&folder, &index.cmake_files, &mut reply)?;
    Ok((reply, found.name))
}

/// Reads a file of the reply.
fn read_file(path: &Path) -> Result<Vec<u8>, Trouble> {
    std::fs::read(path).map_err(|cause| {
        let path = upcheck::os_path::bytes(path).to_vec();
        let is_gone = cause.kind() == std::io::ErrorKind::NotFound;
        let error = Error::Io { operation: "reading", path, cause };
        if is_gone { Trouble::Incomplete(error) } else { Trouble::Final(error) }
    })
}

/// The JSON of a file of the reply. Where it is not what is expected, it may not be whole.
fn parse<'a, T: serde::Deserialize<'a>>(path: &Path, bytes: &'a [u8]) -> Result<T, Trouble> {
    serde_json::from_slice(bytes).map_err(|error| {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or_default().to_owned();
        Trouble::Incomplete(Error::Content {
            path: upcheck::os_path::bytes(path).to_vec(),
            line: error.line(),
            message,
        })
    })
}

/// What is wrong in a file that is JSON.
fn wrong(path: &Path, message: String) -> Trouble {
    Trouble::Incomplete(Error::Content { path: upcheck::os_path::bytes(path).to_vec(), line: 0, message })
}

/// The name of a file of the reply, which lies in its folder.
fn is_file_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0'])
}

/// `path`, below `base` if it is relative, without `.` and `..`.
fn absolute(base: &[u8], path: &str) -> Vec<u8> {
    let mut path = upcheck::path::join(base, path.as_bytes());
    upcheck::path::canonicalize(&mut path);
    path
}

#[cfg(test)]
mod tests;
