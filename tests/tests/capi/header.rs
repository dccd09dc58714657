//! The header: every compiler takes it without a word, and it declares what the library has.

use crate::c::{gcc, said_nothing, sources, succeeded};
use crate::declared::{exported, header};
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs;
use std::process::Command;
use tempfile::TempDir;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::tools::{c_include, c_library};

/// Compilers, and whether they are for C++.
const COMPILERS: [(&str, bool); 4] = [("gcc", false), ("g++", true), ("clang", false), ("clang++", true)];
const WARNINGS: [&str; 6] = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-Wstrict-prototypes", "-Wundef"];

#[test]
fn every_compiler_takes_the_header_in_every_language_without_a_word() {
    let folder = TempDir::new().expect("a folder");
    let others = ["stddef.h", "stdint.h", "stdio.h", "string.h", "errno.h", "sys/stat.h"];
    let others = others.map(|name| format!("#include <{name}>\n")).concat();
    let header = "#include <upcheck.h>\n";
    let body = "int main(void) { return upcheck_version() != UPCHECK_VERSION || UPCHECK_E_INVALID != -1; }\n";
    let texts = [
        format!("{header}{body}"),
        format!("{header}{header}{body}"),
        format!("{header}{others}{body}"),
        format!("{others}{header}{body}"),
    ];
    drop(gcc());
    for (compiler, is_cpp) in COMPILERS {
        if Command::new(compiler).arg("--version").output().is_err() {
            not_tested(&format!("the header with {compiler}, which is not on this machine"));
            continue;
        }
        let standards: &[&str] = if is_cpp {
            &["c++11", "c++14", "c++17", "c++20"]
        } else {
            &["c99", "c11", "c17", "gnu99", "gnu17"]
        };
        for (position, text) in texts.iter().enumerate() {
            let source = folder.path().join(format!("{position}.{}", if is_cpp { "cpp" } else { "c" }));
            fs::write(&source, text).expect("a source");
            for standard in standards {
                let warnings =
                    WARNINGS.iter().filter(|warning| !is_cpp || **warning != "-Wstrict-prototypes");
                let mut command = Command::new(compiler);
                command.args(warnings).arg(format!("-std={standard}")).arg("-I").arg(c_include());
                said_nothing(command.arg("-fsyntax-only").arg(&source));
            }
        }
    }
}

#[test]
fn the_header_declares_what_the_library_exports_and_nothing_else() {
    let declared: BTreeSet<_> = header().functions.into_iter().map(|(name, _)| name).collect();
    let library = c_library().join("libupcheck.so");
    let symbols = succeeded(Command::new("nm").args(["-D", "--defined-only"]).arg(library));
    let symbols: BTreeSet<_> =
        symbols.lines().map(|line| line.split_whitespace().last().expect("a symbol").to_owned()).collect();
    assert_eq!(declared, symbols);
    let in_rust: BTreeSet<_> = exported().into_keys().collect();
    assert_eq!(declared, in_rust);
}

#[test]
fn the_archive_has_all_functions_too() {
    let archive = c_library().join("libupcheck.a");
    let output = Command::new("nm").args(["--defined-only"]).arg(archive).output().expect("nm");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let symbols: BTreeSet<_> =
        text.lines().filter_map(|line| line.split_once(" T ").map(|(_, name)| name)).collect();
    for (name, _) in header().functions {
        assert!(symbols.contains(&*name), "{name} is not in libupcheck.a");
    }
}

#[test]
fn functions_have_the_same_parameters_on_both_sides() {
    let exported = exported();
    for (name, declared) in header().functions {
        assert_eq!(Some(&declared), exported.get(&name), "{name}");
    }
}

#[test]
fn every_function_has_a_comment_or_stands_right_behind_one_of_its_kind() {
    // A function is told of above it, or above the struct that it takes, or at the end of its line, or with a kindred one right
    // before it. What a free function does is said on top, for all of them.
    let header = header();
    let (_, declarations) = header.text.split_once("extern \"C\" {").expect("declarations");
    let is_directive = |line: &&str| line.starts_with('#');
    let declarations: Vec<_> = declarations.lines().filter(|line| !is_directive(line)).collect();
    let declarations = declarations.join("\n");
    let mut blocks = declarations.split("UPCHECK_API ");
    let mut before = blocks.next().expect("what is before the first one");
    let mut was_told = false;
    for block in blocks {
        let (declaration, rest) = block.split_once(';').expect("the end of a declaration");
        let is_above = before.contains("\n/*");
        let is_beside = rest.lines().next().is_some_and(|line| line.contains("/*"));
        let is_adjacent = was_told && before.split_once(';').is_some_and(|(_, rest)| rest.trim().is_empty());
        let is_free = declaration.contains("_free(");
        assert!(is_above || is_beside || is_adjacent || is_free, "nothing is said about {declaration}");
        was_told = !is_free || was_told;
        before = block;
    }
}

#[test]
fn the_rust_functions_stand_in_the_order_of_the_header() {
    // Within each file; which files there are is Rust's own matter.
    let order: Vec<String> = header().functions.into_iter().map(|(name, _)| name).collect();
    let folder = sources().join("../../../ffi/capi/src");
    for entry in fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a source");
        let places: Vec<usize> = text
            .split("extern \"C\" fn ")
            .skip(1)
            .map(|rest| {
                let name = rest.split('(').next().expect("a name");
                order.iter().position(|known| known == name).unwrap_or_else(|| panic!("{name}"))
            })
            .collect();
        assert!(
            places.is_sorted(),
            "{}: {:?}",
            path.display(),
            places.iter().map(|&at| &order[at]).collect::<Vec<_>>()
        );
    }
}

#[test]
fn the_versions_of_header_library_and_package_are_the_same() {
    let header = header();
    let part = |name: &str| -> u32 {
        let (_, rest) = header.text.split_once(&format!("#define {name} ")).expect("a version");
        rest.lines().next().and_then(|text| text.trim().parse().ok()).expect("a number")
    };
    let parts = ["UPCHECK_VERSION_MAJOR", "UPCHECK_VERSION_MINOR", "UPCHECK_VERSION_PATCH"].map(part);
    let [major, minor, patch] = parts;
    assert_eq!(upcheck_capi::upcheck_version(), (major << 24) | (minor << 12) | patch);
    // SAFETY: a static text.
    let words = unsafe { CStr::from_ptr(upcheck_capi::upcheck_version_string()) };
    assert_eq!(words.to_str(), Ok(&*format!("{major}.{minor}.{patch}")));
    assert_eq!(words.to_str(), Ok(env!("CARGO_PKG_VERSION")));
}
