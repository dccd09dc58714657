//! Globs on real directories.

use super::*;
use std::fs;

/// As CMake writes it: with slashes on Windows, too.
fn full(directory: &Path, name: &str) -> Vec<u8> {
    let mut path = directory.join(name).into_os_string().into_encoded_bytes();
    path.iter_mut().filter(|byte| cfg!(windows) && **byte == b'\\').for_each(|byte| *byte = b'/');
    path
}

fn glob(directory: &Path, expression: &str) -> Glob {
    let expression = full(directory, expression);
    Glob { expression, ..Glob::default() }
}

#[test]
fn differences_are_absolute_and_stand_once() {
    let space = tempfile::tempdir().expect("a directory");
    let here = space.path();
    fs::create_dir(here.join("d")).expect("a directory");
    fs::write(here.join("d/new.c"), "").expect("a file");
    let path = |name: &str| full(here, name);
    let relative =
        Glob { relative: Some(path("d")), paths: vec![b"../d/x/../gone.c".to_vec()], ..glob(here, "d/*.c") };
    let plain = Glob { paths: vec![path("d/gone.c")], ..glob(here, "d//*.c") };
    let found = differences(&[relative, plain]).expect("directories");
    assert_eq!(found, Difference { added: vec![path("d/new.c")], removed: vec![path("d/gone.c")] });
}

#[test]
fn a_directory_that_is_not_there_has_nothing_in_it() {
    let space = tempfile::tempdir().expect("a directory");
    fs::write(space.path().join("file"), "").expect("a file");
    let globs = ["gone/*", "file/*", "*/x", "gone/", "/"].map(|text| glob(space.path(), text));
    assert!(differences(&globs).expect("directories").is_empty());
}

// Windows has no permissions to take away as simply, and no paths of that length that it would call too long.
#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_listed_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let space = tempfile::tempdir().expect("a directory");
    let closed = space.path().join("closed");
    fs::create_dir(&closed).expect("a directory");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("permissions");
    let found = differences(&[glob(space.path(), "*/*.c")]);
    // Some users may list everything.
    let is_listed = fs::read_dir(&closed).is_ok();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).expect("permissions");
    if !is_listed {
        let error = found.expect_err("an error").to_string();
        assert_eq!(error, format!("opening '{}/': Permission denied", closed.display()));
    }
    // Nobody can open a path that is too long.
    let long = "x/".repeat(4000);
    let error = differences(&[glob(space.path(), &format!("{long}*.c"))]).expect_err("an error").to_string();
    // Each C library has its own words for it.
    let words = fs::metadata(space.path().join(&long)).expect_err("too long").to_string();
    let words = words.split(" (os error").next().expect("words");
    assert!(error.starts_with("opening '") && error.ends_with(words), "{error}");
}

#[test]
fn deep_trees_are_walked_without_a_deep_stack() {
    let space = tempfile::tempdir().expect("a directory");
    let deep = space.path().join("d/".repeat(1500));
    fs::create_dir_all(&deep).expect("directories");
    let all = Glob { recurse: true, list_directories: true, ..glob(space.path(), "*") };
    assert_eq!(evaluate(&[all]).expect("directories")[0].len(), 1500);
}
