//! Real C and C++ projects from Debian's source packages, configured by CMake or Meson and built by the real
//! ninja, then edited as people edit them. After each edit ninja and upcheck must name the same commands.
//!
//! Long: `cargo test -p upcheck-tests --test real_projects -- --ignored --nocapture`. Needs cmake, a C and a C++
//! compiler, perl, and python3 with pip. `UPCHECK_ALL_NINJAS=1` adds ninja 1.12.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use upcheck_tests::answer::{Answer, Question, agree, exact, look_past, ninja, run_ninja, says_the_same};
use upcheck_tests::space::Space;
use upcheck_tests::tools::{Ninja, run_tool, upcheck};

/// Before anything in a build directory.
const OLD: i64 = 1_000_000_000_000_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum System {
    CMake,
    Meson,
}

/// What is built, and what is edited in it. Paths are relative to the source tree or to the build directory.
struct Project {
    /// Debian's source package.
    name: &'static str,
    system: System,
    options: &'static [&'static str],
    /// A header that only the deps log knows, of how many objects at least, and what those are linked into.
    header: &'static str,
    header_users: usize,
    header_library: &'static str,
    /// What a header that the build generates is made from, and that header.
    generated: Option<(&'static str, &'static str)>,
    /// A source file and what it is compiled to.
    source: &'static str,
    object: &'static str,
    /// What the object is linked into.
    library: &'static str,
    /// The build system's file that lists the sources of that.
    list: &'static str,
    /// Replaces text in the list by other text that begins with it (nothing: at the end), to change some flags.
    flags: (&'static str, &'static str),
    /// The same, to add a source file of this name to the library.
    new_source: &'static str,
    new_source_entry: (&'static str, &'static str),
    /// An option that changes the flags of every object, and the one that takes it back.
    all_flags: (&'static str, &'static str),
    /// A target that is never there.
    always_stale: &'static str,
}

const LIBICAL: Project = Project {
    name: "libical3",
    system: System::CMake,
    options: &[
        "-DICAL_GLIB=OFF",
        "-DGOBJECT_INTROSPECTION=OFF",
        "-DICAL_BUILD_DOCS=OFF",
        "-DLIBICAL_BUILD_TESTING=OFF",
        "-DCMAKE_DISABLE_FIND_PACKAGE_ICU=ON",
    ],
    header: "src/libical/icptrholder_cxx.h",
    header_users: 5,
    header_library: "lib/libical_cxx.so",
    generated: Some(("design-data/value-types.csv", "src/libical/icalderivedvalue.h")),
    source: "src/libical/icaltime.c",
    object: "src/libical/CMakeFiles/ical.dir/icaltime.c.o",
    library: "lib/libical.so",
    list: "src/libical/CMakeLists.txt",
    flags: (
        "",
        "set_source_files_properties(icaltime.c icaltimezone.c PROPERTIES COMPILE_DEFINITIONS UPCHECK_PROBE)\n",
    ),
    new_source: "src/libical/upcheck_probe.c",
    new_source_entry: ("", "target_sources(ical PRIVATE upcheck_probe.c)\n"),
    all_flags: ("-DCMAKE_C_FLAGS=-DUPCHECK_PROBE", "-DCMAKE_C_FLAGS="),
    always_stale: "install",
};

const MBEDTLS: Project = Project {
    name: "mbedtls",
    system: System::CMake,
    options: &["-DENABLE_TESTING=OFF", "-DENABLE_PROGRAMS=OFF", "-DUSE_SHARED_MBEDTLS_LIBRARY=ON"],
    header: "include/mbedtls/aes.h",
    header_users: 15,
    header_library: "library/libmbedcrypto.so",
    generated: None,
    source: "library/aes.c",
    object: "library/CMakeFiles/mbedcrypto.dir/aes.c.o",
    library: "library/libmbedcrypto.so",
    list: "library/CMakeLists.txt",
    flags: ("", "set_source_files_properties(aes.c PROPERTIES COMPILE_DEFINITIONS UPCHECK_PROBE)\n"),
    new_source: "library/upcheck_probe.c",
    new_source_entry: ("", "target_sources(mbedcrypto PRIVATE upcheck_probe.c)\n"),
    all_flags: ("-DUNSAFE_BUILD=ON", "-DUNSAFE_BUILD=OFF"),
    always_stale: "install",
};

