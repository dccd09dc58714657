//! Several checks at once, checks that are killed, and build directories that are not where they were.

use crate::command::spaces::{changed_header, many, program};
use crate::command::{Ran, upcheck_in};
use crate::folder::{command, entries, ran};
use serde_json::Value;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use upcheck_tests::space::{Space, set_mtime};

const LATER: i64 = 1_800_000_000_000_000_000;
const OLD: i64 = 1_600_000_000_000_000_000;

/// Starts several checks, then waits for all.
#[track_caller]
fn at_once(n: usize, space: &Space, args: &str) -> Vec<Ran> {
    let start = |_| {
        let mut command = command(space, args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("upcheck starts")
    };
    let children: Vec<_> = (0..n).map(start).collect();
    children.into_iter().map(|child| Ran::new(child.wait_with_output().expect("upcheck ends"))).collect()
}

#[test]
fn many_checks_at_once_all_answer_right() {
    let space = many(300);
    for round in 0..12 {
        // Fresh and stale in turns; now and then everything has to be read again.
        space.set_mtime("include/config.h", if round % 2 == 0 { LATER } else { OLD });
        if round % 4 == 3 {
            let text = [&space.read("build.ninja")[..], b"\n"].concat();
            space.write("build.ninja", text);
        }
        if round % 6 == 5 {
            fs::remove_dir_all(space.images()).expect("images");
        }
        let expected = ran(command(&space, "--explain --no-image"));
        assert_eq!(expected.status, 1 - round % 2);
        for found in at_once(8, &space, "--explain") {
            assert_eq!(found, expected, "round {round}");
        }
        assert_eq!(ran(command(&space, "--explain")), expected, "round {round}, afterwards");
        assert!(entries(&space.images()).len() <= 2, "{:?}", entries(&space.images()));
    }
}

#[test]
fn checks_that_are_killed_leave_nothing_that_lies() {
    let space = many(2_000);
    let mut n_unfinished = 0;
    for round in 0..120 {
        let is_stale = round % 3 == 0;
        space.set_mtime("include/config.h", if is_stale { LATER } else { OLD });
        if round % 2 == 0 {
            // Both files have to be written.
            space.write("build.ninja", [&space.read("build.ninja")[..], b"\n"].concat());
        }
        let mut killed = command(&space, "-q").spawn().expect("upcheck starts");
        // However long that is: some are killed before they write, some after, some while they do.
        upcheck_tests::moment::spend(round * 400);
        let _ = killed.kill();
        let _ = killed.wait();
        let is_unfinished = |name: &String| name.ends_with(".unfinished");
        n_unfinished =
            n_unfinished.max(entries(&space.images()).keys().filter(|name| is_unfinished(name)).count());
        assert_eq!(ran(command(&space, "-q")).status, i32::from(is_stale), "round {round}");
        assert_eq!(ran(command(&space, "-q")).status, i32::from(is_stale), "round {round}, once more");
    }
    // They are too young to be removed, and harm nobody.
    let unfinished = entries(&space.images()).keys().filter(|name| name.ends_with(".unfinished")).count();
    assert!(unfinished >= n_unfinished, "{unfinished} of {n_unfinished}");
}

#[test]
fn what_killed_checks_left_behind_is_removed_when_it_is_old() {
    let space = program();
    fs::create_dir(space.images()).expect("a folder");
    let images = space.images();
    let file = |name: &str, age_in_hours: i64| {
        fs::write(images.join(name), "unfinished").expect("a file");
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        let now = i64::try_from(now.as_nanos()).expect("before 2262");
        set_mtime(&images.join(name), now - age_in_hours * 3_600_000_000_000);
    };
    file("0123456789abcdef.image.1.unfinished", 2);
    file("0123456789abcdef.state.1.unfinished", 2);
    file("0123456789abcdef.image.2.unfinished", 0);
    file("fedcba9876543210.image", 24 * 61);
    file("fedcba9876543210.state", 24 * 59);
    // Whatever else is there is none of its business.
    let foreign =
        ["notes.txt", "image", "state.unfinished", "0123456789abcdeg.image", "0123456789abcdef.txt"];
    foreign.iter().for_each(|name| file(name, 24 * 365));
    file("0123456789abcdef0.image", 24 * 365);
    assert_eq!(ran(command(&space, "-q")).status, 0);
    let mut left: Vec<_> = entries(&images).into_keys().collect();
    left.retain(|name| !name.starts_with(&own_name(&space)));
    let mut expected: Vec<_> = foreign.iter().map(ToString::to_string).collect();
    expected.extend(
        ["0123456789abcdef.image.2.unfinished", "0123456789abcdef0.image", "fedcba9876543210.state"]
            .map(String::from),
    );
    expected.sort();
    assert_eq!(left, expected);
}

/// What the image of a build directory is called, without its end.
fn own_name(space: &Space) -> String {
    let alone = Space::new();
    let mut upcheck = upcheck_in(space.path());
    upcheck.arg("-q").env("UPCHECK_CACHE_DIR", alone.images());
    let _ = ran(upcheck);
    let name = entries(&alone.images()).into_keys().next().expect("an image");
    name[..16].to_owned()
}

// ---- places ------------------------------------------------------------------------------------------------

/// A folder with build directories in it.
struct Place {
    space: Space,
}

impl Place {
    fn new(directories: &[(&str, Space)]) -> Self {
        let space = Space::new();
        for (name, directory) in directories {
            fs::rename(directory.path(), space.path().join(name)).expect("moved");
        }
        let place = Self { space };
        for (name, _) in directories {
            // Young files are looked into once more, when they are no longer young.
            let is_settled = |_| {
                let is_old = place.is_old(name);
                place.ask(name, "").1 == "used" && is_old
            };
            assert!((0..10_000).any(is_settled), "{name} does not settle");
        }
        place
    }

    /// The exit status and what became of the image.
    #[track_caller]
    fn ask(&self, name: &str, args: &str) -> (i32, String) {
        let without = ran(command(&self.space, &format!("-C {name} {args} --explain --no-image")));
        let json = ran(command(&self.space, &format!("-C {name} {args} --format json")));
        assert_eq!(ran(command(&self.space, &format!("-C {name} {args} --explain"))), without);
        assert_eq!(json.status, without.status);
        let document: Value = serde_json::from_str(&json.stdout).expect("JSON");
        (json.status, document["summary"]["image"].as_str().unwrap_or("trouble").to_owned())
    }

    /// Whether the logs are so old that their stamps prove something.
    fn is_old(&self, name: &str) -> bool {
        let is_old =
            |log: &str| match fs::metadata(self.path(name).join(log)).and_then(|meta| meta.modified()) {
                Ok(time) => time.elapsed().is_ok_and(|age| age.as_secs() >= 1),
                Err(_) => true,
            };
        [".ninja_log", ".ninja_deps"].into_iter().all(is_old)
    }

    fn n_files(&self) -> usize {
        entries(&self.space.images()).len()
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.space.path().join(name)
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).expect("renamed");
    }
}

