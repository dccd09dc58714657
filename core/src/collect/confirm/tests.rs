//! Listings that are behind, on a disk in memory: what is seen nevertheless, and what is not.

use super::{Confirm, NEAR, confirm};
use crate::collect::{MemoryDisk, collect};
use crate::graph::{Graph, TargetDesc};
use crate::history::History;
use crate::plan::{Costs, How, ListingCosts, Plan};
use crate::snapshot::{IoCounts, Mtime, Snapshot, Stat};
use std::sync::Arc;

/// A disk on which a listing tells everything at a tenth of a stat.
const CHEAP: Costs =
    Costs { stat: 1_000, step: 0, open: 1_000, listing: Some(ListingCosts { buffer: 1_000, entry: 100 }) };

const SECOND: Mtime = 1_000_000_000;

/// `out/main` is made of twenty headers in `h` and of `x/other.h`.
fn graph() -> Graph {
    let mut graph = Graph::default();
    let inputs: Vec<_> = (0..20).map(|n| graph.files.intern(format!("h/{n}.h").as_bytes())).collect();
    let other = graph.files.intern(b"x/other.h");
    let output = graph.files.intern(b"out/main");
    let explicit: Vec<_> = inputs.into_iter().chain([other]).collect();
    graph
        .add_target(TargetDesc { outputs: &[output], explicit: &explicit, ..TargetDesc::default() })
        .expect("it is the only one");
    graph
}

/// All headers are from the 1000th second, the output from the 2000th; it is the 3000th now. All was asked for before.
fn disk(confirm: Confirm) -> MemoryDisk {
    let disk = disk_not_asked_before(confirm);
    look(&disk, &graph(), "");
    disk
}

fn disk_not_asked_before(confirm: Confirm) -> MemoryDisk {
    let mut disk = MemoryDisk::new();
    disk.set_confirm(confirm);
    disk.set_one_name(Arc::default());
    disk.set_clock(1_000 * SECOND);
    for n in 0..20 {
        disk.write(&format!("h/{n}.h"), b"");
    }
    disk.hard_link("h/7.h", "x/other.h");
    disk.set_clock(2_000 * SECOND);
    disk.write("out/main", b"");
    disk.set_clock(3_000 * SECOND);
    disk
}

fn look(disk: &MemoryDisk, graph: &Graph, without: &str) -> Snapshot {
    let wanted = graph.files.ids().filter(|&file| graph.files.path(file) != without.as_bytes());
    let plan = Plan::with_costs(&graph.files, wanted, &CHEAP);
    assert!(plan.visits().any(|visit| visit.how() == How::List), "the case is about listings");
    let mut snapshot = collect(disk, &plan, 1);
    confirm(disk, graph, &History::default(), &mut snapshot, 1);
    snapshot
}

