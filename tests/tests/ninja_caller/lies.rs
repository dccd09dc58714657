//! Where a snapshot could make ninja wrong: each as a build of its own, put to both ninjas step by step. What both say,
//! and what both leave behind, has to be the same.

use crate::ninjas::twins;
use crate::versions;
use upcheck_tests::answer::Question;
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;
use upcheck_tests::twin::{Outcome, Twins};

/// Long before anything a build writes.
const OLD: i64 = 1_600_000_000_000_000_000;

/// A build directory that is put to both ninjas.
struct Place {
    version: Ninja,
    twins: Twins,
    space: Space,
}

impl Place {
    /// Both say the same and leave the same; what they say.
    fn both(&self, options: &[&str]) -> Outcome {
        self.about(&[], options)
    }

    fn about(&self, targets: &[&str], options: &[&str]) -> Outcome {
        self.twins.run(&self.space, &Question::about(targets), options)
    }

    /// Both succeed, and say this somewhere.
    fn says(&self, options: &[&str], expected: &str) {
        let (status, out, err) = self.both(options);
        let version = self.version.number();
        assert_eq!(status, Some(0), "ninja {version} {options:?}: {out}{err}");
        assert!(out.contains(expected), "ninja {version} {options:?}: no {expected:?} in {out}{err}");
    }

    /// Both fail, and say this somewhere.
    fn fails(&self, options: &[&str], expected: &str) {
        let (status, out, err) = self.both(options);
        let (version, all) = (self.version.number(), out + &err);
        assert!(status.is_some_and(|status| status != 0), "ninja {version} {options:?}: {status:?} {all}");
        assert!(all.contains(expected), "ninja {version} {options:?}: no {expected:?} in {all}");
    }

    fn fresh(&self) {
        self.says(&[], "no work to do");
    }
}

fn each(files: &[(&str, &str)], story: impl Fn(&Place)) {
    for &version in versions() {
        let space = Space::new();
        for (path, content) in files {
            space.write_at(path, content, OLD);
        }
        story(&Place { version, twins: twins(version), space });
    }
}

const RULES: &str = "\
rule cat
  command = cat $in > $out
rule sh
  command = sh $in
rule keep
  command = cmp -s $in $out || cat $in > $out
  restat = 1
rule gen
  command = sh configure
  generator = 1
";

fn manifest(text: &str) -> String {
    format!("{RULES}{text}")
}

#[test]
fn a_manifest_that_is_made_anew_is_judged_by_files_as_they_are_then() {
    let before = manifest("build build.ninja: gen configure\nbuild out: cat in\n");
    let after = before.clone() + "build out2: cat in2 | out\n";
    // What makes the manifest also changes a source, and makes one that was not there.
    let configure = "cp after.ninja build.ninja; echo new > in; echo new > in2\n";
    let files =
        [("build.ninja", &*before), ("after.ninja", &after), ("configure", configure), ("in", "old\n")];
    each(&files, |place| {
        place.space.set_mtime("configure", OLD - 1);
        place.says(&[], "cat in > out");
        place.fresh();
        place.space.set_mtime("configure", place.space.mtime("out").expect("built") + 1);
        place.says(&["-n"], "sh configure");
        place.space.set_mtime("configure", OLD + 1);
        place.says(&[], "cat in2 > out2");
        assert_eq!(place.space.read("out"), b"new\n");
        place.fresh();
    });
}

#[test]
fn what_is_run_for_a_manifest_that_stays_as_it_is_counts_afterwards() {
    // The check of the manifest runs commands, one of them changes a source, and the manifest is not made anew.
    let text = manifest(
        "rule keep-gen\n  command = true\n  restat = 1\n  generator = 1\nbuild build.ninja: keep-gen stamp\n\
         build stamp: sh look\nbuild out: cat in\n",
    );
    let files = [("build.ninja", &*text), ("look", "echo new > in; touch stamp\n"), ("in", "old\n")];
    each(&files, |place| {
        place.says(&["-v"], "cat in > out");
        assert_eq!(place.space.read("out"), b"new\n");
        place.fresh();
        place.space.remove("stamp");
        place.says(&["-v"], "cat in > out");
        place.fresh();
    });
}

