//! The same question put to ninja and to upcheck, and both answers in one form.

use crate::space::Space;
use crate::through_c;
use crate::tools::Ninja;
use crate::twin::{self, Twins};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};
use upcheck::collect::{Disk, OpenFile, os_disk};
use upcheck::{FileId, IoCounts, Meta, Report, RootCause, Settled, Stat, Verdict, Visit};
use upcheck_capi::upcheck_ninja_options;
use upcheck_ninja::{Build, Error, Images, LastCheck, Opened, Options, Saved, Summary, dry_run};

/// What is to be done about a build directory.
#[derive(Clone, PartialEq, Eq)]
pub enum Answer {
    /// These command lines would run. None: no work to do.
    Run(BTreeSet<String>),
    /// There is an error. The words of whoever says so.
    Error(String),
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Run(commands) if commands.is_empty() => f.write_str("no work to do"),
            Self::Run(commands) => f.debug_set().entries(commands).finish(),
            Self::Error(message) => write!(f, "error: {message}"),
        }
    }
}

/// What to ask.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Targets; empty for the defaults.
    pub targets: Vec<String>,
    /// The manifest, if it is not build.ninja.
    pub file: Option<String>,
}

impl Question {
    /// Asks about these targets.
    #[must_use]
    pub fn about(targets: &[&str]) -> Self {
        Self { targets: targets.iter().map(ToString::to_string).collect(), file: None }
    }
}

/// `ninja -n -v` on a copy of the tree: it writes even then.
#[must_use]
pub fn ninja(space: &Space, version: Ninja, question: &Question) -> Answer {
    let copy = space.copy();
    let (status, stdout, stderr) = run_ninja(&copy, version, question, &["-n", "-v"]);
    // Under -v ninja prints a command as it is, line ends included, behind [n/m].
    let mut commands = BTreeSet::new();
    let mut current: Option<String> = None;
    let mut error = String::new();
    for line in stdout.lines() {
        let counted = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")).filter(|(count, _)| {
            count
                .split_once('/')
                .is_some_and(|(done, all)| done.parse::<usize>().is_ok() && all.parse::<usize>().is_ok())
        });
        if let Some((_, command)) = counted {
            commands.extend(current.replace(command.to_owned()));
        } else if let Some(text) = line.strip_prefix("ninja: ") {
            commands.extend(current.take());
            if text.starts_with("build stopped: ") {
                error.push_str(text);
            }
        } else if let Some(command) = &mut current {
            command.push('\n');
            command.push_str(line);
        }
    }
    commands.extend(current);
    if status == Some(0) {
        return Answer::Run(commands);
    }
    for line in stderr.lines() {
        for prefix in ["ninja: error: ", "ninja: fatal: "] {
            if let Some(text) = line.strip_prefix(prefix) {
                error.push_str(text);
            }
        }
    }
    Answer::Error(error)
}

/// Runs ninja in a directory. Exit status, standard output and standard error.
///
/// # Panics
/// When ninja cannot be started.
#[must_use]
pub fn run_ninja(
    space: &Space,
    version: Ninja,
    question: &Question,
    options: &[&str],
) -> (Option<i32>, String, String) {
    match Twins::wished(version) {
        Some(twins) => twins.run(space, question, options),
        None => twin::run(version.path(), space.path(), question, options),
    }
}

/// What ninja says where the system fails to start a program for no reason of the program's.
const WINES_OWN: &str = "CreateProcess: Internal error";

/// Builds for real.
///
/// # Panics
/// When the build fails.
pub fn build(space: &Space, version: Ninja, question: &Question) {
    let (mut status, mut stdout, mut stderr) = run_ninja(space, version, question, &[]);
    // Wine, when it is busy, now and then cannot start a program that is there. What is left of the build is made then.
    for _ in 0..3 {
        if cfg!(windows)
            && status != Some(0)
            && [&stdout, &stderr].iter().any(|text| text.contains(WINES_OWN))
        {
            (status, stdout, stderr) = run_ninja(space, version, question, &[]);
        }
    }
    assert_eq!(status, Some(0), "the build failed:\n{stdout}{stderr}");
}

/// `upcheck --exact --commands`, without the command line around it.
#[must_use]
pub fn exact(space: &Space, version: Ninja, question: &Question) -> Answer {
    answer(space, version, question, true)
}

/// `upcheck --commands`: looks past what stops ninja. A daemon says the same, where one is to be asked.
#[must_use]
pub fn look_past(space: &Space, version: Ninja, question: &Question) -> Answer {
    let past = answer(space, version, question, false);
    #[cfg(target_os = "linux")]
    crate::by_daemon::compare(space, version, question, &past);
    past
}

