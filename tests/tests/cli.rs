//! The `upcheck` command as people and scripts meet it: options, exit status, streams, wording.

mod command;

use command::spaces::{
    SECOND, T, changed_header, manifest, many, missing_source, program, restat, stale_manifest,
};
use command::{Ran, build_log, deps_log, run, upcheck, upcheck_in};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use upcheck_ninja::NinjaVersion;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::answer::{Question, build};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// The names of the targets in the report, with their verdicts.
#[track_caller]
fn listed(ran: Ran, status: i32) -> String {
    let report = json(&ran.answer(status));
    let stale = report["stale"].as_array().expect("a list");
    let names = stale.iter().map(|target| {
        let text = |key: &str| target[key].as_str().expect("text").to_owned();
        format!("{}:{}", text("target"), text("verdict"))
    });
    names.collect::<Vec<_>>().join(" ")
}

// ---- exit status and streams ------------------------------------------------------------------------

#[test]
fn a_fresh_build_is_status_0_with_or_without_the_word_check() {
    let space = program();
    for args in ["", "check"] {
        assert_eq!(run(&space, args).answer(0), "fresh: nothing to do for 4 targets\n", "{args}");
    }
}

#[test]
fn a_stale_build_is_status_1_and_says_the_cause_and_the_targets() {
    let expected = "\
3 of 4 targets are stale

3 targets are stale because config.h is newer than what was made from it (changed 2023-11-14 22:14:50)

stale   a.o
          config.h is newer than a.o by 89.000 s (2023-11-14 22:14:50 against 2023-11-14 22:13:21)
stale   b.o
          config.h is newer than b.o by 89.000 s (2023-11-14 22:14:50 against 2023-11-14 22:13:21)
stale   prog
          a.o is stale
          b.o is stale
";
    assert_eq!(run(&changed_header(), "").answer(1), expected);
}

#[test]
fn a_single_stale_target_needs_no_summary_of_causes() {
    let space = program();
    space.remove("check");
    let expected = "1 of 4 targets is stale\n\nstale   check\n          check does not exist\n";
    assert_eq!(run(&space, "").answer(1), expected);
}

#[test]
fn trouble_is_status_2_with_nothing_on_standard_output_in_any_format() {
    let space = Space::new();
    for args in ["", "check", "why x", "--exact", "-q", "--format json", "--format jsonl"] {
        let trouble = run(&space, args).trouble();
        assert_eq!(trouble, "upcheck: error: loading 'build.ninja': No such file or directory\n", "{args}");
    }
}

#[test]
fn wrong_usage_is_status_2_and_help_is_status_0() {
    let space = program();
    for args in [
        "--frob",
        "check --frob",
        "why",
        "why -q prog",
        "--format xml",
        "--threads many",
        "--color pink",
        "--explain why prog",
        "prog why prog",
        "prog check",
    ] {
        let trouble = run(&space, args).trouble();
        assert!(trouble.contains("error: "), "{args}: {trouble}");
    }
    for args in ["--help", "-h", "help", "check --help", "why --help", "--version"] {
        let help = run(&space, args).answer(0);
        assert!(help.len() > 10, "{args}");
    }
    assert!(run(&space, "--help").stdout.contains("Usage: upcheck [check] [OPTIONS] [TARGET]..."));
    assert!(run(&space, "--help").stdout.contains("Exit status: 0 everything is fresh, 1 "));
}

#[test]
fn quiet_prints_nothing_and_ends_with_the_same_status() {
    assert_eq!(run(&program(), "-q").answer(0), "");
    assert_eq!(run(&changed_header(), "-q").answer(1), "");
    assert_eq!(run(&changed_header(), "check --quiet --format json check").answer(0), "");
    let warned = program();
    warned.write(".ninja_log", "# ninja log v99\n");
    assert_eq!(run(&warned, "-q").answer(1), "");
    assert!(run(&program(), "-q nope").trouble().contains("unknown target 'nope'"));
}

