//! `upcheck why`: the chain from a target down to the files that make it stale.

use crate::json;
use crate::text::{BOLD, FRESH, PENDING, STALE, plural};
use crate::words;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::io::{self, Write};
use upcheck::{Decision, FileId, Graph, Reason, TargetId, Verdict};

/// The name and version of the format; see `docs/schema/why.json`.
pub(crate) const SCHEMA: &str = "upcheck.why/1";

/// How many reasons, and how many stale inputs, of one target are shown unless all are wanted.
const MOST_BRANCHES: usize = 5;

pub(crate) struct Why<'a> {
    /// Whose build description was read.
    pub(crate) from: &'static str,
    pub(crate) graph: &'a Graph,
    pub(crate) decision: &'a Decision<'a>,
    pub(crate) all: bool,
}

/// What makes two reasons the same to a reader who was told one of them: the code and the file at fault, or
/// just the code where that file is the target's own.
type CauseKey = (&'static str, Option<FileId>);

/// What was shown so far.
#[derive(Default)]
struct Shown {
    targets: HashSet<TargetId>,
    causes: HashSet<CauseKey>,
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
    /// Whether nothing has to run for the requests.
    pub(crate) fn is_fresh(&self, requests: &[FileId]) -> bool {
        requests.iter().all(|&file| self.verdict(file) == Verdict::Fresh)
    }

    /// The verdict on a request, as `check` has it. Phony targets that are stale in name only, because of a
    /// phony target without inputs and without a file, have nothing to run.
    fn verdict(&self, file: FileId) -> Verdict {
        let Some(asked) = self.decision.producer(file) else { return Verdict::Fresh };
        let (mut queue, mut seen) = (vec![asked], HashSet::new());
        while let Some(target) = queue.pop() {
            if !seen.insert(target) || self.decision.verdict(target) == Verdict::Fresh {
                continue;
            }
            let reasons = self.decision.reasons(target);
            let only_in_name = |reason: &Reason| {
                reason.upstream().is_some() || matches!(reason, Reason::PhonyMissing { .. })
            };
            if !self.graph.flags(target).phony || !reasons.iter().all(only_in_name) {
                return self.decision.verdict(asked);
            }
            queue.extend(reasons.iter().filter_map(Reason::upstream));
        }
        Verdict::Fresh
    }

    // ---- for people ---------------------------------------------------------------------------------

    pub(crate) fn print(&self, out: &mut dyn Write, requests: &[FileId]) -> io::Result<()> {
        let mut shown = Shown::default();
        for &file in requests {
            let path = words::path(self.graph, file);
            let Some(target) = self.decision.producer(file) else {
                // A missing source is no answer but an error.
                writeln!(out, "{BOLD}{path}{BOLD:#} is there, and nothing makes it")?;
                continue;
            };
            let state = match self.verdict(file) {
                Verdict::Fresh if self.decision.is_dirty(file) => {
                    format!("has {FRESH}nothing to run{FRESH:#}, but counts as stale for what needs it")
                }
                _ => self.state(target),
            };
            self.tree(out, target, &format!("{BOLD}{path}{BOLD:#} {state}"), &mut shown)?;
        }
        Ok(())
    }

    fn tree(
        &self,
        out: &mut dyn Write,
        target: TargetId,
        first_line: &str,
        shown: &mut Shown,
    ) -> io::Result<()> {
        if !shown.targets.insert(target) {
            return writeln!(out, "{first_line}, as shown above");
        }
        writeln!(out, "{first_line}")?;
        let mut stack = self.branches(target, String::new(), shown);
        while let Some(line) = stack.pop() {
            let fork = if line.last { "└─ " } else { "├─ " };
            write!(out, "{}{fork}", line.rails)?;
            match line.content {
                Content::Text(text) => writeln!(out, "{text}")?,
                Content::Target(below) => {
                    let name = words::bytes(self.graph.name(below));
                    write!(out, "{BOLD}{name}{BOLD:#} {}", self.state(below))?;
                    if shown.targets.insert(below) {
                        writeln!(out)?;
                        let rail = if line.last { "   " } else { "│  " };
                        stack.append(&mut self.branches(below, format!("{}{rail}", line.rails), shown));
                    } else {
                        writeln!(out, ", as shown above")?;
                    }
                }
            }
        }
        Ok(())
    }

    /// What hangs below a target, the first to be printed last: its own reasons, then stale inputs.
    fn branches(&self, target: TargetId, rails: String, shown: &mut Shown) -> Vec<Line> {
        let limit = if self.all { usize::MAX } else { MOST_BRANCHES };
        let reasons = self.decision.reasons(target);
        let is_own =
            |reason: &&Reason| reason.upstream().is_none() || matches!(reason, Reason::DyndepStale { .. });
        let own: Vec<_> = reasons.iter().filter(is_own).collect();
        let mut contents: Vec<_> =
            own.iter().take(limit).map(|reason| Content::Text(words::sentence(self.graph, reason))).collect();
        if own.len() > limit {
            let left = plural(own.len() - limit, "more reason");
            contents.push(Content::Text(format!("... and {left} of its own (--all shows them)")));
        }

        let mut seen = HashSet::new();
        let mut inputs: Vec<_> = reasons.iter().filter_map(Reason::upstream).collect();
        inputs.retain(|&producer| seen.insert(producer));
        // Those that are certain explain more than those that are pending.
        inputs.sort_by_key(|&producer| std::cmp::Reverse(self.decision.verdict(producer)));
        let (mut n_shown, mut n_alike) = (0, 0);
        for &input in &inputs {
            let causes = self.new_causes(input, shown);
            if !self.all && causes.as_ref().is_some_and(HashSet::is_empty) {
                n_alike += 1;
            } else if n_shown < limit {
                n_shown += 1;
                shown.causes.extend(causes.unwrap_or_default());
                contents.push(Content::Target(input));
            }
        }
        let mut rest = |n: usize, why| {
            if n > 0 {
                let more = if n_shown > 0 { "and " } else { "" };
                let noun = if n_shown > 0 { "more stale input" } else { "stale input" };
                let left = plural(n, noun);
                contents.push(Content::Text(format!("... {more}{left}{why} (--all shows them)")));
            }
        };
        rest(n_alike, ", for reasons given above");
        rest(inputs.len() - n_shown - n_alike, "");

        let n = contents.len();
        let lines = contents.into_iter().enumerate();
        let lines = lines.map(|(at, content)| Line { rails: rails.clone(), last: at + 1 == n, content });
        lines.rev().collect()
    }

    /// The reasons of a target that were not given for another before; `None` if it has some from others.
    fn new_causes(&self, target: TargetId, shown: &Shown) -> Option<HashSet<CauseKey>> {
        let reasons = self.decision.reasons(target);
        let keys = reasons.iter().map(cause_key).filter(|key| !shown.causes.contains(key));
        reasons.iter().all(|reason| reason.upstream().is_none()).then(|| keys.collect())
    }

    fn state(&self, target: TargetId) -> String {
        let phony = if self.graph.flags(target).phony { " (phony)" } else { "" };
        match self.decision.verdict(target) {
            Verdict::Fresh => format!("is {FRESH}fresh{FRESH:#}{phony}"),
            Verdict::Pending => format!("is {PENDING}pending{PENDING:#}{phony}"),
            Verdict::Stale => format!("is {STALE}stale{STALE:#}{phony}"),
        }
    }

    // ---- for programs -------------------------------------------------------------------------------

    /// Prints one object.
    pub(crate) fn print_json(&self, out: &mut dyn Write, requests: &[FileId]) -> io::Result<()> {
        let mut head = json::head(self.from, SCHEMA, self.is_fresh(requests));
        head.append(&mut self.requests(requests));
        let targets = self.chain(requests).into_iter().map(|target| self.target(target));
        json::object(out, head, "targets", targets, Map::new())
    }

    /// Prints one object per target, then one with all the rest.
    pub(crate) fn print_lines(&self, out: &mut dyn Write, requests: &[FileId]) -> io::Result<()> {
        for target in self.chain(requests) {
            writeln!(out, "{}", self.target(target))?;
        }
        let mut last = json::head(self.from, SCHEMA, self.is_fresh(requests));
        last.append(&mut self.requests(requests));
        writeln!(out, "{}", Value::Object(last))
    }

    fn requests(&self, requests: &[FileId]) -> Map<String, Value> {
        let graph = self.graph;
        let list = requests.iter().map(|&file| {
            let mut object = Map::new();
            json::put_path(&mut object, "path", graph.files.path(file));
            if let Some(target) = self.decision.producer(file) {
                json::put_path(&mut object, "target", graph.name(target));
            }
            object.insert("verdict".into(), json::verdict(self.verdict(file)).into());
            Value::Object(object)
        });
        Map::from_iter([("requests".to_owned(), list.collect())])
    }

    /// All targets along the chains, each once, those asked for first.
    fn chain(&self, requests: &[FileId]) -> Vec<TargetId> {
        let mut chain: Vec<_> = requests.iter().filter_map(|&file| self.decision.producer(file)).collect();
        let mut seen = HashSet::new();
        chain.retain(|&target| seen.insert(target));
        let mut next = 0;
        while let Some(&target) = chain.get(next) {
            next += 1;
            let reasons = self.decision.reasons(target);
            chain.extend(reasons.iter().filter_map(Reason::upstream).filter(|&before| seen.insert(before)));
        }
        chain
    }

    fn target(&self, target: TargetId) -> Value {
        let graph = self.graph;
        let mut object = Map::new();
        json::put_target(&mut object, graph, target);
        object.insert("phony".into(), graph.flags(target).phony.into());
        object.insert("verdict".into(), json::verdict(self.decision.verdict(target)).into());
        let reasons = self.decision.reasons(target);
        let reasons: Vec<_> = reasons.iter().map(|reason| json::reason(graph, reason)).collect();
        object.insert("reasons".into(), reasons.into());
        Value::Object(object)
    }
}

fn cause_key(reason: &Reason) -> CauseKey {
    let is_elsewhere = matches!(
        reason,
        Reason::InputMissing { .. }
            | Reason::InputNewer { .. }
            | Reason::PhonyMissing { .. }
            | Reason::DyndepBroken { .. }
            | Reason::Unreadable { .. }
    );
    (reason.code(), is_elsewhere.then(|| reason.path()))
}
