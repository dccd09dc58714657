//! Random lives of a build directory: built by the real ninja, edited, its logs and depfiles tampered with, and asked
//! about after each step, always with the image that the steps before left.
//!
//! Other than in `random.rs`, what commands discover changes from build to build.

use crate::asking::{OLD, Times};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};
use std::cell::Cell;
use std::fmt::Write;
use std::fs;
use upcheck::collect::os_disk;
use upcheck_ninja::{Images, Saved};
use upcheck_tests::answer::{Later, Question, ask, compare, images, look_past, run_ninja};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

const N_TARGETS: usize = 5;
const N_HEADERS: usize = 5;

/// What discovers a target's headers.
#[derive(Clone, Copy, Debug)]
enum Kind {
    DepsLog,
    Depfile,
    Dyndep,
}

#[derive(Clone, Debug)]
enum Step {
    /// The target's next run discovers these headers; the bit says whether it is made to run.
    Discover(usize, u8, bool),
    Touch(usize),
    /// To the time of another file.
    TouchAs(usize, usize),
    Remove(usize),
    /// Builds all, or one target and what it needs.
    Build(Option<usize>),
    /// Keeps both logs aside.
    KeepLogs,
    /// Writes the kept logs over the ones that are there, or puts copies in their place.
    RestoreLogs(bool),
    Recompact,
    Restat,
    /// The beginning of a record at the end of a log, or something that is none.
    Append(bool, usize),
    /// The last so many bytes are gone.
    Cut(bool, usize),
    RemoveLog(bool),
    /// The depfile is gone, broken, or about other headers; put in place of the old one, or written over it.
    Depfile(usize, u8, bool),
    Dyndep(u8),
    Manifest(u8),
    Include(u8),
    /// Asks about one target alone.
    Ask(usize),
    AskExactly,
}

fn step() -> impl Strategy<Value = Step> {
    let target = || 0..N_TARGETS;
    let file = || 0..1usize << 10;
    prop_oneof![
        5 => (target(), any::<u8>(), prop::bool::weighted(0.8)).prop_map(|(t, h, runs)| Step::Discover(t, h, runs)),
        5 => file().prop_map(Step::Touch),
        1 => (file(), file()).prop_map(|(a, b)| Step::TouchAs(a, b)),
        2 => file().prop_map(Step::Remove),
        8 => prop_oneof![4 => Just(None), 1 => target().prop_map(Some)].prop_map(Step::Build),
        1 => Just(Step::KeepLogs),
        2 => any::<bool>().prop_map(Step::RestoreLogs),
        1 => Just(Step::Recompact),
        1 => Just(Step::Restat),
        1 => (any::<bool>(), 0..60usize).prop_map(|(which, n)| Step::Append(which, n)),
        1 => (any::<bool>(), 0..90usize).prop_map(|(which, n)| Step::Cut(which, n)),
        1 => any::<bool>().prop_map(Step::RemoveLog),
        4 => (target(), any::<u8>(), any::<bool>()).prop_map(|(t, h, fresh)| Step::Depfile(t, h, fresh)),
        2 => any::<u8>().prop_map(Step::Dyndep),
        1 => (0..3u8).prop_map(Step::Manifest),
        1 => (0..3u8).prop_map(Step::Include),
        1 => target().prop_map(Step::Ask),
        1 => Just(Step::AskExactly),
    ]
}

#[derive(Clone, Debug)]
struct Life {
    kinds: Vec<Kind>,
    version: Ninja,
    steps: Vec<Step>,
    builddir: bool,
}

fn life() -> impl Strategy<Value = Life> {
    let kind = prop_oneof![3 => Just(Kind::DepsLog), 3 => Just(Kind::Depfile), 1 => Just(Kind::Dyndep)];
    (
        prop::collection::vec(kind, N_TARGETS),
        prop_oneof![Just(Ninja::V1_11), Just(Ninja::V1_13)],
        prop::collection::vec(step(), 2..14),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(kinds, version, steps, builddir)| Life { kinds, version, steps, builddir })
}

/// A life so far.
struct Living<'a> {
    life: &'a Life,
    space: Space,
    manifest: u8,
    include: u8,
    /// Grows with each file that is written, so that no two contents are of the same size.
    writes: usize,
}

