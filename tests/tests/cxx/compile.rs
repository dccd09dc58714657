//! Compiling C++ against the headers and the archive of this tree, and running what comes out.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use upcheck_tests::tools::{cxx_include, cxx_library, root, run_tool};

/// Where the sources of this suite are.
pub(crate) fn sources() -> PathBuf {
    root().join("tests/tests/cxx")
}

/// The archive, and the tools that programs are made and examined with.
pub(crate) fn archive() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let _ = run_tool("get-cxx-tools", "");
        cxx_library().join("libupcheck_cxx.a")
    })
}

/// A compiler with the flags that all sources have to bear without a word, and with the folders of the headers: as a
/// program's own folders, so that no warning is kept back.
pub(crate) fn compiler(name: &str, standard: &str) -> Command {
    let mut compiler = Command::new(name);
    compiler.args([standard, "-Wall", "-Wextra", "-pedantic", "-Werror", "-g"]);
    compiler.arg("-I").arg(cxx_include()).arg("-I").arg(sources());
    compiler
}

/// Makes a program that links nothing of ours but the archive.
pub(crate) fn program(standard: &str, flags: &[&str], files: &[&Path], program: &Path) {
    let archive = archive();
    let mut gcc = compiler("g++", standard);
    gcc.args(flags).args(files).arg(archive).args(["-lpthread", "-ldl", "-lm", "-o"]).arg(program);
    said_nothing(&mut gcc);
}

/// Runs a compiler, which must have nothing to say.
pub(crate) fn said_nothing(command: &mut Command) {
    let output = run(command);
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success() && said.is_empty(), "{command:?}\n{}", String::from_utf8_lossy(&said));
}

/// Runs a program that must succeed. What it printed.
pub(crate) fn succeeded(command: &mut Command) -> String {
    let output = run(command);
    let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{printed}{said}", output.status);
    printed.into_owned()
}

pub(crate) fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Whether there is such a command.
pub(crate) fn is_there(command: impl AsRef<OsStr>) -> bool {
    Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success())
}
