//! Keys: what decides how a target comes out, down to one digest.
//!
//! A target has two. By the *declared* key, of its command and of the inputs that the description names, others find out
//! which inputs its command may discover. With these, the *full* key names its result. Both are the digest of an `Action`:
//!
//! | part | what is in it |
//! |---|---|
//! | command | `/bin/sh -c` and the command line with a placeholder for the root's path, the variables of the environment that were asked for, the outputs, the build directory from the root |
//! | inputs | a tree of what files hold, by their paths from the root, and whether they can be executed; response files too |
//! | platform | the operating system with the digest of `/etc/os-release`, the processor, and the digest of each program that the command runs and of each file that it names and the description does not |
//! | salt | the version of this scheme, which of the two keys it is, and whatever the user adds |
//!
//! Order-only inputs are in no key: they do not decide what comes out.

use crate::doubt::Doubt;
use crate::files::Files;
use crate::programs::{Words, names_in, programs};
use crate::root::{Root, to_path};
use crate::tree::{Inputs, Leaf, Tree, tree};
use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::{PoisonError, RwLock};
use upcheck::{FileId, TargetId, path};
use upcheck_ninja::{Build, Discovers, Recipe};
use upcheck_reapi::messages::{Action, Command, EnvironmentVariable, Platform, Property};
use upcheck_reapi::{Digest, encode};

/// What keys depend on beside the build itself.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Is in every key: who changes it, no longer sees what was published with another one.
    pub salt: String,
    /// Variables of the environment that commands depend on, with their values. Those that are not set are not here.
    pub environment: Vec<(String, String)>,
    /// Where programs are looked for, as in the variable `PATH`.
    pub search_path: OsString,
}

/// The version of the scheme: what has another one has other keys.
pub(crate) const SCHEME: &str = "upcheck/key-v1";

/// Longer words than this name no file.
const LONGEST_NAME: usize = 4096;

/// Which of a target's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Declared,
    Full,
}

/// What of a target's key does not depend on what it reads.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) recipe: Recipe,
    /// The outputs with their names from the build directory, as the recipe has them.
    pub(crate) outputs: Vec<(FileId, String)>,
    pub(crate) command: (Digest, Vec<u8>),
    /// The SHA-256 of the command line with the placeholder.
    pub(crate) command_sha256: [u8; 32],
    response_file: Option<(String, Leaf)>,
    platform: Platform,
}

/// A key, and what it is the digest of.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) action: (Digest, Vec<u8>),
    pub(crate) tree: Tree,
}

/// Makes keys.
pub(crate) struct Keys<'a> {
    pub(crate) build: &'a Build,
    pub(crate) root: &'a Root,
    pub(crate) settings: &'a Settings,
    /// The digests of programs by their names in commands.
    programs: RwLock<HashMap<Vec<u8>, Result<Property, Doubt>>>,
}

impl<'a> Keys<'a> {
    pub(crate) fn new(build: &'a Build, root: &'a Root, settings: &'a Settings) -> Self {
        Self { build, root, settings, programs: RwLock::default() }
    }

    /// What of a target's key does not depend on what it reads.
    pub(crate) fn prepare(&self, target: TargetId, files: &Files<'_>) -> Result<Prepared, Doubt> {
        let recipe = self.build.recipe(target).map_err(|error| Doubt::Rule(error.to_string().into()))?;
        if self.build.graph().flags(target).phony || recipe.command.is_empty() || recipe.outputs.is_empty() {
            return Err(Doubt::Nothing);
        }
        if recipe.is_generator {
            return Err(Doubt::Generator);
        }
        if recipe.is_console {
            return Err(Doubt::Console);
        }
        if recipe.has_dyndep {
            return Err(Doubt::Dyndep);
        }
        let path = |file: FileId| self.build.graph().files.path(file);
        let name = |&file: &FileId| Ok((file, self.root.name_of_output(path(file))?));
        let outputs: Vec<(FileId, String)> = recipe.outputs.iter().map(name).collect::<Result<_, _>>()?;
        let command_line = self.root.replace(&recipe.command)?;
        let command_sha256 = Digest::of(command_line.as_bytes()).sha256;
        let mut output_paths: Vec<String> = outputs.iter().map(|(_, name)| name.clone()).collect();
        output_paths.sort_unstable();
        output_paths.dedup();
        let mut environment: Vec<_> = self.settings.environment.clone();
        environment.sort_unstable();
        environment.dedup();
        let command = Command {
            arguments: vec!["/bin/sh".into(), "-c".into(), command_line],
            environment_variables: environment
                .into_iter()
                .map(|(name, value)| EnvironmentVariable { name, value })
                .collect(),
            output_paths,
            working_directory: String::from_utf8(self.root.below().to_vec())
                .map_err(|_| Doubt::NotText(self.root.below().into()))?,
            ..Command::default()
        };
        let response_file = match &recipe.response_file {
            Some((path, content)) => {
                // What stands in it is a part of a command, with paths in it.
                let content = self.root.replace(content)?;
                let leaf = Leaf { digest: Digest::of(content.as_bytes()), is_executable: false };
                Some((self.root.name_in_tree(path)?, leaf))
            }
            None => None,
        };
        let platform = self.platform(&recipe, files)?;
        Ok(Prepared { outputs, command: encode(&command), command_sha256, response_file, platform, recipe })
    }

