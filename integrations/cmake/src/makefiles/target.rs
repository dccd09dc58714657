//! What the files of one CMake target, those in its `X.dir`, say.

use super::deps::{Blocks, Word, depfile};
use super::read;
use super::rules::Rules;
use super::script::{Script, removed};
use crate::Error;
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::ErrorKind;
use upcheck::collect::{Disk, collect};
use upcheck::{FileId, FileTable, Mtime, Plan, Stat, Unknown};

/// A CMake target.
pub(super) struct Target {
    /// `X.dir`, from the build directory.
    pub(super) directory: Vec<u8>,
    pub(super) rules: Rules,
    /// What is known of headers.
    pub(super) blocks: Vec<Blocks>,
    /// Outputs that are there and whose headers nobody knows.
    pub(super) unknown: Vec<(Vec<u8>, Unknown)>,
    /// Outputs that the depend step will remove because another output of their command is missing: these.
    pub(super) to_remove: Vec<(Vec<u8>, Vec<u8>)>,
    /// What it makes beside objects, with or without a rule: byproducts are among these.
    pub(super) cleaned: Vec<Vec<u8>>,
    /// Why the depend step will scan sources, and what it has to find out about.
    pub(super) scan: Option<Scan>,
}

/// A scan for headers that the next build makes.
pub(super) struct Scan {
    pub(super) why: Why,
    /// The file with what the last scan found.
    pub(super) found: Vec<u8>,
    /// Whose headers it looks for.
    pub(super) outputs: Vec<Vec<u8>>,
}

/// Why sources are scanned again.
pub(super) enum Why {
    /// There was no scan, or its result is lost.
    Missing,
    /// This file is newer than the last result.
    Newer { file: Vec<u8>, file_mtime: Mtime, found_mtime: Mtime },
}

/// Four in a row: a source, what is made of it, the format of the depfile, and the depfile.
const DEPENDENCY_FILES: usize = 4;

/// Languages that CMake scans for `#include`.
const SCANNED: [&[u8]; 9] = [b"C", b"CXX", b"ASM", b"RC", b"OBJC", b"OBJCXX", b"CUDA", b"HIP", b"ISPC"];

impl Target {
    /// Reads what is in `X.dir`. `base` is the build directory as CMake calls it, `source` the source directory.
    pub(super) fn read(disk: &dyn Disk, directory: &[u8], base: &[u8], source: &[u8]) -> Result<Self, Error> {
        let path = [directory, b"/build.make"].concat();
        let rules = Rules::parse(&read(disk, &path)?, &path)?;
        for &include in &rules.includes {
            let include = rules.names.get(include);
            let known = [&b"depend.make"[..], b"compiler_depend.make", b"progress.make", b"flags.make"];
            let name = include.strip_prefix(directory).and_then(|rest| rest.strip_prefix(b"/"));
            if !name.is_some_and(|name| known.contains(&name)) {
                let message = format!("it includes '{}'", String::from_utf8_lossy(include));
                return Err(Error::Content { path, line: 0, message });
            }
        }
        let path = [directory, b"/DependInfo.cmake"].concat();
        let bytes = read(disk, &path)?;
        let info = Script::parse(&bytes, &path)?;
        let mut target = Self {
            directory: directory.to_vec(),
            rules,
            blocks: Vec::new(),
            unknown: Vec::new(),
            to_remove: Vec::new(),
            cleaned: cleaned(disk, directory),
            scan: None,
        };
        let early = Early::look(disk, &info, directory, base);
        target.scanned(disk, &info, &early, base);
        target.compiled(disk, &info, &early, base, source, &path)?;
        target.several_outputs(&info, &early);
        // What is not there is stale for that.
        target.unknown.retain(|(output, _)| matches!(disk.stat(output), Stat::Present(_)));
        Ok(target)
    }

