//! Whose images are believed, and that nobody is shown them.

use crate::command::spaces::program;
use crate::command::upcheck_in;
use crate::folder::{asked, command, entries, ran};
use crate::places::kept;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("a file").mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("permissions");
}

fn files(space: &Space) -> Vec<std::path::PathBuf> {
    entries(&space.images()).keys().map(|name| space.images().join(name)).collect()
}

#[test]
fn the_folder_and_its_files_are_the_users_alone() {
    let space = program();
    let deep = space.images().join("made/with/all/above");
    let mut upcheck = upcheck_in(space.path());
    upcheck.arg("--image-dir").arg(&deep);
    assert_eq!(ran(upcheck).answer(0), "fresh: nothing to do for 4 targets\n");
    for folder in [&deep, deep.parent().expect("a folder"), &space.images()] {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
    let names: Vec<_> = entries(&deep).into_keys().collect();
    assert_eq!(names.len(), 2, "{names:?}");
    for name in names {
        assert_eq!(mode(&deep.join(&name)), 0o600, "{name}");
    }
}

/// An image that would lie, if it were believed: everything was fresh.
fn lying() -> Space {
    let space = kept();
    space.set_mtime("config.h", 1_800_000_000_000_000_000);
    space
}

#[test]
fn a_folder_that_others_can_write_to_is_neither_read_nor_written() {
    for permissions in [0o777, 0o770, 0o702, 0o720] {
        let space = lying();
        set_mode(&space.images(), permissions);
        let before = entries(&space.images());
        let found = ran(command(&space, "--format json"));
        assert_eq!(found.status, 1);
        assert!(found.stdout.contains("\"image\":\"failed\""), "{}", found.stdout);
        assert!(found.stderr.contains("keeping an image in"), "{}", found.stderr);
        assert_eq!(entries(&space.images()), before);
    }
}

#[test]
fn files_that_others_can_write_to_are_not_read() {
    for permissions in [0o666, 0o660, 0o602] {
        let space = kept();
        for file in files(&space) {
            set_mode(&file, permissions);
        }
        assert_eq!(asked(&space, ""), (0, "made".into()));
        assert!(files(&space).iter().all(|file| mode(file) == 0o600));
    }
}

#[test]
fn what_belongs_to_somebody_else_is_not_used() {
    let space = lying();
    if chown(space.images(), Some(12345), None).is_err() {
        not_tested("folders of somebody else; only root can give them away");
        return;
    }
    let before = entries(&space.images());
    let found = ran(command(&space, "--format json"));
    assert!(found.status == 1 && found.stdout.contains("\"image\":\"failed\""), "{found:?}");
    assert_eq!(entries(&space.images()), before);

    let space = kept();
    for file in files(&space) {
        chown(&file, Some(12345), None).expect("a file given away");
    }
    assert_eq!(asked(&space, ""), (0, "made".into()));
    let owner = |path: &Path| fs::metadata(path).expect("a file").uid();
    assert!(files(&space).iter().all(|file| owner(file) == owner(space.path())));
}

#[test]
fn a_link_in_the_place_of_an_image_is_not_followed() {
    let space = kept();
    let elsewhere = Space::new();
    for (number, file) in files(&space).iter().enumerate() {
        let target = elsewhere.path().join(number.to_string());
        fs::rename(file, &target).expect("moved");
        symlink(&target, file).expect("a link");
    }
    let before = elsewhere.entries();
    assert_eq!(asked(&space, ""), (0, "made".into()));
    assert!(files(&space).iter().all(|file| !file.is_symlink()), "the links are replaced");
    assert!(elsewhere.entries() == before, "what they led to is as it was");

    // Nor is one in the place of the folder.
    let real = elsewhere.path().join("images");
    fs::rename(space.images(), &real).expect("moved");
    symlink(&real, space.images()).expect("a link");
    space.set_mtime("config.h", 1_800_000_000_000_000_000);
    let before = entries(&real);
    assert_eq!(ran(command(&space, "-q")).status, 1);
    assert_eq!(entries(&real), before);
}

#[test]
fn odd_things_in_the_place_of_an_image() {
    let space = kept();
    for file in files(&space) {
        fs::remove_file(&file).expect("removed");
        let made = std::process::Command::new("mkfifo").arg(&file).status().expect("mkfifo starts");
        assert!(made.success());
    }
    assert_eq!(asked(&space, ""), (0, "made".into()));
    for file in files(&space) {
        fs::remove_file(&file).expect("removed");
        fs::create_dir(&file).expect("a directory");
    }
    let found = ran(command(&space, "--format json"));
    assert!(found.status == 0 && found.stdout.contains("\"image\":\"failed\""), "{found:?}");
}
