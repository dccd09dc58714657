//! Random builds, really built by the real ninja, then edited at random and compared after each edit.
//!
//! `UPCHECK_CASES` sets how many builds (default 300), `UPCHECK_ALL_NINJAS=1` adds ninja 1.12. A difference is
//! shrunk by proptest, printed with the whole build directory, and kept as a named case in `differential/`.
#![expect(clippy::print_stdout, reason = "a long mode says how much it has compared")]

use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use upcheck_tests::aloud::progress;
use upcheck_tests::answer::{Answer, Question, agree, exact, look_past, ninja, run_ninja, says_the_same};
use upcheck_tests::space::{Space, TICK};
use upcheck_tests::tools::Ninja;

const OLD: i64 = 1_600_000_000_000_000_000;
const SOURCES: usize = 5;

/// What a rule may do beside running a command.
#[derive(Clone, Debug, Default)]
struct Kind {
    phony: bool,
    restat: bool,
    generator: bool,
    rspfile: bool,
    /// 0 none, 1 depfile, 2 deps = gcc, 3 deps = msvc.
    deps: u8,
    dyndep: bool,
    /// Whether the bindings stand on the target and not on its rule.
    own_scope: bool,
    /// Whether the target stands in a subninja file.
    subninja: bool,
    /// Whether it counts its output as unchanged when it is there.
    keeps: bool,
}

/// A target. Numbers name files: sources first, then outputs of earlier targets.
#[derive(Clone, Debug)]
struct Target {
    kind: Kind,
    n_outputs: usize,
    n_implicit_outputs: usize,
    explicit: Vec<usize>,
    implicit: Vec<usize>,
    order_only: Vec<usize>,
    validations: Vec<usize>,
    discovered: Vec<usize>,
    dyndep_inputs: Vec<usize>,
    dyndep_output: bool,
}

#[derive(Clone, Debug)]
enum Edit {
    /// Sets a file's time: to another file's, plus some nanoseconds.
    TouchAs(usize, usize, i64),
    /// Sets a file's time to one long ago.
    Age(usize, i64),
    /// To later than everything.
    Future(usize),
    Remove(usize),
    /// Changes a target's command.
    Command(usize),
    /// Makes a directory where a file was.
    Directory(usize),
    CutLog(usize),
    CutDeps(usize),
    FlipLog(usize, u8),
    FlipDeps(usize, u8),
    DropLogLine(usize),
    Depfile(usize, u8),
    RemoveLog,
    RemoveDeps,
    Restart,
    ManifestInput(bool),
    /// Builds again, as far as it goes.
    Build,
}

#[derive(Clone, Debug)]
struct World {
    targets: Vec<Target>,
    edits: Vec<Edit>,
    defaults: Vec<usize>,
    asked: Vec<usize>,
    manifest_is_target: bool,
    cyclic: Option<(usize, usize)>,
    builddir: bool,
}

fn some(n: usize) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(any::<prop::sample::Index>().prop_map(|index| index.index(1 << 16)), 0..=n)
}

fn kind() -> impl Strategy<Value = Kind> {
    let rarely = || prop::bool::weighted(0.15);
    (
        (prop::bool::weighted(0.2), rarely(), rarely(), rarely()),
        prop_oneof![4 => Just(0u8), 2 => Just(1), 3 => Just(2), 1 => Just(3)],
        (rarely(), prop::bool::weighted(0.4), rarely(), any::<bool>()),
    )
        .prop_map(|((phony, restat, generator, rspfile), deps, (dyndep, own_scope, subninja, keeps))| {
            if phony {
                return Kind { phony, subninja, ..Kind::default() };
            }
            Kind { phony, restat, generator, rspfile, deps, dyndep, own_scope, subninja, keeps }
        })
}

fn target() -> impl Strategy<Value = Target> {
    (
        kind(),
        (1..=2usize, prop_oneof![3 => Just(0usize), 1 => Just(1)]),
        (some(3), some(2), some(2)),
        prop_oneof![4 => Just(vec![]), 1 => some(2)],
        (some(3), some(2), any::<bool>()),
    )
        .prop_map(
            |(
                kind,
                (n_outputs, n_implicit_outputs),
                (explicit, implicit, order_only),
                validations,
                discovered,
            )| {
                Target {
                    kind,
                    n_outputs,
                    n_implicit_outputs,
                    explicit,
                    implicit,
                    order_only,
                    validations,
                    discovered: discovered.0,
                    dyndep_inputs: discovered.1,
                    dyndep_output: discovered.2,
                }
            },
        )
}