    /// What compilers and commands have said themselves.
    fn compiled(
        &mut self,
        disk: &dyn Disk,
        info: &Script<'_>,
        early: &Early,
        base: &[u8],
        source: &[u8],
        info_path: &[u8],
    ) -> Result<(), Error> {
        let entries = info.get("CMAKE_DEPENDS_DEPENDENCY_FILES").unwrap_or(&[]);
        if entries.is_empty() {
            return Ok(());
        }
        let wrong = |message: String| Error::Content { path: info_path.to_vec(), line: 0, message };
        if !entries.len().is_multiple_of(DEPENDENCY_FILES) {
            return Err(wrong("CMAKE_DEPENDS_DEPENDENCY_FILES is not a list of fours".into()));
        }
        let in_project_only = info.list("CMAKE_DEPENDS_IN_PROJECT_ONLY").any(|value| value == b"ON");
        let is_kept = |input: &[u8]| {
            !in_project_only
                || !upcheck::path::is_absolute(input)
                || is_below(input, base)
                || is_below(input, source)
        };
        let internal_path = internal(&self.directory);
        let internal = early.mtime(&internal_path);
        let mut collected = Blocks::default();
        if internal.is_some()
            && let Ok(bytes) = disk.read(&internal_path)
        {
            collected = Blocks::parse(&bytes);
        }
        // Commands name their output in full in the one place and not in the other.
        let known: HashSet<&[u8]> =
            collected.blocks.iter().map(|block| relative(collected.names.get(block.output), base)).collect();
        // Where make is when it compiles: what relative names in a depfile start from.
        let directory = binary_directory(&self.directory);
        let mut fresh = Blocks::default();
        let mut overridden: HashSet<&[u8]> = HashSet::new();
        for entry in entries.chunks_exact(DEPENDENCY_FILES) {
            let [entry_source, output, format, depfile] = entry else { continue };
            if ![&b"gcc"[..], b"custom"].contains(&&**format) {
                let message = format!("a depfile of the format '{}'", String::from_utf8_lossy(format));
                return Err(wrong(message));
            }
            let output = relative(output, base);
            if overridden.contains(output) {
                continue;
            }
            let is_read = match internal {
                None => true,
                Some(internal) => early.mtime(depfile).is_some_and(|time| time >= internal),
            };
            let result = match is_read {
                true => {
                    fresh.push_output(output);
                    // Of what a compiler says only the first rule counts.
                    read_depfile(disk, depfile, **format == *b"gcc", &mut |input| {
                        let input = absolute(directory, input);
                        if is_kept(&input) {
                            fresh.push_input(&input);
                        }
                    })
                }
                false if known.contains(output) => continue,
                false => Err(Unknown::NoDepfile { depfile: (**depfile).into() }),
            };
            match result {
                Ok(()) => {
                    overridden.insert(output);
                    if !entry_source.is_empty() {
                        fresh.push_input(entry_source);
                    }
                }
                Err(unknown) => {
                    if is_read {
                        fresh.blocks.pop();
                    }
                    self.unknown.push((output.to_vec(), unknown));
                }
            }
        }
        drop(known);
        let names = &collected.names;
        collected.blocks.retain(|block| !overridden.contains(relative(names.get(block.output), base)));
        self.blocks.extend([collected, fresh]);
        Ok(())
    }

