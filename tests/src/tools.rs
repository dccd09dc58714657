//! Real tools, installed on first use into a private folder, and the `upcheck` command built from this tree.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The repository's root.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ has a parent")
}

/// The ninja releases that answers are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ninja {
    /// PyPI's 1.11.
    V1_11,
    /// 1.12, built from Debian's source package: for the long modes.
    V1_12,
    /// PyPI's 1.13.
    V1_13,
}

impl Ninja {
    /// Those that every run of the tests has.
    pub const USUAL: &[Self] = if cfg!(windows) { &[Self::V1_13] } else { &[Self::V1_11, Self::V1_13] };
    /// All of them.
    pub const ALL: &[Self] =
        if cfg!(windows) { Self::USUAL } else { &[Self::V1_11, Self::V1_12, Self::V1_13] };

    /// Major and minor number.
    #[must_use]
    pub fn number(self) -> &'static str {
        match self {
            Self::V1_11 => "1.11",
            Self::V1_12 => "1.12",
            Self::V1_13 => "1.13",
        }
    }

    /// The rules that upcheck follows for it.
    #[must_use]
    pub fn rules(self) -> upcheck_ninja::NinjaVersion {
        upcheck_ninja::NinjaVersion::parse(self.number()).expect("a known version")
    }

    /// The executable. Installs it on first use, which can take a minute.
    ///
    /// # Panics
    /// When it cannot be installed: a test that needs it must not pass without it.
    #[must_use]
    pub fn path(self) -> &'static Path {
        static PATHS: [OnceLock<PathBuf>; 3] = [const { OnceLock::new() }; 3];
        PATHS[self as usize].get_or_init(|| match cfg!(windows) {
            true => ninja_with_commands(),
            false => run_tool("get-ninja", self.number()),
        })
    }
}

/// A ninja for Windows, which looks for commands in its own folder first, with those there that the suites use: see
/// `few-words.rs`. `UPCHECK_WINDOWS_NINJA` names the ninja, since no script of tests/tools runs there.
fn ninja_with_commands() -> PathBuf {
    const COMMANDS: [&str; 10] = ["cat", "cp", "echo", "false", "mkdir", "rm", "sh", "test", "touch", "true"];
    let ninja = std::env::var_os("UPCHECK_WINDOWS_NINJA").expect("UPCHECK_WINDOWS_NINJA names ninja.exe");
    let profile = profile_dir();
    let words = profile.join("few-words.exe");
    let made = std::fs::metadata(&words).and_then(|meta| meta.modified()).expect("the commands");
    let words = std::fs::read(words).expect("the commands");
    // Each build of them has a folder of its own; several tests may make it at once.
    let folder = profile.join(format!("ninja-with-{}", upcheck::Meta::mtime_at(made)));
    if !folder.exists() {
        let made = tempfile::tempdir_in(&profile).expect("a folder");
        for command in COMMANDS {
            std::fs::write(made.path().join(command).with_extension("exe"), &words).expect("a command");
        }
        std::fs::copy(ninja, made.path().join("ninja.exe")).expect("a copy of ninja");
        if std::fs::rename(made.path(), &folder).is_ok() {
            let _ = made.keep();
        }
    }
    folder.join("ninja.exe")
}

/// Gives a command the search path in which it finds `sh`, `touch` and so on. On Windows these are the suites' own, which
/// know few words.
pub fn with_commands(command: &mut Command) {
    if cfg!(windows) {
        let commands = Ninja::V1_13.path().parent().expect("a folder").to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(commands).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).expect("a search path"));
    }
}

/// A shell that does what the line says.
#[must_use]
pub fn sh(line: &str) -> Command {
    let mut shell = match cfg!(windows) {
        true => Command::new(Ninja::V1_13.path().with_file_name("sh.exe")),
        false => Command::new("sh"),
    };
    shell.args(["-c", line]);
    shell
}

