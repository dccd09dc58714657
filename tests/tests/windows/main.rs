//! The `upcheck` command on Windows: paths in both spellings, exit codes, records, where it keeps what it keeps, and its daemon.
#![cfg(windows)]

#[path = "../command/mod.rs"]
mod command;
mod daemon;

use std::path::Path;
use std::process::Command;
use upcheck_tests::answer::{Question, build};
use upcheck_tests::space::{Space, TICK};
use upcheck_tests::tools::{self, Ninja};

const OLD: i64 = 1_600_000_000_000_000_000;

/// Exit status, standard output, standard error.
fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The command in a directory of the space, which keeps nothing.
fn upcheck(space: &Space, args: &[&str]) -> (Option<i32>, String, String) {
    run(Command::new(tools::upcheck()).current_dir(space.path()).arg("--no-image").args(args))
}

#[track_caller]
fn answer(space: &Space, args: &[&str], status: i32) -> String {
    let (code, stdout, stderr) = upcheck(space, args);
    assert_eq!((code, stderr.as_str()), (Some(status), ""), "{args:?}: {stdout}");
    stdout
}

/// A build in `dir\build`, made by ninja.
fn built() -> Space {
    let space = Space::new();
    let text = "rule cat\n  command = cat $in > $out\nbuild sub\\out: cat ..\\in\nbuild last: cat sub/out\n";
    space.write_at("dir/build/build.ninja", text, OLD);
    space.write_at("dir/in", "", OLD);
    let ninja =
        Command::new(Ninja::V1_13.path()).args(["-C", "dir\\build"]).current_dir(space.path()).status();
    assert!(ninja.expect("ninja starts").success());
    space
}

#[test]
fn a_ninja_build_is_asked_about_in_either_spelling() {
    let space = built();
    for directory in ["dir\\build", "dir/build", ".\\dir\\build\\..\\build", "DIR\\Build"] {
        answer(&space, &["-C", directory, "-q"], 0);
    }
    space.set_mtime("dir/in", space.mtime("dir/build/sub/out").expect("built") + TICK);
    for target in ["sub\\out", "sub/out"] {
        let text = answer(&space, &["-C", "dir\\build", "--commands", target], 1);
        assert!(text.contains("../in is newer than sub/out"), "{text}");
        assert!(text.contains("cat ..\\in > sub\\out"), "{text}");
    }
    let json = answer(&space, &["-C", "dir/build", "--format", "json"], 1);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["summary"]["stale"], 2, "{json}");
    let affected = answer(&space, &["-C", "dir\\build", "affected", "dir\\in"], 1);
    assert!(affected.contains("sub/out"), "{affected}");
}