#[test]
fn whoever_stops_reading_changes_neither_status_nor_standard_error() {
    let space = many(1_200);
    for (args, status) in [
        ("--explain", 1),
        ("--format json", 1),
        ("--format jsonl", 1),
        ("why all --all", 1),
        ("why all --all --format json", 1),
        ("--help", 0),
    ] {
        let mut child = upcheck_in(space.path())
            .args(args.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("upcheck starts");
        drop(child.stdout.take());
        let ran = Ran::new(child.wait_with_output().expect("upcheck ends"));
        assert_eq!((ran.status, ran.stderr.as_str()), (status, ""), "{args}");
    }
}

#[test]
fn a_reader_that_leaves_in_the_middle_changes_nothing_either() {
    let space = many(1_200);
    let mut child = upcheck_in(space.path())
        .args(["--format", "jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("upcheck starts");
    let mut first = String::new();
    // The answer is larger than any buffer in between.
    let mut reader = BufReader::with_capacity(16, child.stdout.take().expect("a pipe"));
    reader.read_line(&mut first).expect("a line");
    drop(reader);
    let ran = Ran::new(child.wait_with_output().expect("upcheck ends"));
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
    assert!(json(&first)["target"].is_string(), "{first}");
}

#[test]
fn an_answer_that_cannot_be_written_is_trouble() {
    for (space, args) in
        [(program(), ""), (changed_header(), "--format json"), (changed_header(), "why prog")]
    {
        let full = File::create("/dev/full").expect("/dev/full");
        let mut command = upcheck_in(space.path());
        let ran = Ran::new(command.args(args.split_whitespace()).stdout(full).output().expect("runs"));
        assert_eq!(
            ran.trouble(),
            "upcheck: error: writing to standard output: No space left on device\n",
            "{args}"
        );
    }
}

#[test]
fn diagnostics_that_cannot_be_written_change_no_status() {
    let space = program();
    space.write(".ninja_log", "# ninja log v99\n");
    for (args, status) in [("", 1), ("nope", 2)] {
        let full = File::create("/dev/full").expect("/dev/full");
        let mut command = upcheck_in(space.path());
        let ended = command.args(args.split_whitespace()).stdout(Stdio::null()).stderr(full).status();
        assert_eq!(ended.expect("upcheck starts").code(), Some(status), "{args}");
    }
}

#[test]
fn warnings_go_to_standard_error_and_leave_the_answer_alone() {
    let space = program();
    space.write(".ninja_log", "# ninja log v99\n");
    let ran = run(&space, "--format json");
    assert_eq!(
        ran.stderr,
        "upcheck: warning: the build log has version 99; ninja 1.13 would throw it away and start over\n"
    );
    assert_eq!((ran.status, json(&ran.stdout)["verdict"].as_str()), (1, Some("stale")));
}

// ---- options ----------------------------------------------------------------------------------------

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
    assert_eq!(listed(run(&space, "check --format json b.o check a.o b.o"), 1), "b.o:stale a.o:stale");
    let summary = |args: &str| json(&run(&space, args).stdout)["summary"].clone();
    let all = summary("check --format json prog a.o ./b.o check all x/../prog");
    assert_eq!([&all["targets"], &all["fresh"], &all["stale"], &all["pending"]], [4, 1, 3, 0]);
    assert_eq!([&all["files"], &all["stats"], &all["directories"]], [9, 9, 1]);
}

#[test]
fn a_source_is_fresh_and_a_missing_or_unreadable_one_is_trouble() {
    let space = program();
    assert_eq!(run(&space, "a.c").answer(0), "fresh: nothing to do\n");
    space.remove("a.c");
    symlink("b.c", space.path().join("loop")).expect("a link");
    for args in ["a.c", "--exact a.c", "why a.c"] {
        assert_eq!(
            run(&space, args).trouble(),
            "upcheck: error: 'a.c' missing and no known rule to make it\n"
        );
    }
    symlink("a.c", space.path().join("a.c")).expect("a link");
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

fn many_lines(text: &str, start: &str) -> usize {
    text.lines().filter(|line| line.trim_start().starts_with(start)).count()
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
         build.ninja is the manifest: ninja would make it again before anything else\n          \
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
    space.write(".ninja_log", format!("# ninja log v5\n0\t1\t{T}\ta\t{murmur:x}\n"));
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
    let named = std::path::Path::new("/usr/share/zoneinfo/Europe/Berlin").exists();
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
    let touched =
        Command::new("touch").args(["-d", "2400-01-01 UTC", "config.h"]).current_dir(space.path()).status();
    assert!(touched.expect("touch starts").success());
    let text = run(&space, "").answer(1);
    assert!(text.contains("config.h is newer than"), "{text}");
    space.set_mtime("config.h", T + 1_500_000_001);
    let text = run(&space, "a.o").answer(1);
    assert!(text.contains("by 500 ms (2023-11-14 22:13:21.500000001 against 2023-11-14 22:13:21)"), "{text}");
}

// ---- many stale targets -----------------------------------------------------------------------------

#[test]
fn many_stale_targets_are_told_by_their_causes_the_biggest_first() {
    let space = many(1_200);
    assert_eq!(
        run(&space, "").answer(1),
        "1,201 of 1,202 targets are stale\n\n\
         1,201 targets are stale because include/config.h is newer than what was made from it \
         (changed 2023-11-14 22:13:22)\n\n\
         --explain lists every target; `upcheck why TARGET` shows how it came to that\n"
    );

    space.set_mtime("src/7.c", T + 3 * SECOND);
    space.remove("src/9.c");
    for object in ["out/1.o", "out/2.o", "out/3.o"] {
        space.remove(object);
    }
    let manifest = String::from_utf8(space.read("build.ninja")).expect("text");
    space.write("build.ninja", manifest.replace("ar $out", "ar -D $out"));
    assert_eq!(
        run(&space, "").answer(1),
        "1,201 of 1,202 targets are stale\n\n\
         1,198 targets are stale because include/config.h is newer than what was made from it \
         (changed 2023-11-14 22:13:22)\n\
         4 targets are stale because 3 outputs are missing (out/1.o, ...)\n\
         2 targets are stale because src/7.c is newer than what was made from it (changed 2023-11-14 22:13:23)\n\
         2 targets are stale because src/9.c is missing\n\
         1 target is stale because the command of all.a changed\n\n\
         --explain lists every target; `upcheck why TARGET` shows how it came to that\n"
    );
    let report = json(&run(&space, "--format json").answer(1));
    let causes: Vec<_> = report["root_causes"].as_array().expect("a list").iter().collect();
    assert_eq!(causes[0]["path"], "include/config.h");
    assert_eq!(causes[0]["code"], "input-newer");
    assert_eq!(causes[0]["targets"], 1_198);
    assert_eq!(causes.len(), 7);
    assert_eq!(report["summary"]["root_causes"], 7);
}

#[test]
fn more_causes_than_fit_are_counted() {
    let space = many(40);
    space.set_mtime("include/config.h", T);
    for number in 0..25 {
        space.set_mtime(&format!("src/{number}.c"), T + 5 * SECOND);
    }
    let text = run(&space, "").answer(1);
    assert_eq!(many_lines(&text, "2 targets are stale because src/"), 9, "{text}");
    // The first source is a cause for the fresh target, too.
    assert_eq!(many_lines(&text, "3 targets are stale because src/0.c is newer"), 1, "{text}");
    assert_eq!(many_lines(&text, "... and 15 more causes"), 1, "{text}");
    space.set_mtime("src/0.c", T);
    for number in 11..25 {
        space.set_mtime(&format!("src/{number}.c"), T);
    }
    let text = run(&space, "").answer(1);
    assert!(!text.contains("more cause"), "{text}");
    space.set_mtime("src/11.c", T + 5 * SECOND);
    let text = run(&space, "").answer(1);
    assert_eq!(many_lines(&text, "... and 1 more cause"), 1, "{text}");
    assert!(!text.contains("more causes"), "{text}");
}

#[test]
fn a_build_that_never_ran_has_one_cause() {
    let space = many(1_200);
    let copy = Space::new();
    copy.write("build.ninja", space.read("build.ninja"));
    for number in 0..1_200 {
        copy.write_at(&format!("src/{number}.c"), "", T);
    }
    copy.write_at("include/config.h", "", T);
    let text = run(&copy, "").answer(1);
    assert!(
        text.starts_with(
            "1,202 of 1,202 targets are stale\n\n1,202 targets are stale because 1,202 outputs are missing ("
        ),
        "{text}"
    );
    assert!(text.lines().count() < 10, "{text}");
}

// ---- looking past what stops ninja ------------------------------------------------------------------

#[test]
fn a_stale_manifest_is_reported_and_looked_past() {
    let space = stale_manifest();
    assert_eq!(
        run(&space, "a").answer(1),
        "2 of 2 targets are stale\n\
         The manifest build.ninja is stale itself; all else is judged by the one that is there now.\n\n\
         stale   a\n          a does not exist\n\
         stale   build.ninja\n          \
         build.ninja is the manifest: ninja would make it again before anything else\n          \
         configure is newer than build.ninja by 5.000 s (2023-11-14 22:13:25 against 2023-11-14 22:13:20)\n"
    );
    let report = json(&run(&space, "--format json a").answer(1));
    assert_eq!(report["stale"][1]["reasons"][0]["code"], "manifest-stale");
    assert_eq!(report["stale"][1]["reasons"][1]["code"], "input-newer");
    assert_eq!(report["summary"]["manifest_stale"], true);
    assert_eq!(report["summary"]["exact"], false);
    space.set_mtime("configure", T);
    let report = json(&run(&space, "--format json a").answer(1));
    assert_eq!(report["summary"]["manifest_stale"], false);
    assert_eq!(report["stale"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_missing_source_makes_its_own_targets_stale_and_hides_nobody() {
    let space = missing_source();
    let report = json(&run(&space, "--format json").answer(1));
    assert_eq!(report["stale"][0]["target"], "gone.o");
    assert_eq!(report["stale"][0]["reasons"][0]["code"], "input-missing");
    assert_eq!(report["stale"][0]["reasons"][0]["path"], "gone.c");
    assert_eq!(report["stale"][1]["target"], "other.o");
    let text = run(&space, "").answer(1);
    assert!(text.contains("\n          gone.c does not exist and nothing makes it\n"), "{text}");
}

#[test]
fn a_source_that_only_a_phony_target_needs_is_reported_too() {
    let space = program();
    let text = String::from_utf8(space.read("build.ninja")).expect("text");
    space.write("build.ninja", format!("{text}build most: phony prog gone\nbuild more: phony most\n"));
    for target in ["most", "more"] {
        let expected = "1 of 4 targets is stale\n\n\
                        stale   most\n          gone does not exist and nothing makes it\n";
        assert_eq!(run(&space, target).answer(1), expected);
        assert_eq!(run(&space, &format!("why {target}")).status, 1);
        let trouble = run(&space, &format!("--exact {target}")).trouble();
        assert_eq!(
            trouble,
            "upcheck: error: 'gone', needed by 'most', missing and no known rule to make it\n"
        );
    }
    assert_eq!(run(&space, "").answer(0), "fresh: nothing to do for 4 targets\n");
    symlink("gone", space.path().join("gone")).expect("a link");
    let report = json(&run(&space, "--format json more").answer(1));
    assert_eq!(report["stale"][0]["target"], "most");
    assert_eq!(report["stale"][0]["reasons"][0]["code"], "unreadable");
    assert_eq!(report["errors"][0]["path"], "gone");
}

#[test]
fn a_path_that_cannot_be_looked_at_makes_its_own_targets_stale_and_hides_nobody() {
    let space = program();
    let long = "n".repeat(300);
    let text = String::from_utf8(space.read("build.ninja")).expect("text");
    let text = text.replace("build b.o: cc b.c", &format!("build b.o: cc b.c {long}"));
    space.write("build.ninja", text);
    space.remove("a.c");
    symlink("a.c", space.path().join("a.c")).expect("a link");

    let report = json(&run(&space, "--format json").answer(1));
    let reason = |target: usize| report["stale"][target]["reasons"][0].clone();
    assert_eq!(report["stale"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        (&report["stale"][0]["target"], &report["stale"][1]["target"]),
        (&"a.o".into(), &"b.o".into())
    );
    assert_eq!(reason(0)["code"], "unreadable");
    assert_eq!(reason(0)["path"], "a.c");
    assert_eq!(reason(0)["detail"], "Too many levels of symbolic links");
    assert_eq!(reason(1)["path"], long);
    assert_eq!(reason(1)["detail"], "File name too long");
    assert_eq!(report["errors"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["errors"][0]["path"], "a.c");
    assert_eq!(report["errors"][0]["message"], "stat: Too many levels of symbolic links");

    let text = run(&space, "a.o").answer(1);
    assert!(text.contains("a.c cannot be looked at: Too many levels of symbolic links\n"), "{text}");
    assert_eq!(run(&space, "check check").answer(0), "fresh: nothing to do for 1 target\n");
    assert_eq!(
        run(&space, "--exact").trouble(),
        "upcheck: error: stat(a.c): Too many levels of symbolic links\n"
    );
}

#[test]
fn users_of_a_stale_restat_target_are_pending() {
    let space = restat();
    assert_eq!(
        run(&space, "").answer(1),
        "1 of 4 targets is stale, 2 pending (to be made again only if what they need comes out changed)\n\n\
         3 targets are stale or pending because v.txt is newer than what was made from it \
         (changed 2023-11-14 22:13:21)\n\n\
         stale   v.h\n          v.txt is newer than the record of v.h by 1.000 s \
         (2023-11-14 22:13:21 against 2023-11-14 22:13:20)\n\
         pending a.o\n          v.h may come out changed\n\
         pending prog\n          a.o may come out changed\n"
    );
    let report = json(&run(&space, "--format json").answer(1));
    let summary = &report["summary"];
    assert_eq!(
        [&summary["targets"], &summary["fresh"], &summary["stale"], &summary["pending"]],
        [4, 1, 1, 2]
    );
    // Something of its own makes a pending target stale.
    space.set_mtime("a.c", T + SECOND);
    assert_eq!(listed(run(&space, "--format json"), 1), "v.h:stale a.o:stale prog:stale lone:stale");
    // A dry run of ninja cannot tell either, and says that all would run.
    space.set_mtime("a.c", T);
    assert_eq!(listed(run(&space, "--exact --format json"), 1), "v.h:stale a.o:pending prog:pending");
}

#[test]
fn a_target_with_a_stale_dyndep_file_is_pending_and_one_with_a_broken_one_is_stale() {
    let space = manifest(
        "rule scan\n  command = scan\nrule t\n  command = t\n\
         build dd: scan src\nbuild a: t || dd\n  dyndep = dd\n",
    );
    space.write_at("src", "", T + SECOND);
    space.write_at("a", "", T);
    space.write_at("dd", "ninja_dyndep_version = 1\nbuild a: dyndep\n", T);
    space.write(".ninja_log", build_log(&[("dd", T, "scan"), ("a", T, "t")]));
    assert_eq!(listed(run(&space, "--format json"), 1), "dd:stale a:pending");
    let text = run(&space, "").answer(1);
    assert!(text.contains("pending a\n          its dyndep file dd is about to be made again\n"), "{text}");

    space.write_at("dd", "ninja_dyndep_version = 1\nbuild a: what\n", T + SECOND);
    space.write(".ninja_log", build_log(&[("dd", T + SECOND, "scan"), ("a", T, "t")]));
    let report = json(&run(&space, "--format json").answer(1));
    assert_eq!(report["stale"][0]["target"], "a");
    assert_eq!(report["stale"][0]["reasons"][0]["why"], "dyndep-broken");
    let detail = report["stale"][0]["reasons"][0]["detail"].as_str().expect("text");
    assert!(detail.starts_with("dd:2:10: "), "{detail}");
    assert_eq!(report["errors"][0]["message"], detail);
    let text = run(&space, "").answer(1);
    assert!(text.contains("\n          its dyndep file dd is unusable: dd:2:10: "), "{text}");
    assert!(text.lines().all(|line| !line.contains('^')), "a caret has no place in a list: {text}");
}

#[test]
fn a_build_full_of_phony_targets_without_files_is_fresh_when_it_is() {
    let space = manifest(
        "rule cc\n  command = cc $in -o $out\n  depfile = $out.d\n  deps = gcc\n\
         rule link\n  command = link $in -o $out\n\
         rule custom\n  command = $COMMAND\n  restat = 1\n\
         rule regenerate\n  command = cmake --regenerate-during-build\n  generator = 1\n\
         build cmake_object_order_depends_target_app: phony || .\n\
         build app.dir/main.c.o: cc ../main.c || cmake_object_order_depends_target_app\n\
         build app: link app.dir/main.c.o\n  POST_BUILD = :\n\
         build edit_cache.util: custom\n  COMMAND = ccmake\n  pool = console\n\
         build edit_cache: phony edit_cache.util\n\
         build rebuild_cache.util: custom\n  COMMAND = cmake --regenerate\n  pool = console\n\
         build rebuild_cache: phony rebuild_cache.util\n\
         build nothing: phony\n\
         build app.exe: phony app\n\
         build all: phony app nothing\n\
         build build.ninja: regenerate | CMakeCache.txt ../CMakeLists.txt\n  pool = console\n\
         build CMakeCache.txt ../CMakeLists.txt: phony\n\
         default all\n",
    );
    let space = {
        // The build directory is one below the sources.
        let tree = Space::new();
        tree.write_at("build/build.ninja", space.read("build.ninja"), T + SECOND);
        tree
    };
    space.write_at("main.c", "", T);
    space.write_at("main.h", "", T);
    space.write_at("CMakeLists.txt", "", T);
    space.write_at("build/CMakeCache.txt", "", T);
    space.write_at("build/app.dir/main.c.o", "", T + SECOND);
    space.write_at("build/app", "", T + 2 * SECOND);
    let log = [
        ("app.dir/main.c.o", T + SECOND, "cc ../main.c -o app.dir/main.c.o"),
        ("app", T + 2 * SECOND, "link app.dir/main.c.o -o app"),
    ];
    space.write("build/.ninja_log", build_log(&log));
    space.write(
        "build/.ninja_deps",
        deps_log(&[("app.dir/main.c.o", T + SECOND, &["../main.c", "../main.h"])]),
    );

    for args in
        ["-C build", "-C build all", "-C build app.exe", "-C build --exact", "-C build --exact app.exe"]
    {
        let text = run(&space, args).answer(0);
        assert!(text.starts_with("fresh: nothing to do for "), "{args}: {text}");
    }
    let report = json(&run(&space, "-C build --format json").answer(0));
    assert_eq!(report["stale"], Value::Array(Vec::new()));
    assert_eq!(report["root_causes"], Value::Array(Vec::new()));
    assert_eq!(report["summary"]["targets"], 3);
    // A phony target with nothing to run is fresh, whatever it counts as for others.
    assert_eq!(run(&space, "-C build nothing").answer(0), "fresh: nothing to do for 1 target\n");
    assert_eq!(
        run(&space, "-C build why nothing").answer(0),
        "nothing has nothing to run, but counts as stale for what needs it\n\
         └─ nothing is a phony target without inputs and without a file: stale always\n"
    );
    assert_eq!(listed(run(&space, "-C build edit_cache --format json"), 1), "edit_cache.util:stale");

    space.set_mtime("main.h", T + 5 * SECOND);
    assert_eq!(listed(run(&space, "-C build --format json"), 1), "app.dir/main.c.o:stale app:stale");
}

#[test]
fn causes_that_make_no_target_stale_are_not_counted() {
    let space = manifest("build a: phony\nbuild b: phony a\n");
    let report = json(&run(&space, "--format json").answer(0));
    assert_eq!(report["root_causes"], Value::Array(Vec::new()));
    assert_eq!(report["summary"]["root_causes"], 0);
    let space = manifest("rule t\n  command = t\nbuild a: phony\nbuild b: phony\nbuild c: t b\n");
    let report = json(&run(&space, "--format json").answer(1));
    let causes = report["root_causes"].as_array().expect("a list");
    let causes: Vec<_> = causes.iter().map(|cause| cause["path"].as_str()).collect();
    assert_eq!(causes, [Some("b"), Some("c")]);
    assert_eq!(report["summary"]["root_causes"], 2);
}

// ---- why --------------------------------------------------------------------------------------------

#[test]
fn why_shows_the_chain_down_to_the_file_with_both_times() {
    let space = changed_header();
    let expected = "\
all is stale (phony)
└─ prog is stale
   ├─ a.o is stale
   │  └─ config.h is newer than a.o by 89.000 s (2023-11-14 22:14:50 against 2023-11-14 22:13:21)
   └─ ... and 1 more stale input, for reasons given above (--all shows them)
";
    assert_eq!(run(&space, "why all").answer(1), expected);
    let expected = "\
prog is stale
├─ a.o is stale
│  └─ config.h is newer than a.o by 89.000 s (2023-11-14 22:14:50 against 2023-11-14 22:13:21)
└─ b.o is stale
   └─ config.h is newer than b.o by 89.000 s (2023-11-14 22:14:50 against 2023-11-14 22:13:21)
";
    assert_eq!(run(&space, "why --all prog").answer(1), expected);
}

#[test]
fn why_of_many_targets_is_one_answer_and_repeats_nothing() {
    let space = changed_header();
    let expected = "\
check is fresh
a.o is stale
└─ config.h is newer than a.o by 89.000 s (2023-11-14 22:14:50 against 2023-11-14 22:13:21)
prog is stale
├─ a.o is stale, as shown above
└─ ... and 1 more stale input, for reasons given above (--all shows them)
prog is stale, as shown above
a.c is there, and nothing makes it
";
    assert_eq!(run(&space, "why check a.o prog prog a.c").answer(1), expected);
}

#[test]
fn why_has_the_status_of_check() {
    for (space, target) in [
        (program(), "all"),
        (program(), "a.c"),
        (changed_header(), "all"),
        (changed_header(), "check"),
        (restat(), "prog"),
        (restat(), "lone"),
        (missing_source(), "all"),
    ] {
        let check = run(&space, &format!("check {target}"));
        let why = run(&space, &format!("why {target}"));
        assert_eq!((why.status, &why.stderr), (check.status, &check.stderr), "{target}: {}", why.stdout);
    }
}

#[test]
fn why_of_a_pending_target_leads_to_what_it_waits_for() {
    let expected = "\
prog is pending
└─ a.o is pending
   └─ v.h is stale
      └─ v.txt is newer than the record of v.h by 1.000 s (2023-11-14 22:13:21 against 2023-11-14 22:13:20)
";
    assert_eq!(run(&restat(), "why prog").answer(1), expected);
}

#[test]
fn why_folds_what_would_be_said_again() {
    let space = many(300);
    assert_eq!(
        run(&space, "why all").answer(1),
        "all is stale (phony)\n\
         └─ all.a is stale\n   \
         ├─ out/0.o is stale\n   \
         │  └─ include/config.h is newer than out/0.o by 1.000 s (2023-11-14 22:13:22 against 2023-11-14 22:13:21)\n   \
         └─ ... and 299 more stale inputs, for reasons given above (--all shows them)\n"
    );
    assert_eq!(run(&space, "why all --all").answer(1).lines().count(), 602);

    for number in 100..110 {
        space.set_mtime(&format!("src/{number}.c"), T + 3 * SECOND);
    }
    let text = run(&space, "why all").answer(1);
    // The first, and four that have a reason more.
    assert_eq!(text.matches("├─ out/").count(), 5, "{text}");
    assert!(
        text.contains("├─ ... and 289 more stale inputs, for reasons given above (--all shows them)\n"),
        "{text}"
    );
    assert!(text.ends_with("└─ ... and 6 more stale inputs (--all shows them)\n"), "{text}");
}

#[test]
fn why_needs_no_stack_for_a_long_chain() {
    let mut text = "rule t\n  command = t\n".to_owned();
    for number in 1..20_000 {
        writeln!(text, "build {number}: t {}", number - 1).expect("a string");
    }
    let space = manifest(&text);
    let why = run(&space, "why 19999 --format jsonl").answer(1);
    assert_eq!(why.lines().count(), 20_000);
    assert_eq!(run(&space, "why 300").answer(1).lines().count(), 601);
}

// ---- real ninja -------------------------------------------------------------------------------------

#[test]
fn after_a_real_build_everything_is_fresh_and_every_kind_of_edit_has_its_reason() {
    let space = manifest(
        "rule cat\n  command = cat $in > $out\nbuild b: cat a\nbuild c: cat b x\nbuild all: phony c\ndefault all\n",
    );
    space.write_at("a", "a", T);
    space.write_at("x", "x", T);
    build(&space, Ninja::V1_13, &Question::default());
    assert_eq!(run(&space, "").answer(0), "fresh: nothing to do for 2 targets\n");

    let built = space.mtime("c").expect("built");
    space.set_mtime("x", built + 3_600 * SECOND);
    assert!(run(&space, "").answer(1).contains("x is newer than c by 60 min ("));
    space.set_mtime("x", T);
    let b = space.mtime("b").expect("built");
    space.remove("b");
    assert!(run(&space, "").answer(1).contains("b does not exist\n"));
    space.set_mtime("b", b);
    let text = String::from_utf8(space.read("build.ninja")).expect("text");
    space.write("build.ninja", text.replace("cat $in", "cat -u $in"));
    assert!(run(&space, "").answer(1).contains("the command of b changed (hash "));
    space.write("build.ninja", text);
    assert_eq!(run(&space, "").status, 0);
    space.remove(".ninja_log");
    assert!(run(&space, "").answer(1).contains("no build of b is on record\n"));
}
