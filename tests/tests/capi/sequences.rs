//! Random sequences of calls, good and bad ones, over a few handles in a folder whose files change meanwhile. No call
//! crashes or panics, a call that fails has written nothing, and every answer is the one that Rust gives about a new
//! project which is described by the same calls.

use crate::choices::{Choices, cases};
use crate::replay::{Call, Target, add_many_through_c, joined};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic;
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use upcheck::collect::os_disk;
use upcheck::project::Options;
use upcheck::records::Records;
use upcheck::{FileId, Project, TargetId};
use upcheck_capi::*;
use upcheck_tests::aloud::progress;
use upcheck_tests::space::Space;
use upcheck_tests::through_c::{Answer, CBuild, CGraph, CRecords, CReport, Failed, array, call, text};

thread_local! {
    static N_PANICS: Cell<usize> = const { Cell::new(0) };
}

/// Has panics of this thread counted, also those that stop at the border.
fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            N_PANICS.set(N_PANICS.get() + 1);
            before(info);
        }));
    });
}

const S: i64 = 1_000_000_000;
const OLD: i64 = 1_600_000_000 * S;

/// Paths that are as they should be.
const PATHS: [&[u8]; 14] = [
    b"a", b"b", b"c.c", b"d.c", b"h", b"g/x.c", b"g/y.c", b"o1", b"o2", b"o3", b"d/o4", b"p", b"g", b"q\xff",
];
/// And other ones.
const ODD_PATHS: [&[u8]; 12] =
    [b"./a", b"g/../b", b"a//b", b"/nowhere/x", b"", b"n\0l", b".", b"..", b"/", b"a/", b"../a", b"o1/under"];

struct OneGraph {
    graph: CGraph,
    calls: Vec<Call>,
    /// Whether paths are not what they were said to be: then every question is refused.
    is_tainted: bool,
    /// Memory that it borrows.
    _borrowed: Vec<(Vec<u8>, Vec<u64>)>,
}

struct OneReport {
    report: CReport,
    /// What its arrays said when it was new, which they say for ever.
    verdicts: Vec<u8>,
}

#[derive(Default)]
struct Counts {
    calls: AtomicU64,
    refused: AtomicU64,
    checks: AtomicU64,
    commits: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

struct Machine<'a> {
    choices: Choices,
    space: Space,
    base: PathBuf,
    // Graphs are given back before the memory that they borrow.
    reports: Vec<OneReport>,
    graphs: Vec<OneGraph>,
    records: Vec<(CRecords, String)>,
    /// Each with the handles that it began with, which may be gone.
    builds: Vec<(CBuild, *mut upcheck_graph, *mut upcheck_records)>,
    counts: &'a Counts,
    log: Vec<String>,
    clock: i64,
}

impl<'a> Machine<'a> {
    fn new(numbers: Vec<u16>, counts: &'a Counts) -> Self {
        let space = Space::new();
        let base = upcheck::os_path::canonicalize(space.path()).expect("a path");
        let mut machine = Self {
            choices: Choices::new(numbers),
            space,
            base,
            reports: Vec::new(),
            graphs: Vec::new(),
            records: Vec::new(),
            builds: Vec::new(),
            counts,
            log: Vec::new(),
            clock: OLD,
        };
        for path in ["a", "c.c", "g/x.c"] {
            machine.space.write_at(path, "1", OLD);
        }
        machine.new_graph();
        if machine.choices.below(4) != 0 {
            machine.start();
        }
        machine
    }