/// Asks without an image, with the one that an earlier question about this space left, and with the one that this very
/// question left. The answers are the same to the last detail.
fn answer(space: &Space, version: Ninja, question: &Question, exact: bool) -> Answer {
    let without = try_answer(space, version, question, exact, None).map(|(details, _)| details);
    let mut is_kept = false;
    for image in ["the last question", "this question"] {
        let with = try_answer(space, version, question, exact, Some(&mut is_kept));
        if let (Ok((_, is_from_image)), "this question") = (&with, image) {
            // Names that the manifest does not have are looked for without one.
            let is_default = question.targets.is_empty();
            assert!(*is_from_image || !is_kept || !is_default, "the image of this question is not used");
        }
        let with = with.map(|(details, _)| details);
        let same = match (&without, &with) {
            (Ok(without), Ok(with)) => without == with,
            (Err(without), Err(with)) => without.to_string() == with.to_string(),
            _ => false,
        };
        assert!(
            same,
            "the image of {image} changes the answer to {question:?}, exact: {exact}\n\
             --- without\n{without:#?}\n--- with\n{with:#?}\n--- {}",
            String::from_utf8_lossy(&space.read(question.file.as_deref().unwrap_or("build.ninja")))
        );
    }
    match without {
        Ok(details) => Answer::Run(details.commands),
        Err(error) => Answer::Error(error.to_string()),
    }
}

/// All that an answer says, with paths for numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    commands: BTreeSet<String>,
    stale: Vec<String>,
    root_causes: Vec<String>,
    n_targets: usize,
    warnings: BTreeSet<String>,
}

impl Details {
    /// Whether nothing is stale.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.stale.is_empty()
    }
}

/// The real disk at a later hour: no stamp is so young that it proves nothing, so that images are trusted as far as they
/// ever are.
pub struct Later<D>(pub D);

impl<D: Disk> Disk for Later<D> {
    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        self.0.visit(visit, stats, counts)
    }
    fn read_stamped(&self, path: &[u8]) -> std::io::Result<(Vec<u8>, Meta)> {
        self.0.read_stamped(path)
    }
    fn read_tail(&self, path: &[u8], offset: u64) -> std::io::Result<(Vec<u8>, Meta)> {
        self.0.read_tail(path, offset)
    }
    fn scan(&self, path: &[u8], sink: &mut dyn FnMut(&[u8])) -> std::io::Result<Meta> {
        self.0.scan(path, sink)
    }
    fn open<'a>(&'a self, path: &[u8]) -> std::io::Result<Box<dyn OpenFile + 'a>> {
        self.0.open(path)
    }
    fn now(&self) -> SystemTime {
        self.0.now() + Duration::from_secs(3600)
    }
}

/// The answer, and whether it came from an image. `is_kept`: an image is used and left, and whether there is one now.
fn try_answer(
    space: &Space,
    version: Ninja,
    question: &Question,
    exact: bool,
    is_kept: Option<&mut bool>,
) -> Result<(Details, bool), Error> {
    let disk = Later(os_disk(space.path()).expect("the space is there"));
    let images = images(space);
    let asked = ask(&disk, version, question, exact, is_kept.is_some().then_some(&images))?;
    if let Some(is_kept) = is_kept {
        *is_kept = asked.is_from_image || asked.saved != Saved::Nothing;
    }
    Ok((asked.details, asked.is_from_image))
}

/// Where images of a space are kept.
#[must_use]
pub fn images(space: &Space) -> Images {
    Images::new(space.images(), space.path().as_os_str().as_encoded_bytes().to_vec())
}

/// An answer, and what became of the image.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The answer.
    pub details: Details,
    /// Whether it came from an image.
    pub is_from_image: bool,
    /// Whether the image alone was enough.
    pub is_at_once: bool,
    /// What was kept for the next question.
    pub saved: Saved,
}

/// Asks as the command does, with the help of images or without.
///
/// # Errors
/// What the command would say instead of an answer.
///
/// # Panics
/// When no image can be written.
pub fn ask(
    disk: &dyn Disk,
    version: Ninja,
    question: &Question,
    exact: bool,
    images: Option<&Images>,
) -> Result<Asked, Error> {
    let mut options = Options { version: Some(version.rules()), ..Options::default() };
    if let Some(file) = &question.file {
        options.manifest = file.clone().into_bytes();
    }
    let targets: Vec<_> = question.targets.iter().map(|target| target.clone().into_bytes()).collect();
    let mut build = match upcheck_ninja::open(disk, &options, images, &targets, exact)? {
        Opened::Build(build) => build,
        Opened::Fresh(summary) => {
            let details = fresh(&summary);
            return Ok(Asked { details, is_from_image: true, is_at_once: true, saved: Saved::Nothing });
        }
    };
    let requests = if targets.is_empty() {
        build.default_requests()
    } else {
        targets.iter().map(|target| build.resolve(target)).collect()
    };
    build.describe(disk, requests.as_deref().unwrap_or_default())?;
    let snapshot = build.collect(disk);
    build.load_rules(disk)?;
    let mut settled = None;
    let report = if exact {
        dry_run(&build, disk, &snapshot, requests, targets.is_empty())?.report
    } else {
        let decision = build.decide(&snapshot, &requests?)?;
        settled = targets.is_empty().then(|| Settled::new(&decision));
        build.report(&decision)
    };
    let details = details(&build, &report)?;
    let is_from_image = build.is_from_image();
    let mut saved = Saved::Nothing;
    if let Some(images) = images {
        let last = settled.as_ref().map(|settled| LastCheck { settled, report: &report });
        saved = build.save(disk, images, &snapshot, last, None).expect("an image");
    }
    Ok(Asked { details, is_from_image, is_at_once: false, saved })
}

