//! Listings that are behind the files they tell of: which changes are seen nevertheless.

use std::sync::Arc;
use upcheck::collect::{Confirm, MemoryDisk, collect, confirm};
use upcheck::{Costs, Decision, Graph, History, How, Mode, Plan, Record, Snapshot, TargetDesc, Verdict};

const SECOND: i64 = 1_000_000_000;

/// `main` is made of forty headers in `h`. All is from the 1000th second, the output from the 2000th; it is the
/// 3000th now, and it was looked at before.
struct Build {
    graph: Graph,
    history: History,
    disk: MemoryDisk,
}

impl Build {
    fn new(confirm: Confirm) -> Self {
        let mut graph = Graph::default();
        let headers: Vec<_> = (0..40).map(|n| graph.files.intern(format!("h/{n}.h").as_bytes())).collect();
        let output = graph.files.intern(b"main");
        let target = TargetDesc { outputs: &[output], explicit: &headers, ..TargetDesc::default() };
        graph.add_target(target).expect("it is the only one");
        let mut history = History::default();
        history.set_record(output, Record { command_hash: 0, mtime: 2_000 * SECOND });
        let mut disk = MemoryDisk::new();
        disk.set_confirm(confirm);
        disk.set_one_name(Arc::default());
        disk.set_clock(1_000 * SECOND);
        for n in 0..40 {
            disk.write(&format!("h/{n}.h"), b"");
        }
        disk.set_clock(2_000 * SECOND);
        disk.write("main", b"");
        disk.set_clock(3_000 * SECOND);
        let build = Self { graph, history, disk };
        build.look();
        build
    }

    fn look(&self) -> Snapshot {
        let files = &self.graph.files;
        let plan = Plan::with_costs(files, files.ids(), &Costs::WINDOWS);
        assert!(plan.visits().any(|visit| visit.how() == How::List), "the case is about listings");
        let mut snapshot = collect(&self.disk, &plan, 1);
        confirm(&self.disk, &self.graph, &self.history, &mut snapshot, 1);
        snapshot
    }

    fn verdict(&self) -> Verdict {
        let snapshot = self.look();
        let output = self.graph.files.lookup(b"main").expect("it is there");
        let mut decision = Decision::new(&self.graph, &self.history, &snapshot, Mode::LookPast);
        decision.judge_all(&[output]).expect("no cycle");
        decision.verdict(self.graph.producer(output).expect("it has one"))
    }
}

#[test]
fn what_a_listing_tells_is_judged_like_what_a_file_tells() {
    let mut build = Build::new(Confirm::Suspects);
    assert_eq!(build.verdict(), Verdict::Fresh);
    build.disk.write("h/7.h", b"changed");
    assert_eq!(build.verdict(), Verdict::Stale);
    build.disk.touch("h/7.h", 1_000 * SECOND);
    assert_eq!(build.verdict(), Verdict::Fresh);
    build.disk.remove("h/7.h");
    assert_eq!(build.verdict(), Verdict::Stale);
}

#[test]
fn a_file_that_was_asked_itself_after_its_listing_is_one_file() {
    for confirm in [Confirm::Nothing, Confirm::Suspects, Confirm::All] {
        assert_eq!(Build::new(confirm).look().n_files(), 41, "{confirm:?}");
    }
}

#[test]
fn a_hard_linked_header_changed_by_a_name_that_nobody_asks_for_makes_its_target_stale() {
    let mut build = Build::new(Confirm::Suspects);
    build.disk.hard_link("h/7.h", "store/1234");
    for _ in 0..2 {
        assert_eq!(build.verdict(), Verdict::Fresh);
    }
    build.disk.overwrite_by_another_name("h/7.h", "store/1234", b"changed");
    assert_eq!(build.verdict(), Verdict::Stale);
    build.disk.set_confirm(Confirm::Nothing);
    assert_eq!(build.verdict(), Verdict::Fresh, "the listing alone does not know");
}

#[test]
fn a_header_that_was_given_another_name_since_it_was_asked_and_changed_by_it_makes_its_target_stale() {
    let mut build = Build::new(Confirm::Suspects);
    assert_eq!(build.verdict(), Verdict::Fresh);
    build.disk.overwrite_by_another_name("h/7.h", "store/1234", b"changed");
    assert_eq!(build.verdict(), Verdict::Stale);
}

#[test]
fn every_change_is_noticed_if_everything_is_asked_itself() {
    let mut build = Build::new(Confirm::All);
    assert_eq!(build.verdict(), Verdict::Fresh);
    build.disk.overwrite_by_another_name("h/7.h", "store/1234", b"changed");
    assert_eq!(build.verdict(), Verdict::Stale);
}

#[test]
fn a_header_that_was_opened_a_moment_ago_and_is_still_written_to_makes_its_target_stale() {
    let mut build = Build::new(Confirm::Suspects);
    // The output is from the future, by so much that the header is not near it, but the header is new.
    build.disk.touch("main", 3_001 * SECOND);
    build.history.set_record(
        build.graph.files.lookup(b"main").expect("it is there"),
        Record { command_hash: 0, mtime: 3_001 * SECOND },
    );
    build.disk.touch("h/7.h", 2_999 * SECOND);
    build.disk.freeze_entry("h/7.h");
    build.disk.touch("h/7.h", 3_002 * SECOND);
    assert_eq!(build.verdict(), Verdict::Stale);
}

#[test]
fn a_header_that_was_open_all_the_time_is_not_noticed() {
    let mut build = Build::new(Confirm::Suspects);
    build.disk.freeze_entry("h/7.h");
    build.disk.overwrite("h/7.h", b"changed");
    assert_eq!(build.verdict(), Verdict::Fresh);
}

#[test]
fn a_header_that_looks_a_little_older_than_the_output_is_asked_itself() {
    for (before, verdict) in [(SECOND, Verdict::Stale), (3 * SECOND, Verdict::Fresh)] {
        let mut build = Build::new(Confirm::Suspects);
        build.disk.touch("h/7.h", 2_000 * SECOND - before);
        assert_eq!(build.verdict(), Verdict::Fresh);
        build.disk.freeze_entry("h/7.h");
        build.disk.touch("h/7.h", 2_000 * SECOND + 1);
        assert_eq!(build.verdict(), verdict, "{before} ns before");
    }
}
