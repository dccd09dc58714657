//! `upcheck_record_after_build`.

use crate::project;
use crate::world::{MAKE, NINJA, World, everywhere, with_each_cmake};

const CONTENT: [&str; 4] = ["--from", "cmake", "--policy", "mtime-and-digest-input"];

#[track_caller]
fn is_fresh(world: &World, why: &str) {
    let (status, said) = world.ask(&CONTENT);
    assert_eq!(status, 0, "{why}, {world}: {said}");
}

#[track_caller]
fn is_stale(world: &World, why: &str) {
    let (status, said) = world.ask(&CONTENT);
    assert_eq!(status, 1, "{why}, {world}: {said}");
}

fn methods(work: impl Fn(&World, &str)) {
    with_each_cmake(MAKE, |world| {
        work(world, "METHOD TARGET");
        if world.version == "4" {
            work(&World::new("4", MAKE), "");
        }
    });
}

#[test]
fn content_decides_about_makefiles_afterwards() {
    methods(|world, method| {
        project(world, &format!("upcheck_record_after_build({method})"));
        world.configure();
        world.build();
        is_fresh(world, method);
        world.touch("src/lib.c");
        is_fresh(world, "touched");
        let text = world.read("src/lib.c");
        world.write("lib.c", text.replace('X', "1"));
        is_stale(world, "edited");
        world.write("lib.c", text);
        is_fresh(world, "edited back");
        world.edit("gen.in", "X 0", "X 1");
        is_stale(world, "a generated header's source");
        world.build();
        is_fresh(world, "built");
        world.remove("build/libother.a");
        is_stale(world, "deleted");
        world.build();
        is_fresh(world, "built again");
    });
}

#[test]
fn a_failed_build_is_not_recorded() {
    methods(|world, method| {
        project(world, &format!("upcheck_record_after_build({method})"));
        world.configure();
        world.build();
        world.edit("lib.c", "return X", "return Z");
        assert!(!world.try_build(&["--", "-k"]).is_well, "{world}");
        is_stale(world, "failed");
        world.edit("lib.c", "return Z", "return X");
        world.build();
        is_fresh(world, "built");
    });
}

#[test]
fn what_is_not_built_by_default_is_not_dragged_in() {
    methods(|world, method| {
        world.write(
            "sub/CMakeLists.txt",
            "add_library(deep STATIC ../other.c)\nadd_library(not_deep EXCLUDE_FROM_ALL ../other.c)\n",
        );
        world.write("out/CMakeLists.txt", "add_library(out STATIC ../other.c)\n");
        project(
            world,
            &format!(
                "add_subdirectory(sub)\nadd_subdirectory(out EXCLUDE_FROM_ALL)
add_library(never EXCLUDE_FROM_ALL other.c)\nadd_custom_target(nor COMMAND false)
add_library(objects OBJECT other.c)\nadd_library(interface INTERFACE)
upcheck_record_after_build({method})"
            ),
        );
        world.configure();
        world.build();
        assert!(world.path("build/sub/libdeep.a").exists(), "{world}");
        for not in ["libnever.a", "out/libout.a", "sub/libnot_deep.a"] {
            assert!(!world.path("build").join(not).exists(), "{not}, {world}");
        }
        is_fresh(world, "built");
        world.touch("src/other.c");
        is_fresh(world, "touched");
    });
}

#[test]
fn where_nothing_changed_nothing_is_recorded() {
    everywhere(|world| {
        project(world, "upcheck_record_after_build(METHOD TARGET)");
        world.configure();
        let said = world.build();
        assert!(said.text.contains("Recording what was built"), "{world}: {}", said.text);
        let said = world.build();
        assert!(!said.text.contains("Recording what was built"), "{world}: {}", said.text);
        let (status, said) = world.ask(&["--from", "cmake"]);
        assert_eq!(status, 0, "{world}: {said}");
    });
}

/// A build goes well although nothing can be recorded.
#[test]
fn a_build_does_not_fail_for_want_of_a_record() {
    for generator in [NINJA, MAKE] {
        with_each_cmake(generator, |world| {
            project(world, "upcheck_record_after_build(METHOD TARGET)");
            world.configure();
            world.space.write("top/build/.upcheck", "a file where the store should be");
            world.build();
        });
    }
}

/// The option was refused where nothing said that the Makefiles are CMake's, and passed over where something did.
#[test]
fn a_policy_is_taken_where_it_means_something_and_refused_where_it_does_not() {
    everywhere(|world| {
        project(world, "upcheck_record_after_build(METHOD TARGET)");
        world.configure();
        world.build();
        world.touch("src/lib.c");
        for from in [&["--from", "cmake"][..], &[]] {
            let (status, said) = world.ask(&[from, &["--policy", "mtime-and-digest-input"]].concat());
            if world.generator == MAKE {
                assert_eq!(status, 0, "{world}: {said}");
                assert_eq!(world.ask(from).0, 1, "make goes by times, {world}");
            } else {
                assert_eq!(status, 2, "{world}: {said}");
                assert!(said.contains("--policy is not for ninja"), "{world}: {said}");
            }
        }
    });
}
