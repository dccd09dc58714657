//! Listings on a disk in memory: what they tell, what they leave open, and what they cost.

use crate::collect::{Access, MemoryDisk, collect};
use crate::files::FileTable;
use crate::plan::{Costs, How, ListingCosts, Plan};
use crate::snapshot::{ChangedDirectories, IoCounts, Snapshot, Stat};

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
    // 30 names cost 30 µs. To open the directory and to call twice takes 3 of these, and leaves 270 entries.
    assert_eq!((counts.listings, counts.buffers, counts.entries, counts.stats), (1, 3, 270, 30));
    let lists = disk.take_log().iter().filter(|access| matches!(access, Access::List(_))).count();
    assert_eq!(lists, 1);
}

#[test]
fn what_was_met_before_the_budget_was_used_up_is_not_asked_for_again() {
    let mut disk = disk_with(&paths("d", 0..30));
    for n in 0..1_000 {
        disk.touch(&format!("d/g{n}"), n);
    }
    let wanted = [paths("d", 0..30), vec!["d/z".to_owned()]].concat();
    let (found, counts) = listed(&disk, &wanted);
    assert_eq!(found, alone(&disk, &wanted));
    assert_eq!((counts.entries, counts.stats), (280, 1));
}

#[test]
fn a_listing_ends_where_all_names_were_met() {
    let mut disk = disk_with(&paths("d", 0..30));
    disk.set_entries_per_call(30);
    for n in 0..1_000 {
        disk.touch(&format!("d/g{n}"), n);
    }
    let wanted = paths("d", 0..30);
    let (found, counts) = listed(&disk, &wanted);
    assert_eq!(found, alone(&disk, &wanted));
    assert_eq!((counts.buffers, counts.entries, counts.stats), (1, 30, 0));
}

#[test]
fn an_entry_of_a_link_answers_nothing() {
    let mut disk = disk_with(&paths("d", 0..20));
    disk.link("d/f3", "f4");
    disk.link("d/f5", "nowhere");
    let wanted = paths("d", 0..20);
    let (found, counts) = listed(&disk, &wanted);
    assert_eq!(found, alone(&disk, &wanted));
    assert_eq!((found[3], found[5], counts.stats), (found[4], Stat::Missing, 2));
}

#[test]
fn names_are_met_in_any_case_where_the_directory_says_so() {
    let mut disk = disk_with(&paths("d", 0..20));
    let wanted =
        [paths("d", 0..10), vec!["d/F7".to_owned(), "d/F12".to_owned(), "d/F99".to_owned()]].concat();
    let (found, counts) = listed(&disk, &wanted);
    assert_eq!(found[10..], [Stat::Missing; 3]);
    assert_eq!(counts.stats, 0);
    disk.ignore_case();
    let (found, counts) = listed(&disk, &wanted);
    assert_eq!(found, alone(&disk, &wanted));
    assert_eq!((found[10], found[12], counts.stats), (found[7], Stat::Missing, 0));
    assert!(matches!(found[11], Stat::Present(_)));
}

#[test]
fn a_name_in_another_case_is_asked_for_where_nobody_knows_whether_case_matters() {
    let wanted = [paths("d", 0..20), vec!["d/F7".to_owned(), "d/F99".to_owned()]].concat();
    for folds in [false, true] {
        let mut disk = disk_with(&paths("d", 0..20));
        disk.doubt_case();
        if folds {
            disk.ignore_case();
        }
        let (found, counts) = listed(&disk, &wanted);
        assert_eq!(found, alone(&disk, &wanted));
        assert_eq!((found[20] == Stat::Missing, counts.stats), (!folds, 1));
    }
}

#[test]
fn of_two_names_that_differ_in_case_the_one_that_is_meant_answers() {
    let mut disk = disk_with(&paths("d", 0..20));
    disk.tick();
    disk.write("d/F3", b"another one");
    disk.write("d/Makefile", b"");
    disk.tick();
    disk.write("d/makefile", b"");
    disk.ignore_case();
    let wanted = [paths("d", 0..20), vec!["d/F3".to_owned(), "d/MAKEFILE".to_owned()]].concat();
    let (found, counts) = listed(&disk, &wanted);
    assert_eq!(found, alone(&disk, &wanted));
    assert_ne!(found[3], found[20]);
    assert_eq!(counts.stats, 1, "MAKEFILE may be either");
}

#[test]
fn a_name_beyond_ascii_that_is_not_listed_is_asked_for_where_case_does_not_matter() {
    let mut disk = disk_with(&paths("d", 0..20));
    disk.write("d/Größe.h", b"");
    let wanted = [paths("d", 0..22), vec!["d/Größe.h".to_owned(), "d/GRÖSSE.h".to_owned()]].concat();
    let (found, counts) = listed(&disk, &wanted);
    assert_eq!((found[23], counts.stats), (Stat::Missing, 0));
    disk.ignore_case();
    let (found, counts) = listed(&disk, &wanted);
    assert_eq!(found, alone(&disk, &wanted));
    assert_eq!(counts.stats, 3, "f20, f21, and the one in capitals");
}

