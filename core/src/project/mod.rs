//! A project: targets that a caller describes, and the question which of them are stale.
//!
//! ```text
//!   describe:  Project::add         targets with inputs by role, outputs, command, values, depfile, globs
//!   ask:       Project::check       globs, records and depfiles are read, all files looked at, all targets judged
//!   build:     Project::begin       how the inputs are now, on record before the first of them is read
//!              ... the caller runs what makes the target ...
//!              Project::commit      how the outputs came out, and that it succeeded
//! ```
//!
//! A check writes nothing. What a success looked like is kept in a [`Records`](crate::records::Records) store, which
//! only [`Project::begin`] and [`Project::commit`] write to.
//!
//! ```
//! use std::fs;
//! use upcheck::collect::os_disk;
//! use upcheck::project::{Description, Options};
//! use upcheck::{Project, records::Records};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = std::env::temp_dir().join(format!("upcheck-project-{}", std::process::id()));
//! # fs::create_dir_all(&dir)?;
//! # let dir = dir.as_path();
//! fs::write(dir.join("a.txt"), "a")?;
//! let mut project = Project::new();
//! let (input, output) = (project.file(b"a.txt")?, project.file(b"out.txt")?);
//! let target = project.add(&Description {
//!     outputs: &[output],
//!     explicit: &[input],
//!     command: b"cp a.txt out.txt",
//!     values: &[(b"LANG", b"C")],
//!     ..Description::default()
//! })?;
//!
//! let disk = os_disk(dir)?;
//! let mut records = Records::open(&dir.join(".upcheck"))?;
//! let options = Options::default();
//! let checked = project.check(&disk, Some(&records), &[output], options)?;
//! let codes: Vec<_> = checked.report.stale[0].reasons.iter().map(|reason| reason.code()).collect();
//! assert_eq!(codes, ["never-built", "output-missing"]);
//!
//! let begun = project.begin(&disk, &mut records, &[target], options)?;
//! fs::copy(dir.join("a.txt"), dir.join("out.txt"))?;
//! project.commit(&disk, &mut records, begun, options)?;
//! assert!(project.check(&disk, Some(&records), &[output], options)?.is_fresh());
//!
//! // Touched, not changed: the content is looked at, and is the same.
//! fs::write(dir.join("a.txt"), "a")?;
//! assert!(project.check(&disk, Some(&records), &[output], options)?.is_fresh());
//!
//! fs::write(dir.join("a.txt"), "b")?;
//! let checked = project.check(&disk, Some(&records), &[output], options)?;
//! assert_eq!(checked.report.stale[0].reasons[0].code(), "input-changed");
//!
//! // And the other way round: what would go stale if this file changed?
//! let files: [&[&[u8]]; 2] = [&[b"a.txt"], &[b"README"]];
//! let (affected, unknown) = project.affected(&disk, Some(&records), &files, options)?;
//! assert_eq!((affected[0].target, unknown), (target, vec![1]));
//! # fs::remove_dir_all(dir)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Which rule holds
//!
//! | the target's policy, else the project's | there is a store | there is none |
//! |---|---|---|
//! | none | [`Policy::MtimeAndDigestInput`] | [`Policy::Newer`] |
//! | [`Policy::Newer`] | by times alone | by times alone |
//! | another | by record; never built where there is none | never built |
//!
//! A target without outputs is always judged by its record: no time tells when it was last done.
//!
//! # Threads and processes
//!
//! A project and a store are changed by one thread at a time: drivers that run commands in parallel keep both behind a
//! mutex, and hold it only to begin and to commit. Several processes may use one store.

mod affected;
mod build;
mod check;
mod digests;
mod error;
mod inputs;
mod look;
mod settled;

pub use build::{Begun, Committed};
pub use check::{Checked, Options};
pub use error::{DescribeError, ProjectError};
pub use settled::{Settled, Sources, StillFresh};