    /// Something to build, and a store.
    fn start(&mut self) {
        let json = r#"{"version": 1, "targets": [
            {"outputs": ["o1"], "inputs": ["a", "h"], "command": "one"},
            {"outputs": ["o2"], "inputs": ["o1", "c.c"], "command": "two", "globs": ["g/*.c"]},
            {"outputs": ["o3"], "order_only": ["o2"], "inputs": ["b"], "command": "three", "vars": {"X": "1"}},
            {"name": "check", "inputs": ["o2", "o3"], "command": "test"}]}"#;
        self.add_json(0, json);
        let folder = self.base.join("s0").into_os_string().into_encoded_bytes();
        let mut records = null_mut();
        // SAFETY: a text and places.
        let said = call(|error| unsafe {
            upcheck_records_open(folder.as_ptr().cast(), folder.len(), &raw mut records, error)
        });
        self.said("open s0".to_owned(), &said);
        self.records.push((CRecords(records), "s0".to_owned()));
        for path in ["b", "h"] {
            self.space.write_at(path, "1", OLD);
        }
    }

    fn run(&mut self) {
        while !self.choices.is_used_up() {
            self.step();
            assert_eq!(N_PANICS.get(), 0, "something panicked");
            assert!(self.log.len() < 1000, "a sequence without end");
        }
        self.check();
    }

    /// What became of a call: what it says is noted, and nothing but what is wrong with its input.
    fn said(&mut self, what: String, said: &Result<(), Failed>) {
        count(&self.counts.calls);
        if let Err(failed) = said {
            count(&self.counts.refused);
            assert_ne!(failed.status, Status::Internal, "{what}: {}", failed.message);
            assert_ne!(failed.status, Status::Ok);
        }
        self.log.push(format!("{what} -> {said:?}"));
    }

    fn step(&mut self) {
        match self.choices.below(24) {
            0..=2 => self.edit(),
            3 | 4 => self.add_paths(),
            5 => self.add_path(),
            6..=8 => self.add_target(),
            9 => self.add_targets(),
            10 => self.settings(),
            11 => self.json(),
            12..=14 => self.check(),
            15 => self.open(),
            16 | 17 => self.begin(),
            18 | 19 => self.commit(),
            20 => self.on_records(),
            21 => self.look(),
            22 => self.affected(),
            _ => self.other(),
        }
    }

    fn new_graph(&mut self) {
        let base = self.base.clone().into_os_string().into_encoded_bytes();
        let graph = CGraph::new(&base).expect("a graph");
        self.log.push(format!("graph {}", self.graphs.len()));
        self.graphs.push(OneGraph { graph, calls: Vec::new(), is_tainted: false, _borrowed: Vec::new() });
    }

    fn path(&mut self) -> Vec<u8> {
        if self.choices.one_in(8) {
            if self.choices.one_in(6) {
                return self.base.join("a").into_os_string().into_encoded_bytes();
            }
            return self.choices.of(&ODD_PATHS).to_vec();
        }
        self.choices.of(&PATHS).to_vec()
    }

    fn graph(&mut self) -> usize {
        self.choices.below(self.graphs.len())
    }

    fn n_files(&self, at: usize) -> usize {
        // SAFETY: the graph is there.
        unsafe { upcheck_graph_n_files(self.graphs[at].graph.0) }
    }

    fn n_targets(&self, at: usize) -> usize {
        // SAFETY: the graph is there.
        unsafe { upcheck_graph_n_targets(self.graphs[at].graph.0) }
    }

    /// A number out of so many, or one that is none.
    fn number(&mut self, n: usize) -> u32 {
        if n == 0 || self.choices.one_in(30) {
            return self.choices.of(&[u32::try_from(n).expect("few"), UPCHECK_NONE, u32::MAX - 1]);
        }
        u32::try_from(self.choices.below(n)).expect("few")
    }

    fn bytes_of(&self, at: usize, file: u32) -> Vec<u8> {
        // SAFETY: the graph is there, and is not changed while its text is read.
        unsafe {
            let path = upcheck_graph_path(self.graphs[at].graph.0, file);
            std::slice::from_raw_parts(path.ptr.cast::<u8>(), path.len).to_vec()
        }
    }

    fn edit(&mut self) {
        let path = self
            .choices
            .of(&["a", "b", "c.c", "d.c", "h", "g/x.c", "g/y.c", "o1", "o2", "o3", "d/o4", "dep.d"]);
        self.clock += S;
        // Somebody has made a store of that name.
        if self.space.path().join(path).is_dir() {
            return;
        }
        let what = self.choices.below(5);
        match what {
            0 => self.space.write_at(path, format!("{}", self.choices.below(3)), self.clock),
            1 => self.space.write_at(path, "1", OLD),
            2 => self.space.remove(path),
            3 => self.space.write(path, "2"),
            _ => self.space.write_at("dep.d", "o1: h g/x.c \\\n  ../gone\n", self.clock),
        }
        self.log.push(format!("edit {what} {path}"));
    }

    fn add_path(&mut self) {
        let (at, path) = (self.graph(), self.path());
        let mut file = 4711;
        let graph = self.graphs[at].graph.0;
        // SAFETY: the graph is there, and so is the text.
        let said = call(|error| unsafe {
            upcheck_graph_add_path(graph, path.as_ptr().cast(), path.len(), &raw mut file, error)
        });
        assert_eq!(said.is_err(), file == 4711);
        self.described(at, Some(Call::Files(vec![path])), said);
    }

    fn add_paths(&mut self) {
        let at = self.graph();
        let n = self.choices.below(5);
        let paths: Vec<Vec<u8>> = (0..n).map(|_| self.path()).collect();
        let flags = self.choices.of(&[0, UPCHECK_DISTINCT, UPCHECK_BORROW, 0, 0, 2, 4, u32::MAX]);
        let (bytes, mut ends) = joined(&paths);
        let before: BTreeSet<Vec<u8>> =
            (0..self.n_files(at)).map(|file| self.bytes_of(at, u32::try_from(file).expect("few"))).collect();
        let is_wrong = n > 1 && self.choices.one_in(10);
        if is_wrong {
            ends[0] = *ends.last().expect("some") + 1;
        }
        let (mut first, mut files) = (4711, vec![4711; n]);
        let graph = self.graphs[at].graph.0;
        // SAFETY: the graph is there, and so are the arrays, which are kept as long as it is.
        let said = call(|error| unsafe {
            let (bytes, ends) = (bytes.as_ptr().cast(), ends.as_ptr());
            upcheck_graph_add_paths(graph, bytes, ends, n, flags, &raw mut first, files.as_mut_ptr(), error)
        });
        match &said {
            Err(_) => assert!(first == 4711 && files.iter().all(|file| *file == 4711)),
            Ok(()) => assert_eq!(first, files.first().copied().unwrap_or(UPCHECK_NONE)),
        }
        let is_known = !is_wrong && [0, UPCHECK_DISTINCT, UPCHECK_BORROW].contains(&flags);
        let mut replayed = None;
        if flags == 0 && is_known {
            replayed = Some(Call::Files(paths));
        } else if said.is_ok() {
            assert!(is_known, "flags {flags}");
            assert!(flags == UPCHECK_DISTINCT || before.is_empty() || n == 0);
            let base = [self.base.as_os_str().as_encoded_bytes(), b"/"].concat();
            let mut known = before;
            for path in &paths {
                let is_fine = !path.is_empty()
                    && !path.contains(&0)
                    && upcheck::path::is_canonical(path)
                    && !path.starts_with(&base)
                    && known.insert(path.clone());
                self.graphs[at].is_tainted |= !is_fine;
            }
            replayed = Some(Call::Distinct(paths));
            self.graphs[at]._borrowed.push((bytes, ends));
        }
        self.described(at, replayed, said);
    }

    /// Notes a call that describes, and makes sure that Rust says the same about it.
    fn described(&mut self, at: usize, replayed: Option<Call>, said: Result<(), Failed>) {
        self.said(format!("graph {at}: {replayed:?}"), &said);
        let one = &mut self.graphs[at];
        match replayed {
            None => assert!(said.is_err(), "that is none"),
            Some(replayed) => {
                one.calls.push(replayed);
                if !one.is_tainted {
                    let (_, last) = rebuilt(&self.base, &one.calls);
                    assert_eq!(last, said.map_err(|failed| failed.message));
                }
            }
        }
    }

    /// A target, the numbers of its files, its flags, and whether all are what they should be.
    fn target(&mut self, at: usize, is_bulk: bool) -> (Target, [Vec<u32>; 5], u32, bool) {
        let n_files = self.n_files(at);
        let most = [2, 3, 2, 2, 1];
        let numbers: [Vec<u32>; 5] = std::array::from_fn(|role| {
            let n = if role == 0 && !self.choices.one_in(6) { 1 } else { self.choices.below(most[role] + 1) };
            (0..n).map(|_| self.number(n_files)).collect()
        });
        let mut is_fine = numbers.iter().flatten().all(|&file| (file as usize) < n_files);
        let mut lists = numbers.iter().map(|list| list.iter().map(|&file| self.bytes_of(at, file)).collect());
        let mut next = || lists.next().expect("five");
        let mut target = Target {
            outputs: next(),
            inputs: next(),
            implicit: next(),
            order_only: next(),
            validations: next(),
            ..Target::default()
        };
        target.command = self.choices.of(&[&b"make"[..], b"", b"cc -c", b"with\0nul"]).to_vec();
        if self.choices.one_in(6) {
            target.depfile =
                self.choices.of(&[&b"dep.d"[..], b"g/../dep.d", b"nowhere.d", b"g", b"a\0b"]).to_vec();
            target.directory = self.choices.of(&[&b""[..], b"g", b".", b"x\0"]).to_vec();
            is_fine &= !target.depfile.contains(&0) && !target.directory.contains(&0);
        }
        if target.outputs.is_empty() || self.choices.one_in(10) {
            target.name = self.choices.of(&[&b"check"[..], b"", b"test", b"a\0b", b"./x"]).to_vec();
        }
        let mut flags = self.choices.of(&[0, 0, 0, 0, 0, UPCHECK_PHONY, UPCHECK_PHONY, 2]);
        if is_bulk && self.choices.one_in(2) {
            flags = 0;
        }
        target.phony = flags & UPCHECK_PHONY != 0;
        target.policy = self.choices.of(&[0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, -1]);
        is_fine &= flags <= UPCHECK_PHONY && (0..=6).contains(&target.policy);
        if !is_bulk {
            if self.choices.one_in(5) {
                let glob = self.choices.of(&["g/*.c", "*.c", "**/*.c", "[", "", "/x/*", "o*"]);
                target.globs.push(glob.to_owned());
            }
            if self.choices.one_in(5) {
                let name = self.choices.of(&[&b"CC"[..], b"", b"\0depfile", b"\0number"]).to_vec();
                is_fine &= !name.contains(&0);
                target.values.push((name, self.choices.of(&[&b"1"[..], b"2\0"]).to_vec()));
            }
        }
        (target, numbers, flags, is_fine)
    }

    fn add_target(&mut self) {
        let at = self.graph();
        let (target, numbers, flags, is_fine) = self.target(at, false);
        let n_targets = self.n_targets(at);
        let (said, number) = target.add_through_c(&self.graphs[at].graph, &numbers, flags);
        let expected = if said.is_ok() { n_targets } else { 4711 };
        assert_eq!(number as usize, expected);
        self.described(at, is_fine.then(|| Call::Targets(vec![target])), said);
    }

    fn add_targets(&mut self) {
        let at = self.graph();
        let n = self.choices.below(4);
        let (mut targets, mut numbers, mut all_flags, mut all_fine) = (vec![], vec![], vec![], true);
        for _ in 0..n {
            let (target, its_numbers, flags, is_fine) = self.target(at, true);
            targets.push(target);
            numbers.push(its_numbers);
            all_flags.push(flags);
            all_fine &= is_fine;
        }
        let n_targets = self.n_targets(at);
        let (said, first) = add_many_through_c(&self.graphs[at].graph, &targets, &numbers, &all_flags);
        match &said {
            Err(_) => assert_eq!(first, 4711),
            Ok(()) if n == 0 => assert_eq!(first, UPCHECK_NONE),
            Ok(()) => assert_eq!(first as usize, n_targets),
        }
        if !all_fine {
            assert_eq!(self.n_targets(at), n_targets, "nothing is added");
        }
        self.described(at, all_fine.then_some(Call::Targets(targets)), said);
    }

    fn settings(&mut self) {
        let at = self.graph();
        let graph = self.graphs[at].graph.0;
        if self.choices.one_in(2) {
            let policy = self.choices.of(&[0, 1, 2, 3, 4, 5, 6, 7, i32::MIN]);
            // SAFETY: the graph is there.
            let said = call(|error| unsafe { upcheck_graph_set_policy(graph, policy, error) });
            self.described(at, (0..=6).contains(&policy).then_some(Call::Policy(policy)), said);
        } else {
            let n = self.choices.below(3);
            let pair = |choices: &mut Choices| {
                let name = choices.of(&[&b"CC"[..], b"X", b"", b"\0number"]).to_vec();
                (name, choices.of(&[&b"1"[..], b"2"]).to_vec())
            };
            let values: Vec<_> = (0..n).map(|_| pair(&mut self.choices)).collect();
            let texts: Vec<_> = values.iter().flat_map(|(name, value)| [text(name), text(value)]).collect();
            // SAFETY: the graph is there, and so are the texts.
            let said = call(|error| unsafe { upcheck_graph_set_values(graph, texts.as_ptr(), n, error) });
            let is_fine = values.iter().all(|(name, _)| !name.contains(&0));
            self.described(at, is_fine.then_some(Call::Values(values)), said);
        }
    }

    fn json(&mut self) {
        let at = self.graph();
        let json = self.choices.of(&[
            r#"{"version": 1, "targets": [{"outputs": ["j"], "inputs": ["a", "./h"], "command": "x"}]}"#,
            r#"{"version": 1, "targets": [{"outputs": ["o2"], "inputs": ["j"], "globs": ["g/*.c"]}], "policy": "digest"}"#,
            r#"{"version": 1, "targets": [{"name": "k", "inputs": ["o2"]}, {"outputs": ["o1"]}, {"outputs": [""]}]}"#,
            r#"{"version": 1, "targets": [{"outputs": ["l"]}"#,
            "",
            r#"{"version": 1, "targets": [{"outputs": ["m"], "phony": true, "inputs": ["o1"]}], "defaults": ["m"]}"#,
        ]);
        self.add_json(at, json);
    }

    fn add_json(&mut self, at: usize, json: &str) {
        let graph = self.graphs[at].graph.0;
        // SAFETY: the graph is there, and so are the texts.
        let said = call(|error| unsafe {
            upcheck_graph_load_json_text(graph, json.as_ptr().cast(), json.len(), c"j".as_ptr(), 1, error)
        });
        self.described(at, Some(Call::Json(json.as_bytes().to_vec())), said);
    }

    fn open(&mut self) {
        let name = self.choices.of(&["s0", "s1", "a"]);
        let is_read = self.choices.one_in(3);
        let folder = self.base.join(name).into_os_string().into_encoded_bytes();
        let mut records = null_mut::<u64>().wrapping_add(7).cast();
        let untouched = records;
        // SAFETY: a text and places.
        let said = call(|error| unsafe {
            let open = if is_read { upcheck_records_read } else { upcheck_records_open };
            open(folder.as_ptr().cast(), folder.len(), &raw mut records, error)
        });
        self.said(format!("open {name}, to read: {is_read}"), &said);
        match said {
            Err(_) => assert_eq!(records, untouched),
            Ok(()) if records.is_null() => assert!(is_read && !self.base.join(name).exists()),
            Ok(()) if self.records.len() < 4 => self.records.push((CRecords(records), name.to_owned())),
            Ok(()) => drop(CRecords(records)),
        }
    }

    fn some_records(&mut self) -> Option<usize> {
        let n = self.records.len();
        (n > 0 && !self.choices.one_in(4)).then(|| self.choices.below(n))
    }

    fn refresh(&mut self, at: usize) {
        let records = self.records[at].0.0;
        // SAFETY: the records are there.
        let said = call(|error| unsafe { upcheck_records_refresh(records, error) });
        self.said(format!("refresh {at}"), &said);
        said.expect("they can be read");
    }

    fn check(&mut self) {
        let at = self.graph();
        let n_files = self.n_files(at);
        let records = self.some_records();
        if let Some(records) = records {
            self.refresh(records);
        }
        let requests: Option<Vec<u32>> = self.choices.one_in(3).then(|| {
            let n = self.choices.below(3);
            (0..n).map(|_| self.number(n_files)).collect()
        });
        let flags = self.choices.of(&[0, 0, 0, UPCHECK_BY_TIMES, 0, 0, 0, 0, 2]);
        let paths: Option<Vec<Vec<u8>>> =
            requests.as_ref().map(|files| files.iter().map(|&file| self.bytes_of(at, file)).collect());
        // SAFETY: zeros are a value of it.
        let mut options: upcheck_check_options = unsafe { std::mem::zeroed() };
        options.struct_size = size_of::<upcheck_check_options>();
        options.flags = flags;
        options.threads = self.choices.of(&[0, 1, 3]);
        if let Some(requests) = &requests {
            (options.requests, options.n_requests) = (requests.as_ptr(), requests.len());
        }
        let one = &self.graphs[at];
        let said = one.graph.check(records.map(|at| &self.records[at].0), Some(&options));
        let answer = said.as_ref().map(|report| Answer::of_c(&one.graph, report)).map_err(Clone::clone);
        let noted = answer.as_ref().map(|_| ()).map_err(Clone::clone);
        self.said(format!("graph {at}: check {paths:?} flags {flags} records {records:?}"), &noted);
        count(&self.counts.checks);
        let is_fine =
            flags <= UPCHECK_BY_TIMES && requests.iter().flatten().all(|&file| (file as usize) < n_files);
        let one = &self.graphs[at];
        if !is_fine || one.is_tainted {
            let failed = answer.expect_err("a question that is refused");
            assert_eq!(failed.status, Status::Invalid, "{}", failed.message);
            return;
        }
        let store = records.map(|at| self.base.join(&self.records[at].1));
        let rust = in_rust(&self.base, &one.calls, store, paths.as_deref(), flags == UPCHECK_BY_TIMES);
        match (&answer, &rust) {
            (Ok(c), Ok(rust)) => assert_eq!(c, rust),
            (Err(c), Err(rust)) => {
                assert!(c.message == *rust || rust.starts_with("looking at"), "{}\n{rust}", c.message);
            }
            _ => panic!("--- C\n{answer:#?}\n--- Rust\n{rust:#?}"),
        }
        if let Ok(report) = said {
            // SAFETY: the report is there.
            let verdicts = unsafe { array(|n, _| upcheck_report_verdicts(report.0, n)) };
            if self.reports.len() == 3 {
                self.reports.remove(0);
            }
            self.reports.push(OneReport { report, verdicts });
        }
    }

    fn begin(&mut self) {
        let at = self.graph();
        let Some(records) = self.some_records() else { return };
        let n_targets = self.n_targets(at);
        let n = 1 + self.choices.below(2);
        let targets: Vec<u32> = (0..n).map(|_| self.number(n_targets)).collect();
        let (graph, records) = (self.graphs[at].graph.0, self.records[records].0.0);
        let untouched = null_mut::<u64>().wrapping_add(7).cast();
        let mut build = untouched;
        // SAFETY: the handles are there, and so is the array.
        let said = call(|error| unsafe {
            upcheck_begin(graph, records, targets.as_ptr(), targets.len(), &raw mut build, error)
        });
        self.said(format!("graph {at}: begin {targets:?}"), &said);
        if said.is_err() {
            assert_eq!(build, untouched);
            return;
        }
        assert!(!self.graphs[at].is_tainted && targets.iter().all(|&target| (target as usize) < n_targets));
        if self.builds.len() == 3 {
            self.builds.remove(0);
        }
        self.builds.push((CBuild(build), graph, records));
        // Commands run now, or do not.
        if self.choices.one_in(3) {
            return;
        }
        for target in targets {
            // SAFETY: the graph is there, and its array is read before it is changed.
            let outputs = unsafe { array(|n, _| upcheck_graph_outputs(graph, target, n)) };
            for output in outputs {
                let path = String::from_utf8(self.bytes_of(at, output)).unwrap_or_default();
                if !path.is_empty()
                    && !path.starts_with(['.', '/'])
                    && !path.contains("a/")
                    && !self.space.path().join(&path).is_dir()
                {
                    let _ = std::fs::write(self.space.path().join(&path), "made");
                }
            }
        }
        if self.choices.one_in(4) {
            self.edit();
        }
        if !self.choices.one_in(3) {
            self.commit_build(self.builds.len() - 1);
        }
    }

    fn commit(&mut self) {
        if self.builds.is_empty() {
            return;
        }
        let build = self.choices.below(self.builds.len());
        self.commit_build(build);
    }

    fn commit_build(&mut self, build: usize) {
        let (mut at, Some(mut records)) = (self.graph(), self.some_records()) else { return };
        let flags = self.choices.of(&[0, 0, UPCHECK_MADE_IN_ORDER, 0, 2]);
        let (ref handle, its_graph, its_records) = self.builds[build];
        let build = handle.0;
        // Mostly with what it began with, if that is still there.
        if !self.choices.one_in(5) {
            at = self.graphs.iter().position(|one| one.graph.0 == its_graph).unwrap_or(at);
            records = self.records.iter().position(|(one, _)| one.0 == its_records).unwrap_or(records);
        }
        let (graph, records) = (self.graphs[at].graph.0, self.records[records].0.0);
        // SAFETY: the handles are there.
        let said = call(|error| unsafe { upcheck_commit(graph, records, build, flags, error) });
        self.said(format!("graph {at}: commit, flags {flags}"), &said);
        if said.is_ok() {
            count(&self.counts.commits);
        }
        // SAFETY: the build is there.
        let doubts = unsafe { array(|n, stride| upcheck_build_doubts(build, n, stride)) };
        let (n_targets, n_files) = (self.n_targets(at), self.n_files(at));
        if said.is_ok() {
            for doubt in doubts {
                assert!((doubt.target as usize) < n_targets && (doubt.file as usize) < n_files);
            }
            // SAFETY: the handles are there.
            let again = call(|error| unsafe { upcheck_commit(graph, records, build, 0, error) });
            assert!(again.is_err_and(|failed| failed.message.contains("before")));
        }
    }

    fn on_records(&mut self) {
        let Some(at) = self.some_records() else { return };
        let records = self.records[at].0.0;
        let names = [text(b"o1"), text(b""), text(b"a\0b"), text(b"check")];
        let what = self.choices.below(3);
        // SAFETY: the records are there, and so are the texts.
        let said = call(|error| unsafe {
            match what {
                0 => upcheck_records_forget(records, names.as_ptr(), names.len(), error),
                1 => upcheck_records_compact(records, error),
                _ => upcheck_records_refresh(records, error),
            }
        });
        self.said(format!("records {at}: {what}"), &said);
    }

    /// Reads whatever there is to read, with numbers of all kinds.
    fn look(&mut self) {
        let at = self.graph();
        let graph = self.graphs[at].graph.0;
        let (n_files, n_targets) = (self.n_files(at), self.n_targets(at));
        let (file, target) = (self.number(n_files), self.number(n_targets));
        let path = self.path();
        let mut buffer = [0x7fu8; 16];
        let capacity = self.choices.below(16);
        // SAFETY: the handles are there, and so are texts and places.
        unsafe {
            let found = upcheck_graph_find(graph, path.as_ptr().cast(), path.len());
            assert!(found == UPCHECK_NONE || (found as usize) < n_files);
            let producer = upcheck_graph_producer(graph, file);
            assert!(producer == UPCHECK_NONE || (producer as usize) < n_targets);
            for role in [upcheck_graph_inputs, upcheck_graph_outputs] {
                let mut n = 4711;
                let files = role(graph, target, &raw mut n);
                assert!((0..n).all(|at| (files.add(at).read() as usize) < n_files));
                assert!(n == 0 || (target as usize) < n_targets);
            }
            upcheck_graph_command(graph, target, buffer.as_mut_ptr().cast(), capacity);
            assert!(buffer[capacity..].iter().all(|&byte| byte == 0x7f), "past the end of the buffer");
            for one in &self.reports {
                let report = one.report.0;
                assert_eq!(
                    array(|n, _| upcheck_report_verdicts(report, n)),
                    one.verdicts,
                    "a report that changed"
                );
                let finding = self.choices.below(20);
                for explain in [upcheck_report_explain, upcheck_report_explain_cause] {
                    explain(report, graph, finding, buffer.as_mut_ptr().cast(), capacity);
                }
            }
            assert!(buffer[capacity..].iter().all(|&byte| byte == 0x7f), "past the end of the buffer");
        }
        self.log.push(format!("look {file} {target} {path:?}"));
    }

    fn affected(&mut self) {
        let at = self.graph();
        let (records, n) = (self.some_records(), self.choices.below(3));
        if let Some(records) = records {
            self.refresh(records);
        }
        let files: Vec<Vec<u8>> = (0..n).map(|_| self.path()).collect();
        let texts: Vec<_> = files.iter().map(|file| text(file)).collect();
        let handle = records.map_or(null(), |at| self.records[at].0.0.cast_const());
        let graph = self.graphs[at].graph.0;
        let mut affected = null_mut();
        // SAFETY: the handles are there, and so are the texts.
        let said = call(|error| unsafe {
            upcheck_affected_by(graph, handle, texts.as_ptr(), n, &raw mut affected, error)
        });
        self.said(format!("graph {at}: affected by {files:?}"), &said);
        let is_fine = files.iter().all(|file| !file.is_empty() && !file.contains(&0));
        // No file can have another name there, so that it is not always looked for.
        let is_name = !cfg!(windows) || files.iter().all(|file| std::str::from_utf8(file).is_ok());
        assert!(!is_name || said.is_ok() == (is_fine && !self.graphs[at].is_tainted));
        if said.is_err() {
            return;
        }
        // SAFETY: it is there until it is freed, and nobody frees it again.
        let (targets, unknown) = unsafe {
            let targets = array(|n, _| upcheck_affected_targets(affected, n));
            let unknown = array(|n, _| upcheck_affected_unknown(affected, n));
            upcheck_affected_free(affected);
            (targets, unknown)
        };
        let names: Vec<String> = targets.into_iter().map(|it| self.graphs[at].graph.name(it)).collect();
        let store = records.map(|at| self.base.join(&self.records[at].1));
        let store = store.and_then(|folder| Records::read(&folder).expect("a store"));
        let (mut project, _) = rebuilt(&self.base, &self.graphs[at].calls);
        let base = self.base.as_os_str().as_encoded_bytes();
        let all: Vec<Vec<Vec<u8>>> = files
            .iter()
            .map(|file| {
                let mut absolute =
                    if file.starts_with(b"/") { file.clone() } else { [base, b"/", file].concat() };
                upcheck::path::canonicalize(&mut absolute);
                vec![project.relative(&absolute), absolute, project.relative(file)]
            })
            .collect();
        let all: Vec<&[Vec<u8>]> = all.iter().map(Vec::as_slice).collect();
        let disk = os_disk(&self.base).expect("a disk");
        let (found, rust_unknown) =
            project.affected(&disk, store.as_ref(), &all, Options::default()).expect("an answer");
        let graph = project.graph();
        let rust: Vec<String> = found
            .iter()
            .filter(|it| !graph.flags(it.target).phony)
            .map(|it| String::from_utf8_lossy(graph.name(it.target)).into_owned())
            .collect();
        assert_eq!((names, unknown), (rust, rust_unknown));
    }

    fn other(&mut self) {
        match self.choices.below(4) {
            0 if self.graphs.len() < 3 => self.new_graph(),
            1 if self.graphs.len() > 1 => {
                let at = self.graph();
                self.graphs.remove(at);
                self.log.push(format!("free graph {at}"));
            }
            2 if !self.records.is_empty() => {
                let at = self.choices.below(self.records.len());
                self.records.remove(at);
                self.log.push(format!("free records {at}"));
            }
            _ => {
                let n = self.choices.below(4);
                let paths: Vec<_> = (0..n).map(|_| self.path()).collect();
                let (bytes, ends) = joined(&paths);
                let base = self.base.as_os_str().as_encoded_bytes().to_vec();
                let mut snapshot = null_mut();
                // SAFETY: the texts are there.
                let said = call(|error| unsafe {
                    let (base, len) = (base.as_ptr().cast(), base.len());
                    let (bytes, ends) = (bytes.as_ptr().cast(), ends.as_ptr());
                    upcheck_collect(base, len, bytes, ends, n, 0, &raw mut snapshot, error)
                });
                self.said(format!("collect {paths:?}"), &said);
                if said.is_err() {
                    assert!(snapshot.is_null());
                    return;
                }
                // SAFETY: it is there until it is freed.
                let stats = unsafe { array(|n, stride| upcheck_snapshot_stats(snapshot, n, stride)) };
                for (path, stat) in paths.iter().zip(&stats) {
                    let place = upcheck::os_path::path(path).map(|path| self.base.join(path));
                    let is_there = place.is_ok_and(|place| std::fs::metadata(place).is_ok());
                    assert_eq!(stat.state == 2, is_there, "{path:?}");
                    // SAFETY: the snapshot and the text are there.
                    let found = unsafe { upcheck_snapshot_find(snapshot, path.as_ptr().cast(), path.len()) };
                    // SAFETY: what was asked for is there.
                    assert_eq!(unsafe { found.as_ref() }, Some(stat));
                }
                // SAFETY: nobody frees it again.
                unsafe { upcheck_snapshot_free(snapshot) };
            }
        }
    }
}

