//! The JSON graph: targets that any generator can write down.
//!
//! ```text
//! { "version": 1,                          must be there, and 1
//!   "$schema": "...",                      ignored
//!   "vars": {"CC": "gcc 13.2"},            values of every target that has none of that name itself
//!   "policy": "mtime",                     the policy of targets that have none themselves
//!   "targets": [ ... ],                    must be there; see `target.rs`
//!   "defaults": ["out/app"] }              what is meant where a question names nothing
//! ```
//!
//! Keys come in any order, each at most once; others are errors. A path is a string, or `{"base64": "..."}` where it is
//! not UTF-8. A mark of the byte order in front is passed over, since some editors leave one.
//!
//! Up to 16 MiB are read at once, which is fastest; of what is longer, or has no known length, a piece at a time is held.

use crate::Error;
use crate::keys::{Keys, did_you_mean};
use crate::place::{About, Known, Window, locate};
use crate::target::{Draft, Target};
use crate::texts::{Shape, Texts, Values};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use upcheck::{FileId, Policy, Project};

/// How much there was in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The targets that were added.
    pub n_targets: usize,
    /// Entries that say what another one says, and were passed over. Only in `compile_commands.json`.
    pub n_repeated: usize,
    /// Entries that make no file, and were passed over. Only in `compile_commands.json`.
    pub n_without_output: usize,
}

/// Files up to this length are read at once, bytes.
const SHORT: u64 = 16 << 20;

/// Reads a graph from a file into a project.
///
/// # Errors
/// When the file cannot be read or is no graph. The project has some of its targets then, and is of no further use.
pub fn read_file(path: &Path, project: &mut Project) -> Result<Summary, Error> {
    let name = path.to_string_lossy();
    let cannot = |cause| Error::Read { name: name.clone().into_owned(), cause };
    let mut file = File::open(path).map_err(cannot)?;
    let is_short = file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= SHORT);
    if !is_short {
        return read(file, &name, project);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(cannot)?;
    read_slice(&bytes, &name, project)
}

/// Reads a graph from a stream into a project. `name` is what messages call it. No more than a piece of the text is in
/// memory at a time.
///
/// # Errors
/// As [`read_file`].
pub fn read(source: impl Read, name: &str, project: &mut Project) -> Result<Summary, Error> {
    let mut window = Window::new(source);
    window.skip(BYTE_ORDER_MARK);
    let mut reader = Reader::new(project);
    let mut parser = serde_json::Deserializer::from_reader(&mut window);
    let result = Document(&mut reader).deserialize(&mut parser).and_then(|()| parser.end());
    drop(parser);
    if let Some(cause) = window.failure.take() {
        return Err(Error::Read { name: name.into(), cause });
    }
    result.map_err(|error| locate(name, &error, window.known(), reader.about))?;
    Ok(reader.finish())
}

/// Reads a graph from memory into a project. `name` is what messages call it.
///
/// # Errors
/// When it is no graph. The project has some of its targets then, and is of no further use.
pub fn read_slice(bytes: &[u8], name: &str, project: &mut Project) -> Result<Summary, Error> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let mut reader = Reader::new(project);
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let result = Document(&mut reader).deserialize(&mut parser).and_then(|()| parser.end());
    result.map_err(|error| locate(name, &error, Known::whole(bytes), reader.about))?;
    Ok(reader.finish())
}

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What is filled while a graph is read.
pub(crate) struct Reader<'p> {
    pub(crate) project: &'p mut Project,
    /// The target that is being read.
    pub(crate) draft: Draft,
    /// How many targets the project had before.
    pub(crate) n_before: usize,
    /// What an error that is under way is about.
    pub(crate) about: About,
    values: BTreeMap<Vec<u8>, Vec<u8>>,
    defaults: Vec<FileId>,
}

impl<'p> Reader<'p> {
    fn new(project: &'p mut Project) -> Self {
        let n_before = project.graph().n_targets();
        let (draft, about) = (Draft::default(), About::default());
        Self { project, draft, n_before, about, values: BTreeMap::new(), defaults: Vec::new() }
    }

    /// An error about the object that has just ended.
    pub(crate) fn at_end<E: de::Error>(&mut self, message: impl fmt::Display) -> E {
        self.about = About::Object;
        E::custom(message)
    }

    fn finish(self) -> Summary {
        if !self.values.is_empty() {
            self.project.set_values(self.values);
        }
        if !self.defaults.is_empty() {
            self.project.set_defaults(self.defaults);
        }
        Summary { n_targets: self.project.graph().n_targets() - self.n_before, ..Summary::default() }
    }
}

struct Document<'a, 'p>(&'a mut Reader<'p>);

impl<'de> DeserializeSeed<'de> for Document<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a graph: an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reader = self.0;
        let mut keys = Keys::new(&["version", "$schema", "vars", "policy", "targets", "defaults"]);
        while let Some(key) = map.next_key_seed(&mut keys)? {
            match key {
                "version" => map.next_value_seed(Version)?,
                "vars" => map.next_value_seed(Values(&mut reader.values))?,
                "policy" => {
                    let policy = map.next_value_seed(PolicyName)?;
                    reader.project.set_policy(Some(policy));
                }
                "targets" => map.next_value_seed(Targets(reader))?,
                "defaults" => {
                    let (project, defaults) = (&mut *reader.project, &mut reader.defaults);
                    let mut take = |path: &[u8]| {
                        defaults.push(project.file(path).map_err(|error| error.to_string())?);
                        Ok(())
                    };
                    let shape = Shape::ManyBytes;
                    map.next_value_seed(Texts { what: "a path", shape, take: &mut take })?;
                }
                _ => {
                    let mut take = |_: &[u8]| Ok(());
                    let shape = Shape::String;
                    map.next_value_seed(Texts { what: "a schema", shape, take: &mut take })?;
                }
            }
        }
        match ["version", "targets"].into_iter().find(|key| !keys.has(key)) {
            Some(key) => Err(reader.at_end(format_args!("a graph needs the key {key:?}"))),
            None => Ok(()),
        }
    }
}

struct Targets<'a, 'p>(&'a mut Reader<'p>);

impl<'de> DeserializeSeed<'de> for Targets<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Targets<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of targets")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Target(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

/// The number of the format.
struct Version;

impl<'de> DeserializeSeed<'de> for Version {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Version {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the version of the format: 1")
    }

    fn visit_u64<E: de::Error>(self, version: u64) -> Result<(), E> {
        match version {
            1 => Ok(()),
            _ => Err(E::custom(format!("version {version} of the format is not known, only 1 is"))),
        }
    }

    fn visit_f64<E: de::Error>(self, version: f64) -> Result<(), E> {
        // To JSON it is the same number.
        if version == 1.0 { Ok(()) } else { Err(E::invalid_type(de::Unexpected::Float(version), &self)) }
    }
}

/// A policy by its name.
pub(crate) struct PolicyName;

impl<'de> DeserializeSeed<'de> for PolicyName {
    type Value = Policy;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Policy, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for PolicyName {
    type Value = Policy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a policy")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Policy, E> {
        Policy::from_name(name).ok_or_else(|| {
            let known = Policy::ALL.map(Policy::name);
            let guess = did_you_mean(name, &known);
            E::custom(format!("unknown policy {name:?}{guess}; there are {}", known.join(", ")))
        })
    }
}

/// Yes or no.
pub(crate) struct Flag;

impl<'de> DeserializeSeed<'de> for Flag {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for Flag {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true or false")
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<bool, E> {
        Ok(flag)
    }
}

#[cfg(test)]
mod tests;
