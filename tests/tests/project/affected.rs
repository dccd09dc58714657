//! `upcheck affected`: which targets would go stale if files changed.

use crate::command::Ran;
use crate::{MAKE, ask, fresh, graph, json, made, run, upcheck};
use std::io::Write;
use std::process::{Command, Stdio};
use upcheck_tests::space::Space;
use upcheck_tests::tools::{Ninja, sh};
#[cfg(unix)]
use {std::os::unix::fs::symlink, std::path::Path, upcheck_tests::aloud::not_tested};

/// What each target is affected by, and what nothing depends on, as `a.o<a.c@0 app<a.c@1 ?README`.
fn told(ran: Ran) -> String {
    let status = ran.status;
    let answer = json(&ran.answer(status));
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let list = |key: &str| answer[key].as_array().expect("a list").clone();
    let targets = list("targets")
        .into_iter()
        .map(|it| format!("{}<{}@{}", text(&it["target"]), text(&it["because"]), it["distance"]));
    let unknown = list("unknown").into_iter().map(|it| format!("?{}", text(&it["path"])));
    let all: Vec<_> = targets.chain(unknown).collect();
    let description = answer["summary"]["description"] == true;
    assert_eq!(status == 1, description || !list("targets").is_empty());
    all.join(" ") + if description { " !" } else { "" }
}

#[track_caller]
fn affected(space: &Space, args: &str) -> String {
    told(ask(space, &format!("affected --format json {args}")))
}

/// Asks with a list on standard input, from a directory below the space.
#[track_caller]
fn piped(space: &Space, directory: &str, args: &str, list: &[u8]) -> Ran {
    let mut command = upcheck(space, ["affected"].into_iter().chain(args.split_whitespace()));
    command.current_dir(space.path().join(directory)).env_remove("PWD");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("upcheck starts");
    child.stdin.take().expect("a pipe").write_all(list).expect("all was read");
    Ran::new(child.wait_with_output().expect("upcheck ends"))
}

#[test]
fn targets_are_named_with_the_file_they_would_go_stale_for() {
    let space = made();
    let answer = ask(&space, "affected --from graph b.c README docs/x").answer(1);
    let expected = "\
3 targets would go stale

b.o  because of b.c
app  because of b.c
tests  because of b.c

Nothing depends on README and 1 more file, as far as the description tells.
";
    assert_eq!(answer, expected);
    assert_eq!(
        ask(&space, "affected --from graph README").answer(0),
        "nothing would go stale\n\nNothing depends on README, as far as the description tells.\n"
    );
    assert_eq!(ask(&space, "affected -q --from graph b.c").answer(1), "");
    assert_eq!(ask(&space, "affected -q --from graph README").answer(0), "");
}

#[test]
fn sources_headers_patterns_and_outputs_lead_to_what_depends_on_them() {
    let space = made();
    let graph = |files: &str| affected(&space, &format!("--from graph {files}"));
    let users = "app<F@1 tests<F@2";
    let with = |first: &str, file: &str| format!("{first} {}", users.replace('F', file));
    assert_eq!(graph("a.c"), with("a.o<a.c@0", "a.c"));
    // Only depfiles know it, and they are on record.
    assert_eq!(graph("deep.h"), with("a.o<deep.h@0 b.o<deep.h@0", "deep.h"));
    space.remove("a.d");
    space.remove("b.d");
    assert_eq!(graph("deep.h"), with("a.o<deep.h@0 b.o<deep.h@0", "deep.h"));
    // Order-only, but discovered too.
    assert_eq!(graph("gen.in"), "gen.h<gen.in@0 a.o<gen.in@1 b.o<gen.in@1 app<gen.in@2 tests<gen.in@3");
    assert_eq!(graph("res/icon"), "app<res/icon@0 tests<res/icon@1");
    // One that is not there yet, and one that is not there any more.
    assert_eq!(graph("res/new/logo"), "app<res/new/logo@0 tests<res/new/logo@1");
    space.remove("res/icon");
    space.remove("b.c");
    assert_eq!(graph("res/icon"), "app<res/icon@0 tests<res/icon@1");
    assert_eq!(graph("b.c"), with("b.o<b.c@0", "b.c"));
    assert_eq!(graph("a.o"), "a.o<a.o@0 app<a.o@0 tests<a.o@1");
    assert_eq!(graph("b.c a.c none"), "a.o<a.c@0 b.o<b.c@0 app<b.c@1 tests<b.c@2 ?none");
    assert_eq!(graph("tests"), "tests<tests@0");
}

