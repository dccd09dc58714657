//! A source tree and its build directory, and the comparison of both sides' answers about it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use upcheck_tests::answer::{Answer, Question, agree, exact, look_past, ninja, run_ninja, says_the_same};
use upcheck_tests::space::Space;
use upcheck_tests::tools::{Ninja, upcheck};

pub(crate) struct Work {
    pub(crate) name: &'static str,
    pub(crate) version: Ninja,
    pub(crate) source: Space,
    pub(crate) build: Space,
    /// Where Meson is installed; without it CMake configures.
    meson: Option<Space>,
    /// For the first configuration.
    options: &'static [&'static str],
    /// How many answers of upcheck were compared with ninja's.
    pub(crate) n_agreed: usize,
}

impl Work {
    /// What upcheck says, in its exact and in its useful mode, without having touched anything.
    pub(crate) fn ask(&self, question: &Question) -> (Answer, Answer) {
        let before = self.build.entries();
        let exact = exact(&self.build, self.version, question);
        let useful = look_past(&self.build, self.version, question);
        assert!(self.build.entries() == before, "{}: upcheck touched the build directory", self.name);
        (exact, useful)
    }

    #[track_caller]
    pub(crate) fn assert_agree(&mut self, state: &str, ours: &Answer, theirs: &Answer) {
        let same_error = match (ours, theirs) {
            (Answer::Error(ours), Answer::Error(theirs)) => says_the_same(ours, theirs),
            _ => true,
        };
        assert!(
            agree(ours, theirs) && same_error,
            "{}, {state}, ninja {}:\n{}",
            self.name,
            self.version.number(),
            difference(ours, theirs)
        );
        self.n_agreed += 1;
    }

    /// What ninja says, and upcheck too. Where ninja only has an error, the useful mode may know more.
    #[track_caller]
    pub(crate) fn agreed(&mut self, state: &str, targets: &[&str]) -> Answer {
        let (useful, theirs) = self.agreed_exactly(state, targets);
        if matches!(theirs, Answer::Run(_)) {
            self.assert_agree(&format!("{state} {targets:?}"), &useful, &theirs);
        }
        theirs
    }

    /// The same in the exact mode alone. What the useful mode says, and what ninja says.
    #[track_caller]
    pub(crate) fn agreed_exactly(&mut self, state: &str, targets: &[&str]) -> (Answer, Answer) {
        let question = Question::about(targets);
        let (exact, useful) = self.ask(&question);
        let theirs = ninja(&self.build, self.version, &question);
        self.assert_agree(&format!("{state}, exact {targets:?}"), &exact, &theirs);
        (useful, theirs)
    }

    #[track_caller]
    pub(crate) fn fresh(&mut self, state: &str) {
        let answer = self.agreed(state, &[]);
        assert!(answer == nothing(), "{}, {state}: not fresh\n{answer:?}", self.name);
    }

    /// The commands to be run, of which there are some.
    #[track_caller]
    pub(crate) fn stale(&mut self, state: &str) -> BTreeSet<String> {
        match self.agreed(state, &[]) {
            Answer::Run(commands) if !commands.is_empty() => commands,
            answer => panic!("{}, {state}: {answer:?}", self.name),
        }
    }

    /// The manifest is stale: there ninja stops, and so does the exact mode. The useful one names beside it
    /// what ninja would run if it did not stop.
    #[track_caller]
    pub(crate) fn stale_manifest(&mut self, state: &str) {
        let question = Question::default();
        let (exact, useful) = self.ask(&question);
        let stop = ninja(&self.build, self.version, &question);
        self.assert_agree(&format!("{state}, exact"), &exact, &stop);
        // Under another name the manifest is no target, and ninja does not ask whether it is stale.
        let renamed = self.build.copy();
        renamed.write("behind.ninja", renamed.read("build.ninja"));
        let behind = Question { file: Some("behind.ninja".into()), ..question };
        let behind = ninja(&renamed, self.version, &behind);
        let (Answer::Run(stop), Answer::Run(behind)) = (stop, behind) else {
            panic!("{state}: no error is expected")
        };
        assert!(!stop.is_empty() && stop.is_disjoint(&behind), "{state}: ninja stops at the manifest");
        self.assert_agree(state, &useful, &Answer::Run(&stop | &behind));
    }

    // ---- what is done to the project ----------------------------------------------------------------

