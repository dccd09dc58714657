//! What an answer costs in questions to the disk: each file once, each directory once, and nothing that nobody
//! asked for. Counted by a disk in memory that keeps a log, and by the real one.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::sync::{Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, SystemTime};
use upcheck::collect::{Access, Disk, MemoryDisk, collect, os_disk};
use upcheck::{
    FileId, FileTable, Graph, IoCounts, Meta, Mtime, Plan, Report, Snapshot, Stat, TargetDesc, Verdict, Visit,
};
use upcheck_ninja::{Build, Options, command_hash, dry_run};
use upcheck_tests::space::Space;

/// A second, in nanoseconds.
const S: Mtime = 1_000_000_000;

/// All names that were asked for, by directory, in the order of the visits.
fn visits(log: &[Access]) -> Vec<(String, Vec<String>)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let visit = |access: &Access| match access {
        Access::Visit { directory, names } => {
            Some((text(directory), names.iter().map(|name| text(name)).collect()))
        }
        _ => None,
    };
    log.iter().filter_map(visit).collect()
}

fn reads(log: &[Access]) -> Vec<String> {
    let read = |access: &Access| match access {
        Access::Read(path) => Some(String::from_utf8_lossy(path).into_owned()),
        _ => None,
    };
    log.iter().filter_map(read).collect()
}

/// All paths that were asked for; each must have been asked for once, and each directory visited once.
fn asked_once(log: &[Access]) -> BTreeSet<String> {
    let mut directories = BTreeSet::new();
    let mut paths = BTreeSet::new();
    for (directory, names) in visits(log) {
        assert!(directories.insert(directory.clone()), "{directory} is visited twice");
        for name in names {
            let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
            assert!(paths.insert(path.clone()), "{path} is asked for twice");
        }
    }
    paths
}

fn table(paths: &[String]) -> FileTable {
    let mut files = FileTable::default();
    for path in paths {
        files.intern(path.as_bytes());
    }
    files
}

fn collect_all(disk: &dyn Disk, files: &FileTable, threads: usize) -> Snapshot {
    collect(disk, &Plan::new(files, files.ids()), threads)
}

// ---- files and directories ------------------------------------------------------------------------------

#[test]
fn a_file_that_many_targets_name_is_asked_for_once() {
    let mut graph = Graph::default();
    let header = graph.files.intern(b"include/all.h");
    let mut wanted = Vec::new();
    for n in 0..300 {
        let [source, object] =
            ["src", "obj"].map(|place| graph.files.intern(format!("{place}/{n}").as_bytes()));
        let desc = TargetDesc {
            outputs: &[object],
            explicit: &[source, header],
            order_only: &[header],
            ..TargetDesc::default()
        };
        let target = graph.add_target(desc).expect("one producer each");
        wanted.extend_from_slice(graph.ordering_inputs(target));
        wanted.extend_from_slice(graph.outputs(target));
    }
    assert_eq!(wanted.len(), 300 * 4);
    let disk = MemoryDisk::new();
    let snapshot = collect(&disk, &Plan::new(&graph.files, wanted), 1);
    assert_eq!(asked_once(&disk.take_log()).len(), 601);
    assert_eq!(snapshot.counts(), IoCounts { directories: 3, opens: 3, stats: 601, ..IoCounts::default() });
    assert_eq!(snapshot.n_files(), 601);
}

#[test]
fn a_file_that_is_not_wanted_is_not_asked_for() {
    let files = table(&["a/x".into(), "a/y".into(), "b/z".into()]);
    let disk = MemoryDisk::new();
    let snapshot = collect(&disk, &Plan::new(&files, [FileId::new(1)]), 1);
    assert_eq!(asked_once(&disk.take_log()), BTreeSet::from(["a/y".into()]));
    assert_eq!(snapshot.stat(FileId::new(1)), Stat::Missing);
    assert_eq!(snapshot.stat(FileId::new(0)), Stat::Unknown, "nobody asked, which is not the same");
}

/// Notes which thread visits what.
struct Watched<D> {
    disk: D,
    visits: Mutex<BTreeMap<Vec<u8>, Vec<ThreadId>>>,
}