/// A project that is described by the same calls, and what Rust said to the last one.
fn rebuilt(base: &std::path::Path, calls: &[Call]) -> (Project, Result<(), String>) {
    let mut project = Project::new();
    project.set_base(base.as_os_str().as_encoded_bytes());
    let mut last = Ok(());
    for call in calls {
        last = call.replay(&mut project);
    }
    (project, last)
}

fn in_rust(
    base: &std::path::Path,
    calls: &[Call],
    store: Option<PathBuf>,
    requests: Option<&[Vec<u8>]>,
    by_times: bool,
) -> Result<Answer, String> {
    let (mut project, _) = rebuilt(base, calls);
    let records = store.and_then(|folder| Records::read(&folder).expect("a store"));
    let disk = os_disk(base).expect("a disk");
    let requests: Vec<FileId> = match requests {
        None => project.default_requests(),
        // What only a check has found so far has a number all the same.
        Some(paths) => paths.iter().map(|path| project.file(path).expect("a path")).collect(),
    };
    let options = Options::default();
    let checked = match by_times {
        true => project.check_by_times(&disk, &requests, options),
        false => project.check(&disk, records.as_ref(), &requests, options),
    };
    let checked = checked.map_err(|error| error.to_string())?;
    let _: Option<TargetId> = project.graph().targets().next();
    Ok(Answer::of_rust(project.graph(), &checked.report, checked.verdicts(), &checked.snapshot))
}

