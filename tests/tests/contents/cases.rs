//! One situation each.

use super::command::{run, upcheck_in};
use super::{Built, MANIFEST, OLD, SECOND};
use std::fs;

const ALL: [&str; 6] = ["a.o", "b.o", "a", "b", "copy", "build.ninja"];

#[test]
fn a_checkout_that_gives_every_source_a_new_time_makes_nothing_stale() {
    let mut built = Built::new();
    built.record();
    for path in ["a.c", "b.c", "h/all.h", "words.txt"] {
        built.touch(path);
    }
    assert_eq!(run(&built.space, "--format names").answer(1).lines().count(), 5, "ninja runs everything");
    let answer = run(&built.space, "--content").answer(0);
    assert_eq!(answer, "fresh: nothing to do for 5 targets\n4 files were touched, but not changed\n");
}

#[test]
fn an_edit_among_touched_files_makes_its_own_users_stale_and_no_others() {
    let mut built = Built::new();
    built.record();
    for path in ["a.c", "h/all.h", "words.txt"] {
        built.touch(path);
    }
    built.edit("b.c", "B\n");
    built.is_stale(&["b.o", "b"]);
    assert_eq!(built.codes("b.o"), ["input-changed"]);
    built.edit("words.txt", "W\n");
    built.is_stale(&["b.o", "b", "copy"]);
    // A header that only the depfile names.
    built.edit("h/all.h", "H\n");
    built.is_stale(&["a.o", "b.o", "a", "b", "copy"]);
}

#[test]
fn why_names_what_changed_and_not_what_was_touched() {
    let mut built = Built::new();
    built.record();
    for path in ["a.c", "h/all.h"] {
        built.touch(path);
    }
    assert_eq!(run(&built.space, "why --content a").answer(0), "a is fresh\n");
    built.edit("a.c", "other\n");
    let answer = run(&built.space, "why --content a").answer(1);
    assert_eq!(answer, "a is pending\n└─ a.o is stale\n   └─ a.c changed (6 bytes against 2)\n");
    let trouble = run(&built.space, "why --content --from graph a").trouble();
    assert!(trouble.contains("--content is about ninja"), "{trouble}");
}

#[test]
fn an_edit_that_keeps_the_time_is_seen_although_ninja_does_not() {
    let built = Built::new();
    built.record();
    built.space.write_at("a.c", "A\n", OLD);
    assert_eq!(run(&built.space, "--quiet").answer(0), "");
    built.is_stale(&["a.o", "a", "copy"]);
}

#[test]
fn an_edit_that_is_taken_back_leaves_everything_fresh() {
    let mut built = Built::new();
    built.record();
    built.edit("a.c", "A\n");
    built.edit("a.c", "a\n");
    built.is_stale(&[]);
}

#[test]
fn a_change_of_a_command_is_one_whatever_the_contents() {
    let mut built = Built::new();
    built.record();
    built.edit("build.ninja", &MANIFEST.replace("build b.o: cc b.c", "build b.o: cc b.c\n  note = other"));
    built.is_stale(&["b.o", "b"]);
    assert_eq!(built.codes("b.o"), ["command-changed"]);
}

#[test]
fn an_input_that_is_added_or_taken_away_makes_its_target_stale() {
    let mut built = Built::new();
    built.record();
    built.edit("build.ninja", &MANIFEST.replace("build a: cat a.o", "build a: cat a.o | words.txt"));
    built.is_stale(&["a", "copy"]);
    assert_eq!(built.codes("a"), ["inputs-differ"]);
    built.edit("build.ninja", &MANIFEST.replace("build words: phony words.txt", "build words: phony"));
    // The phony name has no file, so what needs it is stale always.
    built.is_stale(&["b", "copy"]);
}

#[test]
fn an_output_that_is_missing_or_not_what_was_made_makes_its_target_stale() {
    let mut built = Built::new();
    built.record();
    built.touch("a");
    built.is_stale(&[]);
    built.edit("a", "somebody else's\n");
    built.is_stale(&["a", "copy"]);
    assert_eq!(built.codes("a"), ["output-changed"]);
    built.space.remove("b.o");
    built.is_stale(&["a", "copy", "b.o", "b"]);
}

#[test]
fn what_ninja_has_made_since_the_record_is_judged_as_ninja_does() {
    let mut built = Built::new();
    built.record();
    built.edit("b.c", "b\n# more\n");
    built.ninja();
    built.is_stale(&[]);
    // Of what it was made nobody knows, so a new time is all there is.
    built.touch("b.c");
    built.is_stale(&["b.o", "b"]);
    built.ninja();
    built.record();
    built.touch("b.c");
    built.is_stale(&[]);
}

#[test]
fn a_file_with_a_phony_name_counts_and_so_does_its_coming_and_going() {
    let mut built = Built::new();
    built.record();
    built.edit("words", "a file\n");
    built.is_stale(&["b", "copy"]);
    built.ninja();
    built.record();
    built.touch("words");
    built.is_stale(&[]);
    built.space.remove("words");
    built.is_stale(&["b", "copy"]);
}