fn edit() -> impl Strategy<Value = Edit> {
    let file = || 0..1usize << 16;
    prop_oneof![
        6 => (file(), file(), -2..=2i64).prop_map(|(a, b, ns)| Edit::TouchAs(a, b, ns)),
        1 => (file(), prop_oneof![Just(0), Just(1), Just(-2), Just(OLD), Just(5), any::<i32>().prop_map(i64::from)])
            .prop_map(|(a, time)| Edit::Age(a, time)),
        3 => file().prop_map(Edit::Future),
        4 => file().prop_map(Edit::Remove),
        3 => file().prop_map(Edit::Command),
        1 => file().prop_map(Edit::Directory),
        1 => file().prop_map(Edit::CutLog),
        1 => file().prop_map(Edit::CutDeps),
        1 => (file(), any::<u8>()).prop_map(|(at, byte)| Edit::FlipLog(at, byte)),
        1 => (file(), any::<u8>()).prop_map(|(at, byte)| Edit::FlipDeps(at, byte)),
        1 => file().prop_map(Edit::DropLogLine),
        2 => (file(), any::<u8>()).prop_map(|(at, how)| Edit::Depfile(at, how)),
        1 => Just(Edit::RemoveLog),
        1 => Just(Edit::RemoveDeps),
        1 => Just(Edit::Restart),
        1 => any::<bool>().prop_map(Edit::ManifestInput),
        3 => Just(Edit::Build),
    ]
}

fn world() -> impl Strategy<Value = World> {
    (
        prop::collection::vec(target(), 1..9),
        prop::collection::vec(edit(), 1..7),
        (prop_oneof![2 => Just(vec![]), 1 => some(2)], prop_oneof![3 => Just(vec![]), 1 => some(3)]),
        (
            prop::bool::weighted(0.15),
            prop_oneof![30 => Just(None), 1 => (0..8usize, 0..8usize).prop_map(Some)],
            prop::bool::weighted(0.1),
        ),
    )
        .prop_map(|(targets, edits, (defaults, asked), (manifest_is_target, cyclic, builddir))| World {
            targets,
            edits,
            defaults,
            asked,
            manifest_is_target,
            cyclic,
            builddir,
        })
}

/// A world's files: the manifest, and what its commands read.
struct Plan {
    /// All files that can be edited: sources, then outputs.
    files: Vec<String>,
    /// Targets' names, for asking.
    outputs: Vec<Vec<String>>,
    depfiles: Vec<String>,
    /// How often each target's command was changed.
    revisions: Vec<usize>,
}

fn source(n: usize) -> String {
    match n {
        0 => "s0".into(),
        1 => "dir/s1".into(),
        2 => "dir/s 2".into(),
        n => format!("dir/sub/s{n}"),
    }
}

fn output(target: usize, n: usize) -> String {
    match target % 3 {
        0 => format!("o{target}_{n}"),
        1 => format!("out/o{target}_{n}"),
        _ => format!("out/deep/o{target}_{n}"),
    }
}

impl Plan {
    fn new(world: &World) -> Self {
        let mut files: Vec<String> = (0..SOURCES).map(source).collect();
        let mut outputs = Vec::new();
        let mut depfiles = Vec::new();
        for (number, target) in world.targets.iter().enumerate() {
            let n_outputs = if target.kind.phony { 1 } else { target.n_outputs + target.n_implicit_outputs };
            let names: Vec<_> = (0..n_outputs).map(|n| output(number, n)).collect();
            files.extend(names.iter().cloned());
            if target.kind.deps == 1 || target.kind.deps == 2 {
                depfiles.push(format!("{}.d", names[0]));
            }
            outputs.push(names);
        }
        Self { files, outputs, depfiles, revisions: vec![0; world.targets.len()] }
    }

    /// The files that a target may use: sources and outputs of the targets before it.
    fn usable(&self, number: usize) -> Vec<&str> {
        let before: usize = self.outputs[..number].iter().map(Vec::len).sum();
        self.files[..SOURCES + before].iter().map(String::as_str).collect()
    }

