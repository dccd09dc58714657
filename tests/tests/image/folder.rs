//! Runs the real command with a folder of images, and looks at what is in that folder.

use crate::command::{Ran, upcheck_in};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use upcheck_tests::space::Space;

/// `upcheck` in a build directory with its own folder of images.
pub(crate) fn command(space: &Space, args: &str) -> Command {
    let mut command = upcheck_in(space.path());
    command.args(args.split_whitespace()).env("UPCHECK_CACHE_DIR", space.images());
    command
}

#[track_caller]
pub(crate) fn ran(mut command: Command) -> Ran {
    Ran::new(command.output().expect("upcheck starts"))
}

/// What became of the image, after making sure that the answer is the one without. With its exit status.
#[track_caller]
pub(crate) fn asked(space: &Space, args: &str) -> (i32, String) {
    let without = ran(command(space, &format!("{args} --explain --commands --no-image")));
    let json = ran(command(space, &format!("{args} --format json")));
    let with = ran(command(space, &format!("{args} --explain --commands")));
    assert_eq!(with, without, "upcheck {args}");
    assert_eq!(json.status, without.status, "upcheck {args}");
    let document: Value = serde_json::from_str(&json.stdout).expect("JSON");
    (json.status, document["summary"]["image"].as_str().unwrap_or("trouble").to_owned())
}

/// Everything about the images in a folder that writing to it would change: inode, times, size, permissions. What Windows
/// keeps beside them of the names of files is none.
#[track_caller]
pub(crate) fn entries(folder: &Path) -> BTreeMap<String, [i64; 7]> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    let entries = entries.map(|entry| {
        let entry = entry.expect("an entry");
        let meta = entry.metadata().expect("its status");
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, status(&meta))
    });
    entries.filter(|(name, _)| !name.ends_with(".state-names")).collect()
}

#[cfg(unix)]
fn status(meta: &fs::Metadata) -> [i64; 7] {
    use std::os::unix::fs::MetadataExt;
    let size = i64::try_from(meta.size()).expect("a size");
    let inode = meta.ino().cast_signed();
    let [a, b, c, d] = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
    [inode, size, i64::from(meta.mode()), a, b, c, d]
}

#[cfg(windows)]
fn status(meta: &fs::Metadata) -> [i64; 7] {
    use std::os::windows::fs::MetadataExt;
    let numbers = [meta.file_size(), meta.creation_time(), meta.last_write_time()].map(u64::cast_signed);
    let [size, created, written] = numbers;
    [size, created, written, i64::from(meta.file_attributes()), 0, 0, 0]
}