    /// A source tree with a build directory that is configured and not built.
    pub(crate) fn new(
        name: &'static str,
        source: Space,
        meson: Option<Space>,
        options: &'static [&'static str],
        version: Ninja,
    ) -> Self {
        let work = Self { name, version, source, build: Space::new(), meson, options, n_agreed: 0 };
        work.configure(&[]);
        work
    }

    #[expect(clippy::print_stdout, reason = "the figure that --nocapture is for")]
    pub(crate) fn report(&self) {
        println!(
            "{}, ninja {}: {} answers, all equal to ninja's",
            self.name,
            self.version.number(),
            self.n_agreed
        );
    }

    /// For the first time or again. An option holds until another one takes it back.
    pub(crate) fn configure(&self, options: &[&str]) {
        let first = self.build.mtime("build.ninja").is_none();
        let mut command = match &self.meson {
            None => {
                let mut cmake = Command::new("cmake");
                cmake.args(["-G", "Ninja", "-S"]).arg(self.source.path()).arg("-B").arg(self.build.path());
                cmake.arg(format!("-DCMAKE_MAKE_PROGRAM={}", self.version.path().display()));
                cmake
            }
            Some(installed) => {
                let mut meson = Command::new(installed.path().join("bin/meson"));
                meson.arg("setup").args((!first).then_some("--reconfigure"));
                meson.arg(self.build.path()).arg(self.source.path());
                meson
            }
        };
        command.args(if first { self.options } else { options });
        must_run(command.env("NINJA", self.version.path()));
    }

    /// Runs ninja for real. Whether it succeeded, and what it printed.
    pub(crate) fn run_build(&self, options: &[&str]) -> (bool, String) {
        let mut command = Command::new(self.version.path());
        // Meson looks for ninja when ninja runs it again.
        command.current_dir(self.build.path()).args(options).env("NINJA", self.version.path());
        let output = command.output().expect("ninja starts");
        (output.status.success(), printed(&output))
    }

    #[track_caller]
    pub(crate) fn rebuild(&mut self, state: &str) {
        let (built, output) = self.run_build(&[]);
        assert!(built, "{}, {state}: the build failed\n{output}", self.name);
        self.fresh(&format!("{state}, built"));
    }

    /// Runs a build until so many commands have ended, then kills ninja and all that it runs.
    pub(crate) fn interrupt_build(&self, n_commands: usize) {
        // Ninja gives its commands process groups of their own. What they have in common is the session.
        let mut command = Command::new("setsid");
        command.arg(self.version.path()).current_dir(self.build.path()).env("NINJA", self.version.path());
        let mut ninja = command.stdout(Stdio::piped()).spawn().expect("setsid starts");
        let output = BufReader::new(ninja.stdout.take().expect("a pipe"));
        assert_eq!(output.lines().take(n_commands).count(), n_commands, "the build has so many commands");
        ninja.kill().expect("it runs");
        ninja.wait().expect("it ends");
        loop {
            let left = running_in_session(ninja.id());
            if left.is_empty() {
                return;
            }
            // Fails for those that have just ended.
            let _ = Command::new("sh").args(["-c", "kill -KILL \"$@\" 2>&-", "kill"]).args(left).status();
        }
    }

    pub(crate) fn tool(&self, name: &str) {
        let (done, output) = self.run_build(&["-t", name]);
        assert!(done, "{output}");
    }

    /// Every fifth target, as ninja lists them.
    pub(crate) fn some_targets(&self) -> Vec<String> {
        let question = Question::default();
        let (status, list, _) =
            run_ninja(&self.build.copy(), self.version, &question, &["-t", "targets", "all"]);
        assert_eq!(status, Some(0));
        let targets = list.lines().filter_map(|line| Some(line.rsplit_once(": ")?.0.to_owned()));
        targets.step_by(5).collect()
    }

    /// The command itself, as people run it. Exit status and output.
    pub(crate) fn upcheck(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = Command::new(upcheck())
            .arg("-C")
            .arg(self.build.path())
            .args(args)
            .env("UPCHECK_CACHE_DIR", self.build.images())
            .output()
            .expect("upcheck starts");
        (output.status.code(), printed(&output))
    }

    pub(crate) fn touch(&self, path: &str) {
        touch(&self.source, path);
    }

    pub(crate) fn lose(&self, path: &str) -> (Vec<u8>, i64) {
        let lost = (self.source.read(path), self.source.mtime(path).expect("a file to remove"));
        self.source.remove(path);
        lost
    }

    pub(crate) fn put_back(&self, path: &str, (content, mtime): &(Vec<u8>, i64)) {
        self.source.write_at(path, content, *mtime);
    }
}

/// Writes a file as it is. So the time is the kernel's, as it is for everything a build makes: an exact time
/// set here would be ahead of the kernel's clock by up to a tick, and of the start that ninja records next.
pub(crate) fn touch(space: &Space, path: &str) {
    assert!(space.mtime(path).is_some(), "{path} is there");
    space.write(path, space.read(path));
}

pub(crate) fn must_run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?} failed:\n{}", printed(&output));
}

pub(crate) fn printed(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// The numbers of the processes in a session that have not ended.
fn running_in_session(session: u32) -> Vec<String> {
    let session = session.to_string();
    let is_running = |process: &PathBuf| {
        // Number, name in parentheses, state, parent, group, session.
        let status = fs::read_to_string(process.join("stat")).unwrap_or_default();
        let fields: Vec<_> = status.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        fields.get(3) == Some(&session.as_str()) && fields[0] != "Z"
    };
    let processes = fs::read_dir("/proc").expect("Linux").flatten().map(|entry| entry.path());
    let names = processes.filter(is_running).filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).collect()
}

pub(crate) fn is_compilation(command: &str) -> bool {
    command.contains(" -c ")
}

pub(crate) fn nothing() -> Answer {
    Answer::Run(BTreeSet::new())
}

/// What only one of the two has.
fn difference(ours: &Answer, theirs: &Answer) -> String {
    let (Answer::Run(ours), Answer::Run(theirs)) = (ours, theirs) else {
        return format!("--- ninja\n{theirs:?}\n--- upcheck\n{ours:?}");
    };
    let (only_ours, only_theirs) = (ours - theirs, theirs - ours);
    format!(
        "--- only ninja: {only_theirs:#?}\n--- only upcheck: {only_ours:#?}\n--- both: {}",
        (ours & theirs).len()
    )
}
