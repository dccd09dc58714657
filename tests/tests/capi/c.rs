//! Compiling C and C++ against the header and the library of this tree, and running what comes out.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use upcheck_tests::tools::{c_include, c_library, root, run_tool};

/// Where the C sources of this suite are.
pub(crate) fn sources() -> PathBuf {
    root().join("tests/tests/capi")
}

/// A compiler for C, installed first if need be.
pub(crate) fn gcc() -> Command {
    static TOOLS: OnceLock<PathBuf> = OnceLock::new();
    TOOLS.get_or_init(|| run_tool("get-build-tools", ""));
    Command::new("gcc")
}

/// How a program gets at the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Shared,
    Static,
}

impl Link {
    pub(crate) const BOTH: [Self; 2] = [Self::Shared, Self::Static];
}

/// Compiles and links a program.
pub(crate) fn program(source: &Path, flags: &[&str], link: Link, folder: &Path) -> PathBuf {
    let name = source.file_stem().expect("a source has a name").to_string_lossy();
    let program = folder.join(format!("{name}-{link:?}{}", flags.join("").replace(['/', ' '], "")));
    let library = c_library();
    let mut gcc = gcc();
    gcc.args(["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-g"]).args(flags);
    gcc.arg("-I").arg(c_include()).arg("-I").arg(sources());
    gcc.arg(source).arg("-o").arg(&program);
    match link {
        Link::Shared => {
            let mut rpath = std::ffi::OsString::from("-Wl,-rpath,");
            rpath.push(library);
            gcc.arg("-L").arg(library).arg("-lupcheck").arg(rpath);
        }
        Link::Static => {
            gcc.arg(library.join("libupcheck.a"));
        }
    }
    said_nothing(gcc.args(["-lpthread", "-ldl", "-lm"]));
    program
}

/// Runs a compiler, which must have nothing to say.
pub(crate) fn said_nothing(command: &mut Command) {
    let output = run(command);
    let text = text(&output);
    assert!(output.status.success() && text.is_empty(), "{command:?}\n{text}");
}

/// Runs a program that must succeed. What it printed.
pub(crate) fn succeeded(command: &mut Command) -> String {
    let output = run(command);
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, text(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}