#[test]
fn trouble_has_its_operation_path_and_cause() {
    let space = Space::new();
    let (status, stdout, stderr) = upcheck(&space, &["-C", "no\\where"]);
    assert_eq!((status, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("no\\where"), "{stderr}");
    let (status, _, stderr) = upcheck(&space, &["-f", "a\"b?.ninja"]);
    assert_eq!(status, Some(2), "{stderr}");
}

#[test]
fn a_target_is_made_once_and_again_when_its_content_changes() {
    let space = Space::new();
    space.write_at("src/in.txt", "one", OLD);
    let made = |expected: &str| {
        let args = ["run", "-i", "src/*.txt", "-i", "src\\in.txt", "-o", "dir\\out.txt", "--"];
        let (status, stdout, stderr) = upcheck(
            &space,
            &[&args[..], &["cmd", "/c", "echo made& copy src\\in.txt dir\\out.txt"]].concat(),
        );
        assert_eq!((status, stderr.as_str()), (Some(0), ""));
        assert_eq!(stdout.lines().next().unwrap_or_default(), expected, "{stdout}");
    };
    std::fs::create_dir(space.path().join("dir")).expect("a directory");
    made("made");
    made("");
    space.set_mtime("src/in.txt", OLD + TICK);
    made("");
    space.write_at("src/in.txt", "two", OLD);
    made("made");
    let absolute = space.path().join("src\\in.txt");
    let absolute = absolute.to_str().expect("text");
    // A drive is the same, however it is written.
    for input in [absolute.to_owned(), absolute[..1].to_lowercase() + &absolute[1..]] {
        let text = answer(&space, &["-i", &input, "-o", "dir/out.txt", "--policy", "newer", "-q"], 0);
        assert_eq!(text, "");
    }
}

#[test]
fn the_exit_code_of_a_command_is_passed_on() {
    let space = Space::new();
    for code in [0, 7, 255] {
        let exit = format!("exit {code}");
        let (status, _, stderr) = upcheck(&space, &["run", "-o", "phony", "--", "cmd", "/c", &exit]);
        // Having made nothing, one that claims success has not.
        assert!(status == Some(code) || code == 0, "{status:?} {stderr}");
    }
    let (status, _, stderr) = upcheck(&space, &["run", "-o", "out", "--", "no-such-program"]);
    assert_eq!(status, Some(127), "{stderr}");
}

#[test]
fn an_exit_code_of_32_bits_is_passed_on_whole() {
    let space = Space::new();
    let crashed = 0xC000_0005_u32.cast_signed();
    for (code, shown) in [(256, None), (65_537, None), (-1, None), (crashed, Some("0xC0000005"))] {
        let exit = format!("exit {code}");
        let run = |options: &[&str]| {
            upcheck(&space, &[&["run"], options, &["-o", "out", "--", "cmd", "/c", &exit]].concat())
        };
        let (status, _, stderr) = run(&[]);
        assert_eq!(status, Some(code), "{stderr}");
        let said =
            shown.map(|shown| format!("upcheck: error: running 'cmd': it ended with status {shown}\n"));
        assert_eq!(stderr, said.unwrap_or_default());
        for typed in [format!("{}=3", code.cast_unsigned()), format!("{:#X}=3", code.cast_unsigned())] {
            assert_eq!(run(&["--map-status", &typed]).0, Some(3), "{typed}");
        }
    }
    // One that is fresh need not run, and ends with what is wished for.
    space.write_at("out", "", OLD);
    let fresh = ["run", "-o", "out", "--fresh-status", "0xC0000005", "--", "cmd", "/c", "exit 0"];
    // It has no record yet.
    assert_eq!(upcheck(&space, &fresh).0, Some(0));
    assert_eq!(upcheck(&space, &fresh).0, Some(crashed));
}

#[test]
fn a_graph_may_have_backslashes() {
    let space = Space::new();
    space.write_at("src/a.c", "", OLD);
    space.write_at("obj/a.o", "", OLD + TICK);
    let graph = r#"{"version": 1, "targets": [{"outputs": ["obj\\a.o"], "inputs": ["src\\a.c"]}]}"#;
    space.write_at("graph.json", graph, OLD);
    let args = ["--from", "graph", "-f", "graph.json", "--policy", "newer"];
    answer(&space, &args, 0);
    space.set_mtime("src/a.c", OLD + 2 * TICK);
    let text = answer(&space, &args, 1);
    assert!(text.contains("src/a.c is newer than obj/a.o"), "{text}");
}

#[test]
fn images_are_kept_in_the_users_local_folder() {
    let space = built();
    let local = Space::new();
    let ask = || {
        let mut command = Command::new(tools::upcheck());
        command.current_dir(space.path().join("dir/build")).env("LOCALAPPDATA", local.path());
        command.env_remove("UPCHECK_CACHE_DIR");
        run(&mut command)
    };
    let first = ask();
    assert_eq!(first.0, Some(0), "{first:?}");
    let kept = || std::fs::read_dir(local.path().join("upcheck")).map_or(0, Iterator::count);
    assert!(kept() > 0, "nothing is kept in {}", local.path().display());
    assert_eq!(ask(), first);
    // And put in the place of what was there, also while somebody else has it open.
    let names: Vec<_> = std::fs::read_dir(local.path().join("upcheck")).expect("images").collect();
    let held: Vec<_> =
        names.iter().flatten().map(|entry| std::fs::File::open(entry.path()).expect("an image")).collect();
    space.set_mtime("dir/in", space.mtime("dir/build/sub/out").expect("built") + TICK);
    let later = ask();
    assert_eq!((later.0, later.2.as_str()), (Some(1), ""), "{later:?}");
    drop(held);
}

#[test]
fn the_space_is_below_a_drive() {
    // Else half of this suite shows nothing.
    let space = Space::new();
    build_nothing(&space);
    assert!(
        space.path().to_str().is_some_and(|path| Path::new(path).has_root() && path.as_bytes()[1] == b':')
    );
}

fn build_nothing(space: &Space) {
    space.write("build.ninja", "rule r\n  command = touch $out\nbuild a: r\n");
    build(space, Ninja::V1_13, &Question::default());
}
