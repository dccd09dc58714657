//! The diagnosis, for people and for programs. `docs/schema/doctor.json` describes the latter.

use super::finding::{Finding, Severity};
use crate::json::{self, put_path};
use crate::text::{BOLD, FRESH, PENDING, plural};
use crate::words;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// The name and version of the format.
pub(crate) const SCHEMA: &str = "upcheck.doctor/1";

/// All that was found, the facts first.
pub(super) struct Diagnosis {
    pub(super) directory: Vec<u8>,
    pub(super) findings: Vec<Finding>,
}

impl Diagnosis {
    /// Whether there is nothing to worry about.
    pub(super) fn is_good(&self) -> bool {
        self.n_warnings() == 0
    }

    /// A line per finding, and its advice below.
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let (facts, warnings): (Vec<_>, Vec<_>) =
            self.findings.iter().partition(|finding| finding.severity == Severity::Info);
        let width = facts.iter().map(|finding| finding.code.len()).max().unwrap_or(0);
        for finding in facts {
            let Finding { code, message, .. } = finding;
            writeln!(out, "{BOLD}{code:width$}{BOLD:#}  {}", words::visible(message, ""))?;
            advice(out, finding, width + 2)?;
        }
        writeln!(out)?;
        for finding in &warnings {
            let Finding { code, message, .. } = finding;
            writeln!(
                out,
                "{PENDING}warning{PENDING:#} {BOLD}{code}{BOLD:#}: {}",
                words::visible(message, "")
            )?;
            advice(out, finding, 10)?;
        }
        match warnings.len() {
            0 => writeln!(out, "{FRESH}nothing to worry about{FRESH:#}"),
            n => writeln!(out, "\n{PENDING}{}{PENDING:#}", plural(n, "warning")),
        }
    }

    /// One object.
    pub(super) fn print_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let findings = self.findings.iter().map(Finding::to_json);
        json::object(out, self.head(), "findings", findings, self.tail())
    }

    /// One object per finding, then one with all the rest.
    pub(super) fn print_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        self.findings.iter().try_for_each(|finding| writeln!(out, "{}", finding.to_json()))?;
        let mut last = self.head();
        last.extend(self.tail());
        writeln!(out, "{}", Value::Object(last))
    }

    fn head(&self) -> Map<String, Value> {
        let mut head = json::origin("ninja", SCHEMA);
        let verdict = if self.is_good() { "good" } else { "attention" };
        head.insert("verdict".into(), verdict.into());
        put_path(&mut head, "directory", &self.directory);
        head
    }

    fn tail(&self) -> Map<String, Value> {
        let n_warnings = self.n_warnings();
        let summary = json!({ "warnings": n_warnings, "infos": self.findings.len() - n_warnings });
        Map::from_iter([("summary".to_owned(), summary)])
    }

    fn n_warnings(&self) -> usize {
        self.findings.iter().filter(|finding| finding.severity == Severity::Warning).count()
    }
}

fn advice(out: &mut dyn Write, finding: &Finding, indent: usize) -> io::Result<()> {
    match &finding.advice {
        Some(advice) => writeln!(out, "{:indent$}-> {}", "", words::visible(advice, "")),
        None => Ok(()),
    }
}
