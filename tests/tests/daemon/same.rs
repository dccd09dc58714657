//! With and without a daemon: the same answers, on builds of the real ninja after random edits.
//!
//! `UPCHECK_CASES` sets how many edits (default 60).

use crate::{User, without_costs, without_watched};
use std::fmt::Write;
use upcheck_tests::answer::{Question, build};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

const N: u64 = 6;

/// Sources in a directory, objects with depfiles that stay or go into the log, a generated header, an archive.
pub(crate) fn project() -> Space {
    let space = Space::new();
    sources(&space);
    let mut text =
        "rule cc\n  command = cat $in > $out && echo '$out: src/common.h src/h'$n'.h' > $out.d\n  \
                    depfile = $out.d\n  deps = $deps\nrule cat\n  command = cat $in > $out\n  restat = 1\n\
                    include rules.ninja\n"
            .to_owned();
    space.write("rules.ninja", "rule gen\n  command = cat $in > $out\n");
    let mut all = String::new();
    writeln!(text, "build gen.h: gen src/gen.in").expect("a string");
    for n in 0..N {
        let deps = if n % 2 == 0 { "gcc" } else { "" };
        writeln!(text, "build out/{n}.o: cc src/{n}.c || gen.h\n  n = {n}\n  deps = {deps}")
            .expect("a string");
        write!(all, " out/{n}.o").expect("a string");
    }
    writeln!(text, "build lib: cat{all} | gen.h\nbuild lone: cat src/gen.in\ndefault lib lone")
        .expect("a string");
    space.write("build.ninja", text);
    space
}

/// Writes all sources of the project anew, whatever is in their place.
pub(crate) fn sources(space: &Space) {
    let write = |path: &str, text: &str| {
        let full = space.path().join(path);
        if full.is_dir() && !full.is_symlink() {
            std::fs::remove_dir_all(&full).expect("a directory that can be removed");
        }
        space.remove(path);
        space.write(path, text);
    };
    if !space.path().join("src").is_dir() {
        space.remove("src");
    }
    write("src/common.h", "c");
    write("src/gen.in", "g");
    for n in 0..N {
        write(&format!("src/{n}.c"), "x");
        write(&format!("src/h{n}.h"), "h");
    }
}

pub(crate) fn edit(space: &Space, number: u64) {
    let n = number / 16 % N;
    let all = [
        format!("src/{n}.c"),
        format!("src/h{n}.h"),
        format!("out/{n}.o"),
        "src/common.h".into(),
        "lib".into(),
    ];
    let file = &all[usize::try_from(number / 256 % 5).expect("small")];
    let times = [1, 1_000_000_000, 1_900_000_000_000_000_000];
    let time = times[usize::try_from(number / 4096 % 3).expect("small")];
    let path = |name: &str| space.path().join(name);
    match number % 16 {
        0..=2 => build(space, Ninja::V1_13, &Question::default()),
        3 | 4 => space.write(file, number.to_string()),
        5 | 6 => space.set_mtime(file, time),
        7 => space.remove(&format!("out/{n}.o")),
        8 => {
            let _ = std::fs::rename(path(file), path("elsewhere"));
            let _ = std::fs::rename(path("elsewhere"), path(file));
        }
        9 => {
            // A directory is replaced by another one with the same files.
            let _ = std::fs::remove_dir_all(path("src.old"));
            std::fs::create_dir(path("src.new")).expect("a directory");
            for entry in std::fs::read_dir(path("src")).expect("a directory").flatten() {
                std::fs::copy(entry.path(), path("src.new").join(entry.file_name())).expect("a copy");
            }
            std::fs::rename(path("src"), path("src.old")).expect("a rename");
            std::fs::rename(path("src.new"), path("src")).expect("a rename");
        }
        10 => {
            let text = String::from_utf8(space.read("build.ninja")).expect("text");
            let other = if text.contains("cat -u") {
                ("cat -u", "cat")
            } else {
                ("cat $in > $out &&", "cat -u $in > $out &&")
            };
            space.write("build.ninja", text.replace(other.0, other.1));
        }
        11 => space.write("rules.ninja", format!("rule gen\n  command = cat $in > $out && true {n}\n")),
        12 => space.remove(&format!("out/{n}.o.d")),
        13 => {
            // By another name.
            let link = path("link");
            let _ = std::fs::remove_file(&link);
            if std::fs::hard_link(path(file), &link).is_ok() {
                std::fs::write(&link, "by another name").expect("a file");
            }
        }
        14 => {
            let _ = std::fs::remove_file(path(file));
            let _ = std::os::unix::fs::symlink(path("src/gen.in"), path(file));
        }
        _ => {
            let mut log = space.read(".ninja_log");
            log.truncate(log.len() - log.len().min(40));
            space.write(".ninja_log", log);
        }
    }
}

