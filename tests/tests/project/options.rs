//! One target that options describe.

use crate::command::Ran;
use crate::{Act, CAT, ask, fresh, json, rename, replace, run, sources, stale, text, upcheck};
use std::io::Write;
use std::process::Stdio;
use upcheck_tests::space::{Space, set_mtime};

const TARGET: &str = "-i src/*.ts -o out";

#[test]
fn a_target_is_stale_until_it_was_run_and_then_fresh() {
    let space = sources();
    assert_eq!(
        ask(&space, TARGET).answer(1),
        "1 of 1 target is stale\n\nstale   out\n          out does not exist\n"
    );
    assert_eq!(ask(&space, &format!("-q {TARGET}")).answer(1), "");
    run(&space, TARGET, CAT).well();
    assert_eq!(ask(&space, TARGET).answer(0), "fresh: nothing to do for 1 target\n");
    assert_eq!(ask(&space, &format!("check {TARGET} -q")).answer(0), "");
    assert_eq!(ask(&space, &format!("why out {TARGET}")).answer(0), "out is fresh\n");
    assert_eq!(ask(&space, &format!("{TARGET} out ./out")).answer(0), "fresh: nothing to do for 1 target\n");
}

#[test]
fn matches_of_a_pattern_may_be_edited_come_go_and_change_their_names() {
    let space = sources();
    run(&space, TARGET, CAT).well();
    space.write("src/c.ts", "c\n");
    assert_eq!(stale(&space, TARGET), "out: inputs-differ out");
    assert!(ask(&space, TARGET).answer(1).contains("src/c.ts came as an input\n"));
    space.remove("src/c.ts");
    fresh(&space, TARGET);
    rename(&space, "src/b.ts", "src/z.ts");
    let answer = json(&ask(&space, &format!("{TARGET} --format json")).answer(1));
    let reason = &answer["stale"][0]["reasons"][0];
    assert_eq!((&reason["added"], &reason["removed"]), (&json(r#"["src/z.ts"]"#), &json(r#"["src/b.ts"]"#)));
    rename(&space, "src/z.ts", "src/b.ts");
    fresh(&space, TARGET);
    space.write("src/a.ts", "A\n");
    assert_eq!(stale(&space, TARGET), "out: input-changed src/a.ts");
    // Not what the pattern matches.
    space.write("src/.hidden.ts", "");
    space.write("src/deep/c.ts", "");
    run(&space, TARGET, CAT).well();
    fresh(&space, TARGET);
}

#[test]
fn patterns_go_into_folders_and_leave_out() {
    let space = sources();
    space.write("src/deep/er/c.ts", "c\n");
    space.write("src/deep/er/c.test.ts", "test\n");
    let target = "-i src/**/*.ts -i !**/*.test.ts -o out";
    run(&space, target, "touch out").well();
    space.write("src/deep/er/c.test.ts", "another\n");
    fresh(&space, target);
    space.write("src/deep/er/c.ts", "C\n");
    assert_eq!(stale(&space, target), "out: input-changed src/deep/er/c.ts");
}

#[test]
fn what_the_command_writes_is_no_input_whatever_the_pattern() {
    let space = Space::new();
    space.write("a", "a\n");
    let target = "-i * -o out -o more --depfile out.d";
    run(&space, target, "cp a out; cp a more; echo out: a > out.d").well();
    fresh(&space, target);
    run(&space, &format!("--always {target}"), "cp a out; cp a more; echo out: a > out.d").well();
    fresh(&space, target);
}

#[test]
fn a_file_that_is_called_like_a_pattern_is_meant_itself() {
    let space = Space::new();
    for name in ["[id].ts", "i.ts", "!odd", "sub/{a}"] {
        space.write(name, "1\n");
    }
    let target = "-i [id].ts -i !odd -o out";
    run(&space, target, "touch out").well();
    space.write("i.ts", "2\n");
    fresh(&space, target);
    space.write("!odd", "2\n");
    assert_eq!(stale(&space, target), "out: input-changed !odd");
    // Seen from the build directory, not from where the user is.
    run(&space, "-C sub -i {a} -o out", "touch out").well();
    space.write("sub/{a}", "2\n");
    assert_eq!(stale(&space, "-C sub -i {a} -o out"), "out: input-changed {a}");
}

#[test]
fn inputs_may_be_listed_in_a_file_or_on_standard_input() {
    let space = sources();
    let odd = if cfg!(windows) { "src/odd name" } else { "src/odd\nname" };
    space.write(odd, "odd\n");
    space.write("list", "src/a.ts\nsrc/b.ts\n");
    space.write("list0", format!("src/a.ts\0{odd}\0"));
    run(&space, "--inputs-from list -o out", "touch out").well();
    run(&space, "--inputs-from list0 -0 -o out0", "touch out0").well();
    let piped = |list: &str, args: &str| {
        let args = args.split_whitespace();
        let mut command = upcheck(&space, args);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("upcheck");
        child.stdin.take().expect("a pipe").write_all(list.as_bytes()).expect("all was read");
        Ran::new(child.wait_with_output().expect("upcheck ends"))
    };
    for list in ["src/a.ts\nsrc/b.ts\n", "src/a.ts\nsrc/b.ts", "./src/a.ts\nsrc/../src/b.ts\n"] {
        piped(list, "-q --inputs-from - -o out").answer(0);
    }
    piped(&format!("src/a.ts\0{odd}"), "-q --inputs-from - --null -o out0").answer(0);
    assert_eq!(
        piped("src/a.ts\n", "--inputs-from - -o out").answer(1),
        "1 of 1 target is stale\n\nstale   out\n          src/b.ts is no input any more\n"
    );
    space.write(odd, "changed\n");
    fresh(&space, "--inputs-from list -o out");
    assert_eq!(stale(&space, "--inputs-from list0 -0 -o out0"), format!("out0: input-changed {odd}"));
    // An empty list is a list.
    space.write("none", "");
    run(&space, "--inputs-from none -o none.out", "touch none.out").well();
    fresh(&space, "--inputs-from none -o none.out");
}

#[test]
fn nothing_that_becomes_of_order_only_inputs_counts() {
    let space = sources();
    space.write("tool", "1\n");
    let target = "-i src/a.ts --order-only tool -o out";
    run(&space, target, "touch out").well();
    space.write("tool", "2\n");
    fresh(&space, target);
    space.remove("tool");
    fresh(&space, target);
}

#[test]
fn values_and_variables_count_with_the_command() {
    let space = sources();
    let target = "-i src/a.ts -o out --value cc=gcc=13 --value empty= --env COLOR --env NONE";
    let with = |color: Option<&str>, args: &str| {
        let mut command = upcheck(&space, args.split_whitespace());
        command.env_remove("NONE");
        match color {
            Some(color) => command.env("COLOR", color),
            None => command.env_remove("COLOR"),
        };
        command.output().expect("upcheck starts")
    };
    assert!(with(Some("red"), &format!("run {target} -- touch out")).status.success());
    Ran::new(with(Some("red"), &format!("-q {target}"))).answer(0);
    Ran::new(with(Some("red"), &format!("-q {target} -- touch out"))).answer(0);
    let reasons = |color, args: &str| {
        let answer = Ran::new(with(color, args)).answer(1);
        answer.lines().skip(3).map(str::trim).collect::<Vec<_>>().join("|")
    };
    assert_eq!(reasons(Some("blue"), target), "the value of $COLOR changed (\"blue\" against \"red\")");
    assert_eq!(reasons(Some(""), target), "the value of $COLOR changed (\"\" against \"red\")");
    assert_eq!(reasons(None, target), "the value of $COLOR changed (none against \"red\")");
    let other = target.replace("=13", "=14");
    assert_eq!(reasons(Some("red"), &other), "the value of cc changed (\"gcc=14\" against \"gcc=13\")");
    let fewer = target.replace(" --value empty=", "");
    assert_eq!(reasons(Some("red"), &fewer), "the value of empty changed (none against \"\")");
    let command = reasons(Some("red"), &format!("{target} -- touch other"));
    assert!(command.starts_with("the command of out changed (hash "), "{command}");
}

#[test]
fn a_command_is_its_arguments() {
    let space = sources();
    let args = |args: &[&str]| {
        let all = ["-q", "-i", "src/a.ts", "-o", "out", "--"].iter().chain(args).copied();
        Ran::new(upcheck(&space, all).output().expect("upcheck starts"))
    };
    run(&space, "-i src/a.ts -o out", "touch out").well();
    args(&["sh", "-c", "touch out"]).answer(0);
    // Without a command nothing is said about it.
    fresh(&space, "-i src/a.ts -o out");
    for other in [&["sh", "-c", "touch out "][..], &["sh", "-c", "touch", "out"], &["sh -c touch out"]] {
        args(other).answer(1);
    }
}

#[test]
fn commands_can_be_shown() {
    let space = sources();
    let answer = ask(&space, "-i src/a.ts -o out --commands -- tsc --out out").answer(1);
    assert!(answer.ends_with("\n          $ tsc --out out\n"), "{answer}");
    let answer = ask(&space, "-i src/a.ts -o out --format jsonl --commands -- tsc --out out").answer(1);
    assert_eq!(json(answer.lines().next().expect("a line"))["command"], "tsc --out out");
}

#[test]
fn a_target_without_outputs_has_a_name() {
    let space = sources();
    let target = "-i src/*.ts --name lint";
    assert_eq!(stale(&space, target), "lint: never-built lint");
    run(&space, target, "echo ran >> log").well();
    fresh(&space, target);
    run(&space, target, "echo ran >> log").well();
    space.write("src/a.ts", "A\n");
    assert_eq!(stale(&space, target), "lint: input-changed src/a.ts");
    assert_eq!(run(&space, target, "exit 1").status, 1);
    assert_eq!(stale(&space, target), "lint: interrupted lint");
    run(&space, target, "echo ran >> log").well();
    fresh(&space, target);
    assert_eq!(text(&space, "log"), "ran\nran\n");
    // A file of that name is something else.
    space.write("lint", "");
    fresh(&space, target);
}

#[test]
fn a_depfile_says_what_else_was_read() {
    let space = sources();
    space.write("src/deep.h", "1\n");
    let target = "-i src/a.ts -o out --depfile out.d";
    let build = "cp src/a.ts out; printf 'out: src/a.ts \\\\\\n src/deep.h\\n' > out.d";
    run(&space, target, build).well();
    fresh(&space, target);
    space.write("src/deep.h", "2\n");
    assert_eq!(stale(&space, target), "out: input-changed src/deep.h");
    run(&space, target, build).well();
    // The record has it: the file need not stay.
    space.remove("out.d");
    fresh(&space, target);
    space.remove("src/deep.h");
    assert_eq!(stale(&space, target), "out: input-missing src/deep.h");
    // What it does not read any more does not count.
    run(&space, target, "cp src/a.ts out; echo out: src/a.ts > out.d").well();
    fresh(&space, target);
    space.write("src/deep.h", "3\n");
    fresh(&space, target);
    assert_eq!(stale(&space, "-i src/a.ts -o out --depfile other.d"), "out: deps-unknown out");
}

#[test]
fn each_policy_has_its_own_mind() {
    // What is done, and by which policies the target is stale then.
    let touch_input = |space: &Space| set_mtime(&space.path().join("in"), 1_700_000_000_000_000_000);
    let touch_output = |space: &Space| set_mtime(&space.path().join("out"), 1_700_000_000_000_000_000);
    let edit_input = |space: &Space| space.write("in", "changed");
    let put_back = |space: &Space| {
        let mtime = space.mtime("in").expect("a time");
        // The inode, the size and the mtime stay.
        space.write_at("in", "twice!\n", mtime);
    };
    let edit_output = |space: &Space| space.write("out", "another");
    let cases: [(&str, Act, &str); 6] = [
        ("nothing", &|_| {}, ""),
        ("an input is older than it was", &touch_input, "mtime mtime-or-digest"),
        (
            "an output is older than it was",
            &touch_output,
            "mtime mtime-and-digest-input mtime-or-digest newer",
        ),
        (
            "an input is edited",
            &edit_input,
            "mtime digest mtime-and-digest mtime-and-digest-input mtime-or-digest newer",
        ),
        (
            "an input is edited, and its time put back",
            &put_back,
            "digest mtime-and-digest mtime-and-digest-input mtime-or-digest",
        ),
        (
            "an output is edited",
            &edit_output,
            "mtime digest mtime-and-digest mtime-and-digest-input mtime-or-digest",
        ),
    ];
    let all = ["mtime", "digest", "mtime-and-digest", "mtime-and-digest-input", "mtime-or-digest", "newer"];
    for (what, act, expected) in cases {
        let mut stale = Vec::new();
        for policy in all {
            let space = Space::new();
            space.write("in", "input!\n");
            let target = format!("-i in -o out --policy {policy}");
            run(&space, &target, "cp in out").well();
            act(&space);
            if ask(&space, &format!("-q {target}")).status == 1 {
                stale.push(policy);
            }
        }
        assert_eq!(stale.join(" "), expected, "{what}");
    }
}

#[test]
fn records_lie_where_they_are_wanted() {
    let space = sources();
    let elsewhere = Space::new();
    let folder = elsewhere.path().join("deep/store");
    let target = format!("-i src/a.ts -o out --records {}", folder.display());
    run(&space, &target, "touch out").well();
    assert!(folder.join("records").is_file() && !space.path().join(".upcheck").exists());
    fresh(&space, &target);
    space.write("sub/in", "1\n");
    run(&space, "-C sub -i in -o out --records ../kept", "cp in out").well();
    assert!(space.path().join("kept/records").is_file());
    fresh(&space, "-C sub -i in -o out --records ../kept");
}

#[test]
fn all_paths_start_from_the_build_directory_and_the_command_runs_there() {
    let space = Space::new();
    space.write("sub/in", "1\n");
    space.write("sub/list", "in\n");
    space.write("sub/make.sh", "#!/bin/sh\ncp in out; echo out: in hdr > out.d\n");
    space.write("sub/hdr", "1\n");
    let target = "-C sub --inputs-from list -o out --depfile out.d";
    run(&space, target, "sh ./make.sh").well();
    assert_eq!(text(&space, "sub/out"), "1\n");
    fresh(&space, target);
    replace(&space, "sub/hdr", "1", "2");
    assert_eq!(stale(&space, target), "out: input-changed hdr");
    let whole = space.path().join("sub");
    let absolute = format!("-C sub -i {0}/in -o {0}/out --depfile {0}/out.d", whole.display());
    assert_eq!(stale(&space, &absolute), "out: input-changed hdr");
}

#[test]
fn without_a_store_it_is_makes_rule() {
    let space = Space::new();
    let second = 1_000_000_000;
    space.write_at("in", "", second);
    space.write_at("out", "", second);
    space.write_at("newer", "", 2 * second);
    fresh(&space, "-i in -o out");
    assert_eq!(stale(&space, "-i in -i newer -o out"), "out: input-newer newer");
    assert_eq!(stale(&space, "-i in -o out -o gone"), "out: output-missing gone");
    assert_eq!(stale(&space, "-i gone -o out"), "out: input-missing gone");
    // A policy that compares with records has none.
    assert_eq!(stale(&space, "-i in -o out --policy digest"), "out: never-built out");
    assert_eq!(stale(&space, "-i in --name lint"), "lint: never-built lint");
    assert!(!space.path().join(".upcheck").exists());
}
