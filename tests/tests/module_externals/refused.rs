//! What is refused, and what is said then.

use crate::world::{NINJA, module, with_each_cmake};

#[track_caller]
fn refused(lines: &str, said: &str) {
    with_each_cmake(NINJA, |world| {
        world.external("e1");
        world.external("sub/e2");
        world.write("sub/CMakeLists.txt", world.add("e2", ""));
        let all = ["include(ExternalProject)\n", &world.add("e1", ""), lines].concat();
        world.project("NONE", &all);
        let text = world.refused();
        assert!(text.contains(said), "{world} does not say '{said}': {text}");
    });
}

#[test]
fn wrong_arguments_are_named() {
    refused("upcheck_external_project()", "upcheck_external_project: no external project is named");
    refused(
        "upcheck_external_project(e3)",
        "upcheck_external_project: there is no external project 'e3'; ExternalProject_Add comes first",
    );
    refused("upcheck_external_project(e1 WATCH)", "upcheck_external_project: no value given for WATCH");
    refused("upcheck_external_project(e1 STORE)", "upcheck_external_project: no value given for STORE");
    refused("upcheck_external_project(e1 e1)", "the external project 'e1' is named twice");
    refused(
        "upcheck_external_project(e1)\nupcheck_external_project(e1)",
        "the external project 'e1' is named twice",
    );
    refused("add_custom_target(t)\nupcheck_external_project(t)", "there is no external project 't'");
}

#[test]
fn what_cannot_be_watched_is_refused() {
    refused(
        "ExternalProject_Add(e3 SOURCE_DIR \"${CMAKE_SOURCE_DIR}/e1\" BUILD_ALWAYS 1)
upcheck_external_project(e3)",
        "the external project 'e3' has BUILD_ALWAYS, which enters its build each time",
    );
    refused(
        "ExternalProject_Add(e3 SOURCE_DIR \"${CMAKE_SOURCE_DIR}/e1\" BUILD_IN_SOURCE 1)
upcheck_external_project(e3)",
        "the external project 'e3' has BUILD_IN_SOURCE; name its sources with WATCH",
    );
    refused(
        "add_subdirectory(sub)\nupcheck_external_project(e2)",
        "the external project 'e2' was added in another directory; call it there",
    );
}

#[test]
fn there_is_one_store_for_all() {
    refused(
        "ExternalProject_Add(e3 SOURCE_DIR \"${CMAKE_SOURCE_DIR}/e1\")
upcheck_external_project(e1 STORE one)\nupcheck_external_project(e3 STORE two)",
        "upcheck_external_project: STORE is",
    );
}

#[test]
fn a_script_is_no_project() {
    with_each_cmake(NINJA, |world| {
        world
            .write("s.cmake", format!("include(\"{}\")\nupcheck_external_project(e1)\n", module().display()));
        let output = world.cmake().arg("-P").arg(world.path("src/s.cmake")).output().expect("cmake runs");
        let text = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains("upcheck_external_project: it needs a project, and this is a script"),
            "{text}"
        );
    });
}