#[test]
fn without_records_depfiles_tell() {
    let space = graph();
    assert_eq!(affected(&space, "--from graph deep.h"), "?deep.h");
    let status = sh(MAKE).current_dir(space.path()).status();
    assert!(status.expect("sh starts").success());
    assert_eq!(
        affected(&space, "--from graph deep.h"),
        "a.o<deep.h@0 b.o<deep.h@0 app<deep.h@1 tests<deep.h@2"
    );
}

#[test]
fn what_is_said_of_single_files_is_what_becomes_of_them() {
    for file in ["a.c", "b.c", "deep.h", "gen.in", "res/icon", "app", "a.o"] {
        let space = made();
        let said = affected(&space, &format!("--from graph {file}"));
        space.write(file, "something else\n");
        let report = json(&ask(&space, "--from graph --format json").answer(1));
        let mut stale: Vec<_> =
            report["stale"].as_array().expect("a list").iter().map(|it| it["target"].clone()).collect();
        let mut names: Vec<_> =
            said.split(' ').map(|it| it.split('<').next().expect("a name").into()).collect();
        stale.sort_by_key(ToString::to_string);
        names.sort_by_key(serde_json::Value::to_string);
        assert_eq!(names, stale, "{file}");
    }
}

#[test]
fn a_changed_description_may_change_everything() {
    let space = made();
    assert_eq!(affected(&space, "--from graph graph.json"), " !");
    assert_eq!(affected(&space, "--from graph ./x/../graph.json README"), "?README !");
    let absolute = space.path().join("graph.json").display().to_string();
    assert_eq!(affected(&space, &format!("--from graph {absolute}")), " !");
    assert_eq!(
        ask(&space, "affected --from graph graph.json b.o").answer(1).lines().next(),
        Some("The description itself would change: only then can be told what else goes stale.")
    );
    space.write("list", "a.c\n");
    assert_eq!(affected(&space, "--inputs-from list -o out list a.c"), "out<a.c@0 !");
}

#[test]
fn one_target_that_options_describe_is_affected_or_not() {
    let space = made();
    let target = "-i *.c -i !b.c -o lib";
    assert_eq!(affected(&space, &format!("{target} a.c")), "lib<a.c@0");
    assert_eq!(affected(&space, &format!("{target} new.c")), "lib<new.c@0");
    assert_eq!(affected(&space, &format!("{target} b.c deep.h")), "?b.c ?deep.h");
}

#[test]
fn a_list_on_standard_input_is_as_git_prints_it() {
    let space = made();
    let json = |directory: &str, args: &str, list: &[u8]| {
        told(piped(&space, directory, &format!("--format json {args}"), list))
    };
    let all = "b.o<b.c@0 app<b.c@1 tests<b.c@2 ?README";
    for list in [&b"b.c\nREADME\n"[..], b"b.c\nREADME", b"\nb.c\n\nREADME\n\n", b"./b.c\nREADME\n"] {
        assert_eq!(json(".", "--from graph -", list), all);
    }
    assert_eq!(json(".", "--from graph - -0", b"b.c\0README\0"), all);
    assert_eq!(json(".", "--from graph -", b""), "");
    // As git does without -z. No file has such a name on Windows, but it may be told of.
    if cfg!(unix) {
        space.write("res/\u{e4} \"x\"", "");
    }
    assert_eq!(
        json(".", "--from graph -", b"\"res/\\303\\244 \\\"x\\\"\"\n"),
        "app<res/\u{e4} \"x\"@0 tests<res/\u{e4} \"x\"@1"
    );
    // From elsewhere, and with names that count from elsewhere.
    assert_eq!(json("res", "-C .. --from graph -", b"../b.c\n../README\n"), all.replace("?", "?../"));
    assert_eq!(json("res", "-C .. --from graph --base .. -", b"b.c\nREADME\n"), all);
    assert_eq!(json("res", "-C .. --from graph -", b"icon\n"), "app<res/icon@0 tests<res/icon@1");
    let absolute = space.path().join("b.c").display().to_string();
    assert_eq!(json("res", "-C .. --from graph -", absolute.as_bytes()), "b.o<b.c@0 app<b.c@1 tests<b.c@2");
}