const TAGLIB: Project = Project {
    name: "taglib",
    system: System::CMake,
    options: &["-DBUILD_SHARED_LIBS=ON", "-DBUILD_TESTING=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON"],
    header: "taglib/flac/flacmetadatablock.h",
    header_users: 10,
    header_library: "taglib/libtag.so",
    generated: None,
    source: "taglib/flac/flacpicture.cpp",
    object: "taglib/CMakeFiles/tag.dir/flac/flacpicture.cpp.o",
    library: "taglib/libtag.so",
    list: "taglib/CMakeLists.txt",
    flags: (
        "",
        "set_source_files_properties(flac/flacpicture.cpp PROPERTIES COMPILE_DEFINITIONS UPCHECK_PROBE)\n",
    ),
    new_source: "taglib/upcheck_probe.cpp",
    new_source_entry: ("", "target_sources(tag PRIVATE upcheck_probe.cpp)\n"),
    all_flags: ("-DCMAKE_CXX_FLAGS=-DUPCHECK_PROBE", "-DCMAKE_CXX_FLAGS="),
    always_stale: "install",
};

/// Builds programs that generate its tables; Meson marks what they make, and symbol lists, with restat.
const FRIBIDI: Project = Project {
    name: "fribidi",
    system: System::Meson,
    options: &["-Ddocs=false"],
    header: "lib/fribidi-joining.h",
    header_users: 10,
    header_library: "lib/libfribidi.so.0.4.0",
    generated: Some(("gen.tab/unidata/BidiMirroring.txt", "gen.tab/fribidi-unicode-version.h")),
    source: "lib/fribidi-shape.c",
    object: "lib/libfribidi.so.0.4.0.p/fribidi-shape.c.o",
    library: "lib/libfribidi.so.0.4.0",
    list: "lib/meson.build",
    flags: ("c_args: ['-DHAVE_CONFIG_H'", "c_args: ['-DHAVE_CONFIG_H', '-DUPCHECK_PROBE'"),
    new_source: "lib/upcheck_probe.c",
    new_source_entry: ("  'fribidi.c',\n", "  'fribidi.c',\n  'upcheck_probe.c',\n"),
    all_flags: ("-Dc_args=-DUPCHECK_PROBE", "-Dc_args="),
    always_stale: "test",
};

#[test]
#[ignore = "long: builds a real project with each ninja"]
fn libical_and_its_generated_headers() {
    let all = std::env::var_os("UPCHECK_ALL_NINJAS").is_some();
    for &version in if all { &Ninja::ALL[..] } else { &Ninja::USUAL[..] } {
        live_through(&LIBICAL, version);
    }
}

#[test]
#[ignore = "long: builds a real project"]
fn mbedtls_in_static_and_shared_libraries() {
    live_through(&MBEDTLS, Ninja::V1_13);
}

#[test]
#[ignore = "long: builds a real project"]
fn taglib_in_cpp() {
    live_through(&TAGLIB, Ninja::V1_13);
}

#[test]
#[ignore = "long: builds a real project"]
fn fribidi_with_meson_and_its_own_generators() {
    live_through(&FRIBIDI, Ninja::V1_13);
}

/// The life of a build directory: the first build, one edit after another, and the end.
fn live_through(project: &'static Project, version: Ninja) {
    let mut work = Work::new(project, version);
    work.first_build();
    work.edit_headers();
    work.edit_outputs();
    work.lose_inputs();
    work.fail();
    work.damage_logs();
    work.reconfigure();
    work.end();
    report(&work);
}

#[expect(clippy::print_stdout, reason = "the figure that --nocapture is for")]
fn report(work: &Work) {
    println!(
        "{}, ninja {}: {} answers, all equal to ninja's",
        work.project.name,
        work.version.number(),
        work.n_agreed
    );
}

struct Work {
    project: &'static Project,
    version: Ninja,
    source: Space,
    build: Space,
    meson: Option<Space>,
    /// How many answers of upcheck were compared with ninja's.
    n_agreed: usize,
}

// ---- the edits --------------------------------------------------------------------------------------

