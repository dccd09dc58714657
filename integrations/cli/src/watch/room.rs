//! One build directory in the daemon: the questions that were asked about it, and what their answers were made of.

mod compare;

pub(super) use compare::Compared;

use super::evidence::Evidence;
use super::question::{Asked, Question};
use crate::answer::{Answer, Ninja, Watched};
use crate::args::{CheckArgs, Common};
use crate::cmake;
use crate::exit::Exit;
use crate::image_folder::images;
use crate::ninja;
use crate::run::{Trouble, open, print_answer, warn};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;
use upcheck::Settled;
use upcheck::collect::Disk;
use upcheck_ninja::{Again, Asked as Remembered, LastCheck, Opened};
use upcheck_watch::{Asked as Counted, Changes, Feed, Memory, Token, WatchedDisk};

/// So many questions about one directory are remembered.
const MOST_QUESTIONS: usize = 4;

/// One build directory.
pub(super) struct Room {
    /// `None` where nobody can watch: then all files are looked at each time.
    eyes: Option<Arc<Eyes>>,
    /// The one that was asked last is the last.
    known: Vec<Known>,
    pub(super) counts: RoomCounts,
    /// Where each answer is to be compared with one for which nothing is remembered.
    compared: Option<Arc<Compared>>,
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
    /// For so many of these no file was looked at, since nothing was told of.
    pub(super) untouched: u64,
    /// For so many, what had changed was judged.
    pub(super) from_changes: u64,
    /// For so many, everything was read and judged; by why.
    pub(super) from_everything: BTreeMap<&'static str, u64>,
}

/// A question that was answered.
struct Known {
    question: Question,
    asked: Remembered,
    image: &'static str,
    /// Nothing was asked of the disk when it was last looked whether the answer holds, after this: so if nothing is told of
    /// since, it still does.
    calm: Option<Token>,
    /// When that was found out last, where no file was looked at for it.
    moment: Option<SystemTime>,
}

impl Room {
    /// One in which nothing was asked yet.
    pub(super) fn new(eyes: Option<Eyes>, compared: Option<Arc<Compared>>) -> Self {
        Self { eyes: eyes.map(Arc::new), known: Vec::new(), counts: RoomCounts::default(), compared }
    }

    /// Forgets all answers.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    /// What files look like, if something had to be asked for the last answer that may not have to be asked again.
    pub(super) fn unsettled(&self) -> Option<Arc<Eyes>> {
        let is_calm = self.known.last().is_some_and(|known| known.calm.is_some());
        self.eyes.clone().filter(|_| !is_calm)
    }

    /// For how many names the disk was asked, and for how many it was not.
    pub(super) fn asked(&self) -> Counted {
        self.eyes.as_ref().map(|eyes| eyes.memory.asked()).unwrap_or_default()
    }

