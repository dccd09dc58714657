//! The same small program, built with make, with go-task and with upcheck: what each says after the things that their
//! users report, against the table in docs/COMPARISON.md.

use crate::replace;
use crate::upcheck;
use std::fmt::Write;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use upcheck_tests::aloud::not_tested;
use upcheck_tests::space::Space;
use upcheck_tests::tools::root;

/// What the sources' times are set to: all older than whatever is built.
const T: i64 = 1_600_000_000_000_000_000;

/// Compiles all sources as one, and does what is wanted on the way.
const BUILD: &str = "\
set -e
test ! -e fail || { echo half > app; exit 1; }
test ! -e die || { echo half > app; kill -9 0; }
all=$(cat src/*.c)
test ! -e meddle || { rm meddle; echo 'int later;' >> src/b.c; }
printf '%s\\n' \"$all\" | gcc \"$@\" -MD -MP -MF app.d -MT app -Iinclude -x c - -o app
";

const MAKEFILE: &str = "\
FLAGS = -O0
app: $(wildcard src/*.c)
\tsh build.sh $(FLAGS)
-include app.d
";

const TASKFILE: &str = "\
version: '3'
vars: {FLAGS: '-O0'}
tasks:
  app:
    method: METHOD
    sources: ['src/*.c']
    generates: [app]
    cmds: ['sh build.sh {{.FLAGS}}']
";

struct Tool {
    name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Make,
    Task(&'static str),
    Upcheck(&'static str),
}

const TOOLS: [Tool; 5] = [
    Tool { name: "make", kind: Kind::Make },
    Tool { name: "task, checksum", kind: Kind::Task("checksum") },
    Tool { name: "task, timestamp", kind: Kind::Task("timestamp") },
    Tool { name: "upcheck", kind: Kind::Upcheck("mtime-and-digest-input") },
    Tool { name: "upcheck, digest", kind: Kind::Upcheck("digest") },
];

/// Where go-task is; `None` if it cannot be had.
fn task() -> Option<PathBuf> {
    let output = Command::new(root().join("tests/tools/get-task")).arg("3").output().expect("a script");
    if !output.status.success() {
        not_tested(&format!("go-task: {}", String::from_utf8_lossy(&output.stderr)));
        return None;
    }
    Some(String::from_utf8(output.stdout).expect("a path in UTF-8").trim().into())
}

fn sh(space: &Space, script: &str) {
    let output =
        Command::new("sh").args(["-c", script]).current_dir(space.path()).output().expect("sh starts");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A program that was never built.
fn program(kind: Kind) -> Space {
    let space = Space::new();
    space.write_at("src/a.c", "int b(void);\nint main(void) { return b(); }\n", T);
    space.write_at("src/b.c", "#include \"conf.h\"\nint b(void) { return CONF; }\n", T);
    space.write_at("src/extra.c", "int extra;\n", T);
    space.write_at("include/conf.h", "#define CONF 0\n", T);
    space.write_at("build.sh", BUILD, T);
    match kind {
        Kind::Make => space.write_at("Makefile", MAKEFILE, T),
        Kind::Task(method) => space.write_at("Taskfile.yml", TASKFILE.replace("METHOD", method), T),
        // Its flags.
        Kind::Upcheck(_) => space.write_at("flags", "-O0", T),
    }
    space
}

struct Tools {
    task: PathBuf,
}

impl Tools {
    fn command(&self, space: &Space, kind: Kind, asks: bool) -> Command {
        let mut command = match kind {
            Kind::Make => {
                let mut command = Command::new("make");
                command.args(if asks { &["-q", "app"][..] } else { &["app"] });
                command
            }
            Kind::Task(_) => {
                let mut command = Command::new(&self.task);
                command.args(if asks { &["--status", "app"][..] } else { &["app"] });
                command
            }
            Kind::Upcheck(policy) => {
                let flags = crate::text(space, "flags");
                let what = if asks { "check" } else { "run" };
                let mut command = upcheck(space, [what, "--policy", policy, "-i", "src/*.c", "-o", "app"]);
                command.args(["--depfile", "app.d"]).args(asks.then_some("-q"));
                command.args(["--", "sh", "build.sh", &flags]);
                command
            }
        };
        command.current_dir(space.path()).process_group(0);
        for name in ["MAKEFLAGS", "MAKELEVEL", "TASK_TEMP_DIR"] {
            command.env_remove(name);
        }
        command
    }

    fn build(&self, space: &Space, kind: Kind) -> bool {
        self.command(space, kind, false).output().expect("the tool starts").status.success()
    }

    fn ask(&self, space: &Space, kind: Kind) -> &'static str {
        let output = self.command(space, kind, true).output().expect("the tool starts");
        if output.status.success() { "fresh" } else { "stale" }
    }
}

/// What happens to a program that was built, what should be said of it then, and what is done.
type Case = (&'static str, &'static str, fn(&Tools, &Space, Kind));

const CASES: [Case; 20] = [
    ("nothing", "fresh", |_, _, _| {}),
    ("a source is edited", "stale", |_, space, _| edit(space, "src/b.c")),
    ("a source is edited, and it is asked for the second time", "stale", |tools, space, kind| {
        edit(space, "src/b.c");
        tools.ask(space, kind);
    }),
    ("a header is edited that only the depfile names", "stale", |_, space, _| edit(space, "include/conf.h")),
    ("a source is deleted", "stale", |_, space, _| space.remove("src/extra.c")),
    ("a source gets another name", "stale", |_, space, _| sh(space, "mv src/extra.c src/more.c")),
    ("an old source comes in (`cp -p`, an archive)", "stale", |_, space, _| {
        space.write_at("src/old.c", "int old;\n", T)
    }),
    ("a source is replaced by an older version (`cp -p`)", "stale", |_, space, _| {
        space.write_at("src/b.c", "int b(void) { return 1; }\n", T - 1_000_000_000);
    }),
    ("a source is edited, and its time and size are as before", "stale", |_, space, _| {
        space.write_at("src/b.c", "#include \"conf.h\"\nint b(void) { return conf; }\n", T);
    }),
    ("a source is touched", "fresh", |_, space, _| sh(space, "touch src/b.c")),
    ("`git stash`, `git stash pop`", "fresh", |tools, space, kind| {
        commit_and_edit(tools, space, kind);
        sh(space, "git stash -q && git stash pop -q");
    }),
    ("`git stash`", "stale", |tools, space, kind| {
        commit_and_edit(tools, space, kind);
        sh(space, "git stash -q");
    }),
    ("another flag in the command", "stale", |_, space, kind| match kind {
        Kind::Make => replace(space, "Makefile", "-O0", "-O1"),
        Kind::Task(_) => replace(space, "Taskfile.yml", "-O0", "-O1"),
        Kind::Upcheck(_) => replace(space, "flags", "-O0", "-O1"),
    }),
    ("the output is deleted", "stale", |_, space, _| space.remove("app")),
    ("the output is edited", "stale", |_, space, _| edit(space, "app")),
    ("the output is replaced by one of an earlier build", "stale", |tools, space, kind| {
        sh(space, "cp -p app earlier");
        edit(space, "src/b.c");
        assert!(tools.build(space, kind));
        sh(space, "cp -p earlier app");
    }),
    ("a build fails half-way", "stale", |tools, space, kind| interrupted(tools, space, kind, "fail")),
    ("a build is killed half-way", "stale", |tools, space, kind| interrupted(tools, space, kind, "die")),
    ("a source is edited while it is compiled", "stale", |tools, space, kind| {
        edit(space, "src/b.c");
        space.write("meddle", "");
        assert!(tools.build(space, kind));
    }),
    ("the whole tree is copied with its times (`cp -a`)", "fresh", |_, space, _| {
        sh(
            space,
            "cp -a . ../copy.$$ && rm -rf ./* .task .upcheck && mv ../copy.$$/* ../copy.$$/.??* . ; rmdir ../copy.$$",
        );
    }),
];

fn edit(space: &Space, path: &str) {
    let mut text = space.read(path);
    text.extend(b"int edited;\n");
    space.write(path, text);
}

/// An edit that is built, and not committed.
fn commit_and_edit(tools: &Tools, space: &Space, kind: Kind) {
    sh(
        space,
        "git init -q . && git add src include && git -c user.name=a -c user.email=a@b commit -q -m one && \
         git config user.name a && git config user.email a@b",
    );
    edit(space, "src/b.c");
    assert!(tools.build(space, kind));
}

/// A build that wrote half an output and came to nothing.
fn interrupted(tools: &Tools, space: &Space, kind: Kind, how: &str) {
    edit(space, "src/b.c");
    space.write(how, "");
    assert!(!tools.build(space, kind));
    space.remove(how);
}

#[test]
fn what_others_say_is_what_stands_in_the_comparison() {
    for tool in ["make", "gcc", "git"] {
        if Command::new(tool).arg("--version").output().is_err() {
            return not_tested(&format!("what other tools say; this needs {tool}"));
        }
    }
    let Some(task) = task() else { return };
    let tools = Tools { task };
    let mut table = String::from("| after a build | should be |");
    for tool in TOOLS {
        write!(table, " {} |", tool.name).expect("a string");
    }
    table.push_str("\n|---|---|---|---|---|---|---|\n");
    for (what, expected, act) in CASES {
        write!(table, "| {what} | {expected} |").expect("a string");
        for Tool { kind, .. } in TOOLS {
            let space = program(kind);
            assert_eq!(tools.ask(&space, kind), "stale", "before the first build");
            assert!(tools.build(&space, kind));
            act(&tools, &space, kind);
            let said = tools.ask(&space, kind);
            let said = if said == expected { said.into() } else { format!("**{said}**") };
            write!(table, " {said} |").expect("a string");
        }
        table.push('\n');
    }
    let mut leaves = String::from("| is the tree as it was, after it was asked? | yes |");
    for Tool { kind, .. } in TOOLS {
        let space = program(kind);
        assert!(tools.build(&space, kind));
        edit(&space, "src/b.c");
        let before = space.entries();
        tools.ask(&space, kind);
        leaves.push_str(if space.entries() == before { " yes |" } else { " **no** |" });
    }
    writeln!(table, "{leaves}").expect("a string");
    let document = fs::read_to_string(root().join("docs/COMPARISON.md")).expect("a document");
    assert!(document.contains(&table), "docs/COMPARISON.md should have\n\n{table}");
    assert!(document.contains(&version(&tools.task)), "of another version than {}", version(&tools.task));
    let make = version(Path::new("make"));
    if !document.contains(&make) {
        not_tested(&format!("the make of docs/COMPARISON.md: here is {make}, which says the same"));
    }
}

/// A tool's name and version, as `GNU Make 4.3`.
fn version(tool: &Path) -> String {
    let output = Command::new(tool).arg("--version").output().expect("the tool starts");
    let text = String::from_utf8(output.stdout).expect("text");
    let line = text.lines().next().expect("a line");
    match line.starts_with("GNU") {
        true => line.into(),
        false => format!("go-task {}", line.split('+').next().unwrap_or(line)),
    }
}
