//! What came out of a race, as text for people.

use crate::race::{Outcome, Row};
use crate::timing::Figures;

/// Milliseconds, then MiB.
const MEASURED: [&str; 5] = ["wall min", "median", "CPU min", "median", "memory"];
/// Of medians, against what stands first and against the floor.
const RATIOS: [&str; 4] = ["wall/ours", "CPU/ours", "wall/floor", "CPU/floor"];

pub(crate) fn text(outcome: &Outcome) -> String {
    let width = outcome.rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let mut lines = vec![heading(outcome)];
    lines.extend(outcome.notes.iter().map(|note| format!("! {note}")));
    let per_file = outcome.per_file.then_some("us/file");
    let titles = MEASURED.into_iter().chain(RATIOS).chain(per_file);
    lines.push(line("", titles.map(ToOwned::to_owned), width));
    lines.extend(outcome.rows.iter().map(|row| line(&row.name, cells(outcome, row).into_iter(), width)));
    lines.join("\n") + "\n"
}

fn heading(outcome: &Outcome) -> String {
    let Outcome { case, title, rounds, .. } = outcome;
    let size = outcome.size().map_or(String::new(), |size| format!("{size}; "));
    format!("== {case}: {title}\n   {size}rounds in turn: {rounds}; ms and MiB")
}

fn cells(outcome: &Outcome, row: &Row) -> Vec<String> {
    let measured = row.figures.milliseconds().into_iter().chain([mebibytes(&row.figures)]);
    let mut cells: Vec<_> = measured.map(|value| format!("{value:.1}")).collect();
    for base in [Some(outcome.ours()), outcome.floor()] {
        let ratio = |value: fn(&Figures) -> f64| match base {
            Some(base) => format!("{:.2}", value(&row.figures) / value(base)),
            None => "-".into(),
        };
        cells.extend([ratio(|figures| figures.wall), ratio(|figures| figures.cpu)]);
    }
    if outcome.per_file {
        cells.push(format!("{:.3}", outcome.microseconds_per_file(row)));
    }
    cells
}

fn line(name: &str, cells: impl Iterator<Item = String>, width: usize) -> String {
    let cells: String = cells.map(|cell| format!(" {cell:>10}")).collect();
    format!("{name:width$}{cells}")
}

pub(crate) fn mebibytes(figures: &Figures) -> f64 {
    figures.memory as f64 / 1024.0
}
