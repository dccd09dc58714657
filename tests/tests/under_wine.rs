//! What a Windows program sees of files that were written here. It takes a standard library for Windows and Wine,
//! which are installed on first use, and so it is only run if asked for.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};
use upcheck_tests::aloud::not_tested;
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

#[test]
#[ignore = "builds for Windows and runs Wine"]
fn images_that_belong_to_somebody_else_are_not_used() {
    let (space, folder) = (Space::new(), Space::new());
    // Wine takes what belongs to any other user for an anonymous user's.
    let give = |path: &Path, to: u32| chown(path, Some(to), None);
    let mine = folder.path().metadata().expect("a folder").uid();
    if give(folder.path(), mine + 1).and_then(|()| give(folder.path(), mine)).is_err() {
        not_tested("whether images of somebody else are used on Windows: only root can give files away");
        return;
    }
    space.write_at("build.ninja", "rule c\n  command = c\nbuild out: c in\n", 1_600_000_000_000_000_000);
    space.write_at("in", "", 1_600_000_000_000_000_000);
    // What became of the image, as the answer has it.
    let ask = || {
        let (status, text) = upcheck(&[
            "--format=json",
            &format!("--image-dir=Z:{}", folder.path().display()),
            &format!("-CZ:{}", space.path().display()),
        ]);
        assert_eq!(status, Some(1), "{text}");
        // A warning may follow.
        let mut documents = serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>();
        let answer = documents.next().expect("an answer").expect("JSON");
        answer["summary"]["image"].as_str().expect("text").to_owned()
    };
    let files = || {
        let entries = std::fs::read_dir(folder.path()).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>()
    };
    assert_eq!(ask(), "made");
    assert_eq!(ask(), "used");
    files().iter().for_each(|file| give(file, mine + 1).expect("a file given away"));
    assert_eq!(ask(), "made", "somebody else's files are as if they were not there");
    assert!(files().iter().all(|file| file.metadata().expect("a file").uid() == mine), "they were replaced");
    assert_eq!(ask(), "used");
    give(folder.path(), mine + 1).expect("a folder given away");
    let before = files();
    assert_eq!(ask(), "failed", "nothing is kept in somebody else's folder, nor believed");
    assert_eq!(files(), before);
}

/// What a script in `tests/tools` prints: the path of what it has installed.
fn tool(name: &str) -> String {
    let output = Command::new(root().join("tests/tools").join(name)).output().expect("it can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim_end().to_owned()
}

/// The command for Windows: its exit status and what it prints.
fn upcheck(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(root().join("tests/on"))
        .args(["x86_64-pc-windows-gnu", "run", "-q", "-p", "upcheck-cli", "--"])
        .args(arguments)
        .output()
        .expect("tests/on can be run");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).expect("UTF-8").replace("\r\n", "\n"))
}

#[test]
#[ignore = "builds for Windows and runs Wine"]
fn globs_match_what_they_match_for_cmake_for_windows() {
    let (wine, cmake, ninja) = (tool("get-wine"), tool("get-cmake-windows"), tool("get-ninja-windows"));
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(&wine).arg(program).args(arguments).output().expect("Wine can be run");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{program} {arguments:?}: {text}");
        text
    };
    let space = Space::new();
    for name in
        ["Main.C", "other.c", "README.TXT", "a-b.C", "Ä.c", "ä2.C", "Deep/X.H", "Deep/Under/y.h", "dEEP2/Z.h"]
    {
        space.write(&format!("src/Data/{name}"), "");
    }
    let globs = [
        "GLOB Data/*.c",
        "GLOB Data/*.C",
        "GLOB data/m*",
        "GLOB DATA/d*/*.h",
        "GLOB LIST_DIRECTORIES false Data/*",
        "GLOB Data/[A-Z]*",
        "GLOB Data/[a-z]*",
        "GLOB Data/[!M]*",
        "GLOB Data/[!m]*",
        "GLOB Data/Ä*",
        "GLOB Data/ä*",
        "GLOB Data//./READ?E*",
        "GLOB RELATIVE ${here}/DATA Data/*.txt",
        "GLOB RELATIVE ${here}/dAtA/DEEP Data/deep/*.H",
        "GLOB RELATIVE Q:/elsewhere Data/*.txt",
        "GLOB_RECURSE Data/*.h",
        "GLOB_RECURSE LIST_DIRECTORIES true Data/deep/*.H",
        "GLOB_RECURSE RELATIVE ${here}/data d*/*.h",
    ];
    let mut lists = String::from(
        "cmake_minimum_required(VERSION 3.20)\nproject(p NONE)\nset(here ${CMAKE_CURRENT_SOURCE_DIR})\n",
    );
    for (n, glob) in globs.iter().enumerate() {
        let (kind, rest) = glob.split_once(' ').expect("a kind");
        let (options, expression) = rest.rsplit_once(' ').unwrap_or(("", rest));
        lists += &format!("file({kind} found{n} {options} CONFIGURE_DEPENDS \"{expression}\")\n");
        lists += &format!("message(\"{n}: ${{found{n}}}\")\n");
    }
    space.write("src/CMakeLists.txt", lists);
    for query in ["codemodel-v2", "cmakeFiles-v1"] {
        space.write(&format!("build/.cmake/api/v1/query/{query}"), "");
    }
    let place = |name: &str| format!("Z:{}/{name}", space.path().display());
    let (source, build) = (place("src"), place("build"));
    let make = format!("-DCMAKE_MAKE_PROGRAM=Z:{ninja}");
    let told = run(&cmake, &["-G", "Ninja", &make, "-S", &source, "-B", &build]);
    assert!(told.contains("Data/Main.C"), "{told}");
    run(&ninja, &["-C", &build]);
    let ask = || upcheck(&["-C", &build, "--from", "cmake", "--no-image", "--explain"]);
    // Had one of them another result here, CMake would have to run.
    let (status, text) = ask();
    assert_eq!(status, Some(0), "{text}\n{told}");
    for name in ["src/Data/NEW.c", "src/data-2.h", "src/Data/Deep/new.H"] {
        space.write(name, "");
        let (status, text) = ask();
        let is_matched = !name.contains("data-2");
        assert_eq!(status, Some(i32::from(is_matched)), "{name}: {text}");
        assert_eq!(text.contains("came as an input"), is_matched, "{text}");
        std::fs::remove_file(space.path().join(name)).expect("a file");
    }
    assert_eq!(ask().0, Some(0));
}