    fn pick(&self, number: usize, choices: &[usize]) -> Vec<String> {
        let usable = self.usable(number);
        let mut seen = BTreeSet::new();
        let picked = choices.iter().map(|choice| usable[choice % usable.len()].to_owned());
        picked.filter(|path| seen.insert(path.clone())).collect()
    }

    /// The manifest's files, by name.
    fn manifests(&self, world: &World) -> BTreeMap<String, String> {
        let mut top = String::from("flags = -O\n");
        if world.builddir {
            top.push_str("builddir = logs\n");
        }
        let mut sub = String::from("flags = -sub\n");
        top.push_str("rule copy\n  command = cp $in $out; true $flags\n");
        for number in 0..world.targets.len() {
            let target = &world.targets[number];
            let text = self.statement(world, number);
            if target.kind.subninja { &mut sub } else { &mut top }.push_str(&text);
        }
        // A subninja file may use what stands before it, and what stands after it too.
        top.push_str("subninja sub.ninja\nflags = -final\n");
        if world.manifest_is_target {
            top.push_str("rule regen\n  command = true $in\n  generator = 1\n");
            let _ = writeln!(top, "build build.ninja: regen configure || {}", escape(&self.outputs[0][0]));
        }
        let defaults: Vec<_> = world
            .defaults
            .iter()
            .map(|choice| escape(&self.outputs[choice % self.outputs.len()][0]))
            .collect();
        if !defaults.is_empty() {
            let _ = writeln!(top, "default {}", defaults.join(" "));
        }
        BTreeMap::from([("build.ninja".to_owned(), top), ("sub.ninja".to_owned(), sub)])
    }

    /// The rule and the build statement of one target.
    fn statement(&self, world: &World, number: usize) -> String {
        let target = &world.targets[number];
        let kind = &target.kind;
        let outputs = &self.outputs[number];
        let n_explicit = if kind.phony { 1 } else { target.n_outputs.min(outputs.len()) };
        let mut inputs = self.pick(number, &target.explicit);
        if let Some((from, to)) = world.cyclic
            && from % world.targets.len() == number
        {
            inputs.push(self.outputs[to % world.targets.len()][0].clone());
        }
        let implicit = self.pick(number, &target.implicit);
        let mut order_only = self.pick(number, &target.order_only);
        let mut text = String::new();
        let mut bindings = Vec::new();
        let rule = if kind.phony { "phony".to_owned() } else { format!("r{number}") };
        if kind.dyndep {
            let dd = format!("dd{number}");
            order_only.push(dd.clone());
            let _ = writeln!(text, "build {dd}: copy {dd}.in");
            bindings.push(format!("dyndep = {dd}"));
        }
        if !kind.phony {
            let mut command = String::new();
            for path in outputs {
                let quoted = format!("'{path}'");
                if kind.keeps && kind.restat {
                    let _ = write!(command, "test -e {quoted} || touch {quoted}; ");
                } else {
                    let _ = write!(command, "touch {quoted}; ");
                }
            }
            if kind.dyndep && target.dyndep_output {
                let _ = write!(command, "touch x{number}; ");
            }
            let discovered = self.pick(number, &target.discovered);
            match kind.deps {
                1 | 2 => {
                    let names: Vec<_> = discovered.iter().map(|path| path.replace(' ', "\\\\ ")).collect();
                    let _ =
                        write!(command, "echo '{}: {}' > '{}.d'; ", outputs[0], names.join(" "), outputs[0]);
                    let command_fixed = command.replace("\\\\ ", "\\ ");
                    command = command_fixed;
                    bindings.push(format!("depfile = {}.d", outputs[0]));
                }
                3 => {
                    for path in &discovered {
                        let _ = write!(command, "echo 'Note: including file: {path}'; ");
                    }
                }
                _ => {}
            }
            match kind.deps {
                2 => bindings.push("deps = gcc".into()),
                3 => bindings.push("deps = msvc".into()),
                _ => {}
            }
            if kind.restat {
                bindings.push("restat = 1".into());
            }
            if kind.generator {
                bindings.push("generator = 1".into());
            }
            let _ = write!(command, "true {} $flags r{}", outputs[0], self.revisions[number]);
            let _ = writeln!(
                text,
                "rule {rule}\n  command = {}",
                command.replace("$f", "\u{1}f").replace('$', "$$").replace('\u{1}', "$")
            );
            if kind.rspfile {
                let _ = writeln!(text, "  rspfile = {}.rsp\n  rspfile_content = $in $flags", outputs[0]);
            }
            if !kind.own_scope {
                for binding in &bindings {
                    let _ = writeln!(text, "  {binding}");
                }
            }
        }
        let list = |paths: &[String]| paths.iter().map(|path| escape(path)).collect::<Vec<_>>().join(" ");
        let _ = write!(text, "build {}", list(&outputs[..n_explicit]));
        if outputs.len() > n_explicit {
            let _ = write!(text, " | {}", list(&outputs[n_explicit..]));
        }
        let _ = write!(text, ": {rule} {}", list(&inputs));
        if !implicit.is_empty() {
            let _ = write!(text, " | {}", list(&implicit));
        }
        if !order_only.is_empty() {
            let _ = write!(text, " || {}", list(&order_only));
        }
        // Validations may be anything, what comes later too.
        let validations: Vec<_> =
            target.validations.iter().map(|choice| self.files[choice % self.files.len()].clone()).collect();
        if !validations.is_empty() {
            let _ = write!(text, " |@ {}", list(&validations));
        }
        text.push('\n');
        if kind.own_scope && !kind.phony {
            text.push_str("  flags = -own\n");
            for binding in &bindings {
                let _ = writeln!(text, "  {binding}");
            }
        }
        text
    }

