//! Random globs on random trees: what `cmake -P` finds is what is found here.

use crate::builds::{VERSIONS, cmake};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Command;
use upcheck_cmake::globs::{self, Glob};
use upcheck_tests::space::Space;

/// What CMake finds, for each glob.
fn ask_cmake(version: &str, globs: &[Glob]) -> Vec<Vec<Vec<u8>>> {
    let mut script = b"cmake_policy(VERSION 3.16)\ncmake_policy(SET CMP0009 NEW)\n".to_vec();
    for glob in globs {
        script.extend(b"file(GLOB");
        script.extend(if glob.recurse { &b"_RECURSE found "[..] } else { b" found " });
        if glob.follow_symlinks {
            script.extend(b"FOLLOW_SYMLINKS ");
        }
        script.extend(if glob.list_directories {
            &b"LIST_DIRECTORIES true "[..]
        } else {
            b"LIST_DIRECTORIES false "
        });
        if let Some(relative) = &glob.relative {
            script.extend([b"RELATIVE [==[", &relative[..], b"]==] "].concat());
        }
        // Brackets take everything as it is.
        script.extend([b"[==[", &glob.expression[..], b"]==])\n"].concat());
        script.extend(b"file(APPEND found.txt \"${found}\\n\")\n");
    }
    // Elsewhere: links lead anywhere in the tree.
    let space = Space::new();
    space.write("ask.cmake", script);
    space.write("found.txt", "");
    let output = Command::new(cmake(version)).args(["-P", "ask.cmake"]).current_dir(space.path()).output();
    let output = output.expect("cmake runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found = space.read("found.txt");
    let lines = found.strip_suffix(b"\n").expect("lines").split(|&byte| byte == b'\n');
    let names = |line: &[u8]| {
        let names = line.split(|&byte| byte == b';').filter(|name| !name.is_empty());
        names.map(<[u8]>::to_vec).collect()
    };
    lines.map(names).collect()
}

fn compare(globs: &[Glob]) {
    let found = globs::evaluate(globs).expect("directories");
    for version in VERSIONS {
        let expected = ask_cmake(version, globs);
        for ((glob, found), expected) in globs.iter().zip(&found).zip(expected) {
            // A file that results are relative to has an empty name, which is lost in a list.
            let shown = |paths: &[Vec<u8>]| -> Vec<String> {
                let paths = paths.iter().filter(|path| !path.is_empty());
                paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect()
            };
            assert_eq!(
                shown(found),
                shown(&expected),
                "cmake {version}, '{}', {glob:?}",
                String::from_utf8_lossy(&glob.expression)
            );
        }
    }
}

const NAMES: [&str; 22] = [
    "a", "b", "ab", ".a", "a.c", "b.c", ".c", "A.c", "é", "x y", "a-b", "[a]", "a]", "^", "!", "a\\b", "$x",
    "{a,b}", "..a", "a.cc", "~", "-",
];

const PARTS: [&str; 38] = [
    "*", "?", "a", "b", "*.c", "a*", "*a*", "**", "??", "[ab]", "[!a]", "[^a]*", "[a-c]*", "[c-a]*", "[]a]*",
    "[!]]*", "[a", "a]", "[]", "[-a]*", "[a-]*", "[a\\-]*", "[*]", "[[]*", "\\*", "*\\b", "é", "?c", "[é]*",
    "..", ".", "", ".*", "[.]*", "*[.]c", "{a,b}", "[!-~]*", "*b*.c*",
];

/// Where a tree begins: so deep that a few `..` do not lead out of the test's own directory.
const ROOT: &str = "1/2/3/4/t";

/// One entry of a tree: where, and what it is.
type Entry = (Vec<usize>, u8, Vec<usize>);

fn tree() -> impl Strategy<Value = Vec<Entry>> {
    let path = || prop::collection::vec(0..NAMES.len(), 1..4);
    prop::collection::vec((path(), 0u8..6, path()), 0..30)
}

fn plant(space: &Space, entries: &[Entry]) {
    let root = space.path().join(ROOT);
    fs::create_dir_all(&root).expect("a directory");
    let place = |parts: &[usize]| parts.iter().fold(root.clone(), |path, &part| path.join(NAMES[part]));
    for (path, kind, other) in entries {
        let path = place(path);
        // What is in the way stays.
        let _ = fs::create_dir_all(path.parent().expect("a parent"));
        let _ = match kind {
            0 | 1 => fs::create_dir(&path),
            2 => symlink(place(other), &path),
            3 => symlink("..", &path),
            _ => fs::OpenOptions::new().write(true).create_new(true).open(&path).map(drop),
        };
    }
}

#[derive(Clone, Debug)]
struct Shape {
    parts: Vec<usize>,
    flags: u8,
    relative: Option<Vec<usize>>,
}

fn shape() -> impl Strategy<Value = Shape> {
    let relative = prop::option::weighted(0.3, prop::collection::vec(0..NAMES.len(), 0..3));
    (prop::collection::vec(0..PARTS.len(), 1..5), 0u8..8, relative)
        .prop_map(|(parts, flags, relative)| Shape { parts, flags, relative })
}

fn glob(space: &Space, shape: &Shape) -> Glob {
    let below = |parts: Vec<&str>| {
        let root = space.path().join(ROOT);
        let mut path = root.as_os_str().as_bytes().to_vec();
        for part in parts {
            path.push(b'/');
            path.extend(part.as_bytes());
        }
        path
    };
    let recurse = shape.flags & 1 != 0;
    Glob {
        expression: below(shape.parts.iter().map(|&part| PARTS[part]).collect()),
        recurse,
        list_directories: shape.flags & 2 != 0,
        follow_symlinks: recurse && shape.flags & 4 != 0,
        relative: shape.relative.as_ref().map(|parts| below(parts.iter().map(|&part| NAMES[part]).collect())),
        paths: Vec::new(),
    }
}

#[test]
fn globs_find_what_cmake_finds() {
    let cases = std::env::var("UPCHECK_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(6);
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner =
        TestRunner::new_with_rng(Config { failure_persistence: None, cases, ..Config::default() }, rng);
    let both = (tree(), prop::collection::vec(shape(), 60));
    let run = runner.run(&both, |(entries, shapes)| {
        let space = Space::new();
        plant(&space, &entries);
        let globs: Vec<Glob> = shapes.iter().map(|shape| glob(&space, shape)).collect();
        compare(&globs);
        Ok(())
    });
    if let Err(error) = run {
        panic!("{error}");
    }
}

#[test]
fn each_pattern_finds_what_cmake_finds_among_all_names() {
    let space = Space::new();
    let mut entries = Vec::new();
    for first in 0..NAMES.len() {
        entries.push((vec![first], if first % 2 == 0 { 0 } else { 5 }, vec![]));
        for second in 0..NAMES.len() {
            entries.push((vec![first, second], if second % 3 == 0 { 0 } else { 5 }, vec![]));
        }
    }
    plant(&space, &entries);
    for flags in 0..4 {
        let shapes = (0..PARTS.len()).flat_map(|first| {
            let alone = Shape { parts: vec![first], flags, relative: None };
            let below = Shape { parts: vec![0, first], flags, relative: None };
            [alone, below]
        });
        let globs: Vec<Glob> = shapes.map(|shape| glob(&space, &shape)).collect();
        compare(&globs);
    }
}
