//! The Makefiles that CMake's generator `Unix Makefiles` writes, as targets of a [`Project`].
//!
//! # What there is
//!
//! ```text
//! Makefile                 goals for people; each asks first whether CMake has to run again
//! CMakeFiles/
//!   Makefile.cmake         what that depends on                                            configure.rs
//!   Makefile2              which CMake targets there are, and which come before which      this file
//! a/CMakeFiles/X.dir/      one for each CMake target                                       target.rs
//!   build.make             the rules for its files                                         rules.rs
//!   DependInfo.cmake       where its headers are to be found                               script.rs
//!   *.internal, *.o.d      its headers                                                     deps.rs
//! ```
//!
//! `make` runs one make for each CMake target, after those that it depends on: first for `X.dir/depend`, which makes
//! generated files and then runs `cmake -E cmake_depends` to know the headers, then for `X.dir/build`. Here all of this is
//! one graph. A file that rules of several CMake targets make, because each of them names the command's output, is one
//! target with the inputs of all.
//!
//! # What stands for what
//!
//! | in the Makefiles | here |
//! |---|---|
//! | a rule with commands | a target that is judged by times; with `restat` unless it compiles or links |
//! | a rule without commands | a phony name, or a target where a rule with commands uses it |
//! | `.PHONY` with commands | a target that is always stale |
//! | `X.dir/depend`, `X.dir/build` | what they name are inputs of the phony name `X.dir/all` |
//! | `X` of a custom target | the phony name `X.dir/X`: a file may be called like it |
//! | `all` | the phony name `CMakeFiles/all.dir/all`, no CMake target being called so |
//! | a scan for includes | `X.dir/depend`, a name with `restat`: what it will find is open |
//! | what a command makes beside its outputs | `X.dir/byproducts`, a phony name with `restat`, and a phony name for each that is used |

mod configure;
mod deps;
mod names;
mod rules;
mod script;
mod target;

use crate::Error;
use crate::globs::Difference;
use names::Files;
use rules::{Recipe, Rules};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use target::{Target, Why, is_below};
use upcheck::collect::Disk;
use upcheck::project::Description;
use upcheck::{FileId, Policy, Project, Reason, Stat, TargetId, narrow};

/// What stands in the Makefiles beside the rules for files.
#[derive(Clone, Debug)]
pub struct Makefiles {
    /// What `make` makes where no goal is named.
    pub all: FileId,
    /// The target that stands for running CMake again.
    pub configure: TargetId,
    /// Names that `make` and `cmake --build --target` take, with the file that stands for each.
    pub goals: Vec<(Vec<u8>, FileId)>,
}

/// What a build runs commands to find out, and the caller has found out himself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// In what globs differ, where the project has any with CONFIGURE_DEPENDS.
    pub globs: Option<&'a Difference>,
    /// What is fresh, whatever its rule says, by its first output.
    pub fresh: &'a [&'a [u8]],
}

/// Describes what the Makefiles of the directory at the disk's base say.
///
/// The project's base becomes the build directory as CMake calls it, so that names in full are the same files as relative
/// ones. The project's policy becomes make's, [`Policy::Newer`]; whoever sets another one afterwards lets records decide.
/// Whoever asks about a goal asks about `configure`, too.
///
/// # Errors
/// When they cannot be read, are not what CMake writes, or are about another directory.
pub fn describe(disk: &dyn Disk, known: Known<'_>, project: &mut Project) -> Result<Makefiles, Error> {
    let place = Place::read(disk)?;
    project.set_base(&place.build);
    project.set_policy(Some(Policy::Newer));
    let makefile2 = Rules::parse(&read(disk, MAKEFILE2)?, MAKEFILE2)?;
    let directories: Vec<&[u8]> =
        makefile2.rules.iter().filter_map(|rule| directory(&makefile2, rule)).collect();
    let targets = read_targets(disk, &directories, &place)?;
    let mut describer = Describer {
        project,
        files: Files::default(),
        made: Vec::new(),
        numbers: Vec::new(),
        names: Vec::new(),
    };
    let (configure, configured) = configure::describe(disk, known.globs, &mut describer)?;
    for target in &targets {
        describer.target(target)?;
    }
    let used = describer.used();
    for target in &targets {
        describer.byproducts(disk, target, &used)?;
    }
    let fresh = describer.files(known.fresh.iter().copied())?;
    describer.add_files(&used, &fresh)?;
    let (all, goals) = describer.goals(&makefile2, &directories, configured)?;
    Ok(Makefiles { all, configure, goals })
}

