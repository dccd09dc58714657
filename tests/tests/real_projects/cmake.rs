//! The same projects in CMake's words: configured for Makefiles and for ninja, edited, and asked `--from cmake`. After
//! each edit the build itself shows what it does: that has to be what was said before it, for the whole and for each of
//! CMake's targets, under CMake's names.

use crate::projects::{Project, Replacement};
use crate::work::{must_run, printed, touch};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use upcheck_tests::space::Space;
use upcheck_tests::tools::{Ninja, run_tool, upcheck};

/// Before anything in a build directory.
const OLD: i64 = 1_000_000_000_000_000_000;

/// Which CMake configures, and for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) cmake: &'static str,
    pub(crate) generator: &'static str,
}

pub(crate) const MAKEFILES: Kind = Kind { cmake: "3.25", generator: "Unix Makefiles" };
pub(crate) const NINJA: Kind = Kind { cmake: "4", generator: "Ninja" };

impl Kind {
    fn is_ninja(self) -> bool {
        self.generator == "Ninja"
    }
}

/// A source tree and its build directory.
struct Work {
    project: &'static Project,
    kind: Kind,
    cmake: PathBuf,
    source: Space,
    build: Space,
    /// How many questions the build agreed with, and which of them found how many stale.
    n_agreed: usize,
    found: Vec<String>,
}

/// What upcheck says.
#[derive(Debug)]
struct Answer {
    /// Targets that are stale for certain, with their outputs. Not the configuration.
    stale: BTreeMap<String, Vec<String>>,
    /// Outputs of targets that are stale or pending.
    said: BTreeSet<String>,
    is_fresh: bool,
    /// Whether CMake has to run first.
    has_to_configure: bool,
    text: String,
    summary: Value,
}

/// What a build did.
struct Built {
    /// Files that it made, as it said itself.
    made: BTreeSet<String>,
    configured: bool,
    /// Files in the build directory that are not as they were.
    changed: BTreeSet<String>,
    success: bool,
    text: String,
}

/// What CMake says of one of its targets.
#[derive(Debug)]
struct Target {
    name: String,
    artifacts: Vec<String>,
    /// Where its objects are.
    folder: String,
}

/// The life of a build directory: the first build, one edit after another.
pub(crate) fn live_through(project: &'static Project, kind: Kind) {
    let mut work = Work::new(project, kind);
    let first = first_build(&mut work);
    edit_sources(&mut work);
    edit_outputs(&mut work);
    edit_generated(&mut work);
    fail(&mut work);
    change_flags(&mut work);
    edit_lists(&mut work);
    clean(&mut work, &first);
    work.report();
}

fn first_build(work: &mut Work) -> Answer {
    let first = work.edit("never built", |_| {});
    work.edit("nothing", |_| {});
    work.compare_each("nothing");
    first
}

fn edit_sources(work: &mut Work) {
    let Project { header, header_users, source, .. } = *work.project;
    work.touch(header);
    // Target by target: each must say and do its part, until nothing is left for the whole.
    work.compare_each(&format!("{header} touched"));
    work.settled(&format!("{header} touched, each target built"));
    let answer = work.edit("header touched", |work| work.touch(header));
    let n_objects = answer.stale.keys().filter(|name| name.ends_with(".o")).count();
    assert!(n_objects >= header_users, "{header} is used by {n_objects} objects, not {header_users}");
    work.edit("source touched", |work| work.touch(source));
    work.edit("header set back in time", |work| work.source.set_mtime(header, OLD));
    work.edit("source set back in time", |work| work.source.set_mtime(source, OLD));
}

