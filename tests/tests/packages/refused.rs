//! What `find_package` and CMake refuse, and what they say then.

use crate::find::{configure, consumer, found_in};
use crate::installed::{CMAKES, cmake, prefix};
use crate::{clean, refused, run};
use std::path::Path;
use upcheck_tests::space::Space;

/// What each CMake says to a consumer with these options, which it refuses.
#[track_caller]
fn refused_by_all(options: &[&str], said: &[&str]) {
    for version in CMAKES {
        let space = Space::new();
        let mut all = vec![found_in(prefix())];
        all.extend(options.iter().map(ToString::to_string));
        let message = refused(&mut configure(&space, &cmake(version), "Ninja", &all));
        for said in said {
            assert!(
                message.contains(said),
                "CMake {version} does not say '{said}' to {options:?}: {message}"
            );
        }
    }
}

/// Configures a project of these lines with the CMake of these tests that has seen most.
#[track_caller]
fn project(cmake: &Path, lines: &str) -> (Space, std::process::Command) {
    let space = Space::new();
    let head = "cmake_minimum_required(VERSION 3.16...4.0)\n";
    space.write("CMakeLists.txt", format!("{head}{lines}"));
    for file in ["main.c", "main.cpp", "bridged.cpp"] {
        space.write(file, std::fs::read(consumer().join(file)).expect("a source"));
    }
    let mut command = clean(cmake);
    command.arg("-S").arg(space.path()).arg("-B").arg(space.path().join("build")).arg(found_in(prefix()));
    (space, command)
}

#[test]
fn versions_that_fit_are_found() {
    for version in CMAKES {
        for wanted in ["", "0.1", "0.1.0", "0.1;EXACT"] {
            let space = Space::new();
            run(&mut configure(
                &space,
                &cmake(version),
                "Ninja",
                &[found_in(prefix()), format!("-DVERSION={}", wanted.replace("0.1;EXACT", "0.1.0;EXACT"))],
            ));
        }
    }
}

#[test]
fn versions_that_do_not_fit_are_refused() {
    for wanted in ["0.2", "0.0", "0.1.1", "1", "9"] {
        let said = format!("compatible with requested version \"{wanted}\"");
        refused_by_all(&[&format!("-DVERSION={wanted}")], &[&said, "UpcheckConfig.cmake, version: 0.1.0"]);
    }
}

#[test]
fn components_that_do_not_exist_are_refused() {
    refused_by_all(
        &["-DCOMPONENTS=python"],
        &["it has no component 'python'; there are shared, static, cxx, cli"],
    );
    refused_by_all(
        &["-DCOMPONENTS=shared;static"],
        &["Upcheck::upcheck can be 'shared' or 'static', not both"],
    );
}

#[test]
fn components_that_are_optional_are_not_missed() {
    let lines = "project(p C)
find_package(Upcheck REQUIRED OPTIONAL_COMPONENTS python cli)
if(Upcheck_python_FOUND OR NOT Upcheck_cli_FOUND OR NOT TARGET Upcheck::cli)
  message(FATAL_ERROR \"wrong\")
endif()
get_cmake_property(variables VARIABLES)
if(variables MATCHES \"_upcheck\")
  message(FATAL_ERROR \"left behind: ${variables}\")
endif()\n";
    for version in CMAKES {
        run(&mut project(&cmake(version), lines).1);
    }
}

#[test]
fn one_program_cannot_link_two_of_the_libraries() {
    refused_by_all(
        &["-DTWO=Upcheck::upcheck;Upcheck::upcheck_cxx"],
        &["UPCHECK_ONE_LIBRARY_PER_PROGRAM", "does not agree with the value", "determined for \"two\""],
    );
}

/// The one may come through a library of the program's own.
#[test]
fn one_program_cannot_link_two_of_the_libraries_indirectly() {
    let lines = "project(p C CXX)
find_package(Upcheck REQUIRED)
add_library(half STATIC main.c)
target_link_libraries(half PUBLIC Upcheck::upcheck)
add_executable(two bridged.cpp)
target_link_libraries(two PRIVATE half Upcheck::upcheck_cxx)\n";
    for version in CMAKES {
        let said = refused(&mut project(&cmake(version), lines).1);
        assert!(said.contains("UPCHECK_ONE_LIBRARY_PER_PROGRAM"), "{said}");
    }
}

#[test]
fn the_kind_of_library_does_not_change_within_a_folder() {
    let lines = "project(p C)
find_package(Upcheck REQUIRED)
find_package(Upcheck REQUIRED) # again is fine
find_package(Upcheck REQUIRED COMPONENTS static)\n";
    for version in CMAKES {
        let said = refused(&mut project(&cmake(version), lines).1);
        assert!(
            said.contains("Upcheck::upcheck is a SHARED_LIBRARY here already, and cannot be static"),
            "{said}"
        );
    }
}

#[test]
fn the_archive_is_taken_if_a_variable_says_so() {
    let lines = "project(p C)
set(UPCHECK_USE_STATIC_LIBS ON)
find_package(Upcheck REQUIRED)
get_target_property(type Upcheck::upcheck TYPE)
if(NOT type STREQUAL STATIC_LIBRARY)
  message(FATAL_ERROR ${type})
endif()\n";
    for version in CMAKES {
        run(&mut project(&cmake(version), lines).1);
    }
}

#[test]
fn the_cpp_library_is_refused_where_there_is_no_cpp() {
    let lines = "project(p C)\nfind_package(Upcheck REQUIRED COMPONENTS cxx)\n";
    for version in CMAKES {
        let said = refused(&mut project(&cmake(version), lines).1);
        assert!(
            said.contains("its component 'cxx' is of use only where the language CXX is enabled"),
            "{said}"
        );
    }
}

/// A program in C can have the C++ library: its functions of C are the same. CMake links it as C++.
#[test]
fn a_c_program_can_link_the_cpp_library() {
    let lines = "project(p C CXX)
find_package(Upcheck REQUIRED COMPONENTS cxx)
add_executable(from_c main.c)
target_link_libraries(from_c PRIVATE Upcheck::upcheck_cxx)\n";
    for version in CMAKES {
        let (space, mut configure) = project(&cmake(version), lines);
        run(&mut configure);
        run(clean(cmake(version)).arg("--build").arg(space.path().join("build")));
        crate::find::check_program(&space.path().join("build/from_c"), None);
    }
}

#[test]
fn projects_of_older_cmakes_find_it() {
    for version in CMAKES {
        let (space, mut configure) = project(&cmake(version), "");
        // The oldest that the newest CMake lets pass.
        space.write(
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.5)
project(p C CXX)
find_package(Upcheck 0.1 REQUIRED COMPONENTS static)
add_executable(from_c main.c)
target_link_libraries(from_c Upcheck::upcheck)\n",
        );
        run(&mut configure);
        run(clean(cmake(version)).arg("--build").arg(space.path().join("build")));
        crate::find::check_program(&space.path().join("build/from_c"), None);
    }
}
