//! The compilation database that CMake, Meson, Bear and others write: `compile_commands.json`.
//!
//! ```text
//! [ { "directory": "/b",                   where the command runs, and what relative paths start from
//!     "file": "../src/a.c",                what it compiles
//!     "arguments": ["cc", "-c", ...],      the command; where there is none,
//!     "command": "cc -c ...",              the same as one line, for the system that this runs on: see `words.rs`
//!     "output": "a.o" } ]                  what it makes, if the command does not say
//! ```
//!
//! Other keys are ignored. Each entry is a target: one output, one input, the command, and a value `directory`. An entry
//! that is there twice counts once.
//!
//! **The output** is what `-o` says, or `/Fo` of `cl`. CMake's generator for make writes `output` relative to the directory of
//! the whole build, other than the format has it, so that key counts only where there is no `-o`; and without it the output
//! is what gcc, or `cl`, calls an object. An entry that makes no file, such as one with `-fsyntax-only`, is passed over.
//!
//! **The depfile** is the one that the arguments ask for, see `compiler.rs`. CMake's generator for make asks for one
//! behind the scenes, so where the arguments do not, `OUT.d` is taken if it is there, or else `OUT` with `.d` in place of
//! its suffix if that is there. Otherwise nobody knows which headers were read: the target gets a depfile that is not
//! there, so that it is not called fresh. Ninja takes depfiles in and removes them: a build directory of ninja is better
//! read as one.

use crate::Error;
use crate::compiler::{Found, look_through, with_suffix};
use crate::graph::{BYTE_ORDER_MARK, Summary};
use crate::keys::Keys;
use crate::place::{About, Known, locate};
use crate::texts::{Shape, Texts};
use crate::words::{self, Syntax};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use upcheck::collect::Disk;
use upcheck::project::Description;
use upcheck::{FileId, Project, Stat, TargetId};

/// How to read a compilation database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompileOptions {
    /// Leaves a target without a depfile where none is known of, so that it can be fresh although a header of its may
    /// have changed.
    pub headers_unknown_is_fine: bool,
}

/// Reads `compile_commands.json` into a project. `name` is what messages call it. `base` is the directory that relative
/// directories in it start from; empty for the project's. Whether a depfile is there is asked of `disk`, for targets whose
/// arguments name none.
///
/// # Errors
/// When it is no compilation database, or two different entries make the same file. The project has some of its targets
/// then, and is of no further use.
pub fn read_compile_commands(
    bytes: &[u8],
    name: &str,
    base: &[u8],
    disk: &dyn Disk,
    project: &mut Project,
    options: CompileOptions,
) -> Result<Summary, Error> {
    read_for(Syntax::HERE, bytes, name, base, disk, project, options)
}

/// The same, with command lines that are split by the rules of any system.
fn read_for(
    syntax: Syntax,
    bytes: &[u8],
    name: &str,
    base: &[u8],
    disk: &dyn Disk,
    project: &mut Project,
    options: CompileOptions,
) -> Result<Summary, Error> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let n_before = project.graph().n_targets();
    let mut reader = Reader {
        project,
        disk,
        base,
        options,
        syntax,
        n_before,
        places: Vec::new(),
        n_entries: 0,
        entry: Entry::default(),
        about: About::default(),
        summary: Summary::default(),
    };
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let result = Entries(&mut reader).deserialize(&mut parser).and_then(|()| parser.end());
    result.map_err(|error| locate(name, &error, Known::whole(bytes), reader.about))?;
    Ok(reader.summary)
}

struct Reader<'a> {
    project: &'a mut Project,
    disk: &'a dyn Disk,
    base: &'a [u8],
    options: CompileOptions,
    syntax: Syntax,
    /// How many targets the project had before.
    n_before: usize,
    /// Per target of this database the number of its entry.
    places: Vec<usize>,
    n_entries: usize,
    /// The one that is being read.
    entry: Entry,
    about: About,
    summary: Summary,
}

#[derive(Default)]
struct Entry {
    directory: Vec<u8>,
    file: Vec<u8>,
    output: Vec<u8>,
    line: Vec<u8>,
    /// Each with a NUL behind it.
    arguments: Vec<u8>,
}

