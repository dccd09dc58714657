//! A small project that real CMakes configure for each generator that is read, and real build tools build.

use crate::command::{Ran, upcheck_in};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use tempfile::TempDir;
use upcheck_tests::tools::{Ninja, run_tool};

/// A CMake, and what it generates for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) cmake: &'static str,
    pub(crate) generator: &'static str,
}

/// All that is tested. Ninja Multi-Config is there from CMake 3.17 on.
pub(crate) const ALL: [Kind; 8] = [
    Kind { cmake: "3.16", generator: "Ninja" },
    Kind { cmake: "3.25", generator: "Ninja" },
    Kind { cmake: "4", generator: "Ninja" },
    Kind { cmake: "3.25", generator: "Ninja Multi-Config" },
    Kind { cmake: "4", generator: "Ninja Multi-Config" },
    Kind { cmake: "3.16", generator: "Unix Makefiles" },
    Kind { cmake: "3.25", generator: "Unix Makefiles" },
    Kind { cmake: "4", generator: "Unix Makefiles" },
];

impl Kind {
    pub(crate) fn is_multi_config(self) -> bool {
        self.generator.ends_with("Multi-Config")
    }
}

const LISTS: &str = "cmake_minimum_required(VERSION 3.16)
project(demo C)
add_subdirectory(lib)
file(GLOB_RECURSE data CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/data/*.txt)
add_custom_command(OUTPUT all.txt COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/data/a.txt all.txt
  DEPENDS ${data} VERBATIM)
add_custom_target(bundle ALL DEPENDS all.txt)
add_executable(app main.c)
target_link_libraries(app net)
";

const LIB_LISTS: &str = "add_library(text STATIC text.c)
target_include_directories(text PUBLIC .)
add_library(net STATIC net.c)
target_link_libraries(net PUBLIC text)
";

/// A source directory, and a build directory beside it.
pub(crate) struct Project {
    pub(crate) kind: Kind,
    folder: TempDir,
}

impl Project {
    /// Configured, with the query, and built.
    #[track_caller]
    pub(crate) fn built(kind: Kind) -> Self {
        let project = Self::written(kind);
        project.configure();
        assert_eq!(project.upcheck(&["--write-query"]).answer(0).lines().count(), 1);
        project.configure();
        project.build(&[]);
        project
    }

    /// Not configured.
    pub(crate) fn written(kind: Kind) -> Self {
        let folder = tempfile::Builder::new().prefix("upcheck-test-").tempdir().expect("a directory");
        let project = Self { kind, folder };
        for (path, text) in [
            ("CMakeLists.txt", LISTS),
            ("main.c", "#include \"text.h\"\nint net(void);\nint main(void) { return net() - TEXT; }\n"),
            ("lib/CMakeLists.txt", LIB_LISTS),
            ("lib/text.h", "#define TEXT 1\n"),
            ("lib/text.c", "#include \"text.h\"\nint text(void) { return TEXT; }\n"),
            ("lib/net.c", "int text(void);\nint net(void) { return text(); }\n"),
            ("data/a.txt", "a\n"),
            ("data/b.txt", "b\n"),
        ] {
            project.write(path, text);
        }
        project
    }

    pub(crate) fn source(&self) -> PathBuf {
        self.folder.path().join("source")
    }

    pub(crate) fn build_dir(&self) -> PathBuf {
        self.folder.path().join("build")
    }

    /// Writes a source.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.source().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    /// Makes a file newer than everything that was built: commands have run since, which takes longer than a tick of the
    /// clock.
    pub(crate) fn touch(&self, path: &Path) {
        fs::File::options()
            .append(true)
            .open(path)
            .expect("a file")
            .set_modified(SystemTime::now())
            .expect("a time");
    }

    #[track_caller]
    pub(crate) fn configure(&self) {
        let mut command = self.cmake();
        command.args(["-G", self.kind.generator, "-S"]).arg(self.source()).arg("-B").arg(self.build_dir());
        if self.kind.generator.starts_with("Ninja") {
            command.arg(format!("-DCMAKE_MAKE_PROGRAM={}", Ninja::V1_13.path().display()));
        }
        must_run(&mut command);
    }

    #[track_caller]
    pub(crate) fn build(&self, options: &[&str]) {
        must_run(self.cmake().arg("--build").arg(self.build_dir()).args(options));
    }

    pub(crate) fn cmake(&self) -> Command {
        let mut command = Command::new(self.cmake_path());
        command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
        command
    }

    pub(crate) fn cmake_path(&self) -> PathBuf {
        run_tool("get-cmake", self.kind.cmake)
    }

    /// Asks about the build directory.
    #[track_caller]
    pub(crate) fn upcheck(&self, args: &[&str]) -> Ran {
        let mut command = upcheck_in(self.folder.path());
        command.env("UPCHECK_CACHE_DIR", self.folder.path().join("images"));
        command.args(["-C", "build"]).args(args);
        Ran::new(command.output().expect("upcheck starts"))
    }

    /// The stale targets by CMake's names.
    #[track_caller]
    pub(crate) fn stale_names(&self, args: &[&str]) -> BTreeSet<String> {
        let mut all = vec!["--from", "cmake", "--format", "names"];
        all.extend(args);
        let ran = self.upcheck(&all);
        assert_eq!((ran.stderr.as_str(), ran.status), ("", i32::from(!ran.stdout.is_empty())), "{ran:?}");
        ran.stdout.lines().map(str::to_owned).collect()
    }
}

#[track_caller]
pub(crate) fn must_run(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}\n{printed}{}", String::from_utf8_lossy(&output.stderr));
    printed
}

/// The same for names that are written down.
pub(crate) fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}
