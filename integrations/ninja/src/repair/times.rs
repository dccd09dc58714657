//! Which files get which times.
//!
//! An output gets the time that it had when it was recorded. A source gets it if it has a later one: what is older than it
//! was makes nobody stale. Then, inputs before users, an output that is older than an input gets that one's time; where all
//! times are those of one build there is none. Only files count here that hold what a proved target was made of, or what it
//! made; all others stay as they are.
//!
//! A file can have several names. It has one time, and so it is one node here. Where not all of its names are known, or it
//! belongs to somebody else, its time is not ours to change: it stays, and the others are put around it.

use super::{Place, RepairOptions};
use crate::build::Build;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};
use upcheck::{Digest, FileId, Meta, Mtime, Snapshot, Stat, TargetId};

/// A file that gets another time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTime {
    /// One of its names.
    pub path: Vec<u8>,
    /// The time that it has, in nanoseconds since 1970.
    pub from: Mtime,
    /// The time that it gets.
    pub to: Mtime,
    /// How it looked when its content was looked at.
    pub(super) seen: Meta,
    /// What it held then.
    pub(super) digest: Digest,
}

/// The planned times.
pub(super) struct Times {
    /// Indexed by file: its node, or `NONE`.
    node_of: Vec<u32>,
    nodes: Vec<Node>,
}

const NONE: u32 = u32::MAX;

/// A file on the disk, whatever its names.
struct Node {
    names: Vec<FileId>,
    now: Mtime,
    planned: Mtime,
    /// The earliest time on record.
    wish: Option<Mtime>,
    /// What it holds, which is what is on record.
    digest: Option<Digest>,
    is_output: bool,
    /// Whether its time may be set; found out when that is wanted.
    is_ours: Option<bool>,
}

/// Plans times for the files of proved targets, which come inputs before users.
pub(super) fn plan(
    build: &Build,
    place: &Place,
    snapshot: &Snapshot,
    proven: &[TargetId],
    repair: &RepairOptions,
) -> Times {
    let mut times = Times::of(build, snapshot, proven);
    for at in 0..times.nodes.len() {
        let node = &times.nodes[at];
        let Some(wish) = node.wish else { continue };
        let planned = match node.is_output {
            true => wish,
            false if repair.keep_sources => node.now,
            false => wish.min(node.now),
        };
        times.set(at, planned, build, place);
    }
    times.raise(build, place, proven);
    times
}

impl Times {
    fn of(build: &Build, snapshot: &Snapshot, proven: &[TargetId]) -> Self {
        let mut times = Self { node_of: vec![NONE; build.graph.files.len()], nodes: Vec::new() };
        let mut by_inode = HashMap::new();
        for file in build.graph.files.ids() {
            let Stat::Present(meta) = snapshot.stat(file) else { continue };
            let new = times.nodes.len();
            let node = match meta.inode {
                0 => new,
                inode => *by_inode.entry((meta.device, inode)).or_insert(new),
            };
            if node == new {
                times.nodes.push(Node {
                    names: Vec::new(),
                    now: meta.mtime,
                    planned: meta.mtime,
                    wish: None,
                    digest: None,
                    is_output: false,
                    is_ours: None,
                });
            }
            times.nodes[node].names.push(file);
            times.nodes[node].is_output |=
                build.graph.producer(file).is_some() || build.dyndep_producers.contains_key(&file);
            times.node_of[file.index()] = upcheck::narrow(node);
        }
        for success in proven.iter().filter_map(|&target| build.history.success(target)) {
            for recorded in success.inputs.iter().chain(success.outputs) {
                let Some(then) = recorded.state.meta() else { continue };
                if let Some(node) = times.node_mut(recorded.file) {
                    node.wish = Some(node.wish.map_or(then.mtime, |wish| wish.min(then.mtime)));
                    node.digest = recorded.state.digest();
                }
            }
        }
        times
    }

    /// The time that a file will have; `None` where it is not there.
    pub(super) fn of_file(&self, file: FileId) -> Option<Mtime> {
        Some(self.nodes[self.node(file)?].planned)
    }

    /// The newest of the inputs by which a proved target is judged.
    pub(super) fn newest_input(&self, build: &Build, target: TargetId) -> Option<Mtime> {
        let success = build.history.success(target)?;
        success.inputs.iter().filter_map(|recorded| self.of_file(recorded.file)).max()
    }

