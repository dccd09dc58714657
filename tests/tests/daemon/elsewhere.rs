//! Paths that stand for something else in another process, and places where a daemon cannot be: nobody gets another answer for it.

use crate::command::Ran;
use crate::command::spaces::{changed_header, program};
use crate::followed::{Followed, checked};
use crate::{User, state};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use upcheck_tests::answer::{Question, build};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// The daemon's own standard input is empty.
#[test]
fn a_manifest_from_standard_input_by_its_path_is_not_for_the_daemon() {
    let (user, space) = (User::new(), changed_header());
    user.run(&space, "watch start").answer(0);
    for path in ["/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"] {
        for option in ["-f", "--file"] {
            let answer = |more: &str| {
                let mut command = user.command(&space);
                command.args(["check", option, path]).args(more.split_whitespace());
                command.stdin(File::open(space.path().join("build.ninja")).expect("a manifest"));
                Ran::new(command.output().expect("upcheck starts"))
            };
            let plain = answer("--no-watch");
            assert_eq!((answer(""), plain.status), (plain, 1), "{option} {path}");
        }
    }
}

/// The daemon is in the root.
#[test]
fn a_depfile_that_names_what_the_process_has_is_not_for_the_daemon() {
    let (user, space) = (User::new(), Space::new());
    let text = "rule cp\n  command = cp $in $out\n  depfile = $out.d\nbuild o: cp s\n";
    space.write("build.ninja", text);
    space.write("s", "");
    space.write("usr/include/h", "");
    space.write("o.d", "o: s /proc/self/cwd/usr/include/h\n");
    build(&space, Ninja::V1_13, &Question::default());
    user.run(&space, "watch start").answer(0);
    user.run(&space, "").answer(0);
    space.write_last("usr/include/h", "newer");
    let plain = user.run(&space, "--no-watch");
    assert_eq!((user.run(&space, ""), plain.status), (plain, 1));
}

/// Whoever is told of a file is told of a name, which has no slash in it.
#[test]
fn logs_and_depfiles_whose_paths_have_two_slashes_are_seen_to_appear() {
    for (begin, depfile) in [("builddir = out/\n", ""), ("", "  depfile = dep//$out.d\n")] {
        let (user, space) = (User::new(), Space::new());
        space.write(
            "build.ninja",
            format!("{begin}rule cp\n  command = cp $in $out\n  generator = 1\n{depfile}build o: cp s\n"),
        );
        space.write("s", "");
        space.write("h", "");
        space.write("out/there", "");
        space.write("dep/there", "");
        build(&space, Ninja::V1_13, &Question::default());
        let (from, to) = if depfile.is_empty() { ("out/.ninja_log", "saved") } else { ("dep/o.d", "saved") };
        if depfile.is_empty() {
            // By the log the source is newer than what the command has read, by their times it is not.
            space.write_last("s", "newer");
            space.write_last("o", "newer still");
        } else {
            space.write("dep/o.d", "o: h\n");
            space.write_last("h", "newer");
        }
        std::fs::rename(space.path().join(from), space.path().join(to)).expect("a file");
        user.run(&space, "watch start").answer(0);
        crate::settled::settle(&user, &space);
        let before = user.run(&space, "--no-watch --no-image");
        assert_eq!(crate::without_watched(&user.run(&space, "").stdout).0, before.stdout);
        std::fs::rename(space.path().join(to), space.path().join(from)).expect("a file");
        let plain = user.run(&space, "--no-watch --no-image");
        assert_ne!(plain.stdout, before.stdout, "{depfile}");
        let by_daemon = user.run(&space, "");
        assert_eq!(
            (by_daemon.status, crate::without_watched(&by_daemon.stdout).0),
            (plain.status, plain.stdout),
            "{begin}{depfile}"
        );
    }
}

/// Each is looked up by its number, and those that are spelt anew have others.
#[test]
fn of_depfiles_some_of_which_have_two_slashes_each_is_read_again() {
    let (user, space) = (User::new(), Space::new());
    let mut text = "rule cp\n  command = cp $in $out\n  depfile = dep$slash$out.d\n".to_owned();
    for n in 0..8 {
        let slash = if n % 3 == 0 { "//" } else { "/" };
        text.push_str(&format!("build o{n}: cp s\n  slash = {slash}\n"));
        space.write(&format!("dep/o{n}.d"), format!("o{n}: s\n"));
    }
    space.write("build.ninja", text);
    space.write("s", "");
    space.write("h", "");
    build(&space, Ninja::V1_13, &Question::default());
    space.write_last("h", "newer");
    user.run(&space, "watch start").answer(0);
    for n in 0..8 {
        crate::settled::settle(&user, &space);
        let depfile = format!("dep/o{n}.d");
        space.write(&depfile, format!("o{n}: s h\n"));
        let plain = user.run(&space, &format!("-q --no-watch --no-image o{n}"));
        assert_eq!(plain.status, 1);
        let stale = |args: &str| {
            user.run(&space, args).stdout.lines().next().map(|line| line.replace(" (watched)", ""))
        };
        assert_eq!(stale(""), stale("--no-watch --no-image"), "{depfile}");
    }
}

