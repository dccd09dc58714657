//! Projects for the cases about CMake: many small files in Makefiles, external projects, and many globs.

use crate::project::must_run;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use upcheck_tests::tools::{self, run_tool};

/// To be raised with every change of what is generated.
pub(crate) const VERSION: u32 = 1;

/// The newest CMake that is tested.
pub(crate) fn cmake() -> PathBuf {
    run_tool("get-cmake", "4")
}

/// `n_files` C files, half as many headers, and a static library for each 20 files, configured for Makefiles and built.
pub(crate) fn generate_makefiles(dir: &Path, n_files: usize, upcheck: &Path) -> Result<(), String> {
    let source = dir.join("source");
    write_libraries(&source, n_files).map_err(|error| error.to_string())?;
    configure(&source, &build_dir(dir, "make"), "Unix Makefiles", &[], upcheck)?;
    build(&build_dir(dir, "make"))
}

/// The build directory of a kind.
pub(crate) fn build_dir(dir: &Path, kind: &str) -> PathBuf {
    dir.join(format!("build-{kind}"))
}

fn write_libraries(dir: &Path, n_files: usize) -> std::io::Result<()> {
    let mut cmake =
        "cmake_minimum_required(VERSION 3.16...4.4)\nproject(many C)\ninclude_directories(include)\n"
            .to_owned();
    fs::create_dir_all(dir.join("include"))?;
    let n_headers = (n_files / 2).max(1);
    for header in 0..n_headers {
        fs::write(dir.join(format!("include/h{header}.h")), format!("int declared_{header}(void);\n"))?;
    }
    for library in 0..n_files.div_ceil(20) {
        fs::create_dir_all(dir.join(format!("part{library}")))?;
        write!(cmake, "add_library(part{library} STATIC").expect("memory");
        for file in library * 20..n_files.min((library + 1) * 20) {
            let includes = [0, 1, 7].map(|step| format!("#include \"h{}.h\"\n", (file + step) % n_headers));
            let text = format!("{}int function_{file}(void) {{ return {file}; }}\n", includes.concat());
            fs::write(dir.join(format!("part{library}/f{file}.c")), text)?;
            write!(cmake, " part{library}/f{file}.c").expect("memory");
        }
        cmake.push_str(")\n");
    }
    fs::write(dir.join("CMakeLists.txt"), cmake)
}

/// Runs CMake, asked to say what its targets are.
fn configure(
    source: &Path,
    build: &Path,
    generator: &str,
    options: &[String],
    upcheck: &Path,
) -> Result<(), String> {
    let cmake = || {
        let mut command = Command::new(cmake());
        command.args(["-G", generator, "-S"]).arg(source).arg("-B").arg(build).args(options);
        command
    };
    must_run(&mut cmake())?;
    must_run(Command::new(upcheck).arg("-C").arg(build).arg("--write-query"))?;
    must_run(&mut cmake())
}

fn build(dir: &Path) -> Result<(), String> {
    must_run(Command::new(cmake()).arg("--build").arg(dir).args(["--", "-j2"]))
}

/// Where the CMake module lies.
pub(crate) fn module() -> PathBuf {
    tools::root().join("integrations/cmake/module")
}