    /// A key of a target that reads these files.
    pub(crate) fn key(&self, prepared: &Prepared, kind: Kind, mut inputs: Inputs) -> Result<Key, Doubt> {
        if let Some((name, leaf)) = &prepared.response_file {
            inputs.insert(name.clone(), *leaf);
        }
        let working_directory = String::from_utf8_lossy(self.root.below());
        let (input_root, tree) = tree(&inputs, &working_directory)?;
        let kind = match kind {
            Kind::Declared => "declared",
            Kind::Full => "full",
        };
        let action = Action {
            command_digest: Some(prepared.command.0.to_message()),
            input_root_digest: Some(input_root.to_message()),
            salt: [SCHEME, kind, &self.settings.salt].join("\0").into_bytes(),
            platform: Some(prepared.platform.clone()),
            ..Action::default()
        };
        Ok(Key { action: encode(&action), tree })
    }

    /// The operating system, the processor, and the programs that the command runs.
    fn platform(&self, recipe: &Recipe, files: &Files<'_>) -> Result<Platform, Doubt> {
        let property = |name: &str, value: &str| Property { name: name.into(), value: value.into() };
        let mut properties =
            vec![property("OSFamily", std::env::consts::OS), property("ISA", std::env::consts::ARCH)];
        if let Ok(held) = files.held(b"/etc/os-release") {
            properties.push(property("OSRelease", &held.digest.to_string()));
        }
        let Words { programs, others: mut words } = programs(&recipe.command)?;
        if let Some((_, content)) = &recipe.response_file {
            words.extend(content.split(u8::is_ascii_whitespace).map(<[u8]>::to_vec));
        }
        for word in programs {
            // What is an input is in the tree.
            if !word.contains(&b'/') || !self.is_declared(recipe, &word)? {
                properties.push(self.program(&word, files)?);
            }
        }
        // What the description does not say: another machine may have another one.
        for name in words.iter().flat_map(|word| names_in(word)) {
            if name.len() < LONGEST_NAME && !self.is_declared(recipe, name)? {
                properties.extend(self.named(name, files)?);
            }
        }
        properties.sort_unstable_by(|a, b| (&a.name, &a.value).cmp(&(&b.name, &b.value)));
        properties.dedup();
        Ok(Platform { properties })
    }

    /// Whether a name on a command line is that of an input, an output or another file that the rule knows of.
    fn is_declared(&self, recipe: &Recipe, name: &[u8]) -> Result<bool, Doubt> {
        let graph = self.build.graph();
        let mut spelt = name.to_vec();
        path::canonicalize(&mut spelt);
        let below = || self.root.name_of_output(name).ok();
        let file = graph.files.lookup(&spelt).or_else(|| graph.files.lookup(below()?.as_bytes()));
        let is_other =
            |other: &[u8]| !other.is_empty() && self.root.absolute(other) == self.root.absolute(name);
        let Some(file) = file else {
            let response_file = recipe.response_file.as_ref().map_or(&b""[..], |(path, _)| path);
            return Ok(is_other(&recipe.depfile) || is_other(response_file));
        };
        if recipe.inputs.binary_search(&file).is_ok() || recipe.outputs.contains(&file) {
            return Ok(true);
        }
        match graph.producer(file).map(|producer| graph.flags(producer).phony) {
            Some(false) => Err(Doubt::Undeclared(name.into())),
            Some(true) | None => Ok(is_other(&recipe.depfile)),
        }
    }

    /// A file that a command names; `None` for what is none.
    fn named(&self, name: &[u8], files: &Files<'_>) -> Result<Option<Property>, Doubt> {
        let Ok(held) = files.held(name) else { return Ok(None) };
        let name = ["file:", &self.root.name_in_tree(name)?].concat();
        Ok(Some(Property { name, value: held.digest.to_string() }))
    }

    fn program(&self, word: &[u8], files: &Files<'_>) -> Result<Property, Doubt> {
        if let Some(known) = self.programs.read().unwrap_or_else(PoisonError::into_inner).get(word) {
            return known.clone();
        }
        let found = self.find_program(word, files);
        let mut programs = self.programs.write().unwrap_or_else(PoisonError::into_inner);
        programs.entry(word.to_vec()).or_insert(found).clone()
    }

    fn find_program(&self, word: &[u8], files: &Files<'_>) -> Result<Property, Doubt> {
        let missing = || Doubt::Program(word.into());
        let name = ["program:", &self.root.replace(word)?].concat();
        let held = if word.contains(&b'/') {
            files.held(word).map_err(|_| missing())?
        } else {
            let word = to_path(word);
            let directories = std::env::split_paths(&self.settings.search_path);
            let places = directories.filter(|directory| directory.is_absolute());
            let mut candidates = places.map(|directory| directory.join(&word));
            candidates
                .find_map(|place| {
                    files.held(upcheck::os_path::bytes(&place)).ok().filter(|held| held.is_executable)
                })
                .ok_or_else(missing)?
        };
        Ok(Property { name, value: held.digest.to_string() })
    }
}

/// Whether a recipe's command discovers inputs.
pub(crate) fn discovers(recipe: &Recipe) -> bool {
    recipe.discovers != Discovers::Nothing
}
