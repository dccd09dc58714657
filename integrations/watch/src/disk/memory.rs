//! What a disk remembers between questions: for each directory what was asked for, and the answers.

use super::answers::Answers;
use super::{join, look, os_path};
use crate::journal::{NameHash, Names, Place};
use crate::{Changed, Changes, Feed, Token, Why};
use rapidhash::RapidHashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use upcheck::{How, Stat, Visit};

/// So many different sets of names are remembered for one directory: two for each of several questions.
const MOST_BLOCKS: usize = 32;

/// How careful a memory is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Ask the disk for everything as well, and compare.
    pub verify: bool,
}

/// What became of the questions that were asked so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// For so many names the disk was asked.
    pub of_disk: u64,
    /// For so many names the answer was remembered.
    pub remembered: u64,
    /// So often all was forgotten.
    pub forgotten: u64,
    /// So often what was remembered was wrong: there must not be any. Only known with [`Options::verify`].
    pub wrong: u64,
}

/// What is remembered of one base directory. It can be used by several questions at once.
pub struct Memory {
    feed: Arc<Feed>,
    /// Absolute.
    base: Vec<u8>,
    options: Options,
    inside: Mutex<Inside>,
    of_disk: AtomicU64,
    wanted: AtomicU64,
    forgotten: AtomicU64,
    wrong: AtomicU64,
}

#[derive(Default)]
struct Inside {
    token: Option<Token>,
    /// Why all was forgotten last.
    why: Option<Why>,
    slots: Vec<Directory>,
    by_path: RapidHashMap<Box<[u8]>, Slot>,
    by_place: RapidHashMap<Place, Vec<Slot>>,
    /// So often answers were dropped that nobody was told to have changed.
    n_dropped: u64,
}

/// The number of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(u32);

/// What is remembered of a directory, and what changed since.
#[derive(Default)]
struct Directory {
    path: Box<[u8]>,
    /// Not here while a question is about the directory.
    blocks: Vec<Block>,
    marks: Marks,
    /// How often marks were taken. Two questions may be about the directory at once; what one of them took out before the
    /// other one took marks away knows nothing of these, and must not come back.
    epoch: u64,
}

/// What changed in a directory that nobody has asked for since.
#[derive(Debug, Default)]
enum Marks {
    #[default]
    None,
    Some(Vec<NameHash>),
    All,
}

/// What was taken out for one question.
pub(super) struct Taken {
    pub(super) slot: Slot,
    pub(super) epoch: u64,
    pub(super) blocks: Vec<Block>,
}

/// What is known of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum State {
    /// It is as remembered.
    Known,
    /// It has to be asked for; then it may be known.
    Unknown,
    /// It has to be asked for each time.
    Doubtful,
}

/// The answers to one visit.
pub(super) struct Block {
    place: Place,
    how: How,
    is_there: bool,
    /// As in [`Visit::asked_bytes`].
    asked: Box<[u8]>,
    answers: Answers,
    states: Box<[State]>,
    n_known: usize,
    n_unknown: usize,
}

impl Block {
    pub(super) fn new(
        visit: Visit<'_>,
        place: Place,
        is_there: bool,
        stats: &[Stat],
        states: Vec<State>,
    ) -> Self {
        let count = |wanted| states.iter().filter(|state| **state == wanted).count();
        let (n_known, n_unknown) = (count(State::Known), count(State::Unknown));
        let (asked, answers, states) = (visit.asked_bytes().into(), Answers::new(stats), states.into());
        Self { place, how: visit.how(), is_there, asked, answers, states, n_known, n_unknown }
    }

