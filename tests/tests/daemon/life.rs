//! How a daemon begins and ends.

use crate::command::spaces::{changed_header, program};
use crate::{User, without_watched};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use upcheck_tests::space::Space;

#[test]
fn it_is_started_says_what_it_does_and_is_stopped() {
    let (user, space) = (User::new(), program());
    assert_eq!(user.run(&space, "watch status").answer(1), "upcheck watch does not run\n");
    assert_eq!(user.run(&space, "watch stop").answer(0), "upcheck watch does not run\n");
    let started = user.run(&space, "watch start").answer(0);
    let pid = user.pid();
    assert_eq!(started, format!("upcheck watch runs, pid {pid}\n"));
    assert_eq!(user.run(&space, "watch start").answer(0), format!("upcheck watch runs already, pid {pid}\n"));
    assert_eq!(user.pid(), pid);
    let status = user.run(&space, "watch status").answer(0);
    assert!(status.starts_with("upcheck watch "), "{status}");
    assert!(status.contains("  0 questions, 0 declined\n"), "{status}");
    assert_eq!(user.run(&space, "watch stop").answer(0), "upcheck watch has ended\n");
    assert!(!std::path::Path::new(&format!("/proc/{pid}/fd")).exists() || crate::state(pid) == Some('Z'));
    assert_eq!(user.run(&space, "watch status").answer(1), "upcheck watch does not run\n");
}

#[test]
fn a_check_that_wants_one_starts_it_and_others_use_it_and_say_so() {
    let (user, space) = (User::new(), program());
    let plain = user.run(&space, "").answer(0);
    assert!(user.status().is_none(), "a check alone starts nothing");
    assert_eq!(user.run(&space, "check --watch").answer(0), plain);
    let pid = user.pid();
    assert_eq!(without_watched(&user.run(&space, "").answer(0)), (plain.clone(), true));
    assert_eq!(without_watched(&user.run(&space, "--watch").answer(0)), (plain.clone(), true));
    assert_eq!(user.run(&space, "--no-watch").answer(0), plain);
    assert_eq!(user.run(&space, "-q").answer(0), "");
    assert_eq!((user.pid(), &user.status().expect("it runs")["questions"]), (pid, &4.into()));
}

#[test]
fn whatever_it_does_not_answer_is_answered_without_it_and_only_who_wants_it_is_told() {
    let (user, space) = (User::new(), changed_header());
    user.run(&space, "watch start").answer(0);
    for args in ["--exact", "--no-image", "--threads 1 --no-image"] {
        let plain = user.run(&space, &format!("check --no-watch {args}")).answer(1);
        assert_eq!(user.run(&space, &format!("check {args}")).answer(1), plain, "{args}");
        let told = user.run(&space, &format!("check --watch {args}"));
        assert_eq!((told.status, told.stdout), (1, plain), "{args}");
        assert!(
            told.stderr.starts_with("upcheck: warning: upcheck watch did not answer: "),
            "{}",
            told.stderr
        );
    }
    // Trouble is the same, too.
    for args in ["nothing", "-f nothing", "-C nothing", "--format json nothing"] {
        let plain = user.run(&space, &format!("check --no-watch {args}"));
        assert_eq!(plain.status, 2);
        assert_eq!(user.run(&space, &format!("check {args}")), plain, "{args}");
    }
}

#[test]
fn it_sees_the_world_as_who_asks_or_says_no() {
    let (user, space) = (User::new(), changed_header());
    user.run(&space, "watch start").answer(0);
    let there = |zone: &str, args: &str| {
        let mut command = user.command(&space);
        command.env("TZ", zone).args(args.split_whitespace());
        let output = command.output().expect("upcheck starts");
        (String::from_utf8(output.stdout).expect("text"), String::from_utf8(output.stderr).expect("text"))
    };
    let (tokyo, _) = there("Asia/Tokyo", "check --no-watch");
    let (answer, said) = there("Asia/Tokyo", "check --watch");
    assert_eq!(answer, tokyo);
    assert!(said.contains("it has another time zone"), "{said}");
    let declined = &user.status().expect("it runs")["declined"];
    assert_eq!(declined["it has another time zone"], 1, "{declined}");
}

