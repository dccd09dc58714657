//! docs/SEMANTICS.md names each test of this suite, and only tests that there are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use upcheck_tests::tools;

/// The tests in a suite's sources, a file or all files of a folder and those in it, and whether they are ignored.
fn tests_in(suite: &str) -> BTreeMap<String, bool> {
    let places = ["tests/tests", "tests/fuse/tests"].map(|place| tools::root().join(place).join(suite));
    let is_there = |folder: &&PathBuf| folder.is_dir() || folder.with_extension("rs").is_file();
    let folder = places.iter().find(is_there).unwrap_or(&places[0]);
    let mut sources = Vec::new();
    let mut left = if folder.is_dir() { vec![folder.clone()] } else { vec![folder.with_extension("rs")] };
    while let Some(place) = left.pop() {
        match fs::read_dir(&place) {
            Ok(entries) => left.extend(entries.map(|entry| entry.expect("an entry").path())),
            Err(_) => sources.push(place),
        }
    }
    let mut tests = BTreeMap::new();
    for source in sources {
        let text =
            fs::read_to_string(&source).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
        for after in text.split("#[test]\n").skip(1) {
            let (attributes, rest) = after.split_once("fn ").expect("a function");
            let (name, _) = rest.split_once('(').expect("a function");
            let twice = tests.insert(format!("{suite}::{name}"), attributes.contains("#[ignore"));
            assert_eq!(twice, None, "{name} can only be one test");
        }
    }
    tests
}

#[test]
fn every_test_that_the_document_names_exists_and_each_of_this_suite_is_named() {
    let document = fs::read_to_string(tools::root().join("docs/SEMANTICS.md")).expect("the document");
    let mut named = BTreeSet::new();
    for row in document.lines() {
        let code = row.split('`').skip(1).step_by(2);
        for name in code.filter(|code| code.contains("::")) {
            let (suite, _) = name.split_once("::").expect("a suite");
            let tests = tests_in(suite);
            let ignored = tests.get(name).unwrap_or_else(|| panic!("there is no test {name}"));
            assert_eq!(row.contains("not so yet"), *ignored, "{name}");
            named.insert(name.to_owned());
        }
    }
    let mut rules: BTreeSet<_> = tests_in("semantics").into_keys().collect();
    rules.retain(|name| !name.contains("every_test_that_the_document_names"));
    let unnamed: Vec<_> = rules.difference(&named).collect();
    assert!(rules.len() > 90 && unnamed.is_empty(), "the document does not name {unnamed:#?}");
}
