//! What targets are called in CMake: which of them a file belongs to, and what a name stands for in the generated build.
//!
//! Where CMake's generators put things, seen from the directory of a target (`Config` only with several configurations):
//! - `CMakeFiles/name.dir/[Config/]`: objects, and the rest of what its rules need;
//! - `CMakeFiles/name`, `CMakeFiles/name-Config`, `CMakeFiles/[Config/]name.util`: what stands for a target without a file;
//! - `name_autogen/`: what moc, uic and rcc make.
//!
//! Ninja's names for targets are `name`, `directory/name`, what a file is called without its directory, and all with
//! `:Config`.

use crate::Error;
use crate::reply::{Configuration, Reply, Target};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

/// The targets of one configuration, by what belongs to them.
pub struct Names<'a> {
    reply: &'a Reply,
    configuration: &'a Configuration,
    /// Files, and names without a file, by their full path.
    files: HashMap<Vec<u8>, usize>,
    /// Directories in which all is one target's.
    folders: HashMap<Vec<u8>, usize>,
}

/// Why a name of a target or configuration is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// What was asked for, in words: a target or a configuration, with its name.
    what: String,
    /// What else there is.
    hint: String,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.what, self.hint)
    }
}

impl std::error::Error for Unknown {}

/// Names that every build has and CMake's reply does not tell: what `cmake --build --target` takes beside targets.
const BUILT_IN: [&str; 12] = [
    "all",
    "clean",
    "depend",
    "edit_cache",
    "help",
    "install",
    "install/local",
    "install/strip",
    "list_install_components",
    "package",
    "rebuild_cache",
    "test",
];

/// Which of the configurations is meant: the one called `name`, or else the one that the build takes by itself. Where the
/// generator knows only one it is that, whatever is asked for, as `cmake --build --config` has it.
///
/// # Errors
/// When there is none of that name; the outer error when the directory cannot be read.
pub fn configuration(
    build: &Path,
    reply: &Reply,
    name: Option<&str>,
) -> Result<Result<usize, Unknown>, Error> {
    if !reply.is_multi_config {
        return Ok(Ok(0));
    }
    let names = || reply.configurations.iter().map(|configuration| &*configuration.name);
    let Some(name) = name else {
        let default = default_configuration(build)?;
        return Ok(Ok(names().position(|name| name.as_bytes() == default).unwrap_or(0)));
    };
    Ok(names().position(|other| other == name).ok_or_else(|| {
        let all: Vec<String> = names().map(|name| format!("'{name}'")).collect();
        Unknown {
            what: format!("unknown configuration '{name}'"),
            hint: format!(", there are {}", all.join(", ")),
        }
    }))
}

/// The configuration that `build.ninja` makes by default; empty where it does not say.
fn default_configuration(build: &Path) -> Result<Vec<u8>, Error> {
    const BEFORE: &[u8] = b"\nbuild all: phony all$:";
    let path = build.join("build.ninja");
    let bytes = std::fs::read(&path).map_err(|cause| Error::Io {
        operation: "reading",
        path: upcheck::os_path::bytes(&path).to_vec(),
        cause,
    })?;
    let Some(at) = memchr::memmem::find(&bytes, BEFORE) else { return Ok(Vec::new()) };
    let name = bytes[at + BEFORE.len()..].iter().take_while(|byte| !byte.is_ascii_whitespace());
    Ok(name.copied().collect())
}

impl<'a> Names<'a> {
    /// The names of the configuration at `configuration` in [`Reply::configurations`].
    ///
    /// # Panics
    /// When there are not so many.
    #[must_use]
    pub fn new(reply: &'a Reply, configuration: usize) -> Self {
        let configuration = &reply.configurations[configuration];
        let mut names = Self { reply, configuration, files: HashMap::new(), folders: HashMap::new() };
        names.add_files();
        names.add_generated();
        names.add_names();
        names
    }

    fn add_files(&mut self) {
        for (at, target) in self.configuration.targets.iter().enumerate() {
            for path in &target.artifacts {
                self.files.entry(path.clone()).or_insert(at);
            }
        }
    }

    /// A file may be a source of several targets. It belongs to the one that is made first: none of the others is among
    /// what that one depends on.
    fn add_generated(&mut self) {
        let targets = &self.configuration.targets;
        for at in in_order(targets) {
            for path in &targets[at].generated {
                self.files.entry(path.clone()).or_insert(at);
            }
        }
    }

