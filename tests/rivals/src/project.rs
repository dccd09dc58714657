//! A real project: C files that CMake configures and ninja and the compiler build, once with each ninja.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use upcheck_tests::tools::{Ninja, run_tool};

/// To be raised with every change of what is generated.
pub(crate) const VERSION: u32 = 1;

const FILES_PER_LIBRARY: usize = 20;

/// Where the build directory of a ninja is.
pub(crate) fn build_dir(dir: &Path, ninja: Ninja) -> PathBuf {
    dir.join(format!("build-{}", ninja.number()))
}

/// Writes so many C files into an empty folder, and configures and builds them with each of the ninjas.
pub(crate) fn generate(dir: &Path, n_files: usize, ninjas: &[Ninja]) -> Result<(), String> {
    let source = dir.join("source");
    write_sources(&source, n_files).map_err(|error| error.to_string())?;
    let cmake = run_tool("get-build-tools", "");
    for &ninja in ninjas {
        let build = build_dir(dir, ninja);
        let mut configure = Command::new(&cmake);
        configure.args(["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-S"]).arg(&source).arg("-B").arg(&build);
        configure.arg(format!("-DCMAKE_MAKE_PROGRAM={}", ninja.path().display()));
        must_run(&mut configure)?;
        must_run(Command::new(ninja.path()).arg("-C").arg(&build))?;
    }
    Ok(())
}

fn write_sources(dir: &Path, n_files: usize) -> std::io::Result<()> {
    let mut cmake =
        "cmake_minimum_required(VERSION 3.16)\nproject(sample C)\ninclude_directories(include)\n".to_owned();
    fs::create_dir_all(dir.join("include"))?;
    fs::write(dir.join("include/config.h"), "#include <stddef.h>\n#include <stdint.h>\n")?;
    let n_libraries = n_files.div_ceil(FILES_PER_LIBRARY);
    let mut calls = String::new();
    for library in 0..n_libraries {
        fs::create_dir_all(dir.join(format!("part{library:02}")))?;
        let files = library * FILES_PER_LIBRARY..n_files.min((library + 1) * FILES_PER_LIBRARY);
        let mut list = format!("add_library(part{library:02} STATIC");
        for file in files {
            let path = format!("part{library:02}/file{file:03}.c");
            fs::write(dir.join(format!("include/file{file:03}.h")), header(file))?;
            fs::write(dir.join(&path), content(file, n_files))?;
            write!(list, " {path}").expect("memory");
            write!(calls, " + function{file:03}({file})").expect("memory");
        }
        writeln!(cmake, "{list})").expect("memory");
    }
    let includes: String = (0..n_files).map(|file| format!("#include \"file{file:03}.h\"\n")).collect();
    fs::write(dir.join("main.c"), format!("{includes}int main(void) {{ return 0{calls}; }}\n"))?;
    let libraries: String = (0..n_libraries).map(|library| format!(" part{library:02}")).collect();
    writeln!(cmake, "add_executable(sample main.c)\ntarget_link_libraries(sample{libraries})")
        .expect("memory");
    fs::write(dir.join("CMakeLists.txt"), cmake)
}

fn header(file: usize) -> String {
    format!("#pragma once\n#include \"config.h\"\nint function{file:03}(int number);\n")
}

/// Includes some of the project's headers and of the system's.
fn content(file: usize, n_files: usize) -> String {
    let others = [1, 2, 3, 7, 20, 40, 41].map(|step| (file + step) % n_files);
    let includes: String = others.map(|other| format!("#include \"file{other:03}.h\"\n")).concat();
    format!(
        "#include \"file{file:03}.h\"\n{includes}#include <errno.h>\n#include <fcntl.h>\n#include <stdio.h>\n\
         #include <stdlib.h>\n#include <string.h>\n#include <sys/stat.h>\n#include <time.h>\n#include <unistd.h>\n\
         int function{file:03}(int number) {{ return printf(\"%d\\n\", number) * {file}; }}\n"
    )
}

/// Runs a command that has to succeed.
pub(crate) fn must_run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    Err(format!("{command:?} failed:\n{printed}{}", String::from_utf8_lossy(&output.stderr)))
}
