//! Options, and what is asked for.

use crate::command::spaces::{
    SECOND, T, changed_header, manifest, many, missing_source, program, stale_manifest,
};
use crate::command::{Ran, deps_log, log_time, run, upcheck, upcheck_in};
use crate::{json, listed, many_lines};
use std::fs::File;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::MAIN_SEPARATOR;
use std::time::{Duration, SystemTime};
use upcheck_ninja::NinjaVersion;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::{Space, TICK};

#[test]
fn the_build_directory_and_the_manifest_are_options_in_any_place() {
    let space = program();
    let text = space.read("build.ninja");
    space.write("sub/build.ninja", "rule t\n  command = t\nbuild x: t\n");
    space.write("other.ninja", &text);
    space.write("sub/other.ninja", "rule t\n  command = t\nbuild y: t\nbuild z: t\n");
    for args in ["-C sub", "check -C sub", "-C sub check", "-C . -f sub/build.ninja", "-Csub"] {
        assert!(run(&space, args).answer(1).starts_with("1 of 1 target is stale\n"), "{args}");
    }
    for args in ["-f other.ninja -C sub", "-C sub check -f other.ninja"] {
        assert!(run(&space, args).answer(1).starts_with("2 of 2 targets are stale\n"), "{args}");
    }
    assert_eq!(run(&space, "-f other.ninja").answer(0), "fresh: nothing to do for 4 targets\n");
    assert_eq!(run(&space, "-C sub why x").answer(1), "x is stale\n└─ x does not exist\n");
    let absolute = space.path().join("sub").display().to_string();
    assert_eq!(run(&Space::new(), &format!("-C {absolute} -q")).answer(1), "");
}

#[test]
fn a_build_directory_below_is_hinted_at() {
    let space = Space::new();
    space.write("project/build/build.ninja", "");
    assert_eq!(
        run(&space, "-C project").trouble(),
        "upcheck: error: in 'project': loading 'build.ninja': No such file or directory\n\
         hint: there is one in 'project/build': try -C project/build\n"
            .replace("project/build", &format!("project{MAIN_SEPARATOR}build"))
    );
    assert_eq!(
        run(&space, "-C nowhere").trouble(),
        "upcheck: error: opening 'nowhere': No such file or directory\n"
    );
    assert_eq!(
        run(&space, "-C project/build/build.ninja").trouble(),
        "upcheck: error: opening 'project/build/build.ninja': Not a directory\n"
    );
}

#[test]
fn only_what_was_asked_for_is_judged_and_many_targets_are_one_pass() {
    let space = changed_header();
    assert_eq!(run(&space, "check check").answer(0), "fresh: nothing to do for 1 target\n");
    assert_eq!(listed(run(&space, "--format json b.o"), 1), "b.o:stale");
    assert_eq!(listed(run(&space, "check --format json b.o check a.o b.o"), 1), "a.o:stale b.o:stale");
    let summary = |args: &str| json(&run(&space, args).stdout)["summary"].clone();
    let all = summary("check --format json prog a.o ./b.o check all x/../prog");
    assert_eq!([&all["targets"], &all["fresh"], &all["stale"], &all["pending"]], [4, 1, 3, 0]);
    assert_eq!(all["files"], 9);
    // How these are asked for differs.
    if cfg!(unix) {
        assert_eq!([&all["stats"], &all["directories"]], [9, 1]);
    }
}

#[test]
fn a_source_is_fresh_and_a_missing_or_unreadable_one_is_trouble() {
    let space = program();
    assert_eq!(run(&space, "a.c").answer(0), "fresh: nothing to do\n");
    space.remove("a.c");
    for args in ["a.c", "--exact a.c", "why a.c"] {
        assert_eq!(
            run(&space, args).trouble(),
            "upcheck: error: 'a.c' missing and no known rule to make it\n"
        );
    }
    #[cfg(unix)]
    symlink("a.c", space.path().join("a.c")).expect("a link");
    #[cfg(unix)]
    for args in ["a.c", "--exact a.c", "why a.c"] {
        assert_eq!(
            run(&space, args).trouble(),
            "upcheck: error: stat(a.c): Too many levels of symbolic links\n"
        );
    }
}

