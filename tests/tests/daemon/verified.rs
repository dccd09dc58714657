//! `check --verify-watch` and `watch start --verify`: what a daemon says is compared, and a wrong answer is found out.

use crate::command::spaces::{SECOND, T, changed_header, many, program};
use crate::disguise::Disguise;
use crate::{User, without_costs};
use serde_json::{Value, json};

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn an_answer_that_both_have_says_so_and_is_that_of_a_check_alone() {
    for (space, status) in [(program(), 0), (changed_header(), 1), (many(30), 1)] {
        let user = User::new();
        let plain = user.run(&space, "check --no-watch --no-image").answer(status);
        let (first, rest) = plain.split_once('\n').expect("a line");
        let with = |words: &str| format!("{first} ({words})\n{rest}");
        // It starts a daemon, if none runs.
        assert_eq!(user.run(&space, "check --verify-watch").answer(status), with("verified"));
        assert_eq!(user.run(&space, "check --verify-watch").answer(status), with("watched, verified"));
        assert_eq!(user.run(&space, "check --verify-watch -q").answer(status), "");
        let names = user.run(&space, "check --no-watch --format names").answer(status);
        assert_eq!(user.run(&space, "check --verify-watch --format names").answer(status), names);
        let json = user.run(&space, "check --verify-watch --format json --commands").answer(status);
        let plain = user.run(&space, "check --no-watch --format json --commands").answer(status);
        assert_eq!(
            [&parse(&json)["summary"]["verified"], &parse(&json)["summary"]["watched"]],
            ["same", "memory"]
        );
        assert_eq!(without_costs(&json), without_costs(&plain));
        let status = user.status().expect("it runs");
        assert_eq!(
            [&status["verified"], &status["wrong"], &status["verifies"]],
            [&json!(5), &json!(0), &json!(false)]
        );
        let said = user.run(&space, "watch status").answer(0);
        assert!(said.contains("\n  5 answers compared with a full pass, 0 wrong\n"), "{said}");
    }
}

#[test]
fn a_daemon_that_is_wrong_is_found_out_told_to_forget_and_its_answer_is_not_taken() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start").answer(0);
    let liar = Disguise::of(&user);
    for _ in 0..2 {
        liar.run(&user, &space, "check --verify-watch").answer(0);
    }
    space.set_mtime("config.h", T + 90 * SECOND);
    let plain = user.run(&space, "check --no-watch").answer(1);
    liar.lie(usize::MAX);
    let wrong = liar.run(&user, &space, "check --verify-watch");
    assert_eq!((wrong.status, &wrong.stdout), (2, &plain), "the answer is never hidden");
    for line in [
        "upcheck: error: upcheck watch is wrong, and the answer is what was found without it. \
         It was told to forget everything. It says (from memory)\n",
        "\ttarget a.o: fresh, and not stale (input-newer config.h)\n",
        &format!("\tfile config.h: of {T}, and not of {}\n", T + 90 * SECOND),
        "\tverdict: fresh, and not stale\n",
    ] {
        assert!(wrong.stderr.contains(line), "{line}\n{}", wrong.stderr);
    }
    assert_eq!(liar.others(), ["forget"]);
    let status = user.status().expect("it runs");
    assert_eq!(
        (&status["wrong"], status["builds"].as_array().map(Vec::len)),
        (&1.into(), Some(0)),
        "{status}"
    );

    let wrong = liar.run(&user, &space, "check --verify-watch --format json");
    assert_eq!((wrong.status, &parse(&wrong.stdout)["summary"]["verified"]), (2, &"wrong".into()));
    let wrong = liar.run(&user, &space, "check --verify-watch -q");
    assert_eq!((wrong.status, wrong.stdout.as_str()), (2, ""));
    assert!(wrong.stderr.contains("upcheck watch is wrong"), "{}", wrong.stderr);

    // Once right, all is well.
    liar.lie(0);
    liar.run(&user, &space, "check --verify-watch").answer(1);
}

#[test]
fn a_file_that_it_has_another_time_for_is_found_out_even_if_no_verdict_depends_on_it() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start").answer(0);
    let liar = Disguise::of(&user);
    liar.run(&user, &space, "check --verify-watch").answer(0);
    space.set_mtime("b.c", T - SECOND);
    liar.lie(usize::MAX);
    let wrong = liar.run(&user, &space, "check --verify-watch");
    let said = format!("It says (from everything)\n\tfile b.c: of {T}, and not of {}\n", T - SECOND);
    assert!(wrong.status == 2 && wrong.stderr.ends_with(&said), "{}", wrong.stderr);
}