#[test]
fn of_many_that_are_started_at_once_one_stays() {
    let (user, space) = (User::new(), program());
    let start = |_| {
        let mut command = user.command(&space);
        command.args(["check", "--watch"]).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("upcheck starts")
    };
    let started: Vec<_> = (0..8).map(start).collect();
    for mut child in started {
        assert!(child.wait().expect("it ends").success());
    }
    let pid = user.pid();
    let processes = std::fs::read_dir("/proc").expect("/proc");
    let folder = format!("XDG_RUNTIME_DIR={}\0", user.folder().parent().expect("a folder").display());
    let ours = processes.flatten().filter(|process| {
        let read = |name: &str| std::fs::read(process.path().join(name)).unwrap_or_default();
        let is_daemon = read("cmdline").windows(13).any(|part| part == b"watch\0serve\0-");
        is_daemon && String::from_utf8_lossy(&read("environ")).contains(&folder)
    });
    let pids: Vec<_> = ours.map(|process| process.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(pids, [pid.to_string()]);
}

#[test]
fn it_ends_when_nobody_asks_and_leaves_no_socket() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start --idle 1").answer(0);
    // However long that takes.
    while user.folder().join("socket").exists() {
        std::thread::yield_now();
    }
    assert!(user.status().is_none());
    let log = std::fs::read_to_string(user.folder().join("log")).expect("a log");
    assert!(log.contains("ended: Idle"), "{log}");
}

#[test]
fn its_folder_is_for_nobody_else_and_one_that_is_not_is_refused() {
    let (user, space) = (User::new(), program());
    user.run(&space, "watch start").answer(0);
    let mode = |name: &str| {
        let meta = std::fs::symlink_metadata(user.folder().join(name)).expect("it is there");
        meta.permissions().mode() & 0o777
    };
    assert_eq!([mode(""), mode("socket"), mode("lock"), mode("log")], [0o700, 0o600, 0o600, 0o600]);
    user.run(&space, "watch stop").answer(0);
    std::fs::set_permissions(user.folder(), PermissionsExt::from_mode(0o755)).expect("a mode");
    let trouble = user.run(&space, "watch start").trouble();
    assert!(trouble.contains("it is not a folder that only its user can look into"), "{trouble}");
    // A check does without.
    assert_eq!(user.run(&space, "").status, 0);
    std::fs::set_permissions(user.folder(), PermissionsExt::from_mode(0o700)).expect("a mode");
}

#[test]
fn questions_change_nothing_in_the_tree_and_many_directories_have_one_daemon() {
    let user = User::new();
    let spaces = [program(), changed_header(), program()];
    let before: Vec<_> = spaces.iter().map(Space::entries).collect();
    for round in 0..3 {
        for (space, status) in spaces.iter().zip([0, 1, 0]) {
            let (_, is_watched) = without_watched(&user.run(space, "--watch").answer(status));
            assert_eq!(is_watched, round > 0);
        }
    }
    let after: Vec<_> = spaces.iter().map(Space::entries).collect();
    assert!(before == after);
    let status = user.status().expect("it runs");
    assert_eq!(status["builds"].as_array().map(Vec::len), Some(3), "{status}");
}

#[test]
fn what_a_script_has_locked_is_free_again_when_the_script_is_over() {
    let (user, space) = (User::new(), program());
    let lock = space.path().join("locked");
    // Not every shell has numbers beyond 9.
    for (shell, number) in [("sh", 9), ("bash", 200)] {
        let script =
            format!("exec {number}>\"$0\" && flock {number} && \"$1\" watch start >started && cat started");
        let mut shell = std::process::Command::new(shell);
        user.be(shell
            .args(["-c", &script])
            .arg(&lock)
            .arg(upcheck_tests::tools::upcheck())
            .current_dir(space.path()));
        let output = shell.output().expect("a shell");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let file = std::fs::File::open(&lock).expect("the lock");
        assert!(file.try_lock().is_ok(), "the daemon has it as {number}");
        // HOME is another one here than in other commands, and whoever stops it may see the world as he likes.
        user.run(&space, "watch stop").answer(0);
    }
}
