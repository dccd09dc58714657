//! Whatever upcheck is asked, and however it ends, it leaves the tree as it was: seen from outside, on a file
//! system that cannot be written to, and in its own system calls.

mod command;

use command::spaces::{Kind, every_kind, manifest};
use command::{run, upcheck_in};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};
use upcheck_tests::aloud::not_tested;
use upcheck_tests::answer::{Question, run_ninja};
use upcheck_tests::space::Space;
use upcheck_tests::tools::{self, Ninja};

/// Everything that can be asked of any build directory.
const QUESTIONS: &[&str] = &[
    "",
    "check",
    "--exact",
    "--explain --commands",
    "-q",
    "-q --exact",
    "--format json",
    "--format json --exact --commands",
    "--format jsonl",
    "--ninja-version 1.11",
    "--ninja-version 1.12 --exact",
    "--threads 1",
    "why a",
    "why all prog --all",
    "why a --format json",
    "why a --format jsonl",
    "bench-fs --rounds 1",
    "no-such-target",
    "--exact no-such-target",
    "-f no-such.ninja",
    "--no-such-option",
    "--help",
];

#[test]
fn no_question_touches_any_kind_of_build_directory() {
    let mut ended = [0; 3];
    for Kind { name, space, status } in every_kind() {
        let before = space.entries();
        for question in QUESTIONS {
            let ran = run(&space, question);
            assert!(space.entries() == before, "upcheck {question} touched {name}");
            ended[usize::try_from(ran.status).expect("a status")] += 1;
        }
        let ran = run(&space, "");
        assert_eq!(ran.status, status, "{name}: {}{}", ran.stdout, ran.stderr);
    }
    assert!(ended.iter().all(|&times| times > 50), "{ended:?}");
}

/// What the check above would see: ninja's dry run creates directories, removes files and cuts logs off.
#[test]
fn a_dry_run_of_ninja_does_touch_some_of_them() {
    let touched = every_kind().into_iter().filter(|Kind { space, .. }| {
        let before = space.entries();
        let _ = run_ninja(space, Ninja::V1_13, &Question::default(), &["-n"]);
        space.entries() != before
    });
    let touched: Vec<_> = touched.map(|kind| kind.name).collect();
    for name in [
        "output directories that are missing",
        "the lock of a ninja at work",
        "a depfile left over",
        "a response file left over",
        "a log of ninja 1.11",
        "a damaged deps log",
    ] {
        assert!(touched.contains(&name), "{name} is not among {touched:?}");
    }
}

// ---- a file system that cannot be written to --------------------------------------------------------

/// Runs `sh -c SCRIPT` where `directory` is read-only, in a mount namespace of its own; `None` if this machine
/// does not allow that.
fn on_a_read_only_mount(directory: &Path, script: &str) -> Option<Output> {
    let protect = "mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\" || exit 90
        if touch new 2>/dev/null || touch -c . 2>/dev/null; then exit 91; fi\n";
    for namespace in ["-m", "-rm"] {
        let mut command = Command::new("unshare");
        command.args([namespace, "sh", "-c", &format!("{protect}{script}"), "sh"]).arg(tools::upcheck());
        let like = upcheck_in(directory);
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let Ok(output) = command.current_dir(directory).output() else { continue };
        assert_ne!(output.status.code(), Some(91), "the mount is not read-only");
        let no_namespace = String::from_utf8_lossy(&output.stderr).starts_with("unshare: ");
        if output.status.code() != Some(90) && !no_namespace {
            return Some(output);
        }
    }
    None
}

#[test]
fn answers_are_the_same_on_a_read_only_mount() {
    let questions = ["", "--exact", "--explain --commands", "why all", "why a --all", "no-such-target"];
    for Kind { name, space, .. } in every_kind() {
        let script = questions.map(|question| format!("\"$1\" {question}; echo status $?\n")).concat();
        let Some(there) = on_a_read_only_mount(space.path(), &script) else {
            not_tested("a read-only mount; this needs `unshare -m` and `mount`");
            return;
        };
        let mut expected = (String::new(), String::new());
        for question in questions {
            let here = run(&space, question);
            writeln!(expected.0, "{}status {}", here.stdout, here.status).expect("a string");
            expected.1 += &here.stderr;
        }
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output in UTF-8");
        assert_eq!((text(there.stdout), text(there.stderr)), expected, "{name}");
    }
}

// ---- system calls -----------------------------------------------------------------------------------

/// The system calls of a command, one per line; `None` if this machine does not allow to look.
fn system_calls(space: &Space, program: &Path, args: &str) -> Option<String> {
    let log = Space::new();
    let file = log.path().join("log");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-s", "0", "-o"]).arg(&file).arg(program);
    let output = command.args(args.split_whitespace()).current_dir(space.path()).output().ok()?;
    let calls = String::from_utf8_lossy(&log.read("log")).into_owned();
    // Without permission to trace, strace says so and starts nothing.
    let traced = calls.contains("execve(");
    assert!(traced || !output.status.success(), "strace saw nothing");
    traced.then_some(calls)
}

