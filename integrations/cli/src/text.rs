//! The answer to `check`, for people: the causes first, then the targets.

use crate::answer::{Answer, Ninja, Rules, Verified, Watched};
use crate::words;
use anstyle::{AnsiColor, Style};
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use upcheck::{Reason, StaleTarget, TargetId, Verdict};
use upcheck_ninja::contents::ContentCounts;
use upcheck_words::count;

/// How many causes are named.
const MOST_CAUSES: usize = 10;
/// How many targets of CMake are named without being asked for.
const MOST_OWNERS: usize = 10;
/// Up to how many stale targets all are listed without being asked for.
const FEW_TARGETS: usize = 10;
/// How many reasons of one target are shown without being asked for.
const FEW_REASONS: usize = 3;

pub(crate) const STALE: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)));
pub(crate) const PENDING: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));
pub(crate) const FRESH: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));
pub(crate) const BOLD: Style = Style::new().bold();

pub(crate) fn print(out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
    let report = &answer.report;
    if report.is_fresh() {
        write!(out, "{FRESH}fresh{FRESH:#}: nothing to do")?;
        if report.n_targets > 0 {
            write!(out, " for {}", plural(report.n_targets, "target"))?;
        }
        writeln!(out, "{}", watched(answer))?;
        return touched(out, answer);
    }
    headline(out, answer)?;
    let lists_all = answer.explain || answer.commands || report.stale.len() <= FEW_TARGETS;
    let causes = causes(answer);
    // As many causes as targets say no more than the targets do.
    if !lists_all || causes.len() < report.stale.len() {
        writeln!(out)?;
        causes.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    writeln!(out)?;
    if lists_all {
        let verdicts = report.stale.iter().map(|stale| (stale.target, stale.verdict)).collect();
        report.stale.iter().try_for_each(|stale| target(out, answer, stale, &verdicts))
    } else {
        writeln!(out, "--explain lists every target; `upcheck why TARGET` shows how it came to that")
    }
}

fn headline(out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
    let report = &answer.report;
    let (n, n_pending) = (report.n_stale, report.n_pending);
    let are = if n == 1 { "is" } else { "are" };
    write!(out, "{STALE}{} of {} {are} stale{STALE:#}", count(n), plural(report.n_targets, "target"))?;
    if n_pending > 0 {
        write!(out, ", {PENDING}{} pending{PENDING:#}", count(n_pending))?;
        write!(out, " (to be made again only if what they need comes out changed)")?;
    }
    writeln!(out, "{}", watched(answer))?;
    touched(out, answer)?;
    if let Some(remote) = answer.remote() {
        remote.print(out)?;
    }
    owners(out, answer)?;
    let (manifest, stopped) = match &answer.rules {
        Rules::Ninja(ninja) => (words::bytes(&ninja.manifest_path), ninja.stopped_at_manifest),
        Rules::Project { .. } => ("Makefile".into(), false),
    };
    if stopped {
        writeln!(
            out,
            "The manifest {manifest} is stale: ninja looks no further until it has made it again."
        )?;
    } else if answer.manifest_is_stale() {
        writeln!(
            out,
            "The manifest {manifest} is stale itself; all else is judged by the one that is there now."
        )?;
    }
    Ok(())
}

/// That files are watched, where it spared looking at them, and that this was compared with looking at them.
fn watched(answer: &Answer<'_>) -> &'static str {
    let is_watched = matches!(answer.watched, Some(Watched::Memory | Watched::Changes));
    match (is_watched, answer.verified) {
        (true, None) => " (watched)",
        (true, Some(Verified::Same | Verified::Later)) => " (watched, verified)",
        (false, Some(Verified::Same | Verified::Later)) => " (verified)",
        (_, Some(Verified::Never | Verified::Wrong)) | (false, None) => "",
    }
}

/// How many files only look changed.
fn touched(out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
    match &answer.rules {
        Rules::Ninja(Ninja { contents: Some(ContentCounts { touched, .. }), .. }) if *touched > 0 => {
            writeln!(out, "{} touched, but not changed", words_of(*touched))
        }
        _ => Ok(()),
    }
}

fn words_of(n: usize) -> String {
    let were = if n == 1 { "was" } else { "were" };
    format!("{} {were}", plural(n, "file"))
}

/// The stale targets as CMake calls them.
fn owners(out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
    let owners = answer.owners();
    if owners.is_empty() {
        return Ok(());
    }
    let shown = if answer.explain { owners.len() } else { MOST_OWNERS };
    let mut names: Vec<_> =
        owners.iter().take(shown).map(|(owner, _)| format!("{BOLD}{owner}{BOLD:#}")).collect();
    if owners.len() > shown {
        names.push(format!("... and {} more", count(owners.len() - shown)));
    }
    writeln!(out, "{} of CMake: {}", plural(owners.len(), "target"), names.join(", "))
}

/// The causes with the most targets, a line for each.
fn causes(answer: &Answer<'_>) -> Vec<String> {
    let report = &answer.report;
    let graph = answer.graph;
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
    let n_summed = lines.len();
    let single = report.root_causes.iter().filter(|cause| !summed.contains(cause.reason.code()));
    for cause in single.take(MOST_CAUSES.saturating_sub(n_summed)) {
        lines.push((cause.n_targets, words::cause(graph, cause)));
    }
    let rest = report.kinds.iter().filter(|kind| !summed.contains(kind.code)).map(|kind| kind.n_causes);
    let n_left = rest.sum::<usize>().saturating_sub(lines.len() - n_summed);
    lines.sort_by_key(|(n_targets, _)| std::cmp::Reverse(*n_targets));
    let stale = if report.n_pending > 0 { "stale or pending" } else { "stale" };
    let line = |(n_targets, text): &(usize, String)| {
        let are = if *n_targets == 1 { "target is" } else { "targets are" };
        format!("{BOLD}{}{BOLD:#} {are} {stale} because {text}", count(*n_targets))
    };
    let mut lines: Vec<_> = lines.iter().map(line).collect();
    if n_left > 0 {
        lines.push(format!("... and {}", plural(n_left, "more cause")));
    }
    lines
}

fn target(
    out: &mut dyn Write,
    answer: &Answer<'_>,
    stale: &StaleTarget,
    verdicts: &HashMap<TargetId, Verdict>,
) -> io::Result<()> {
    let graph = answer.graph;
    let (style, word) = match stale.verdict {
        Verdict::Pending => (PENDING, "pending"),
        _ => (STALE, "stale"),
    };
    let name = words::bytes(graph.name(stale.target));
    let owner = answer.owner(stale.target).map_or(String::new(), |owner| format!("  ({owner})"));
    let remote = answer.remote().and_then(|remote| remote.word(stale.target));
    let remote = remote.map_or(String::new(), |word| format!("  [{word}]"));
    writeln!(out, "{style}{word:7}{style:#} {BOLD}{name}{BOLD:#}{owner}{remote}")?;
    // What lies in the target itself says more than what it has from others.
    let mut reasons: Vec<_> = stale.reasons.iter().collect();
    reasons.sort_by_key(|reason| reason.upstream().is_some());
    let shown = if answer.explain { reasons.len() } else { reasons.len().min(FEW_REASONS) };
    for reason in &reasons[..shown] {
        let sentence = match reason {
            Reason::UpstreamStale { input, producer } => {
                words::upstream(graph, *input, stale.verdict, verdicts.get(producer).copied())
            }
            reason => words::sentence(graph, reason),
        };
        writeln!(out, "          {sentence}")?;
    }
    if reasons.len() > shown {
        writeln!(out, "          ... and {}", plural(reasons.len() - shown, "more reason"))?;
    }
    if answer.commands {
        let command = answer.command(stale.target);
        writeln!(out, "          $ {}", words::bytes(&command))?;
    }
    Ok(())
}

/// A count with its noun.
pub(crate) fn plural(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}
