//! Whether there is a reply that can be believed, and what to do if not.

use crate::Error;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::Path;

/// What is in every directory that CMake has configured.
pub(super) fn is_build_directory(build: &Path) -> Result<(), Error> {
    let cache = build.join("CMakeCache.txt");
    match std::fs::metadata(&cache) {
        Ok(_) => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            let what = if build.is_dir() { "it has no CMakeCache.txt" } else { "there is no such directory" };
            Err(Error::Unusable(format!("'{}' is no build directory of CMake: {what}", build.display())))
        }
        Err(cause) => Err(reading(&cache, cause)),
    }
}

/// Why there is no reply.
pub(super) fn no_reply(build: &Path, has_failed: bool) -> Error {
    // A reply would not help.
    let generator = generator_in_cache(build);
    if let Some(Err(error)) = generator.map(|generator| is_known_generator(build, &generator)) {
        return error;
    }
    let shown = build.display();
    let (cmake, is_asked) = (run_cmake(build), is_asked(build));
    Error::Unusable(match (has_failed, is_asked) {
        (true, true) => {
            format!("CMake failed the last time it ran in '{shown}', and has left no reply: {cmake}")
        }
        (_, true) => {
            format!(
                "CMake was asked what is in '{shown}', but has not run since, or did not get to the end: {cmake}"
            )
        }
        (_, false) => format!(
            "CMake was not asked what is in '{shown}': run `upcheck -C {} --write-query`, then {}",
            quoted(build),
            cmake.strip_prefix("run ").unwrap_or(&cmake)
        ),
    })
}

/// Whether there is a query for what is needed, by whomever.
fn is_asked(build: &Path) -> bool {
    let query = build.join(".cmake/api/v1/query");
    query.join("client-upcheck/query.json").exists()
        || ["codemodel-v2", "cmakeFiles-v1"].iter().all(|name| query.join(name).exists())
}

/// The advice to do so.
pub(super) fn run_cmake(build: &Path) -> String {
    format!("run `cmake {}`", quoted(build))
}

/// As a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c) || (cfg!(windows) && c == '\\');
    match !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        true => text,
        // There no name has a double quote in it.
        false if cfg!(windows) => format!("\"{text}\""),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// The generator's name, as the cache has it.
fn generator_in_cache(build: &Path) -> Option<String> {
    let cache = std::fs::read(build.join("CMakeCache.txt")).ok()?;
    // On Windows its lines end in two bytes.
    let mut lines = cache.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let name = lines.find_map(|line| line.strip_prefix(b"CMAKE_GENERATOR:INTERNAL="))?;
    Some(String::from_utf8_lossy(name).into_owned())
}

/// Whether its files can be read here.
pub(super) fn is_known_generator(build: &Path, generator: &str) -> Result<(), Error> {
    match generator {
        "Unix Makefiles" | "Ninja" | "Ninja Multi-Config" => Ok(()),
        other => Err(Error::Unusable(format!(
            "'{}' was made for the generator '{other}': only those of Ninja, Ninja Multi-Config and Unix Makefiles \
             can be read",
            build.display()
        ))),
    }
}

/// Whether the directory is the one that CMake has generated. `known` is what CMake calls it.
pub(super) fn is_same_directory(build: &Path, known: &[u8]) -> Result<(), Error> {
    let here = identity(build).map_err(|cause| reading(build, cause))?;
    if upcheck::os_path::path(known).and_then(|known| identity(&known)).is_ok_and(|there| there == here) {
        return Ok(());
    }
    let known = String::from_utf8_lossy(known);
    Err(Error::Unusable(format!(
        "'{}' was generated as '{known}', and was moved or copied since: make it anew (CMake does not move \
         build directories)",
        build.display()
    )))
}

/// What two paths of one directory have in common, so that links and mounts do not matter.
#[cfg(unix)]
fn identity(directory: &Path) -> std::io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(directory).map(|found| (found.dev(), found.ino()))
}

/// What two paths of one directory have in common, so that links do not matter, nor in which case letters are written.
#[cfg(not(unix))]
fn identity(directory: &Path) -> std::io::Result<std::path::PathBuf> {
    std::fs::canonicalize(directory)
}

/// Whether CMake generated nothing after the reply: a CMake that was interrupted has written some of its files, but no
/// reply yet. `TargetDirectories.txt` is written each time, before the index.
pub(super) fn is_current(build: &Path, index: &str) -> Result<(), Error> {
    let index_path = build.join(".cmake/api/v1/reply").join(index);
    let generated_path = build.join("CMakeFiles/TargetDirectories.txt");
    // One that is gone by now has been replaced by a newer one.
    let (Some(index), Some(generated)) = (look(&index_path)?, look(&generated_path)?) else { return Ok(()) };
    let changed = |file: &Metadata, path| file.modified().map_err(|cause| reading(path, cause));
    if changed(&generated, &generated_path)? <= changed(&index, &index_path)? {
        return Ok(());
    }
    Err(Error::Unusable(format!(
        "CMake has begun to generate '{}' after it last replied what is in it: it is running, or was interrupted: {}",
        build.display(),
        run_cmake(build)
    )))
}

fn look(path: &Path) -> Result<Option<Metadata>, Error> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(reading(path, cause)),
    }
}

fn reading(path: &Path, cause: std::io::Error) -> Error {
    Error::Io { operation: "looking at", path: upcheck::os_path::bytes(path).to_vec(), cause }
}
