//! Linux: each directory and each file is watched, by inotify or by fanotify.
//!
//! ```text
//!   /src/b/out/a.o       "/" "src" "b" "out" are watched for names: whichever is replaced, the path leads elsewhere
//!                        "out" for names that are wanted in it, "a.o" for what is written to it
//! ```
//!
//! A directory's watch tells of names: made, removed, renamed. It also tells of writes, but only of those by a name in this
//! directory. A file with another name elsewhere, made before or after one looked, can be written to without a word to it;
//! so each file has a watch of its own, which tells of all writes, whatever the name, and of each new name.
//!
//! The kernel queues what it has to tell within the call that makes the change, so to read the queue until it is empty is
//! all the barrier that is needed.

mod choice;
mod fanotify;
mod file_systems;
mod inotify;
mod lease;
mod mounts;
mod queue;
mod resolve;

pub use choice::Linux;

use crate::Why;
use crate::backend::{Backend, Closed, Counters, Doubt, NameTrust, Trust};
use crate::journal::{Journal, NameHash, Place};
use file_systems::FileSystems;
use mounts::Mounts;
use queue::{Queue, Told};
use rapidhash::{RapidHashMap, RapidHashSet};
use resolve::{Node, Resolved};
use rustix::fs::inotify::ReadFlags;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// So many watches may be of what is no longer there, if they are also more than the others.
const MOST_CLUTTER: usize = 10_000;

/// What is watched by a queue.
struct Watching<Q: Queue> {
    queue: Q,
    mounts: Mounts,
    nodes: RapidHashMap<Q::Watch, Node<Q::Watch>>,
    places: RapidHashMap<Place, Resolved<Q::Watch>>,
    files: RapidHashMap<Q::Watch, Watched>,
    /// Of files with several wanted names, those beyond the one in `files`.
    more_names: RapidHashMap<Q::Watch, Vec<(Place, NameHash)>>,
    file_systems: FileSystems,
    /// The file that is opened to find out whether somebody else has it open: that it is opened tells nothing.
    proving: Option<Q::Watch>,
    /// How many watches of files are of no more use, at most.
    clutter: usize,
    is_cluttered: bool,
    /// The system does not let anybody watch as much as there is.
    is_at_limit: bool,
    /// The system did not let it begin anew: it vouches for nothing until it does.
    is_broken: bool,
    counters: Counters,
    /// What was read, for the room.
    told: Vec<Told<Q::Watch>>,
}

