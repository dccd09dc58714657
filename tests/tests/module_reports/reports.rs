//! `upcheck_add_report_target`.

use crate::project;
use crate::world::{World, everywhere};

/// All that is in the build directory and has been made there.
fn files(world: &World) -> Vec<(std::path::PathBuf, i128)> {
    let made = world.space.entries();
    let is_made = |path: &std::path::Path| {
        path.extension().is_some_and(|end| ["o", "a", "h", "d"].iter().any(|made| end == *made))
            || path.ends_with("app")
    };
    made.into_iter()
        .filter(|(path, _)| path.starts_with(world.binary()) && is_made(path))
        .map(|(path, entry)| (path, entry.mtime()))
        .collect()
}

#[test]
fn a_report_names_what_a_build_would_do_and_builds_nothing() {
    everywhere(|world| {
        project(world, "upcheck_add_report_target()");
        world.configure();
        // Also the first time, before anything was built.
        let said = world.build_with(&["--target", "stale"]);
        assert!(said.text.contains("app does not exist"), "{world}: {}", said.text);
        assert!(!world.path("build/gen.h").exists(), "{world}");
        world.build();
        let said = world.build_with(&["--target", "stale"]);
        assert!(said.text.contains("fresh: nothing to do"), "{world}: {}", said.text);

        world.edit("lib.c", "return X", "return 1");
        let before = files(world);
        let said = world.build_with(&["--target", "stale"]);
        assert!(said.text.contains("lib.c is newer than"), "{world}: {}", said.text);
        assert!(said.text.contains("2 targets of CMake: lib"), "{world}: {}", said.text);
        assert_eq!(files(world), before, "{world}");
        world.build();
        let said = world.build_with(&["--target", "stale"]);
        assert!(said.text.contains("fresh: nothing to do"), "{world}: {}", said.text);
    });
}

#[test]
fn a_report_can_be_about_some_targets_and_go_to_a_file() {
    everywhere(|world| {
        project(
            world,
            "add_library(alias ALIAS other)
upcheck_add_report_target(NAME about_other TARGETS alias FORMAT names OUTPUT sub/other.txt)
upcheck_add_report_target(NAME about_app TARGETS app EXPLAIN OUTPUT \"${CMAKE_BINARY_DIR}/app report.txt\")
upcheck_add_report_target(NAME as_json TARGETS app other FORMAT json OUTPUT all.json)",
        );
        world.configure();
        world.build();
        world.edit("lib.c", "return X", "return 1");
        for target in ["about_other", "about_app", "as_json"] {
            world.build_with(&["--target", target]);
        }
        assert_eq!(world.read("build/sub/other.txt"), "", "{world}");
        let text = world.read("build/app report.txt");
        assert!(text.contains("lib.c is newer than") && text.contains("(app"), "{world}: {text}");
        let json: serde_json::Value = serde_json::from_str(&world.read("build/all.json")).expect("JSON");
        assert_eq!(json["verdict"], "stale", "{world}");

        // What is said already is not written again.
        let time = world.space.mtime("top/build/app report.txt");
        world.build_with(&["--target", "about_app"]);
        assert_eq!(world.space.mtime("top/build/app report.txt"), time, "{world}");
        world.edit("other.c", "return 0", "return 1");
        world.build_with(&["--target", "about_other"]);
        let name = if world.is_multi() { "other:Debug\n" } else { "other\n" };
        assert_eq!(world.read("build/sub/other.txt"), name, "{world}");
        assert!(!world.path("build/sub/other.txt.new").exists(), "{world}");
    });
}

#[test]
fn each_configuration_has_a_report() {
    everywhere(|world| {
        if !world.is_multi() {
            return;
        }
        project(world, "upcheck_add_report_target()");
        world.configure();
        world.build_with(&["--config", "Release"]);
        let release = world.build_with(&["--config", "Release", "--target", "stale"]);
        assert!(release.text.contains("fresh: nothing to do"), "{world}: {}", release.text);
        let debug = world.build_with(&["--config", "Debug", "--target", "stale"]);
        assert!(debug.text.contains("Debug/app does not exist"), "{world}: {}", debug.text);
    });
}

#[test]
fn without_an_answer_the_target_fails_and_says_why() {
    everywhere(|world| {
        project(world, "upcheck_add_report_target(TARGETS appp OUTPUT report.txt)");
        world.configure();
        world.space.write("top/build/report.txt", "old");
        let said = world.try_build(&["--target", "stale"]);
        assert!(!said.is_well, "{world}: {}", said.text);
        assert!(said.text.contains("'appp'") && said.text.contains("'app'"), "{world}: {}", said.text);
        assert_eq!(world.read("build/report.txt"), "old", "nothing is lost, {world}");
    });
}
