//! Asking CMake: it replies the next time it generates.

use super::usable;
use crate::Error;
use std::path::Path;

const QUERY: &str = r#"{"requests": [{"kind": "codemodel", "version": 2}, {"kind": "cmakeFiles", "version": 1}]}
"#;

/// Asks CMake to say what is in `build` the next time it runs there. Only on the user's request: it is the only thing that is
/// written into a build directory.
///
/// # Errors
/// When it is no build directory of CMake, or cannot be written to.
pub fn write_query(build: &Path) -> Result<(), Error> {
    usable::is_build_directory(build)?;
    let folder = build.join(".cmake/api/v1/query/client-upcheck");
    let failed = |operation, path: &Path| {
        let path = upcheck::os_path::bytes(path).to_vec();
        move |cause| Error::Io { operation, path, cause }
    };
    std::fs::create_dir_all(&folder).map_err(failed("making the directory", &folder))?;
    let path = folder.join("query.json");
    if std::fs::read(&path).is_ok_and(|old| old == QUERY.as_bytes()) {
        return Ok(());
    }
    // Under another name first: a CMake that runs at this moment reads all of it or nothing. The new name is no client's.
    let new = folder.join("new.json");
    std::fs::write(&new, QUERY).map_err(failed("writing", &new))?;
    std::fs::rename(&new, &path).map_err(failed("writing", &path))
}
