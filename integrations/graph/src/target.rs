//! A target of the JSON graph.
//!
//! ```text
//! { "outputs": ["out/a.o"],            what its command writes; the first one names it
//!   "name": "unit-tests",              what names it instead, where it writes nothing
//!   "inputs": ["src/a.c"],             files whose changes count
//!   "implicit": ["tools/cc.sh"],       such files, too, that are not on the command line
//!   "order_only": ["out"],             what has to be there first, whose changes do not count
//!   "validations": ["lint"],           targets that belong to it without being inputs
//!   "command": ["cc", "-c", "a.c"],    or one string
//!   "depfile": "out/a.d",              where its command says, in make's format, what it has read
//!   "globs": ["src/**/*.h"],           patterns whose matches are inputs
//!   "vars": {"OPT": "-O2"},            values that it depends on beside files
//!   "policy": "mtime",                 when a file counts as changed
//!   "phony": true }                    a mere name for its inputs
//! ```
//!
//! All keys may be missing, but there has to be an output or a name. A phony target has nothing that could be run, so it
//! has no command, depfile, globs, vars or policy. Arguments are kept with NULs between them.

use crate::graph::{Flag, PolicyName, Reader};
use crate::keys::Keys;
use crate::texts::{Shape, Texts, Values};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use upcheck::globs::Globs;
use upcheck::project::Description;
use upcheck::{FileId, Policy, Project, TargetId};

const KEYS: &[&str] = &[
    "outputs",
    "name",
    "inputs",
    "implicit",
    "order_only",
    "validations",
    "command",
    "depfile",
    "globs",
    "vars",
    "policy",
    "phony",
];

/// What a phony target cannot have: nobody would look at it.
const ONLY_WITH_COMMAND: &[&str] = &["command", "depfile", "globs", "vars", "policy"];

/// Reads a target and adds it to the project.
pub(crate) struct Target<'a, 'p>(pub(crate) &'a mut Reader<'p>);

/// A target that is being read. One for all of them, so that lists are not allocated anew.
#[derive(Default)]
pub(crate) struct Draft {
    outputs: Vec<FileId>,
    known_outputs: HashSet<FileId>,
    name: Vec<u8>,
    explicit: Vec<FileId>,
    implicit: Vec<FileId>,
    order_only: Vec<FileId>,
    validations: Vec<FileId>,
    command: Vec<u8>,
    depfile: Vec<u8>,
    globs: Vec<String>,
    values: BTreeMap<Vec<u8>, Vec<u8>>,
    policy: Option<Policy>,
    phony: bool,
}

impl<'de> DeserializeSeed<'de> for Target<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Target<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a target: an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reader = self.0;
        reader.draft.clear();
        let mut keys = Keys::new(KEYS);
        while let Some(key) = map.next_key_seed(&mut keys)? {
            let Reader { project, draft, n_before, .. } = &mut *reader;
            match key {
                "outputs" => draft.read_outputs(&mut map, project, *n_before)?,
                "name" => draft.read_name(&mut map, project, *n_before)?,
                "inputs" => read_paths(&mut map, project, &mut draft.explicit)?,
                "implicit" => read_paths(&mut map, project, &mut draft.implicit)?,
                "order_only" => read_paths(&mut map, project, &mut draft.order_only)?,
                "validations" => read_paths(&mut map, project, &mut draft.validations)?,
                "command" => draft.read_command(&mut map)?,
                "depfile" => draft.read_depfile(&mut map)?,
                "globs" => draft.read_globs(&mut map)?,
                "vars" => map.next_value_seed(Values(&mut draft.values))?,
                "policy" => draft.policy = Some(map.next_value_seed(PolicyName)?),
                _ => draft.phony = map.next_value_seed(Flag)?,
            }
        }
        reader.add(&keys).map_err(|message| reader.at_end(message))
    }
}

impl Reader<'_> {
    /// Adds the target that was read, or says what is wrong with it as a whole.
    fn add(&mut self, keys: &Keys) -> Result<(), String> {
        let Self { project, draft, n_before, .. } = self;
        let this = || draft.name(project, *n_before);
        if draft.outputs.is_empty() && draft.name.is_empty() {
            return Err(format!("{} has neither \"outputs\" nor a \"name\"", this()));
        }
        if !draft.outputs.is_empty() && !draft.name.is_empty() {
            return Err(format!(
                "{} has outputs, the first of which is its name: it has no \"name\"",
                this()
            ));
        }
        if draft.phony
            && let Some(key) = ONLY_WITH_COMMAND.iter().find(|key| keys.has(key))
        {
            return Err(format!("{} is phony, so that it has no {key:?}", this()));
        }
        let values: Vec<(&[u8], &[u8])> =
            draft.values.iter().map(|(name, value)| (name.as_slice(), value.as_slice())).collect();
        let globs: Vec<&str> = draft.globs.iter().map(String::as_str).collect();
        let description = Description {
            outputs: &draft.outputs,
            name: &draft.name,
            explicit: &draft.explicit,
            implicit: &draft.implicit,
            order_only: &draft.order_only,
            validations: &draft.validations,
            command: &draft.command,
            values: &values,
            depfile: &draft.depfile,
            globs: &globs,
            policy: draft.policy,
            phony: draft.phony,
            ..Description::default()
        };
        match project.add(&description) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("{}: {error}", draft.name(project, *n_before))),
        }
    }
}

