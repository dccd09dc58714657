//! The answer to `check`, for people: the causes first, then the targets.

use crate::run::Answer;
use crate::time::count;
use crate::words;
use anstyle::{AnsiColor, Style};
use std::collections::HashSet;
use std::io::{self, Write};
use upcheck::{Reason, StaleTarget, Verdict};

/// How many causes are named.
const MOST_CAUSES: usize = 10;
/// Up to how many stale targets all are listed without being asked for.
const FEW_TARGETS: usize = 10;

pub(crate) const STALE: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
pub(crate) const PENDING: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));
pub(crate) const FRESH: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
pub(crate) const BOLD: Style = Style::new().bold();

pub(crate) fn print(out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
    let report = &answer.report;
    if report.is_fresh() {
        let targets = plural(report.n_targets, "target");
        return writeln!(out, "{FRESH}fresh{FRESH:#}: nothing to do for {targets}");
    }
    headline(out, answer)?;
    manifest_note(out, answer)?;
    causes(out, answer)?;
    let all = answer.explain || answer.commands;
    if all || report.stale.len() <= FEW_TARGETS {
        writeln!(out)?;
        for stale in &report.stale {
            target(out, answer, stale)?;
        }
    } else {
        writeln!(out, "\n--explain lists every target; `upcheck why TARGET` shows how it came to that")?;
    }
    Ok(())
}

fn headline(out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
    let report = &answer.report;
    let (n_stale, n_pending) = (report.n_stale, report.n_pending);
    let of_all = plural(report.n_targets, "target");
    let is = if n_stale == 1 { "is" } else { "are" };
    match (n_stale, n_pending) {
        (0, _) => {
            let is = if n_pending == 1 { "is" } else { "are" };
            writeln!(
                out,
                "{PENDING}{} of {of_all} {is} pending{PENDING:#}: only running something can tell",
                count(n_pending)
            )
        }
        (_, 0) => writeln!(out, "{STALE}{} of {of_all} {is} stale{STALE:#}", count(n_stale)),
        _ => writeln!(
            out,
            "{STALE}{} of {of_all} {is} stale{STALE:#}, {PENDING}{} pending{PENDING:#}",
            count(n_stale),
            count(n_pending)
        ),
    }
}

fn manifest_note(out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
    let manifest = words::bytes(answer.build.manifest_path());
    let is_stale = answer
        .report
        .stale
        .iter()
        .any(|stale| stale.reasons.iter().any(|reason| matches!(reason, Reason::ManifestStale { .. })));
    if answer.stopped_at_manifest {
        writeln!(out, "The manifest {manifest} is stale: ninja looks no further until it has made it again.")
    } else if is_stale {
        writeln!(
            out,
            "The manifest {manifest} is stale itself; what follows is judged by the one that is there now."
        )
    } else {
        Ok(())
    }
}

fn causes(out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
    let report = &answer.report;
    let graph = answer.build.graph();
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut summed = HashSet::new();
    for kind in report.kinds.iter().filter(|kind| kind.n_causes > 1) {
        let first = report.root_causes.iter().find(|cause| cause.reason.code() == kind.code);
        let Some(first) = first else { continue };
        let example = words::path(graph, first.reason.path());
        if let Some(text) = words::causes_of_kind(kind.code, kind.n_causes, &example) {
            lines.push((kind.n_targets, text));
            summed.insert(kind.code);
        }
    }
    let mut n_left = 0;
    let single = report.root_causes.iter().filter(|cause| !summed.contains(cause.reason.code()));
    for cause in single {
        if lines.len() < MOST_CAUSES {
            lines.push((cause.n_targets, words::cause(graph, cause)));
        } else {
            n_left += 1;
        }
    }
    lines.sort_by_key(|(n_targets, _)| std::cmp::Reverse(*n_targets));
    writeln!(out)?;
    for (n_targets, text) in lines {
        let are = if n_targets == 1 { "target is" } else { "targets are" };
        writeln!(out, "{BOLD}{}{BOLD:#} {are} stale because {text}", count(n_targets))?;
    }
    if n_left > 0 {
        writeln!(out, "... and {} more causes", count(n_left))?;
    }
    Ok(())
}

fn target(out: &mut dyn Write, answer: &Answer<'_>, stale: &StaleTarget) -> io::Result<()> {
    let graph = answer.build.graph();
    let (style, word) = match stale.verdict {
        Verdict::Pending => (PENDING, "pending"),
        _ => (STALE, "stale"),
    };
    writeln!(out, "{style}{word:7}{style:#} {BOLD}{}{BOLD:#}", words::bytes(graph.name(stale.target)))?;
    let shown = if answer.explain { stale.reasons.len() } else { 1 };
    for reason in stale.reasons.iter().take(shown) {
        writeln!(out, "          {}", words::sentence(graph, reason))?;
    }
    if stale.reasons.len() > shown {
        writeln!(out, "          ... and {}", plural(stale.reasons.len() - shown, "more reason"))?;
    }
    if answer.commands {
        let command = answer.build.command(stale.target).unwrap_or_default();
        writeln!(out, "          $ {}", String::from_utf8_lossy(&command))?;
    }
    Ok(())
}

/// A count with its noun.
pub(crate) fn plural(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}