    /// What CMake has found in sources itself.
    fn scanned(&mut self, disk: &dyn Disk, info: &Script<'_>, early: &Early, base: &[u8]) {
        let mut pairs = Vec::new();
        let mut others = Vec::new();
        for language in info.list("CMAKE_DEPENDS_LANGUAGES") {
            let list = format!("CMAKE_DEPENDS_CHECK_{}", String::from_utf8_lossy(language));
            let list: Vec<&[u8]> = info.list(&list).collect();
            let outputs = list.chunks_exact(2).map(|pair| relative(pair[1], base).to_vec());
            if SCANNED.contains(&language) { pairs.extend(outputs) } else { others.extend(outputs) }
        }
        for output in others {
            let message = "its language is not one of those whose includes are known".into();
            self.unknown.push((output, Unknown::Broken { message }));
        }
        if pairs.is_empty() {
            return;
        }
        pairs.sort_unstable();
        pairs.dedup();
        let found = [&self.directory, &b"/depend.internal"[..]].concat();
        let found_mtime = early.mtime(&found);
        let blocks = match found_mtime.map(|_| disk.read(&found)) {
            Some(Ok(bytes)) => Blocks::parse(&bytes),
            _ => Blocks::default(),
        };
        let [info_path, about] = scan_inputs(&self.directory);
        let newer = |file: Vec<u8>, found_mtime: Mtime| match early.mtime(&file) {
            Some(file_mtime) if file_mtime <= found_mtime => None,
            Some(file_mtime) => Some(Why::Newer { file, file_mtime, found_mtime }),
            None => Some(Why::Missing),
        };
        let known: HashSet<&[u8]> =
            blocks.blocks.iter().map(|block| relative(blocks.names.get(block.output), base)).collect();
        let without: Vec<Vec<u8>> =
            pairs.iter().filter(|output| !known.contains(output.as_slice())).cloned().collect();
        let (why, outputs) = match found_mtime {
            None => (Some(Why::Missing), pairs),
            Some(found_mtime) => match newer(about, found_mtime) {
                Some(why) => (Some(why), pairs),
                None => (newer(info_path, found_mtime), without.clone()),
            },
        };
        match why {
            Some(why) if !outputs.is_empty() => self.scan = Some(Scan { why, found, outputs }),
            Some(_) => {}
            // The scan has passed them over, and will again.
            None => {
                self.unknown.extend(without.into_iter().map(|output| (output, Unknown::NotRecorded)));
            }
        }
        self.blocks.push(blocks);
    }

    /// Commands with several outputs, one of which is missing.
    fn several_outputs(&mut self, info: &Script<'_>, early: &Early) {
        let pairs: Vec<&[u8]> = info.list("CMAKE_MULTIPLE_OUTPUT_PAIRS").collect();
        for pair in pairs.chunks_exact(2) {
            let [other, first] = [pair[0], pair[1]];
            if early.mtime(other).is_none() && early.mtime(first).is_some() {
                self.to_remove.push((first.to_vec(), other.to_vec()));
            }
        }
    }
}

/// What `make clean` removes of a target, objects aside. Only a hint, so it does not matter whether it can be read.
fn cleaned(disk: &dyn Disk, directory: &[u8]) -> Vec<Vec<u8>> {
    let script = disk.read(&[directory, b"/cmake_clean.cmake"].concat()).unwrap_or_default();
    let binary = binary_directory(directory);
    let own = &directory[binary.len() + usize::from(!binary.is_empty())..];
    let others = removed(&script).into_iter().filter(|file| !is_below(file, own));
    others.map(|file| absolute(binary, file.into()).into_owned()).collect()
}

/// The files that make a scan necessary where they are newer than its result.
fn scan_inputs(directory: &[u8]) -> [Vec<u8>; 2] {
    let mut about = binary_directory(directory).to_vec();
    if !about.is_empty() {
        about.push(b'/');
    }
    about.extend_from_slice(b"CMakeFiles/CMakeDirectoryInformation.cmake");
    [[directory, b"/DependInfo.cmake"].concat(), about]
}

/// The directory of the build that `a/CMakeFiles/X.dir` belongs to: `a`.
pub(super) fn binary_directory(directory: &[u8]) -> &[u8] {
    let end = memchr::memmem::rfind(directory, b"CMakeFiles/").unwrap_or(0);
    directory[..end].strip_suffix(b"/").unwrap_or(&[])
}

fn absolute<'a>(directory: &[u8], name: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
    match upcheck::path::is_absolute(&name) || directory.is_empty() {
        true => name,
        false => [directory, b"/", &name].concat().into(),
    }
}

pub(super) fn is_below(path: &[u8], directory: &[u8]) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with(b"/"))
}

