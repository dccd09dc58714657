//! Whatever is done to a graph, the reader does not panic, says where it went wrong, and says the same of a stream.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};
use std::io::Read;
use upcheck::Project;
use upcheck_graph::{Error, read, read_slice};

/// A graph with everything in it.
pub(crate) fn whole() -> Value {
    json!({
        "version": 1, "$schema": "graph.json", "vars": {"CC": "gcc", "LANG": {"base64": "/w=="}}, "policy": "digest",
        "targets": [
            {"outputs": ["a.o", {"base64": "/zE="}], "inputs": ["a.c", "b\u{e9}"], "implicit": ["cc.sh"],
             "order_only": ["out"], "validations": ["tests"], "command": ["cc", "-c", "a.c"], "depfile": "a.d",
             "globs": ["src/**/*.h"], "vars": {"OPT": "-O2"}, "policy": "mtime", "phony": false},
            {"name": "tests", "inputs": ["app"], "command": "run"},
            {"outputs": ["app"], "inputs": ["a.o"], "command": {"base64": "YQ=="}},
            {"outputs": ["all"], "inputs": ["app"], "phony": true}],
        "defaults": ["all"]
    })
}

/// A change to a document: where, and what.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Replace(Value),
    Remove,
    Repeat,
    Rename(String),
}

pub(crate) fn change() -> impl Strategy<Value = (Index, Change)> {
    let change = prop_oneof![
        4 => value().prop_map(Change::Replace),
        2 => Just(Change::Remove),
        2 => Just(Change::Repeat),
        1 => word().prop_map(Change::Rename),
    ];
    (any::<Index>(), change)
}

fn word() -> impl Strategy<Value = String> {
    let known = [
        "outputs", "name", "inputs", "command", "depfile", "globs", "vars", "policy", "phony", "base64",
        "mtime", "version", "a.o", "app", "tests", "", "/", "../x", "\u{0}", "ouputs", "{", "/w==", "*",
    ];
    prop_oneof![4 => proptest::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => any::<String>()]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        6 => word().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => (-2i64..3).prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => word().prop_map(|word| json!({ "base64": word })),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec((word(), inner), 0..3)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Makes a change somewhere in a document.
pub(crate) fn apply(document: &mut Value, (place, change): &(Index, Change)) {
    let mut n_places = 0;
    visit(document, &mut |_, _| {
        n_places += 1;
        false
    });
    if n_places == 0 {
        return;
    }
    let (mut place, mut n_visited) = (place.index(n_places), 0);
    visit(document, &mut |parent, at| {
        let is_it = n_visited == place;
        n_visited += 1;
        if is_it {
            change.make(parent, at);
            // Nothing else is to be changed.
            place = usize::MAX;
        }
        is_it
    });
}

/// Hands every place to `f`, as a container and a position in it, until `f` says stop.
fn visit(value: &mut Value, f: &mut impl FnMut(&mut Value, usize) -> bool) -> bool {
    let n_children = match value {
        Value::Array(list) => list.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    for at in 0..n_children {
        if f(value, at) {
            return true;
        }
        let child = match value {
            Value::Array(list) => list.get_mut(at),
            Value::Object(map) => map.values_mut().nth(at),
            _ => None,
        };
        if child.is_some_and(|child| visit(child, f)) {
            return true;
        }
    }
    false
}

impl Change {
    fn make(&self, parent: &mut Value, at: usize) {
        match parent {
            Value::Array(list) => match self {
                Self::Replace(value) => list[at] = value.clone(),
                Self::Remove => drop(list.remove(at)),
                Self::Repeat => list.push(list[at].clone()),
                Self::Rename(word) => list[at] = word.clone().into(),
            },
            Value::Object(map) => self.make_in(map, at),
            _ => unreachable!("it has children"),
        }
    }

    fn make_in(&self, map: &mut Map<String, Value>, at: usize) {
        let key = map.keys().nth(at).expect("a key").clone();
        let value = map.remove(&key).expect("a value");
        match self {
            Self::Replace(value) => map.insert(key, value.clone()),
            Self::Remove => None,
            Self::Repeat => map.insert(key, json!([value.clone(), value])),
            Self::Rename(word) => map.insert(word.clone(), value),
        };
    }
}

/// Hands out pieces of the lengths that somebody rolled.
struct Pieces<'a>(&'a [u8], &'a [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let (length, rest) = self.1.split_first().map_or((7, self.1), |(&first, rest)| (first.max(1), rest));
        self.1 = rest;
        let length = into.len().min(length.into());
        self.0.read(&mut into[..length])
    }
}

/// What the reader says of a text, the same whole or in pieces; an error has a place in the text.
pub(crate) fn outcome(text: &[u8], pieces: &[u8]) -> Result<Project, String> {
    let (mut project, mut streamed) = (Project::new(), Project::new());
    let result = read_slice(text, "g.json", &mut project);
    let of_stream = read(Pieces(text, pieces), "g.json", &mut streamed);
    let tell = |error: &Error| error.to_string();
    let shown = String::from_utf8_lossy(text);
    assert_eq!(result.as_ref().map_err(tell), of_stream.as_ref().map_err(tell), "{shown}");
    let n_files = |project: &Project| (project.graph().files.len(), project.graph().n_targets());
    assert_eq!(n_files(&project), n_files(&streamed), "{shown}");
    match result {
        Ok(_) => Ok(project),
        Err(Error::Content { line, column, message, .. }) => {
            let lines: Vec<_> = text.split(|&byte| byte == b'\n').collect();
            assert!((1..=lines.len()).contains(&line), "{line}: {shown}");
            assert!(
                (1..=lines[line - 1].len().max(1)).contains(&column),
                "{line}:{column}: {message}: {shown}"
            );
            assert!(!message.is_empty() && !message.contains(" at line "), "{message}");
            Err(message)
        }
        Err(error) => panic!("{error}"),
    }
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..50)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn documents_that_were_changed(
        changes in proptest::collection::vec(change(), 0..4),
        is_pretty: bool,
        pieces in pieces(),
    ) {
        let mut document = whole();
        changes.iter().for_each(|change| apply(&mut document, change));
        let text = if is_pretty { serde_json::to_vec_pretty(&document) } else { serde_json::to_vec(&document) };
        let outcome = outcome(&text.expect("text"), &pieces);
        prop_assert!(outcome.is_ok() || !changes.is_empty());
    }

    #[test]
    fn texts_that_were_changed(
        edits in proptest::collection::vec((any::<Index>(), 0..4usize, proptest::collection::vec(byte(), 0..4)), 1..4),
        pieces in pieces(),
    ) {
        let mut text = serde_json::to_vec_pretty(&whole()).expect("text");
        for (at, n_removed, bytes) in edits {
            let at = at.index(text.len());
            let end = text.len().min(at + n_removed);
            text.splice(at..end, bytes);
        }
        let _ = outcome(&text, &pieces);
    }

    #[test]
    fn texts_that_were_cut_off(at: Index, pieces in pieces()) {
        let text = serde_json::to_vec_pretty(&whole()).expect("text");
        let at = at.index(text.len());
        prop_assert!(outcome(&text[..at], &pieces).is_err());
    }
}

fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![3 => proptest::sample::select(b"{}[]:,\"\\ \n1-ntu/".to_vec()), 1 => any::<u8>()]
}