#[test]
fn a_directory_among_the_inputs_is_what_its_entries_are() {
    let mut built = Built::new();
    built.edit("build.ninja", &MANIFEST.replace("build a: cat a.o", "build a: cat a.o | h"));
    built.ninja();
    built.record();
    built.touch("h");
    built.is_stale(&[]);
    built.edit("h/new.h", "");
    built.is_stale(&["a", "copy"]);
}

#[test]
fn a_build_directory_without_its_logs_is_judged_by_its_record() {
    let mut built = Built::new();
    built.record();
    built.space.remove(".ninja_log");
    built.space.remove(".ninja_deps");
    for path in ALL {
        built.touch(path);
    }
    built.is_stale(&[]);
    // The header is known from the record alone.
    built.edit("h/all.h", "H\n");
    built.is_stale(&["a.o", "b.o", "a", "b", "copy"]);
}

#[test]
fn a_stale_target_keeps_the_record_of_its_last_success() {
    let mut built = Built::new();
    built.record();
    built.edit("a.c", "A\n");
    let ran = run(&built.space, "record");
    assert_eq!(ran.status, 1);
    let expected = "upcheck: warning: a.o is not recorded: it is stale\n\
                    upcheck: warning: a is not recorded: it is stale\n\
                    upcheck: warning: copy is not recorded: it is stale\n";
    assert_eq!(ran.stderr, expected);
    built.is_stale(&["a.o", "a", "copy"]);
    built.edit("a.c", "a\n");
    built.is_stale(&[]);
}

#[test]
fn what_was_recorded_of_some_targets_stays_when_others_are_recorded() {
    let mut built = Built::new();
    built.record();
    built.edit("b.c", "B\n");
    built.ninja();
    assert_eq!(run(&built.space, "record b").answer(0), "");
    for path in ["a.c", "b.c", "h/all.h", "words.txt"] {
        built.touch(path);
    }
    built.is_stale(&[]);
}

#[test]
fn a_record_that_says_the_same_is_not_written_again() {
    let built = Built::new();
    built.record();
    // Stamps that were too young to prove anything may be old enough by now.
    built.record();
    built.space.set_mtime(".upcheck/contents", OLD);
    built.record();
    let first = built.space.mtime(".upcheck/contents");
    if first != Some(OLD) {
        // The clock's tick was not over before: it is now.
        built.space.set_mtime(".upcheck/contents", OLD + SECOND);
        built.record();
        assert_eq!(built.space.mtime(".upcheck/contents"), Some(OLD + SECOND));
    }
}

#[test]
fn a_check_changes_nothing() {
    let mut built = Built::new();
    built.record();
    built.touch("a.c");
    built.edit("b.c", "B\n");
    let before = built.space.entries();
    built.is_stale(&["b.o", "b"]);
    assert_eq!(run(&built.space, "--content --no-image --quiet").answer(1), "");
    assert_eq!(built.space.entries(), before);
}

#[test]
fn without_a_record_there_is_an_error_that_says_how_to_make_one() {
    let built = Built::new();
    let expected = "upcheck: error: nothing is on record in './.upcheck': `upcheck record` after a build puts there \
                    what files hold\n";
    assert_eq!(run(&built.space, "--content").trouble(), expected);
    assert!(!built.space.path().join(".upcheck").exists());
}

#[test]
fn content_and_what_it_does_not_go_with_are_errors() {
    let built = Built::new();
    built.record();
    let exact = run(&built.space, "--content --exact").trouble();
    assert_eq!(exact, "upcheck: error: --exact answers as ninja does, which does not know --content\n");
    built.space.write("graph.json", r#"{"version": 1, "targets": []}"#);
    let graph = run(&built.space, "--from graph --content").trouble();
    assert!(graph.starts_with("upcheck: error: --content is about ninja;"), "{graph}");
    for options in ["record --trust", "record --begin"] {
        let text = run(&built.space, options).trouble();
        assert!(text.contains("not for ninja"), "{options}: {text}");
    }
    fs::remove_file(built.space.path().join(".upcheck/contents")).expect("it is there");
    fs::create_dir(built.space.path().join(".upcheck/contents")).expect("to be made");
    let text = run(&built.space, "--content").trouble();
    assert!(text.starts_with("upcheck: error: reading './.upcheck/contents': "), "{text}");
}

#[test]
fn contents_are_found_where_the_records_are_said_to_be() {
    let mut built = Built::new();
    assert_eq!(run(&built.space, "record --records elsewhere").answer(0), "");
    built.touch("a.c");
    assert_eq!(run(&built.space, "--content --records elsewhere -q").answer(0), "");
    let output =
        upcheck_in(built.space.path()).args(["--content", "-q", "--no-image"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
}
