//! Many stale targets.

use crate::command::run;
use crate::command::spaces::{SECOND, T, many};
use crate::{json, many_lines};
use upcheck_tests::space::Space;

#[test]
fn many_stale_targets_are_told_by_their_causes_the_biggest_first() {
    let space = many(1_200);
    assert_eq!(
        run(&space, "").answer(1),
        "1,201 of 1,202 targets are stale\n\n\
         1,201 targets are stale because include/config.h is newer than what was made from it \
         (changed 2023-11-14 22:13:22)\n\n\
         --explain lists every target; `upcheck why TARGET` shows how it came to that\n"
    );

    space.set_mtime("src/7.c", T + 3 * SECOND);
    space.remove("src/9.c");
    for object in ["out/1.o", "out/2.o", "out/3.o"] {
        space.remove(object);
    }
    let manifest = String::from_utf8(space.read("build.ninja")).expect("text");
    space.write("build.ninja", manifest.replace("ar $out", "ar -D $out"));
    assert_eq!(
        run(&space, "").answer(1),
        "1,201 of 1,202 targets are stale\n\n\
         1,198 targets are stale because include/config.h is newer than what was made from it \
         (changed 2023-11-14 22:13:22)\n\
         4 targets are stale because 3 outputs are missing (out/1.o, ...)\n\
         2 targets are stale because src/7.c is newer than what was made from it (changed 2023-11-14 22:13:23)\n\
         2 targets are stale because src/9.c is missing\n\
         1 target is stale because the command of all.a changed\n\n\
         --explain lists every target; `upcheck why TARGET` shows how it came to that\n"
    );
    let report = json(&run(&space, "--format json").answer(1));
    let causes: Vec<_> = report["root_causes"].as_array().expect("a list").iter().collect();
    assert_eq!(causes[0]["path"], "include/config.h");
    assert_eq!(causes[0]["code"], "input-newer");
    assert_eq!(causes[0]["targets"], 1_198);
    assert_eq!(causes.len(), 7);
    assert_eq!(report["summary"]["root_causes"], 7);
}

#[test]
fn more_causes_than_fit_are_counted() {
    let space = many(40);
    space.set_mtime("include/config.h", T);
    for number in 0..25 {
        space.set_mtime(&format!("src/{number}.c"), T + 5 * SECOND);
    }
    let text = run(&space, "").answer(1);
    assert_eq!(many_lines(&text, "2 targets are stale because src/"), 9, "{text}");
    // The first source is a cause for the fresh target, too.
    assert_eq!(many_lines(&text, "3 targets are stale because src/0.c is newer"), 1, "{text}");
    assert_eq!(many_lines(&text, "... and 15 more causes"), 1, "{text}");
    space.set_mtime("src/0.c", T);
    for number in 11..25 {
        space.set_mtime(&format!("src/{number}.c"), T);
    }
    let text = run(&space, "").answer(1);
    assert!(!text.contains("more cause"), "{text}");
    space.set_mtime("src/11.c", T + 5 * SECOND);
    let text = run(&space, "").answer(1);
    assert_eq!(many_lines(&text, "... and 1 more cause"), 1, "{text}");
    assert!(!text.contains("more causes"), "{text}");
}

#[test]
fn a_build_that_never_ran_has_one_cause() {
    let space = many(1_200);
    let copy = Space::new();
    copy.write("build.ninja", space.read("build.ninja"));
    for number in 0..1_200 {
        copy.write_at(&format!("src/{number}.c"), "", T);
    }
    copy.write_at("include/config.h", "", T);
    let text = run(&copy, "").answer(1);
    assert!(
        text.starts_with(
            "1,202 of 1,202 targets are stale\n\n1,202 targets are stale because 1,202 outputs are missing ("
        ),
        "{text}"
    );
    assert!(text.lines().count() < 10, "{text}");
}
