//! What projects and scripts are told about a build: report targets, lists of stale targets, records after builds.

mod example;
mod lists;
mod records;
mod refused;
mod reports;
#[path = "../module_externals/world.rs"]
mod world;

use std::process::Command;
use upcheck_tests::tools;
use world::{MULTI, World};

/// Two libraries, one with a generated header, and a program.
pub(crate) fn project(world: &World, lines: &str) {
    world.write("lib.c", "#include \"gen.h\"\nint lib(void) { return X; }\n");
    world.write("other.c", "int other(void) { return 0; }\n");
    world.write("app.c", "int lib(void);\nint main(void) { return lib(); }\n");
    world.write("gen.in", "#define X 0\n");
    world.project(
        "C",
        &format!(
            "add_custom_command(OUTPUT gen.h DEPENDS gen.in
  COMMAND \"${{CMAKE_COMMAND}}\" -E copy \"${{CMAKE_CURRENT_SOURCE_DIR}}/gen.in\" gen.h)
add_library(lib STATIC lib.c gen.h)
target_include_directories(lib PRIVATE \"${{CMAKE_CURRENT_BINARY_DIR}}\")
add_library(other STATIC other.c)
add_executable(app app.c)
target_link_libraries(app PRIVATE lib)
{lines}\n"
        ),
    );
}

impl World {
    /// The command, asked about the build. Its exit status and what it printed.
    pub(crate) fn ask(&self, options: &[&str]) -> (i32, String) {
        let mut command = Command::new(tools::upcheck());
        command.arg("-C").arg(self.binary()).args(options).env("UPCHECK_CACHE_DIR", self.space.images());
        let output = command.output().expect("upcheck runs");
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code().unwrap_or(-1), text)
    }

    /// Edits a file so that its size stays, and its time does not.
    pub(crate) fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(&format!("src/{path}"));
        assert!(text.contains(from), "{path}: {text}");
        self.write_last(path, text.replace(from, to));
    }

    pub(crate) fn is_multi(&self) -> bool {
        self.generator == MULTI
    }
}
