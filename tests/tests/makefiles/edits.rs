//! Edits, one after the other: what is said to be stale is what make makes.

use crate::harness::{Build, VERSIONS};

const FILES: &[(&str, &str)] = &[
    (
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)
project(demo C CXX)
add_subdirectory(lib)
add_subdirectory(app)
add_custom_command(OUTPUT all.txt second.txt
  COMMAND cat ${CMAKE_SOURCE_DIR}/a.txt > all.txt
  COMMAND ${CMAKE_COMMAND} -E touch second.txt
  DEPENDS ${CMAKE_SOURCE_DIR}/a.txt VERBATIM)
add_custom_target(bundle ALL DEPENDS all.txt)
add_custom_target(always ALL COMMAND ${CMAKE_COMMAND} -E echo hi)
add_custom_target(notall COMMAND ${CMAKE_COMMAND} -E echo hi)
",
    ),
    ("a.txt", "a"),
    (
        "lib/CMakeLists.txt",
        "add_library(text STATIC text.c more.c)
target_include_directories(text PUBLIC .)
set_target_properties(text PROPERTIES POSITION_INDEPENDENT_CODE ON)
add_library(net SHARED net.c)
target_link_libraries(net PRIVATE text)
set_target_properties(net PROPERTIES VERSION 1.2 SOVERSION 1)
add_library(objs OBJECT o1.c)
add_library(iface INTERFACE)
add_library(spare STATIC EXCLUDE_FROM_ALL spare.c)
",
    ),
    ("lib/text.c", "#include \"text.h\"\nint text(void) { return N; }\n"),
    ("lib/more.c", "int more(void) { return 1; }\n"),
    ("lib/text.h", "#include \"deep.h\"\n#define N M\n"),
    ("lib/deep.h", "#define M 1\n"),
    ("lib/net.c", "#include \"text.h\"\nint text(void);\nint net(void) { return text(); }\n"),
    ("lib/o1.c", "int o1(void) { return 1; }\n"),
    ("lib/spare.c", "int spare;\n"),
    (
        "app/CMakeLists.txt",
        "add_custom_command(OUTPUT version.h
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${CMAKE_CURRENT_SOURCE_DIR}/version.in version.h
  DEPENDS version.in)
add_custom_command(OUTPUT gen.c
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/gen.in gen.c DEPENDS gen.in)
add_executable(app main.cpp gen.c version.h $<TARGET_OBJECTS:objs>)
target_include_directories(app PRIVATE ${CMAKE_CURRENT_BINARY_DIR} ../lib)
target_link_libraries(app net iface)
add_custom_command(TARGET app POST_BUILD COMMAND ${CMAKE_COMMAND} -E echo built)
",
    ),
    ("app/main.cpp", "#include \"version.h\"\n#include \"text.h\"\nint main() { return V - V; }\n"),
    ("app/version.in", "#define V 1\n"),
    ("app/gen.in", "int gen;\n"),
];

#[test]
fn what_is_stale_is_what_make_makes() {
    for version in VERSIONS {
        let mut build = Build::new(version, FILES);
        build.compare("the first build");
        build.settled("after the first build");
        let answer = build.edit("touching a header", |build| build.touch("s/lib/text.h"));
        assert!(answer.stale.contains("app/CMakeFiles/app.dir/main.cpp.o"), "{answer:#?}");
        assert!(!answer.stale.contains("lib/CMakeFiles/text.dir/more.c.o"), "{answer:#?}");
        let answer = build.edit("touching a header of a header", |build| build.touch("s/lib/deep.h"));
        assert!(answer.stale.contains("lib/libtext.a"), "{answer:#?}");
        build.edit("a source", |build| build.touch("s/lib/more.c"));
        build.edit("another source", |build| build.touch("s/lib/o1.c"));
    }
}