    pub(super) fn is_for(&self, visit: Visit<'_>) -> bool {
        self.how == visit.how() && *self.asked == *visit.asked_bytes()
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    pub(super) fn is_there(&self) -> bool {
        self.is_there
    }

    /// Whether nothing has to be asked for.
    pub(super) fn is_known(&self) -> bool {
        self.n_known == self.states.len()
    }

    /// Whether so much has to be asked for anew that it is better to ask for all.
    pub(super) fn is_mostly_unknown(&self) -> bool {
        self.n_unknown > 8 && self.n_unknown * 2 > self.states.len()
    }

    /// Of how many of them the answer is vouched for.
    pub(super) fn n_known(&self) -> usize {
        self.n_known
    }

    pub(super) fn state(&self, at: usize) -> State {
        self.states[at]
    }

    /// The names that have to be asked for, with their numbers.
    pub(super) fn not_known(&self, directory: &[u8]) -> Vec<(usize, Vec<u8>)> {
        let names = self.names(directory).enumerate();
        names
            .filter(|(at, _)| self.states[*at] != State::Known)
            .map(|(at, name)| (at, name.to_vec()))
            .collect()
    }

    /// The names in the directory, as [`Visit::names`] has them.
    fn names(&self, directory: &[u8]) -> impl Iterator<Item = &[u8]> {
        // Whole paths are asked for where the directory is not opened.
        let skipped = if self.how.opens() { 0 } else { join(directory, b"").len() };
        let asked = self.asked.split(|byte| *byte == 0).take(self.states.len());
        asked.map(move |asked| asked.get(skipped..).unwrap_or(asked))
    }

    pub(super) fn set(&mut self, at: usize, stat: Stat, state: State) {
        self.answers.set(at, stat);
        self.set_state(at, state);
    }

    fn set_state(&mut self, at: usize, state: State) {
        self.n_known -= usize::from(self.states[at] == State::Known);
        self.n_known += usize::from(state == State::Known);
        self.n_unknown -= usize::from(self.states[at] == State::Unknown);
        self.n_unknown += usize::from(state == State::Unknown);
        self.states[at] = state;
    }

    pub(super) fn copy_to(&self, stats: &mut [Stat]) {
        self.answers.copy_to(stats);
    }

    /// Forgets names that changed. `marks` are in order.
    fn forget(&mut self, marks: &[NameHash], directory: &[u8]) {
        let has_changed = |name: &[u8]| marks.binary_search(&NameHash::of(name)).is_ok();
        let changed = self.names(directory).enumerate().filter(|(_, name)| has_changed(name));
        for at in changed.map(|(at, _)| at).collect::<Vec<_>>() {
            self.set_state(at, State::Unknown);
        }
    }

    /// What it has beside itself.
    fn bytes(&self) -> usize {
        self.asked.len() + self.answers.bytes() + self.states.len() * size_of::<State>()
    }
}

impl Directory {
    /// Of how many names asking once more may be the last time.
    fn n_unsettled(&self) -> usize {
        let n_marked = match &self.marks {
            Marks::Some(marks) if !self.blocks.is_empty() => marks.len(),
            _ => 0,
        };
        n_marked + self.blocks.iter().map(|block| block.n_unknown).sum::<usize>()
    }
}

impl Marks {
    fn add(&mut self, names: Names<'_>) {
        match (&mut *self, names) {
            (Self::All, _) => {}
            (_, Names::All) => *self = Self::All,
            (Self::Some(marks), Names::Some(names)) => marks.extend(names.iter().map(|(_, name)| *name)),
            (Self::None, Names::Some(names)) => {
                *self = Self::Some(names.iter().map(|(_, name)| *name).collect());
            }
        }
    }

    fn has(&self, name: NameHash) -> bool {
        match self {
            Self::None => false,
            Self::Some(marks) => marks.contains(&name),
            Self::All => true,
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let inside = std::mem::take(&mut *self.lock());
        inside.by_place.into_keys().for_each(|place| self.feed.release(place));
    }
}

impl Memory {
    /// An empty memory of a disk's base, which is an absolute path.
    #[must_use]
    pub fn new(feed: Arc<Feed>, base: &[u8], options: Options) -> Self {
        Self {
            feed,
            base: base.to_vec(),
            options,
            inside: Mutex::default(),
            of_disk: AtomicU64::new(0),
            wanted: AtomicU64::new(0),
            forgotten: AtomicU64::new(0),
            wrong: AtomicU64::new(0),
        }
    }

    /// What became of the questions.
    #[must_use]
    pub fn asked(&self) -> Asked {
        let [of_disk, wanted, forgotten, wrong] =
            [&self.of_disk, &self.wanted, &self.forgotten, &self.wrong].map(|it| it.load(Ordering::Relaxed));
        Asked { of_disk, remembered: wanted.saturating_sub(of_disk), forgotten, wrong }
    }

    /// Why all was forgotten last.
    #[must_use]
    pub fn why(&self) -> Option<Why> {
        self.lock().why
    }

    /// How many names were asked for and may be remembered once they were asked for again: see [`super::WatchedDisk::settle`].
    #[must_use]
    pub fn n_unsettled(&self) -> usize {
        self.lock().slots.iter().map(Directory::n_unsettled).sum()
    }

