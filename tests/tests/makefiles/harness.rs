//! A project that real CMake and make build, and the comparison of what upcheck says with what make then does.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use upcheck::collect::os_disk;
use upcheck::project::Options;
use upcheck::{FileId, Policy, Project, Verdict};
use upcheck_cmake::globs::Difference;
use upcheck_cmake::makefiles::{Known, describe};
use upcheck_tests::space::{Space, set_mtime};
use upcheck_tests::tools::run_tool;

/// The releases of CMake that the Makefiles are read of.
pub(crate) const VERSIONS: [&str; 3] = ["3.16", "3.25", "4"];

/// The executable of a release.
pub(crate) fn cmake(version: &str) -> &'static Path {
    static PATHS: [OnceLock<PathBuf>; 3] = [const { OnceLock::new() }; 3];
    let at = VERSIONS.iter().position(|other| *other == version).expect("one of the releases");
    PATHS[at].get_or_init(|| run_tool("get-cmake", version))
}

/// A source tree `s` and a build directory `b` beside it.
pub(crate) struct Build {
    pub(crate) space: Space,
    pub(crate) version: &'static str,
    /// In what globs differ.
    pub(crate) globs: Option<Difference>,
    goal: &'static str,
    /// Where both are in the space; empty, or with a `/` at its end.
    place: &'static str,
}

/// What upcheck says.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) stale: BTreeSet<String>,
    pub(crate) pending: BTreeSet<String>,
    /// Why CMake has to run again: codes and paths. Empty where it has not.
    pub(crate) configure: Vec<String>,
    /// All targets with commands that were asked about.
    pub(crate) targets: BTreeSet<String>,
    /// Stale or pending targets with their reasons.
    pub(crate) reasons: Vec<String>,
}

/// What make did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) remade: BTreeSet<String>,
    pub(crate) regenerated: bool,
    pub(crate) success: bool,
    pub(crate) text: String,
}

impl Answer {
    /// Whether a target is neither stale nor pending.
    pub(crate) fn is_fresh(&self, name: &str) -> bool {
        !self.stale.contains(name) && !self.pending.contains(name)
    }
}

impl Build {
    pub(crate) fn new(version: &'static str, files: &[(&str, &str)]) -> Self {
        Self::with_options(version, files, &[])
    }

    pub(crate) fn with_options(version: &'static str, files: &[(&str, &str)], options: &[&str]) -> Self {
        Self::at("", version, files, options)
    }

    /// A build in a directory of the space.
    pub(crate) fn at(
        place: &'static str,
        version: &'static str,
        files: &[(&str, &str)],
        options: &[&str],
    ) -> Self {
        let build = Self { space: Space::new(), version, globs: None, goal: "all", place };
        for (path, content) in files {
            build.space.write(&format!("{place}s/{path}"), content);
        }
        build.configure(options);
        build
    }

    /// A build in the source tree itself, which is `b`.
    pub(crate) fn in_source(version: &'static str, files: &[(&str, &str)]) -> Self {
        let build = Self { space: Space::new(), version, globs: None, goal: "all", place: "" };
        for (path, content) in files {
            build.space.write(&format!("b/{path}"), content);
        }
        let output = Command::new(cmake(version))
            .args(["-G", "Unix Makefiles", "."])
            .current_dir(build.path("b"))
            .output()
            .expect("cmake runs");
        assert!(output.status.success(), "{}", shown(&output));
        build
    }

    pub(crate) fn goal(mut self, goal: &'static str) -> Self {
        self.goal = goal;
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.space.path().join(self.place).join(path)
    }

    #[track_caller]
    pub(crate) fn configure(&self, options: &[&str]) {
        let output = Command::new(cmake(self.version))
            .args(["-G", "Unix Makefiles", "-S", "s", "-B", "b"])
            .args(options)
            .current_dir(self.path(""))
            .env_remove("MAKEFLAGS")
            .output()
            .expect("cmake runs");
        assert!(output.status.success(), "{}", shown(&output));
    }

    /// Asks about the goal.
    #[track_caller]
    pub(crate) fn ask(&self) -> Answer {
        self.try_ask().expect("an answer")
    }

    pub(crate) fn try_ask(&self) -> Result<Answer, String> {
        self.try_ask_in("b")
    }

    pub(crate) fn try_ask_in(&self, directory: &str) -> Result<Answer, String> {
        let disk = os_disk(&self.path(directory)).map_err(|error| error.to_string())?;
        let mut project = Project::new();
        project.set_policy(Some(Policy::Newer));
        let made = describe(&disk, Known { globs: self.globs.as_ref(), fresh: &[] }, &mut project)
            .map_err(|error| error.to_string())?;
        let goal = made.goals.iter().find(|(name, _)| name == self.goal.as_bytes());
        let goal = goal.ok_or_else(|| format!("no goal {}", self.goal))?.1;
        let configured = project.graph().outputs(made.configure)[0];
        let requests: [FileId; 2] = [goal, configured];
        let checked =
            project.check(&disk, None, &requests, Options::default()).map_err(|error| error.to_string())?;
        let mut answer = Answer::default();
        let graph = project.graph();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for target in graph.targets() {
            let is_judged = checked.verdicts()[target.index()].is_some();
            if is_judged && !graph.flags(target).phony && target != made.configure {
                answer.targets.insert(text(graph.name(target)));
            }
        }
        for stale in &checked.report.stale {
            let name = text(graph.name(stale.target));
            let reasons: Vec<String> = stale
                .reasons
                .iter()
                .map(|reason| format!("{} {}", reason.code(), text(graph.files.path(reason.path()))))
                .collect();
            answer.reasons.push(format!("{name} {:?}: {}", stale.verdict, reasons.join(", ")));
            if stale.target == made.configure {
                answer.configure = reasons;
                continue;
            }
            match stale.verdict {
                Verdict::Stale => answer.stale.insert(name),
                Verdict::Pending => answer.pending.insert(name),
                Verdict::Fresh => false,
            };
        }
        Ok(answer)
    }

