//! Tests of globs: tables of cases, what is asked of the disk, real directories, and random patterns against a naive way
//! to match them.

use super::*;
use crate::collect::{Access, MemoryDisk};

const EACCES: i32 = 13;

fn globs(patterns: &[&str]) -> Globs {
    Globs::new(patterns).unwrap_or_else(|error| panic!("{error}"))
}

fn fault(pattern: &str) -> Option<GlobFault> {
    Globs::new(&[pattern]).err().map(|error| error.fault)
}

fn disk(files: &[&str]) -> MemoryDisk {
    let mut disk = MemoryDisk::new();
    for file in files {
        disk.write(file, b"");
    }
    disk
}

fn texts(expanded: &Expanded) -> Vec<String> {
    expanded.paths().map(|path| String::from_utf8_lossy(path).into_owned()).collect()
}

/// What is there of these patterns, and no trouble.
fn found(disk: &dyn Disk, patterns: &[&str]) -> Vec<String> {
    let expanded = globs(patterns).expand(disk, 1);
    assert_eq!(expanded.trouble(), [], "{patterns:?}");
    texts(&expanded)
}

/// The directories that were listed.
fn listed(disk: &MemoryDisk) -> Vec<String> {
    let list = |access| match access {
        Access::List(path) => Some(String::from_utf8_lossy(&path).into_owned()),
        _ => None,
    };
    let mut listed: Vec<String> = disk.take_log().into_iter().filter_map(list).collect();
    listed.sort();
    listed
}

