//! One build directory in the daemon: the questions that were asked about it, and what their answers were made of.

mod compare;
mod look_for;

pub(super) use compare::Compared;
pub(super) use look_for::Looked;

use super::evidence::Evidence;
use super::question::{Asked, Question, WHERE_ONE_IS, depends_on_process};
use crate::answer::{Answer, Ninja, Watched};
use crate::args::{CheckArgs, Common};
use crate::cmake;
use crate::exit::Exit;
use crate::image_folder::images;
use crate::ninja;
use crate::run::{Trouble, open, print_answer, warn};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime};
use upcheck::collect::Disk;
use upcheck::os_path::bytes;
use upcheck::{Plan, Settled, path};
use upcheck_ninja::{Again, Asked as Remembered, LastCheck, Opened};
use upcheck_watch::{Asked as Counted, Changes, Feed, Memory, Place, Token, WatchedDisk};

/// So many questions about one directory are remembered.
const MOST_QUESTIONS: usize = 16;

/// Answers are numbered in all rooms together: one may go, and another one come for the same directory.
static N_ANSWERS: AtomicU64 = AtomicU64::new(0);

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
    /// When it may be found out again what is vouched for; `None`: now.
    pub(super) not_before: Mutex<Option<Instant>>,
}

/// Files that are not vouched for.
pub(super) struct Unsettled {
    pub(super) eyes: Arc<Eyes>,
    /// What has to be watched first.
    pub(super) plans: Vec<Arc<Plan>>,
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
    /// Which answer it is: different ones have different numbers.
    number: u64,
    asked: Remembered,
    image: &'static str,
    /// Whether the build is in memory as it was read from its manifests.
    is_heavy: bool,
    calm: Option<Calm>,
    /// When it was found out last that the answer holds, and for how many files the disk was asked, where that was not for all.
    moment: Option<(SystemTime, u64)>,
    /// Where what changes the answer happens, once somebody has waited for that.
    places: Option<Arc<HashSet<Place>>>,
}

/// All files were vouched for when it was last looked whether the answer holds. So what has to be asked for is what is told
/// of since.
struct Calm {
    /// Taken before that.
    token: Token,
    /// Paths of files that were told of, and are not vouched for again.
    told: Vec<Vec<u8>>,
    /// What [`Memory::n_dropped`] was before that: what the memory has dropped since, nobody can find among what is told of.
    n_dropped: u64,
}

/// So many files may have been told of before everything is looked at.
const MOST_TOLD: usize = 1000;

/// Why a question is not answered that a check answers with trouble: it finds out itself which.
pub(super) const TROUBLE: &str = "there is trouble";
const FORGOTTEN: &str = "it has forgotten the answer";