#[test]
fn two_build_directories_have_an_image_each() {
    let place = Place::new(&[("fresh", program()), ("stale", changed_header())]);
    assert_eq!(place.n_files(), 4);
    for _ in 0..3 {
        assert_eq!(place.ask("fresh", "").0, 0);
        assert_eq!(place.ask("stale", "").0, 1);
    }
    assert_eq!(place.n_files(), 4);
}

#[test]
fn one_build_directory_under_two_names_has_one_image() {
    let place = Place::new(&[("build", program())]);
    #[cfg(unix)]
    symlink(place.path("build"), place.path("link")).expect("a link");
    // A case of its own makes no other name where this comes from.
    let (link, whole) = if cfg!(windows) { ("BUILD", "build") } else { ("link", "link") };
    for name in [
        "build",
        link,
        "./build/",
        "build/.",
        &format!("{link}/../build"),
        &place.path(whole).to_string_lossy(),
    ] {
        assert_ne!(place.ask(name, "").1, "made", "{name}");
        assert_eq!(place.n_files(), 2, "{name}");
    }
    set_mtime(&place.path("build/config.h"), LATER);
    assert_eq!(place.ask(link, "").0, 1);
    assert_eq!(place.ask("build", ""), (1, "used".into()));
}

#[test]
fn a_build_directory_that_is_moved_or_replaced() {
    let place = Place::new(&[("build", program()), ("other", changed_header())]);
    place.rename("build", "moved");
    assert_eq!(place.ask("moved", ""), (0, "made".into()));
    place.rename("moved", "build");
    assert_ne!(place.ask("build", "").1, "made");

    // Another tree takes its place, with the same files in it.
    place.rename("build", "away");
    place.rename("other", "build");
    assert_eq!(place.ask("build", "").0, 1);
    place.rename("build", "other");
    place.rename("away", "build");
    assert_eq!(place.ask("build", "").0, 0);

    // A link leads to the one, then to the other.
    place.rename("build", "one");
    #[cfg(unix)]
    for (target, status) in [("one", 0), ("other", 1), ("one", 0)] {
        symlink(place.path(target), place.path("build")).expect("a link");
        assert_eq!(place.ask("build", "").0, status, "{target}");
        fs::remove_file(place.path("build")).expect("no link");
    }
}

#[test]
fn a_build_directory_that_is_put_back_from_a_copy() {
    let space = program();
    let copy = space.copy();
    let place = Place::new(&[("build", space)]);
    set_mtime(&place.path("build/config.h"), LATER);
    assert_eq!(place.ask("build", "").0, 1);
    fs::remove_dir_all(place.path("build")).expect("removed");
    fs::rename(copy.path(), place.path("build")).expect("put back");
    assert_eq!(place.ask("build", "").0, 0);
}

#[test]
fn other_manifests_and_other_rules_have_images_of_their_own() {
    let space = program();
    let text = String::from_utf8(space.read("build.ninja")).expect("text");
    space.write("other.ninja", text.replace("cc -c", "cc -O -c"));
    let place = Place::new(&[("build", space)]);
    let mut n_files = place.n_files();
    for (args, status) in [("-f other.ninja", 1), ("--ninja-version 1.11", 1), ("--ninja-version 1.13", 0)] {
        assert_eq!(place.ask("build", args), (status, "made".into()), "{args}");
        let found = place.ask("build", args);
        assert!(found.0 == status && found.1 != "made", "{args}: {found:?}");
        assert_eq!(place.n_files(), n_files + 2, "{args}");
        n_files = place.n_files();
    }
    assert_eq!(place.ask("build", "").0, 0);
    // The same manifest by another name.
    assert_ne!(place.ask("build", "-f ./other.ninja").1, "made");
    assert_eq!(place.n_files(), n_files);
    assert!(Path::new(&place.path("build")).exists());
}
