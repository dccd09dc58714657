//! Real external projects: CMake within CMake, with a compiler.

use crate::world::{MAKE, NINJA, World, with_each_cmake};

fn cmake_project(world: &World, name: &str, extra: &str) {
    world.write(
        &format!("{name}/CMakeLists.txt"),
        format!(
            "cmake_minimum_required(VERSION 3.16...4.0)\nproject({name} C)
add_library({name} STATIC lib.c)\n
install(FILES {name}.h DESTINATION include)\n{extra}"
        ),
    );
    world.write(&format!("{name}/{name}.h"), format!("int {name}(void);\n"));
    world.write(
        &format!("{name}/lib.c"),
        format!("#include \"{name}.h\"\nint {name}(void) {{ return 1; }}\n"),
    );
}

/// A program that links two installed libraries, one of which needs the other.
fn world_of_libraries(world: &World) {
    cmake_project(world, "one", "");
    cmake_project(world, "two", "target_include_directories(two PRIVATE \"${ONE}\")\n");
    world.write("two/lib.c", "#include \"two.h\"\n#include \"one.h\"\nint two(void) { return one() + 1; }\n");
    world.write(
        "main.c",
        "#include <stdio.h>\nint two(void);\nint main(void) { printf(\"%d\\n\", two()); return 0; }\n",
    );
    // Linked from where they are built: CMake installs nothing that is not newer by a second.
    world.project(
        "C",
        "include(ExternalProject)
set(built \"${CMAKE_BINARY_DIR}/built\")
foreach(name one two)
  set(depends)
  if(name STREQUAL two)
    set(depends DEPENDS one)
  endif()
  ExternalProject_Add(${name} SOURCE_DIR \"${CMAKE_SOURCE_DIR}/${name}\" ${depends}
    CMAKE_ARGS -DCMAKE_INSTALL_PREFIX=${CMAKE_BINARY_DIR}/installed -DONE=${CMAKE_SOURCE_DIR}/one
      -DCMAKE_ARCHIVE_OUTPUT_DIRECTORY=${built} -DCMAKE_BUILD_TYPE=
    BUILD_BYPRODUCTS ${built}/lib${name}.a)
endforeach()
upcheck_external_project(one two)
add_executable(main main.c)
add_dependencies(main two)
target_link_libraries(main \"${built}/libtwo.a\" \"${built}/libone.a\")\n",
    );
    world.configure();
}

fn says(world: &World) -> String {
    let output = std::process::Command::new(world.path("build/main")).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn an_edit_in_a_library_comes_through_to_the_program() {
    let test = |world: &World| {
        world_of_libraries(world);
        world.build();
        assert_eq!(says(world), "2\n", "{world}");
        let calm = world.build();
        assert!(!calm.text.contains("Performing"), "{world}: {}", calm.text);
        world.write("one/lib.c", "#include \"one.h\"\nint one(void) { return 41; }\n");
        let said = world.build();
        assert_eq!(says(world), "42\n", "{world}: {}", said.text);
        assert!(said.text.contains("lib.c changed ("), "{world} says why: {}", said.text);
        let calm = world.build();
        assert!(!calm.text.contains("Performing"), "{world}: {}", calm.text);
        world.write("one/one.h", "#define WHATEVER\nint one(void);\n");
        assert!(world.build().text.contains("Performing install step for 'one'"), "{world}");
        let calm = world.build();
        assert!(!calm.text.contains("Performing"), "{world}: {}", calm.text);
    };
    with_each_cmake(NINJA, test);
    with_each_cmake(MAKE, test);
}

/// Who edits the cache of an external project wants it to be built so.
#[test]
fn the_cache_of_an_external_project_counts() {
    for generator in [NINJA, MAKE] {
        with_each_cmake(generator, |world| {
            world_of_libraries(world);
            world.build();
            let mut cmake = world.cmake();
            cmake
                .args(["-DCMAKE_C_FLAGS=-DX", "."])
                .current_dir(world.path("build/one-prefix/src/one-build"));
            assert!(cmake.output().expect("cmake runs").status.success());
            let said = world.build();
            assert!(said.text.contains("Performing build step for 'one'"), "{world}: {}", said.text);
            let calm = world.build();
            assert!(!calm.text.contains("Performing"), "{world}: {}", calm.text);
        });
    }
}
