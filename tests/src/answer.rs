//! The same question put to ninja and to upcheck, and both answers in one form.

use crate::space::Space;
use crate::tools::Ninja;
use std::collections::BTreeSet;
use std::process::Command;
use upcheck::Verdict;
use upcheck::collect::os_disk;
use upcheck_ninja::{Build, Error, Options, dry_run};

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
    // A damaged deps log can make ninja ask for 16 GiB; it shall die of that, and not the machine.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 4000000; exec \"$@\"", "ninja"]).arg(version.path());
    command.current_dir(space.path()).args(options).env_remove("NINJA_STATUS").env("LC_ALL", "C");
    if let Some(file) = &question.file {
        command.args(["-f", file]);
    }
    let output = command.args(&question.targets).output().expect("ninja starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Builds for real.
///
/// # Panics
/// When the build fails.
pub fn build(space: &Space, version: Ninja, question: &Question) {
    let (status, stdout, stderr) = run_ninja(space, version, question, &[]);
    assert_eq!(status, Some(0), "the build failed:\n{stdout}{stderr}");
}

/// `upcheck --exact --commands`, without the command line around it.
#[must_use]
pub fn exact(space: &Space, version: Ninja, question: &Question) -> Answer {
    answer(space, version, question, true)
}

/// `upcheck --commands`: looks past what stops ninja.
#[must_use]
pub fn look_past(space: &Space, version: Ninja, question: &Question) -> Answer {
    answer(space, version, question, false)
}

fn answer(space: &Space, version: Ninja, question: &Question, exact: bool) -> Answer {
    match try_answer(space, version, question, exact) {
        Ok(commands) => Answer::Run(commands),
        Err(error) => Answer::Error(error.to_string()),
    }
}

fn try_answer(
    space: &Space,
    version: Ninja,
    question: &Question,
    exact: bool,
) -> Result<BTreeSet<String>, Error> {
    let disk = os_disk(space.path()).expect("the space is there");
    let mut options = Options { version: Some(version.rules()), ..Options::default() };
    if let Some(file) = &question.file {
        options.manifest = file.clone().into_bytes();
    }
    let mut build = Build::load(&disk, &options)?;
    let requests = if question.targets.is_empty() {
        build.default_requests()
    } else {
        question.targets.iter().map(|target| build.resolve(target.as_bytes())).collect()
    };
    build.describe(&disk, requests.as_deref().unwrap_or_default())?;
    let snapshot = build.collect(&disk);
    let report = if exact {
        dry_run(&build, &disk, &snapshot, requests, question.targets.is_empty())?.report
    } else {
        let decision = build.decide(&snapshot, &requests?)?;
        build.report(&decision)
    };
    let mut commands = BTreeSet::new();
    for stale in &report.stale {
        assert_ne!(stale.verdict, Verdict::Fresh, "a fresh target is listed");
        assert!(!stale.reasons.is_empty(), "a stale target without a reason");
        let command = build.command(stale.target)?;
        commands.insert(String::from_utf8_lossy(&command).into_owned());
    }
    assert_eq!(report.stale.len(), report.n_stale + report.n_pending, "counts and list differ");
    Ok(commands)
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
    assert!(space.entries() == before, "upcheck touched the tree");
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
    let mut core = theirs.trim_end_matches('.');
    // What fails first while things are being run is up to the order in which they are.
    if let Some(at) = core.find("build stopped: ").filter(|_| ours.contains("build stopped: ")) {
        core = &core[..at];
    }
    // Ninja puts file:line in front of what is wrong; upcheck adds the column.
    if let Some((place, message)) = core.split_once(": ")
        && place.rsplit(':').next().is_some_and(|line| line.parse::<u32>().is_ok())
    {
        core = message;
    }
    // Which of several near misses ninja proposes is up to its hash table, and it gives its full version.
    core = core.split(", did you mean").next().unwrap_or(core);
    if let Some((_, incompatible)) = core.split_once(") incompatible") {
        core = incompatible;
    }
    ours.contains(core)
}
