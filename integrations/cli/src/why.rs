//! `upcheck why`: the chain from a target down to the files that make it stale.

use crate::json;
use crate::text::{BOLD, FRESH, PENDING, STALE, plural};
use crate::words;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::io::{self, Write};
use upcheck::{Decision, FileId, Reason, Snapshot, Stat, TargetId, Verdict};
use upcheck_ninja::Build;

/// How many stale inputs of one target are followed unless all are wanted.
const MOST_BRANCHES: usize = 5;

pub(crate) struct Why<'a> {
    pub(crate) build: &'a Build,
    pub(crate) decision: &'a Decision<'a>,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) all: bool,
}

/// A line of the tree that is still to be printed.
struct Line {
    /// What stands before it: the rails of the branches that go on.
    rails: String,
    last: bool,
    content: Content,
}

enum Content {
    Target(TargetId),
    Text(String),
}

impl Why<'_> {
    pub(crate) fn print(&self, out: &mut dyn Write, requests: &[FileId]) -> io::Result<()> {
        let mut shown = HashSet::new();
        for &file in requests {
            let path = words::path(self.build.graph(), file);
            match self.decision.producer(file) {
                None => match self.snapshot.stat(file) {
                    Stat::Present(_) => writeln!(out, "{BOLD}{path}{BOLD:#} is there, and nothing makes it")?,
                    _ => writeln!(out, "{BOLD}{path}{BOLD:#} is missing, and nothing makes it")?,
                },
                Some(target) => self.tree(out, target, &path, &mut shown)?,
            }
        }
        Ok(())
    }

    fn tree(
        &self,
        out: &mut dyn Write,
        target: TargetId,
        path: &str,
        shown: &mut HashSet<TargetId>,
    ) -> io::Result<()> {
        writeln!(out, "{BOLD}{path}{BOLD:#} {}", self.state(target))?;
        shown.insert(target);
        let mut stack = self.branches(target, String::new());
        while let Some(line) = stack.pop() {
            let fork = if line.last { "└─ " } else { "├─ " };
            write!(out, "{}{fork}", line.rails)?;
            match line.content {
                Content::Text(text) => writeln!(out, "{text}")?,
                Content::Target(below) => {
                    let name = words::bytes(self.build.graph().name(below));
                    write!(out, "{BOLD}{name}{BOLD:#} {}", self.state(below))?;
                    if shown.insert(below) {
                        writeln!(out)?;
                        let rail = if line.last { "   " } else { "│  " };
                        stack.append(&mut self.branches(below, format!("{}{rail}", line.rails)));
                    } else {
                        writeln!(out, ", as shown above")?;
                    }
                }
            }
        }
        Ok(())
    }

    /// What hangs below a target, the first to be printed last: its own reasons, then stale inputs.
    fn branches(&self, target: TargetId, rails: String) -> Vec<Line> {
        let reasons = self.decision.reasons(target);
        let (passed_on, own): (Vec<_>, Vec<_>) =
            reasons.iter().partition(|reason| reason.upstream().is_some());
        let limit = |n: usize| if self.all { n } else { n.min(MOST_BRANCHES) };
        let mut contents: Vec<Content> = own
            .iter()
            .take(limit(own.len()))
            .map(|reason| Content::Text(words::sentence(self.build.graph(), reason)))
            .collect();
        if own.len() > limit(own.len()) {
            let left = plural(own.len() - limit(own.len()), "more reason");
            contents.push(Content::Text(format!("... and {left} of its own (--all shows them)")));
        }
        // Those that are certain explain more than those that are pending.
        let mut producers: Vec<_> = passed_on.iter().filter_map(|reason| reason.upstream()).collect();
        let mut seen = HashSet::new();
        producers.retain(|&producer| seen.insert(producer));
        producers.sort_by_key(|&producer| std::cmp::Reverse(self.decision.verdict(producer)));
        let n_followed = limit(producers.len());
        for reason in &passed_on {
            if matches!(reason, Reason::DyndepStale { .. }) {
                contents.push(Content::Text(words::sentence(self.build.graph(), reason)));
            }
        }
        contents.extend(producers[..n_followed].iter().map(|&producer| Content::Target(producer)));
        if producers.len() > n_followed {
            let left = plural(producers.len() - n_followed, "more stale input");
            contents.push(Content::Text(format!("... and {left} (--all shows them)")));
        }
        let n = contents.len();
        let lines = contents.into_iter().enumerate().map(|(position, content)| Line {
            rails: rails.clone(),
            last: position + 1 == n,
            content,
        });
        let mut lines: Vec<_> = lines.collect();
        lines.reverse();
        lines
    }

    fn state(&self, target: TargetId) -> String {
        let phony = if self.build.graph().flags(target).phony { " (phony)" } else { "" };
        match self.decision.verdict(target) {
            Verdict::Fresh => format!("is {FRESH}fresh{FRESH:#}{phony}"),
            Verdict::Pending => format!("is {PENDING}pending{PENDING:#}{phony}"),
            Verdict::Stale => format!("is {STALE}stale{STALE:#}{phony}"),
        }
    }

    /// All targets along the chains, each once, those asked for first.
    pub(crate) fn print_json(&self, out: &mut dyn Write, requests: &[FileId]) -> io::Result<()> {
        let graph = self.build.graph();
        let mut queue: Vec<TargetId> =
            requests.iter().filter_map(|&file| self.decision.producer(file)).collect();
        let mut seen: HashSet<_> = HashSet::new();
        queue.retain(|&target| seen.insert(target));
        let mut targets = Vec::new();
        let mut next = 0;
        while let Some(&target) = queue.get(next) {
            next += 1;
            let reasons = self.decision.reasons(target);
            queue.extend(reasons.iter().filter_map(Reason::upstream).filter(|&before| seen.insert(before)));
            let mut object = Map::new();
            json::put_path(&mut object, "target", graph.name(target));
            object.insert("verdict".into(), json::verdict(self.decision.verdict(target)).into());
            object.insert("phony".into(), graph.flags(target).phony.into());
            let reasons: Vec<_> = reasons.iter().map(|reason| json::reason(graph, reason)).collect();
            object.insert("reasons".into(), reasons.into());
            targets.push(Value::Object(object));
        }
        writeln!(out, "{}", serde_json::json!({ "schema": "upcheck.why/1", "targets": targets }))
    }
}
