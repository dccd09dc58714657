//! Attempts to make it call fresh what is stale.

use crate::world::{MAKE, NINJA, World, everywhere, with_each_cmake};
use std::fs;

const NOTHING: [&str; 0] = [];

/// Builds, which fails.
#[track_caller]
fn fails(world: &World) {
    let said = world.try_build(&[]);
    assert!(!said.is_well, "{world}: {}", said.text);
}

#[test]
fn a_failed_build_is_done_again() {
    everywhere(|world| {
        world.externals(&["e1", "e2"]);
        world.entered();
        world.write("e1/fail", "");
        fails(world);
        fails(world);
        // As it was when it was last built: but what did the failed build leave behind?
        world.remove("src/e1/fail");
        assert_eq!(world.entered(), ["e1"], "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
    });
}

#[test]
fn a_first_build_that_fails_is_done_again() {
    everywhere(|world| {
        world.externals(&["e1"]);
        world.write("e1/fail", "");
        fails(world);
        world.remove("src/e1/fail");
        assert_eq!(world.entered(), ["e1"], "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
    });
}

/// Somebody repairs something else, and the failed one is edited back to what was good once.
#[test]
fn a_source_that_is_as_it_was_before_a_failed_build_is_built() {
    everywhere(|world| {
        world.externals(&["e1"]);
        world.entered();
        world.write("e1/a.txt", "other\n");
        // Fails when it has written half of its output.
        let broken = crate::BUILD_SH.replace("echo \"$name\" >>\"$log\"", "exit 1");
        world.write("e1/build.sh", &broken);
        fails(world);
        assert_eq!(world.made("e1"), "other\nb\n", "{world}");
        world.write("e1/build.sh", crate::BUILD_SH);
        world.write("e1/a.txt", "a\n");
        assert_eq!(world.entered(), ["e1"], "{world}");
        assert_eq!(world.made("e1"), "a\nb\n", "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
    });
}

#[test]
fn an_edit_during_the_build_is_not_lost() {
    everywhere(|world| {
        world.externals(&["e1"]);
        world.entered();
        // After it has read a.txt, it edits it.
        let edits = crate::BUILD_SH.to_owned() + "if [ -e once ]; then rm once; echo edited >a.txt; fi\n";
        world.write("e1/build.sh", &edits);
        world.write("e1/once", "");
        assert_eq!(world.entered(), ["e1"], "{world}");
        assert_eq!(world.made("e1"), "a\nb\n", "{world}");
        assert_eq!(world.entered(), ["e1"], "{world}");
        assert_eq!(world.made("e1"), "edited\nb\n", "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
    });
}

/// Whatever the reason for which CMake's own rules enter the build: it is begun.
#[test]
fn an_edit_during_a_build_that_another_project_has_caused_is_not_lost() {
    everywhere(|world| {
        world.external("e1");
        world.external("e2");
        let lines = [world.add("e1", ""), world.add("e2", "DEPENDS e1")].concat();
        world.project("NONE", &format!("include(ExternalProject)\n{lines}upcheck_external_project(e1 e2)\n"));
        world.configure();
        let edits =
            crate::BUILD_SH.to_owned() + "if [ -e ../once ]; then rm ../once; echo edited >a.txt; fi\n";
        world.write("e2/build.sh", &edits);
        world.entered();
        world.write("once", "");
        world.write("e1/a.txt", "A\n");
        assert_eq!(world.entered(), ["e1", "e2"], "{world}");
        assert_eq!(world.made("e2"), "a\nb\n", "{world}");
        assert_eq!(world.entered(), ["e2"], "{world}");
        assert_eq!(world.made("e2"), "edited\nb\n", "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
    });
}

/// The build step is run without the one before it, because its command is another one; the sources are edited meanwhile.
#[test]
fn an_edit_during_a_build_that_did_not_begin_is_not_lost() {
    with_each_cmake(NINJA, |world| {
        world.externals(&["e1"]);
        let edits =
            crate::BUILD_SH.to_owned() + "if [ -e ../once ]; then rm ../once; echo edited >a.txt; fi\n";
        world.write("e1/build.sh", &edits);
        world.entered();
        world.write("once", "");
        let lists = world.read("src/CMakeLists.txt");
        world.write("CMakeLists.txt", lists.replace("sh build.sh", "sh -e build.sh"));
        assert_eq!(world.entered(), ["e1"], "{world}");
        assert_eq!(world.made("e1"), "a\nb\n", "{world}");
        assert_eq!(world.entered(), ["e1"], "{world}");
        assert_eq!(world.made("e1"), "edited\nb\n", "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
    });
}

/// As if the machine had gone down: whatever runs in the directory is killed at once.
#[test]
fn a_killed_build_is_done_again() {
    for generator in [NINJA, MAKE] {
        with_each_cmake(generator, |world| {
            world.externals(&["e1"]);
            world.entered();
            let kills = "kill -9 $(ps -o ppid= -p $PPID) $PPID $$\n";
            world.write("e1/build.sh", format!("echo half >\"$3/out\"\n{kills}"));
            fails(world);
            world.write("e1/build.sh", crate::BUILD_SH);
            assert_eq!(world.entered(), ["e1"], "{world}");
            assert_eq!(world.made("e1"), "a\nb\n", "{world}");
            assert_eq!(world.entered(), NOTHING, "{world}");
        });
    }
}

#[test]
fn where_nothing_can_be_recorded_everything_is_built() {
    everywhere(|world| {
        world.external("e1");
        world.write("file", "");
        let lines = world.add("e1", "");
        world.project(
            "NONE",
            &format!("include(ExternalProject)\n{lines}upcheck_external_project(e1 STORE ${{CMAKE_SOURCE_DIR}}/file)\n"),
        );
        world.configure();
        for _ in 0..2 {
            let _ = fs::remove_file(world.path("log"));
            let said = world.build();
            assert_eq!(world.log(), ["e1"], "{world}: {}", said.text);
            assert!(said.line().contains("'e1' will be built again"), "{world}: {}", said.text);
        }
    });
}

#[test]
fn where_the_command_is_gone_everything_is_built() {
    everywhere(|world| {
        world.external("e1");
        let lines = world.add("e1", "");
        world.project("NONE", &format!("include(ExternalProject)\n{lines}upcheck_external_project(e1)\n"));
        let said = world.try_configure(&["-DUPCHECK_EXECUTABLE=/nonexistent/upcheck"]);
        assert!(said.is_well, "{world}: {}", said.text);
        for _ in 0..2 {
            assert_eq!(world.entered(), ["e1"], "{world}");
        }
    });
}

/// Links to directories are followed, below the sources too.
#[test]
fn what_is_behind_links_is_looked_at() {
    everywhere(|world| {
        world.external("e1");
        world.write("elsewhere/deep/l.txt", "l\n");
        let link = |from: &str, to: &str| {
            std::os::unix::fs::symlink(world.path(from), world.path(to)).expect("a link")
        };
        link("src/elsewhere", "src/e1/link");
        link("src/e1", "src/e1-link");
        let lines = world.add("e1", "").replace("/e1\"", "/e1-link\"");
        world.project("NONE", &format!("include(ExternalProject)\n{lines}upcheck_external_project(e1)\n"));
        world.configure();
        assert_eq!(world.entered(), ["e1"], "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
        world.write("elsewhere/deep/l.txt", "L\n");
        assert_eq!(world.entered(), ["e1"], "{world}");
        world.write("e1/a.txt", "A\n");
        assert_eq!(world.entered(), ["e1"], "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
    });
}
