//! The rate card, for people and for programs. `docs/schema/bench-fs.json` describes the latter.

use super::cases::{Cases, Choice, Rate};
use super::measured::Measured;
use super::sample::{FEW, Sample};
use super::survey::Survey;
use crate::doctor::Place;
use crate::json::{self, put_path};
use crate::plan::{asked, way};
use crate::text::{BOLD, PENDING, plural};
use crate::words;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use upcheck::{How, IoCounts};
use upcheck_words::count;

/// The name and version of the format.
pub(crate) const SCHEMA: &str = "upcheck.bench-fs/1";

/// How many directories are shown to people.
const FEW_DIRECTORIES: usize = 10;

/// All that was measured.
pub(super) struct Card<'a> {
    pub(super) directory: Vec<u8>,
    pub(super) place: Place,
    pub(super) survey: &'a Survey,
    pub(super) sample: &'a Sample,
    pub(super) cases: &'a Cases,
    pub(super) n_rounds: usize,
}

/// What the planner chose for a directory of the sample, and what it came to.
struct Row<'a> {
    path: &'a [u8],
    n_entries: usize,
    n_names: usize,
    how: How,
    /// Nanoseconds, the least of all rounds.
    one_by_one: u64,
    planned: u64,
}

impl Card<'_> {
    /// For people.
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { survey, sample, .. } = self;
        let far = if self.cases.is_far { "; answers come from far away" } else { "" };
        writeln!(out, "{BOLD}file-system{BOLD:#}  {}{far}", words::visible(&self.place.words(), ""))?;
        let more = if survey.is_whole { "" } else { ", and more that were not looked at" };
        let there = directories(survey.directories.len());
        writeln!(out, "{BOLD}below      {BOLD:#}  {there} with {}{more}", entries(survey.n_entries))?;
        let of = directories(sample.directories.len());
        writeln!(
            out,
            "{BOLD}sample     {BOLD:#}  {} of {of} with {}; {}",
            plural(sample.n_names(), "file"),
            entries(sample.n_entries),
            plural(self.n_rounds, "round")
        )?;
        writeln!(
            out,
            "\n{:36}{:>12}{:>12}{:>14}",
            "one thread, warm caches", "least", "median", "per second"
        )?;
        for rate in &self.cases.rates {
            let Rate { code, n, measured } = rate;
            let each = |round: u64| time(round / (*n as u64).max(1));
            let (least, median) = (each(measured.least()), each(measured.median()));
            writeln!(out, "{:36}{least:>12}{median:>12}{:>14}", rate_words(code), count(per_second(rate)))?;
            if *code == "list" {
                let entry = |round: u64| time(round / (sample.n_entries as u64).max(1));
                let (least, median) = (entry(measured.least()), entry(measured.median()));
                let rate = ratio(sample.n_entries as u64 * 1_000_000_000, measured.median());
                writeln!(
                    out,
                    "{:36}{least:>12}{median:>12}{:>14}",
                    "  each entry of it",
                    count(whole(rate))
                )?;
            }
        }
        writeln!(
            out,
            "\n{:36}{:>12}{:>12}{:>7}{:>14}{:>7}",
            "the planner's choice, least", "one by one", "as planned", "gain", "with threads", "gain"
        )?;
        for choice in &self.cases.choices {
            let (one, planned, threads) =
                (choice.one_by_one.least(), choice.planned.least(), choice.with_threads.least());
            writeln!(
                out,
                "{:36}{:>12}{:>12}{:>7.2}{:>14}{:>7.2}",
                choice_words(choice),
                time(one),
                time(planned),
                ratio(one, planned),
                time(threads),
                ratio(one, threads)
            )?;
            let asked = asked(&choice.with_threads.counts);
            writeln!(out, "  {}; asked for: {asked}", hows(choice).join(", "))?;
        }
        self.print_directories(out)?;
        if let n @ 1.. = self.n_different() {
            let files = plural(n, "file");
            let warning = "did not look the same by all ways: measure again when nothing is building";
            writeln!(out, "\n{PENDING}warning{PENDING:#}: {files} {warning}")?;
        }
        if self.cases.rates.iter().any(|rate| rate.measured.median() > rate.measured.least() * 3 / 2) {
            writeln!(
                out,
                "\nThe machine was busy with other things: believe the least rather than the median."
            )?;
        }
        Ok(())
    }

    fn print_directories(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut rows = self.rows();
        rows.sort_by_key(|row| std::cmp::Reverse(row.n_names));
        writeln!(
            out,
            "\n{:>7}{:>12}{:>12}{:>7}  {:7}  directory",
            "files", "one by one", "as planned", "gain", "asked"
        )?;
        for row in rows.iter().take(FEW_DIRECTORIES) {
            let path = if row.path.is_empty() { ".".into() } else { words::bytes(row.path) };
            writeln!(
                out,
                "{:>7}{:>12}{:>12}{:>7.2}  {:7}  {path}",
                count(row.n_names),
                time(row.one_by_one),
                time(row.planned),
                ratio(row.one_by_one, row.planned),
                way(row.how)
            )?;
        }
        match rows.len().saturating_sub(FEW_DIRECTORIES) {
            0 => Ok(()),
            n => writeln!(out, "  and {} more: --format json has them all", count(n)),
        }
    }

    /// One object.
    pub(super) fn print_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = self.rows();
        json::object(out, self.head(), "directories", rows.iter().map(Row::to_json), Map::new())
    }

    /// One object per directory, then one with all the rest.
    pub(super) fn print_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        self.rows().iter().try_for_each(|row| writeln!(out, "{}", row.to_json()))?;
        writeln!(out, "{}", Value::Object(self.head()))
    }

    fn head(&self) -> Map<String, Value> {
        let Self { survey, sample, cases, .. } = self;
        let mut head = Map::new();
        head.insert("schema".into(), SCHEMA.into());
        put_path(&mut head, "directory", &self.directory);
        head.insert("file_system".into(), self.place.to_json().into());
        head.insert("far".into(), cases.is_far.into());
        let below = json!({
            "directories": survey.directories.len(),
            "entries": survey.n_entries,
            "closed": survey.n_closed,
            "elsewhere": survey.n_elsewhere,
            "whole": survey.is_whole,
        });
        head.insert("below".into(), below);
        let sample = json!({
            "directories": sample.directories.len(),
            "entries": sample.n_entries,
            "files": sample.n_names(),
            "rounds": self.n_rounds,
        });
        head.insert("sample".into(), sample);
        let rate = |rate: &Rate| {
            json!({
                "code": rate.code,
                "count": rate.n,
                "least_ns": rate.measured.least(),
                "median_ns": rate.measured.median(),
                "per_second": per_second(rate),
            })
        };
        head.insert("rates".into(), cases.rates.iter().map(rate).collect());
        head.insert("choices".into(), cases.choices.iter().map(choice_json).collect());
        head
    }

    /// The directories of the sample, in the plan's order.
    fn rows(&self) -> Vec<Row<'_>> {
        let Some(choice) = self.cases.choices.first() else { return Vec::new() };
        let Some(plan) = choice.planned.plan() else { return Vec::new() };
        let visits = plan.visits().zip(choice.one_by_one.visits.iter().zip(&choice.planned.visits));
        let row = |(visit, (&one_by_one, &planned)): (upcheck::Visit<'_>, _)| {
            let path = visit.directory();
            let sampled = self.sample.directories.iter().find(|directory| directory.path == path)?;
            let (n_entries, n_names, how) = (sampled.n_entries, visit.len(), visit.how());
            Some(Row { path: &sampled.path, n_entries, n_names, how, one_by_one, planned })
        };
        visits.filter_map(row).collect()
    }

    fn n_different(&self) -> usize {
        self.cases.choices.iter().map(Choice::n_different).max().unwrap_or(0)
    }
}

