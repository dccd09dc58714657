//! What is built, and what is not.

use crate::world::{MAKE, MULTI, NINJA, Said, everywhere, with_each_cmake};
use std::process::Command;
use upcheck_tests::tools;

const NOTHING: [&str; 0] = [];

#[test]
fn what_has_not_changed_is_not_entered() {
    everywhere(|world| {
        world.externals(&["e1", "e2"]);
        assert_eq!(world.entered(), ["e1", "e2"], "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
        world.touch("src/e1/a.txt");
        assert_eq!(world.entered(), NOTHING, "touched, {world}");
        world.write("e1/a.txt", "c\n");
        world.write("e1/a.txt", "a\n");
        assert_eq!(world.entered(), NOTHING, "changed and changed back, {world}");
        world.configure();
        assert_eq!(world.entered(), NOTHING, "configured, {world}");
        let said = world.build();
        assert_eq!(said.text.matches("Looking at").count(), 1, "one process for all, {world}: {}", said.text);
    });
}

#[test]
fn what_has_changed_is_built_and_nothing_else() {
    everywhere(|world| {
        world.externals(&["e1", "e2", "e3"]);
        world.entered();
        let check = |what: &str, made: &str| {
            assert_eq!(world.entered(), ["e2"], "{what}, {world}");
            assert_eq!(world.made("e2"), made, "{what}, {world}");
            assert_eq!(world.entered(), NOTHING, "after: {what}, {world}");
        };
        world.write("e2/a.txt", "A\n");
        check("edited, the same size", "A\nb\n");
        world.write("e2/c.txt", "c\n");
        check("a new file", "A\nb\nc\n");
        world.remove("src/e2/b.txt");
        check("a deleted file", "A\nc\n");
        world.write("e2/sub/deep/d.txt", "d\n");
        check("a file in a new directory", "A\nc\nd\n");
        std::fs::rename(world.path("src/e2/sub/deep"), world.path("src/e2/sub/x")).expect("a new name");
        check("a directory has a new name", "A\nc\nd\n");
        world.write("e2/.hidden/.more/.f", "");
        check("a hidden file", "A\nc\nd\n");
        world.write("e2/.git/index", "");
        world.write("e2/sub/.git/refs/x", "");
        assert_eq!(world.entered(), NOTHING, "git, {world}");
    });
}

#[test]
fn a_file_with_an_old_time_is_a_change() {
    with_each_cmake(NINJA, |world| {
        world.externals(&["e1"]);
        world.entered();
        let time = world.space.mtime("top/src/e1/a.txt").expect("a time");
        world.space.write_at("top/src/e1/a.txt", "b\n", time - 3_600_000_000_000);
        assert_eq!(world.entered(), ["e1"], "{world}");
        world.space.write_at("top/src/e1/a.txt", "c\n", time - 3_600_000_000_000);
        assert_eq!(world.entered(), ["e1"], "the same time and size, {world}");
    });
}

#[test]
fn what_is_missing_is_made_again() {
    everywhere(|world| {
        world.externals(&["e1", "e2"]);
        world.entered();
        world.remove("build/e1-prefix/src/e1-build/out");
        assert_eq!(world.entered(), ["e1"], "{world}");
        assert_eq!(world.made("e1"), "a\nb\n", "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
        world.remove("build/CMakeFiles/upcheck/externals/e2");
        assert_eq!(world.entered(), ["e2"], "without trigger, {world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
        std::fs::remove_dir_all(world.path("build/CMakeFiles/upcheck/external-records")).expect("records");
        assert_eq!(world.entered(), ["e1", "e2"], "without records, {world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
        world.build_with(&["--target", "clean"]);
        assert_eq!(world.entered(), ["e1", "e2"], "clean, {world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
    });
}

#[test]
fn outputs_that_are_named_are_looked_at() {
    everywhere(|world| {
        let lines = "include(ExternalProject)\n".to_owned()
            + &world.add("e1", "").replace("BUILD_BYPRODUCTS <BINARY_DIR>/out", "")
            + "upcheck_external_project(e1 OUTPUTS out)\n";
        world.external("e1");
        world.project("NONE", &lines);
        world.configure();
        assert_eq!(world.entered(), ["e1"], "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
        world.remove("build/e1-prefix/src/e1-build/out");
        assert_eq!(world.entered(), ["e1"], "{world}");
        std::fs::write(world.path("build/e1-prefix/src/e1-build/out"), "other").expect("written");
        assert_eq!(world.entered(), ["e1"], "changed by somebody else, {world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
    });
}

#[test]
fn what_was_built_again_builds_those_behind_it_again() {
    everywhere(|world| {
        for name in ["e1", "e2", "e3"] {
            world.external(name);
        }
        let lines = [world.add("e1", ""), world.add("e2", "DEPENDS e1"), world.add("e3", "")].concat();
        world.project(
            "NONE",
            &format!("include(ExternalProject)\n{lines}upcheck_external_project(e1 e2 e3)\n"),
        );
        world.configure();
        assert_eq!(world.entered(), ["e1", "e2", "e3"], "{world}");
        world.write("e1/a.txt", "A\n");
        assert_eq!(world.entered(), ["e1", "e2"], "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
        world.write("e2/a.txt", "A\n");
        assert_eq!(world.entered(), ["e2"], "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
    });
}

#[test]
fn one_check_is_for_all_calls_in_all_directories() {
    everywhere(|world| {
        for name in ["e1", "e2", "sub/e3"] {
            world.external(name);
        }
        let [e1, e2, e3] = ["e1", "e2", "e3"].map(|name| world.add(name, ""));
        let sub = format!("{e3}upcheck_external_project(e3)\n");
        world.write("sub/CMakeLists.txt", sub);
        world.project(
            "NONE",
            &format!(
                "include(ExternalProject)\n{e1}upcheck_external_project(e1)\nadd_subdirectory(sub)
{e2}upcheck_external_project(e2)\n"
            ),
        );
        world.configure();
        assert_eq!(world.entered(), ["e1", "e2", "e3"], "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
        for name in ["e1", "e2", "sub/e3"] {
            world.write(&format!("{name}/a.txt"), "A\n");
            assert_eq!(world.entered(), [name.trim_start_matches("sub/")], "{world}");
            assert_eq!(world.entered(), NOTHING, "{world}");
        }
        let looks = world.build().text.matches("Looking at external projects").count();
        assert_eq!(looks, 1, "{world}");
    });
}

#[test]
fn one_of_them_can_be_asked_for_alone() {
    for generator in [NINJA, MAKE] {
        with_each_cmake(generator, |world| {
            world.externals(&["e1", "e2"]);
            world.entered();
            world.write("e1/a.txt", "A\n");
            world.write("e2/a.txt", "A\n");
            assert_eq!(world.entered_with(&["--target", "e2"]), ["e2"], "{world}");
            assert_eq!(world.entered_with(&["--target", "e2"]), NOTHING, "{world}");
            assert_eq!(world.entered(), ["e1"], "{world}");
            assert_eq!(world.entered(), NOTHING, "{world}");
        });
    }
}

#[test]
fn many_at_the_same_time_do_not_disturb_each_other() {
    everywhere(|world| {
        let names: Vec<_> = (10..22).map(|n| format!("e{n}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        world.externals(&names);
        assert_eq!(world.entered_with(&["--parallel", "6"]), names, "{world}");
        assert_eq!(world.entered_with(&["--parallel", "6"]), NOTHING, "{world}");
        for name in &names[3..9] {
            world.write(&format!("{name}/a.txt"), "A\n");
        }
        assert_eq!(world.entered_with(&["--parallel", "6"]), names[3..9], "{world}");
        assert_eq!(world.entered_with(&["--parallel", "6"]), NOTHING, "{world}");
    });
}

#[test]
fn what_is_watched_can_be_said() {
    everywhere(|world| {
        world.external("e1");
        world.write("shared/s.h", "");
        world.write("e1/inc/x/y.h", "");
        let lines = world.add("e1", "BUILD_IN_SOURCE 1");
        let lines = lines.replace("BUILD_BYPRODUCTS <BINARY_DIR>/out", "").replace("<BINARY_DIR>)", ".)");
        world.project(
            "NONE",
            &format!(
                "include(ExternalProject)\n{lines}upcheck_external_project(e1 WATCH inc a.txt ../shared/*.h
  \"${{CMAKE_CURRENT_SOURCE_DIR}}/e1/*.sh\" !inc/ignored)\n"
            ),
        );
        world.configure();
        assert_eq!(world.entered(), ["e1"], "{world}");
        assert_eq!(world.entered(), NOTHING, "{world}");
        for (file, counts) in [
            ("e1/b.txt", false),
            ("e1/a.txt", true),
            ("e1/inc/x/y.h", true),
            ("e1/inc/x/new.h", true),
            ("e1/inc/.h", true),
            ("e1/inc/ignored/f", false),
            ("shared/t.h", true),
            ("shared/t.c", false),
        ] {
            world.write(file, "other\n");
            let entered = world.entered();
            assert_eq!(entered.len(), usize::from(counts), "{file}, {world}");
            assert_eq!(world.entered(), NOTHING, "{world}");
        }
        world.write("e1/build.sh", format!("{}# more\n", crate::BUILD_SH));
        assert_eq!(world.entered(), ["e1"], "{world}");
    });
}

#[test]
fn each_configuration_is_built() {
    with_each_cmake(MULTI, |world| {
        if world.version == "3.16" {
            return;
        }
        world.external("e1");
        world.external("e2");
        // What two configurations make is made by two commands, and ninja sees that the other one was last.
        let lines = [world.add("e1", ""), world.add("e2", "")].concat();
        let lines = lines.replace("BUILD_BYPRODUCTS <BINARY_DIR>/out", "");
        world.project("NONE", &format!("include(ExternalProject)\n{lines}upcheck_external_project(e1 e2)\n"));
        world.configure();
        for _ in 0..2 {
            assert_eq!(world.entered_with(&["--config", "Debug"]), ["e1", "e2"], "{world}");
            assert_eq!(world.entered_with(&["--config", "Release"]), ["e1", "e2"], "{world}");
            for config in ["Debug", "Release"] {
                assert_eq!(world.entered_with(&["--config", config]), NOTHING, "{config}, {world}");
            }
            world.write("e1/a.txt", format!("{:?}\n", std::time::SystemTime::now()));
            assert_eq!(world.entered_with(&["--config", "Release"]), ["e1"], "{world}");
            assert_eq!(world.entered_with(&["--config", "Debug"]), ["e1"], "{world}");
            world.write("e2/a.txt", format!("{:?}\n", std::time::SystemTime::now()));
            assert_eq!(world.entered_with(&["--config", "Debug"]), ["e2"], "{world}");
            assert_eq!(world.entered_with(&["--config", "Release"]), ["e2"], "{world}");
            std::fs::remove_dir_all(world.binary()).expect("gone");
            world.configure();
        }
    });
}

#[test]
fn the_command_asks_what_the_build_would_ask() {
    everywhere(|world| {
        world.externals(&["one", "two"]);
        let upcheck = |args: &[&str]| {
            let mut command = Command::new(tools::upcheck());
            command.arg("-C").arg(world.path("build")).arg("--no-image").args(args);
            let output = command.output().expect("upcheck starts");
            (output.status.code(), Said::new(&output).text)
        };
        assert_eq!(upcheck(&["--write-query"]).0, Some(0), "{world}");
        world.configure();
        world.entered();
        // The target that looks at them is always stale for the build tool.
        let (status, text) = upcheck(&["--from", "cmake"]);
        assert_eq!(status, Some(0), "{world}: {text}");
        world.write("two/c.txt", "c\n");
        let (status, text) = upcheck(&["--from", "cmake"]);
        assert_eq!(status, Some(1), "{world}: {text}");
        assert!(text.contains("upcheck_externals"), "{world}: {text}");
        assert_eq!(world.entered(), ["two"], "{world}");
        assert_eq!(upcheck(&["--from", "cmake"]).0, Some(0), "{world}: built again");
        // Without the records nobody knows.
        std::fs::remove_dir_all(world.path("build/CMakeFiles/upcheck/external-records")).expect("a store");
        assert_eq!(upcheck(&["--from", "cmake"]).0, Some(1), "{world}: no records");
    });
}
