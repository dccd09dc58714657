//! The story for a build directory of CMake, with a real compiler: what CMake made of its own files is repaired, too.

use super::SECOND;
use super::command::{Ran, upcheck_in};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use upcheck_tests::space::Space;
use upcheck_tests::tools::{Ninja, run_tool};

const SOURCES: [(&str, &str); 5] = [
    (
        "source/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)\nproject(demo C)\nconfigure_file(version.h.in version.h)\n\
         add_library(text STATIC text.c)\nadd_executable(app main.c)\ntarget_link_libraries(app text)\n\
         target_include_directories(app PRIVATE ${CMAKE_BINARY_DIR})\n",
    ),
    ("source/version.h.in", "#define VERSION 1\n"),
    ("source/text.h", "#define TEXT 1\n"),
    ("source/text.c", "#include \"text.h\"\nint text(void) { return TEXT; }\n"),
    (
        "source/main.c",
        "#include \"text.h\"\n#include \"version.h\"\nint text(void);\nint main(void) { return text() - TEXT + VERSION - 1; }\n",
    ),
];

struct Checkout {
    space: Space,
    ninja: Ninja,
}

impl Checkout {
    fn build(&self) -> PathBuf {
        self.space.path().join("build")
    }

    /// Everything anew, as of now.
    fn check_out(&self) {
        let _ = fs::remove_dir_all(self.space.path().join("source"));
        for (path, content) in SOURCES {
            self.space.write(path, content);
        }
    }

    fn configure(&self) {
        let mut cmake = Command::new(run_tool("get-cmake", "3.25"));
        cmake.args(["-G", "Ninja", "-S"]).arg(self.space.path().join("source")).arg("-B").arg(self.build());
        must_run(cmake.arg(format!("-DCMAKE_MAKE_PROGRAM={}", self.ninja.path().display())));
    }

    fn run_ninja(&self, arguments: &[&str]) -> String {
        must_run(Command::new(self.ninja.path()).current_dir(self.build()).args(arguments))
    }

    fn upcheck(&self, arguments: &[&str]) -> String {
        let mut command = upcheck_in(&self.build());
        let ran = Ran::new(command.args(arguments).arg("--no-image").output().expect("it starts"));
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
        ran.stdout
    }

    /// The names at the ends of what ninja says that it does.
    fn would_make(&self) -> BTreeSet<String> {
        let text = self.run_ninja(&["-n"]);
        text.lines().filter_map(|line| Some(line.rsplit_once(['/', ' '])?.1.to_owned())).collect()
    }
}

fn must_run(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}\n{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn tar(arguments: &[&str], archive: &Path, place: &Path) {
    let mut tar = Command::new("tar");
    must_run(tar.args(arguments).arg("-f").arg(archive).arg("-C").arg(place).arg("build"));
}

#[test]
fn a_build_directory_of_cmake_is_as_good_as_new_after_a_fresh_checkout() {
    for &ninja in Ninja::USUAL {
        let job = Checkout { space: Space::new(), ninja };
        job.check_out();
        job.configure();
        job.run_ninja(&[]);
        job.upcheck(&["record"]);
        let shelf = tempfile::tempdir().expect("a temporary directory");
        let archive = shelf.path().join("archive");
        tar(&["-c", "--format=ustar"], &archive, job.space.path());
        fs::remove_dir_all(job.build()).expect("it is there");
        job.check_out();
        tar(&["-x"], &archive, job.space.path());
        // CMake would run, and then everything.
        assert!(
            job.run_ninja(&["-n"]).contains("Re-running CMake"),
            "its lists are newer than what was made of them"
        );
        let said = job.upcheck(&["repair"]);
        assert!(said.starts_with("repaired: ninja would run 0 of "), "{said}");
        assert_eq!(job.run_ninja(&["-n"]), "ninja: no work to do.\n", "ninja {}", ninja.number());
        assert_eq!(job.run_ninja(&[]), "ninja: no work to do.\n");

        // An edit under an old time.
        job.space.write_at(
            "source/text.c",
            "#include \"text.h\"\nint text(void) { return 0 + TEXT; }\n",
            SECOND,
        );
        assert_eq!(job.run_ninja(&["-n"]), "ninja: no work to do.\n");
        job.upcheck(&["repair"]);
        let expected: BTreeSet<String> = ["text.c.o", "libtext.a", "app"].map(str::to_owned).into();
        assert_eq!(job.would_make(), expected);
        // What CMake reads itself.
        job.space.write_at("source/version.h.in", "#define VERSION 2\n", SECOND);
        job.upcheck(&["repair"]);
        assert!(job.run_ninja(&["-n"]).contains("Re-running CMake"), "ninja {}", ninja.number());
        job.run_ninja(&[]);
        let app = Command::new(job.build().join("app")).status().expect("it runs");
        assert_eq!(app.code(), Some(1), "it is made of the new version");
        assert_eq!(job.run_ninja(&["-n"]), "ninja: no work to do.\n");
    }
}
