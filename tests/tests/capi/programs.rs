//! Programs in C under sanitizers and valgrind, linked with the shared library and with the static one.
//!
//! The library is not instrumented: stable Rust has no sanitizers. So AddressSanitizer sees what it allocates and frees,
//! leaks included, and what it hands to the C library's functions, but not its own loads and stores; valgrind sees these,
//! too. UndefinedBehaviorSanitizer is about the C side, macros and layouts of the header included. ThreadSanitizer sees the
//! programs, allocations, and threads that start and end, but not the library's own accesses nor its atomics, so it is told
//! to ignore what the library calls. Valgrind's own tools for threads are of no use here: they know neither atomics nor
//! futexes, and take each use of them for a race. What the library's own code does with threads is for its types to show.

use crate::c::{Link, gcc, program, run, sources, succeeded, text};
use crate::nulls;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use upcheck_tests::aloud::{not_tested, progress};
use upcheck_tests::tools::{Ninja, root};

const PROGRAMS: [&str; 8] = ["describe", "records", "loads", "threads", "forks", "misuse", "stack", "feed"];

/// Who watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watch {
    Addresses,
    Threads,
    Valgrind,
}

impl Watch {
    fn flags(self) -> &'static [&'static str] {
        match self {
            // The test of misuse hands in what is not aligned, on purpose.
            Self::Addresses => &[
                "-O1",
                "-fsanitize=address,undefined",
                "-fno-sanitize=alignment",
                "-fno-sanitize-recover=all",
                "-fno-omit-frame-pointer",
            ],
            Self::Threads => &["-O1", "-fsanitize=thread"],
            Self::Valgrind => &["-O1"],
        }
    }

    fn command(self, program: &Path, folder: &Path) -> Command {
        if self == Self::Valgrind {
            let mut command = Command::new("valgrind");
            command.args(["-q", "--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all"]);
            command.args(["--error-exitcode=9", "--num-callers=40", "--fair-sched=yes"]);
            let mut suppressions = std::ffi::OsString::from("--suppressions=");
            suppressions.push(sources().join("valgrind.supp"));
            command.arg(suppressions).arg(program);
            return command;
        }
        let mut command = Command::new(program);
        command.env("ASAN_OPTIONS", "detect_leaks=1:exitcode=9").env("UBSAN_OPTIONS", "print_stacktrace=1");
        if self == Self::Threads {
            let suppressions = folder.join("tsan.supp");
            fs::write(&suppressions, "called_from_lib:libupcheck.so\n").expect("a file");
            let options = format!("exitcode=9:suppressions={}", suppressions.display());
            command.env("TSAN_OPTIONS", options);
        }
        command
    }

    /// Whether it can watch anything on this machine.
    fn is_there(self) -> bool {
        if self == Self::Valgrind {
            // Where it cannot be installed, what follows says so.
            run(&mut Command::new(root().join("tests/tools/get-valgrind")));
        }
        let folder = TempDir::new().expect("a folder");
        let (source, built) = (folder.path().join("empty.c"), folder.path().join("empty"));
        fs::write(&source, "int main(void) { return 0; }\n").expect("a source");
        let compiled = run(gcc().args(self.flags()).arg(&source).arg("-o").arg(&built));
        let is_there = compiled.status.success()
            && self.command(&built, folder.path()).output().is_ok_and(|output| output.status.success());
        if !is_there {
            not_tested(&format!(
                "the C interface under {self:?}, which cannot watch programs on this machine"
            ));
        }
        is_there
    }
}

fn watch(watch: Watch) {
    if !watch.is_there() {
        return;
    }
    let built = TempDir::new().expect("a folder");
    let nulls = built.path().join("nulls.c");
    fs::write(&nulls, nulls::program()).expect("a source");
    let programs = PROGRAMS.map(|name| sources().join(name).with_extension("c"));
    for link in Link::BOTH {
        // Who links statically has the library's code in the program itself, which cannot be told apart from its own.
        if watch == Watch::Threads && link == Link::Static {
            continue;
        }
        // Once is enough: it takes valgrind as long as all others together.
        let nulls = (watch != Watch::Valgrind || link == Link::Shared).then_some(&nulls);
        for source in programs.iter().chain(nulls) {
            // How much stack the library needs is no question for those who bring stacks of their own, or take long.
            if watch != Watch::Addresses && source.ends_with("stack.c") {
                continue;
            }
            let program = program(source, watch.flags(), link, built.path());
            let (here, images) = (TempDir::new().expect("a folder"), TempDir::new().expect("a folder"));
            // Absolute and without links, as the library sees it.
            let place = here.path().canonicalize().expect("a path");
            let mut command = watch.command(&program, built.path());
            command.arg(place).arg(Ninja::V1_13.path()).arg(images.path()).env_remove("UPCHECK_CACHE_DIR");
            command.env("XDG_RUNTIME_DIR", images.path());
            let printed = succeeded(&mut command);
            for line in printed.lines() {
                progress(&format!("{watch:?} {link:?}: {line}"));
            }
        }
    }
}

#[test]
fn programs_run_without_a_leak_or_an_invalid_access_under_address_and_undefined_behaviour_sanitizers() {
    watch(Watch::Addresses);
}

#[test]
fn programs_run_without_a_race_under_thread_sanitizer() {
    watch(Watch::Threads);
}

#[test]
fn programs_run_without_an_error_or_a_leak_under_valgrind() {
    watch(Watch::Valgrind);
}

#[test]
fn random_sequences_run_without_an_error_or_a_leak_under_valgrind() {
    if !Watch::Valgrind.is_there() {
        return;
    }
    // This program itself, with the functions linked into it. The test harness keeps something to its end.
    let mut valgrind = Command::new("valgrind");
    valgrind.args([
        "-q",
        "--error-exitcode=9",
        "--leak-check=full",
        "--errors-for-leak-kinds=definite,indirect",
    ]);
    valgrind.arg("--show-leak-kinds=definite,indirect").arg(std::env::current_exe().expect("a running test"));
    valgrind.args(["--test-threads", "1", "sequences::", "described::"]).env("RUST_BACKTRACE", "0");
    let n_cases = std::env::var("UPCHECK_VALGRIND_CASES").unwrap_or_else(|_| "10".to_owned());
    let printed = succeeded(valgrind.env("UPCHECK_CASES", n_cases));
    assert!(printed.contains("2 passed"), "{printed}");
}

#[test]
fn whoever_watches_sees_what_is_wrong() {
    for (watch, wrongs) in [
        (Watch::Addresses, &["overflow", "undefined", "leak"][..]),
        (Watch::Threads, &["race"]),
        (Watch::Valgrind, &["overflow", "leak"]),
    ] {
        if !watch.is_there() {
            continue;
        }
        let built = TempDir::new().expect("a folder");
        let source = sources().join("control.c");
        let program = program(&source, watch.flags(), Link::Shared, built.path());
        let go = |wrong: &str| run(watch.command(&program, built.path()).arg(wrong));
        let right = go("nothing");
        assert!(right.status.success(), "{watch:?}: {}", text(&right));
        for wrong in wrongs {
            assert!(!go(wrong).status.success(), "{watch:?} does not see the {wrong}");
        }
    }
}
