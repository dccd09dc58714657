//! From an image to an answer: at once where nothing changed, else to a build that knows what did.

use super::tables::{self, Facts};
use super::{Before, Images, Kept, Looked};
use crate::build::{Build, Options, dyndep_files};
use crate::error::Error;
use crate::logs::LogTables;
use crate::source::{Checked, Source, Stamp, nanoseconds};
use crate::version::NinjaVersion;
use std::collections::{HashMap, HashSet};
use std::time::SystemTime;
use upcheck::collect::{Disk, collect};
use upcheck::image::{Image, WordReader};
use upcheck::{
    Column, Dyndep, FileId, FileTable, Graph, History, IoCounts, Mtime, Needs, Plan, Settled, Snapshot, Stat,
    TargetId, path,
};

/// A build directory, as far as it had to be looked into.
pub enum Opened {
    /// The default question is answered: nothing differs from the last check, and everything was fresh then.
    Fresh(Box<Summary>),
    /// To be asked.
    Build(Box<Build>),
}

/// What there is to say when everything is fresh.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Targets with a command.
    pub n_targets: usize,
    /// Files that were asked for.
    pub n_files: usize,
    /// What the collection asked of the disk.
    pub counts: IoCounts,
    /// When the first file was asked for, and when the last one had answered.
    pub snapshot: (SystemTime, SystemTime),
    /// Whose rules hold.
    pub version: NinjaVersion,
    /// The version of the build log; `None` where there is none.
    pub log_version: Option<u32>,
    /// Oddities that did not keep the build from being judged.
    pub warnings: Vec<String>,
}

/// Opens the build directory at the disk's base, with the help of an image if there is one that can be used.
///
/// `requests`: what is going to be asked, none for the default question. `has_to_build`: whether a [`Build`] is wanted
/// in any case, because there is more to be asked than what is stale.
///
/// # Errors
/// Those of [`Build::load`].
pub fn open(
    disk: &dyn Disk,
    options: &Options,
    images: Option<&Images>,
    requests: &[Vec<u8>],
    has_to_build: bool,
) -> Result<Opened, Error> {
    // What a header was discovered by stands in the deps log alone.
    let needs_logs = requests.iter().any(|request| request.ends_with(b"^"));
    if let Some(images) = images.filter(|_| !needs_logs)
        && let Some(opening) = Opening::begin(disk, options, images)
        && let Some(opened) = opening.finish(disk, requests, has_to_build)
    {
        return Ok(opened);
    }
    Build::load(disk, options).map(|build| Opened::Build(build.into()))
}

/// Whether there is an image that the next check can use.
pub(super) fn is_there(disk: &dyn Disk, options: &Options, images: &Images) -> bool {
    Opening::begin(disk, options, images).is_some()
}

/// The image and the state, which belong together, and what has become of the sources.
struct Opening<'o> {
    options: &'o Options,
    image: Image,
    state: Image,
    report: LastReport,
    sources: Vec<Source>,
    /// Stamps of the sources as they are now, whose content is known.
    stamps: Vec<Stamp>,
    has_new_stamps: bool,
    /// Logs with more at their end than the image knows of.
    tails: Vec<(usize, Stamp)>,
    has_grown: bool,
    began: Mtime,
}

/// What the last check found, in short.
struct LastReport {
    image_id: u64,
    began: Mtime,
    has_decision: bool,
    /// The number of targets, if everything was fresh.
    n_fresh: Option<usize>,
    version: NinjaVersion,
    log_version: Option<u32>,
    warnings: Vec<String>,
}

impl LastReport {
    fn read(bytes: &[u8]) -> Option<Self> {
        let words = &mut WordReader::new(bytes);
        Some(Self {
            image_id: words.number()?,
            began: words.number()?.cast_signed(),
            has_decision: words.number()? == 1,
            n_fresh: tables::plus_one(words.number()?).and_then(|n| usize::try_from(n).ok()),
            version: NinjaVersion::parse(words.message()?).ok()?,
            log_version: tables::plus_one(words.number()?).and_then(|n| u32::try_from(n).ok()),
            warnings: tables::warnings(words)?,
        })
    }
}

