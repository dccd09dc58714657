//! What is refused, and what is said then.

use crate::project;
use crate::world::{NINJA, module, with_each_cmake};

#[track_caller]
fn refused(lines: &str, said: &str) {
    with_each_cmake(NINJA, |world| {
        project(world, lines);
        let text = world.refused();
        assert!(text.contains(said), "{world} does not say '{said}': {text}");
    });
}

#[test]
fn wrong_arguments_are_named() {
    refused("upcheck_add_report_target(stale)", "upcheck_add_report_target: unknown argument: stale");
    refused("upcheck_add_report_target(TARGETS)", "upcheck_add_report_target: no value given for TARGETS");
    refused(
        "upcheck_add_report_target(FORMAT xml)",
        "upcheck_add_report_target: FORMAT 'xml' is none of text, json, jsonl, names",
    );
    refused("upcheck_add_report_target(EXPLAIN FORMAT json)", "EXPLAIN goes with FORMAT text");
    refused("upcheck_add_report_target(NAME app)", "there is a target 'app' already");
    refused("upcheck_stale_targets(v UNKNOWN)", "upcheck_stale_targets: unknown argument: UNKNOWN");
    refused("upcheck_configure_check(dir)", "upcheck_configure_check: RESULT is missing");
    refused("upcheck_record_after_build(METHOD X)", "METHOD 'X' is none of TARGET, INSTRUMENTATION");
    refused(
        "upcheck_record_after_build(METHOD INSTRUMENTATION)",
        "upcheck_record_after_build: METHOD INSTRUMENTATION takes CMake 4.3 and Makefiles",
    );
    refused(
        "upcheck_record_after_build()\nupcheck_record_after_build()",
        "upcheck_record_after_build: it was called already",
    );
}

#[test]
fn a_function_that_needs_the_command_says_so() {
    with_each_cmake(NINJA, |world| {
        // One that is installed here is not meant.
        let module = module();
        let off =
            "set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH OFF)\nset(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)\n";
        let lists = format!(
            "cmake_minimum_required(VERSION 3.16...4.0)\nproject(p NONE)\n{off}include(\"{}\")\nupcheck_add_report_target()\n",
            module.display()
        );
        world.write("CMakeLists.txt", lists);
        let said = world.try_configure(&["-DUPCHECK_EXECUTABLE="]);
        assert!(!said.is_well, "{world}");
        let said = said.line();
        assert!(
            said.contains("upcheck_add_report_target: the command 'upcheck' was not found"),
            "{world}: {said}"
        );
    });
}
