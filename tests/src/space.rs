//! Build directories for tests: files with times that are set, never waited for.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use upcheck::Meta;

/// By how many nanoseconds the times of two files differ at least, if they differ and the system tells: Windows counts in
/// steps of 100.
pub const TICK: i64 = if cfg!(windows) { 100 } else { 1 };

/// A directory that goes away with the value.
#[derive(Debug)]
pub struct Space {
    dir: TempDir,
    images: TempDir,
}

/// All that can be seen of one entry of a tree: kind, permissions, mtime, content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    mode: u32,
    mtime_ns: i128,
    content: Vec<u8>,
}

impl Entry {
    /// The same, without its time.
    #[must_use]
    pub fn without_time(&self) -> Self {
        Self { mtime_ns: 0, ..self.clone() }
    }

    /// When it was last changed, in nanoseconds since 1970.
    #[must_use]
    pub fn mtime(&self) -> i128 {
        self.mtime_ns
    }
}

impl Default for Space {
    fn default() -> Self {
        Self::new()
    }
}

impl Space {
    /// An empty directory.
    ///
    /// # Panics
    /// When the disk has no room for one; so do all functions here.
    #[must_use]
    pub fn new() -> Self {
        let new = |prefix| tempfile::Builder::new().prefix(prefix).tempdir().expect("a temporary directory");
        Self { dir: new("upcheck-test-"), images: new("upcheck-images-") }
    }

    /// Where its images are kept: outside of it.
    #[must_use]
    pub fn images(&self) -> PathBuf {
        self.images.path().join("images")
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file, and the directories it needs, as of now.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let full = self.path().join(path);
        fs::create_dir_all(full.parent().expect("a file has a directory")).expect("directories");
        fs::write(full, content).expect("a file");
    }

    /// Writes a file, so that it is newer than all that was made before, as the file system's own clock tells it: one that
    /// is merely written now can have the very time of what was made a moment ago. Times that were set to lie ahead do not
    /// count: who waited for these would wait for long.
    pub fn write_last(&self, path: &str, content: impl AsRef<[u8]>) {
        self.remove(path);
        self.write(path, &content);
        let now = self.mtime(path).map_or(i128::MAX, i128::from);
        let entries = self.entries();
        let files = entries.iter().filter(|(at, _)| at.is_file() && **at != self.path().join(path));
        let newest = files.map(|(_, entry)| entry.mtime()).filter(|&mtime| mtime <= now).max();
        // Clocks of file systems go in steps of milliseconds.
        while newest.is_some_and(|newest| self.mtime(path).map(i128::from) <= Some(newest)) {
            self.write(path, &content);
        }
    }

    /// Writes a file that was last changed at `mtime_ns`, nanoseconds since 1970.
    pub fn write_at(&self, path: &str, content: impl AsRef<[u8]>, mtime_ns: i64) {
        self.write(path, content);
        self.set_mtime(path, mtime_ns);
    }

    /// Sets when a file was last changed, creating it where it is missing.
    pub fn set_mtime(&self, path: &str, mtime_ns: i64) {
        let full = self.path().join(path);
        if !full.exists() {
            self.write(path, "");
        }
        set_mtime(&full, mtime_ns);
    }

    /// When a file was last changed, in nanoseconds since 1970; `None` if it is not there.
    #[must_use]
    pub fn mtime(&self, path: &str) -> Option<i64> {
        let meta = fs::metadata(self.path().join(path)).ok()?;
        Some(Meta::mtime_at(meta.modified().expect("a time")))
    }

    /// Removes a file, if it is there.
    pub fn remove(&self, path: &str) {
        let _ = fs::remove_file(self.path().join(path));
    }

