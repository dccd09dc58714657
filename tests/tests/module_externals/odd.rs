//! Names with all sorts of characters.

use crate::world::{MAKE, NINJA, World};

const NOTHING: [&str; 0] = [];

fn works_in(folder: &str) {
    for version in ["3.16", "3.25", "4"] {
        for generator in [NINJA, MAKE] {
            let world = World::in_folder(version, generator, folder);
            world.externals(&["e1", "e+2.x-y_z"]);
            assert_eq!(world.entered(), ["e+2.x-y_z", "e1"], "{world}");
            assert_eq!(world.entered(), NOTHING, "{world}");
            world.write("e1/a.txt", "A\n");
            assert_eq!(world.entered(), ["e1"], "{world}");
            assert_eq!(world.entered(), NOTHING, "{world}");
        }
    }
}

#[test]
fn directories_may_have_spaces() {
    works_in("a b");
}

#[test]
fn directories_may_have_letters_of_any_language() {
    works_in("Größe-日本");
}

/// What would be part of a pattern elsewhere.
#[test]
fn directories_may_look_like_patterns() {
    works_in("{a,b}!x^");
}

#[test]
fn files_may_have_any_name() {
    for generator in [NINJA, MAKE] {
        let world = World::new("3.25", generator);
        world.externals(&["e1"]);
        world.entered();
        for name in
            ["a b", "$x", "#h", "a;b", "[x", "]", "back\\slash", "*", "'", "\"", "new\nline", "ü", "-f", "~"]
        {
            world.write(&format!("e1/{name}"), "1");
            assert_eq!(world.entered(), ["e1"], "{name:?}, {world}");
            assert_eq!(world.entered(), NOTHING, "{name:?}, {world}");
            world.write(&format!("e1/{name}"), "2");
            assert_eq!(world.entered(), ["e1"], "{name:?}, {world}");
            world.remove(&format!("src/e1/{name}"));
            assert_eq!(world.entered(), ["e1"], "{name:?}, {world}");
        }
    }
}

#[test]
fn a_build_directory_may_be_a_link() {
    for generator in [NINJA, MAKE] {
        let world = World::new("3.25", generator);
        std::fs::create_dir_all(world.path("real/build")).expect("a directory");
        std::os::unix::fs::symlink(world.path("real/build"), world.path("build")).expect("a link");
        world.externals(&["e1"]);
        assert_eq!(world.entered(), ["e1"], "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
        world.write("e1/a.txt", "A\n");
        assert_eq!(world.entered(), ["e1"], "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
    }
}

/// The build directory, and with it all that ExternalProject makes, lies among the sources that are watched.
#[test]
fn the_build_may_lie_among_the_sources() {
    for version in ["3.16", "3.25", "4"] {
        for generator in [NINJA, MAKE] {
            let world = World::new(version, generator);
            world.external(".");
            let lines = world.add("e1", "PREFIX pre").replace("/e1\"", "/..\"");
            world.write("../build.sh", crate::BUILD_SH.replace("find . -mindepth 2", "find . -mindepth 9"));
            world.write("../a.txt", "a\n");
            world
                .project("NONE", &format!("include(ExternalProject)\n{lines}upcheck_external_project(e1)\n"));
            world.configure();
            let log = world.path("log");
            let build = |times: usize, why: &str| {
                world.build();
                // The log lies among the sources, too: it is in nobody's way when it is put aside.
                let entered = std::fs::read_to_string(&log).unwrap_or_default().lines().count();
                assert_eq!(entered, times, "{why}, {world}");
            };
            build(1, "first");
            // The log is a new file among the sources.
            build(2, "log");
            build(3, "it was written while the build was under way");
        }
    }
}
