//! All that an answer says, and how the files looked that it is made of: so that two answers to one question can be compared.
//!
//! What two looks at the same may differ in is left out: costs, the moments of the look, what became of the image, and where
//! the answer comes from. It travels as one object of JSON:
//!
//! ```text
//!   report     as `--format json` prints it
//!   warnings   as they are printed, one by one
//!   files      by path, how each looked, as far as a verdict can depend on it
//!   watched    what the answer comes from, if it comes from a daemon
//! ```

use crate::answer::{Answer, Rules, Watched};
use crate::json;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use upcheck::{Snapshot, Stat};
use upcheck_words::count;

/// What of the summary says how the answer was found, and not what it is. Depfiles count as files where it is known from before
/// what they say, and not where they are read.
const COSTS: [&str; 8] = [
    "files",
    "directories",
    "stats",
    "image",
    "watched",
    "verified",
    "snapshot_began_ns",
    "snapshot_ended_ns",
];
/// So many characters of a value are shown.
const MOST_OF_A_VALUE: usize = 500;
/// So many differences of a kind are named.
const MOST_NAMED: usize = 100;

/// An answer, and what it is made of.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    report: Map<String, Value>,
    warnings: Vec<Value>,
    /// By path, as ASCII.
    files: BTreeMap<String, String>,
    watched: Option<Watched>,
    /// All that was seen of each file. Empty for what another process has said.
    stats: Vec<Stat>,
}

impl Evidence {
    /// Of an answer that was found here. `None` where it cannot be printed, which nobody has seen.
    pub(super) fn of(answer: &Answer<'_>, snapshot: &Snapshot) -> Option<Self> {
        let mut printed = Vec::new();
        json::print(&mut printed, answer).ok()?;
        let mut report = object(serde_json::from_slice(&printed).ok()?)?;
        if let Some(Value::Object(summary)) = report.get_mut("summary") {
            summary.retain(|key, _| !COSTS.contains(&key.as_str()));
        }
        let warnings = match &answer.rules {
            Rules::Ninja(ninja) => ninja.build.map(|build| build.warnings()).unwrap_or_default(),
            Rules::Project { .. } => &[],
        };
        let files = &answer.graph.files;
        let stats: Vec<_> = files.ids().map(|file| snapshot.stat(file)).collect();
        let looked_at = files.ids().zip(&stats).filter(|(_, stat)| **stat != Stat::Unknown);
        let looks = looked_at.map(|(file, stat)| (files.path(file).escape_ascii().to_string(), look(*stat)));
        Some(Self {
            report,
            warnings: warnings.iter().map(|warning| warning.as_str().into()).collect(),
            files: looks.collect(),
            watched: answer.watched,
            stats,
        })
    }

    /// As it travels.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let Self { report, warnings, files, watched, .. } = self;
        let watched = watched.map(Watched::name);
        let document = json!({ "report": report, "warnings": warnings, "files": files, "watched": watched });
        document.to_string().into_bytes()
    }

    /// What has travelled; `None` where it is something else.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut document = object(serde_json::from_slice(bytes).ok()?)?;
        let report = object(document.remove("report")?)?;
        let Value::Array(warnings) = document.remove("warnings")? else { return None };
        let text = |(path, look): (String, Value)| Some((path, look.as_str()?.to_owned()));
        let files = object(document.remove("files")?)?.into_iter().map(text).collect::<Option<_>>()?;
        let name = document.remove("watched")?;
        let watched = Watched::ALL.into_iter().find(|watched| Some(watched.name()) == name.as_str());
        Some(Self { report, warnings, files, watched, stats: Vec::new() })
    }

    /// What the answer comes from.
    pub(super) fn watched(&self) -> Option<Watched> {
        self.watched
    }

    /// Whether files looked the same here, up to what no program can choose, and the answers are the same.
    pub(super) fn is_of_the_same(&self, other: &Self) -> bool {
        self.stats == other.stats && self.files == other.files && self.report == other.report
    }

    /// What is wrong in this answer if the other one is right; for people, a line for each thing.
    pub(super) fn differences(&self, right: &Self) -> Vec<String> {
        let mut lines = named(self.targets(right));
        lines.extend(named(self.looks(right)));
        let mut compare = |key: &str, here: Option<&Value>, there: Option<&Value>| {
            lines.extend((here != there).then(|| format!("{key}: {}, and not {}", text(here), text(there))));
        };
        for key in ["verdict", "root_causes", "errors"] {
            compare(key, self.report.get(key), right.report.get(key));
        }
        let summary = |report: &Map<String, Value>| report.get("summary").and_then(Value::as_object).cloned();
        let (here, there) = (summary(&self.report), summary(&right.report));
        let (here, there) = (here.unwrap_or_default(), there.unwrap_or_default());
        let keys = there.keys().chain(here.keys().filter(|key| !there.contains_key(*key)));
        keys.for_each(|key| compare(key, here.get(key), there.get(key)));
        if self.warnings != right.warnings {
            let show = |warnings: &Vec<Value>| Value::from(warnings.clone());
            lines.push(format!("warnings: {}, and not {}", show(&self.warnings), show(&right.warnings)));
        }
        lines
    }

    /// Stale targets by name.
    fn stale(&self) -> BTreeMap<String, &Value> {
        let stale = self.report.get("stale").and_then(Value::as_array).into_iter().flatten();
        stale.map(|target| (text(target.get("target_b64").or(target.get("target"))), target)).collect()
    }

    fn targets(&self, right: &Self) -> Vec<String> {
        let (here, there) = (self.stale(), right.stale());
        let verdict = |target: Option<&&Value>| match target {
            None => "fresh".to_owned(),
            Some(target) => {
                let reasons = target.get("reasons").and_then(Value::as_array).into_iter().flatten();
                let reasons =
                    reasons.map(|why| format!("{} {}", text(why.get("code")), text(why.get("path"))));
                format!("{} ({})", text(target.get("verdict")), reasons.collect::<Vec<_>>().join(", "))
            }
        };
        let mut names: Vec<_> = here.keys().chain(there.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let differ = names.into_iter().filter(|name| here.get(*name) != there.get(*name));
        let line = |name: &String| {
            format!("target {name}: {}, and not {}", verdict(here.get(name)), verdict(there.get(name)))
        };
        differ.map(line).collect()
    }

    /// Of what was looked at here, more is no difference: depfiles count as files once they were read.
    fn looks(&self, right: &Self) -> Vec<String> {
        let differ = right.files.iter().filter(|(path, look)| self.files.get(*path) != Some(*look));
        let line = |(path, look): (&String, &String)| {
            let here = self.files.get(path).map_or("not looked at", String::as_str);
            format!("file {path}: {here}, and not {look}")
        };
        differ.map(line).collect()
    }
}

