//! Projects that have upcheck as a part of themselves, by `add_subdirectory` or FetchContent.

use crate::find::{check_program, check_programs, consumer};
use crate::installed::{cmake, folder, lets_cargo_build, prefix};
use crate::{SONAME, VERSION, run};
use std::path::Path;
use std::process::Command;
use upcheck_tests::space::Space;
use upcheck_tests::tools::{Ninja, root};

/// A project of these lines, beside the consumer's sources. Cargo is in its environment, so that this is not a clean one.
fn project(lines: &str) -> Space {
    let space = Space::new();
    space.write("CMakeLists.txt", format!("cmake_minimum_required(VERSION 3.16...4.0)\n{lines}"));
    for file in ["main.c", "main.cpp", "bridged.cpp"] {
        space.write(file, std::fs::read(consumer().join(file)).expect("a source"));
    }
    space
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    lets_cargo_build(&mut command);
    command
}

fn configure(space: &Space, cmake: &Path, generator: &str, options: &[&str]) -> Command {
    prefix(); // takes the lock, and leaves cargo nothing to build
    let mut configure = command(cmake);
    configure.arg("-S").arg(space.path()).arg("-B").arg(space.path().join("build")).args(["-G", generator]);
    configure.arg(format!("-DCMAKE_MAKE_PROGRAM={}", make(generator).display()));
    configure.arg(format!("-DUPCHECK_CARGO_TARGET_DIR={}", folder().join("cargo").display())).args(options);
    configure
}

fn make(generator: &str) -> &Path {
    if generator == "Ninja" { Ninja::V1_13.path() } else { Path::new("make") }
}

const PROGRAMS: &str = "add_executable(from_c main.c)
target_link_libraries(from_c PRIVATE Upcheck::upcheck)
add_executable(from_cpp main.cpp)
target_link_libraries(from_cpp PRIVATE Upcheck::upcheck)
add_executable(bridged bridged.cpp)
target_link_libraries(bridged PRIVATE Upcheck::upcheck_cxx)
add_custom_command(OUTPUT version.txt COMMAND Upcheck::cli --version > version.txt VERBATIM)
add_custom_target(command ALL DEPENDS version.txt)\n";

fn check(lines: &str, version: &str, generator: &str, kind: &str) {
    let space = project(&format!("project(whole C CXX)\n{lines}{PROGRAMS}"));
    let shared = format!("-DUPCHECK_USE_STATIC_LIBS={}", if kind == "static" { "ON" } else { "OFF" });
    run(&mut configure(&space, &cmake(version), generator, &[&shared]));
    let build = space.path().join("build");
    // In parallel, as people do it: what is linked has to wait for cargo.
    let said = run(command(make(generator)).arg("-C").arg(&build).arg("-j4"));
    assert!(!said.contains("warning"), "{said}");
    check_programs(&build, (kind == "shared").then_some(SONAME));
    assert_eq!(space.read("build/version.txt"), format!("upcheck {VERSION}\n").as_bytes());

    // Cargo is asked again, and nothing else is done: what is linked is not linked anew in vain.
    let programs = ["build/from_c", "build/from_cpp", "build/bridged", "build/version.txt"];
    let before = programs.map(|program| space.mtime(program));
    run(command(make(generator)).arg("-C").arg(&build));
    assert_eq!(before, programs.map(|program| space.mtime(program)));

    // It is the whole project's to say what is installed.
    let installed = space.path().join("installed");
    run(command(&cmake(version)).arg("--install").arg(&build).arg("--prefix").arg(&installed));
    assert!(!installed.join("lib").exists());
}

fn added() -> String {
    format!("add_subdirectory({} upcheck)\n", root().join("ffi").display())
}

#[test]
fn it_can_be_a_part_with_ninja() {
    check(&added(), "3.16", "Ninja", "shared");
    check(&added(), "4", "Ninja", "static");
}

#[test]
fn it_can_be_a_part_with_make() {
    check(&added(), "3.25", "Unix Makefiles", "static");
    check(&added(), "4", "Unix Makefiles", "shared");
}

#[test]
fn it_can_be_fetched() {
    let lines = format!(
        "include(FetchContent)\n\
         FetchContent_Declare(upcheck SOURCE_DIR {} SOURCE_SUBDIR ffi)\n\
         FetchContent_MakeAvailable(upcheck)\n",
        root().display()
    );
    check(&lines, "3.25", "Ninja", "shared");
}

/// Who finds it where it is a part already gets the part.
#[test]
fn a_part_can_also_be_found() {
    let prefix = prefix().display();
    let lines = format!("{}find_package(Upcheck REQUIRED HINTS {prefix})\n", added());
    check(&lines, "3.16", "Ninja", "shared");
}

#[test]
fn a_project_in_c_is_not_asked_for_cpp() {
    let lines = "add_executable(from_c main.c)\ntarget_link_libraries(from_c PRIVATE Upcheck::upcheck)\n";
    let space = project(&format!("project(whole C)\n{}{lines}", added()));
    let mut configure = configure(&space, &cmake("3.25"), "Ninja", &[]);
    // A C++ compiler that is not there is not looked for.
    run(configure.env("CXX", "/nonexistent"));
    run(command(&cmake("3.25")).arg("--build").arg(space.path().join("build")));
    check_program(&space.path().join("build/from_c"), Some(SONAME));
}

#[test]
fn one_program_cannot_have_two_parts() {
    let lines = "add_executable(two bridged.cpp)
target_link_libraries(two PRIVATE Upcheck::upcheck Upcheck::upcheck_cxx)\n";
    let space = project(&format!("project(whole C CXX)\n{}{lines}", added()));
    let said = crate::refused(&mut configure(&space, &cmake("3.16"), "Ninja", &[]));
    assert!(said.contains("UPCHECK_ONE_LIBRARY_PER_PROGRAM"), "{said}");
}

#[test]
fn cargo_that_is_missing_is_named() {
    let space = project(&format!("project(whole C CXX)\n{}", added()));
    let options = ["-DUPCHECK_CARGO=/nonexistent/cargo"];
    let said = crate::refused(&mut configure(&space, &cmake("3.16"), "Ninja", &options));
    assert!(said.contains("/nonexistent/cargo"), "{said}");
}

/// A whole that wants its part to be installed says so.
#[test]
fn a_part_can_be_installed_with_the_whole() {
    let space = project(&format!("project(whole C CXX)\ninclude(GNUInstallDirs)\n{}", added()));
    let installed = space.path().join("installed");
    let options = [
        "-DUPCHECK_INSTALL=ON",
        "-DUPCHECK_CLI=OFF",
        &format!("-DCMAKE_INSTALL_PREFIX={}", installed.display()),
    ];
    run(&mut configure(&space, &cmake("3.16"), "Ninja", &options));
    for step in ["--build", "--install"] {
        run(command(&cmake("3.16")).arg(step).arg(space.path().join("build")));
    }
    for name in ["lib/libupcheck.so", "lib/cmake/Upcheck/UpcheckConfig.cmake", "share/doc/upcheck/README.md"]
    {
        assert!(installed.join(name).exists(), "{name}");
    }
    assert!(!installed.join("bin").exists());
}
