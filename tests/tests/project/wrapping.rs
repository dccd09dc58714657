//! Options of `upcheck run` for those who put it in front of other people's commands: exit statuses, several commands,
//! another directory.

use crate::{Ended, run, sources, stale, text, upcheck};
use std::fs;
use upcheck_tests::space::Space;

pub(crate) fn ended(space: &Space, args: &[&str]) -> Ended {
    Ended::new(upcheck(space, args).output().expect("upcheck starts"))
}

#[test]
fn a_command_that_need_not_run_ends_with_the_status_for_that() {
    let space = sources();
    let target = "--fresh-status 77 -i src/a.ts -o out";
    run(&space, target, "touch out").well();
    let Ended { status, stderr, .. } = run(&space, target, "touch out");
    assert_eq!((status, stderr.as_str()), (77, ""));
    // A command that ends so itself is another matter.
    space.write("src/a.ts", "other\n");
    assert_eq!(run(&space, target, "exit 77").status, 77);
    assert_eq!(run(&space, &format!("--map-status 77=1 {target}"), "exit 77").status, 1);
    assert_eq!(run(&space, &format!("--map-status 77=1 {target}"), "exit 76").status, 76);
    assert_eq!(run(&space, &format!("--map-status 0=3 {target}"), "touch out").status, 3);
    assert_eq!(run(&space, &format!("--map-status 0=3 {target}"), "touch out").status, 77);
}

#[test]
fn statuses_that_are_none_are_refused() {
    let space = sources();
    for option in [
        "--fresh-status 4294967296",
        "--fresh-status x",
        "--map-status 1",
        "--map-status 1=x",
        "--map-status =1",
    ] {
        let ended = run(&space, &format!("{option} -i src/a.ts -o out"), "touch out");
        assert_eq!(ended.status, 125, "{option}");
        assert!(ended.stderr.contains(option.split(' ').next().expect("an option")), "{}", ended.stderr);
    }
}

#[test]
fn several_commands_run_until_one_fails() {
    let space = sources();
    let run = |words: &[&str]| {
        let args = ["run", "-i", "src/a.ts", "-o", "out", "--separator=;;", "--"];
        ended(&space, &[&args[..], words].concat())
    };
    run(&["touch", "out", ";;", "sh", "-c", "echo 1 >> log", ";;", "sh", "-c", "echo 2 >> log"]).well();
    run(&["touch", "out", ";;", "sh", "-c", "echo 1 >> log", ";;", "sh", "-c", "echo 2 >> log"]).well();
    assert_eq!(text(&space, "log"), "1\n2\n");
    let failing = ["sh", "-c", "echo 3 >> log; exit 3", ";;", "sh", "-c", "echo 4 >> log"];
    assert_eq!(run(&failing).status, 3);
    assert_eq!(text(&space, "log"), "1\n2\n3\n");
    assert_eq!(stale(&space, "-i src/a.ts -o out").split(' ').nth(1), Some("interrupted"));
    // What a generator left of a command that is for another configuration.
    run(&["", "x", ";;", ";;", "touch", "out", ";;", ""]).well();
}

#[test]
fn the_command_runs_in_another_directory_while_paths_stay_where_they_are() {
    let space = sources();
    let run = |dir: &str| {
        ended(
            &space,
            &[
                "run",
                "-i",
                "src/a.ts",
                "-o",
                "src/out",
                "--chdir",
                dir,
                "--",
                "sh",
                "-c",
                "pwd > $OLDPWD/src/out",
            ],
        )
    };
    let mut command = upcheck(&space, ["run", "-i", "src/a.ts", "-o", "out", "--chdir", "src", "--"]);
    command.args(["sh", "-c", "cat a.ts > ../out; echo ran >> ../log"]);
    for _ in 0..2 {
        Ended::new(command.output().expect("upcheck starts")).well();
    }
    assert_eq!(text(&space, "log"), "ran\n");
    // The same words in another place are another command.
    fs::create_dir(space.path().join("lib")).expect("a directory");
    space.write("lib/a.ts", "other\n");
    let mut command = upcheck(&space, ["run", "-i", "src/a.ts", "-o", "out", "--chdir", "lib", "--"]);
    command.args(["sh", "-c", "cat a.ts > ../out; echo ran >> ../log"]);
    Ended::new(command.output().expect("upcheck starts")).well();
    assert_eq!((text(&space, "log"), text(&space, "out")), ("ran\nran\n".into(), "other\n".into()));
    // There it is one error whatever the name leads to.
    assert_eq!(run("gone").status, if cfg!(windows) { 126 } else { 127 });
}
