//! All build directories that the daemon remembers.

use super::drain;
use super::question::Asked;
use super::room::{Eyes, Room};
use super::waiting;
use serde_json::{Map, Value, json};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use upcheck_daemon::{Answerer, Reply, Request, Waits};
use upcheck_watch::{Feed, Memory, Options};

/// So many build directories are remembered; the one that was not asked about for the longest time goes.
const MOST_ROOMS: usize = 16;

/// A room for each build directory, by its absolute path without links; the one that was asked about last is the last.
pub(super) struct Rooms {
    /// `None` where nobody can watch: then all files are looked at each time.
    feed: Option<Arc<Feed>>,
    rooms: Mutex<Vec<(PathBuf, Arc<Mutex<Room>>)>>,
}

impl Answerer for Rooms {
    fn answer(&self, request: &Request) -> Reply {
        let declined = |reason: &str| Reply::Declined { reason: reason.to_owned() };
        let asked = match Asked::read(request) {
            Ok(asked) => asked,
            Err(reason) => return declined(reason),
        };
        let room = self.room(&asked.common.directory);
        let answered = lock(&room).answer(&asked);
        match answered {
            Ok(exit) => {
                let [stdout, stderr] = asked.captured.take();
                Reply::Done { status: exit as u8, stdout, stderr, mark: None }
            }
            Err(reason) => declined(reason),
        }
    }

    fn wait(&self, request: &Request, waits: &Waits) -> Reply {
        waiting::wait(self, request, waits)
    }

    fn status(&self) -> Map<String, Value> {
        let rooms: Vec<_> = self.rooms.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let builds: Vec<_> = rooms
            .iter()
            .map(|(directory, room)| {
                // One that is busy has nothing to say now.
                let Ok(room) = room.try_lock() else {
                    return json!({ "directory": directory.to_string_lossy(), "busy": true });
                };
                let counts = &room.counts;
                json!({
                    "directory": directory.to_string_lossy(),
                    "busy": false,
                    "files": room.n_files(),
                    "asked": room.asked().of_disk,
                    "remembered": room.asked().remembered,
                    "forgotten": room.asked().forgotten,
                    "from_memory": counts.from_memory,
                    "from_changes": counts.from_changes,
                    "from_everything": counts.from_everything,
                })
            })
            .collect();
        let watched = self.feed.as_ref().map(|feed| {
            let counters = feed.counters();
            json!({
                "directories": counters.directories,
                "files": counters.files,
                "events": counters.events,
                "overflows": counters.overflows,
                "refused": counters.refused,
            })
        });
        Map::from_iter([("watched".to_owned(), watched.into()), ("builds".to_owned(), builds.into())])
    }
}

impl Rooms {
    /// None yet, with a feed that is kept from having more to tell than the system can keep.
    pub(super) fn new() -> Self {
        let feed = Feed::here().ok().map(Arc::new);
        if let Some(feed) = &feed {
            drain::in_background(Arc::clone(feed));
        }
        Self { feed, rooms: Mutex::default() }
    }

    fn new_room(&self, directory: &Path) -> Room {
        let eyes = |feed: &Arc<Feed>| Eyes {
            feed: Arc::clone(feed),
            memory: Memory::new(Arc::clone(feed), directory.as_os_str().as_bytes(), Options::default()),
        };
        Room::new(self.feed.as_ref().map(eyes))
    }

    /// Whoever tells of changes.
    pub(super) fn feed(&self) -> Option<&Feed> {
        self.feed.as_deref()
    }

    /// The room of a build directory, which is now the one that was asked about last.
    pub(super) fn room(&self, directory: &Path) -> Arc<Mutex<Room>> {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let known = rooms.iter().position(|(known, _)| known == directory);
        let room = match known.map(|at| rooms.remove(at)) {
            Some((_, room)) => room,
            None => Arc::new(Mutex::new(self.new_room(directory))),
        };
        if rooms.len() >= MOST_ROOMS {
            rooms.remove(0);
        }
        rooms.push((directory.to_owned(), Arc::clone(&room)));
        room
    }
}

/// A room in which somebody has panicked is emptied: what is there may be half done.
pub(super) fn lock(room: &Mutex<Room>) -> MutexGuard<'_, Room> {
    room.lock().unwrap_or_else(|poisoned| {
        room.clear_poison();
        let mut guard = poisoned.into_inner();
        guard.forget();
        guard
    })
}