const MAKEFILE2: &[u8] = b"CMakeFiles/Makefile2";

/// Reads a file that has to be there.
fn read(disk: &dyn Disk, path: &[u8]) -> Result<Vec<u8>, Error> {
    disk.read(path).map_err(|cause| Error::Io { operation: "reading", path: path.to_vec(), cause })
}

fn read_if_there(disk: &dyn Disk, path: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    match disk.read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Error::Io { operation: "reading", path: path.to_vec(), cause }),
    }
}

/// Where the directories are, as CMake calls them.
struct Place {
    build: Vec<u8>,
    source: Vec<u8>,
}

impl Place {
    /// Reads it from the cache, and makes sure that it is here: the commands in the Makefiles go where it says.
    fn read(disk: &dyn Disk) -> Result<Self, Error> {
        let path = b"CMakeCache.txt";
        let cache = read(disk, path)?;
        let value = |name: &[u8]| {
            let line = cache.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(name));
            let value = line.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
            value.filter(|value| upcheck::path::is_absolute(value)).map(<[u8]>::to_vec)
        };
        let (Some(build), Some(source)) =
            (value(b"CMAKE_CACHEFILE_DIR:INTERNAL="), value(b"CMAKE_HOME_DIRECTORY:INTERNAL="))
        else {
            let message = "it does not say where the build and the source directory are".into();
            return Err(Error::Content { path: path.to_vec(), line: 0, message });
        };
        let there = disk.stat(&[build.as_slice(), b"/CMakeCache.txt"].concat());
        match (there, disk.stat(path)) {
            (Stat::Present(there), Stat::Present(here))
                if (there.device, there.inode) == (here.device, here.inode) =>
            {
                Ok(Self { build, source })
            }
            _ => Err(Error::Unusable(format!(
                "CMakeCache.txt: CMake has made this for '{}', which is another directory now; run CMake again",
                String::from_utf8_lossy(&build)
            ))),
        }
    }
}

/// `X.dir`, if the rule is the one that makes all of a CMake target: those for directories have no commands.
fn directory<'a>(makefile2: &'a Rules, rule: &rules::Rule) -> Option<&'a [u8]> {
    let directory = makefile2.names.get(rule.target).strip_suffix(b"/all")?;
    (rule.recipe != Recipe::None && directory.ends_with(b".dir")).then_some(directory)
}

/// How many CMake targets a thread takes at least: starting one costs as much as reading a few.
const PER_THREAD: usize = 8;

/// Reads the files of all CMake targets, in their order.
fn read_targets(disk: &dyn Disk, directories: &[&[u8]], place: &Place) -> Result<Vec<Target>, Error> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let n_threads = cores.min(16).min(directories.len().div_ceil(PER_THREAD));
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::with_capacity(directories.len()));
    let work = || {
        let mut mine = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(directory) = directories.get(at) else { break };
            mine.push((at, Target::read(disk, directory, &place.build, &place.source)));
        }
        found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(mine);
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..n_threads).map(|_| scope.spawn(work)).collect();
        work();
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    found.sort_unstable_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, target)| target).collect()
}

/// A file that rules make.
struct Made {
    file: FileId,
    inputs: Vec<FileId>,
    headers: Vec<FileId>,
    recipe: Recipe,
    /// Whether it compiles or links.
    builds: bool,
    phony: bool,
    given: Vec<Reason>,
}

/// Puts everything together.
struct Describer<'a> {
    project: &'a mut Project,
    files: Files,
    made: Vec<Made>,
    /// Indexed by file: where it stands in `made`, plus one; 0 for nowhere.
    numbers: Vec<u32>,
    /// What each `X.dir/all` needs, in the order of the CMake targets.
    names: Vec<Vec<FileId>>,
}