fn fresh(summary: &Summary) -> Details {
    Details {
        commands: BTreeSet::new(),
        stale: Vec::new(),
        root_causes: Vec::new(),
        n_targets: summary.n_targets,
        warnings: summary.warnings.iter().cloned().collect(),
    }
}

fn details(build: &Build, report: &Report) -> Result<Details, Error> {
    let path = |file| String::from_utf8_lossy(build.graph().files.path(file)).into_owned();
    let mut commands = BTreeSet::new();
    let mut lines = Vec::new();
    for stale in &report.stale {
        assert_ne!(stale.verdict, Verdict::Fresh, "a fresh target is listed");
        assert!(!stale.reasons.is_empty(), "a stale target without a reason");
        commands.insert(String::from_utf8_lossy(&build.command(stale.target)?).into_owned());
        let reasons: Vec<_> =
            stale.reasons.iter().map(|reason| format!("{} {}", reason.code(), path(reason.path()))).collect();
        let name = String::from_utf8_lossy(build.graph().name(stale.target));
        lines.push(format!("{name} {:?}: {}", stale.verdict, reasons.join(", ")));
    }
    assert_eq!(report.stale.len(), report.n_stale + report.n_pending, "counts and list differ");
    let causes = report.root_causes.iter();
    let cause = |cause: &RootCause| {
        format!("{} {} {}", cause.n_targets, cause.reason.code(), path(cause.reason.path()))
    };
    Ok(Details {
        commands,
        stale: lines,
        root_causes: causes.map(cause).collect(),
        n_targets: report.n_targets,
        warnings: build.warnings().iter().cloned().collect(),
    })
}

/// Asks both, and checks that asking changed nothing.
///
/// # Panics
/// When the answers differ, or when upcheck touched the tree.
pub fn compare(space: &Space, version: Ninja, question: &Question) {
    let before = space.entries();
    let ours = exact(space, version, question);
    let theirs = ninja(space, version, question);
    let manifest =
        String::from_utf8_lossy(&space.read(question.file.as_deref().unwrap_or("build.ninja"))).into_owned();
    assert!(
        agree(&ours, &theirs),
        "ninja {} and upcheck differ on {question:?}\n--- ninja\n{theirs:?}\n--- upcheck\n{ours:?}\n--- {manifest}",
        version.number()
    );
    through_c(space, version, question);
    #[cfg(target_os = "linux")]
    if crate::by_daemon::folder().is_some() {
        let _ = look_past(space, version, question);
    }
    assert!(space.entries() == before, "upcheck touched the tree");
}

/// Asks Rust and C, past what stops ninja, and checks that the answers are the same to the last piece of evidence.
///
/// # Panics
/// When they are not.
pub fn through_c(space: &Space, version: Ninja, question: &Question) {
    let (rust, requests) = in_rust(space, version, question);
    let kept = space.images().join("c");
    for (images, times) in [("", 1), (kept.to_str().expect("a path in UTF-8"), 2)] {
        for time in 0..times {
            let c = in_c(space, version, question, &requests, images.as_bytes());
            for (n_before, c) in c.into_iter().enumerate() {
                match (&rust, &c) {
                    (Ok(rust), Ok(c)) => assert_eq!(
                        c.compared_with(rust, !images.is_empty()),
                        *rust,
                        "C and Rust differ on {question:?}, image {images:?}, load {time}, check {n_before}"
                    ),
                    (Err(rust), Err(c)) => assert_eq!(c.message, *rust, "{question:?}"),
                    _ => panic!("C and Rust differ on {question:?}\n--- Rust\n{rust:#?}\n--- C\n{c:#?}"),
                }
            }
        }
    }
}

