//! What passes through `upcheck run` unchanged: arguments, streams, the environment, signals.

#![cfg(unix)] // Bytes that are no text, scripts, and signals.

use crate::{Ended, sources, stale, text, upcheck};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use upcheck_tests::space::Space;

#[test]
fn arguments_with_odd_bytes_arrive_as_they_are() {
    let space = sources();
    let odd: [&[u8]; 9] = [
        b"",
        b" ",
        b"a b\n",
        b"*.ts",
        b"$HOME `x` \"'\\",
        b"\xff\xfe\x01",
        b"-i",
        b"--",
        "\u{e4}".as_bytes(),
    ];
    let mut command = upcheck(&space, ["run", "-i", "src/a.ts", "-o", "out", "--"]);
    command.args(["sh", "-c", "touch out; printf '[%s]' \"$@\"", "sh"]);
    command.args(odd.iter().map(|arg| OsStr::from_bytes(arg)));
    let ended = Ended::new(command.output().expect("upcheck starts"));
    let expected: Vec<u8> = odd.iter().flat_map(|arg| [b"[", *arg, b"]"].concat()).collect();
    assert_eq!((ended.status, &ended.stdout), (0, &expected));
    // The same arguments are the same command, and others are not.
    assert_eq!(Ended::new(command.output().expect("upcheck starts")).stdout, b"");
    command.arg("");
    assert_eq!(Ended::new(command.output().expect("upcheck starts")).stdout, [&expected[..], b"[]"].concat());
}

#[test]
fn names_with_odd_bytes_are_names() {
    let space = sources();
    let name = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let (input, output) = (name(b"in\xff\n"), name(b"out\xfe "));
    std::fs::write(space.path().join(&input), "1").expect("a file");
    let run = || {
        let mut command = upcheck(&space, ["run"]);
        command.arg("-i").arg(&input).arg("-o").arg(&output).args([
            "--",
            "sh",
            "-c",
            "cp \"$1\" \"$2\"; echo ran",
            "sh",
        ]);
        Ended::new(command.arg(&input).arg(&output).output().expect("upcheck starts"))
    };
    assert_eq!(run().stdout, b"ran\n");
    assert_eq!(run().stdout, b"");
    std::fs::write(space.path().join(&input), "2").expect("a file");
    assert_eq!(run().stdout, b"ran\n");
}

#[test]
fn streams_are_the_commands_own() {
    let space = sources();
    let script = "cat; echo said >&2; printf 'no\\nUTF-8 \\377\\000'; touch out";
    let mut command = upcheck(&space, ["run", "-i", "src/a.ts", "-o", "out", "--", "sh", "-c", script]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("upcheck starts");
    child.stdin.take().expect("a pipe").write_all(b"\x00\xffin\n").expect("all was read");
    let ended = Ended::new(child.wait_with_output().expect("upcheck ends"));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, "said\n"));
    assert_eq!(ended.stdout, b"\x00\xffin\nno\nUTF-8 \xff\x00");
    // A fresh target reads nothing of what is meant for others.
    space.write("lines", "one\ntwo\n");
    let both = format!(
        "'{}' run -i src/a.ts -o out -- sh -c '{}' && cat",
        upcheck_tests::tools::upcheck().display(),
        script.replace('\'', "'\\''")
    );
    let input = std::fs::File::open(space.path().join("lines")).expect("a file");
    let output = Command::new("sh").arg("-c").arg(both).current_dir(space.path()).stdin(input).output();
    assert_eq!(output.expect("sh starts").stdout, b"one\ntwo\n");
}

#[test]
fn the_environment_is_the_commands_own() {
    let space = sources();
    let script = "env > seen; touch out";
    let mut command = upcheck(&space, ["run", "-o", "out", "--", "sh", "-c", script]);
    let status = command.env("ODD", OsStr::from_bytes(b"\xff=x")).status();
    assert!(status.expect("upcheck starts").success());
    let seen = space.read("seen");
    assert!(seen.windows(8).any(|bytes| bytes == b"ODD=\xff=x\n"), "{}", String::from_utf8_lossy(&seen));
}

#[test]
fn an_interrupt_ends_both_and_leaves_the_target_interrupted() {
    let space = sources();
    let script = "echo started; read never; cp src/a.ts out";
    let told = upcheck(&space, ["run", "-i", "src/a.ts", "-o", "out", "--", "sh", "-c", script]);
    // Where tests run in the background, interrupts are ignored, and whoever is started inherits that.
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(told.get_program()).args(told.get_args());
    command.current_dir(space.path());
    for (name, value) in told.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    // As a shell starts what a user then interrupts: in a group of its own.
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("upcheck starts");
    let mut line = String::new();
    let mut said = BufReader::new(child.stdout.take().expect("a pipe"));
    said.read_line(&mut line).expect("a line");
    assert_eq!(line, "started\n");
    let group = format!("-{}", child.id());
    let killed = Command::new("sh").args(["-c", "kill -INT \"$1\"", "sh", &group]).status();
    assert!(killed.expect("sh starts").success());
    // The end of the stream is the end of both.
    said.read_to_string(&mut line).expect("the end");
    let output = child.wait_with_output().expect("upcheck ends");
    assert_eq!(Ended::new(output).status, 128 + 2);
    assert_eq!(stale(&space, "-i src/a.ts -o out"), "out: interrupted out");
    // Nobody waits for it.
    let args = ["run", "--no-wait", "-i", "src/a.ts", "-o", "out", "--", "cp", "src/a.ts", "out"];
    Ended::new(upcheck(&space, args).output().expect("upcheck starts")).well();
    assert_eq!(text(&space, "out"), "a\n");
}

#[test]
fn a_path_without_a_slash_is_looked_for_where_programs_are() {
    let space = Space::new();
    space.write("bin/tool", "#!/bin/sh\necho tool > out\n");
    let path = space.path().join("bin");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path.join("tool"), mode).expect("permissions");
    let mut command = upcheck(&space, ["run", "-o", "out", "--", "tool"]);
    Ended::new(command.env("PATH", format!("{}:/usr/bin:/bin", path.display())).output().expect("upcheck"))
        .well();
    assert_eq!(text(&space, "out"), "tool\n");
}
