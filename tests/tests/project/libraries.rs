//! `upcheck run --libraries`: the libraries that a program loads are inputs.

use crate::wrapping::ended;
use crate::{Ended, upcheck};
use std::fs;
use std::process::Command;
use upcheck_tests::space::Space;

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
