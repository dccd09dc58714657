//! All build directories that the daemon remembers.

use super::StartArgs;
use super::drain;
use super::question::Asked;
use super::room::{Compared, Eyes, Room};
use super::settle::{Settler, Work};
use super::waiting;
use crate::args::Common;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use upcheck::os_path::bytes;
use upcheck_daemon::{Answerer, Reply, Request, Waits};
use upcheck_watch::{Feed, Memory, Options};

/// So many build directories are remembered, as many as clients may wait; the one that was not asked about for the longest time goes.
const MOST_ROOMS: usize = 64;

/// A room for each build directory, by its absolute path without links; the one that was asked about last is the last.
pub(super) struct Rooms {
    inside: Mutex<Inside>,
    compared: Arc<Compared>,
    /// Whether each answer is compared here.
    verifies: bool,
    settler: Option<Settler>,
}

struct Inside {
    /// `None` where nobody can watch: then all files are looked at each time.
    feed: Option<Arc<Feed>>,
    rooms: Vec<(PathBuf, Arc<Mutex<Room>>)>,
}

impl Answerer for Rooms {
    fn answer(&self, request: &Request) -> Reply {
        let declined = |reason: &str| Reply::Declined { reason: reason.to_owned() };
        let asked = match Asked::read(request) {
            Ok(asked) => asked,
            Err(reason) => return declined(reason),
        };
        let answered = self.visit(&asked.common, |room| room.answer(&asked));
        if asked.check.verify_watch && !self.verifies {
            self.compared.n.fetch_add(1, Ordering::Relaxed);
        }
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

    fn forget(&self) {
        self.compared.wrong.fetch_add(1, Ordering::Relaxed);
        self.begin_anew();
    }

    fn status(&self) -> Map<String, Value> {
        let (feed, rooms) = {
            let inside = self.lock();
            (inside.feed.clone(), inside.rooms.clone())
        };
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
                    "settled": room.is_settled(),
                    "files": room.n_files(),
                    "asked": room.asked().of_disk,
                    "remembered": room.asked().remembered,
                    "forgotten": room.asked().forgotten,
                    "from_memory": counts.from_memory,
                    "untouched": counts.untouched,
                    "from_changes": counts.from_changes,
                    "from_everything": counts.from_everything,
                })
            })
            .collect();
        let watched = feed.map(|feed| {
            let counters = feed.counters();
            json!({
                "by": counters.by,
                "directories": counters.directories,
                "files": counters.files,
                "events": counters.events,
                "overflows": counters.overflows,
                "refused": counters.refused,
            })
        });
        let Compared { n, later, wrong } = &*self.compared;
        let [verified, later, wrong] = [n, later, wrong].map(|n| n.load(Ordering::Relaxed));
        let keys: [(&str, Value); 6] = [
            ("verifies", self.verifies.into()),
            ("verified", verified.into()),
            ("later", later.into()),
            ("wrong", wrong.into()),
            ("watched", watched.into()),
            ("builds", builds.into()),
        ];
        keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

impl Rooms {
    /// None yet, with a feed that is kept from having more to tell than the system can keep.
    pub(super) fn new(args: &StartArgs) -> Self {
        Self {
            inside: Mutex::new(Inside { feed: feed(), rooms: Vec::new() }),
            compared: Arc::default(),
            verifies: args.verify,
            settler: Settler::new(),
        }
    }

    /// Has something found out in the room of a build directory. What is left to be done then is done in the background.
    pub(super) fn visit<T>(
        &self,
        common: &Common,
        find: impl FnOnce(&mut Room) -> Result<T, &'static str>,
    ) -> Result<T, &'static str> {
        let room = self.room(&common.directory);
        let n_wrong = || self.compared.wrong.load(Ordering::Relaxed);
        let n_before = n_wrong();
        let (found, unsettled) = {
            let mut room = lock(&room);
            (find(&mut room), room.unsettled())
        };
        if n_wrong() > n_before {
            // Whoever told of changes here tells of them elsewhere, too.
            self.begin_anew();
        }
        if let (Ok(_), Some(settler), Some(unsettled)) = (&found, &self.settler, unsettled) {
            settler.settle(Work { common: common.clone(), unsettled, room: Arc::downgrade(&room) });
        }
        found
    }

    /// Whoever tells of changes by now.
    pub(super) fn feed(&self) -> Option<Arc<Feed>> {
        self.lock().feed.clone()
    }

    /// Forgets everything, and watches everything anew.
    fn begin_anew(&self) {
        *self.lock() = Inside { feed: feed(), rooms: Vec::new() };
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn new_room(&self, directory: &Path, feed: Option<&Arc<Feed>>) -> Room {
        let options = Options::default();
        let eyes = |feed: &Arc<Feed>| Eyes {
            feed: Arc::clone(feed),
            memory: Memory::new(Arc::clone(feed), bytes(directory), options),
            not_before: Mutex::default(),
        };
        Room::new(feed.map(eyes), self.verifies.then(|| Arc::clone(&self.compared)))
    }

    fn room(&self, directory: &Path) -> Arc<Mutex<Room>> {
        let mut inside = self.lock();
        let Inside { feed, rooms } = &mut *inside;
        let known = rooms.iter().position(|(known, _)| known == directory);
        let room = match known.map(|at| rooms.remove(at)) {
            Some((_, room)) => room,
            None => Arc::new(Mutex::new(self.new_room(directory, feed.as_ref()))),
        };
        if rooms.len() >= MOST_ROOMS {
            rooms.remove(0);
        }
        rooms.push((directory.to_owned(), Arc::clone(&room)));
        room
    }
}

/// One that is kept from having more to tell than the system can keep; `None` where nobody can watch.
fn feed() -> Option<Arc<Feed>> {
    let feed = Feed::here().ok().map(Arc::new)?;
    drain::in_background(Arc::clone(&feed));
    Some(feed)
}

/// A room in which somebody has panicked is emptied: what is there may be half done.
fn lock(room: &Mutex<Room>) -> MutexGuard<'_, Room> {
    room.lock().unwrap_or_else(|poisoned| {
        room.clear_poison();
        let mut guard = poisoned.into_inner();
        guard.forget();
        guard
    })
}