fn no(_: Trouble) -> &'static str {
    TROUBLE
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

    /// Whether all files are vouched for that the last answer is made of.
    pub(super) fn is_settled(&self) -> bool {
        let calm = self.known.last().and_then(|known| known.calm.as_ref());
        calm.is_some_and(|calm| calm.told.is_empty())
    }

    /// What is left to be done after an answer, so that the next one takes less.
    pub(super) fn unsettled(&self) -> Option<Unsettled> {
        // Where nothing can be vouched for, the next question takes what this one took.
        let eyes = self.eyes.clone().filter(|eyes| eyes.feed.vouches())?;
        let known = self.known.last()?;
        let plans = match &known.calm {
            Some(calm) if calm.told.is_empty() => return None,
            Some(_) => Vec::new(),
            None => known.asked.plans().into(),
        };
        Some(Unsettled { eyes, plans })
    }

    /// Looks what is vouched for by now.
    pub(super) fn calm_down(&mut self, disk: &dyn Disk) {
        let Some(eyes) = self.eyes.clone() else { return };
        // What happened until now may have ended that.
        eyes.memory.refresh();
        for known in &mut self.known {
            known.calm_down(disk, &eyes);
        }
    }

    /// Reads the last build once more where it was read from its manifests, if all of it is vouched for: now there is an image of it,
    /// and what is mapped from a file is no memory of this process, which has twice as much otherwise. It is another answer, found
    /// out as the first one was, so whatever has changed meanwhile is in it.
    pub(super) fn lighten(&mut self, common: &Common, disk: &dyn Disk) {
        let is_settled = self.is_settled();
        let (Some(eyes), Some(known)) = (self.eyes.clone(), self.known.last_mut()) else { return };
        if !(known.is_heavy && is_settled && known.question.is_about(common)) {
            return;
        }
        // Tried once.
        known.is_heavy = false;
        let check = CheckArgs { targets: known.question.targets().to_vec(), ..CheckArgs::default() };
        let watched = WatchedDisk::only_asking(disk, &eyes.memory);
        if let Ok(Ok(light)) = look(common, &check, &watched, known.question.clone()) {
            *known = Known { is_heavy: false, ..light };
            known.calm_down(disk, &eyes);
        }
    }

    /// For how many names the disk was asked, and for how many it was not.
    pub(super) fn asked(&self) -> Counted {
        self.eyes.as_ref().map(|eyes| eyes.memory.asked()).unwrap_or_default()
    }

    /// Answers a check. The exit status; why it is not for the daemon, otherwise.
    pub(super) fn answer(&mut self, asked: &Asked) -> Result<Exit, &'static str> {
        let opened = open(&asked.common).map_err(no)?;
        let eyes = self.eyes.clone();
        let disk = eyes.as_ref().map(|eyes| WatchedDisk::only_asking(&opened, &eyes.memory));
        let watching = disk.as_ref().zip(eyes.as_deref());
        let watched = self.find(asked, &opened, watching)?;
        let Some(known) = self.known.last_mut() else { return Err(FORGOTTEN) };
        known.print(asked, seen_with(&opened, watching), watched).map_err(no)
    }

    /// Finds the answer, and compares it where that is wanted. It is then the last one that is known. What it comes from.
    fn find(
        &mut self,
        asked: &Asked,
        plain: &dyn Disk,
        watching: Option<(&WatchedDisk<'_>, &Eyes)>,
    ) -> Result<Watched, &'static str> {
        let watched = self.look(asked, seen_with(plain, watching), watching)?;
        match self.compared.clone() {
            Some(compared) => self.compare(asked, &compared, (plain, watching), watched),
            None => Ok(watched),
        }
    }

    /// Finds the answer, which is then the last one that is known. What it comes from.
    fn look(
        &mut self,
        asked: &Asked,
        disk: &dyn Disk,
        watching: Option<(&WatchedDisk<'_>, &Eyes)>,
    ) -> Result<Watched, &'static str> {
        let (Asked { common, check, .. }, question) = (asked, asked.question());
        let known = self.known.iter().position(|known| known.question == question);
        let known = known.map(|at| self.known.remove(at));
        let (known, watched) = match known {
            None => (look(common, check, disk, question).map_err(no)??, self.everything("first question")),
            Some(mut known) => match known.again(disk, watching) {
                Again::Same => {
                    self.counts.from_memory += 1;
                    self.counts.untouched += u64::from(known.moment.is_some());
                    (known, Watched::Memory)
                }
                Again::Changed => {
                    self.counts.from_changes += 1;
                    known.number = next_number();
                    (known, Watched::Changes)
                }
                Again::Outdated => {
                    drop(known);
                    let known = look(common, check, disk, question).map_err(no)??;
                    (known, self.everything("manifest, log or depfile changed"))
                }
            },
        };
        let watched = if watching.is_some() { watched } else { Watched::Everything };
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
    fn again(&mut self, disk: &dyn Disk, watching: Option<(&WatchedDisk<'_>, &Eyes)>) -> Again {
        let Some((watched, eyes)) = watching else { return self.asked.again(disk) };
        if let Some(again) = self.calm.take().and_then(|calm| self.again_from(calm, watched, eyes)) {
            return again;
        }
        let (_, token) = eyes.feed.since(None);
        let n_dropped = eyes.memory.n_dropped();
        let again = self.asked.again(watched);
        self.calm = self.is_all_remembered(watched).then(|| Calm { token, told: Vec::new(), n_dropped });
        self.moment = None;
        again
    }

    /// The same where all but what is told of is vouched for. `None`: that is not enough.
    fn again_from(&mut self, mut calm: Calm, disk: &dyn Disk, eyes: &Eyes) -> Option<Again> {
        let moment = SystemTime::now();
        let (changes, token) = eyes.feed.since(Some(calm.token));
        let Changes::Only(changed) = changes else { return None };
        calm.token = token;
        if !changed.is_empty() {
            calm.told.extend(eyes.memory.paths_of(&changed, MOST_TOLD)?);
            calm.told.sort_unstable();
            calm.told.dedup();
        }
        // Asked for after the paths were found.
        if calm.told.len() > MOST_TOLD || eyes.memory.n_dropped() != calm.n_dropped {
            return None;
        }
        let again = self.asked.again_about(disk, &calm.told)?;
        self.moment = Some((moment, calm.told.len() as u64));
        self.calm = Some(calm);
        Some(again)
    }

    /// Looks what is vouched for by now. The answer stays as it is.
    fn calm_down(&mut self, disk: &dyn Disk, eyes: &Eyes) {
        if let Some(calm) = &mut self.calm {
            // Whoever had one open until it was vouched for has closed it, which was told after the token.
            calm.told.retain(|path| !eyes.memory.is_known(path));
            return;
        }
        let (_, token) = eyes.feed.since(None);
        let n_dropped = eyes.memory.n_dropped();
        let watched = WatchedDisk::only_asking(disk, &eyes.memory);
        if self.asked.is_as_before(&watched) && self.is_all_remembered(&watched) {
            self.calm = Some(Calm { token, told: Vec::new(), n_dropped });
        }
    }

    /// Whether all files that an answer is made of were vouched for when they were looked at with this disk, and never else.
    fn is_all_remembered(&self, watched: &WatchedDisk<'_>) -> bool {
        // What passes the memory by is counted neither as asked for nor as remembered.
        watched.remembered() == Some(self.asked.n_asked() as u64)
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
        if let Some((moment, n_asked)) = self.moment {
            // It is how everything looked then.
            summary.snapshot = (moment, moment);
            (summary.counts.directories, summary.counts.stats) = (0, n_asked);
            // As when all of them are asked for: the first answer may have been found without depfiles.
            summary.n_files = self.asked.n_files();
        }
        let rules = Ninja { image: self.image, ..Ninja::of(build) };
        ninja::answer(common, check, build, (self.asked.report().clone(), &summary), rules)
    }
}

/// What is asked how files look.
fn seen_with<'a>(plain: &'a dyn Disk, watching: Option<(&'a WatchedDisk<'_>, &Eyes)>) -> &'a dyn Disk {
    watching.map_or(plain, |(disk, _)| disk)
}

