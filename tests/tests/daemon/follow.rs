//! `check --follow`: each answer is that of a check, none is missed, and nothing is done while nothing happens.
//!
//! `UPCHECK_CASES` sets how many random edits (default 60).

use crate::command::spaces::{SECOND, T, changed_header, program};
use crate::followed::{Followed, answer, checked};
use crate::same::{edit, project};
use crate::{User, kill};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;
use upcheck_tests::answer::{Question, build};
use upcheck_tests::schemas::verdicts;
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

const FOLLOW: &str = "check --follow --format jsonl";

/// How much of the processor a process has used, in hundredths of a second.
fn processor_time(pid: u64) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let (_, behind_name) = stat.rsplit_once(") ").expect("a name in parentheses");
    let times = behind_name.split(' ').skip(11).take(2);
    times.map(|time| time.parse::<u64>().expect("a number")).sum()
}

/// Follows a build that ninja has made, and has seen that it is fresh.
fn built(user: &User) -> (Space, Followed) {
    let space = project();
    build(&space, Ninja::V1_13, &Question::default());
    let mut followed = Followed::start(user, &space, FOLLOW);
    followed.settles_at(&checked(user, &space, ""));
    (space, followed)
}

#[test]
fn each_kind_of_edit_is_told_of_and_the_answers_are_those_of_a_check() {
    let user = User::new();
    let (space, mut followed) = built(&user);
    let log = || space.read(".ninja_log");
    let edits: [(&str, &dyn Fn()); 9] = [
        ("content", &|| space.write_last("src/1.c", "int one;")),
        ("header", &|| space.write_last("src/h2.h", "more")),
        ("build", &|| build(&space, Ninja::V1_13, &Question::default())),
        ("delete", &|| space.remove("src/3.c")),
        ("several", &|| {
            space.write("src/3.c", "x");
            space.remove("out/4.o");
            space.write_last("src/common.h", "all of it");
        }),
        ("again", &|| build(&space, Ninja::V1_13, &Question::default())),
        ("log cut", &|| space.write(".ninja_log", &log()[..log().len() / 2])),
        ("manifest", &|| {
            let text = String::from_utf8(space.read("build.ninja")).expect("text");
            space.write("build.ninja", text.replace("build lone: cat", "build lone: cat src/0.c"));
        }),
        ("at last", &|| build(&space, Ninja::V1_13, &Question::default())),
    ];
    for (what, edit) in edits {
        let before = checked(&user, &space, "");
        edit();
        let wanted = checked(&user, &space, "");
        assert_ne!(before, wanted, "{what} changes the answer");
        followed.settles_at(&wanted);
    }
    assert_eq!(followed.said_so_far(), [""; 0]);
    let verdict = |line: &String| answer(line)["verdict"].clone();
    assert_eq!(followed.lines.first().map(verdict), Some("fresh".into()));
    let whole =
        |line: &String| ("report.json#/$defs/answer".to_owned(), serde_json::from_str(line).expect("JSON"));
    let cases: Vec<_> = followed.lines.iter().map(whole).collect();
    for (verdict, (_, document)) in verdicts(&cases).iter().zip(&cases) {
        assert!(verdict.is_none(), "{verdict:?}\n{document}");
    }
    let watched =
        |line: &String| serde_json::from_str::<Value>(line).expect("JSON")["summary"]["watched"].is_string();
    assert!(followed.lines.iter().all(watched), "the daemon answers");
}

#[test]
fn whatever_is_edited_the_last_answer_is_that_of_a_check() {
    let n_edits = std::env::var("UPCHECK_CASES").map_or(60, |cases| cases.parse().expect("a number"));
    let user = User::new();
    let (space, mut followed) = built(&user);
    let mut alone = Followed::start(&user, &space, "check --follow --format jsonl lone");
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut n_done = 0;
    while n_done < n_edits {
        for _ in 0..1 + random % 3 {
            for _ in 0..3 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
            }
            // A build fails where its sources are links to each other or gone.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| edit(&space, random)));
            n_done += 1;
        }
        followed.settles_at(&checked(&user, &space, ""));
        alone.settles_at(&checked(&user, &space, "lone"));
    }
    let waiting = &user.status().expect("it runs")["waiting"];
    assert!(waiting.as_u64() <= Some(2), "{waiting}");
}

#[test]
fn trouble_is_told_of_and_following_goes_on() {
    let user = User::new();
    let (space, mut followed) = built(&user);
    let manifest = space.read("build.ninja");
    for _ in 0..2 {
        space.write("build.ninja", "rule broken\n");
        let trouble = checked(&user, &space, "");
        assert_eq!(trouble.get("verdict"), None);
        followed.settles_at(&trouble);
        space.write("build.ninja", &manifest);
        followed.settles_at(&checked(&user, &space, ""));
    }
    let is_trouble =
        |line: &&String| answer(line).get("errors").is_some() && answer(line).get("verdict").is_none();
    let cases: Vec<_> = followed
        .lines
        .iter()
        .filter(is_trouble)
        .map(|line| ("report.json#/$defs/trouble".to_owned(), answer(line)))
        .collect();
    assert!(cases.len() >= 2);
    assert!(verdicts(&cases).iter().all(Option::is_none));
    assert!(!followed.said_so_far().iter().any(|line| line.contains("warning")), "{:?}", followed.said);
}