impl Describer<'_> {
    fn file(&mut self, name: &[u8]) -> Result<FileId, Error> {
        Ok(self.files.file(self.project, name)?)
    }

    fn files<'b>(&mut self, names: impl Iterator<Item = &'b [u8]>) -> Result<Vec<FileId>, Error> {
        names.map(|name| self.file(name)).collect()
    }

    /// Takes in what one CMake target says.
    fn target(&mut self, target: &Target) -> Result<(), Error> {
        let directory = target.directory.as_slice();
        let rules = &target.rules;
        let own = |name: &[u8]| {
            name.strip_prefix(directory).and_then(|rest| rest.strip_prefix(b"/")).map(<[u8]>::to_vec)
        };
        let utility = utility(rules, directory);
        let mut needs = vec![self.file(&[directory, b"/build.make"].concat())?];
        for rule in &rules.rules {
            let name = rules.names.get(rule.target);
            let mut inputs = Vec::with_capacity(rule.inputs.len());
            let mut builds = false;
            let mut is_forced = false;
            for input in rules.inputs(rule) {
                builds |= own(input).is_some_and(|own| own == b"flags.make" || own == b"link.txt");
                is_forced |= input == b"cmake_force";
                inputs.push(match Some(input) == utility.as_deref() {
                    true => self.file(&[directory, b"/", input].concat())?,
                    false => self.file(input)?,
                });
            }
            let is_phony = rules.is_phony(name);
            match own(name).as_deref() {
                Some(b"depend" | b"build") if is_phony => {
                    needs.append(&mut inputs);
                    continue;
                }
                Some(b"clean" | b"codegen" | b"preinstall" | b"requires") if is_phony => continue,
                _ => {}
            }
            // What people ask make for by name: preprocessed and assembler sources.
            if name == b"cmake_force" || is_forced {
                continue;
            }
            let file = match Some(name) == utility.as_deref() {
                true => self.file(&[directory, b"/", name].concat())?,
                false => self.file(name)?,
            };
            let made = self.made(file);
            made.recipe = made.recipe.max(rule.recipe);
            made.builds |= builds;
            made.phony |= is_phony;
            made.inputs.append(&mut inputs);
        }
        self.names.push(needs);
        for blocks in &target.blocks {
            for block in &blocks.blocks {
                let output = self.file(blocks.names.get(block.output))?;
                let headers = self.files(blocks.inputs(block))?;
                // A block may be left over from a source that is no part of it any more.
                if let Some(made) = self.made_already(output) {
                    made.headers.extend(headers.into_iter().filter(|&file| file != output));
                }
            }
        }
        for (output, why) in &target.unknown {
            let output = self.file(output)?;
            self.give(output, Reason::DepsUnknown { output, why: why.clone() });
        }
        for (first, other) in &target.to_remove {
            let (first, output) = (self.file(first)?, self.file(other)?);
            self.give(first, Reason::OutputMissing { output });
        }
        self.scan(target)
    }

    fn scan(&mut self, target: &Target) -> Result<(), Error> {
        let Some(scan) = &target.scan else { return Ok(()) };
        let found = self.file(&scan.found)?;
        let reason = match &scan.why {
            Why::Missing => Reason::OutputMissing { output: found },
            Why::Newer { file, file_mtime, found_mtime } => Reason::InputNewer {
                input: self.file(file)?,
                input_mtime: *file_mtime,
                output: found,
                output_mtime: *found_mtime,
                recorded: false,
            },
        };
        let name = [&target.directory, &b"/depend"[..]].concat();
        self.project.add(&Description {
            name: &name,
            restat: true,
            given: Some(&[reason]),
            ..Description::default()
        })?;
        let name = self.file(&name)?;
        for output in &scan.outputs {
            let output = self.file(output)?;
            if let Some(made) = self.made_already(output) {
                made.headers.push(name);
            }
        }
        Ok(())
    }

    fn made(&mut self, file: FileId) -> &mut Made {
        if self.numbers.len() <= file.index() {
            self.numbers.resize(file.index() + 1, 0);
        }
        let number = &mut self.numbers[file.index()];
        if *number == 0 {
            self.made.push(Made {
                file,
                inputs: Vec::new(),
                headers: Vec::new(),
                recipe: Recipe::None,
                builds: false,
                phony: false,
                given: Vec::new(),
            });
            *number = narrow(self.made.len());
        }
        &mut self.made[*number as usize - 1]
    }

    fn made_already(&mut self, file: FileId) -> Option<&mut Made> {
        let number = self.numbers.get(file.index())?.checked_sub(1)?;
        self.made.get_mut(number as usize)
    }

    /// Adds a reason to those of a target that is stale for certain.
    fn give(&mut self, file: FileId, reason: Reason) {
        if let Some(made) = self.made_already(file)
            && !made.given.contains(&reason)
        {
            made.given.push(reason);
        }
    }

    /// The files that rules with commands use.
    fn used(&self) -> Set {
        let mut used = Set::default();
        for made in self.made.iter().filter(|made| made.recipe != Recipe::None) {
            for &file in made.inputs.iter().chain(&made.headers) {
                used.insert(file);
            }
        }
        used
    }

    /// Describes files without a rule that the commands of a CMake target make on the side. Nothing is known of them but
    /// that they may be others afterwards, which leaves it open whether who uses them has to be made again.
    fn byproducts(&mut self, disk: &dyn Disk, target: &Target, used: &Set) -> Result<(), Error> {
        let mut byproducts = Vec::new();
        for name in &target.cleaned {
            let Some(file) = self.project.lookup(name) else { continue };
            let has_rule = self.made_already(file).is_some() || self.project.graph().producer(file).is_some();
            // One that is missing is a source that is missing.
            if used.contains(file) && !has_rule && matches!(disk.stat(name), Stat::Present(_)) {
                byproducts.push(file);
            }
        }
        if byproducts.is_empty() {
            return Ok(());
        }
        let directory = target.directory.as_slice();
        let utility = utility(&target.rules, directory);
        let mut commands = Vec::new();
        for rule in target.rules.rules.iter().filter(|rule| rule.recipe != Recipe::None) {
            let name = target.rules.names.get(rule.target);
            let file = match Some(name) == utility.as_deref() {
                true => self.file(&[directory, b"/", name].concat())?,
                false => self.file(name)?,
            };
            // Compilers make objects and nothing else.
            if self.made_already(file).is_some() && !is_below(name, directory) {
                commands.push(file);
            }
        }
        unique(&mut commands);
        let name = self.file(&[directory, b"/byproducts"].concat())?;
        self.project.add(&Description {
            outputs: &[name],
            explicit: &commands,
            restat: true,
            phony: true,
            ..Description::default()
        })?;
        for byproduct in byproducts {
            self.project.add(&Description {
                outputs: &[byproduct],
                explicit: &[name],
                phony: true,
                ..Description::default()
            })?;
        }
        Ok(())
    }

    /// Adds a target for each file that is made.
    fn add_files(&mut self, used: &Set, fresh: &[FileId]) -> Result<(), Error> {
        let mut seen = Set::default();
        for made in std::mem::take(&mut self.made) {
            let Made { file, mut inputs, mut headers, recipe, builds, phony, mut given } = made;
            // Rules of several CMake targets name the same inputs.
            seen.clear();
            inputs.retain(|&file| seen.insert(file));
            headers.retain(|&file| seen.insert(file));
            let is_phony = recipe == Recipe::None && (phony || !used.contains(file));
            // Who uses what is phony is made again, whatever its commands do.
            let builds = builds || phony;
            if phony && !is_phony {
                given.push(Reason::PhonyMissing { input: file });
            }
            if fresh.contains(&file) {
                given.clear();
            }
            let given = (!given.is_empty() || fresh.contains(&file)).then_some(given.as_slice());
            self.project.add(&Description {
                outputs: &[file],
                explicit: &inputs,
                implicit: &headers,
                phony: is_phony,
                restat: recipe != Recipe::None && !builds,
                given,
                ..Description::default()
            })?;
        }
        Ok(())
    }

    /// Adds the phony names for CMake targets and directories. What stands for everything, and for each goal.
    fn goals(
        &mut self,
        makefile2: &Rules,
        directories: &[&[u8]],
        configured: FileId,
    ) -> Result<(FileId, Goals), Error> {
        let known: HashMap<&[u8], usize> = directories.iter().copied().zip(0..).collect();
        let mut inputs: HashMap<Vec<u8>, Vec<FileId>> = HashMap::new();
        let mut order: Vec<Vec<u8>> = Vec::new();
        let mut goals = Vec::new();
        let all = stand_in(b"all", &known).unwrap_or_default();
        for name in std::iter::once(all.clone())
            .chain(directories.iter().map(|directory| [directory, &b"/all"[..]].concat()))
        {
            inputs.entry(name.clone()).or_insert_with(|| {
                order.push(name);
                Vec::new()
            });
        }
        for rule in &makefile2.rules {
            let name = makefile2.names.get(rule.target);
            if let [first] = makefile2.inputs(rule).collect::<Vec<_>>()[..]
                && let Some(directory) = first.strip_suffix(b"/rule")
                && known.contains_key(directory)
            {
                let file = self.file(&[directory, b"/all"].concat())?;
                goals.push((name.to_vec(), file));
            }
            let Some(name) = stand_in(name, &known) else { continue };
            let mut needs = Vec::new();
            for input in makefile2.inputs(rule) {
                let input = stand_in(input, &known).ok_or_else(|| Error::Content {
                    path: MAKEFILE2.to_vec(),
                    line: rule.line,
                    message: format!(
                        "'{}' is nothing that CMake would name here",
                        String::from_utf8_lossy(input)
                    ),
                })?;
                needs.push(self.file(&input)?);
            }
            inputs
                .entry(name.clone())
                .or_insert_with(|| {
                    order.push(name);
                    Vec::new()
                })
                .append(&mut needs);
        }
        let makefile = self.file(MAKEFILE2)?;
        for name in order {
            let mut needs = inputs.remove(&name).unwrap_or_default();
            let number = name.strip_suffix(b"/all").and_then(|directory| known.get(directory));
            match number.map(|&number| std::mem::take(&mut self.names[number])) {
                Some(mut files) => needs.append(&mut files),
                None => needs.push(makefile),
            }
            unique(&mut needs);
            let file = self.file(&name)?;
            self.project.add(&Description {
                outputs: &[file],
                explicit: &needs,
                validations: &[configured],
                phony: true,
                ..Description::default()
            })?;
        }
        let all = self.file(&all)?;
        goals.push((b"all".to_vec(), all));
        goals.sort_unstable();
        goals.dedup();
        Ok((all, goals))
    }
}

