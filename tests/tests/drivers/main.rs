//! The drivers in `examples/hello`, in every language that has one: each builds a real program with a real compiler, and
//! all of them do and say the same.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use upcheck_tests::space::Space;
use upcheck_tests::tools::{c_include, c_library, cxx_include, cxx_library, hello_driver, root};

/// How a driver is started.
struct Driver {
    language: &'static str,
    command: Vec<PathBuf>,
}

/// All drivers, compiled once.
fn drivers() -> &'static [Driver] {
    static DRIVERS: OnceLock<Vec<Driver>> = OnceLock::new();
    DRIVERS.get_or_init(|| {
        let script = root().join("examples/hello/driver.py");
        vec![
            Driver { language: "C", command: vec![compiled_c()] },
            Driver { language: "C++", command: vec![compiled_cxx()] },
            Driver { language: "Python", command: vec!["python3".into(), script] },
            Driver { language: "Rust", command: vec![hello_driver().to_owned()] },
        ]
    })
}

fn compiled_c() -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hello-driver-c");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I"])
        .arg(c_include());
    cc.arg(root().join("examples/hello/driver.c")).arg("-o").arg(&program);
    cc.arg("-L").arg(c_library()).arg("-lupcheck").arg(format!("-Wl,-rpath,{}", c_library().display()));
    let output = cc.output().expect("cc starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn compiled_cxx() -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hello-driver-cxx");
    let mut cxx = Command::new("c++");
    cxx.args(["-std=c++17", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I"]).arg(cxx_include());
    cxx.arg(root().join("examples/hello/driver.cc")).arg("-o").arg(&program);
    cxx.arg(cxx_library().join("libupcheck_cxx.a")).args(["-lpthread", "-ldl", "-lm"]);
    let output = cxx.output().expect("c++ starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

impl Driver {
    fn run(&self, project: &Project) -> Output {
        // The shell leaves its own number, which becomes the driver's.
        let mut command = Command::new("sh");
        command.args(["-c", r#"echo $$ >"$0"; exec "$@""#]).arg(project.bin.path().join("pid"));
        command.args(&self.command).arg(project.space.path()).env("LC_ALL", "C");
        command.env("UPCHECK_LIBRARY", c_library().join("libupcheck.so"));
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", project.bin.path().display()));
        command.output().expect("the driver starts")
    }
}

/// The project in `examples/hello`, copied.
struct Project {
    space: Space,
    /// What comes before all other programs.
    bin: Space,
}

impl Project {
    fn new() -> Self {
        let space = Space::new();
        for entry in fs::read_dir(root().join("examples/hello/src")).expect("the project is there") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            space.write(&format!("src/{name}"), fs::read(&path).expect("readable"));
        }
        let project = Self { space, bin: Space::new() };
        project.let_headers_age();
        project
    }

    /// Until the headers are so old that it can be shown that they did not change during a build which first discovers
    /// them: a driver would make the targets of younger ones a second time, to be sure.
    fn let_headers_age(&self) {
        let probe = self.space.path().join("probe");
        let time = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified()).expect("a time");
        let written = |name| time(&self.space.path().join("src").join(name));
        let youngest = ["greet.h", "count.h"].map(written).into_iter().max().expect("two of them");
        loop {
            fs::write(&probe, "").expect("written");
            if time(&probe).duration_since(youngest).is_ok_and(|age| age.as_millis() > 200) {
                break;
            }
        }
        fs::remove_file(probe).expect("removed");
    }

    fn replace(&self, path: &str, from: &str, to: &str) {
        let text = String::from_utf8(self.space.read(path)).expect("text");
        assert!(text.contains(from), "no {from} in {path}");
        self.space.write(path, text.replace(from, to));
    }

    /// Has something done each time after `source` was compiled.
    fn after_compiling(&self, source: &str, then: &str) {
        let cc = Command::new("sh").args(["-c", "command -v cc"]).output().expect("sh starts").stdout;
        let cc = String::from_utf8(cc).expect("a path");
        let pid = self.bin.path().join("pid");
        let script = format!(
            "#!/bin/sh\n{} \"$@\" || exit\ndriver=$(cat {})\ncase \"$*\" in *{source}*) {then};; esac\n",
            cc.trim(),
            pid.display()
        );
        self.bin.write("cc", script);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.bin.path().join("cc"), mode).expect("it is ours");
    }

    /// What the program that was built says.
    fn hello(&self) -> String {
        let output = Command::new(self.space.path().join("out/hello")).output().expect("it was built");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Lets a driver build. The reasons it gives, target by target; its exit status is to be `status`.
    #[track_caller]
    fn build(&self, driver: &Driver, status: i32) -> Vec<String> {
        let output = driver.run(self);
        let (said, complaints) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(status), "{}: {said}{complaints}", driver.language);
        let (commands, reasons): (Vec<_>, Vec<_>) = said.lines().partition(|line| line.starts_with("  "));
        assert_eq!(commands.len(), reasons.len(), "{}: a command for each reason: {said}", driver.language);
        reasons.into_iter().map(str::to_owned).collect()
    }
}

const COMPILED: [&str; 3] = ["main", "greet", "count"];

#[test]
fn the_first_build_makes_everything_and_the_second_one_nothing() {
    for driver in drivers() {
        let project = Project::new();
        let mut expected: Vec<_> = COMPILED
            .iter()
            .map(|name| format!("out/{name}.o: no build of out/{name}.o is on record"))
            .collect();
        expected.push("out/hello: no build of out/hello is on record".into());
        assert_eq!(project.build(driver, 0), expected, "{}", driver.language);
        assert_eq!(project.hello(), "Hello, world!\nHello, world!\n");
        assert_eq!(project.build(driver, 0), [""; 0], "{}", driver.language);
    }
}

#[test]
fn what_one_driver_has_built_is_fresh_for_the_others() {
    for builder in drivers() {
        let project = Project::new();
        project.build(builder, 0);
        for driver in drivers() {
            assert_eq!(project.build(driver, 0), [""; 0], "{} after {}", driver.language, builder.language);
        }
    }
}

#[test]
fn a_header_that_is_touched_makes_nothing_stale_and_one_that_is_edited_its_users() {
    for driver in drivers() {
        let project = Project::new();
        project.build(driver, 0);
        project.replace("src/greet.h", "Hello", "Hello");
        assert_eq!(project.build(driver, 0), [""; 0], "{}: touched", driver.language);
        project.replace("src/greet.h", "Hello", "Good morning");
        let said = project.build(driver, 0);
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].starts_with("out/main.o: src/greet.h changed ("), "{said:?}");
        assert!(said[1].starts_with("out/greet.o: src/greet.h changed ("), "{said:?}");
        assert!(said[2].starts_with("out/hello: out/greet.o changed ("), "{said:?}");
        assert_eq!(project.hello(), "Good morning, world!\nGood morning, world!\n");
    }
}