fn edit_outputs(work: &mut Work) {
    let Project { object, library, .. } = *work.project;
    for path in [object, library] {
        work.edit(&format!("{path} deleted"), |work| work.build.remove(path));
        work.edit(&format!("{path} set back in time"), |work| {
            // A library may be a link to a name with its version.
            let real = fs::canonicalize(work.build.path().join(path)).expect("a file");
            upcheck_tests::space::set_mtime(&real, OLD);
        });
    }
    let real = fs::canonicalize(work.build.path().join(library)).expect("a file");
    work.edit("the library itself deleted", |_| fs::remove_file(&real).expect("a file"));
}

fn edit_generated(work: &mut Work) {
    let Some((input, output)) = work.project.generated else { return };
    work.edit("input of a generated header touched", |work| work.touch(input));
    work.edit("generated header deleted", |work| work.build.remove(output));
    work.edit("generated header set back in time", |work| work.build.set_mtime(output, OLD));
}

fn fail(work: &mut Work) {
    let Project { header, source, .. } = *work.project;
    let good = work.source.read(source);
    work.source.write(source, [&good[..], b"\n#error no good\n"].concat());
    work.touch(header);
    let built = work.run_build(None, true);
    assert!(!built.success, "{source} is an error");
    let answer = work.ask(None);
    assert!(answer.stale.contains_key(work.project.object), "build failed in part: {}", answer.text);
    work.edit("error corrected", |work| work.source.write(source, &good));
}

/// Flags that all objects have: other ones, and back again. Ninja knows that all is as before, make does not.
fn change_flags(work: &mut Work) {
    let Project { header_users, all_flags: (on, off), .. } = *work.project;
    work.configure(&[on]);
    let answer = work.ask(None);
    let n_objects = answer.stale.keys().filter(|name| name.ends_with(".o")).count();
    assert!(n_objects >= header_users && !answer.has_to_configure, "{on}: {n_objects}");
    work.configure(&[off]);
    work.edit(&format!("{on}, and {off}"), |_| {});
}

fn edit_lists(work: &mut Work) {
    let Project { list, header, .. } = *work.project;
    let answer = work.edit("list touched", |work| work.touch(list));
    assert!(answer.has_to_configure, "{}", answer.text);
    work.edit("list and header touched", |work| {
        work.touch(list);
        work.touch(header);
    });
    let before = work.source.read(list);
    edit_list(work, list, work.project.new_flags());
    work.configure(&[]);
    let answer = work.edit("flags of one source, configured", |_| {});
    assert!(answer.stale.contains_key(work.project.object), "{}", answer.text);
    let new_source = work.project.new_source();
    work.source.write(&new_source, "int upcheck_probe(void);\nint upcheck_probe(void) { return 1; }\n");
    work.edit("source added", |work| edit_list(work, list, work.project.new_source_entry()));
    work.source.write(list, before);
    work.configure(&[]);
    work.source.remove(&new_source);
    work.edit("source taken out, configured", |_| {});
}

/// Of what a build has made nothing is left: all that had to be made at first is to be made again.
fn clean(work: &mut Work, first: &Answer) {
    let built = work.run_build(Some("clean"), false);
    assert!(built.success, "{}", built.text);
    let answer = work.ask(None);
    let missed: Vec<_> = first.stale.keys().filter(|name| !answer.said.contains(*name)).collect();
    assert!(missed.is_empty(), "cleaned, and fresh: {missed:?}");
}

fn edit_list(work: &Work, list: &str, (from, to): Replacement) {
    let before = String::from_utf8(work.source.read(list)).expect("text");
    assert!(from.is_empty(), "CMake's lists are added to at the end");
    work.source.write(list, before + &to);
}

impl Work {
    /// Configured, with the query, and not built.
    fn new(project: &'static Project, kind: Kind) -> Self {
        let cmake = run_tool("get-cmake", kind.cmake);
        let (source, build) = (Space::new(), Space::new());
        let pristine = run_tool("get-source", project.name);
        must_run(Command::new("cp").arg("-a").arg(pristine.join(".")).arg(source.path()));
        let work = Self { project, kind, cmake, source, build, n_agreed: 0, found: Vec::new() };
        work.configure(project.options);
        // Only a directory that CMake has seen is one to write into.
        must_run(work.upcheck().arg("--write-query"));
        work.configure(&[]);
        work
    }