fn next_number() -> u64 {
    N_ANSWERS.fetch_add(1, Ordering::Relaxed) + 1
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
    if image == ninja::FAILED && ninja::is_folder_named(common) {
        // Whoever checks says so each time, or finds that it can be kept by now.
        return Ok(Err("the image cannot be kept"));
    }
    let Some(asked) = Remembered::new(*build, requests, snapshot) else {
        return Ok(Err("the build cannot be remembered"));
    };
    if depends_on_where_one_is(&asked, &common.directory) {
        return Ok(Err(WHERE_ONE_IS));
    }
    let (number, is_heavy) = (next_number(), image == ninja::MADE);
    Ok(Ok(Known { question, number, asked, image, is_heavy, calm: None, moment: None, places: None }))
}

/// Whether something that was looked at is another file for another process.
fn depends_on_where_one_is(asked: &Remembered, base: &Path) -> bool {
    let base = bytes(base);
    asked.plans().iter().flat_map(|plan| plan.visits()).any(|visit| {
        let directory = visit.directory();
        // On Windows a single name may be such a path, elsewhere what a process calls its streams is in a directory of others.
        let are_names_looked_at =
            directory.is_empty() || directory == b"/dev" || directory.starts_with(b"..");
        depends_on_process(directory, base)
            || are_names_looked_at
                && visit.names().any(|name| depends_on_process(&path::join(directory, name), base))
    })
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
