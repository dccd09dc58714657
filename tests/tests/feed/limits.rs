//! What there may be too much of: events, watches, instances, memory.

use crate::World;
use std::fs::{self, File};
use std::process::Command;
use std::sync::Arc;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;
use upcheck_watch::{Feed, Memory, Options, Why};

#[test]
fn when_the_system_could_not_keep_all_it_had_to_tell_everything_is_asked() {
    let world = World::new(&["a", "d/a", "d/b"]);
    for path in ["a", "d/a", "d/b"] {
        world.space.write(path, "1");
    }
    assert_eq!(world.settle(), 0);
    let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").expect("a limit");
    let most: u32 = most.trim().parse().expect("a number");
    for _ in 0..most.div_ceil(2) + 100 {
        // Two things that are told.
        File::create(world.full("d/unwanted")).expect("a file");
        fs::remove_file(world.full("d/unwanted")).expect("a file");
    }
    world.space.write("d/a", "after the queue was full");
    let asked = world.look();
    assert_eq!((asked.of_disk, asked.forgotten), (3, 1));
    assert_eq!(world.memory.why(), Some(Why::Overflow));
    assert_eq!(world.feed.counters().overflows, 1);
    assert_eq!(world.settle(), 0);
    world.space.write("d/a", "22");
    assert_eq!(world.asked(), 1);
}

/// Runs a test of this suite where root is somebody who has less. Says whether that could be done.
fn run_with(limit: &str, test: &str) -> bool {
    let own = std::env::current_exe().expect("this program");
    let script = format!("{limit} || exit 90; exec \"$1\" --exact {test} --ignored");
    let output = Command::new("unshare").args(["-Ur", "sh", "-c", &script, "sh"]).arg(own).output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            not_tested(&format!("limits; starting unshare: {error}"));
            return false;
        }
    };
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(90) || said.starts_with("unshare: ") {
        not_tested(&format!("limits; {}", said.trim()));
        return false;
    }
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    true
}

#[test]
fn what_the_system_does_not_let_be_watched_is_asked_for_each_time() {
    run_with("echo 40 >/proc/sys/user/max_inotify_watches", "limits::inside_few_watches");
}

#[test]
#[ignore = "run by the one above, where only 40 watches are allowed"]
fn inside_few_watches() {
    let names: Vec<_> = (0..10).flat_map(|d| (0..10).map(move |f| format!("d{d}/f{f}"))).collect();
    let world = World::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    names.iter().for_each(|name| world.space.write(name, "1"));
    let asked = world.settle();
    assert!((50..100).contains(&asked), "{asked}");
    for name in &names {
        world.space.write(name, "22");
        world.look();
    }
    for d in 0..10 {
        fs::rename(world.full(&format!("d{d}")), world.full("gone")).expect("a renaming");
        world.look();
        fs::rename(world.full("gone"), world.full(&format!("d{d}"))).expect("a renaming");
        world.look();
    }
    assert!(world.feed.counters().refused > 0);
}

#[test]
fn where_nobody_may_watch_that_is_said() {
    run_with("echo 0 >/proc/sys/user/max_inotify_instances", "limits::inside_no_instances");
}

#[test]
#[ignore = "run by the one above, where nobody may watch"]
fn inside_no_instances() {
    assert!(Feed::here().is_err());
}

#[test]
fn a_file_costs_a_hundred_bytes_at_most() {
    // fanotify knows files by longer names.
    let more = if Feed::here().expect("a feed").counters().by == "fanotify" { 10 } else { 0 };
    costs_at_most(100 + more, 20);
    costs_at_most(75 + more, 100);
}

/// What 10,000 files cost, so many in each directory.
#[track_caller]
fn costs_at_most(most: usize, n: usize) {
    let directories = 0..10_000 / n;
    let names: Vec<_> =
        directories.flat_map(|d| (0..n).map(move |f| format!("src/d{d}/file-{f}.cc"))).collect();
    let world = World::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    names.iter().for_each(|name| world.space.write(name, ""));
    assert_eq!(world.settle(), 0);
    let bytes = world.feed.counters().bytes + world.memory.bytes();
    assert!(bytes <= names.len() * most, "{} bytes for each of {} files", bytes / names.len(), names.len());
    assert!(bytes >= names.len() * 50, "all of it is counted: {bytes}");
}

/// Of what is opened in a directory nobody wants to know who asks for the directory itself.
#[test]
fn a_directory_that_is_asked_for_itself_does_not_keep_its_files_from_being_remembered() {
    let names: Vec<_> =
        (0..40).map(|f| format!("d/f{f}")).chain(["d".to_owned(), "d/sub".to_owned()]).collect();
    let world = World::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    names[..40].iter().for_each(|name| world.space.write(name, "1"));
    fs::create_dir(world.full("d/sub")).expect("a directory");
    assert_eq!(world.settle(), 2, "directories are asked for each time");
    for name in &names[..40] {
        drop(File::open(world.full(name)).expect("a file"));
    }
    fs::read_dir(world.full("d")).expect("a directory").for_each(drop);
    assert_eq!(world.settle(), 2);
    world.space.write("d/f3", "22");
    assert_eq!(world.asked(), 3);
}

#[test]
fn what_nobody_remembers_any_more_is_not_watched_for_ever() {
    let names: Vec<_> = (0..30).map(|d| format!("d{d}/f")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let all = World::new(&names);
    names.iter().for_each(|name| all.space.write(name, "1"));
    assert_eq!(all.settle(), 0);
    let beside = |wanted: &[&str]| {
        let base = all.base.clone();
        let memory =
            Memory::new(Arc::clone(&all.feed), base.as_os_str().as_encoded_bytes(), Options::default());
        World { base, files: crate::table(wanted), feed: Arc::clone(&all.feed), memory, space: Space::new() }
    };
    let (few, again) = (beside(&names[..3]), beside(&names));
    assert_eq!(few.settle(), 0);
    let World { base, feed, memory, space, .. } = all;
    let n_before = feed.counters().directories;
    drop(memory);
    assert_eq!(feed.counters().directories, n_before - 27);
    // Whoever still has answers, or has some again, is told of changes.
    for world in [&few, &again] {
        assert_eq!(world.settle(), 0);
        for name in &names {
            fs::write(base.join(name), "22").expect("a file");
        }
        assert_eq!(usize::try_from(world.asked()), Ok(world.files.len()));
    }
    assert_eq!(feed.counters().directories, n_before);
    drop(space);
}

#[test]
fn trees_that_went_away_do_not_keep_their_watches_for_ever() {
    let names: Vec<_> = (0..6_000).map(|f| format!("tree/f{f}")).collect();
    let world = World::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for n in 0..4 {
        names.iter().for_each(|name| world.space.write(name, "1"));
        world.look();
        fs::rename(world.full("tree"), world.full(&format!("old{n}"))).expect("a renaming");
        world.look();
    }
    names.iter().for_each(|name| world.space.write(name, "1"));
    world.look();
    assert!(world.feed.counters().files <= 18_000, "{:?}", world.feed.counters());
    assert_eq!(world.settle(), 0);
}