impl<Q: Queue> Watching<Q> {
    /// Watches nothing yet.
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            queue: Q::new()?,
            mounts: Mounts::new()?,
            nodes: RapidHashMap::default(),
            places: RapidHashMap::default(),
            files: RapidHashMap::default(),
            more_names: RapidHashMap::default(),
            file_systems: FileSystems::new()?,
            proving: None,
            clutter: 0,
            is_cluttered: false,
            is_at_limit: false,
            is_broken: false,
            counters: Counters::default(),
            told: Vec::new(),
        })
    }

    /// Forgets all there is. Places are watched again when they are asked for again.
    fn reset(&mut self, journal: &mut Journal, why: Why) {
        self.counters.resets += 1;
        journal.note_everything(why);
        self.nodes.clear();
        self.places.clear();
        self.files.clear();
        self.more_names.clear();
        (self.clutter, self.is_cluttered, self.is_at_limit) = (0, false, false);
        self.is_broken = self.renew().is_err();
    }

    /// A new queue of the kernel's, and what is mounted now.
    fn renew(&mut self) -> std::io::Result<()> {
        self.queue = Q::new()?;
        self.file_systems = FileSystems::new()?;
        Ok(())
    }

    /// Reads what there is. `Err`: why it tells nothing.
    fn read(&mut self, journal: &mut Journal) -> Result<(), Why> {
        let mut told = std::mem::take(&mut self.told);
        let mut n_read = 0;
        // What came while this was read need not be: otherwise somebody who is busy enough could keep it here.
        while n_read <= self.queue.length() {
            told.clear();
            let n_events = self.queue.read(&mut told).inspect_err(|why| {
                self.counters.overflows += u64::from(*why == Why::Overflow);
            })?;
            for &told in &told {
                match told.name {
                    Some(name) => self.name_told(told, name, journal),
                    None => self.self_told(told, journal),
                }
            }
            if n_events == 0 {
                break;
            }
            n_read += n_events;
        }
        self.counters.events += n_read as u64;
        self.told = told;
        if self.is_cluttered || self.clutter > MOST_CLUTTER.max(self.files.len() / 2) {
            return Err(Why::Cluttered);
        }
        Ok(())
    }

    /// A directory told of a name in it.
    fn name_told(&mut self, told: Told<Q::Watch>, name: NameHash, journal: &mut Journal) {
        let Told { watch, what, .. } = told;
        let Some(node) = self.nodes.get_mut(&watch) else { return };
        for &place in &node.places {
            journal.note(place, name);
        }
        if what.intersects(resolve::LEADS_ELSEWHERE) {
            let led = node.leads_elsewhere(name);
            self.forget(led, journal);
        }
    }

    /// A directory or a file told of itself.
    fn self_told(&mut self, told: Told<Q::Watch>, journal: &mut Journal) {
        let Told { watch, what, .. } = told;
        if let Some(node) = self.nodes.get_mut(&watch) {
            let led = node.all_lead_elsewhere();
            self.forget(led, journal);
            if what.contains(ReadFlags::IGNORED) {
                self.nodes.remove(&watch);
            }
        }
        if self.proving == Some(watch) && what == ReadFlags::OPEN {
            return;
        }
        let Some(first) = self.files.get_mut(&watch) else { return };
        first.set_closed(false);
        let first = first.place_and_name();
        let others = self.more_names.get(&watch);
        for &(place, name) in others.into_iter().flatten().chain([&first]) {
            journal.note(place, name);
        }
        let is_gone = what.contains(ReadFlags::IGNORED);
        if is_gone || what.contains(ReadFlags::MOVE_SELF) {
            self.files.remove(&watch);
            match self.places.get_mut(&first.0) {
                Some(resolved) => resolved.n_files = resolved.n_files.saturating_sub(1),
                None => self.clutter = self.clutter.saturating_sub(1),
            }
            self.more_names.remove(&watch);
            if !is_gone && !self.nodes.contains_key(&watch) {
                // It may be watched again under its new name, then with a new number.
                self.queue.remove(watch);
            }
        }
    }

    /// Watches a file by its path. `None`: there is none.
    fn watch_file(&mut self, place: Place, name: NameHash, path: &[u8]) -> Result<Option<Q::Watch>, Refused> {
        let resolved = self.places.get_mut(&place).ok_or(Refused)?;
        let watch = match self.queue.add_file(path) {
            Ok(watch) => watch,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(error) => {
                self.counters.refused += 1;
                self.is_at_limit |= error == Errno::NOSPC;
                // There would be room without those that are of no use.
                self.is_cluttered |= error == Errno::NOSPC && self.clutter > MOST_CLUTTER;
                return Err(Refused);
            }
        };
        if self.nodes.contains_key(&watch) {
            // Else it would tell of whatever is opened in it, as each file is that is proved to be closed.
            let _ = self.queue.add_directory(path);
            return Err(Refused);
        }
        let mine = (place, name);
        let first = self.files.entry(watch).or_insert_with(|| {
            resolved.n_files += 1;
            Watched::new(mine)
        });
        if first.place_and_name() != mine {
            let others = self.more_names.entry(watch).or_default();
            if !others.contains(&mine) {
                others.push(mine);
            }
        }
        Ok(Some(watch))
    }

    /// These paths lead elsewhere now, or may.
    fn forget(&mut self, places: RapidHashSet<Place>, journal: &mut Journal) {
        for place in places {
            journal.note_all(place);
            self.unresolve(place);
        }
    }

    /// Takes the watches from a place that nobody else needs.
    fn unresolve(&mut self, place: Place) {
        let Some(resolved) = self.places.remove(&place) else { return };
        self.clutter += resolved.n_files;
        for watch in resolved.watches() {
            let Some(node) = self.nodes.get_mut(&watch) else { continue };
            node.remove(place, &resolved);
            if node.is_of_no_use() {
                self.nodes.remove(&watch);
                if !self.files.contains_key(&watch) {
                    self.queue.remove(watch);
                }
            }
        }
    }
}

