//! A driver who tells of all that changed, in whatever words; and what is asked for each time, whatever he tells.

use crate::{ANY_AGE, World, link};
use std::fs;
use std::time::Duration;
use upcheck_watch::told::{Basis, News, Options, Said};

const WANTED: [&str; 7] =
    ["src/a", "src/b", "src/deep/er/a", "out/a", "out/missing", "nowhere/at/all", "../beside/a"];

/// All of them are there, but for two.
fn world() -> World {
    let mut world = World::new(&WANTED);
    for path in WANTED.iter().filter(|path| !path.contains("missing") && !path.contains("nowhere")) {
        world.write(path, "1");
    }
    assert_eq!(world.settle(), 0);
    world
}

#[test]
fn what_nobody_tells_of_is_not_asked_for_and_what_is_told_is() {
    let mut world = world();
    assert_eq!(world.after(&[]), 0);
    world.write("src/a", "22");
    assert_eq!(world.after(&["src/a"]), 1);
    assert_eq!(world.after(&[]), 0);
    // What is told may not have changed.
    assert_eq!(world.after(&["src/a", "src/b", "never/heard/of", "out"]), 4);
}

#[test]
fn a_path_may_be_written_in_any_way() {
    let mut world = world();
    let base = world.base.to_str().expect("a text").to_owned();
    for told in [
        "src/a".to_owned(),
        "./src//a/".to_owned(),
        "SRC/A".to_owned(),
        format!("{base}/src/a"),
        format!("{base}/./src/a"),
        "../base/src/a".to_owned(),
    ] {
        world.write("src/a", &told);
        assert_eq!(world.after(&[&told]), 1, "{told}");
    }
    let beside = format!("{}/beside/a", world.base.parent().expect("a directory").display());
    for told in ["../beside/a", &beside] {
        world.write("../beside/a", told);
        assert_eq!(world.after(&[told]), 1, "{told}");
    }
}

#[test]
fn a_path_that_goes_up_out_of_what_may_be_a_link_means_everything() {
    let mut world = world();
    world.write("src/a", "22");
    world.tell(&["out/../src/a"]);
    assert_eq!(world.look(), 7);
    assert_eq!(world.told.basis(), Basis::Everything);
}

#[test]
fn a_directory_means_all_beneath_it() {
    let mut world = world();
    for (told, n_beneath) in [
        ("src/deep/er", 1),
        ("src/deep", 1),
        ("src", 3),
        ("out", 2),
        (".", 6),
        ("", 6),
        ("..", 7),
        ("../beside", 1),
        ("nowhere", 1),
        ("sr", 0),
        ("src/de", 0),
    ] {
        assert_eq!(world.after(&[told]), n_beneath, "{told}");
    }
}

#[test]
fn directories_that_are_renamed_and_replaced_are_looked_at_anew() {
    let mut world = world();
    fs::rename(world.full("src/deep"), world.full("gone")).expect("a renaming");
    assert_eq!(world.after(&["src/deep", "gone"]), 1);
    world.write("gone/er/a", "other");
    fs::rename(world.full("gone"), world.full("src/deep")).expect("a renaming");
    assert_eq!(world.after(&["src/deep", "gone"]), 1);
    world.write("other/a", "2");
    fs::remove_dir_all(world.full("src")).expect("a removal");
    fs::rename(world.full("other"), world.full("src")).expect("a renaming");
    assert_eq!(world.after(&["src", "other"]), 3);
    assert_eq!(world.after(&[]), 0);
}

#[test]
fn what_was_missing_and_appears_is_seen() {
    let mut world = world();
    world.write("out/missing", "1");
    assert_eq!(world.after(&["out/missing"]), 1);
    world.write("nowhere/at/all", "1");
    assert_eq!(world.after(&["nowhere"]), 1);
    fs::remove_dir_all(world.full("nowhere")).expect("a removal");
    assert_eq!(world.after(&["nowhere"]), 1);
    // Each level by itself.
    fs::create_dir(world.full("nowhere")).expect("a directory");
    assert_eq!(world.after(&["nowhere"]), 1);
    fs::create_dir(world.full("nowhere/at")).expect("a directory");
    assert_eq!(world.after(&["nowhere/at"]), 1);
    world.write("nowhere/at/all", "1");
    assert_eq!(world.after(&["nowhere/at/all"]), 1);
    assert_eq!(world.after(&[]), 0);
}

#[test]
fn links_are_asked_for_each_time_and_so_is_what_lies_behind_them() {
    let mut world = World::new(&["file", "directory/a", "plain"]);
    world.write("real/a", "1");
    world.write("plain", "1");
    link("real/a", world.full("file"));
    link("real", world.full("directory"));
    assert_eq!(world.settle(), 2);
    // Told by the name that it really has.
    world.write("real/a", "22");
    assert_eq!(world.after(&["real/a"]), 2);
    // A directory that becomes a link, and a link that becomes a directory.
    fs::remove_file(world.full("directory")).expect("a removal");
    fs::rename(world.full("real"), world.full("directory")).expect("a renaming");
    world.after(&["directory", "real"]);
    world.after(&[]);
    assert_eq!(world.after(&[]), 1);
    fs::rename(world.full("directory"), world.full("real")).expect("a renaming");
    link("real", world.full("directory"));
    world.after(&["directory", "real"]);
    world.write("real/a", "333");
    assert_eq!(world.after(&["real/a"]), 2);
}