#[test]
fn an_input_that_an_earlier_command_changes_is_asked_for_when_its_time_comes() {
    let text = manifest("build first: sh make\nbuild mid: keep side || first\nbuild last: cat mid\n");
    let files = [("build.ninja", &*text), ("make", "echo 1 > side; touch first\n"), ("side", "0\n")];
    each(&files, |place| {
        place.both(&["-v"]);
        place.both(&["-v"]);
        place.fresh();
        place.space.write_at(
            "make",
            "echo 2 > side; touch first\n",
            place.space.mtime("first").expect("built") + 1,
        );
        place.both(&["-v"]);
        place.both(&["-v"]);
        place.fresh();
        assert_eq!(place.space.read("last"), b"2\n");
    });
}

#[test]
fn outputs_that_a_restat_rule_leaves_alone_make_nothing_stale() {
    let text = manifest("build mid: keep in\nbuild out: cat mid\nbuild out2: cat out other\n");
    each(&[("build.ninja", &text), ("in", "a\n"), ("other", "")], |place| {
        place.says(&["-v"], "cat mid > out");
        place.space.set_mtime("in", place.space.mtime("out2").expect("built") + 1_000_000);
        place.says(&["-n", "-v"], "cat mid > out");
        let (_, said, _) = place.both(&["-v"]);
        assert!(!said.contains("cat mid > out"), "{said}");
        place.fresh();
        place.says(&["-n"], "no work to do");
        place.space.write("in", "b\n");
        place.says(&["-v"], "cat mid > out");
        place.fresh();
    });
}

#[test]
fn what_a_dyndep_file_adds_during_the_build_is_asked_from_the_disk() {
    let text = manifest(
        "build dd: cat dd.in\nrule dy\n  command = touch $out extra\n  restat = 1\nbuild out: dy in || dd\n  dyndep = dd\n\
         build made: cat hidden\nbuild user: cat extra2 || out\nbuild extra2: cat in\n",
    );
    let files = [
        ("build.ninja", &*text),
        ("dd.in", "ninja_dyndep_version = 1\nbuild out | extra: dyndep | made hidden2\n"),
        ("in", ""),
        ("hidden", ""),
        ("hidden2", ""),
    ];
    each(&files, |place| {
        place.says(&["-v"], "touch out extra");
        place.fresh();
        for name in ["hidden2", "hidden", "extra", "dd", "dd.in", "made"] {
            if place.space.mtime(name).expect(name) < OLD + 1_000_000_000 {
                place.space.set_mtime(name, place.space.mtime("out").expect("built") + 1_000_000);
            } else {
                place.space.remove(name);
            }
            place.both(&["-n", "-v"]);
            place.both(&["-v"]);
            place.both(&["-v"]);
            place.both(&["-n", "-v"]);
        }
    });
}

#[test]
fn directories_and_response_files_are_made_where_they_are_missing() {
    let text = manifest(
        "rule rsp\n  command = cat $out.rsp > $out\n  rspfile = $out.rsp\n  rspfile_content = $in\n\
         rule bad\n  command = cat $out.rsp; false\n  rspfile = $out.rsp\n  rspfile_content = $in\n\
         build deep/er/one: rsp in\nbuild deep/er/two: rsp in\nbuild deeper/three: bad in\n",
    );
    each(&[("build.ninja", &text), ("in", "")], |place| {
        place.both(&["-n", "-v"]);
        place.fails(&["-k0"], "FAILED");
        place.fails(&["-k0", "-d", "keeprsp"], "FAILED");
        std::fs::remove_dir_all(place.space.path().join("deep")).expect("removed");
        place.space.write("deep", "a file where a directory was");
        place.both(&["-k0"]);
        place.space.remove("deep");
        place.both(&["-k0"]);
    });
}

