//! What archives made by Rust need, and how they stand each other.

use crate::find::{asked, consumer};
use crate::installed::{folder, lets_cargo_build, prefix};
use crate::{clean, dynamic, refused, run};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use upcheck_tests::space::Space;
use upcheck_tests::tools::root;

/// What the installed files say that an archive needs: upcheck.pc and UpcheckConfig.cmake.
fn said_by_files(pc: &str, field: &str, variable: &str) -> [String; 2] {
    let pc = fs::read_to_string(prefix().join("lib/pkgconfig").join(pc)).expect("a .pc file");
    let config = prefix().join("lib/cmake/Upcheck/UpcheckConfig.cmake");
    let config = fs::read_to_string(config).expect("a config file");
    let line = |text: &str, start: &str| {
        text.lines().find_map(|line| line.strip_prefix(start)).unwrap_or_else(|| panic!("{start}")).to_owned()
    };
    let cmake = line(&config, &format!("set({variable} \""));
    let pc: Vec<_> =
        line(&pc, field).split_whitespace().skip_while(|word| !is_native(word)).map(str::to_owned).collect();
    [pc.join(" "), cmake.trim_end_matches("\")").replace(';', " ")]
}

fn is_native(word: &str) -> bool {
    word.starts_with("-l") && !word.starts_with("-lupcheck")
}

#[test]
fn what_archives_need_is_what_rustc_says() {
    prefix();
    let said_by_rustc = |package: &str| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(root()).args(["rustc", "--locked", "--profile", "archive", "--lib"]);
        cargo
            .args(["--package", package, "--crate-type", "staticlib", "--target-dir"])
            .arg(folder().join("cargo"));
        // The target's name and the settings are those of CMake's build: there is little to build then.
        lets_cargo_build(&mut cargo);
        cargo.arg("--target").arg(host()).args(["--", "--print", "native-static-libs"]);
        let said = run(&mut cargo);
        let line = said.lines().find_map(|line| line.split_once("native-static-libs: ")).expect("a list");
        line.1.trim().to_owned()
    };
    let c = said_by_rustc("upcheck-c");
    assert_eq!(said_by_files("upcheck.pc", "Libs.private:", "_upcheck_native_libs"), [c.clone(), c.clone()]);
    let cxx = said_by_rustc("upcheck-cxx");
    assert_eq!(said_by_files("upcheck_cxx.pc", "Libs:", "_upcheck_cxx_native_libs"), [cxx.clone(), cxx]);
}

/// The platform that cargo builds for.
pub(crate) fn host() -> String {
    let said = run(Command::new(env!("CARGO")).arg("-vV").current_dir(root()));
    said.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host").to_owned()
}

/// An archive of somebody else, made by the same rustc. It has a panic in it, which it catches, and allocates.
fn other_archive(space: &Space, options: &[&str]) -> PathBuf {
    space.write("other.rs", include_str!("other.rs"));
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc
        .current_dir(space.path())
        .args(["--edition", "2024", "--crate-type", "staticlib", "-O"])
        .args(options);
    run(rustc.args(["other.rs", "-o", "libother.a"]));
    space.path().join("libother.a")
}

/// Why the archives are built without LTO.
#[test]
fn two_rust_archives_can_be_in_one_program() {
    for archive in ["libupcheck.a", "libupcheck_cxx.a"] {
        let space = Space::new();
        let other = other_archive(&space, &[]);
        let ours = prefix().join("lib").join(archive);
        space.write("main.c", include_str!("two_archives.c"));
        for order in [[&ours, &other], [&other, &ours]] {
            let mut compile = clean("c++");
            compile.arg("-x").arg("c++").arg(space.path().join("main.c")).args(["-x", "none"]).args(order);
            compile.arg("-I").arg(prefix().join("include")).arg("-o").arg(space.path().join("both"));
            run(&mut compile);
            let said = run(clean(space.path().join("both")).arg(asked().path()));
            assert!(said.ends_with("other: 42, upcheck: output-missing\n"), "{said}");
        }
    }
}

/// A shared library that is made with an archive shows what is in it, unless the linker is told not to.
#[test]
fn a_shared_library_can_hide_the_archive_in_it() {
    let space = Space::new();
    let exported = |options: &[&str]| {
        let out = space.path().join("libown.so");
        let mut compile = clean("cc");
        compile.args(["-shared", "-fPIC", "-Dmain=own"]).arg(consumer().join("main.c"));
        compile.arg(prefix().join("lib/libupcheck.a")).arg("-I").arg(prefix().join("include")).args(options);
        run(compile.arg("-o").arg(&out));
        let symbols = run(clean("nm").args(["--dynamic", "--defined-only"]).arg(out));
        symbols
            .lines()
            .filter_map(|line| line.split_whitespace().last())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert!(exported(&[]).iter().any(|name| name.starts_with("upcheck_")));
    assert_eq!(exported(&["-Wl,--exclude-libs,libupcheck.a"]), ["own"]);
}

/// The shared library gives away what its header names, and nothing of Rust.
#[test]
fn the_shared_library_exports_its_functions_alone() {
    let library = prefix().join("lib/libupcheck.so");
    let symbols = run(clean("nm").args(["--dynamic", "--defined-only"]).arg(&library));
    let names: Vec<_> = symbols.lines().filter_map(|line| line.split_whitespace().last()).collect();
    assert!(names.len() > 50 && names.iter().all(|name| name.starts_with("upcheck_")), "{symbols}");
    assert_eq!(dynamic(&library, "RUNPATH"), [""; 0]);
}

/// What would otherwise be found out by whoever links two of them.
#[test]
fn both_archives_of_upcheck_in_one_program_do_not_link() {
    let space = Space::new();
    let lib = prefix().join("lib");
    let mut compile = clean("c++");
    compile
        .arg(consumer().join("main.cpp"))
        .arg("-I")
        .arg(prefix().join("include"))
        .arg("-Wl,--whole-archive");
    compile.args([lib.join("libupcheck.a"), lib.join("libupcheck_cxx.a")]).arg("-Wl,--no-whole-archive");
    let said = refused(compile.arg("-o").arg(space.path().join("both")));
    assert!(said.contains("multiple definition of"), "{said}");
}
