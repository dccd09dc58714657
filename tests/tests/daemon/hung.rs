//! A daemon that is killed or stopped keeps nobody from his answer.

use crate::command::spaces::program;
use crate::{User, kill, without_watched};

#[test]
fn one_that_was_killed_is_not_missed_and_another_one_takes_its_place() {
    let (user, space) = (User::new(), program());
    let plain = user.run(&space, "").answer(0);
    user.run(&space, "watch start").answer(0);
    for _ in 0..3 {
        user.run(&space, "").answer(0);
        user.signal("KILL");
        assert!(user.folder().join("socket").exists(), "it could not remove it");
        assert_eq!(user.run(&space, "").answer(0), plain);
        assert_eq!(user.run(&space, "watch status").answer(1), "upcheck watch does not run\n");
        assert_eq!(user.run(&space, "--watch").answer(0), plain);
        assert!(without_watched(&user.run(&space, "").answer(0)).1);
    }
}

#[test]
fn one_that_does_not_move_is_not_waited_for() {
    let (user, space) = (User::new(), program());
    let plain = user.run(&space, "").answer(0);
    user.run(&space, "watch start").answer(0);
    user.run(&space, "").answer(0);
    let pid = user.pid();
    user.signal("STOP");
    assert_eq!(user.run(&space, "").answer(0), plain);
    let told = user.run(&space, "--watch");
    assert_eq!((told.status, &told.stdout), (0, &plain));
    assert_eq!(told.stderr, "upcheck: warning: upcheck watch did not answer: it does not answer\n");
    let trouble = user.run(&space, "watch stop").trouble();
    assert!(trouble.contains("it does not answer"), "{trouble}");
    kill("CONT", pid);
    // What was told to it meanwhile, it does: to end.
    while user.status().is_some() {
        std::thread::yield_now();
    }
}

#[test]
fn an_edit_while_it_does_not_move_is_seen() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start").answer(0);
    user.run(&space, "").answer(0);
    let pid = user.pid();
    user.signal("STOP");
    space.set_mtime("a.c", crate::command::spaces::T + 900 * crate::command::spaces::SECOND);
    kill("CONT", pid);
    assert_eq!(user.run(&space, "").status, 1);
    assert_eq!(user.pid(), pid);
}
