//! Graphs of a ninja build directory that lives on: manifests that are edited and broken, builds by a real ninja, checks
//! that fail and that are cancelled in between, with images and without. Every answer is that of Rust about the directory
//! as it is now; and where a check fails, numbers of files and targets are what they were.

use crate::choices::{Choices, cases};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};
use upcheck::FileId;
use upcheck::collect::os_disk;
use upcheck_capi::*;
use upcheck_ninja::{Build, Options};
use upcheck_tests::aloud::progress;
use upcheck_tests::answer::{Question, run_ninja};
use upcheck_tests::space::Space;
use upcheck_tests::through_c::{Answer, CGraph, CReport, call, text};
use upcheck_tests::tools::Ninja;

const RULES: &str = "rule cp\n  command = cat $in > $out\nrule cc\n  command = cat $in > $out && echo \"$out: h\" > $out.d\n  \
                     depfile = $out.d\n  deps = gcc\nrule keep\n  command = test -e $out || touch $out\n  restat = 1\n";
const MANIFESTS: [&str; 9] = [
    "build mid: cp a\nbuild out: cp mid\n",
    "build mid: cc a\nbuild out: cp mid b\n",
    "build first: keep b\nbuild mid: cc a | first\nbuild out: cp mid\n",
    "build out: cp mid\nbuild mid: cp b\nbuild all: phony out\ndefault all\n",
    "build other: cc b\n",
    "",
    "build mid: cp out\nbuild out: cp mid\n",
    "build mid: cp a\nbuild mid: cp b\n",
    "build mid cp a\n",
];

struct One {
    graph: CGraph,
    /// When it was loaded, as far as nobody has asked it since.
    loaded: Option<usize>,
    has_image: bool,
}

struct Machine<'a> {
    choices: Choices,
    space: Space,
    graphs: Vec<One>,
    reports: Vec<CReport>,
    /// How often something in the directory was changed.
    n_changes: usize,
    n_compared: &'a AtomicUsize,
    log: Vec<String>,
}

impl Machine<'_> {
    fn run(&mut self) {
        for path in ["a", "b", "h"] {
            self.space.write_at(path, "1", 1_600_000_000_000_000_000);
        }
        self.manifest(0);
        while !self.choices.is_used_up() && self.log.len() < 60 {
            match self.choices.below(12) {
                0 | 1 => {
                    let which = self.choices.below(MANIFESTS.len());
                    self.manifest(which);
                }
                2 => {
                    let path = self.choices.of(&["a", "b", "h", "mid", "out"]);
                    self.space.write(path, "2");
                    self.changed(format!("write {path}"));
                }
                3 => {
                    let path = self.choices.of(&["b", "mid", "out", "build.ninja"]);
                    self.space.remove(path);
                    self.changed(format!("remove {path}"));
                }
                4 => {
                    let (status, ..) = run_ninja(&self.space, Ninja::V1_13, &Question::default(), &[]);
                    self.changed(format!("ninja: {status:?}"));
                }
                5 | 6 => self.load(),
                7 => self.cancelled(),
                8 => self.explain(),
                _ => self.check(),
            }
        }
        self.load();
        self.check();
    }

    fn changed(&mut self, what: String) {
        self.n_changes += 1;
        self.log.push(what);
    }

    fn manifest(&mut self, which: usize) {
        self.space.write("build.ninja", format!("{RULES}{}", MANIFESTS[which]));
        self.changed(format!("manifest {which}"));
    }

    fn load(&mut self) {
        let base = self.space.path().as_os_str().as_encoded_bytes();
        let graph = CGraph::new(base).expect("a graph");
        let has_image = self.choices.one_in(2);
        let images = self.space.images().join("c").into_os_string().into_encoded_bytes();
        let options = upcheck_ninja_options {
            struct_size: size_of::<upcheck_ninja_options>(),
            manifest: upcheck_str { ptr: null(), len: 0 },
            version: 13,
            threads: 0,
            image_folder: text(if has_image { &images } else { b"" }),
        };
        let said = graph.load_ninja(&options).map_err(|failed| failed.message);
        let rust = Build::load(&os_disk(self.space.path()).expect("a disk"), &options_in_rust());
        assert_eq!(said, rust.map(|_| ()).map_err(|error| error.to_string()));
        self.log.push(format!("load, image: {has_image}: {said:?}"));
        if said.is_ok() {
            if self.graphs.len() == 3 {
                self.graphs.remove(0);
            }
            self.graphs.push(One { graph, loaded: Some(self.n_changes), has_image });
        }
    }

    fn some_graph(&mut self) -> Option<usize> {
        (!self.graphs.is_empty()).then(|| self.choices.below(self.graphs.len()))
    }

    fn check(&mut self) {
        let Some(at) = self.some_graph() else { return };
        let before = numbers(&self.graphs[at].graph);
        let n_files = before.0.len();
        let request = (n_files > 0 && self.choices.one_in(3)).then(|| self.choices.below(n_files));
        let path = request.map(|file| before.0[file].clone());
        let One { graph, loaded, has_image } = &mut self.graphs[at];
        // The first one is about what was loaded then.
        let is_now = loaded.take().is_none_or(|loaded| loaded == self.n_changes);
        let requests = request.map(|file| [u32::try_from(file).expect("few")]);
        let c = graph.answer(None, requests.as_ref().map(|files| &files[..]), 0);
        self.log.push(format!("check {at}, {path:?}, is now: {is_now}: {:?}", c.as_ref().map(|_| ())));
        if c.is_err() {
            assert_eq!(numbers(graph), before, "the numbers after a check that failed");
        }
        if is_now {
            let rust = in_rust(&self.space, path.as_deref());
            let c = c.map_err(|failed| failed.message);
            let c = match &rust {
                Ok(rust) => c.map(|c| c.compared_with(rust, *has_image)),
                Err(_) => c,
            };
            assert_eq!(c, rust);
            self.n_compared.fetch_add(1, Ordering::Relaxed);
        }
        if self.reports.len() > 3 {
            self.reports.remove(0);
        }
        if let Ok(report) = self.graphs[at].graph.check(None, None) {
            self.reports.push(report);
        }
    }

    fn cancelled(&mut self) {
        let Some(at) = self.some_graph() else { return };
        let one = &mut self.graphs[at];
        one.loaded = None;
        let before = numbers(&one.graph);
        let cancel = upcheck_cancel_new();
        // SAFETY: the handle is there, and zeros are a value of the options.
        let said = unsafe {
            upcheck_cancel_set(cancel);
            let mut options: upcheck_check_options = std::mem::zeroed();
            (options.struct_size, options.cancel) = (size_of::<upcheck_check_options>(), cancel);
            let said = one.graph.check(None, Some(&options));
            upcheck_cancel_free(cancel);
            said
        };
        assert_eq!(said.expect_err("cancelled").status, Status::Cancelled);
        assert_eq!(numbers(&one.graph), before, "the numbers after a check that was cancelled");
        self.log.push(format!("cancelled {at}"));
    }

    /// Reports that are about other numbers have no words.
    fn explain(&mut self) {
        let changed = [text(b"a"), text(b"nowhere")];
        if let Some(at) = self.some_graph() {
            let one = &mut self.graphs[at];
            let mut affected = null_mut();
            // SAFETY: the graph is there, and so are the texts.
            let said = call(|error| unsafe {
                upcheck_affected_by(one.graph.0, null(), changed.as_ptr(), 2, &raw mut affected, error)
            });
            assert!(said.is_err_and(|failed| failed.status != Status::Internal) || !affected.is_null());
            // SAFETY: NULL, or what was handed out.
            unsafe { upcheck_affected_free(affected) };
            one.loaded = None;
            self.log.push(format!("affected {at}"));
        }
        for report in &self.reports {
            for one in &self.graphs {
                for at in 0..8 {
                    let mut buffer = [0u8; 64];
                    // SAFETY: the handles are there, and so is the buffer.
                    unsafe {
                        let place = buffer.as_mut_ptr().cast();
                        upcheck_report_explain(report.0, one.graph.0, at, place, buffer.len());
                        upcheck_report_explain_cause(report.0, one.graph.0, at, place, buffer.len());
                    }
                }
            }
        }
    }
}

