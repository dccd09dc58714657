//! Custom commands and targets, and other things that a project may have.

use crate::harness::{Build, VERSIONS};
use upcheck_cmake::globs::Difference;

const HEAD: &str = "cmake_minimum_required(VERSION 3.16)\nproject(demo C)\n";

/// For each release: a project of one directory with these lines, which is built.
fn each(lists: &str, files: &[(&str, &str)], act: impl Fn(&mut Build)) {
    for version in VERSIONS {
        let lists = format!("{HEAD}{lists}");
        let mut all = vec![("CMakeLists.txt", lists.as_str())];
        all.extend_from_slice(files);
        let mut build = Build::new(version, &all);
        build.compare("the first build");
        build.settled("after the first build");
        act(&mut build);
    }
}

#[test]
fn byproducts_of_what_is_always_made() {
    each(
        "add_custom_target(always_gen ALL
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${CMAKE_SOURCE_DIR}/in.h gen.h BYPRODUCTS gen.h)
add_executable(app main.c)
target_include_directories(app PRIVATE ${CMAKE_BINARY_DIR})
add_dependencies(app always_gen)
",
        &[("in.h", "#define N 0\n"), ("main.c", "#include \"gen.h\"\nint main(void) { return N; }\n")],
        |build| {
            build.write("s/in.h", "#define N 1 - 1\n");
            let (answer, _) = build.compare("what is copied");
            assert!(answer.pending.contains("CMakeFiles/app.dir/main.c.o"), "{answer:#?}");
            build.remove("b/gen.h");
            let (answer, _) = build.compare("a copy that is gone");
            assert!(!answer.is_fresh("CMakeFiles/app.dir/main.c.o"), "{answer:#?}");
        },
    );
}

#[test]
fn a_file_that_two_targets_name() {
    each(
        "add_custom_command(OUTPUT both.c
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/in.c both.c DEPENDS in.c)
add_library(one STATIC both.c)
add_library(two STATIC both.c)
add_dependencies(two one)
",
        &[("in.c", "int both;\n")],
        |build| {
            build.edit("what it is made from", |build| build.touch("s/in.c"));
            build.edit("the file is gone", |build| build.remove("b/both.c"));
        },
    );
}

#[test]
fn outputs_that_are_never_there_are_always_made() {
    each(
        "add_custom_command(OUTPUT always_sym COMMAND ${CMAKE_COMMAND} -E echo x)
set_source_files_properties(${CMAKE_BINARY_DIR}/always_sym PROPERTIES SYMBOLIC TRUE)
add_custom_command(OUTPUT always_from COMMAND ${CMAKE_COMMAND} -E touch always_from DEPENDS always_sym)
add_custom_command(OUTPUT plain COMMAND ${CMAKE_COMMAND} -E touch plain DEPENDS in.txt)
add_custom_target(u ALL DEPENDS always_from plain)
add_custom_target(always_u2 ALL)
add_custom_command(TARGET always_u2 POST_BUILD COMMAND ${CMAKE_COMMAND} -E echo y)
add_custom_target(always_u3 ALL COMMAND ${CMAKE_COMMAND} -E echo z COMMENT \"Says z\")
add_dependencies(u always_u3)
",
        &[("in.txt", "")],
        |build| {
            // These Makefiles know nothing of symbolic outputs.
            build.edit("a file of that name", |build| build.space.write("b/always_sym", ""));
            let answer = build.edit("an input", |build| build.touch("s/in.txt"));
            assert!(answer.stale.contains("plain") && answer.is_fresh("always_from"), "{answer:#?}");
            build.edit("a file called like the target", |build| build.space.write("b/u", ""));
            build.edit("a file called like its rule", |build| build.space.write("b/CMakeFiles/u", ""));
        },
    );
}

#[test]
fn outputs_without_commands() {
    each(
        "add_custom_command(OUTPUT stamp COMMAND ${CMAKE_COMMAND} -E touch stamp DEPENDS in.txt)
add_custom_command(OUTPUT always_group DEPENDS stamp)
add_custom_command(OUTPUT always_user COMMAND ${CMAKE_COMMAND} -E touch always_user DEPENDS always_group)
add_custom_target(u ALL DEPENDS always_user)
",
        &[("in.txt", "")],
        |build| {
            build.edit("an input", |build| build.touch("s/in.txt"));
        },
    );
}

#[test]
fn depfiles_of_commands() {
    for version in ["3.25", "4"] {
        let lists = format!(
            "{HEAD}add_custom_command(OUTPUT out.txt
  COMMAND sh -c \"echo 'out.txt: ../s/x.txt made.txt' > out.d && echo > made.txt && cat ../s/x.txt > out.txt\"
  DEPENDS in.txt DEPFILE out.d VERBATIM)
add_custom_target(u ALL DEPENDS out.txt)
add_subdirectory(sub)
"
        );
        let sub = "add_custom_command(OUTPUT sub.txt
  COMMAND sh -c \"echo 'sub.txt: deep.txt' > sub.d && echo > sub.txt\"
  DEPENDS in.txt DEPFILE ${CMAKE_CURRENT_BINARY_DIR}/sub.d VERBATIM)
add_library(lib STATIC lib.c sub.txt)
";
        let files = [
            ("CMakeLists.txt", lists.as_str()),
            ("in.txt", ""),
            ("x.txt", "x"),
            ("sub/CMakeLists.txt", sub),
            ("sub/in.txt", ""),
            ("sub/lib.c", "int lib;\n"),
        ];
        let mut build = Build::new(version, &files);
        build.space.write("b/sub/deep.txt", "");
        build.compare("the first build");
        let answer = build.edit("what the depfile names", |build| build.touch("s/x.txt"));
        assert!(answer.stale.contains("out.txt"), "{answer:#?}");
        let answer = build.edit("what it names in a directory", |build| build.touch("b/sub/deep.txt"));
        assert!(answer.stale.contains("sub/sub.txt"), "{answer:#?}");
        build.edit("an input", |build| build.touch("s/in.txt"));
        build.edit("both", |build| {
            build.touch("s/x.txt");
            build.touch("b/sub/deep.txt");
        });
    }
}