impl Row<'_> {
    fn to_json(&self) -> Value {
        let mut object = Map::new();
        let path = if self.path.is_empty() { b"." } else { self.path };
        put_path(&mut object, "path", path);
        object.insert("entries".into(), self.n_entries.into());
        object.insert("files".into(), self.n_names.into());
        object.insert("how".into(), how_code(self.how).into());
        object.insert("one_by_one_ns".into(), self.one_by_one.into());
        object.insert("planned_ns".into(), self.planned.into());
        object.insert("gain".into(), gain(self.one_by_one, self.planned));
        Value::Object(object)
    }
}

fn choice_json(choice: &Choice) -> Value {
    let hows: Map<_, _> =
        HOWS.iter().map(|&how| (how_code(how).into(), choice.n_visits(how).into())).collect();
    let one_by_one = &choice.one_by_one;
    let spent = |measured: &Measured| {
        let (least, median) = (measured.least(), measured.median());
        json!({ "least_ns": least, "median_ns": median, "gain": gain(one_by_one.least(), least) })
    };
    json!({
        "code": choice.code,
        "files": choice.n_names(),
        "hows": hows,
        "one_by_one": { "least_ns": one_by_one.least(), "median_ns": one_by_one.median() },
        "planned": spent(&choice.planned),
        "with_threads": spent(&choice.with_threads),
        "calls": calls_json(choice.with_threads.counts),
        "changed": choice.n_different(),
    })
}

