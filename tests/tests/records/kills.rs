//! A build driver that is killed, again and again, while sources are edited; and several drivers at once. What they leave
//! is never called fresh unless it is right.
//!
//! The driver is the example `driver`, which describes its targets itself; here stands only what they have to be.

use crate::dice::{Dice, number};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use upcheck_tests::aloud::progress;
use upcheck_tests::moment::spend;
use upcheck_tests::tools;

const TARGETS: usize = 500;
const SOURCES: usize = 60;

fn start(directory: &Path) -> Child {
    let mut driver = Command::new(tools::driver());
    driver.arg(directory).stdout(Stdio::piped()).stderr(Stdio::piped());
    driver.spawn().expect("the driver starts")
}

/// Lets a driver build to its end. How many targets it built.
fn finish(driver: Child) -> usize {
    let output = driver.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout.iter().filter(|byte| **byte == b'\n').count()
}

/// The targets that the driver would build.
fn stale(directory: &Path) -> BTreeSet<String> {
    let mut driver = Command::new(tools::driver());
    let output = driver.arg(directory).arg("-n").output().expect("the driver starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| line.split_once(':').expect("a target and why").0.to_owned()).collect()
}

/// What a target has to be, and whether it needs what is stale.
fn right(directory: &Path, target: usize) -> Vec<u8> {
    let source = |number: usize| fs::read(directory.join(format!("sources/{number}"))).expect("a source");
    let mut content = source(target % SOURCES);
    content.extend(source((target * 7 + 3) % SOURCES));
    if target >= 100 && !target.is_multiple_of(5) {
        content.extend(right(directory, target / 100 * 100 - 100 + target * 13 % 100));
    }
    content
}

/// That everything fresh is right. How much of it there is.
fn verify(directory: &Path) -> usize {
    let stale = stale(directory);
    let fresh: Vec<_> = (0..TARGETS).filter(|target| !stale.contains(&format!("built/{target}"))).collect();
    for &target in &fresh {
        let found = fs::read(directory.join(format!("built/{target}"))).expect("what is fresh is there");
        let right = right(directory, target);
        assert!(
            found == right,
            "built/{target} is fresh, and is {:?} instead of {:?}",
            String::from_utf8_lossy(&found),
            String::from_utf8_lossy(&right)
        );
    }
    fresh.len()
}

/// Changes a source, with the same size or another one, in place or not, with a new time or the old one.
fn edit(directory: &Path, dice: &mut Dice) {
    let path = directory.join(format!("sources/{}", dice.roll(SOURCES as u64)));
    let content = format!("{}\n", dice.roll(1000));
    let before = fs::metadata(&path).expect("a source").modified().expect("a time");
    match dice.roll(4) {
        0 => fs::write(&path, content).expect("written"),
        1 => {
            let new = path.with_extension("new");
            fs::write(&new, content).expect("written");
            fs::rename(new, path).expect("renamed");
        }
        2 => {
            fs::write(&path, content).expect("written");
            let file = fs::File::options().write(true).open(&path).expect("a source");
            file.set_modified(before).expect("a time");
        }
        // Back to what it was at first, as when a branch is switched.
        _ => {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            fs::write(&path, format!("{name}\n")).expect("written");
        }
    }
}

/// Waits for some lines, and then for a moment.
fn watch(driver: &mut Child, lines: u64, moment: u64) {
    let mut output = BufReader::new(driver.stdout.as_mut().expect("piped"));
    let mut line = String::new();
    for _ in 0..lines {
        line.clear();
        if output.read_line(&mut line).expect("lines") == 0 {
            return;
        }
    }
    spend(moment);
}

/// `n_kills` times a driver that is killed, and a last one that is not. More often where many had ended before, as they do
/// while the machine has other things to do.
fn kill_again_and_again(n_kills: u64, n_drivers: usize, seed: u64) {
    let place = TempDir::new().expect("a temporary directory");
    let directory = place.path();
    let mut dice = Dice(seed);
    finish(start(directory));
    assert_eq!(verify(directory), TARGETS);
    let (mut n_killed, mut n_fresh) = (0, 0);
    let mut kill = 0;
    while kill < n_kills || n_killed * 2 <= n_kills {
        assert!(kill < 20 * n_kills, "only {n_killed} of {kill} were killed at work");
        for _ in 0..dice.roll(4) {
            edit(directory, &mut dice);
        }
        if dice.one_in(5) {
            // Something more to build.
            fs::remove_dir_all(directory.join("built")).expect("removed");
        }
        let mut drivers: Vec<Child> = (0..n_drivers).map(|_| start(directory)).collect();
        if dice.one_in(2) {
            let lines = dice.roll(20);
            watch(&mut drivers[0], lines, 0);
            edit(directory, &mut dice);
        }
        let lines = if dice.one_in(3) { 0 } else { dice.roll(60) };
        watch(&mut drivers[0], lines, dice.roll(if dice.clone().one_in(2) { 30_000 } else { 300 }));
        for mut driver in drivers {
            driver.kill().expect("SIGKILL");
            n_killed += u64::from(!driver.wait().expect("it ends").success());
        }
        n_fresh += verify(directory);
        kill += 1;
        if kill % 50 == 0 {
            progress(&format!("killed {kill} of {n_kills} times"));
        }
    }
    let last: Vec<Child> = (0..n_drivers).map(|_| start(directory)).collect();
    last.into_iter().for_each(|driver| {
        finish(driver);
    });
    assert_eq!(verify(directory), TARGETS);
    assert_eq!(finish(start(directory)), 0);
    if n_kills >= 50 {
        progress(&format!("{n_killed} killed, {n_fresh} times something was fresh, and right"));
    }
}

#[test]
fn whenever_a_driver_is_killed_what_is_fresh_is_right() {
    kill_again_and_again(number("UPCHECK_KILLS", 40), 1, 1);
}

#[test]
fn whenever_two_drivers_at_once_are_killed_what_is_fresh_is_right() {
    kill_again_and_again(number("UPCHECK_KILLS", 40) / 4, 2, 2);
}

#[test]
fn two_drivers_at_once_build_everything_together() {
    let place = TempDir::new().expect("a temporary directory");
    let drivers = [start(place.path()), start(place.path())];
    let n_built: usize = drivers.into_iter().map(finish).sum();
    // A target can be built twice: who reads its inputs while they are made again has to.
    assert!(n_built >= TARGETS, "{n_built}");
    assert_eq!(verify(place.path()), TARGETS);
}
