//! Keeps what came out for the documentation: rows in `performance/results.csv`, charts beside it, and tables in
//! `PERFORMANCE.md` between two marks per case. All else in that file is written by hand.

use crate::csv;
use crate::race::{FLOOR, Outcome, Row};
use crate::svg::{self, Bar, Color};
use crate::table::mebibytes;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where and when figures are taken.
pub(crate) struct Occasion {
    date: String,
    commit: String,
    machine: String,
}

/// The documents of the project.
pub(crate) struct Record {
    docs: PathBuf,
    occasion: Occasion,
}

impl Occasion {
    pub(crate) fn now() -> Self {
        Self {
            date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
            commit: commit(),
            machine: machine(),
        }
    }

    pub(crate) fn append_csv(&self, path: &Path, outcome: &Outcome) -> Result<(), String> {
        let appended = csv::append(path, &self.date, &self.commit, outcome);
        appended.map_err(|error| format!("{}: {error}", path.display()))
    }
}

impl Record {
    /// Says at once what would keep it from recording these cases.
    pub(crate) fn open(docs: PathBuf, occasion: Occasion, cases: &[String]) -> Result<Self, String> {
        let record = Self { docs, occasion };
        let text = record.read().map_err(|error| format!("{}: {error}", record.document().display()))?;
        for case in cases {
            replace(&text, case, "").ok_or_else(|| {
                format!("{} has no place for {case}: {}", record.document().display(), marks(case).0)
            })?;
        }
        fs::create_dir_all(record.docs.join("performance")).map_err(|error| error.to_string())?;
        Ok(record)
    }

    pub(crate) fn add(&self, outcome: &Outcome) -> Result<(), String> {
        self.occasion.append_csv(&self.docs.join("performance/results.csv"), outcome)?;
        self.write(outcome).map_err(|error| format!("{}: {error}", self.docs.display()))
    }

    fn write(&self, outcome: &Outcome) -> io::Result<()> {
        let case = &outcome.case;
        fs::write(self.docs.join(format!("performance/{case}.svg")), chart(outcome))?;
        let text = self.read()?;
        let block = self.block(outcome);
        let text = replace(&text, case, &block).ok_or_else(|| io::Error::other("the marks are gone"))?;
        fs::write(self.document(), text)
    }

    fn block(&self, outcome: &Outcome) -> String {
        let Occasion { date, commit, machine } = &self.occasion;
        let Outcome { case, title, rounds, .. } = outcome;
        let size = outcome.size().map_or(String::new(), |size| format!("{size}, "));
        let mut block = format!(
            "*{case}*: {title}. {size}{rounds} rounds in turn.\n\
             Measured {date} at commit {commit} on {machine}.\n\n\
             ![{case}](performance/{case}.svg)\n\n"
        );
        block.extend(outcome.notes.iter().map(|note| format!("**Note: {note}.**\n\n")));
        block + &table(outcome)
    }

    fn document(&self) -> PathBuf {
        self.docs.join("PERFORMANCE.md")
    }

    fn read(&self) -> io::Result<String> {
        fs::read_to_string(self.document())
    }
}

fn table(outcome: &Outcome) -> String {
    let per_file = if outcome.per_file { (" µs per file |", "---:|") } else { ("", "") };
    let mut table = format!(
        "| ms, MiB | wall min | wall median | CPU min | CPU median | memory |{} wall / ours | wall / floor |\n\
         |---|---:|---:|---:|---:|---:|{}---:|---:|\n",
        per_file.0, per_file.1
    );
    for row in &outcome.rows {
        let times: String = row.figures.milliseconds().map(|time| format!(" {time:.1} |")).concat();
        let per_file = match outcome.per_file {
            true => format!(" {:.3} |", outcome.microseconds_per_file(row)),
            false => String::new(),
        };
        let ours = row.figures.wall / outcome.ours().wall;
        let floor =
            outcome.floor().map_or_else(String::new, |floor| format!("{:.2}", row.figures.wall / floor.wall));
        let (name, memory) = (row.name.replace('|', "\\|"), mebibytes(&row.figures));
        table += &format!("| {name} |{times} {memory:.1} |{per_file} {ours:.2} | {floor} |\n");
    }
    table
}

/// The median times of all that was measured; with the size in view, per file.
fn chart(outcome: &Outcome) -> String {
    let bar = |row: &Row| Bar {
        label: row.name.clone(),
        value: if outcome.per_file { outcome.microseconds_per_file(row) } else { row.figures.wall },
        color: match &row.name {
            name if name.starts_with("upcheck") => Color::Ours,
            name if name.starts_with("floor") || name == FLOOR => Color::Limit,
            _ => Color::Other,
        },
    };
    let bars: Vec<_> = outcome.rows.iter().filter(|row| !row.extrapolated).map(bar).collect();
    let unit = if outcome.per_file { "µs per file" } else { "ms" };
    svg::bars(&format!("{}: median wall time", outcome.case), &bars, unit)
}

fn marks(case: &str) -> (String, String) {
    (format!("<!-- begin {case} -->"), format!("<!-- end {case} -->"))
}

/// The text with this between the marks of the case.
fn replace(text: &str, case: &str, block: &str) -> Option<String> {
    let (begin, end) = marks(case);
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{block}{end}{after}"))
}

/// The commit the programs are built from; with a plus where files other than documents differ from it.
fn commit() -> String {
    let git = |args: &[&str]| {
        let output =
            Command::new("git").current_dir(upcheck_tests::tools::root()).args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short", "HEAD"]) else { return "unknown".into() };
    let changes = git(&["status", "--porcelain", "--", ".", ":!docs"]).unwrap_or_default();
    if changes.is_empty() { commit } else { commit + "+" }
}

/// Processor, number of cores, memory and kernel.
fn machine() -> String {
    let value = |file: &str, key: &str| {
        let text = fs::read_to_string(file).ok()?;
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor = value("/proc/cpuinfo", "model name").unwrap_or_else(|| "an unnamed processor".into());
    let memory = value("/proc/meminfo", "MemTotal")
        .and_then(|size| size.strip_suffix(" kB")?.parse::<f64>().ok())
        .map_or_else(String::new, |kib| format!(", {:.0} GiB of memory", kib / 1024.0 / 1024.0));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let kernel: Vec<_> = kernel.trim().splitn(3, '.').take(2).collect();
    format!("{processor}, {cores} cores{memory}, Linux {}", kernel.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_of_the_case_is_replaced() {
        let text = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n<!-- begin y -->\n<!-- end y -->\n";
        let replaced = "a\n<!-- begin x -->\nnew\n<!-- end x -->\nb\n<!-- begin y -->\n<!-- end y -->\n";
        assert_eq!(replace(text, "x", "new\n").as_deref(), Some(replaced));
        assert_eq!(replace(text, "z", "new\n"), None);
    }
}
