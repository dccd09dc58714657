//! The object `cmakeFiles`: what CMake has read, and from version 1.1 on which globs it looks at before each build.

use super::{Input, Reply, Trouble, absolute, parse, read_file};
use crate::globs::Glob;
use serde::Deserialize;
use std::borrow::Cow;
use std::path::Path;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    version: Version,
    #[serde(borrow)]
    inputs: Vec<Read<'a>>,
    #[serde(borrow, default)]
    globs_dependent: Vec<Glob1<'a>>,
}

#[derive(Deserialize)]
struct Version {
    minor: u32,
}

#[derive(Deserialize)]
struct Read<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
    #[serde(rename = "isCMake", default)]
    is_cmake: bool,
    #[serde(rename = "isGenerated", default)]
    is_generated: bool,
    #[serde(rename = "isExternal", default)]
    is_external: bool,
}

/// As CMake writes one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Glob1<'a> {
    #[serde(borrow)]
    expression: Cow<'a, str>,
    #[serde(default)]
    recurse: bool,
    #[serde(default)]
    list_directories: bool,
    #[serde(default)]
    follow_symlinks: bool,
    #[serde(borrow)]
    relative: Option<Cow<'a, str>>,
    #[serde(default)]
    paths: Vec<String>,
}

/// Reads the object into `reply`, which knows the source directory.
pub(super) fn read(folder: &Path, name: &str, reply: &mut Reply) -> Result<(), Trouble> {
    let path = folder.join(name);
    let bytes = read_file(&path)?;
    let file: File<'_> = parse(&path, &bytes)?;
    for Read { path, is_cmake, is_generated, is_external } in &file.inputs {
        let path = absolute(&reply.source, path);
        reply.inputs.push(Input {
            path,
            is_cmake: *is_cmake,
            is_generated: *is_generated,
            is_external: *is_external,
        });
    }
    let globs = file.globs_dependent.into_iter().map(|glob| Glob {
        expression: glob.expression.into_owned().into_bytes(),
        recurse: glob.recurse,
        list_directories: glob.list_directories,
        follow_symlinks: glob.follow_symlinks,
        relative: glob.relative.map(|relative| relative.into_owned().into_bytes()),
        paths: glob.paths.into_iter().map(String::into_bytes).collect(),
    });
    reply.globs = (file.version.minor >= 1).then(|| globs.collect());
    Ok(())
}