impl Work {
    fn first_build(&mut self) {
        self.stale("never built");
        self.interrupt_build(20);
        self.stale("first build interrupted");
        self.rebuild("first build");
        for args in [&["check"][..], &["check", "--exact"]] {
            let (status, output) = self.upcheck(args);
            assert_eq!(status, Some(0), "{output}");
        }
        let always = [self.project.always_stale];
        assert_ne!(self.agreed("never there", &always), nothing(), "{always:?}");
    }

    fn edit_headers(&mut self) {
        let Project { header, header_users, header_library, generated, .. } = *self.project;
        self.touch(header);
        let objects = self.stale("header touched").iter().filter(|command| is_compilation(command)).count();
        assert!(objects >= header_users, "{header} is used by {objects} objects, not {header_users}");
        let (status, output) = self.upcheck(&["why", header_library]);
        assert_eq!(status, Some(1), "{output}");
        assert!(output.contains(header), "{header} is the cause:\n{output}");
        for target in self.some_targets() {
            self.agreed("header touched", &[&target]);
        }
        self.interrupt_build(2);
        self.stale("rebuild interrupted");
        self.rebuild("header touched");

        if let Some((input, output)) = generated {
            self.touch(input);
            self.stale("input of a generated header touched");
            self.rebuild("input of a generated header touched");
            self.build.remove(output);
            self.stale("generated header deleted");
            self.rebuild("generated header deleted");
        }
    }

    fn edit_outputs(&mut self) {
        let Project { object, library, .. } = *self.project;
        self.build.remove(object);
        self.stale("object deleted");
        self.rebuild("object deleted");

        // Ninja does not look whether outputs are as it left them, but its deps log does.
        touch(&self.build, object);
        self.stale("object touched");
        self.rebuild("object touched");

        self.build.set_mtime(object, OLD);
        self.stale("object aged");
        self.rebuild("object aged");

        touch(&self.build, library);
        self.agreed("library touched", &[]);
        self.rebuild("library touched");
        self.build.set_mtime(library, OLD);
        self.stale("library aged");
        self.rebuild("library aged");
    }

    /// Takes a header and a source file away, and puts them back as they were.
    fn lose_inputs(&mut self) {
        let Project { header, source, .. } = *self.project;
        let lost = self.lose(header);
        self.stale("header removed");
        self.put_back(header, &lost);
        self.fresh("header put back");

        self.touch(source);
        let touched = self.agreed("source touched", &[]);
        let lost = self.lose(source);
        self.agreed("source removed", &[]);
        // Where ninja has only an error, upcheck still says what the source would be needed for.
        assert_eq!(look_past(&self.build, self.version, &Question::default()), touched);
        self.put_back(source, &lost);
        self.rebuild("source put back");
    }

    fn fail(&mut self) {
        let Project { header, source, .. } = *self.project;
        let good = self.source.read(source);
        self.source.write(source, [&good[..], b"\n#error no good\n"].concat());
        self.touch(header);
        let (built, _) = self.run_build(&["-k", "0"]);
        assert!(!built, "{source} is an error");
        self.stale("build failed in part");
        self.source.write(source, good);
        self.stale("error corrected");
        self.rebuild("error corrected");
    }

    fn damage_logs(&mut self) {
        for log in [".ninja_deps", ".ninja_log"] {
            let whole = self.build.read(log);
            self.build.remove(log);
            self.stale(&format!("{log} deleted"));
            // In the middle of a line or record. To half a line ninja appends the next, and so loses both.
            self.build.write(log, &whole[..whole.len() * 3 / 5 + 1]);
            self.stale(&format!("{log} cut off"));
            let (built, output) = self.run_build(&[]);
            assert!(built, "{output}");
            self.agreed(&format!("{log} cut off, built once"), &[]);
            self.rebuild(&format!("{log} cut off"));
        }
        self.tool("recompact");
        self.fresh("logs recompacted");
    }