impl<D: Disk> Disk for Watched<D> {
    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        let mut visits = self.visits.lock().expect("no panic elsewhere");
        visits.entry(visit.directory().to_vec()).or_default().push(thread::current().id());
        drop(visits);
        self.disk.visit(visit, stats, counts)
    }

    fn read_stamped(&self, path: &[u8]) -> io::Result<(Vec<u8>, Meta)> {
        self.disk.read_stamped(path)
    }

    /// A clock that moves with each visit.
    fn now(&self) -> SystemTime {
        let n_visits = self.visits.lock().expect("no panic elsewhere").len();
        SystemTime::UNIX_EPOCH + Duration::from_secs(100 + n_visits as u64)
    }
}

#[test]
fn a_snapshot_says_when_it_began_and_ended() {
    let files = table(&many_paths());
    for threads in [1, 4] {
        let watched = Watched { disk: MemoryDisk::new(), visits: Mutex::default() };
        let snapshot = collect_all(&watched, &files, threads);
        assert_eq!(snapshot.began(), SystemTime::UNIX_EPOCH + Duration::from_secs(100));
        assert_eq!(snapshot.ended(), SystemTime::UNIX_EPOCH + Duration::from_secs(550));
    }
}

/// Visits everything with so many threads. How many of them had something to do.
fn threads_used(disk: impl Disk, files: &FileTable, n_directories: usize, threads: usize) -> usize {
    let watched = Watched { disk, visits: Mutex::default() };
    let snapshot = collect_all(&watched, files, threads);
    let visits = watched.visits.into_inner().expect("no panic elsewhere");
    assert_eq!(visits.len(), n_directories);
    for (directory, threads) in &visits {
        assert_eq!(threads.len(), 1, "{} is visited more than once", directory.escape_ascii());
    }
    assert_eq!(snapshot.counts().directories, n_directories as u64);
    assert_eq!(snapshot.counts().stats, files.len() as u64);
    visits.into_values().flatten().collect::<HashSet<_>>().len()
}

/// 18,000 files in 450 directories, which is work for several threads.
fn many_paths() -> Vec<String> {
    (0..18_000).map(|n| format!("d{}/e{}/f{n}", n % 9, n % 50)).collect()
}

#[test]
fn no_directory_is_visited_twice_or_by_two_threads() {
    let files = table(&many_paths());
    for threads in 1..=8 {
        assert!(threads_used(MemoryDisk::new(), &files, 450, threads) <= threads);
    }
}

#[test]
fn no_directory_of_a_real_disk_is_visited_twice_or_by_two_threads() {
    let space = Space::new();
    for n in 0..450 {
        space.write(&format!("d{}/e{}/f0", n % 9, n % 50), "");
    }
    let files = table(&many_paths());
    for threads in 1..=8 {
        let disk = os_disk(space.path()).expect("a disk");
        assert!(threads_used(disk, &files, 450, threads) <= threads);
        let disk = os_disk(space.path()).expect("a disk");
        let counts = collect_all(&disk, &files, threads).counts();
        assert_eq!(counts, IoCounts { directories: 450, opens: 450, stats: 18_000, ..IoCounts::default() });
    }
}

#[test]
fn few_files_are_left_to_one_thread() {
    let files = table(&(0..300).map(|n| format!("d{n}/f")).collect::<Vec<_>>());
    // A busy machine can make any disk look slow, but not every time.
    assert!((0..50).any(|_| threads_used(MemoryDisk::new(), &files, 300, 8) == 1));
}

/// Answers nobody before so many threads have come.
struct Meeting {
    expected: usize,
    met: Mutex<HashSet<ThreadId>>,
    all_are_here: Condvar,
}

impl Disk for Meeting {
    fn visit(&self, _: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        let mut met = self.met.lock().expect("no panic elsewhere");
        met.insert(thread::current().id());
        self.all_are_here.notify_all();
        let waited = Duration::from_secs(60);
        let (met, late) = self
            .all_are_here
            .wait_timeout_while(met, waited, |met| met.len() < self.expected)
            .expect("no panic elsewhere");
        drop(met);
        assert!(!late.timed_out(), "not all threads came");
        stats.fill(Stat::Missing);
        counts.stats += stats.len() as u64;
        true
    }

    fn read_stamped(&self, _: &[u8]) -> io::Result<(Vec<u8>, Meta)> {
        Err(io::ErrorKind::NotFound.into())
    }
}

#[test]
fn many_files_are_work_for_as_many_threads_as_there_may_be() {
    let files = table(&many_paths());
    for threads in 1..=8 {
        let disk = Meeting { expected: threads, met: Mutex::default(), all_are_here: Condvar::new() };
        assert_eq!(threads_used(disk, &files, 450, threads), threads);
    }
}

