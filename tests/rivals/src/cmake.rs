//! Projects for the cases about CMake: many small files in Makefiles, external projects, and many globs.

use crate::project::must_run;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use upcheck_tests::tools::{self, Ninja, run_tool};

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

/// The files of such a build that are made or made from, without those of CMake and of the system.
pub(crate) fn files(n_files: usize) -> Vec<Vec<u8>> {
    let object = |file: usize| format!("CMakeFiles/part{0}.dir/part{0}/f{file}.c.o", file / 20);
    let sources = (0..n_files).flat_map(|file| [format!("part{}/f{file}.c", file / 20), object(file)]);
    let headers = (0..(n_files / 2).max(1)).map(|header| format!("include/h{header}.h"));
    let libraries = (0..n_files.div_ceil(20)).map(|library| format!("libpart{library}.a"));
    sources.chain(headers).chain(libraries).map(String::into_bytes).collect()
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

/// Ten external projects of 20 C files each, built with ninja: once with BUILD_ALWAYS, once with the module.
pub(crate) fn generate_externals(dir: &Path, upcheck: &Path) -> Result<(), String> {
    const N_EXTERNALS: usize = 10;
    let source = dir.join("source");
    let written = (0..N_EXTERNALS).try_for_each(|n| write_libraries(&source.join(format!("e{n}")), 20));
    written.map_err(|error| error.to_string())?;
    for (kind, always, call) in [
        ("always", " BUILD_ALWAYS 1", ""),
        ("upcheck", "", "upcheck_external_project(e0 e1 e2 e3 e4 e5 e6 e7 e8 e9)\n"),
        ("never", "", ""),
    ] {
        let mut lists = begin("NONE");
        lists.push_str("include(ExternalProject)\n");
        for n in 0..N_EXTERNALS {
            writeln!(
                lists,
                "ExternalProject_Add(e{n} SOURCE_DIR ${{CMAKE_CURRENT_SOURCE_DIR}}/../e{n} INSTALL_COMMAND \"\"{always}\n\
                 \x20 CMAKE_ARGS -DCMAKE_MAKE_PROGRAM=${{CMAKE_MAKE_PROGRAM}})"
            )
            .expect("memory");
        }
        lists.push_str(call);
        let top = source.join(kind);
        fs::create_dir_all(&top).and_then(|()| fs::write(top.join("CMakeLists.txt"), lists)).map_err(text)?;
        configure(&top, &build_dir(dir, kind), "Ninja", &ninja_options(upcheck), upcheck)?;
        build(&build_dir(dir, kind))?;
    }
    Ok(())
}

/// A hundred globs, each through 20 directories with 200 files in all, with ninja: as CMake looks at them, as upcheck does,
/// by the times of directories, and not at all.
pub(crate) fn generate_globs(dir: &Path, upcheck: &Path) -> Result<(), String> {
    const N_GLOBS: usize = 100;
    let source = dir.join("source");
    for directory in 0..N_GLOBS * 20 {
        let place = source.join(format!("data/g{}/d{}", directory / 20, directory % 20));
        fs::create_dir_all(&place).map_err(text)?;
        (0..10).try_for_each(|file| fs::write(place.join(format!("f{file}.txt")), "")).map_err(text)?;
    }
    for (kind, call) in [
        ("cmake", "file(GLOB_RECURSE files CONFIGURE_DEPENDS ${data}/g${n}/*.txt)"),
        ("verify", "upcheck_glob(files RECURSE ${data}/g${n}/*.txt STRATEGY VERIFY)"),
        ("dirs", "upcheck_glob(files RECURSE ${data}/g${n}/*.txt)"),
        ("plain", "file(GLOB_RECURSE files ${data}/g${n}/*.txt)"),
    ] {
        let lists = format!(
            "{}set(data ${{CMAKE_CURRENT_SOURCE_DIR}}/../data)\nforeach(n RANGE {})\n  {call}\nendforeach()\n",
            begin("NONE"),
            N_GLOBS - 1
        );
        let top = source.join(kind);
        fs::create_dir_all(&top).and_then(|()| fs::write(top.join("CMakeLists.txt"), lists)).map_err(text)?;
        configure(&top, &build_dir(dir, kind), "Ninja", &ninja_options(upcheck), upcheck)?;
        build(&build_dir(dir, kind))?;
    }
    Ok(())
}

fn begin(languages: &str) -> String {
    let module = tools::root().join("integrations/cmake/module/Upcheck.cmake");
    format!(
        "cmake_minimum_required(VERSION 3.16...4.4)\nproject(top {languages})\ninclude({})\n",
        module.display()
    )
}

fn ninja_options(upcheck: &Path) -> Vec<String> {
    vec![
        format!("-DCMAKE_MAKE_PROGRAM={}", Ninja::V1_13.path().display()),
        format!("-DUPCHECK_EXECUTABLE={}", upcheck.display()),
    ]
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed over where errors become others")]
fn text(error: std::io::Error) -> String {
    error.to_string()
}
