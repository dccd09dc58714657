//! A storm over a build directory of the real ninja, while a daemon is asked: whenever it pauses, the daemon says what a full pass
//! says, file by file. `UPCHECK_CASES` says how many things are done (4,000), `UPCHECK_SEED` which (1).

use crate::User;
use crate::same::{project, sources};
use crate::vandal::{Dice, Process};
use serde_json::Value;
use std::collections::BTreeMap;
use upcheck_tests::aloud::progress;
use upcheck_tests::answer::{Question, build, run_ninja};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

const PROCESSES: u64 = 4;
/// So many things each of them does between two questions, at most.
const AT_ONCE: u64 = 60;

/// Asks whether the daemon and a full pass say the same, which they have to: nothing happens meanwhile. What the answer came from.
#[track_caller]
fn verified(user: &User, space: &Space, args: &str) -> String {
    let ran = loop {
        let ran = user.run(space, &format!("check --verify-watch --format json {args}"));
        // On a busy machine it may not come to show that it is there.
        if !ran.stderr.contains("did not answer: it does not answer") {
            break ran;
        }
    };
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    if ran.status == 2 {
        // A manifest or a log that is a directory, say: the daemon leaves that to who asks.
        assert!(ran.stderr.contains("did not answer: there is trouble"), "{}{}", ran.stdout, ran.stderr);
        return "trouble".into();
    }
    assert_eq!((&report["summary"]["verified"], ran.stderr.as_str()), (&"same".into(), ""), "{}", ran.stdout);
    report["summary"]["watched"].as_str().expect("a word").to_owned()
}

/// Asks while things happen: nobody knows what is right, but the daemon is not wrong.
#[track_caller]
fn ask_meanwhile(user: &User, space: &Space, dice: &mut Dice) {
    let args = ["", "lone", "out/1.o", "--verify-watch", "--verify-watch -q"];
    let args = args[usize::try_from(dice.roll(5)).expect("a small number")];
    let ran = user.run(space, &format!("check {args}"));
    assert!(!ran.stderr.contains("is wrong"), "check {args}: {}", ran.stderr);
}

#[test]
fn whatever_is_done_to_a_build_directory_the_daemon_says_what_is_there() {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().expect("a number"));
    let (things, seed) = (number("UPCHECK_CASES", 4_000), number("UPCHECK_SEED", 1));
    let (user, space) = (User::new(), project());
    std::fs::create_dir(space.path().join("elsewhere")).expect("a directory");
    build(&space, Ninja::V1_13, &Question::default());
    let mut dice = Dice::new(seed);
    let mut processes: Vec<_> =
        (0..PROCESSES).map(|n| Process::new(space.path(), seed * 1_000 + n)).collect();
    let (mut tried, mut done, mut rounds) = (0, 0, 0_u64);
    let mut came_from: BTreeMap<String, u64> = BTreeMap::new();
    while tried < things {
        // Few at a time as well: otherwise everything has changed each time.
        let times = if dice.roll(3) == 0 { 1 } else { 1 + dice.roll(AT_ONCE) };
        let busy = 1 + usize::try_from(dice.roll(PROCESSES)).expect("a small number");
        processes.iter_mut().take(busy).for_each(|process| process.order(times));
        for _ in 0..dice.roll(3) {
            ask_meanwhile(&user, &space, &mut dice);
        }
        done += processes.iter_mut().take(busy).map(Process::done).sum::<u64>();
        tried += times * busy as u64;
        rounds += 1;
        match rounds % 16 {
            0 => sources(&space),
            8 => drop(run_ninja(&space, Ninja::V1_13, &Question::default(), &["-k", "0"])),
            _ => {}
        }
        for args in ["", "lone", ""] {
            *came_from.entry(verified(&user, &space, args)).or_default() += 1;
            // What is compared looks at files, which others are told of. After these two nothing is left to look at.
            for _ in 0..2 {
                user.run(&space, "check -q");
            }
        }
    }
    let status = user.status().expect("it runs");
    assert_eq!(status["wrong"], 0, "{status}");
    let untouched = status["builds"][0]["untouched"].as_u64().expect("a number");
    progress(&format!(
        "storm by the command: {tried} things tried, {done} done, {rounds} pauses, no difference; answers came from {came_from:?}; \
         no file was looked at for {untouched}"
    ));
    let n = |from: &str| came_from.get(from).copied().unwrap_or(0);
    assert!(done * 5 > tried, "much of it can be done: {done} of {tried}");
    assert!(n("memory") > rounds / 2 && n("changes") > 0, "something is remembered: {came_from:?}");
    assert!(untouched > 0, "sometimes nothing is told of: {status}");
}