/// Takes its time over each directory.
struct Slow(MemoryDisk);

impl Disk for Slow {
    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        thread::sleep(Duration::from_millis(2));
        self.0.visit(visit, stats, counts)
    }

    fn read_stamped(&self, path: &[u8]) -> io::Result<(Vec<u8>, Meta)> {
        self.0.read_stamped(path)
    }
}

#[test]
fn a_slow_disk_is_asked_by_more_threads_but_by_no_more_than_was_said() {
    // Few enough for a disk that answers at once to leave them to one thread.
    let files = table(&(0..300).map(|n| format!("d{n}/f")).collect::<Vec<_>>());
    let slow = || Slow(MemoryDisk::new());
    assert!((3..=threads_for_a_slow_disk()).contains(&threads_used(slow(), &files, 300, 0)));
    assert_eq!(threads_used(slow(), &files, 300, 1), 1);
    assert!((2..=3).contains(&threads_used(slow(), &files, 300, 3)));
}

fn threads_for_a_slow_disk() -> usize {
    thread::available_parallelism().map_or(16, |cores| cores.get().max(16))
}

#[test]
fn a_real_directory_is_opened_only_when_several_names_are_wanted() {
    let space = Space::new();
    let mut paths: Vec<String> =
        ["top", "Makefile", "one/a", "two/a", "two/b", "two/c", "two/d/e"].map(String::from).into();
    paths.extend(names_in("many", 30));
    paths.extend(names_in("deep/down/in/it", 8));
    for path in &paths {
        space.write(path, "");
    }
    let files = table(&paths);
    let snapshot = collect_all(&os_disk(space.path()).expect("a disk"), &files, 1);
    assert_eq!(snapshot.counts(), IoCounts { directories: 6, opens: 2, stats: 45, ..IoCounts::default() });
    assert!(files.ids().all(|file| matches!(snapshot.stat(file), Stat::Present(_))));
}

// ---- missing directories --------------------------------------------------------------------------------

fn names_in(directory: &str, n: usize) -> Vec<String> {
    (0..n).map(|n| format!("{directory}/f{n}")).collect()
}

#[test]
fn a_missing_directory_costs_one_visit_and_what_is_beneath_it_none() {
    let files = table(&[names_in("gone", 20), names_in("gone/a", 20), names_in("gone/a/b", 20)].concat());
    let mut disk = MemoryDisk::new();
    disk.remove_directory("gone");
    let snapshot = collect_all(&disk, &files, 1);
    let directories: Vec<_> = visits(&disk.take_log()).into_iter().map(|(directory, _)| directory).collect();
    assert_eq!(directories, ["gone"]);
    assert_eq!(snapshot.counts(), IoCounts { directories: 1, opens: 1, stats: 0, ..IoCounts::default() });
    assert!(files.ids().all(|file| snapshot.stat(file) == Stat::Missing));
}

#[test]
fn a_missing_directory_of_a_real_disk_costs_one_call_and_what_is_beneath_it_none() {
    let space = Space::new();
    space.write("file", "");
    space.write("here/f0", "");
    let missing =
        [names_in("gone", 20), names_in("gone/a", 20), names_in("file", 20), names_in("file/a", 20)];
    let files = table(&[missing.concat(), names_in("here", 2)].concat());
    let snapshot = collect_all(&os_disk(space.path()).expect("a disk"), &files, 1);
    assert_eq!(snapshot.counts(), IoCounts { directories: 3, opens: 2, stats: 2, ..IoCounts::default() });
    let present = files.ids().filter(|&file| matches!(snapshot.stat(file), Stat::Present(_)));
    assert_eq!(present.count(), 1);
}

#[test]
fn a_missing_directory_of_which_one_name_is_wanted_costs_one_call() {
    let space = Space::new();
    let files = table(&[names_in("gone", 1), names_in("gone/a", 20)].concat());
    let snapshot = collect_all(&os_disk(space.path()).expect("a disk"), &files, 1);
    // A name that is looked up by its path tells nothing of its directory, so the one beneath is asked about too.
    assert_eq!(snapshot.counts(), IoCounts { directories: 2, opens: 1, stats: 1, ..IoCounts::default() });
}