impl<'o> Opening<'o> {
    /// `None` where there is no image, or what it came from says something else now.
    fn begin(disk: &dyn Disk, options: &'o Options, images: &Images) -> Option<Self> {
        let began = nanoseconds(disk.now());
        let who = tables::who(images, &options.manifest_path(), options.version);
        let state = images.folder.read(&images.name(&who, "state"))?;
        if *state.table::<u8>("who")? != *who {
            return None;
        }
        let report = LastReport::read(&state.table("report")?)?;
        let image = images.folder.read(&images.name(&who, "image"))?;
        if image.id() != report.image_id {
            return None;
        }
        let sources = tables::sources(&image.table("sources")?)?;
        let stamps = state.table::<Stamp>("sources")?;
        let mut opening = Self {
            options,
            image,
            state,
            report,
            stamps: stamps.to_vec(),
            sources,
            has_new_stamps: false,
            tails: Vec::new(),
            has_grown: false,
            began,
        };
        opening.check_sources(disk)?;
        Some(opening)
    }

    fn check_sources(&mut self, disk: &dyn Disk) -> Option<()> {
        if self.stamps.len() != self.sources.len() {
            return None;
        }
        for (index, source) in self.sources.iter().enumerate() {
            let known = self.stamps[index];
            match source.check(disk, known, self.report.began) {
                Checked::Same => {}
                Checked::Changed => return None,
                Checked::SameContent(stamp) => {
                    // What is too young to prove anything, and still will be, is no news.
                    self.has_new_stamps |= stamp != known || !stamp.is_racy(self.began);
                    self.stamps[index] = stamp;
                    // The last check may have read more of it than the image knows of, and than there is now.
                    self.has_grown |= source.can_grow && known != source.stamp;
                }
                Checked::Grown(stamp) => {
                    self.stamps[index] = stamp;
                    self.has_new_stamps = true;
                    self.has_grown = true;
                }
            }
            if self.stamps[index] != source.stamp && source.can_grow {
                self.tails.push((index, self.stamps[index]));
            }
        }
        Some(())
    }

    fn finish(self, disk: &dyn Disk, requests: &[Vec<u8>], has_to_build: bool) -> Option<Opened> {
        let mut collected = None;
        let n_targets = if requests.is_empty() { self.report.n_fresh } else { self.n_fresh_among(requests) };
        let is_default = requests.is_empty();
        if !has_to_build && !self.has_grown && (is_default || n_targets.is_some()) {
            let plan = Plan::load(&self.image)?;
            let snapshot = collect(disk, &plan, self.options.threads);
            let more = self.collect_more(disk)?;
            if let Some(n_targets) = n_targets
                && !self.has_new_stamps
                && self.is_as_before(&plan, &snapshot, &more)?
            {
                return Some(Opened::Fresh(self.summary(&snapshot, &more, n_targets).into()));
            }
            collected = Some(snapshot);
        }
        let build = self.into_build(disk, is_default, collected)?;
        // Other names are known only from logs and depfiles, and which those are now is told by reading them.
        let is_named = |request: &Vec<u8>| named(&build.graph, build.n_named_files, request).is_some();
        requests.iter().all(is_named).then(|| Opened::Build(build.into()))
    }

    /// How many targets these requests need, if everything was fresh at the last check and they need so much of it that
    /// looking at all of it is the shortest way. Then whatever they need is fresh while nothing looks different.
    fn n_fresh_among(&self, requests: &[Vec<u8>]) -> Option<usize> {
        /// The part of all targets from which on everything is looked at.
        const MUCH: usize = 3;
        // What was learnt since is not among what the image says of needs.
        if !self.tails.is_empty() || !self.state.table::<u8>("again")?.is_empty() {
            return None;
        }
        let all = self.report.n_fresh?;
        let graph = Graph::load(&self.image)?;
        let facts = Facts::read(&self.image.table("facts")?, graph.files.len(), graph.n_targets())?;
        let mut roots = Vec::with_capacity(requests.len());
        for request in requests {
            roots.push(graph.producer(named(&graph, facts.n_named_files, request)?)?);
        }
        roots.extend(facts.manifest_file.and_then(|file| graph.producer(file)));
        let needed = Needs::load(&self.image)?.closure(roots);
        let in_default = self.image.table::<u8>("closure")?;
        let mut n_targets = 0;
        for target in graph.targets().filter(|target| needed[target.index()]) {
            if in_default.get(target.index()) != Some(&1) {
                return None;
            }
            n_targets += usize::from(!graph.flags(target).phony);
        }
        (n_targets * MUCH >= all).then_some(n_targets)
    }

