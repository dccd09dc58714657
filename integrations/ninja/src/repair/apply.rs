//! Carrying out a repair, in an order in which whatever stops it leaves more stale, never less: the record, the deps log, the
//! build log, and then times. Where something fails, what was done is undone, last things first.

use super::times::NewTime;
use super::{NewFile, Place, Repair};
use crate::contents::{Contents, LogEntry, Row};
use crate::error::Error;
use crate::replace_file::replace_file;
use std::collections::HashMap;
use std::fs::{self, File, FileTimes};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime};
use upcheck::collect::Disk;
use upcheck::content::{Content, digest_files};
use upcheck::{FileId, Meta, Mtime, Stat};

impl Repair {
    /// Does what was planned.
    ///
    /// # Errors
    /// When a file was changed since, or the operating system refuses something; all is as it was then, unless the message
    /// says otherwise.
    pub fn apply(&self, disk: &dyn Disk, place: &Place, contents: &mut Contents) -> Result<(), Error> {
        self.check_nothing_changed(disk)?;
        let mut undo =
            Undo { place, disk, logs: Vec::new(), times: Vec::new(), entries: Vec::new(), rows: Vec::new() };
        match self.carry_out(&mut undo, contents) {
            Ok(()) => Ok(()),
            Err(error) => Err(match undo.undo(contents) {
                Ok(()) => error,
                Err(second) => {
                    Error::Refused(format!("{error}; putting back what was done failed: {second}"))
                }
            }),
        }
    }

    /// Before anything is written, all of it is looked at once more.
    fn check_nothing_changed(&self, disk: &dyn Disk) -> Result<(), Error> {
        for file in self.log.iter().chain(&self.deps_log) {
            let now = match disk.read(&file.path) {
                Ok(bytes) => Some(bytes),
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                Err(cause) => return Err(trouble("reading", &file.path, cause)),
            };
            if now != file.before {
                return Err(super::simulate::changed(&file.path));
            }
        }
        let changed = self.times.iter().find(|time| disk.stat(&time.path) != Stat::Present(time.seen));
        changed.map_or(Ok(()), |time| Err(super::simulate::changed(&time.path)))
    }

    fn carry_out(&self, undo: &mut Undo<'_>, contents: &mut Contents) -> Result<(), Error> {
        if !self.entries.is_empty() || !self.outdated.is_empty() {
            undo.rows = contents.forget(&self.outdated);
            for (output, entry) in &self.entries {
                if let Some(before) = contents.target(output).map(|row| row.log) {
                    undo.entries.push((output.clone(), before));
                    contents.set_log(output, *entry);
                }
            }
            let written = contents.write(undo.place.folder());
            written
                .map_err(|cause| trouble("recording contents in", as_bytes(undo.place.folder()), cause))?;
        }
        for file in self.deps_log.iter().chain(&self.log) {
            let path = undo.place.of(&file.path).map_err(|cause| trouble("writing", &file.path, cause))?;
            replace_file(&path, &file.after).map_err(|cause| trouble("writing", &file.path, cause))?;
            undo.logs.push(file.clone_for_undo());
        }
        // What is in a directory decides about its time, so directories come after files.
        let (directories, files): (Vec<_>, Vec<_>) =
            self.times.iter().partition(|time| is_directory(undo.place, &time.path));
        for time in files {
            undo.set(time, true)?;
        }
        for time in directories {
            // The new logs may lie in it.
            undo.set(time, false)?;
        }
        self.check_contents(undo)
    }

    /// Reads once more what has another time now. Whoever changed a file a moment before that would be hidden by it; whoever
    /// changes it from now on gives it a later one.
    fn check_contents(&self, undo: &mut Undo<'_>) -> Result<(), Error> {
        let set: HashMap<&[u8], Mtime> = undo.times.iter().map(|(path, _, set)| (&path[..], *set)).collect();
        let now = |time: &NewTime| match undo.disk.stat(&time.path) {
            // What was changed since has a later one.
            Stat::Present(meta) if set.get(&*time.path) == Some(&meta.mtime) => Some(meta),
            _ => None,
        };
        let seen = (0..).zip(&self.times).filter_map(|(n, time)| Some((FileId::new(n), now(time)?)));
        let files: Vec<_> =
            seen.map(|(file, meta)| (file, self.times[file.index()].path.as_slice(), meta)).collect();
        let contents = digest_files(undo.disk, &files, 0);
        let is_other = |(file, content): &(&(FileId, &[u8], Meta), Content)| {
            *content != Content::Digest(self.times[file.0.index()].digest)
        };
        let changed: Vec<&[u8]> =
            files.iter().zip(contents).filter(is_other).map(|(file, _)| file.1).collect();
        let Some(&first) = changed.first() else { return Ok(()) };
        for path in changed {
            undo.times.retain(|(known, ..)| known != path);
            let full = undo.place.of(path).map_err(|cause| trouble("opening", path, cause))?;
            let set = set_time(&full, Meta::mtime_at(undo.disk.now()));
            set.map_err(|cause| trouble("setting the time of", path, cause))?;
        }
        Err(super::simulate::changed(first))
    }
}

