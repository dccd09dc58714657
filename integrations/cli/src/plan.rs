//! `check --explain-plan`: how the disk is asked, directory by directory, and what the other ways would cost.

use crate::args::{Common, Format, Platform};
use crate::run::{Trouble, print};
use crate::text::plural;
use crate::words;
use std::io::{self, Write};
use upcheck::{Costs, Estimate, Explained, FileId, FileTable, How, IoCounts, Plan, Snapshot, Stat};
use upcheck_words::count;

impl Platform {
    fn costs(self) -> Costs {
        match self {
            Self::This => Costs::here(),
            Self::Linux => Costs::LINUX,
            Self::Windows => Costs::WINDOWS,
            Self::WindowsByName => Costs::WINDOWS_BY_NAME,
            Self::Macos => Costs::MACOS,
        }
    }
}

/// Says how a platform asks for the files that a check has looked at.
pub(crate) fn explain(
    common: &Common,
    platform: Platform,
    files: &FileTable,
    snapshot: &Snapshot,
) -> Result<(), Trouble> {
    if common.format != Format::Text {
        return Err(Trouble("--explain-plan is for people, and may change: it has no other format".into()));
    }
    let costs = platform.costs();
    let wanted = files.ids().filter(|&file: &FileId| snapshot.stat(file) != Stat::Unknown);
    let mut plan = Plan::with_costs(files, wanted, &costs);
    if common.confirm_all {
        plan = plan.part(|_| true);
    }
    print(common, |out| {
        headline(out, &plan, &costs)?;
        table(out, &plan, &costs)?;
        writeln!(out, "\nasked for this check: {}", asked(&snapshot.counts()))
    })
}

fn headline(out: &mut dyn Write, plan: &Plan, costs: &Costs) -> io::Result<()> {
    let files = plural(plan.n_files(), "file");
    let directories = match plan.n_visits() {
        1 => "1 directory".to_owned(),
        n => format!("{} directories", count(n)),
    };
    let time = microseconds(plan.explain().map(|it| cost(&it, costs)).fold(0, u64::saturating_add));
    writeln!(out, "{files} in {directories}: about {time} µs, with warm caches and one thread\n")
}

/// What a directory is expected to cost, in nanoseconds: at these costs, whichever the plan was made for.
fn cost(explained: &Explained<'_>, costs: &Costs) -> u64 {
    let Estimate { by_path, opened, listed } = costs.estimate(explained.directory, explained.names);
    match explained.how {
        How::Path | How::TooLong => by_path,
        How::Descriptor => opened,
        How::List => listed.unwrap_or(opened),
    }
}

/// A line for each directory.
fn table(out: &mut dyn Write, plan: &Plan, costs: &Costs) -> io::Result<()> {
    let mut rows = vec![["files", "by path", "opened", "listed", "so", "directory"].map(str::to_owned)];
    for explained in plan.explain() {
        let Explained { directory, how, names, budget, .. } = explained;
        let Estimate { by_path, opened, listed } = costs.estimate(directory, names);
        let so = match how {
            How::List => format!("{}, {} entries at most", way(how), count(budget as usize)),
            _ => way(how).to_owned(),
        };
        let listed = listed.map_or_else(|| "-".to_owned(), microseconds);
        let directory = if directory.is_empty() { ".".to_owned() } else { words::bytes(directory) };
        rows.push([count(names), microseconds(by_path), microseconds(opened), listed, so, directory]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    for [files, by_path, opened, listed, so, directory] in &rows {
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|column| widths[column]);
        writeln!(out, "{files:>a$}  {by_path:>b$}  {opened:>c$}  {listed:>d$}  {so:e$}  {directory}")?;
    }
    writeln!(
        out,
        "\nµs: each file by its path; from the open directory; from a listing with nothing else in it"
    )
}

/// How names are asked for, in words.
pub(crate) fn way(how: How) -> &'static str {
    match how {
        How::Path => "by path",
        How::Descriptor => "opened",
        How::TooLong => "by path, which is too long to open",
        How::List => "listed",
    }
}

/// What was asked of the disk, which is what this platform does.
pub(crate) fn asked(counts: &IoCounts) -> String {
    let number = |n: u64, what: &str| plural(usize::try_from(n).unwrap_or(usize::MAX), what);
    let mut asked = format!("{}, {}", number(counts.stats, "file"), number(counts.opens, "opening"));
    if counts.listings > 0 {
        asked += &format!(
            ", {} with {} and {}",
            number(counts.listings, "listing"),
            number(counts.buffers, "call"),
            number(counts.entries, "name")
        );
    }
    if counts.confirmed > 0 {
        asked += &format!(", {} once more", number(counts.confirmed, "file"));
    }
    asked
}

fn microseconds(nanoseconds: u64) -> String {
    let tenths = nanoseconds.div_ceil(100);
    let whole = usize::try_from(tenths / 10).unwrap_or(usize::MAX);
    format!("{}.{}", count(whole), tenths % 10)
}