    /// For the first time or again. An option holds until another one takes it back.
    fn configure(&self, options: &[&str]) {
        let mut command = self.cmake();
        command.args(["-G", self.kind.generator, "-S"]).arg(self.source.path());
        command.arg("-B").arg(self.build.path());
        // The newest CMake refuses lists that were written for very old ones.
        command.arg("-DCMAKE_POLICY_VERSION_MINIMUM=3.5").args(options);
        if self.kind.is_ninja() {
            command.arg(format!("-DCMAKE_MAKE_PROGRAM={}", Ninja::V1_13.path().display()));
        }
        must_run(&mut command);
    }

    fn cmake(&self) -> Command {
        let mut command = Command::new(&self.cmake);
        command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").env("LC_ALL", "C");
        command
    }

    fn upcheck(&self) -> Command {
        let mut command = Command::new(upcheck());
        command.env("UPCHECK_CACHE_DIR", self.build.images()).arg("-C").arg(self.build.path());
        command
    }

    fn touch(&self, path: &str) {
        touch(&self.source, path);
    }

    /// Asks about everything or a target of CMake's. Nothing is touched.
    #[track_caller]
    fn ask(&self, target: Option<&str>) -> Answer {
        let before = self.times();
        let mut command = self.upcheck();
        command.args(["--from", "cmake", "--format", "json"]);
        let output = command.args(target.map(|name| format!("--target={name}"))).output();
        let output = output.expect("upcheck starts");
        assert!(self.times() == before, "{target:?}: upcheck touched the build directory");
        self.read_answer(&output)
    }

    #[track_caller]
    fn read_answer(&self, output: &Output) -> Answer {
        let text = printed(output);
        let json: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {text}"));
        let is_fresh = json["verdict"] == "fresh";
        assert_eq!(output.status.code(), Some(i32::from(!is_fresh)), "{text}");
        let targets = self.targets();
        let summary = json["summary"].clone();
        let (mut stale, mut said) = (BTreeMap::new(), BTreeSet::new());
        let mut names = BTreeSet::new();
        for entry in json["stale"].as_array().expect("a list") {
            let outputs = entry["outputs"].as_array().expect("a list").iter();
            let outputs: Vec<String> =
                outputs.map(|path| self.in_build(path.as_str().expect("text"))).collect();
            let owner = entry["cmake_target"].as_str();
            if let Some(expected) = outputs.iter().find_map(|path| owner_of(&targets, path)) {
                assert_eq!(owner, Some(expected), "{outputs:?}");
            }
            names.extend(owner.map(str::to_owned));
            said.extend(outputs.iter().cloned());
            let name = self.in_build(entry["target"].as_str().expect("text"));
            if entry["verdict"] == "stale" && !is_configuration(&name) && !is_ours(&name) {
                stale.insert(name, outputs);
            }
        }
        let summed = summary["cmake_targets"].as_array().expect("a list").iter();
        let summed: BTreeSet<String> =
            summed.map(|owner| owner["name"].as_str().expect("text").into()).collect();
        assert_eq!(summed, names, "{text}");
        let has_to_configure = summary["manifest_stale"] == true;
        Answer { stale, said, is_fresh, has_to_configure, text, summary }
    }

