//! A driver who does not tell of everything: it is found out, and then he is not believed any more.

use crate::World;
use std::fs;
use upcheck_watch::told::{Basis, Said};

/// So many files in some directories, all of them remembered.
fn world(n_directories: usize, n_files: usize) -> World {
    let names: Vec<String> = (0..n_files).map(|n| format!("d{}/f{n}", n % n_directories)).collect();
    let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut world = World::new(&wanted);
    wanted.iter().for_each(|path| world.write(path, "1"));
    assert_eq!(world.settle(), 0);
    world
}

/// How many questions are answered until it is found out that something was not told of; that one is right again.
#[track_caller]
fn found_after(world: &mut World, most: usize) -> usize {
    for n in 0..=most {
        world.tell(&[]);
        let (snapshot, counts) = world.ask();
        if counts.wrong > 0 {
            assert_eq!(world.told.basis(), Basis::Wrong);
            assert_eq!(world.differences(&snapshot), [""; 0]);
            return n;
        }
        assert_eq!(world.told.basis(), Basis::Told);
    }
    panic!("not found out after {most} questions");
}

#[test]
fn what_was_written_in_place_without_a_word_is_found_in_the_end() {
    // 8 of 200 files in turn: after 25 questions each was looked at.
    for which in [0, 1, 57, 100, 198, 199] {
        let mut world = world(7, 200);
        world.write(&format!("d{}/f{which}", which % 7), "22");
        let n = found_after(&mut world, 25);
        let path = String::from_utf8_lossy(world.told.wrong()).into_owned();
        assert_eq!(path, format!("d{}/f{which}", which % 7), "after {n}");
    }
}

#[test]
fn what_is_wrong_often_is_found_soon() {
    let mut world = world(10, 1_000);
    // Half of them: chance alone overlooks that in one of 2^8 questions, so in none of eight in a row.
    for n in (0..1_000).step_by(2) {
        world.write(&format!("d{}/f{n}", n % 10), "22");
    }
    found_after(&mut world, 7);
}

#[test]
fn what_comes_goes_or_is_replaced_without_a_word_is_found_at_once() {
    type Change = fn(&World);
    let changes: [(&str, Change); 6] = [
        ("removed", |world| fs::remove_file(world.full("d1/f1")).expect("a removal")),
        ("replaced", |world| {
            world.write("new", "22");
            fs::rename(world.full("new"), world.full("d1/f1")).expect("a renaming");
        }),
        ("directory removed", |world| fs::remove_dir_all(world.full("d1")).expect("a removal")),
        ("directory replaced", |world| {
            fs::rename(world.full("d1"), world.full("away")).expect("a renaming");
            world.write("d1/f1", "22");
        }),
        ("directory exchanged for a link", |world| {
            world.write("away/f1", "22");
            fs::remove_dir_all(world.full("d1")).expect("a removal");
            crate::link("away", world.full("d1"));
        }),
        ("appeared", |world| world.write("nowhere/f", "1")),
    ];
    for (what, change) in changes {
        let mut world = World::new(&["d0/f0", "d1/f1", "d1/f2", "nowhere/f"]);
        ["d0/f0", "d1/f1", "d1/f2"].iter().for_each(|path| world.write(path, "1"));
        // Nothing is left to chance.
        world.told = upcheck_watch::told::Told::new(
            world.base.as_os_str().as_encoded_bytes(),
            upcheck_watch::told::Options { spot_checks: 0, ..crate::ANY_AGE },
        );
        world.token = 0;
        world.settle();
        change(&world);
        assert_eq!(found_after(&mut world, 0), 0, "{what}");
    }
}

#[test]
fn a_directory_with_other_names_in_it_is_looked_at_and_nobody_blamed() {
    let mut world = world(3, 30);
    world.write("d1/nobody-wants-it", "1");
    world.tell(&[]);
    let (_, counts) = world.ask();
    // Ten names of that directory, and those that are looked at anyway.
    assert!((18..=26).contains(&counts.checked) && counts.of_disk == 0, "{counts:?}");
    assert_eq!(world.after(&[]), 0);
}

#[test]
fn who_was_wrong_is_not_believed_until_he_begins_anew() {
    let mut world = world(1, 8);
    world.write("d0/f3", "22");
    found_after(&mut world, 0);
    assert!(!world.told.is_believed());
    for _ in 0..3 {
        world.tell(&[]);
        assert_eq!(world.look(), 8);
        assert_eq!(world.told.basis(), Basis::Wrong);
    }
    world.say(Said::Everything);
    assert!(world.told.is_believed());
    assert_eq!(world.look(), 8);
    assert_eq!(world.told.basis(), Basis::Everything);
    assert_eq!(world.after(&[]), 0);
    assert_eq!(world.told.counts().wrong, 1);
}

#[test]
fn spot_checks_are_as_many_as_was_said() {
    let mut world = world(5, 100);
    for _ in 0..10 {
        world.tell(&[]);
        let (_, counts) = world.ask();
        assert!((8..=16).contains(&counts.checked) && counts.directories == 5, "{counts:?}");
    }
    // Of few files all.
    let mut world = self::world(1, 5);
    world.tell(&[]);
    assert!(world.ask().1.checked >= 5);
}
