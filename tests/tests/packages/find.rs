//! Consumers that use `find_package`.

use crate::installed::{CMAKES, cmake, prefix};
use crate::{SONAME, VERSION, clean, dynamic, run};
use std::path::{Path, PathBuf};
use std::process::Command;
use upcheck_tests::space::Space;
use upcheck_tests::tools::{Ninja, root};

/// Configures the project with these options.
pub(crate) fn configure(space: &Space, cmake: &Path, generator: &str, options: &[String]) -> Command {
    let mut command = clean(cmake);
    command
        .arg("-S")
        .arg(consumer())
        .arg("-B")
        .arg(space.path().join("build"))
        .args(["-G", generator])
        .args(options);
    if generator == "Ninja" {
        command.arg(format!("-DCMAKE_MAKE_PROGRAM={}", Ninja::V1_13.path().display()));
    }
    command
}

/// The project that finds upcheck.
pub(crate) fn consumer() -> PathBuf {
    root().join("tests/tests/packages/consumer")
}

/// The option by which CMake finds a tree.
pub(crate) fn found_in(prefix: &Path) -> String {
    format!("-DCMAKE_PREFIX_PATH={}", prefix.display())
}

/// A folder in which main.o is missing.
pub(crate) fn asked() -> Space {
    let space = Space::new();
    space.write("main.c", "");
    space
}

/// Runs the programs of a build, and checks what they say and which library they have.
#[track_caller]
pub(crate) fn check_programs(build: &Path, library: Option<&str>) {
    check_program(&build.join("from_c"), library);
    check_program(&build.join("from_cpp"), library);
    check_program(&build.join("bridged"), None);
}

/// Runs one of the programs.
#[track_caller]
pub(crate) fn check_program(program: &Path, library: Option<&str>) {
    let name = program.file_name().and_then(|name| name.to_str()).expect("a name");
    let answer = match name {
        "from_c" => "main.o does not exist\n",
        "from_cpp" => "output-missing\n",
        "bridged" => "main.o does not exist\nrefused: 1\n",
        _ => unreachable!("{name}"),
    };
    assert_eq!(run(clean(program).arg(asked().path())), answer);
    let needed = dynamic(program, "NEEDED");
    let upcheck = needed.iter().map(String::as_str).find(|name| name.contains("upcheck"));
    assert_eq!(upcheck, library, "{needed:?}");
}

fn check(generator: &str, kind: &str) {
    let library = (kind == "shared").then_some(SONAME);
    for version in CMAKES {
        let space = Space::new();
        let options = [found_in(prefix()), format!("-DCOMPONENTS={kind};cli"), "-DVERSION=0.1".into()];
        run(&mut configure(&space, &cmake(version), generator, &options));
        let build = space.path().join("build");
        run(clean(cmake(version)).arg("--build").arg(&build));
        check_programs(&build, library);
        assert_eq!(space.read("build/version.txt"), format!("upcheck {VERSION}\n").as_bytes());
        // Nothing of the place where the library was made is left in what is made with it.
        for program in ["from_c", "from_cpp"] {
            let paths: Vec<_> = library.iter().map(|_| prefix().join("lib").display().to_string()).collect();
            assert_eq!(dynamic(&build.join(program), "RUNPATH"), paths);
        }
    }
}

#[test]
fn the_shared_library_is_found_and_runs_with_ninja() {
    check("Ninja", "shared");
}

#[test]
fn the_shared_library_is_found_and_runs_with_make() {
    check("Unix Makefiles", "shared");
}

#[test]
fn the_archive_is_found_and_runs_with_ninja() {
    check("Ninja", "static");
}

#[test]
fn the_archive_is_found_and_runs_with_make() {
    check("Unix Makefiles", "static");
}

#[test]
fn the_libraries_are_the_same_in_all_configurations() {
    for (version, kind) in [("3.25", "shared"), ("4", "static")] {
        let space = Space::new();
        let mut options = vec![found_in(prefix()), format!("-DCOMPONENTS={kind}")];
        options.push(format!("-DCMAKE_MAKE_PROGRAM={}", Ninja::V1_13.path().display()));
        run(&mut configure(&space, &cmake(version), "Ninja Multi-Config", &options));
        for configuration in ["Debug", "Release"] {
            let mut build = clean(cmake(version));
            run(build.arg("--build").arg(space.path().join("build")).args(["--config", configuration]));
            check_programs(
                &space.path().join("build").join(configuration),
                (kind == "shared").then_some(SONAME),
            );
        }
    }
}