#[test]
fn a_large_missing_tree_costs_a_few_calls_however_many_threads_look() {
    let beneath = (0..2_000).flat_map(|n| names_in(&format!("gone/d{}/e{}", n / 50, n % 50), 20));
    let above = [names_in("gone", 30), names_in("gone/d7", 30), names_in("here", 30)].concat();
    let files = table(&beneath.chain(above).collect::<Vec<_>>());
    let mut disk = MemoryDisk::new();
    disk.remove_directory("gone");
    let space = Space::new();
    space.write("here/f0", "");
    let real = os_disk(space.path()).expect("a disk");
    let counted = [&disk as &dyn Disk, &real].map(|disk| {
        let counts = collect_all(disk, &files, 1).counts();
        for threads in 2..=8 {
            assert_eq!(collect_all(disk, &files, threads).counts(), counts, "{threads} threads");
        }
        counts
    });
    // Some hundred chunks, each of which looks once how much is missing.
    assert_eq!(counted[1].stats, 30);
    assert_eq!(counted[0], counted[1]);
    assert!(counted[0].opens < 500, "{counted:?}");
    assert!(counted[0].directories < 150, "{counted:?}");
}

#[test]
fn a_large_tree_that_is_there_costs_no_more_than_its_directories() {
    let paths: Vec<_> = (0..900).flat_map(|n| names_in(&format!("a/d{}/e{}", n / 30, n % 30), 20)).collect();
    let files = table(&[paths, names_in("a", 30), names_in("a/d7", 30)].concat());
    let space = Space::new();
    for n in 0..900 {
        space.write(&format!("a/d{}/e{}/f0", n / 30, n % 30), "");
    }
    let disk = os_disk(space.path()).expect("a disk");
    for threads in [1, 2, 8] {
        let counts = collect_all(&disk, &files, threads).counts();
        assert_eq!(counts, IoCounts { directories: 902, opens: 902, stats: 18_060, ..IoCounts::default() });
    }
}

#[test]
fn a_directory_that_only_begins_like_a_missing_one_is_visited() {
    let mut disk = MemoryDisk::new();
    disk.remove_directory("a");
    for path in ["a-b/f0", "ab/f0"] {
        disk.write(path, b"");
    }
    let files = table(&[names_in("a", 2), names_in("a-b", 1), names_in("ab", 1)].concat());
    let snapshot = collect_all(&disk, &files, 1);
    let missing: Vec<_> = files.ids().map(|file| snapshot.stat(file) == Stat::Missing).collect();
    assert_eq!(missing, [true, true, false, false]);
}

#[test]
fn two_missing_directories_whose_names_sort_together_are_both_remembered() {
    // By bytes: "a", "a-b", "a/c".
    let files = table(&[names_in("a", 2), names_in("a-b", 2), names_in("a/c", 2)].concat());
    let mut disk = MemoryDisk::new();
    disk.remove_directory("a");
    disk.remove_directory("a-b");
    disk.remove_directory("a/c");
    collect_all(&disk, &files, 1);
    let directories: Vec<_> = visits(&disk.take_log()).into_iter().map(|(directory, _)| directory).collect();
    assert_eq!(directories, ["a", "a-b"]);
}

// ---- ninja build directories ----------------------------------------------------------------------------

const RULES: &str = "rule cc\n  command = cc $in\n  depfile = $out.d\n\
                     rule gcc\n  command = gcc $in\n  depfile = $out.d\n  deps = gcc\n\
                     rule cp\n  command = cp $in $out\n";

const MANIFEST: &str = "include rules.ninja\n\
                        build obj/a.o: cc src/a.c\n\
                        build obj/b.o: gcc src/b.c\n\
                        build obj/c.o: cc src/c.c || c.dd\n  dyndep = c.dd\n\
                        build c.dd: cp c.scan\n\
                        build all: phony obj/a.o obj/b.o obj/c.o\n\
                        subninja other.ninja\n";