    /// Gives outputs that are older than an input the time of that one, until there is none. A target with `restat` may
    /// leave its outputs as old as they are.
    fn raise(&mut self, build: &Build, place: &Place, proven: &[TargetId]) {
        let mut again = true;
        // Only names that share a file make a second round necessary. There are fewer rounds than files.
        let mut n_rounds = 0;
        while std::mem::take(&mut again) && n_rounds <= self.nodes.len() {
            n_rounds += 1;
            for &target in proven {
                let Some(newest) = self.newest_input(build, target) else { continue };
                if build.may_keep_outputs(target) {
                    continue;
                }
                for output in build.all_outputs(target) {
                    let Some(node) = self.node(output) else { continue };
                    if self.nodes[node].planned < newest {
                        again |= self.set(node, newest, build, place);
                    }
                }
            }
        }
    }

    /// Plans a time, if it may be set. Whether it is planned.
    fn set(&mut self, at: usize, planned: Mtime, build: &Build, place: &Place) -> bool {
        let node = &mut self.nodes[at];
        let may_be_set = || is_ours(node, build, place);
        if planned != node.now && !node.is_ours.unwrap_or_else(may_be_set) {
            node.is_ours = Some(false);
            return false;
        }
        node.planned = planned;
        true
    }

    /// The files that get another time, sorted.
    pub(super) fn changes(&self, build: &Build, snapshot: &Snapshot) -> Vec<NewTime> {
        let changed = self.nodes.iter().filter(|node| node.planned != node.now);
        let mut changes: Vec<NewTime> = changed
            .filter_map(|node| {
                let &file = node.names.first()?;
                let Stat::Present(seen) = snapshot.stat(file) else { return None };
                let path = build.graph.files.path(file).to_vec();
                Some(NewTime { path, from: node.now, to: node.planned, seen, digest: node.digest? })
            })
            .collect();
        changes.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        changes
    }

    fn node(&self, file: FileId) -> Option<usize> {
        let node = *self.node_of.get(file.index())?;
        (node != NONE).then_some(node as usize)
    }

    fn node_mut(&mut self, file: FileId) -> Option<&mut Node> {
        let node = self.node(file)?;
        self.nodes.get_mut(node)
    }
}

/// Whether the time of a file may be set: it is no source that came with the system, it is the user's, and he knows all of its
/// names, those that are links to it aside.
fn is_ours(node: &Node, build: &Build, place: &Place) -> bool {
    let found = node.names.iter().map(|&file| fs::canonicalize(place.of(build.graph.files.path(file))?));
    let Ok(mut paths) = found.collect::<io::Result<Vec<PathBuf>>>() else { return false };
    if !node.is_output && paths.iter().any(|path| is_of_system(path)) {
        return false;
    }
    paths.sort_unstable();
    paths.dedup();
    paths.first().and_then(|path| fs::metadata(path).ok()).is_some_and(|meta| is_users(&meta, paths.len()))
}

/// Where systems keep headers and tools. Whoever builds as root has the right to set their times, but no reason to.
fn is_of_system(path: &Path) -> bool {
    ["/usr", "/opt", "/etc", "/lib", "/lib64", "/nix", "/System", "/Library"]
        .iter()
        .any(|place| path.starts_with(place))
}

#[cfg(unix)]
fn is_users(meta: &fs::Metadata, n_names: usize) -> bool {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::geteuid();
    (user.is_root() || meta.uid() == user.as_raw()) && (meta.is_dir() || meta.nlink() == n_names as u64)
}

/// Nobody says who may set it, nor how many names there are.
#[cfg(not(unix))]
fn is_users(_: &fs::Metadata, n_names: usize) -> bool {
    n_names == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_with_the_system_keeps_its_time() {
        for path in
            ["/usr/include/stdio.h", "/usr/lib/gcc/x86_64-linux-gnu/12/include/stddef.h", "/nix/store/x/a.h"]
        {
            assert!(is_of_system(Path::new(path)), "{path}");
        }
        for path in ["/home/user/usr/include/a.h", "/src/a.h", "/users/x/a.h", "/library/a.h", "/tmp/opt/a.h"]
        {
            assert!(!is_of_system(Path::new(path)), "{path}");
        }
    }
}
