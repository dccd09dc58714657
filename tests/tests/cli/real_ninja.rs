//! A build directory that the real ninja has made.

use crate::command::run;
use crate::command::spaces::{SECOND, T, manifest};
use upcheck_tests::answer::{Question, build};
use upcheck_tests::tools::Ninja;

#[test]
fn after_a_real_build_everything_is_fresh_and_every_kind_of_edit_has_its_reason() {
    let space = manifest(
        "rule cat\n  command = cat $in > $out\nbuild b: cat a\nbuild c: cat b x\nbuild all: phony c\ndefault all\n",
    );
    space.write_at("a", "a", T);
    space.write_at("x", "x", T);
    build(&space, Ninja::V1_13, &Question::default());
    assert_eq!(run(&space, "").answer(0), "fresh: nothing to do for 2 targets\n");

    let built = space.mtime("c").expect("built");
    space.set_mtime("x", built + 3_600 * SECOND);
    assert!(run(&space, "").answer(1).contains("x is newer than c by 60 min ("));
    space.set_mtime("x", T);
    let b = space.mtime("b").expect("built");
    space.remove("b");
    assert!(run(&space, "").answer(1).contains("b does not exist\n"));
    space.set_mtime("b", b);
    let text = String::from_utf8(space.read("build.ninja")).expect("text");
    space.write("build.ninja", text.replace("cat $in", "cat -u $in"));
    assert!(run(&space, "").answer(1).contains("the command of b changed (hash "));
    space.write("build.ninja", text);
    assert_eq!(run(&space, "").status, 0);
    space.remove(".ninja_log");
    assert!(run(&space, "").answer(1).contains("no build of b is on record\n"));
}