    fn write_manifests(&self, world: &World, space: &Space) {
        for (path, text) in self.manifests(world) {
            space.write_at(&path, text, OLD);
        }
    }

    fn write_all(&self, world: &World, space: &Space) {
        for n in 0..SOURCES {
            space.write_at(&source(n), "", OLD);
        }
        space.write_at("configure", "", OLD - 1);
        for (number, target) in world.targets.iter().enumerate() {
            if target.kind.dyndep {
                let mut text =
                    format!("ninja_dyndep_version = 1\nbuild {}", escape(&self.outputs[number][0]));
                if target.dyndep_output {
                    let _ = write!(text, " | x{number}");
                }
                let inputs = self.pick(number, &target.dyndep_inputs);
                let inputs: Vec<_> = inputs.iter().map(|path| escape(path)).collect();
                let _ = writeln!(text, ": dyndep | {}", inputs.join(" "));
                space.write_at(&format!("dd{number}.in"), text, OLD);
            }
        }
        self.write_manifests(world, space);
    }

    fn apply(&mut self, world: &World, space: &Space, version: Ninja, edit: &Edit) {
        let all: Vec<String> = self
            .files
            .iter()
            .cloned()
            .chain(
                (0..world.targets.len())
                    .filter(|&n| world.targets[n].kind.dyndep)
                    .flat_map(|n| [format!("dd{n}"), format!("dd{n}.in"), format!("x{n}")]),
            )
            .collect();
        let file = |n: &usize| all[n % all.len()].as_str();
        let logs = if world.builddir { "logs/" } else { "" };
        let (log, deps) = (format!("{logs}.ninja_log"), format!("{logs}.ninja_deps"));
        match edit {
            Edit::TouchAs(path, other, ns) => {
                if let Some(time) = space.mtime(file(other)) {
                    space.set_mtime(file(path), time + ns * TICK);
                }
            }
            Edit::Age(path, time) => space.set_mtime(file(path), *time),
            Edit::Future(path) => {
                let newest = all.iter().filter_map(|path| space.mtime(path)).max().unwrap_or(OLD);
                space.set_mtime(file(path), newest + 1_000_000_000);
            }
            Edit::Remove(path) => space.remove(file(path)),
            Edit::Command(target) => {
                self.revisions[target % world.targets.len()] += 1;
                self.write_manifests(world, space);
            }
            Edit::Directory(path) => {
                space.remove(file(path));
                let _ = std::fs::create_dir(space.path().join(file(path)));
            }
            Edit::CutLog(at) => cut(space, &log, *at),
            Edit::CutDeps(at) => cut(space, &deps, *at),
            Edit::FlipLog(at, byte) => flip(space, &log, *at, *byte),
            // Before 1.13 ninja does not check the numbers in it, and what it does with wrong ones is undefined.
            // On Windows nothing keeps it from taking all memory for them.
            Edit::FlipDeps(..) if version != Ninja::V1_13 || cfg!(windows) => {}
            Edit::FlipDeps(at, byte) => flip(space, &deps, *at, *byte),
            Edit::DropLogLine(line) => {
                let bytes = space.read(&log);
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
                if lines.len() > 1 {
                    lines.remove(1 + line % (lines.len() - 1));
                    space.write(&log, lines.concat());
                }
            }
            Edit::Depfile(which, how) => {
                if !self.depfiles.is_empty() {
                    let path = &self.depfiles[which % self.depfiles.len()];
                    let first = &path[..path.len() - 2];
                    match how % 6 {
                        0 => space.remove(path),
                        1 => space.write(path, ""),
                        2 => space.write(path, "other: s0\n"),
                        3 => space.write(path, "no colon\n"),
                        4 => {
                            space.write(path, format!("./{first}: \\\n  dir//s1 gone.h dir/s\\ 2\ngone.h:\n"))
                        }
                        _ => cut(space, path, *which),
                    }
                }
            }
            Edit::RemoveLog => space.remove(&log),
            Edit::RemoveDeps => space.remove(&deps),
            Edit::Restart => {
                for names in &self.outputs {
                    names.iter().for_each(|name| space.remove(name));
                }
            }
            Edit::ManifestInput(newer) => {
                space.set_mtime("configure", if *newer { OLD + 1 } else { OLD - 1 });
            }
            Edit::Build => {
                let _ = run_ninja(space, version, &Question::default(), &["-k", "0"]);
            }
        }
    }
}

