//! Looking at files through a mount, and comparing what collectors say.
#![allow(dead_code, reason = "not all suites need all of it")]

use std::path::Path;
use upcheck::collect::{Disk, PortableDisk, UnixDisk, collect};
use upcheck::{FileTable, Plan, Snapshot, path};
use upcheck_fuse::{Counts, Mount};

pub(crate) fn table(paths: &[Vec<u8>]) -> FileTable {
    let mut files = FileTable::default();
    for given in paths {
        let mut canonical = given.clone();
        path::canonicalize(&mut canonical);
        files.intern(&canonical);
    }
    files
}

pub(crate) fn look(disk: &dyn Disk, files: &FileTable, threads: usize) -> Snapshot {
    collect(disk, &Plan::new(files, files.ids()), threads)
}

/// A disk that lists to the end what it lists, however busy the machine is: what is asked can be counted.
pub(crate) fn unix(base: &Path) -> UnixDisk {
    UnixDisk::new(base).expect("a directory").with_patience(u32::MAX)
}

/// What was found, and how much was asked for that.
pub(crate) fn ask(mount: &Mount, files: &FileTable, threads: usize) -> (Snapshot, Counts) {
    let disk = unix(mount.path());
    mount.take_counts();
    let found = look(&disk, files, threads);
    (found, mount.take_counts())
}

/// The first path about which the portable collector, which asks for one file after another, says something else.
pub(crate) fn difference(base: &Path, files: &FileTable, found: &Snapshot) -> Option<String> {
    let portable = look(&PortableDisk::new(base).expect("a directory"), files, 1);
    let file = files.ids().find(|&file| found.stat(file) != portable.stat(file))?;
    let shown = files.path(file).escape_ascii();
    Some(format!("{shown}: {:?}, but portable {:?}", found.stat(file), portable.stat(file)))
}

/// The portable collector says the same.
pub(crate) fn agree(mount: &Mount, files: &FileTable, found: &Snapshot) {
    assert_eq!(difference(mount.path(), files, found), None);
}