    fn reconfigure(&mut self) {
        let Project { header, list, flags, new_source, new_source_entry, all_flags, .. } = *self.project;
        self.edit_list(flags);
        self.stale_manifest("flags edited");
        self.touch(header);
        self.stale_manifest("flags edited, header touched");
        self.configure(&[]);
        self.stale("flags edited, header touched, configured");
        self.rebuild("flags edited");

        // Ninja configures by itself.
        self.touch(list);
        self.stale_manifest("list touched");
        self.rebuild("list touched");

        let before = self.source.read(list);
        self.source.write(new_source, "int upcheck_probe(void);\nint upcheck_probe(void) { return 1; }\n");
        self.edit_list(new_source_entry);
        self.stale_manifest("source added");
        self.configure(&[]);
        self.stale("source added, configured");
        self.rebuild("source added");

        self.source.write(list, before);
        self.stale_manifest("source taken out");
        self.configure(&[]);
        self.source.remove(new_source);
        self.stale("source taken out, configured");
        self.rebuild("source taken out");

        let (on, off) = all_flags;
        self.configure(&[on]);
        self.stale("all flags changed");
        self.configure(&[off]);
        // Not fresh with Meson: it has ninja record the outputs' own times, and those that restat kept are old.
        let Answer::Run(commands) = self.agreed("all flags as before", &[]) else {
            panic!("no error is expected")
        };
        assert!(!commands.iter().any(|command| is_compilation(command)), "{commands:?}");
        self.rebuild("all flags as before");
        if self.project.system == System::CMake {
            self.watch_globs();
        }
    }

    /// From now on every build begins with a command that looks for new files, and may rewrite the manifest:
    /// for a dry run the manifest is always stale.
    fn watch_globs(&mut self) {
        let Project { header, list, .. } = *self.project;
        let before = self.source.read(list);
        self.edit_list(("", "file(GLOB probe CONFIGURE_DEPENDS *.c *.cpp)\n"));
        for state in ["glob added", "glob added, built"] {
            self.stale_manifest(state);
            let (built, output) = self.run_build(&[]);
            assert!(built, "{output}");
        }
        self.touch(header);
        self.stale_manifest("glob added, header touched");
        self.source.write(list, before);
        self.rebuild("glob taken out");
    }

    fn end(&mut self) {
        self.tool("clean");
        self.stale("cleaned");
    }

    // ---- comparisons --------------------------------------------------------------------------------

    /// What upcheck says, in its exact and in its useful mode, without having touched anything.
    fn ask(&self, question: &Question) -> (Answer, Answer) {
        let before = self.build.entries();
        let exact = exact(&self.build, self.version, question);
        let useful = look_past(&self.build, self.version, question);
        assert!(self.build.entries() == before, "{}: upcheck touched the build directory", self.project.name);
        (exact, useful)
    }

    #[track_caller]
    fn assert_agree(&mut self, state: &str, ours: &Answer, theirs: &Answer) {
        let same_error = match (ours, theirs) {
            (Answer::Error(ours), Answer::Error(theirs)) => says_the_same(ours, theirs),
            _ => true,
        };
        assert!(
            agree(ours, theirs) && same_error,
            "{}, {state}, ninja {}:\n{}",
            self.project.name,
            self.version.number(),
            difference(ours, theirs)
        );
        self.n_agreed += 1;
    }

    /// What ninja says, and upcheck too. Where ninja only has an error, the useful mode may know more.
    #[track_caller]
    fn agreed(&mut self, state: &str, targets: &[&str]) -> Answer {
        let question = Question::about(targets);
        let (exact, useful) = self.ask(&question);
        let theirs = ninja(&self.build, self.version, &question);
        self.assert_agree(&format!("{state}, exact {targets:?}"), &exact, &theirs);
        if matches!(theirs, Answer::Run(_)) {
            self.assert_agree(&format!("{state} {targets:?}"), &useful, &theirs);
        }
        theirs
    }

    #[track_caller]
    fn fresh(&mut self, state: &str) {
        let answer = self.agreed(state, &[]);
        assert!(answer == nothing(), "{}, {state}: not fresh\n{answer:?}", self.project.name);
    }

    /// The commands to be run, of which there are some.
    #[track_caller]
    fn stale(&mut self, state: &str) -> BTreeSet<String> {
        match self.agreed(state, &[]) {
            Answer::Run(commands) if !commands.is_empty() => commands,
            answer => panic!("{}, {state}: {answer:?}", self.project.name),
        }
    }