    /// Has CMake build, as far as it goes if it is to keep going, and hears from the tool beneath it what was made.
    fn run_build(&self, target: Option<&str>, keep_going: bool) -> Built {
        let before = self.times();
        let log = self.log();
        let mut command = self.cmake();
        command.arg("--build").arg(self.build.path()).args(["-j", "2"]);
        command.args(target.map(|name| format!("--target={name}"))).arg("--");
        match self.kind.is_ninja() {
            true => command.args(keep_going.then_some("-k0")),
            false => command.args(["--debug=b", "VERBOSE=1"]).args(keep_going.then_some("-k")),
        };
        let output = command.output().expect("cmake starts");
        let after = self.times();
        let text = printed(&output);
        let made = match self.kind.is_ninja() {
            true => {
                // CMake has ninja write its log anew, without the lines that others replace.
                let (before, now) = (log.lines().collect::<BTreeSet<_>>(), self.log());
                let new = now.lines().filter(|line| !before.contains(line));
                new.filter_map(|line| line.split('\t').nth(3)).map(|path| self.in_build(path)).collect()
            }
            false => text
                .lines()
                .filter_map(|line| line.trim_start().strip_prefix("Must remake target '")?.strip_suffix("'."))
                .map(|path| self.in_build(path))
                .collect(),
        };
        let is_other = |path: &&String| before.get(*path) != after.get(*path);
        Built {
            made,
            configured: text.contains("-- Generating done"),
            changed: before.keys().chain(after.keys()).filter(is_other).cloned().collect(),
            success: output.status.success(),
            text,
        }
    }

    /// What ninja keeps of what it did.
    fn log(&self) -> String {
        fs::read_to_string(self.build.path().join(".ninja_log")).unwrap_or_default()
    }

    /// Asks, builds, and compares: what is stale is made, what is made was stale or pending, and CMake runs if that was
    /// said.
    #[track_caller]
    fn compare(&mut self, state: &str, target: Option<&str>) -> Answer {
        let answer = self.ask(target);
        let built = self.run_build(target, false);
        let fail = |message: String| -> ! {
            let Kind { cmake, generator } = self.kind;
            let place = format!("{}, {generator} of CMake {cmake}, {state} {target:?}", self.project.name);
            panic!("{place}: {message}\n{}\n{}", answer.text, built.text)
        };
        if !built.success {
            fail("the build failed".into());
        }
        if built.configured != answer.has_to_configure {
            fail(format!("CMake runs: {}", built.configured));
        }
        let was_made = |path: &str| {
            built.made.contains(path) || built.changed.contains(path) || built.made.contains(made_as(path))
        };
        let idle: Vec<_> =
            answer.stale.values().filter(|outputs| !outputs.iter().any(|path| was_made(path))).collect();
        if !idle.is_empty() {
            fail(format!("stale and not made: {idle:?}"));
        }
        // make also speaks of names that are no files, and CMake writes files that nobody asks about.
        let is_made = |path: &&String| match self.kind.is_ninja() {
            true => !is_configuration(path),
            false => self.build.path().join(path).is_file(),
        };
        let artifacts: BTreeSet<String> =
            self.targets().into_iter().flat_map(|target| target.artifacts).collect();
        let is_product = |path: &&String| path.ends_with(".o") || artifacts.contains(*path);
        let made = built.made.iter().filter(is_made).chain(built.changed.iter().filter(is_product));
        let unsaid: BTreeSet<_> = made.filter(|path| !answer.said.contains(*path)).collect();
        // What CMake changes when it runs nobody knows before.
        if !unsaid.is_empty() && !built.configured {
            fail(format!("made and not stale: {unsaid:?}"));
        }
        self.n_agreed += 1;
        answer
    }

    /// Compares target by target. Of those that make no file, like an `uninstall`, only such as have nothing to do.
    #[track_caller]
    fn compare_each(&mut self, state: &str) {
        for target in self.targets() {
            if !target.artifacts.is_empty() || self.ask(Some(&target.name)).is_fresh {
                self.compare(state, Some(&target.name));
            }
        }
    }

    /// Compares after an edit, and then that nothing is left to be done.
    #[track_caller]
    fn edit(&mut self, state: &str, edit: impl FnOnce(&mut Self)) -> Answer {
        edit(self);
        let answer = self.compare(state, None);
        let owners = answer.summary["cmake_targets"].as_array().map_or(0, Vec::len);
        let configure = if answer.has_to_configure { ", after CMake" } else { "" };
        self.found.push(format!("{state}: {} stale in {owners} of CMake's{configure}", answer.stale.len()));
        self.settled(&format!("{state}, built"));
        answer
    }

