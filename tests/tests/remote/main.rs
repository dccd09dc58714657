//! Targets in a shared cache: the real command, ninja and compiler against a real bazel-remote.

#![cfg(unix)]

mod across;
mod cmake;
#[path = "../command/mod.rs"]
mod command;
mod edits;
mod full_disk;
mod hostile;
mod json;
mod kills;
mod published;
mod random;
mod server;
mod snapshots;
mod strict;
mod world;

use command::{Ran, upcheck_in};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Command;
use upcheck_reapi::{Client, Options};
use upcheck_tests::bazel_remote::BazelRemote;
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// Two programs' worth of C that share a header. Sources have absolute names, as CMake writes them.
const MANIFEST: &str = "\
rule cc
  command = cc -I@/src -MMD -MF $out.d -c $in -o $out
  deps = gcc
  depfile = $out.d
rule link
  command = cc @$out.rsp -o $out
  rspfile = $out.rsp
  rspfile_content = $in
rule words
  command = sort $in > $out
  restat = 1
build obj/a.o: cc @/src/a.c || words.txt
build obj/b.o: cc @/src/b.c || words.txt
build prog: link obj/a.o obj/b.o
build words.txt: words @/src/words
";

const SOURCES: [(&str, &str); 5] = [
    (
        "src/a.c",
        "#include \"all.h\"\n#include \"own.h\"\nint f(void);\nint main(void) { return f() + N + O; }\n",
    ),
    ("src/b.c", "#include \"all.h\"\nint f(void) { return N; }\n"),
    ("src/all.h", "#define N 0\n"),
    ("src/own.h", "#define O 0\n"),
    ("src/words", "b\na\n"),
];

/// How far a file system's clock lags behind at most, as publishing takes it; nanoseconds.
const TICK: i64 = 10_000_000;
/// So often a build is tried whose commands the clock tells apart.
const MOST_BUILDS: usize = 50;

/// A checkout with a build directory beneath it.
struct Checkout {
    space: Space,
    ninja: Ninja,
}

impl Checkout {
    /// With a manifest in which `@/` stands for the checkout's own path.
    fn with(ninja: Ninja, manifest: &str, sources: &[(&str, &str)]) -> Self {
        let space = Space::new();
        for (path, content) in sources {
            space.write(path, content);
        }
        let root = space.path().canonicalize().expect("a path");
        let manifest = manifest.replace("@/", &format!("{}/", root.display()));
        space.write("build/build.ninja", manifest);
        Self { space, ninja }
    }

    fn new(ninja: Ninja) -> Self {
        Self::with(ninja, MANIFEST, &SOURCES)
    }

    /// One that was built. Its sources were there for a while when its commands began: for as long as building takes.
    fn built(ninja: Ninja) -> Self {
        let checkout = Self::new(ninja);
        checkout.build_twice();
        checkout
    }

    /// Builds so that the second time all sources are older than what is built.
    fn build_twice(&self) {
        self.build();
        self.build_again(Self::forget);
    }

    /// Builds what was cleaned away. Once more where the clock stood still meanwhile, as it does where a host takes the processor
    /// away: nobody can tell then when commands ended, and nothing is published.
    fn build_again(&self, clean: impl Fn(&Self)) {
        for _ in 0..MOST_BUILDS {
            clean(self);
            self.build();
            if self.commands_took_as_long_as_the_clock_says() {
                return;
            }
        }
        panic!("the clock of the file system stood still in each of {MOST_BUILDS} builds");
    }

    /// Whether no output is later than its command can have ended by ninja's log, as far as this says when commands began, and
    /// how long they took.
    fn commands_took_as_long_as_the_clock_says(&self) -> bool {
        const MILLISECOND: i64 = 1_000_000;
        let log = String::from_utf8_lossy(&self.space.read("build/.ninja_log")).into_owned();
        let mut lines = log.lines();
        let version = lines.next().and_then(|line| line.strip_prefix("# ninja log v"));
        if version.and_then(|version| version.parse::<u32>().ok()).is_none_or(|version| version < 6) {
            return true;
        }
        // The last line about an output counts.
        let last: BTreeMap<&str, i64> = lines
            .map(|line| {
                let fields: Vec<&str> = line.split('\t').collect();
                let [start, end, began] = [0, 1, 2].map(|at| fields[at].parse::<i64>().expect("a number"));
                (fields[3], began + (end - start + 1) * MILLISECOND + TICK)
            })
            .collect();
        last.into_iter().all(|(output, ended_until)| {
            let found = std::fs::metadata(self.build_directory().join(output));
            found
                .map_or(true, |found| found.ctime() * 1_000 * MILLISECOND + found.ctime_nsec() <= ended_until)
        })
    }

