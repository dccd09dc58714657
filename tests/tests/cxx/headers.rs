//! The headers: alone, together, with every standard, with both compilers.

use crate::compile::{archive, compiler, is_there, program, run, said_nothing, sources, succeeded};
use std::fs;
use std::process::Command;
use upcheck_tests::aloud;
use upcheck_tests::space::Space;
use upcheck_tests::tools::{cxx_include, root};

const HEADERS: [&str; 5] =
    ["upcheck.h", "upcheck/types.hpp", "upcheck/bridge.rs.h", "upcheck/upcheck.hpp", "rust/cxx.h"];

/// Beyond what is asked for: what many projects compile with.
const MORE_WARNINGS: [&str; 6] = [
    "-Wshadow",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wold-style-cast",
    "-Wnon-virtual-dtor",
    "-Wcast-qual",
];

/// Compiles a file that includes a header twice and nothing else.
fn compiles(name: &str, standard: &str, header: &str, warnings: &[&str]) {
    let space = Space::new();
    let source = space.path().join("alone.cc");
    fs::write(&source, format!("#include <{header}>\n#include <{header}>\n")).expect("a source");
    said_nothing(compiler(name, standard).args(warnings).arg("-fsyntax-only").arg(source));
}

#[test]
fn each_header_compiles_alone() {
    archive();
    for header in HEADERS {
        compiles("g++", "-std=c++17", header, &[]);
    }
    for standard in ["-std=c++17", "-std=c++20", "-std=c++23"] {
        compiles("g++", standard, "upcheck/upcheck.hpp", &MORE_WARNINGS);
    }
}

#[test]
fn clang_has_nothing_to_say() {
    archive();
    if !is_there("clang++") {
        return aloud::not_tested("the C++ headers with clang++, which cannot be had here");
    }
    for standard in ["-std=c++17", "-std=c++20", "-std=c++2b"] {
        compiles("clang++", standard, "upcheck/upcheck.hpp", &MORE_WARNINGS);
    }
    // Not as C++20: clang does not understand the views of every libstdc++.
    let space = Space::new();
    let made = space.path().join("ranges");
    let mut clang = compiler("clang++", "-std=c++17");
    clang.arg(sources().join("ranges.cc")).arg(archive()).args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&made);
    said_nothing(&mut clang);
    succeeded(Command::new(made).current_dir(space.path()));
}

#[test]
fn several_files_of_a_program_include_them() {
    let space = Space::new();
    let made = space.path().join("units");
    let (one, two) = (sources().join("unit_one.cc"), sources().join("unit_two.cc"));
    program("-std=c++17", &[], &[&one, &two], &made);
    succeeded(Command::new(made).current_dir(space.path()));
}

/// What is installed is copied from there: links would lead nowhere elsewhere.
#[test]
fn the_folder_has_files_and_no_links() {
    archive();
    let mut found = Vec::new();
    let mut folders = vec![cxx_include()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let kind = entry.file_type().expect("a kind");
            assert!(!kind.is_symlink(), "{} is a link", entry.path().display());
            if kind.is_dir() {
                folders.push(entry.path());
            } else {
                let path = entry.path();
                found.push(path.strip_prefix(cxx_include()).expect("below it").display().to_string());
            }
        }
    }
    found.sort();
    let mut expected = HEADERS.map(str::to_owned);
    expected.sort();
    assert_eq!(found, expected);
    for (copy, original) in [
        ("upcheck.h", "ffi/c/include/upcheck.h"),
        ("upcheck/types.hpp", "ffi/cxx/include/upcheck/types.hpp"),
        ("upcheck/upcheck.hpp", "ffi/cxx/include/upcheck/upcheck.hpp"),
    ] {
        let read = |path| fs::read(path).expect("a header");
        assert!(read(cxx_include().join(copy)) == read(root().join(original)), "{copy} is an old copy");
    }
}

/// A C program that links the archive finds all functions of the C interface there.
#[test]
fn the_archive_has_the_c_functions() {
    let symbols = run(Command::new("nm").arg("--defined-only").arg("--extern-only").arg(archive()));
    let symbols = String::from_utf8_lossy(&symbols.stdout).into_owned();
    let header = fs::read_to_string(root().join("ffi/c/include/upcheck.h")).expect("the header");
    let mut n_functions = 0;
    for part in header.split("upcheck_").skip(1) {
        let name: String = part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        // Functions are what a parenthesis follows; comments say "upcheck_version() is".
        if part[name.len()..].starts_with('(') {
            n_functions += 1;
            let line = format!(" T upcheck_{name}\n");
            assert!(symbols.contains(&line), "upcheck_{name} is not in the archive");
        }
    }
    assert!(n_functions > 50, "{n_functions}");
}

/// As the documentation of the header begins.
#[test]
fn the_example_in_the_header_compiles() {
    let header = fs::read_to_string(root().join("ffi/cxx/include/upcheck/upcheck.hpp")).expect("the header");
    let lines = header.lines().filter_map(|line| line.strip_prefix("//   "));
    let example: Vec<&str> = lines.skip_while(|line| !line.starts_with("upcheck::Graph graph(")).collect();
    let end = example.iter().position(|line| line.starts_with("for (")).expect("the example's last line");
    let body = example[..=end].join("\n");
    let space = Space::new();
    let source = space.path().join("example.cc");
    let text = format!("#include <iostream>\n#include <upcheck/upcheck.hpp>\nint main() {{\n{body}\n}}\n");
    fs::write(&source, text).expect("a source");
    let made = space.path().join("example");
    program("-std=c++17", &[], &[&source], &made);
    space.write("my/project/main.c", "");
    let printed = succeeded(Command::new(made).current_dir(space.path()));
    assert_eq!(printed, "util.c does not exist and nothing makes it\napp does not exist\n");
}