/// A build directory where all is up to date.
fn fresh_build() -> MemoryDisk {
    let mut disk = MemoryDisk::new();
    disk.set_clock(S);
    for source in ["src/a.c", "src/b.c", "src/c.c", "c.scan", "src/other.c", "src/all.h", "src/gen.h"] {
        disk.write(source, b"");
    }
    disk.write("rules.ninja", RULES.as_bytes());
    disk.write("build.ninja", MANIFEST.as_bytes());
    disk.write("other.ninja", b"build other.o: cc src/other.c\nbuild never.o: gcc src/never.c\n");
    disk.set_clock(2 * S);
    let commands = [
        ("obj/a.o", "cc src/a.c"),
        ("obj/b.o", "gcc src/b.c"),
        ("obj/c.o", "cc src/c.c"),
        ("c.dd", "cp c.scan c.dd"),
        ("other.o", "cc src/other.c"),
    ];
    let mut log = "# ninja log v7\n".to_owned();
    for (output, command) in commands {
        disk.write(output, b"");
        log += &format!("0\t1\t{}\t{output}\t{:x}\n", 2 * S, command_hash::rapidhash(command.as_bytes()));
    }
    disk.write(".ninja_log", log.as_bytes());
    disk.write(".ninja_deps", &deps_log("obj/b.o", 2 * S, &["src/b.c", "src/all.h"]));
    disk.write("obj/a.o.d", b"obj/a.o: src/a.c src/all.h\n");
    disk.write("obj/c.o.d", b"obj/c.o: src/c.c src/all.h\n");
    disk.write("other.o.d", b"other.o: src/other.c src/all.h\n");
    disk.write("c.dd", b"ninja_dyndep_version = 1\nbuild obj/c.o: dyndep | src/gen.h\n");
    disk
}

/// A deps log with one record.
fn deps_log(output: &str, mtime: Mtime, inputs: &[&str]) -> Vec<u8> {
    let mut log = b"# ninjadeps\n\x04\0\0\0".to_vec();
    let mut ids = Vec::new();
    for (id, path) in (0u32..).zip([output].iter().chain(inputs)) {
        let padded = path.len().next_multiple_of(4);
        log.extend(u32::try_from(padded + 4).expect("a short path").to_le_bytes());
        log.extend(path.bytes().chain([0; 3]).take(padded));
        log.extend((!id).to_le_bytes());
        ids.push(id);
    }
    let size = u32::try_from(12 + 4 * inputs.len()).expect("few inputs");
    log.extend((size | 1 << 31).to_le_bytes());
    log.extend(0u32.to_le_bytes());
    log.extend(mtime.to_le_bytes());
    ids[1..].iter().for_each(|id| log.extend(id.to_le_bytes()));
    log
}

/// Loads, describes and collects. All that was asked of the disk.
fn ask(disk: &MemoryDisk, targets: &[&str]) -> (Build, Vec<FileId>, Snapshot, Vec<Access>) {
    let mut build = Build::load(disk, &Options::default()).expect("a manifest");
    let requests: Vec<_> =
        targets.iter().map(|target| build.resolve(target.as_bytes()).expect("a known target")).collect();
    build.describe(disk, &requests).expect("no cycle in variables");
    let snapshot = build.collect(disk);
    (build, requests, snapshot, disk.take_log())
}

#[test]
fn a_fresh_check_reads_each_manifest_log_and_depfile_once() {
    let disk = fresh_build();
    let (build, requests, snapshot, log) = ask(&disk, &["all", "other.o", "all", "obj/a.o"]);
    // The logs are read while the manifest is, in no particular order.
    let mut at_once = reads(&log);
    let mut on_demand = at_once.split_off(5);
    at_once.sort();
    assert_eq!(at_once, [".ninja_deps", ".ninja_log", "build.ninja", "other.ninja", "rules.ninja"]);
    on_demand.sort();
    assert_eq!(on_demand, ["c.dd", "obj/a.o.d", "obj/c.o.d", "other.o.d"]);
    let decision = build.decide(&snapshot, &requests).expect("no cycle");
    let report = Report::new(&decision, build.graph(), |_| true);
    assert_eq!((report.n_targets, report.stale.len()), (5, 0), "{:?}", report.stale);
}

#[test]
fn a_fresh_check_asks_for_each_file_once() {
    let disk = fresh_build();
    let (.., snapshot, log) = ask(&disk, &["all", "other.o"]);
    let expected = [
        "all",
        "c.dd",
        "c.scan",
        "obj/a.o",
        "obj/b.o",
        "obj/c.o",
        "other.o",
        "src/a.c",
        "src/all.h",
        "src/b.c",
        "src/c.c",
        "src/gen.h",
        "src/other.c",
    ];
    assert_eq!(asked_once(&log), expected.map(String::from).into());
    assert_eq!(snapshot.counts(), IoCounts { directories: 3, opens: 3, stats: 13, ..IoCounts::default() });
}

#[test]
fn logs_depfiles_and_dyndep_files_are_read_before_any_file_is_looked_at() {
    let disk = fresh_build();
    let (.., log) = ask(&disk, &["all", "other.o"]);
    let first_visit = log.iter().position(|access| matches!(access, Access::Visit { .. })).expect("a visit");
    let last_read = log.iter().rposition(|access| matches!(access, Access::Read(_))).expect("a read");
    assert!(last_read < first_visit);
}