/// File systems keep times in steps of up to two seconds. They all cut them, and so what is no newer stays so.
const COARSEST: Mtime = 2_000_000_000;

/// What was done so far, and what was there before.
struct Undo<'a> {
    place: &'a Place,
    disk: &'a dyn Disk,
    logs: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// Paths, the times that they had and those that they got.
    times: Vec<(Vec<u8>, Mtime, Mtime)>,
    entries: Vec<(Vec<u8>, LogEntry)>,
    rows: Vec<Row>,
}

impl Undo<'_> {
    /// Gives a file its new time, if it still looks as it did when its content was looked at.
    fn set(&mut self, time: &NewTime, is_strict: bool) -> Result<(), Error> {
        let seen = self.disk.stat(&time.path);
        if is_strict && seen != Stat::Present(time.seen) {
            return Err(super::simulate::changed(&time.path));
        }
        let path = self.place.of(&time.path).map_err(|cause| trouble("opening", &time.path, cause))?;
        set_time(&path, time.to).map_err(|cause| trouble("setting the time of", &time.path, cause))?;
        let before = if let Stat::Present(meta) = seen { meta.mtime } else { time.from };
        let now = match self.disk.stat(&time.path) {
            Stat::Present(Meta { mtime, .. }) => mtime,
            _ => time.to,
        };
        self.times.push((time.path.clone(), before, now));
        if now <= time.to && now >= time.to.saturating_sub(COARSEST) {
            return Ok(());
        }
        let shown = String::from_utf8_lossy(&time.path);
        Err(Error::Refused(format!("'{shown}' did not get the time that it was given; nothing was repaired")))
    }

    fn undo(self, contents: &mut Contents) -> Result<(), Error> {
        for (path, time, set) in self.times.iter().rev() {
            // What was changed since has a later time, and keeps it.
            if !matches!(self.disk.stat(path), Stat::Present(meta) if meta.mtime == *set) {
                continue;
            }
            let full = self.place.of(path).map_err(|cause| trouble("opening", path, cause))?;
            set_time(&full, *time).map_err(|cause| trouble("setting the time of", path, cause))?;
        }
        for (path, before) in self.logs.iter().rev() {
            let full = self.place.of(path).map_err(|cause| trouble("opening", path, cause))?;
            let done = match before {
                Some(bytes) => replace_file(&full, bytes),
                None => fs::remove_file(&full),
            };
            done.map_err(|cause| trouble("writing", path, cause))?;
        }
        if !self.entries.is_empty() || !self.rows.is_empty() {
            for (output, entry) in self.entries.iter().rev() {
                contents.set_log(output, *entry);
            }
            contents.put_back(&self.rows);
            let written = contents.write(self.place.folder());
            written
                .map_err(|cause| trouble("recording contents in", as_bytes(self.place.folder()), cause))?;
        }
        Ok(())
    }
}

impl NewFile {
    fn clone_for_undo(&self) -> (Vec<u8>, Option<Vec<u8>>) {
        (self.path.clone(), self.before.clone())
    }
}

fn trouble(operation: &'static str, path: &[u8], cause: io::Error) -> Error {
    Error::Read { operation, path: path.to_vec(), cause }
}

fn as_bytes(path: &Path) -> &[u8] {
    upcheck::os_path::bytes(path)
}

fn is_directory(place: &Place, path: &[u8]) -> bool {
    place.of(path).is_ok_and(|path| path.is_dir())
}

fn set_time(path: &Path, time: Mtime) -> io::Result<()> {
    let since = Duration::from_nanos(time.unsigned_abs());
    let time = if time < 0 { SystemTime::UNIX_EPOCH - since } else { SystemTime::UNIX_EPOCH + since };
    open_for_times(path)?.set_times(FileTimes::new().set_modified(time))
}