fn calls_json(counts: IoCounts) -> Value {
    let IoCounts { opens, listings, buffers, entries, stats, .. } = counts;
    json!({ "opens": opens, "listings": listings, "buffers": buffers, "entries": entries, "stats": stats })
}

const HOWS: [How; 4] = [How::Path, How::Descriptor, How::List, How::TooLong];

fn how_code(how: How) -> &'static str {
    match how {
        How::Path => "path",
        How::Descriptor => "descriptor",
        How::List => "list",
        How::TooLong => "too-long",
    }
}

fn hows(choice: &Choice) -> Vec<String> {
    let visits = HOWS.map(|how| (how, choice.n_visits(how)));
    let word = |(how, n): (How, usize)| (n > 0).then(|| format!("{} {}", count(n), way(how)));
    visits.into_iter().filter_map(word).collect()
}

fn rate_words(code: &str) -> &'static str {
    match code {
        "list" => "list a directory, names only",
        "stat-by-path" => "stat by path",
        "stat-from-directory" => "stat from its directory",
        "stat-from-listing" => "stat from a listing",
        "stat-from-server" => "stat that is not remembered",
        "missing-by-path" => "missing, by path",
        "missing-from-directory" => "missing, from its directory",
        _ => "open and close a file",
    }
}

fn choice_words(choice: &Choice) -> String {
    let files = plural(choice.n_names(), "file");
    match choice.code {
        "all" => format!("all {files}"),
        _ => format!("{files}, at most {FEW} of each directory"),
    }
}

fn directories(n: usize) -> String {
    if n == 1 { "1 directory".into() } else { format!("{} directories", count(n)) }
}

fn entries(n: usize) -> String {
    if n == 1 { "1 entry".into() } else { format!("{} entries", count(n)) }
}

/// How many operations are made in a second, by the median.
fn per_second(rate: &Rate) -> usize {
    whole(ratio(rate.n as u64 * 1_000_000_000, rate.measured.median()))
}

/// How many times as fast: with two places, as far as there is anything to compare.
fn gain(slow: u64, fast: u64) -> Value {
    json!((ratio(slow, fast) * 100.0).round() / 100.0)
}

#[expect(clippy::cast_precision_loss, reason = "few places are shown")]
fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / other.max(1) as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is held at the ends")]
fn whole(number: f64) -> usize {
    number.round() as usize
}

/// Nanoseconds with three digits or a little more.
fn time(nanoseconds: u64) -> String {
    let of = |unit: u64| ratio(nanoseconds, unit);
    match nanoseconds {
        0..10_000 => format!("{} ns", count(whole(of(1)))),
        10_000..10_000_000 => format!("{:.1} µs", of(1_000)),
        10_000_000..10_000_000_000 => format!("{:.1} ms", of(1_000_000)),
        _ => format!("{:.1} s", of(1_000_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_says_it() {
        let times = [0, 640, 9_999, 12_345, 9_999_999, 12_345_678, 123_456_789_000].map(time);
        assert_eq!(times, ["0 ns", "640 ns", "9,999 ns", "12.3 µs", "10000.0 µs", "12.3 ms", "123.5 s"]);
    }
}