/// Runs a script of tests/tools and returns the path it prints.
///
/// # Panics
/// When the script fails.
#[must_use]
pub fn run_tool(script: &str, argument: &str) -> PathBuf {
    let script_path = root().join("tests/tools").join(script);
    let output = Command::new(&script_path)
        .arg(argument)
        .output()
        .unwrap_or_else(|error| panic!("running {}: {error}", script_path.display()));
    assert!(
        output.status.success(),
        "{script} {argument} failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let printed = String::from_utf8(output.stdout).expect("a path in UTF-8");
    PathBuf::from(printed.trim())
}

/// The `upcheck` command, built from this tree with the profile of the tests.
///
/// # Panics
/// When it does not build.
#[must_use]
pub fn upcheck() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| built("upcheck"))
}

/// The example of a build driver, built like the command.
///
/// # Panics
/// When it does not build.
#[must_use]
pub fn driver() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| built("driver"))
}

/// The driver in Rust that builds `examples/hello`, built like the command.
///
/// # Panics
/// When it does not build.
#[must_use]
pub fn hello_driver() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| built("hello"))
}

/// The folder with `libupcheck.so` and `libupcheck.a`, built like the command.
///
/// # Panics
/// When they do not build.
#[must_use]
pub fn c_library() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| build(&["--package", "upcheck-c", "--lib"]))
}

/// The folder with `upcheck.h`.
#[must_use]
pub fn c_include() -> PathBuf {
    root().join("ffi/c/include")
}

/// The folder with `libupcheck_cxx.a`, built like the command.
///
/// # Panics
/// When it does not build.
#[must_use]
pub fn cxx_library() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| build(&["--package", "upcheck-cxx", "--lib"]))
}

/// The folder with all headers of the C++ library, `upcheck.h` among them.
#[must_use]
pub fn cxx_include() -> PathBuf {
    cxx_library().join("upcheck-cxx-include")
}

/// A program, built with the features that the whole workspace has together, as its tests are: otherwise most of what it
/// rests on would be compiled a second time.
fn built(binary: &str) -> PathBuf {
    let file = format!("{binary}{}", std::env::consts::EXE_SUFFIX);
    build(&["--workspace", "--all-features", "--bin", binary]).join(file)
}

/// Where cargo puts what it builds with the profile of the tests.
fn profile_dir() -> PathBuf {
    // target/<profile>/deps/<test> -> target/<profile>
    let test = std::env::current_exe().expect("a running test has a path");
    test.ancestors().nth(2).expect("target/<profile>/deps").to_owned()
}

/// Cargo, in this tree, as if nobody's test had started it: some build scripts are run once more, and all that rests on what
/// they make is compiled once more, for what cargo tells tests of their package.
#[must_use]
pub fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root());
    for (name, _) in std::env::vars_os() {
        let is_about_a_package =
            |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        if name.to_str().is_some_and(is_about_a_package) {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// Builds something with the profile of the tests. Where its results are.
fn build(what: &[&str]) -> PathBuf {
    let profile_dir = profile_dir();
    // Under Wine no cargo can be started: whoever starts the tests has built what they need.
    if cfg!(windows) {
        return profile_dir;
    }
    let mut build = cargo();
    build.args(["build", "--quiet"]).args(what);
    if profile_dir.ends_with("release") {
        build.arg("--release");
    }
    let status = build.status().expect("cargo runs");
    assert!(status.success(), "cargo build {} failed", what.join(" "));
    profile_dir
}

/// Runs a command to its end. Wine, when it is busy, now and then has an internal error where it should start a program.
///
/// # Errors
/// Whatever the operating system says.
pub fn output_of(command: &mut Command) -> std::io::Result<std::process::Output> {
    const INTERNAL_ERROR: i32 = 1359;
    for _ in 0..10 {
        match command.output() {
            Err(error) if cfg!(windows) && error.raw_os_error() == Some(INTERNAL_ERROR) => {
                std::thread::sleep(std::time::Duration::from_millis(200));
            }
            ended => return ended,
        }
    }
    command.output()
}
