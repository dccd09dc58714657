//! Build directories that real CMakes generate.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use upcheck_cmake::reply::{self, Configuration, Reply, Target};
use upcheck_tests::space::Space;
use upcheck_tests::tools::{Ninja, run_tool};

/// The versions of CMake: the oldest, Debian's, and the newest.
pub(crate) const VERSIONS: [&str; 3] = ["3.16", "3.25", "4"];

/// Each CMake with each generator that it has.
pub(crate) const ALL: [(&str, &str); 8] = [
    ("3.16", "Unix Makefiles"),
    ("3.16", "Ninja"),
    ("3.25", "Unix Makefiles"),
    ("3.25", "Ninja"),
    ("3.25", "Ninja Multi-Config"),
    ("4", "Unix Makefiles"),
    ("4", "Ninja"),
    ("4", "Ninja Multi-Config"),
];

/// A CMake. Installs it on first use.
pub(crate) fn cmake(version: &str) -> &'static Path {
    static PATHS: [OnceLock<PathBuf>; 3] = [const { OnceLock::new() }; 3];
    let at = VERSIONS.iter().position(|known| *known == version).expect("a known version");
    PATHS[at].get_or_init(|| run_tool("get-cmake", version))
}

/// A source tree in `src` with a build directory `build`.
pub(crate) struct Build {
    pub(crate) space: Space,
    pub(crate) version: &'static str,
    pub(crate) generator: &'static str,
}

impl Build {
    /// An empty one.
    pub(crate) fn empty((version, generator): (&'static str, &'static str)) -> Self {
        Self { space: Space::new(), version, generator }
    }

    /// The sample, generated, with a query that was there before.
    pub(crate) fn sample(which: (&'static str, &'static str)) -> Self {
        let build = Self::empty(which);
        for (path, content) in SAMPLE {
            build.space.write(path, content);
        }
        build.ask();
        build.generate(&[]);
        build
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.space.path().join("build")
    }

    /// A path in the source tree, as bytes.
    pub(crate) fn source(&self, path: &str) -> Vec<u8> {
        self.space.path().join("src").join(path).into_os_string().into_encoded_bytes()
    }

    /// A path in the build directory, as bytes.
    pub(crate) fn made(&self, path: &str) -> Vec<u8> {
        self.directory().join(path).into_os_string().into_encoded_bytes()
    }

    /// Asks CMake, before it has ever run there.
    pub(crate) fn ask(&self) {
        self.space.write("build/CMakeCache.txt", "");
        reply::write_query(&self.directory()).expect("a query");
        self.space.remove("build/CMakeCache.txt");
    }

    /// Runs CMake.
    pub(crate) fn try_generate(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(cmake(self.version));
        command.args(["-G", self.generator, "-S", "src", "-B", "build"]).args(arguments);
        command.arg(format!("-DCMAKE_MAKE_PROGRAM={}", self.program().display()));
        command.current_dir(self.space.path()).output().expect("cmake runs")
    }

    /// Runs CMake, which has to succeed.
    pub(crate) fn generate(&self, arguments: &[&str]) {
        let output = self.try_generate(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cmake {} with {}: {errors}", self.version, self.generator);
    }

    fn program(&self) -> &Path {
        match self.generator {
            "Unix Makefiles" => Path::new("make"),
            _ => Ninja::V1_13.path(),
        }
    }

    /// Runs the build.
    pub(crate) fn build(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(cmake(self.version));
        command.args(["--build", "build"]).args(arguments);
        command.current_dir(self.space.path()).output().expect("cmake runs")
    }

    pub(crate) fn read(&self) -> Reply {
        reply::read(&self.directory())
            .unwrap_or_else(|error| panic!("cmake {} with {}: {error}", self.version, self.generator))
    }

    /// The error of an attempt to read it.
    pub(crate) fn error(&self) -> String {
        reply::read(&self.directory()).expect_err("an error").to_string()
    }

    pub(crate) fn is_multi_config(&self) -> bool {
        self.generator == "Ninja Multi-Config"
    }
}

pub(crate) fn target<'a>(configuration: &'a Configuration, name: &str) -> &'a Target {
    configuration
        .targets
        .iter()
        .find(|target| target.name == name)
        .unwrap_or_else(|| panic!("a target {name}"))
}

/// Programs, libraries of each kind, rules, and targets without files, in three directories.
const SAMPLE: &[(&str, &str)] = &[
    (
        "src/CMakeLists.txt",
        r#"cmake_minimum_required(VERSION 3.16)
project(demo C)
set(CMAKE_CONFIGURATION_TYPES "Debug;Release" CACHE STRING "" FORCE)
enable_testing()
add_subdirectory(lib)
add_subdirectory(app)
file(GLOB_RECURSE data CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/data/*.txt)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/all.txt ${CMAKE_BINARY_DIR}/second.txt
  COMMAND cat ${data} > all.txt
  COMMAND ${CMAKE_COMMAND} -E copy all.txt second.txt
  DEPENDS ${data} VERBATIM)
add_custom_target(bundle ALL DEPENDS ${CMAKE_BINARY_DIR}/all.txt)
add_custom_target(nothing)
add_custom_target(never COMMAND ${CMAKE_COMMAND} -E echo hi)
install(TARGETS app DESTINATION bin)
add_test(NAME t COMMAND app)
"#,
    ),
    (
        "src/lib/CMakeLists.txt",
        r#"add_library(text STATIC text.c)
add_library(my::text ALIAS text)
add_library(net SHARED net.c)
set_target_properties(net PROPERTIES VERSION 1.2 SOVERSION 1)
target_link_libraries(net PRIVATE text)
set_target_properties(text PROPERTIES POSITION_INDEPENDENT_CODE ON)
add_library(objs OBJECT o1.c)
add_library(iface INTERFACE)
add_custom_target(below ALL COMMAND ${CMAKE_COMMAND} -E touch below.txt)
"#,
    ),
    (
        "src/app/CMakeLists.txt",
        r#"add_custom_command(OUTPUT version.h COMMAND ${CMAKE_COMMAND} -E copy
    ${CMAKE_CURRENT_SOURCE_DIR}/version.in version.h DEPENDS version.in)
add_library(zfirst STATIC z.c ${CMAKE_CURRENT_BINARY_DIR}/version.h)
add_executable(app main.c ${CMAKE_CURRENT_BINARY_DIR}/version.h $<TARGET_OBJECTS:objs>)
target_include_directories(app PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(app net iface zfirst)
set_target_properties(app PROPERTIES OUTPUT_NAME program)
"#,
    ),
    ("src/app/version.in", "#define VERSION 1\n"),
    ("src/app/main.c", "#include \"version.h\"\nint main(void) { return 0; }\n"),
    ("src/app/z.c", "int z(void) { return 0; }\n"),
    ("src/lib/text.c", "int text(void) { return 0; }\n"),
    ("src/lib/net.c", "int text(void);\nint net(void) { return text(); }\n"),
    ("src/lib/o1.c", "int o1(void) { return 0; }\n"),
    ("src/data/a.txt", "a\n"),
    ("src/data/deep/b.txt", "b\n"),
];