#[test]
fn tools_see_the_disk_as_it_is() {
    let text = manifest(
        "build a: cat in\nbuild b: cat a\nbuild dir/c: cat b\n\
         rule cc\n  command = printf '$out: h' > $out.d; cat $in > $out\n  depfile = $out.d\n  deps = gcc\nbuild o: cc in\n",
    );
    let less = manifest("build a: cat in\n");
    let tools: [&[&str]; 13] = [
        &["-t", "restat"],
        &["-t", "restat", "a"],
        &["-t", "recompact"],
        &["-t", "missingdeps"],
        &["-t", "deps"],
        &["-t", "query", "a"],
        &["-t", "targets", "all"],
        &["-t", "inputs", "dir/c"],
        &["-t", "commands"],
        &["-t", "clean", "b"],
        &["-t", "clean", "-r", "cat"],
        &["-t", "cleandead"],
        &["-t", "clean"],
    ];
    each(&[("build.ninja", &text), ("in", ""), ("h", "")], |place| {
        for tool in tools {
            place.both(&[]);
            place.both(tool);
            place.both(&["-n", "-v"]);
            place.space.set_mtime("a", OLD + 5);
            place.space.remove("b");
            place.both(tool);
            place.both(&["-n", "-v"]);
        }
        place.both(&[]);
        place.space.write("build.ninja", &less);
        place.both(&["-t", "recompact"]);
        place.both(&["-t", "cleandead"]);
        place.fresh();
    });
}

#[test]
fn files_that_only_the_deps_log_or_a_depfile_knows_are_judged_the_same() {
    let rules = "rule log\n  command = printf '$out: h/log.h h/both.h h/gone.h' > $out.d; cat $in > $out\n  depfile = $out.d\n  deps = gcc\n\
                 rule file\n  command = printf '$out: h/file.h h/both.h h/gone2.h' > $out.d; cat $in > $out\n  depfile = $out.d\n";
    let text = format!("{rules}build o1: log in\nbuild o2: file in\nbuild o3: log in | o1\n");
    let headers = ["h/log.h", "h/both.h", "h/gone.h", "h/file.h", "h/gone2.h"];
    let files: Vec<_> =
        [("build.ninja", &*text), ("in", "")].into_iter().chain(headers.map(|h| (h, ""))).collect();
    each(&files, |place| {
        place.says(&[], "3/3");
        place.fresh();
        for header in headers {
            place.space.set_mtime(header, place.space.mtime("o3").expect("built") + 1_000_000);
            place.both(&["-n", "-v"]);
            place.about(&["o1"], &["-v"]);
            place.both(&["-v"]);
            place.fresh();
            place.space.remove(header);
            place.both(&["-n", "-v"]);
            place.both(&["-v"]);
            place.both(&["-v"]);
            place.space.write_at(header, "", OLD);
            place.both(&["-v"]);
        }
        std::fs::rename(place.space.path().join("h"), place.space.path().join("moved")).expect("moved");
        place.both(&["-n", "-v"]);
        std::os::unix::fs::symlink("moved", place.space.path().join("h")).expect("a link");
        place.both(&["-n", "-v"]);
        place.space.remove("h");
        place.space.write("h", "a file");
        place.both(&["-n", "-v"]);
    });
}

#[test]
fn files_that_cannot_be_asked_for_are_an_error_in_ninjas_words() {
    let long = "x".repeat(300);
    let text = manifest(&format!(
        "build out: cat in\nbuild loops: cat loop\nbuild long: cat {long}\nbuild shut: cat dir/in\n"
    ));
    each(&[("build.ninja", &text), ("in", ""), ("dir/in", "")], |place| {
        std::os::unix::fs::symlink("loop", place.space.path().join("loop")).expect("a link");
        place.fails(&["out", "loops"], "stat(loop): Too many levels of symbolic links");
        place.fails(&["out", "long"], "File name too long");
        place.fails(&[], "stat(");
        place.says(&["out"], "cat in");
        // Whoever may do everything may do this too; both say the same in any case.
        let shut = std::os::unix::fs::PermissionsExt::from_mode;
        let directory = place.space.path().join("dir");
        std::fs::set_permissions(&directory, shut(0o000)).expect("permissions");
        let twin_copies_need_permission = std::fs::read_dir(&directory).is_err();
        if !twin_copies_need_permission {
            place.both(&["shut"]);
        }
        std::fs::set_permissions(&directory, shut(0o755)).expect("permissions");
    });
}