use crate::content::DigestCache;
use crate::globs::Globs;
use crate::graph::{DuplicateOutput, Flags, Graph, TargetDesc};
use crate::ids::{FileId, TargetId, narrow};
use crate::path;
use crate::policy::Policy;
use crate::reason::Reason;
use digests::Digests;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What a caller hands in for one target. All slices are copied.
#[derive(Clone, Copy, Debug, Default)]
pub struct Description<'a> {
    /// The files that the target's command writes. The first one names the target, unless it has a `name`.
    pub outputs: &'a [FileId],
    /// What to call a target that writes no file: a check, a test run. Only for a target without outputs.
    pub name: &'a [u8],
    /// Inputs that are named on the command line.
    pub explicit: &'a [FileId],
    /// Inputs that count like explicit ones but are not on the command line: headers, scripts, tools.
    pub implicit: &'a [FileId],
    /// Inputs that must be there first, whose changes do not count.
    pub order_only: &'a [FileId],
    /// Targets that are to be brought up to date along with this one, without being its inputs.
    pub validations: &'a [FileId],
    /// The command, in whatever form the caller compares it: a line, or arguments with NULs between them.
    pub command: &'a [u8],
    /// Names and values that the target depends on beside files: options, environment variables, versions of tools.
    pub values: &'a [(&'a [u8], &'a [u8])],
    /// The file in which the command says, in make's format, what it has read.
    pub depfile: &'a [u8],
    /// The directory in which the command runs: what relative names in the depfile start from. Empty for the directory
    /// that all relative paths start from.
    pub directory: &'a [u8],
    /// Patterns whose matches are inputs, see [`Globs`]. A file that appears or disappears is a change.
    pub globs: &'a [&'a str],
    /// When an input or an output counts as changed; `None` for the project's policy.
    pub policy: Option<Policy>,
    /// A mere name for its inputs: it has no command, no record, and nothing to run.
    pub phony: bool,
    /// The command may leave its outputs as they are: what is made from them is pending while this target is stale. Of a
    /// phony target: it stands for what may be changed by what it names.
    pub restat: bool,
    /// Why the target is stale, where whoever describes it has found that out: it is stale for these reasons, and fresh
    /// without any, whatever its files and records say ([`Rule::Given`](crate::history::Rule::Given)).
    pub given: Option<&'a [Reason]>,
}

/// Names and values that all targets depend on.
type CommonValues = BTreeMap<Vec<u8>, Vec<u8>>;

/// Targets, described by their builder.
#[derive(Default)]
pub struct Project {
    graph: Graph,
    /// Indexed by target.
    targets: Vec<Details>,
    /// Commands, values, depfiles and directories, one after the other.
    texts: Vec<u8>,
    /// Ends of names and of values, in turn, in `texts`.
    values: Vec<u32>,
    globs: Vec<Globs>,
    /// Why targets are stale that their describer has judged, by target.
    given: HashMap<TargetId, Box<[Reason]>>,
    /// The targets asked about where a question names none; all where it is empty.
    defaults: Vec<FileId>,
    policy: Option<Policy>,
    /// What every target depends on beside files, by name.
    common_values: Arc<CommonValues>,
    /// The directory that relative paths start from, absolute and with a `/` at its end; empty where nobody said.
    base: Vec<u8>,
    path: Vec<u8>,
    /// How many of the first files are known to have canonical paths, each another one.
    n_proved: usize,
    digests: Digests,
}

/// What the graph does not know of a target.
#[derive(Clone, Copy, Debug)]
struct Details {
    /// Where its command begins in `texts`; then come its values, its depfile and its directory.
    start: u32,
    command_end: u32,
    /// Where its values stand in `values`.
    values: (u32, u32),
    depfile_end: u32,
    directory_end: u32,
    /// Where its patterns stand in `globs`, plus one; 0 for none.
    globs: u32,
    policy: Option<Policy>,
}

impl Project {
    /// A project without targets.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the directory that relative paths start from, an absolute path. Absolute paths below it are then the same
    /// files as relative ones.
    pub fn set_base(&mut self, base: &[u8]) {
        self.base = base.to_vec();
        canonicalize(&mut self.base);
        if self.base.last() != Some(&b'/') {
            self.base.push(b'/');
        }
        // Absolute paths that are known already may be below it.
        self.n_proved = 0;
    }

    /// Sets the policy of the targets that have none of their own. Without one it is
    /// [`Policy::MtimeAndDigestInput`] where the project has a store of records, and [`Policy::Newer`] where it has none.
    pub fn set_policy(&mut self, policy: Option<Policy>) {
        self.policy = policy;
    }

