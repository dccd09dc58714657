//! The walk: all patterns at once go down from the base and from the root, and where their ways part, so does the walk.
//!
//! In each directory there are some states, pairs of a pattern and how many of its parts are behind. A part without
//! wildcards leads to the next directory as it is; for all others the directory is listed, once.

use super::pattern::{Part, Pattern, match_parts, names};
use super::{Expanded, Globs};
use crate::collect::{Disk, Kind, Listing};
use hashbrown::HashMap;
use rapidhash::fast::RandomState;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

/// While fewer directories wait, another thread would have little to do: to start one takes as long as to list a few.
const FEW: usize = 16;
/// What listing a directory takes, and each of its names, from a warm cache.
const PER_DIRECTORY: Duration = Duration::from_micros(20);
const PER_NAME: Duration = Duration::from_nanos(500);
/// A directory that takes so many times as long as it should was not listed from memory.
const SLOW: u32 = 8;
/// The most threads for a slow disk.
const MOST: usize = 16;

pub(super) fn expand_all(disk: &dyn Disk, globs: &[&Globs], threads: usize) -> Vec<Expanded> {
    let mut units = Units::default();
    let members: Vec<Vec<usize>> = globs.iter().map(|globs| units.add(globs)).collect();
    let walk = Walk::new(disk, &units.all, threads);
    thread::scope(|scope| walk.work(scope));
    let found = std::mem::take(&mut *lock(&walk.found));
    let mut by_unit: Vec<Vec<&[u8]>> = vec![Vec::new(); units.all.len()];
    let mut trouble: Vec<Vec<(&[u8], i32)>> = vec![Vec::new(); units.all.len()];
    for found in &found {
        for &(unit, start, end) in &found.files {
            by_unit[unit].push(&found.paths[start..end]);
        }
        for (unit, path, errno) in &found.trouble {
            trouble[*unit].push((path, *errno));
        }
    }
    members.iter().map(|members| assemble(members, &by_unit, &trouble)).collect()
}

fn assemble(members: &[usize], by_unit: &[Vec<&[u8]>], trouble: &[Vec<(&[u8], i32)>]) -> Expanded {
    let mut files: Vec<&[u8]> = members.iter().flat_map(|unit| &by_unit[*unit]).copied().collect();
    files.sort_unstable();
    files.dedup();
    let mut expanded = Expanded::default();
    expanded.paths.reserve_exact(files.iter().map(|file| file.len()).sum());
    for file in files {
        expanded.paths.extend_from_slice(file);
        expanded.ends.push(expanded.paths.len());
    }
    let trouble = members.iter().flat_map(|unit| &trouble[*unit]);
    expanded.trouble = trouble.map(|(path, errno)| (path.to_vec(), *errno)).collect();
    expanded.trouble.sort_unstable();
    expanded.trouble.dedup();
    expanded
}

/// A pattern, and what is to be left out of what it matches.
#[derive(PartialEq, Eq, Hash)]
struct Unit<'a> {
    pattern: &'a Pattern,
    left_out: &'a [Pattern],
}

impl Unit<'_> {
    /// Whether all that parts from `part` on can match beneath a directory is left out.
    fn is_left_out_beneath(&self, part: usize, directory: &[u8]) -> bool {
        let mut covered = self
            .left_out
            .iter()
            .filter(|pattern| pattern.is_absolute == self.pattern.is_absolute)
            .filter_map(Pattern::covered)
            .peekable();
        // What is hidden is not left out.
        covered.peek().is_some() && !self.pattern.parts[part..].iter().any(Part::is_hidden) && {
            let (_, names) = names(directory);
            covered.any(|covered| match_parts(covered, &names))
        }
    }

    fn leaves_out(&self, path: &[u8]) -> bool {
        !self.left_out.is_empty() && {
            let (is_absolute, names) = names(path);
            self.left_out.iter().any(|pattern| pattern.matches(is_absolute, &names))
        }
    }
}

/// All units, the same only once.
#[derive(Default)]
struct Units<'a> {
    all: Vec<Unit<'a>>,
    places: HashMap<(&'a Pattern, &'a [Pattern]), usize, RandomState>,
}

impl<'a> Units<'a> {
    /// The units of some globs.
    fn add(&mut self, globs: &'a Globs) -> Vec<usize> {
        let left_out = globs.left_out.as_slice();
        let wanted = globs.wanted.iter();
        wanted
            .map(|pattern| {
                *self.places.entry((pattern, left_out)).or_insert_with(|| {
                    self.all.push(Unit { pattern, left_out });
                    self.all.len() - 1
                })
            })
            .collect()
    }
}

/// A unit, and how many of its parts are behind.
type State = (usize, usize);

