//! One build directory in the daemon: the questions that were asked about it, and what their answers were made of.

use super::question::{Asked, Question};
use super::told;
use crate::answer::{Ninja, Watched};
use crate::args::Common;
use crate::cmake;
use crate::exit::Exit;
use crate::image_folder::images;
use crate::ninja;
use crate::run::{Trouble, open, print_answer, warn};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use upcheck::Settled;
use upcheck::collect::Disk;
use upcheck_ninja::{Again, Asked as Remembered, LastCheck, Opened};
use upcheck_watch::{Asked as Counted, Changes, Feed, Memory, Place, Token, WatchedDisk};

/// So many questions about one directory are remembered.
const MOST_QUESTIONS: usize = 4;

/// One build directory.
pub(super) struct Room {
    /// `None` where nobody can watch: then all files are looked at each time.
    eyes: Option<Arc<Eyes>>,
    /// The one that was asked last is the last.
    known: Vec<Known>,
    /// So many different answers there were.
    n_answers: u64,
    pub(super) counts: RoomCounts,
}

/// How files looked when somebody last did, and who is told when they change.
pub(super) struct Eyes {
    pub(super) feed: Arc<Feed>,
    pub(super) memory: Memory,
}

/// What answers came from.
#[derive(Clone, Debug, Default)]
pub(super) struct RoomCounts {
    /// So many were remembered.
    pub(super) from_memory: u64,
    /// For so many, what had changed was judged.
    pub(super) from_changes: u64,
    /// For so many, everything was read and judged; by why.
    pub(super) from_everything: BTreeMap<&'static str, u64>,
}

/// A question that was answered.
struct Known {
    question: Question,
    /// Which answer of the room it is.
    number: u64,
    asked: Remembered,
    image: &'static str,
    /// Nothing was asked of the disk when it was last looked whether the answer holds, after this: so if nothing is told of
    /// since, it still does.
    calm: Option<Token>,
    /// When that was found out last, where no file was looked at for it.
    moment: Option<SystemTime>,
    /// Where what changes the answer happens, once somebody has waited for that.
    places: Option<Arc<HashSet<Place>>>,
}

/// What came of a look for somebody who waits.
pub(super) struct Looked {
    /// Which answer it is: different ones of a room have different numbers.
    pub(super) number: u64,
    /// How a check would end, and then the answer is printed; `None` where it is the one that was seen.
    pub(super) exit: Option<Exit>,
    /// Whether all was read anew. Then what it was read from was not yet watched when it was.
    pub(super) is_new: bool,
    /// Whether nobody had to be asked for anything: whatever changes the answer is told of.
    pub(super) is_calm: bool,
    pub(super) took: Duration,
    /// What is told of after this may change the answer, if it is in one of these places.
    pub(super) token: Option<Token>,
    pub(super) places: Arc<HashSet<Place>>,
}

/// Where an answer was found.
struct Found {
    watched: Watched,
    /// Why all was read anew, if it was.
    anew: Option<&'static str>,
}

/// Why a question is not answered that a check answers with trouble: it finds out itself which.
pub(super) const TROUBLE: &str = "there is trouble";
const FORGOTTEN: &str = "it has forgotten the answer";

fn no(_: Trouble) -> &'static str {
    TROUBLE
}

impl Room {
    /// One in which nothing was asked yet.
    pub(super) fn new(eyes: Option<Eyes>) -> Self {
        Self { eyes: eyes.map(Arc::new), known: Vec::new(), n_answers: 0, counts: RoomCounts::default() }
    }

    /// Forgets all answers.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    /// For how many names the disk was asked, and for how many it was not.
    pub(super) fn asked(&self) -> Counted {
        self.eyes.as_ref().map(|eyes| eyes.memory.asked()).unwrap_or_default()
    }

