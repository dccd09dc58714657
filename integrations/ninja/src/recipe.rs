//! How a target is made: all that its rule says, and all that the description names for it.

use crate::build::Build;
use crate::error::Error;
use crate::scope::Symbol;
use crate::source::{Source, SourceKind, Stamp};
use std::collections::HashSet;
use upcheck::collect::Disk;
use upcheck::{FileId, TargetId};

/// How a target is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipe {
    /// The command line, as ninja would run it.
    pub command: Vec<u8>,
    /// The path and the content of the response file, where the command has one.
    pub response_file: Option<(Vec<u8>, Vec<u8>)>,
    /// The depfile that the command writes; empty where it writes none.
    pub depfile: Vec<u8>,
    /// Where ninja keeps what the command discovers.
    pub discovers: Discovers,
    /// Whether the command talks to whoever sits at the terminal.
    pub is_console: bool,
    /// Whether it makes the description itself.
    pub is_generator: bool,
    /// Whether a dyndep file has a say in what it reads and writes.
    pub has_dyndep: bool,
    /// The explicit and implicit inputs, in the order of their numbers. Phony ones are not among them, what they stand for
    /// is.
    pub inputs: Vec<FileId>,
    /// The phony names among the inputs, which may be files, too.
    pub phony: Vec<FileId>,
    /// What must be there first, phony names replaced by what they stand for, in the order of their numbers.
    pub order_only: Vec<FileId>,
    /// The outputs, explicit and implicit ones, in the order of the description.
    pub outputs: Vec<FileId>,
}

/// Where ninja keeps what a command has discovered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discovers {
    /// It discovers nothing.
    #[default]
    Nothing,
    /// In the depfile, which stays.
    InDepfile,
    /// In the deps log.
    InLog,
}

impl Build {
    /// How a target is made.
    ///
    /// # Errors
    /// When the rule's variables expand to each other without end, or the rules were not loaded.
    pub fn recipe(&self, target: TargetId) -> Result<Recipe, Error> {
        let escaped = |symbol| self.binding(target, symbol, true);
        let depfile = self.binding(target, Symbol::DEPFILE, false)?;
        let discovers = match (escaped(Symbol::DEPS)?.is_empty(), depfile.is_empty()) {
            (false, _) => Discovers::InLog,
            (true, false) => Discovers::InDepfile,
            (true, true) => Discovers::Nothing,
        };
        let response_file = match self.binding(target, Symbol::RSPFILE, false)? {
            path if path.is_empty() => None,
            path => Some((path, escaped(Symbol::RSPFILE_CONTENT)?)),
        };
        let graph = &self.graph;
        let (inputs, phony) = self.behind_phony(graph.dirtying_inputs(target));
        let (order_only, _) = self.behind_phony(graph.ordering_inputs(target));
        Ok(Recipe {
            command: escaped(Symbol::COMMAND)?,
            response_file,
            depfile,
            discovers,
            is_console: escaped(Symbol::POOL)? == b"console",
            is_generator: self.is_generator(target)?,
            has_dyndep: graph.dyndep(target).is_some(),
            order_only: order_only.into_iter().filter(|file| inputs.binary_search(file).is_err()).collect(),
            inputs,
            phony,
            outputs: graph.outputs(target).to_vec(),
        })
    }

    /// Whether a target makes the description itself: what [`Recipe::is_generator`] says, without the rest.
    ///
    /// # Errors
    /// As [`Build::recipe`].
    pub fn is_generator(&self, target: TargetId) -> Result<bool, Error> {
        Ok(!self.binding(target, Symbol::GENERATOR, true)?.is_empty())
    }

    /// Where the build log is, relative to the build directory, whether it is there or not.
    #[must_use]
    pub fn log_path(&self) -> &[u8] {
        self.source_path(SourceKind::BuildLog).unwrap_or(b".ninja_log")
    }

    /// Where the deps log is, relative to the build directory, whether it is there or not.
    #[must_use]
    pub fn deps_log_path(&self) -> &[u8] {
        self.source_path(SourceKind::DepsLog).unwrap_or(b".ninja_deps")
    }

    /// Whether both logs look as they did when they were read. Cost: two stats.
    #[must_use]
    pub fn has_logs_as_read(&self, disk: &dyn Disk) -> bool {
        let is_log = |source: &&Source| matches!(source.kind, SourceKind::BuildLog | SourceKind::DepsLog);
        let mut logs = self.sources.iter().filter(is_log);
        logs.all(|log| Stamp::from_stat(disk.stat(&log.path)) == Some(log.stamp))
    }

    fn source_path(&self, kind: SourceKind) -> Option<&[u8]> {
        self.sources.iter().find(|source| source.kind == kind).map(|source| source.path.as_slice())
    }

    /// What files stand for, and the phony names among them; each in the order of their numbers.
    fn behind_phony(&self, files: &[FileId]) -> (Vec<FileId>, Vec<FileId>) {
        let (mut seen, mut left) = (HashSet::new(), files.to_vec());
        let (mut found, mut phony) = (Vec::new(), Vec::new());
        while let Some(file) = left.pop() {
            if !seen.insert(file) {
                continue;
            }
            let producer = self.graph.producer(file);
            match producer.filter(|&producer| self.graph.flags(producer).phony) {
                Some(producer) => {
                    phony.push(file);
                    left.extend_from_slice(self.graph.dirtying_inputs(producer));
                }
                None => found.push(file),
            }
        }
        found.sort_unstable();
        phony.sort_unstable();
        (found, phony)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Build, Options};
    use upcheck::collect::MemoryDisk;

    #[test]
    fn a_recipe_has_what_stands_behind_phony_names_and_all_that_the_rule_says() {
        let mut disk = MemoryDisk::new();
        let manifest = "rule cc\n command = cc @$out.rsp -o $out\n rspfile = $out.rsp\n rspfile_content = $in\n \
                        depfile = $out.d\n deps = gcc\n pool = console\nbuild a | b: cc c all | d || e\n\
                        build all: phony f again\nbuild again: phony g\n";
        disk.write("build.ninja", manifest.as_bytes());
        let build = Build::load(&disk, &Options::default()).expect("loads");
        let graph = build.graph();
        let target = graph.producer(graph.files.lookup(b"a").expect("a")).expect("its target");
        let recipe = build.recipe(target).expect("a recipe");
        let names = |files: &[upcheck::FileId]| -> Vec<&str> {
            let mut names: Vec<_> = files
                .iter()
                .map(|&file| std::str::from_utf8(graph.files.path(file)).expect("text"))
                .collect();
            names.sort_unstable();
            names
        };
        assert_eq!(names(&recipe.inputs), ["c", "d", "f", "g"]);
        assert_eq!(names(&recipe.phony), ["again", "all"]);
        assert_eq!(names(&recipe.order_only), ["e"]);
        assert_eq!(names(&recipe.outputs), ["a", "b"]);
        assert_eq!(recipe.command, b"cc @a.rsp -o a".to_vec(), "{}", recipe.command.escape_ascii());
        assert_eq!(recipe.response_file, Some((b"a.rsp".to_vec(), b"c all".to_vec())));
        assert!(recipe.is_console && !recipe.is_generator && recipe.discovers == super::Discovers::InLog);
    }
}