/// Names of goals, with the file that stands for each.
type Goals = Vec<(Vec<u8>, FileId)>;

/// What stands for `X.dir/all`, `all` and `a/all`; `None` for other names.
fn stand_in(name: &[u8], known: &HashMap<&[u8], usize>) -> Option<Vec<u8>> {
    if name == b"all" {
        return Some(b"CMakeFiles/all.dir/all".to_vec());
    }
    let directory = name.strip_suffix(b"/all")?;
    Some(match known.contains_key(directory) {
        true => name.to_vec(),
        false => [directory, b"/CMakeFiles/all.dir/all"].concat(),
    })
}

/// The name of the custom target that the rules are about, if it is one.
fn utility(rules: &Rules, directory: &[u8]) -> Option<Vec<u8>> {
    let start = memchr::memrchr(b'/', directory).map_or(0, |slash| slash + 1);
    let name = directory[start..].strip_suffix(b".dir")?;
    rules.is_phony(name).then(|| name.to_vec())
}

/// Drops what is there already, and keeps the order.
fn unique(files: &mut Vec<FileId>) {
    let mut seen = HashSet::with_capacity(files.len());
    files.retain(|&file| seen.insert(file));
}

/// A set of files that costs nothing to clear.
struct Set {
    /// Indexed by file: when it was put in.
    when: Vec<u32>,
    now: u32,
}

impl Default for Set {
    fn default() -> Self {
        Self { when: Vec::new(), now: 1 }
    }
}

impl Set {
    fn clear(&mut self) {
        self.now += 1;
    }

    /// Puts a file in. Whether it was not there.
    fn insert(&mut self, file: FileId) -> bool {
        if self.when.len() <= file.index() {
            self.when.resize(file.index() + 1, 0);
        }
        std::mem::replace(&mut self.when[file.index()], self.now) != self.now
    }

    fn contains(&self, file: FileId) -> bool {
        self.when.get(file.index()) == Some(&self.now)
    }
}