    /// Sets a cache of digests that outlives the process, so that content need not be read again. No answer depends on it.
    pub fn set_digest_cache(&mut self, cache: DigestCache) {
        self.digests.cache = Some(cache);
    }

    /// Takes the cache of digests back, to save it.
    pub fn take_digest_cache(&mut self) -> Option<DigestCache> {
        self.digests.cache.take()
    }

    /// Sets names and values that every target depends on, unless it has its own value of that name: what is the same for
    /// all is kept once. It holds for targets that were added before, too.
    pub fn set_values(&mut self, values: BTreeMap<Vec<u8>, Vec<u8>>) {
        self.common_values = Arc::new(values);
    }

    /// Sets the targets that are meant where a question names none. Without any, all targets are meant.
    pub fn set_defaults(&mut self, defaults: Vec<FileId>) {
        self.defaults = defaults;
    }

    /// The file of a path. Costs a hash of the path, and its bytes if it is new; no allocation.
    ///
    /// # Errors
    /// When the path is empty or has a NUL in it, or when there are four billion files.
    pub fn file(&mut self, path: &[u8]) -> Result<FileId, DescribeError> {
        check_path(path)?;
        if self.graph.files.len() >= MOST {
            return Err(DescribeError::TooMany("files"));
        }
        if self.base.is_empty() && is_canonical(path) {
            return Ok(self.graph.files.intern(path));
        }
        self.path.clear();
        self.path.extend_from_slice(path);
        canonicalize(&mut self.path);
        Ok(self.graph.files.intern(below(&self.base, &self.path)))
    }

    /// The files of many paths with a separator between them, for instance a NUL; appended to `files`. An empty path at
    /// the end is none.
    ///
    /// # Errors
    /// As [`Project::file`], with all files before the one in question appended.
    pub fn files(
        &mut self,
        paths: &[u8],
        separator: u8,
        files: &mut Vec<FileId>,
    ) -> Result<(), DescribeError> {
        let paths = paths.strip_suffix(&[separator]).unwrap_or(paths);
        if paths.is_empty() {
            return Ok(());
        }
        for path in paths.split(|&byte| byte == separator) {
            files.push(self.file(path)?);
        }
        Ok(())
    }

    /// Adds many paths as new files, numbered from the one that is returned on. Path `k` is `bytes[ends[k - 1]..ends[k]]`.
    /// The caller says that all of them are canonical (see [`path`](crate::path)), relative where they are below the
    /// base, and that none is in the project yet. Cost: one copy; nothing is hashed.
    ///
    /// That it is so is proved by the next question, which is refused otherwise: two numbers for one file could make
    /// a stale target look fresh.
    ///
    /// # Errors
    /// When the ends do not ascend to the length of `bytes`, or there are four billion files.
    pub fn add_distinct(&mut self, bytes: &[u8], ends: &[u64]) -> Result<FileId, DescribeError> {
        let first = self.check_distinct(bytes, ends)?;
        self.graph.files.append(bytes, ends);
        Ok(first)
    }

    /// [`Project::add_distinct`] to a project without files, without a copy. Whatever adds another file later, for
    /// instance a depfile that a check reads, costs the copy all the same.
    ///
    /// # Errors
    /// As [`Project::add_distinct`], and where there are files already.
    pub fn borrow_distinct(
        &mut self,
        bytes: &'static [u8],
        ends: &'static [u64],
    ) -> Result<FileId, DescribeError> {
        let first = self.check_distinct(bytes, ends)?;
        if first.index() != 0 {
            return Err(DescribeError::NotFirst);
        }
        self.graph.files.borrow(bytes, ends);
        Ok(first)
    }

    fn check_distinct(&self, bytes: &[u8], ends: &[u64]) -> Result<FileId, DescribeError> {
        if !ends.is_sorted() || ends.last().map_or(0, |end| *end) != bytes.len() as u64 {
            return Err(DescribeError::Ends);
        }
        if ends.len() > MOST - self.graph.files.len().min(MOST) {
            return Err(DescribeError::TooMany("files"));
        }
        Ok(FileId::new(self.graph.files.len()))
    }

