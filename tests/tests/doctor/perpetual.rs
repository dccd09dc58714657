//! What stays stale whatever is built, with the real ninja.

use crate::command::spaces::{SECOND, T, manifest};
use crate::command::upcheck_in;
use crate::{Diagnosis, examine, number, text};
use serde_json::Value;
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

const FUTURE: i64 = 7_258_118_400 * SECOND;

/// Examines a build around a run of ninja.
#[track_caller]
fn around(space: &Space, version: Ninja, targets: &[&str]) -> Diagnosis {
    let ninja = version.path().to_str().expect("text");
    examine(space.path(), ["--", ninja].iter().chain(targets))
}

/// The only perpetually stale targets are those, for one reason; the finding.
#[track_caller]
fn stays(diagnosis: &Diagnosis, reason: &str, targets: &[&str]) -> Value {
    let finding = diagnosis.finding("perpetually-stale");
    assert_eq!(finding["evidence"]["reason"], reason, "{finding:#}");
    let listed = finding["targets"].as_array().expect("a list");
    let names: Vec<_> = listed.iter().map(|target| text(&target["target"])).collect();
    assert_eq!((names.as_slice(), number(&finding["evidence"]["targets"])), (targets, targets.len() as i64));
    assert_eq!(diagnosis.status, 1);
    finding.clone()
}

fn with_source(text: &str) -> Space {
    let space = manifest(text);
    space.write_at("in", "in\n", T);
    space
}

#[test]
fn after_a_build_that_makes_everything_there_is_nothing_to_worry_about() {
    for &version in Ninja::USUAL {
        let space = with_source("rule cat\n  command = cat $in > $out\nbuild a: cat in\nbuild b: cat a\n");
        let diagnosis = around(&space, version, &[]);
        assert_eq!((diagnosis.status, diagnosis.remarks()), (0, vec!["command", "build"]));
        assert_eq!(diagnosis.evidence("command", "exit_status"), 0);
        assert_eq!(diagnosis.evidence("command", "stale_before"), 2);
        assert_eq!(diagnosis.evidence("build", "stale"), 0);
        // What the command prints does not get between what a program reads.
        assert!(diagnosis.stderr.contains("[2/2] cat a > b"), "{}", diagnosis.stderr);
    }
}

#[test]
fn users_of_a_phony_without_inputs_and_without_a_file_stay_stale_and_so_does_what_needs_them() {
    for &version in Ninja::USUAL {
        let space = with_source(
            "rule cat\n  command = cat in > $out\nbuild always: phony\nbuild a: cat in | always\nbuild b: cat a\n",
        );
        for _ in 0..2 {
            let diagnosis = around(&space, version, &[]);
            let finding = stays(&diagnosis, "phony-missing", &["a"]);
            assert_eq!(diagnosis.warnings(), ["perpetually-stale"]);
            assert_eq!(diagnosis.evidence("build", "stale"), 2);
            assert_eq!(finding["targets"][0]["reasons"][0]["path"], "always");
            assert!(
                text(&finding["message"])
                    .starts_with("a is stale right after it was made: always is a phony")
            );
            assert!(text(&finding["advice"]).contains("without inputs"));
        }
    }
}

#[test]
fn an_output_that_the_command_does_not_make_stays_missing() {
    for &version in Ninja::USUAL {
        let space =
            with_source("rule cat\n  command = cat $in > a\nbuild a never: cat in\nbuild b: cat in\n");
        let diagnosis = around(&space, version, &[]);
        let finding = stays(&diagnosis, "output-missing", &["a", "b"]);
        assert_eq!(finding["targets"][0]["reasons"][0]["path"], "never");
        assert!(text(&finding["advice"]).contains("without writing this output"));
    }
}

#[test]
fn an_output_that_is_left_as_it_is_needs_restat() {
    for &version in Ninja::USUAL {
        for restat in [false, true] {
            let restat_line = if restat { "  restat = 1\n" } else { "" };
            let space = with_source(&format!(
                "rule once\n  command = test -e $out || cat $in > $out\n{restat_line}build a: once in\n"
            ));
            space.write_at("a", "a", T - SECOND);
            let diagnosis = around(&space, version, &[]);
            if restat {
                assert_eq!(diagnosis.warnings(), [""; 0], "{:#}", diagnosis.document);
            } else {
                let finding = stays(&diagnosis, "input-newer", &["a"]);
                assert!(text(&finding["advice"]).contains("restat = 1"), "{finding:#}");
                assert_eq!(finding["targets"][0]["reasons"][0]["mtime_ns"], T);
            }
        }
    }
}

#[test]
fn what_is_made_from_a_source_from_the_future_stays_stale_for_its_stamp() {
    for &version in Ninja::USUAL {
        let space = with_source("rule cat\n  command = cat $in > $out\nbuild a: cat in\n");
        space.set_mtime("in", FUTURE);
        let diagnosis = around(&space, version, &[]);
        let finding = stays(&diagnosis, "input-newer", &["a"]);
        assert!(text(&finding["advice"]).contains("in the future"), "{finding:#}");
        assert_eq!(diagnosis.warnings(), ["perpetually-stale", "future-stamps"]);
    }
}