#[test]
fn what_commands_include() {
    each(
        "add_custom_command(OUTPUT imp.c COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/in.c imp.c
  DEPENDS in.c IMPLICIT_DEPENDS C ${CMAKE_SOURCE_DIR}/seen.c)
add_library(lib STATIC imp.c)
",
        &[("in.c", "int in;\n"), ("seen.c", "#include \"seen.h\"\n"), ("seen.h", "")],
        |build| {
            let answer =
                build.edit("a header that the command is said to see", |build| build.touch("s/seen.h"));
            assert!(answer.stale.contains("imp.c"), "{answer:#?}");
            build.edit("a source that the command is said to see", |build| build.touch("s/seen.c"));
            build.edit("its input", |build| build.touch("s/in.c"));
        },
    );
}

#[test]
fn precompiled_headers_unity_modules_and_steps_around_links() {
    each(
        "add_library(pch STATIC one.c two.c)
target_precompile_headers(pch PRIVATE pch.h)
add_library(uni STATIC u1.c u2.c)
set_target_properties(uni PROPERTIES UNITY_BUILD ON)
add_library(mod MODULE mod.c)
add_custom_command(TARGET mod PRE_BUILD COMMAND ${CMAKE_COMMAND} -E echo before)
add_custom_command(TARGET mod PRE_LINK COMMAND ${CMAKE_COMMAND} -E echo link)
add_custom_command(TARGET mod POST_BUILD COMMAND ${CMAKE_COMMAND} -E touch after.txt BYPRODUCTS after.txt)
add_library(obj OBJECT obj.c)
add_executable(app main.c $<TARGET_OBJECTS:obj>)
set_source_files_properties(main.c PROPERTIES OBJECT_DEPENDS ${CMAKE_SOURCE_DIR}/extra.txt)
set_target_properties(app PROPERTIES LINK_DEPENDS ${CMAKE_SOURCE_DIR}/link.txt)
add_library(ali ALIAS pch)
target_link_libraries(app ali uni)
",
        &[
            ("pch.h", "#include \"in.h\"\n"),
            ("in.h", ""),
            ("one.c", "int one;\n"),
            ("two.c", "int two;\n"),
            ("u1.c", "#include \"u.h\"\nint u1;\n"),
            ("u2.c", "int u2;\n"),
            ("u.h", ""),
            ("mod.c", "int mod;\n"),
            ("obj.c", "int obj;\n"),
            ("main.c", "int main(void) { return 0; }\n"),
            ("extra.txt", ""),
            ("link.txt", ""),
        ],
        |build| {
            let answer = build.edit("a header that is precompiled", |build| build.touch("s/in.h"));
            assert!(answer.stale.contains("CMakeFiles/pch.dir/one.c.o"), "{answer:#?}");
            build.edit("the header of headers", |build| build.touch("s/pch.h"));
            build.edit("a source in unity", |build| build.touch("s/u2.c"));
            build.edit("a header in unity", |build| build.touch("s/u.h"));
            build.edit("a module", |build| build.touch("s/mod.c"));
            build.edit("what an object depends on besides", |build| build.touch("s/extra.txt"));
            build.edit("what a link depends on besides", |build| build.touch("s/link.txt"));
            build.edit("an object of a library of objects", |build| build.touch("s/obj.c"));
        },
    );
}