impl Draft {
    fn clear(&mut self) {
        let Self { outputs, known_outputs, name, explicit, implicit, order_only, validations, .. } = self;
        for files in [outputs, explicit, implicit, order_only, validations] {
            files.clear();
        }
        known_outputs.clear();
        for text in [name, &mut self.command, &mut self.depfile] {
            text.clear();
        }
        self.globs.clear();
        self.values.clear();
        self.policy = None;
        self.phony = false;
    }

    /// What a message calls the target: its number among those of this graph, and its name.
    fn name(&self, project: &Project, n_before: usize) -> String {
        let number = project.graph().n_targets() - n_before;
        let name = match self.outputs.first() {
            Some(&output) => project.graph().files.path(output),
            None => &self.name,
        };
        called(number, name)
    }

    fn read_outputs<'de, A: MapAccess<'de>>(
        &mut self,
        map: &mut A,
        project: &mut Project,
        n_before: usize,
    ) -> Result<(), A::Error> {
        let mut take = |path: &[u8]| {
            let file = project.file(path).map_err(|error| error.to_string())?;
            if !self.known_outputs.insert(file) {
                return Err(format!("{:?} is twice an output of the same target", shown(path)));
            }
            self.outputs.push(file);
            match project.graph().producer(file) {
                Some(other) => {
                    let (this, other) =
                        (self.name(project, n_before), called_other(project, n_before, other));
                    Err(format!("{:?} is an output of two targets: {other} and {this}", shown(path)))
                }
                None => Ok(()),
            }
        };
        map.next_value_seed(Texts { what: "a path", shape: Shape::ManyBytes, take: &mut take })
    }

    fn read_name<'de, A: MapAccess<'de>>(
        &mut self,
        map: &mut A,
        project: &mut Project,
        n_before: usize,
    ) -> Result<(), A::Error> {
        let mut take = |name: &[u8]| {
            let file = project.file(name).map_err(|error| error.to_string())?;
            self.name.extend_from_slice(name);
            match project.graph().producer(file) {
                Some(other) => {
                    let other = called_other(project, n_before, other);
                    Err(format!("{:?} is what {other} is called or makes already", shown(name)))
                }
                None => Ok(()),
            }
        };
        map.next_value_seed(Texts { what: "a name", shape: Shape::Bytes, take: &mut take })
    }

    fn read_command<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        let mut is_first = true;
        let mut take = |text: &[u8]| {
            if text.contains(&0) {
                return Err("no command can have a NUL in it".into());
            }
            if !std::mem::take(&mut is_first) {
                self.command.push(0);
            }
            self.command.extend_from_slice(text);
            Ok(())
        };
        map.next_value_seed(Texts { what: "an argument", shape: Shape::OneOrMany, take: &mut take })
    }

    fn read_depfile<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        let mut take = |path: &[u8]| {
            if path.is_empty() || path.contains(&0) {
                return Err(format!("{:?} cannot be the path of a file", shown(path)));
            }
            self.depfile.extend_from_slice(path);
            Ok(())
        };
        map.next_value_seed(Texts { what: "a path", shape: Shape::Bytes, take: &mut take })
    }

    fn read_globs<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        let mut take = |pattern: &[u8]| {
            // Here it can be said where it stands. Understanding it twice costs little.
            Globs::new(&[pattern]).map_err(|error| error.to_string())?;
            self.globs.push(String::from_utf8_lossy(pattern).into_owned());
            Ok(())
        };
        map.next_value_seed(Texts { what: "a pattern", shape: Shape::Strings, take: &mut take })
    }
}

fn read_paths<'de, A: MapAccess<'de>>(
    map: &mut A,
    project: &mut Project,
    files: &mut Vec<FileId>,
) -> Result<(), A::Error> {
    let mut take = |path: &[u8]| {
        files.push(project.file(path).map_err(|error| error.to_string())?);
        Ok(())
    };
    map.next_value_seed(Texts { what: "a path", shape: Shape::ManyBytes, take: &mut take })
}

fn called_other(project: &Project, n_before: usize, target: TargetId) -> String {
    let name = project.graph().name(target);
    match target.index().checked_sub(n_before) {
        Some(number) => called(number, name),
        None => format!("{:?} of another graph", shown(name)),
    }
}

fn called(number: usize, name: &[u8]) -> String {
    match name.is_empty() {
        true => format!("targets[{number}]"),
        false => format!("targets[{number}] ({:?})", shown(name)),
    }
}

fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