    /// Proves what callers said of paths; see [`Project::add_distinct`].
    fn prove_paths(&mut self) -> Result<(), ProjectError> {
        self.graph.files.index();
        if let Some(file) = self.graph.files.twice() {
            let path = self.graph.files.path(file).to_vec();
            return Err(ProjectError::Description(DescribeError::PathTwice(path)));
        }
        for file in self.graph.files.ids().skip(self.n_proved) {
            let path = self.graph.files.path(file);
            check_path(path).map_err(ProjectError::Description)?;
            if !is_canonical(path) || below(&self.base, path) != path {
                return Err(ProjectError::Description(DescribeError::NotCanonical(path.to_vec())));
            }
        }
        self.n_proved = self.graph.files.len();
        Ok(())
    }

    /// Adds a target. Cost: one copy of each slice.
    ///
    /// # Errors
    /// When one of its outputs is made by another target, when it has neither outputs nor a name, when it is phony and has
    /// what only a command can have, when a pattern is no pattern, or when a table is full. The project is then as it was before.
    pub fn add(&mut self, description: &Description<'_>) -> Result<TargetId, DescribeError> {
        let Description { outputs, name, .. } = *description;
        let named;
        let name_only = outputs.is_empty();
        let outputs = match (outputs.is_empty(), name.is_empty()) {
            (true, true) => return Err(DescribeError::Nameless),
            (true, false) => {
                named = [self.file(name)?];
                &named
            }
            _ => outputs,
        };
        let only_with_command = [
            ("command", !description.command.is_empty()),
            ("values", !description.values.is_empty()),
            ("depfile", !description.depfile.is_empty()),
            ("globs", !description.globs.is_empty()),
            ("policy", description.policy.is_some()),
            ("given", description.given.is_some()),
        ];
        if let Some((what, _)) = only_with_command.iter().find(|(_, is_there)| description.phony && *is_there)
        {
            return Err(DescribeError::PhonyWith(what));
        }
        let globs = match description.globs.is_empty() {
            true => None,
            false => Some(Globs::new(description.globs).map_err(DescribeError::Glob)?),
        };
        let has_room = self.has_room(description);
        if !has_room {
            return Err(DescribeError::TooMany("inputs"));
        }
        let phony = description.phony;
        let target = self
            .graph
            .add_target(TargetDesc {
                outputs,
                explicit: description.explicit,
                implicit: description.implicit,
                order_only: description.order_only,
                validations: description.validations,
                dyndep: None,
                flags: Flags {
                    phony,
                    name_only: name_only && !phony,
                    restat: description.restat,
                    ..Flags::default()
                },
            })
            .map_err(|duplicate| self.duplicate(duplicate))?;
        self.add_details(description, globs);
        if let Some(reasons) = description.given {
            self.given.insert(target, reasons.into());
        }
        Ok(target)
    }

    /// Whether whoever described a target has judged it, too: there is nothing to record of it.
    #[must_use]
    pub fn is_given(&self, target: TargetId) -> bool {
        self.given.contains_key(&target)
    }

    /// The targets and their files.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The file that a path names, if any target names it. For questions.
    #[must_use]
    pub fn lookup(&self, path: &[u8]) -> Option<FileId> {
        self.graph.files.lookup(&self.relative(path))
    }

    /// [`Project::lookup`] that makes sure first that it need not look through all paths.
    pub fn find(&mut self, path: &[u8]) -> Option<FileId> {
        self.graph.files.index();
        self.lookup(path)
    }

    /// A path as the project writes it: canonical, and below the base relative to that.
    #[must_use]
    pub fn relative(&self, path: &[u8]) -> Vec<u8> {
        let mut path = path.to_vec();
        canonicalize(&mut path);
        below(&self.base, &path).to_vec()
    }

    /// What is meant where a question names nothing: the defaults, or one output of each target.
    #[must_use]
    pub fn default_requests(&self) -> Vec<FileId> {
        if !self.defaults.is_empty() {
            return self.defaults.clone();
        }
        self.graph.targets().filter_map(|target| self.graph.outputs(target).first().copied()).collect()
    }

    /// The command of a target, as it was described.
    #[must_use]
    pub fn command(&self, target: TargetId) -> &[u8] {
        let details = self.targets[target.index()];
        &self.texts[details.start as usize..details.command_end as usize]
    }

