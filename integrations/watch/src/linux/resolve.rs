//! Where a path leads to: each part of it is watched before it is looked at.
//!
//! So whatever is replaced after it was looked at is told of, and the paths that lead through it are forgotten. It does not
//! matter that paths are handed to the kernel as text: where the text leads elsewhere by now, that will be told.

use super::Watching;
use super::queue::Queue;
use crate::backend::Doubt;
use crate::journal::{NameHash, Place};
use rapidhash::{RapidHashMap, RapidHashSet};
use rustix::fs::inotify::ReadFlags;
use rustix::fs::{FileType, lstat, readlink};
use rustix::io::Errno;

/// What can make a path through a name lead elsewhere.
pub(super) const LEADS_ELSEWHERE: ReadFlags = ReadFlags::CREATE
    .union(ReadFlags::DELETE)
    .union(ReadFlags::MOVED_FROM)
    .union(ReadFlags::MOVED_TO)
    .union(ReadFlags::ATTRIB);

/// So many links are followed in one path, as the kernel does.
const MOST_LINKS: usize = 40;

/// A directory that is watched.
#[derive(Debug)]
pub(super) struct Node<Watch> {
    /// Which paths end here.
    pub(super) places: Vec<Place>,
    /// Which paths go on from here, by the name of the next part.
    through: RapidHashMap<NameHash, RapidHashSet<Place>>,
    /// What is beneath, as far as it was looked at: directories, not links.
    beneath: RapidHashMap<NameHash, (Box<[u8]>, Watch)>,
    trust: Result<(), Doubt>,
}

impl<Watch: Copy> Node<Watch> {
    fn new(trust: Result<(), Doubt>) -> Self {
        Self { places: Vec::new(), through: RapidHashMap::default(), beneath: RapidHashMap::default(), trust }
    }

    /// The name stands for something else now. Which paths go through it.
    pub(super) fn leads_elsewhere(&mut self, name: NameHash) -> RapidHashSet<Place> {
        self.beneath.remove(&name);
        self.through.remove(&name).unwrap_or_default()
    }

    /// Which paths end here or go through here: all of them have to be looked at again.
    pub(super) fn all_lead_elsewhere(&mut self) -> RapidHashSet<Place> {
        self.beneath.clear();
        let through = std::mem::take(&mut self.through);
        through.into_values().flatten().chain(self.places.iter().copied()).collect()
    }

    pub(super) fn remove(&mut self, place: Place, resolved: &Resolved<Watch>) {
        self.places.retain(|its| *its != place);
        for (_, name) in &resolved.parts {
            if let Some(through) = self.through.get_mut(name) {
                through.remove(&place);
                if through.is_empty() {
                    self.through.remove(name);
                }
            }
        }
    }

    pub(super) fn is_of_no_use(&self) -> bool {
        self.places.is_empty() && self.through.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        let sets: usize = self.through.values().map(|set| 40 + set.capacity() * 5).sum();
        let names: usize = self.beneath.values().map(|(name, _)| 32 + name.len()).sum();
        size_of::<Self>() + self.places.capacity() * 4 + sets + names
    }
}

/// A path that was followed.
#[derive(Debug)]
pub(super) struct Resolved<Watch> {
    /// The parts of the path, those of links in it among them: each as a name in a directory.
    parts: Vec<(Watch, NameHash)>,
    /// The directory that it leads to; `None` if it leads nowhere.
    end: Option<Watch>,
    /// Whether nothing of that can change without being told.
    pub(super) trust: Result<(), Doubt>,
    /// How many files have watches for this place.
    pub(super) n_files: usize,
}

impl<Watch: Copy> Resolved<Watch> {
    /// All watches that it rests on.
    pub(super) fn watches(&self) -> impl Iterator<Item = Watch> {
        self.parts.iter().map(|(watch, _)| *watch).chain(self.end)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<(Place, Self)>() + self.parts.capacity() * size_of::<(Watch, NameHash)>()
    }
}

/// Where a path stands while it is followed.
struct Walk<Watch> {
    /// The directories from the root on, each with the length of its path.
    stack: Vec<(Watch, usize)>,
    /// The path of the last one, without links; empty for the root.
    at: Vec<u8>,
    /// What is still to come, in reverse.
    ahead: Vec<Vec<u8>>,
    n_links: usize,
}

/// Why a walk ended before it was at its end.
enum Ended {
    /// The path leads nowhere.
    Nowhere,
    Doubtful(Doubt),
}

impl<Q: Queue> Watching<Q> {
    /// Follows a path, and watches whatever it rests on.
    pub(super) fn resolve(&mut self, place: Place, path: &[u8]) -> Result<(), Doubt> {
        let mut resolved = Resolved { parts: Vec::new(), end: None, trust: Ok(()), n_files: 0 };
        let ended = self.walk(place, path, &mut resolved);
        match ended {
            Ok(end) => {
                resolved.end = Some(end);
                if let Some(node) = self.nodes.get_mut(&end) {
                    node.places.push(place);
                }
            }
            Err(Ended::Nowhere) => {}
            Err(Ended::Doubtful(doubt)) => resolved.trust = Err(doubt),
        }
        let doubts = resolved.watches().filter_map(|watch| self.nodes.get(&watch)?.trust.err());
        let trust = resolved.trust.and(doubts.map(Err).next().unwrap_or(Ok(())));
        resolved.trust = trust;
        resolved.parts.shrink_to_fit();
        self.places.insert(place, resolved);
        if trust == Err(Doubt::Changing) {
            self.unresolve(place);
        }
        trust
    }

