//! `upcheck_glob`: what it finds, and when CMake runs again.

use crate::{CMAKES, Project, everywhere};
use std::fs;
use std::os::unix::fs::symlink;

/// Globs with these arguments, and says when CMake runs, and what came of it.
fn lists(arguments: &str) -> String {
    format!(
        "upcheck_glob(found {arguments})
         file(APPEND \"${{CMAKE_BINARY_DIR}}/log\" \"configured\\n\")
         file(WRITE \"${{CMAKE_BINARY_DIR}}/found\" \"${{found}}\")
         add_custom_target(everything ALL COMMAND true)\n"
    )
}

/// The files below `src`, in the order in which they were found.
fn found(project: &Project) -> String {
    let text = project.text("build/found");
    text.replace(&format!("{}/src/", project.space.path().display()), "")
}

/// Configures, and builds twice: what is found first. Nothing is to be configured again.
fn settled(project: &Project) -> String {
    project.configure();
    project.build();
    project.build();
    assert_eq!(project.ran(), "configured");
    found(project)
}

/// Builds twice: how often CMake ran, and what was found then.
fn again(project: &Project) -> (usize, String) {
    project.build();
    project.build();
    (project.ran().split_whitespace().count(), found(project))
}

fn once(found: &str) -> (usize, String) {
    (1, found.into())
}

#[test]
fn files_that_appear_and_disappear_are_noticed() {
    for strategy in ["", "STRATEGY DIRS", "STRATEGY VERIFY"] {
        let text = lists(&format!("RECURSE a/*.c b/*.c {strategy}"));
        let files = [("CMakeLists.txt", text.as_str()), ("a/1.c", ""), ("a/deep/2.c", ""), ("b/3.c", "")];
        everywhere(&files, |project| {
            assert_eq!(settled(project), "a/1.c;a/deep/2.c;b/3.c");
            project.edit("a/deep/4.c", "");
            assert_eq!(again(project), once("a/1.c;a/deep/2.c;a/deep/4.c;b/3.c"));
            project.space.remove("src/b/3.c");
            assert_eq!(again(project), once("a/1.c;a/deep/2.c;a/deep/4.c"));
            // In a directory that was not there.
            project.edit("b/new/er/5.c", "");
            assert_eq!(again(project), once("a/1.c;a/deep/2.c;a/deep/4.c;b/new/er/5.c"));
            fs::remove_dir_all(project.space.path().join("src/b")).expect("a directory");
            assert_eq!(again(project), once("a/1.c;a/deep/2.c;a/deep/4.c"));
            project.edit("b/6.c", "");
            assert_eq!(again(project), once("a/1.c;a/deep/2.c;a/deep/4.c;b/6.c"));
            // An edit is no news, as long as the file stays the same one.
            project.space.write("src/a/1.c", "changed");
            assert_eq!(again(project), (0, "a/1.c;a/deep/2.c;a/deep/4.c;b/6.c".into()));
        });
    }
}

#[test]
fn an_unrelated_file_is_noticed_with_dirs_only() {
    for (strategy, expected) in [("DIRS", 1), ("VERIFY", 0)] {
        let text = lists(&format!("*.c a/*.c STRATEGY {strategy}"));
        everywhere(&[("CMakeLists.txt", &text), ("a/1.c", "")], |project| {
            assert_eq!(settled(project), "a/1.c");
            project.edit("a/note.txt", "");
            assert_eq!(again(project), (expected, "a/1.c".into()));
        });
    }
}

#[test]
fn with_dirs_no_process_starts() {
    everywhere(&[("CMakeLists.txt", &lists("RECURSE a/*.c")), ("a/1.c", "")], |project| {
        settled(project);
        assert!(!project.space.path().join("build/CMakeFiles/VerifyGlobs.cmake").exists());
        if project.generator == "Ninja" {
            let text = project.text("build/build.ninja");
            assert!(!text.contains("VERIFY_GLOBS") && !text.contains("verify-globs"));
        }
    });
}

#[test]
fn with_verify_one_process_looks_at_all_globs() {
    let mut text = String::new();
    for _ in 0..3 {
        text +=
            "upcheck_glob(found a/*.c STRATEGY VERIFY)\nupcheck_glob(found RECURSE b/*.c STRATEGY VERIFY)\n";
    }
    text += &lists("a/*.c b/*.c STRATEGY VERIFY");
    for version in CMAKES {
        let project =
            Project::new(version, "Ninja", &[("CMakeLists.txt", &text), ("a/1.c", ""), ("b/2.c", "")]);
        assert_eq!(settled(&project), "a/1.c;b/2.c");
        assert!(!project.space.path().join("build/CMakeFiles/VerifyGlobs.cmake").exists());
        assert_eq!(project.text("build/build.ninja").matches("verify-globs").count(), 1);
        project.edit("b/3.c", "");
        assert_eq!(again(&project), once("a/1.c;b/2.c;b/3.c"));
        // What it leaves is cleaned away with all else.
        project.building(&["--target", "clean"]).well();
        assert_eq!(again(&project), once("a/1.c;b/2.c;b/3.c"));
        // Calls that are taken away, and the last of them.
        project.lists(&lists("a/*.c STRATEGY VERIFY"));
        assert_eq!(again(&project), once("a/1.c"));
        project.lists(&lists("a/*.c"));
        assert_eq!(again(&project), once("a/1.c"));
    }
}

#[test]
fn with_several_configurations_verify_is_what_cmake_does() {
    for version in ["3.25", "4"] {
        let files = [("CMakeLists.txt", lists("a/*.c STRATEGY VERIFY")), ("a/1.c", String::new())];
        let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
        let project = Project::new(version, "Ninja Multi-Config", &files);
        assert_eq!(settled(&project), "a/1.c");
        project.edit("a/2.c", "");
        assert_eq!(again(&project), once("a/1.c;a/2.c"));
    }
}

#[test]
fn what_is_found_is_what_file_finds() {
    let globs = [
        "*.c",
        "*",
        "*/*.c",
        "a/?.c",
        "a/[12].c",
        "*.c a/*.c",
        "LIST_DIRECTORIES false *",
        "LIST_DIRECTORIES ON */*",
        "RECURSE *.c",
        "RECURSE a/*.c .h*",
        "RECURSE LIST_DIRECTORIES true a/*",
        "RECURSE FOLLOW_SYMLINKS *.c",
        "RELATIVE \"${CMAKE_CURRENT_SOURCE_DIR}\" a/*.c",
        "RELATIVE \"${CMAKE_CURRENT_SOURCE_DIR}/a\" RECURSE *.c",
        "\"${CMAKE_CURRENT_SOURCE_DIR}/a/*.c\"",
        "nothing/*.c",
        "\"odd dir/*$x*\"",
        "a/1.c",
    ];
    let mut text = String::from("file(WRITE \"${CMAKE_BINARY_DIR}/differences\" \"\")\n");
    for glob in globs {
        let kind = if glob.contains("RECURSE ") { "GLOB_RECURSE" } else { "GLOB" };
        let mut words: Vec<_> = glob.split(' ').filter(|word| *word != "RECURSE").collect();
        // Here it stands first.
        words.sort_by_key(|word| *word != "FOLLOW_SYMLINKS");
        for strategy in ["DIRS", "VERIFY"] {
            text += &format!(
                "file({kind} expected {})\nupcheck_glob(found {glob} STRATEGY {strategy})
                 if(NOT \"${{expected}}\" STREQUAL \"${{found}}\")
                   file(APPEND \"${{CMAKE_BINARY_DIR}}/differences\" [==[{glob}]==] \": ${{expected}}\\n${{found}}\\n\")
                 endif()\n",
                if words.len() == glob.split(' ').count() { glob.to_owned() } else { words.join(" ") }
            );
        }
    }
    text += &lists("a/*.c");
    let files = [
        ("CMakeLists.txt", text.as_str()),
        ("top.c", ""),
        ("a/1.c", ""),
        ("a/2.c", ""),
        ("a/x.h", ""),
        ("a/sub/3.c", ""),
        (".hidden/4.c", ""),
        ("odd dir/a$x;b.c", ""),
        ("odd dir/a$xyz@z@\".c", ""),
        ("odd dir/a[$x.c", ""),
    ];
    everywhere(&files, |project| {
        symlink("a", project.space.path().join("src/link")).expect("a link");
        project.configure();
        assert_eq!(project.text("build/differences"), "");
        project.build();
        project.build();
        assert_eq!(project.ran(), "configured");
    });
}

#[test]
fn another_directory_in_the_place_of_one_is_noticed() {
    for strategy in ["DIRS", "VERIFY"] {
        let text = lists(&format!("a/b/*.c STRATEGY {strategy}"));
        let files = [("CMakeLists.txt", text.as_str()), ("a/b/1.c", ""), ("other/b/2.c", "")];
        everywhere(&files, |project| {
            for path in ["src/other/b", "src/other"] {
                project.space.set_mtime(path, 1_700_000_000_000_000_000);
            }
            assert_eq!(settled(project), "a/b/1.c");
            let path = |name: &str| project.space.path().join("src").join(name);
            // It brings its old time along, and so does what is in it.
            fs::rename(path("a"), path("gone")).expect("a new name");
            fs::rename(path("other"), path("a")).expect("a new name");
            assert_eq!(again(project), once("a/b/2.c"));
        });
    }
}

#[test]
fn a_link_that_leads_elsewhere_is_noticed() {
    for strategy in ["DIRS", "VERIFY"] {
        let text = lists(&format!("now/*.c STRATEGY {strategy}"));
        let files = [("CMakeLists.txt", text.as_str()), ("a/1.c", ""), ("b/2.c", "")];
        everywhere(&files, |project| {
            let link = project.space.path().join("src/now");
            symlink("a", &link).expect("a link");
            project.space.set_mtime("src/b", 1_700_000_000_000_000_000);
            assert_eq!(settled(project), "now/1.c");
            fs::remove_file(&link).expect("a link");
            symlink("b", &link).expect("a link");
            assert_eq!(again(project), once("now/2.c"));
        });
    }
}

#[test]
fn globs_that_lead_into_the_build_directory_settle() {
    for strategy in ["DIRS", "VERIFY"] {
        let text = lists(&format!("RECURSE LIST_DIRECTORIES false ../build/*.gen *.c STRATEGY {strategy}"));
        everywhere(&[("CMakeLists.txt", &text), ("1.c", "")], |project| {
            assert_eq!(settled(project), "1.c");
            project.space.write("build/deep/2.gen", "");
            let (n_configured, found) = again(project);
            assert_eq!((n_configured, found.ends_with("/build/deep/2.gen;1.c")), (1, true), "{found}");
        });
    }
}

#[test]
fn directories_with_odd_names_are_walked_like_others() {
    for strategy in ["DIRS", "VERIFY"] {
        let text = lists(&format!("RECURSE a/*.c STRATEGY {strategy}"));
        let files = [("CMakeLists.txt", text.as_str()), ("a/x y#ä$(/1.c", ""), ("a/b;c/d[e/2.c", "")];
        everywhere(&files, |project| {
            let before = settled(project);
            project.edit("a/x y#ä$(/3.c", "");
            let (n_configured, after) = again(project);
            assert_eq!((n_configured, after.len() > before.len()), (1, true), "{after}");
            project.edit("a/b;c/d[e/4.c", "");
            let (n_configured, last) = again(project);
            assert_eq!((n_configured, last.len() > after.len()), (1, true), "{last}");
        });
    }
}

#[test]
fn a_build_in_the_source_directory_settles() {
    let text = lists("RECURSE *.c a/*.c");
    everywhere(&[("CMakeLists.txt", &text), ("a/1.c", "")], |project| {
        let configure = ["-S", "src", "-B", "src"];
        let run = |words: &[&str]| {
            let mut command = project.tool(project.cmake());
            command.args(words).args(["-G", project.generator]);
            command.arg(format!(
                "-DCMAKE_MAKE_PROGRAM={}",
                match project.generator {
                    "Ninja" => upcheck_tests::tools::Ninja::V1_13.path().display().to_string(),
                    _ => "make".into(),
                }
            ));
            crate::Outcome::of(command.output().expect("cmake starts")).well()
        };
        run(&configure);
        let build = || {
            let mut command = project.tool(project.cmake());
            crate::Outcome::of(command.args(["--build", "src"]).output().expect("cmake starts")).well()
        };
        build();
        build();
        assert_eq!(project.text("src/log"), "configured\n");
        project.edit("a/2.c", "");
        build();
        build();
        assert_eq!(project.text("src/log"), "configured\nconfigured\n");
    });
}

#[test]
fn in_a_script_it_is_file() {
    for version in CMAKES {
        let project = Project::new(version, "Ninja", &[("a/1.c", ""), ("a/b/2.c", "")]);
        project.space.write(
            "src/script.cmake",
            format!(
                "include(\"{}/integrations/cmake/module/Upcheck.cmake\")\n\
                 upcheck_glob(found RECURSE RELATIVE \"${{CMAKE_CURRENT_LIST_DIR}}\" src/*.c)\nmessage(\"${{found}}\")\n",
                upcheck_tests::tools::root().display()
            ),
        );
        let mut command = project.tool(project.cmake());
        let outcome =
            crate::Outcome::of(command.args(["-P", "src/script.cmake"]).output().expect("cmake starts"));
        assert_eq!(outcome.well(), "a/1.c;a/b/2.c\n");
    }
}
