//! The command `why`.

use crate::command::run;
use crate::command::spaces::{SECOND, T, changed_header, manifest, many, missing_source, program, restat};
use std::fmt::Write as _;

#[test]
fn why_shows_the_chain_down_to_the_file_with_both_times() {
    let space = changed_header();
    let expected = "\
all is stale (phony)
└─ prog is stale
   ├─ a.o is stale
   │  └─ config.h is newer than a.o by 89.000 s (2023-11-14 22:14:50 against 2023-11-14 22:13:21)
   └─ ... and 1 more stale input, for reasons given above (--all shows them)
";
    assert_eq!(run(&space, "why all").answer(1), expected);
    let expected = "\
prog is stale
├─ a.o is stale
│  └─ config.h is newer than a.o by 89.000 s (2023-11-14 22:14:50 against 2023-11-14 22:13:21)
└─ b.o is stale
   └─ config.h is newer than b.o by 89.000 s (2023-11-14 22:14:50 against 2023-11-14 22:13:21)
";
    assert_eq!(run(&space, "why --all prog").answer(1), expected);
}

#[test]
fn why_of_many_targets_is_one_answer_and_repeats_nothing() {
    let space = changed_header();
    let expected = "\
check is fresh
a.o is stale
└─ config.h is newer than a.o by 89.000 s (2023-11-14 22:14:50 against 2023-11-14 22:13:21)
prog is stale
├─ a.o is stale, as shown above
└─ ... and 1 more stale input, for reasons given above (--all shows them)
prog is stale, as shown above
a.c is there, and nothing makes it
";
    assert_eq!(run(&space, "why check a.o prog prog a.c").answer(1), expected);
}

#[test]
fn why_has_the_status_of_check() {
    for (space, target) in [
        (program(), "all"),
        (program(), "a.c"),
        (changed_header(), "all"),
        (changed_header(), "check"),
        (restat(), "prog"),
        (restat(), "lone"),
        (missing_source(), "all"),
    ] {
        let check = run(&space, &format!("check {target}"));
        let why = run(&space, &format!("why {target}"));
        assert_eq!((why.status, &why.stderr), (check.status, &check.stderr), "{target}: {}", why.stdout);
    }
}

#[test]
fn why_of_a_pending_target_leads_to_what_it_waits_for() {
    let expected = "\
prog is pending
└─ a.o is pending
   └─ v.h is stale
      └─ v.txt is newer than the record of v.h by 1.000 s (2023-11-14 22:13:21 against 2023-11-14 22:13:20)
";
    assert_eq!(run(&restat(), "why prog").answer(1), expected);
}

#[test]
fn why_folds_what_would_be_said_again() {
    let space = many(300);
    assert_eq!(
        run(&space, "why all").answer(1),
        "all is stale (phony)\n\
         └─ all.a is stale\n   \
         ├─ out/0.o is stale\n   \
         │  └─ include/config.h is newer than out/0.o by 1.000 s (2023-11-14 22:13:22 against 2023-11-14 22:13:21)\n   \
         └─ ... and 299 more stale inputs, for reasons given above (--all shows them)\n"
    );
    assert_eq!(run(&space, "why all --all").answer(1).lines().count(), 602);

    for number in 100..110 {
        space.set_mtime(&format!("src/{number}.c"), T + 3 * SECOND);
    }
    let text = run(&space, "why all").answer(1);
    // The first, and four that have a reason more.
    assert_eq!(text.matches("├─ out/").count(), 5, "{text}");
    assert!(
        text.contains("├─ ... and 289 more stale inputs, for reasons given above (--all shows them)\n"),
        "{text}"
    );
    assert!(text.ends_with("└─ ... and 6 more stale inputs (--all shows them)\n"), "{text}");
}

#[test]
fn why_needs_no_stack_for_a_long_chain() {
    let mut text = "rule t\n  command = t\n".to_owned();
    for number in 1..20_000 {
        writeln!(text, "build {number}: t {}", number - 1).expect("a string");
    }
    let space = manifest(&text);
    let why = run(&space, "why 19999 --format jsonl").answer(1);
    assert_eq!(why.lines().count(), 20_000);
    assert_eq!(run(&space, "why 300").answer(1).lines().count(), 601);
}