    /// Answers a check. The exit status; why it is not for the daemon, otherwise.
    pub(super) fn answer(&mut self, asked: &Asked) -> Result<Exit, &'static str> {
        let Asked { common, .. } = asked;
        // It finds out itself which trouble.
        let no = |_: Trouble| "there is trouble";
        let opened = open(common).map_err(no)?;
        let eyes = self.eyes.clone();
        let watched = eyes.as_ref().map(|eyes| WatchedDisk::new(&opened, &eyes.memory));
        let disk: &dyn Disk = watched.as_ref().map_or(&opened, |disk| disk);
        let mut watched = self.look(asked, disk, eyes.as_deref())?;
        if let Some(compared) = self.compared.clone() {
            watched = self.compare(asked, &compared, (&opened, disk), watched)?;
        }
        let Some(known) = self.known.last_mut() else { return Err("it has forgotten the answer") };
        known.print(asked, disk, watched).map_err(no)
    }

    /// Finds the answer, which is then the last one that is known. What it comes from.
    fn look(&mut self, asked: &Asked, disk: &dyn Disk, eyes: Option<&Eyes>) -> Result<Watched, &'static str> {
        let no = |_: Trouble| "there is trouble";
        let (Asked { common, check, .. }, question) = (asked, asked.question());
        let known = self.known.iter().position(|known| known.question == question);
        let known = known.map(|at| self.known.remove(at));
        let (known, watched) = match known {
            None => (look(common, check, disk, question).map_err(no)??, self.everything("first question")),
            Some(mut known) => match known.again(disk, eyes) {
                Again::Same => {
                    self.counts.from_memory += 1;
                    self.counts.untouched += u64::from(known.moment.is_some());
                    (known, Watched::Memory)
                }
                Again::Changed => {
                    self.counts.from_changes += 1;
                    (known, Watched::Changes)
                }
                Again::Outdated => {
                    drop(known);
                    let known = look(common, check, disk, question).map_err(no)??;
                    (known, self.everything("manifest, log or depfile changed"))
                }
            },
        };
        let watched = if eyes.is_some() { watched } else { Watched::Everything };
        if self.known.len() >= MOST_QUESTIONS {
            self.known.remove(0);
        }
        self.known.push(known);
        Ok(watched)
    }

    fn everything(&mut self, why: &'static str) -> Watched {
        *self.counts.from_everything.entry(why).or_default() += 1;
        Watched::Everything
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
            if is_calm && self.asked.holds_untouched(disk) {
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
            && after.remembered - before.remembered == self.asked.n_asked() as u64;
        self.calm = is_calm.then_some(now);
        self.moment = None;
        again
    }

    fn print(&mut self, asked: &Asked, disk: &dyn Disk, watched: Watched) -> Result<Exit, Trouble> {
        let Asked { common, check, captured } = asked;
        let exit = if self.asked.report().is_fresh() { Exit::Fresh } else { Exit::Stale };
        if check.quiet && !check.verify_watch {
            return Ok(exit);
        }
        if check.commands {
            self.asked.load_rules(disk)?;
        }
        if check.verify_watch {
            // Whoever asks compares, and prints what he has found himself.
            let answer = Answer { watched: Some(watched), ..self.answer(common, check) };
            let evidence = Evidence::of(&answer, self.asked.snapshot()).map(|evidence| evidence.to_bytes());
            let evidence = evidence.ok_or_else(|| Trouble("the answer cannot be printed".into()))?;
            // It is memory.
            let _ = captured.add_to_stdout(false, |out| out.write_all(&evidence));
            return Ok(exit);
        }
        warn(common, self.asked.build().warnings());
        print_answer(common, &Answer { watched: Some(watched), ..self.answer(common, check) })?;
        Ok(exit)
    }

    /// All that it says, and what it is made of.
    fn evidence(&self, common: &Common, check: &CheckArgs) -> Option<Evidence> {
        // Without command lines, which are not loaded: nothing is remembered of them but the manifest.
        let check = CheckArgs { commands: false, ..check.clone() };
        Evidence::of(&self.answer(common, &check), self.asked.snapshot())
    }

    fn answer<'a>(&'a self, common: &'a Common, check: &CheckArgs) -> Answer<'a> {
        let build = self.asked.build();
        let mut summary = self.asked.summary();
        if let Some(moment) = self.moment {
            // It is how everything looked then.
            summary.snapshot = (moment, moment);
            (summary.counts.directories, summary.counts.stats) = (0, 0);
        }
        let rules = Ninja { image: self.image, ..Ninja::of(build) };
        ninja::answer(common, check, build, (self.asked.report().clone(), &summary), rules)
    }
}

/// Reads and judges everything, as a check does, and keeps an image of it for those.
fn look(
    common: &Common,
    check: &CheckArgs,
    disk: &dyn Disk,
    question: Question,
) -> Result<Result<Known, &'static str>, Trouble> {
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
    Ok(Ok(Known { question, asked, image, calm: None, moment: None }))
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