    /// Removes all that was built, and what ninja knows of it.
    fn forget(&self) {
        for (path, _) in self.space.entries() {
            let below = path.strip_prefix(self.build_directory()).unwrap_or(&path).to_owned();
            if path.starts_with(self.build_directory())
                && path.is_file()
                && below.as_os_str() != "build.ninja"
            {
                std::fs::remove_file(path).expect("a file");
            }
        }
    }

    fn build_directory(&self) -> PathBuf {
        self.space.path().join("build")
    }

    fn run_ninja(&self, args: &[&str]) -> (bool, String) {
        let mut command = Command::new(self.ninja.path());
        let output = command.arg("-C").arg(self.build_directory()).args(args).output().expect("ninja starts");
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    #[track_caller]
    fn build(&self) {
        let (is_success, said) = self.run_ninja(&[]);
        assert!(is_success, "{said}");
    }

    /// The targets that ninja would make, by what stands last in their commands.
    #[track_caller]
    fn ninja_would_make(&self) -> Vec<String> {
        let (is_success, said) = self.run_ninja(&["-n", "-v"]);
        assert!(is_success, "{said}");
        let commands = said.lines().filter(|line| line.starts_with('['));
        let mut made: Vec<String> =
            commands.filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect();
        made.sort();
        made
    }

    fn upcheck(&self, args: &[&str]) -> Ran {
        let mut command = upcheck_in(&self.build_directory());
        command.arg(args[0]).args(["--ninja-version", self.ninja.number()]).args(&args[1..]);
        if args.contains(&"--remote") && !args.contains(&"--remote-timeout") {
            // However busy the machine is, an answer that comes is one.
            command.args(["--remote-timeout", "60"]);
        }
        Ran::new(command.output().expect("upcheck starts"))
    }

    /// What the cache has of each stale target.
    #[track_caller]
    fn remote(&self, server: &str, more: &[&str]) -> BTreeMap<String, String> {
        let answer = self.report(server, more);
        let stale = answer["stale"].as_array().expect("a list");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        stale.iter().map(|target| (text(&target["target"]), text(&target["remote"]))).collect()
    }

    #[track_caller]
    fn report(&self, server: &str, more: &[&str]) -> Value {
        let args = [&["check", "--format", "json", "--remote", server], more].concat();
        let ran = self.upcheck(&args);
        assert!(ran.status < 2 && ran.stderr.is_empty(), "{ran:?}");
        serde_json::from_str(&ran.stdout).expect("JSON")
    }

    /// The key of each cached target.
    #[track_caller]
    fn actions(&self, server: &str) -> BTreeMap<String, upcheck_reapi::Digest> {
        let answer = self.report(server, &[]);
        let stale = answer["stale"].as_array().expect("a list");
        let cached = stale.iter().filter_map(|target| {
            let digest = target["remote_action"].as_str()?.parse().expect("a digest");
            Some((target["target"].as_str()?.to_owned(), digest))
        });
        cached.collect()
    }

    #[track_caller]
    fn publish(&self, server: &str) -> String {
        self.upcheck(&["publish", "--remote", server]).answer(0)
    }

    fn restore(&self, server: &str) -> Ran {
        self.upcheck(&["restore", "--remote", server])
    }

    /// Edits a file, which is then newer than all else.
    fn edit(&self, path: &str, content: &str) {
        self.space.write_last(path, content);
    }
}

/// What is expected of targets.
fn words<const N: usize>(expected: [(&str, &str); N]) -> BTreeMap<String, String> {
    expected.iter().map(|(target, word)| ((*target).to_owned(), (*word).to_owned())).collect()
}

fn client(server: &BazelRemote) -> Client {
    let address = server.address().parse().expect("an address");
    Client::open(&address, Options::default()).expect("usual options")
}
