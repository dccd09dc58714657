//! `file(GLOB ... CONFIGURE_DEPENDS)`: whether a glob matches other files than when CMake ran.
//!
//! Where a project has such globs, the generated build runs `CMakeFiles/VerifyGlobs.cmake` before all else: it evaluates
//! each of them, and where one comes out differently, CMake runs again. Here they are evaluated by the same rules, all in
//! one walk. Where the expressions come from: from CMake's reply, or, where it has none (before 3.30) or they would not
//! come out of the script as they went in, from the script itself.

mod pattern;
mod script;
mod walk;

use crate::Error;
use crate::reply::Reply;
use std::io::ErrorKind;
use std::path::Path;

/// A glob, and what it matched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Glob {
    /// As in `/src/*.c`.
    pub expression: Vec<u8>,
    /// Whether it goes down into directories.
    pub recurse: bool,
    /// Whether directories count.
    pub list_directories: bool,
    /// Whether it follows links to directories.
    pub follow_symlinks: bool,
    /// What results are relative to.
    pub relative: Option<Vec<u8>>,
    /// What it matched, sorted.
    pub paths: Vec<Vec<u8>>,
}

/// In what the globs of a build directory differ from when CMake ran. Absolute paths, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// What they match now and did not.
    pub added: Vec<Vec<u8>>,
    /// What they matched and do not any more.
    pub removed: Vec<Vec<u8>>,
}

impl Difference {
    /// Whether all is as when CMake ran.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

/// The globs that the build in `build` looks at before it makes anything; `None` where it looks at none.
///
/// # Errors
/// When the generated files cannot be read, or say what only CMake can evaluate.
pub fn of(build: &Path, reply: &Reply) -> Result<Option<Vec<Glob>>, Error> {
    if !are_verified(build, &reply.generator)? {
        return Ok(None);
    }
    match &reply.globs {
        Some(globs) if !globs.is_empty() && globs.iter().all(is_plain) => Ok(Some(globs.clone())),
        _ => script::read(&build.join(SCRIPT)).map(Some),
    }
}

const SCRIPT: &str = "CMakeFiles/VerifyGlobs.cmake";

/// The globs in a script that is written like CMake's `VerifyGlobs.cmake`.
///
/// # Errors
/// When it cannot be read, or says what only CMake can evaluate.
pub fn of_script(path: &Path) -> Result<Vec<Glob>, Error> {
    script::read(path)
}

/// Whether the build runs the script. One of an earlier project stays where it is.
fn are_verified(build: &Path, generator: &str) -> Result<bool, Error> {
    let script = build.join(SCRIPT);
    match std::fs::metadata(&script) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(cause) => return Err(trouble("looking at", upcheck::os_path::bytes(&script), cause)),
    }
    // CMake 3.16 has the rules of ninja at the top.
    let callers: &[&str] = match generator {
        "Unix Makefiles" => &["Makefile"],
        _ => &["CMakeFiles/rules.ninja", "rules.ninja"],
    };
    let mut found = Err(ErrorKind::NotFound.into());
    for caller in callers {
        let path = build.join(caller);
        found = std::fs::read(&path);
        match &found {
            Ok(rules) => return Ok(memchr::memmem::find(rules, b"VerifyGlobs.cmake").is_some()),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => break,
        }
    }
    let path = build.join(callers[0]);
    found.map(|_| false).map_err(|cause| trouble("reading", upcheck::os_path::bytes(&path), cause))
}

/// Whether the script evaluates the glob to what the reply says. It writes the expression as it is, so that a `$` or a `\`
/// may have a meaning there; and JSON has no bytes that are not UTF-8.
fn is_plain(glob: &Glob) -> bool {
    let is_plain = |text: &[u8]| memchr::memchr3(b'$', b'\\', b'"', text).is_none() && !text.contains(&b'@');
    let is_whole = |text: &[u8]| memchr::memmem::find(text, "\u{fffd}".as_bytes()).is_none();
    is_plain(&glob.expression)
        && glob.relative.as_deref().is_none_or(is_plain)
        && std::iter::once(&glob.expression)
            .chain(&glob.relative)
            .chain(&glob.paths)
            .all(|text| is_whole(text))
}

/// Evaluates all globs, and compares with what they matched when CMake ran.
///
/// # Errors
/// When a directory cannot be listed.
pub fn differences(globs: &[Glob]) -> Result<Difference, Error> {
    let mut difference = Difference::default();
    for (glob, found) in globs.iter().zip(evaluate(globs)?) {
        if found == glob.paths {
            continue;
        }
        let place = |path: &[u8]| match &glob.relative {
            Some(relative) => canonical(upcheck::path::join(relative, path)),
            _ => canonical(path.to_vec()),
        };
        let mut old = glob.paths.clone();
        old.sort_unstable();
        let only = |these: &[Vec<u8>], those: &[Vec<u8>], into: &mut Vec<Vec<u8>>| {
            into.extend(
                these.iter().filter(|path| those.binary_search(path).is_err()).map(|path| place(path)),
            );
        };
        only(&found, &old, &mut difference.added);
        only(&old, &found, &mut difference.removed);
    }
    for paths in [&mut difference.added, &mut difference.removed] {
        paths.sort_unstable();
        paths.dedup();
    }
    Ok(difference)
}

/// What each glob matches now, as CMake names it, sorted and without repetition.
///
/// # Errors
/// When a directory cannot be listed.
pub fn evaluate(globs: &[Glob]) -> Result<Vec<Vec<Vec<u8>>>, Error> {
    walk::walk(globs, pattern::Folding::HERE)
}

fn canonical(mut path: Vec<u8>) -> Vec<u8> {
    upcheck::path::canonicalize(&mut path);
    path
}

fn trouble(operation: &'static str, path: &[u8], cause: std::io::Error) -> Error {
    Error::Io { operation, path: path.to_vec(), cause }
}

#[cfg(test)]
mod tests;