    /// Asks the disk about what the last check needed beside what the image plans for.
    fn collect_more(&self, disk: &dyn Disk) -> Option<Snapshot> {
        let bytes = self.state.table::<u8>("more")?;
        let more = tables::more(&bytes, looked(&self.state)?.statuses.len())?;
        let mut files = FileTable::default();
        for (_, path) in &more {
            files.intern(path);
        }
        let plan = Plan::new(&files, files.ids());
        let found = collect(disk, &plan, self.options.threads);
        let mut stats = Vec::new();
        for (file, path) in &more {
            stats.resize(stats.len().max(file.index() + 1), Stat::Unknown);
            stats[file.index()] = files.lookup(path).map_or(Stat::Unknown, |at| found.stat(at));
        }
        Some(Snapshot::new(stats, found.began(), found.ended(), found.counts()))
    }

    /// Whether everything was fresh, and looks as it did then.
    fn is_as_before(&self, plan: &Plan, snapshot: &Snapshot, more: &Snapshot) -> Option<bool> {
        if self.report.n_fresh.is_none() {
            return Some(false);
        }
        let stat = |file| match snapshot.stat(file) {
            Stat::Unknown => more.stat(file),
            stat => stat,
        };
        let looked = looked(&self.state)?;
        Some(looked.is_as_before(plan.n_known(), stat) && self.depfiles_are_as_before(snapshot, more)?)
    }

    fn depfiles_are_as_before(&self, snapshot: &Snapshot, more: &Snapshot) -> Option<bool> {
        let depfile_of = self.image.table::<u32>("depfile")?;
        if depfile_of.is_empty() {
            return Some(true);
        }
        let kept = self.kept_depfiles(depfile_of)?;
        let closure = self.image.table::<u8>("closure")?;
        Some(closure.iter().enumerate().all(|(target, is_in)| {
            let target = TargetId::new(target);
            let Some(depfile) = kept.depfile(target) else { return true };
            let stat = if *is_in == 1 { snapshot.stat(depfile) } else { more.stat(depfile) };
            if *is_in == 0 && stat == Stat::Unknown {
                return true;
            }
            let (known, is_in_image) = kept.depfile_stamp(target);
            let began = if is_in_image { kept.image_began } else { kept.state_began };
            Stamp::from_stat(stat) == Some(known) && !known.is_racy(began)
        }))
    }

    fn kept_depfiles(&self, depfile_of: Column<u32>) -> Option<Kept> {
        let n_targets = depfile_of.len();
        Some(Kept {
            image_id: self.report.image_id,
            depfile_of,
            depfile_stamps: self.image.table("depstamp")?,
            image_began: *self.image.table::<i64>("began")?.first()?,
            state_began: self.report.began,
            again: tables::again(&self.state.table("again")?, n_targets.max(1))?,
            read_now: HashSet::new(),
            default_requests: self.image.table("requests")?,
            before: None,
            n_planned: 0,
            n_collected: 0,
            collected: None,
            unchecked: Vec::new(),
            is_touched: false,
            has_new_stamps: self.has_new_stamps,
            appended: 0,
            changed: Vec::new(),
        })
    }

    fn summary(&self, snapshot: &Snapshot, more: &Snapshot, n_targets: usize) -> Summary {
        let mut counts = snapshot.counts();
        counts.add(more.counts());
        Summary {
            n_targets,
            n_files: snapshot.n_files() + more.n_files(),
            counts,
            snapshot: (snapshot.began(), more.ended().max(snapshot.ended())),
            version: self.report.version,
            log_version: self.report.log_version,
            warnings: self.report.warnings.clone(),
        }
    }