    /// Answers a check. The exit status; why it is not for the daemon, otherwise.
    pub(super) fn answer(&mut self, asked: &Asked) -> Result<Exit, &'static str> {
        let eyes = self.eyes.clone();
        let opened = open(&asked.common).map_err(no)?;
        let watched = eyes.as_ref().map(|eyes| WatchedDisk::new(&opened, &eyes.memory));
        let disk: &dyn Disk = watched.as_ref().map_or(&opened, |disk| disk);
        let found = self.find(asked, disk, eyes.as_deref())?;
        self.print(asked, disk, found)
    }

    /// Answers somebody who waits for another answer than the one with the number `seen`.
    pub(super) fn look(&mut self, asked: &Asked, seen: Option<u64>) -> Result<Looked, &'static str> {
        let began = Instant::now();
        let eyes = self.eyes.clone();
        let directory = &asked.common.directory;
        // What happens from here on is told of later.
        let token = eyes.as_ref().map(|eyes| eyes.feed.since(None).1);
        let question = asked.question();
        let known = self.known.iter().find(|known| known.question == question);
        let are_sources_told = match (known, &eyes) {
            (Some(known), Some(eyes)) => told::watch_sources(&known.asked, &eyes.feed, directory),
            _ => false,
        };
        let opened = open(&asked.common).map_err(no)?;
        let watched = eyes.as_ref().map(|eyes| WatchedDisk::new(&opened, &eyes.memory));
        let disk: &dyn Disk = watched.as_ref().map_or(&opened, |disk| disk);
        let found = self.find(asked, disk, eyes.as_deref())?;
        let is_new = found.anew.is_some();
        let Some(known) = self.known.last_mut() else { return Err(FORGOTTEN) };
        if let (None, Some(eyes)) = (&known.places, &eyes) {
            known.places = Some(Arc::new(told::places(&known.asked, &eyes.feed, directory)));
        }
        let (number, places) = (known.number, known.places.clone().unwrap_or_default());
        let is_calm = are_sources_told && known.calm.is_some();
        let exit = match seen == Some(number) {
            true => None,
            false => Some(self.print(asked, disk, found)?),
        };
        Ok(Looked { number, exit, is_new, is_calm, took: began.elapsed(), token, places })
    }

    /// Finds the answer, which is then that of the last one of those that are known.
    fn find(&mut self, asked: &Asked, disk: &dyn Disk, eyes: Option<&Eyes>) -> Result<Found, &'static str> {
        let question = asked.question();
        let known = self.known.iter().position(|known| known.question == question);
        let mut known = known.map(|at| self.known.remove(at));
        let (watched, anew) = match known.as_mut().map(|known| known.again(disk, eyes)) {
            Some(Again::Same) => (Watched::Memory, None),
            Some(Again::Changed) => (Watched::Changes, None),
            Some(Again::Outdated) => (Watched::Everything, Some("manifest, log or depfile changed")),
            None => (Watched::Everything, Some("first question")),
        };
        let mut known = match known.filter(|_| anew.is_none()) {
            Some(known) => known,
            None => look(asked, disk, question).map_err(no)??,
        };
        if watched != Watched::Memory {
            self.n_answers += 1;
            known.number = self.n_answers;
        }
        if self.known.len() >= MOST_QUESTIONS {
            self.known.remove(0);
        }
        self.known.push(known);
        Ok(Found { watched, anew })
    }

    /// Prints what was found.
    fn print(&mut self, asked: &Asked, disk: &dyn Disk, found: Found) -> Result<Exit, &'static str> {
        let Found { watched, anew } = found;
        match (anew, watched) {
            (Some(why), _) => *self.counts.from_everything.entry(why).or_default() += 1,
            (_, Watched::Memory) => self.counts.from_memory += 1,
            _ => self.counts.from_changes += 1,
        }
        let watched = if self.eyes.is_some() { watched } else { Watched::Everything };
        let Some(known) = self.known.last_mut() else { return Err(FORGOTTEN) };
        known.print(asked, disk, watched).map_err(no)
    }

    /// How many files answers are made of.
    pub(super) fn n_files(&self) -> usize {
        self.known.iter().map(|known| known.asked.n_files()).sum()
    }
}