    fn add_names(&mut self) {
        let (targets, config) = (&self.configuration.targets, &self.configuration.name);
        for (at, Target { name, kind, directory, .. }) in targets.iter().enumerate() {
            let here = self.full(directory);
            let mut folders = vec![format!("CMakeFiles/{name}.dir")];
            if kind == "UTILITY" && name.ends_with("_autogen") {
                folders.push(name.clone());
            }
            for folder in folders {
                self.folders.entry(join(&here, folder.as_bytes())).or_insert(at);
            }
            let mut files = vec![
                format!("CMakeFiles/{name}"),
                format!("CMakeFiles/{name}.util"),
                format!("CMakeFiles/{name}-{config}"),
                format!("CMakeFiles/{config}/{name}.util"),
            ];
            if !directory.is_empty() {
                files.extend([name.clone(), format!("{name}:{config}")]);
            }
            for file in files {
                self.files.entry(join(&here, file.as_bytes())).or_insert(at);
            }
        }
        // What has no directory of its own comes last: a target may be called like what another one makes.
        let build = &self.reply.build;
        for (at, Target { name, .. }) in targets.iter().enumerate() {
            for name in [
                name.clone(),
                format!("{name}:{config}"),
                format!("cmake_object_order_depends_target_{name}"),
                format!("cmake_object_order_depends_target_{name}_{}", config.to_ascii_uppercase()),
            ] {
                self.files.entry(join(build, name.as_bytes())).or_insert(at);
            }
        }
        for (at, target) in targets.iter().enumerate().filter(|(_, target)| target.kind != "OBJECT_LIBRARY") {
            for path in &target.artifacts {
                let (_, name) = upcheck::path::split(path);
                self.files.entry(join(build, name)).or_insert(at);
                self.files.entry([&join(build, name), &b":"[..], config.as_bytes()].concat()).or_insert(at);
            }
        }
    }

    /// A directory of the build.
    fn full(&self, directory: &[u8]) -> Vec<u8> {
        match directory {
            b"" => self.reply.build.clone(),
            _ => join(&self.reply.build, directory),
        }
    }

    /// The target to which a file belongs, as its position in [`Configuration::targets`]. `path` is absolute, or relative to
    /// the build directory; it may also be a name of which there is no file.
    #[must_use]
    pub fn position(&self, path: &[u8]) -> Option<usize> {
        let mut path = join(&self.reply.build, path);
        upcheck::path::canonicalize(&mut path);
        if let Some(&at) = self.files.get(&path) {
            return Some(at);
        }
        let mut folder = &path[..];
        while let Some(end) = memchr::memrchr(b'/', folder) {
            folder = &folder[..end];
            if let Some(&at) = self.folders.get(folder) {
                return Some(at);
            }
        }
        self.version_of(&path)
    }

    /// The target of a file with a version: CMake only tells the name that links to it, as `libx.so` for `libx.so.1.2` and
    /// `x` for `x-1.2`.
    fn version_of(&self, path: &[u8]) -> Option<usize> {
        let is_kind = |at: &&usize, kind: &[&str]| {
            self.configuration.targets.get(**at).is_some_and(|target| kind.contains(&&*target.kind))
        };
        let library = memchr::memmem::find_iter(path, b".so.").map(|at| &path[..at + b".so".len()]);
        let mut library = library.filter_map(|path| self.files.get(path));
        let program = memchr::memchr_iter(b'-', path)
            .filter(|at| path.get(at + 1).is_some_and(u8::is_ascii_digit))
            .map(|at| &path[..at]);
        let mut program = program.filter_map(|path| self.files.get(path));
        let found = library.find(|at| is_kind(at, &["SHARED_LIBRARY", "MODULE_LIBRARY"]));
        found.or_else(|| program.find(|at| is_kind(at, &["EXECUTABLE"]))).copied()
    }