/// The calls that create or change something, standard output and standard error aside.
fn writing_calls(calls: &str) -> Vec<&str> {
    calls.lines().filter(|line| writes(line)).collect()
}

fn writes(line: &str) -> bool {
    // `1234  openat(AT_FDCWD, ""..., O_RDONLY|O_CLOEXEC) = 3`, or the second half of a call that took long.
    let call = line.split_once(' ').map_or(line, |(_process, call)| call.trim_start());
    let Some((name, arguments)) = call.split_once('(') else { return false };
    let changes = [
        "creat",
        "mkdir",
        "rmdir",
        "unlink",
        "rename",
        "link",
        "symlink",
        "mknod",
        "truncate",
        "ftruncate",
        "fallocate",
        "chmod",
        "fchmod",
        "chown",
        "fchown",
        "lchown",
        "utime",
        "futime",
        "setxattr",
        "fsetxattr",
        "lsetxattr",
        "removexattr",
        "fremovexattr",
        "lremovexattr",
        "copy_file_range",
        "sendfile",
        "splice",
        "mount",
        "umount",
        "flock",
        "socket",
        "connect",
        "bind",
        "memfd_create",
        "io_uring",
    ];
    if changes.iter().any(|change| name.starts_with(change)) {
        return true;
    }
    match name {
        "open" | "openat" | "openat2" => {
            ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE"]
                .iter()
                .any(|flag| arguments.contains(flag))
        }
        "write" | "writev" | "pwrite64" | "pwritev" | "pwritev2" => {
            !(arguments.starts_with("1,") || arguments.starts_with("2,"))
        }
        "mmap" | "mmap2" => arguments.contains("PROT_WRITE") && arguments.contains("MAP_SHARED"),
        "fcntl" => arguments.contains("F_SETLK") || arguments.contains("F_OFD_SETLK"),
        _ => false,
    }
}

/// Enough files to occupy several threads.
fn large() -> Kind {
    let mut lines = "rule t\n  command = t\n  depfile = $out.d\n".to_owned();
    for number in 0..5_000 {
        writeln!(lines, "build out/{number}: t in/{number}").expect("a string");
    }
    Kind { name: "many files", space: manifest(&lines), status: 1 }
}

#[test]
fn no_system_call_creates_or_changes_anything() {
    let mut n_calls = 0;
    for Kind { name, space, .. } in std::iter::once(large()).chain(every_kind()) {
        for question in
            ["--no-image --threads 4", "--no-image --exact --commands", "why --no-image a --format json"]
        {
            let Some(calls) = system_calls(&space, tools::upcheck(), question) else {
                not_tested("system calls; this needs strace, and permission to trace");
                return;
            };
            n_calls += calls.lines().count();
            assert_eq!(writing_calls(&calls), [""; 0], "upcheck {question} in {name}");
        }
    }
    assert!(n_calls > 10_000, "{n_calls} calls");
}

#[test]
fn there_are_no_more_threads_than_were_asked_for() {
    let space = large().space;
    let mut n_started = Vec::new();
    for threads in [1, 2, 8] {
        let Some(calls) =
            system_calls(&space, tools::upcheck(), &format!("-q --no-image --threads {threads}"))
        else {
            not_tested("the number of threads; this needs strace, and permission to trace");
            return;
        };
        let starts = |line: &&str| line.contains(" clone(") || line.contains(" clone3(");
        n_started.push(calls.lines().filter(starts).count());
    }
    // Logs are read, then depfiles, then files are looked at; each step may start its own.
    assert_eq!(n_started[0], 0);
    assert!((1..=4).contains(&n_started[1]), "{n_started:?}");
    assert!(n_started[2] > n_started[1], "{n_started:?}");
}

/// That the check above sees what it is to see.
#[test]
fn the_calls_of_programs_that_do_write_are_recognized() {
    for (script, call) in [
        ("echo x > new", "openat"),
        ("echo x >> old", "openat"),
        ("mkdir new", "mkdir"),
        ("rmdir dir", "rmdir"),
        ("rm old", "unlink"),
        ("mv old new", "rename"),
        ("ln -s old new", "symlink"),
        ("touch -m old", "utimensat"),
        ("chmod 600 old", "chmod"),
        ("truncate -s 0 old", "openat"),
    ] {
        let space = Space::new();
        space.write("old", "old");
        space.write("dir/x", "");
        space.remove("dir/x");
        space.write("script", script);
        let Some(calls) = system_calls(&space, Path::new("/bin/sh"), "script") else {
            not_tested("system calls; this needs strace, and permission to trace");
            return;
        };
        let found = writing_calls(&calls);
        assert!(found.iter().any(|line| line.contains(call)), "{script}: {found:?} in\n{calls}");
    }
    let space = Space::new();
    space.write("script", "cat script; echo x >&2");
    if let Some(calls) = system_calls(&space, Path::new("/bin/sh"), "script") {
        assert_eq!(writing_calls(&calls), [""; 0]);
    }
}