#[test]
fn what_matches_and_what_does_not() {
    for (pattern, matching, other) in [
        ("a.c", &["a.c", "./a.c", "x/../a.c"][..], &["b.c", "a.cc", "x/a.c", "/a.c"][..]),
        ("*.c", &["a.c", "ab.c"], &["a.h", "x/a.c", ".c", ".a.c", "a.c/b"]),
        ("?.c", &["a.c"], &["ab.c", ".c", "..c", "é.c"]),
        ("*??", &["ab", "é"], &["a"]),
        ("é*", &["é", "éa"], &["e", "ê"]),
        ("src/*.c", &["src/a.c"], &["a.c", "src/x/a.c", "src"]),
        ("**/*.c", &["a.c", "x/a.c", "x/y/a.c"], &[".x/a.c", "x/.y/a.c", "x/.a.c", "../a.c", "/a.c"]),
        ("src/**", &["src/a", "src/x/a"], &["src", "src/.a", "src/.x/a", "a"]),
        ("src/**/a/**/b", &["src/a/b", "src/x/a/y/z/b", "src/a/a/b/b"], &["src/b", "src/a", "a/b"]),
        ("**", &["a", "x/a"], &[".a", "x/.a"]),
        ("**/**/a", &["a", "x/a"], &["b"]),
        ("a**b", &["ab", "axb"], &["a/b", "ax/b"]),
        (".*", &[".a", ".ab"], &["a", "x/.a"]),
        (".x/**", &[".x/a"], &[".x/.a"]),
        ("**/.x/*", &[".x/a", "y/.x/a"], &["x/a", ".y/.x/a"]),
        ("[.]a", &[], &[".a"]),
        ("{.a,b}", &[".a", "b"], &["a"]),
        ("[a-c].c", &["a.c", "c.c"], &["d.c", "A.c"]),
        ("[!a-c]", &["d"], &["a", "c", ".", "dd", "é"]),
        ("[^a]", &["b"], &["a"]),
        ("[]a]", &["]", "a"], &["b"]),
        ("[a-]", &["a", "-"], &["b"]),
        (r"[\]]", &[r"\]"], &["]", r"\"]),
        (r"[\x]", &[r"\", "x"], &["]"]),
        ("a.{c,h}", &["a.c", "a.h"], &["a.", "a.{c,h}"]),
        ("{src,lib/x}/*.c", &["src/a.c", "lib/x/a.c"], &["lib/a.c"]),
        ("a{,b}{c,d{e,f}}", &["ac", "abc", "ade", "abdf"], &["a", "ab", "ad"]),
        ("{a,**/b}.[ch]", &["a.c", "b.h", "x/y/b.c"], &["x/a.c", "b.x"]),
        (r"{[,}],x\,\}}y", &[",y", "}y", "x,}y"], &["[y", "xy"]),
        ("x{}", &["x"], &["x{}"]),
        (r"\*", &["*"], &["a"]),
        (r"\{a\}", &["{a}"], &["a"]),
        (r"\!a", &["!a"], &["a"]),
        (r"\.*", &[".a"], &["a", r"\.a"]),
        (r"\**", &["*", "*a"], &["a"]),
        ("a,b", &["a,b"], &["a", "b"]),
        ("/usr/*.h", &["/usr/a.h"], &["usr/a.h"]),
        ("../*.h", &["../a.h"], &["a.h", "../../a.h", "../x/a.h"]),
        ("../../x", &["../../x"], &["x"]),
        ("./a//b/./c", &["a/b/c"], &[]),
        ("a/../b", &["b"], &["a/b"]),
    ] {
        let globs = globs(&[pattern]);
        // No name has a backslash on Windows.
        for path in matching.iter().filter(|path| cfg!(unix) || !path.contains('\\')) {
            assert!(globs.matches(path.as_bytes()), "{pattern} and {path}");
        }
        for path in other.iter().filter(|path| cfg!(unix) || !path.contains('\\')) {
            assert!(!globs.matches(path.as_bytes()), "{pattern} and {path}");
        }
    }
    assert!(globs(&["?x"]).matches(b"\xffx"), "a byte that is no character");
    assert!(Globs::new(&[b"\xff/*"]).expect("a pattern of bytes").matches(b"\xff/x"));
    assert_eq!(Globs::new(&[b"\xff*"]).map_err(|error| error.fault), Err(GlobFault::NotUtf8));
}

#[test]
fn what_is_left_out_is_left_out_wherever_it_stands() {
    let globs = globs(&["!**/gen.*", "**/*.c", "!old/**"]);
    for (path, expected) in
        [("a.c", true), ("x/a.c", true), ("x/gen.c", false), ("old/a.c", false), ("older/a.c", true)]
    {
        assert_eq!(globs.matches(path.as_bytes()), expected, "{path}");
    }
    assert!(!super::Globs::new(&["!a"]).expect("a pattern").matches(b"b"), "nothing is wanted");
}

#[test]
fn what_is_no_pattern_is_refused() {
    for (pattern, expected) in [
        ("", GlobFault::Empty),
        ("!", GlobFault::Empty),
        ("a/", GlobFault::Directory),
        ("**/", GlobFault::Directory),
        ("a/.", GlobFault::Directory),
        ("..", GlobFault::Directory),
        ("/", GlobFault::Directory),
        ("a/{b,}", GlobFault::Directory),
        ("*/../a", GlobFault::ParentOfWildcard),
        ("**/../a", GlobFault::ParentOfWildcard),
        ("[a", GlobFault::OpenClass),
        ("[]", GlobFault::OpenClass),
        ("[a-", GlobFault::OpenClass),
        ("[", GlobFault::OpenClass),
        ("[a/b]", GlobFault::OpenClass),
        ("{a,[b/c]}", GlobFault::OpenClass),
        ("[é]", GlobFault::BadClass),
        ("[!a-é]", GlobFault::BadClass),
        ("[z-a]", GlobFault::BackwardRange),
        ("{a,b", GlobFault::OpenBrace),
        ("a}", GlobFault::StrayBrace),
        ("a\\", GlobFault::StrayEscape),
        (r"a\/b", GlobFault::StrayEscape),
        ("a\0b", GlobFault::Nul),
    ] {
        assert_eq!(fault(pattern), Some(expected), "{pattern:?}");
    }
    assert_eq!(fault(&"{a,b}".repeat(10)), Some(GlobFault::TooManyAlternatives));
    assert_eq!(fault(&"{".repeat(100_000)), Some(GlobFault::TooManyAlternatives));
    assert_eq!(fault(&"[".repeat(100_000)), Some(GlobFault::TooLong));
    assert_eq!(fault(&"?".repeat(1025)), Some(GlobFault::TooLong));
    assert_eq!(fault(&format!("{}/{}", "*a".repeat(512), "x".repeat(100_000))), None);
    let error = Globs::new(&["a", "!b["]).expect_err("an open class");
    assert_eq!(error.to_string(), "pattern `!b[`: `[` without `]`, or with `/` before it");
}

#[test]
fn files_are_found_sorted_and_once() {
    let disk = disk(&[
        "b.c",
        "a.c",
        "a.h",
        "src/x.c",
        "src/deep/y.c",
        ".git/z.c",
        "src/.z.c",
        "/abs/a.c",
        "../up.c",
    ]);
    assert_eq!(found(&disk, &["*.c", "a.*", "**/a.c"]), ["a.c", "a.h", "b.c"]);
    assert_eq!(found(&disk, &["**/*.c"]), ["a.c", "b.c", "src/deep/y.c", "src/x.c"]);
    assert_eq!(found(&disk, &["**/*.c", "!src/**"]), ["a.c", "b.c"]);
    assert_eq!(found(&disk, &[".git/*"]), [".git/z.c"]);
    assert_eq!(found(&disk, &["/abs/*", "../*.c"]), ["../up.c", "/abs/a.c"]);
    assert_eq!(found(&disk, &["src/x.c", "src/none.c", "src", "none/x.c", "a.c/x"]), ["src/x.c"]);
    assert_eq!(found(&disk, &["none/**", "a.c/*", "src/deep/*/x"]), [""; 0]);
    for threads in [0, 2, 9] {
        assert_eq!(texts(&globs(&["**"]).expand(&disk, threads)).len(), 5);
    }
}

#[test]
fn only_directories_that_can_hold_matches_are_listed_and_each_once() {
    let disk = disk(&["a.c", "src/a.c", "src/x/b.c", "src/x/y/c.c", "lib/a.c", "lib/x/b.c", ".git/x/a"]);
    for (patterns, expected) in [
        (&["src/a.c"][..], &[][..]),
        (&["*.c"], &[""]),
        (&["src/*.c", "src/a.*", "src/x/*"], &["src", "src/x"]),
        (&["src/x/**"], &["src/x", "src/x/y"]),
        (&["*/*.c"], &["", "lib", "src"]),
        (&["*/a.c"], &[""]),
        (&["**/b.c"], &["", "lib", "lib/x", "src", "src/x", "src/x/y"]),
        (&["**/b.c", "!src/**"], &["", "lib", "lib/x"]),
        (&["**/b.c", "!**/x/**"], &["", "lib", "src"]),
        (&["none/*/*"], &["none"]),
    ] {
        let _ = globs(patterns).expand(&disk, 1);
        assert_eq!(listed(&disk), expected, "{patterns:?}");
    }
    let (all, some, more) = (globs(&["**"]), globs(&["src/*"]), globs(&["**", "!lib/**"]));
    let together = expand_all(&disk, &[&all, &some, &all, &more], 1);
    assert_eq!(listed(&disk), ["", "lib", "lib/x", "src", "src/x", "src/x/y"]);
    assert_eq!(together.iter().map(Expanded::len).collect::<Vec<_>>(), [6, 1, 6, 4]);
    for (globs, expanded) in [&all, &some, &all, &more].into_iter().zip(together) {
        assert_eq!(globs.expand(&disk, 1), expanded);
    }
}

#[test]
fn what_is_hidden_is_found_although_all_else_there_is_left_out() {
    let disk = disk(&["out/.keep/a", "out/a", "out/x/.keep/b"]);
    assert_eq!(found(&disk, &["**/.keep/*", "!out/**"]), ["out/.keep/a", "out/x/.keep/b"]);
}

#[test]
fn what_cannot_be_listed_is_trouble_and_what_is_gone_is_not() {
    let mut disk = disk(&["src/a.c", "src/x/b.c", "lib/c.c"]);
    disk.fail("src/x", EACCES);
    let expanded = globs(&["**/*.c"]).expand(&disk, 1);
    assert_eq!(texts(&expanded), ["lib/c.c", "src/a.c"]);
    assert_eq!(expanded.trouble(), [(b"src/x".to_vec(), EACCES)]);
    // Nobody wants anything of it.
    assert_eq!(found(&disk, &["lib/**", "src/*.c"]), ["lib/c.c", "src/a.c"]);
    assert_eq!(found(&disk, &["**/*.c", "!src/x/**"]), ["lib/c.c", "src/a.c"]);
    disk.fail("", EACCES);
    assert_eq!(globs(&["*"]).expand(&disk, 1).trouble(), [(b".".to_vec(), EACCES)]);
}

#[test]
fn what_disappears_meanwhile_is_empty() {
    let mut disk = disk(&["src/x/a.c", "src/b.c"]);
    disk.on_read("src", |disk| disk.remove("src/x/a.c"));
    assert_eq!(found(&disk, &["src/**/*.c"]), ["src/b.c"]);
}

#[test]
fn links_count_as_what_they_lead_to_but_do_not_lead_in_circles() {
    let mut disk = disk(&["src/a.c", "src/x/b.c", "real/c.c"]);
    disk.link("src/file.c", "../real/c.c");
    disk.link("src/gone.c", "nowhere");
    disk.link("src/circle", ".");
    disk.link("src/real", "../real");
    disk.make_pipe("src/pipe.c");
    assert_eq!(found(&disk, &["src/**/*.c"]), ["src/a.c", "src/file.c", "src/x/b.c"]);
    assert_eq!(found(&disk, &["src/real/*.c", "src/*/c.c"]), ["src/real/c.c"]);
    assert_eq!(found(&disk, &["src/file.c", "src/gone.c", "src/pipe.c", "src/real"]), ["src/file.c"]);
    assert_eq!(found(&disk, &["src/**/real/*"]), ["src/real/c.c"]);
    disk.fail("real/c.c", EACCES);
    let expanded = globs(&["src/*.c"]).expand(&disk, 1);
    assert_eq!(expanded.trouble(), [(b"src/file.c".to_vec(), EACCES)]);
    assert_eq!(found(&disk, &["src/*.c", "!src/f*"]), ["src/a.c"]);
}

#[cfg(unix)]
#[test]
fn real_directories_say_what_those_in_memory_say() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let base = place.path().join("base");
    let mut memory = MemoryDisk::new();
    let files = ["a.c", "src/a.c", "src/x/b.c", ".hidden/c.c", "src/.d.c", "src/x/y/z/e.c", "../up.c"];
    for file in files {
        let path = base.join(file);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(path, "").expect("a file");
        memory.write(file, b"");
    }
    for (link, target) in [("src/l.c", "a.c"), ("src/dir", "x"), ("src/loop", ".."), ("src/gone.c", "gone")] {
        std::os::unix::fs::symlink(target, base.join(link)).expect("a link");
        memory.link(link, target);
    }
    // More names than fit into one answer of the system.
    std::fs::create_dir(base.join("many")).expect("a directory");
    for n in 0..3000 {
        let name = format!("many/a-name-that-is-not-quite-short-{n}");
        std::fs::write(base.join(&name), "").expect("a file");
        memory.write(&name, b"");
    }
    let unix = crate::collect::os_disk(&base).expect("a disk");
    let portable = crate::collect::PortableDisk::new(&base).expect("a disk");
    for patterns in [
        &["**"][..],
        &["**/*.c", "!src/x/**"],
        &["*/*"],
        &["src/dir/*", "src/*/b.c", "src/l.c", "src/gone.c"],
        &[".hidden/*", "src/.*"],
        &["../*.c", "many/*7"],
    ] {
        let expected = found(&memory, patterns);
        assert!(!expected.is_empty());
        for threads in [0, 1, 4] {
            assert_eq!(texts(&globs(patterns).expand(&unix, threads)), expected, "{patterns:?}");
        }
        assert_eq!(found(&portable, patterns), expected, "{patterns:?}");
    }
    let absolute = format!("{}/**/*.c", base.to_str().expect("text"));
    assert_eq!(found(&unix, &[&absolute]).len(), found(&memory, &["**/*.c"]).len());
}

/// A part of a random pattern, and how one would match it without much thought.
#[derive(Clone, Debug)]
enum Simple {
    Recursive,
    /// Each of these texts is a name with `*` and `?`.
    Names(Vec<String>),
}

fn text_of(parts: &[Simple]) -> String {
    let text = |part: &Simple| match part {
        Simple::Recursive => "**".to_owned(),
        Simple::Names(names) if names.len() == 1 => names[0].clone(),
        Simple::Names(names) => format!("{{{}}}", names.join(",")),
    };
    parts.iter().map(text).collect::<Vec<_>>().join("/")
}

fn matches_simply(parts: &[Simple], names: &[&str]) -> bool {
    match (parts, names) {
        ([], _) => names.is_empty(),
        ([Simple::Recursive], []) => false,
        ([Simple::Recursive], _) => names.iter().all(|name| !name.starts_with('.')),
        ([Simple::Recursive, rest @ ..], _) => {
            let most = names.iter().take_while(|name| !name.starts_with('.')).count();
            (0..=most).any(|n| matches_simply(rest, &names[n..]))
        }
        ([Simple::Names(all), rest @ ..], [name, names @ ..]) => {
            let one = |text: &String| {
                text.starts_with('.') == name.starts_with('.')
                    && name_matches(text.as_bytes(), name.as_bytes())
            };
            all.iter().any(one) && matches_simply(rest, names)
        }
        _ => false,
    }
}

fn name_matches(text: &[u8], name: &[u8]) -> bool {
    match (text, name) {
        ([], _) => name.is_empty(),
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|n| name_matches(rest, &name[n..])),
        ([b'?', rest @ ..], [_, name @ ..]) => name_matches(rest, name),
        ([byte, rest @ ..], [first, name @ ..]) => byte == first && name_matches(rest, name),
        _ => false,
    }
}

/// A generator of numbers that are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % n
    }

    fn text(&mut self, from: &[&str], most: usize) -> String {
        let dot = if self.below(6) == 0 { "." } else { "" };
        let n = 1 + self.below(most);
        [dot].into_iter().chain((0..n).map(|_| from[self.below(from.len())])).collect()
    }

    fn pattern(&mut self) -> Vec<Simple> {
        let n = 1 + self.below(5);
        let part = |numbers: &mut Self| match numbers.below(3) {
            0 => Simple::Recursive,
            _ => {
                let n = if numbers.below(4) == 0 { 2 } else { 1 };
                let name = |numbers: &mut Self| match numbers.text(&["a", "b", "*", "?"], 4) {
                    text if text.chars().all(|c| c == '*') => "*".to_owned(),
                    text => text,
                };
                Simple::Names((0..n).map(|_| name(numbers)).collect())
            }
        };
        (0..n).map(|_| part(self)).collect()
    }
}