#[test]
fn trouble_from_the_beginning_is_the_end() {
    let (user, space) = (User::new(), Space::new());
    for args in ["", "--no-watch", "--format json"] {
        let ran = user.run(&space, &format!("check --follow {args}"));
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        assert!(
            ran.stderr.ends_with("upcheck: error: loading 'build.ninja': No such file or directory\n"),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.stdout.lines().count(), usize::from(args.contains("json")));
    }
    for args in ["-f -", "-q", "--verify-watch", "--explain-plan", "-i a -o b --inputs-from -"] {
        assert!(
            user.run(&program(), &format!("check --follow {args}")).trouble().contains("error: "),
            "{args}"
        );
    }
}

#[test]
fn a_daemon_that_is_killed_is_missed_by_nobody() {
    let user = User::new();
    let (space, mut followed) = built(&user);
    let mut pids = vec![];
    for round in 0..3 {
        // Those that are known, and the next one.
        let is_new = |status: &Value| status["waiting"] == 1 && !pids.contains(&status["pid"]);
        let status = std::iter::repeat_with(|| user.status()).flatten().find(is_new).expect("another one");
        pids.push(status["pid"].clone());
        user.signal("KILL");
        space.write_last("src/1.c", format!("int round_{round};"));
        followed.settles_at(&checked(&user, &space, ""));
    }
    assert_eq!(followed.said_so_far(), [""; 0]);
}

#[test]
fn a_daemon_that_is_stopped_is_not_started_again_and_following_goes_on() {
    let user = User::new();
    let (space, mut followed) = built(&user);
    user.run(&space, "watch stop").answer(0);
    followed.says("upcheck watch does not answer: it was told to end");
    space.write_last("src/1.c", "int one;");
    followed.settles_at(&checked(&user, &space, ""));
    assert!(user.status().is_none());
    // One that somebody starts is used again.
    user.run(&space, "watch start").answer(0);
    space.write_last("src/2.c", "int two;");
    followed.settles_at(&checked(&user, &space, ""));
    while user.status().expect("it runs")["waiting"] != 1 {
        std::thread::yield_now();
    }
}

#[test]
fn one_that_does_not_move_is_done_without() {
    let user = User::new();
    let (space, mut followed) = built(&user);
    let pid = user.pid();
    user.signal("STOP");
    space.write_last("src/1.c", "int one;");
    let wanted = checked(&user, &space, "");
    followed.settles_at(&wanted);
    kill("CONT", pid);
    space.write_last("src/1.c", "int one_more;");
    followed.settles_at(&checked(&user, &space, ""));
}

#[test]
fn while_nothing_happens_nothing_is_asked_and_nobody_works() {
    let (user, space) = (User::new(), program());
    let mut followed = Followed::start(&user, &space, FOLLOW);
    followed.line();
    let status = || user.status().expect("it runs");
    let is_settled = |status: &Value| status["waiting"] == 1 && status["builds"][0]["settled"] == true;
    std::iter::repeat_with(status).find(is_settled).expect("it comes to rest");
    let pids = [user.pid(), followed.pid()];
    let idle = || {
        let before = (status(), pids.map(processor_time));
        // Not for something to happen: for nothing.
        std::thread::sleep(Duration::from_secs(4));
        let used = [0, 1].map(|at| processor_time(pids[at]) - before.1[at]);
        let now = status();
        assert_eq!(now["questions"], before.0["questions"]);
        (now["builds"] == before.0["builds"] && used[0] <= 6 && used[1] <= 1).then_some(()).ok_or((now, used))
    };
    // Files that have just been written are looked into once more; to look is no reason to look again.
    let looked = [(); 3].map(|()| idle());
    assert_eq!(looked[2], Ok(()), "{looked:?}");
}

#[test]
fn without_a_daemon_it_says_so_and_looks_again_and_again() {
    let (user, space) = (User::new(), program());
    let mut followed = Followed::start(&user, &space, &format!("{FOLLOW} --no-watch"));
    followed.settles_at(&checked(&user, &space, ""));
    assert!(
        followed
            .says("upcheck: warning: upcheck watch does not answer: --no-watch")
            .ends_with("everything is looked at again and again")
    );
    for second in 1..4 {
        space.set_mtime("a.c", T + (100 + second) * SECOND);
        followed.settles_at(&checked(&user, &space, ""));
    }
    assert!(user.status().is_none(), "nobody started one");
    // What the daemon does not answer is followed in the same way.
    let mut exact = Followed::start(&user, &space, &format!("{FOLLOW} --exact"));
    exact.says("it answers checks by times only");
    exact.line();
    space.set_mtime("b.c", T + 200 * SECOND);
    exact.line();
    assert_eq!(exact.said_so_far().len(), 1);
}

