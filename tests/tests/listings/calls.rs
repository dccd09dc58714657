//! How many calls a look at a large tree takes where directories are listed, against one question after the other.

use std::fs;
use std::sync::Arc;
use upcheck::collect::{Confirm, MemoryDisk, collect};
use upcheck::{Costs, FileTable, How, Plan};
use upcheck_tests::tools::root;

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    /// From 1 on; `mean` on average.
    fn around(&mut self, mean: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1 + usize::try_from(self.0 >> 33).expect("31 bits") % (2 * mean - 1)
    }
}

/// Directories that are alike.
struct Part {
    directories: usize,
    /// How many files a directory has that the build asks for, on average.
    wanted: usize,
    /// How many it has besides, on average; none with 0.
    others: usize,
}

const fn part(directories: usize, wanted: usize, others: usize) -> Part {
    Part { directories, wanted, others }
}

/// Assumptions about what builds ask for: sources and headers, what is made, and one place with very many files.
const SHAPES: [(&str, [Part; 3]); 3] = [
    ("Unreal", [part(9_000, 11, 4), part(700, 60, 90), part(1, 3, 50_000)]),
    ("LLVM", [part(1_300, 11, 5), part(450, 14, 14), part(3, 150, 3_000)]),
    ("Chromium", [part(14_000, 8, 5), part(7_000, 7, 7), part(2, 3, 10_000)]),
];

/// A row of the table: what is asked, and with how many calls.
fn row(shape: &str, parts: &[Part], platform: &str, costs: &Costs, confirm: Confirm) -> String {
    let mut dice = Dice(42);
    let mut disk = MemoryDisk::new();
    // 64 KiB of entries with names of twenty characters, as Wine fills them.
    disk.set_entries_per_call(350);
    disk.set_confirm(confirm);
    disk.set_one_name(Arc::default());
    let mut files = FileTable::default();
    for (kind, part) in parts.iter().enumerate() {
        for directory in 0..part.directories {
            for n in 0..dice.around(part.wanted) {
                let path = format!("{kind}/{directory}/f{n}");
                disk.touch(&path, n as i64);
                files.intern(path.as_bytes());
            }
            for n in 0..if part.others == 0 { 0 } else { dice.around(part.others) } {
                disk.touch(&format!("{kind}/{directory}/a{n}"), 0);
            }
        }
    }
    disk.set_clock(1_000_000_000_000);
    let plan = Plan::with_costs(&files, files.ids(), costs);
    let first = collect(&disk, &plan, 1).counts();
    let counts = collect(&disk, &plan, 1).counts();
    assert_eq!((first.stats - first.confirmed, counts.confirmed), (counts.stats, 0));
    let listed = plan.visits().filter(|visit| visit.how() == How::List).count();
    assert_eq!((counts.listings, counts.changed), (listed as u64, 0));
    let all = counts.listings + counts.buffers + counts.stats;
    let share = 100 * all / files.len() as u64;
    format!(
        "| {shape} | {platform} | {} | {} | {} | {} | {} | {share} % | {} |\n",
        files.len(),
        plan.n_visits(),
        counts.listings,
        counts.buffers,
        counts.stats,
        first.confirmed
    )
}

#[test]
fn the_calls_in_performance_md_are_what_the_collector_counts() {
    let mut table = String::new();
    for (shape, parts) in &SHAPES {
        table += &row(shape, parts, "Windows", &Costs::WINDOWS, Confirm::Suspects);
        table += &row(shape, parts, "Windows, by name", &Costs::WINDOWS_BY_NAME, Confirm::Suspects);
        table += &row(shape, parts, "macOS", &Costs::MACOS, Confirm::Nothing);
    }
    let document = fs::read_to_string(root().join("docs/PERFORMANCE.md")).expect("the document");
    assert!(document.contains(&table), "the document should have\n{table}");
}