    /// The build that the image holds, brought up to date by what was appended to the logs.
    fn into_build(self, disk: &dyn Disk, is_default: bool, collected: Option<Snapshot>) -> Option<Build> {
        let graph = Graph::load(&self.image)?;
        let (n_files, n_targets) = (graph.files.len(), graph.n_targets());
        let history = History::load(&self.image, n_files, n_targets)?;
        let facts = Facts::read(&self.image.table("facts")?, n_files, n_targets)?;
        let mut kept = self.kept_depfiles(self.image.table("depfile")?)?;
        kept.is_touched = self.has_grown;
        if is_default {
            let settled = self.report.has_decision.then(|| Settled::load(&self.state, &graph)).flatten();
            kept.before = Some(Before { settled, looked: looked(&self.state)? });
        }
        let mut build = Build {
            dyndep_files: dyndep_files(&graph),
            graph,
            history,
            rules: None,
            defaults: self.image.table::<FileId>("defaults")?.to_vec(),
            self_users: facts.self_users,
            manifest_file: facts.manifest_file,
            version: facts.version,
            log_version: facts.log_version,
            logs: LogTables::new(
                tables::strays(&self.image.table("strays")?)?,
                self.image.table("depsfile")?,
            ),
            dyndep_producers: HashMap::new(),
            n_named_files: facts.n_named_files,
            n_known_files: facts.n_known_files,
            described: vec![false; n_targets],
            is_detailed: vec![true; n_targets],
            wanted: Vec::new(),
            is_wanted: Vec::new(),
            warnings: facts.warnings,
            options: self.options.clone(),
            sources: self.sources,
            depfiles: Vec::new(),
            began: self.began,
            kept: None,
            has_given: false,
        };
        build.know_dyndep_producers();
        kept.appended = build.take_tails(disk, &self.tails)?;
        for (source, stamp) in build.sources.iter_mut().zip(self.stamps) {
            source.stamp = stamp;
        }
        if is_default || collected.is_some() {
            let n_wanted = build.adopt_default_question(disk, &self.image, &mut kept)?;
            kept.n_planned = n_wanted;
            kept.n_collected = if collected.is_some() { n_wanted } else { 0 };
            kept.collected = collected;
        }
        build.kept = Some(kept);
        Some(build)
    }
}

/// The file that a request names, if some statement of the manifest names it too.
fn named(graph: &Graph, n_named_files: usize, request: &[u8]) -> Option<FileId> {
    let mut path = request.to_vec();
    path::canonicalize(&mut path);
    graph.files.lookup(&path).filter(|file| file.index() < n_named_files && !request.is_empty())
}

fn looked(state: &Image) -> Option<Looked> {
    let looked = Looked { mtimes: state.table("mtimes")?, statuses: state.table("statuses")? };
    (looked.mtimes.len() == looked.statuses.len()).then_some(looked)
}

impl Build {
    fn know_dyndep_producers(&mut self) {
        // Records of their outputs are in the history already, and newer than those among the strays.
        for (_, dyndep) in self.history.dyndeps() {
            let Dyndep::Loaded(entries) = dyndep else { continue };
            for entry in entries {
                for &output in &entry.outputs {
                    self.dyndep_producers.entry(output).or_insert(entry.target);
                }
            }
        }
    }

    /// What the default question needs, as it was found out when the image was made. The number of files that it
    /// needed then.
    fn adopt_default_question(&mut self, disk: &dyn Disk, image: &Image, kept: &mut Kept) -> Option<usize> {
        let n_files = self.graph.files.len();
        let closure = image.table::<u8>("closure")?;
        if closure.len() != self.graph.n_targets() {
            return None;
        }
        self.described = closure.iter().map(|is_in| *is_in == 1).collect();
        self.is_wanted.resize(n_files, false);
        for file in Plan::load(image)?.files() {
            *self.is_wanted.get_mut(file.index())? = true;
            self.wanted.push(file);
        }
        let in_question = self.graph.targets().filter(|target| self.described[target.index()]);
        kept.unchecked = in_question.filter(|&target| kept.depfile(target).is_some()).collect();
        let n_wanted = self.wanted.len();
        // What was learnt from the logs since may lead further.
        let mut reach = Vec::new();
        for target in std::mem::take(&mut self.logs.relearnt) {
            if self.described[target.index()] {
                self.want_discovered(target, &mut reach);
            }
        }
        let before = self.described.clone();
        let described = self.describe_from(disk, reach);
        debug_assert!(described.is_ok());
        self.want_depfiles(kept, &before);
        Some(n_wanted)
    }
}