#[test]
fn an_object_that_comes_out_as_it_was_is_not_linked_again() {
    for driver in drivers() {
        let project = Project::new();
        project.build(driver, 0);
        project.space.write("src/count.c", [&project.space.read("src/count.c")[..], b"/* two */\n"].concat());
        let said = project.build(driver, 0);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("out/count.o: src/count.c changed ("), "{said:?}");
    }
}

#[test]
fn outputs_that_are_gone_or_changed_by_others_are_made_again() {
    for driver in drivers() {
        let project = Project::new();
        project.build(driver, 0);
        project.space.remove("out/count.o");
        assert_eq!(
            project.build(driver, 0),
            ["out/count.o: out/count.o does not exist"],
            "{}",
            driver.language
        );
        project.space.write("out/hello", "not a program");
        let said = project.build(driver, 0);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("the output out/hello is not what its last build made"), "{said:?}");
        assert_eq!(project.hello(), "Hello, world!\nHello, world!\n");
    }
}

#[test]
fn a_command_that_fails_ends_the_build_and_its_target_stays_stale() {
    for driver in drivers() {
        let project = Project::new();
        project.build(driver, 0);
        let good = project.space.read("src/greet.c");
        project.space.write("src/greet.c", "no C at all");
        assert_eq!(project.build(driver, 1).len(), 1, "{}", driver.language);
        // Put back, so that only the record tells.
        project.space.write("src/greet.c", good);
        let said = project.build(driver, 0);
        assert_eq!(said.len(), 1, "{}: {said:?}", driver.language);
        assert!(said[0].starts_with("out/greet.o: its last build, begun "), "{said:?}");
        assert_eq!(project.build(driver, 0), [""; 0], "{}", driver.language);
    }
}

#[test]
fn a_header_that_is_deleted_with_its_last_use_is_no_obstacle() {
    for driver in drivers() {
        let project = Project::new();
        project.build(driver, 0);
        project.replace("src/main.c", "#include \"count.h\"", "int count(void);");
        project.replace("src/count.c", "#include \"count.h\"", "");
        project.space.remove("src/count.h");
        let said = project.build(driver, 0);
        // They come out as they were, so that nothing is linked.
        assert_eq!(said.len(), 2, "{}: {said:?}", driver.language);
        assert_eq!(project.build(driver, 0), [""; 0], "{}", driver.language);
    }
}

#[test]
fn a_driver_that_is_killed_leaves_no_lie() {
    for driver in drivers() {
        let project = Project::new();
        project.after_compiling("greet.c", "kill -9 $driver");
        let output = driver.run(&project);
        assert_eq!(output.status.signal(), Some(9), "{}: {output:?}", driver.language);
        assert!(project.space.mtime("out/greet.o").is_some(), "it was compiled");
        project.bin.remove("cc");
        let said = project.build(driver, 0);
        assert!(said[0].starts_with("out/greet.o: its last build, begun "), "{}: {said:?}", driver.language);
        assert_eq!(said.len(), 3, "{said:?}");
        assert_eq!(project.hello(), "Hello, world!\nHello, world!\n");
    }
}

#[test]
fn what_is_edited_while_it_is_compiled_is_compiled_again() {
    for driver in drivers() {
        let project = Project::new();
        let edit = "if [ ! -e edited ]; then sed -i s/2/3/ src/count.c; : >edited; fi";
        project.after_compiling("count.c", edit);
        let said = project.build(driver, 0);
        let twice = said.iter().filter(|line| line.starts_with("out/count.o: ")).count();
        assert_eq!(twice, 2, "{}: {said:?}", driver.language);
        assert_eq!(project.hello(), "Hello, world!\n".repeat(3));
        assert_eq!(project.build(driver, 0), [""; 0], "{}", driver.language);
    }
}

#[test]
fn trouble_has_exit_status_2_or_1_and_a_message() {
    for driver in drivers() {
        let project = Project::new();
        project.space.write(".upcheck", "a file, where the store has to be");
        let output = driver.run(&project);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{}: {output:?}", driver.language);
        assert!(!output.stderr.is_empty(), "{}", driver.language);
    }
}