/// A directory to look into.
struct Task {
    path: Vec<u8>,
    states: Vec<State>,
}

/// What a thread found.
#[derive(Default)]
struct Found {
    paths: Vec<u8>,
    /// The unit, and where its file's path begins and ends.
    files: Vec<(usize, usize, usize)>,
    trouble: Vec<(usize, Vec<u8>, i32)>,
}

struct Walk<'a> {
    disk: &'a dyn Disk,
    units: &'a [Unit<'a>],
    queue: Mutex<Queue>,
    /// There is more to do, or nothing any more.
    changed: Condvar,
    started: AtomicUsize,
    cores: usize,
    most: usize,
    found: Mutex<Vec<Found>>,
}

struct Queue {
    tasks: Vec<Task>,
    /// How many threads are at a task, and may find more.
    n_busy: usize,
}

impl<'a> Walk<'a> {
    fn new(disk: &'a dyn Disk, units: &'a [Unit<'a>], threads: usize) -> Self {
        let (cores, most) = match threads {
            0 => thread::available_parallelism()
                .map_or((1, MOST), |cores| (cores.get(), MOST.max(cores.get()))),
            told => (told, told),
        };
        let from = |path: &[u8], is_absolute| Task {
            path: path.to_vec(),
            states: (0..units.len())
                .filter(|unit| units[*unit].pattern.is_absolute == is_absolute)
                .map(|unit| (unit, 0))
                .collect(),
        };
        let tasks = [from(b"", false), from(b"/", true)].into_iter().filter(|task| !task.states.is_empty());
        Self {
            disk,
            units,
            queue: Mutex::new(Queue { tasks: tasks.collect(), n_busy: 0 }),
            changed: Condvar::new(),
            started: AtomicUsize::new(1),
            cores,
            most,
            found: Mutex::default(),
        }
    }

    /// Takes tasks until there are none, and nobody can find more.
    fn work<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let mut listing = Listing::default();
        let mut found = Found::default();
        while let Some(task) = self.take() {
            let busy = Busy(self);
            let began = Instant::now();
            let children = Visit { walk: self, found: &mut found }.visit(&task, &mut listing);
            let names = u32::try_from(listing.len()).unwrap_or(u32::MAX);
            if began.elapsed() > (PER_DIRECTORY + PER_NAME * names) * SLOW {
                self.start_one(scope, self.most);
            }
            if self.put(children) > FEW {
                self.start_one(scope, self.cores);
            }
            drop(busy);
        }
        lock(&self.found).push(found);
    }

    fn take(&self) -> Option<Task> {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(task) = queue.tasks.pop() {
                queue.n_busy += 1;
                return Some(task);
            }
            if queue.n_busy == 0 {
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// How many tasks there are now.
    fn put(&self, mut tasks: Vec<Task>) -> usize {
        if tasks.is_empty() {
            return 0;
        }
        let mut queue = lock(&self.queue);
        queue.tasks.append(&mut tasks);
        self.changed.notify_all();
        queue.tasks.len()
    }

    /// Starts another thread, if there may be one more. Where the system refuses, those that are there do the work.
    fn start_one<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, most: usize) {
        let one_more = |started| (started < most).then_some(started + 1);
        if self.started.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok() {
            let _ = thread::Builder::new().spawn_scoped(scope, move || self.work(scope));
        }
    }
}

/// A thread that is at a task. When it panics, the others must not wait for it.
struct Busy<'a>(&'a Walk<'a>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        lock(&self.0.queue).n_busy -= 1;
        self.0.changed.notify_all();
    }
}

/// A look into one directory.
struct Visit<'a> {
    walk: &'a Walk<'a>,
    found: &'a mut Found,
}

impl<'a> Visit<'a> {
    /// The directories to look into next. The listing is empty afterwards where none was made.
    fn visit(&mut self, task: &Task, listing: &mut Listing) -> Vec<Task> {
        listing.clear();
        let mut states = task.states.clone();
        // `**` also stands for no directory.
        let more = task.states.iter().filter(|state| *self.part(**state) == Part::Recursive);
        states.extend(more.map(|(unit, part)| (*unit, part + 1)));
        states.sort_unstable();
        states.dedup();
        let (listed, direct): (Vec<State>, Vec<State>) =
            states.iter().partition(|state| self.needs_listing(**state));
        let mut children: BTreeMap<&[u8], Vec<State>> = BTreeMap::new();
        for &state in &direct {
            if let Part::Literal(name) = self.part(state) {
                let path = join(&task.path, name);
                if self.is_last(state) {
                    let led_to = self.kind(&path);
                    let kind = self.or_trouble(state, &path, led_to);
                    self.add_file(state, &path, kind);
                } else if let Some(next) = self.next((state.0, state.1 + 1), &path) {
                    children.entry(name).or_default().push(next);
                }
            }
        }
        let mut tasks = Vec::new();
        if !listed.is_empty() && self.list(task, &listed, listing) {
            for (name, kind) in listing.entries() {
                let states = self.look_at(&task.path, name, kind, &listed);
                match children.get_mut(name) {
                    Some(child) => child.extend(states),
                    None if states.is_empty() => {}
                    None => tasks.push(Task { path: join(&task.path, name), states }),
                }
            }
        }
        tasks.extend(children.into_iter().map(|(name, mut states)| {
            states.sort_unstable();
            states.dedup();
            Task { path: join(&task.path, name), states }
        }));
        tasks
    }