/// Lines, if there are not too many of them.
fn named(mut lines: Vec<String>) -> Vec<String> {
    let n_more = lines.len().saturating_sub(MOST_NAMED);
    if n_more > 0 {
        lines.truncate(MOST_NAMED);
        lines.push(format!("... and {} more", count(n_more)));
    }
    lines
}

fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// A text as it is, anything else as JSON, which may be long: as much of it as tells something.
fn text(value: Option<&Value>) -> String {
    match value {
        None => "nothing".into(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string().chars().take(MOST_OF_A_VALUE).collect(),
    }
}

/// What a verdict can depend on. Nanoseconds since 1970.
fn look(stat: Stat) -> String {
    match stat {
        Stat::Unknown => "unknown".into(),
        Stat::Missing => "missing".into(),
        Stat::Unreadable(error) => format!("error {error}"),
        Stat::Present(meta) => format!("of {}", meta.mtime),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(verdict: &str, mtime: i64) -> Evidence {
        let stale = match verdict {
            "fresh" => json!([]),
            _ => {
                json!([{ "target": "a.o", "verdict": verdict, "reasons": [{ "code": "newer", "path": "a.c" }] }])
            }
        };
        let report = json!({ "verdict": verdict, "stale": stale, "summary": { "targets": 2 } });
        let meta = upcheck::Meta { mtime, ..upcheck::Meta::default() };
        let files = [("a.c", Stat::Present(meta)), ("\\xff", Stat::Missing), ("c", Stat::Unreadable(40))];
        Evidence {
            report: object(report).expect("an object"),
            warnings: vec!["w".into()],
            files: files.into_iter().map(|(path, stat)| (path.to_owned(), look(stat))).collect(),
            watched: Some(Watched::Changes),
            stats: Vec::new(),
        }
    }

    #[test]
    fn what_has_travelled_is_what_was_sent() {
        let sent = evidence("stale", 7);
        let arrived = Evidence::from_bytes(&sent.to_bytes()).expect("evidence");
        assert_eq!(arrived.differences(&sent), Vec::<String>::new());
        assert_eq!(sent.differences(&arrived), Vec::<String>::new());
        assert!(arrived.is_of_the_same(&sent));
        assert_eq!(arrived.watched(), Some(Watched::Changes));
        for bytes in [&b""[..], b"{}", b"[]", b"fresh: nothing to do\n", b"{\"report\":1}"] {
            assert!(Evidence::from_bytes(bytes).is_none());
        }
    }

    #[test]
    fn each_target_and_file_that_differs_is_named_with_both_values() {
        let lines = evidence("fresh", 7).differences(&evidence("stale", 8));
        assert_eq!(
            lines,
            [
                "target a.o: fresh, and not stale (newer a.c)",
                "file a.c: of 7, and not of 8",
                "verdict: fresh, and not stale"
            ]
        );
        let lines = evidence("stale", 7).differences(&evidence("pending", 7));
        assert_eq!(lines[0], "target a.o: stale (newer a.c), and not pending (newer a.c)");
    }

    #[test]
    fn whatever_is_missing_or_says_something_else_is_a_difference() {
        let right = evidence("fresh", 7);
        let differs = |change: &dyn Fn(&mut Evidence)| {
            let mut other = right.clone();
            change(&mut other);
            !other.differences(&right).is_empty()
        };
        assert!(!differs(&|_| {}));
        assert!(!differs(&|it| drop(it.files.insert("a.d".into(), "missing".into()))), "more files are none");
        assert!(differs(&|it| drop(it.files.remove("c"))));
        assert!(differs(&|it| it.files.values_mut().for_each(|look| *look = "missing".into())));
        assert!(differs(&|it| it.warnings.clear()));
        assert!(differs(&|it| it.report["summary"]["targets"] = 3.into()));
        assert!(differs(&|it| drop(it.report.remove("verdict"))));
    }

    #[test]
    fn of_very_many_differences_the_first_are_named() {
        let lines = named((0..1_000).map(|n| n.to_string()).collect());
        assert_eq!(lines.len(), MOST_NAMED + 1);
        assert_eq!(lines[MOST_NAMED], "... and 900 more");
    }
}