#[test]
fn no_sequence_of_calls_crashes_and_all_answers_are_those_of_rust() {
    count_panics();
    let counts = Counts::default();
    let n_cases = cases(300);
    let config =
        Config { cases: n_cases, failure_persistence: None, max_shrink_iters: 2000, ..Config::default() };
    let numbers = proptest::collection::vec(proptest::num::u16::ANY, 20..400);
    let n_done = AtomicU64::new(0);
    let result = TestRunner::new(config).run(&numbers, |numbers| {
        let mut machine = Machine::new(numbers, &counts);
        let outcome = panic::catch_unwind(panic::AssertUnwindSafe(|| machine.run()));
        N_PANICS.set(0);
        let done = n_done.fetch_add(1, Ordering::Relaxed);
        if done % 5000 == 4999 {
            progress(&format!("{} sequences", done + 1));
        }
        outcome.map_err(|panic| {
            let words = panic.downcast_ref::<String>().cloned();
            let words = words.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            TestCaseError::fail(format!("{}\n{}", machine.log.join("\n"), words.unwrap_or_default()))
        })
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let [calls, refused, checks, commits] = [&counts.calls, &counts.refused, &counts.checks, &counts.commits]
        .map(|it| it.load(Ordering::Relaxed));
    progress(&format!(
        "{n_cases} sequences: {calls} calls, of which {refused} were refused; {checks} checks, {commits} commits"
    ));
    assert!(checks > 0 && refused > 0 && calls > refused);
}
