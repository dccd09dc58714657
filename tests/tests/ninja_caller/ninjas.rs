//! Ninja with the disk interface, built by its recipe. It is built anew whenever something that goes into it changed.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;
use upcheck_tests::tools::{Ninja, c_include, c_library, root, run_tool};
use upcheck_tests::twin::Twins;

/// The folder with the disk interface.
pub(crate) fn recipe() -> PathBuf {
    root().join("integrations/ninja/disk_interface")
}

/// Stock ninja and the one with the disk interface.
pub(crate) fn twins(version: Ninja) -> Twins {
    Twins { stock: stock(version).join("ninja"), changed: changed(version).join("ninja") }
}

/// A tree in which the unchanged ninja is built.
pub(crate) fn stock(version: Ninja) -> PathBuf {
    run_tool("get-ninja-built", version.number())
}

/// A tree in which ninja with the disk interface is built, and `adapter_test`.
pub(crate) fn changed(version: Ninja) -> &'static Path {
    static TREES: [OnceLock<PathBuf>; 3] = [const { OnceLock::new() }; 3];
    TREES[version as usize].get_or_init(|| {
        let stock = stock(version);
        let library = c_library().join("libupcheck.a");
        let own = root().join("tests/tests/ninja_caller/adapter_test.cc");
        let texts = ["upcheck_disk_interface.cc", "ninja.patch"].map(|name| recipe().join(name));
        let inputs = [&[c_include().join("upcheck.h"), own.clone()], &texts[..]].concat();
        let key = key(&inputs, &library);

        let profile = c_library().file_name().expect("a profile's folder");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ninja_caller").join(profile);
        fs::create_dir_all(&folder).expect("a folder");
        // Two runs may want to build at once: the second one finds what the first has made.
        let lock = File::create(folder.join(format!("lock-{}", version.number()))).expect("a lock file");
        lock.lock().expect("a lock");
        let tree = folder.join(version.number());
        let whose = tree.join("key");
        if fs::read_to_string(&whose).is_ok_and(|old| old == key) {
            return tree;
        }
        let _ = fs::remove_dir_all(&tree);
        run(Command::new("cp").arg("-a").args([&stock, &tree]));
        // Only the archive: where both are, a linker takes the shared library.
        let libraries = tree.join("upcheck");
        fs::create_dir(&libraries).expect("a folder");
        std::os::unix::fs::symlink(&library, libraries.join("libupcheck.a")).expect("a link");

        // What the README says, with the ninja that there is instead of a bootstrap.
        fs::copy(&texts[0], tree.join("src/upcheck_disk_interface.cc")).expect("a copy");
        run(Command::new("patch").current_dir(&tree).args(["-p1", "--fuzz=0", "-i"]).arg(&texts[1]));
        run(compiling(Command::new(version.path()), &tree).arg("ninja"));
        if tree.join("ninja_test").exists() {
            run(compiling(Command::new(version.path()), &tree).arg("ninja_test"));
        }
        adapter_test(version, &tree, &own);
        fs::write(whose, key).expect("a key");
        tree
    })
}

/// The unit tests of the disk interface, and ninja's own of its disk interface, in one program.
fn adapter_test(version: Ninja, tree: &Path, own: &Path) {
    let mut compile = compiling(Command::new("c++"), tree);
    compile.args([
        "-std=c++14",
        "-g",
        "-O1",
        "-fno-rtti",
        "-Wall",
        "-Wextra",
        "-Wno-unused-parameter",
        "-Isrc",
        "-DUSE_PPOLL=1",
    ]);
    compile.arg(own).arg("src/test.cc");
    if version == Ninja::V1_11 {
        compile.arg("src/ninja_test.cc");
    } else {
        let framework = run_tool("get-source", "googletest").join("googletest");
        compile.arg("-isystem").arg(framework.join("include")).arg("-I").arg(&framework);
        compile.args(["gtest-all.cc", "gtest_main.cc"].map(|name| framework.join("src").join(name)));
    }
    run(compile.args(["build/libninja.a", "-lupcheck", "-lpthread", "-o", "adapter_test"]));
}

/// With the library and its header where the compiler looks for them.
fn compiling(mut command: Command, tree: &Path) -> Command {
    command
        .current_dir(tree)
        .env("CPLUS_INCLUDE_PATH", c_include())
        .env("LIBRARY_PATH", tree.join("upcheck"));
    command
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}:\n{}{}", text(&output.stdout), text(&output.stderr));
}

/// What goes into the changed ninja. The library is large: its time and size stand for it.
fn key(texts: &[PathBuf], library: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    for path in texts {
        hasher.write(&fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        hasher.write_u8(0);
    }
    let found = fs::metadata(library).expect("the library");
    let since = found.modified().expect("a time").duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    format!("{:016x} {} {}", hasher.finish(), since.as_nanos(), found.len())
}
