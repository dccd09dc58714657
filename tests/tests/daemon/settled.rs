//! When all is vouched for, a question looks at what was told of alone: what it answers is what a check answers.

use crate::{User, without_costs, without_watched};
use serde_json::Value;
use std::fmt::Write;
use std::time::{Duration, Instant};
use upcheck_tests::answer::{Question, build};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

const N: usize = 40;

/// Many objects, each of a source of its own and a header that a depfile or the log names.
fn project() -> Space {
    let space = Space::new();
    let mut text =
        "rule cc\n  command = cat $in h/$n.h > $out && echo '$out: h/$n.h' > $out.d\n  depfile = $out.d\n  \
                    deps = $deps\nrule cat\n  command = cat $in > $out\n"
            .to_owned();
    let mut all = String::new();
    for n in 0..N {
        space.write(&format!("src/{n}.c"), "c");
        space.write(&format!("h/{n}.h"), "h");
        let deps = if n % 2 == 0 { "gcc" } else { "" };
        writeln!(text, "build out/{n}.o: cc src/{n}.c\n  n = {n}\n  deps = {deps}").expect("a string");
        write!(all, " out/{n}.o").expect("a string");
    }
    writeln!(text, "build lib: cat{all}\ndefault lib").expect("a string");
    space.write("build.ninja", text);
    build(&space, Ninja::V1_13, &Question::default());
    space
}

/// Asks until all is vouched for.
pub(crate) fn settle(user: &User, space: &Space) {
    let began = Instant::now();
    loop {
        user.run(space, "check -q");
        let status = user.status().expect("it runs");
        if status["builds"][0]["settled"] == true {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(300), "it does not settle: {status}");
    }
}

/// The same answer from both; that of the daemon.
#[track_caller]
fn ask(user: &User, space: &Space, place: &str) -> Value {
    let plain = user.run(space, "check --no-watch --explain");
    let by_daemon = user.run(space, "check --explain");
    let (stdout, _) = without_watched(&by_daemon.stdout);
    assert_eq!((plain.status, &plain.stdout), (by_daemon.status, &stdout), "{place}");
    let plain = user.run(space, "check --no-watch --format json");
    let by_daemon = user.run(space, "check --format json");
    assert_eq!(without_costs(&plain.stdout), without_costs(&by_daemon.stdout), "{place}");
    serde_json::from_str(&by_daemon.stdout).expect("JSON")
}

/// It would have twice as much memory as one that found an image.
#[test]
fn a_build_that_was_read_from_its_manifest_is_mapped_once_all_is_vouched_for() {
    let (user, space) = (User::new(), project());
    user.run(&space, "watch start").answer(0);
    let maps = || std::fs::read_to_string(format!("/proc/{}/maps", user.pid())).expect("it runs");
    let until_mapped = || {
        let began = Instant::now();
        while !maps().contains(".image\n") {
            assert!(began.elapsed() < Duration::from_secs(300), "{}", maps());
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    settle(&user, &space);
    until_mapped();
    let text = String::from_utf8(space.read("build.ninja")).expect("text");
    space.write("build.ninja", text + "build more: cat src/0.c\ndefault more\n");
    assert_eq!(user.run(&space, "check -q").status, 1);
    settle(&user, &space);
    until_mapped();
    let n_asked = ask(&user, &space, "mapped")["summary"]["stats"].as_u64();
    assert_eq!(n_asked, Some(0));
    for n in 0..4 {
        space.write_last(&format!("h/{n}.h"), "changed");
        let stale = &ask(&user, &space, "mapped, and changed")["summary"]["stale"];
        assert!(stale.as_u64() > Some(n), "{stale}");
    }
    let known = &user.status().expect("it runs")["builds"][0]["from_everything"];
    assert_eq!(known["first question"], 1, "to map it is no answer");
}

#[test]
fn what_was_told_of_is_looked_at_and_nothing_else() {
    let (user, space) = (User::new(), project());
    user.run(&space, "watch start").answer(0);
    settle(&user, &space);
    let n_asked = |answer: &Value| answer["summary"]["stats"].as_u64().expect("a number");
    assert_eq!(n_asked(&ask(&user, &space, "nothing changed")), 0);
    let (mut n_stale, mut n_about_few) = (0, 0);
    for round in 0..N {
        let (c, h, o) = (format!("src/{round}.c"), format!("h/{round}.h"), format!("out/{round}.o"));
        let place = &format!("round {round}");
        match round % 8 {
            0 => space.write_last(&c, "changed"),
            1 => space.write_last(&h, "changed"),
            2 => space.remove(&o),
            3 => space.remove(&c),
            4 => space.set_mtime(&o, 1_000_000_000),
            5 => {
                // There and back.
                let mtime = space.mtime(&c).expect("a source");
                space.set_mtime(&c, mtime + 1);
                space.set_mtime(&c, mtime);
            }
            6 => {
                std::fs::rename(space.path().join(&h), space.path().join("h/else")).expect("a renaming");
                std::fs::rename(space.path().join("h/else"), space.path().join(&h)).expect("a renaming");
            }
            _ => {
                space.write_last(&c, "twice");
                space.write_last(&h, "twice");
            }
        }
        let answer = ask(&user, &space, place);
        // Not where what the check without the daemon has opened is just being looked at again.
        n_about_few += usize::from(n_asked(&answer) < N as u64);
        n_stale += usize::from(answer["verdict"] == "stale");
        if round % 10 == 9 {
            if round % 8 == 3 || !space.path().join(&c).exists() {
                space.write_last(&c, "again");
            }
            for n in 0..N {
                let c = format!("src/{n}.c");
                if space.mtime(&c).is_none() {
                    space.write_last(&c, "again");
                }
            }
            build(&space, Ninja::V1_13, &Question::default());
            ask(&user, &space, place);
        }
        settle(&user, &space);
    }
    assert!(n_stale > N / 2 && n_about_few > N / 2, "{n_stale}, {n_about_few}");
}
