//! Which globs a build verifies, and what it finds: the build itself is asked.

use crate::builds::{ALL, Build};
use std::fs;
use std::os::unix::fs::symlink;
use upcheck_cmake::globs::{self, Difference, Glob};

fn globs(build: &Build) -> Option<Vec<Glob>> {
    globs::of(&build.directory(), &build.read()).unwrap_or_else(|error| panic!("{}: {error}", build.version))
}

fn difference(build: &Build) -> Difference {
    globs::differences(&globs(build).expect("globs")).expect("directories")
}

/// Whether the build finds a difference: it says so, and runs CMake again.
fn is_found_by_the_build(build: &Build) -> bool {
    let output = build.build(&["--target", "nothing"]);
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).contains("GLOB mismatch")
}

fn with_globs(which: (&'static str, &'static str), globs: &str) -> Build {
    let build = Build::empty(which);
    let lists = format!(
        "cmake_minimum_required(VERSION 3.16)\nproject(p NONE)\nadd_custom_target(nothing)\n{globs}\n"
    );
    build.space.write("src/CMakeLists.txt", lists);
    build.ask();
    build
}

#[test]
fn the_globs_are_those_of_the_project() {
    for which in ALL {
        let build = with_globs(
            which,
            "file(GLOB_RECURSE a CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/data [a-z]*.txt)\n\
             file(GLOB b LIST_DIRECTORIES false CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/data/*)\n\
             file(GLOB_RECURSE c FOLLOW_SYMLINKS LIST_DIRECTORIES true CONFIGURE_DEPENDS none/*)\n\
             file(GLOB not_verified *.txt)",
        );
        for path in ["data/a.txt", "data/deep/b.txt", "top.txt"] {
            build.space.write(&format!("src/{path}"), "");
        }
        build.generate(&[]);
        let mut globs = globs(&build).expect("globs");
        globs.sort_by_key(|glob| (glob.relative.is_none(), glob.list_directories));
        let expected = [
            Glob {
                expression: build.source("[a-z]*.txt"),
                recurse: true,
                relative: Some(build.source("data")),
                // Without a policy, the script of CMake 3.16 follows links.
                follow_symlinks: build.version == "3.16",
                paths: [&b"../top.txt"[..], b"a.txt", b"deep/b.txt"].map(<[u8]>::to_vec).into(),
                ..Glob::default()
            },
            Glob {
                expression: build.source("data/*"),
                paths: vec![build.source("data/a.txt")],
                ..Glob::default()
            },
            Glob {
                expression: build.source("none/*"),
                recurse: true,
                follow_symlinks: true,
                list_directories: true,
                ..Glob::default()
            },
        ];
        assert_eq!(globs, expected, "{which:?}");
        assert!(difference(&build).is_empty());
    }
}

#[test]
fn what_comes_and_goes_is_what_the_build_finds() {
    for which in ALL {
        let build = Build::sample(which);
        let (added, removed) = (build.source("data/deeper/new.txt"), build.source("data/a.txt"));
        assert!(difference(&build).is_empty() && !is_found_by_the_build(&build), "{which:?}");
        build.space.write("src/data/deeper/new.txt", "");
        assert_eq!(difference(&build), Difference { added: vec![added.clone()], removed: vec![] });
        assert!(is_found_by_the_build(&build), "{which:?}");
        assert!(difference(&build).is_empty() && !is_found_by_the_build(&build), "{which:?}");
        build.space.remove("src/data/a.txt");
        build.space.write("src/data/no.match", "");
        assert_eq!(difference(&build), Difference { added: vec![], removed: vec![removed] });
        assert!(is_found_by_the_build(&build), "{which:?}");
        assert!(difference(&build).is_empty() && !is_found_by_the_build(&build), "{which:?}");
    }
}

#[test]
fn a_script_of_an_earlier_project_does_not_count() {
    for which in ALL {
        let build = with_globs(which, "file(GLOB a CONFIGURE_DEPENDS *.txt)");
        build.generate(&[]);
        assert!(globs(&build).is_some());
        build.space.write(
            "src/CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.16)\nproject(p NONE)\nadd_custom_target(nothing)\n",
        );
        build.generate(&[]);
        build.space.write("src/new.txt", "");
        assert_eq!(globs(&build), None, "{which:?}");
        assert!(!is_found_by_the_build(&build), "{which:?}");
    }
}

#[test]
fn a_project_without_globs_has_none() {
    for which in ALL {
        let build = with_globs(which, "");
        build.generate(&[]);
        assert_eq!(globs(&build), None);
    }
}

#[test]
fn links_count_as_the_build_counts_them() {
    for which in ALL.into_iter().filter(|(_, generator)| *generator != "Ninja Multi-Config") {
        let build = with_globs(
            which,
            "cmake_policy(SET CMP0009 NEW)\nfile(GLOB_RECURSE a CONFIGURE_DEPENDS data/*.txt)",
        );
        build.space.write("src/data/a.txt", "");
        build.space.write("src/elsewhere/b.txt", "");
        symlink("../elsewhere", build.space.path().join("src/data/link.txt")).expect("a link");
        build.generate(&[]);
        // CMake 3.16 follows the link when it verifies, but not when it configures.
        let is_different = build.version == "3.16";
        assert_eq!(!difference(&build).is_empty(), is_different, "{which:?}");
        assert_eq!(is_found_by_the_build(&build), is_different, "{which:?}");
    }
}

#[test]
fn names_that_mean_something_to_cmake_are_found_as_the_build_finds_them() {
    let odd = [
        "a b.txt", "a;b.txt", "a$b.txt", "a'b.txt", "(a.txt", "a#b.txt", "ä.txt", "a[1].txt", "a@b.txt",
        "-a.txt",
    ];
    for which in ALL.into_iter().filter(|(_, generator)| *generator != "Ninja Multi-Config") {
        let build = with_globs(which, "file(GLOB a CONFIGURE_DEPENDS data/*.txt)");
        for name in odd {
            build.space.write(&format!("src/data/{name}"), "");
        }
        build.generate(&[]);
        assert!(difference(&build).is_empty(), "{which:?}: {:?}", difference(&build));
        assert!(!is_found_by_the_build(&build), "{which:?}");
        for name in odd {
            fs::rename(build.space.path().join("src/data").join(name), build.space.path().join("kept"))
                .expect("gone");
            assert_eq!(difference(&build).removed, [build.source(&format!("data/{name}"))]);
            fs::rename(build.space.path().join("kept"), build.space.path().join("src/data").join(name))
                .expect("back");
        }
    }
}

#[test]
fn what_only_cmake_can_evaluate_is_said() {
    for which in ALL.into_iter().filter(|(_, generator)| *generator == "Ninja") {
        // The script has the expression as it is, and makes something else of it.
        let build = with_globs(which, r#"file(GLOB a CONFIGURE_DEPENDS "data/\${x}*.txt")"#);
        build.generate(&[]);
        let error = globs::of(&build.directory(), &build.read()).expect_err("an error").to_string();
        assert!(error.contains("VerifyGlobs.cmake:") && error.contains("only CMake knows"), "{error}");
    }
}
