//! The functions for CMake projects, as they come with the package.

use crate::find::found_in;
use crate::installed::{CMAKES, cmake, folder, lets_cargo_build, prefix};
use crate::{clean, run};
use std::path::Path;
use std::process::Command;
use upcheck_tests::space::Space;
use upcheck_tests::tools::{Ninja, root};

/// An external project, which puts a file together; what comes before and behind.
fn project(before: &str, behind: &str) -> Space {
    let space = Space::new();
    space.write("e/a.txt", "a\n");
    let lines = format!(
        "cmake_minimum_required(VERSION 3.16...4.0)
project(whole C)
include(ExternalProject)
{before}
ExternalProject_Add(e SOURCE_DIR \"${{CMAKE_CURRENT_SOURCE_DIR}}/e\" CONFIGURE_COMMAND \"\" INSTALL_COMMAND \"\"
  BUILD_COMMAND \"${{CMAKE_COMMAND}}\" -E copy <SOURCE_DIR>/a.txt out.txt)
upcheck_external_project(e)
{behind}"
    );
    space.write("CMakeLists.txt", lines);
    space
}

/// Configures it with the installed tree.
#[track_caller]
fn configure(space: &Space, version: &str, generator: &str) {
    let mut command = clean(cmake(version));
    command.arg("-S").arg(space.path()).arg("-B").arg(space.path().join("build")).args(["-G", generator]);
    if generator == "Ninja" {
        command.arg(format!("-DCMAKE_MAKE_PROGRAM={}", Ninja::V1_13.path().display()));
    }
    run(command.arg(found_in(prefix())));
}

/// Builds it a few times.
#[track_caller]
fn check(space: &Space, build: impl Fn() -> String) {
    let entered = |said: &str| said.contains("Performing build step for 'e'");
    let said = build();
    assert!(entered(&said), "{said}");
    let said = build();
    assert!(!entered(&said), "{said}");
    space.write("e/a.txt", "b\n");
    let said = build();
    assert!(entered(&said), "{said}");
    assert_eq!(space.read("build/e-prefix/src/e-build/out.txt"), b"b\n");
    let said = build();
    assert!(!entered(&said), "{said}");
}

#[test]
fn they_come_with_the_package() {
    for version in CMAKES {
        for generator in ["Ninja", "Unix Makefiles"] {
            let space = project("find_package(Upcheck 0.1 REQUIRED COMPONENTS cli)", "");
            configure(&space, version, generator);
            let build = || run(clean(cmake(version)).arg("--build").arg(space.path().join("build")));
            check(&space, build);
        }
    }
}

/// Targets of packages belong to the directory that has looked for them; functions do not.
#[test]
fn they_are_there_for_the_whole_project() {
    for version in CMAKES {
        let space = project("add_subdirectory(sub)", "");
        space.write("sub/CMakeLists.txt", "find_package(Upcheck REQUIRED)\n");
        configure(&space, version, "Ninja");
        let build = || run(clean(cmake(version)).arg("--build").arg(space.path().join("build")));
        check(&space, build);
    }
}

#[test]
fn all_of_them_are_there() {
    let names = functions();
    assert!(names.len() >= 7, "{names:?}");
    for version in CMAKES {
        let tests: String = names
            .iter()
            .map(|name| format!("if(NOT COMMAND {name})\n  message(FATAL_ERROR {name})\nendif()\n"))
            .collect();
        let space = project("find_package(Upcheck REQUIRED)", &tests);
        configure(&space, version, "Ninja");
    }
}

/// The functions that the module's first lines name.
fn functions() -> Vec<String> {
    let module =
        std::fs::read_to_string(root().join("integrations/cmake/module/Upcheck.cmake")).expect("the module");
    let mut names: Vec<_> =
        module.lines().filter_map(|line| Some(line.trim().strip_prefix('`')?.split_once('`')?.0)).collect();
    names.retain(|name| name.starts_with("upcheck_"));
    names.sort_unstable();
    names.into_iter().map(str::to_owned).collect()
}

/// Where upcheck is a part of the project, it is built before it is asked.
#[test]
fn they_come_with_upcheck_as_a_part() {
    prefix(); // takes the lock, and leaves cargo nothing to build
    let options = "set(UPCHECK_SHARED OFF)\nset(UPCHECK_STATIC OFF)\nset(UPCHECK_CXX OFF)\n";
    for version in CMAKES {
        for generator in ["Ninja", "Unix Makefiles"] {
            let part = format!("{options}add_subdirectory(\"{}\" upcheck)", root().join("ffi").display());
            let space = project(&part, "");
            let make = if generator == "Ninja" { Ninja::V1_13.path() } else { Path::new("make") };
            // Cargo has to find what it needs: this environment is not a clean one.
            let command = || {
                let mut command = Command::new(cmake(version));
                lets_cargo_build(&mut command);
                command
            };
            let mut configure = command();
            configure
                .arg("-S")
                .arg(space.path())
                .arg("-B")
                .arg(space.path().join("build"))
                .args(["-G", generator]);
            configure.arg(format!("-DCMAKE_MAKE_PROGRAM={}", make.display()));
            configure.arg(format!("-DUPCHECK_CARGO_TARGET_DIR={}", folder().join("cargo").display()));
            run(&mut configure);
            let build =
                || run(command().arg("--build").arg(space.path().join("build")).args(["--parallel", "4"]));
            check(&space, build);
        }
    }
}
