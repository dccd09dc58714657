//! A real compiler, with the depfiles that it writes.

use crate::{ask, fresh, run, stale, text};
use std::process::Command;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;

/// A program of two sources with a header each, one of which includes another one by a way round; `None` without gcc.
fn program() -> Option<Space> {
    if Command::new("gcc").arg("--version").output().is_err() {
        not_tested("a real compiler; this needs gcc");
        return None;
    }
    let space = Space::new();
    space.write(
        "src/main.c",
        "#include \"conf.h\"\nint other(void);\nint main(void) { return other() + CONF; }\n",
    );
    space.write("src/other.c", "#include \"other.h\"\nint other(void) { return OTHER; }\n");
    space.write("include/conf.h", "#define CONF 0\n");
    space.write("include/other.h", "#include \"sub/../deep.h\"\n#define OTHER DEEP\n");
    space.write("include/sub/x.h", "");
    space.write("include/deep.h", "#define DEEP 0\n");
    Some(space)
}

const COMPILE: &str = "mkdir -p o && gcc -Iinclude -MD -MF o/NAME.d -c src/NAME.c -o o/NAME.o";

fn object(space: &Space, name: &str) {
    run(space, &target(name), &COMPILE.replace("NAME", name)).well();
}

fn target(name: &str) -> String {
    format!("-i src/{name}.c -o o/{name}.o --depfile o/{name}.d")
}

#[test]
fn an_edited_header_makes_its_users_stale() {
    let Some(space) = program() else { return };
    object(&space, "main");
    object(&space, "other");
    fresh(&space, &target("main"));
    space.write("include/deep.h", "#define DEEP (1 - 1)\n");
    fresh(&space, &target("main"));
    assert_eq!(stale(&space, &target("other")), "o/other.o: input-changed include/deep.h");
    object(&space, "other");
    fresh(&space, &target("other"));
    // A header that comes in, and one that goes.
    space.write("include/conf.h", "#include \"new.h\"\n#define CONF NEW\n");
    space.write("include/new.h", "#define NEW 0\n");
    object(&space, "main");
    space.write("include/new.h", "#define NEW (0)\n");
    assert_eq!(stale(&space, &target("main")), "o/main.o: input-changed include/new.h");
    space.write("include/conf.h", "#define CONF 0\n");
    space.remove("include/new.h");
    object(&space, "main");
    fresh(&space, &target("main"));
    // A system header's time is nobody's business.
    let depfile = text(&space, "o/main.d");
    assert!(depfile.contains("include/conf.h") && !depfile.contains("new.h"), "{depfile}");
}

#[test]
fn an_error_of_the_compiler_is_passed_on() {
    let Some(space) = program() else { return };
    object(&space, "main");
    space.write("src/main.c", "int main(void) { return }\n");
    let ended = run(&space, &target("main"), &COMPILE.replace("NAME", "main"));
    assert_eq!(ended.status, 1);
    assert!(ended.stderr.contains("error: expected expression"), "{}", ended.stderr);
    assert_eq!(stale(&space, &target("main")), "o/main.o: interrupted o/main.o");
}

#[test]
fn a_graph_of_real_compilations_is_built_step_by_step() {
    let Some(space) = program() else { return };
    let targets = ["main", "other"].map(|name| {
        format!(r#"{{"outputs": ["o/{name}.o"], "inputs": ["src/{name}.c"], "depfile": "o/{name}.d", "command": "cc"}}"#)
    });
    space.write(
        "graph.json",
        format!(r#"{{"version": 1, "targets": [{}, {{"outputs": ["app"], "inputs": ["o/main.o", "o/other.o"]}}]}}"#, targets.join(",")),
    );
    let make = || {
        for name in ["main", "other"] {
            run(&space, &format!("--from graph o/{name}.o"), &COMPILE.replace("NAME", name)).well();
        }
        run(&space, "--from graph app", "gcc o/main.o o/other.o -o app && echo linked >> log").well();
    };
    make();
    fresh(&space, "--from graph");
    assert!(Command::new(space.path().join("app")).status().expect("a program").success());
    // A comment: the object comes out the same, and nothing is linked.
    space.write("src/main.c", text(&space, "src/main.c") + "/* */\n");
    assert_eq!(ask(&space, "why app --from graph").answer(1).lines().next(), Some("app is pending"),);
    make();
    assert_eq!(text(&space, "log"), "linked\n");
    fresh(&space, "--from graph");
    space.write("include/deep.h", "#define DEEP 3\n");
    assert_eq!(
        stale(&space, "--from graph"),
        "o/other.o: input-changed include/deep.h; app: upstream-stale o/other.o"
    );
    make();
    assert_eq!(text(&space, "log"), "linked\nlinked\n");
    assert_eq!(Command::new(space.path().join("app")).status().expect("a program").code(), Some(3));
}

#[test]
fn a_compilation_database_is_judged_by_the_depfiles_that_it_implies() {
    let Some(space) = program() else { return };
    let entry = |name: &str| {
        format!(
            r#"{{"directory": "{}", "file": "src/{name}.c", "output": "o/{name}.o",
                "command": "gcc -Iinclude -MD -MF o/{name}.d -c src/{name}.c -o o/{name}.o"}}"#,
            space.path().display()
        )
    };
    space.write("compile_commands.json", format!("[{},{}]", entry("main"), entry("other")));
    let from = "--from compile-commands";
    assert!(ask(&space, from).answer(1).starts_with("2 of 2 targets are stale\n"));
    let compile = ["main", "other"].map(|name| COMPILE.replace("NAME", name)).join(" && ");
    run(&space, from, &compile).well();
    fresh(&space, from);
    space.write("include/deep.h", "#define DEEP 1\n");
    assert_eq!(stale(&space, from), "o/other.o: input-changed include/deep.h");
    let affected = ask(&space, &format!("affected {from} include/conf.h compile_commands.json")).answer(1);
    assert!(affected.contains("o/main.o  because of include/conf.h\n"), "{affected}");
    assert!(affected.starts_with("The description itself would change"), "{affected}");
}