#[test]
fn nothing_is_asked_about_targets_that_nobody_asked_for() {
    let disk = fresh_build();
    let (build, requests, snapshot, log) = ask(&disk, &["obj/a.o"]);
    assert_eq!(reads(&log)[5..], ["obj/a.o.d"]);
    assert_eq!(asked_once(&log), ["obj/a.o", "src/a.c", "src/all.h"].map(String::from).into());
    let decision = build.decide(&snapshot, &requests).expect("no cycle");
    assert_eq!(decision.judged().len(), 1);
}

#[test]
fn a_shared_dyndep_file_asks_nothing_about_its_other_targets() {
    let mut disk = MemoryDisk::new();
    let manifest = "build a: cp a.in || dd\n  dyndep = dd\nbuild b: cp b.in || dd\n  dyndep = dd\n";
    disk.write("build.ninja", format!("{RULES}{manifest}").as_bytes());
    disk.write("dd", b"ninja_dyndep_version = 1\nbuild a: dyndep | a.h\nbuild b | b.mod: dyndep | b.h\n");
    let (.., log) = ask(&disk, &["a"]);
    assert_eq!(asked_once(&log), ["a", "a.h", "a.in", "dd"].map(String::from).into());
}

#[test]
fn only_the_manifests_own_target_is_judged_unasked() {
    let mut disk = fresh_build();
    let manifest = format!("{MANIFEST}build build.ninja: cp conf/in\n  generator = 1\n");
    disk.write("build.ninja", manifest.as_bytes());
    let (.., log) = ask(&disk, &["obj/b.o"]);
    let expected = ["build.ninja", "conf/in", "obj/b.o", "src/all.h", "src/b.c"];
    assert_eq!(asked_once(&log), expected.map(String::from).into());
}

#[test]
fn what_was_described_before_is_not_read_again() {
    let disk = fresh_build();
    let mut build = Build::load(&disk, &Options::default()).expect("a manifest");
    let first = [build.resolve(b"all").expect("it is known")];
    let both = [first[0], build.resolve(b"other.o").expect("it is known")];
    build.describe(&disk, &first).expect("no cycle in variables");
    disk.take_log();
    build.describe(&disk, &first).expect("no cycle in variables");
    assert_eq!(disk.take_log(), []);
    build.describe(&disk, &both).expect("no cycle in variables");
    assert_eq!(reads(&disk.take_log()), ["other.o.d"]);
}

#[test]
fn deciding_and_reporting_ask_nothing() {
    let mut disk = fresh_build();
    disk.touch("src/all.h", 3 * S);
    let (build, requests, snapshot, _) = ask(&disk, &["all"]);
    let decision = build.decide(&snapshot, &requests).expect("no cycle");
    let report = Report::new(&decision, build.graph(), |_| true);
    assert_eq!(report.n_stale, 3);
    assert!(decision.judged().iter().any(|&target| decision.verdict(target) == Verdict::Fresh));
    assert_eq!(disk.take_log(), []);
}

#[test]
fn an_exact_answer_to_a_fresh_build_asks_nothing_more() {
    let disk = fresh_build();
    let (build, requests, snapshot, _) = ask(&disk, &["all"]);
    let run = dry_run(&build, &disk, &snapshot, Ok(requests), false).expect("no error");
    assert!(run.report.is_fresh());
    assert_eq!(disk.take_log(), []);
}

#[test]
fn many_depfiles_are_each_read_once_by_several_threads() {
    let mut disk = MemoryDisk::new();
    let mut manifest = RULES.to_owned();
    for n in 0..3_000 {
        manifest += &format!("build o{n}: cc src/{n}.c\n");
        disk.write(&format!("o{n}.d"), format!("o{n}: src/{n}.c src/all.h\n").as_bytes());
    }
    disk.write("build.ninja", manifest.as_bytes());
    let options = Options { threads: 4, ..Options::default() };
    let mut build = Build::load(&disk, &options).expect("a manifest");
    let requests = build.default_requests().expect("there are roots");
    disk.take_log();
    build.describe(&disk, &requests).expect("no cycle in variables");
    let found = reads(&disk.take_log());
    assert_eq!((found.len(), found.iter().collect::<HashSet<_>>().len()), (3_000, 3_000));
    assert_eq!(build.collect(&disk).n_files(), 6_001);
    assert_eq!(asked_once(&disk.take_log()).len(), 6_001);
}
