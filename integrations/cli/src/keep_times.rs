//! Output times: an output that came out as it was gets the time back that it had, so that what is made from it need not
//! be made again by those who go by times.
//!
//! Whoever looks at such a file finds what he would have found if the command had not been run. Only regular files that
//! have one name are meant: behind a link the file may be an input, whose time is not ours to change.

use crate::args::Common;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

/// How an output was before the command ran.
pub(crate) struct Before {
    path: PathBuf,
    mode: u32,
    size: u64,
    mtime: SystemTime,
    digest: blake3::Hash,
}

/// How the outputs are that options describe. What cannot be looked at is left out: it will have the time that it gets.
pub(crate) fn look(common: &Common) -> Vec<Before> {
    let paths = common.one.outputs.iter().map(|output| common.directory.join(output));
    paths.filter_map(|path| before(path).ok().flatten()).collect()
}

/// Puts back the times of those that are as they were. Where that fails, a file keeps its new time, which is right, too.
pub(crate) fn restore(before: &[Before]) {
    for file in before {
        let _ = file.restore();
    }
}

fn before(path: PathBuf) -> io::Result<Option<Before>> {
    let Some((_, meta, digest)) = read(&path, |_| true)? else { return Ok(None) };
    let mtime = meta.modified()?;
    Ok(Some(Before { path, mode: mode(&meta), size: meta.len(), mtime, digest }))
}

impl Before {
    fn restore(&self) -> io::Result<()> {
        let is_like =
            |meta: &Metadata| has_one_name(meta) && meta.len() == self.size && mode(meta) == self.mode;
        match read(&self.path, is_like)? {
            Some((file, meta, digest)) if digest == self.digest && meta.modified()? != self.mtime => {
                file.set_modified(self.mtime)
            }
            _ => Ok(()),
        }
    }
}

/// Reads a regular file that looks as wanted, and did so all the while.
fn read(
    path: &PathBuf,
    is_wanted: impl Fn(&Metadata) -> bool,
) -> io::Result<Option<(File, Metadata, blake3::Hash)>> {
    // What this is not, like a pipe, is not even to be opened.
    let seen = fs::symlink_metadata(path)?;
    if !seen.is_file() || !is_wanted(&seen) {
        return Ok(None);
    }
    let file = File::open(path)?;
    let first = file.metadata()?;
    let digest = blake3::Hasher::new().update_reader(&file)?.finalize();
    let last = file.metadata()?;
    let is_steady = stamp(&seen) == stamp(&first) && stamp(&first) == stamp(&last);
    Ok(is_steady.then_some((file, last, digest)))
}

#[cfg(unix)]
fn mode(meta: &Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(meta)
}

#[cfg(unix)]
fn has_one_name(meta: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(meta) == 1
}

/// All that changes when somebody changes a file, or puts another one in its place.
#[cfg(unix)]
fn stamp(meta: &Metadata) -> impl PartialEq + use<> {
    use std::os::unix::fs::MetadataExt;
    (
        meta.dev(),
        meta.ino(),
        meta.size(),
        (meta.mtime(), meta.mtime_nsec()),
        (meta.ctime(), meta.ctime_nsec()),
    )
}

#[cfg(not(unix))]
fn mode(meta: &Metadata) -> u32 {
    u32::from(meta.permissions().readonly())
}

#[cfg(not(unix))]
fn has_one_name(_: &Metadata) -> bool {
    // Nobody says, so no time is put back.
    false
}

#[cfg(not(unix))]
fn stamp(meta: &Metadata) -> impl PartialEq + use<> {
    (meta.len(), meta.modified().ok())
}
