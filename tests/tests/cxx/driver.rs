//! The build driver in C++, `examples/driver.cc`, through the life of a small C project.

use crate::compile::{program, run, succeeded};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;
use upcheck_tests::space::Space;
use upcheck_tests::tools::root;

/// The driver, made once.
fn driver() -> PathBuf {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    let folder = MADE.get_or_init(|| {
        let folder = TempDir::new().expect("a temporary directory");
        let source = root().join("examples/driver.cc");
        program("-std=c++17", &["-O1"], &[&source], &folder.path().join("driver"));
        folder
    });
    folder.path().join("driver")
}

/// A C project. In `bin` is a compiler that does what gcc does, and after that what a test wants.
struct Project {
    space: Space,
    bin: Space,
}

const MAIN_O: &str = "gcc -c -MMD -o main.o main.c";
const TEXT_O: &str = "gcc -c -MMD -o text.o text.c";
const APP: &str = "gcc -o app main.o text.o";

impl Project {
    fn new() -> Self {
        let project = Self { space: Space::new(), bin: Space::new() };
        project
            .write("main.c", "#include <stdio.h>\n#include \"text.h\"\nint main(void) { puts(text()); }\n");
        project.write("text.c", "#include \"text.h\"\nconst char *text(void) { return TEXT; }\n");
        project.write("text.h", "#define TEXT \"one\"\nconst char *text(void);\n");
        project
    }

    fn write(&self, path: &str, text: &str) {
        self.space.write(path, text);
    }

