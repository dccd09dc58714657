//! Two ninjas of the same source, one of them changed, side by side: whatever is asked of one is asked of the other, on
//! a copy of the tree, and both must say the same and leave the same behind.
//!
//! With `UPCHECK_TWINS=DIRECTORY` all calls of ninja through [`run_ninja`](crate::answer::run_ninja) are such, for the
//! versions that the directory has executables of: `1.11/stock` and `1.11/changed`. So suites that know nothing of a
//! changed ninja put their builds to it. Each comparison adds a byte to the directory's file `compared`.

use crate::answer::Question;
use crate::space::{Entry, Space};
use crate::tools::{Ninja, output_of};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Exit status (none for one that a signal ended), standard output, standard error.
pub type Outcome = (Option<i32>, String, String);

/// Two executables.
#[derive(Clone, Debug)]
pub struct Twins {
    /// The unchanged one.
    pub stock: PathBuf,
    /// The changed one.
    pub changed: PathBuf,
}

impl Twins {
    /// Those of `UPCHECK_TWINS`, if it is set and has the version.
    #[must_use]
    pub fn wished(version: Ninja) -> Option<Self> {
        let directory = PathBuf::from(std::env::var_os("UPCHECK_TWINS")?).join(version.number());
        directory
            .is_dir()
            .then(|| Self { stock: directory.join("stock"), changed: directory.join("changed") })
    }

    /// Runs both, the stock one in the space itself. With `-n` both are also asked why.
    ///
    /// # Panics
    /// When one says or does what the other does not.
    pub fn run(&self, space: &Space, question: &Question, options: &[&str]) -> Outcome {
        if options.contains(&"-n") {
            let mut explain = options.to_vec();
            explain.extend(["-d", "explain"]);
            self.run_on(&space.copy(), question, &explain);
        }
        self.run_on(space, question, options)
    }

    fn run_on(&self, space: &Space, question: &Question, options: &[&str]) -> Outcome {
        let before = space.copy();
        let copy = space.copy();
        // One command at a time: which of two ends first is up to chance.
        let options = [&["-j1"], options].concat();
        let stock = run(&self.stock, space.path(), question, &options);
        let changed = run(&self.changed, copy.path(), question, &options);
        let (entries, theirs) = (space.entries(), copy.entries());
        let left = Left::new(&before, space, &entries);
        let changed_left = Left::new(&before, &copy, &theirs);
        let here =
            |text: &str, space: &Space| text.replace(&space.path().to_string_lossy().into_owned(), "HERE");
        let same = stock.0 == changed.0
            && here(&stock.1, space) == here(&changed.1, &copy)
            && here(&stock.2, space) == here(&changed.2, &copy)
            && left == changed_left;
        assert!(
            same,
            "the changed ninja differs on {question:?} {options:?}\n--- stock\n{stock:#?}\n{left}\n--- changed\n\
             {changed:#?}\n{changed_left}\n--- build.ninja\n{}",
            String::from_utf8_lossy(&before.read(question.file.as_deref().unwrap_or("build.ninja")))
        );
        count();
        stock
    }
}

/// How often twins were compared, according to the directory of `UPCHECK_TWINS`.
#[must_use]
pub fn n_compared(directory: &Path) -> u64 {
    std::fs::metadata(directory.join("compared")).map_or(0, |found| found.len())
}

fn count() {
    if let Some(directory) = std::env::var_os("UPCHECK_TWINS") {
        let path = Path::new(&directory).join("compared");
        let file = File::options().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(b".")).expect("a count of comparisons");
    }
}

/// Runs an executable as a ninja.
///
/// # Panics
/// When it cannot be started.
#[must_use]
pub fn run(ninja: &Path, directory: &Path, question: &Question, options: &[&str]) -> Outcome {
    let mut command;
    if cfg!(windows) {
        command = Command::new(ninja);
    } else {
        // A damaged deps log can make ninja ask for 16 GiB; it shall die of that, and not the machine.
        command = Command::new("sh");
        let limited = "ulimit -v 4000000; exec \"$@\"";
        command.args([OsStr::new("-c"), OsStr::new(limited), OsStr::new("ninja")]).arg(ninja);
    }
    command.current_dir(directory).args(options).env_remove("NINJA_STATUS").env("LC_ALL", "C");
    if let Some(file) = &question.file {
        command.args(["-f", file]);
    }
    let output = output_of(command.args(&question.targets)).expect("ninja starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// What a run left behind, but for the hour: what is written down of times is only whether they are new.
#[derive(PartialEq, Eq)]
struct Left {
    entries: BTreeMap<PathBuf, (Entry, bool)>,
    logs: BTreeMap<PathBuf, BTreeSet<String>>,
    deps: BTreeMap<PathBuf, Deps>,
}

impl Left {
    fn new(before: &Space, space: &Space, entries: &BTreeMap<PathBuf, Entry>) -> Self {
        let old = before.entries();
        let mut left = Self { entries: BTreeMap::new(), logs: BTreeMap::new(), deps: BTreeMap::new() };
        // What a log says of a time: which old files have it. A restat rule's line has that of an input.
        let mut whose: BTreeMap<i128, String> = BTreeMap::new();
        for (path, entry) in &old {
            let names = whose.entry(entry.mtime()).or_default();
            names.push_str(&path.strip_prefix(before.path()).expect("below the space").to_string_lossy());
            names.push(' ');
        }
        for (path, entry) in entries {
            let path = path.strip_prefix(space.path()).expect("below the space");
            let is_old = old.get(&before.path().join(path)).is_some_and(|old| old.mtime() == entry.mtime());
            let content = space.read(&path.to_string_lossy());
            match path.file_name().and_then(OsStr::to_str) {
                Some(".ninja_log") => {
                    let earlier = before.read(&path.to_string_lossy());
                    left.logs.insert(path.to_owned(), log_lines(&content, &earlier, &whose));
                }
                Some(".ninja_deps") => {
                    left.deps.insert(path.to_owned(), Deps::read(&content));
                }
                _ => {
                    left.entries.insert(path.to_owned(), (entry.without_time(), is_old));
                }
            }
        }
        left
    }
}

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (path, (_, is_old)) in &self.entries {
            writeln!(f, "{} {}", if *is_old { "old" } else { "new" }, path.display())?;
        }
        writeln!(f, "{:#?}\n{:#?}", self.logs, self.deps)
    }
}