    /// Finds out what a listed name means for each state: a file, or states in the directory of that name.
    fn look_at(&mut self, directory: &[u8], name: &[u8], kind: Kind, listed: &[State]) -> Vec<State> {
        let mut next = Vec::new();
        // Only where something matches.
        let mut path = None;
        let mut led_to = None;
        for &state in listed {
            let part = self.part(state);
            if !part.matches(name) {
                continue;
            }
            let path: &Vec<u8> = path.get_or_insert_with(|| join(directory, name));
            let mut kind = kind;
            if kind == Kind::Unknown || kind == Kind::Link && self.is_last(state) {
                let led_to = *led_to.get_or_insert_with(|| self.kind(path));
                kind = self.or_trouble(state, path, led_to);
            }
            let is_recursive = *part == Part::Recursive;
            match kind {
                Kind::Directory if is_recursive => next.extend(self.next(state, path)),
                Kind::File if !is_recursive && self.is_last(state) => self.add_file(state, path, kind),
                Kind::Directory | Kind::Link if !is_recursive && !self.is_last(state) => {
                    next.extend(self.next((state.0, state.1 + 1), path));
                }
                _ => {}
            }
        }
        next
    }

    /// Whether the directory could be listed.
    fn list(&mut self, task: &Task, listed: &[State], listing: &mut Listing) -> bool {
        match self.walk.disk.list(&task.path, listing) {
            Ok(()) => return true,
            Err(error) if is_absence(&error) => {}
            Err(error) => {
                for (unit, _) in listed {
                    let path = if task.path.is_empty() { b"." } else { task.path.as_slice() };
                    self.found.trouble.push((*unit, path.to_vec(), error.raw_os_error().unwrap_or(0)));
                }
            }
        }
        listing.clear();
        false
    }

    /// What a path leads to; [`Kind::Other`] for nothing at all. The error number where the disk will not say.
    fn kind(&self, path: &[u8]) -> Result<Kind, i32> {
        match self.walk.disk.kind(path) {
            Err(error) if is_absence(&error) => Ok(Kind::Other),
            told => told.map_err(|error| error.raw_os_error().unwrap_or(0)),
        }
    }

    fn or_trouble(&mut self, (unit, _): State, path: &[u8], kind: Result<Kind, i32>) -> Kind {
        kind.unwrap_or_else(|errno| {
            if !self.walk.units[unit].leaves_out(path) {
                self.found.trouble.push((unit, path.to_vec(), errno));
            }
            Kind::Unknown
        })
    }

    fn add_file(&mut self, (unit, _): State, path: &[u8], kind: Kind) {
        if kind == Kind::File && !self.walk.units[unit].leaves_out(path) {
            let start = self.found.paths.len();
            self.found.paths.extend_from_slice(path);
            self.found.files.push((unit, start, self.found.paths.len()));
        }
    }

    /// The state, if there is anything to be found in that directory.
    fn next(&self, (unit, part): State, directory: &[u8]) -> Option<State> {
        (!self.walk.units[unit].is_left_out_beneath(part, directory)).then_some((unit, part))
    }

    /// A name without wildcards can be asked for as it is. After a `**` its directory is listed anyway.
    fn needs_listing(&self, state: State) -> bool {
        let parts = &self.walk.units[state.0].pattern.parts;
        !matches!(parts[state.1], Part::Literal(_))
            || state.1.checked_sub(1).is_some_and(|before| parts[before] == Part::Recursive)
    }

    fn part(&self, (unit, part): State) -> &'a Part {
        &self.walk.units[unit].pattern.parts[part]
    }

    fn is_last(&self, (unit, part): State) -> bool {
        part + 1 == self.walk.units[unit].pattern.parts.len()
    }
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let separator: &[u8] = if directory.is_empty() || directory.ends_with(b"/") { b"" } else { b"/" };
    [directory, separator, name].concat()
}

/// Whether there is nothing at all, as far as patterns go.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// What is behind a lock stays whole when a thread panics, and the panic is passed on at the end.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