#[test]
fn after_any_edit_the_daemon_says_what_a_check_says() {
    let n_edits = std::env::var("UPCHECK_CASES").map_or(60, |cases| cases.parse().expect("a number"));
    let (user, space) = (User::new(), project());
    build(&space, Ninja::V1_13, &Question::default());
    user.run(&space, "watch start").answer(0);
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    let mut edits = Vec::new();
    for _ in 0..n_edits {
        for _ in 0..3 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
        }
        edits.push(random % 16);
        // A build fails where its sources are links to each other or gone: then nothing is known, and that is compared.
        let edited = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| edit(&space, random)));
        let _ = edited;
        for args in ["", "lone", "--explain --commands", "out/1.o out/2.o"] {
            let before = user.run(&space, &format!("check --no-watch {args}"));
            let by_daemon = user.run(&space, &format!("check {args}"));
            let (stdout, _) = without_watched(&by_daemon.stdout);
            assert_eq!(
                (before.status, &before.stdout, &before.stderr),
                (by_daemon.status, &stdout, &by_daemon.stderr),
                "check {args} after {edits:?}"
            );
        }
        let before = user.run(&space, "check --no-watch --format json");
        let by_daemon = user.run(&space, "check --format json");
        assert_eq!(without_costs(&before.stdout), without_costs(&by_daemon.stdout), "after {edits:?}");
    }
    let status = user.status().expect("it runs");
    let build = &status["builds"][0];
    let count = |key: &str| build[key].as_u64().expect("a number");
    assert!(count("from_memory") > 0 && count("from_changes") > 0 && count("remembered") > 0, "{status}");
}

/// ninja cuts off what it does not understand of a log, and all that was understood is as it was.
#[test]
fn a_log_whose_damage_was_cut_off_is_no_longer_called_damaged() {
    let (user, space) = (User::new(), Space::new());
    let text = "rule cc\n  command = cat $in > $out && echo '$out: h' > $out.d\n  deps = gcc\n  depfile = $out.d\n\
                rule cat\n  command = cat $in > $out\nbuild p: cc s\nbuild o: cat s\n";
    space.write("build.ninja", text);
    space.write("s", "");
    space.write("h", "");
    build(&space, Ninja::V1_13, &Question::default());
    space.write("build.ninja", format!("{text}default o\n"));
    let mut log = space.read(".ninja_deps");
    // How long the last record is: its length, an output, a time of 8 bytes, an input.
    let at = log.len() - 20;
    log[at] ^= 32;
    space.write(".ninja_deps", &log);
    user.run(&space, "watch start").answer(0);
    let ask = || {
        let plain = user.run(&space, "check --no-watch --no-image");
        for _ in 0..3 {
            let mut by_daemon = user.run(&space, "check");
            by_daemon.stdout = without_watched(&by_daemon.stdout).0;
            assert_eq!(by_daemon, plain);
        }
        plain.stderr
    };
    assert!(ask().contains("the deps log is damaged at byte "));
    build(&space, Ninja::V1_13, &Question::default());
    assert!(space.read(".ninja_deps").len() < log.len());
    assert_eq!(ask(), "");
}