#[test]
#[cfg(unix)] // It takes a real shell, and git.
fn a_real_difference_of_git_is_understood() {
    if Command::new("git").arg("--version").output().is_err() {
        return not_tested("lists of git; this needs git");
    }
    let space = made();
    let script = "git init -q . && git add a.c b.c res graph.json && \
        git -c user.name=a -c user.email=a@b commit -q -m one && rm b.c && echo 'int x;' > a.c && \
        echo > 'res/\u{e4}' && git add res && git diff --name-only HEAD";
    let list = sh(script).current_dir(space.path()).output().expect("sh starts");
    assert!(list.status.success());
    let said = told(piped(&space, ".", "--from graph --format json -", &list.stdout));
    assert_eq!(said, "a.o<a.c@0 b.o<b.c@0 app<res/\u{e4}@0 tests<res/\u{e4}@1");
}

/// The absolute path of one source, as ninja has it.
fn y(space: &Space) -> String {
    let path = format!("{}/src/y.c", space.path().display());
    if cfg!(windows) { path.replace('\\', "/") } else { path }
}

/// A project with a real ninja build directory below it, whose manifest names one source relative to that and the other
/// by its absolute path.
fn ninja() -> Space {
    let space = Space::new();
    for (name, text) in
        [("src/x.c", "x"), ("src/y.c", "y"), ("src/hdr.h", "h"), ("src/order", "o"), ("README", "")]
    {
        space.write(name, text);
    }
    space.write(
        "build/build.ninja",
        format!(
            "rule cc\n  command = cat $in ../src/hdr.h > $out && echo $out: $in ../src/hdr.h > $out.d\n  \
               deps = gcc\n  depfile = $out.d\n\
             rule t\n  command = cat $in > $out\n\
             rule regenerate\n  command = touch $out\n  generator = 1\n\
             build x.o: cc ../src/x.c || ../src/order\n\
             build y.o: cc {}\n\
             build app: t x.o y.o\n\
             build all: phony app\n\
             build build.ninja: regenerate ../CMakeLists.txt\n\
             include more.ninja\n",
            y(&space).replace(':', "$:")
        ),
    );
    space.write("build/more.ninja", "build other: t ../src/x.c\n");
    space.write_at("CMakeLists.txt", "", 1_000_000_000);
    let built = Command::new(Ninja::V1_13.path()).arg("-C").arg(space.path().join("build")).output();
    let built = built.expect("ninja starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stdout));
    space
}

#[test]
fn sources_of_a_ninja_build_are_known_from_anywhere() {
    let space = ninja();
    let ask = |directory: &str, args: &str, list: &str| {
        told(piped(&space, directory, &format!("--format json {args}"), list.as_bytes()))
    };
    let x = "x.o<../src/x.c@0 other<../src/x.c@0 app<../src/x.c@1";
    assert_eq!(ask(".", "-C build -", "src/x.c\n"), x);
    assert_eq!(ask("build", "-", "../src/x.c\n"), x);
    assert_eq!(ask("build", "--base .. -", "src/x.c\n"), x);
    assert_eq!(ask("src", "-C ../build --base .. -", "src/x.c\n"), x);
    assert_eq!(ask("src", "-C ../build -", "x.c"), x);
    let y = y(&space);
    let users = format!("y.o<{y}@0 app<{y}@1");
    for list in ["src/y.c\n", y.as_str()] {
        assert_eq!(ask(".", "-C build -", list), users);
    }
    assert_eq!(
        ask(".", "-C build -", "src/hdr.h\nREADME\nnew.c\n"),
        "x.o<../src/hdr.h@0 y.o<../src/hdr.h@0 app<../src/hdr.h@1 ?README ?new.c"
    );
    // It only has to be there first.
    assert_eq!(ask(".", "-C build -", "src/order\n"), "");
    space.remove("src/x.c");
    assert_eq!(ask(".", "-C build -", "src/x.c\n"), x);
    assert_eq!(ask(".", "-C build -", "build/build.ninja"), " !");
    assert_eq!(ask(".", "-C build -", "build/more.ninja"), " !");
    assert_eq!(ask(".", "-C build -", "CMakeLists.txt\n"), "build.ninja<../CMakeLists.txt@0 !");
}

#[test]
#[cfg(unix)]
fn links_do_not_hide_files() {
    let space = ninja();
    let there = Space::new();
    let link = there.path().join("link");
    symlink(space.path(), &link).expect("a link");
    let y = y(&space);
    let users = format!("y.o<{y}@0 app<{y}@1");
    // Where the shell has gone through a link, and git says where it is.
    let ask = |pwd: &Path, args: &str, list: &str| {
        let args = ["affected", "--format", "json"].into_iter().chain(args.split_whitespace());
        let mut command = upcheck(&space, args);
        command
            .current_dir(pwd)
            .env("PWD", pwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("upcheck starts");
        child.stdin.take().expect("a pipe").write_all(list.as_bytes()).expect("all was read");
        told(Ran::new(child.wait_with_output().expect("upcheck ends")))
    };
    assert_eq!(ask(&link, "-C build -", "src/y.c\n"), users);
    // And where the description has the name with the link.
    let text = String::from_utf8(space.read("build/build.ninja")).expect("text");
    let linked = format!("{}/src/y.c", link.display());
    space.write("build/build.ninja", text.replace(&y, &linked));
    assert_eq!(ask(&link, "-C build -", "src/y.c\n").replace(&y, &linked), users.replace(&y, &linked));
    // The deps log still had the other one.
    space.remove("build/.ninja_deps");
    assert_eq!(ask(&link, "-C build -", "src/y.c\n"), users.replace(&y, &linked));
    // A variable of somebody else.
    assert_eq!(
        ask(there.path(), "-C link/build -", "link/src/x.c\n"),
        "x.o<../src/x.c@0 other<../src/x.c@0 app<../src/x.c@1"
    );
}

#[test]
fn lines_of_what_is_affected_say_the_same_as_the_whole() {
    let space = made();
    let whole = json(&ask(&space, "affected --from graph --format json deep.h x").answer(1));
    let lines = ask(&space, "affected --from graph --format jsonl deep.h x").answer(1);
    let mut lines: Vec<serde_json::Value> = lines.lines().map(json).collect();
    let mut last = lines.pop().expect("a last line");
    last["targets"] = lines.into();
    assert_eq!(last, whole);
    assert_eq!(whole["summary"], json(r#"{"targets": 4, "unknown": 1, "description": false}"#));
}

#[test]
fn nothing_is_looked_at_but_what_is_on_record() {
    let space = made();
    run(&space, "--from graph", MAKE).well();
    for name in ["a.c", "b.c", "a.o", "b.o", "app", "deep.h", "gen.h", "gen.in"] {
        space.remove(name);
    }
    assert_eq!(affected(&space, "--from graph a.c"), "a.o<a.c@0 app<a.c@1 tests<a.c@2");
    let built = made();
    fresh(&built, "--from graph");
}