#[test]
fn a_caret_means_the_first_target_that_uses_the_file() {
    let space = changed_header();
    assert_eq!(listed(run(&space, "--format json b.c^"), 1), "b.o:stale");
    assert_eq!(listed(run(&space, "--format json config.h^"), 1), "a.o:stale");
    assert_eq!(run(&space, "check.c^").answer(0), "fresh: nothing to do for 1 target\n");
    assert_eq!(run(&space, "all^").trouble(), "upcheck: error: 'all' has no out edge\n");
}

#[test]
fn a_caret_knows_headers_that_only_the_deps_log_knows() {
    let space = manifest("rule cc\n  command = cc $in\n  deps = gcc\n  depfile = d\nbuild a.o: cc a.c\n");
    space.write(".ninja_deps", deps_log(&[("a.o", T, &["a.c", "deep.h"])]));
    assert_eq!(listed(run(&space, "--format json deep.h^"), 1), "a.o:stale");
}

#[test]
fn targets_called_like_a_command_are_asked_for_behind_the_word_check() {
    let space = manifest(
        "rule t\n  command = t\nbuild check: t\nbuild why: t\nbuild help: t\nbuild other: phony\ndefault other\n",
    );
    assert_eq!(run(&space, "check").answer(0), "fresh: nothing to do\n");
    for name in ["check", "why", "help"] {
        let expected = format!("1 of 1 target is stale\n\nstale   {name}\n          {name} does not exist\n");
        assert_eq!(run(&space, &format!("check {name}")).answer(1), expected);
        assert_eq!(
            run(&space, &format!("why {name}")).answer(1),
            format!("{name} is stale\n└─ {name} does not exist\n")
        );
    }
}

#[test]
fn an_unknown_target_is_trouble_with_the_nearest_name() {
    let space = program();
    assert_eq!(
        run(&space, "porg").trouble(),
        "upcheck: error: unknown target 'porg', did you mean 'prog'?\n"
    );
    assert_eq!(
        run(&space, "why porg").trouble(),
        "upcheck: error: unknown target 'porg', did you mean 'prog'?\n"
    );
    assert_eq!(
        run(&space, "--exact porg").trouble(),
        "upcheck: error: unknown target 'porg', did you mean 'prog'?\n"
    );
    assert_eq!(
        run(&space, "nothing-like-it").trouble(),
        "upcheck: error: unknown target 'nothing-like-it'\n"
    );
    assert_eq!(upcheck(&space, [""]).trouble(), "upcheck: error: empty path\n");
    assert_eq!(
        upcheck(&space, ["a\x1b[31m\n"]).trouble(),
        "upcheck: error: unknown target 'a\\u{1b}[31m\n'\n",
        "an escape sequence must not reach a terminal"
    );
}

#[test]
fn explain_lists_all_targets_with_all_reasons() {
    let space = many(20);
    space.remove("out/5.o");
    let brief = run(&space, "").answer(1);
    assert_eq!(many_lines(&brief, "stale "), 0, "{brief}");
    let long = run(&space, "--explain").answer(1);
    assert_eq!(long.matches("\nstale   out/").count(), 20, "{long}");
    let both = "\nstale   out/5.o\n          out/5.o does not exist\n";
    assert!(long.contains(both), "{long}");
    assert!(
        long.contains("\nstale   all.a\n          out/0.o is stale\n          out/1.o is stale\n"),
        "{long}"
    );
    assert!(long.contains("\n          out/19.o is stale\n"), "{long}");
}

