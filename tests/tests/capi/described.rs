//! The same graph, described through C in every way that there is, and through Rust: the answers are the same.

use crate::choices::{Choices, cases};
use crate::replay::{Target, add_many_through_c, joined, policy};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use upcheck::collect::os_disk;
use upcheck::project::Options;
use upcheck::records::Records;
use upcheck::{FileId, Project, TargetId};
use upcheck_capi::*;
use upcheck_tests::aloud::progress;
use upcheck_tests::space::Space;
use upcheck_tests::through_c::{Answer, CBuild, CGraph, CRecords, call};

const S: i64 = 1_000_000_000;
const OLD: i64 = 1_600_000_000 * S;

const PATHS: [&str; 16] = [
    "a",
    "b",
    "c.c",
    "g/x.c",
    "g/y.c",
    "g/z.h",
    "deep/er/h",
    "o1",
    "o2",
    "o3",
    "out/o4",
    "out/o5",
    "o6",
    "p1",
    "p2",
    "../q",
];

/// A project on a disk.
#[derive(Debug)]
struct World {
    targets: Vec<Target>,
    /// The same, as numbers of paths.
    numbers: Vec<[Vec<u32>; 5]>,
    policy: i32,
    /// Whether values and patterns occur, which can only be described one by one.
    one_by_one_only: bool,
}

impl World {
    fn new(choices: &mut Choices) -> Self {
        let mut targets = Vec::new();
        let mut numbers = Vec::new();
        let mut made = [false; PATHS.len()];
        let mut one_by_one_only = false;
        for number in 0..1 + choices.below(6) {
            let mut lists: [Vec<u32>; 5] = Default::default();
            for _ in 0..[1, 1, 2, 0][choices.below(4)] {
                let output = 7 + choices.below(8);
                if !std::mem::replace(&mut made[output], true) {
                    lists[0].push(u32::try_from(output).expect("few"));
                }
            }
            // Mostly of what comes before, so that cycles are rare.
            let first = lists[0].first().map_or(PATHS.len(), |&output| output as usize);
            let below = if choices.one_in(20) { PATHS.len() } else { first };
            for role in [1, 1, 2, 3, 4] {
                for _ in 0..choices.below(3) {
                    lists[role].push(u32::try_from(choices.below(below)).expect("few"));
                }
            }
            let paths = |list: &Vec<u32>| -> Vec<Vec<u8>> {
                list.iter().map(|&file| PATHS[file as usize].as_bytes().to_vec()).collect()
            };
            let mut target = Target {
                outputs: paths(&lists[0]),
                inputs: paths(&lists[1]),
                implicit: paths(&lists[2]),
                order_only: paths(&lists[3]),
                validations: paths(&lists[4]),
                command: choices.of(&[&b"make"[..], b"", b"cc -c x\0y"]).to_vec(),
                phony: choices.one_in(7),
                policy: choices.of(&[0, 0, 0, 1, 2, 3, 4, 5, 6]),
                ..Target::default()
            };
            if target.outputs.is_empty() {
                target.name = format!("check{number}").into_bytes();
            }
            if choices.one_in(5) {
                target.depfile = b"dep.d".to_vec();
                target.directory = choices.of(&[&b""[..], b"g"]).to_vec();
            }
            if choices.one_in(5) {
                target.globs.push(choices.of(&["g/*.c", "**/*.h", "*"]).to_owned());
                one_by_one_only = true;
            }
            if choices.one_in(5) {
                target.values.push((b"CC".to_vec(), choices.of(&[&b"gcc"[..], b"clang"]).to_vec()));
                one_by_one_only = true;
            }
            if target.phony {
                // It has nothing that only a command can have.
                let Target { outputs, inputs, implicit, order_only, validations, name, .. } = target;
                target =
                    Target { outputs, inputs, implicit, order_only, validations, name, ..Target::default() };
                target.phony = true;
            }
            targets.push(target);
            numbers.push(lists);
        }
        Self { targets, numbers, policy: choices.of(&[0, 0, 1, 2, 3, 4, 5, 6]), one_by_one_only }
    }

    fn project(&self, base: &[u8]) -> Project {
        let mut project = Project::new();
        project.set_base(base);
        for path in PATHS {
            project.file(path.as_bytes()).expect("a path");
        }
        for target in &self.targets {
            target.add(&mut project).expect("a target");
        }
        project.set_policy(policy(self.policy));
        project
    }

    /// All ways to describe it through C, each with its name. What is borrowed outlives the graphs.
    fn graphs(&self, base: &[u8], bytes: &[u8], ends: &[u64]) -> Vec<(String, CGraph)> {
        let mut all = Vec::new();
        for flags in [0, UPCHECK_DISTINCT, UPCHECK_BORROW] {
            for is_bulk in [false, true] {
                if is_bulk && self.one_by_one_only {
                    continue;
                }
                let graph = CGraph::new(base).expect("a graph");
                // SAFETY: the graph is there, and so are the arrays.
                call(|error| unsafe {
                    let (bytes, ends, n) = (bytes.as_ptr().cast(), ends.as_ptr(), ends.len());
                    upcheck_graph_add_paths(graph.0, bytes, ends, n, flags, null_mut(), null_mut(), error)
                })
                .expect("paths");
                // SAFETY: the graph is there.
                call(|error| unsafe { upcheck_graph_set_policy(graph.0, self.policy, error) })
                    .expect("a policy");
                let phony: Vec<u32> = self.targets.iter().map(|target| u32::from(target.phony)).collect();
                if is_bulk {
                    let (said, _) = add_many_through_c(&graph, &self.targets, &self.numbers, &phony);
                    said.expect("targets");
                } else {
                    for ((target, numbers), flags) in self.targets.iter().zip(&self.numbers).zip(phony) {
                        target.add_through_c(&graph, numbers, flags).0.expect("a target");
                    }
                }
                all.push((format!("flags {flags}, bulk: {is_bulk}"), graph));
            }
        }
        all
    }
}