#[test]
fn a_depfile_that_the_command_does_not_write_leaves_its_target_stale() {
    for &version in Ninja::USUAL {
        let space =
            with_source("rule cat\n  command = cat $in > $out\n  depfile = $out.d\nbuild a: cat in\n");
        let diagnosis = around(&space, version, &[]);
        let finding = stays(&diagnosis, "deps-unknown", &["a"]);
        assert_eq!(finding["targets"][0]["reasons"][0]["why"], "no-depfile");
        assert!(text(&finding["advice"]).contains("-MD"));
    }
}

#[test]
fn a_wrong_name_in_a_depfile_leaves_its_target_stale() {
    for &version in Ninja::USUAL {
        for deps in ["", "  deps = gcc\n"] {
            let space = with_source(&format!(
                "rule cat\n  command = cat $in > $out && echo $out: in no/such.h > $out.d\n  depfile = $out.d\n{deps}\
                 build a: cat in\n"
            ));
            let diagnosis = around(&space, version, &[]);
            let finding = stays(&diagnosis, "input-missing", &["a"]);
            assert_eq!(finding["targets"][0]["reasons"][0]["path"], "no/such.h");
            assert!(
                text(&finding["advice"]).contains("the command's depfile names an input that is not there")
            );
            // The next diagnosis, without a build, names the same file.
            let without = examine(space.path(), [""; 0]);
            assert_eq!(without.finding("phantom-inputs")["files"][0]["path"], "no/such.h");
        }
    }
}

#[test]
fn a_depfile_about_another_output_leaves_its_target_stale() {
    let space = with_source(
        "rule cat\n  command = cat $in > $out && echo other: in > $out.d\n  depfile = $out.d\nbuild a: cat in\n",
    );
    let finding = stays(&around(&space, Ninja::V1_13, &[]), "deps-unknown", &["a"]);
    assert!(text(&finding["advice"]).contains("-MT"), "{finding:#}");
}

#[test]
fn each_kind_is_a_finding_of_its_own() {
    let space = with_source(
        "rule cat\n  command = cat in > $out\nrule nothing\n  command = true\nbuild always: phony\n\
         build a: cat in | always\nbuild b: nothing in\nbuild c: nothing in\nbuild d: cat in | always\n",
    );
    let diagnosis = around(&space, Ninja::V1_13, &[]);
    assert_eq!(diagnosis.warnings(), ["perpetually-stale", "perpetually-stale"]);
    let kinds: Vec<_> = diagnosis.findings().iter().filter(|it| it["code"] == "perpetually-stale").collect();
    let of = |kind: &Value| {
        let targets = kind["targets"].as_array().expect("a list").iter();
        let names: Vec<_> = targets.map(|target| text(&target["target"]).to_owned()).collect();
        format!("{}: {}", text(&kind["evidence"]["reason"]), names.join(" "))
    };
    assert_eq!([of(kinds[0]), of(kinds[1])], ["output-missing: b c", "phony-missing: a d"]);
}

#[test]
fn what_the_command_did_not_make_is_told_from_what_it_made_in_vain() {
    let space = with_source("rule cat\n  command = cat $in > $out\nbuild a: cat in\nbuild b: cat in\n");
    let diagnosis = around(&space, Ninja::V1_13, &["a"]);
    assert_eq!(diagnosis.warnings(), ["left-stale"]);
    assert_eq!(diagnosis.finding("left-stale")["targets"][0]["target"], "b");
    let message = text(&diagnosis.finding("left-stale")["message"]);
    assert!(message.starts_with("b is stale after the build, which did not run its command: "), "{message}");
}

#[test]
fn a_command_that_fails_is_a_finding_and_proves_nothing() {
    for &version in Ninja::USUAL {
        let space = with_source("rule fail\n  command = exit 3\nbuild a: fail in\n");
        let diagnosis = around(&space, version, &[]);
        assert_eq!((diagnosis.status, diagnosis.warnings()), (1, vec!["command-failed"]));
        // Ninja 1.13 ends with the status of what failed.
        assert!([1, 3].contains(&number(diagnosis.evidence("command-failed", "exit_status"))));
    }
    let space = with_source("");
    let killed = examine(space.path(), ["--", "sh", "-c", "kill -9 $$"]);
    assert!(killed.evidence("command-failed", "exit_status").is_null());
    // Its own status is never the doctor's.
    let odd = examine(space.path(), ["--", "sh", "-c", "exit 2"]);
    assert_eq!((odd.status, odd.evidence("command-failed", "exit_status")), (1, &Value::from(2)));
}

#[test]
fn a_command_that_breaks_the_build_is_a_finding() {
    let space = with_source("rule cat\n  command = cat $in > $out\nbuild a: cat in\n");
    let diagnosis = examine(space.path(), ["--", "sh", "-c", "echo build > build.ninja"]);
    assert_eq!(diagnosis.warnings(), ["build-broken"]);
    let diagnosis = examine(space.path(), ["--", "false"]);
    assert_eq!(diagnosis.warnings(), ["build-broken"], "not run where there is nothing to compare with");
}

#[test]
fn the_command_runs_where_the_user_is_not_in_the_build_directory() {
    let space = Space::new();
    space.write("build/build.ninja", "rule cat\n  command = cat $in > $out\nbuild a: cat in\n");
    space.write_at("build/in", "", T);
    let mut command = upcheck_in(space.path());
    command
        .args(["doctor", "--format", "json", "build", "--"])
        .arg(Ninja::V1_13.path())
        .args(["-C", "build"]);
    assert_eq!(Diagnosis::of(&mut command).warnings(), [""; 0]);
    assert!(space.mtime("build/a").is_some());
}