    #[track_caller]
    fn settled(&mut self, state: &str) {
        let answer = self.compare(state, None);
        assert!(answer.is_fresh, "{}, {:?}, {state}: {}", self.project.name, self.kind, answer.text);
    }

    /// CMake's targets, as its reply has them.
    fn targets(&self) -> Vec<Target> {
        let replies = self.build.path().join(".cmake/api/v1/reply");
        let read = |name: &str| -> Value {
            let bytes = fs::read(replies.join(name)).expect("a reply");
            serde_json::from_slice(&bytes).expect("JSON")
        };
        let names = fs::read_dir(&replies)
            .expect("replies")
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok());
        // The last one is the current one, while CMake still removes the others.
        let index = names.filter(|name| name.starts_with("index-")).max().expect("an index");
        let objects = read(&index);
        let objects = objects["objects"].as_array().expect("a list").iter();
        let mut codemodel = objects.filter(|object| object["kind"] == "codemodel");
        let codemodel = read(codemodel.next().expect("a codemodel")["jsonFile"].as_str().expect("a name"));
        let targets = codemodel["configurations"][0]["targets"].as_array().expect("a list").iter();
        let target = |target: &Value| {
            let target = read(target["jsonFile"].as_str().expect("a name"));
            let text = |value: &Value| value.as_str().expect("text").to_owned();
            let artifacts = target["artifacts"].as_array().into_iter().flatten();
            let name = text(&target["name"]);
            let folder = match &*text(&target["paths"]["build"]) {
                "." => format!("CMakeFiles/{name}.dir/"),
                directory => format!("{directory}/CMakeFiles/{name}.dir/"),
            };
            Target { artifacts: artifacts.map(|artifact| text(&artifact["path"])).collect(), name, folder }
        };
        targets.map(target).collect()
    }

    /// A path relative to the build directory, if it is below.
    fn in_build(&self, path: &str) -> String {
        let below = Path::new(path).strip_prefix(self.build.path());
        below.map_or_else(|_| path.to_owned(), |below| below.to_str().expect("text").to_owned())
    }

    /// The times of all files in the build directory.
    fn times(&self) -> BTreeMap<String, i64> {
        let mut times = BTreeMap::new();
        let mut folders = vec![self.build.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a directory") {
                let path = entry.expect("an entry").path();
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                    continue;
                }
                let name = self.in_build(path.to_str().expect("text"));
                if let Some(time) = self.build.mtime(&name) {
                    times.insert(name, time);
                }
            }
        }
        times
    }

    #[expect(clippy::print_stdout, reason = "the figures that --nocapture is for")]
    fn report(&mut self) {
        let answer = self.ask(None);
        let Kind { cmake, generator } = self.kind;
        println!(
            "{}, {generator} of CMake {cmake}: {} targets in {} of CMake's, {} files; {} builds, all as said",
            self.project.name,
            answer.summary["targets"],
            self.targets().len(),
            answer.summary["files"],
            self.n_agreed
        );
        for found in &self.found {
            println!("    {found}");
        }
    }
}

/// The target of CMake's that makes a file, as far as paths tell.
fn owner_of<'a>(targets: &'a [Target], path: &str) -> Option<&'a str> {
    let is_owner = |target: &&Target| {
        path.starts_with(&target.folder) || target.artifacts.iter().any(|artifact| artifact == path)
    };
    targets.iter().find(is_owner).map(|target| &*target.name)
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

/// Whether CMake makes it when it runs.
fn is_configuration(name: &str) -> bool {
    matches!(name, "build.ninja" | "Makefile" | "CMakeFiles/Makefile.cmake" | "CMakeFiles/cmake.verify_globs")
}
