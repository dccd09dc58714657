//! A build directory that is written as if everything in it had just been built, for two versions of ninja at once.
//!
//! The manifest and the logs are 1.13's. 1.11 would throw those logs away: it gets logs of its own in a folder of
//! its own, through a second manifest that only names that folder and includes the first.

use crate::logs::{BuildLog, DepsLog};
use std::collections::HashSet;
use std::fs::{self, File, FileTimes};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The manifest that ninja 1.11 is to read.
pub(crate) const MANIFEST_FOR_1_11: &str = "build-1.11.ninja";
const FOLDER_FOR_1_11: &str = "logs-1.11";

/// When sources were changed, and when everything was built, nanoseconds since 1970.
pub(crate) const CHANGED: i64 = 1_600_000_000_000_000_000;
pub(crate) const BUILT: i64 = CHANGED + 3_600_000_000_000;
/// When a source was changed that is newer than what was built.
pub(crate) const TOUCHED: i64 = BUILT + 3_600_000_000_000;

pub(crate) struct Tree<'a> {
    dir: &'a Path,
    /// The folders that exist.
    made: HashSet<String>,
    logs: [BuildLog; 2],
    deps: DepsLog,
}

impl<'a> Tree<'a> {
    pub(crate) fn new(dir: &'a Path) -> Self {
        let logs = [BuildLog::of_1_13(), BuildLog::of_1_11()];
        Self { dir, made: HashSet::new(), logs, deps: DepsLog::new() }
    }

    pub(crate) fn source(&mut self, path: &str, content: &str) -> io::Result<()> {
        self.write(path, CHANGED, content.as_bytes())
    }

    /// An output, and that this command built it.
    pub(crate) fn output(&mut self, path: &str, hashed: &str) -> io::Result<()> {
        self.logs.iter_mut().for_each(|log| log.add(path, BUILT, hashed));
        self.write(path, BUILT, b"")
    }

    /// Inputs that an output's command has discovered, for the deps log.
    pub(crate) fn discovered(&mut self, output: &str, inputs: &[String]) {
        self.deps.add(output, BUILT, inputs);
    }

    /// The same, as the compiler leaves it on the disk.
    pub(crate) fn depfile(&mut self, output: &str, inputs: &[String]) -> io::Result<()> {
        let content = format!("{output}: {}\n", inputs.join(" \\\n  "));
        self.write(&format!("{output}.d"), BUILT, content.as_bytes())
    }

    /// Writes the manifest and the logs, which ends it.
    pub(crate) fn finish(mut self, manifest: &str) -> io::Result<()> {
        self.source("build.ninja", manifest)?;
        self.source(MANIFEST_FOR_1_11, &format!("builddir = {FOLDER_FOR_1_11}\ninclude build.ninja\n"))?;
        let Self { dir, logs, deps, .. } = self;
        fs::create_dir_all(dir.join(FOLDER_FOR_1_11))?;
        for (folder, log) in [dir.to_owned(), dir.join(FOLDER_FOR_1_11)].iter().zip(logs) {
            write_at(&folder.join(".ninja_log"), BUILT, log.bytes())?;
            write_at(&folder.join(".ninja_deps"), BUILT, deps.bytes())?;
        }
        Ok(())
    }

    fn write(&mut self, path: &str, mtime_ns: i64, content: &[u8]) -> io::Result<()> {
        if let Some((folder, _)) = path.rsplit_once('/')
            && !self.made.contains(folder)
        {
            fs::create_dir_all(self.dir.join(folder))?;
            self.made.insert(folder.to_owned());
        }
        write_at(&self.dir.join(path), mtime_ns, content)
    }
}

/// Sets when a file was last changed.
pub(crate) fn set_mtime(file: &File, mtime_ns: i64) -> io::Result<()> {
    let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(mtime_ns.unsigned_abs());
    file.set_times(FileTimes::new().set_modified(time))
}

fn write_at(path: &Path, mtime_ns: i64, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    set_mtime(&file, mtime_ns)
}