    /// The names and values that a target depends on, sorted by name: its own, and those of all targets.
    pub fn values(&self, target: TargetId) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.values_with(target, &self.common_values)
    }

    /// The same, had these been the values of all targets.
    fn values_with<'a>(
        &'a self,
        target: TargetId,
        common: &'a CommonValues,
    ) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let mut own = self.own_values(target).peekable();
        let mut common = common.iter().peekable();
        std::iter::from_fn(move || {
            let Some(&(name, _)) = own.peek() else {
                return common.next().map(|(name, value)| (name.as_slice(), value.as_slice()));
            };
            if let Some((name, value)) = common.next_if(|(other, _)| other.as_slice() < name) {
                return Some((name, value));
            }
            common.next_if(|(other, _)| other.as_slice() == name);
            own.next()
        })
    }

    fn own_values(&self, target: TargetId) -> impl Iterator<Item = (&[u8], &[u8])> {
        let details = self.targets[target.index()];
        let ends = &self.values[details.values.0 as usize..details.values.1 as usize];
        let mut start = details.command_end;
        ends.chunks_exact(2).map(move |pair| {
            let (name, value) = (start as usize..pair[0] as usize, pair[0] as usize..pair[1] as usize);
            start = pair[1];
            (&self.texts[name], &self.texts[value])
        })
    }

    /// The depfile of a target; empty for none.
    #[must_use]
    pub fn depfile(&self, target: TargetId) -> &[u8] {
        let details = self.targets[target.index()];
        let start = match details.values.0 == details.values.1 {
            true => details.command_end,
            false => self.values[details.values.1 as usize - 1],
        };
        &self.texts[start as usize..details.depfile_end as usize]
    }

    /// The file of a name in a target's depfile.
    fn discovered(&mut self, target: TargetId, name: &[u8]) -> Result<FileId, DescribeError> {
        let details = self.targets[target.index()];
        let directory = &self.texts[details.depfile_end as usize..details.directory_end as usize];
        if directory.is_empty() || name.is_empty() || path::is_absolute(name) {
            return self.file(name);
        }
        let path = path::join(directory, name);
        self.file(&path)
    }

    /// The patterns of a target.
    #[must_use]
    pub fn globs(&self, target: TargetId) -> Option<&Globs> {
        let globs = self.targets[target.index()].globs.checked_sub(1)?;
        self.globs.get(globs as usize)
    }

    /// The policy of a target; `None` where neither it nor the project has one.
    #[must_use]
    pub fn policy(&self, target: TargetId) -> Option<Policy> {
        self.targets[target.index()].policy.or(self.policy)
    }

    /// The hash of a target's command, as records keep it: the first half of its BLAKE3 digest's first 16 bytes.
    #[must_use]
    pub fn command_hash(&self, target: TargetId) -> u64 {
        let digest = blake3::hash(self.command(target));
        let mut first = [0; 8];
        first.copy_from_slice(&digest.as_bytes()[..8]);
        u64::from_le_bytes(first)
    }

    fn has_room(&self, description: &Description<'_>) -> bool {
        let n_inputs = description.explicit.len() + description.implicit.len() + description.order_only.len();
        let values = description.values.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        let n_texts =
            description.command.len() + values + description.depfile.len() + description.directory.len();
        let n_all = self.graph.n_inputs() + n_inputs;
        n_all < MOST && self.texts.len() + n_texts < MOST && self.targets.len() < MOST
    }

    fn add_details(&mut self, description: &Description<'_>, globs: Option<Globs>) {
        let start = narrow(self.texts.len());
        self.texts.extend_from_slice(description.command);
        let command_end = narrow(self.texts.len());
        let first_value = narrow(self.values.len());
        let mut values = description.values.to_vec();
        values.sort_unstable();
        for (name, value) in values {
            for text in [name, value] {
                self.texts.extend_from_slice(text);
                self.values.push(narrow(self.texts.len()));
            }
        }
        if !description.depfile.is_empty() {
            let depfile = self.relative(description.depfile);
            self.texts.extend_from_slice(&depfile);
        }
        let depfile_end = narrow(self.texts.len());
        self.texts.extend_from_slice(description.directory);
        self.globs.extend(globs);
        self.targets.push(Details {
            start,
            command_end,
            values: (first_value, narrow(self.values.len())),
            depfile_end,
            directory_end: narrow(self.texts.len()),
            globs: if description.globs.is_empty() { 0 } else { narrow(self.globs.len()) },
            policy: description.policy,
        });
    }

    fn duplicate(&self, duplicate: DuplicateOutput) -> DescribeError {
        let path = self.graph.files.path(duplicate.file).to_vec();
        match duplicate.same_target {
            true => DescribeError::OutputTwice(path),
            false => DescribeError::OutputOfTwo(path, self.graph.name(duplicate.producer).to_vec()),
        }
    }
}