/// A path relative to the build directory, where it is below.
fn relative<'a>(path: &'a [u8], base: &[u8]) -> &'a [u8] {
    path.strip_prefix(base).and_then(|rest| rest.strip_prefix(b"/")).unwrap_or(path)
}

/// Reads what a depfile names, up to the end of its first rule or of all.
fn read_depfile(
    disk: &dyn Disk,
    path: &[u8],
    only_first: bool,
    sink: &mut dyn FnMut(Cow<'_, [u8]>),
) -> Result<(), Unknown> {
    let broken = |what: &dyn std::fmt::Display| Unknown::Broken {
        message: format!("{}: {what}", String::from_utf8_lossy(path)).into(),
    };
    let missing = || Unknown::NoDepfile { depfile: path.into() };
    let bytes = match disk.read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(missing()),
        Err(error) => return Err(broken(&error)),
    };
    let mut n_rules = 0;
    let read = depfile(&bytes, &mut |word| match word {
        Word::Input(name) if n_rules == 0 || !only_first => sink(name),
        Word::Input(_) => {}
        Word::End => n_rules += 1,
    });
    match read {
        Err(what) => Err(broken(&what)),
        Ok(()) if n_rules == 0 => Err(missing()),
        Ok(()) => Ok(()),
    }
}

fn internal(directory: &[u8]) -> Vec<u8> {
    [directory, b"/compiler_depend.internal"].concat()
}

/// Files that have to be looked at to know what the depend step will do, before anything is described.
struct Early {
    /// What the build directory is called.
    base: Vec<u8>,
    table: FileTable,
    stats: Vec<Stat>,
}

impl Early {
    fn look(disk: &dyn Disk, info: &Script<'_>, directory: &[u8], base: &[u8]) -> Self {
        let mut table = FileTable::default();
        let mut path = Vec::new();
        let mut add = |name: &[u8]| {
            path.clear();
            path.extend_from_slice(relative(name, base));
            upcheck::path::canonicalize(&mut path);
            if !path.is_empty() && !path.contains(&0) {
                table.intern(&path);
            }
        };
        let entries = info.get("CMAKE_DEPENDS_DEPENDENCY_FILES").unwrap_or(&[]);
        let internal = internal(directory);
        // Without it all depfiles are read anyway.
        if !entries.is_empty() && matches!(disk.stat(&internal), Stat::Present(_)) {
            add(&internal);
            entries.chunks_exact(DEPENDENCY_FILES).for_each(|entry| add(&entry[3]));
        }
        let mut scans = false;
        for language in info.list("CMAKE_DEPENDS_LANGUAGES") {
            let list = format!("CMAKE_DEPENDS_CHECK_{}", String::from_utf8_lossy(language));
            let list: Vec<&[u8]> = info.list(&list).collect();
            scans |= !list.is_empty();
        }
        if scans {
            add(&[directory, b"/depend.internal"].concat());
            scan_inputs(directory).iter().for_each(|path| add(path));
        }
        info.list("CMAKE_MULTIPLE_OUTPUT_PAIRS").for_each(add);
        let plan = Plan::new(&table, table.ids());
        let snapshot = collect(disk, &plan, 1);
        let stats = table.ids().map(|file| snapshot.stat(file)).collect();
        Self { base: base.to_vec(), table, stats }
    }

    /// When a file was last changed; `None` where it is not there, or cannot be looked at.
    fn mtime(&self, path: &[u8]) -> Option<Mtime> {
        let path = relative(path, &self.base);
        let file: Option<FileId> = match upcheck::path::is_canonical(path) {
            true => self.table.lookup(path),
            false => {
                let mut path = path.to_vec();
                upcheck::path::canonicalize(&mut path);
                self.table.lookup(&path)
            }
        };
        match file.map(|file| self.stats[file.index()]) {
            Some(Stat::Present(meta)) => Some(meta.mtime),
            _ => None,
        }
    }
}
