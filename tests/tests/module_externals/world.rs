//! A CMake project with the module in it, for each CMake and each generator. Shared by the suites about the module.

#![allow(dead_code, reason = "each suite uses its own part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use upcheck_tests::space::Space;
use upcheck_tests::tools::{self, Ninja, root, run_tool};

/// The oldest, Debian's and the newest.
const CMAKES: [&str; 3] = ["3.16", "3.25", "4"];
pub(crate) const NINJA: &str = "Ninja";
pub(crate) const MAKE: &str = "Unix Makefiles";
pub(crate) const MULTI: &str = "Ninja Multi-Config";

/// A source directory `src` with a build directory `build` beside it.
pub(crate) struct World {
    pub(crate) space: Space,
    pub(crate) version: &'static str,
    pub(crate) generator: &'static str,
    /// What the directory is called in which both lie, below that of the space.
    top: String,
}

/// What a build or a configure run has said.
pub(crate) struct Said {
    pub(crate) is_well: bool,
    pub(crate) text: String,
}

impl Said {
    /// Both streams.
    pub(crate) fn new(output: &Output) -> Self {
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        Self { is_well: output.status.success(), text }
    }

    /// The same in one line: CMake breaks its messages.
    pub(crate) fn line(&self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Does something with each CMake, each of the two usual generators, and Ninja Multi-Config where there is one.
#[track_caller]
pub(crate) fn everywhere(work: impl Fn(&World)) {
    for version in CMAKES {
        for generator in [NINJA, MAKE, MULTI] {
            if !(version == "3.16" && generator == MULTI) {
                work(&World::new(version, generator));
            }
        }
    }
}

/// Does something with each CMake, and one generator.
#[track_caller]
pub(crate) fn with_each_cmake(generator: &'static str, work: impl Fn(&World)) {
    for version in CMAKES {
        work(&World::new(version, generator));
    }
}

/// A cmake of some version, installed on first use.
pub(crate) fn cmake(version: &str) -> PathBuf {
    static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one_by_one = LOCK.lock();
    run_tool("get-cmake", version)
}

/// The module.
pub(crate) fn module() -> PathBuf {
    root().join("integrations/cmake/module/Upcheck.cmake")
}

impl World {
    pub(crate) fn new(version: &'static str, generator: &'static str) -> Self {
        Self::in_folder(version, generator, "top")
    }

    /// In a directory with this name.
    pub(crate) fn in_folder(version: &'static str, generator: &'static str, top: &str) -> Self {
        Self { space: Space::new(), version, generator, top: top.to_owned() }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.space.path().join(&self.top).join(path)
    }

    pub(crate) fn source(&self) -> PathBuf {
        self.path("src")
    }

    pub(crate) fn binary(&self) -> PathBuf {
        self.path("build")
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        self.space.write(&format!("{}/src/{path}", self.top), content);
    }

    /// The same, so that it is newer than all that was made.
    pub(crate) fn write_last(&self, path: &str, content: impl AsRef<[u8]>) {
        self.space.write_last(&format!("{}/src/{path}", self.top), content);
    }

    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8(self.space.read(&format!("{}/{path}", self.top))).expect("UTF-8")
    }

    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    /// Writes the project's CMakeLists.txt, which begins with the module.
    pub(crate) fn project(&self, languages: &str, lines: &str) {
        let module = module();
        self.write(
            "CMakeLists.txt",
            format!(
                "cmake_minimum_required(VERSION 3.16...4.0)\nproject(world {languages})\ninclude(\"{}\")\n{lines}",
                module.display()
            ),
        );
    }

    /// cmake, in an environment that has nothing of the tests' but the path.
    pub(crate) fn cmake(&self) -> Command {
        let mut command = Command::new(cmake(self.version));
        command.env_clear().env("LC_ALL", "C").env("HOME", "/dev/null");
        command
            .env("PATH", std::env::var_os("PATH").expect("PATH"))
            .env("UPCHECK_CACHE_DIR", self.space.images());
        command.current_dir(self.space.path());
        command
    }

    /// Configures it. Not whether that goes well.
    pub(crate) fn try_configure(&self, options: &[&str]) -> Said {
        let mut command = self.cmake();
        command.arg("-S").arg(self.source()).arg("-B").arg(self.binary()).args(["-G", self.generator]);
        command.arg(format!("-DUPCHECK_EXECUTABLE={}", tools::upcheck().display())).args(options);
        if self.generator != MAKE {
            command.arg(format!("-DCMAKE_MAKE_PROGRAM={}", Ninja::V1_13.path().display()));
        }
        Said::new(&command.output().expect("cmake runs"))
    }

    #[track_caller]
    pub(crate) fn configure(&self) -> Said {
        let said = self.try_configure(&[]);
        assert!(said.is_well, "{self}: {}", said.text);
        said
    }

    /// What CMake says to a project that it refuses.
    #[track_caller]
    pub(crate) fn refused(&self) -> String {
        let said = self.try_configure(&[]);
        assert!(!said.is_well, "{self} should be refused: {}", said.text);
        said.line()
    }

    pub(crate) fn try_build(&self, options: &[&str]) -> Said {
        let mut command = self.cmake();
        command.arg("--build").arg(self.binary()).args(options);
        Said::new(&command.output().expect("cmake runs"))
    }

    /// Builds it, well.
    #[track_caller]
    pub(crate) fn build_with(&self, options: &[&str]) -> Said {
        let said = self.try_build(options);
        assert!(said.is_well, "{self}: {}", said.text);
        said
    }

    #[track_caller]
    pub(crate) fn build(&self) -> Said {
        self.build_with(&[])
    }

    /// Sets a file's time into the future of all that was made, so that who looks at times must see it.
    pub(crate) fn touch(&self, path: &str) {
        touch(&self.path(path));
    }
}

/// Sets a file's time to now, and at least a moment after what it was.
pub(crate) fn touch(path: &Path) {
    let file = std::fs::File::open(path).expect("a file to touch");
    file.set_modified(std::time::SystemTime::now()).expect("a time that can be set");
}

impl std::fmt::Display for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CMake {}, {}", self.version, self.generator)
    }
}