/// How many entries a table may have: ids are 32 bits, and some stand for none.
const MOST: usize = if cfg!(test) { 1000 } else { u32::MAX as usize - 16 };

/// Canonicalises a path. A drive has one letter, however it is written: here, since ninja lets it have two.
fn canonicalize(path: &mut Vec<u8>) {
    path::canonicalize(path);
    if cfg!(windows) && path.get(1) == Some(&b':') {
        path[0].make_ascii_uppercase();
    }
}

fn is_canonical(path: &[u8]) -> bool {
    path::is_canonical(path) && !(cfg!(windows) && path.get(1) == Some(&b':') && path[0].is_ascii_lowercase())
}

/// A canonical path relative to the base, where it is that or below.
fn below<'a>(base: &[u8], path: &'a [u8]) -> &'a [u8] {
    if !path.is_empty() && base.strip_suffix(b"/") == Some(path) {
        return b".";
    }
    match path.strip_prefix(base) {
        Some(relative) if !base.is_empty() && !relative.is_empty() => relative,
        _ => path,
    }
}

fn check_path(path: &[u8]) -> Result<(), DescribeError> {
    if path.is_empty() {
        return Err(DescribeError::EmptyPath);
    }
    if path.contains(&0) {
        return Err(DescribeError::NulInPath(path.to_vec()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(result: Result<impl Sized, DescribeError>) -> String {
        result.err().expect("an error").to_string()
    }

    #[test]
    fn what_does_not_fit_into_the_tables_is_an_error() {
        let mut project = Project::new();
        for n in 0..MOST {
            project.file(format!("file{n}").as_bytes()).expect("there is room");
        }
        assert_eq!(error(project.file(b"one more")), "there are more files than fit into 32 bits");

        let mut project = Project::new();
        let [out, a] = ["out", "a"].map(|name| project.file(name.as_bytes()).expect("a name"));
        let inputs = vec![a; MOST];
        let description = Description { outputs: &[out], explicit: &inputs, ..Description::default() };
        assert_eq!(error(project.add(&description)), "there are more inputs than fit into 32 bits");
        let command = vec![b'x'; MOST];
        let description = Description { outputs: &[out], command: &command, ..Description::default() };
        assert!(project.add(&description).is_err(), "a command that is too long");
        assert_eq!(project.graph().n_targets(), 0, "nothing was added");
        let description = Description { outputs: &[out], explicit: &[a], ..Description::default() };
        project.add(&description).expect("there is room");
    }

    #[test]
    fn what_makes_no_target_is_an_error_and_leaves_the_project_as_it_was() {
        let mut project = Project::new();
        assert_eq!(error(project.file(b"")), "a path is empty");
        assert_eq!(error(project.file(b"a\0b")), "the path \"a\\0b\" has a NUL in it");
        assert_eq!(error(project.add(&Description::default())), "a target has neither outputs nor a name");
        let phony = Description { name: b"all", phony: true, command: b"make", ..Description::default() };
        assert_eq!(error(project.add(&phony)), "a phony target has no command: it runs nothing");
        let [out, other] = ["out", "other"].map(|name| project.file(name.as_bytes()).expect("a name"));
        let twice = Description { outputs: &[out, out], ..Description::default() };
        assert_eq!(error(project.add(&twice)), "'out' is twice an output of the same target");
        project.add(&Description { outputs: &[out], ..Description::default() }).expect("right");
        let taken = Description { outputs: &[other, out], ..Description::default() };
        assert_eq!(error(project.add(&taken)), "'out' is an output of two targets, the other one is 'out'");
        let glob = Description { outputs: &[other], globs: &["src/[a"], ..Description::default() };
        assert!(project.add(&glob).is_err());
        assert_eq!(project.graph().n_targets(), 1);
        project.add(&Description { outputs: &[other], ..Description::default() }).expect("still free");
    }
}
