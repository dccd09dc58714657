//! What a Windows program sees of files that were written here. It takes a standard library for Windows and Wine,
//! which are installed on first use, and so it is only run if asked for.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};
use upcheck_tests::space::Space;
use upcheck_tests::tools::root;

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 20) % below
    }
}

/// The time that is so many nanoseconds from 1970.
fn at(nanoseconds: i64) -> SystemTime {
    let distance = Duration::from_nanos(nanoseconds.unsigned_abs());
    if nanoseconds < 0 { SystemTime::UNIX_EPOCH - distance } else { SystemTime::UNIX_EPOCH + distance }
}

/// What a Windows program collects: a line for each name, and the counts.
fn collected(space: &Space, names: &str, arguments: &[&str]) -> Vec<String> {
    let mut child = Command::new(root().join("tests/on"))
        .args(["x86_64-pc-windows-gnu", "run", "-q", "-p", "upcheck", "--example", "collected_times", "--"])
        .arg(format!("Z:{}", space.path().display()))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("tests/on can be run");
    child.stdin.take().expect("it is a pipe").write_all(names.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", output.status);
    String::from_utf8(output.stdout).expect("names are UTF-8").lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "builds for Windows and runs Wine"]
fn times_are_those_of_the_files_to_100_nanoseconds() {
    const SECOND: i64 = 1_000_000_000;
    let space = Space::new();
    let mut dice = Dice(7);
    let mut written = Vec::new();
    for n in 0..10_000 {
        // Most in one directory, some in many, and a few in directories of their own.
        let name = match n % 10 {
            0 => format!("few/{n}/größe {n}.h"),
            1..=3 => format!("many/{}/{n}.o", n % 97),
            _ => format!("one/file-{n}.cpp"),
        };
        let time = match n {
            0 => 0,
            1 => -1,
            2 => -10 * SECOND + 1,
            3 => -300_000_000 * SECOND + 12_345,
            // The year 2200.
            4 => 7_258_118_400 * SECOND + 999_999_999,
            _ => (1_000_000_000 + 70_000 * n as i64) * SECOND + dice.roll(1_000_000_000_000).cast_signed(),
        };
        space.write(&name, "x".repeat(n % 5));
        let file = File::options().write(true).open(space.path().join(&name)).expect("it was written");
        file.set_modified(at(time)).expect("times can be set");
        let kept = file.metadata().expect("it is there").modified().expect("it has a time");
        assert_eq!(kept, at(time), "this file system keeps nanoseconds");
        written.push((name, time, n % 5));
    }
    let mut names: String = written.iter().map(|(name, ..)| format!("{name}\n")).collect();
    names += "one/none.cpp\nnone/at/all.h\n";
    let lines = collected(&space, &names, &[]);
    for ((name, time, size), line) in written.iter().zip(&lines) {
        assert_eq!(*line, format!("{} {size} {name}", time.div_euclid(100) * 100));
    }
    assert_eq!(lines[10_000..10_002], ["Missing - one/none.cpp", "Missing - none/at/all.h"]);
    // A thousand directories with one file each are not listed; 98 are.
    let counts = &lines[10_002];
    assert!(counts.contains("listings: 98,") && counts.contains("entries: 9000,"), "{counts}");
    assert!(counts.contains("stats: 1001,") && counts.contains("confirmed: 0 "), "{counts}");
}

#[test]
#[ignore = "builds for Windows and runs Wine"]
fn what_is_listed_is_what_is_found_alone_whatever_the_names() {
    let space = Space::new();
    // Names that differ in case, that Windows has rules for, or that it cannot hold; and links.
    let odd = [
        "foo.h",
        "FOO.h",
        "Foo.h",
        "bar.h",
        "größe.h",
        "GRÖßE.H",
        "trail.",
        "space ",
        "con",
        "nul.h",
        "a:b",
        "a~1.h",
        "q?x",
        "$x#;.h",
        "日本.h",
        "UPPER.H",
        "i.h",
        "ſ.h",
        "K.h",
    ];
    for (n, name) in (1..).zip(odd) {
        for directory in ["few", "many"] {
            let path = format!("{directory}/{name}");
            space.write(&path, "x".repeat(n));
            let file = File::options().write(true).open(space.path().join(&path)).expect("it was written");
            file.set_modified(at(n as i64 * 1_000_000_007)).expect("times can be set");
        }
    }
    for (link, target) in
        [("many/to-file", "bar.h"), ("many/to-none", "none"), ("many/to-directory", "../few")]
    {
        symlink(target, space.path().join(link)).expect("links can be made");
    }
    let asked = [
        "foo.h",
        "FOO.h",
        "fOO.H",
        "Bar.H",
        "bar.h.",
        "bar.h ",
        "größe.h",
        "Größe.h",
        "GRÖSSE.h",
        "trail.",
        "trail",
        "space ",
        "space",
        "con",
        "CON",
        "nul",
        "nul.h",
        "a:b",
        "a~1.h",
        "A~1.h",
        "q?x",
        "$x#;.h",
        "日本.h",
        "upper.h",
        "I.h",
        "ı.h",
        "s.h",
        "k.h",
        "to-file",
        "TO-FILE",
        "to-none",
        "to-directory",
        "none.h",
        "..",
        ".",
    ];
    let mut names = String::new();
    for name in asked {
        names += &format!("many/{name}\nmany/to-directory/{name}\n");
    }
    let listed = collected(&space, &names, &[]);
    let alone = collected(&space, &names, &["alone"]);
    let n = 2 * asked.len();
    assert_eq!(listed[..n], alone[..n]);
    assert!(
        listed[n].contains("listings: 2,") && alone[n].contains("listings: 0,"),
        "{} {}",
        listed[n],
        alone[n]
    );
    let present =
        listed[..n].iter().filter(|line| !line.starts_with("Missing") && !line.starts_with("Unreadable"));
    assert!(present.count() > 30, "{listed:#?}");
}