#[test]
fn assembler_and_cxx() {
    each(
        "enable_language(CXX)
enable_language(ASM)
add_library(mix STATIC a.S c.c x.cpp)
",
        &[
            ("a.S", "#include \"a.h\"\n.globl sign\n"),
            ("a.h", ""),
            ("c.c", "int c;\n"),
            ("x.cpp", "#include \"a.h\"\nint x;\n"),
        ],
        |build| {
            let answer = build.edit("a header of all", |build| build.touch("s/a.h"));
            assert!(answer.stale.contains("CMakeFiles/mix.dir/a.S.o"), "{answer:#?}");
            build.edit("a source in assembler", |build| build.touch("s/a.S"));
            build.edit("its object is gone", |build| build.remove("b/CMakeFiles/mix.dir/a.S.o"));
        },
    );
}

#[test]
fn external_projects() {
    each(
        "include(ExternalProject)
ExternalProject_Add(ext SOURCE_DIR ${CMAKE_SOURCE_DIR}/ext CONFIGURE_COMMAND \"\"
  BUILD_COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/ext/in.txt out.txt INSTALL_COMMAND \"\")
ExternalProject_Add(always_ext SOURCE_DIR ${CMAKE_SOURCE_DIR}/ext CONFIGURE_COMMAND \"\" BUILD_ALWAYS 1
  BUILD_COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/ext/in.txt out.txt INSTALL_COMMAND \"\")
ExternalProject_Add_StepDependencies(ext build ${CMAKE_SOURCE_DIR}/ext/in.txt)
",
        &[("ext/in.txt", "")],
        |build| {
            let answer = build.edit("what a step depends on", |build| build.touch("s/ext/in.txt"));
            assert!(answer.stale.contains("ext-prefix/src/ext-stamp/ext-build"), "{answer:#?}");
            build.edit("a stamp that is gone", |build| {
                build.remove("b/ext-prefix/src/ext-stamp/ext-configure")
            });
        },
    );
}

#[test]
fn launchers_and_headers_of_the_project_only() {
    each(
        "set(CMAKE_DEPENDS_IN_PROJECT_ONLY ON)
set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE \"${CMAKE_COMMAND} -E env\")
set_property(GLOBAL PROPERTY RULE_LAUNCH_CUSTOM \"${CMAKE_COMMAND} -E env\")
add_library(lib STATIC lib.c)
target_include_directories(lib PRIVATE ../outside)
",
        &[
            ("lib.c", "#include \"out.h\"\n#include \"in.h\"\nint lib;\n"),
            ("in.h", ""),
            ("../outside/out.h", ""),
        ],
        |build| {
            build.edit("a header of the project", |build| build.touch("s/in.h"));
            let answer = build.edit("a header from outside", |build| build.touch("outside/out.h"));
            let is_scanned = build.version == "3.16";
            assert_eq!(answer.stale.contains("liblib.a"), is_scanned, "{answer:#?}");
        },
    );
}

#[test]
fn globs_whose_result_changed() {
    each(
        "file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/g*.c)
add_library(lib STATIC ${sources})
",
        &[("g1.c", "int g1;\n")],
        |build| {
            let path = |build: &Build, name: &str| build.path(name).into_os_string().into_encoded_bytes();
            build.globs = Some(Difference::default());
            build.settled("with globs");
            let answer = build.edit("another source", |build| {
                build.write("s/g2.c", "int g2;\n");
                let added = vec![path(build, "s/g2.c")];
                build.globs = Some(Difference { added, removed: Vec::new() });
            });
            assert_eq!(answer.configure, ["upstream-stale CMakeFiles/cmake.verify_globs"]);
            assert!(answer.stale.contains("CMakeFiles/cmake.verify_globs"), "{answer:#?}");
            build.edit("a source less", |build| {
                build.remove("s/g1.c");
                let removed = vec![path(build, "s/g1.c")];
                build.globs = Some(Difference { added: Vec::new(), removed });
            });
        },
    );
}

#[test]
fn a_check_changes_nothing() {
    each("add_library(lib STATIC lib.c)\n", &[("lib.c", "int lib;\n")], |build| {
        build.touch("s/lib.c");
        let before = build.space.entries();
        build.ask();
        assert!(build.space.entries() == before);
    });
}