    /// Runs make, and hears from it what it made.
    pub(crate) fn make(&self) -> Ran {
        let output = self.make_command().output().expect("make runs");
        let text = shown(&output);
        let remade = text
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("Must remake target '")?.strip_suffix("'."))
            .map(ToOwned::to_owned)
            .collect();
        Ran {
            remade,
            regenerated: text.contains("-- Generating done"),
            success: output.status.success(),
            text,
        }
    }

    pub(crate) fn make_command(&self) -> Command {
        let mut command = Command::new("make");
        command.args(["--debug=b", "VERBOSE=1", self.goal]);
        command.current_dir(self.path("b")).env_remove("MAKEFLAGS").env("LC_ALL", "C");
        command
    }

    /// Where a file of an answer is.
    pub(crate) fn in_build(&self, name: &str) -> String {
        if name.starts_with('/') { name.to_owned() } else { format!("{}b/{name}", self.place) }
    }

    /// Asks, runs make, and compares: what is stale is made, and what is made is stale or pending.
    #[track_caller]
    pub(crate) fn compare(&mut self, what: &str) -> (Answer, Ran) {
        let answer = self.ask();
        let times = |build: &Self| -> Vec<Option<i64>> {
            answer.targets.iter().map(|name| build.space.mtime(&build.in_build(name))).collect()
        };
        let before = times(self);
        let ran = self.make();
        // The command that makes one file may make another one of its outputs, of which make then does not speak.
        let is_other = times(self).into_iter().zip(before).map(|(after, before)| after != before);
        let fail = |message: String| -> ! {
            panic!(
                "{} {what}: {message}\nreasons:\n  {}\nmake:\n{}",
                self.version,
                answer.reasons.join("\n  "),
                ran.text
            )
        };
        if !ran.success {
            fail("make failed".into());
        }
        if ran.regenerated == answer.configure.is_empty() {
            fail(format!("configure {:?}, regenerated {}", answer.configure, ran.regenerated));
        }
        if !ran.regenerated {
            let made: BTreeSet<String> = answer
                .targets
                .iter()
                .zip(is_other)
                .filter(|(name, is_other)| *is_other || ran.remade.contains(made_as(name)))
                .map(|(name, _)| name.clone())
                .collect();
            let stale: BTreeSet<String> =
                answer.stale.iter().filter(|name| !is_ours(name)).cloned().collect();
            let idle: Vec<_> = stale.difference(&made).collect();
            if !idle.is_empty() {
                fail(format!("stale and not made: {idle:?}"));
            }
            let said: BTreeSet<String> = answer.stale.union(&answer.pending).cloned().collect();
            let unsaid: Vec<_> = made.difference(&said).collect();
            if !unsaid.is_empty() {
                fail(format!("made and not stale: {unsaid:?}"));
            }
        }
        (answer, ran)
    }

    /// Compares after an edit, and then that nothing is left to be done but what is always done.
    #[track_caller]
    pub(crate) fn edit(&mut self, what: &str, edit: impl FnOnce(&mut Self)) -> Answer {
        edit(self);
        let (answer, _) = self.compare(what);
        self.globs = self.globs.as_ref().map(|_| Difference::default());
        self.settled(&format!("after {what}"));
        answer
    }

    /// Nothing is to be done but what is always done.
    #[track_caller]
    pub(crate) fn settled(&mut self, what: &str) {
        let (answer, _) = self.compare(what);
        let rest: Vec<_> = answer.stale.iter().filter(|name| !is_always(name)).collect();
        assert!(
            rest.is_empty() && answer.configure.is_empty(),
            "{} {what}: {:#?}",
            self.version,
            answer.reasons
        );
    }

    /// A time that is later than that of everything in the tree, and not in the future.
    pub(crate) fn later(&self) -> i64 {
        let newest = self.space.entries().values().map(|entry| entry.mtime()).max().unwrap_or(0);
        i64::try_from(newest).expect("a time of this century") + 1
    }

    /// Makes a file newer than all others.
    pub(crate) fn touch(&self, path: &str) {
        let later = self.later();
        set_mtime(&self.path(path), later);
    }

    /// Writes a file that is newer than all others.
    pub(crate) fn write(&self, path: &str, content: &str) {
        let later = self.later();
        self.space.write_at(&format!("{}{path}", self.place), content, later);
    }

    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8(self.space.read(path)).expect("text")
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).expect("a file to remove");
    }
}

/// What make calls a target.
fn made_as(name: &str) -> &str {
    let Some((directory, last)) = name.rsplit_once('/') else { return name };
    let utility = directory.rsplit_once('/').map_or(directory, |(_, last)| last);
    if utility.strip_suffix(".dir") == Some(last) { last } else { name }
}

/// Whether it stands for a scan for includes, or for what commands make on the side: make knows no such targets.
fn is_ours(name: &str) -> bool {
    name.ends_with(".dir/depend") || name.ends_with(".dir/byproducts")
}

/// What is made every time.
fn is_always(name: &str) -> bool {
    name.contains("always") || is_ours(name)
}

fn shown(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}
