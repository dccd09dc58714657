//! Build directories for tests: files with times that are set, never waited for.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// A directory that goes away with the value.
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
        Some(meta.mtime() * 1_000_000_000 + meta.mtime_nsec())
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
        let directory = File::open(copy.path()).expect("the copy");
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
    let file = File::open(path).expect("a file to set the time of");
    file.set_times(FileTimes::new().set_modified(time)).expect("a time that can be set");
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
        fs::read_link(path).expect("a link").as_os_str().as_bytes().to_vec()
    } else if meta.is_file() {
        fs::read(path).unwrap_or_default()
    } else {
        Vec::new()
    };
    let mtime_ns = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
    Entry { mode: meta.mode(), mtime_ns, content }
}

fn copy_tree(from: &Path, to: &Path) {
    for child in fs::read_dir(from).expect("a directory to copy") {
        let source = child.expect("an entry").path();
        let target = to.join(source.file_name().expect("a name"));
        let meta = fs::symlink_metadata(&source).expect("an entry's status");
        if meta.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source).expect("a link"), &target).expect("a link");
            continue;
        }
        if meta.is_dir() {
            fs::create_dir(&target).expect("a directory");
            copy_tree(&source, &target);
        } else {
            fs::copy(&source, &target).expect("a copy");
        }
        let file = File::open(&target).expect("a file to set the time of");
        file.set_times(FileTimes::new().set_modified(meta.modified().expect("a time"))).expect("a time");
        fs::set_permissions(&target, fs::Permissions::from_mode(meta.mode())).expect("permissions");
    }
}
