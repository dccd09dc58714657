//! The index of a reply: which CMake wrote it, and in which files the objects are.

use super::{Trouble, is_file_name, parse, read_file, usable, wrong};
use crate::Error;
use serde::Deserialize;
use std::borrow::Cow;
use std::path::Path;

/// The index that counts.
pub(super) struct Found {
    /// Its name in the folder.
    pub(super) name: String,
    /// Whether there is a newer one that says that CMake failed.
    pub(super) has_failed_since: bool,
}

/// What an index says.
pub(super) struct Index {
    pub(super) version: String,
    pub(super) generator: String,
    pub(super) is_multi_config: bool,
    /// Names of files in the folder.
    pub(super) codemodel: String,
    pub(super) cmake_files: String,
}

/// Finds the newest index: the greatest name, as names hold the time.
pub(super) fn newest(build: &Path, folder: &Path) -> Result<Found, Error> {
    let (mut good, mut failed) = (None, None);
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(usable::no_reply(build, false));
        }
        Err(cause) => return Err(listing(folder, cause)),
    };
    for entry in entries {
        let name = entry.map_err(|cause| listing(folder, cause))?.file_name();
        let Some(name) = name.to_str().filter(|name| name.ends_with(".json")) else { continue };
        let place = match name {
            _ if name.starts_with("index-") => &mut good,
            _ if name.starts_with("error-") => &mut failed,
            _ => continue,
        };
        if place.as_deref().is_none_or(|other: &str| time(other) < time(name)) {
            *place = Some(name.to_owned());
        }
    }
    let failed = failed.as_deref().map(time);
    match good {
        Some(name) => {
            let has_failed_since = failed.is_some_and(|failed| failed > time(&name));
            Ok(Found { name, has_failed_since })
        }
        None => Err(usable::no_reply(build, failed.is_some())),
    }
}

/// The part of a name that tells when the file was written.
fn time(name: &str) -> &str {
    &name["index-".len()..]
}

fn listing(folder: &Path, cause: std::io::Error) -> Error {
    Error::Io { operation: "listing", path: upcheck::os_path::bytes(folder).to_vec(), cause }
}

/// Reads the index with that name.
pub(super) fn read(build: &Path, folder: &Path, name: &str) -> Result<Index, Trouble> {
    #[derive(Deserialize)]
    struct File<'a> {
        #[serde(borrow)]
        cmake: CMake<'a>,
        #[serde(borrow)]
        objects: Vec<Object<'a>>,
    }
    #[derive(Deserialize)]
    struct CMake<'a> {
        #[serde(borrow)]
        generator: Generator<'a>,
        #[serde(borrow)]
        version: Version<'a>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Generator<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
        /// Not in the first versions.
        multi_config: Option<bool>,
    }
    #[derive(Deserialize)]
    struct Version<'a> {
        #[serde(borrow)]
        string: Cow<'a, str>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Object<'a> {
        #[serde(borrow)]
        kind: Cow<'a, str>,
        version: Number,
        #[serde(borrow)]
        json_file: Cow<'a, str>,
    }
    #[derive(Deserialize)]
    struct Number {
        major: u32,
    }

    let path = folder.join(name);
    let bytes = read_file(&path)?;
    let file: File<'_> = parse(&path, &bytes)?;
    let object = |kind: &str, major| match file
        .objects
        .iter()
        .find(|object| object.kind == kind && object.version.major == major)
    {
        None => Ok(None),
        Some(object) if is_file_name(&object.json_file) => Ok(Some(object.json_file.clone().into_owned())),
        Some(object) => Err(wrong(&path, format!("'{}' is no name of a file", object.json_file))),
    };
    let (codemodel, cmake_files) = (object("codemodel", 2)?, object("cmakeFiles", 1)?);
    // Another client has asked, but not for what is needed here.
    let (Some(codemodel), Some(cmake_files)) = (codemodel, cmake_files) else {
        return Err(Trouble::Final(usable::no_reply(build, false)));
    };
    let generator = file.cmake.generator;
    Ok(Index {
        version: file.cmake.version.string.into_owned(),
        is_multi_config: generator.multi_config.unwrap_or(generator.name == "Ninja Multi-Config"),
        generator: generator.name.into_owned(),
        codemodel,
        cmake_files,
    })
}