impl Living<'_> {
    fn new(life: &Life) -> Living<'_> {
        let mut living = Living { life, space: Space::new(), manifest: 0, include: 0, writes: 0 };
        for header in 0..N_HEADERS {
            living.space.write_at(&format!("h{header}"), "", OLD);
        }
        for target in 0..N_TARGETS {
            living.discover(target, 1 << (target % N_HEADERS));
            living.space.write_at(&format!("in{target}"), "", OLD);
        }
        living.space.write_at("gen.in", "", OLD);
        living.write_manifests();
        living.dyndep(1);
        living
    }

    /// Sources first, then what is made.
    fn files(&self) -> Vec<String> {
        let mut files: Vec<_> = (0..N_HEADERS).map(|n| format!("h{n}")).collect();
        files.extend((0..N_TARGETS).map(|n| format!("in{n}")));
        files.push("gen.in".into());
        files.extend((0..N_TARGETS).map(|n| format!("out/t{n}")));
        files.extend(["g0", "g1", "dd", "x"].map(String::from));
        files
    }

    /// Something that makes the content another size than all before.
    fn padding(&mut self) -> String {
        self.writes += 1;
        " ".repeat(self.writes)
    }

    /// Headers by bits; the last ones are generated.
    fn headers(bits: u8) -> String {
        let name = |bit: usize| match bit {
            6 => "g0".into(),
            7 => "g1".into(),
            5 => "new/h".into(),
            bit => format!("h{bit}"),
        };
        (0..8).filter(|bit| bits & (1 << bit) != 0).map(name).collect::<Vec<String>>().join(" ")
    }

    fn discover(&mut self, target: usize, headers: u8) {
        let text = format!("out/t{target}: {}{}\n", Self::headers(headers), self.padding());
        self.space.write(&format!("list{target}"), text);
        if headers & 1 << 5 != 0 && self.space.mtime("new/h").is_none() {
            self.space.write_at("new/h", "", OLD);
        }
    }

    fn write_manifests(&mut self) {
        let mut text = format!("#{}\n", self.padding());
        if self.life.builddir {
            text.push_str("builddir = logs\n");
        }
        let _ = writeln!(text, "flags = {}\ninclude rules.ninja", self.manifest);
        text.push_str("build g0: gen gen.in\nbuild g1: gen gen.in\n");
        for (target, kind) in self.life.kinds.iter().enumerate() {
            let rule = match kind {
                Kind::DepsLog => "logged",
                Kind::Depfile => "listed",
                Kind::Dyndep => "plain",
            };
            let _ = write!(text, "build out/t{target}: {rule} in{target}");
            match kind {
                Kind::Dyndep => text.push_str(" || dd\n  dyndep = dd\n"),
                _ => {
                    let _ = writeln!(text, "\n  list = list{target}");
                }
            }
        }
        self.space.write("build.ninja", text);
        let cp = "cp $list $out.d && cat $in > $out && true $flags";
        let rules = format!(
            "#{}\nrule logged\n  command = {cp} {}\n  depfile = $out.d\n  deps = gcc\n\
             rule listed\n  command = {cp}\n  depfile = $out.d\n\
             rule plain\n  command = cat $in > $out && touch x\n\
             rule gen\n  command = echo $out: $in > $out.d && cat $in > $out\n  depfile = $out.d\n",
            self.padding(),
            self.include,
        );
        self.space.write("rules.ninja", rules);
    }

    fn dyndep(&mut self, headers: u8) {
        let mut text = format!("ninja_dyndep_version = 1\n#{}\n", self.padding());
        if headers.is_multiple_of(16) {
            text.push_str("broken\n");
        }
        let mut x = if headers & 1 != 0 { " | x" } else { "" };
        for (target, kind) in self.life.kinds.iter().enumerate() {
            if matches!(kind, Kind::Dyndep) {
                let _ = writeln!(text, "build out/t{target}{x}: dyndep | {}", Self::headers(headers & 0xdf));
                x = "";
            }
        }
        self.space.write("dd", text);
    }

    fn log(&self, is_deps: bool) -> String {
        let name = if is_deps { ".ninja_deps" } else { ".ninja_log" };
        if self.life.builddir { format!("logs/{name}") } else { name.into() }
    }

    fn depfile(&mut self, target: usize, how: u8, in_place: bool) {
        let path = format!("out/t{target}.d");
        let text = match how % 8 {
            0 => {
                self.space.remove(&path);
                return;
            }
            1 => format!("no colon{}", self.padding()),
            2 => format!("other: h0{}\n", self.padding()),
            3 => String::new(),
            _ => format!("out/t{target}: {}{}\n", Self::headers(how), self.padding()),
        };
        if in_place {
            self.space.write(&path, text);
        } else {
            self.space.write("depfile.new", text);
            let _ = fs::create_dir_all(self.space.path().join("out"));
            fs::rename(self.space.path().join("depfile.new"), self.space.path().join(path)).expect("renamed");
        }
    }

    fn run(&self, targets: &[&str], options: &[&str]) {
        let _ = run_ninja(&self.space, self.life.version, &Question::about(targets), options);
    }

    fn take(&mut self, step: &Step) {
        let files = self.files();
        match *step {
            Step::Discover(target, headers, runs) => {
                self.discover(target, headers);
                if runs {
                    self.space.write(&format!("in{target}"), "");
                }
            }
            Step::Touch(file) => {
                let path = &files[file % files.len()];
                let mut content = self.space.read(path);
                if !path.starts_with("dd") {
                    content.push(b' ');
                }
                self.space.write(path, content);
            }
            Step::TouchAs(file, other) => {
                if let Some(mtime) = self.space.mtime(&files[other % files.len()]) {
                    self.space.set_mtime(&files[file % files.len()], mtime);
                }
            }
            Step::Remove(file) => self.space.remove(&files[file % files.len()]),
            Step::Build(None) => self.run(&[], &[]),
            Step::Build(Some(target)) => self.run(&[&format!("out/t{target}")], &[]),
            Step::KeepLogs => {
                for is_deps in [false, true] {
                    let log = self.log(is_deps);
                    self.space.write(&format!("kept/{is_deps}"), self.space.read(&log));
                }
            }
            Step::RestoreLogs(in_place) => {
                for is_deps in [false, true] {
                    let log = self.log(is_deps);
                    if !in_place {
                        self.space.remove(&log);
                    }
                    self.space.write(&log, self.space.read(&format!("kept/{is_deps}")));
                }
            }
            Step::Recompact => self.run(&[], &["-t", "recompact"]),
            Step::Restat => self.run(&[], &["-t", "restat"]),
            Step::Append(is_deps, n) => {
                let mut log = self.space.read(&self.log(is_deps));
                if is_deps && self.life.version != Ninja::V1_13 {
                    log.truncate(whole_deps(&log));
                }
                log.extend((0..n).map(|at| b"3\t4\t5\tout/t1"[at % 12]));
                self.space.write(&self.log(is_deps), log);
            }
            Step::Cut(is_deps, n) => {
                let mut log = self.space.read(&self.log(is_deps));
                log.truncate(log.len().saturating_sub(n));
                self.space.write(&self.log(is_deps), log);
            }
            Step::RemoveLog(is_deps) => self.space.remove(&self.log(is_deps)),
            Step::Depfile(target, how, in_place) => self.depfile(target, how, in_place),
            Step::Dyndep(headers) => self.dyndep(headers),
            Step::Manifest(flags) => {
                self.manifest = flags;
                self.write_manifests();
            }
            Step::Include(flags) => {
                self.include = flags;
                self.write_manifests();
            }
            Step::Ask(target) => {
                let _ =
                    look_past(&self.space, self.life.version, &Question::about(&[&format!("out/t{target}")]));
            }
            Step::AskExactly => compare(&self.space, self.life.version, &Question::default()),
        }
    }

    /// Asks with and without images, asks ninja, and asks again: the last time there is nothing to be written.
    fn check(&self) {
        let (space, version) = (&self.space, self.life.version);
        let question = Question::default();
        let _ = look_past(space, version, &question);
        compare(space, version, &question);
        let disk = Later(os_disk(space.path()).expect("a directory"));
        if let Ok(again) = ask(&disk, version, &question, false, Some(&images(space))) {
            assert!(again.saved == Saved::Nothing, "written again: {:?}", again.saved);
            assert!(again.is_at_once || !again.details.is_fresh(), "fresh, but not at once");
        }
        self.check_coarsely();
    }

    /// The same on a file system that knows even seconds only, right now, with an image of its own.
    fn check_coarsely(&self) {
        let (space, version) = (&self.space, self.life.version);
        let disk = os_disk(space.path()).expect("a directory");
        let disk = Times { disk, tick: 2_000_000_000, has_ctime: false, frozen: (&[], 0), now: None };
        let images = Images::new(space.images(), b"another name for it".to_vec());
        let answer = |images| {
            let asked = ask(&disk, version, &Question::default(), false, images);
            asked.map(|asked| asked.details).map_err(|error| error.to_string())
        };
        let without = answer(None);
        assert_eq!(answer(Some(&images)), without, "with stamps of even seconds");
        assert_eq!(answer(Some(&images)), without, "with stamps of even seconds, again");
    }
}

/// The length of the records in a deps log that are there to their last byte. Ninjas before 1.13 do not check the numbers
/// in a record: one whose end is something else makes them read memory that is not theirs, and they die or not.
fn whole_deps(log: &[u8]) -> usize {
    let mut end = log.len().min(16);
    while let Some(size) = log.get(end..end + 4) {
        let size = u32::from_le_bytes(size.try_into().expect("four bytes")) & !(1 << 31);
        match end.checked_add(4 + size as usize) {
            Some(next) if next <= log.len() => end = next,
            _ => break,
        }
    }
    end
}

#[test]
fn no_life_of_a_build_directory_makes_an_image_lie() {
    let cases = match std::env::var("UPCHECK_CASES") {
        Ok(text) => text.parse().expect("UPCHECK_CASES is a number"),
        Err(_) => 150,
    };
    let n_steps = Cell::new(0usize);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    let result = TestRunner::new(config).run(&life(), |life| {
        let mut living = Living::new(&life);
        living.check();
        for step in &life.steps {
            living.take(step);
            living.check();
            n_steps.set(n_steps.get() + 1);
        }
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(why, life)) => panic!("{why}\n{life:#?}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
    assert!(n_steps.get() > cases as usize, "{} steps", n_steps.get());
}