/// The lines of a `.ninja_log`. One that was there before is as it was; in one that was not, what ran when is left out.
fn log_lines(log: &[u8], before: &[u8], whose: &BTreeMap<i128, String>) -> BTreeSet<String> {
    // A log that was cut off somewhere: ninja goes on in the middle of its last line. The lines after it may well start
    // with the same figures.
    let n_whole = before.iter().filter(|&&byte| byte == b'\n').count();
    let torn_line = log.starts_with(before).then_some(n_whole);
    let (log, before) = (String::from_utf8_lossy(log), String::from_utf8_lossy(before));
    let torn = before.rsplit('\n').next().unwrap_or_default();
    let before: BTreeSet<_> = before.lines().collect();
    let told = |(number, line): (usize, &str)| {
        if before.contains(line) {
            return line.to_owned();
        }
        let (start, new) = match line.strip_prefix(torn) {
            Some(new) if torn_line == Some(number) => (torn, new),
            _ => ("", line),
        };
        match new.split('\t').collect::<Vec<_>>()[..] {
            [_, _, mtime, path, hash] => {
                let known = mtime.parse().ok().and_then(|mtime| whose.get(&mtime));
                let mtime = known.map_or(if mtime == "0" { "none" } else { "now" }, String::as_str);
                format!("{start}new\t{mtime}\t{path}\t{hash}")
            }
            _ => line.to_owned(),
        }
    };
    log.lines().enumerate().map(told).collect()
}

/// What a `.ninja_deps` says in the end: files by name instead of by number, and no times. See docs/FORMATS.md.
#[derive(Debug, Default, PartialEq, Eq)]
struct Deps {
    of: BTreeMap<String, Vec<String>>,
    n_records: usize,
    /// What cannot be read.
    rest: Vec<u8>,
}

impl Deps {
    fn read(log: &[u8]) -> Self {
        let mut deps = Self::default();
        let header =
            log.iter().position(|&byte| byte == b'\n').map_or(log.len(), |end| (end + 5).min(log.len()));
        let mut rest = &log[header..];
        let mut paths: Vec<String> = Vec::new();
        while let Some((record, is_deps, after)) = record(rest) {
            let word = |at: usize| record.get(4 * at..4 * at + 4).map(|four| word(four) as usize);
            if is_deps {
                let path = |at| paths.get(at).cloned();
                let names: Option<Vec<_>> = (3..record.len() / 4).map(|at| word(at).and_then(path)).collect();
                let (Some(output), Some(names)) = (word(0).and_then(path), names) else { break };
                deps.of.insert(output, names);
            } else {
                let name = &record[..record.len().saturating_sub(4)];
                paths.push(String::from_utf8_lossy(name).trim_end_matches('\0').to_owned());
            }
            deps.n_records += 1;
            rest = after;
        }
        deps.rest = rest.to_vec();
        deps
    }
}

fn word(four: &[u8]) -> u32 {
    u32::from_le_bytes(four.try_into().expect("four bytes"))
}

fn record(log: &[u8]) -> Option<(&[u8], bool, &[u8])> {
    let (size, rest) = log.split_at_checked(4)?;
    let size = word(size);
    let (record, after) = rest.split_at_checked((size & 0x7fff_ffff) as usize)?;
    Some((record, size >> 31 == 1, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_line_that_was_torn_keeps_its_first_figures() {
        let before = b"# ninja log v5\n0\t8\t5\told\taa\n16";
        let log = b"# ninja log v5\n0\t8\t5\told\taa\n164\t9\t7\ta\tbb\n163\t164\t7\tb\tcc\n";
        let lines = log_lines(log, before, &BTreeMap::new());
        let expected = ["# ninja log v5", "0\t8\t5\told\taa", "16new\tnow\ta\tbb", "new\tnow\tb\tcc"];
        assert_eq!(lines, expected.map(str::to_owned).into());
    }
}