fn options_in_rust() -> Options {
    Options { version: Some(Ninja::V1_13.rules()), ..Options::default() }
}

/// The paths of all files and the names of all targets.
fn numbers(graph: &CGraph) -> (Vec<String>, Vec<String>) {
    // SAFETY: the graph is there.
    let (n_files, n_targets) = unsafe { (upcheck_graph_n_files(graph.0), upcheck_graph_n_targets(graph.0)) };
    let all = |n: usize| 0..u32::try_from(n).expect("few");
    (
        all(n_files).map(|file| graph.path(file)).collect(),
        all(n_targets).map(|target| graph.name(target)).collect(),
    )
}

fn in_rust(space: &Space, path: Option<&str>) -> Result<Answer, String> {
    let disk = os_disk(space.path()).expect("a disk");
    let ask = || -> Result<Answer, Box<dyn std::error::Error>> {
        let mut build = Build::load(&disk, &options_in_rust())?;
        let requests: Vec<FileId> = match path {
            None => build.default_requests()?,
            Some(path) => {
                let file = build.graph().files.lookup(path.as_bytes());
                vec![file.ok_or_else(|| format!("'{path}' is no longer in the manifest"))?]
            }
        };
        build.describe(&disk, &requests)?;
        let snapshot = build.collect(&disk);
        let decision = build.decide(&snapshot, &requests)?;
        let report = build.report(&decision);
        let mut verdicts = vec![None; build.graph().n_targets()];
        for &target in decision.judged() {
            verdicts[target.index()] = Some(decision.verdict(target));
        }
        Ok(Answer::of_rust(build.graph(), &report, &verdicts, &snapshot))
    };
    ask().map_err(|error| error.to_string())
}

#[test]
fn graphs_of_a_directory_that_lives_on_have_the_answers_of_rust() {
    let n_cases = cases(60);
    let config =
        Config { cases: n_cases, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    let numbers = proptest::collection::vec(proptest::num::u16::ANY, 10..150);
    let n_compared = AtomicUsize::new(0);
    let result = TestRunner::new(config).run(&numbers, |numbers| {
        let mut machine = Machine {
            choices: Choices::new(numbers),
            space: Space::new(),
            graphs: Vec::new(),
            reports: Vec::new(),
            n_changes: 0,
            n_compared: &n_compared,
            log: Vec::new(),
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| machine.run()));
        outcome.map_err(|panic| {
            let words = panic.downcast_ref::<String>().cloned();
            let words = words.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            TestCaseError::fail(format!("{}\n{}", machine.log.join("\n"), words.unwrap_or_default()))
        })
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let n_compared = n_compared.into_inner();
    progress(&format!("{n_cases} build directories, {n_compared} answers compared"));
    assert!(n_compared > 0);
}
