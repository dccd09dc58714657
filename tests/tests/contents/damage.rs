//! Damaged records never make anything fresh.

use super::Built;
use super::command::run;
use std::fs;

#[test]
fn a_wrong_byte_anywhere_is_an_error_or_makes_no_difference() {
    let mut built = Built::new();
    built.record();
    built.edit("b.c", "B\n");
    let path = built.space.path().join(".upcheck/contents");
    let whole = fs::read(&path).expect("it was written");
    let mut n_errors = 0;
    for at in (0..whole.len()).step_by(29) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(&path, &damaged).expect("it can be");
        let ran = run(&built.space, "--content --format names");
        match ran.status {
            2 => n_errors += 1,
            // Between tables there are bytes that mean nothing.
            _ => assert_eq!(ran.answer(1), "b.o\nb\n", "byte {at}"),
        }
    }
    assert!(n_errors > whole.len() / 29 / 2, "{n_errors} of {}", whole.len() / 29);
}

#[test]
fn a_record_that_is_cut_off_is_an_error_and_stays_as_it_is() {
    let built = Built::new();
    built.record();
    let path = built.space.path().join(".upcheck/contents");
    let whole = fs::read(&path).expect("it was written");
    for length in [0, 1, 63, 64, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).expect("it can be");
        for command in ["--content", "record"] {
            let text = run(&built.space, command).trouble();
            assert!(text.contains("reading './.upcheck/contents': it is damaged"), "{length}: {text}");
        }
        assert_eq!(fs::read(&path).expect("it is there"), whole[..length]);
    }
}

#[test]
fn a_record_that_cannot_be_written_is_an_error_and_the_old_one_stays() {
    let mut built = Built::new();
    built.record();
    let path = built.space.path().join(".upcheck/contents");
    let whole = fs::read(&path).expect("it was written");
    built.edit("a.c", "A\n");
    built.ninja();
    // A folder is in the way of the file that is written first, whatever process asks.
    let text = run(&built.space, "record --records build.ninja").trouble();
    assert!(text.contains("build.ninja"), "{text}");
    assert_eq!(fs::read(&path).expect("it is there"), whole);
}