#[test]
fn one_that_agrees_when_asked_once_more_is_believed_and_that_is_said() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start").answer(0);
    let liar = Disguise::of(&user);
    liar.run(&user, &space, "check --verify-watch").answer(0);
    space.set_mtime("config.h", T + 90 * SECOND);
    liar.lie(1);
    let later = liar.run(&user, &space, "check --verify-watch --format json");
    assert_eq!((later.status, &parse(&later.stdout)["summary"]["verified"]), (1, &"later".into()));
    assert!(
        later.stderr.starts_with("upcheck: warning: upcheck watch said something else at first"),
        "{}",
        later.stderr
    );
    assert!(later.stderr.contains("target a.o: fresh, and not stale"), "{}", later.stderr);
    assert_eq!(liar.others(), Vec::<String>::new(), "it was not told to forget");
}

#[test]
fn one_that_has_an_answer_where_there_is_trouble_is_wrong() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start").answer(0);
    let liar = Disguise::of(&user);
    liar.run(&user, &space, "check --verify-watch").answer(0);
    space.remove("build.ninja");
    liar.lie(usize::MAX);
    let wrong = liar.run(&user, &space, "check --verify-watch").trouble();
    assert!(
        wrong.contains("upcheck watch is wrong") && wrong.contains("it has an answer, and not this trouble"),
        "{wrong}"
    );
    let plain = user.run(&space, "check --no-watch").trouble();
    assert!(wrong.ends_with(&plain), "{wrong}\n{plain}");
}

#[test]
fn what_it_does_not_answer_is_answered_without_it_and_nothing_is_compared() {
    let (user, space) = (User::new(), changed_header());
    user.run(&space, "watch start").answer(0);
    for args in ["--exact", "--no-image", "--explain-plan"] {
        let plain = user.run(&space, &format!("check --no-watch {args}"));
        let told = user.run(&space, &format!("check --verify-watch {args}"));
        assert_eq!((told.status, told.stdout), (plain.status, plain.stdout), "{args}");
        assert!(
            told.stderr.starts_with("upcheck: warning: upcheck watch did not answer: "),
            "{}",
            told.stderr
        );
    }
    let project = user.run(&space, "check --verify-watch -i a.c -o a.o");
    assert!(
        project.stderr.contains("did not answer: it answers checks of ninja builds"),
        "{}",
        project.stderr
    );
    let both = user.run(&space, "check --verify-watch --no-watch").trouble();
    assert!(both.contains("cannot be used with"), "{both}");
}

#[test]
fn a_daemon_that_compares_its_own_answers_says_how_many_and_gives_the_same() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start --verify").answer(0);
    user.run(&space, "watch start --verify").answer(0);
    for (mtime, status) in [(T, 0), (T, 0), (T + 90 * SECOND, 1), (T + 90 * SECOND, 1), (T, 0), (T, 0)] {
        space.set_mtime("config.h", mtime);
        let plain = user.run(&space, "check --no-watch --explain").answer(status);
        for _ in 0..2 {
            let (said, _) = crate::without_watched(&user.run(&space, "check --explain").answer(status));
            assert_eq!(said, plain);
        }
    }
    let status = user.status().expect("it runs");
    let keys = [&status["verifies"], &status["verified"], &status["wrong"]];
    assert_eq!(keys, [&json!(true), &json!(12), &json!(0)], "{status}");
    assert!(status["builds"][0]["from_memory"].as_u64() >= Some(6), "{status}");
    let said = user.run(&space, "watch status").answer(0);
    assert!(said.contains("\n  12 answers compared with a full pass, 0 wrong\n"), "{said}");
}

#[test]
fn one_that_runs_without_comparing_is_not_taken_for_one_that_does() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start").answer(0);
    let trouble = user.run(&space, "watch start --verify").trouble();
    assert!(trouble.contains("runs already") && trouble.contains("does not verify"), "{trouble}");
    user.run(&space, "watch stop").answer(0);
    let mut start = user.command(&space);
    start.env("UPCHECK_WATCH_VERIFY", "1").args(["watch", "start"]);
    assert!(start.status().expect("upcheck starts").success());
    assert_eq!(user.status().expect("it runs")["verifies"], true);
}
