//! Whatever is killed, at ever other moments: the server while something is asked of it, or a restore. What is there afterwards is
//! right or stale, and asking once more does the rest.
//!
//! `UPCHECK_KILLS` sets how many of each are killed (default 2).

use super::Checkout;
use super::command::{Ran, upcheck_in};
use std::fmt::Write;
use std::process::{Command, Stdio};
use upcheck_tests::aloud::progress;
use upcheck_tests::bazel_remote::BazelRemote;
use upcheck_tests::moment::spend;
use upcheck_tests::tools::Ninja;

const TARGETS: usize = 60;

fn n_kills() -> usize {
    std::env::var("UPCHECK_KILLS").map_or(2, |n| n.parse().expect("a number"))
}

/// Files that are made one of the other, most of them small, and some that travel as streams.
fn checkout() -> Checkout {
    let mut manifest = String::from(
        "rule grow\n  command = cat $in $in > $out\nrule gcc\n  command = cp $in $out && echo \"$out: $in\" > $out.d\n  \
         depfile = $out.d\n  deps = gcc\n",
    );
    let names: Vec<String> = (0..TARGETS).map(|n| format!("src/s{n}")).collect();
    for n in 0..TARGETS {
        let rule = if n % 2 == 0 { "grow" } else { "gcc" };
        writeln!(manifest, "build dir{}/o{n}: {rule} @/src/s{n}", n % 5).expect("a string");
        writeln!(manifest, "build p{n}: gcc dir{}/o{n}", n % 5).expect("a string");
    }
    let held: Vec<String> = (0..TARGETS)
        .map(|n| {
            let times = if n % 20 == 0 { 300_000 } else { 100 * n };
            format!("s{n} ").repeat(times)
        })
        .collect();
    let sources: Vec<(&str, &str)> =
        names.iter().zip(&held).map(|(name, held)| (name.as_str(), held.as_str())).collect();
    Checkout::with(Ninja::V1_13, &manifest, &sources)
}

/// All that was made, by its name.
fn outputs(checkout: &Checkout) -> Vec<(String, Vec<u8>)> {
    let both = |n| [format!("build/dir{}/o{n}", n % 5), format!("build/p{n}")];
    (0..TARGETS).flat_map(both).map(|name| (name.clone(), checkout.space.read(&name))).collect()
}

fn command(checkout: &Checkout, args: &[&str], server: &str) -> Command {
    let mut command = upcheck_in(&checkout.build_directory());
    command.args(args).args(["--ninja-version", "1.13", "--remote", server, "--remote-timeout", "60"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[track_caller]
fn ends(checkout: &Checkout, args: &[&str], server: &str) -> Ran {
    Ran::new(command(checkout, args, server).output().expect("it starts"))
}

/// What is there is right, or ninja makes it; nothing else is left; and after a build all is right.
#[track_caller]
fn is_right(checkout: &Checkout, expected: &[(String, Vec<u8>)], place: &str) {
    let left = checkout.space.entries();
    assert!(left.keys().all(|path| !path.to_string_lossy().contains(".upcheck-")), "{place}: {left:?}");
    is_right_but_for_what_is_beside(checkout, expected, place);
}

#[track_caller]
fn is_right_but_for_what_is_beside(checkout: &Checkout, expected: &[(String, Vec<u8>)], place: &str) {
    let listed = checkout.ninja_would_make();
    for (name, content) in expected {
        let name_there = name.strip_prefix("build/").expect("beneath it");
        let is_listed = listed.iter().any(|it| it.trim_end_matches(".d") == name_there);
        assert!(checkout.space.read(name) == *content || is_listed, "{name}, {place}");
    }
    checkout.build();
    assert!(outputs(checkout) == expected, "{place}");
}

#[test]
fn whenever_the_server_is_killed_what_is_there_is_right_and_the_next_one_does_the_rest() {
    let one = checkout();
    one.build_twice();
    let expected = outputs(&one);
    let (mut n_cut, mut n_whole) = (0, 0);
    for kill in 0..n_kills() * 4 {
        let Some(mut server) = BazelRemote::plain() else { return };
        let address = server.address();
        let args: &[&str] =
            [&["publish"][..], &["snapshot", "push"], &["restore"], &["snapshot", "pull"]][kill % 4];
        let place = &format!("kill {kill}, {args:?}");
        let is_sending = kill % 4 < 2;
        let two = checkout();
        if !is_sending {
            ends(&one, &["snapshot", "push"], &address).answer(0);
        }
        let asked = if is_sending { &one } else { &two };
        let running = command(asked, args, &address).spawn().expect("it starts");
        spend(20_000 + (kill * 7919 % 900) as u64 * 300);
        server.kill();
        let ran = Ran::new(running.wait_with_output().expect("it ends"));
        // What is stale is no trouble where it is only asked for.
        let is_cut = !ran.stderr.is_empty() || (kill % 4 == 2 && ran.status > 0);
        *(if !is_cut { &mut n_whole } else { &mut n_cut }) += 1;
        // A check that nobody answered is a check all the same.
        assert!(ran.status < 2 || is_sending, "{place}: {ran:?}");

        server.start_again();
        // A server that was killed may say that it has blobs of which it has only the beginning. It notices when it is asked for
        // them, and then takes them again.
        let is_whole = (0..10).any(|_| {
            ends(&one, &["snapshot", "push"], &address).answer(0);
            let ran = ends(&two, &["restore", "--explain"], &address);
            assert!(ran.status < 2, "{place}: {ran:?}");
            ran.status == 0
        });
        assert!(is_whole, "{place}: {:?}", ends(&two, &["restore", "--explain"], &address));
        assert_eq!(two.ninja_would_make(), [""; 0], "{place}");
        is_right(&two, &expected, place);
    }
    progress(&format!("{n_cut} commands were cut off, {n_whole} were not"));
}

#[test]
fn whenever_a_restore_is_killed_what_is_there_is_right_and_the_next_one_does_the_rest() {
    let one = checkout();
    one.build_twice();
    let expected = outputs(&one);
    let Some(server) = BazelRemote::plain() else { return };
    let address = server.address();
    ends(&one, &["publish"], &address).answer(0);
    let (mut n_before, mut n_between, mut n_after) = (0, 0, 0);
    for kill in 0..n_kills() * 3 {
        let place = &format!("kill {kill}");
        let two = checkout();
        if kill % 3 == 1 {
            // What is there was made of something else.
            two.edit("src/s1", "old\n");
            two.edit("src/s20", "old\n");
            two.build();
            two.edit("src/s1", &"s1 ".repeat(100));
            two.edit("src/s20", &"s20 ".repeat(300_000));
            two.space.remove("build/p3");
        }
        let before = two.space.entries();
        let mut running = command(&two, &["restore"], &address).spawn().expect("it starts");
        spend(20_000 + (kill * 7919 % 900) as u64 * 400);
        running.kill().expect("it is ours");
        running.wait().expect("it ends");
        let changed = two.space.entries() != before;
        if kill % 2 == 0 {
            let ran = ends(&two, &["restore"], &address);
            assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{place}: {ran:?}");
            match (changed, ran.stdout.starts_with("0 targets restored")) {
                (false, _) => n_before += 1,
                (true, false) => n_between += 1,
                (true, true) => n_after += 1,
            }
            assert_eq!(two.ninja_would_make(), [""; 0], "{place}");
        }
        is_right_but_for_what_is_beside(&two, &expected, place);
    }
    progress(&format!(
        "of those that were restored again {n_before} were killed before they wrote, {n_between} while, {n_after} after"
    ));
}
