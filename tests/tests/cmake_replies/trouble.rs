//! Replies that are not there, not whole, or not about this directory: each says what to do.

use crate::builds::{Build, VERSIONS};
use std::fs;
use upcheck_cmake::reply;
use upcheck_tests::space::{Space, set_mtime};

const EMPTY: &str = "cmake_minimum_required(VERSION 3.16)\nproject(p NONE)\n";

fn generated(version: &'static str) -> Build {
    let build = Build::empty((version, "Unix Makefiles"));
    build.space.write("src/CMakeLists.txt", EMPTY);
    build.ask();
    build.generate(&[]);
    build
}

/// The file of the reply whose name begins so.
fn file(build: &Build, start: &str) -> String {
    let folder = build.directory().join(".cmake/api/v1/reply");
    let mut names = fs::read_dir(folder).expect("a reply").map(|entry| entry.expect("a file").file_name());
    let found = names.find(|name| name.to_string_lossy().starts_with(start)).expect("such a file");
    format!("build/.cmake/api/v1/reply/{}", found.to_string_lossy())
}

#[test]
fn a_directory_without_a_cache_is_none_of_cmakes() {
    let space = Space::new();
    let shown = space.path().display();
    let error = reply::read(space.path()).expect_err("an error").to_string();
    assert_eq!(error, format!("'{shown}' is no build directory of CMake: it has no CMakeCache.txt"));
    let error = reply::read(&space.path().join("gone")).expect_err("an error").to_string();
    assert_eq!(error, format!("'{shown}/gone' is no build directory of CMake: there is no such directory"));
    assert!(reply::write_query(space.path()).is_err());
    assert_eq!(fs::read_dir(space.path()).expect("a directory").count(), 0);
}

#[test]
fn cmake_has_to_be_asked_first_and_then_to_run() {
    for version in VERSIONS {
        let build = Build::empty((version, "Unix Makefiles"));
        build.space.write("src/CMakeLists.txt", EMPTY);
        build.generate(&[]);
        let shown = build.directory().display().to_string();
        assert_eq!(
            build.error(),
            format!(
                "CMake was not asked what is in '{shown}': run `upcheck -C {shown} --write-query`, \
                 then `cmake {shown}`"
            )
        );
        let before = build.space.entries();
        assert!(reply::read(&build.directory()).is_err());
        assert_eq!(build.space.entries(), before, "reading changes nothing");
        reply::write_query(&build.directory()).expect("a query");
        reply::write_query(&build.directory()).expect("the same query");
        assert_eq!(
            build.error(),
            format!(
                "CMake was asked what is in '{shown}', but has not run since, or did not get to the end: \
                 run `cmake {shown}`"
            )
        );
        build.generate(&[]);
        build.read();
    }
}

#[test]
fn a_query_for_something_else_is_none() {
    for version in VERSIONS {
        let build = Build::empty((version, "Unix Makefiles"));
        build.space.write("src/CMakeLists.txt", EMPTY);
        build.space.write("build/.cmake/api/v1/query/codemodel-v2", "");
        build.generate(&[]);
        assert!(build.error().starts_with("CMake was not asked"), "{}", build.error());
        reply::write_query(&build.directory()).expect("a query");
        assert!(build.error().starts_with("CMake was asked"), "{}", build.error());
        build.generate(&[]);
        build.read();
    }
}

#[test]
fn a_cmake_that_is_not_asked_any_more_takes_its_replies_back() {
    for version in VERSIONS {
        let build = generated(version);
        fs::remove_dir_all(build.directory().join(".cmake/api/v1/query")).expect("no query");
        build.generate(&[]);
        assert!(build.error().starts_with("CMake was not asked"), "{}", build.error());
    }
}

#[test]
fn a_configure_that_failed_leaves_the_last_good_reply() {
    for version in VERSIONS {
        let build = generated(version);
        build.space.write("src/CMakeLists.txt", format!("{EMPTY}message(FATAL_ERROR no)\n"));
        assert!(!build.try_generate(&[]).status.success());
        // Only CMake 4 says so.
        assert_eq!(build.read().has_failed_since, version == "4");
        build.space.write("src/CMakeLists.txt", EMPTY);
        build.generate(&[]);
        assert!(!build.read().has_failed_since);
    }
}