#[test]
fn signals_end_it_with_the_status_of_the_last_answer() {
    let user = User::new();
    for (space, status) in [(program(), 0), (changed_header(), 1)] {
        for (signal, args) in [("INT", ""), ("TERM", ""), ("INT", "--no-watch")] {
            let mut followed = Followed::start(&user, &space, &format!("{FOLLOW} {args}"));
            followed.line();
            followed.signal(signal);
            let (ended, more, _) = followed.ends();
            assert_eq!((ended, more.len()), (Some(status), 0), "{signal} {args}");
        }
    }
}

#[test]
fn whoever_stops_reading_ends_it_quietly() {
    let user = User::new();
    let space = changed_header();
    for args in ["", "--no-watch"] {
        let mut command = std::process::Command::new("sh");
        user.be(&mut command);
        // The exit status of the first in a pipe is nobody's; so it is written.
        let script = "{ \"$0\" check --follow $1 2>said; echo $? >status; } | head -n 1";
        command.args(["-c", script]).arg(upcheck_tests::tools::upcheck()).arg(args).current_dir(space.path());
        let output = command.output().expect("a shell");
        assert_eq!(output.status.signal(), None);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "3 of 4 targets are stale\n");
        while space.read("status") != b"1\n" {
            std::thread::yield_now();
        }
        let said = String::from_utf8(space.read("said")).expect("text");
        assert_eq!(said.is_empty(), args.is_empty(), "{said}");
        assert!(!said.contains("error"), "{said}");
        space.remove("status");
    }
}

#[test]
fn for_people_there_is_a_line_between_answers_and_for_scripts_an_empty_one() {
    let (user, space) = (User::new(), program());
    let mut text = Followed::start(&user, &space, "check --follow");
    assert_eq!(text.line(), "fresh: nothing to do for 4 targets");
    let mut names = Followed::start(&user, &space, "check --follow --format names");
    assert_eq!(names.line(), "");
    space.set_mtime("a.c", T + 100 * SECOND);
    assert_eq!(text.line(), "");
    let moment = text.line();
    assert!(moment.starts_with("-- 2") && moment.len() == "-- 2023-11-14 22:13:20".len(), "{moment}");
    assert_eq!(text.line(), "2 of 4 targets are stale (watched)");
    assert_eq!([names.line(), names.line(), names.line()], ["a.o", "prog", ""]);
    space.set_mtime("a.c", T);
    assert_eq!(names.line(), "");
    loop {
        if text.line().starts_with("fresh: nothing to do for 4 targets") {
            break;
        }
    }
}

#[test]
fn watch_wait_ends_with_the_next_answer() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start").answer(0);
    let mut waits = Followed::start(&user, &space, "watch wait");
    // It asks for the answer, and then for the next one.
    let has_one = |status: &Value| status["waiting"] == 1 && status["questions"] == 2;
    std::iter::repeat_with(|| user.status()).flatten().find(has_one).expect("it waits");
    space.set_mtime("a.c", T + 100 * SECOND);
    assert_eq!([waits.line(), waits.line()], ["a.o", "prog"]);
    let (status, more, said) = waits.ends();
    assert_eq!((status, more.len(), said.len()), (Some(1), 0, 0));
    assert_eq!(
        user.run(&Space::new(), "watch wait").trouble(),
        "upcheck: error: loading 'build.ninja': No such file or directory\n"
    );
}

#[test]
fn two_builds_are_followed_at_once_and_one_does_not_wake_the_other() {
    let user = User::new();
    let spaces = [program(), changed_header()];
    let mut followed = spaces.each_ref().map(|space| Followed::start(&user, space, FOLLOW));
    for (followed, space) in followed.iter_mut().zip(&spaces) {
        followed.settles_at(&checked(&user, space, ""));
    }
    for second in 1..6 {
        spaces[0].set_mtime("b.c", T + (100 + second) * SECOND);
        followed[0].settles_at(&checked(&user, &spaces[0], ""));
    }
    assert_eq!(followed[1].lines.len(), 1);
    spaces[1].set_mtime("config.h", T);
    followed[1].settles_at(&checked(&user, &spaces[1], ""));
    // Each says that it waits a moment after it has its answer.
    let both_wait = |status: &Value| status["waiting"] == 2;
    let status = std::iter::repeat_with(|| user.status()).flatten().find(both_wait).expect("both wait");
    assert_eq!(status["builds"].as_array().map(Vec::len), Some(2), "{status}");
}