/// A file that is watched: one of its places, and its name there. As small as can be, since there are many.
#[derive(Clone, Copy)]
struct Watched {
    /// The number of the place, and behind it a bit: whether nobody had the file open to write to it at some moment, and nobody
    /// has opened it since.
    place_and_closed: u32,
    name: NameHash,
}

impl Watched {
    /// One that somebody may have open.
    fn new((place, name): (Place, NameHash)) -> Self {
        Self { place_and_closed: place.0 << 1, name }
    }

    fn place_and_name(self) -> (Place, NameHash) {
        (Place(self.place_and_closed >> 1), self.name)
    }

    fn is_closed(self) -> bool {
        self.place_and_closed & 1 == 1
    }

    fn set_closed(&mut self, is_closed: bool) {
        self.place_and_closed = self.place_and_closed & !1 | u32::from(is_closed);
    }
}

/// The system did not let a file be watched.
struct Refused;

impl<Q: Queue> Backend for Watching<Q> {
    fn watch(&mut self, place: Place, path: &[u8]) -> Trust {
        if self.is_broken {
            return Trust::Doubted(Doubt::NoBackend);
        }
        let trust = match self.places.get(&place) {
            Some(resolved) => resolved.trust,
            None => self.resolve(place, path),
        };
        trust.map_or_else(Trust::Doubted, |()| Trust::Vouched)
    }

    fn unwatch(&mut self, place: Place) {
        self.unresolve(place);
    }

    fn watch_name(&mut self, place: Place, name: NameHash, path: &[u8]) -> NameTrust {
        match self.watch_file(place, name, path) {
            Ok(Some(watch)) if self.files.get(&watch).is_some_and(|file| file.is_closed()) => {
                NameTrust::Vouched
            }
            Ok(Some(_)) => NameTrust::Held,
            // Its directory tells when it appears.
            Ok(None) => NameTrust::Vouched,
            Err(Refused) => NameTrust::Doubted,
        }
    }

    fn prove_closed(&mut self, place: Place, name: NameHash, path: &[u8], journal: &mut Journal) -> Closed {
        let file = match lease::open(Path::new(OsStr::from_bytes(path))) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Closed::Unknowable,
            Err(_) => return Closed::No,
        };
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Closed::No;
        }
        // The very file that was opened, whatever its name stands for now.
        let Ok(watch) = self.queue.add_open_file(&file) else { return Closed::No };
        if !self.files.contains_key(&watch) {
            // Another one than was watched before it was looked at.
            self.queue.remove(watch);
            return Closed::No;
        }
        // Opening it was told as well, and so is what others did before: after this, what is told comes later.
        self.proving = Some(watch);
        let told = self.read(journal);
        self.proving = None;
        if let Err(why) = told {
            self.reset(journal, why);
            return Closed::No;
        }
        let closed = lease::is_closed(&file);
        let mine = (place, name);
        let is_also_mine = self.more_names.get(&watch).is_some_and(|names| names.contains(&mine));
        match self.files.get_mut(&watch) {
            Some(its) if its.place_and_name() == mine || is_also_mine => {
                its.set_closed(closed == Closed::Yes);
                closed
            }
            _ => Closed::No,
        }
    }

    fn descriptor(&self) -> Option<Arc<OwnedFd>> {
        Some(self.queue.descriptor())
    }

    fn sync(&mut self, journal: &mut Journal) {
        let told = self.read(journal);
        // Asked in any case, so that one change is told of once.
        let have_changed = self.mounts.have_changed().unwrap_or(true);
        let told = match (have_changed, self.is_broken) {
            (true, _) => Err(Why::Mounts),
            (_, true) => Err(Why::NoBackend),
            _ => told,
        };
        if let Err(why) = told {
            self.reset(journal, why);
        }
    }

    fn counters(&self) -> Counters {
        let file = size_of::<(Q::Watch, Watched)>() + 1;
        let nodes: usize = self.nodes.values().map(Node::bytes).sum();
        let places: usize = self.places.values().map(Resolved::bytes).sum();
        let more: usize = self.more_names.values().map(|names| 40 + names.capacity() * 8).sum();
        Counters {
            by: Q::NAME,
            directories: self.nodes.len(),
            files: self.files.len(),
            bytes: self.files.capacity() * file + nodes + places + more,
            ..self.counters
        }
    }
}