    /// About how many bytes it has, without the feed.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let inside = self.lock();
        let of_blocks = |slot: &Directory| {
            slot.blocks.capacity() * size_of::<Block>() + slot.blocks.iter().map(Block::bytes).sum::<usize>()
        };
        let blocks = inside.slots.iter().map(of_blocks);
        let paths = inside.by_path.keys().map(|path| 2 * path.len() + size_of::<(Box<[u8]>, Slot)>());
        let fixed = inside.slots.capacity() * size_of::<Directory>() + inside.by_place.capacity() * 40;
        fixed + blocks.sum::<usize>() + paths.sum::<usize>()
    }

    pub(super) fn feed(&self) -> &Feed {
        &self.feed
    }

    pub(super) fn options(&self) -> Options {
        self.options
    }

    /// The absolute path of a directory that is named as a visit does.
    pub(super) fn absolute(&self, directory: &[u8]) -> Vec<u8> {
        if directory.is_empty() { self.base.clone() } else { upcheck::path::join(&self.base, directory) }
    }

    /// Whether this, which a disk says of its base, is true of the memory's as well.
    pub(super) fn is_base(&self, said: Stat) -> bool {
        let here = std::fs::metadata(os_path(&self.base)).map(|found| look(&found).1);
        match (said, here) {
            (Stat::Present(said), Ok(here)) => (said.device, said.inode) == (here.device, here.inode),
            _ => false,
        }
    }

    /// Takes in what changed until now.
    pub fn refresh(&self) {
        let mut inside = self.lock();
        let (changes, token) = self.feed.since(inside.token);
        inside.token = Some(token);
        let Inside { slots, by_place, .. } = &mut *inside;
        match changes {
            Changes::Everything(why) => {
                for directory in slots {
                    directory.blocks.clear();
                    directory.marks = Marks::All;
                }
                inside.why = Some(why);
                self.forgotten.fetch_add(1, Ordering::Relaxed);
            }
            Changes::Only(changed) => {
                for (place, names) in changed.places() {
                    for slot in by_place.get(&place).into_iter().flatten() {
                        slots[slot.0 as usize].marks.add(names);
                    }
                }
            }
        }
    }

    /// Takes out what is remembered of a directory, without what changed since. What changes from now on stays marked.
    pub(super) fn take(&self, directory: &[u8]) -> Taken {
        let mut inside = self.lock();
        let Inside { slots, by_path, .. } = &mut *inside;
        let slot = match by_path.get(directory) {
            Some(slot) => *slot,
            None => {
                let slot = Slot(upcheck::narrow(slots.len()));
                slots.push(Directory { path: directory.into(), ..Directory::default() });
                by_path.insert(directory.into(), slot);
                slot
            }
        };
        let known = &mut slots[slot.0 as usize];
        let mut blocks = std::mem::take(&mut known.blocks);
        let marks = std::mem::take(&mut known.marks);
        known.epoch += u64::from(!matches!(marks, Marks::None));
        let epoch = known.epoch;
        drop(inside);
        match marks {
            Marks::None => {}
            Marks::All => blocks.clear(),
            Marks::Some(mut marks) => {
                marks.sort_unstable();
                blocks.iter_mut().for_each(|block| block.forget(&marks, directory));
            }
        }
        Taken { slot, epoch, blocks }
    }

    /// The directories in which there is something that may be remembered once it was asked for again.
    pub(super) fn unsettled(&self) -> Vec<Box<[u8]>> {
        let inside = self.lock();
        inside.slots.iter().filter(|slot| slot.n_unsettled() > 0).map(|slot| slot.path.clone()).collect()
    }

    /// The names that were asked for among those that changed, as paths that start where the disk does; those of other memories'
    /// directories are not among them. `None`: that is not known, or more than so many.
    #[must_use]
    pub fn paths_of(&self, changed: &Changed, most: usize) -> Option<Vec<Vec<u8>>> {
        let inside = self.lock();
        let mut paths = Vec::new();
        for (place, names) in changed.places() {
            let Names::Some(names) = names else {
                if inside.by_place.contains_key(&place) {
                    return None;
                }
                continue;
            };
            for slot in inside.by_place.get(&place).into_iter().flatten() {
                let directory = &inside.slots[slot.0 as usize];
                // They are not here while somebody asks for them.
                if directory.blocks.is_empty() || matches!(directory.marks, Marks::All) {
                    return None;
                }
                for block in &directory.blocks {
                    let wanted = block.names(&directory.path);
                    let wanted = wanted.filter(|name| {
                        let name = NameHash::of(name);
                        names.iter().any(|(_, changed)| *changed == name)
                    });
                    paths.extend(wanted.map(|name| join(&directory.path, name)));
                    if paths.len() > most {
                        return None;
                    }
                }
            }
        }
        paths.sort_unstable();
        paths.dedup();
        Some(paths)
    }

