//! The functions of `Upcheck.cmake`, each in small projects that real tools configure and build: what ran, and what did
//! not.

mod arguments;
mod custom_command;
mod glob;
mod skip_passed_tests;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use upcheck_tests::space::Space;
use upcheck_tests::tools::{Ninja, root, run_tool, upcheck};

/// The CMakes that the module is tried with: the oldest, one in between, the newest.
const CMAKES: [&str; 3] = ["3.16", "3.25", "4"];

/// The generators that it is tried with.
const GENERATORS: [&str; 2] = ["Ninja", "Unix Makefiles"];

/// A project in `src`, built in `build`.
struct Project {
    space: Space,
    version: &'static str,
    generator: &'static str,
}

/// Tries something with each CMake and each generator.
#[track_caller]
fn everywhere(files: &[(&str, &str)], try_it: impl Fn(&Project)) {
    for version in CMAKES {
        for generator in GENERATORS {
            let project = Project::new(version, generator, files);
            // Said if it panics, so that it is known where.
            let _where = Where(format!("with CMake {version}, {generator}"));
            try_it(&project);
        }
    }
}

/// Says where it was if a test panics.
struct Where(String);

impl Drop for Where {
    fn drop(&mut self) {
        if std::thread::panicking() {
            upcheck_tests::aloud::progress(&self.0);
        }
    }
}

impl Project {
    /// A project of these files, below `src`. `CMakeLists.txt` begins after `project()` and the inclusion of the module.
    fn new(version: &'static str, generator: &'static str, files: &[(&str, &str)]) -> Self {
        let project = Self { space: Space::new(), version, generator };
        for (path, content) in files {
            match *path {
                "CMakeLists.txt" => project.lists(content),
                path => project.space.write(&format!("src/{path}"), content),
            }
        }
        project
    }

    /// Writes `CMakeLists.txt`.
    fn lists(&self, text: &str) {
        // Compilers are looked for only where one is needed.
        let language =
            if text.contains("add_executable") || text.contains("add_library") { "C" } else { "NONE" };
        let head = format!("cmake_minimum_required(VERSION 3.16)\nproject(tried {language})\n");
        let module = root().join("integrations/cmake/module/Upcheck.cmake");
        self.edit("CMakeLists.txt", &format!("{head}include(\"{}\")\n{text}", module.display()));
    }

    fn cmake(&self) -> PathBuf {
        run_tool("get-cmake", self.version)
    }

    fn ctest(&self) -> PathBuf {
        self.cmake().with_file_name("ctest")
    }

    /// A tool in the source's folder, with an environment that says nothing of this tree.
    fn tool(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.space.path()).env_clear().env("LC_ALL", "C").env("HOME", "/dev/null");
        command.env("PATH", std::env::var_os("PATH").expect("PATH"));
        command.env("UPCHECK_CACHE_DIR", self.space.images());
        command
    }

    fn configuring(&self, options: &[&str]) -> Outcome {
        let mut command = self.tool(self.cmake());
        command.args(["-S", "src", "-B", "build", "-G", self.generator]).args(options);
        command.arg(format!("-DUPCHECK_EXECUTABLE={}", upcheck().display()));
        if self.generator.starts_with("Ninja") {
            command.arg(format!("-DCMAKE_MAKE_PROGRAM={}", Ninja::V1_13.path().display()));
        }
        Outcome::of(command.output().expect("cmake starts"))
    }

    /// Configures. What was said.
    #[track_caller]
    fn configure(&self) -> String {
        self.configuring(&[]).well()
    }

    /// What CMake said when it refused to configure, in one line.
    #[track_caller]
    fn refused(&self) -> String {
        self.configuring(&[]).badly()
    }

    fn building(&self, options: &[&str]) -> Outcome {
        let mut command = self.tool(self.cmake());
        Outcome::of(command.args(["--build", "build"]).args(options).output().expect("cmake starts"))
    }

    /// Builds. What was said.
    #[track_caller]
    fn build(&self) -> String {
        self.building(&[]).well()
    }

    /// What has run since this was asked last, as far as it wrote a word about it into `build/log`.
    fn ran(&self) -> String {
        let text = String::from_utf8(self.space.read("build/log")).expect("text");
        self.space.remove("build/log");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Changes a file of the source, so that it is newer than all that was there before, as a file system tells it.
    fn edit(&self, path: &str, content: &str) {
        self.space.write_last(&format!("src/{path}"), content);
    }

    /// Gives a file of the source a new time.
    fn touch(&self, path: &str) {
        let content = String::from_utf8(self.space.read(&format!("src/{path}"))).expect("text");
        self.edit(path, &content);
    }

    fn text(&self, path: &str) -> String {
        String::from_utf8(self.space.read(path)).expect("text")
    }
}

/// How a tool ended, and what it said on both streams.
struct Outcome {
    status: Option<i32>,
    said: String,
}

impl Outcome {
    fn of(output: Output) -> Self {
        let Output { status, stdout, stderr } = output;
        let said = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
        Self { status: status.code(), said }
    }

    #[track_caller]
    fn well(self) -> String {
        assert_eq!(self.status, Some(0), "{}", self.said);
        self.said
    }

    /// In one line, since CMake breaks its messages.
    #[track_caller]
    fn badly(self) -> String {
        assert!(self.status != Some(0), "should fail: {}", self.said);
        self.said.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
