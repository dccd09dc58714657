//! A finding: what was measured or is the matter, how much it matters, and what to do about it.

use crate::words;
use serde_json::{Map, Value};

/// How many files or targets a finding names; it counts them all.
pub(super) const MOST_NAMED: usize = 10;
/// How many of these are named to people.
const FEW_NAMED: usize = 3;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// A fact, or something that is good to know.
    Info,
    /// Something that makes a build or a check go wrong.
    Warning,
}

impl Severity {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
        }
    }
}

/// One finding. `docs/schema/doctor.json` lists the codes, and which evidence belongs to them.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// Its name for programs: never changed.
    pub(super) code: &'static str,
    pub(super) severity: Severity,
    /// One sentence for people.
    pub(super) message: String,
    pub(super) advice: Option<String>,
    /// The values behind the message.
    pub(super) evidence: Map<String, Value>,
    /// The first files it is about.
    pub(super) files: Vec<Value>,
    /// The first targets it is about.
    pub(super) targets: Vec<Value>,
}

impl Finding {
    pub(super) fn info(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Info, message.into())
    }

    pub(super) fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into())
    }

    /// Something that could not be measured: an answer that is missing is no good news.
    pub(super) fn not_measured(message: impl Into<String>) -> Self {
        let advice = "see to it that the directory can be written to, and that its disk has room";
        Self::warning("not-measured", message).advise(advice)
    }

    fn new(code: &'static str, severity: Severity, message: String) -> Self {
        let (evidence, files, targets) = (Map::new(), Vec::new(), Vec::new());
        Self { code, severity, message, advice: None, evidence, files, targets }
    }

    /// Adds a value that the message rests on.
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.evidence.insert(key.into(), value.into());
        self
    }

    /// Says what to do.
    pub(super) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// As JSON has it.
    pub(super) fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("code".into(), self.code.into());
        object.insert("severity".into(), self.severity.name().into());
        object.insert("message".into(), self.message.clone().into());
        object.insert("evidence".into(), self.evidence.clone().into());
        for (key, list) in [("files", &self.files), ("targets", &self.targets)] {
            if !list.is_empty() {
                object.insert(key.into(), list.clone().into());
            }
        }
        if let Some(advice) = &self.advice {
            object.insert("advice".into(), advice.clone().into());
        }
        Value::Object(object)
    }
}

/// The first few of many, for people: `a, b, c and 4 more`.
pub(super) fn few(names: &[String], n_all: usize) -> String {
    let shown = &names[..names.len().min(FEW_NAMED)];
    let mut text = shown.join(", ");
    if n_all > shown.len() {
        text.push_str(&format!(" and {} more", upcheck_words::count(n_all - shown.len())));
    }
    text
}

/// An error, with operation, path and cause.
pub(super) fn mishap(operation: &str, path: &std::path::Path, cause: &std::io::Error) -> String {
    let path = words::visible(&path.display().to_string(), "");
    format!("{operation} '{path}': {}", upcheck::os_message(cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_of_many_are_named() {
        let names = ["a", "b", "c", "d"].map(String::from);
        assert_eq!(few(&names[..1], 1), "a");
        assert_eq!(few(&names[..3], 3), "a, b, c");
        assert_eq!(few(&names, 1_234), "a, b, c and 1,231 more");
    }
}