    /// The target to which a file belongs.
    #[must_use]
    pub fn target(&self, path: &[u8]) -> Option<&'a Target> {
        self.position(path).map(|at| &self.configuration.targets[at])
    }

    /// The file in the build directory that ninja reads for this configuration.
    #[must_use]
    pub fn manifest(&self) -> String {
        match self.reply.is_multi_config {
            true => format!("build-{}.ninja", self.configuration.name),
            false => "build.ninja".into(),
        }
    }

    /// What to ask ninja's manifest for, where somebody asks for the target `name`: the first of these that the manifest
    /// knows. Also for what is no target and still stands in every build, as `all`.
    ///
    /// # Errors
    /// When there is no such target; with what might be meant.
    pub fn requests(&self, name: &str) -> Result<Vec<Vec<u8>>, Unknown> {
        let config = &self.configuration.name;
        let in_config = |name: &str| match self.reply.is_multi_config {
            true => vec![format!("{name}:{config}").into_bytes(), name.as_bytes().to_vec()],
            false => vec![name.as_bytes().to_vec()],
        };
        let targets = &self.configuration.targets;
        let Some(target) = targets.iter().find(|target| target.name == name) else {
            return match self.is_built_in(name) {
                true => Ok(in_config(name)),
                false => Err(self.unknown(name)),
            };
        };
        // Ninja has no name of its own for a target that is called like a file that another one makes.
        let at_top = join(&self.reply.build, name.as_bytes());
        let is_taken = targets.iter().any(|other| other.name != name && other.artifacts.contains(&at_top));
        let mut requests = if is_taken { Vec::new() } else { in_config(name) };
        let directory = String::from_utf8_lossy(&target.directory);
        match &*target.kind {
            "EXECUTABLE" | "STATIC_LIBRARY" | "SHARED_LIBRARY" | "MODULE_LIBRARY" => {
                requests.extend(target.artifacts.iter().map(|path| self.below_build(path).to_vec()));
            }
            _ => {
                let here = if directory.is_empty() { String::new() } else { format!("{directory}/") };
                if !here.is_empty() {
                    requests.extend(in_config(&format!("{here}{name}")));
                }
                if target.kind == "UTILITY" {
                    let config =
                        if self.reply.is_multi_config { format!("-{config}") } else { String::new() };
                    requests.push(format!("{here}CMakeFiles/{name}{config}").into_bytes());
                }
            }
        }
        Ok(requests)
    }

    fn below_build<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        path.strip_prefix(&*self.reply.build).and_then(|rest| rest.strip_prefix(b"/")).unwrap_or(path)
    }

    /// Whether the generated build has the name by itself: for the whole, or for a directory.
    fn is_built_in(&self, name: &str) -> bool {
        BUILT_IN.contains(&name)
            || name.strip_suffix("/all").is_some_and(|directory| {
                self.configuration.targets.iter().any(|target| {
                    let below = target.directory.strip_prefix(directory.as_bytes());
                    below.is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
                })
            })
    }

    fn unknown(&self, name: &str) -> Unknown {
        let what = format!("unknown target '{name}'");
        if self.configuration.abstract_targets.iter().any(|target| target == name) {
            return Unknown { what: format!("nothing is made for the target '{name}'"), hint: String::new() };
        }
        let others: Vec<String> = self
            .reply
            .configurations
            .iter()
            .filter(|other| other.targets.iter().any(|target| target.name == name))
            .map(|other| format!("'{}'", other.name))
            .collect();
        if !others.is_empty() {
            let here = &self.configuration.name;
            let hint = format!(" in configuration '{here}', only in {}", others.join(", "));
            return Unknown { what, hint };
        }
        let names = self.configuration.targets.iter().map(|target| &*target.name).chain(BUILT_IN);
        let near = names.map(|near| (strsim::damerau_levenshtein(near, name), near)).min();
        let hint = match near {
            // With all of its letters changed, any name is near.
            Some((distance, near)) if distance <= 3 && distance < name.chars().count().max(2) - 1 => {
                format!(", did you mean '{near}'?")
            }
            _ => String::new(),
        };
        Unknown { what, hint }
    }
}

/// `path` below `base`, unless it is absolute.
fn join(base: &[u8], path: &[u8]) -> Vec<u8> {
    upcheck::path::join(base, path)
}

/// Targets such that each comes behind those it depends on. Where they depend on each other, any of them is first.
fn in_order(targets: &[Target]) -> Vec<usize> {
    let mut order = Vec::with_capacity(targets.len());
    let mut is_seen = vec![false; targets.len()];
    for first in 0..targets.len() {
        // Each with the number of its dependencies that were looked at.
        let mut stack = Vec::new();
        if !std::mem::replace(&mut is_seen[first], true) {
            stack.push((first, 0));
        }
        while let Some((at, next)) = stack.last_mut() {
            match targets[*at].depends.get(*next) {
                Some(&other) => {
                    *next += 1;
                    if is_seen.get_mut(other).is_some_and(|seen| !std::mem::replace(seen, true)) {
                        stack.push((other, 0));
                    }
                }
                None => {
                    order.push(*at);
                    stack.pop();
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests;