/// To the system a NUL ends a path, so it is the file before that.
#[test]
fn a_path_with_a_nul_in_the_deps_log_is_not_for_the_daemon() {
    let (user, space) = (User::new(), Space::new());
    space.write(
        "build.ninja",
        "rule cp\n  command = cp $in $out && echo '$out: h' > $out.d\n  depfile = $out.d\n  deps = gcc\nbuild o: cp s\n",
    );
    space.write("s", "");
    space.write("h", "");
    build(&space, Ninja::V1_13, &Question::default());
    let made = space.mtime("o").expect("an output");
    space.write(".ninja_deps", crate::command::deps_log(&[("o", made, &["h\0zz"])]));
    user.run(&space, "watch start").answer(0);
    for _ in 0..3 {
        user.run(&space, "").answer(0);
    }
    space.write_last("h", "newer");
    let plain = user.run(&space, "--no-watch --no-image");
    assert_eq!((user.run(&space, ""), plain.status), (plain, 1));
}

#[test]
fn a_directory_by_what_a_process_calls_it_is_not_for_the_daemon() {
    let (user, space) = (User::new(), changed_header());
    user.run(&space, "watch start").answer(0);
    for directory in ["/proc/self/cwd", "/proc/thread-self/cwd/."] {
        let plain = user.run(&space, &format!("check --no-watch -C {directory}"));
        assert_eq!(user.run(&space, &format!("check -C {directory}")), plain, "{directory}");
        assert_eq!(plain.status, 1, "{directory}");
    }
    let status = user.status().expect("it runs");
    assert_eq!(status["builds"].as_array().map(Vec::len), Some(0), "{status}");
}

/// Where the daemon cannot listen, each attempt to start one leaves a process that ends at once.
#[test]
fn where_no_daemon_can_be_started_whoever_goes_on_waits_between_two_looks_and_leaves_no_processes() {
    let (user, space) = (User::new(), program());
    fs::create_dir(user.folder()).expect("a directory");
    fs::set_permissions(user.folder(), fs::Permissions::from_mode(0o700)).expect("permissions");
    fs::create_dir_all(user.folder().join("socket/x")).expect("a directory");
    let mut command = user.command(&space);
    let mut followed = Followed::spawn(command.args(["watch", "--", "cat", "build.ninja"]));
    followed.says("fresh");
    for header in ["2", "3", "4"] {
        space.write_last("config.h", header);
        followed.says("stale");
        space.set_mtime("config.h", crate::command::spaces::T);
        followed.says("fresh");
    }
    let is_child = |stat: &str| {
        let behind = stat.rsplit_once(") ")?.1;
        Some((behind.split(' ').nth(1)?.parse() == Ok(followed.pid())).then_some(behind.starts_with('Z')))?
    };
    let stats = fs::read_dir("/proc").expect("processes").flatten();
    let stats = stats.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let n_dead = stats.filter_map(|stat| is_child(&stat)).filter(|is_dead| *is_dead).count();
    assert!(n_dead <= 1, "{n_dead} processes were left");
    let log = fs::read_to_string(user.folder().join("log")).unwrap_or_default();
    // Each look tries once, and there is a second between two of them at least.
    assert!(log.lines().count() <= 100, "{}", log.lines().count());
}

#[test]
fn of_many_that_start_it_at_once_all_succeed() {
    let (user, space) = (User::new(), program());
    let start = |_| {
        let mut command = user.command(&space);
        command.args(["watch", "start"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("upcheck starts")
    };
    for child in (0..6).map(start).collect::<Vec<_>>() {
        let started = Ran::new(child.wait_with_output().expect("it ends")).answer(0);
        assert!(started.ends_with(&format!(", pid {}\n", user.pid())), "{started}");
    }
}

#[test]
fn where_the_image_cannot_be_kept_each_check_says_so_and_whoever_waits_goes_on_waiting() {
    let (user, space) = (User::new(), changed_header());
    let images = space.path().join("images");
    fs::create_dir(&images).expect("a directory");
    // Anybody could put an image there.
    fs::set_permissions(&images, fs::Permissions::from_mode(0o777)).expect("permissions");
    let run = |args: &str| {
        let mut command = user.command(&space);
        command.env("UPCHECK_CACHE_DIR", &images).args(args.split_whitespace());
        Ran::new(command.output().expect("upcheck starts"))
    };
    run("watch start").answer(0);
    let plain = run("check --no-watch");
    assert!(plain.stderr.contains("keeping an image in "), "{}", plain.stderr);
    for _ in 0..3 {
        assert_eq!(run("check"), plain);
    }
    let mut command = user.command(&space);
    command.env("UPCHECK_CACHE_DIR", &images).args(["check", "--follow", "--format", "jsonl"]);
    let mut followed = Followed::spawn(&mut command);
    followed.settles_at(&checked(&user, &space, ""));
    space.set_mtime("config.h", crate::command::spaces::T);
    // No answer comes twice in a row.
    followed.settles_at(&checked(&user, &space, ""));
    run("watch stop").answer(0);
}

#[test]
fn several_questions_about_one_build_are_all_remembered() {
    let (user, space) = (User::new(), Space::new());
    let builds: String = (0..6).map(|n| format!("build o{n}: cp i{n}\n")).collect();
    space.write("build.ninja", format!("rule cp\n  command = cp $in $out\n{builds}"));
    (0..6).for_each(|n| space.write(&format!("i{n}"), ""));
    user.run(&space, "watch start").answer(0);
    for _ in 0..3 {
        (0..6).for_each(|n| drop(user.run(&space, &format!("-q o{n}")).answer(1)));
    }
    let status = user.status().expect("it runs");
    assert_eq!(status["builds"][0]["from_everything"]["first question"], 6, "{status}");
    assert_eq!(status["builds"][0]["from_memory"], 12, "{status}");
    assert!(state(user.pid()).is_some());
}
