//! A real project, built by CMake with make: the depfiles that are expected are those that there are.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use upcheck::Project;
use upcheck::collect::os_disk;
use upcheck::project::Options;
use upcheck_graph::{CompileOptions, Summary, read_compile_commands};
use upcheck_tests::tools::run_tool;

const LISTS: &str = r#"cmake_minimum_required(VERSION 3.13)
project(p C CXX)
add_executable(a a.c)
add_executable(b a.c "with space.cpp")
target_compile_definitions(b PRIVATE "NAME=\"a b\"")
add_subdirectory(sub)
"#;

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
}

fn run(command: &mut Command) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Reads the database of a build directory and tells the stale targets.
fn stale(build: &Path) -> Vec<String> {
    let disk = os_disk(build).expect("a directory");
    let text = fs::read(build.join("compile_commands.json")).expect("a database");
    let mut project = Project::new();
    let base = build.as_os_str().as_bytes();
    project.set_base(base);
    let options = CompileOptions::default();
    let summary = read_compile_commands(&text, "compile_commands.json", base, &disk, &mut project, options);
    assert_eq!(summary.expect("a database"), Summary { n_targets: 4, ..Summary::default() });
    for target in project.graph().targets() {
        let depfile = String::from_utf8_lossy(project.depfile(target)).into_owned();
        assert!(build.join(&depfile).is_file(), "{depfile} is not there");
    }
    let requests = project.default_requests();
    let checked = project.check(&disk, None, &requests, Options::default()).expect("an answer");
    let name = |target: &upcheck::StaleTarget| {
        String::from_utf8_lossy(project.graph().name(target.target)).into_owned()
    };
    checked.report.stale.iter().map(name).collect()
}

#[test]
fn what_cmake_builds_with_make_is_fresh_until_a_header_changes() {
    let cmake = run_tool("get-build-tools", "");
    let folder = tempfile::tempdir().expect("a folder");
    // The compiler is told real paths.
    let folder = fs::canonicalize(folder.path()).map(|path| (path, folder)).expect("a path");
    let (source, build) = (folder.0.join("source"), folder.0.join("build"));
    write(
        &source,
        &[
            ("CMakeLists.txt", LISTS),
            ("sub/CMakeLists.txt", "add_library(sub STATIC s.c)\n"),
            ("a.c", "#include \"a.h\"\nint main(void) { return A; }\n"),
            ("a.h", "#define A 0\n"),
            ("with space.cpp", "const char *name() { return NAME; }\n"),
            ("sub/s.c", "#include \"../a.h\"\nint s = A;\n"),
        ],
    );
    let generator = ["-G", "Unix Makefiles", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"];
    run(Command::new(&cmake).arg("-S").arg(&source).arg("-B").arg(&build).args(generator));
    run(Command::new(&cmake).arg("--build").arg(&build));
    assert_eq!(stale(&build), [""; 0]);

    let header = fs::File::options().write(true).open(source.join("a.h")).expect("a header");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    header.set_modified(later).expect("a time");
    assert_eq!(
        stale(&build),
        ["CMakeFiles/a.dir/a.c.o", "CMakeFiles/b.dir/a.c.o", "sub/CMakeFiles/sub.dir/s.c.o"]
    );
}
