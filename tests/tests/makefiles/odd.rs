//! Odd names, odd places, and directories that are not what they were.

use crate::harness::{Build, VERSIONS};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use upcheck_tests::aloud::not_tested;

/// With every sign that the release can write into Makefiles.
fn names(version: &str) -> &'static [&'static str] {
    match version {
        "3.16" => &["a b", "at@x", "plus+x", "til~de", "ä", "p(x)", "q'x"],
        _ => &["a b", "at@x", "plus+x", "til~de", "ä", "h#h", "d$d", "e=e", "p(x)", "q'x"],
    }
}

#[test]
fn names_with_odd_signs() {
    for version in VERSIONS {
        let names = names(version);
        let list: Vec<String> =
            names.iter().map(|name| format!("\"{}.c\"", name.replace('$', "\\$"))).collect();
        let lists = format!(
            "cmake_minimum_required(VERSION 3.16)\nproject(odd C)\nadd_library(odd STATIC {})\n
add_custom_command(OUTPUT \"out put.txt\" COMMAND ${{CMAKE_COMMAND}} -E touch \"out put.txt\"
  DEPENDS \"in put.txt\" VERBATIM)
add_custom_target(u+x ALL DEPENDS \"out put.txt\")\n",
            list.join(" ")
        );
        let mut files = vec![("CMakeLists.txt".to_owned(), lists), ("in put.txt".into(), String::new())];
        for (n, name) in names.iter().enumerate() {
            let source = format!("#include \"{name}.h\"\nint odd{n};\n");
            files.extend([(format!("{name}.c"), source), (format!("{name}.h"), String::new())]);
        }
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let mut build = Build::new(version, &files);
        build.compare("the first build");
        for name in names {
            let answer = build.edit(name, |build| build.touch(&format!("s/{name}.h")));
            assert!(answer.stale.contains("libodd.a"), "{version} {name}: {answer:#?}");
            build.edit(name, |build| build.touch(&format!("s/{name}.c")));
        }
        build.edit("an input with a space", |build| build.touch("s/in put.txt"));
    }
}

const LISTS: &str =
    "cmake_minimum_required(VERSION 3.16)\nproject(demo C)\nadd_library(demo STATIC demo.c)\n";
const FILES: &[(&str, &str)] =
    &[("CMakeLists.txt", LISTS), ("demo.c", "#include \"demo.h\"\nint demo;\n"), ("demo.h", "")];

#[test]
fn names_that_make_reads_as_something_else() {
    // make fails on these, or makes something else of them; so nobody says that all is well.
    for (version, name) in [("3.16", "h#h"), ("4", "a%b"), ("4", "a*b"), ("4", "a[b]")] {
        let lists = LISTS.replace("demo.c", &format!("\"{name}.c\""));
        let source = format!("{name}.c");
        let build = Build::new(version, &[("CMakeLists.txt", &lists), (&source, "int x;\n")]);
        let answer = build.try_ask();
        let says = answer.expect_err(name);
        assert!(says.starts_with("CMakeFiles/demo.dir/build.make:"), "{version} {name}: {says}");
    }
}

#[test]
fn a_build_directory_behind_a_link() {
    for version in VERSIONS {
        let mut build = Build::new(version, FILES);
        build.compare("the first build");
        fs::rename(build.path("b"), build.path("real")).expect("renamed");
        symlink("real", build.path("b")).expect("a link");
        build.settled("behind a link");
        let answer = build.edit("a header", |build| build.touch("s/demo.h"));
        assert!(answer.stale.contains("libdemo.a"));
    }
}

#[test]
fn a_source_directory_that_is_the_build_directory() {
    for version in VERSIONS {
        let mut build = Build::in_source(version, FILES);
        build.compare("the first build");
        build.settled("after it");
        let answer = build.edit("a header", |build| build.touch("b/demo.h"));
        assert!(answer.stale.contains("libdemo.a"), "{answer:#?}");
    }
}

#[test]
fn a_build_directory_that_was_moved_is_an_error() {
    let build = Build::new("4", FILES);
    fs::rename(build.path("b"), build.path("c")).expect("renamed");
    let says = build.try_ask_in("c").expect_err("an error");
    assert!(says.contains("another directory now"), "{says}");
}

#[test]
fn what_is_missing_or_cut_short_is_an_error_with_its_path() {
    let build = Build::new("4", FILES);
    let files = [
        "CMakeCache.txt",
        "CMakeFiles/Makefile2",
        "CMakeFiles/demo.dir/build.make",
        "CMakeFiles/demo.dir/DependInfo.cmake",
    ];
    for file in files {
        let path = format!("b/{file}");
        let content = build.space.read(&path);
        build.remove(&path);
        let says = build.try_ask().expect_err("an error");
        assert_eq!(says, format!("reading '{file}': No such file or directory"));
        // However much of it is there: an answer, or an error that names a file; no panic.
        for end in (0..content.len()).step_by(content.len() / 97 + 1) {
            build.space.write(&path, &content[..end]);
            if let Err(says) = build.try_ask() {
                let names = says.starts_with(file) || says.contains("no goal") || says.contains("Makefile2");
                assert!(names, "{file} up to {end}: {says}");
            }
        }
        build.space.write(&path, &content);
    }
    build.try_ask().expect("everything is as it was");
}

#[test]
fn without_its_list_of_files_cmake_runs_again() {
    for version in VERSIONS {
        let mut build = Build::new(version, FILES);
        build.compare("the first build");
        let answer = build.edit("the list is gone", |build| build.remove("b/CMakeFiles/Makefile.cmake"));
        assert_eq!(answer.configure, ["output-missing CMakeFiles/Makefile.cmake"]);
    }
}

#[test]
fn places_with_odd_signs() {
    for version in VERSIONS {
        let files = [
            ("CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(demo C)\nadd_subdirectory(\"sub dir\")\n"),
            (
                "sub dir/CMakeLists.txt",
                "add_custom_command(OUTPUT gen.c COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/in.c gen.c
  DEPENDS in.c BYPRODUCTS \"by product.h\" VERBATIM)
add_library(demo STATIC demo.c gen.c)\n",
            ),
            ("sub dir/demo.c", "#include \"demo.h\"\nint demo;\n"),
            ("sub dir/demo.h", ""),
            ("sub dir/in.c", "int in;\n"),
        ];
        let mut build = Build::at("a place, ä (x)+y/", version, &files, &[]);
        build.compare("the first build");
        let answer = build.edit("a header", |build| build.touch("s/sub dir/demo.h"));
        assert!(answer.stale.contains("sub dir/libdemo.a"), "{answer:#?}");
        build.edit("what something is made from", |build| build.touch("s/sub dir/in.c"));
        let answer = build.edit("a list", |build| build.touch("s/sub dir/CMakeLists.txt"));
        assert_eq!(answer.configure.len(), 1, "{answer:#?}");
    }
}

#[test]
fn makefiles_that_say_less_or_say_it_from_the_root() {
    for version in VERSIONS {
        let lists = format!("{LISTS}set_property(GLOBAL PROPERTY RULE_MESSAGES OFF)\n");
        let files = [("CMakeLists.txt", lists.as_str()), FILES[1], FILES[2]];
        for options in [&[][..], &["-DCMAKE_MAKE_INCLUDE_FROM_ROOT=ON"], &["-DCMAKE_COLOR_MAKEFILE=OFF"]] {
            let mut build = Build::with_options(version, &files, options);
            build.compare("the first build");
            build.edit("a header", |build| build.touch("s/demo.h"));
        }
    }
}

#[test]
fn a_language_whose_includes_are_not_read_is_stale() {
    if !Path::new("/usr/bin/gfortran").exists() {
        return not_tested("Fortran: there is no gfortran");
    }
    let lists = "cmake_minimum_required(VERSION 3.16)\nproject(demo C Fortran)\nadd_library(demo STATIC demo.c mod.f90 use.f90)\n";
    let files = [
        ("CMakeLists.txt", lists),
        FILES[1],
        FILES[2],
        ("mod.f90", "module m\ninteger :: i = 1\nend module\n"),
        ("use.f90", "subroutine s()\nuse m\ni = 2\nend subroutine\n"),
    ];
    for version in VERSIONS {
        let build = Build::new(version, &files);
        assert!(build.make().success);
        assert!(build.make().success);
        let answer = build.ask();
        for object in ["mod.f90.o", "use.f90.o"] {
            assert!(answer.stale.contains(&format!("CMakeFiles/demo.dir/{object}")), "{answer:#?}");
        }
        assert!(!answer.stale.contains("CMakeFiles/demo.dir/demo.c.o"), "{answer:#?}");
        assert!(answer.reasons.iter().any(|reason| reason.contains("deps-unknown")), "{answer:#?}");
    }
}