#[test]
fn odd_times_are_times() {
    let text = manifest("build out: cat in\nbuild out2: cat out\n");
    each(&[("build.ninja", &text), ("in", "")], |place| {
        place.both(&[]);
        for (input, output) in [
            (0, 0),
            (0, 1),
            (1, 0),
            (999_999_999, 1),
            (1_000_000_000, 999_999_999),
            (-1, -1),
            (-1, 5),
            (5, -1),
            (-2, -3),
            (OLD, -1_000_000_000),
            (i64::from(i32::MAX) * 4_000_000_000, 0),
        ] {
            place.space.set_mtime("in", input);
            place.space.set_mtime("out", output);
            place.both(&["-n", "-v"]);
            place.both(&["-v"]);
        }
    });
}

#[test]
fn an_interrupted_build_removes_what_it_was_making() {
    let text = manifest(
        "rule half\n  command = echo half > $out; kill -INT $$PPID; while :; do :; done\nbuild out: half in\nbuild kept: cat in\n\
         rule untouched\n  command = kill -INT $$PPID; while :; do :; done\nbuild old: untouched in\n",
    );
    each(&[("build.ninja", &text), ("in", ""), ("old", "")], |place| {
        place.fails(&["out"], "interrupted by user");
        assert_eq!(place.space.mtime("out"), None);
        place.space.write_at("out", "as it was", OLD);
        place.space.set_mtime("in", OLD + 1);
        place.fails(&["kept", "out"], "interrupted by user");
        place.fails(&["old"], "interrupted by user");
        assert_eq!(place.space.mtime("old"), Some(OLD));
    });
}

#[test]
fn a_build_goes_on_where_the_last_one_failed() {
    let text = manifest("build a: cat in\nbuild b: sh fails | a\nbuild c: cat a\nbuild d: cat b c\n");
    each(&[("build.ninja", &text), ("in", ""), ("fails", "echo half > b; exit 3\n")], |place| {
        place.fails(&["-k0", "-v"], "FAILED");
        place.both(&["-n", "-v"]);
        place.fails(&["-v"], "FAILED");
        place.space.write("fails", "touch b\n");
        place.both(&["-v"]);
        place.fresh();
    });
}

#[test]
fn other_directories_and_other_manifests_are_no_matter() {
    let text = manifest("builddir = logs\nbuild out: cat in ../up ./here\nbuild sub/out: cat sub/../in\n");
    let files =
        [("sub/build.ninja", &*text), ("sub/in", ""), ("up", ""), ("sub/here", ""), ("in", "another\n")];
    each(&files, |place| {
        let run = |options: &[&str]| place.both(&[&["-C", "sub"], options].concat());
        run(&["-n", "-v"]);
        run(&["-v"]);
        assert!(run(&[]).1.contains("no work to do"));
        place.space.set_mtime("up", place.space.mtime("sub/out").expect("built") + 1_000_000);
        run(&["-n", "-v"]);
        run(&["-d", "nostatcache"]);
        assert!(run(&[]).1.contains("no work to do"));
    });
}

/// So many files that several threads look at them, in directories of all sizes, some of them not there.
#[test]
fn many_files_are_judged_the_same() {
    let mut text = manifest("");
    let mut files = Vec::new();
    for n in 0..1500_usize {
        let (a, b) = (n % 7, n % 90);
        text += &format!(
            "build o/{a}/{n}.o: cat s/{b}/{n}.c | h/{a}.h h/{b}/all.h\nbuild p{b}/{n}: phony o/{a}/{n}.o\n"
        );
        files.push((format!("s/{b}/{n}.c"), 0));
        files.push((format!("h/{b}/all.h"), 0));
        if n % 10 != 3 {
            files.push((format!("o/{a}/{n}.o"), i64::from(n % 11 != 5) * 2));
        }
    }
    files.extend((0..7).map(|a| (format!("h/{a}.h"), i64::from(a == 4) * 3)));
    each(&[("build.ninja", &text)], |place| {
        for (path, later) in &files {
            place.space.write_at(path, "", OLD + later);
        }
        place.both(&["-n", "-v"]);
        place.about(&["p3/3", "p7/7", "o/0/7.o"], &["-n", "-v"]);
        place.space.remove("s/5/5.c");
        place.fails(&["-n", "-k0"], "missing and no known rule to make it");
        std::fs::remove_dir_all(place.space.path().join("o/3")).expect("removed");
        place.space.write("s/5/5.c", "");
        place.both(&["-n", "-v"]);
    });
}