    /// So often answers were dropped for want of room, and the like. Names in them are not among [`Memory::paths_of`] any more.
    #[must_use]
    pub fn n_dropped(&self) -> u64 {
        self.lock().n_dropped
    }

    /// An answer was not put back.
    pub(super) fn dropped(&self) {
        self.lock().n_dropped += 1;
    }

    /// Whether the answer for a path, as [`Memory::paths_of`] has it, is vouched for.
    #[must_use]
    pub fn is_known(&self, path: &[u8]) -> bool {
        let (directory, name) = match path.iter().rposition(|byte| *byte == b'/') {
            None => (&b""[..], path),
            Some(0) => (&b"/"[..], &path[1..]),
            Some(at) => (&path[..at], &path[at + 1..]),
        };
        let inside = self.lock();
        let Some(slot) = inside.by_path.get(directory) else { return false };
        let directory = &inside.slots[slot.0 as usize];
        let is_known = |block: &Block| {
            let at = block.names(&directory.path).position(|its| its == name);
            at.is_none_or(|at| block.state(at) == State::Known)
        };
        !directory.blocks.is_empty()
            && !directory.marks.has(NameHash::of(name))
            && directory.blocks.iter().all(is_known)
    }

    /// From now on what is told of the place marks the directory.
    pub(super) fn belongs(&self, slot: Slot, place: Place) {
        let mut inside = self.lock();
        let slots = inside.by_place.entry(place).or_default();
        let is_first = slots.is_empty();
        if !slots.contains(&slot) {
            slots.push(slot);
        }
        if is_first {
            self.feed.hold(place);
        }
    }

    /// Puts back what is remembered of a directory; the last one is the newest.
    pub(super) fn put(&self, (slot, epoch): (Slot, u64), blocks: impl Iterator<Item = Block>) {
        let mut inside = self.lock();
        let Inside { slots, n_dropped, .. } = &mut *inside;
        let directory = &mut slots[slot.0 as usize];
        if directory.epoch != epoch {
            *n_dropped += 1;
            return;
        }
        let known = &mut directory.blocks;
        for block in blocks {
            known.retain(|other| other.how != block.how || other.asked != block.asked);
            // Most directories have one only, and there are many.
            known.reserve_exact(1);
            known.push(block);
        }
        if known.len() > MOST_BLOCKS {
            *n_dropped += 1;
            known.drain(..known.len() - MOST_BLOCKS);
        }
    }

    pub(super) fn count(&self, of_disk: u64, wanted: u64) {
        self.of_disk.fetch_add(of_disk, Ordering::Relaxed);
        self.wanted.fetch_add(wanted, Ordering::Relaxed);
    }

    /// Whether names were marked as changed since a directory was taken, or the directory itself was.
    pub(super) fn is_marked<'a>(
        &self,
        (slot, epoch): (Slot, u64),
        directory: bool,
        mut names: impl Iterator<Item = &'a [u8]>,
    ) -> bool {
        let inside = self.lock();
        let Directory { marks, epoch: now, .. } = &inside.slots[slot.0 as usize];
        *now != epoch
            || (!directory || matches!(marks, Marks::All)) && names.all(|name| marks.has(NameHash::of(name)))
    }

    /// What was remembered was wrong.
    pub(super) fn found_wrong(&self) {
        self.wrong.fetch_add(1, Ordering::Relaxed);
        let mut inside = self.lock();
        // Without a token everything is forgotten.
        inside.token = None;
    }

    /// After a panic all is forgotten.
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(|poisoned: PoisonError<_>| {
            self.inside.clear_poison();
            let mut inside = poisoned.into_inner();
            inside.token = None;
            inside.slots.iter_mut().for_each(|directory| directory.marks = Marks::All);
            inside
        })
    }
}