fn run(choices: &mut Choices) -> usize {
    let space = Space::new();
    let base = space.path().join("base");
    std::fs::create_dir(&base).expect("a directory");
    let base = base.canonicalize().expect("a path");
    let base_bytes = base.as_os_str().as_encoded_bytes();
    for path in PATHS {
        if !choices.one_in(5) {
            space.write_at(
                &format!("base/{path}"),
                "1",
                OLD + i64::try_from(choices.below(4)).expect("few") * S,
            );
        }
    }
    space.write_at("base/dep.d", "x: b ../a g/z.h\n", OLD);
    let world = World::new(choices);
    let paths: Vec<Vec<u8>> = PATHS.iter().map(|path| path.as_bytes().to_vec()).collect();
    let (bytes, ends) = joined(&paths);
    let graphs = world.graphs(base_bytes, &bytes, &ends);
    let disk = os_disk(&base).expect("a disk");
    let mut n_stale = 0;

    let folder = base.join("store");
    let folder_bytes = folder.as_os_str().as_encoded_bytes();
    let mut records = null_mut();
    // SAFETY: a text and places.
    call(|error| unsafe {
        upcheck_records_open(folder_bytes.as_ptr().cast(), folder_bytes.len(), &raw mut records, error)
    })
    .expect("a store");
    let records = CRecords(records);

    for round in 0..3 {
        let request = u32::try_from(choices.below(PATHS.len())).expect("few");
        for (with_records, flags, requests) in [
            (false, 0, None),
            (true, 0, None),
            (true, UPCHECK_BY_TIMES, None),
            (true, 0, Some([request])),
            (false, 0, Some([request])),
        ] {
            let mut project = world.project(base_bytes);
            let store = with_records.then(|| Records::read(&folder).expect("a store")).flatten();
            let files = match &requests {
                None => project.default_requests(),
                Some(files) => files.iter().map(|&file| FileId::new(file as usize)).collect(),
            };
            let options = Options::default();
            let rust = match flags {
                0 => project.check(&disk, store.as_ref(), &files, options),
                _ => project.check_by_times(&disk, &files, options),
            };
            let rust = rust.map_err(|error| error.to_string()).map(|checked| {
                Answer::of_rust(project.graph(), &checked.report, checked.verdicts(), &checked.snapshot)
            });
            n_stale += rust.as_ref().map_or(0, |answer| answer.stale.len());
            for (way, graph) in &graphs {
                let c = graph.answer(
                    with_records.then_some(&records),
                    requests.as_ref().map(|files| &files[..]),
                    flags,
                );
                let c = c.map_err(|failed| failed.message);
                assert_eq!(
                    c, rust,
                    "round {round}, {way}, records: {with_records}, flags {flags}: {world:#?}"
                );
            }
        }
        if round == 2 {
            break;
        }
        // Some are built: through C, or through Rust.
        let (_, graph) = &graphs[choices.below(graphs.len())];
        let project_builds = choices.one_in(2);
        for (target, number) in world.targets.iter().zip(0u32..) {
            if target.phony || choices.one_in(4) {
                continue;
            }
            let is_committed = !choices.one_in(6);
            let make = || {
                for output in &target.outputs {
                    let path = std::str::from_utf8(output).expect("a path");
                    space.write(&format!("base/{path}"), "made");
                }
            };
            if project_builds {
                let mut store = Records::open(&folder).expect("a store");
                let mut project = world.project(base_bytes);
                let targets = [TargetId::new(number as usize)];
                let options = Options::default();
                let begun = project.begin(&disk, &mut store, &targets, options).expect("a build");
                make();
                if is_committed {
                    project.commit(&disk, &mut store, begun, options).expect("a success");
                }
            } else {
                let mut build = null_mut();
                // SAFETY: the handles are there.
                call(|error| unsafe {
                    upcheck_begin(graph.0, records.0, &raw const number, 1, &raw mut build, error)
                })
                .expect("a build");
                let build = CBuild(build);
                make();
                if is_committed {
                    // SAFETY: the handles are there.
                    call(|error| unsafe { upcheck_commit(graph.0, records.0, build.0, 0, error) })
                        .expect("a success");
                }
            }
        }
        // SAFETY: the records are there.
        call(|error| unsafe { upcheck_records_refresh(records.0, error) }).expect("they can be read");
        for _ in 0..choices.below(4) {
            let path = format!("base/{}", choices.of(&PATHS));
            match choices.below(3) {
                0 => space.write(&path, "edited"),
                1 => space.remove(&path),
                _ => space.set_mtime(&path, OLD + 9 * S),
            }
        }
    }
    n_stale
}

#[test]
fn all_ways_to_describe_a_graph_have_the_answers_of_rust() {
    let n_cases = cases(150);
    let config =
        Config { cases: n_cases, failure_persistence: None, max_shrink_iters: 1000, ..Config::default() };
    let numbers = proptest::collection::vec(proptest::num::u16::ANY, 10..250);
    let n_stale = std::sync::atomic::AtomicUsize::new(0);
    let result = TestRunner::new(config).run(&numbers, |numbers| {
        let mut choices = Choices::new(numbers);
        let outcome = catch_unwind(AssertUnwindSafe(|| run(&mut choices)));
        let n = outcome.map_err(|panic| {
            TestCaseError::fail(panic.downcast_ref::<String>().cloned().unwrap_or_default())
        })?;
        n_stale.fetch_add(n, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let n_stale = n_stale.into_inner();
    progress(&format!("{n_cases} graphs, {n_stale} stale targets"));
    assert!(n_stale > 0);
}