    fn walk(
        &mut self,
        place: Place,
        path: &[u8],
        resolved: &mut Resolved<Q::Watch>,
    ) -> Result<Q::Watch, Ended> {
        let root = self.enter(b"/")?;
        let mut walk = Walk { stack: vec![(root, 0)], at: Vec::new(), ahead: parts(path), n_links: 0 };
        while let Some(part) = walk.ahead.pop() {
            let (here, _) = walk.stack[walk.stack.len() - 1];
            if part == b".." {
                // It has to be there, and let anybody through, as each directory on the way. Its parent need not be told: it may
                // be the root of a mount.
                let name = NameHash::of(&part);
                resolved.parts.push((here, name));
                let Some(node) = self.nodes.get_mut(&here) else {
                    return Err(Ended::Doubtful(Doubt::Changing));
                };
                node.through.entry(name).or_default().insert(place);
                if walk.stack.len() > 1 {
                    walk.stack.pop();
                    walk.at.truncate(walk.stack[walk.stack.len() - 1].1);
                }
                continue;
            }
            let name = NameHash::of(&part);
            resolved.parts.push((here, name));
            let Some(node) = self.nodes.get_mut(&here) else { return Err(Ended::Doubtful(Doubt::Changing)) };
            node.through.entry(name).or_default().insert(place);
            let known = node.beneath.get(&name).filter(|(its, _)| **its == *part).map(|(_, watch)| *watch);
            let length = walk.at.len();
            walk.at.push(b'/');
            walk.at.extend_from_slice(&part);
            if let Some(watch) = known.filter(|watch| self.nodes.contains_key(watch)) {
                walk.stack.push((watch, walk.at.len()));
                continue;
            }
            match look(&walk.at)? {
                FileType::Directory => {
                    let watch = self.enter(&walk.at)?;
                    walk.stack.push((watch, walk.at.len()));
                    if let Some(node) = self.nodes.get_mut(&here) {
                        node.beneath.insert(name, (part.into(), watch));
                    }
                }
                FileType::Symlink => {
                    walk.n_links += 1;
                    if walk.n_links > MOST_LINKS {
                        return Err(Ended::Doubtful(Doubt::Links));
                    }
                    let target = readlink(&*walk.at, Vec::new()).map_err(changing)?.into_bytes();
                    walk.at.truncate(length);
                    if target.starts_with(b"/") {
                        walk.at.clear();
                        walk.stack.truncate(1);
                    }
                    walk.ahead.extend(parts(&target));
                }
                _ => return Err(Ended::Nowhere),
            }
        }
        Ok(walk.stack[walk.stack.len() - 1].0)
    }

    /// Watches a directory by its path, which has no links in it.
    fn enter(&mut self, path: &[u8]) -> Result<Q::Watch, Ended> {
        let watch = match self.queue.add_directory(path) {
            Ok(watch) => watch,
            Err(error) => {
                self.counters.refused += 1;
                self.is_at_limit |= error == Errno::NOSPC;
                return Err(match error {
                    Errno::NOSPC => Ended::Doubtful(Doubt::WatchLimit),
                    // It may be one of a kind that is never vouched for.
                    error => self.judge(path)?.err().map_or(changing(error), Ended::Doubtful),
                });
            }
        };
        if !self.nodes.contains_key(&watch) {
            let trust = self.judge(path)?;
            self.nodes.insert(watch, Node::new(trust));
        }
        Ok(watch)
    }

    /// Whether a directory tells of all that changes in it.
    fn judge(&mut self, path: &[u8]) -> Result<Result<(), Doubt>, Ended> {
        let found = lstat(path).map_err(changing)?;
        Ok(self.file_systems.judge(found.st_dev, found.st_ino, path))
    }
}

/// What a path is that has no links in it but perhaps the last part.
fn look(path: &[u8]) -> Result<FileType, Ended> {
    match lstat(path) {
        Ok(found) => Ok(FileType::from_raw_mode(found.st_mode)),
        Err(Errno::NOENT) => Err(Ended::Nowhere),
        Err(error) => Err(changing(error)),
    }
}

/// What an error means for something that was there a moment ago.
fn changing(error: Errno) -> Ended {
    Ended::Doubtful(match error {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::INVAL => Doubt::Changing,
        error => Doubt::Refused(error.raw_os_error()),
    })
}

/// The parts of a path, in reverse.
fn parts(path: &[u8]) -> Vec<Vec<u8>> {
    let parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".");
    let mut parts: Vec<_> = parts.map(<[u8]>::to_vec).collect();
    parts.reverse();
    parts
}
