//! What a feed tells those who ask it: tokens, several askers, and what it does not know.

use std::fs;
use std::sync::Arc;
use upcheck_tests::space::Space;
use upcheck_watch::{Changed, Changes, Closed, Doubt, Feed, NameTrust, Place, Token, Trust, Why};

/// A feed of one directory with one file in it that is vouched for.
fn feed_of(space: &Space) -> (Feed, Place) {
    space.write("a", "1");
    let feed = Feed::here().expect("a feed");
    let path = path(space);
    let (place, trust) = feed.watch(&path);
    assert_eq!(trust, Trust::Vouched);
    assert_eq!(feed.watch_names(place, &path, [&b"a"[..]].into_iter()), [NameTrust::Held]);
    until_closed(|| prove_closed(&feed, place, space, "a"));
    assert_eq!(feed.watch_names(place, &path, [&b"a"[..]].into_iter()), [NameTrust::Vouched]);
    (feed, place)
}

/// Until nobody has a file open any more: a child that another test has just begun may have all that this process has.
fn until_closed(prove: impl Fn() -> Closed) {
    while prove() != Closed::Yes {
        std::thread::yield_now();
    }
}

fn prove_closed(feed: &Feed, place: Place, space: &Space, name: &str) -> Closed {
    feed.prove_closed(place, name.as_bytes(), space.path().join(name).as_os_str().as_encoded_bytes())
}

fn path(space: &Space) -> Vec<u8> {
    space.path().as_os_str().as_encoded_bytes().to_vec()
}

#[track_caller]
fn only((changes, token): (Changes, Token)) -> (Changed, Token) {
    match changes {
        Changes::Only(changed) => (changed, token),
        Changes::Everything(why) => panic!("everything: {why:?}"),
    }
}

#[test]
fn each_asker_is_told_what_happened_since_it_asked_last() {
    let space = Space::new();
    let (feed, place) = feed_of(&space);
    let (first, one) = feed.since(None);
    assert_eq!(first, Changes::Everything(Why::First));
    let (_, other) = feed.since(None);
    space.write("a", "2");
    let (changed, one) = only(feed.since(Some(one)));
    assert!(changed.has(place, b"a") && !changed.has(place, b"b"));
    space.write("b", "2");
    let (changed, one) = only(feed.since(Some(one)));
    assert!(changed.has(place, b"b") && !changed.has(place, b"a"));
    let (changed, _) = only(feed.since(Some(other)));
    assert!(changed.has(place, b"b") && changed.has(place, b"a"));
    assert!(only(feed.since(Some(one))).0.is_empty());
}

#[test]
fn what_was_drained_is_told_all_the_same() {
    let space = Space::new();
    let (feed, place) = feed_of(&space);
    let (_, token) = feed.since(None);
    space.write("a", "2");
    feed.drain();
    feed.drain();
    assert!(only(feed.since(Some(token))).0.has(place, b"a"));
}

#[test]
fn what_waits_can_be_waited_for() {
    let space = Space::new();
    let (feed, _) = feed_of(&space);
    feed.drain();
    let is_readable = || {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let descriptor = feed.descriptor().expect("one");
        let mut asked = [PollFd::new(&descriptor, PollFlags::IN)];
        poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).expect("an answer") == 1
    };
    assert!(!is_readable());
    space.write("a", "2");
    assert!(is_readable());
    feed.drain();
    assert!(!is_readable());
}

#[test]
fn a_token_of_a_feed_that_was_there_before_means_everything() {
    let space = Space::new();
    let token = feed_of(&space).0.since(None).1;
    let (feed, _) = feed_of(&space);
    feed.since(None);
    let kept = Token::from_bytes(token.to_bytes());
    assert_eq!(feed.since(Some(kept)).0, Changes::Everything(Why::NotOurToken));
}

