//! Consumers that use pkg-config, by hand or through Meson.

use crate::find::{check_program, consumer};
use crate::installed::prefix;
use crate::{SONAME, VERSION, clean, run};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use upcheck_tests::space::Space;
use upcheck_tests::tools::{Ninja, run_tool};

/// pkg-config that sees one tree alone.
fn pkg_config(libdir: &Path) -> Command {
    let mut command = clean(installed_pkg_config());
    command.env("PKG_CONFIG_LIBDIR", libdir.join("pkgconfig"));
    command
}

fn installed_pkg_config() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| run_tool("get-pkg-config", "")).clone()
}

/// What pkg-config says, as words.
#[track_caller]
pub(crate) fn words(libdir: &Path, options: &[&str]) -> Vec<String> {
    run(pkg_config(libdir).args(options)).split_whitespace().map(str::to_owned).collect()
}

/// Compiles one of the consumer's programs by what pkg-config says of a package, changed by `change`.
#[track_caller]
pub(crate) fn compile(libdir: &Path, program: &str, package: &str, change: &[(&str, &str)]) -> Space {
    let (compiler, source) = match program {
        "from_c" => ("cc", "main.c"),
        "from_cpp" => ("c++", "main.cpp"),
        _ => ("c++", "bridged.cpp"),
    };
    let space = Space::new();
    let mut options = vec!["--cflags", "--libs", package];
    options.extend(change.first().map(|_| "--static"));
    let mut command = clean(compiler);
    command.current_dir(space.path()).arg(consumer().join(source)).args(["-o", program]);
    if compiler == "c++" {
        command.arg("-std=c++17");
    }
    for word in words(libdir, &options) {
        let changed = change.iter().find(|(old, _)| *old == word).map_or(&*word, |(_, new)| new);
        command.args(changed.split(' '));
    }
    // pkg-config says how to link, not where the loader looks.
    run(command.arg(format!("-Wl,-rpath,{}", libdir.display())));
    space
}

#[test]
fn the_shared_library_is_found() {
    let libdir = prefix().join("lib");
    assert_eq!(words(&libdir, &["--modversion", "upcheck"]), [VERSION]);
    run(pkg_config(&libdir).args(["--exists", "upcheck >= 0.1", "upcheck < 0.2"]));
    for program in ["from_c", "from_cpp"] {
        let space = compile(&libdir, program, "upcheck", &[]);
        check_program(&space.path().join(program), Some(SONAME));
    }
}

/// A linker that has both takes the shared one for -lupcheck: the archive has to be named.
#[test]
fn the_archive_is_found_by_its_name() {
    let libdir = prefix().join("lib");
    for program in ["from_c", "from_cpp"] {
        let space = compile(&libdir, program, "upcheck", &[("-lupcheck", "-l:libupcheck.a")]);
        check_program(&space.path().join(program), None);
    }
}

#[test]
fn the_cpp_library_is_found() {
    let libdir = prefix().join("lib");
    let space = compile(&libdir, "bridged", "upcheck_cxx", &[]);
    check_program(&space.path().join("bridged"), None);
    // It has the functions of C as well.
    let space = compile(&libdir, "from_c", "upcheck_cxx", &[]);
    check_program(&space.path().join("from_c"), None);
}

/// A program without any shared library: what the shared libgcc has is in an archive, too.
#[test]
fn a_program_can_be_wholly_static() {
    let change = [("-lgcc_s", "-lgcc_eh"), ("-lupcheck", "-static -lupcheck")];
    let space = compile(&prefix().join("lib"), "from_c", "upcheck", &change);
    check_program(&space.path().join("from_c"), None);
    assert_eq!(crate::dynamic(&space.path().join("from_c"), "NEEDED"), [""; 0]);
}

#[test]
fn meson_finds_both_libraries() {
    let meson = run_tool("get-meson", "1");
    for (kind, library) in [("false", Some(SONAME)), ("true", None)] {
        let space = Space::new();
        for (name, content) in [
            ("meson.build", include_str!("meson.build")),
            ("main.c", include_str!("consumer/main.c")),
            ("main.cpp", include_str!("consumer/main.cpp")),
            ("bridged.cpp", include_str!("consumer/bridged.cpp")),
        ] {
            space.write(name, content);
        }
        let mut setup = clean("python3");
        setup.env("PYTHONPATH", &meson).env("PKG_CONFIG_LIBDIR", prefix().join("lib/pkgconfig"));
        setup.env("NINJA", Ninja::V1_13.path()).current_dir(space.path());
        setup.args(["-m", "mesonbuild.mesonmain", "setup", "build"]).arg(format!("-Dprefer_static={kind}"));
        run(&mut setup);
        run(clean(Ninja::V1_13.path()).arg("-C").arg(space.path().join("build")));
        for program in ["from_c", "from_cpp"] {
            check_program(&space.path().join("build").join(program), library);
        }
        check_program(&space.path().join("build/bridged"), None);
    }
}
