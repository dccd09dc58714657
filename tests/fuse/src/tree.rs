//! What is there: files, directories and links in memory.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// The number of the root.
pub(crate) const ROOT: usize = 0;

/// Files, directories and links, by path. A path that a function gets is relative to the root, and its directories are
/// made where they are missing.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Counts changes: each node's ctime is the number of its last one.
    changes: i64,
}

/// What stands at a path.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) what: What,
    /// Nanoseconds since 1970.
    pub(crate) mtime: i64,
    pub(crate) change: i64,
    pub(crate) mode: u16,
    /// Of a directory: after how many names listing it fails, and with which error.
    pub(crate) trouble: Option<(usize, i32)>,
    /// Whether it is in its directory's listing. Looking it up always works.
    pub(crate) is_listed: bool,
    /// Of a directory: whether its listing never ends, and tells of nothing but the directory itself.
    pub(crate) is_endless: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    File(Vec<u8>),
    Directory(BTreeMap<Vec<u8>, usize>),
    Link(Vec<u8>),
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// An empty directory.
    #[must_use]
    pub fn new() -> Self {
        let mut tree = Self { nodes: Vec::new(), changes: 0 };
        tree.add(What::Directory(BTreeMap::new()), 0);
        tree
    }

    /// All that lies below a real directory, as it is now: content, times, permissions and links.
    ///
    /// # Panics
    /// When something there cannot be read.
    #[must_use]
    pub fn copy_of(directory: &Path) -> Self {
        let mut tree = Self::new();
        tree.copy(directory, ROOT);
        tree
    }

    /// Writes a file, last changed so many nanoseconds after 1970.
    pub fn write(&mut self, path: impl AsRef<[u8]>, content: &[u8], mtime: i64) {
        self.put(path.as_ref(), What::File(content.to_vec()), mtime);
    }

    /// Makes a directory.
    pub fn directory(&mut self, path: impl AsRef<[u8]>) {
        self.directory_at(path.as_ref());
    }

    /// Makes a symbolic link that leads to `to`.
    pub fn link(&mut self, path: impl AsRef<[u8]>, to: impl AsRef<[u8]>) {
        self.put(path.as_ref(), What::Link(to.as_ref().to_vec()), 0);
    }

    /// Removes what stands at a path, with all that is beneath it.
    pub fn remove(&mut self, path: impl AsRef<[u8]>) {
        let (parent, name) = split(path.as_ref());
        if let Some(parent) = self.find(parent)
            && let What::Directory(children) = &mut self.nodes[parent].what
        {
            children.remove(name);
        }
    }

    /// Sets when something was last changed, in nanoseconds since 1970.
    pub fn set_mtime(&mut self, path: impl AsRef<[u8]>, mtime: i64) {
        self.change(path.as_ref(), |node| node.mtime = mtime);
    }

    /// Sets permissions. They are up to the kernel, if [`Habits::asks_kernel`](crate::Habits) says so.
    pub fn set_mode(&mut self, path: impl AsRef<[u8]>, mode: u16) {
        self.change(path.as_ref(), |node| node.mode = mode);
    }

    /// From now on something can be looked up by its name, but is not in the listing of its directory.
    pub fn hide(&mut self, path: impl AsRef<[u8]>) {
        self.change(path.as_ref(), |node| node.is_listed = false);
    }

    /// From now on listing a directory fails after so many names. Not told are the others.
    pub fn fail_listing(&mut self, path: impl AsRef<[u8]>, names: usize, errno: i32) {
        self.change(path.as_ref(), |node| node.trouble = Some((names, errno)));
    }

    /// From now on listing a directory tells `.` again and again, and comes to no end.
    pub fn make_endless(&mut self, path: impl AsRef<[u8]>) {
        self.change(path.as_ref(), |node| node.is_endless = true);
    }

    pub(crate) fn node(&self, number: usize) -> Option<&Node> {
        self.nodes.get(number)
    }

    /// What a directory holds; nothing, if it is none.
    pub(crate) fn children(&self, number: usize) -> impl Iterator<Item = (&[u8], usize)> {
        let children = match self.nodes.get(number).map(|node| &node.what) {
            Some(What::Directory(children)) => Some(children),
            _ => None,
        };
        children.into_iter().flatten().map(|(name, &child)| (&name[..], child))
    }

    pub(crate) fn child(&self, number: usize, name: &[u8]) -> Option<usize> {
        match &self.nodes.get(number)?.what {
            What::Directory(children) => children.get(name).copied(),
            _ => None,
        }
    }

    fn change(&mut self, path: &[u8], change: impl FnOnce(&mut Node)) {
        self.changes += 1;
        let changes = self.changes;
        if let Some(at) = self.find(path) {
            self.nodes[at].change = changes;
            change(&mut self.nodes[at]);
        }
    }

    fn add(&mut self, what: What, mtime: i64) -> usize {
        self.changes += 1;
        let mode = if matches!(what, What::Directory(_)) { 0o755 } else { 0o644 };
        self.nodes.push(Node {
            what,
            mtime,
            change: self.changes,
            mode,
            trouble: None,
            is_listed: true,
            is_endless: false,
        });
        self.nodes.len() - 1
    }

    fn put(&mut self, path: &[u8], what: What, mtime: i64) {
        let (parent, name) = split(path);
        let parent = self.directory_at(parent);
        let new = self.add(what, mtime);
        self.put_in(parent, name, new);
    }

    fn put_in(&mut self, parent: usize, name: &[u8], new: usize) {
        if let What::Directory(children) = &mut self.nodes[parent].what {
            children.insert(name.to_vec(), new);
        }
    }

    fn find(&self, path: &[u8]) -> Option<usize> {
        parts(path).try_fold(ROOT, |at, name| self.child(at, name))
    }

    fn directory_at(&mut self, path: &[u8]) -> usize {
        parts(path).fold(ROOT, |at, name| {
            self.child(at, name).unwrap_or_else(|| {
                let new = self.add(What::Directory(BTreeMap::new()), 0);
                self.put_in(at, name, new);
                new
            })
        })
    }

    fn copy(&mut self, directory: &Path, to: usize) {
        let meta = fs::metadata(directory).expect("a directory to copy");
        for entry in fs::read_dir(directory).expect("a directory that can be listed") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").as_bytes().to_vec();
            let meta = fs::symlink_metadata(&path).expect("an entry's status");
            let what = if meta.is_symlink() {
                What::Link(fs::read_link(&path).expect("a link").as_os_str().as_bytes().to_vec())
            } else if meta.is_dir() {
                What::Directory(BTreeMap::new())
            } else {
                What::File(fs::read(&path).expect("a file"))
            };
            let new = self.add(what, mtime(&meta));
            self.nodes[new].mode = mode(&meta);
            self.put_in(to, &name, new);
            if meta.is_dir() {
                self.copy(&path, new);
            }
        }
        self.nodes[to].mtime = mtime(&meta);
        self.nodes[to].mode = mode(&meta);
    }
}

fn mtime(meta: &fs::Metadata) -> i64 {
    meta.mtime() * 1_000_000_000 + meta.mtime_nsec()
}

fn mode(meta: &fs::Metadata) -> u16 {
    u16::try_from(meta.permissions().mode() & 0o7777).unwrap_or(0o644)
}

fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/').filter(|part| !part.is_empty())
}

/// The directory of a path, and its name there.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&[], path),
    }
}
