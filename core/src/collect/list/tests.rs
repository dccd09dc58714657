//! Listings on a disk in memory: what they tell, what they leave open, and what they cost.

use crate::collect::{Access, MemoryDisk, collect};
use crate::files::FileTable;
use crate::plan::{Costs, How, ListingCosts, Plan};
use crate::snapshot::{IoCounts, Snapshot, Stat};

/// A disk on which a listing tells everything at a tenth of a stat.
const CHEAP: Costs =
    Costs { stat: 1_000, step: 0, open: 1_000, listing: Some(ListingCosts { buffer: 1_000, entry: 100 }) };

fn plan_for(paths: &[String], costs: &Costs) -> (FileTable, Plan) {
    let mut table = FileTable::default();
    let files: Vec<_> = paths.iter().map(|path| table.intern(path.as_bytes())).collect();
    let plan = Plan::with_costs(&table, files, costs);
    (table, plan)
}

/// What a listing found, after it was compared with what stats find.
fn listed(disk: &MemoryDisk, paths: &[String]) -> (Vec<Stat>, IoCounts) {
    let (table, plan) = plan_for(paths, &CHEAP);
    assert!(plan.visits().all(|visit| visit.how() == How::List), "the case is about listings");
    let stats = |snapshot: &Snapshot| table.ids().map(|file| snapshot.stat(file)).collect::<Vec<_>>();
    let found = collect(disk, &plan, 1);
    (stats(&found), found.counts())
}

fn alone(disk: &MemoryDisk, paths: &[String]) -> Vec<Stat> {
    let (table, plan) = plan_for(paths, &Costs::LINUX);
    let found = collect(disk, &plan, 1);
    table.ids().map(|file| found.stat(file)).collect()
}

fn paths(directory: &str, range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|n| format!("{directory}/f{n}")).collect()
}

fn disk_with(paths: &[String]) -> MemoryDisk {
    let mut disk = MemoryDisk::new();
    disk.make_directory("d");
    for path in paths {
        disk.tick();
        disk.write(path, path.as_bytes());
    }
    disk
}

#[test]
fn what_is_not_in_the_listing_is_missing_for_free() {
    let disk = disk_with(&paths("d", 0..20));
    let wanted = paths("d", 10..40);
    let (found, counts) = listed(&disk, &wanted);
    assert_eq!(found, alone(&disk, &wanted));
    assert_eq!(found.iter().filter(|stat| **stat == Stat::Missing).count(), 20);
    let expected =
        IoCounts { directories: 1, opens: 1, listings: 1, buffers: 1, entries: 20, ..IoCounts::default() };
    assert_eq!(counts, expected);
}

#[test]
fn three_names_are_never_listed_but_many_are() {
    for costs in [Costs::WINDOWS, Costs::WINDOWS_BY_NAME, Costs::MACOS] {
        let (_, plan) = plan_for(&paths("d", 0..3), &costs);
        assert_eq!(plan.visit(0).how(), How::Path, "{costs:?}");
        assert_eq!(plan.visit(0).budget(), 0);
        let (_, plan) = plan_for(&paths("d", 0..100), &costs);
        assert_eq!(plan.visit(0).how(), How::List, "{costs:?}");
    }
    let (_, plan) = plan_for(&paths("d", 0..100), &Costs::LINUX);
    assert_eq!(plan.visit(0).how(), How::Descriptor);
}

#[test]
fn a_directory_larger_than_the_budget_is_left_for_stats() {
    let mut disk = disk_with(&paths("d", 0..30));
    // They come before the wanted ones, which are never met.
    for n in 0..100_000 {
        disk.touch(&format!("d/a{n}"), n);
    }
    let wanted = paths("d", 0..30);
    disk.take_log();
    let (found, counts) = listed(&disk, &wanted);
    assert_eq!(found, alone(&disk, &wanted));
    assert_eq!(counts.entries, 300, "30 names cost as much as 300 entries");
    assert_eq!((counts.listings, counts.buffers, counts.stats), (1, 3, 30));
    let lists = disk.take_log().iter().filter(|access| matches!(access, Access::List(_))).count();
    assert_eq!(lists, 1);
}