impl Reader<'_> {
    /// Adds the entry that was read, or says what is wrong with it as a whole.
    fn add(&mut self, keys: &Keys) -> Result<(), String> {
        for key in ["directory", "file"] {
            if !keys.has(key) {
                return Err(format!("an entry needs the key {key:?}"));
            }
        }
        match (keys.has("arguments"), keys.has("command")) {
            (false, false) => return Err("an entry needs the key \"arguments\" or \"command\"".into()),
            (false, true) => words::split(&self.entry.line, self.syntax, &mut self.entry.arguments)?,
            _ => {}
        }
        let command = self.entry.arguments.strip_suffix(b"\0").unwrap_or_default().to_vec();
        if command.is_empty() {
            return Err("a command needs a word at least".into());
        }
        let found = look_through(command.split(|&byte| byte == 0));
        self.enter_directory();
        let Some(output) = self.output(&found) else {
            self.summary.n_without_output += 1;
            return Ok(());
        };
        let source = self.in_directory(&self.entry.file);
        let source = self.project.file(&source).map_err(|error| error.to_string())?;
        let output = self.project.file(&output).map_err(|error| error.to_string())?;
        let depfile = self.depfile(&found, output);
        let directory = self.entry.directory.clone();
        let values = [(&b"directory"[..], directory.as_slice())];
        let description = Description {
            outputs: &[output],
            explicit: &[source],
            command: &command,
            values: if directory.is_empty() { &[] } else { &values },
            depfile: &depfile,
            directory: &directory,
            ..Description::default()
        };
        if let Some(other) = self.project.graph().producer(output) {
            return self.compare(other, output, &description);
        }
        self.project.add(&description).map_err(|error| error.to_string())?;
        self.places.push(self.n_entries);
        self.summary.n_targets += 1;
        Ok(())
    }

    /// Another entry makes the same file: is it the same one?
    fn compare(&mut self, other: TargetId, output: FileId, this: &Description<'_>) -> Result<(), String> {
        let (project, graph) = (&*self.project, self.project.graph());
        let is_same = graph.dirtying_inputs(other) == this.explicit
            && project.command(other) == this.command
            && this.values.iter().all(|value| project.values(other).any(|other| other == *value));
        let output = shown(graph.files.path(output));
        let Some(&place) = other.index().checked_sub(self.n_before).and_then(|index| self.places.get(index))
        else {
            return Err(format!("{output:?} is an output of another graph, too"));
        };
        if is_same {
            self.summary.n_repeated += 1;
            return Ok(());
        }
        let path = |file: Option<&FileId>| file.map_or(String::new(), |&file| shown(graph.files.path(file)));
        let (file, other_file) = (path(this.explicit.first()), path(graph.dirtying_inputs(other).first()));
        let n = self.n_entries;
        Err(format!(
            "{output:?} is made by two entries that differ: [{place}] from {other_file:?} and [{n}] from {file:?}"
        ))
    }

    /// Makes the directory of the command one that starts from where the project's paths start; empty if it is that.
    fn enter_directory(&mut self) {
        let directory = join(self.base, &self.entry.directory);
        self.entry.directory = self.project.relative(&directory);
        if self.entry.directory == b"." {
            self.entry.directory.clear();
        }
    }

    fn in_directory(&self, path: &[u8]) -> Vec<u8> {
        join(&self.entry.directory, path)
    }

    /// What an entry makes; `None` for nothing that stays.
    fn output(&self, found: &Found<'_>) -> Option<Vec<u8>> {
        let output = match found.output {
            None if !self.entry.output.is_empty() => Some(self.entry.output.clone()),
            _ => found.output(&self.entry.file),
        };
        let is_lost = |output: &[u8]| {
            matches!(output, b"-" | b"/dev/null") || cfg!(windows) && output.eq_ignore_ascii_case(b"nul")
        };
        let output = output.filter(|output| !is_lost(output));
        output.map(|output| self.in_directory(&output))
    }

    /// The depfile of an entry; empty for none.
    fn depfile(&self, found: &Found<'_>, output: FileId) -> Vec<u8> {
        if let Some(depfile) = found.depfile(&self.entry.file) {
            return self.in_directory(&depfile);
        }
        let output = self.project.graph().files.path(output);
        let behind = [output, b".d"].concat();
        let instead = with_suffix(output, b".d");
        let is_there = |path: &[u8]| !matches!(self.disk.stat(path), Stat::Missing | Stat::Unknown);
        match (is_there(&behind), self.options.headers_unknown_is_fine) {
            (true, _) => behind,
            (false, _) if is_there(&instead) => instead,
            (false, false) => behind,
            (false, true) => Vec::new(),
        }
    }
}

/// A path that starts from a directory, unless it is absolute.
fn join(directory: &[u8], path: &[u8]) -> Vec<u8> {
    upcheck::path::join(directory, path)
}

fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

struct Entries<'r, 'a>(&'r mut Reader<'a>);

impl<'de> DeserializeSeed<'de> for Entries<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a compilation database: a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(OneEntry(&mut *self.0))?.is_some() {
            self.0.n_entries += 1;
        }
        Ok(())
    }
}

struct OneEntry<'r, 'a>(&'r mut Reader<'a>);

impl<'de> DeserializeSeed<'de> for OneEntry<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneEntry<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entry: an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reader = self.0;
        let entry = &mut reader.entry;
        for text in
            [&mut entry.directory, &mut entry.file, &mut entry.output, &mut entry.line, &mut entry.arguments]
        {
            text.clear();
        }
        let mut keys = Keys::among_others(&["directory", "file", "output", "command", "arguments"]);
        while let Some(key) = map.next_key_seed(&mut keys)? {
            match key {
                "directory" => read_text(&mut map, "a directory", &mut entry.directory)?,
                "file" => read_text(&mut map, "a path", &mut entry.file)?,
                "output" => read_text(&mut map, "a path", &mut entry.output)?,
                "command" => read_text(&mut map, "a command", &mut entry.line)?,
                "arguments" => read_arguments(&mut map, &mut entry.arguments)?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        reader.add(&keys).map_err(|message| {
            reader.about = About::Object;
            de::Error::custom(message)
        })
    }
}

fn read_text<'de, A: MapAccess<'de>>(
    map: &mut A,
    what: &'static str,
    into: &mut Vec<u8>,
) -> Result<(), A::Error> {
    let mut take = |text: &[u8]| match text {
        b"" => Err(format!("{what} cannot be empty")),
        _ if text.contains(&0) => Err(format!("{what} cannot have a NUL in it")),
        _ => {
            into.extend_from_slice(text);
            Ok(())
        }
    };
    map.next_value_seed(Texts { what, shape: Shape::String, take: &mut take })
}

fn read_arguments<'de, A: MapAccess<'de>>(map: &mut A, into: &mut Vec<u8>) -> Result<(), A::Error> {
    let mut take = |text: &[u8]| {
        if text.contains(&0) {
            return Err("an argument cannot have a NUL in it".into());
        }
        into.extend_from_slice(text);
        into.push(0);
        Ok(())
    };
    map.next_value_seed(Texts { what: "an argument", shape: Shape::Strings, take: &mut take })
}

#[cfg(test)]
mod tests;
