//! A daemon that is asked for a long time while files change: its memory and its descriptors do not grow.
//! `UPCHECK_SOAK_MINUTES` says how long (1).

use crate::User;
use crate::same::{project, sources};
use crate::vandal::{Dice, Process};
use std::time::{Duration, Instant};
use upcheck_tests::aloud::progress;
use upcheck_tests::answer::{Question, run_ninja};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// More build directories than a daemon remembers.
const DIRECTORIES: usize = 72;
/// How often it is looked how much the daemon has.
const LOOK: Duration = Duration::from_secs(5);

/// What a daemon has at a moment.
#[derive(Clone, Copy, Debug)]
struct Has {
    bytes: u64,
    descriptors: u64,
    watches: u64,
    questions: u64,
}

fn look(user: &User) -> Has {
    let status = user.status().expect("it runs");
    assert_eq!(status["wrong"], 0, "{status}");
    let number = |value: &serde_json::Value| value.as_u64().expect("a number");
    let open = std::fs::read_dir(format!("/proc/{}/fd", status["pid"])).expect("its descriptors");
    Has {
        bytes: number(&status["memory_bytes"]),
        descriptors: open.count() as u64,
        watches: number(&status["watched"]["directories"]) + number(&status["watched"]["files"]),
        questions: number(&status["questions"]),
    }
}

/// The most of each in some of the looks.
fn most(looks: &[Has]) -> Has {
    let most = |of: fn(&Has) -> u64| looks.iter().map(of).max().expect("a look");
    Has {
        bytes: most(|has| has.bytes),
        descriptors: most(|has| has.descriptors),
        watches: most(|has| has.watches),
        questions: most(|has| has.questions),
    }
}

#[test]
#[ignore = "takes as many minutes as one likes"]
fn soak() {
    let minutes = std::env::var("UPCHECK_SOAK_MINUTES").map_or(1, |text| text.parse().expect("a number"));
    let user = User::new();
    let mut spaces: Vec<Space> = (0..DIRECTORIES).map(|_| project()).collect();
    let mut dice = Dice::new(1);
    let began = Instant::now();
    let mut looks = Vec::new();
    let mut n_things = 0;
    user.run(&spaces[0], "watch start").answer(0);
    while began.elapsed() < Duration::from_secs(60 * minutes) {
        let at = usize::try_from(dice.roll(DIRECTORIES as u64)).expect("a small number");
        // Now and then a directory is another one.
        if dice.roll(10) == 0 {
            spaces[at] = project();
        }
        let space = &spaces[at];
        let _ = std::fs::create_dir(space.path().join("elsewhere"));
        let mut process = Process::new(space.path(), dice.roll(1 << 40));
        for _ in 0..10 {
            let things = 1 + dice.roll(100);
            process.order(things);
            n_things += things;
            user.run(space, "check");
            process.done();
            for args in ["check --verify-watch", "check lone", "check"] {
                let ran = user.run(space, args);
                assert!(!ran.stderr.contains("is wrong"), "{}", ran.stderr);
            }
        }
        sources(space);
        let _ = run_ninja(space, Ninja::V1_13, &Question::default(), &["-k", "0"]);
        if looks.len() as u64 * LOOK.as_secs() <= began.elapsed().as_secs() {
            looks.push(look(&user));
            progress(&format!(
                "soak: {} s, {n_things} things, {:?}",
                began.elapsed().as_secs(),
                looks[looks.len() - 1]
            ));
        }
    }
    // What there is in the first half is what it takes; in the second it must not have become more.
    let (first, second) = looks.split_at(looks.len() / 2);
    let (first, second) = (most(first), most(second));
    progress(&format!("soak: at most {first:?} in the first half, {second:?} in the second"));
    assert!(second.descriptors <= first.descriptors + 4, "descriptors: {first:?} {second:?}");
    assert!(second.bytes <= first.bytes + first.bytes / 4 + (4 << 20), "memory: {first:?} {second:?}");
    assert!(second.watches <= 2 * first.watches, "watches: {first:?} {second:?}");
}
