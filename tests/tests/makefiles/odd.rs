//! Odd names, odd places, and directories that are not what they were.

use crate::harness::{Build, VERSIONS};
use std::fs;
use std::os::unix::fs::symlink;

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