#[test]
fn files_with_several_names_and_directories_are_asked_for_each_time() {
    let mut world = World::new(&["one", "directory", "plain"]);
    for path in ["one", "directory/x", "plain"] {
        world.write(path, "1");
    }
    fs::hard_link(world.full("one"), world.full("two")).expect("a link");
    assert_eq!(world.settle(), 2);
    world.write("two", "22");
    world.write("directory/y", "1");
    assert_eq!(world.after(&["two", "directory/y"]), 2);
}

#[test]
fn names_beyond_ascii_are_asked_for_each_time() {
    let mut world = World::new(&["plain", "ü", "é/a", "d/ñ"]);
    for path in ["plain", "ü", "é/a", "d/ñ"] {
        world.write(path, "1");
    }
    assert_eq!(world.settle(), 3);
    world.write("é/a", "22");
    assert_eq!(world.after(&["É/A"]), 4);
}

#[test]
fn what_changed_a_moment_ago_is_asked_for() {
    let wanted = ["a", "b", "missing"];
    let mut world = World::with(&wanted, Options { young: Duration::from_secs(3600), ..ANY_AGE });
    world.write("a", "1");
    world.write("b", "1");
    // What is not there is not young.
    assert_eq!(world.settle(), 2);
}

#[test]
fn news_that_do_not_go_on_from_the_last_ones_mean_everything() {
    let mut world = world();
    let news = |since: Option<&'static [u8]>, now: &'static [u8], paths: &'static [&'static [u8]]| News {
        since,
        now,
        changed: Said::Paths(paths),
    };
    for (since, basis) in [
        (Some(&b"another"[..]), Basis::Gap),
        (None, Basis::Gap),
        (Some(&b""[..]), Basis::Gap),
        (Some(&b"token"[..]), Basis::Told),
        (Some(&b"token"[..]), Basis::Told),
    ] {
        world.write("src/a", &format!("{since:?}"));
        world.told.tell(&news(since, b"token", &[b"src/a"]));
        assert_eq!(world.look(), if basis == Basis::Told { 1 } else { 7 });
        assert_eq!(world.told.basis(), basis);
    }
    // Nothing is said of what happened between two of several.
    world.told.tell(&news(Some(b"token"), b"2", &[b"src/a"]));
    world.told.tell(&news(Some(b"token"), b"3", &[b"src/b"]));
    world.told.tell(&news(Some(b"3"), b"4", &[b"src/b"]));
    assert_eq!(world.look(), 7);
    assert_eq!(world.told.basis(), Basis::Gap);
}

#[test]
fn several_news_before_a_question_add_up() {
    let mut world = world();
    world.write("src/a", "22");
    world.tell(&["src/a"]);
    world.write("out/a", "22");
    assert_eq!(world.after(&["out/a"]), 2);
}

#[test]
fn a_question_without_news_is_the_disks_and_the_next_one_need_not_be() {
    let mut world = world();
    world.write("src/a", "22");
    assert_eq!(world.look(), 7);
    assert_eq!(world.told.basis(), Basis::Silence);
    assert_eq!(world.after(&["src/a"]), 1);
}

#[test]
fn the_first_news_are_told_to_nobody() {
    let mut world = World::new(&["a"]);
    world.write("a", "1");
    assert_eq!(world.told.basis(), Basis::Nothing);
    world.tell(&[]);
    assert_eq!(world.look(), 1);
    assert_eq!(world.told.basis(), Basis::First);
    assert_eq!(world.after(&[]), 0);
}

#[test]
fn another_directory_in_the_bases_place_is_another_question() {
    let mut world = world();
    let away = world.base.with_file_name("away");
    fs::rename(&world.base, &away).expect("a renaming");
    world.write("src/a", "other");
    world.tell(&[]);
    assert_eq!(world.look(), 7);
    assert_eq!(world.told.basis(), Basis::Moved);
    world.after(&[]);
    assert_eq!(world.after(&[]), 0);
}

#[test]
fn a_base_that_lies_behind_a_link_by_now_is_asked_for_each_time() {
    let mut world = world();
    let away = world.base.with_file_name("away");
    fs::rename(&world.base, &away).expect("a renaming");
    link("away", world.base.clone());
    for content in ["22", "333"] {
        // By its real name.
        fs::write(away.join("src/a"), content).expect("a file");
        world.tell(&[away.join("src/a").to_str().expect("a text")]);
        assert_eq!(world.look(), 7);
        assert_eq!(world.told.basis(), Basis::Moved);
    }
}

#[test]
fn a_disk_of_another_directory_does_not_use_what_is_remembered() {
    use upcheck::Plan;
    use upcheck::collect::{UnixDisk, collect};
    let mut world = world();
    world.write("../else/src/a", "other");
    let other = UnixDisk::new(&world.base.with_file_name("else")).expect("a directory");
    world.tell(&[]);
    let plan = Plan::new(&world.files, world.files.ids());
    let seen = collect(&world.told.question(&other, 1), &plan, 1);
    assert_eq!(world.told.basis(), Basis::Moved);
    let plain = collect(&other, &plan, 1);
    assert!(world.files.ids().all(|file| seen.stat(file) == plain.stat(file)));
}
