//! Build directories of CMake, which are full of absolute paths.

use super::Checkout;
use std::process::{Command, Stdio};
use upcheck_tests::aloud;
use upcheck_tests::bazel_remote::BazelRemote;
use upcheck_tests::tools::Ninja;

const SOURCES: [(&str, &str); 6] = [
    (
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)\nproject(p C)\ninclude_directories(inc ${CMAKE_BINARY_DIR})\n\
         add_custom_command(OUTPUT gen.h COMMAND sh ${CMAKE_SOURCE_DIR}/gen.sh ${CMAKE_BINARY_DIR}/gen.h\n\
         DEPENDS ${CMAKE_SOURCE_DIR}/gen.sh)\nadd_library(f STATIC src/f.c gen.h)\n\
         add_executable(p src/main.c)\ntarget_link_libraries(p f)\n",
    ),
    ("gen.sh", "echo '#define G 0' > $1\n"),
    ("inc/f.h", "int f(void);\n"),
    ("inc/g.h", "#define H 0\n"),
    ("src/f.c", "#include \"f.h\"\n#include \"gen.h\"\nint f(void) { return G; }\n"),
    ("src/main.c", "#include \"f.h\"\n#include \"g.h\"\nint main(void) { return f() + H; }\n"),
];

/// A configured project. `None`, and said aloud: there is no CMake.
fn configured() -> Option<Checkout> {
    let checkout = Checkout::with(Ninja::V1_13, "", &SOURCES);
    std::fs::remove_file(checkout.build_directory().join("build.ninja")).expect("a file");
    let mut cmake = Command::new("cmake");
    cmake
        .arg("-S")
        .arg(checkout.space.path())
        .arg("-B")
        .arg(checkout.build_directory())
        .args(["-G", "Ninja"]);
    cmake.arg(format!("-DCMAKE_MAKE_PROGRAM={}", Ninja::V1_13.path().display()));
    let Ok(status) = cmake.stdout(Stdio::null()).stderr(Stdio::null()).status() else {
        aloud::not_tested("the shared cache with CMake: there is no cmake");
        return None;
    };
    assert!(status.success());
    Some(checkout)
}

#[test]
fn a_project_of_cmake_is_restored_at_another_path() {
    let Some(server) = BazelRemote::plain() else { return };
    let address = &server.address();
    let Some(one) = configured() else { return };
    one.build();
    one.build_again(|one| drop(one.run_ninja(&["-t", "clean"])));
    let said = one.publish(address);
    assert!(said.starts_with("5 targets uploaded ("), "{said}");
    let two = configured().expect("as before");
    assert_eq!(two.remote(address, &[]).values().filter(|word| *word == "cached").count(), 5);
    let said = two.restore(address).answer(0);
    assert!(said.starts_with("5 targets restored ("), "{said}");
    assert_eq!(two.ninja_would_make(), [""; 0]);
    assert!(Command::new(two.build_directory().join("p")).status().expect("it runs").success());
    two.edit("inc/g.h", "#define H 1\n");
    let (_, said) = two.run_ninja(&["-n"]);
    assert_eq!(said.lines().filter(|line| line.starts_with('[')).count(), 2, "{said}");
    two.edit("gen.sh", "echo '#define G 1' > $1\n");
    let (_, said) = two.run_ninja(&["-n"]);
    assert_eq!(said.lines().filter(|line| line.starts_with('[')).count(), 5, "{said}");
}