impl Known {
    /// Looks whether the answer still holds.
    fn again(&mut self, disk: &dyn Disk, eyes: Option<&Eyes>) -> Again {
        let Some(Eyes { feed, memory }) = eyes else { return self.asked.again(disk) };
        if let Some(calm) = self.calm {
            let moment = SystemTime::now();
            let (changes, now) = feed.since(Some(calm));
            let is_calm = matches!(changes, Changes::Only(changed) if changed.is_empty());
            self.calm = is_calm.then_some(now);
            if is_calm && self.asked.has_same_sources(disk) {
                self.moment = Some(moment);
                return Again::Same;
            }
        }
        let (_, now) = feed.since(None);
        let before = memory.asked();
        let again = self.asked.again(disk);
        let after = memory.asked();
        // What passes the memory by is counted neither as asked for nor as remembered.
        let is_calm = after.of_disk == before.of_disk
            && after.remembered - before.remembered == self.asked.n_files() as u64;
        self.calm = is_calm.then_some(now);
        self.moment = None;
        again
    }

    fn print(&mut self, asked: &Asked, disk: &dyn Disk, watched: Watched) -> Result<Exit, Trouble> {
        let Asked { common, check, .. } = asked;
        let exit = if self.asked.report().is_fresh() { Exit::Fresh } else { Exit::Stale };
        if check.quiet {
            return Ok(exit);
        }
        if check.commands {
            self.asked.load_rules(disk)?;
        }
        let build = self.asked.build();
        warn(common, build.warnings());
        let mut summary = self.asked.summary();
        if let Some(moment) = self.moment {
            // It is how everything looked then.
            summary.snapshot = (moment, moment);
            (summary.counts.directories, summary.counts.stats) = (0, 0);
        }
        let rules = Ninja { image: self.image, ..Ninja::of(build) };
        let mut answer = ninja::answer(common, check, build, (self.asked.report().clone(), &summary), rules);
        answer.watched = Some(watched);
        print_answer(common, &answer)?;
        Ok(exit)
    }
}

/// Reads and judges everything, as a check does, and keeps an image of it for those.
fn look(asked: &Asked, disk: &dyn Disk, question: Question) -> Result<Result<Known, &'static str>, Trouble> {
    let Asked { common, check, .. } = asked;
    if cmake::read(common)?.is_some() {
        return Ok(Err("it answers for ninja builds only"));
    }
    let images = images(common);
    let targets = ninja::targets(common, &check.targets);
    let Opened::Build(mut build) = ninja::load(common, disk, images.as_ref(), &targets, true)? else {
        unreachable!("a build was wanted")
    };
    let requests = ninja::requests(common, &build, &check.targets)?;
    build.describe(disk, &requests)?;
    let snapshot = ninja::collect(common, &mut build, disk, false);
    let is_default = targets.is_empty();
    let draft = images.as_ref().and_then(|images| build.draft_image(disk, images, is_default));
    let image = keep(common, disk, &mut build, &snapshot, &requests, (is_default, draft))?;
    let Some(asked) = Remembered::new(*build, requests, snapshot) else {
        return Ok(Err("the build cannot be remembered"));
    };
    Ok(Ok(Known { question, number: 0, asked, image, calm: None, moment: None, places: None }))
}

fn keep(
    common: &Common,
    disk: &dyn Disk,
    build: &mut upcheck_ninja::Build,
    snapshot: &upcheck::Snapshot,
    requests: &[upcheck::FileId],
    (is_default, draft): (bool, Option<upcheck_ninja::Draft>),
) -> Result<&'static str, Trouble> {
    let images = images(common);
    let decision = build.decide(snapshot, requests)?;
    let (settled, report) = (is_default.then(|| Settled::new(&decision)), build.report(&decision));
    drop(decision);
    let last = settled.as_ref().map(|settled| LastCheck { settled, report: &report });
    Ok(ninja::save(common, images.as_ref(), disk, build, snapshot, last, draft))
}