fn escape(path: &str) -> String {
    path.replace('$', "$$").replace(' ', "$ ").replace(':', "$:")
}

fn cut(space: &Space, path: &str, at: usize) {
    let bytes = space.read(path);
    if !bytes.is_empty() {
        space.write(path, &bytes[..at % bytes.len()]);
    }
}

/// Damages one byte, behind the header: what other headers mean has cases of its own.
fn flip(space: &Space, path: &str, at: usize, byte: u8) {
    let mut bytes = space.read(path);
    if bytes.len() > 20 {
        let at = 20 + at % (bytes.len() - 20);
        bytes[at] ^= byte.max(1);
        space.write(path, bytes);
    }
}

/// What the comparisons were like, to see that they are not all of one kind.
#[derive(Default, Debug)]
struct Tally {
    no_work: AtomicUsize,
    some_work: AtomicUsize,
    errors: AtomicUsize,
    /// Ninja died without a word of damage that it does not notice.
    died: AtomicUsize,
    /// Looking past finds more than ninja says.
    looked_past: AtomicUsize,
}

static TALLY: [LazyLock<Tally>; 3] = [const { LazyLock::new(Tally::default) }; 3];

/// Counts the builds that were tried, those to shrink a difference too: they take as long.
struct Progress {
    version: Ninja,
    share: u32,
    n_tried: AtomicUsize,
    /// Whether to say now and then how far it is.
    is_long: bool,
}

impl Progress {
    const STEP: usize = 1_000;

    fn count(&self) {
        let n_tried = self.n_tried.fetch_add(1, Ordering::Relaxed) + 1;
        if self.is_long && n_tried.is_multiple_of(Self::STEP) {
            let (version, share) = (self.version.number(), self.share);
            progress(&format!("ninja {version}: {n_tried} of {share} random builds tried"));
        }
    }
}

fn check(world: &World, version: Ninja) -> Result<(), TestCaseError> {
    let space = Space::new();
    let mut plan = Plan::new(world);
    plan.write_all(world, &space);
    let asked = world.asked.iter().map(|choice| plan.files[choice % plan.files.len()].clone()).collect();
    let questions = [Question::default(), Question { targets: asked, file: None }];
    let mut history = Vec::new();
    compare(&space, version, &questions, &history)?;
    let _ = run_ninja(&space, version, &Question::default(), &["-k", "0"]);
    compare(&space, version, &questions, &history)?;
    for edit in &world.edits {
        history.push(edit);
        plan.apply(world, &space, version, edit);
        compare(&space, version, &questions, &history)?;
    }
    Ok(())
}

fn makes_its_manifest(space: &Space) -> bool {
    String::from_utf8_lossy(&space.read("build.ninja")).contains("\nbuild build.ninja:")
}

