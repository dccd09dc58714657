//! The installed tree: what is in it, and that C and C++ programs are built and run from it alone.

mod cargo_c;
mod find;
mod functions;
mod installed;
mod layout;
mod part;
mod pkg_config;
mod refused;
mod rust_archives;

use std::path::Path;
use std::process::{Command, Output};

/// The version that is installed.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What programs call the shared library. It changes when the ABI does: with the minor version, before 1.0.
const SONAME: &str = "libupcheck.so.0.1";

/// What a command said, after it did well.
#[track_caller]
fn run(command: &mut Command) -> String {
    let (is_well, said) = outcome(command);
    assert!(is_well, "{command:?}\n{said}");
    said
}

/// What a command said, after it failed.
#[track_caller]
fn refused(command: &mut Command) -> String {
    let (is_well, said) = outcome(command);
    assert!(!is_well, "{command:?} should fail\n{said}");
    // CMake breaks its messages into lines.
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn outcome(command: &mut Command) -> (bool, String) {
    let Output { status, stdout, stderr } =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    (status.success(), String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr))
}

/// A command in an environment that knows nothing of the source tree: cargo has told its tests where libraries lie.
fn clean(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C").env("HOME", "/dev/null");
    command.env("PATH", std::env::var_os("PATH").expect("PATH"));
    command
}

/// What a file has in its dynamic section under a tag: `NEEDED`, `SONAME`, `RUNPATH`.
fn dynamic(file: &Path, tag: &str) -> Vec<String> {
    let section = run(clean("readelf").arg("--dynamic").arg("--wide").arg(file));
    let lines = section.lines().filter(|line| line.contains(&format!("({tag})")));
    lines.map(|line| line.split(['[', ']']).nth(1).expect("a value in brackets").to_owned()).collect()
}