#[test]
fn commands_are_shown_on_request() {
    let space = changed_header();
    let text = run(&space, "--commands").answer(1);
    assert!(text.contains("\n          $ cc -c a.c -o a.o\n"), "{text}");
    assert!(text.ends_with("\n          $ link a.o b.o -o prog\n"), "{text}");
    let report = json(&run(&space, "--commands --format json").answer(1));
    assert_eq!(report["stale"][2]["command"], "link a.o b.o -o prog");
    let without = json(&run(&space, "--format json").answer(1));
    assert_eq!(without["stale"][2].get("command"), None);
    assert_eq!(many_lines(&run(&many(50), "--commands").answer(1), "$ "), 51);
}

#[test]
fn exact_stops_where_ninja_stops() {
    let space = stale_manifest();
    let text = run(&space, "--exact").answer(1);
    assert_eq!(
        text,
        "1 of 1 target is stale\n\
         The manifest build.ninja is stale: ninja looks no further until it has made it again.\n\n\
         stale   build.ninja\n          \
         build.ninja is the manifest, which would be made again before anything else\n          \
         configure is newer than build.ninja by 5.000 s (2023-11-14 22:13:25 against 2023-11-14 22:13:20)\n"
    );
    // Ninja has not looked at what it was asked for by then.
    assert_eq!(run(&space, "--exact nope").answer(1), text);
    assert_eq!(run(&space, "nope").trouble(), "upcheck: error: unknown target 'nope'\n");

    let space = missing_source();
    assert_eq!(
        run(&space, "--exact").trouble(),
        "upcheck: error: 'gone.c', needed by 'gone.o', missing and no known rule to make it\n"
    );
    assert_eq!(listed(run(&space, "--exact --format json other.o"), 1), "other.o:stale");
}

#[test]
fn the_rules_are_those_of_the_log_unless_told_otherwise() {
    let space = manifest("rule t\n  command = t $out\nbuild a: t\n");
    space.write_at("a", "", T);
    let murmur = NinjaVersion::V1_11.hash_command(b"t a");
    let time = log_time(T);
    space.write(".ninja_log", format!("# ninja log v5\n0\t1\t{time}\ta\t{murmur:x}\n"));
    let of = |args: &str| {
        let ran = run(&space, &format!("--format json {args}"));
        let summary = &json(&ran.stdout)["summary"];
        (
            ran.status,
            summary["ninja_version"].as_str().map(str::to_owned),
            summary["log_version"].as_u64(),
            ran.stderr,
        )
    };
    assert_eq!(of(""), (0, Some("1.11".into()), Some(5), String::new()));
    assert_eq!(of("--ninja-version 1.11"), of(""));
    let warning =
        "upcheck: warning: the build log has version 5; ninja 1.13 would throw it away and start over\n";
    assert_eq!(of("--ninja-version 1.13"), (1, Some("1.13".into()), Some(5), warning.into()));
    assert_eq!(of("--ninja-version 1.13.2"), of("--ninja-version 1.13"));
    assert_eq!(of("--ninja-version=1.12").1, Some("1.12".into()));
    space.remove(".ninja_log");
    assert_eq!(of(""), (1, Some("1.13".into()), None, String::new()));
}

#[test]
fn an_unknown_ninja_version_is_trouble_that_names_the_known_ones() {
    for version in ["1.14", "1.10", "2", "1", "x", "", "1.130"] {
        let trouble = upcheck(&program(), ["--ninja-version", version]).trouble();
        let known = "known are the rules of ninja 1.11, 1.12 and 1.13";
        assert!(trouble.contains(known), "{version}: {trouble}");
    }
}

#[test]
fn the_number_of_threads_does_not_show_in_the_answer() {
    let space = many(3_000);
    let one = run(&space, "--threads 1 --explain --commands").answer(1);
    for threads in [0, 2, 3, 64] {
        let other = run(&space, &format!("--threads {threads} --explain --commands")).answer(1);
        assert!(other == one, "{threads} threads");
    }
}