fn compare(
    space: &Space,
    version: Ninja,
    questions: &[Question],
    history: &[&Edit],
) -> Result<(), TestCaseError> {
    for question in questions {
        let before = space.entries();
        let ours = exact(space, version, question);
        let theirs = ninja(space, version, question);
        let tally = &TALLY[version as usize];
        let counter = match &theirs {
            Answer::Run(commands) if commands.is_empty() => &tally.no_work,
            Answer::Run(_) => &tally.some_work,
            Answer::Error(text) if text.is_empty() => &tally.died,
            Answer::Error(_) => &tally.errors,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let same = match (&ours, &theirs) {
            // docs/COMPARISON.md: what only a leftover depfile names, read while the manifest's own target was
            // pretended to be made.
            (Answer::Error(ours), Answer::Run(_))
                if ours.starts_with("unknown target") && makes_its_manifest(space) =>
            {
                true
            }
            (_, Answer::Error(theirs)) if theirs.is_empty() => true,
            (Answer::Error(ours), Answer::Error(theirs)) => says_the_same(ours, theirs),
            _ => agree(&ours, &theirs),
        };
        if !same {
            return Err(TestCaseError::fail(format!(
                "ninja {} and upcheck differ on {question:?} after {history:?}\n--- ninja\n{theirs:?}\n\
                 --- upcheck\n{ours:?}\n--- build.ninja\n{}--- sub.ninja\n{}--- .ninja_deps\n{}\n",
                version.number(),
                String::from_utf8_lossy(&space.read("build.ninja")),
                String::from_utf8_lossy(&space.read("sub.ninja")),
                space.read(".ninja_deps").escape_ascii(),
            )));
        }
        let past = look_past(space, version, question);
        // What ninja refuses to go on with is never fresh for whoever looks past it.
        if let (Answer::Error(refusal), Answer::Run(past)) = (&theirs, &past) {
            prop_assert!(
                refusal.is_empty() || !past.is_empty(),
                "ninja refuses ({refusal}), but it is called fresh after {history:?}"
            );
        }
        tally.looked_past.fetch_add(usize::from(past != ours), Ordering::Relaxed);
        // Whoever looks past things finds at least as much, and nothing less.
        if let (Answer::Run(past), Answer::Run(exact)) = (&past, &ours) {
            let missed: Vec<_> = exact.difference(past).collect();
            prop_assert!(missed.is_empty(), "looking past misses {missed:?} after {history:?}");
        }
        prop_assert!(space.entries() == before, "upcheck touched the tree");
    }
    Ok(())
}

#[test]
fn random_builds_and_edits_get_ninjas_answer() {
    let versions: &[Ninja] =
        if std::env::var_os("UPCHECK_ALL_NINJAS").is_some() { Ninja::ALL } else { Ninja::USUAL };
    let asked_for = std::env::var("UPCHECK_CASES").ok();
    let cases = asked_for.as_ref().map_or(300, |text| text.parse().expect("UPCHECK_CASES is a number"));
    let is_long = asked_for.is_some();
    // Each version gets its share; each on a thread of its own, since most time goes into starting processes.
    std::thread::scope(|scope| {
        let share = u32::try_from(cases / versions.len()).unwrap_or(u32::MAX).max(1);
        let workers: Vec<_> = versions
            .iter()
            .map(|&version| {
                scope.spawn(move || {
                    let config = Config {
                        cases: share,
                        failure_persistence: None,
                        max_shrink_iters: 2_000,
                        ..Config::default()
                    };
                    let progress = Progress { version, share, n_tried: AtomicUsize::new(0), is_long };
                    let outcome = TestRunner::new(config).run(&world(), |world| {
                        progress.count();
                        check(&world, version)
                    });
                    (version, outcome)
                })
            })
            .collect();
        let results: Vec<_> = workers.into_iter().map(|worker| worker.join().expect("no panic")).collect();
        let mut differences = Vec::new();
        for (version, result) in results {
            match result {
                Ok(()) => println!(
                    "ninja {}: {share} random builds agree: {:?}",
                    version.number(),
                    *TALLY[version as usize]
                ),
                Err(TestError::Fail(reason, world)) => {
                    differences.push(format!("{reason}\nwith edits {:?}", world.edits));
                }
                Err(error) => differences.push(format!("ninja {}: {error}", version.number())),
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    });
}