#[test]
fn a_file_is_held_until_it_is_proved_that_nobody_has_it_open_and_again_when_it_is_opened() {
    let space = Space::new();
    let (feed, place) = feed_of(&space);
    let trust = || feed.watch_names(place, &path(&space), [&b"b"[..]].into_iter())[0];
    let prove = || prove_closed(&feed, place, &space, "b");
    assert_eq!(trust(), NameTrust::Vouched, "it is not there");
    let one = fs::File::create(space.path().join("b")).expect("a file");
    let two = fs::OpenOptions::new().append(true).open(space.path().join("b")).expect("a file");
    feed.drain();
    assert_eq!((trust(), prove(), trust()), (NameTrust::Held, Closed::No, NameTrust::Held));
    fs::rename(space.path().join("b"), space.path().join("c")).expect("a renaming");
    fs::rename(space.path().join("c"), space.path().join("b")).expect("a renaming");
    feed.drain();
    assert_eq!((trust(), prove(), trust()), (NameTrust::Held, Closed::No, NameTrust::Held));
    drop(one);
    assert_eq!(
        (trust(), prove(), trust()),
        (NameTrust::Held, Closed::No, NameTrust::Held),
        "two has it open"
    );
    drop(two);
    feed.drain();
    assert_eq!(trust(), NameTrust::Held);
    until_closed(prove);
    assert_eq!(trust(), NameTrust::Vouched);
    drop(fs::OpenOptions::new().append(true).open(space.path().join("b")).expect("a file"));
    feed.drain();
    assert_eq!(trust(), NameTrust::Held);
    until_closed(prove);
    assert_eq!(trust(), NameTrust::Vouched);
}

#[test]
fn to_prove_that_a_file_is_closed_is_no_change() {
    let space = Space::new();
    let (feed, place) = feed_of(&space);
    let (_, token) = feed.since(None);
    until_closed(|| prove_closed(&feed, place, &space, "a"));
    let (changed, token) = only(feed.since(Some(token)));
    assert!(changed.is_empty());
    // Unless somebody has it open.
    let open = fs::OpenOptions::new().write(true).open(space.path().join("a")).expect("a file");
    assert_eq!(prove_closed(&feed, place, &space, "a"), Closed::No);
    drop(open);
    assert!(only(feed.since(Some(token))).0.has(place, b"a"));
}

#[test]
fn what_was_not_watched_is_not_proved_to_be_closed() {
    let space = Space::new();
    let (feed, place) = feed_of(&space);
    space.write("b", "1");
    assert_eq!(prove_closed(&feed, place, &space, "b"), Closed::No);
    assert_eq!(prove_closed(&feed, place, &space, "c"), Closed::No);
    fs::create_dir(space.path().join("d")).expect("a directory");
    assert_eq!(prove_closed(&feed, place, &space, "d"), Closed::No);
}

#[test]
fn what_cannot_be_vouched_for_is_not() {
    let feed = Feed::here().expect("a feed");
    let doubt = |path: &[u8]| feed.watch(path).1;
    assert_eq!(doubt(b"/proc/self"), Trust::Doubted(Doubt::FileSystem(0x9fa0)));
    assert!(matches!(doubt(b"/sys/kernel"), Trust::Doubted(Doubt::FileSystem(_))));
    assert_eq!(doubt(&[&b"/"[..], &[b'x'; 300]].concat()), Trust::Doubted(Doubt::Refused(36)));
    // A path with a NUL in it is nobody's.
    assert!(matches!(doubt(b"/tmp/a\0b"), Trust::Doubted(_)));
    let (place, _) = feed.watch(b"/proc/self");
    assert_eq!(feed.watch_names(place, b"/proc/self", [&b"\0"[..]].into_iter()), [NameTrust::Doubted]);
}

#[test]
fn many_directories_with_one_way_to_them_are_watched_once_and_left_together() {
    let space = Space::new();
    let feed = Arc::new(Feed::here().expect("a feed"));
    (0..200).for_each(|n| space.write(&format!("top/d{n}/a"), "1"));
    // What was made before it was watched may be told, where a whole file system is watched.
    feed.drain();
    for n in 0..200 {
        let path = [&path(&space)[..], format!("/top/d{n}").as_bytes()].concat();
        assert_eq!(feed.watch(&path).1, Trust::Vouched);
        assert_eq!(feed.watch(&path).1, Trust::Vouched);
    }
    let (_, token) = feed.since(None);
    let before = feed.counters().directories;
    assert!((201..230).contains(&before), "{before}");
    fs::rename(space.path().join("top"), space.path().join("bottom")).expect("a renaming");
    let (changed, _) = only(feed.since(Some(token)));
    assert_eq!(changed.places().count(), 200);
    assert_eq!(feed.counters().directories, 0);
}
