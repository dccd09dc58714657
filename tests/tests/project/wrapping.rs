//! Options of `upcheck run` for those who put it in front of other people's commands: exit statuses, several commands,
//! another directory, the libraries that a program loads.

use crate::{Ended, run, sources, stale, text, upcheck};
use std::fs;
use std::process::Command;
use upcheck_tests::space::Space;

fn ended(space: &Space, args: &[&str]) -> Ended {
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
    for option in
        ["--fresh-status 256", "--fresh-status x", "--map-status 1", "--map-status 1=x", "--map-status =1"]
    {
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
    assert_eq!(run("gone").status, 127);
}

/// A program that loads a library which lies beside it, and another directory for libraries.
fn program() -> Space {
    let space = Space::new();
    space.write("lib.c", "int number(void) { return 0; }\n");
    space.write("main.c", "int number(void);\nint main(void) { return number(); }\n");
    fs::create_dir(space.path().join("other")).expect("a directory");
    compile(&space, &["-shared", "-fPIC", "-o", "libpart.so", "lib.c"]);
    compile(&space, &["-o", "main", "main.c", "-L.", "-lpart"]);
    space
}

#[track_caller]
fn compile(space: &Space, args: &[&str]) {
    let status = Command::new("gcc").current_dir(space.path()).args(args).status().expect("gcc starts");
    assert!(status.success(), "{args:?}");
}

/// Runs the program's test: 77 if it need not run.
fn test(space: &Space) -> i32 {
    let args = ["run", "--name", "test", "--libraries", "--fresh-status=77", "--", "./main"];
    let mut command = upcheck(space, args);
    let (place, other) = (space.path().display(), space.path().join("other"));
    command.env("LD_LIBRARY_PATH", format!("{}:{place}", other.display()));
    Ended::new(command.output().expect("upcheck starts")).status
}

#[test]
fn a_program_and_the_libraries_that_it_loads_are_inputs() {
    let space = program();
    assert_eq!([test(&space), test(&space)], [0, 77]);
    space.write("lib.c", "int more; int number(void) { return 0; }\n");
    compile(&space, &["-shared", "-fPIC", "-o", "libpart.so", "lib.c"]);
    assert_eq!([test(&space), test(&space)], [0, 77]);
    compile(&space, &["-O1", "-o", "main", "main.c", "-L.", "-lpart"]);
    assert_eq!([test(&space), test(&space)], [0, 77]);
    // One of that name in an earlier place is loaded instead.
    space.write("lib.c", "int number(void) { return 5; }\n");
    compile(&space, &["-shared", "-fPIC", "-o", "other/libpart.so", "lib.c"]);
    assert_eq!([test(&space), test(&space)], [5, 5]);
    space.remove("other/libpart.so");
    assert_eq!([test(&space), test(&space)], [0, 77]);
    // And none at all.
    fs::rename(space.path().join("libpart.so"), space.path().join("gone")).expect("a name");
    assert_eq!([test(&space), test(&space)], [127, 127]);
}

#[test]
fn the_libraries_of_programs_among_the_inputs_are_inputs_too() {
    let space = program();
    let test = || {
        let args = [
            "run",
            "--name",
            "test",
            "--libraries",
            "--fresh-status=77",
            "-i",
            "main",
            "--",
            "sh",
            "-c",
            "true",
        ];
        let mut command = upcheck(&space, args);
        command.env("LD_LIBRARY_PATH", space.path());
        Ended::new(command.output().expect("upcheck starts")).status
    };
    assert_eq!([test(), test()], [0, 77]);
    space.write("lib.c", "int more; int number(void) { return 0; }\n");
    compile(&space, &["-shared", "-fPIC", "-o", "libpart.so", "lib.c"]);
    assert_eq!([test(), test()], [0, 77]);
}

#[test]
fn programs_that_load_nothing_have_no_libraries() {
    let space = program();
    space.write("script", "#!/bin/sh\nexit 0\n");
    space.write("empty", "");
    space.write("short", b"\x7fELF");
    space.write(
        "broken",
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\
        \xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    );
    compile(&space, &["-static", "-o", "static", "main.c", "lib.c"]);
    compile(&space, &["-static-pie", "-o", "static-pie", "main.c", "lib.c"]);
    for program in ["script", "empty", "short", "broken", "static", "static-pie"] {
        let name = format!("test of {program}");
        let args =
            ["run", "--name", &name, "--libraries", "--fresh-status=77", "-i", program, "--", "/bin/true"];
        let twice = [ended(&space, &args), ended(&space, &args)];
        assert_eq!([twice[0].status, twice[1].status], [0, 77], "{program}: {}", twice[0].stderr);
    }
}
