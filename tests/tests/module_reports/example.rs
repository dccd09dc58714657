//! The example project: built as its first lines say.

use crate::world::{MAKE, NINJA, Said, World, cmake, with_each_cmake};
use std::path::Path;
use upcheck_tests::tools::{self, Ninja, root};

/// Puts the example where the project is.
fn copy(world: &World) {
    let from = root().join("examples/cmake");
    let mut folders = vec![from.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the example") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(&from).expect("below").to_str().expect("UTF-8");
            if path.is_dir() {
                // What somebody has built there.
                if name != "build" {
                    folders.push(path);
                }
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            let module = root().join("integrations").display().to_string();
            world.write(name, text.replace("${CMAKE_CURRENT_SOURCE_DIR}/../../integrations", &module));
        }
    }
}

/// Runs cmake in the source directory.
fn run(world: &World, options: &[&str]) -> Said {
    let mut command = world.cmake();
    let ninja = Ninja::V1_13.path().parent().and_then(Path::to_str).expect("UTF-8");
    let path = format!("{ninja}:{}", std::env::var("PATH").expect("PATH"));
    command.current_dir(world.source()).env("PATH", path).args(options);
    Said::new(&command.output().expect("cmake runs"))
}

#[track_caller]
fn well(world: &World, options: &[&str]) -> String {
    let said = run(world, options);
    assert!(said.is_well, "{options:?}, {world}: {}", said.text);
    said.text
}

/// What it is for, step by step. `build` builds a target, or everything.
fn walk(world: &World, program: &str, build: &dyn Fn(&[&str]) -> String) {
    let print = || {
        let output = std::process::Command::new(world.path(program)).output().expect("it runs");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let binary = world.path(program).parent().expect("a directory").to_owned();
    let test = || {
        let mut ctest = world.cmake();
        ctest.arg("-E").arg("chdir").arg(&binary).arg(cmake(world.version).with_file_name("ctest"));
        Said::new(&ctest.output().expect("cmake runs"))
    };
    build(&[]);
    assert!(print().starts_with("2 lines, "), "{world}: {}", print());
    let said = test();
    assert!(said.is_well && !said.text.contains("Skipped"), "{world}: {}", said.text);
    let said = test();
    assert!(said.is_well && said.text.matches("***Skipped").count() == 2, "{world}: {}", said.text);
    let calm = build(&[]);
    for word in ["Building", "Linking", "Performing", "Collecting letters", "Recording"] {
        assert!(!calm.contains(word), "{word}, {world}: {calm}");
    }
    world.touch("src/data/ada.txt");
    let calm = build(&[]);
    assert!(!calm.contains("Building") && !calm.contains("Linking"), "touched, {world}: {calm}");

    world.write("data/eve.txt", "Dear Eve\n");
    build(&[]);
    assert!(print().starts_with("3 lines, "), "{world}: {}", print());
    let said = test();
    assert!(said.is_well && !said.text.contains("Skipped"), "{world}: {}", said.text);

    let before = print();
    world.edit("external/codec/codec.c", "31", "33");
    let said = build(&[]);
    assert!(said.contains("codec.c changed"), "{world}: {said}");
    assert_ne!(print(), before, "{world}");

    world.edit("src/print.c", "lines", "LINES");
    let said = build(&["--target", "stale"]);
    assert!(said.contains("print.c is newer than"), "{world}: {said}");
    assert!(print().starts_with("3 lines, "), "nothing is built, {world}");
    build(&[]);
    assert!(print().starts_with("3 LINES, "), "{world}");
}

#[test]
fn it_is_built_by_every_cmake() {
    for generator in [NINJA, MAKE] {
        with_each_cmake(generator, |world| {
            copy(world);
            world.configure();
            walk(world, "build/print", &|options| world.build_with(options).text);
        });
    }
}

#[test]
fn it_is_built_with_its_presets() {
    for (preset, generator) in [("ninja", NINJA), ("make", MAKE)] {
        with_each_cmake(generator, |world| {
            if world.version == "3.16" {
                return; // knows no presets
            }
            copy(world);
            let command = format!("-DUPCHECK_EXECUTABLE={}", tools::upcheck().display());
            well(world, &["--preset", preset, &command]);
            let program = format!("src/build/{preset}/print");
            walk(world, &program, &|options| {
                well(world, &[&["--build", "--preset", preset], options].concat())
            });
        });
    }
}