#[test]
fn a_directory_that_changes_while_it_is_listed_is_listed_again() {
    let mut disk = disk_with(&paths("d", 0..200));
    disk.set_entries_per_call(50);
    // A name that comes late moves to the front, where the listing has been already.
    disk.on_read("d", |disk| disk.rename("d/f99", "d/a"));
    let wanted = [paths("d", 0..200), vec!["d/a".to_owned(), "d/b".to_owned()]].concat();
    let (found, counts) = listed(&disk, &wanted);
    assert_eq!(found, alone(&disk, &wanted));
    assert!(matches!(found[200], Stat::Present(_)), "it would have been passed over");
    assert_eq!((counts.changed, counts.listings, counts.buffers, counts.stats), (1, 2, 8, 0));
}

#[test]
fn a_directory_that_keeps_changing_is_asked_for_each_name_alone() {
    let mut disk = disk_with(&paths("d", 0..200));
    disk.set_entries_per_call(150);
    disk.on_read("d", |disk| {
        disk.write("d/new", b"");
        disk.on_read("d", |disk| {
            disk.write("d/newer", b"");
            disk.on_read("d", |disk| disk.rename("d/f99", "d/a"));
        });
    });
    let wanted = [paths("d", 0..200), vec!["d/a".to_owned()]].concat();
    let (found, counts) = listed(&disk, &wanted);
    assert_eq!((counts.changed, counts.listings, counts.stats), (2, 2, 201));
    assert_eq!(found, alone(&disk, &wanted));
}

#[test]
fn one_call_for_all_of_a_directory_is_one_moment() {
    let mut disk = disk_with(&paths("d", 0..20));
    disk.on_read("d", |disk| disk.write("d/late", b""));
    let (found, counts) = listed(&disk, &paths("d", 0..21));
    assert_eq!(found[20], Stat::Missing);
    assert_eq!((counts.changed, counts.listings), (0, 1));
}

#[test]
fn a_directory_that_cannot_be_listed_is_asked_for_each_name() {
    let mut disk = disk_with(&paths("d", 0..20));
    disk.fail("d", 13);
    let wanted = paths("d", 0..21);
    let (found, counts) = listed(&disk, &wanted);
    assert_eq!(found, alone(&disk, &wanted));
    assert_eq!((counts.listings, counts.stats), (1, 21));
}

#[test]
fn what_lies_beneath_a_directory_that_is_missing_is_missing_without_a_look() {
    let mut disk = disk_with(&paths("d", 0..20));
    disk.remove_directory("d");
    let wanted = [paths("d", 0..20), paths("d/e", 0..20)].concat();
    let (found, counts) = listed(&disk, &wanted);
    assert!(found.iter().all(|stat| *stat == Stat::Missing));
    assert_eq!(counts, IoCounts { directories: 1, opens: 1, ..IoCounts::default() });
}

/// What a listing of `entries` costs at most, where `wanted` names may be met or not, against the best that whoever
/// knew the directory beforehand could do.
#[test]
fn a_listing_costs_never_more_than_twice_the_best() {
    let cost = |costs: &Costs, counts: IoCounts| {
        let listing = costs.listing.expect("it is about listings");
        let opened = counts.opens * costs.open;
        opened + counts.buffers * listing.buffer + counts.entries * listing.entry + counts.stats * costs.stat
    };
    for costs in [Costs::WINDOWS, Costs::WINDOWS_BY_NAME, Costs::MACOS] {
        for n_wanted in [1, 2, 3, 4, 8, 13, 14, 20, 50, 200] {
            for n_others in [0, 10, 100, 1_000, 10_000] {
                let wanted = paths("d", 0..n_wanted);
                let mut disk = MemoryDisk::new();
                disk.set_entries_per_call(350);
                for path in &wanted {
                    disk.write(path, b"");
                }
                for n in 0..n_others {
                    disk.write(&format!("d/a{n}"), b"");
                }
                let (_, plan) = plan_for(&wanted, &costs);
                let mut counts = collect(&disk, &plan, 1).counts();
                // The disk in memory opens every directory, real ones do not.
                counts.opens = u64::from(plan.visit(0).how().opens());
                let spent = cost(&costs, counts);
                let n = n_wanted as u64;
                let all = n + n_others;
                let whole = IoCounts {
                    opens: 1,
                    buffers: 1 + all.div_ceil(350),
                    entries: all,
                    ..IoCounts::default()
                };
                let one_by_one = IoCounts { stats: n, ..IoCounts::default() };
                let best = cost(&costs, whole).min(cost(&costs, one_by_one));
                // More than two calls come on top of the budget.
                let calls = (counts.buffers * costs.listing.expect("as above").buffer).max(1);
                let limit = 2 * best + calls;
                assert!(spent <= limit, "{n_wanted} of {all}: {spent} ns, {best} at best; {costs:?}");
            }
        }
    }
}

