//! `upcheck_stale_targets`, `upcheck_configure_check`, and the module as a script.

use crate::project;
use crate::world::{Said, World, everywhere, module};
use upcheck_tests::tools;

/// Runs a script that has the module and these lines.
fn script(world: &World, lines: &str) -> Said {
    let build = world.binary();
    let head = format!(
        "set(UPCHECK_EXECUTABLE \"{}\")\ninclude(\"{}\")\nset(build \"{}\")\n",
        tools::upcheck().display(),
        module().display(),
        build.display()
    );
    world.write("script.cmake", head + lines);
    let output = world.cmake().arg("-P").arg(world.path("src/script.cmake")).output().expect("cmake runs");
    Said::new(&output)
}

/// What a script prints of a variable.
#[track_caller]
fn printed(world: &World, lines: &str, variable: &str) -> String {
    let said = script(world, &format!("{lines}\nmessage(\"<${{{variable}}}>\")\n"));
    assert!(said.is_well, "{world}: {}", said.text);
    let text = said.text.split_once('<').and_then(|(_, rest)| rest.rsplit_once('>')).expect("a value").0;
    text.to_owned()
}

/// A project that asks, as every function here makes it do.
fn built(world: &World) {
    project(world, "upcheck_add_report_target()");
    world.configure();
    world.build();
}

#[test]
fn the_stale_targets_are_a_list() {
    everywhere(|world| {
        built(world);
        let list = |options: &str| {
            printed(
                world,
                &format!("upcheck_stale_targets(stale BUILD_DIR \"${{build}}\" {options})"),
                "stale",
            )
        };
        assert_eq!(list(""), "", "{world}");
        world.edit("lib.c", "return X", "return 1");
        assert_eq!(list(""), "lib;app", "{world}");
        assert_eq!(list("TARGETS lib"), "lib", "{world}");
        assert_eq!(list("TARGETS other"), "", "{world}");
        assert_eq!(list("TARGETS other app"), "lib;app", "{world}");
        if world.is_multi() {
            assert_eq!(list("CONFIG Release TARGETS other"), "other", "{world}");
        }
        let lines = "upcheck_stale_targets(stale BUILD_DIR \"${build}\" REASONS why RESULT result)";
        let why = printed(world, lines, "why");
        let reasons: Vec<_> = why.split(';').collect();
        assert_eq!(reasons.len(), 2, "{world}: {why}");
        assert!(reasons[0].starts_with("input-newer ") && reasons[0].ends_with("lib.c"), "{world}: {why}");
        assert!(reasons[1].starts_with("upstream-stale "), "{world}: {why}");
        assert_eq!(printed(world, lines, "result"), "stale", "{world}");
        world.build();
        assert_eq!(printed(world, lines, "result"), "fresh", "{world}");
        assert_eq!(printed(world, lines, "why"), "", "{world}");
    });
}

#[test]
fn the_module_is_a_script() {
    everywhere(|world| {
        built(world);
        world.edit("lib.c", "return X", "return 1");
        let run = |options: &[&str]| {
            let mut cmake = world.cmake();
            cmake.arg(format!("-DUPCHECK_EXECUTABLE={}", tools::upcheck().display())).args(options);
            cmake.arg("-P").arg(module()).current_dir(world.path("."));
            cmake.output().expect("cmake runs")
        };
        let printed = |options: &[&str]| String::from_utf8(run(options).stdout).expect("UTF-8");
        // Relative to where it is started.
        assert_eq!(printed(&["-DBUILD_DIR=build"]), "lib;app\n", "{world}");
        assert_eq!(printed(&["-DBUILD_DIR=build", "-DTARGETS=lib;other"]), "lib\n", "{world}");
        let text = Said::new(&run(&[])).line();
        assert!(text.contains("Which build?"), "{world}: {text}");
        let said = Said::new(&run(&["-DBUILD_DIR=nowhere"]));
        assert!(!said.is_well && said.line().contains("nowhere"), "{world}: {}", said.text);
        let said = Said::new(&run(&["-DBUILD_DIR=build", "-DTARGETS=othr"]));
        assert!(!said.is_well && said.line().contains("'other'"), "{world}: {}", said.text);
    });
}

#[test]
fn trouble_is_an_error_or_a_result() {
    everywhere(|world| {
        built(world);
        let said = script(world, "upcheck_stale_targets(stale BUILD_DIR \"${build}/no\")");
        assert!(!said.is_well, "{world}");
        assert!(said.line().contains("upcheck_stale_targets: "), "{world}: {}", said.text);
        let result =
            printed(world, "upcheck_stale_targets(stale BUILD_DIR \"${build}/no\" RESULT result)", "result");
        assert!(result.contains("no"), "{world}: {result}");
        let said = script(world, "upcheck_configure_check(\"${build}/no\" RESULT r)");
        assert!(!said.is_well, "{world}");
    });
}

#[test]
fn whether_a_configure_is_needed_is_said_with_the_file() {
    everywhere(|world| {
        project(world, "upcheck_add_report_target()\ninclude(more.cmake)");
        world.write("more.cmake", "");
        world.configure();
        world.build();
        let check = || {
            let lines = "upcheck_configure_check(\"${build}\" RESULT is_needed REASON why)";
            printed(world, &format!("{lines}\nset(both \"${{is_needed}}: ${{why}}\")"), "both")
        };
        assert_eq!(check(), "FALSE: ", "{world}");
        world.edit("lib.c", "return X", "return 1");
        assert_eq!(check(), "FALSE: ", "sources, {world}");
        world.write("more.cmake", "# more\n");
        let said = check();
        assert!(said.starts_with("TRUE: input-newer ") && said.ends_with("more.cmake"), "{world}: {said}");
        world.build();
        assert_eq!(check(), "FALSE: ", "{world}");
        world.remove("src/more.cmake");
        let said = check();
        assert!(said.starts_with("TRUE: ") && said.contains("more.cmake"), "{world}: {said}");
    });
}

/// While a project is configured, it is about the build that was there.
#[test]
fn a_project_can_ask_while_it_is_configured() {
    everywhere(|world| {
        project(
            world,
            "upcheck_stale_targets(stale RESULT result TARGETS app)\nmessage(\"<${result}: ${stale}>\")",
        );
        let said = world.configure();
        assert!(
            said.line().contains("is no build directory of CMake"),
            "nothing is known yet, {world}: {}",
            said.text
        );
        world.build();
        world.edit("lib.c", "return X", "return 1");
        let said = world.configure();
        assert!(said.line().contains("<stale: lib;app>"), "{world}: {}", said.text);
    });
}

/// Names of files that have a meaning in CMake's lists. The reader of Makefiles does not know them.
#[test]
fn reasons_may_name_any_file() {
    let world = World::new("4", crate::world::NINJA);
    project(&world, "add_library(odd STATIC \"a [b] c.c\")\nupcheck_add_report_target()");
    world.write("a [b] c.c", "int odd;\n");
    world.configure();
    world.build();
    world.write("a [b] c.c", "int even;\n");
    let lines =
        "upcheck_stale_targets(stale BUILD_DIR \"${build}\" REASONS why)\nset(both \"${stale}=${why}\")";
    let said = printed(&world, lines, "both");
    assert!(said.starts_with("odd=input-newer ") && said.ends_with("/a [b] c.c"), "{world}: {said}");
}