    /// The whole content of a file.
    #[must_use]
    pub fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.path().join(path)).unwrap_or_default()
    }

    /// A copy with the same bytes, permissions, links and times.
    #[must_use]
    pub fn copy(&self) -> Self {
        let copy = Self::new();
        copy_tree(self.path(), copy.path());
        // The directory itself too, last of all: filling it gave it the hour of the copy.
        let mtime = fs::metadata(self.path()).and_then(|meta| meta.modified()).expect("a time");
        let directory = open_for_times(copy.path()).expect("the copy");
        directory.set_times(FileTimes::new().set_modified(mtime)).expect("a time that can be set");
        copy
    }

    /// Everything in the tree, by path: equal before and after means that nothing was touched.
    #[must_use]
    pub fn entries(&self) -> BTreeMap<PathBuf, Entry> {
        let mut entries = BTreeMap::new();
        list(self.path(), &mut entries);
        entries
    }
}

/// Sets a file's or a directory's time.
///
/// # Panics
/// When the operating system refuses.
pub fn set_mtime(path: &Path, mtime_ns: i64) {
    let since = Duration::from_nanos(mtime_ns.unsigned_abs());
    let time = if mtime_ns < 0 { SystemTime::UNIX_EPOCH - since } else { SystemTime::UNIX_EPOCH + since };
    let file = open_for_times(path).expect("a file to set the time of");
    file.set_times(FileTimes::new().set_modified(time)).expect("a time that can be set");
}

/// On Unix the right to read is enough.
#[cfg(not(windows))]
fn open_for_times(path: &Path) -> std::io::Result<File> {
    File::open(path)
}

#[cfg(windows)]
fn open_for_times(path: &Path) -> std::io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const FILE_WRITE_ATTRIBUTES: u32 = 0x100;
    /// Without it no directory is opened.
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
    let mut options = fs::OpenOptions::new();
    options.access_mode(FILE_WRITE_ATTRIBUTES).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

fn list(directory: &Path, entries: &mut BTreeMap<PathBuf, Entry>) {
    entries.insert(directory.to_owned(), entry(directory));
    let Ok(children) = fs::read_dir(directory) else { return };
    for child in children {
        let path = child.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            list(&path, entries);
        } else {
            entries.insert(path.clone(), entry(&path));
        }
    }
}

fn entry(path: &Path) -> Entry {
    let meta = fs::symlink_metadata(path).expect("an entry's status");
    let content = if meta.is_symlink() {
        fs::read_link(path).expect("a link").into_os_string().into_encoded_bytes()
    } else if meta.is_file() {
        fs::read(path).unwrap_or_default()
    } else {
        Vec::new()
    };
    let mtime_ns = i128::from(Meta::mtime_at(meta.modified().expect("a time")));
    Entry { mode: mode(&meta), mtime_ns, content }
}

#[cfg(unix)]
fn mode(meta: &fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(meta)
}

/// Elsewhere: whether it is a directory, and whether it may be written to.
#[cfg(not(unix))]
fn mode(meta: &fs::Metadata) -> u32 {
    u32::from(meta.is_dir()) << 1 | u32::from(meta.permissions().readonly())
}

#[cfg(unix)]
fn link(to: &Path, path: &Path) {
    std::os::unix::fs::symlink(to, path).expect("a link");
}

/// Whoever has a link there has the right to make another one.
#[cfg(windows)]
fn link(to: &Path, path: &Path) {
    std::os::windows::fs::symlink_file(to, path).expect("a link");
}

fn copy_tree(from: &Path, to: &Path) {
    for child in fs::read_dir(from).expect("a directory to copy") {
        let source = child.expect("an entry").path();
        let target = to.join(source.file_name().expect("a name"));
        let meta = fs::symlink_metadata(&source).expect("an entry's status");
        if meta.is_symlink() {
            link(&fs::read_link(&source).expect("a link"), &target);
            continue;
        }
        if meta.is_dir() {
            fs::create_dir(&target).expect("a directory");
            copy_tree(&source, &target);
        } else {
            fs::copy(&source, &target).expect("a copy");
        }
        let file = open_for_times(&target).expect("a file to set the time of");
        file.set_times(FileTimes::new().set_modified(meta.modified().expect("a time"))).expect("a time");
        fs::set_permissions(&target, meta.permissions()).expect("permissions");
    }
}