#[test]
fn colors_are_for_terminals_and_for_those_who_ask() {
    let space = changed_header();
    let colored = |args: &str, variables: &[(&str, &str)]| {
        let mut command = upcheck_in(space.path());
        command.args(args.split_whitespace()).envs(variables.iter().copied());
        let ran = Ran::new(command.output().expect("upcheck starts"));
        (ran.stdout.contains('\x1b'), ran.stderr.contains('\x1b'))
    };
    assert_eq!(colored("", &[]), (false, false), "a pipe is no terminal");
    assert_eq!(colored("--color always", &[]), (true, false));
    assert_eq!(colored("why prog --color always", &[]), (true, false));
    assert_eq!(colored("nope --color always", &[]), (false, true));
    assert_eq!(colored("--color never", &[("CLICOLOR_FORCE", "1")]), (false, false));
    assert_eq!(colored("--color auto", &[("CLICOLOR_FORCE", "1")]), (true, false));
    assert_eq!(colored("", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), (false, false));
    assert_eq!(
        colored("--color always", &[("NO_COLOR", "1")]),
        (true, false),
        "an option beats the environment"
    );
    assert_eq!(colored("--color always --format json", &[]), (false, false), "JSON has no colors");
    let plain = run(&space, "--explain").stdout;
    let bright = run(&space, "--explain --color always").stdout;
    assert_eq!(strip_colors(&bright), plain);
}

/// The text without `ESC [ ... m`.
fn strip_colors(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').expect("a whole sequence").1)
}

#[test]
fn times_are_those_of_the_time_zone() {
    let space = changed_header();
    for (zone, changed) in [
        ("UTC", "2023-11-14 22:14:50"),
        ("<+0530>-5:30", "2023-11-15 03:44:50"),
        ("EST5", "2023-11-14 17:14:50"),
        ("no such zone", "2023-11-14 22:14:50"),
        ("", "2023-11-14 22:14:50"),
    ] {
        let mut command = upcheck_in(space.path());
        let ran = Ran::new(command.env("TZ", zone).output().expect("upcheck starts"));
        let text = ran.answer(1);
        assert!(text.contains(&format!("(changed {changed})")), "{zone}: {text}");
    }
}

#[test]
fn a_time_zone_has_its_summer_time_and_may_be_a_name() {
    // A name means nothing on a machine without the data base.
    let named = cfg!(unix) && std::path::Path::new("/usr/share/zoneinfo/Europe/Berlin").exists();
    let zones: &[&str] = if named {
        &["CET-1CEST,M3.5.0,M10.5.0/3", "Europe/Berlin", ":Europe/Berlin"]
    } else {
        &["CET-1CEST,M3.5.0,M10.5.0/3"]
    };
    if !named {
        not_tested("names of time zones; this machine has no data base of them");
    }
    let space = changed_header();
    for (changed, winter_or_summer) in
        [(1_700_000_090 * SECOND, "2023-11-14 23:14:50"), (1_720_000_000 * SECOND, "2024-07-03 11:46:40")]
    {
        space.set_mtime("config.h", changed);
        for zone in zones {
            let mut command = upcheck_in(space.path());
            let text = Ran::new(command.env("TZ", zone).output().expect("upcheck starts")).answer(1);
            assert!(text.contains(&format!("(changed {winter_or_summer})")), "{zone}: {text}");
        }
    }
}

#[test]
fn times_beyond_what_64_bits_of_nanoseconds_hold_are_printed_all_the_same() {
    let space = program();
    let header = File::options().write(true).open(space.path().join("config.h")).expect("a file");
    // In the year 2400.
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(13_569_465_600);
    header.set_modified(time).expect("a time that can be set");
    let text = run(&space, "").answer(1);
    assert!(text.contains("config.h is newer than"), "{text}");
    space.set_mtime("config.h", T + 1_500_000_000 + TICK);
    let text = run(&space, "a.o").answer(1);
    let time = format!("2023-11-14 22:13:21.500000{TICK:03}");
    assert!(text.contains(&format!("by 500 ms ({time} against 2023-11-14 22:13:21)")), "{text}");
}