#[test]
fn a_snapshot_says_which_directories_changed_while_they_were_listed() {
    let names: Vec<String> = (0..30).map(|n| format!("d{n:02}")).collect();
    let mut disk = MemoryDisk::new();
    disk.set_entries_per_call(10);
    let mut wanted = Vec::new();
    for name in &names {
        disk.make_directory(name);
        wanted.extend(paths(name, 0..40));
    }
    for path in &wanted {
        disk.write(path, b"");
    }
    // The last name is never met, so that no listing ends before its end.
    for name in &names {
        wanted.push(format!("{name}/none"));
        disk.remove(&format!("{name}/f7"));
    }
    let (_, plan) = plan_for(&wanted, &CHEAP);
    assert_eq!(collect(&disk, &plan, 1).changed_directories().n, 0);
    disk.on_read("d03", |disk| disk.write("d03/new", b""));
    let found = collect(&disk, &plan, 1);
    assert_eq!(
        (found.changed_directories().n, &found.changed_directories().paths),
        (1, &vec![b"d03".to_vec()])
    );
    let mut many = ChangedDirectories::default();
    for name in names.iter().rev() {
        many.add(name.as_bytes());
    }
    assert_eq!((many.n, many.paths.len()), (30, ChangedDirectories::MOST));
    assert!(many.paths.is_sorted());
}

#[test]
fn a_plan_without_listings_asks_for_the_same_files_in_the_same_order() {
    let wanted = [paths("d", 0..40), paths("few", 0..2), vec!["top".to_owned()]].concat();
    let (_, plan) = plan_for(&wanted, &CHEAP);
    let unlisted = plan.part(|_| true);
    assert!(plan.files().eq(unlisted.files()));
    assert!(unlisted.visits().all(|visit| visit.how() != How::List && visit.budget() == 0));
    let part = plan.part(|place| place % 3 == 0);
    assert!(part.files().eq(plan.files().step_by(3)));
    assert!(Plan::from_arrays(part.arrays().clone()).is_some(), "it fits together");
    assert_eq!(plan.part(|_| false).n_visits(), 0);
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % below
    }
}

#[test]
fn a_listing_says_what_stats_say_of_random_directories() {
    const NAMES: [&str; 12] =
        ["a", "A", "b.h", "B.H", "größe", "GRÖßE", "x y", "$#;", "é", "É", "long-name-of-a-file", "~1"];
    for seed in 0..3_000 {
        let mut dice = Dice(seed);
        let mut disk = MemoryDisk::new();
        disk.make_directory("d");
        disk.set_entries_per_call(1 + dice.roll(20));
        let name = |dice: &mut Dice| format!("d/{}{}", NAMES[dice.roll(NAMES.len())], dice.roll(8));
        for _ in 0..dice.roll(150) {
            disk.tick();
            let path = name(&mut dice);
            match dice.roll(12) {
                0 => disk.link(&path, &format!("{}1", NAMES[dice.roll(NAMES.len())])),
                1 => {
                    disk.write(&path, b"");
                    disk.fail(&path, 13);
                }
                2 => disk.make_directory(&path),
                _ => disk.write(&path, &vec![b'x'; dice.roll(9)]),
            }
        }
        if dice.roll(2) == 0 {
            disk.ignore_case();
        }
        if dice.roll(3) == 0 {
            disk.doubt_case();
        }
        let mut wanted: Vec<String> = (0..8 + dice.roll(60)).map(|_| name(&mut dice)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let costs = Costs { stat: 1 + dice.roll(2_000) as u64, ..CHEAP };
        for changes in 0..3 {
            // A change of another name, that is seen or not: those that are wanted stay as they are.
            if changes > 0 {
                disk.on_read("d", |disk| {
                    disk.write("d/0", b"");
                    if seed % 2 == 0 {
                        disk.on_read("d", |disk| disk.remove("d/0"));
                    }
                });
            }
            let (table, plan) = plan_for(&wanted, &costs);
            let found = collect(&disk, &plan, 1);
            let expected = alone(&disk, &wanted);
            for (file, expected) in table.ids().zip(expected) {
                let path = table.path(file).escape_ascii();
                assert_eq!(found.stat(file), expected, "{path} of seed {seed}");
            }
            let counts = found.counts();
            let most = counts.listings * u64::from(plan.visit(0).budget()) + counts.buffers * 20;
            assert!(counts.entries <= most, "seed {seed}: {counts:?}");
        }
    }
}