/// On Unix the right to read is enough.
#[cfg(not(windows))]
fn open_for_times(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(windows)]
fn open_for_times(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const FILE_WRITE_ATTRIBUTES: u32 = 0x100;
    /// Without it no directory is opened.
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
    let mut options = fs::OpenOptions::new();
    options.access_mode(FILE_WRITE_ATTRIBUTES).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use upcheck::Digest;
    use upcheck::collect::os_disk;

    const OLD: Mtime = 1_600_000_000_000_000_000;

    fn new_time(disk: &dyn Disk, path: &str, content: &str) -> NewTime {
        let Stat::Present(seen) = disk.stat(path.as_bytes()) else { panic!("{path} is not there") };
        let digest = Digest(*blake3::hash(content.as_bytes()).as_bytes());
        NewTime { path: path.into(), from: seen.mtime, to: OLD, seen, digest }
    }

    /// A folder with two files, and a repair that gives them other times and a new log.
    fn repair(folder: &Path, second: &str) -> (Repair, Place) {
        for (path, content) in [("one", "1"), ("two", second), (".ninja_log", "before")] {
            fs::write(folder.join(path), content).expect("a file");
        }
        let disk = os_disk(folder).expect("a folder");
        let repair = Repair {
            times: ["one", "two"]
                .map(|path| new_time(&disk, path, if path == "one" { "1" } else { "2" }))
                .into(),
            mended: Vec::new(),
            dropped: Vec::new(),
            deps: Vec::new(),
            n_targets: 0,
            unproven: Vec::new(),
            n_stale: (0, 0),
            n_read: 0,
            warnings: Vec::new(),
            log: Some(NewFile {
                path: b".ninja_log".to_vec(),
                before: Some(b"before".to_vec()),
                after: b"after".to_vec(),
            }),
            deps_log: Some(NewFile { path: b".ninja_deps".to_vec(), before: None, after: b"new".to_vec() }),
            entries: Vec::new(),
            outdated: Vec::new(),
        };
        let place = Place { directory: folder.to_owned(), records: folder.join("records") };
        (repair, place)
    }

    fn mtime(folder: &Path, path: &str) -> Mtime {
        Meta::mtime_at(fs::metadata(folder.join(path)).and_then(|meta| meta.modified()).expect("a time"))
    }

    #[test]
    fn all_is_done_or_nothing() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let (repair, place) = repair(folder.path(), "2");
        let disk = os_disk(folder.path()).expect("a folder");
        repair.apply(&disk, &place, &mut Contents::default()).expect("nothing is in the way");
        assert_eq!(fs::read(folder.path().join(".ninja_log")).expect("a log"), b"after");
        assert_eq!(fs::read(folder.path().join(".ninja_deps")).expect("a log"), b"new");
        assert_eq!(["one", "two"].map(|path| mtime(folder.path(), path)), [OLD, OLD]);
    }

    #[test]
    fn a_file_that_was_changed_a_moment_before_its_time_was_set_is_new_and_all_else_as_it_was() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        // It looks as it did, and holds something else.
        let (repair, place) = repair(folder.path(), "3");
        let disk = os_disk(folder.path()).expect("a folder");
        let error =
            repair.apply(&disk, &place, &mut Contents::default()).expect_err("it was changed").to_string();
        assert_eq!(error, "two was changed while it was looked at; nothing was repaired");
        assert_eq!(fs::read(folder.path().join(".ninja_log")).expect("a log"), b"before");
        assert!(!folder.path().join(".ninja_deps").exists());
        assert_eq!(mtime(folder.path(), "one"), repair.times[0].from);
        assert!(mtime(folder.path(), "two") >= repair.times[1].from, "later than what was made of it before");
    }

    #[test]
    fn what_was_changed_since_it_was_planned_is_not_touched() {
        for path in ["one", ".ninja_log", ".ninja_deps"] {
            let folder = tempfile::tempdir().expect("a temporary directory");
            let (repair, place) = repair(folder.path(), "2");
            fs::write(folder.path().join(path), "somebody else's").expect("a file");
            let disk = os_disk(folder.path()).expect("a folder");
            let error = repair.apply(&disk, &place, &mut Contents::default()).expect_err("it was changed");
            assert_eq!(
                error.to_string(),
                format!("{path} was changed while it was looked at; nothing was repaired")
            );
            assert_eq!(fs::read(folder.path().join(path)).expect("it is there"), b"somebody else's");
            assert_eq!(mtime(folder.path(), "two"), repair.times[1].from);
        }
    }

    #[test]
    fn where_a_log_cannot_be_written_the_other_one_is_as_it_was() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let (mut repair, place) = repair(folder.path(), "2");
        // There is no such folder.
        repair.log = Some(NewFile { path: b"none/.ninja_log".to_vec(), before: None, after: Vec::new() });
        let disk = os_disk(folder.path()).expect("a folder");
        let error =
            repair.apply(&disk, &place, &mut Contents::default()).expect_err("it cannot be").to_string();
        assert!(error.starts_with("writing 'none/.ninja_log': "), "{error}");
        assert!(!folder.path().join(".ninja_deps").exists());
        assert_eq!(mtime(folder.path(), "one"), repair.times[0].from);
    }
}