#[test]
fn random_patterns_match_what_they_match_without_much_thought() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut n_matches = 0;
    for _ in 0..20_000 {
        let pattern = numbers.pattern();
        let text = text_of(&pattern);
        let globs = globs(&[&text]);
        for _ in 0..8 {
            let n = 1 + numbers.below(5);
            let names: Vec<String> = (0..n).map(|_| numbers.text(&["a", "b"], 3)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let path = names.join("/");
            let expected = matches_simply(&pattern, &names);
            assert_eq!(globs.matches(path.as_bytes()), expected, "{text} and {path}");
            n_matches += usize::from(expected);
        }
    }
    assert!(n_matches > 5_000, "{n_matches}");
}

#[test]
fn random_patterns_find_what_a_walk_over_everything_finds() {
    let mut numbers = Numbers(0x0123_4567_89ab_cdef);
    let mut n_found = 0;
    for _ in 0..300 {
        let mut disk = MemoryDisk::new();
        let mut files = std::collections::BTreeSet::new();
        for _ in 0..numbers.below(60) {
            let n = 1 + numbers.below(4);
            let path: Vec<String> = (0..n).map(|_| numbers.text(&["a", "b"], 2)).collect();
            files.insert(path.join("/"));
        }
        // What lies beneath a file cannot be.
        let all = files.clone();
        files.retain(|file| !all.iter().any(|other| other.starts_with(&format!("{file}/"))));
        for file in &files {
            disk.write(file, b"");
        }
        let all: Vec<(Globs, String)> = (0..6)
            .map(|_| {
                let mut texts: Vec<String> =
                    (0..1 + numbers.below(3)).map(|_| text_of(&numbers.pattern())).collect();
                if numbers.below(2) == 0 {
                    texts.push(format!("!{}", text_of(&numbers.pattern())));
                }
                (Globs::new(&texts).expect("patterns"), texts.join(" "))
            })
            .collect();
        let together =
            expand_all(&disk, &all.iter().map(|(globs, _)| globs).collect::<Vec<_>>(), 1 + numbers.below(3));
        let listed = listed(&disk);
        let mut once = listed.clone();
        once.dedup();
        assert_eq!(listed, once, "each directory once");
        for ((globs, texts_of), expanded) in all.iter().zip(together) {
            let expected: Vec<&String> = files.iter().filter(|file| globs.matches(file.as_bytes())).collect();
            assert_eq!(texts(&expanded).iter().collect::<Vec<_>>(), expected, "{texts_of} in {files:?}");
            assert_eq!(expanded.trouble(), [], "{texts_of}");
            n_found += expected.len();
        }
    }
    assert!(n_found > 3_000, "{n_found}");
}