/// The answer of Rust, and the paths that were asked about.
fn in_rust(
    space: &Space,
    version: Ninja,
    question: &Question,
) -> (Result<through_c::Answer, String>, Option<Vec<Vec<u8>>>) {
    let disk = os_disk(space.path()).expect("the space is there");
    let mut options = Options { version: Some(version.rules()), ..Options::default() };
    if let Some(file) = &question.file {
        options.manifest = file.clone().into_bytes();
    }
    let mut paths = None;
    let mut ask = || -> Result<through_c::Answer, Error> {
        let mut build = Build::load(&disk, &options)?;
        let requests = if question.targets.is_empty() {
            build.default_requests()?
        } else {
            let targets = question.targets.iter().map(|target| build.resolve(target.as_bytes()));
            targets.collect::<Result<Vec<_>, _>>()?
        };
        if !question.targets.is_empty() {
            let path = |&file: &FileId| build.graph().files.path(file).to_vec();
            paths = Some(requests.iter().map(path).collect());
        }
        build.describe(&disk, &requests)?;
        let snapshot = build.collect(&disk);
        let decision = build.decide(&snapshot, &requests)?;
        let report = build.report(&decision);
        let mut verdicts = vec![None; build.graph().n_targets()];
        for &target in decision.judged() {
            verdicts[target.index()] = Some(decision.verdict(target));
        }
        Ok(through_c::Answer::of_rust(build.graph(), &report, &verdicts, &snapshot))
    };
    let answer = ask().map_err(|error| error.to_string());
    (answer, paths)
}

/// The answers of two checks of one graph through C. None, if there is nothing that C could be asked about.
fn in_c(
    space: &Space,
    version: Ninja,
    question: &Question,
    requests: &Option<Vec<Vec<u8>>>,
    images: &[u8],
) -> Vec<Result<through_c::Answer, through_c::Failed>> {
    let graph = through_c::CGraph::new(space.path().as_os_str().as_encoded_bytes()).expect("a graph");
    let manifest = question.file.as_deref().unwrap_or_default().as_bytes();
    let rules = version.number().trim_start_matches("1.").parse().expect("a number");
    let options = upcheck_ninja_options {
        struct_size: size_of::<upcheck_ninja_options>(),
        manifest: through_c::text(manifest),
        version: rules,
        threads: 0,
        image_folder: through_c::text(images),
    };
    if let Err(failed) = graph.load_ninja(&options) {
        return vec![Err(failed)];
    }
    if !question.targets.is_empty() && requests.is_none() {
        return Vec::new();
    }
    let mut answers = Vec::new();
    for _ in 0..2 {
        let requests: Option<Vec<u32>> =
            requests.as_ref().map(|paths| paths.iter().map(|path| graph.find(path)).collect());
        answers.push(graph.answer(None, requests.as_deref(), 0));
    }
    answers
}

/// The same commands, or both an error.
#[must_use]
pub fn agree(ours: &Answer, theirs: &Answer) -> bool {
    match (ours, theirs) {
        (Answer::Run(ours), Answer::Run(theirs)) => ours == theirs,
        (Answer::Error(_), Answer::Error(_)) => true,
        _ => false,
    }
}

/// Whether upcheck's error says what ninja's says, apart from what upcheck adds and from what is up to chance.
#[must_use]
pub fn says_the_same(ours: &str, theirs: &str) -> bool {
    // On Windows what the system says ends in a line's end.
    let mut core = theirs.trim_end_matches(['.', '\r']);
    // What fails first while things are being run is up to the order in which they are.
    if let Some(at) = core.find("build stopped: ").filter(|_| ours.contains("build stopped: ")) {
        core = &core[..at];
    }
    // Ninja puts file:line in front of what is wrong, perhaps behind what it was about to do; upcheck adds the column.
    let is_place = |part: &str| part.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok());
    let parts: Vec<_> = core.split(": ").collect();
    let message;
    if let Some(place) = parts.iter().position(|part| is_place(part)) {
        if !ours.contains(&parts[..place].join(": ")) {
            return false;
        }
        message = parts[place + 1..].join(": ");
        core = &message;
    }
    // Which of several near misses ninja proposes is up to its hash table, and it gives its full version.
    core = core.split(", did you mean").next().unwrap_or(core);
    if let Some((_, incompatible)) = core.split_once(") incompatible") {
        core = incompatible;
    }
    ours.contains(core)
}

#[cfg(test)]
mod tests {
    use super::says_the_same;

    #[test]
    fn a_place_may_stand_behind_what_was_under_way() {
        let theirs = "rebuilding 'build.ninja': dd0:1: expected 'ninja_dyndep_version = ...'";
        let ours =
            "rebuilding 'build.ninja': dd0:1:1: expected 'ninja_dyndep_version = ...'\n  | \n  | ^ near here";
        assert!(says_the_same(ours, theirs));
        assert!(!says_the_same("dd0:1:1: expected 'ninja_dyndep_version = ...'", theirs));
        assert!(!says_the_same("rebuilding 'build.ninja': dd0:1:1: expected a path", theirs));
        assert!(says_the_same("dd0:1:1: expected a path", "dd0:1: expected a path"));
    }
}
