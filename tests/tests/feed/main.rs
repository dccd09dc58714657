//! The change feed: what is remembered with it is what the disk says, whatever is done to the files in between.
#![cfg(target_os = "linux")]

mod barrier;
mod by_fanotify;
mod limits;
mod mounts;
mod names;
mod paths;
mod settle;
mod storm;
mod told;
mod writers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use upcheck::collect::{UnixDisk, collect};
use upcheck::{FileTable, Plan, Stat, path};
use upcheck_tests::space::Space;
use upcheck_watch::{Asked, Feed, Memory, Options, WatchedDisk};

/// A directory, and files in it that are looked at again and again.
struct World {
    /// Where the disk begins.
    base: PathBuf,
    files: FileTable,
    feed: Arc<Feed>,
    memory: Memory,
    /// Goes away last.
    space: Space,
}

impl World {
    /// An empty directory, and files that are wanted in it.
    fn new(wanted: &[&str]) -> Self {
        let space = Space::new();
        let base = space.path().to_path_buf();
        Self::at(space, base, wanted)
    }

    /// Files that are wanted in a directory.
    fn at(space: Space, base: PathBuf, wanted: &[&str]) -> Self {
        Self::of(Feed::here().expect("a feed"), space, base, wanted)
    }

    /// The same by a feed of the test's own.
    fn by(feed: Feed, space: Space, wanted: &[&str]) -> Self {
        let base = space.path().to_path_buf();
        Self::of(feed, space, base, wanted)
    }

    fn of(feed: Feed, space: Space, base: PathBuf, wanted: &[&str]) -> Self {
        let feed = Arc::new(feed);
        let memory = Memory::new(Arc::clone(&feed), base.as_os_str().as_encoded_bytes(), Options::default());
        Self { base, files: table(wanted), feed, memory, space }
    }

    fn full(&self, path: &str) -> PathBuf {
        self.base.join(path)
    }

    fn text(&self, path: &str) -> String {
        self.full(path).into_os_string().into_string().expect("a text")
    }

    /// Looks at all files with the memory, and without: that must be the same. What became of the questions of this look.
    #[track_caller]
    fn look(&self) -> Asked {
        let before = self.memory.asked();
        let plan = Plan::new(&self.files, self.files.ids());
        let disk = UnixDisk::new(&self.base).expect("the base");
        let watched = collect(&WatchedDisk::new(&disk, &self.memory), &plan, 1);
        let plain = collect(&disk, &plan, 1);
        for file in self.files.ids() {
            let name = self.files.path(file).escape_ascii();
            assert_eq!(watched.stat(file), plain.stat(file), "{name}, but the disk says the latter");
        }
        let after = self.memory.asked();
        Asked {
            of_disk: after.of_disk - before.of_disk,
            remembered: after.remembered - before.remembered,
            forgotten: after.forgotten - before.forgotten,
            wrong: after.wrong,
        }
    }

    /// Looks until all is remembered that ever will be, and says for how many names the disk is asked even then.
    #[track_caller]
    fn settle(&self) -> u64 {
        self.look();
        let disk = UnixDisk::new(&self.base).expect("the base");
        let mut of_disk = 0;
        // A child that another test has just begun may have what this process had open, for a moment.
        for _ in 0..20 {
            WatchedDisk::new(&disk, &self.memory).settle(usize::MAX);
            self.look();
            let asked = self.look();
            assert_eq!(asked.forgotten, 0, "{:?}", self.memory.why());
            of_disk = asked.of_disk;
            if of_disk == 0 {
                break;
            }
            std::thread::yield_now();
        }
        of_disk
    }

    /// Looks, and for how many names the disk was asked. Nothing else was forgotten.
    #[track_caller]
    fn asked(&self) -> u64 {
        let asked = self.look();
        assert_eq!(asked.forgotten, 0, "{:?}", self.memory.why());
        asked.of_disk
    }

    fn stat(&self, path: &str) -> Stat {
        upcheck::collect::Disk::stat(&UnixDisk::new(&self.base).expect("the base"), path.as_bytes())
    }
}

fn table(wanted: &[&str]) -> FileTable {
    let mut files = FileTable::default();
    for wanted in wanted {
        let mut canonical = wanted.as_bytes().to_vec();
        path::canonicalize(&mut canonical);
        files.intern(&canonical);
    }
    files
}

fn link(to: impl AsRef<Path>, path: &Path) {
    std::os::unix::fs::symlink(to, path).expect("a link");
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
