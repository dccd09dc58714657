//! The programs that a command is made of, and the shared libraries that they load, as inputs.
//!
//! Which libraries those are says the dynamic loader that a program itself names (`LOADER --list PROGRAM`), with all of
//! `LD_LIBRARY_PATH`, run paths and preloading, and it says so anew each time: a library that appears in an earlier place
//! is another library. What a program opens while it runs (`dlopen`) nobody knows before.

use crate::args::{Common, RunArgs};
use crate::project::is_pattern;
use crate::run::bytes_of;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What options describe, with these inputs added.
pub(crate) fn with_libraries(common: &Common, args: &RunArgs, commands: &[&[OsString]]) -> Common {
    let place = args.place(common);
    let mut files = BTreeSet::new();
    let programs = commands.iter().filter_map(|command| program(&place, &command[0]));
    files.extend(programs);
    let is_file = |input: &&OsString| {
        let bytes = bytes_of((*input).clone());
        std::str::from_utf8(&bytes).map_or(true, |text| !is_pattern(common, text))
    };
    let inputs = common.one.inputs.iter().filter(is_file);
    let inputs: Vec<_> = inputs.map(|input| common.directory.join(input)).collect();
    let mut loader = None;
    let mut found = BTreeSet::new();
    let mut unknown = BTreeSet::new();
    for file in files.iter().chain(&inputs) {
        let own = match elf(file) {
            Elf::Program(own) => own,
            // It is loaded by a program; which one is unknown, but most likely one of these.
            Elf::Library => match &loader {
                Some(loader) => PathBuf::clone(loader),
                None => continue,
            },
            Elf::None => continue,
        };
        match list(&own, file, &place) {
            Some((libraries, missing)) => {
                found.extend(libraries);
                unknown.extend(missing);
            }
            None => {
                // Nobody knows what it loads, so each run is another one.
                unknown.insert(format!("{} {:x}", file.display(), RandomState::new().hash_one(0)).into());
            }
        }
        loader.get_or_insert(own);
    }
    let mut common = common.clone();
    // As they are, though they may look like patterns: those are there under these very names.
    common.one.inputs.extend(files.into_iter().chain(found).map(|path| absolute(&path).into_os_string()));
    for missing in unknown {
        let mut value = OsString::from("library not found=");
        value.push(missing);
        common.one.values.push(value);
    }
    common
}

/// The file of a program, as a shell finds it.
fn program(place: &Path, name: &OsStr) -> Option<PathBuf> {
    if Path::new(name).components().count() > 1 {
        return Some(place.join(name));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| place.join(dir).join(name)).find(|file| file.is_file())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The libraries that a file loads, and the names of those that the loader does not find.
fn list(loader: &Path, file: &Path, place: &Path) -> Option<(Vec<PathBuf>, Vec<OsString>)> {
    let output = Command::new(loader).arg("--list").arg(absolute(file)).current_dir(place).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        let (name, path) = line.split_once(" => ").unwrap_or((line, line));
        let path = path.rsplit_once(" (0x").map_or(path, |(path, _)| path);
        if path.starts_with('/') {
            found.push(path.into());
        } else if path == "not found" {
            missing.push(name.into());
        }
    }
    // With a library missing it fails, having told all it knows.
    (output.status.success() || !missing.is_empty()).then_some((found, missing))
}

/// What kind of file in the format of programs.
enum Elf {
    /// A program, with the loader that it names.
    Program(PathBuf),
    Library,
    /// A program that loads nothing, or something else altogether.
    None,
}

const LARGEST_HEAD: u64 = 1 << 16;
const ET_DYN: u64 = 3;
const PT_DYNAMIC: u64 = 2;
const PT_INTERP: u64 = 3;

fn elf(path: &Path) -> Elf {
    let mut head = Vec::new();
    let is_file = path.is_file();
    let read = is_file.then(|| File::open(path).ok()?.take(LARGEST_HEAD).read_to_end(&mut head).ok());
    if read.flatten().is_none() || !head.starts_with(b"\x7fELF") {
        return Elf::None;
    }
    elf_head(&head).unwrap_or(Elf::None)
}

/// Reads the header and the table of segments, which in what linkers make lie at the beginning.
fn elf_head(head: &[u8]) -> Option<Elf> {
    let (is_wide, is_little) = (*head.get(4)? == 2, *head.get(5)? == 1);
    let number = |at: usize, length: usize| {
        let bytes = head.get(at..at.checked_add(length)?)?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(if is_little { bytes.iter().rev().fold(0, add) } else { bytes.iter().fold(0, add) })
    };
    let word = if is_wide { 8 } else { 4 };
    let at = |wide: usize, narrow: usize| if is_wide { wide } else { narrow };
    let table = usize::try_from(number(at(0x20, 0x1c), word)?).ok()?;
    let (size, n_segments) = (number(at(0x36, 0x2a), 2)?, number(at(0x38, 0x2c), 2)?);
    let mut is_dynamic = false;
    for segment in 0..n_segments {
        let start = table.checked_add(usize::try_from(segment * size).ok()?)?;
        match number(start, 4)? {
            PT_INTERP => {
                let offset = usize::try_from(number(start.checked_add(at(0x08, 0x04))?, word)?).ok()?;
                let length = usize::try_from(number(start.checked_add(at(0x20, 0x10))?, word)?).ok()?;
                let name = head.get(offset..offset.checked_add(length)?)?;
                let name = name.strip_suffix(&[0]).unwrap_or(name);
                return Some(Elf::Program(std::str::from_utf8(name).ok()?.into()));
            }
            PT_DYNAMIC => is_dynamic = true,
            _ => {}
        }
    }
    Some(if is_dynamic && number(0x10, 2)? == ET_DYN { Elf::Library } else { Elf::None })
}