fn mtime(snapshot: &Snapshot, graph: &Graph, path: &str) -> Mtime {
    let file = graph.files.lookup(path.as_bytes()).expect("it is in the graph");
    match snapshot.stat(file) {
        Stat::Present(meta) => meta.mtime,
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn a_hard_linked_header_changed_by_its_other_name_is_seen() {
    for asked in ["", "x/other.h"] {
        let mut disk = disk(Confirm::Suspects);
        let graph = graph();
        disk.overwrite_by_another_name("h/7.h", "x/other.h", b"changed");
        let snapshot = look(&disk, &graph, asked);
        assert_eq!(mtime(&snapshot, &graph, "h/7.h"), 3_000 * SECOND);
        assert_eq!(snapshot.counts().confirmed, 1);
        disk.set_confirm(Confirm::Nothing);
        let mtime = mtime(&look(&disk, &graph, asked), &graph, "h/7.h");
        assert_eq!(mtime, 1_000 * SECOND, "the listing alone is behind");
    }
}

#[test]
fn a_header_changed_by_a_name_that_it_was_given_since_it_was_asked_is_seen() {
    let mut disk = disk(Confirm::Suspects);
    let graph = graph();
    disk.overwrite_by_another_name("h/3.h", "elsewhere/3.h", b"changed");
    assert_eq!(mtime(&look(&disk, &graph, ""), &graph, "h/3.h"), 3_000 * SECOND);
}

#[test]
fn a_file_is_asked_itself_once_and_those_with_several_names_each_time() {
    let disk = disk_not_asked_before(Confirm::Suspects);
    let graph = graph();
    let asked = |disk: &MemoryDisk| {
        let IoCounts { listings, stats, confirmed, .. } = look(disk, &graph, "").counts();
        (listings, stats, confirmed)
    };
    // `x/other.h` and the output are alone in their directories, and not listed.
    assert_eq!(asked(&disk), (1, 22, 20));
    assert_eq!(asked(&disk), (1, 3, 1));
    assert_eq!(asked(&disk), (1, 3, 1));
}

#[test]
fn without_a_memory_of_names_every_file_is_asked_each_time() {
    let mut disk = MemoryDisk::new();
    disk.set_confirm(Confirm::Suspects);
    for n in 0..20 {
        disk.write(&format!("h/{n}.h"), b"");
    }
    disk.set_clock(3_000 * SECOND);
    for _ in 0..2 {
        assert_eq!(look(&disk, &graph(), "").counts().confirmed, 20);
    }
}

#[test]
fn everything_is_asked_and_nothing_listed_if_that_is_wanted() {
    let mut disk = disk(Confirm::All);
    let graph = graph();
    disk.overwrite_by_another_name("h/7.h", "x/other.h", b"changed");
    let snapshot = look(&disk, &graph, "x/other.h");
    assert_eq!(mtime(&snapshot, &graph, "h/7.h"), 3_000 * SECOND);
    assert_eq!((snapshot.counts().listings, snapshot.counts().stats), (0, 21));
}

#[test]
fn a_header_that_is_still_being_written_is_asked_itself() {
    let mut disk = disk(Confirm::Suspects);
    let graph = graph();
    // Opened a moment ago, and written to since.
    disk.touch("h/3.h", 3_000 * SECOND - NEAR + 1);
    disk.freeze_entry("h/3.h");
    disk.set_clock(3_000 * SECOND + 1);
    disk.overwrite("h/3.h", b"more");
    disk.set_clock(3_000 * SECOND);
    let snapshot = look(&disk, &graph, "");
    assert_eq!(mtime(&snapshot, &graph, "h/3.h"), 3_000 * SECOND + 1);
    assert_eq!(snapshot.counts().confirmed, 2, "and the one with two names");
}

#[test]
fn a_header_that_looks_a_little_older_than_the_output_is_asked_itself() {
    for (before, is_asked) in [(1, true), (NEAR - 1, true), (NEAR, false)] {
        let mut disk = disk(Confirm::Suspects);
        let graph = graph();
        disk.touch("h/3.h", 2_000 * SECOND - before);
        look(&disk, &graph, "");
        disk.freeze_entry("h/3.h");
        disk.touch("h/3.h", 2_000 * SECOND + 1);
        let snapshot = look(&disk, &graph, "");
        assert_eq!(snapshot.counts().confirmed, 1 + u64::from(is_asked), "and the one with two names");
        let expected = if is_asked { 2_000 * SECOND + 1 } else { 2_000 * SECOND - before };
        assert_eq!(mtime(&snapshot, &graph, "h/3.h"), expected, "{before} ns");
        let file = graph.files.lookup(b"h/3.h").expect("it is in the graph");
        assert_eq!(snapshot.is_listed(file), !is_asked);
    }
}

#[test]
fn a_header_that_looked_a_little_older_than_the_output_is_asked_also_by_who_does_not_compare() {
    for (before, expected) in [(1, 2_000 * SECOND + 1), (NEAR, 2_000 * SECOND - NEAR)] {
        let mut disk = disk(Confirm::Suspects);
        let graph = graph();
        disk.touch("h/3.h", 2_000 * SECOND - before);
        look(&disk, &graph, "");
        disk.freeze_entry("h/3.h");
        disk.touch("h/3.h", 2_000 * SECOND + 1);
        let snapshot = collect(&disk, &Plan::with_costs(&graph.files, graph.files.ids(), &CHEAP), 1);
        assert_eq!(mtime(&snapshot, &graph, "h/3.h"), expected, "{before} ns");
    }
}

#[test]
fn what_was_removed_since_it_was_listed_is_missing_once_it_is_asked() {
    let mut disk = disk(Confirm::Suspects);
    let graph = graph();
    disk.touch("h/3.h", 3_000 * SECOND);
    disk.on_read("h", |disk| disk.remove("h/3.h"));
    let snapshot = look(&disk, &graph, "");
    let file = graph.files.lookup(b"h/3.h").expect("it is in the graph");
    assert_eq!(snapshot.stat(file), Stat::Missing);
}

#[test]
fn a_disk_whose_listings_are_right_is_asked_once() {
    let disk = disk(Confirm::Nothing);
    let snapshot = look(&disk, &graph(), "");
    assert_eq!((snapshot.counts().confirmed, snapshot.has_listed()), (0, false));
}
