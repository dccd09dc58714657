//! `upcheck run --keep-times`: which outputs get the time back that they had.

use crate::{CAT, fresh, run, sources, stale, text};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use upcheck_tests::space::Space;

const TARGET: &str = "--keep-times -i src/*.ts -o out";
const ASKED: &str = "-i src/*.ts -o out";
/// 2023-11-14: no file gets that time by itself.
const T: i64 = 1_700_000_000_000_000_000;

/// The sources, and `out` made of them at [`T`], as the record has it.
fn made() -> Space {
    let space = sources();
    run(&space, TARGET, CAT).well();
    space.set_mtime("out", T);
    // The output came out as it was, so it is recorded with its time.
    run(&space, &format!("--always {TARGET}"), CAT).well();
    fresh(&space, ASKED);
    space
}

#[test]
fn an_output_that_comes_out_as_it_was_has_its_old_time_on_record() {
    let space = made();
    assert_eq!(space.mtime("out"), Some(T));
    // Made from other sources, which come to the same.
    space.write("src/a.ts", "");
    space.write("src/b.ts", "a\nb\n");
    run(&space, TARGET, CAT).well();
    assert_eq!((space.mtime("out"), text(&space, "log").lines().count()), (Some(T), 3));
    fresh(&space, ASKED);
    // Also where it is written anew under another inode.
    space.write("src/c.ts", "");
    run(&space, TARGET, "cat src/*.ts > new; mv new out").well();
    assert_eq!(space.mtime("out"), Some(T));
    fresh(&space, ASKED);
}

#[test]
fn without_the_option_every_output_has_a_new_time() {
    let space = made();
    run(&space, &format!("--always {ASKED}"), CAT).well();
    assert!(space.mtime("out") > Some(T));
}

#[test]
fn an_output_with_other_content_has_a_new_time() {
    let space = made();
    // Of the same size.
    space.write("src/a.ts", "A\n");
    run(&space, TARGET, CAT).well();
    assert!(space.mtime("out") > Some(T));
    fresh(&space, ASKED);
}

#[test]
fn an_output_with_another_mode_has_a_new_time() {
    let space = made();
    run(&space, TARGET, &format!("{CAT}; chmod 755 out")).well();
    assert!(space.mtime("out") > Some(T));
    fresh(&space, ASKED);
}

#[test]
fn of_several_outputs_those_that_are_as_they_were_keep_their_times() {
    let space = sources();
    let target = "--keep-times -i src/a.ts -o one -o two";
    run(&space, target, "cat src/a.ts > one; echo two > two").well();
    space.set_mtime("one", T);
    space.set_mtime("two", T);
    space.write("src/a.ts", "new\n");
    run(&space, target, "cat src/a.ts > one; echo two > two").well();
    assert!(space.mtime("one") > Some(T));
    assert_eq!(space.mtime("two"), Some(T));
    fresh(&space, "-i src/a.ts -o one -o two");
}

#[test]
fn what_a_failed_command_leaves_has_a_new_time() {
    let space = made();
    space.write("src/a.ts", "A\n");
    // Half of it, and all of what was there.
    assert_eq!(run(&space, TARGET, "head -c 1 out > half; cat half > out; exit 1").status, 1);
    assert!(space.mtime("out") > Some(T));
    space.set_mtime("out", T);
    assert_eq!(run(&space, TARGET, "cat out > all; cat all > out; kill -9 $$").status, 137);
    assert!(space.mtime("out") > Some(T));
    assert_eq!(stale(&space, ASKED).split(' ').nth(1), Some("interrupted"));
    // What succeeds then is compared with that half.
    space.set_mtime("out", T);
    space.write("src/a.ts", "a\n");
    run(&space, TARGET, CAT).well();
    assert!(space.mtime("out") > Some(T));
    assert_eq!(text(&space, "out"), "a\nb\n");
}

#[test]
fn a_deleted_output_has_a_new_time() {
    let space = made();
    space.remove("out");
    run(&space, TARGET, CAT).well();
    assert!(space.mtime("out") > Some(T));
    fresh(&space, ASKED);
}

#[test]
fn the_time_of_a_file_with_another_name_is_left_alone() {
    let space = Space::new();
    let target = "--keep-times -i in -o out";
    space.write_at("in", "in\n", T + 1);
    run(&space, target, "cp in out").well();
    space.set_mtime("out", T);
    // An input under the output's name: by hard link, and by symbolic link.
    run(&space, target, "ln -f in out").well();
    assert_eq!(space.mtime("in"), Some(T + 1));
    space.remove("out");
    space.write_at("out", "in\n", T);
    run(&space, target, "ln -sf in out").well();
    assert_eq!(space.mtime("in"), Some(T + 1));
    space.remove("out");
    symlink("other", space.path().join("out")).expect("a link");
    space.write_at("other", "in\n", T);
    run(&space, &format!("--always {target}"), "ln -sf in out").well();
    assert_eq!((space.mtime("in"), space.mtime("other")), (Some(T + 1), Some(T)));
}

#[test]
fn outputs_that_are_no_files_or_cannot_be_read_are_no_trouble() {
    let space = sources();
    let target = "--keep-times -i src/a.ts -o dir -o closed";
    for _ in 0..2 {
        let script = "mkdir -p dir; rm -f closed; echo x > closed; chmod 0 closed";
        run(&space, &format!("--always {target}"), script).well();
    }
    fs::set_permissions(space.path().join("closed"), fs::Permissions::from_mode(0o600)).expect("permissions");
}

#[test]
fn a_graph_has_no_times_to_keep() {
    let space = crate::graph();
    let trouble = run(&space, "--keep-times --from graph", "true").trouble();
    assert_eq!(trouble, "upcheck: error: --keep-times is for a target that options describe (-i, -o)\n");
}