#[test]
fn a_first_configure_that_failed_leaves_none() {
    for version in VERSIONS {
        let build = Build::empty((version, "Unix Makefiles"));
        build.space.write("src/CMakeLists.txt", format!("{EMPTY}message(FATAL_ERROR no)\n"));
        build.ask();
        assert!(!build.try_generate(&[]).status.success());
        let error = build.error();
        let expected = if version == "4" { "CMake failed the last time" } else { "CMake was asked" };
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_directory_that_was_moved_is_not_the_one_that_was_generated() {
    for version in VERSIONS {
        let build = generated(version);
        let (old, new) = (build.directory(), build.space.path().join("moved"));
        fs::rename(&old, &new).expect("another name");
        let error = reply::read(&new).expect_err("an error").to_string();
        let expected = format!("'{}' was generated as '{}', and was moved", new.display(), old.display());
        assert!(error.starts_with(&expected), "{error}");
        // Another directory where it was.
        fs::create_dir(&old).expect("a directory");
        assert!(reply::read(&new).is_err());
        // A link to where it is now.
        fs::remove_dir(&old).expect("no directory");
        std::os::unix::fs::symlink(&new, &old).expect("a link");
        assert!(reply::read(&new).is_ok());
    }
}

#[test]
fn a_copy_is_not_the_one_that_was_generated() {
    let build = generated("4");
    let copy = build.space.copy();
    assert!(reply::read(&copy.path().join("build")).is_err());
    assert!(reply::read(&build.directory()).is_ok());
}

#[test]
fn an_index_that_names_what_is_not_there_is_half_a_reply() {
    for version in VERSIONS {
        for start in ["codemodel-v2-", "cmakeFiles-v1-", "target-"] {
            let build = generated(version);
            build.space.write("src/CMakeLists.txt", format!("{EMPTY}add_custom_target(one)\n"));
            build.generate(&[]);
            let gone = file(&build, start);
            build.space.remove(&gone);
            let error = build.error();
            let shown = build.directory().display().to_string();
            assert!(
                error.starts_with(&format!("reading '{}/{gone}': No such", build.space.path().display()))
            );
            assert!(error.ends_with(&format!(
                "CMake is writing its reply this moment, or was interrupted: run `cmake {shown}`"
            )));
        }
    }
}

#[test]
fn a_file_that_is_cut_short_is_named() {
    let build = generated("3.25");
    for start in ["index-", "codemodel-v2-", "cmakeFiles-v1-"] {
        let cut = file(&build, start);
        let content = build.space.read(&cut);
        for length in [0, 1, content.len() / 2, content.len() - 3] {
            build.space.write(&cut, &content[..length]);
            let error = build.error();
            assert!(error.contains(&cut) && error.contains("CMake is writing"), "{error}");
        }
        build.space.write(&cut, &content);
        build.read();
    }
}

#[test]
fn an_older_index_that_was_not_removed_does_not_count() {
    let build = generated("3.25");
    let index = file(&build, "index-");
    build.space.write("build/.cmake/api/v1/reply/index-2001-01-01T00-00-00-0000.json", "{");
    build.space.write("build/.cmake/api/v1/reply/index-2001-01-01T00-00-00-0000.txt", "{");
    build.read();
    build
        .space
        .write("build/.cmake/api/v1/reply/index-2999-01-01T00-00-00-0000.json", build.space.read(&index));
    build.read();
}

#[test]
fn a_reply_from_before_an_interrupted_generate_does_not_count() {
    for version in VERSIONS {
        let build = generated(version);
        let index = build.space.mtime(&file(&build, "index-")).expect("an index");
        let list = build.directory().join("CMakeFiles/TargetDirectories.txt");
        set_mtime(&list, index);
        build.read();
        set_mtime(&list, index + 1);
        let shown = build.directory().display().to_string();
        assert_eq!(
            build.error(),
            format!(
                "CMake has begun to generate '{shown}' after it last replied what is in it: it is running, or was \
                 interrupted: run `cmake {shown}`"
            )
        );
    }
}

#[test]
fn a_generator_that_nobody_here_can_read_is_named() {
    let build = generated("4");
    let index = file(&build, "index-");
    let text = String::from_utf8(build.space.read(&index)).expect("text");
    build.space.write(&index, text.replace("Unix Makefiles", "Xcode"));
    let error = build.error();
    assert!(error.contains("was made for the generator 'Xcode': only those of Ninja,"), "{error}");
}

#[test]
fn advice_can_be_pasted_into_a_shell() {
    let space = Space::new();
    space.write("it's here/CMakeCache.txt", "");
    let error = reply::read(&space.path().join("it's here")).expect_err("an error").to_string();
    assert!(error.contains(&format!("`cmake '{}/it'\\''s here'`", space.path().display())), "{error}");
}

#[test]
fn a_reply_never_leads_out_of_its_folder() {
    let build = generated("4");
    let index = file(&build, "index-");
    let text = String::from_utf8(build.space.read(&index)).expect("text");
    build.space.write(&index, text.replace("codemodel-v2-", "../../../../x-"));
    assert!(build.error().contains("is no name of a file"), "{}", build.error());
}
