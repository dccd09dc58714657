//! Edits at random: whatever happens to a tree, what is stale is what make makes. `UPCHECK_CASES` says how many sequences,
//! `UPCHECK_SEED` with which number they begin.

use crate::edits::FILES;
use crate::harness::{Build, VERSIONS};
use upcheck_tests::space::set_mtime;

/// A small generator of numbers: the same seed, the same edits.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

const SOURCES: &[&str] = &[
    "s/lib/text.c",
    "s/lib/more.c",
    "s/lib/text.h",
    "s/lib/deep.h",
    "s/lib/net.c",
    "s/lib/o1.c",
    "s/app/main.cpp",
    "s/app/gen.in",
    "s/a.txt",
];
const MADE: &[&str] = &[
    "b/lib/CMakeFiles/text.dir/text.c.o",
    "b/lib/CMakeFiles/text.dir/more.c.o",
    "b/lib/CMakeFiles/net.dir/net.c.o",
    "b/lib/CMakeFiles/objs.dir/o1.c.o",
    "b/app/CMakeFiles/app.dir/main.cpp.o",
    "b/app/CMakeFiles/app.dir/gen.c.o",
    "b/lib/libtext.a",
    "b/lib/libnet.so.1.2",
    "b/lib/libnet.so",
    "b/app/app",
    "b/app/gen.c",
    "b/app/version.h",
    "b/all.txt",
    "b/second.txt",
];
const CONFIGURED: &[&str] = &[
    "b/lib/CMakeFiles/text.dir/flags.make",
    "b/app/CMakeFiles/app.dir/flags.make",
    "b/app/CMakeFiles/app.dir/link.txt",
    "b/lib/CMakeFiles/net.dir/build.make",
];

/// One edit. What it is.
fn edit(build: &Build, random: &mut Random, n: usize) -> String {
    match random.below(12) {
        0..=3 => {
            let path = random.of(SOURCES);
            build.touch(path);
            format!("touch {path}")
        }
        4 => {
            let path = random.of(MADE);
            build.space.remove(path);
            format!("remove {path}")
        }
        5 => {
            let path = random.of(MADE);
            if build.path(path).exists() {
                build.touch(path);
            }
            format!("touch {path}")
        }
        6 => {
            let path = random.of(CONFIGURED);
            build.touch(path);
            format!("touch {path}")
        }
        7 => {
            // Times that are equal, or go back.
            let (path, like) = (random.of(SOURCES), random.of(MADE));
            if let Some(time) = build.space.mtime(like) {
                set_mtime(&build.path(path), time);
            }
            format!("{path} is as old as {like}")
        }
        8 => {
            let (path, like) = (random.of(MADE), random.of(MADE));
            if let (Some(time), true) = (build.space.mtime(like), build.path(path).exists()) {
                set_mtime(&build.path(path), time);
            }
            format!("{path} is as old as {like}")
        }
        9 => {
            let header = format!("new{n}.h");
            build.write(&format!("s/lib/{header}"), "");
            build.write("s/lib/deep.h", &format!("#include \"{header}\"\n#define M {n}\n"));
            format!("deep.h includes {header}")
        }
        10 => {
            build.write("s/lib/deep.h", "#define M 1\n");
            for old in 0..n {
                build.space.remove(&format!("s/lib/new{old}.h"));
            }
            "deep.h includes nothing, and the others are gone".into()
        }
        _ => {
            let path = random.of(&["s/CMakeLists.txt", "s/lib/CMakeLists.txt", "b/CMakeCache.txt"]);
            build.touch(path);
            format!("touch {path}")
        }
    }
}

#[test]
fn edits_at_random() {
    let number = |name: &str, usual: u64| {
        std::env::var(name).map_or(usual, |text| text.parse().expect("a number in the environment"))
    };
    let first = number("UPCHECK_SEED", 1);
    for seed in first..first + number("UPCHECK_CASES", 3) {
        let version = VERSIONS[usize::try_from(seed).expect("a small seed") % VERSIONS.len()];
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut build = Build::new(version, FILES);
        build.compare("the first build");
        for n in 1..=12 {
            let edits: Vec<String> = (0..=random.below(3)).map(|_| edit(&build, &mut random, n)).collect();
            build.compare(&format!("seed {seed}, step {n}: {}", edits.join("; ")));
        }
    }
}