    /// The manifest is stale: there ninja stops, and so does the exact mode. The useful one names beside it
    /// what ninja would run if it did not stop.
    #[track_caller]
    fn stale_manifest(&mut self, state: &str) {
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

    fn new(project: &'static Project, version: Ninja) -> Self {
        let (source, build) = (Space::new(), Space::new());
        let pristine = run_tool("get-source", project.name);
        must_run(Command::new("cp").arg("-a").arg(pristine.join(".")).arg(source.path()));
        let meson = (project.system == System::Meson).then(install_meson);
        let work = Self { project, version, source, build, meson, n_agreed: 0 };
        work.configure(&[]);
        work
    }

    /// For the first time or again. An option holds until another one takes it back.
    fn configure(&self, options: &[&str]) {
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
        command.args(if first { self.project.options } else { options });
        must_run(command.env("NINJA", self.version.path()));
    }

    /// Runs ninja for real. Whether it succeeded, and what it printed.
    fn run_build(&self, options: &[&str]) -> (bool, String) {
        let mut command = Command::new(self.version.path());
        // Meson looks for ninja when ninja runs it again.
        command.current_dir(self.build.path()).args(options).env("NINJA", self.version.path());
        let output = command.output().expect("ninja starts");
        (output.status.success(), printed(&output))
    }

    #[track_caller]
    fn rebuild(&mut self, state: &str) {
        let (built, output) = self.run_build(&[]);
        assert!(built, "{}, {state}: the build failed\n{output}", self.project.name);
        self.fresh(&format!("{state}, built"));
    }

    /// Runs a build until so many commands have ended, then kills ninja and all that it runs.
    fn interrupt_build(&self, n_commands: usize) {
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

    fn tool(&self, name: &str) {
        let (done, output) = self.run_build(&["-t", name]);
        assert!(done, "{output}");
    }

    /// Every fifth target, as ninja lists them.
    fn some_targets(&self) -> Vec<String> {
        let question = Question::default();
        let (status, list, _) =
            run_ninja(&self.build.copy(), self.version, &question, &["-t", "targets", "all"]);
        assert_eq!(status, Some(0));
        let targets = list.lines().filter_map(|line| Some(line.rsplit_once(": ")?.0.to_owned()));
        targets.step_by(5).collect()
    }

    /// The command itself, as people run it. Exit status and output.
    fn upcheck(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = Command::new(upcheck())
            .arg("-C")
            .arg(self.build.path())
            .args(args)
            .output()
            .expect("upcheck starts");
        (output.status.code(), printed(&output))
    }

    fn touch(&self, path: &str) {
        touch(&self.source, path);
    }

    fn lose(&self, path: &str) -> (Vec<u8>, i64) {
        let lost = (self.source.read(path), self.source.mtime(path).expect("a file to remove"));
        self.source.remove(path);
        lost
    }

    fn put_back(&self, path: &str, (content, mtime): &(Vec<u8>, i64)) {
        self.source.write_at(path, content, *mtime);
    }

    fn edit_list(&self, (from, to): (&str, &str)) {
        let list = self.project.list;
        let before = String::from_utf8(self.source.read(list)).expect("text");
        let after = if from.is_empty() { before.clone() + to } else { before.replacen(from, to, 1) };
        assert_ne!(before, after, "{list} has {from:?}");
        self.source.write(list, after);
    }
}

/// Writes a file as it is. So the time is the kernel's, as it is for everything a build makes: an exact time
/// set here would be ahead of the kernel's clock by up to a tick, and of the start that ninja records next.
fn touch(space: &Space, path: &str) {
    assert!(space.mtime(path).is_some(), "{path} is there");
    space.write(path, space.read(path));
}

/// From PyPI, for this test alone.
fn install_meson() -> Space {
    let space = Space::new();
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--target"]).arg(space.path()).arg("meson==1.*");
    must_run(&mut pip);
    // Python looks for modules beside the script, pip puts them a folder up.
    std::os::unix::fs::symlink("../mesonbuild", space.path().join("bin/mesonbuild")).expect("a link");
    space
}

fn must_run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?} failed:\n{}", printed(&output));
}

fn printed(output: &std::process::Output) -> String {
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

fn is_compilation(command: &str) -> bool {
    command.contains(" -c ")
}

fn nothing() -> Answer {
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