    fn driver(&self, arguments: &[&str]) -> Output {
        let path = format!("{}:{}", self.bin.path().display(), std::env::var("PATH").unwrap_or_default());
        // The shell leaves its own number, which becomes the driver's.
        let mut command = Command::new("sh");
        command.args(["-c", r#"echo $$ >"$0"; exec "$@""#]);
        command.arg(self.bin.path().join("pid")).arg(driver()).arg(self.space.path()).args(arguments);
        run(command.env("PATH", path))
    }

    /// Builds, which has to succeed. The commands that were run.
    fn build(&self) -> Vec<String> {
        let output = self.driver(&[]);
        assert!(output.status.success(), "{output:?}");
        let commands = lines(&output);
        // What is up to date now is what a build from nothing makes.
        assert!(lines(&self.driver(&["-n"])).is_empty());
        assert_eq!(self.app(), self.built_from_nothing());
        commands
    }

    /// What the driver would build, and why.
    fn explained(&self) -> Vec<String> {
        let before = self.space.entries();
        let output = self.driver(&["-n"]);
        assert!(output.status.success() && self.space.entries() == before, "{output:?}");
        lines(&output)
    }

    fn app(&self) -> String {
        succeeded(&mut Command::new(self.space.path().join("app")))
    }

    fn built_from_nothing(&self) -> String {
        let app = self.bin.path().join("from-nothing");
        let sources = fs::read_dir(self.space.path()).expect("a project");
        let sources = sources.map(|entry| entry.expect("an entry").path());
        let sources = sources.filter(|path| path.extension().is_some_and(|extension| extension == "c"));
        succeeded(Command::new("gcc").arg("-o").arg(&app).args(sources));
        succeeded(&mut Command::new(app))
    }

    /// From now on this happens after a compiler is done with `text.c`; once.
    fn when_text_is_compiled(&self, script: &str) {
        let gcc = succeeded(Command::new("sh").args(["-c", "command -v gcc"]));
        let (gcc, bin) = (gcc.trim(), self.bin.path().display());
        let script = format!(
            "#!/bin/sh\n{gcc} \"$@\" || exit\ncase $* in *text.c) rm '{bin}/gcc'; {script} ;; esac\n"
        );
        let path = self.bin.path().join("gcc");
        fs::write(&path, script).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a script that can be run");
    }
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn a_project_is_built_and_only_what_changed_is_built_again() {
    let project = Project::new();
    assert_eq!(
        project.explained(),
        [
            "main.o: the discovered inputs of main.o are not known: the depfile main.d is missing",
            "main.o: main.o does not exist",
            "text.o: the discovered inputs of text.o are not known: the depfile text.d is missing",
            "text.o: text.o does not exist",
            "app: main.o is stale",
            "app: text.o is stale",
            "app: app does not exist",
        ]
    );
    assert_eq!(project.build(), [MAIN_O, TEXT_O, APP]);
    assert_eq!(project.app(), "one\n");
    assert!(project.build().is_empty(), "there is nothing to do");

    for touched in ["main.c", "text.c", "text.h"] {
        let content = project.space.read(touched);
        project.space.write(touched, content);
    }
    assert!(project.build().is_empty(), "what was touched is what it was");

    // Longer, and older than all that was made from it.
    project.space.write_at("text.h", "#define TEXT \"number two\"\nconst char *text(void);\n", 1_000_000_000);
    let why = project.explained();
    assert!(why[0].starts_with("main.o: text.h changed ("), "{why:?}");
    assert_eq!(project.build(), [MAIN_O, TEXT_O, APP]);
    assert_eq!(project.app(), "number two\n");

    project.write("text.h", "#define TEXT \"number two\"\nconst char *text(void); /* said */\n");
    assert_eq!(project.build(), [MAIN_O, TEXT_O], "the objects came out as they were");

    project.write("text.c", "const char *text(void) { return \"three\"; }\n");
    assert_eq!(project.build(), [TEXT_O, APP]);
    project.write("text.h", "const char *text(void); // for main.c alone\n");
    assert_eq!(project.build(), [MAIN_O]);

    project.space.remove("text.o");
    assert_eq!(project.explained()[0], "text.o: text.o does not exist");
    assert_eq!(project.build(), [TEXT_O]);
    project.space.remove("main.d");
    assert!(project.build().is_empty(), "what it said is on record");
    project.space.remove("app");
    assert_eq!(project.build(), [APP]);

    project.write("more.c", "int more;\n");
    assert_eq!(project.build(), ["gcc -c -MMD -o more.o more.c", "gcc -o app main.o more.o text.o"]);
    project.space.remove("more.c");
    assert_eq!(project.build(), [APP]);
}

#[test]
fn a_command_that_fails_is_run_again() {
    let project = Project::new();
    project.build();
    project.write("text.c", "no C\n");
    for _ in 0..2 {
        let output = project.driver(&[]);
        assert_eq!((output.status.code(), lines(&output)), (Some(1), vec![TEXT_O.to_owned()]));
    }
    project.write("text.c", "#include \"text.h\"\nconst char *text(void) { return TEXT; }\n");
    assert_eq!(project.build(), [TEXT_O], "it was begun, and is what it was");

    // The command leaves an output, and fails nonetheless.
    project.write("text.c", "const char *text(void) { return \"half\"; }\n");
    project.when_text_is_compiled("echo >>text.o; exit 1");
    assert_eq!(project.driver(&[]).status.code(), Some(1));
    let why = project.explained();
    assert!(why[0].starts_with("text.o: its last build, "), "{why:?}");
    assert_eq!(project.build(), [TEXT_O, APP]);
    assert_eq!(project.app(), "half\n");
}

#[test]
fn a_driver_that_is_killed_leaves_no_lie() {
    let project = Project::new();
    project.when_text_is_compiled(r#"kill -9 "$(cat "${0%/*}/pid")""#);
    let output = project.driver(&[]);
    assert_eq!(output.status.signal(), Some(9), "{output:?}");
    assert_eq!(lines(&output), [MAIN_O, TEXT_O]);
    assert!(project.space.mtime("text.o").is_some(), "it was made");
    assert_eq!(project.build(), [MAIN_O, TEXT_O, APP], "nobody has said that they were made");
    assert!(project.build().is_empty());
}

#[test]
fn what_is_edited_while_it_is_compiled_is_compiled_again() {
    let project = Project::new();
    project.when_text_is_compiled(r##"printf '#define TEXT "late"\nconst char *text(void);\n' >text.h"##);
    assert_eq!(project.build(), [MAIN_O, TEXT_O, MAIN_O, TEXT_O, APP]);
    assert_eq!(project.app(), "late\n");
}

#[test]
fn trouble_has_a_status_of_its_own() {
    let output = run(Command::new(driver()).arg(Path::new("nix")));
    assert_eq!(output.status.code(), Some(2));
    let project = Project::new();
    project.write(".upcheck", "no folder");
    let output = project.driver(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).starts_with("driver: the store of records: "),
        "{output:?}"
    );
}
