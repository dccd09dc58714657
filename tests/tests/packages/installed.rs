//! The tree that most tests use: made once, by the documented command, and then moved.

use crate::run;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use upcheck_tests::tools::{root, run_tool};

/// What is made lies below here. Cargo's results stay from run to run.
pub(crate) fn folder() -> PathBuf {
    root().join("target/packages")
}

/// A cmake of some version, installed on first use.
pub(crate) fn cmake(version: &str) -> PathBuf {
    static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one_by_one = LOCK.lock();
    run_tool("get-cmake", version)
}

/// The oldest, Debian's and the newest.
pub(crate) const CMAKES: [&str; 3] = ["3.16", "3.25", "4"];

/// Where the tree was installed first. Nothing is there any more.
pub(crate) fn first_prefix() -> PathBuf {
    folder().join("first")
}

/// Where the tree is.
pub(crate) fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        fs::create_dir_all(folder()).expect("a folder");
        // One run of these tests at a time; the lock goes away with the process.
        let lock = Box::leak(Box::new(File::create(folder().join("lock")).expect("a lock")));
        lock.lock().expect("a lock");
        let prefix = folder().join("moved");
        for old in [first_prefix(), prefix.clone()] {
            if old.exists() {
                fs::remove_dir_all(&old).expect("old trees go away");
            }
        }
        run(&mut install(&cmake("3.16"), "first", &["-DSTRIP=OFF"]));
        fs::rename(first_prefix(), &prefix).expect("a tree can be moved");
        prefix
    })
}

/// The documented command, with a prefix in the folder of all that is made.
pub(crate) fn install(cmake: &Path, prefix: &str, options: &[&str]) -> Command {
    let mut command = Command::new(cmake);
    command.current_dir(folder()).arg(format!("-DPREFIX={prefix}")).arg(format!("-DBUILD=build-{prefix}"));
    command.arg(format!("-DUPCHECK_CARGO_TARGET_DIR={}", folder().join("cargo").display()));
    command.args(options).arg("-P").arg(root().join("ffi/install.cmake"));
    lets_cargo_build(&mut command);
    command
}

/// Cargo tells its tests where to look for libraries; DESTDIR is for those tests that set it. What is tested is what lies where, so
/// the command and the shared library need not be fast; how archives can be linked depends on how they are compiled.
pub(crate) fn lets_cargo_build(command: &mut Command) {
    command.env_remove("LD_LIBRARY_PATH").env_remove("DESTDIR");
    let release =
        [("OPT_LEVEL", "0"), ("CODEGEN_UNITS", "16"), ("LTO", "off"), ("DEBUG", "line-tables-only")];
    let archive = [("OPT_LEVEL", "3"), ("CODEGEN_UNITS", "1")];
    command.envs(release.map(|(name, value)| (format!("CARGO_PROFILE_RELEASE_{name}"), value)));
    command.envs(archive.map(|(name, value)| (format!("CARGO_PROFILE_ARCHIVE_{name}"), value)));
}
